// A stream that is always the same, over three views, and all that users can
// see of it: for runs that are stopped in all ways and must look alike.
#ifndef CASEMENT_TESTS_RUNTIME_SCENARIO_H_
#define CASEMENT_TESTS_RUNTIME_SCENARIO_H_

#include <random>
#include <string>
#include <vector>

#include "tests/runtime/runtime_tester.h"

namespace casement::runtime {

// Batch number `i` of a stream that is always the same: disorder, late events,
// several keys.
inline std::vector<TestEvent> Batch(int64_t i) {
  std::mt19937 random(static_cast<uint32_t>(i));
  std::vector<TestEvent> events;
  for (int k = 0; k < 5; ++k) {
    const int64_t second = i * 2 + static_cast<int64_t>(random() % 12) - 8;
    events.push_back({second, std::string(1, "abcdefg"[random() % 7]),
                      static_cast<int64_t>(random() % 100)});
  }
  return events;
}

inline engine::ViewDefinition SlidingView() {
  engine::ViewDefinition view = TestView("sliding");
  view.spec.window.kind = engine::WindowKind::kSliding;
  view.spec.window.size_us = 20 * kSecond;
  view.spec.window.period_us = 5 * kSecond;
  view.spec.trigger.early_every_batch = true;
  return view;
}

inline engine::ViewDefinition SessionView() {
  engine::ViewDefinition view = TestView("sessions");
  view.spec.window = engine::WindowSpec();
  view.spec.window.kind = engine::WindowKind::kSession;
  view.spec.window.gap_us = 7 * kSecond;
  view.spec.trigger.early_every_batch = true;
  return view;
}

inline constexpr const char* kViews[] = {"v", "sliding", "sessions"};

inline void MakeAll(RuntimeTester* tester) {
  tester->MakeStream();
  ASSERT_THAT(tester->CreateView("s", SlidingView()), IsOk());
  ASSERT_THAT(tester->CreateView("s", SessionView()), IsOk());
}

// Everything of stream "s" that a reader can see.
inline std::vector<std::string> SeeAll(RuntimeTester* tester) {
  std::vector<std::string> all;
  for (const char* view : kViews) {
    ListWindowsQuery query;
    query.open_windows = true;
    query.max_results = 10'000;
    for (const std::string& row : tester->Windows(query, "s", view)) {
      all.push_back(absl::StrCat(view, " row ", row));
    }
    for (const std::string& entry : tester->Log("s", view)) {
      all.push_back(absl::StrCat(view, " log ", entry));
    }
    const auto info = tester->GetView("s", view);
    EXPECT_THAT(info, IsOk());
    if (!info.ok()) continue;
    all.push_back(
        absl::StrCat(view, " accounts ", info->progress.version, " ",
                     info->progress.watermark, " ", info->accounts.accepted,
                     " ", info->accounts.counted, " ", info->accounts.late, " ",
                     info->accounts.final_results, " ", info->live_keys));
  }
  const auto stream = tester->GetStream("s");
  EXPECT_THAT(stream, IsOk());
  if (stream.ok()) {
    all.push_back(absl::StrCat("stream ", stream->progress.version, " ",
                               stream->accounts.accepted, " ",
                               stream->accounts.late));
  }
  return all;
}

// What a run without any stop shows after this many batches.
inline std::vector<std::string> Expected(int64_t batches) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  engine::Version last = 0;
  for (int64_t i = 1; i <= batches; ++i) {
    const auto ack = tester.Append("s", i, Batch(i));
    EXPECT_THAT(ack, IsOk());
    if (ack.ok()) last = ack->ack.version;
  }
  tester.WaitForVersion("s", last);
  return SeeAll(&tester);
}

}  // namespace casement::runtime

#endif  // CASEMENT_TESTS_RUNTIME_SCENARIO_H_
