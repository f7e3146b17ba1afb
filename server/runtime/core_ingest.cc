// Requests of producers.
#include <algorithm>
#include <utility>

#include "server/engine/error.h"
#include "server/runtime/core.h"
#include "server/runtime/errors.h"

namespace casement::runtime {
namespace {

// Room in the queue for input; given back when it goes away.
class QueuedBytes {
 public:
  QueuedBytes(std::atomic<size_t>* sum, size_t bytes)
      : sum_(sum), bytes_(bytes) {}
  ~QueuedBytes() { *sum_ -= bytes_; }
  QueuedBytes(const QueuedBytes&) = delete;
  QueuedBytes& operator=(const QueuedBytes&) = delete;

 private:
  std::atomic<size_t>* const sum_;
  const size_t bytes_;
};

// What a batch takes while it waits, besides its columns.
constexpr size_t kBatchOverhead = 1024;

std::vector<engine::RejectedEvent> MergeRejects(
    std::vector<engine::RejectedEvent> of_form,
    const std::vector<engine::RejectedEvent>& of_fold) {
  of_form.insert(of_form.end(), of_fold.begin(), of_fold.end());
  std::stable_sort(
      of_form.begin(), of_form.end(),
      [](const auto& a, const auto& b) { return a.index < b.index; });
  return of_form;
}

std::vector<AppendResult::Fate> NameFates(
    const std::vector<engine::EventFate>& fates, const engine::Stream& stream) {
  std::map<uint32_t, std::string> ids;
  for (const auto& view : stream.ListViews()) {
    ids[view.number] = view.definition->id;
  }
  std::vector<AppendResult::Fate> named;
  named.reserve(fates.size());
  for (const engine::EventFate& fate : fates) {
    AppendResult::Fate& result = named.emplace_back();
    result.index = fate.index;
    for (const engine::FateInView& in_view : fate.in_views) {
      AppendResult::Fate::InView& place = result.in_views.emplace_back();
      place.view = ids[in_view.view_number];
      place.state = in_view.state;
      place.late_window_count = in_view.late_window_count;
      place.late_windows = in_view.late_windows;
    }
  }
  return named;
}

}  // namespace

void Core::OpenProducer(const std::string& stream, std::string producer,
                        std::optional<int64_t> expected_epoch,
                        Done<OpenedProducer> done) {
  OnEngine(
      stream,
      [this, producer = std::move(producer), expected_epoch,
       done](const EntryPtr& entry) {
        engine::OpenProducerRecord record{producer};
        const absl::Status admitted =
            entry->stream->Admit(record, expected_epoch);
        if (!admitted.ok()) {
          WhenDurable([done, admitted](const absl::Status& status) {
            done(status.ok() ? admitted : status);
          });
          return;
        }
        std::string payload;
        engine::Changes changes =
            FoldRecord(entry.get(), std::move(record), false, &payload);
        const auto info = entry->stream->FindProducer(producer);
        OpenedProducer opened;
        opened.epoch = info->epoch;
        opened.last_sequence = info->last_sequence;
        opened.watermark = info->watermark;
        opened.source_position = info->source_position;
        CommitRecord(
            entry, std::move(payload), std::move(changes), true,
            [done, opened = std::move(opened)](const absl::Status& status) {
              if (status.ok()) {
                done(opened);
              } else {
                done(status);
              }
            },
            nullptr);
      },
      done);
}

void Core::GetProducer(const std::string& stream, std::string producer,
                       Done<engine::ProducerInfo> done) {
  OnEngine(
      stream,
      [this, producer = std::move(producer), done](const EntryPtr& entry) {
        auto info = entry->stream->FindProducer(producer);
        WhenDurable([done, info = std::move(info),
                     name = ProducerName(entry->id(), producer)](
                        const absl::Status& status) {
          if (!status.ok()) {
            done(status);
          } else if (info.has_value()) {
            done(*info);
          } else {
            done(engine::NoSuchResource(name));
          }
        });
      },
      done);
}

void Core::Append(const std::string& stream, engine::BatchRecord batch,
                  AppendOptions options, Done<AppendResult> done) {
  const size_t bytes = batch.events.memory_bytes() + kBatchOverhead;
  if (queued_bytes_.fetch_add(bytes) + bytes > options_.max_queued_bytes) {
    queued_bytes_ -= bytes;
    done(OverloadedError("too much input waits to be taken"));
    return;
  }
  // Held by the answer, wherever that is.
  auto queued = std::make_shared<QueuedBytes>(&queued_bytes_, bytes);
  Done<AppendResult> answer = [done = std::move(done),
                               queued](absl::StatusOr<AppendResult> result) {
    done(std::move(result));
  };
  OnEngine(
      stream,
      [this, batch = std::move(batch), options,
       answer](const EntryPtr& entry) mutable {
        AppendOnEngine(entry, std::move(batch), options, std::move(answer));
      },
      answer);
}

void Core::AppendOnEngine(const EntryPtr& entry, engine::BatchRecord batch,
                          AppendOptions options, Done<AppendResult> done) {
  const bool synced = options.durability == Durability::kSynced;
  // A batch without events takes no room, and may close windows.
  if (batch.events.row_count() > 0 && state_bytes_ > options_.max_state_bytes) {
    done(OverloadedError("open windows and keys take too much memory"));
    return;
  }
  batch.arrival_time = clock_->Now();
  auto admission = entry->stream->Admit(batch);
  absl::Status refusal = admission.status();
  if (refusal.ok() && options.fates && !admission->has_value()) {
    refusal = entry->stream->AdmitFates(batch);
  }
  if (!refusal.ok()) {
    WhenDurable(
        [done = std::move(done), refusal](const absl::Status& status) {
          done(status.ok() ? refusal : status);
        },
        synced);
    return;
  }
  AppendResult result;
  if (admission->has_value()) {
    ++entry->duplicate_batches;
    result.ack = **admission;
    WhenDurable(
        [done = std::move(done),
         result = std::move(result)](const absl::Status& status) mutable {
          if (status.ok()) {
            done(std::move(result));
          } else {
            done(status);
          }
        },
        synced);
    return;
  }
  result.rejects = batch.events.rejects;
  std::string payload;
  engine::Changes changes =
      FoldRecord(entry.get(), std::move(batch), options.fates, &payload);
  if (changes.ack.has_value()) result.ack = *changes.ack;
  if (!changes.rejects.empty()) {
    result.rejects = MergeRejects(std::move(result.rejects), changes.rejects);
  }
  if (!changes.fates.empty()) {
    result.fates = NameFates(changes.fates, *entry->stream);
  }
  CommitRecord(
      entry, std::move(payload), std::move(changes), synced,
      [done = std::move(done),
       result = std::move(result)](const absl::Status& status) mutable {
        if (status.ok()) {
          done(std::move(result));
        } else {
          done(status);
        }
      },
      nullptr);
}

}  // namespace casement::runtime
