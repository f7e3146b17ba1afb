// Checkpoints.
//
//   chunk   := format:1 kind:1 body
//   head    := version watermark accounts max_accepted_time next_view_number
//   producers := producer*                       see producer_table.cc
//   view    := number definition partial_until accounts
//   entries := view_number (length entry)*       see the window stores
//
// The head comes first, a view before its entries. Chunks are about 256 KiB; an
// entry above that has a chunk of its own.
#include <array>
#include <utility>

#include "server/engine/codec.h"
#include "server/engine/error.h"
#include "server/engine/key_codec.h"
#include "server/engine/stream.h"
#include "server/engine/stream_impl.h"

namespace casement::engine {
namespace {

constexpr uint8_t kFormat = 1;
enum Kind : uint8_t { kHead = 1, kProducers = 2, kView = 3, kEntries = 4 };
constexpr size_t kChunkBytes = 256 << 10;

std::string NewChunk(Kind kind) {
  std::string chunk;
  Encoder out(&chunk);
  out.Byte(kFormat);
  out.Byte(kind);
  return chunk;
}

void SaveAccounts(const ViewAccounts& accounts, Encoder* out) {
  for (const int64_t value :
       {accounts.accepted, accounts.counted, accounts.late, accounts.unassigned,
        accounts.filtered, accounts.late_places, accounts.provisional_results,
        accounts.final_results, accounts.corrected_results,
        accounts.retracted_results}) {
    out->Signed(value);
  }
}

void LoadAccounts(Decoder* in, ViewAccounts* accounts) {
  for (int64_t* value :
       {&accounts->accepted, &accounts->counted, &accounts->late,
        &accounts->unassigned, &accounts->filtered, &accounts->late_places,
        &accounts->provisional_results, &accounts->final_results,
        &accounts->corrected_results, &accounts->retracted_results}) {
    *value = in->Signed();
  }
}

std::string EntriesChunk(uint32_t view_number) {
  std::string chunk = NewChunk(kEntries);
  Encoder(&chunk).Varint(view_number);
  return chunk;
}

// Gathers entries by partition into chunks.
void SaveEntries(const View& view, const Stream::ChunkSink& sink) {
  std::array<std::string, kPartitions> chunks;
  view.windows().Save([&](uint32_t partition, const std::string& entry) {
    std::string& chunk = chunks[partition];
    if (chunk.empty()) chunk = EntriesChunk(view.number());
    Encoder(&chunk).String(entry);
    if (chunk.size() < kChunkBytes) return;
    sink(partition, std::move(chunk));
    chunk = std::string();
  });
  for (uint32_t partition = 0; partition < kPartitions; ++partition) {
    if (!chunks[partition].empty()) {
      sink(partition, std::move(chunks[partition]));
    }
  }
}

absl::Status Damaged() {
  return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt,
                   "a checkpoint is damaged");
}

bool LoadView(Decoder* in, const StreamSpec& spec,
              std::map<uint32_t, std::unique_ptr<View>>* views) {
  const uint32_t number = static_cast<uint32_t>(in->Varint());
  ViewDefinition definition;
  if (!DecodeDefinition(in->String(), &definition).ok() ||
      !ValidateView(definition.spec, spec).ok()) {
    return false;
  }
  const TimeUs partial_until = in->Signed();
  auto view = std::make_unique<View>(number, std::move(definition), spec,
                                     partial_until);
  LoadAccounts(in, &view->mutable_accounts());
  (*views)[number] = std::move(view);
  return in->done();
}

}  // namespace

void Stream::SaveCheckpoint(const ChunkSink& sink) const {
  std::string head = NewChunk(kHead);
  Encoder out(&head);
  out.Signed(progress_.version);
  out.Signed(progress_.watermark);
  out.Signed(accounts_.accepted);
  out.Signed(accounts_.rejected);
  out.Signed(accounts_.duplicate);
  out.Signed(accounts_.late);
  out.Signed(impl_->max_accepted_time);
  out.Varint(impl_->next_view_number);
  sink(0, std::move(head));

  std::string chunk;
  for (const auto& [id, producer] : impl_->producers.all()) {
    if (chunk.empty()) chunk = NewChunk(kProducers);
    Encoder producers(&chunk);
    impl_->producers.Save(&producers, producer);
    if (chunk.size() < kChunkBytes) continue;
    sink(0, std::move(chunk));
    chunk = std::string();
  }
  if (!chunk.empty()) sink(0, std::move(chunk));

  for (const auto& [number, view] : impl_->views) {
    std::string bytes = NewChunk(kView);
    Encoder view_out(&bytes);
    view_out.Varint(number);
    view_out.String(EncodeDefinition(view->definition()));
    view_out.Signed(view->partial_until());
    SaveAccounts(view->accounts(), &view_out);
    sink(0, std::move(bytes));
    SaveEntries(*view, sink);
  }
}

absl::StatusOr<std::unique_ptr<Stream>> Stream::LoadCheckpoint(
    StreamSpec spec,
    const std::function<absl::StatusOr<std::optional<std::string>>()>& next) {
  auto stream = std::make_unique<Stream>(std::move(spec));
  Impl& impl = *stream->impl_;
  bool first = true;
  for (;;) {
    absl::StatusOr<std::optional<std::string>> chunk = next();
    if (!chunk.ok()) return chunk.status();
    if (!chunk->has_value()) break;
    Decoder in(**chunk);
    if (in.Byte() != kFormat) return Damaged();
    const uint8_t kind = in.Byte();
    if (first != (kind == kHead)) return Damaged();
    first = false;
    if (kind == kHead) {
      stream->progress_.version = in.Signed();
      stream->progress_.watermark = in.Signed();
      stream->accounts_.accepted = in.Signed();
      stream->accounts_.rejected = in.Signed();
      stream->accounts_.duplicate = in.Signed();
      stream->accounts_.late = in.Signed();
      impl.max_accepted_time = in.Signed();
      impl.next_view_number = static_cast<uint32_t>(in.Varint());
      if (!in.done()) return Damaged();
    } else if (kind == kProducers) {
      while (in.ok() && in.remaining() > 0) {
        if (!impl.producers.Load(&in)) return Damaged();
      }
    } else if (kind == kView) {
      if (!LoadView(&in, stream->spec_, &impl.views)) return Damaged();
    } else if (kind == kEntries) {
      const auto view = impl.views.find(static_cast<uint32_t>(in.Varint()));
      if (view == impl.views.end()) return Damaged();
      while (in.ok() && in.remaining() > 0) {
        if (!view->second->windows().Load(in.String())) return Damaged();
      }
    } else {
      return Damaged();
    }
    if (!in.ok()) return Damaged();
  }
  if (first) return Damaged();
  for (const auto& [number, view] : impl.views) {
    view->windows().Loaded(stream->progress_.watermark);
  }
  return stream;
}

}  // namespace casement::engine
