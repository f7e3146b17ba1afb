#include "client/tool/row_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

// The word of an enum value, without what all names of the enum begin with.
template <typename Enum>
std::string Word(const google::protobuf::EnumDescriptor* descriptor,
                 absl::string_view prefix, Enum value) {
  const auto* found = descriptor->FindValueByNumber(value);
  if (found == nullptr) return absl::StrCat(static_cast<int>(value));
  return std::string(absl::StripPrefix(found->name(), prefix));
}

std::string TimingName(v1::Timing timing) {
  return Word(v1::Timing_descriptor(), "TIMING_", timing);
}

std::string ReasonName(v1::EmitReason reason) {
  return Word(v1::EmitReason_descriptor(), "EMIT_REASON_", reason);
}

void Member(absl::string_view name, absl::string_view json, std::string* out) {
  if (out->back() != '{') out->push_back(',');
  absl::StrAppend(out, JsonString(name), ":", json);
}

std::string WindowJson(const v1::Window& window) {
  std::string out = "{";
  Member("start", JsonTime(window.has_start_time(), window.start_time()), &out);
  Member("end", JsonTime(window.has_end_time(), window.end_time()), &out);
  return out + "}";
}

class JsonlWriter : public RowWriter {
 public:
  JsonlWriter(const v1::ViewSpec& spec, std::ostream* out)
      : spec_(spec), out_(out) {}

  void Write(const v1::WindowResult& row) override {
    std::string line = "{";
    Member("view", JsonString(row.view()), &line);
    Member("revision", JsonString(row.revision()), &line);
    Member("key", Key(row.key()), &line);
    const v1::Window& window = row.window();
    Member("start", JsonTime(window.has_start_time(), window.start_time()),
           &line);
    Member("end", JsonTime(window.has_end_time(), window.end_time()), &line);
    Member("finality", JsonString(FinalityName(row.finality())), &line);
    if (row.timing() != v1::TIMING_UNSPECIFIED) {
      Member("timing", JsonString(TimingName(row.timing())), &line);
    }
    if (row.reason() != v1::EMIT_REASON_UNSPECIFIED) {
      Member("reason", JsonString(ReasonName(row.reason())), &line);
    }
    Member("version", absl::StrCat(row.version()), &line);
    AddContent(row, &line);
    *out_ << line << "}\n";
  }

 private:
  void AddContent(const v1::WindowResult& row, std::string* line) const {
    // A retracted row is gone: it has no values.
    if (row.finality() != v1::FINALITY_RETRACTED) {
      Member("event_count", absl::StrCat(row.event_count()), line);
      AddValues("values", row.values(), line);
      Member("first_event_time",
             JsonTime(row.has_first_event_time(), row.first_event_time()),
             line);
      Member("last_event_time",
             JsonTime(row.has_last_event_time(), row.last_event_time()), line);
    }
    if (!row.replaced_values().empty()) {
      AddValues("replaced_values", row.replaced_values(), line);
    }
    if (!row.replaced_windows().empty()) {
      Member("replaced_windows",
             absl::StrCat("[",
                          absl::StrJoin(row.replaced_windows(), ",",
                                        [](std::string* text, const auto& w) {
                                          text->append(WindowJson(w));
                                        }),
                          "]"),
             line);
    }
    if (row.partial_span()) Member("partial_span", "true", line);
    if (row.empty()) Member("empty", "true", line);
    if (!row.operation().empty()) {
      Member("operation", JsonString(row.operation()), line);
    }
    if (row.has_final_at()) {
      Member("final_at", JsonTime(true, row.final_at()), line);
    }
  }

  std::string Key(const v1::Key& key) const {
    std::string out = "{";
    for (int i = 0; i < key.parts_size(); ++i) {
      Member(i < spec_.group_by_size() ? spec_.group_by(i) : absl::StrCat(i),
             JsonValue(key.parts(i)), &out);
    }
    return out + "}";
  }

  // The values by alias, and beside them what is more than one value: what a
  // mean is made of, and which values are estimates.
  template <typename Values>
  void AddValues(absl::string_view name, const Values& values,
                 std::string* line) const {
    std::string out = "{";
    std::string means = "{";
    std::string estimates;
    for (int i = 0; i < values.size(); ++i) {
      const std::string alias = i < spec_.aggregates_size()
                                    ? spec_.aggregates(i).alias()
                                    : absl::StrCat(i);
      const v1::AggregateValue& value = values.Get(i);
      Member(alias, JsonValue(value), &out);
      if (value.has_mean()) {
        Member(alias,
               absl::StrCat("{\"sum\":", JsonValue(value.mean().sum()),
                            ",\"count\":", value.mean().count(), "}"),
               &means);
      }
      if (value.approximate()) {
        absl::StrAppend(&estimates, estimates.empty() ? "" : ",",
                        JsonString(alias));
      }
    }
    Member(name, out + "}", line);
    if (means.size() > 1) {
      Member(absl::StrCat(name, "_means"), means + "}", line);
    }
    if (!estimates.empty()) {
      Member(absl::StrCat(name, "_approximate"),
             absl::StrCat("[", estimates, "]"), line);
    }
  }

  const v1::ViewSpec spec_;
  std::ostream* const out_;
};

constexpr const char* kFrontColumns[] = {"view", "revision"};
constexpr const char* kWindowColumns[] = {"window_start", "window_end",
                                          "finality",     "timing",
                                          "version",      "event_count"};
constexpr const char* kBackColumns[] = {"first_event_time", "last_event_time",
                                        "partial_span",     "empty",
                                        "final_at",         "operation"};

class CsvWriter : public RowWriter {
 public:
  CsvWriter(const v1::ViewSpec& spec, std::ostream* out, bool header)
      : spec_(spec), out_(out) {
    if (!header) return;
    for (const std::string& column : CsvColumns(spec)) Add(column);
    EndRecord();
  }

  void Write(const v1::WindowResult& row) override {
    Add(row.view());
    Add(row.revision());
    for (int i = 0; i < spec_.group_by_size(); ++i) {
      const bool there = i < row.key().parts_size();
      const bool null =
          !there || row.key().parts(i).kind_case() == v1::Value::KIND_NOT_SET;
      Add(there ? TextValue(row.key().parts(i)) : "", null);
    }
    AddTime(row.window().has_start_time(), row.window().start_time());
    AddTime(row.window().has_end_time(), row.window().end_time());
    Add(FinalityName(row.finality()));
    const bool no_timing = row.timing() == v1::TIMING_UNSPECIFIED;
    Add(no_timing ? "" : TimingName(row.timing()), no_timing);
    Add(absl::StrCat(row.version()));
    const bool gone = row.finality() == v1::FINALITY_RETRACTED;
    Add(absl::StrCat(row.event_count()), gone);
    for (int i = 0; i < spec_.aggregates_size(); ++i) {
      const bool null =
          i >= row.values_size() ||
          row.values(i).kind_case() == v1::AggregateValue::KIND_NOT_SET;
      Add(null ? "" : TextValue(row.values(i)), null);
    }
    AddTime(row.has_first_event_time(), row.first_event_time());
    AddTime(row.has_last_event_time(), row.last_event_time());
    Add(row.partial_span() ? "true" : "false");
    Add(row.empty() ? "true" : "false");
    AddTime(row.has_final_at(), row.final_at());
    Add(row.operation(), row.operation().empty());
    EndRecord();
  }

 private:
  void Add(absl::string_view text, bool is_null = false) {
    if (!first_) *out_ << ',';
    first_ = false;
    *out_ << CsvField(text, is_null);
  }

  void AddTime(bool present, const google::protobuf::Timestamp& time) {
    Add(present ? FormatTime(time) : "", !present);
  }

  void EndRecord() {
    *out_ << "\n";
    first_ = true;
  }

  const v1::ViewSpec spec_;
  std::ostream* const out_;
  bool first_ = true;
};

}  // namespace

std::vector<std::string> CsvColumns(const v1::ViewSpec& spec) {
  std::vector<std::string> taken;
  for (const char* name : kFrontColumns) taken.push_back(name);
  for (const char* name : kWindowColumns) taken.push_back(name);
  for (const char* name : kBackColumns) taken.push_back(name);
  const auto unique = [&taken](const std::string& name,
                               absl::string_view prefix) {
    const bool clash =
        std::find(taken.begin(), taken.end(), name) != taken.end();
    taken.push_back(clash ? absl::StrCat(prefix, name) : name);
    return taken.back();
  };
  std::vector<std::string> columns(std::begin(kFrontColumns),
                                   std::end(kFrontColumns));
  for (const std::string& field : spec.group_by()) {
    columns.push_back(unique(field, "key."));
  }
  columns.insert(columns.end(), std::begin(kWindowColumns),
                 std::end(kWindowColumns));
  for (const v1::AggregateSpec& aggregate : spec.aggregates()) {
    columns.push_back(unique(aggregate.alias(), "value."));
  }
  columns.insert(columns.end(), std::begin(kBackColumns),
                 std::end(kBackColumns));
  return columns;
}

std::string FinalityName(v1::Finality finality) {
  return Word(v1::Finality_descriptor(), "FINALITY_", finality);
}

std::unique_ptr<RowWriter> NewJsonlWriter(const v1::ViewSpec& spec,
                                          std::ostream* out) {
  return std::make_unique<JsonlWriter>(spec, out);
}

std::unique_ptr<RowWriter> NewCsvWriter(const v1::ViewSpec& spec,
                                        std::ostream* out, bool header) {
  return std::make_unique<CsvWriter>(spec, out, header);
}

}  // namespace casement::tool
