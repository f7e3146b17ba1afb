#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tool/csv_reader.h"
#include "client/tool/event_reader.h"
#include "client/tool/field_mapping.h"

namespace casement::tool {
namespace {

class CsvEventReader : public EventReader {
 public:
  CsvEventReader(ByteSource* source, TimeFormat time_format,
                 std::string null_text)
      : reader_(source),
        time_format_(time_format),
        null_text_(std::move(null_text)) {}

  absl::Status SetColumns(const IngestOptions& options);
  absl::Status Bind(FieldMapping mapping, bool time_is_needed);

  absl::StatusOr<bool> Next(InputEvent* out) override;
  std::string Mapping() const override {
    std::vector<std::string> unused;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!used_[i]) unused.push_back(columns_[i]);
    }
    if (unused.empty()) return mapping_.Text();
    return absl::StrCat(mapping_.Text(),
                        "; not used: ", absl::StrJoin(unused, ", "));
  }

 private:
  struct Slot {
    size_t column = 0;
    v1::FieldSpec field;
  };

  absl::StatusOr<std::optional<size_t>> FindColumn(const std::string& name);

  CsvReader reader_;
  const TimeFormat time_format_;
  const std::string null_text_;
  FieldMapping mapping_;
  std::vector<std::string> columns_;
  std::vector<bool> used_;
  std::optional<size_t> time_column_;
  std::optional<size_t> id_column_;
  std::vector<Slot> slots_;
  CsvRecord record_;
};

absl::Status CsvEventReader::SetColumns(const IngestOptions& options) {
  if (options.no_header) {
    if (options.columns.empty()) {
      return absl::InvalidArgumentError(
          "--no_header needs --columns, the names of the columns in order");
    }
    columns_ = options.columns;
  } else {
    absl::StatusOr<bool> more = reader_.Next(&record_);
    if (!more.ok()) return more.status();
    if (!*more) {
      return absl::InvalidArgumentError("the file is empty: no header");
    }
    if (!record_.fault.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header is malformed: ", record_.fault));
    }
    for (const CsvText& text : record_.fields) columns_.push_back(text.text);
  }
  used_.assign(columns_.size(), false);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<size_t>> CsvEventReader::FindColumn(
    const std::string& name) {
  std::optional<size_t> found;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != name) continue;
    if (found) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two columns \"", name, "\""));
    }
    found = i;
    used_[i] = true;
  }
  return found;
}

absl::Status CsvEventReader::Bind(FieldMapping mapping, bool time_is_needed) {
  const auto missing = [this](const std::string& name, absl::string_view hint) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no column \"", name, "\" (there are ",
                     absl::StrJoin(columns_, ", "), "): ", hint));
  };
  absl::StatusOr<std::optional<size_t>> column;
  if (!mapping.time_column.empty()) {
    column = FindColumn(mapping.time_column);
    if (!column.ok()) return column.status();
    if (!*column && time_is_needed) {
      return missing(mapping.time_column,
                     "--time_column names the one with the event time");
    }
    time_column_ = *column;
  }
  if (!mapping.id_column.empty()) {
    column = FindColumn(mapping.id_column);
    if (!column.ok()) return column.status();
    if (!*column) return missing(mapping.id_column, "as --id_column says");
    id_column_ = *column;
  }
  std::vector<MappedField> found;
  for (MappedField& field : mapping.fields) {
    column = FindColumn(field.column);
    if (!column.ok()) return column.status();
    if (*column) {
      slots_.push_back({**column, field.field});
      found.push_back(field);
    } else if (field.column != field.field.name()) {
      return missing(field.column, "as --field says");
    } else if (field.field.required()) {
      return missing(field.column,
                     "the stream requires it; --field COLUMN=FIELD names "
                     "another");
    }
  }
  mapping.fields = std::move(found);
  mapping_ = std::move(mapping);
  return absl::OkStatus();
}

absl::StatusOr<bool> CsvEventReader::Next(InputEvent* out) {
  absl::StatusOr<bool> more = reader_.Next(&record_);
  if (!more.ok() || !*more) return more;
  *out = InputEvent();
  out->line = record_.line;
  out->fault = record_.fault;
  if (out->fault.empty() && record_.fields.size() != columns_.size()) {
    out->fault = absl::StrCat(record_.fields.size(), " fields instead of ",
                              columns_.size());
  }
  if (!out->fault.empty()) return true;
  if (time_column_) {
    const std::optional<int64_t> time = ParseTime(
        record_.fields[*time_column_].text, time_format_, &out->remark);
    if (time) out->event = client::Event::AtMicros(*time);
  }
  out->event.SetTag(out->line);
  if (id_column_) out->event.SetId(record_.fields[*id_column_].text);
  for (const Slot& slot : slots_) {
    std::string remark;
    client::Value value = ParseCsvValue(record_.fields[slot.column],
                                        slot.field.type(), null_text_, &remark);
    if (!std::holds_alternative<std::monostate>(value)) {
      out->event.Set(slot.field.name(), std::move(value));
    }
    if (!remark.empty() && out->remark.empty()) {
      out->remark = absl::StrCat(columns_[slot.column], ": ", remark);
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventReader>> NewCsvEventReader(
    ByteSource* source, const v1::Stream& stream,
    const IngestOptions& options) {
  absl::StatusOr<TimeFormat> format = ParseTimeFormat(options.time_format);
  if (!format.ok()) return format.status();
  absl::StatusOr<FieldMapping> mapping = MapFields(stream, options);
  if (!mapping.ok()) return mapping.status();
  source->SkipByteOrderMark();
  auto reader =
      std::make_unique<CsvEventReader>(source, *format, options.null_text);
  absl::Status status = reader->SetColumns(options);
  if (status.ok()) {
    const bool arrival = stream.watermark_policy().has_arrival();
    status = reader->Bind(*std::move(mapping),
                          !arrival || options.time_column_given);
  }
  if (!status.ok()) return status;
  return reader;
}

}  // namespace casement::tool
