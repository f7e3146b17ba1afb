#include "server/engine/aggregate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/engine/double_sum.h"
#include "server/engine/int_sum.h"
#include "server/engine/key_codec.h"
#include "server/engine/result_codec.h"

namespace casement::engine {
namespace {

using NumberSet = absl::flat_hash_set<uint64_t>;
using TextSet = absl::flat_hash_set<std::string>;

constexpr int kHeadWords = sizeof(RowHead) / sizeof(Word);
constexpr size_t kNumberBytes = 16;  // of a set, with its empty slots
constexpr size_t kTextBytes = 56;

// Places in the words of one aggregate.
constexpr int kCountWord = 0;  // of values that were not null
constexpr int kValueWord = 1;
static_assert(sizeof(DoubleSum) == 5 * sizeof(Word));

template <typename T>
T* External(Word word) {
  return reinterpret_cast<T*>(word);
}

DoubleSum& DoubleSumAt(Word* words) {
  return *reinterpret_cast<DoubleSum*>(words);
}
const DoubleSum& DoubleSumAt(const Word* words) {
  return *reinterpret_cast<const DoubleSum*>(words);
}

Int128 LoadInt128(const Word* words) {
  return static_cast<Int128>((static_cast<unsigned __int128>(words[1]) << 64) |
                             words[0]);
}
void StoreInt128(Int128 value, Word* words) {
  words[0] = static_cast<Word>(value);
  words[1] = static_cast<Word>(static_cast<unsigned __int128>(value) >> 64);
}

// NaN is greater than every number.
bool Less(double a, double b) {
  if (std::isnan(a)) return false;
  return std::isnan(b) || a < b;
}

template <typename T, typename LessThan>
bool Replaces(Function function, const T& value, const T& held, LessThan less) {
  return function == Function::kMin ? less(value, held) : less(held, value);
}

void UpdateHeads(const EventBatch& batch, absl::Span<Word* const> rows,
                 absl::Span<const int32_t> events) {
  for (size_t i = 0; i < rows.size(); ++i) {
    RowHead& head = HeadOf(rows[i]);
    const TimeUs time = batch.times[events[i]];
    head.first_event_time = std::min(head.first_event_time, time);
    head.last_event_time = std::max(head.last_event_time, time);
    ++head.event_count;
  }
}

// Calls add(words of the aggregate, event) for each value that is not null.
template <typename Add>
void ForEachValue(const Column& column, int word, absl::Span<Word* const> rows,
                  absl::Span<const int32_t> events, Add add) {
  if (!column.present) return;
  if (column.nulls.empty()) {
    for (size_t i = 0; i < rows.size(); ++i) add(rows[i] + word, events[i]);
    return;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (column.nulls[events[i]] == 0) add(rows[i] + word, events[i]);
  }
}

void UpdateSumInt(const Column& column, int word, absl::Span<Word* const> rows,
                  absl::Span<const int32_t> events) {
  ForEachValue(column, word, rows, events, [&](Word* words, int32_t event) {
    ++words[kCountWord];
    StoreInt128(LoadInt128(words + kValueWord) + column.int64s[event],
                words + kValueWord);
  });
}

void UpdateSumDouble(const Column& column, int word,
                     absl::Span<Word* const> rows,
                     absl::Span<const int32_t> events) {
  ForEachValue(column, word, rows, events, [&](Word* words, int32_t event) {
    ++words[kCountWord];
    DoubleSumAt(words + kValueWord).Add(column.doubles[event]);
  });
}

void ExtremeInt(Function function, int64_t value, uint64_t count, Word* words) {
  const int64_t held = static_cast<int64_t>(words[kValueWord]);
  if (words[kCountWord] == 0 ||
      Replaces(function, value, held, std::less<int64_t>())) {
    words[kValueWord] = static_cast<Word>(value);
  }
  words[kCountWord] += count;
}

void ExtremeDouble(Function function, double value, uint64_t count,
                   Word* words) {
  const double held = std::bit_cast<double>(words[kValueWord]);
  if (words[kCountWord] == 0 || Replaces(function, value, held, Less)) {
    words[kValueWord] = std::bit_cast<Word>(value);
  }
  words[kCountWord] += count;
}

// The number that a value is known by in a set of distinct ones.
uint64_t DistinctNumber(const Column& column, FieldType type, int32_t event) {
  if (type == FieldType::kDouble) {
    return std::bit_cast<uint64_t>(Canonical(column.doubles[event]));
  }
  return static_cast<uint64_t>(column.int64s[event]);
}

}  // namespace

AggregateSet::Op AggregateSet::OpFor(Function function, FieldType type) {
  const bool text = type == FieldType::kString || type == FieldType::kBytes;
  switch (function) {
    case Function::kCount:
      return Op::kCountField;
    case Function::kSum:
    case Function::kMean:
      return type == FieldType::kDouble ? Op::kSumDouble : Op::kSumInt;
    case Function::kMin:
    case Function::kMax:
      if (text) return Op::kExtremeText;
      return type == FieldType::kDouble ? Op::kExtremeDouble : Op::kExtremeInt;
    case Function::kDistinctCount:
      return text ? Op::kDistinctText : Op::kDistinctNumber;
  }
  return Op::kCountField;
}

int AggregateSet::WordsFor(Op op) {
  switch (op) {
    case Op::kCountEvents:
      return 0;
    case Op::kCountField:
    case Op::kExtremeText:
    case Op::kDistinctNumber:
    case Op::kDistinctText:
      return 1;
    case Op::kExtremeInt:
    case Op::kExtremeDouble:
      return 2;
    case Op::kSumInt:
      return 3;
    case Op::kSumDouble:
      return 1 + sizeof(DoubleSum) / sizeof(Word);
  }
  return 0;
}

AggregateSet::AggregateSet(const ViewSpec& view, const StreamSpec& stream) {
  row_words_ = kHeadWords;
  for (const AggregateSpec& spec : view.aggregates) {
    Slot slot;
    slot.function = spec.function;
    slot.word = row_words_;
    if (spec.field.empty()) {
      slot.op = Op::kCountEvents;
    } else {
      slot.field = stream.FindField(spec.field);
      slot.type = stream.fields[slot.field].type;
      slot.op = OpFor(spec.function, slot.type);
    }
    has_external_ |= slot.op >= Op::kExtremeText;
    row_words_ += WordsFor(slot.op);
    slots_.push_back(slot);
  }
}

void AggregateSet::Init(Word* row) const {
  std::memset(row, 0, row_words_ * sizeof(Word));
  HeadOf(row).first_event_time = kEndOfTime;
  HeadOf(row).last_event_time = kNoWatermark;
}

void AggregateSet::Destroy(Word* row) {
  if (!has_external_) return;
  for (const Slot& slot : slots_) {
    Word& word = row[slot.word];
    if (slot.op == Op::kDistinctNumber && word != 0) {
      external_bytes_ -= External<NumberSet>(word)->size() * kNumberBytes;
      delete External<NumberSet>(word);
    } else if (slot.op == Op::kDistinctText && word != 0) {
      for (const std::string& text : *External<TextSet>(word)) {
        external_bytes_ -= kTextBytes + text.size();
      }
      delete External<TextSet>(word);
    } else if (slot.op == Op::kExtremeText && word != 0) {
      external_bytes_ -= kTextBytes + External<std::string>(word)->size();
      delete External<std::string>(word);
    } else {
      continue;
    }
    word = 0;
  }
}

void AggregateSet::AddNumber(Word* word, uint64_t number) {
  if (*word == 0) *word = reinterpret_cast<Word>(new NumberSet());
  if (External<NumberSet>(*word)->insert(number).second) {
    external_bytes_ += kNumberBytes;
  }
}

void AggregateSet::AddText(Word* word, absl::string_view text) {
  if (*word == 0) *word = reinterpret_cast<Word>(new TextSet());
  if (External<TextSet>(*word)->emplace(text).second) {
    external_bytes_ += kTextBytes + text.size();
  }
}

void AggregateSet::Extreme(const Slot& slot, Word* word,
                           absl::string_view text) {
  if (*word == 0) {
    *word = reinterpret_cast<Word>(new std::string(text));
    external_bytes_ += kTextBytes + text.size();
    return;
  }
  std::string* held = External<std::string>(*word);
  if (Replaces(slot.function, text, absl::string_view(*held),
               std::less<absl::string_view>())) {
    external_bytes_ += text.size();
    external_bytes_ -= held->size();
    held->assign(text.data(), text.size());
  }
}

void AggregateSet::Update(const EventBatch& batch, absl::Span<Word* const> rows,
                          absl::Span<const int32_t> events) {
  UpdateHeads(batch, rows, events);
  for (const Slot& slot : slots_) {
    if (slot.op != Op::kCountEvents) UpdateSlot(slot, batch, rows, events);
  }
}

void AggregateSet::UpdateSlot(const Slot& slot, const EventBatch& batch,
                              absl::Span<Word* const> rows,
                              absl::Span<const int32_t> events) {
  const Column& column = batch.columns[slot.field];
  const auto for_each = [&](auto add) {
    ForEachValue(column, slot.word, rows, events, add);
  };
  switch (slot.op) {
    case Op::kCountEvents:
      return;
    case Op::kCountField:
      return for_each([](Word* words, int32_t) { ++words[kCountWord]; });
    case Op::kSumInt:
      return UpdateSumInt(column, slot.word, rows, events);
    case Op::kSumDouble:
      return UpdateSumDouble(column, slot.word, rows, events);
    case Op::kExtremeInt:
      return for_each([&](Word* words, int32_t event) {
        ExtremeInt(slot.function, column.int64s[event], 1, words);
      });
    case Op::kExtremeDouble:
      return for_each([&](Word* words, int32_t event) {
        ExtremeDouble(slot.function, Canonical(column.doubles[event]), 1,
                      words);
      });
    case Op::kExtremeText:
      return for_each([&](Word* words, int32_t event) {
        Extreme(slot, words, batch.symbols[column.symbols[event]]);
      });
    case Op::kDistinctNumber:
      return for_each([&](Word* words, int32_t event) {
        AddNumber(words, DistinctNumber(column, slot.type, event));
      });
    case Op::kDistinctText:
      return for_each([&](Word* words, int32_t event) {
        AddText(words, batch.symbols[column.symbols[event]]);
      });
  }
}

void AggregateSet::Merge(Word* into, const Word* from) {
  RowHead& head = HeadOf(into);
  const RowHead& other = HeadOf(from);
  head.event_count += other.event_count;
  head.first_event_time =
      std::min(head.first_event_time, other.first_event_time);
  head.last_event_time = std::max(head.last_event_time, other.last_event_time);
  for (const Slot& slot : slots_) {
    MergeSlot(slot, into + slot.word, from + slot.word);
  }
}

void AggregateSet::MergeSlot(const Slot& slot, Word* into, const Word* from) {
  switch (slot.op) {
    case Op::kCountEvents:
      return;
    case Op::kCountField:
      into[kCountWord] += from[kCountWord];
      return;
    case Op::kSumInt:
      into[kCountWord] += from[kCountWord];
      StoreInt128(LoadInt128(into + kValueWord) + LoadInt128(from + kValueWord),
                  into + kValueWord);
      return;
    case Op::kSumDouble:
      into[kCountWord] += from[kCountWord];
      DoubleSumAt(into + kValueWord).Add(DoubleSumAt(from + kValueWord));
      return;
    case Op::kExtremeInt:
      if (from[kCountWord] == 0) return;
      return ExtremeInt(slot.function, static_cast<int64_t>(from[kValueWord]),
                        from[kCountWord], into);
    case Op::kExtremeDouble:
      if (from[kCountWord] == 0) return;
      return ExtremeDouble(slot.function,
                           std::bit_cast<double>(from[kValueWord]),
                           from[kCountWord], into);
    case Op::kExtremeText:
      if (*from != 0) Extreme(slot, into, *External<std::string>(*from));
      return;
    case Op::kDistinctNumber:
      if (*from == 0) return;
      for (const uint64_t number : *External<NumberSet>(*from)) {
        AddNumber(into, number);
      }
      return;
    case Op::kDistinctText:
      if (*from == 0) return;
      for (const std::string& text : *External<TextSet>(*from)) {
        AddText(into, text);
      }
      return;
  }
}

namespace {

ScalarValue IntTotal(Int128 total) {
  if (FitsInt64(total)) return static_cast<int64_t>(total);
  return Decimal{ToDecimal(total)};
}

AggregateValue IntSumValue(Function function, const Word* words) {
  const int64_t count = static_cast<int64_t>(words[kCountWord]);
  if (count == 0) return AggregateValue();
  const Int128 total = LoadInt128(words + kValueWord);
  if (function == Function::kMean) {
    return MeanValue{Quotient(total, count), IntTotal(total), count};
  }
  if (FitsInt64(total)) return static_cast<int64_t>(total);
  return Decimal{ToDecimal(total)};
}

AggregateValue DoubleSumValue(Function function, const Word* words) {
  const int64_t count = static_cast<int64_t>(words[kCountWord]);
  if (count == 0) return AggregateValue();
  const DoubleSum& sum = DoubleSumAt(words + kValueWord);
  if (function == Function::kMean) {
    return MeanValue{sum.Quotient(count), sum.Total(), count};
  }
  return sum.Total();
}

AggregateValue TextValue(FieldType type, const std::string& text) {
  if (type == FieldType::kBytes) return Bytes{text};
  return text;
}

}  // namespace

AggregateValue AggregateSet::ValueOf(const Slot& slot, const Word* row) const {
  const Word* words = row + slot.word;
  switch (slot.op) {
    case Op::kCountEvents:
      return HeadOf(row).event_count;
    case Op::kCountField:
      return static_cast<int64_t>(words[kCountWord]);
    case Op::kSumInt:
      return IntSumValue(slot.function, words);
    case Op::kSumDouble:
      return DoubleSumValue(slot.function, words);
    case Op::kExtremeInt:
      if (words[kCountWord] == 0) return AggregateValue();
      if (slot.type == FieldType::kBool) return words[kValueWord] != 0;
      return static_cast<int64_t>(words[kValueWord]);
    case Op::kExtremeDouble:
      if (words[kCountWord] == 0) return AggregateValue();
      return std::bit_cast<double>(words[kValueWord]);
    case Op::kExtremeText:
      if (*words == 0) return AggregateValue();
      return TextValue(slot.type, *External<std::string>(*words));
    case Op::kDistinctNumber:
      return *words == 0
                 ? int64_t{0}
                 : static_cast<int64_t>(External<NumberSet>(*words)->size());
    case Op::kDistinctText:
      return *words == 0
                 ? int64_t{0}
                 : static_cast<int64_t>(External<TextSet>(*words)->size());
  }
  return AggregateValue();
}

void AggregateSet::EncodeValues(const Word* row, Encoder* out) const {
  out->Varint(slots_.size());
  for (const Slot& slot : slots_) EncodeValue(ValueOf(slot, row), out);
}

void AggregateSet::EncodeState(const Word* row, Encoder* out) const {
  const RowHead& head = HeadOf(row);
  out->Signed(head.event_count);
  out->Signed(head.first_event_time);
  out->Signed(head.last_event_time);
  for (const Slot& slot : slots_) EncodeSlot(slot, row, out);
}

void AggregateSet::EncodeSlot(const Slot& slot, const Word* row,
                              Encoder* out) const {
  const Word* words = row + slot.word;
  switch (slot.op) {
    case Op::kExtremeText:
      out->Byte(*words != 0);
      if (*words != 0) out->String(*External<std::string>(*words));
      return;
    case Op::kDistinctNumber: {
      std::vector<uint64_t> numbers;
      if (*words != 0) {
        const NumberSet& set = *External<NumberSet>(*words);
        numbers.assign(set.begin(), set.end());
      }
      std::sort(numbers.begin(), numbers.end());
      out->Varint(numbers.size());
      for (const uint64_t number : numbers) out->Fixed64(number);
      return;
    }
    case Op::kDistinctText: {
      std::vector<absl::string_view> texts;
      if (*words != 0) {
        const TextSet& set = *External<TextSet>(*words);
        texts.assign(set.begin(), set.end());
      }
      std::sort(texts.begin(), texts.end());
      out->Varint(texts.size());
      for (const absl::string_view text : texts) out->String(text);
      return;
    }
    default:
      for (int i = 0; i < WordsFor(slot.op); ++i) out->Varint(words[i]);
  }
}

bool AggregateSet::DecodeState(Decoder* in, Word* row) {
  RowHead& head = HeadOf(row);
  head.event_count = in->Signed();
  head.first_event_time = in->Signed();
  head.last_event_time = in->Signed();
  for (const Slot& slot : slots_) {
    if (!DecodeSlot(slot, in, row)) return false;
  }
  return in->ok();
}

bool AggregateSet::DecodeSlot(const Slot& slot, Decoder* in, Word* row) {
  Word* words = row + slot.word;
  switch (slot.op) {
    case Op::kExtremeText:
      if (in->Enum(0, 1) != 0) Extreme(slot, words, in->String());
      break;
    case Op::kDistinctNumber:
      for (uint64_t n = in->Count(sizeof(uint64_t)); n > 0; --n) {
        AddNumber(words, in->Fixed64());
      }
      break;
    case Op::kDistinctText:
      for (uint64_t n = in->Count(1); n > 0; --n) AddText(words, in->String());
      break;
    default:
      for (int i = 0; i < WordsFor(slot.op); ++i) words[i] = in->Varint();
  }
  return in->ok();
}

}  // namespace casement::engine
