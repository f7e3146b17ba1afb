#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/tool/event_reader.h"
#include "client/tool/field_mapping.h"

namespace casement::tool {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxLineBytes = 16 << 20;

// The value as it is, but an integer for a double field becomes a double:
// JSON has one kind of number.
client::Value FromJson(const Json& json, v1::FieldType type,
                       std::string* remark) {
  const auto mismatch = [&] {
    *remark = absl::StrCat("a ", json.type_name(), " is not of type ",
                           TypeName(type));
  };
  if (json.is_null()) return std::monostate();
  if (json.is_boolean()) {
    if (type != v1::FIELD_TYPE_BOOL) mismatch();
    return json.get<bool>();
  }
  if (json.is_number()) {
    if (type == v1::FIELD_TYPE_DOUBLE) return json.get<double>();
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() ||
                       json.get<uint64_t>() <= uint64_t{INT64_MAX});
    if (!fits || type != v1::FIELD_TYPE_INT64) mismatch();
    if (fits) return json.get<int64_t>();
    return json.get<double>();
  }
  std::string text = json.get<std::string>();
  if (type == v1::FIELD_TYPE_BYTES) {
    client::Bytes bytes;
    if (absl::Base64Unescape(text, &bytes.data)) return bytes;
    *remark = "the text is not base64";
  } else if (type != v1::FIELD_TYPE_STRING) {
    mismatch();
  }
  return text;
}

class JsonlEventReader : public EventReader {
 public:
  JsonlEventReader(ByteSource* source, TimeFormat time_format,
                   FieldMapping mapping)
      : source_(source),
        time_format_(time_format),
        mapping_(std::move(mapping)) {}

  absl::StatusOr<bool> Next(InputEvent* out) override;
  std::string Mapping() const override { return mapping_.Text(); }

 private:
  absl::StatusOr<bool> ReadLine(std::string* line);
  void SetTime(const Json& object, InputEvent* out) const;
  void SetFields(const Json& object, InputEvent* out) const;

  ByteSource* const source_;
  const TimeFormat time_format_;
  const FieldMapping mapping_;
};

absl::StatusOr<bool> JsonlEventReader::ReadLine(std::string* line) {
  line->clear();
  int byte = source_->Get();
  if (byte == ByteSource::kEnd) {
    if (!source_->status().ok()) return source_->status();
    return false;
  }
  for (; byte != ByteSource::kEnd && byte != '\n'; byte = source_->Get()) {
    line->push_back(static_cast<char>(byte));
    if (line->size() > kMaxLineBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", source_->line(), " is longer than 16 MiB"));
    }
  }
  if (!source_->status().ok()) return source_->status();
  return true;
}

absl::StatusOr<bool> JsonlEventReader::Next(InputEvent* out) {
  std::string line;
  do {
    *out = InputEvent();
    out->line = source_->line();
    absl::StatusOr<bool> more = ReadLine(&line);
    if (!more.ok() || !*more) return more;
  } while (line.find_first_not_of(" \t\r") == std::string::npos);
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) {
    out->fault = "not JSON";
  } else if (!object.is_object()) {
    out->fault = "not a JSON object";
  } else {
    SetTime(object, out);
    out->event.SetTag(out->line);
    SetFields(object, out);
  }
  return true;
}

void JsonlEventReader::SetTime(const Json& object, InputEvent* out) const {
  if (mapping_.time_column.empty()) return;
  const auto it = object.find(mapping_.time_column);
  if (it == object.end() || it->is_null()) {
    out->remark = absl::StrCat("no \"", mapping_.time_column, "\"");
    return;
  }
  const std::string text =
      it->is_string() ? it->get<std::string>() : it->dump();
  const std::optional<int64_t> time =
      ParseTime(text, time_format_, &out->remark);
  if (time) out->event = client::Event::AtMicros(*time);
}

void JsonlEventReader::SetFields(const Json& object, InputEvent* out) const {
  if (!mapping_.id_column.empty()) {
    const auto id = object.find(mapping_.id_column);
    if (id != object.end() && !id->is_null()) {
      out->event.SetId(id->is_string() ? id->get<std::string>() : id->dump());
    }
  }
  for (const MappedField& mapped : mapping_.fields) {
    const auto it = object.find(mapped.column);
    if (it == object.end()) continue;
    if (it->is_structured()) {
      out->fault = absl::StrCat("\"", mapped.column, "\" is an ",
                                it->type_name(), ", which no field can hold");
      return;
    }
    std::string remark;
    client::Value value = FromJson(*it, mapped.field.type(), &remark);
    if (!std::holds_alternative<std::monostate>(value)) {
      out->event.Set(mapped.field.name(), std::move(value));
    }
    if (!remark.empty() && out->remark.empty()) {
      out->remark = absl::StrCat(mapped.column, ": ", remark);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventReader>> NewJsonlEventReader(
    ByteSource* source, const v1::Stream& stream,
    const IngestOptions& options) {
  absl::StatusOr<TimeFormat> format = ParseTimeFormat(options.time_format);
  if (!format.ok()) return format.status();
  absl::StatusOr<FieldMapping> mapping = MapFields(stream, options);
  if (!mapping.ok()) return mapping.status();
  source->SkipByteOrderMark();
  return std::make_unique<JsonlEventReader>(source, *format,
                                            *std::move(mapping));
}

}  // namespace casement::tool
