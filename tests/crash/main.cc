// casement_stress: kills a real casementd again and again while two producers
// send and three subscribers of each of three views follow, and checks that
// what each gathered is what a run without kills gives, and what the sums over
// the input are.

#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/crash/faults.h"
#include "tests/crash/finals.h"
#include "tests/crash/input.h"
#include "tests/crash/run.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

ABSL_FLAG(int, kills, 20, "how often the server is killed");
ABSL_FLAG(uint64_t, seed, 0, "of the input and the kills; 0: a random one");
ABSL_FLAG(std::string, casementd, "",
          "the server to test; else $CASEMENTD, else the one beside this "
          "program");
ABSL_FLAG(bool, keep, false,
          "keep the data directories and the servers' logs, and say where");

namespace casement::stress {
namespace {

std::vector<InputEvent> AllEvents(uint64_t seed,
                                  const Pace::Sequences& batches) {
  std::vector<InputEvent> events;
  for (int producer = 0; producer < kProducers; ++producer) {
    for (int64_t sequence = 1; sequence <= batches[producer]; ++sequence) {
      for (InputEvent& event : InputBatch(seed, producer, sequence)) {
        events.push_back(std::move(event));
      }
    }
  }
  return events;
}

void Compare(const std::string& run, const Finals& expected,
             const Gathered& gathered, Faults* faults) {
  const std::string difference = Difference(expected, gathered.finals);
  if (!difference.empty()) {
    faults->Add(absl::StrCat(run, ", ", gathered.who, ": ", difference));
  }
}

void PrintReport(const RunReport& report, int kills) {
  std::cout << kills << " kills (" << report.kills_while_starting
            << " rounds with one more while it was starting); "
            << report.batches[0] << " + " << report.batches[1] << " batches of "
            << kEventsPerBatch << " events, " << report.resent_batches
            << " sent again, " << report.duplicate_batches
            << " answered as repeats; " << report.provisional_rows
            << " provisional rows; " << report.resumed_calls
            << " calls resumed, " << report.repeated_rows << " rows came again"
            << std::endl;
}

int Fail(const Faults& faults, support::TempDir* directory) {
  directory->Keep();
  for (const std::string& fault : faults.kept()) {
    std::cout << "FAULT " << fault << "\n";
  }
  std::cout << "failed: " << faults.count() << " faults; data and logs are in "
            << directory->path() << std::endl;
  return 1;
}

int Main() {
  absl::StatusOr<std::string> binary =
      support::FindServerBinary(absl::GetFlag(FLAGS_casementd));
  if (!binary.ok()) {
    std::cerr << "casement_stress: " << binary.status().message() << "\n";
    return 2;
  }
  uint64_t seed = absl::GetFlag(FLAGS_seed);
  if (seed == 0) seed = std::random_device()();
  const int kills = absl::GetFlag(FLAGS_kills);
  std::cout << "seed " << seed << ", " << kills << " kills" << std::endl;

  support::TempDir directory("casement-stress");
  if (absl::GetFlag(FLAGS_keep)) {
    directory.Keep();
    std::cout << "data and logs are in " << directory.path() << std::endl;
  }
  Faults faults;
  RunOptions options;
  options.binary = *binary;
  options.directory = directory.Sub("killed");
  options.seed = seed;
  options.kills = kills;
  const RunReport killed = Run(options, faults);
  if (faults.any()) return Fail(faults, &directory);
  PrintReport(killed, kills);

  options.directory = directory.Sub("whole");
  options.kills = 0;
  options.batches = killed.batches;
  const RunReport whole = Run(options, faults);
  if (faults.any()) return Fail(faults, &directory);

  const std::vector<InputEvent> events = AllEvents(seed, killed.batches);
  size_t windows = 0;
  for (ViewKind kind : kViews) {
    const Finals expected = Recompute(kind, events);
    windows += expected.size();
    std::cout << ViewId(kind) << ": " << expected.size() << " windows\n";
    for (const auto* report : {&killed, &whole}) {
      for (const Gathered& gathered : report->gathered) {
        if (gathered.view != kind) continue;
        Compare(report == &killed ? "with kills" : "without kills", expected,
                gathered, &faults);
      }
    }
  }
  if (faults.any()) return Fail(faults, &directory);
  std::cout << "passed: " << events.size() << " events, " << windows
            << " windows, the same for each of " << killed.gathered.size()
            << " subscribers with kills, without kills and by recomputing"
            << std::endl;
  return 0;
}

}  // namespace
}  // namespace casement::stress

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Kills a real casementd while producers send and subscribers follow.\n"
      "usage: casement_stress [--kills N] [--seed S] [--keep] "
      "[--casementd PATH]");
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    std::cerr << "casement_stress takes flags only; see --help\n";
    return 2;
  }
  return casement::stress::Main();
}
