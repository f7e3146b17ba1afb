#include "server/rpc/batch_decoder.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "server/engine/batch.h"
#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using engine::RejectReason;
using ::google::protobuf::TextFormat;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<const engine::StreamSpec> Stream(bool required = false) {
  auto spec = std::make_shared<engine::StreamSpec>();
  spec->fields = {{"user", engine::FieldType::kString, required},
                  {"amount", engine::FieldType::kInt64, required},
                  {"weight", engine::FieldType::kDouble, false},
                  {"paid", engine::FieldType::kBool, false},
                  {"raw", engine::FieldType::kBytes, false}};
  return spec;
}

v1::Batch Parse(const std::string& text) {
  v1::Batch batch;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &batch)) << text;
  if (batch.sequence() == 0) batch.set_sequence(1);
  return batch;
}

absl::StatusOr<engine::BatchRecord> Decode(const v1::Batch& batch,
                                           bool required = false) {
  engine::BatchRecord record;
  const absl::Status status =
      BatchDecoder(Stream(required)).Decode(batch, &record);
  if (!status.ok()) return status;
  engine::SetDigest(&record);
  return record;
}

// The rejects of a batch, as "index reason field".
std::vector<std::string> Rejects(const v1::Batch& batch,
                                 bool required = false) {
  const auto record = Decode(batch, required);
  EXPECT_TRUE(record.ok()) << record.status();
  std::vector<std::string> rejects;
  if (!record.ok()) return rejects;
  for (const engine::RejectedEvent& reject : record->events.rejects) {
    EXPECT_FALSE(reject.message.empty());
    rejects.push_back(
        std::to_string(reject.index) + " " +
        v1::RejectReason_Name(static_cast<v1::RejectReason>(reject.reason))
            .substr(sizeof("REJECT_REASON_") - 1) +
        " " + reject.field);
  }
  return rejects;
}

// -- Rows

TEST(RowDecoderTest, EveryTypeArrives) {
  const auto record = Decode(Parse(R"pb(
    sequence: 7
    rows {
      events {
        event_time { seconds: 5 nanos: 1999 }
        fields {
          key: "user"
          value { string_value: "ann" }
        }
        fields {
          key: "amount"
          value { int64_value: -3 }
        }
        fields {
          key: "weight"
          value { double_value: 0.5 }
        }
        fields {
          key: "paid"
          value { bool_value: true }
        }
        fields {
          key: "raw"
          value { bytes_value: "\377" }
        }
      }
      events {
        event_time {}
        fields {
          key: "user"
          value {}
        }
      }
      events {
        event_time {}
        fields {
          key: "user"
          value { string_value: "ann" }
        }
        fields {
          key: "raw"
          value { bytes_value: "" }
        }
      }
    })pb"));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->sequence, 7);
  const engine::EventBatch& events = record->events;
  EXPECT_EQ(events.sent_count, 3);
  EXPECT_THAT(events.times, ElementsAre(5'000'001, 0, 0));
  EXPECT_THAT(events.rejects, IsEmpty());
  EXPECT_THAT(events.sent_index, IsEmpty());
  ASSERT_EQ(events.columns.size(), 5u);
  const engine::Column& user = events.columns[0];
  EXPECT_FALSE(user.IsNull(0));
  EXPECT_TRUE(user.IsNull(1));
  EXPECT_FALSE(user.IsNull(2));
  EXPECT_EQ(events.symbols[user.symbols[0]], "ann");
  EXPECT_EQ(user.symbols[0], user.symbols[2]);
  EXPECT_EQ(events.columns[1].int64s[0], -3);
  EXPECT_TRUE(events.columns[1].IsNull(1));
  EXPECT_EQ(events.columns[2].doubles[0], 0.5);
  EXPECT_EQ(events.columns[3].int64s[0], 1);
  const engine::Column& raw = events.columns[4];
  EXPECT_EQ(events.symbols[raw.symbols[0]], "\xFF");
  EXPECT_TRUE(raw.IsNull(1));
  EXPECT_FALSE(raw.IsNull(2));
  EXPECT_EQ(events.symbols[raw.symbols[2]], "");
}

TEST(RowDecoderTest, BadEventsAreNamedWithTheirFirstFault) {
  const v1::Batch batch = Parse(R"pb(
    rows {
      events {
        fields {
          key: "nope"
          value {}
        }
      }
      events { event_time { nanos: -1 } }
      events { event_time { seconds: 253402300800 } }
      events {
        event_time {}
        fields {
          key: "amount"
          value { double_value: 1 }
        }
        fields {
          key: "paid"
          value { string_value: "yes" }
        }
        fields {
          key: "nope"
          value {}
        }
      }
      events {
        event_time {}
        fields {
          key: "zz"
          value {}
        }
        fields {
          key: "aa"
          value {}
        }
      }
      events { event_time { seconds: 9 } }
      events {
        event_time {}
        fields {
          key: "user"
          value { bytes_value: "x" }
        }
      }
    })pb");
  EXPECT_THAT(Rejects(batch),
              ElementsAre("0 MISSING_TIME ", "1 INVALID_TIME ",
                          "2 TIME_OUT_OF_RANGE ", "3 WRONG_TYPE amount",
                          "4 UNKNOWN_FIELD aa", "6 WRONG_TYPE user"));
  const auto record = Decode(batch);
  EXPECT_THAT(record->events.times, ElementsAre(9'000'000));
  EXPECT_THAT(record->events.sent_index, ElementsAre(5));
}

TEST(RowDecoderTest, RequiredFieldsMayNotBeMissingOrNull) {
  EXPECT_THAT(Rejects(Parse(R"pb(
                        rows {
                          events {
                            event_time {}
                            fields {
                              key: "user"
                              value { string_value: "" }
                            }
                            fields {
                              key: "amount"
                              value { int64_value: 0 }
                            }
                          }
                          events {
                            event_time {}
                            fields {
                              key: "amount"
                              value { int64_value: 0 }
                            }
                          }
                          events {
                            event_time {}
                            fields {
                              key: "user"
                              value { string_value: "" }
                            }
                            fields {
                              key: "amount"
                              value {}
                            }
                          }
                          events {
                            event_time {}
                            fields {
                              key: "amount"
                              value { bool_value: true }
                            }
                            fields {
                              key: "nope"
                              value {}
                            }
                          }
                        })pb"),
                      /*required=*/true),
              ElementsAre("1 MISSING_FIELD user", "2 MISSING_FIELD amount",
                          "3 WRONG_TYPE amount"))
      << "a value that is wrong is told before a field that is missing";
}

TEST(RowDecoderTest, LargeValuesAndBadTextAreRejected) {
  v1::Batch batch = Parse("rows { events { event_time {} } }");
  v1::Event* event = batch.mutable_rows()->mutable_events(0);
  (*event->mutable_fields())["raw"].set_bytes_value(std::string(65536, 'x'));
  EXPECT_THAT(Rejects(batch), IsEmpty());
  (*event->mutable_fields())["raw"].set_bytes_value(std::string(65537, 'x'));
  EXPECT_THAT(Rejects(batch), ElementsAre("0 VALUE_TOO_LARGE raw"));
  (*event->mutable_fields())["user"].set_string_value("\xFF");
  EXPECT_THAT(Rejects(batch), ElementsAre("0 NOT_UTF8 user"));
}

TEST(RowDecoderTest, TooManyEventsAreTooLarge) {
  v1::Batch batch;
  batch.set_sequence(1);
  for (int i = 0; i < 65536; ++i) {
    batch.mutable_rows()->add_events()->mutable_event_time();
  }
  EXPECT_TRUE(Decode(batch).ok());
  batch.mutable_rows()->add_events();
  const absl::Status status = Decode(batch).status();
  EXPECT_EQ(ReasonOf(status), "BATCH_TOO_LARGE");
  EXPECT_EQ(MetadataOf(status, "expected"), "65536");
  EXPECT_EQ(MetadataOf(status, "given"), "65537");
}

TEST(RowDecoderTest, TooManyBytesAreTooLarge) {
  v1::Batch batch;
  batch.set_sequence(1);
  for (int i = 0; i < 60; ++i) {
    v1::Event* event = batch.mutable_rows()->add_events();
    event->mutable_event_time();
    (*event->mutable_fields())["raw"].set_bytes_value(std::string(60'000, 'x'));
  }
  EXPECT_EQ(ReasonOf(Decode(batch).status()), "BATCH_TOO_LARGE");
}

// -- Columns

// Three rows, all columns there.
v1::Batch SoundColumns() {
  return Parse(R"pb(
    columns {
      row_count: 3
      base_time_us: 1000
      event_time_deltas_us: [ 5, -10, 0 ]
      symbols: [ "", "ann", "bob" ]
      columns {
        field: "user"
        symbols { indices: [ 1, 2, 0 ] }
      }
      columns {
        field: "amount"
        int64s { values: [ 7, -8, 9 ] }
      }
      columns {
        field: "weight"
        doubles { values: [ 0.5, -0.0, nan ] }
        nulls: "\001"
      }
      columns { field: "paid" bools: "\005" }
      columns {
        field: "raw"
        bytes_values { values: [ "x", "", "\377" ] }
      }
    })pb");
}

v1::Batch Changed(const std::string& change) {
  v1::Batch batch = SoundColumns();
  EXPECT_TRUE(TextFormat::MergeFromString("columns { " + change + " }", &batch))
      << change;
  return batch;
}

TEST(ColumnDecoderTest, EveryTypeArrives) {
  const auto record = Decode(SoundColumns());
  ASSERT_TRUE(record.ok()) << record.status();
  const engine::EventBatch& events = record->events;
  EXPECT_EQ(events.sent_count, 3);
  EXPECT_THAT(events.times, ElementsAre(1005, 995, 995));
  EXPECT_EQ(events.symbols[events.columns[0].symbols[1]], "bob");
  EXPECT_EQ(events.symbols[events.columns[0].symbols[2]], "");
  EXPECT_THAT(events.columns[1].int64s, ElementsAre(7, -8, 9));
  EXPECT_TRUE(events.columns[2].IsNull(0));
  EXPECT_TRUE(std::signbit(events.columns[2].doubles[1]));
  EXPECT_TRUE(std::isnan(events.columns[2].doubles[2]));
  EXPECT_THAT(events.columns[3].int64s, ElementsAre(1, 0, 1));
  EXPECT_EQ(events.symbols[events.columns[4].symbols[2]], "\xFF");
}

TEST(ColumnDecoderTest, AColumnOfNullsIsNone) {
  const auto record = Decode(Parse(R"pb(
    columns {
      row_count: 2
      event_time_deltas_us: [ 0, 0 ]
      columns {
        field: "amount"
        int64s { values: [ 1, 2 ] }
        nulls: "\003"
      }
      columns {
        field: "weight"
        doubles { values: [ 1, 2 ] }
        nulls: "\000"
      }
    })pb"));
  ASSERT_TRUE(record.ok());
  EXPECT_FALSE(record->events.columns[1].present);
  EXPECT_TRUE(record->events.columns[2].present);
  EXPECT_THAT(record->events.columns[2].nulls, IsEmpty());
}

TEST(ColumnDecoderTest, TheSlotOfANullMayHoldAnything) {
  const auto record = Decode(Parse(R"pb(
    columns {
      row_count: 2
      event_time_deltas_us: [ 0, 0 ]
      columns {
        field: "user"
        symbols { indices: [ 4000000000, 0 ] }
        nulls: "\003"
      }
      columns {
        field: "raw"
        symbols { indices: [ 1, 99 ] }
        nulls: "\002"
      }
      symbols: [ "", "\377" ]
    })pb"));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_THAT(record->events.rejects, IsEmpty());
  EXPECT_EQ(record->events.symbols[record->events.columns[4].symbols[0]],
            "\xFF");
  EXPECT_LT(record->events.columns[4].symbols[1],
            record->events.symbols.size());
}

TEST(ColumnDecoderTest, WhatDoesNotHoldTogetherIsMalformed) {
  struct Case {
    std::string change;
    std::string part;
  };
  const std::vector<Case> cases = {
      {"row_count: -1", "columns.row_count"},
      {"row_count: 2", "columns.event_time_deltas_us"},
      {"row_count: 4", "columns.event_time_deltas_us"},
      {"event_time_deltas_us: 1", "columns.event_time_deltas_us"},
      {"time_nulls: '\\000\\000'", "columns.time_nulls"},
      {"event_ids {}", "columns.event_ids"},
      {"event_ids { indices: [ 1, 2, 3 ] }", "columns.event_ids.indices[2]"},
      {"columns { field: 'nope' int64s { values: [ 1, 2, 3 ] } }",
       "columns.columns[5].field"},
      {"columns { field: '' int64s { values: [ 1, 2, 3 ] } }",
       "columns.columns[5].field"},
      {"columns { field: 'user' symbols { indices: [ 1, 2, 0 ] } }",
       "columns.columns[5].field"},
  };
  for (const Case& c : cases) {
    const absl::Status status = Decode(Changed(c.change)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.change << status;
    EXPECT_EQ(ReasonOf(status), "MALFORMED_BATCH") << c.change;
    EXPECT_THAT(FieldsOf(status), ElementsAre(c.part)) << c.change;
  }
}

TEST(ColumnDecoderTest, AColumnMustFitItsField) {
  const std::vector<std::string> columns = {
      "field: 'user' int64s { values: [ 1, 2, 3 ] }",
      "field: 'user' bytes_values { values: [ 'a', 'b', 'c' ] }",
      "field: 'user'",
      "field: 'user' symbols { indices: [ 0, 1 ] }",
      "field: 'user' symbols { indices: [ 0, 1, 3 ] }",
      "field: 'user' symbols { indices: [ 0, 1, 0 ] } nulls: '\\000\\000'",
      "field: 'amount' doubles { values: [ 1, 2, 3 ] }",
      "field: 'amount' int64s {}",
      "field: 'amount' int64s { values: [ 1, 2, 3, 4 ] }",
      "field: 'weight' int64s { values: [ 1, 2, 3 ] }",
      "field: 'weight' doubles { values: [ 1 ] }",
      "field: 'paid' bools: ''",
      "field: 'paid' bools: '\\000\\000'",
      "field: 'paid' int64s { values: [ 0, 1, 0 ] }",
      "field: 'raw' bytes_values { values: [ 'a', 'b' ] }",
      "field: 'raw' doubles { values: [ 1, 2, 3 ] }",
  };
  for (const std::string& column : columns) {
    const absl::Status status =
        Decode(Parse("columns { row_count: 3 event_time_deltas_us: [ 0, 0, 0 ] "
                     "symbols: [ '', 'a', 'b' ] columns { " +
                     column + " } }"))
            .status();
    EXPECT_EQ(ReasonOf(status), "MALFORMED_BATCH") << column << status;
    ASSERT_EQ(FieldsOf(status).size(), 1u);
    EXPECT_TRUE(absl::StartsWith(FieldsOf(status)[0], "columns.columns[0]"))
        << FieldsOf(status)[0];
  }
}

TEST(ColumnDecoderTest, TheFirstSymbolIsEmpty) {
  v1::Batch batch = SoundColumns();
  batch.mutable_columns()->set_symbols(0, "x");
  EXPECT_THAT(FieldsOf(Decode(batch).status()),
              ElementsAre("columns.symbols[0]"));
}

TEST(ColumnDecoderTest, AnIndexNeedsADictionary) {
  v1::Batch batch = SoundColumns();
  batch.mutable_columns()->clear_symbols();
  EXPECT_THAT(FieldsOf(Decode(batch).status()),
              ElementsAre("columns.columns[0].symbols.indices[0]"));
}

TEST(ColumnDecoderTest, TimesThatLeave64BitsAreMalformed) {
  v1::Batch batch = SoundColumns();
  batch.mutable_columns()->set_base_time_us(
      std::numeric_limits<int64_t>::max() - 4);
  EXPECT_THAT(FieldsOf(Decode(batch).status()),
              ElementsAre("columns.event_time_deltas_us[0]"));
  batch.mutable_columns()->set_base_time_us(
      std::numeric_limits<int64_t>::min());
  EXPECT_THAT(FieldsOf(Decode(batch).status()),
              ElementsAre("columns.event_time_deltas_us[1]"));
}

TEST(ColumnDecoderTest, TooManyRowsAreTooLarge) {
  v1::Batch batch = SoundColumns();
  batch.mutable_columns()->set_row_count(65537);
  const absl::Status status = Decode(batch).status();
  EXPECT_EQ(ReasonOf(status), "BATCH_TOO_LARGE");
  EXPECT_EQ(MetadataOf(status, "given"), "65537");
}

TEST(ColumnDecoderTest, TooManyBytesAreTooLarge) {
  v1::Batch batch = SoundColumns();
  while (batch.columns().ByteSizeLong() <= (1 << 20)) {
    batch.mutable_columns()->add_symbols(std::string(60'000, 'x'));
  }
  const absl::Status status = Decode(batch).status();
  EXPECT_EQ(ReasonOf(status), "BATCH_TOO_LARGE");
  EXPECT_EQ(MetadataOf(status, "expected"), "1048576");
  batch.mutable_columns()->mutable_symbols()->RemoveLast();
  EXPECT_TRUE(Decode(batch).ok());
}

TEST(ColumnDecoderTest, BadEventsAreSetApart) {
  const v1::Batch batch = Parse(R"pb(
    columns {
      row_count: 6
      base_time_us: 1
      event_time_deltas_us: [
        0,
        0,
        0,
        9000000000000000000,
        -9000000000000000000,
        0
      ]
      time_nulls: "\001"
      symbols: [ "", "ok", "\377", "x" ]
      columns {
        field: "user"
        symbols { indices: [ 2, 2, 1, 2, 1, 2 ] }
        nulls: "\040"
      }
      columns {
        field: "amount"
        int64s { values: [ 0, 1, 2, 3, 4, 5 ] }
      }
      columns {
        field: "raw"
        symbols { indices: [ 2, 2, 2, 2, 2, 2 ] }
      }
      columns { field: "paid" bools: "\024" }
    })pb");
  EXPECT_THAT(Rejects(batch), ElementsAre("0 MISSING_TIME ", "1 NOT_UTF8 user",
                                          "3 TIME_OUT_OF_RANGE "));
  const auto record = Decode(batch);
  const engine::EventBatch& events = record->events;
  EXPECT_EQ(events.sent_count, 6);
  EXPECT_THAT(events.sent_index, ElementsAre(2, 4, 5));
  EXPECT_THAT(events.columns[1].int64s, ElementsAre(2, 4, 5));
  EXPECT_THAT(events.columns[0].nulls, ElementsAre(0, 0, 1));
  EXPECT_THAT(events.columns[3].int64s, ElementsAre(1, 1, 0));
}

TEST(ColumnDecoderTest, AllEventsMayBeBad) {
  const v1::Batch batch = Parse(R"pb(
    columns {
      row_count: 2
      event_time_deltas_us: [ 0, 0 ]
      time_nulls: "\003"
      columns {
        field: "amount"
        int64s { values: [ 1, 2 ] }
      }
    })pb");
  EXPECT_THAT(Rejects(batch),
              ElementsAre("0 MISSING_TIME ", "1 MISSING_TIME "));
  const auto record = Decode(batch);
  EXPECT_EQ(record->events.row_count(), 0);
  EXPECT_EQ(record->events.sent_count, 2);
}

TEST(ColumnDecoderTest, LargeValuesAreRejectedWhereTheyAreUsed) {
  v1::Batch batch = SoundColumns();
  batch.mutable_columns()->add_symbols(std::string(65537, 'x'));
  EXPECT_THAT(Rejects(batch), IsEmpty());
  batch.mutable_columns()->mutable_columns(0)->mutable_symbols()->set_indices(
      1, 3);
  EXPECT_THAT(Rejects(batch), ElementsAre("1 VALUE_TOO_LARGE user"));
  batch.mutable_columns()
      ->mutable_columns(4)
      ->mutable_bytes_values()
      ->set_values(0, std::string(65537, 'x'));
  EXPECT_THAT(Rejects(batch),
              ElementsAre("0 VALUE_TOO_LARGE raw", "1 VALUE_TOO_LARGE user"));
}

TEST(ColumnDecoderTest, RequiredFieldsMayNotBeMissingOrNull) {
  EXPECT_THAT(Rejects(Parse(R"pb(
                        columns {
                          row_count: 3
                          event_time_deltas_us: [ 0, 0, 0 ]
                          symbols: ""
                          symbols: "\377"
                          columns {
                            field: "amount"
                            int64s { values: [ 0, 0, 0 ] }
                            nulls: "\005"
                          }
                          columns {
                            field: "user"
                            symbols { indices: [ 0, 0, 1 ] }
                            nulls: "\002"
                          }
                        })pb"),
                      /*required=*/true),
              ElementsAre("0 MISSING_FIELD amount", "1 MISSING_FIELD user",
                          "2 NOT_UTF8 user"))
      << "a value that is wrong is told before a field that is missing";
}

// -- The batch

TEST(BatchDecoderTest, TheRestOfABatch) {
  const auto record = Decode(Parse(R"pb(
    sequence: 9
    watermark_time { seconds: 3 nanos: 999 }
    source_state: SOURCE_STATE_IDLE
    source_position: "here")pb"));
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->sequence, 9);
  EXPECT_EQ(record->asserted_watermark, 3'000'000);
  EXPECT_EQ(record->source_state, engine::SourceState::kIdle);
  EXPECT_EQ(record->source_position, "here");
  EXPECT_EQ(record->events.columns.size(), 5u);
}

TEST(BatchDecoderTest, NothingInItIsMalformed) {
  for (const char* text : {"", "rows {}", "columns {}", "source_position: 'x'",
                           "columns { symbols: [ '', 'a' ] }"}) {
    EXPECT_EQ(ReasonOf(Decode(Parse(text)).status()), "MALFORMED_BATCH")
        << text;
  }
  EXPECT_TRUE(Decode(Parse("source_state: SOURCE_STATE_ACTIVE")).ok());
  EXPECT_TRUE(Decode(Parse("watermark_time {}")).ok());
}

TEST(BatchDecoderTest, InvalidFieldsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sequence: -1 rows { events {} }", "batch.sequence"},
      {"source_state: 9", "batch.source_state"},
      {"watermark_time { nanos: -1 }", "batch.watermark_time"},
      {"watermark_time { seconds: 253402300800 }", "batch.watermark_time"},
      {"watermark_time {} source_position: '" + std::string(1025, 'x') + "'",
       "batch.source_position"},
  };
  for (const auto& [text, field] : cases) {
    EXPECT_THAT(FieldsOf(Decode(Parse(text)).status()), ElementsAre(field));
  }
  v1::Batch batch = Parse("watermark_time {}");
  batch.set_sequence(0);
  EXPECT_THAT(FieldsOf(Decode(batch).status()), ElementsAre("batch.sequence"));
}

TEST(BatchDecoderTest, RowsAndColumnsOfOneContentHaveOneDigest) {
  v1::Batch rows = Parse(R"pb(
    rows {
      events {
        event_time { nanos: 1005000 }
        fields {
          key: "user"
          value { string_value: "ann" }
        }
        fields {
          key: "amount"
          value { int64_value: 7 }
        }
        fields {
          key: "paid"
          value { bool_value: true }
        }
        fields {
          key: "raw"
          value { bytes_value: "x" }
        }
      }
      events {
        event_time { nanos: 995000 }
        fields {
          key: "user"
          value { string_value: "bob" }
        }
        fields {
          key: "amount"
          value { int64_value: -8 }
        }
        fields {
          key: "weight"
          value { double_value: -0.0 }
        }
        fields {
          key: "paid"
          value { bool_value: false }
        }
        fields {
          key: "raw"
          value { bytes_value: "" }
        }
      }
      events {
        event_time { nanos: 995000 }
        fields {
          key: "user"
          value { string_value: "" }
        }
        fields {
          key: "amount"
          value { int64_value: 9 }
        }
        fields {
          key: "weight"
          value { double_value: nan }
        }
        fields {
          key: "paid"
          value { bool_value: true }
        }
        fields {
          key: "raw"
          value { bytes_value: "\377" }
        }
      }
    })pb");
  const uint64_t digest = Decode(SoundColumns())->digest;
  EXPECT_EQ(Decode(rows)->digest, digest);
  // Another layout of the dictionary.
  v1::Batch columns = SoundColumns();
  *columns.mutable_columns()->mutable_symbols(1) = "bob";
  *columns.mutable_columns()->mutable_symbols(2) = "ann";
  auto* indices =
      columns.mutable_columns()->mutable_columns(0)->mutable_symbols();
  indices->set_indices(0, 2);
  indices->set_indices(1, 1);
  EXPECT_EQ(Decode(columns)->digest, digest);
  // Another content.
  (*rows.mutable_rows()->mutable_events(1)->mutable_fields())["amount"]
      .set_int64_value(-9);
  EXPECT_NE(Decode(rows)->digest, digest);
}

TEST(BatchDecoderTest, BadEventsCountInTheDigestAlikeInBothForms) {
  const v1::Batch rows = Parse(R"pb(
    rows {
      events {}
      events {
        event_time { nanos: 1000 }
        fields {
          key: "amount"
          value { int64_value: 1 }
        }
      }
      events { event_time { seconds: 253402300800 } }
    })pb");
  const v1::Batch columns = Parse(R"pb(
    columns {
      row_count: 3
      event_time_deltas_us: [ 0, 1, 253402300799999999 ]
      time_nulls: "\001"
      columns {
        field: "amount"
        int64s { values: [ 0, 1, 0 ] }
        nulls: "\005"
      }
    })pb");
  EXPECT_EQ(Decode(rows)->digest, Decode(columns)->digest);
}

TEST(BatchDecoderTest, ADecoderServesManyBatches) {
  BatchDecoder decoder(Stream());
  engine::BatchRecord record;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(decoder.Decode(SoundColumns(), &record).ok());
    EXPECT_EQ(record.events.row_count(), 3);
    ASSERT_TRUE(decoder
                    .Decode(Parse(R"pb(
                              rows {
                                events {}
                                events {
                                  event_time {}
                                  fields {
                                    key: "user"
                                    value { string_value: "eve" }
                                  }
                                }
                              })pb"),
                            &record)
                    .ok());
    EXPECT_EQ(record.events.row_count(), 1);
    EXPECT_EQ(record.events.rejects.size(), 1u);
    EXPECT_EQ(record.events.symbols[record.events.columns[0].symbols[0]],
              "eve");
  }
}

}  // namespace
}  // namespace casement::rpc
