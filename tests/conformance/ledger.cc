#include "tests/conformance/ledger.h"

#include "absl/strings/str_cat.h"
#include "tests/conformance/compare.h"

namespace casement::conformance {
namespace {

using Finality = SentRow::Finality;

const char* NameOf(Finality finality) {
  switch (finality) {
    case Finality::kProvisional:
      return "provisional";
    case Finality::kFinal:
      return "final";
    case Finality::kRetracted:
      return "retracted";
  }
  return "?";
}

}  // namespace

Ledger::Identity Ledger::IdentityOf(const SentRow& row) {
  return {row.row.key, row.row.start, row.end};
}

Ledger::CaseIdentity Ledger::CaseIdentityOf(const SentRow& row) const {
  return {row.row.key, row.row.start, sessions_ ? Micros(0) : row.end};
}

void Ledger::Fault(const SentRow& row, const std::string& what) {
  faults_.push_back(absl::StrCat(NameOf(row.finality), " row ",
                                 Describe(row.row), " of version ", row.version,
                                 " ", what));
}

void Ledger::Take(const SentRow& row) {
  if (row.version < version_) {
    Fault(row, absl::StrCat("follows one of version ", version_));
  }
  version_ = row.version;
  const Identity identity = IdentityOf(row);
  const CaseIdentity known_by = CaseIdentityOf(row);
  auto current = current_.find(identity);
  if (current != current_.end() &&
      current->second.finality == Finality::kFinal) {
    Fault(row, "comes though the window is final");
    if (row.finality == Finality::kFinal) finals_.push_back(row);
    return;
  }
  if (current != current_.end() && row.finality == Finality::kProvisional &&
      row.version == current->second.version) {
    Fault(row, "is sent again");
  }
  switch (row.finality) {
    case Finality::kProvisional:
      current_[identity] = row;
      told_[known_by] = row;
      return;
    case Finality::kFinal:
      current_[identity] = row;
      finals_.push_back(row);
      final_identities_.insert(known_by);
      return;
    case Finality::kRetracted:
      if (current == current_.end()) {
        Fault(row, "takes back what was not announced");
        return;
      }
      current_.erase(current);
      retracted_.insert(known_by);
      if (auto told = told_.find(known_by);
          told != told_.end() && told->second.end == row.end) {
        told_.erase(told);
      }
      return;
  }
}

void Ledger::FinishStep(StepOutcome* outcome,
                        std::vector<std::string>* faults) {
  for (const SentRow& row : finals_) outcome->finals.push_back(row.row);
  for (const CaseIdentity& gone : retracted_) {
    // One that lives on under its key and start has only grown, and what came
    // and went within the step is not seen from outside.
    if (told_.count(gone) > 0 || final_identities_.count(gone) > 0) continue;
    if (announced_.erase(gone) == 0) continue;
    outcome->retracts.push_back({gone.key, gone.start});
  }
  for (const auto& [known_by, row] : told_) {
    if (final_identities_.count(known_by) > 0) continue;
    auto before = announced_.find(known_by);
    if (before == announced_.end() || !SameRow(before->second.row, row.row)) {
      outcome->updates.push_back(row.row);
    }
    announced_[known_by] = row;
  }
  for (const CaseIdentity& known_by : final_identities_) {
    announced_.erase(known_by);
  }
  faults->insert(faults->end(), faults_.begin(), faults_.end());
  told_.clear();
  finals_.clear();
  final_identities_.clear();
  retracted_.clear();
  faults_.clear();
}

void Ledger::CompareWithListed(const std::vector<SentRow>& finals,
                               const std::vector<SentRow>& open,
                               std::vector<std::string>* faults) const {
  std::map<Identity, const SentRow*> listed;
  for (const auto* rows : {&finals, &open}) {
    for (const SentRow& row : *rows) {
      if (!listed.emplace(IdentityOf(row), &row).second) {
        faults->push_back(absl::StrCat("listed twice: ", Describe(row.row)));
      }
    }
  }
  for (const auto& [identity, row] : current_) {
    auto found = listed.find(identity);
    if (found == listed.end()) {
      faults->push_back(
          absl::StrCat(NameOf(row.finality),
                       " row was sent but is not listed: ", Describe(row.row)));
    } else if (row.finality == Finality::kFinal &&
               (found->second->finality != Finality::kFinal ||
                !SameRow(found->second->row, row.row))) {
      faults->push_back(absl::StrCat("final row ", Describe(row.row),
                                     " is listed as ",
                                     Describe(found->second->row)));
    }
  }
  for (const SentRow& row : finals) {
    if (current_.count(IdentityOf(row)) == 0) {
      faults->push_back(absl::StrCat("final row is listed but was not sent: ",
                                     Describe(row.row)));
    }
  }
}

}  // namespace casement::conformance
