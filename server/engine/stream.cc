#include "server/engine/stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/engine/stream_impl.h"

namespace casement::engine {

size_t Changes::memory_bytes() const {
  size_t bytes = sizeof(Changes);
  for (const ViewChanges& view : views) {
    bytes += sizeof(ViewChanges) + view.results.size() * sizeof(ResultEntry);
    if (view.arena != nullptr) bytes += view.arena->size();
    for (const LateEntry& late : view.late_events) {
      bytes += sizeof(LateEntry) + late.bytes.size();
    }
  }
  return bytes;
}

Stream::Stream(StreamSpec spec)
    : spec_(std::move(spec)), impl_(std::make_unique<Impl>(spec_)) {}

Stream::~Stream() = default;

View* Stream::Impl::FindView(absl::string_view id) const {
  for (const auto& [number, view] : views) {
    if (view->definition().id == id) return view.get();
  }
  return nullptr;
}

void Stream::Fold(Record record, bool want_fates, Changes* changes) {
  *changes = Changes();
  changes->version = ++progress_.version;
  FoldInput input;
  input.before = input.after = progress_.watermark;
  input.version = changes->version;
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    impl_->FoldBatch(this, *batch, want_fates, changes);
  } else if (const auto* open = std::get_if<OpenProducerRecord>(&record)) {
    ++impl_->producers.FindOrAdd(open->producer)->info.epoch;
  } else if (auto* create = std::get_if<CreateViewRecord>(&record)) {
    const uint32_t number = impl_->next_view_number++;
    impl_->views[number] = std::make_unique<View>(
        number, std::move(create->definition), spec_, impl_->max_accepted_time);
    changes->created_view = number;
  } else if (const auto* drop = std::get_if<DeleteViewRecord>(&record)) {
    if (impl_->views.erase(drop->view_number) > 0) {
      changes->deleted_view = drop->view_number;
    }
  } else {
    progress_.watermark = kEndOfTime;
    input.after = kEndOfTime;
    impl_->FoldViews(nullptr, input, 0, nullptr, changes);
  }
  changes->progress = progress_;
}

std::optional<ProducerInfo> Stream::FindProducer(absl::string_view id) const {
  const ProducerState* producer = impl_->producers.Find(id);
  if (producer == nullptr) return std::nullopt;
  return producer->info;
}

std::optional<Stream::ViewInfo> Stream::FindView(absl::string_view id) const {
  const View* view = impl_->FindView(id);
  if (view == nullptr) return std::nullopt;
  return view->Info();
}

std::optional<Stream::ViewInfo> Stream::FindView(uint32_t number) const {
  const auto found = impl_->views.find(number);
  if (found == impl_->views.end()) return std::nullopt;
  return found->second->Info();
}

std::vector<Stream::ViewInfo> Stream::ListViews() const {
  std::vector<ViewInfo> views;
  for (const auto& [number, view] : impl_->views) views.push_back(view->Info());
  std::sort(views.begin(), views.end(),
            [](const ViewInfo& a, const ViewInfo& b) {
              return a.definition->id < b.definition->id;
            });
  return views;
}

std::vector<Result> Stream::OpenWindows(uint32_t view_number,
                                        const OpenWindowPosition& after,
                                        int limit) const {
  const auto found = impl_->views.find(view_number);
  if (found == impl_->views.end()) return {};
  return found->second->windows().OpenWindows(after, limit, version());
}

size_t Stream::memory_bytes() const {
  size_t bytes = impl_->producers.memory_bytes();
  for (const auto& [number, view] : impl_->views) {
    bytes += view->windows().memory_bytes();
  }
  return bytes;
}

}  // namespace casement::engine
