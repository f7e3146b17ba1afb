#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "client/tool/csv_reader.h"
#include "client/tool/event_reader.h"

namespace casement::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReaderTest : public ::testing::Test {
 protected:
  // Tests run beside each other: each has a file of its own.
  ReaderTest() : path_(::testing::TempDir() + "casement_reader_XXXXXX") {
    close(mkstemp(path_.data()));
  }
  ~ReaderTest() override {
    if (fd_ >= 0) close(fd_);
    unlink(path_.c_str());
  }

  // A file with this content, and a source on it.
  ByteSource Open(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    if (fd_ >= 0) close(fd_);
    fd_ = open(path_.c_str(), O_RDONLY);
    return ByteSource(fd_);
  }

  // All records, as texts; a fault as "!" and the fault.
  std::vector<std::vector<std::string>> ReadCsv(const std::string& content) {
    ByteSource source = Open(content);
    source.SkipByteOrderMark();
    CsvReader reader(&source);
    CsvRecord record;
    std::vector<std::vector<std::string>> records;
    lines_.clear();
    while (true) {
      const absl::StatusOr<bool> more = reader.Next(&record);
      status_ = more.status();
      if (!more.ok() || !*more) break;
      lines_.push_back(record.line);
      std::vector<std::string>& texts = records.emplace_back();
      if (!record.fault.empty()) {
        texts.push_back("!" + record.fault);
        continue;
      }
      for (const CsvText& field : record.fields) texts.push_back(field.text);
    }
    return records;
  }

  std::string path_;
  int fd_ = -1;
  std::vector<int64_t> lines_;
  absl::Status status_;
};

using Records = std::vector<std::vector<std::string>>;

TEST_F(ReaderTest, CsvWithAllLineEnds) {
  const Records expected = {{"a", "b"}, {"1", "2"}, {"3", ""}};
  EXPECT_EQ(ReadCsv("a,b\n1,2\n3,\n"), expected);
  EXPECT_EQ(ReadCsv("a,b\r\n1,2\r\n3,\r\n"), expected);
  EXPECT_EQ(ReadCsv("a,b\n1,2\n3,"), expected);
  EXPECT_EQ(ReadCsv("\xEF\xBB\xBF"
                    "a,b\n\n1,2\r\n\r\n3,"),
            expected);
  EXPECT_EQ(ReadCsv(""), Records());
  EXPECT_EQ(ReadCsv("\n\r\n"), Records());
  EXPECT_EQ(ReadCsv("a\rb\n"), (Records{{"a\rb"}}));
}

TEST_F(ReaderTest, CsvQuotes) {
  EXPECT_EQ(ReadCsv("\"a,b\",\"say \"\"x\"\"\",\"\"\n1,2,3\n"),
            (Records{{"a,b", "say \"x\"", ""}, {"1", "2", "3"}}));
  EXPECT_EQ(ReadCsv("\"two\nlines\",\"crlf\r\nhere\"\r\nx,y\n"),
            (Records{{"two\nlines", "crlf\r\nhere"}, {"x", "y"}}));
  EXPECT_THAT(lines_, ElementsAre(1, 4));
}

TEST_F(ReaderTest, CsvFaultsEndWithTheirLine) {
  EXPECT_EQ(ReadCsv("a\"b,c\n1,2\n"),
            (Records{{"!field 1 has a quote in its middle"}, {"1", "2"}}));
  EXPECT_EQ(
      ReadCsv("x,\"a\"b,c\n1,2\n"),
      (Records{{"!field 2 has text after its closing quote"}, {"1", "2"}}));
  EXPECT_TRUE(status_.ok());
}

TEST_F(ReaderTest, AQuoteThatIsNeverClosedIsAnErrorForTheWholeFile) {
  EXPECT_EQ(ReadCsv("1,2\n3,\"4\n5,6\n"), (Records{{"1", "2"}}));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("line 2"));
}

TEST_F(ReaderTest, CsvAcrossTheReadBuffer) {
  std::string content;
  Records expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string text(i % 97, static_cast<char>('a' + i % 26));
    content += std::to_string(i) + ",\"" + text + "\"\"\"\r\n";
    expected.push_back({std::to_string(i), text + "\""});
  }
  EXPECT_EQ(ReadCsv(content), expected);
}

TEST_F(ReaderTest, EveryPlaceCanBeGoneOnWith) {
  std::string content = "h\n";
  for (int i = 0; i < 50; ++i) {
    content += i % 3 == 0 ? "\"line\n" + std::to_string(i) + "\"\r\n"
                          : std::to_string(i) + "\n";
  }
  const Records all = ReadCsv(content);
  for (size_t stop = 1; stop <= all.size(); ++stop) {
    ByteSource first = Open(content);
    CsvReader first_reader(&first);
    CsvRecord record;
    for (size_t i = 0; i < stop; ++i) ASSERT_TRUE(*first_reader.Next(&record));
    const absl::StatusOr<Place> place = PlaceFromText(PlaceText(first.place()));
    ASSERT_TRUE(place.ok());
    ByteSource second = Open(content);
    CsvReader second_reader(&second);
    ASSERT_TRUE(*second_reader.Next(&record));  // The header.
    ASSERT_TRUE(second.Seek(*place).ok());
    size_t next = stop;
    while (*second_reader.Next(&record)) {
      ASSERT_EQ(record.fields[0].text, all[next][0]);
      ASSERT_EQ(record.line, lines_[next]);
      ++next;
    }
    EXPECT_EQ(next, all.size());
  }
}

TEST_F(ReaderTest, AnotherFileIsNotGoneOnWith) {
  const std::string content = "one\ntwo\nthree\n";
  ByteSource source = Open(content);
  for (int i = 0; i < 8; ++i) source.Get();
  const Place place = source.place();
  EXPECT_EQ(place.offset, 8);
  EXPECT_EQ(place.line, 3);
  EXPECT_TRUE(Open(content).Seek(place).ok());
  EXPECT_TRUE(Open(content + "four\n").Seek(place).ok());
  EXPECT_THAT(std::string(Open("one\n").Seek(place).message()),
              HasSubstr("4 bytes, but 8"));
  EXPECT_THAT(std::string(Open("one\ntwO\nthree\n").Seek(place).message()),
              HasSubstr("has changed"));
}

TEST_F(ReaderTest, ALineThatWasCutIsNotGoneOnWith) {
  ByteSource source = Open("one\ntw");
  while (source.Get() != ByteSource::kEnd) {
  }
  const Place place = source.place();
  EXPECT_TRUE(Open("one\ntw").Seek(place).ok());
  EXPECT_THAT(std::string(Open("one\ntwo\n").Seek(place).message()),
              HasSubstr("not complete"));
}

TEST_F(ReaderTest, OtherPositionsAreRefused) {
  for (const char* bad :
       {"", "x", "casement-file-1 1 2", "casement-file-1 a 1 0",
        "casement-file-1 -1 1 0", "casement-file-9 1 1 0"}) {
    EXPECT_FALSE(PlaceFromText(bad).ok()) << bad;
  }
}

// --- Events ---

class EventReaderTest : public ReaderTest {
 protected:
  EventReaderTest() {
    const std::pair<const char*, v1::FieldType> fields[] = {
        {"name", v1::FIELD_TYPE_STRING},
        {"amount", v1::FIELD_TYPE_INT64},
        {"ratio", v1::FIELD_TYPE_DOUBLE},
        {"ok", v1::FIELD_TYPE_BOOL}};
    for (const auto& [name, type] : fields) {
      v1::FieldSpec& field = *stream_.add_fields();
      field.set_name(name);
      field.set_type(type);
    }
    stream_.mutable_watermark_policy()->mutable_asserted();
  }

  absl::StatusOr<std::vector<InputEvent>> Read(const std::string& content,
                                               bool csv) {
    source_ = std::make_unique<ByteSource>(Open(content));
    auto reader = csv ? NewCsvEventReader(source_.get(), stream_, options_)
                      : NewJsonlEventReader(source_.get(), stream_, options_);
    if (!reader.ok()) return reader.status();
    mapping_ = (*reader)->Mapping();
    std::vector<InputEvent> events;
    InputEvent event;
    while (true) {
      const absl::StatusOr<bool> more = (*reader)->Next(&event);
      if (!more.ok()) return more.status();
      if (!*more) return events;
      events.push_back(event);
    }
  }

  static client::Value Field(const InputEvent& event, const std::string& name) {
    for (const auto& [field, value] : event.event.fields()) {
      if (field == name) return value;
    }
    return std::monostate();
  }

  v1::Stream stream_;
  IngestOptions options_;
  std::unique_ptr<ByteSource> source_;
  std::string mapping_;
};

TEST_F(EventReaderTest, CsvColumnsGoToTheFieldsOfTheirNames) {
  const auto events = Read(
      "amount,time,extra,name,ok,ratio\n"
      "5,1970-01-01T00:00:01.5Z,zz,\"x,y\",true,0.25\n",
      true);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 1);
  const InputEvent& event = events->front();
  EXPECT_EQ(event.event.time_us(), 1'500'000);
  EXPECT_EQ(event.event.tag(), 2);
  EXPECT_EQ(Field(event, "amount"), client::Value(int64_t{5}));
  EXPECT_EQ(Field(event, "ratio"), client::Value(0.25));
  EXPECT_EQ(Field(event, "ok"), client::Value(true));
  EXPECT_EQ(Field(event, "name"), client::Value("x,y"));
  EXPECT_EQ(event.remark, "");
  EXPECT_THAT(mapping_, HasSubstr("not used: extra"));
}

TEST_F(EventReaderTest, CsvColumnsCanBeRenamed) {
  options_.time_column = "when";
  options_.time_format = "ms";
  options_.fields = {"total=amount"};
  options_.id_column = "id";
  const auto events = Read("when,total,id\n-1,7,e1\n", true);
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(events->front().event.time_us(), -1000);
  EXPECT_EQ(Field(events->front(), "amount"), client::Value(int64_t{7}));
  EXPECT_EQ(events->front().event.id(), "e1");
}

TEST_F(EventReaderTest, CsvWithoutAHeader) {
  options_.no_header = true;
  options_.columns = {"time", "amount"};
  options_.time_format = "s";
  const auto events = Read("3,4\n", true);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 1);
  EXPECT_EQ(events->front().event.time_us(), 3'000'000);
}

TEST_F(EventReaderTest, CsvNullsAndEmptyTexts) {
  options_.time_format = "us";
  auto events = Read("time,name,amount\n1,,\n2,\"\",5\n3,-,-\n", true);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(Field((*events)[0], "name"), client::Value());
  EXPECT_EQ(Field((*events)[0], "amount"), client::Value());
  EXPECT_EQ(Field((*events)[1], "name"), client::Value(""));
  options_.null_text = "-";
  events = Read("time,name,amount\n3,-,-\n4,,\n", true);
  EXPECT_EQ(Field((*events)[0], "name"), client::Value());
  EXPECT_EQ(Field((*events)[1], "name"), client::Value(""));
}

TEST_F(EventReaderTest, WhatCantBeReadIsLeftToTheServer) {
  const auto events =
      Read("time,amount\nyesterday,1\n1970-01-01T00:00:00Z,x\n", true);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ((*events)[0].event.time_us(), std::nullopt);
  EXPECT_THAT((*events)[0].remark, HasSubstr("yesterday"));
  EXPECT_EQ((*events)[0].fault, "");
  EXPECT_EQ(Field((*events)[1], "amount"), client::Value("x"));
  EXPECT_THAT((*events)[1].remark, HasSubstr("int64"));
}

TEST_F(EventReaderTest, RecordsOfAnotherLengthAreFaults) {
  const auto events = Read("time,amount\n1\n", true);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ((*events)[0].fault, "1 fields instead of 2");
  EXPECT_EQ((*events)[0].line, 2);
}

TEST_F(EventReaderTest, ColumnsThatDoNotFitAreErrorsBeforeAnythingIsSent) {
  EXPECT_THAT(std::string(Read("amount\n1\n", true).status().message()),
              HasSubstr("no column \"time\""));
  EXPECT_FALSE(Read("", true).ok());
  EXPECT_FALSE(Read("time,time\n1,1\n", true).ok());
  options_.fields = {"x=none"};
  EXPECT_FALSE(Read("time,x\n1,1\n", true).ok());
  options_.fields = {"missing=amount"};
  EXPECT_FALSE(Read("time,x\n1,1\n", true).ok());
  options_.fields.clear();
  EXPECT_TRUE(Read("time\n1\n", true).ok());
  stream_.mutable_fields(0)->set_required(true);
  EXPECT_FALSE(Read("time\n1\n", true).ok());
}

TEST_F(EventReaderTest, JsonLines) {
  const auto events = Read(
      R"({"time":"1970-01-01T00:00:02Z","name":"x","amount":9007199254740993,)"
      "\"ratio\":1,\"ok\":false,\"other\":[1]}\n\n"
      R"({"time":"1970-01-01T00:00:03Z","name":null})"
      "\r\n",
      false);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 2);
  const InputEvent& event = (*events)[0];
  EXPECT_EQ(event.event.time_us(), 2'000'000);
  EXPECT_EQ(Field(event, "amount"), client::Value(int64_t{9007199254740993}));
  EXPECT_EQ(Field(event, "ratio"), client::Value(1.0));
  EXPECT_EQ(Field(event, "ok"), client::Value(false));
  EXPECT_EQ(event.remark, "");
  EXPECT_EQ((*events)[1].line, 3);
  EXPECT_EQ(Field((*events)[1], "name"), client::Value());
}

TEST_F(EventReaderTest, JsonNumbersAsTimes) {
  options_.time_format = "ms";
  const auto events = Read("{\"time\":1500}\n{\"time\":\"2\"}\n", false);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ((*events)[0].event.time_us(), 1'500'000);
  EXPECT_EQ((*events)[1].event.time_us(), 2'000);
}

TEST_F(EventReaderTest, JsonOfTheWrongTypeIsLeftToTheServer) {
  const auto events = Read(
      "{\"time\":5,\"amount\":1.5}\n{\"amount\":\"x\"}\n"
      "{\"amount\":18446744073709551615}\n",
      false);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ((*events)[0].event.time_us(), std::nullopt);
  EXPECT_EQ(Field((*events)[0], "amount"), client::Value(1.5));
  EXPECT_EQ(Field((*events)[1], "amount"), client::Value("x"));
  EXPECT_TRUE(std::holds_alternative<double>(Field((*events)[2], "amount")));
  for (const InputEvent& event : *events) {
    EXPECT_EQ(event.fault, "");
    EXPECT_NE(event.remark, "");
  }
}

TEST_F(EventReaderTest, LinesThatAreNoObjectAreFaults) {
  const auto events = Read("{oops\n[1]\n{\"time\":\"x\",\"name\":{}}\n", false);
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->size(), 3);
  for (const InputEvent& event : *events) EXPECT_NE(event.fault, "");
}

TEST(ParseTimeTest, WordsAreNoTimes) {
  std::string remark;
  for (const char* bad : {"", "now", "infinite-future", "2001-01-01",
                          "2001-01-01T00:00:00", "2001-13-01T00:00:00Z"}) {
    EXPECT_EQ(ParseTime(bad, TimeFormat::kRfc3339, &remark), std::nullopt)
        << bad;
  }
  EXPECT_EQ(
      ParseTime("1970-01-01T01:00:00+01:00", TimeFormat::kRfc3339, &remark), 0);
  // Finer digits are floored, toward the past.
  EXPECT_EQ(
      ParseTime("1969-12-31T23:59:59.9999999Z", TimeFormat::kRfc3339, &remark),
      -1);
  EXPECT_EQ(ParseTime("9223372036854775807", TimeFormat::kSeconds, &remark),
            std::nullopt);
  EXPECT_EQ(ParseTime("9223372036854775807", TimeFormat::kMicros, &remark),
            INT64_MAX);
}

}  // namespace
}  // namespace casement::tool
