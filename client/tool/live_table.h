// The newest rows of a view, repainted in place. What this is for: `watch` on a
// terminal. The one invariant: it shows the rows that changed last, each in its
// newest form, and remembers no more than fit.

#ifndef CASEMENT_CLIENT_TOOL_LIVE_TABLE_H_
#define CASEMENT_CLIENT_TOOL_LIVE_TABLE_H_

#include <list>
#include <ostream>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "casement/v1/admin.pb.h"
#include "casement/v1/definition.pb.h"
#include "casement/v1/result.pb.h"

namespace casement::tool {

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};

class LiveTable {
 public:
  LiveTable(v1::View view, std::ostream* out);

  void Apply(const v1::WindowResult& row);
  void SetStats(const v1::Stats& stats) { stats_ = stats; }
  void SetNote(std::string note) { note_ = std::move(note); }

  // Paints, but not more often than is good to read, unless forced.
  void Paint(ScreenSize size, bool force);

 private:
  using Rows = std::list<v1::WindowResult>;

  const v1::View view_;
  std::ostream* const out_;
  Rows rows_;  // The one that changed last comes first.
  absl::flat_hash_map<std::string, Rows::iterator> by_identity_;
  v1::Stats stats_;
  std::string note_;
  int64_t finals_ = 0;
  int64_t provisionals_ = 0;
  int64_t retracted_ = 0;
  absl::Time last_ = absl::InfinitePast();
  bool cleared_ = false;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_LIVE_TABLE_H_
