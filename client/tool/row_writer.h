// Result rows as lines. What this is for: what `watch` and `windows` give to
// other programs. The one invariant: one row is one line (CSV: one record),
// with names that follow from the view's spec alone, so that every run of the
// same view writes the same columns.

#ifndef CASEMENT_CLIENT_TOOL_ROW_WRITER_H_
#define CASEMENT_CLIENT_TOOL_ROW_WRITER_H_

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "casement/v1/definition.pb.h"
#include "casement/v1/result.pb.h"

namespace casement::tool {

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void Write(const v1::WindowResult& row) = 0;
};

// {"view":...,"revision":...,"key":{FIELD:...},"start":...,"end":...,
//  "finality":"FINAL",...,"values":{ALIAS:...}}
std::unique_ptr<RowWriter> NewJsonlWriter(const v1::ViewSpec& spec,
                                          std::ostream* out);

// RFC 4180, with a header. A grouping field or an alias whose name is taken
// by another column gets "key." or "value." in front.
std::unique_ptr<RowWriter> NewCsvWriter(const v1::ViewSpec& spec,
                                        std::ostream* out, bool header);

// The header of NewCsvWriter.
std::vector<std::string> CsvColumns(const v1::ViewSpec& spec);

// "FINAL", "PROVISIONAL"; "7" for one that this program does not know.
std::string FinalityName(v1::Finality finality);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_ROW_WRITER_H_
