// Keeps what a service has told about each window, as a consumer that upserts
// by identity would, and turns the rows of one step into what a case expects of
// it. It also watches over the promises that hold in every case: a window is
// final once and nothing follows, only what was announced is retracted, and
// versions don't go back.

#ifndef CASEMENT_TESTS_CONFORMANCE_LEDGER_H_
#define CASEMENT_TESTS_CONFORMANCE_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/outcome.h"

namespace casement::conformance {

// A result as the service sent it. `row` is in the case's form; `end` is the
// window's own end, also of a session.
struct SentRow {
  enum class Finality { kProvisional, kFinal, kRetracted };
  Finality finality = Finality::kProvisional;
  WindowRow row;
  Micros end = 0;
  int64_t version = 0;
};

class Ledger {
 public:
  // `sessions`: windows are known by key and start, and may grow at the end.
  explicit Ledger(bool sessions) : sessions_(sessions) {}

  // One row of the step, in the order of sending.
  void Take(const SentRow& row);

  // Fills in finals, updates and retracts of all rows since the step before;
  // broken promises are told in `faults`.
  void FinishStep(StepOutcome* outcome, std::vector<std::string>* faults);

  // What a consumer holds must be what the service lists: all of the finals,
  // and of the open windows those that were announced.
  void CompareWithListed(const std::vector<SentRow>& finals,
                         const std::vector<SentRow>& open,
                         std::vector<std::string>* faults) const;

 private:
  struct Identity {
    MaybeKey key;
    Micros start;
    Micros end;
    bool operator<(const Identity& other) const {
      return std::tie(key, start, end) <
             std::tie(other.key, other.start, other.end);
    }
  };
  // What a case knows a window by: sessions have no end in it.
  using CaseIdentity = Identity;

  static Identity IdentityOf(const SentRow& row);
  CaseIdentity CaseIdentityOf(const SentRow& row) const;
  void Fault(const SentRow& row, const std::string& what);

  const bool sessions_;
  int64_t version_ = 0;
  // The row that stands for each identity.
  std::map<Identity, SentRow> current_;
  // The last provisional row of each window that is announced and not final.
  std::map<CaseIdentity, SentRow> announced_;

  // Of this step.
  std::map<CaseIdentity, SentRow> told_;
  std::vector<SentRow> finals_;
  std::set<CaseIdentity> final_identities_;
  std::set<CaseIdentity> retracted_;
  std::vector<std::string> faults_;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_LEDGER_H_
