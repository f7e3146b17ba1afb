#include "client/tool/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tool/row_writer.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

// Characters, near enough: bytes that do not continue one.
size_t DisplayWidth(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Text of others' making may not move the cursor or hide lines.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string CutTo(const std::string& line, size_t width) {
  if (width == 0 || DisplayWidth(line) <= width) return line;
  size_t bytes = 0;
  for (size_t shown = 0; bytes < line.size(); ++bytes) {
    if ((static_cast<unsigned char>(line[bytes]) & 0xC0) == 0x80) continue;
    if (shown++ == width) break;
  }
  return line.substr(0, bytes);
}

}  // namespace

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
  for (const std::string& title : header_) {
    widths_.push_back(DisplayWidth(title));
  }
}

void Table::Add(std::vector<std::string> row) {
  row.resize(header_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = Printable(std::move(row[i]));
    widths_[i] = std::max(widths_[i], DisplayWidth(row[i]));
  }
  rows_.push_back(std::move(row));
}

void Table::Print(std::ostream& out, bool header, size_t width) {
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths_[i] - DisplayWidth(row[i]) + 2, ' ');
      }
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out << CutTo(line, width) << "\n";
  };
  if (header) print(header_);
  for (const auto& row : rows_) print(row);
}

std::vector<std::string> ResultColumns(const v1::ViewSpec& spec) {
  std::vector<std::string> columns = {"START", "END"};
  for (const std::string& field : spec.group_by()) columns.push_back(field);
  columns.push_back("FINALITY");
  columns.push_back("EVENTS");
  for (const v1::AggregateSpec& aggregate : spec.aggregates()) {
    columns.push_back(aggregate.alias());
  }
  return columns;
}

std::vector<std::string> ResultCells(const v1::ViewSpec& spec,
                                     const v1::WindowResult& row) {
  const v1::Window& window = row.window();
  std::vector<std::string> cells = {
      window.has_start_time() ? FormatTime(window.start_time()) : "-",
      window.has_end_time() ? FormatTime(window.end_time()) : "-"};
  for (int i = 0; i < spec.group_by_size(); ++i) {
    const bool null = i >= row.key().parts_size() ||
                      row.key().parts(i).kind_case() == v1::Value::KIND_NOT_SET;
    cells.push_back(null ? "(null)" : TextValue(row.key().parts(i)));
  }
  cells.push_back(absl::StrCat(FinalityName(row.finality()),
                               row.partial_span() ? " (partial span)" : ""));
  cells.push_back(absl::StrCat(row.event_count()));
  for (int i = 0; i < spec.aggregates_size(); ++i) {
    const bool null =
        i >= row.values_size() ||
        row.values(i).kind_case() == v1::AggregateValue::KIND_NOT_SET;
    cells.push_back(null ? "(null)" : TextValue(row.values(i)));
  }
  return cells;
}

std::string WatermarkText(const v1::Progress& progress) {
  if (progress.ended()) return "end of the stream";
  if (!progress.has_watermark_time()) return "none yet";
  return FormatTime(progress.watermark_time());
}

}  // namespace casement::tool
