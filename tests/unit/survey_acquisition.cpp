#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/files.hpp"
#include "terrane/survey/acquisition.hpp"

namespace terrane {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

constexpr std::array<std::string_view, 2> source_kinds{"electric_dipole", "loop"}, receiver_kinds{"e", "h"};

/// One dipole, two receivers, three frequencies.
Acquisition marine() {
  Acquisition a;
  a.sources = {"electric_dipole", "", {0}, {0}, {-950}, {90}, {}, {100}, {}, {"tow 1"}};
  a.receivers = {"e", "", {1000, 2000}, {0, 0}, {-1000, -1000}, {}, {}, {}, {}, {}};
  a.axis = std::vector<double>{0.25, 0.5, 1};
  return a;
}

std::string refusal(const Acquisition& a) {
  return message([&] { check(a, source_kinds, receiver_kinds); });
}

TEST(Acquisition, DirectionsAreClockwiseFromNorthAndDownward) {
  Elements e{"loop", "", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 90, 45}, {0, 0, 90}, {2, 2, 2}, {}, {}};
  EXPECT_THAT(e.direction(0), ElementsAre(0, 1, 0));
  EXPECT_THAT(e.direction(1), ElementsAre(1, DoubleNear(0, 1e-15), 0));
  EXPECT_THAT(e.direction(2), ElementsAre(DoubleNear(0, 1e-15), DoubleNear(0, 1e-15), -1));
  EXPECT_THAT(e.ends(0)[1], ElementsAre(0, 1, 0));
  e.azimuth.clear();
  EXPECT_THAT(e.direction(1), ElementsAre(0, 1, 0));
}

TEST(Acquisition, CountsWhatIsRecorded) {
  auto a = marine();
  EXPECT_EQ(refusal(a), "no error");
  EXPECT_EQ(a.data_size(), 6U);
  a.recorded = {{1}};
  EXPECT_EQ(a.data_size(), 3U);
  a.axis = TimeAxis{0, 0.004, 1000};
  EXPECT_EQ(a.data_size(), 1000U);
  EXPECT_DOUBLE_EQ(std::get<TimeAxis>(a.axis)[250], 1);
}

TEST(Acquisition, RefusesWhatCannotHaveBeenRecorded) {
  auto a = marine();
  a.sources.kind = "lop";
  EXPECT_THAT(refusal(a),
              HasSubstr("survey.sources.kind: \"lop\" is not known here. Did you mean \"loop\"?"));
  a = marine();
  a.receivers.up.pop_back();
  EXPECT_THAT(refusal(a), HasSubstr("survey.receivers: 1 values of up for 2 places"));
  a = marine();
  a.receivers.dip = {0, 91};
  EXPECT_THAT(refusal(a), HasSubstr("survey.receivers[1]: its dip is 91 degrees"));
  a = marine();
  a.receivers.easting[1] = std::nan("");
  EXPECT_THAT(refusal(a), HasSubstr("survey.receivers[1]: its easting is nan"));
  a = marine();
  a.axis = std::vector<double>{1, 2, 1};
  EXPECT_THAT(refusal(a), HasSubstr("1 Hz is there twice"));
  a.axis = TimeAxis{0, 0, 5};
  EXPECT_THAT(refusal(a), HasSubstr("the step is above zero"));
  a = marine();
  a.recorded = {{0, 2}};
  EXPECT_THAT(refusal(a), HasSubstr("survey.sources[0]: it is recorded by receiver 2 of 2"));
  a = marine();
  a.observed = Observations{std::vector<double>(5), {}, "V/m"};
  EXPECT_THAT(refusal(a), HasSubstr("5 data for 6 (2 pairs × 3 on the axis)"));
  a.observed = Observations{std::vector<double>(6), {1, 1, 1, 1, 0, 1}, "V/m"};
  EXPECT_THAT(refusal(a), HasSubstr("survey.observed[4]: its uncertainty is 0"));
}

TEST(Acquisition, MisfitOfDataAtTheirUncertaintyIsHalfTheirNumber) {
  using C = std::complex<double>;
  const double gap = std::numeric_limits<double>::quiet_NaN();
  Observations observed{std::vector<C>{{3, 4}, {0, 0}, {gap, 0}}, {}, "V/m"};
  observed.uncertainty = uncertainty_of(observed, 0.1, 1.2);
  EXPECT_DOUBLE_EQ(observed.uncertainty[0], 1.3);
  EXPECT_DOUBLE_EQ(observed.uncertainty[1], 1.2);
  const auto off = misfit(observed, std::vector<C>{{3 + 1.3, 4 + 1.3}, {1.2, -1.2}, {7, 7}});
  EXPECT_EQ(off.count, 4U);
  EXPECT_DOUBLE_EQ(off.value, 2);
  EXPECT_THAT(message([&] { misfit(observed, std::vector<double>(3)); }), HasSubstr("complex"));
  observed.uncertainty.clear();
  EXPECT_THAT(message([&] { misfit(observed, std::vector<C>(3)); }), HasSubstr("not known"));
}

}  // namespace
}  // namespace terrane
