#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/simulation/report.hpp"

namespace terrane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Report report() {
  Report report;
  report.problem = "1,000 cells over 20 steps";
  report.method = "explicit";
  report.seconds = 2;
  report.work = 20000;
  report.work_unit = "cell updates";
  report.add("largest_step", 12.5, "s", "step");
  report.add("iterations", std::uint64_t{7});
  report.add("heat_kept", true, "", "heat");
  return report;
}

TEST(Report, ShowsValuesWithALabelAndTheirUnits) {
  EXPECT_THAT(report().lines(), ElementsAre(Pair("step", "12.5 s"), Pair("heat", "yes")));
  EXPECT_THAT(report().text(), AllOf(HasSubstr("1,000 cells"), HasSubstr("1e+04 cell updates per second"),
                                     HasSubstr("12.5 s"), Not(HasSubstr("iterations"))));
}

TEST(Report, SaysNoRateOfARunThatWasResumed) {
  auto resumed = report();
  resumed.notes = {"resumed from f.nc.checkpoint, with 4 of 6 shots done"};
  EXPECT_THAT(resumed.text(), AllOf(HasSubstr("2 s"), Not(HasSubstr("per second"))));
}

TEST(Report, NumbersAreFoundByTheirNames) {
  EXPECT_EQ(report().number("largest_step"), 12.5);
  EXPECT_EQ(report().number("iterations"), 7);
  EXPECT_THAT(testing_support::message([] { report().number("iteration"); }),
              AllOf(HasSubstr("iterations"), HasSubstr("Did you mean")));
}

TEST(Report, GroupsDigits) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Plan, TellsOnlyWhatThereIs) {
  Plan plan;
  plan.method = "direct";
  plan.device = "cpu";
  EXPECT_THAT(plan.text(), AllOf(HasSubstr("direct"), Not(HasSubstr("time")), Not(HasSubstr("direct:"))));
}

}  // namespace
}  // namespace terrane
