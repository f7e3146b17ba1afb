// From the events of a batch to the keys of a view: each distinct key of a
// batch is encoded and looked up once, and an event costs an array access.
#ifndef CASEMENT_SERVER_ENGINE_KEY_RESOLVER_H_
#define CASEMENT_SERVER_ENGINE_KEY_RESOLVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/engine/batch.h"
#include "server/engine/key_table.h"
#include "server/engine/spec.h"

namespace casement::engine {

class KeyResolver {
 public:
  KeyResolver(const ViewSpec& view, const StreamSpec& stream);

  // Numbers the distinct keys of a batch from 0. The batch must outlive the
  // calls that follow.
  void Start(const EventBatch& batch);
  uint32_t LocalKey(int row) const {
    return locals_.empty() ? 0 : locals_[row];
  }
  uint32_t local_count() const { return local_count_; }

  // Appends the encoded key of a row.
  void AppendKey(const EventBatch& batch, int row, std::string* key) const;
  // The bytes of a row's grouping values together, before encoding.
  int64_t KeyBytes(const EventBatch& batch, int row) const;
  // No row of the batch can be above this.
  int64_t MaxKeyBytes(const EventBatch& batch) const;

 private:
  struct Field {
    int index;
    FieldType type;
  };

  // Distinct numbers for the values of a field: 0 for null.
  void NumberValues(const EventBatch& batch, const Field& field,
                    std::vector<uint32_t>* numbers, uint32_t* count);
  void Combine(const std::vector<uint32_t>& numbers);

  std::vector<Field> fields_;
  std::vector<uint32_t> locals_;
  uint32_t local_count_ = 1;
  std::vector<uint32_t> numbers_;
  absl::flat_hash_map<uint64_t, uint32_t> values_;
  absl::flat_hash_map<uint64_t, uint32_t> pairs_;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_KEY_RESOLVER_H_
