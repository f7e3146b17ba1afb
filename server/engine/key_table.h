// The keys of a view that have anything open, each under a small number. A key
// is forgotten once nothing refers to it; its number is then used again, so
// numbers mean nothing outside and no order follows from them.
#ifndef CASEMENT_SERVER_ENGINE_KEY_TABLE_H_
#define CASEMENT_SERVER_ENGINE_KEY_TABLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace casement::engine {

using KeyId = uint32_t;

class KeyTable {
 public:
  // A key that is new has no references yet: Sweep forgets it unless it gets
  // one before.
  KeyId FindOrAdd(absl::string_view key);
  absl::string_view Bytes(KeyId id) const { return entries_[id].bytes; }

  void Ref(KeyId id) { ++entries_[id].references; }
  void Unref(KeyId id) {
    if (--entries_[id].references == 0) unreferenced_.push_back(id);
  }
  // Forgets the keys without references. Not while ids are held elsewhere.
  void Sweep();

  size_t size() const { return ids_.size(); }
  // One more than the greatest id that was given out.
  size_t id_limit() const { return entries_.size(); }
  size_t memory_bytes() const { return memory_bytes_; }

 private:
  struct Entry {
    std::string bytes;
    uint32_t references = 0;
    bool known = false;
  };
  static constexpr size_t kEntryBytes = sizeof(Entry) + 24;

  absl::flat_hash_map<absl::string_view, KeyId> ids_;  // views of entries_
  std::deque<Entry> entries_;  // an entry's address stays
  std::vector<KeyId> free_;
  std::vector<KeyId> unreferenced_;
  size_t memory_bytes_ = 0;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_KEY_TABLE_H_
