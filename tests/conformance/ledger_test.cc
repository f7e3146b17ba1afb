#include "tests/conformance/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace casement::conformance {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Finality = SentRow::Finality;

SentRow Row(Finality finality, int64_t version, Micros start, Micros end,
            int64_t count) {
  SentRow sent;
  sent.finality = finality;
  sent.version = version;
  sent.end = end;
  sent.row.start = start;
  sent.row.values = {AggValue::Int64(count)};
  return sent;
}

SentRow Final(int64_t version, Micros start, Micros end, int64_t count) {
  return Row(Finality::kFinal, version, start, end, count);
}

SentRow Provisional(int64_t version, Micros start, Micros end, int64_t count) {
  return Row(Finality::kProvisional, version, start, end, count);
}

SentRow Retracted(int64_t version, Micros start, Micros end) {
  return Row(Finality::kRetracted, version, start, end, 0);
}

class LedgerTest : public testing::Test {
 protected:
  // One step in which these rows came.
  StepOutcome Step(std::initializer_list<SentRow> rows) {
    StepOutcome outcome;
    faults_.clear();
    for (const SentRow& row : rows) ledger_.Take(row);
    ledger_.FinishStep(&outcome, &faults_);
    return outcome;
  }

  Ledger ledger_{/*sessions=*/true};
  std::vector<std::string> faults_;
};

TEST_F(LedgerTest, TheLastUpdateOfAStepCounts) {
  const StepOutcome step =
      Step({Provisional(1, 0, 10, 1), Provisional(2, 0, 10, 2)});
  EXPECT_THAT(
      step.updates,
      ElementsAre(Field(&WindowRow::values,
                        ElementsAre(Field(&AggValue::int64_value, 2)))));
  EXPECT_THAT(faults_, IsEmpty());
}

TEST_F(LedgerTest, AnUpdateThatSaysNothingNewIsNone) {
  Step({Provisional(1, 0, 10, 1)});
  EXPECT_THAT(Step({Provisional(2, 0, 10, 1)}).updates, IsEmpty());
  EXPECT_THAT(Step({Provisional(3, 0, 10, 2)}).updates, SizeIs(1));
}

TEST_F(LedgerTest, AWindowThatBecomesFinalIsNoUpdate) {
  const StepOutcome step = Step({Provisional(1, 0, 10, 1), Final(2, 0, 10, 1)});
  EXPECT_THAT(step.updates, IsEmpty());
  EXPECT_THAT(step.finals, SizeIs(1));
  EXPECT_THAT(faults_, IsEmpty());
}

TEST_F(LedgerTest, NothingMayFollowAFinal) {
  Step({Final(1, 0, 10, 1)});
  Step({Final(1, 0, 10, 1)});
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("is final")));
  Step({Provisional(2, 0, 10, 1)});
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("is final")));
  Step({Retracted(3, 0, 10)});
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("is final")));
}

TEST_F(LedgerTest, AProvisionalRowComesOnce) {
  Step({Provisional(1, 0, 10, 1)});
  EXPECT_THAT(faults_, IsEmpty());
  Step({Provisional(1, 0, 10, 1)});
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("is sent again")));
}

TEST_F(LedgerTest, VersionsDoNotGoBack) {
  Step({Provisional(5, 0, 10, 1), Provisional(4, 20, 30, 1)});
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("follows one of version 5")));
}

TEST_F(LedgerTest, ASessionThatGrowsIsAnUpdateOfTheSame) {
  Step({Provisional(1, 0, 10, 1)});
  const StepOutcome step =
      Step({Retracted(2, 0, 10), Provisional(2, 0, 15, 2)});
  EXPECT_THAT(step.retracts, IsEmpty());
  EXPECT_THAT(step.updates, SizeIs(1));
  EXPECT_THAT(faults_, IsEmpty());
}

TEST_F(LedgerTest, ASessionThatBeginsEarlierTakesItsOldStartWithIt) {
  Step({Provisional(1, 5, 10, 1)});
  const StepOutcome step =
      Step({Provisional(2, 0, 10, 2), Retracted(2, 5, 10)});
  EXPECT_THAT(step.retracts, ElementsAre(Field(&KeyAndStart::start, 5)));
  EXPECT_THAT(step.updates, SizeIs(1));
  EXPECT_THAT(faults_, IsEmpty());
}

TEST_F(LedgerTest, WhatComesAndGoesWithinAStepIsNotSeen) {
  const StepOutcome step =
      Step({Provisional(1, 5, 10, 1), Retracted(2, 5, 10)});
  EXPECT_THAT(step.updates, IsEmpty());
  EXPECT_THAT(step.retracts, IsEmpty());
  EXPECT_THAT(faults_, IsEmpty());
}

TEST_F(LedgerTest, OnlyWhatWasAnnouncedIsTakenBack) {
  EXPECT_THAT(Step({Retracted(1, 0, 10)}).retracts, IsEmpty());
  EXPECT_THAT(faults_, ElementsAre(HasSubstr("was not announced")));
}

TEST_F(LedgerTest, ListingsHoldWhatWasSent) {
  Step({Final(1, 0, 10, 1), Provisional(1, 20, 30, 1)});
  std::vector<std::string> faults;
  // Open windows need not have been announced, and may have gone on.
  ledger_.CompareWithListed(
      {Final(1, 0, 10, 1)},
      {Provisional(2, 20, 30, 2), Provisional(2, 40, 50, 1)}, &faults);
  EXPECT_THAT(faults, IsEmpty());
  ledger_.CompareWithListed({}, {Provisional(2, 20, 30, 2)}, &faults);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("not listed")));
  faults.clear();
  ledger_.CompareWithListed({Final(1, 0, 10, 2)}, {Provisional(2, 20, 30, 2)},
                            &faults);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("is listed as")));
  faults.clear();
  // A ghost: announced under bounds that no open window has.
  ledger_.CompareWithListed({Final(1, 0, 10, 1)}, {Provisional(2, 20, 35, 2)},
                            &faults);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("not listed")));
  faults.clear();
  ledger_.CompareWithListed({Final(1, 0, 10, 1), Final(1, 60, 70, 1)},
                            {Provisional(2, 20, 30, 2)}, &faults);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("was not sent")));
}

}  // namespace
}  // namespace casement::conformance
