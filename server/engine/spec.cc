#include "server/engine/spec.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/engine/error.h"

namespace casement::engine {
namespace {

constexpr size_t kMaxFieldName = 63;
constexpr size_t kMaxId = 63;
constexpr size_t kMaxAlias = 63;

// [a-z][a-z0-9_]{0,62}
bool IsValidFieldName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxFieldName) return false;
  if (!absl::ascii_islower(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

class Violations {
 public:
  void Add(std::string field, std::string description) {
    list_.push_back({std::move(field), std::move(description), ""});
  }
  absl::Status ToStatus() && {
    if (list_.empty()) return absl::OkStatus();
    return InvalidFields(std::move(list_));
  }

 private:
  std::vector<FieldViolation> list_;
};

void CheckFields(const StreamSpec& spec, Violations* bad) {
  if (spec.fields.size() > kMaxFields) {
    bad->Add("fields", absl::StrCat("at most ", kMaxFields, " fields"));
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const std::string path = absl::StrCat("fields[", i, "].name");
    if (!IsValidFieldName(spec.fields[i].name)) {
      bad->Add(path, absl::StrCat("\"", spec.fields[i].name,
                                  "\" is not [a-z][a-z0-9_]{0,62}"));
    } else if (!names.insert(spec.fields[i].name).second) {
      bad->Add(path,
               absl::StrCat("\"", spec.fields[i].name, "\" is there twice"));
    }
  }
}

void CheckWatermark(const WatermarkSpec& spec, Violations* bad) {
  if (spec.max_delay_us < 0) {
    bad->Add("watermark_policy.bounded_delay.max_delay", "is negative");
  }
  if (spec.max_future_skew_us < 0) {
    bad->Add("watermark_policy.max_future_skew", "is negative");
  }
  if (spec.required_producers.size() > kMaxProducers) {
    bad->Add("watermark_policy.required_producers",
             absl::StrCat("at most ", kMaxProducers));
  }
  if (spec.combine == Combine::kGreatest && !spec.required_producers.empty()) {
    bad->Add("watermark_policy.required_producers",
             "only with COMBINE_LEAST_OVER_PRODUCERS: with GREATEST all "
             "producers are one input");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec.required_producers.size(); ++i) {
    const std::string path =
        absl::StrCat("watermark_policy.required_producers[", i, "]");
    if (!IsValidId(spec.required_producers[i])) {
      bad->Add(path, absl::StrCat("\"", spec.required_producers[i],
                                  "\" is not a producer id"));
    } else if (!names.insert(spec.required_producers[i]).second) {
      bad->Add(path, absl::StrCat("\"", spec.required_producers[i],
                                  "\" is there twice"));
    }
  }
}

// ceil(size / period) of a sliding window.
int64_t WindowsCovering(const WindowSpec& window) {
  return (window.size_us - 1) / window.period_us + 1;
}

void CheckWindow(const WindowSpec& window, Violations* bad) {
  switch (window.kind) {
    case WindowKind::kTumbling:
      if (window.size_us < 1) {
        bad->Add("spec.window.tumbling.size", "must be at least 1 us");
      }
      return;
    case WindowKind::kSliding:
      if (window.size_us < 1) {
        bad->Add("spec.window.sliding.size", "must be at least 1 us");
      }
      if (window.period_us < 1) {
        bad->Add("spec.window.sliding.period", "must be at least 1 us");
      }
      if (window.size_us >= 1 && window.period_us >= 1 &&
          WindowsCovering(window) > kMaxWindowsPerEvent) {
        bad->Add("spec.window.sliding.period",
                 absl::StrCat("an event would be in ", WindowsCovering(window),
                              " windows; at most ", kMaxWindowsPerEvent));
      }
      return;
    case WindowKind::kSession:
      if (window.gap_us < 1) {
        bad->Add("spec.window.session.gap", "must be at least 1 us");
      }
      return;
  }
}

bool IsNumeric(FieldType type) {
  return type == FieldType::kInt64 || type == FieldType::kDouble;
}

void CheckAggregate(const AggregateSpec& aggregate, const std::string& path,
                    const StreamSpec& stream, Violations* bad) {
  if (aggregate.field.empty()) {
    if (aggregate.function != Function::kCount) {
      bad->Add(path + ".field", "is required but for COUNT");
    }
    return;
  }
  const int field = stream.FindField(aggregate.field);
  if (field < 0) {
    bad->Add(path + ".field",
             absl::StrCat("the stream has no field \"", aggregate.field, "\""));
    return;
  }
  const bool needs_number = aggregate.function == Function::kSum ||
                            aggregate.function == Function::kMean;
  if (needs_number && !IsNumeric(stream.fields[field].type)) {
    bad->Add(path + ".field", absl::StrCat("\"", aggregate.field,
                                           "\" is neither INT64 nor DOUBLE"));
  }
}

void CheckAggregates(const ViewSpec& spec, const StreamSpec& stream,
                     Violations* bad) {
  if (spec.aggregates.empty()) {
    bad->Add("spec.aggregates", "at least one is required");
  }
  if (spec.aggregates.size() > kMaxAggregates) {
    bad->Add("spec.aggregates", absl::StrCat("at most ", kMaxAggregates));
  }
  std::set<std::string> aliases;
  for (size_t i = 0; i < spec.aggregates.size(); ++i) {
    const AggregateSpec& aggregate = spec.aggregates[i];
    const std::string path = absl::StrCat("spec.aggregates[", i, "]");
    if (!IsValidFieldName(aggregate.alias) ||
        aggregate.alias.size() > kMaxAlias) {
      bad->Add(path + ".alias", absl::StrCat("\"", aggregate.alias,
                                             "\" is not [a-z][a-z0-9_]{0,62}"));
    } else if (!aliases.insert(aggregate.alias).second) {
      bad->Add(path + ".alias",
               absl::StrCat("\"", aggregate.alias, "\" is there twice"));
    }
    CheckAggregate(aggregate, path, stream, bad);
  }
}

void CheckGrouping(const ViewSpec& spec, const StreamSpec& stream,
                   Violations* bad) {
  if (spec.group_by.size() > kMaxGroupingFields) {
    bad->Add("spec.group_by", absl::StrCat("at most ", kMaxGroupingFields));
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec.group_by.size(); ++i) {
    const std::string path = absl::StrCat("spec.group_by[", i, "]");
    if (stream.FindField(spec.group_by[i]) < 0) {
      bad->Add(path, absl::StrCat("the stream has no field \"",
                                  spec.group_by[i], "\""));
    } else if (!names.insert(spec.group_by[i]).second) {
      bad->Add(path, absl::StrCat("\"", spec.group_by[i], "\" is there twice"));
    }
  }
}

}  // namespace

int StreamSpec::FindField(absl::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int64_t ViewSpec::WindowsPerEvent() const {
  return window.kind == WindowKind::kSliding ? WindowsCovering(window) : 1;
}

absl::Status ValidateStream(const StreamSpec& spec) {
  Violations bad;
  CheckFields(spec, &bad);
  CheckWatermark(spec.watermark, &bad);
  return std::move(bad).ToStatus();
}

absl::Status ValidateView(const ViewSpec& spec, const StreamSpec& stream) {
  Violations bad;
  CheckWindow(spec.window, &bad);
  CheckGrouping(spec, stream, &bad);
  CheckAggregates(spec, stream, &bad);
  if (spec.allowed_lateness_us < 0) {
    bad.Add("spec.allowed_lateness", "is negative");
  }
  return std::move(bad).ToStatus();
}

bool IsValidId(absl::string_view id) {
  if (id.empty() || id.size() > kMaxId || !absl::ascii_islower(id[0])) {
    return false;
  }
  if (id.back() == '-') return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

namespace {

template <typename T>
void CompareCommon(const T& a, const T& b, std::vector<std::string>* out) {
  if (a.display_name != b.display_name) out->push_back("display_name");
  if (a.labels != b.labels) out->push_back("labels");
}

}  // namespace

std::vector<std::string> Differences(const StreamDefinition& a,
                                     const StreamDefinition& b) {
  std::vector<std::string> out;
  CompareCommon(a, b, &out);
  const WatermarkSpec& x = a.spec.watermark;
  const WatermarkSpec& y = b.spec.watermark;
  const auto policy = [&out](bool differs, absl::string_view name) {
    if (differs) out.push_back(absl::StrCat("watermark_policy.", name));
  };
  if (a.spec.fields != b.spec.fields) out.push_back("fields");
  policy(x.source != y.source, "source");
  policy(x.max_delay_us != y.max_delay_us, "bounded_delay.max_delay");
  policy(x.combine != y.combine, "combine");
  policy(x.advance != y.advance, "advance");
  policy(x.future_action != y.future_action, "future_action");
  policy(x.max_future_skew_us != y.max_future_skew_us, "max_future_skew");
  policy(x.required_producers != y.required_producers, "required_producers");
  if (a.spec.invalid_event_policy != b.spec.invalid_event_policy) {
    out.push_back("invalid_event_policy");
  }
  return out;
}

std::vector<std::string> Differences(const ViewDefinition& a,
                                     const ViewDefinition& b) {
  std::vector<std::string> out;
  CompareCommon(a, b, &out);
  const auto spec = [&out](bool differs, absl::string_view name) {
    if (differs) out.push_back(absl::StrCat("spec.", name));
  };
  spec(a.spec.window != b.spec.window, "window");
  spec(a.spec.group_by != b.spec.group_by, "group_by");
  spec(a.spec.aggregates != b.spec.aggregates, "aggregates");
  spec(a.spec.allowed_lateness_us != b.spec.allowed_lateness_us,
       "allowed_lateness");
  spec(a.spec.late_rule != b.spec.late_rule, "late_rule");
  spec(a.spec.session_late_check != b.spec.session_late_check,
       "session_late_check");
  spec(a.spec.trigger != b.spec.trigger, "trigger");
  spec(a.spec.late_event_policy != b.spec.late_event_policy,
       "late_event_policy");
  return out;
}

}  // namespace casement::engine
