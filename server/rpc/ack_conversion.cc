#include "server/rpc/ack_conversion.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/limits.h"
#include "server/rpc/names.h"
#include "server/rpc/result_conversion.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

// Wire numbers and the engine's agree; a test holds them together.
v1::RejectReason ToProto(engine::RejectReason reason) {
  return static_cast<v1::RejectReason>(reason);
}

void SetRejects(const runtime::AppendResult& result,
                v1::RejectSummary* rejects) {
  rejects->set_rejected_events(result.ack.rejected);
  for (int reason = 0; reason < engine::kRejectReasons; ++reason) {
    const int32_t count = result.ack.rejected_by_reason[reason];
    if (count == 0) continue;
    v1::RejectSummary::ReasonCount* proto = rejects->add_counts();
    proto->set_reason(static_cast<v1::RejectReason>(reason));
    proto->set_count(count);
  }
  const int examples = std::min<int>(static_cast<int>(result.rejects.size()),
                                     kMaxRejectExamples);
  for (int i = 0; i < examples; ++i) {
    const engine::RejectedEvent& reject = result.rejects[i];
    v1::RejectSummary::Reject* proto = rejects->add_examples();
    proto->set_index(reject.index);
    proto->set_reason(ToProto(reject.reason));
    proto->set_field(reject.field);
    proto->set_message(reject.message);
  }
}

void SetFate(const runtime::AppendResult::Fate& fate, v1::EventFate* proto) {
  proto->set_index(fate.index);
  for (const auto& in_view : fate.in_views) {
    v1::EventFate::InView* view = proto->mutable_in_views()->add_views();
    view->set_view(in_view.view);
    view->set_state(static_cast<v1::EventFate::InView::State>(in_view.state));
    view->set_late_window_count(in_view.late_window_count);
    for (const engine::Window& window : in_view.late_windows) {
      SetWindow(window, view->add_late_windows());
    }
  }
}

// Rejects and fates in views are of different events: merge them by index.
void SetFates(const runtime::AppendResult& result, v1::BatchAck* ack) {
  size_t next_reject = 0;
  const auto add_rejects_before = [&](int32_t index) {
    for (; next_reject < result.rejects.size() &&
           result.rejects[next_reject].index < index;
         ++next_reject) {
      v1::EventFate* proto = ack->add_fates();
      proto->set_index(result.rejects[next_reject].index);
      proto->set_rejected(ToProto(result.rejects[next_reject].reason));
    }
  };
  for (const runtime::AppendResult::Fate& fate : result.fates) {
    add_rejects_before(fate.index);
    SetFate(fate, ack->add_fates());
  }
  add_rejects_before(std::numeric_limits<int32_t>::max());
}

}  // namespace

void SetBatchAck(const runtime::AppendResult& result, bool fates,
                 v1::BatchAck* ack) {
  ack->set_sequence(result.ack.sequence);
  ack->set_version(result.ack.version);
  ack->set_duplicate(result.ack.repeat);
  ack->set_accepted_events(result.ack.accepted);
  ack->set_late_events(result.ack.late);
  ack->set_duplicate_events(result.ack.duplicate);
  if (result.ack.rejected > 0) SetRejects(result, ack->mutable_rejects());
  SetProgress(result.ack.progress, ack->mutable_progress());
  // A repeat was not judged again: what is remembered of it are counts.
  if (fates && !result.ack.repeat) SetFates(result, ack);
}

bool IsNotable(const runtime::AppendResult& result) {
  const engine::BatchAck& ack = result.ack;
  return ack.repeat || ack.rejected > 0 || ack.late > 0 || ack.duplicate > 0 ||
         !result.fates.empty();
}

void SetProducer(absl::string_view stream, const engine::ProducerInfo& info,
                 v1::Producer* producer) {
  producer->set_name(ProducerName(stream, info.id));
  producer->set_epoch(info.epoch);
  producer->set_last_sequence(info.last_sequence);
  producer->set_source_state(static_cast<v1::SourceState>(info.source_state));
  if (info.watermark != engine::kNoWatermark) {
    *producer->mutable_watermark_time() = ToTimestamp(info.watermark);
  }
  if (info.max_event_time != engine::kNoWatermark) {
    *producer->mutable_max_event_time() = ToTimestamp(info.max_event_time);
  }
  producer->set_accepted_events(info.accepted);
  producer->set_rejected_events(info.rejected);
  producer->set_late_events(info.late);
  producer->set_source_position(info.source_position);
}

absl::StatusOr<runtime::AppendOptions> ToAppendOptions(
    absl::string_view prefix, v1::Durability durability, v1::Report report) {
  if (!v1::Durability_IsValid(durability)) {
    return engine::InvalidField(absl::StrCat(prefix, "durability"),
                                "is not a value that this server knows");
  }
  if (!v1::Report_IsValid(report)) {
    return engine::InvalidField(absl::StrCat(prefix, "report"),
                                "is not a value that this server knows");
  }
  runtime::AppendOptions options;
  options.durability = durability == v1::DURABILITY_BUFFERED
                           ? runtime::Durability::kBuffered
                           : runtime::Durability::kSynced;
  options.fates = report == v1::REPORT_FATES;
  return options;
}

}  // namespace casement::rpc
