#include "server/engine/key_table.h"

namespace casement::engine {

KeyId KeyTable::FindOrAdd(absl::string_view key) {
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  KeyId id;
  if (free_.empty()) {
    id = static_cast<KeyId>(entries_.size());
    entries_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[id];
  entry.bytes.assign(key.data(), key.size());
  entry.known = true;
  ids_.emplace(entry.bytes, id);
  unreferenced_.push_back(id);
  memory_bytes_ += kEntryBytes + entry.bytes.size();
  return id;
}

void KeyTable::Sweep() {
  for (const KeyId id : unreferenced_) {
    Entry& entry = entries_[id];
    if (entry.references > 0 || !entry.known) continue;
    ids_.erase(entry.bytes);
    memory_bytes_ -= kEntryBytes + entry.bytes.size();
    entry.bytes = std::string();
    entry.known = false;
    free_.push_back(id);
  }
  unreferenced_.clear();
}

}  // namespace casement::engine
