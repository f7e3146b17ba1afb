// The current rows of a view, out of its results. What this is for: a table in
// memory that holds for each window and key what is known of it now. The one
// invariant: for each identity (view, revision, key, start, end) it holds the
// result with the highest version that it was given (the last one among
// equals), in whatever repetition results come; a row that was retracted is
// gone.

#ifndef CASEMENT_CLIENT_LATEST_ROWS_H_
#define CASEMENT_CLIENT_LATEST_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "casement/v1/result.pb.h"

namespace casement::client {

// Not thread-safe. Keeps a small mark for each retracted row too, so that an
// older result that comes again does not bring it back.
class LatestRows {
 public:
  // False if the row is older than what is known, or its finality is none that
  // this client knows.
  bool Apply(const v1::WindowResult& result);

  // The rows that are there, in no order.
  void ForEach(const std::function<void(const v1::WindowResult&)>& use) const;

  // Null if there is none.
  const v1::WindowResult* Find(const std::string& identity) const;

  // Forgets rows and marks with ends up to here (microseconds since 1970), for
  // a program that has put them elsewhere.
  void ForgetThrough(int64_t end_us);

  int64_t size() const { return live_; }

  // Equal for two results exactly if they are of one row.
  static std::string Identity(const v1::WindowResult& result);

 private:
  struct Row {
    v1::WindowResult result;
    bool live = false;
  };

  absl::flat_hash_map<std::string, Row> rows_;
  int64_t live_ = 0;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_LATEST_ROWS_H_
