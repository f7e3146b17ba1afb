// Builds the compact wire form of a batch from typed rows. What this is for:
// the columns, deltas, dictionary and null bits of `ColumnBatch`, five times
// smaller than rows and much cheaper to read. The one invariant: what Take
// returns is well formed (every column has one slot a row, every symbol index
// is in the dictionary) whatever rows were added.
//
//   ColumnBuilder builder(stream.fields());
//   const int origin = *builder.Find("origin");
//   builder.BeginRow(time_us);
//   builder.SetString(origin, "LAS");
//   batch.mutable_columns()->Swap(&builder.Take());

#ifndef CASEMENT_CLIENT_COLUMN_BUILDER_H_
#define CASEMENT_CLIENT_COLUMN_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "casement/v1/definition.pb.h"
#include "casement/v1/ingest.pb.h"
#include "client/event.h"

namespace casement::client {

// Not thread-safe. Reusable: Take leaves it empty.
class ColumnBuilder {
 public:
  using Fields = google::protobuf::RepeatedPtrField<v1::FieldSpec>;

  // `fields` are those of the stream.
  explicit ColumnBuilder(const Fields& fields);

  // The number of a field for the setters below.
  std::optional<int> Find(absl::string_view field) const;

  // Whether AddRow would take the event: INVALID_ARGUMENT says why not. A
  // column has one type and is of a known field, so an event with a value of
  // another type can only go as a row; and no two times of a batch may be more
  // than an int64 of microseconds apart.
  absl::Status Check(const Event& event) const;

  // Adds a whole event, or nothing if Check fails.
  absl::Status AddRow(const Event& event);

  // The fast way: begin a row, then set its fields by number, each at most
  // once and by the setter of its type (asserted). Fields not set are null.
  // False if the time is too far from the row before; nothing is begun then.
  [[nodiscard]] bool BeginRow(std::optional<int64_t> time_us);
  void SetInt64(int field, int64_t value);
  void SetDouble(int field, double value);
  void SetBool(int field, bool value);
  void SetString(int field, absl::string_view value);
  void SetBytes(int field, absl::string_view value);
  void SetEventId(absl::string_view id);

  int rows() const { return rows_; }
  // At least the bytes that the batch takes on the wire.
  int64_t bytes() const { return bytes_; }
  // At least the bytes that AddRow would add.
  int64_t MaxBytes(const Event& event) const;

  // The batch; the builder is empty then.
  v1::ColumnBatch Take();

 private:
  struct Field {
    v1::FieldSpec spec;
    v1::Column column;
    int filled = 0;  // Slots so far; those before were set or are null.
    bool any_null = false;
    std::vector<bool> nulls;
    std::vector<bool> bools;
  };

  Field& Slot(int field, v1::FieldType type);
  void PadWithNulls(Field& field, int rows);
  uint32_t Symbol(absl::string_view text);
  void FinishField(Field& field);
  void Clear();

  std::vector<Field> fields_;
  absl::flat_hash_map<std::string, int> by_name_;
  absl::flat_hash_map<std::string, uint32_t> symbol_numbers_;
  v1::ColumnBatch batch_;
  std::vector<bool> time_nulls_;
  bool any_time_null_ = false;
  std::optional<int64_t> last_time_us_;
  int64_t bytes_ = 0;
  int64_t row_overhead_ = 0;
  int rows_ = 0;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_COLUMN_BUILDER_H_
