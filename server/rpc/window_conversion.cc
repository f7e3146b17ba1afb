#include "server/rpc/window_conversion.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

using v1::WindowSpec;

constexpr char kWindow[] = "view.spec.window";
constexpr int64_t kDayUs = 86'400'000'000;
constexpr int64_t kMaxSteps = 10'000;

std::string Path(absl::string_view field) {
  return absl::StrCat(kWindow, ".", field);
}

engine::WindowSpec StandIn() {
  engine::WindowSpec spec;
  spec.size_us = kDayUs;
  spec.period_us = kDayUs;
  return spec;
}

// How far it must be is said by the engine; that it is there, here.
template <typename Message>
int64_t Required(const Message& message, bool is_set,
                 const google::protobuf::Duration& (Message::*get)() const,
                 absl::string_view field, FieldErrors* errors) {
  if (!is_set) {
    errors->Invalid(Path(field), "is required");
    return 0;
  }
  return errors->DurationAtLeast(Path(field), (message.*get)(), 1);
}

// An offset counts modulo the period: equal windows have equal specs.
int64_t Modulo(int64_t offset_us, int64_t period_us) {
  if (period_us <= 0) return 0;
  const int64_t rest = offset_us % period_us;
  return rest < 0 ? rest + period_us : rest;
}

engine::WindowSpec ToTumbling(const WindowSpec::Tumbling& window,
                              FieldErrors* errors) {
  engine::WindowSpec spec;
  spec.kind = engine::WindowKind::kTumbling;
  spec.size_us = Required(window, window.has_size(),
                          &WindowSpec::Tumbling::size, "tumbling.size", errors);
  spec.period_us = spec.size_us;
  spec.offset_us = Modulo(
      errors->Duration(Path("tumbling.offset"), window.offset()), spec.size_us);
  return spec;
}

engine::WindowSpec ToSliding(const WindowSpec::Sliding& window,
                             FieldErrors* errors) {
  engine::WindowSpec spec;
  spec.kind = engine::WindowKind::kSliding;
  spec.size_us = Required(window, window.has_size(), &WindowSpec::Sliding::size,
                          "sliding.size", errors);
  spec.period_us =
      Required(window, window.has_period(), &WindowSpec::Sliding::period,
               "sliding.period", errors);
  spec.offset_us =
      Modulo(errors->Duration(Path("sliding.offset"), window.offset()),
             spec.period_us);
  return spec;
}

engine::WindowSpec ToSession(const WindowSpec::Session& window,
                             FieldErrors* errors) {
  engine::WindowSpec spec;
  spec.kind = engine::WindowKind::kSession;
  spec.gap_us = Required(window, window.has_gap(), &WindowSpec::Session::gap,
                         "session.gap", errors);
  switch (window.gap_rule()) {
    case WindowSpec::Session::GAP_RULE_UNSPECIFIED:
    case WindowSpec::Session::GAP_RULE_INCLUSIVE:
      spec.gap_rule = engine::GapRule::kInclusive;
      break;
    case WindowSpec::Session::GAP_RULE_EXCLUSIVE:
      spec.gap_rule = engine::GapRule::kExclusive;
      break;
    default:
      errors->Invalid(Path("session.gap_rule"),
                      "is not a value that this server knows");
  }
  const int64_t boundary_offset_us = errors->Duration(
      Path("session.boundary_offset"), window.boundary_offset());
  if (window.has_boundary_period()) {
    const std::string path = Path("session.boundary_period");
    errors->DurationAtLeast(path, window.boundary_period(), 1);
    errors->NotBuilt(path);
  } else if (boundary_offset_us != 0) {
    errors->Invalid(Path("session.boundary_offset"),
                    "shifts a boundary_period, which is unset");
  }
  return spec;
}

// Counts of units that must fit a whole number of times into the next larger
// one; 0 for those that count on from 1970.
int32_t MustDivide(WindowSpec::Calendar::Unit unit) {
  switch (unit) {
    case WindowSpec::Calendar::UNIT_HOUR:
      return 24;
    case WindowSpec::Calendar::UNIT_MONTH:
      return 12;
    case WindowSpec::Calendar::UNIT_QUARTER:
      return 4;
    default:
      return 0;
  }
}

// Names that are paths out of the zone database, or that mean another zone on
// each machine, are no IANA names.
bool IsTimeZone(const std::string& name) {
  const bool plain =
      !name.empty() && name.front() != '/' &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains("_+-/", absl::string_view(&c, 1));
      });
  absl::TimeZone zone;
  return plain && name != "localtime" && name != "posixrules" &&
         !absl::StartsWith(name, "right/") &&
         !absl::StartsWith(name, "posix/") && absl::LoadTimeZone(name, &zone);
}

void CheckCalendar(const WindowSpec::Calendar& window, FieldErrors* errors) {
  if (window.unit() == WindowSpec::Calendar::UNIT_UNSPECIFIED) {
    errors->Invalid(Path("calendar.unit"), "is required");
  } else if (!WindowSpec::Calendar::Unit_IsValid(window.unit())) {
    errors->Invalid(Path("calendar.unit"),
                    "is not a value that this server knows");
  }
  const int32_t count = window.count() == 0 ? 1 : window.count();
  const int32_t whole = MustDivide(window.unit());
  if (count < 0) {
    errors->Invalid(Path("calendar.count"), "must not be negative");
  } else if (whole != 0 && whole % count != 0) {
    errors->Invalid(Path("calendar.count"),
                    absl::StrCat("must divide ", whole, " for this unit"));
  }
  if (!IsTimeZone(window.time_zone())) {
    errors->Invalid(Path("calendar.time_zone"),
                    "must be the IANA name of a time zone, such as "
                    "\"Europe/Berlin\"");
  }
  if (window.week_start_day() < 0 || window.week_start_day() > 7) {
    errors->Invalid(Path("calendar.week_start_day"),
                    "must be 1 (Monday) to 7 (Sunday)");
  }
  const int64_t offset_us = errors->Duration(Path("calendar.day_start_offset"),
                                             window.day_start_offset());
  if (offset_us <= -kDayUs || offset_us >= kDayUs) {
    errors->Invalid(Path("calendar.day_start_offset"),
                    "must be less than 24 h");
  }
  errors->NotBuilt(Path("calendar"));
}

void CheckCumulative(const WindowSpec::Cumulative& window,
                     FieldErrors* errors) {
  const int64_t size_us =
      Required(window, window.has_size(), &WindowSpec::Cumulative::size,
               "cumulative.size", errors);
  const int64_t step_us =
      Required(window, window.has_step(), &WindowSpec::Cumulative::step,
               "cumulative.step", errors);
  errors->Duration(Path("cumulative.offset"), window.offset());
  if (size_us > 0 && step_us > 0) {
    if (size_us % step_us != 0) {
      errors->Invalid(Path("cumulative.step"), "must divide the size");
    } else if (size_us / step_us > kMaxSteps) {
      errors->Invalid(
          Path("cumulative.step"),
          absl::StrCat("must cut the size into at most ", kMaxSteps));
    }
  }
  errors->NotBuilt(Path("cumulative"));
}

}  // namespace

engine::WindowSpec ToWindowSpec(const WindowSpec& window, FieldErrors* errors) {
  switch (window.kind_case()) {
    case WindowSpec::kTumbling:
      return ToTumbling(window.tumbling(), errors);
    case WindowSpec::kSliding:
      return ToSliding(window.sliding(), errors);
    case WindowSpec::kSession:
      return ToSession(window.session(), errors);
    case WindowSpec::kCalendar:
      CheckCalendar(window.calendar(), errors);
      break;
    case WindowSpec::kGlobal:
      errors->NotBuilt(Path("global"));
      break;
    case WindowSpec::kCumulative:
      CheckCumulative(window.cumulative(), errors);
      break;
    case WindowSpec::KIND_NOT_SET:
      errors->Invalid(kWindow, "one kind of window is required");
      break;
  }
  return StandIn();
}

void SetWindowSpec(const engine::WindowSpec& spec, WindowSpec* window) {
  switch (spec.kind) {
    case engine::WindowKind::kTumbling:
      *window->mutable_tumbling()->mutable_size() = ToDuration(spec.size_us);
      *window->mutable_tumbling()->mutable_offset() =
          ToDuration(spec.offset_us);
      break;
    case engine::WindowKind::kSliding:
      *window->mutable_sliding()->mutable_size() = ToDuration(spec.size_us);
      *window->mutable_sliding()->mutable_period() = ToDuration(spec.period_us);
      *window->mutable_sliding()->mutable_offset() = ToDuration(spec.offset_us);
      break;
    case engine::WindowKind::kSession:
      *window->mutable_session()->mutable_gap() = ToDuration(spec.gap_us);
      window->mutable_session()->set_gap_rule(
          static_cast<WindowSpec::Session::GapRule>(spec.gap_rule));
      break;
  }
}

}  // namespace casement::rpc
