// What forward() does with nothing, with too much, with nonsense, and when it is told to stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <random>

#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;
using ::testing::HasSubstr;

struct Case {
  PrismList prisms;
  StationList stations;
  Parameters parameters;
  std::vector<double> out;
  std::vector<unsigned char> singular;

  Case() {
    prisms.add({0, 10, 0, 20, -30, 0}, 500);
    prisms.add({10, 20, 0, 20, -30, 0}, 600);
    stations.add(5, 5, 5);
    stations.add(6, 6, 6);
    stations.add(7, 7, 7);
    parameters.method = Method::direct;
    out.assign(3, -1.0);
  }
  Report run() {
    return forward(prisms.view(), stations.view(), parameters, {{Channel::g_u}, {out}, singular});
  }
  template <class E>
  std::string message() {
    try {
      run();
    } catch (const E& e) {
      return e.what();
    } catch (const std::exception& e) {
      return std::string("another error: ") + e.what();
    }
    return "no error";
  }
};

TEST(ForwardGravity, OfNoPrismsIsZero) {
  Case c;
  c.prisms = {};
  const auto report = c.run();
  EXPECT_EQ(c.out, std::vector<double>(3, 0.0));
  EXPECT_EQ(report.sources, 0U);
  EXPECT_EQ(report.stations, 3U);
}

TEST(ForwardGravity, AtNoStationsIsNothing) {
  Case c;
  c.stations = {};
  c.out.clear();
  EXPECT_EQ(c.run().stations, 0U);
}

TEST(ForwardGravity, OverwritesWhatWasThere) {
  Case c;
  c.run();
  const auto first = c.out;
  c.run();
  EXPECT_EQ(c.out, first);
  EXPECT_LT(first[0], 0);
}

TEST(ForwardGravity, SaysWhichArrayIsTooShort) {
  Case c;
  c.prisms.top.pop_back();
  EXPECT_THAT(c.message<ShapeError>(), HasSubstr("forward: top: 1 values where west has 2"));
  c = Case();
  c.prisms.density.push_back(1);
  EXPECT_THAT(c.message<ShapeError>(), HasSubstr("forward: density: 3 values where west has 2"));
  c = Case();
  c.stations.up.pop_back();
  EXPECT_THAT(c.message<ShapeError>(), HasSubstr("forward: up: 2 values where easting has 3"));
  c = Case();
  c.out.resize(5);
  EXPECT_THAT(c.message<ShapeError>(), HasSubstr("forward: out: 5 values where easting has 3"));
  c = Case();
  c.singular.resize(2);
  EXPECT_THAT(c.message<ShapeError>(), HasSubstr("forward: singular: 2 values where easting has 3"));
}

TEST(ForwardGravity, SaysWhichPrismHasNoThickness) {
  Case c;
  c.prisms.top[1] = -30;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: prism 1: bottom -30 m and top -30 m"));
  EXPECT_THAT(c.message<InputError>(), HasSubstr("bottom must be less than top"));
  c = Case();
  std::swap(c.prisms.west[0], c.prisms.east[0]);
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: prism 0: west 10 m and east 0 m"));
  c = Case();
  c.prisms.north[1] = std::nan("");
  EXPECT_THAT(c.message<InputError>(), HasSubstr("prism 1: south 0 m and north nan m"));
  c = Case();
  c.prisms.west[1] = -INFINITY;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("both finite"));
}

TEST(ForwardGravity, SaysWhichDensityOrStationIsNotANumber) {
  Case c;
  c.prisms.density[1] = std::nan("");
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: prism 1: density nan kg/m3"));
  c = Case();
  c.stations.up[2] = INFINITY;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: station 2: easting 7, northing 7, up inf"));
}

TEST(ForwardGravity, SaysWhatParametersAreAllowed) {
  for (double accuracy : {0.0, -1e-9, 1e-15, 2e-3, std::nan("")}) {
    Case c;
    c.parameters.accuracy = accuracy;
    EXPECT_THAT(c.message<InputError>(), HasSubstr("from 2e-15 (\"best\") to 1e-3")) << accuracy;
  }
  Case c;
  c.parameters.threads = -2;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: threads: -2 threads"));
  c = Case();
  c.parameters.gravitational_constant = 0;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("about 6.6743e-11"));
}

TEST(ForwardGravity, IsProportionalToTheConstantOfGravitation) {
  Case c;
  c.run();
  const auto codata = c.out;
  c.parameters.gravitational_constant *= 2;
  c.run();
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(c.out[n], 2 * codata[n]);
}

TEST(ForwardGravity, RoundsToSinglePrecisionOnlyAtTheEnd) {
  Case c;
  c.run();
  const auto exact = c.out;
  c.parameters.precision = Precision::single_precision;
  c.run();
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(c.out[n], static_cast<double>(static_cast<float>(exact[n])));
}

class StopsAfterAWhile final : public Progress {
 public:
  void start(std::string_view, std::uint64_t) override { started_ = std::chrono::steady_clock::now(); }
  bool cancelled() const override {
    if (std::chrono::steady_clock::now() - started_ < std::chrono::milliseconds(50)) return false;
    if (!asked.exchange(true)) asked_at = std::chrono::steady_clock::now();
    return true;
  }
  mutable std::atomic<bool> asked{false};
  mutable std::chrono::steady_clock::time_point asked_at;

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

TEST(ForwardGravity, StopsWithinASecondOfBeingTold) {
  // Every pair by a closed form: minutes if nobody stopped it.
  std::mt19937 random(1);
  const auto prisms =
      test::mesh_block({0, 400, 0, 400, -400, 0}, {40, 40, 40}, [](int i, int, int) { return 1.0 + i; });
  const auto stations = test::random_stations({0, 400, 0, 400, 1, 50}, 50000, random);
  std::vector<std::vector<double>> values(10, std::vector<double>(stations.size()));
  Parameters parameters;
  parameters.method = Method::direct;
  parameters.accuracy = best_accuracy;
  StopsAfterAWhile progress;
  EXPECT_THROW(forward(prisms.view(), stations.view(), parameters,
                       {ChannelSet::all(), {values.begin(), values.end()}, {}}, &progress),
               Cancelled);
  EXPECT_TRUE(progress.asked);
  EXPECT_LT(std::chrono::steady_clock::now() - progress.asked_at, std::chrono::seconds(1));
}

}  // namespace
}  // namespace terrane::gravity
