// A table of text with aligned columns. What this is for: lists on a terminal.
// The one invariant: the same columns, in the same order, for every row.

#ifndef CASEMENT_CLIENT_TOOL_TABLE_H_
#define CASEMENT_CLIENT_TOOL_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

#include "casement/v1/definition.pb.h"
#include "casement/v1/result.pb.h"

namespace casement::tool {

class Table {
 public:
  explicit Table(std::vector<std::string> header);

  void Add(std::vector<std::string> row);
  size_t rows() const { return rows_.size(); }

  // Header (unless told not to) and rows; lines longer than `width` are cut
  // (0: never). Columns only ever get wider from one Print to the next.
  void Print(std::ostream& out, bool header = true, size_t width = 0);
  void Clear() { rows_.clear(); }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

// The columns for results of a view, and one result in them.
std::vector<std::string> ResultColumns(const v1::ViewSpec& spec);
std::vector<std::string> ResultCells(const v1::ViewSpec& spec,
                                     const v1::WindowResult& row);

// "2001-01-01T06:54:00Z"; "none yet", and "end of the stream" once it ended.
std::string WatermarkText(const v1::Progress& progress);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_TABLE_H_
