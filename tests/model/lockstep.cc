#include "tests/model/lockstep.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/engine/stream.h"
#include "tests/model/compare.h"
#include "tests/model/compare_results.h"
#include "tests/model/driver.h"
#include "tests/model/model.h"

namespace casement::model {
namespace {

using engine::BatchRecord;
using engine::Record;

class Lockstep {
 public:
  Lockstep(const Script& script, Coverage* coverage)
      : script_(script),
        coverage_(coverage),
        stream_(script.spec),
        model_(script.spec),
        driver_(script.spec) {}

  std::string Run() {
    for (size_t i = 0; i < script_.steps.size(); ++i) {
      for (const Record& record : driver_.Records(script_.steps[i])) {
        const std::string text = Offer(record);
        if (!text.empty()) return absl::StrCat("step ", i, ": ", text);
      }
    }
    return "";
  }

 private:
  std::string Offer(const Record& record) {
    if (const auto* batch = std::get_if<BatchRecord>(&record)) {
      const ExpectedAdmission expected = model_.Admit(*batch);
      const auto got = stream_.Admit(*batch);
      const std::string text = Difference(expected, got);
      coverage_->refused += !expected.codes.empty();
      coverage_->repeats += expected.repeat.has_value();
      if (!text.empty()) return text;
      if (!got.ok() || got->has_value()) return "";
    } else if (const auto* open =
                   std::get_if<engine::OpenProducerRecord>(&record)) {
      const std::string text = CheckOpen(*open);
      if (!text.empty()) return text;
    } else if (const auto* create =
                   std::get_if<engine::CreateViewRecord>(&record)) {
      const absl::Status status = stream_.Admit(*create);
      if (stream_.FindView(create->definition.id).has_value()) {
        return absl::IsAlreadyExists(status) ? "" : "a view made twice";
      }
      if (!status.ok()) return absl::StrCat("view: ", status.ToString());
    } else if (std::holds_alternative<engine::EndStreamRecord>(record) &&
               stream_.ended()) {
      return "";
    }
    return Fold(record);
  }

  std::string CheckOpen(const engine::OpenProducerRecord& open) const {
    const auto producer = model_.producers().find(open.producer);
    const int64_t epoch =
        producer == model_.producers().end() ? 0 : producer->second.epoch;
    if (!stream_.Admit(open, std::nullopt).ok()) return "open refused";
    if (!stream_.Admit(open, epoch).ok()) return "open at its epoch refused";
    const absl::Status wrong = stream_.Admit(open, epoch + 1);
    return absl::IsFailedPrecondition(wrong)
               ? ""
               : absl::StrCat("open at a wrong epoch: ", wrong.ToString());
  }

  std::string Fold(const Record& record) {
    const bool want_fates = ++folded_ % 3 != 0;
    engine::Changes changes;
    stream_.Fold(record, want_fates, &changes);
    driver_.Folded(record, changes.created_view);
    if (std::holds_alternative<engine::CreateViewRecord>(record)) {
      if (!changes.created_view.has_value()) return "no created_view";
      if (*changes.created_view <= last_view_ && last_view_ != 0) {
        return "a view number used again";
      }
      last_view_ = *changes.created_view;
    }
    if (const auto* drop = std::get_if<engine::DeleteViewRecord>(&record)) {
      if (changes.deleted_view != drop->view_number) return "deleted_view";
    }
    const Outcome expected = model_.Fold(record, changes.created_view);
    Cover(expected);
    std::string text = Difference(expected, model_, want_fates, changes);
    if (text.empty()) text = DifferenceOfState(model_, stream_);
    for (const auto& [number, view] : model_.views()) {
      if (!text.empty()) break;
      text = DifferenceOfOpenWindows(*view, number, stream_, folded_);
    }
    return text;
  }

  void Cover(const Outcome& outcome) {
    ++coverage_->records;
    coverage_->ended += outcome.progress.ended();
    coverage_->events += static_cast<int64_t>(outcome.accepted.size());
    coverage_->rejects += static_cast<int64_t>(outcome.rejects.size());
    for (const auto& [number, view] : outcome.views) {
      for (const ExpectedResult& result : view.results) {
        const engine::Finality finality = result.result.finality;
        coverage_->finals += finality == engine::Finality::kFinal;
        const engine::Timing timing = result.result.timing;
        coverage_->early += timing == engine::Timing::kEarly;
        coverage_->on_time += timing == engine::Timing::kOnTime;
        coverage_->changed_late += timing == engine::Timing::kLate;
        coverage_->replacing += !result.result.replaced_windows.empty();
        coverage_->retracted += finality == engine::Finality::kRetracted;
        coverage_->partial += result.result.partial_span;
      }
      for (const Verdict& verdict : view.verdicts) {
        using State = engine::FateInView::State;
        coverage_->late += verdict.state == State::kLate;
        coverage_->unassigned += verdict.state == State::kUnassigned;
        coverage_->late_places +=
            verdict.state == State::kCounted && !verdict.late_windows.empty();
      }
    }
  }

  const Script& script_;
  Coverage* coverage_;
  engine::Stream stream_;
  Model model_;
  Driver driver_;
  uint64_t folded_ = 0;
  uint32_t last_view_ = 0;
};

}  // namespace

std::string ToText(const Coverage& c) {
  return absl::StrCat("records ", c.records, " events ", c.events, " finals ",
                      c.finals, " early ", c.early, " on time ", c.on_time,
                      " changed late ", c.changed_late, " retracted ",
                      c.retracted, " replacing ", c.replacing) +
         absl::StrCat(" late ", c.late, " late places ", c.late_places,
                      " unassigned ", c.unassigned, " partial ", c.partial,
                      " rejects ", c.rejects, " refused ", c.refused,
                      " repeats ", c.repeats, " records after the end ",
                      c.ended);
}

std::string RunLockstep(const Script& script, Coverage* coverage) {
  Coverage unused;
  return Lockstep(script, coverage != nullptr ? coverage : &unused).Run();
}

}  // namespace casement::model
