#include "absl/strings/str_cat.h"
#include "tests/model/compare.h"

namespace casement::model {
namespace {

std::string ViewAccountsText(const engine::ViewAccounts& accounts) {
  return absl::StrCat(
      "accepted ", accounts.accepted, " counted ", accounts.counted, " late ",
      accounts.late, " unassigned ", accounts.unassigned, " filtered ",
      accounts.filtered, " late_places ", accounts.late_places, " provisional ",
      accounts.provisional_results, " final ", accounts.final_results,
      " corrected ", accounts.corrected_results, " retracted ",
      accounts.retracted_results);
}

std::string StreamAccountsText(const engine::StreamAccounts& accounts) {
  return absl::StrCat("received ", accounts.received(), " accepted ",
                      accounts.accepted, " rejected ", accounts.rejected,
                      " duplicate ", accounts.duplicate, " late ",
                      accounts.late);
}

std::string ProducerText(const engine::ProducerInfo& info) {
  return absl::StrCat("epoch ", info.epoch, " last ", info.last_sequence,
                      " state ", static_cast<int>(info.source_state), " W ",
                      info.watermark, " max ", info.max_event_time,
                      " accepted ", info.accepted, " rejected ", info.rejected,
                      " late ", info.late, " position ", info.source_position);
}

std::string DifferenceOfProducers(const Model& model,
                                  const engine::Stream& stream) {
  for (const auto& [id, producer] : model.producers()) {
    const auto got = stream.FindProducer(id);
    if (!got.has_value()) return absl::StrCat("no producer ", id);
    const engine::ProducerInfo want{
        .id = id,
        .epoch = producer.epoch,
        .last_sequence = producer.last_sequence,
        .source_state = producer.state,
        .watermark = producer.Watermark(model.spec().watermark),
        .max_event_time =
            producer.max_event_time.value_or(engine::kNoWatermark),
        .accepted = producer.accepted,
        .rejected = producer.rejected,
        .late = producer.late,
        .source_position = producer.source_position};
    if (ProducerText(want) != ProducerText(*got)) {
      return absl::StrCat("producer ", id, "\n    want ", ProducerText(want),
                          "\n    got  ", ProducerText(*got));
    }
  }
  return "";
}

}  // namespace

std::string DifferenceOfState(const Model& model,
                              const engine::Stream& stream) {
  if (stream.progress() != model.progress()) return "progress of the stream";
  if (stream.ended() != model.progress().ended()) return "ended()";
  const std::string want = StreamAccountsText(model.accounts());
  const std::string have = StreamAccountsText(stream.accounts());
  if (want != have) {
    return absl::StrCat("accounts\n    want ", want, "\n    got  ", have);
  }
  if (stream.ListViews().size() != model.views().size()) return "ListViews";
  for (const auto& [number, view] : model.views()) {
    const auto info = stream.FindView(number);
    if (!info.has_value()) return absl::StrCat("no view ", number);
    const engine::ViewAccounts& accounts = info->accounts;
    const std::string view_want = ViewAccountsText(view->accounts());
    const std::string view_have = ViewAccountsText(accounts);
    if (view_want != view_have) {
      return absl::StrCat("accounts of view ", number, "\n    want ", view_want,
                          "\n    got  ", view_have);
    }
    if (accounts.accepted != accounts.counted + accounts.late +
                                 accounts.unassigned + accounts.filtered) {
      return absl::StrCat("identity of view ", number, ": ", view_have);
    }
  }
  return DifferenceOfProducers(model, stream);
}

}  // namespace casement::model
