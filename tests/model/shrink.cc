#include "tests/model/shrink.h"

#include <algorithm>
#include <utility>

namespace casement::model {
namespace {

using engine::ViewSpec;

class Shrinker {
 public:
  Shrinker(Script script, const std::function<bool(const Script&)>& fails)
      : script_(std::move(script)), fails_(fails) {}

  Script Run() {
    do {
      changed_ = false;
      DropSteps();
      DropEvents();
      SimplifyBatches();
      SimplifyViews();
      SimplifyStream();
    } while (changed_);
    return std::move(script_);
  }

 private:
  bool Try(Script smaller) {
    if (!fails_(smaller)) return false;
    script_ = std::move(smaller);
    changed_ = true;
    return true;
  }

  void DropSteps() {
    for (size_t width = std::max<size_t>(script_.steps.size() / 2, 1);
         width >= 1; width /= 2) {
      for (size_t i = 0; i + width <= script_.steps.size();) {
        Script smaller = script_;
        smaller.steps.erase(smaller.steps.begin() + i,
                            smaller.steps.begin() + i + width);
        if (!Try(std::move(smaller))) ++i;
      }
    }
  }

  void DropEvents() {
    for (size_t i = 0; i < script_.steps.size(); ++i) {
      for (size_t e = 0; IsBatch(i) && e < Batch(&script_, i).events.size();) {
        Script smaller = script_;
        auto& events = Batch(&smaller, i).events;
        events.erase(events.begin() + e);
        if (!Try(std::move(smaller))) ++e;
      }
    }
  }

  void SimplifyBatches() {
    for (size_t i = 0; i < script_.steps.size(); ++i) {
      if (!IsBatch(i)) continue;
      const BatchStep batch = Batch(&script_, i);
      if (batch.asserted) Change(i, [](BatchStep* b) { b->asserted.reset(); });
      if (batch.arrival) Change(i, [](BatchStep* b) { b->arrival.reset(); });
      if (batch.position) Change(i, [](BatchStep* b) { b->position.reset(); });
      if (batch.twist != Twist::kNone) {
        Change(i, [](BatchStep* b) { b->twist = Twist::kNone; });
      }
      if (batch.state != engine::SourceState::kUnchanged) {
        Change(i, [](BatchStep* b) {
          b->state = engine::SourceState::kUnchanged;
        });
      }
      for (size_t e = 0; e < batch.events.size(); ++e) {
        for (size_t v = 0; v < batch.events[e].values.size(); ++v) {
          if (batch.events[e].values[v].index() == 0) continue;
          if (script_.spec.fields[v].required) continue;
          Change(i, [e, v](BatchStep* b) {
            b->events[e].values[v] = std::monostate();
          });
        }
      }
    }
  }

  void SimplifyViews() {
    for (size_t i = 0; i < script_.steps.size(); ++i) {
      const auto* create = std::get_if<CreateViewStep>(&script_.steps[i]);
      if (create == nullptr) continue;
      const ViewSpec spec = create->definition.spec;
      for (size_t a = spec.aggregates.size(); a-- > 0;) {
        ChangeView(i, [a](ViewSpec* s) {
          if (s->aggregates.size() > 1) {
            s->aggregates.erase(s->aggregates.begin() + a);
          }
        });
      }
      for (size_t g = spec.group_by.size(); g-- > 0;) {
        ChangeView(i, [g](ViewSpec* s) {
          s->group_by.erase(s->group_by.begin() + g);
        });
      }
      if (spec.allowed_lateness_us != 0) {
        ChangeView(i, [](ViewSpec* s) { s->allowed_lateness_us = 0; });
      }
      if (spec.window.offset_us != 0) {
        ChangeView(i, [](ViewSpec* s) { s->window.offset_us = 0; });
      }
    }
  }

  void SimplifyStream() {
    if (!script_.spec.watermark.required_producers.empty()) {
      Script smaller = script_;
      smaller.spec.watermark.required_producers.pop_back();
      Try(std::move(smaller));
    }
    if (script_.spec.watermark.max_delay_us != 0) {
      Script smaller = script_;
      smaller.spec.watermark.max_delay_us = 0;
      Try(std::move(smaller));
    }
  }

  bool IsBatch(size_t i) const {
    return i < script_.steps.size() &&
           std::holds_alternative<BatchStep>(script_.steps[i]);
  }
  static BatchStep& Batch(Script* script, size_t i) {
    return std::get<BatchStep>(script->steps[i]);
  }
  void Change(size_t i, const std::function<void(BatchStep*)>& change) {
    Script smaller = script_;
    change(&Batch(&smaller, i));
    Try(std::move(smaller));
  }
  void ChangeView(size_t i, const std::function<void(ViewSpec*)>& change) {
    Script smaller = script_;
    ViewSpec& spec = std::get<CreateViewStep>(smaller.steps[i]).definition.spec;
    const ViewSpec before = spec;
    change(&spec);
    if (!(spec == before)) Try(std::move(smaller));
  }

  Script script_;
  const std::function<bool(const Script&)>& fails_;
  bool changed_ = false;
};

}  // namespace

Script Shrink(Script script, const std::function<bool(const Script&)>& fails) {
  return Shrinker(std::move(script), fails).Run();
}

}  // namespace casement::model
