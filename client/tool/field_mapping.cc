#include "client/tool/field_mapping.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace casement::tool {

std::string FieldMapping::Text() const {
  std::string text = time_column.empty()
                         ? "event time is the time of arrival"
                         : absl::StrCat(time_column, " is the event time");
  if (!id_column.empty()) {
    absl::StrAppend(&text, ", ", id_column, " the event id");
  }
  if (fields.empty()) return text + "; no fields";
  return absl::StrCat(
      text, "; fields ",
      absl::StrJoin(fields, ", ", [](std::string* out, const MappedField& f) {
        absl::StrAppend(out, f.column);
        if (f.column != f.field.name()) {
          absl::StrAppend(out, "=", f.field.name());
        }
      }));
}

absl::StatusOr<FieldMapping> MapFields(const v1::Stream& stream,
                                       const IngestOptions& options) {
  std::map<std::string, std::string> column_of;
  for (const std::string& text : options.fields) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    const std::string& field =
        parts.second.empty() ? parts.first : parts.second;
    if (!column_of.emplace(field, parts.first).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--field names field \"", field, "\" twice"));
    }
  }
  FieldMapping mapping;
  for (const v1::FieldSpec& field : stream.fields()) {
    const auto named = column_of.find(field.name());
    mapping.fields.push_back(
        {named == column_of.end() ? field.name() : named->second, field});
    if (named != column_of.end()) column_of.erase(named);
  }
  if (!column_of.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--field names \"", column_of.begin()->first,
                     "\", which is no field of the stream"));
  }
  const bool arrival = stream.watermark_policy().has_arrival();
  if (!arrival || options.time_column_given) {
    mapping.time_column = options.time_column;
  }
  mapping.id_column = options.id_column;
  return mapping;
}

}  // namespace casement::tool
