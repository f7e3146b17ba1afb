#include "tests/crash/finals.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/crash/times.h"

namespace casement::stress {
namespace {

struct Amounts {
  int64_t count = 0;
  int64_t amount = 0;
  double price = 0;
  double least = 0;
  int64_t greatest = 0;
  double mean = 0;
  int64_t distinct = 0;
  int64_t first_us = 0;
  int64_t last_us = 0;
};

std::string Format(const Amounts& of) {
  return absl::StrFormat(
      "n %d, amount %d, price %.17g, least %.17g, greatest %d, mean %.17g, "
      "amounts %d, from %d to %d",
      of.count, of.amount, of.price, of.least, of.greatest, of.mean,
      of.distinct, of.first_us, of.last_us);
}

std::string FormatIdentity(const std::string& key, int64_t start_us,
                           int64_t end_us) {
  return absl::StrCat(key, " [", start_us, ", ", end_us, ")");
}

Amounts Amount(const std::vector<const InputEvent*>& events) {
  Amounts of;
  std::set<int64_t> amounts;
  for (const InputEvent* event : events) {
    const bool first = of.count == 0;
    ++of.count;
    of.amount += event->amount;
    of.price += event->price;
    of.least = first ? event->price : std::min(of.least, event->price);
    of.greatest = first ? event->amount : std::max(of.greatest, event->amount);
    of.first_us =
        first ? event->time_us : std::min(of.first_us, event->time_us);
    of.last_us = first ? event->time_us : std::max(of.last_us, event->time_us);
    amounts.insert(event->amount);
  }
  // Both are whole numbers that a double holds exactly, so that the quotient
  // is rounded once.
  of.mean = static_cast<double>(of.amount) / static_cast<double>(of.count);
  of.distinct = static_cast<int64_t>(amounts.size());
  return of;
}

using Group = std::map<std::pair<std::string, std::pair<int64_t, int64_t>>,
                       std::vector<const InputEvent*>>;

// Each event in all windows [k * period, k * period + size) that hold it. Times
// are after 1970.
Group GroupAligned(const std::vector<InputEvent>& events, int64_t size_us,
                   int64_t period_us) {
  Group groups;
  for (const InputEvent& event : events) {
    int64_t start_us = event.time_us / period_us * period_us;
    for (; start_us + size_us > event.time_us; start_us -= period_us) {
      groups[{event.key, {start_us, start_us + size_us}}].push_back(&event);
    }
  }
  return groups;
}

Group GroupSessions(const std::vector<InputEvent>& events) {
  std::map<std::string, std::vector<const InputEvent*>> by_key;
  for (const InputEvent& event : events) by_key[event.key].push_back(&event);
  Group groups;
  for (auto& [key, sorted] : by_key) {
    std::sort(sorted.begin(), sorted.end(),
              [](const InputEvent* a, const InputEvent* b) {
                return a->time_us < b->time_us;
              });
    size_t begin = 0;
    for (size_t i = 1; i <= sorted.size(); ++i) {
      if (i < sorted.size() &&
          sorted[i]->time_us <= sorted[i - 1]->time_us + kGapUs) {
        continue;
      }
      groups[{key, {sorted[begin]->time_us, sorted[i - 1]->time_us + kGapUs}}] =
          {sorted.begin() + begin, sorted.begin() + i};
      begin = i;
    }
  }
  return groups;
}

}  // namespace

std::string IdentityOf(const v1::WindowResult& row) {
  const std::string key = row.key().parts_size() == 1
                              ? row.key().parts(0).string_value()
                              : row.key().ShortDebugString();
  return FormatIdentity(key, FromTimestamp(row.window().start_time()),
                        FromTimestamp(row.window().end_time()));
}

std::string ContentsOf(const v1::WindowResult& row) {
  if (row.values_size() != 7 ||
      row.values(0).int64_value() != row.event_count()) {
    return absl::StrCat("no such row: ", row.ShortDebugString());
  }
  Amounts of;
  of.count = row.values(0).int64_value();
  of.amount = row.values(1).int64_value();
  of.price = row.values(2).double_value();
  of.least = row.values(3).double_value();
  of.greatest = row.values(4).int64_value();
  of.mean = row.values(5).mean().value();
  of.distinct = row.values(6).int64_value();
  of.first_us = FromTimestamp(row.first_event_time());
  of.last_us = FromTimestamp(row.last_event_time());
  return Format(of);
}

Finals Recompute(ViewKind kind, const std::vector<InputEvent>& events) {
  Group groups;
  switch (kind) {
    case ViewKind::kTumbling:
      groups = GroupAligned(events, kTumblingUs, kTumblingUs);
      break;
    case ViewKind::kSliding:
      groups = GroupAligned(events, kSlidingUs, kPeriodUs);
      break;
    case ViewKind::kSessions:
      groups = GroupSessions(events);
      break;
  }
  Finals finals;
  for (const auto& [window, members] : groups) {
    finals[FormatIdentity(window.first, window.second.first,
                          window.second.second)] = Format(Amount(members));
  }
  return finals;
}

std::string Difference(const Finals& expected, const Finals& got) {
  constexpr int kExamples = 3;
  int missing = 0;
  int different = 0;
  int unexpected = 0;
  std::string examples;
  for (const auto& [identity, contents] : expected) {
    auto found = got.find(identity);
    if (found != got.end() && found->second == contents) continue;
    int& count = found == got.end() ? missing : different;
    if (++count > kExamples) continue;
    absl::StrAppend(&examples, "\n  ", identity, "\n    expected ", contents,
                    "\n    got      ",
                    found == got.end() ? "nothing" : found->second);
  }
  for (const auto& [identity, contents] : got) {
    if (expected.count(identity) > 0) continue;
    if (++unexpected > kExamples) continue;
    absl::StrAppend(&examples, "\n  ", identity, "\n    unexpected ", contents);
  }
  if (examples.empty()) return "";
  return absl::StrCat(missing, " missing, ", different, " different, ",
                      unexpected, " unexpected of ", expected.size(), examples);
}

}  // namespace casement::stress
