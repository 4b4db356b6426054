// What forward() does with nothing, with too much, with nonsense, and when it is told to stop.
#include <fmt/format.h>
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

TEST(ForwardGravity, RefusesLengthsAndDensitiesBeyondItsFormulas) {
  Case c;
  c.prisms.density[1] = 1e308;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: prism 1: density 1e+308 kg/m3"));
  EXPECT_THAT(c.message<InputError>(), HasSubstr("from -1e+20 to 1e+20 kg/m3"));
  c = Case();
  c.prisms.top[0] = 1e150;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: prism 0: bottom -30 m and top 1e+150 m"));
  c = Case();
  c.stations.easting[2] = -1e150;
  EXPECT_THAT(c.message<InputError>(), HasSubstr("forward: station 2: easting -1e+150"));
}

TEST(ForwardGravity, IsFiniteWithinTheLengthsAndDensitiesThatItTakes) {
  // Scales of 1e-12 m to the largest, densities likewise: no value may overflow on the way.
  for (const double length : {1e-12, 1e-3, 1e8, 1e14})
    for (const double density : {1e-20, 1e20})
      for (const auto method : {Method::direct, Method::tree, Method::fmm}) {
        auto list =
            test::mesh_block({-10 * length, 10 * length, -10 * length, 10 * length, -10 * length, 0},
                             {8, 8, 8}, [&](int i, int j, int k) { return density * (1 + i + j + k) / 24; });
        std::mt19937 random(3);
        const auto stations = test::random_stations(
            {-10 * length, 10 * length, -10 * length, 10 * length, length, 10 * length}, 600, random);
        Parameters parameters;
        parameters.channels = ChannelSet::all();
        parameters.method = method;
        parameters.accuracy = 1e-9;
        std::vector<std::vector<double>> values(10, std::vector<double>(stations.size()));
        const auto report = forward(list.view(), stations.view(), parameters,
                                    {parameters.channels, {values.begin(), values.end()}, {}});
        EXPECT_THAT(report.warnings, testing::Not(testing::Contains(HasSubstr("not finite"))))
            << length << " m";
        for (const auto& field : values)
          for (const double value : field) ASSERT_TRUE(std::isfinite(value)) << length << " m";
      }
}

TEST(ForwardGravity, CountsTheValuesThatAreLostToUnderflow) {
  Case c;  // of lengths whose squares are nothing
  c.prisms = {};
  c.prisms.add({0, 1e-170, 0, 1e-170, -1e-170, 0}, 500);
  c.stations.easting = c.stations.northing = c.stations.up = {2e-170, 3e-170, 1};
  const auto report = c.run();
  const auto lost = std::count_if(c.out.begin(), c.out.end(), [](double v) { return !std::isfinite(v); });
  const auto counted = testing::Contains(HasSubstr(fmt::format("{} of 3 values are not finite", lost)));
  if (lost > 0) EXPECT_THAT(report.warnings, counted);
  else EXPECT_THAT(report.warnings, testing::Not(testing::Contains(HasSubstr("not finite"))));
}

TEST(ForwardGravity, RefusesToWriteTwoArraysInOnePlace) {
  Case c;
  std::vector<double> shared(4);
  c.parameters.channels = {Channel::g_u, Channel::g_n};
  const auto message_of = [&](std::span<double> first, std::span<double> second) {
    try {
      forward(c.prisms.view(), c.stations.view(), c.parameters, {c.parameters.channels, {first, second}, {}});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::span<double> memory(shared), up(c.stations.up);
  EXPECT_THAT(message_of(memory.first(3), memory.subspan(1)),
              HasSubstr("forward: out for g_u: shares memory with out for g_n"));
  EXPECT_THAT(message_of(memory.first(3), up), HasSubstr("forward: out for g_u: shares memory with up"));
  std::vector<double> apart(6);
  EXPECT_EQ(message_of(std::span(apart).first(3), std::span(apart).subspan(3)), "no error");
}

TEST(ForwardGravity, SaysWhatParametersAreAllowed) {
  for (double accuracy : {0.0, -1e-9, 1e-15, 2e-3, std::nan("")}) {
    Case c;
    c.parameters.accuracy = accuracy;
    EXPECT_THAT(c.message<InputError>(), HasSubstr("from 2e-15 (\"best\") to 0.001")) << accuracy;
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
