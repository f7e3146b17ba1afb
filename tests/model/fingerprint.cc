#include "tests/model/fingerprint.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/model/compare_results.h"

namespace casement::model {
namespace {

void AppendAck(const engine::BatchAck& ack, std::string* text) {
  absl::StrAppend(text, "\nack ", ack.sequence, " ", ack.version, " ",
                  ack.repeat, " ", ack.accepted, " ", ack.late, " ",
                  ack.duplicate, " ", ack.rejected, " ", ack.progress.watermark,
                  " ", ack.progress.version);
  for (const int32_t count : ack.rejected_by_reason) {
    absl::StrAppend(text, " ", count);
  }
}

void AppendFate(const engine::EventFate& fate, std::string* text) {
  absl::StrAppend(text, "\nfate ", fate.index);
  for (const engine::FateInView& in_view : fate.in_views) {
    absl::StrAppend(text, " / ", in_view.view_number, " ",
                    static_cast<int>(in_view.state));
    for (const engine::Window& window : in_view.late_windows) {
      absl::StrAppend(text, " ", window.start, "-", window.end);
    }
  }
}

std::string Hex(absl::string_view bytes) {
  return absl::BytesToHexString(bytes);
}

}  // namespace

std::string Fingerprint(const engine::Changes& changes) {
  std::string text = absl::StrCat(
      "version ", changes.version, " W ", changes.progress.watermark, " ",
      changes.progress.version, " created ", changes.created_view.value_or(0),
      " deleted ", changes.deleted_view.value_or(0));
  if (changes.ack.has_value()) AppendAck(*changes.ack, &text);
  for (const engine::RejectedEvent& reject : changes.rejects) {
    absl::StrAppend(&text, "\nreject ", reject.index, " ",
                    static_cast<int>(reject.reason), " ", reject.field, " ",
                    reject.message);
  }
  for (const engine::EventFate& fate : changes.fates) AppendFate(fate, &text);
  for (const engine::ViewChanges& view : changes.views) {
    absl::StrAppend(&text, "\nview ", view.view_number);
    for (const engine::ResultEntry& entry : view.results) {
      absl::StrAppend(&text, "\n  ", entry.closing_time, " ", entry.start, " ",
                      Hex(entry.key), " ", Hex(entry.log_entry), " ",
                      Hex(entry.row));
    }
    for (const engine::LateEntry& late : view.late_events) {
      absl::StrAppend(&text, "\n  late ", late.index, " ", Hex(late.bytes));
    }
  }
  return text;
}

std::string Fingerprint(const engine::Stream& stream) {
  const engine::StreamAccounts& accounts = stream.accounts();
  std::string text =
      absl::StrCat("W ", stream.progress().watermark, " at ", stream.version(),
                   " accounts ", accounts.accepted, " ", accounts.rejected, " ",
                   accounts.duplicate, " ", accounts.late);
  for (int i = 0; i < 10; ++i) {
    const auto info = stream.FindProducer(absl::StrCat("p", i));
    if (!info.has_value()) continue;
    absl::StrAppend(
        &text, "\nproducer ", info->id, " ", info->epoch, " ",
        info->last_sequence, " ", static_cast<int>(info->source_state), " ",
        info->watermark, " ", info->max_event_time, " ", info->accepted, " ",
        info->rejected, " ", info->late, " ", info->source_position);
  }
  for (const engine::Stream::ViewInfo& view : stream.ListViews()) {
    const engine::ViewAccounts& a = view.accounts;
    absl::StrAppend(&text, "\nview ", view.number, " ",
                    Hex(engine::EncodeDefinition(*view.definition)), " ",
                    a.accepted, " ", a.counted, " ", a.late, " ");
    absl::StrAppend(&text, a.unassigned, " ", a.filtered, " ", a.late_places,
                    " ", a.provisional_results, " ", a.final_results, " ",
                    a.corrected_results, " ", a.retracted_results, " keys ",
                    view.live_keys);
    for (const engine::Result& result :
         stream.OpenWindows(view.number, {}, 1'000'000)) {
      absl::StrAppend(&text, "\n  ", ToText(result));
    }
  }
  return text;
}

}  // namespace casement::model
