// Stations on the surface of bodies: what jumps, what is unbounded, what each policy gives, and what is
// counted.
#include <gtest/gtest.h>

#include <cmath>

#include "support/quad_field.hpp"
#include "terrane/base/constants.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

constexpr double newton = default_gravitational_constant;
constexpr SingularPolicy every_policy[] = {SingularPolicy::nan, SingularPolicy::mean, SingularPolicy::outside,
                                           SingularPolicy::inside};

struct Run {
  FieldTable values;
  std::vector<unsigned char> singular;
  Report report;
  double at(Channel c, std::size_t station = 0) const { return values[static_cast<std::size_t>(c)][station]; }
};

Run run(const PrismList& prisms, const StationList& stations, SingularPolicy policy) {
  Run r;
  r.values.assign(10, std::vector<double>(stations.size()));
  r.singular.assign(stations.size(), 7);
  Parameters p;
  p.channels = ChannelSet::all();
  p.accuracy = best_accuracy;
  p.method = Method::direct;
  p.singular = policy;
  r.report = forward(prisms.view(), stations.view(), p,
                     {ChannelSet::all(), {r.values.begin(), r.values.end()}, r.singular});
  return r;
}

Run run_at(const PrismList& prisms, double x, double y, double z, SingularPolicy policy) {
  StationList station;
  station.add(x, y, z);
  return run(prisms, station, policy);
}

/// Channels that are NaN at the only station.
std::string undefined(const Run& r) {
  std::string names;
  for (auto c : ChannelSet::all().list())
    if (std::isnan(r.at(c))) names += (names.empty() ? "" : " ") + std::string(name(c));
  return names;
}

PrismList block() {
  PrismList list;
  list.add({-20, 30, -10, 40, -60, 0}, 500);
  return list;
}

TEST(StationOnAFace, TheNormalDerivativeJumpsByFourPiGRho) {
  const Channel normal[3] = {Channel::g_ee, Channel::g_nn, Channel::g_uu};
  const double on[6][3] = {{-20, 3, -7}, {30, 3, -7}, {4, -10, -7}, {4, 40, -7}, {4, 3, -60}, {4, 3, 0}};
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2;
    const double outward = face % 2 ? 1e-7 : -1e-7;
    const auto& p = on[face];
    const auto out = run_at(block(), p[0], p[1], p[2], SingularPolicy::outside),
               in = run_at(block(), p[0], p[1], p[2], SingularPolicy::inside),
               mean = run_at(block(), p[0], p[1], p[2], SingularPolicy::mean),
               nan = run_at(block(), p[0], p[1], p[2], SingularPolicy::nan);
    double beside[2][3];
    for (int a = 0; a < 3; ++a) {
      beside[0][a] = p[a] + (a == axis ? outward : 0);
      beside[1][a] = p[a] - (a == axis ? outward : 0);
    }
    const auto just_out = run_at(block(), beside[0][0], beside[0][1], beside[0][2], SingularPolicy::nan),
               just_in = run_at(block(), beside[1][0], beside[1][1], beside[1][2], SingularPolicy::nan);
    const Channel n = normal[axis];
    const double jump = 4 * pi * newton * 500;
    EXPECT_NEAR(out.at(n) - in.at(n), jump, 1e-14 * jump) << face;
    EXPECT_NEAR(mean.at(n), (out.at(n) + in.at(n)) / 2, 1e-14 * jump);
    EXPECT_NEAR(just_out.at(n) - just_in.at(n), jump, 1e-7 * jump);
    EXPECT_NEAR(out.at(n), just_out.at(n), 1e-7 * jump);
    EXPECT_NEAR(in.at(n), just_in.at(n), 1e-7 * jump);
    EXPECT_EQ(undefined(nan), name(n));
    for (auto c : ChannelSet::all().list())
      if (c != n) {
        EXPECT_EQ(out.at(c), in.at(c)) << name(c);
        EXPECT_EQ(nan.at(c), in.at(c)) << name(c);
        const double size = c < Channel::g_ee ? std::fabs(out.at(c)) + newton * 500 : jump;
        EXPECT_NEAR(out.at(c), just_out.at(c), 1e-7 * size) << name(c);
      }
    for (const auto* r : {&out, &in, &mean, &nan}) {
      EXPECT_EQ(r->report.singular_stations, 1U);
      EXPECT_EQ(r->report.inside_stations, 0U);
      EXPECT_EQ(r->singular[0], 1);
    }
  }
}

TEST(StationOnAnEdge, WhatDependsOnTheDirectionIsNaNWhateverThePolicy) {
  for (auto policy : every_policy) {
    EXPECT_EQ(undefined(run_at(block(), 4, 40, 0, policy)), "g_nn g_uu g_nu");
    EXPECT_EQ(undefined(run_at(block(), -20, 7, -60, policy)), "g_ee g_uu g_eu");
    EXPECT_EQ(undefined(run_at(block(), 30, -10, -33, policy)), "g_ee g_nn g_en");
  }
  const auto on = run_at(block(), 4, 40, 0, SingularPolicy::nan),
             beside = run_at(block(), 4, 40 + 1e-6, 1e-6, SingularPolicy::nan);
  for (auto c : {Channel::potential, Channel::g_e, Channel::g_n, Channel::g_u})
    EXPECT_NEAR(on.at(c), beside.at(c), 1e-6 * std::fabs(on.at(c))) << name(c);
  for (auto c : {Channel::g_ee, Channel::g_en, Channel::g_eu})
    EXPECT_NEAR(on.at(c), beside.at(c), 1e-6 * 4 * pi * newton * 500) << name(c);
  EXPECT_EQ(on.report.singular_stations, 1U);
}

TEST(StationOnACorner, HasAPotentialAndAGravityButNoTensor) {
  for (double x : {-20.0, 30.0})
    for (double y : {-10.0, 40.0})
      for (double z : {-60.0, 0.0})
        for (auto policy : every_policy) {
          const auto r = run_at(block(), x, y, z, policy);
          EXPECT_EQ(undefined(r), "g_ee g_nn g_uu g_en g_eu g_nu");
          EXPECT_EQ(r.singular[0], 1);
        }
  const auto truth = test::quad_row({-20, 30, -10, 40, -60, 0}, {30, -10, 0}).value;
  const auto r = run_at(block(), 30, -10, 0, SingularPolicy::mean);
  for (std::size_t c = 0; c < 4; ++c)
    EXPECT_NEAR(r.values[c][0] / (500 * static_cast<double>(truth[c])), 1, 4e-15);
}

TEST(StationOnTheExtensionOfAnEdge, IsRegular) {
  StationList stations;
  stations.add(60, 40, 0);
  stations.add(-20.5, -10, -60);
  stations.add(-20, -10, 25);
  stations.add(30, 90, -60);
  const auto r = run(block(), stations, SingularPolicy::nan);
  EXPECT_EQ(r.report.singular_stations, 0U);
  for (const auto& values : r.values)
    for (double v : values) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(r.singular, std::vector<unsigned char>(4, 0));
}

TEST(StationBetweenCells, OfEqualDensityIsInsideTheBody) {
  const auto cells =
      test::mesh_block({-20, 30, -10, 40, -60, 0}, {5, 5, 6}, [](int, int, int) { return 500.0; });
  StationList stations;
  stations.add(0, 10, -30);  // corner of eight cells
  stations.add(0, 10, -33);  // edge of four
  stations.add(0, 13, -33);  // face of two
  stations.add(3, 13, -33);  // within one
  const auto r = run(cells, stations, SingularPolicy::nan);
  EXPECT_EQ(r.report.singular_stations, 0U);
  EXPECT_EQ(r.report.inside_stations, 4U);
  const auto whole = run(block(), stations, SingularPolicy::nan);
  EXPECT_LT(test::largest_error(r.values, whole.values), 1e-14);
  for (std::size_t n = 0; n < stations.size(); ++n)
    EXPECT_NEAR(r.at(Channel::g_ee, n) + r.at(Channel::g_nn, n) + r.at(Channel::g_uu, n),
                -4 * pi * newton * 500, 1e-13 * 4 * pi * newton * 500);
}

TEST(StationBetweenCells, OnAFaceCutIntoCellsIsOnThatFace) {
  const auto cells =
      test::mesh_block({-20, 30, -10, 40, -60, 0}, {5, 5, 6}, [](int, int, int) { return 500.0; });
  for (auto [x, y] : {std::pair{0.0, 10.0}, {3.0, 10.0}, {3.0, 13.0}})
    for (auto policy : every_policy) {
      const auto r = run_at(cells, x, y, 0, policy), whole = run_at(block(), x, y, 0, policy);
      EXPECT_EQ(undefined(r), undefined(whole));
      for (auto c : ChannelSet::all().list())
        if (!std::isnan(whole.at(c))) {
          const double size =
              c < Channel::g_ee ? std::fabs(whole.at(c)) + 1e-2 * newton * 500 : 4 * pi * newton * 500;
          EXPECT_NEAR(r.at(c), whole.at(c), 2e-14 * size) << name(c);
        }
    }
}

TEST(StationBetweenCells, OfUnequalDensityIsOnAnInnerSurface) {
  PrismList pair;
  pair.add({0, 10, 0, 10, -10, 0}, 300);
  pair.add({10, 20, 0, 10, -10, 0}, 800);
  // On the face between them the jump is that of the step; outside is the side of the smaller density.
  const auto out = run_at(pair, 10, 4, -3, SingularPolicy::outside),
             in = run_at(pair, 10, 4, -3, SingularPolicy::inside);
  EXPECT_NEAR(out.at(Channel::g_ee) - in.at(Channel::g_ee), 4 * pi * newton * 500,
              1e-13 * 4 * pi * newton * 500);
  const auto lighter = run_at(pair, 10 - 1e-7, 4, -3, SingularPolicy::nan);
  EXPECT_NEAR(out.at(Channel::g_ee), lighter.at(Channel::g_ee), 1e-6 * 4 * pi * newton * 500);
  EXPECT_EQ(undefined(run_at(pair, 10, 4, -3, SingularPolicy::nan)), "g_ee");
  EXPECT_EQ(out.report.inside_stations, 0U + 1U);
  // Where that face comes to the surface everything across the edge is undefined.
  EXPECT_EQ(undefined(run_at(pair, 10, 4, 0, SingularPolicy::mean)), "g_ee g_uu g_eu");
}

TEST(StationOnTopography, OnLevelGroundIsOnAFaceAndOnAStepOnAnEdge) {
  PrismList level, step;
  for (auto* list : {&level, &step}) list->add({0, 10, 0, 10, -30, 0}, 2670);
  level.add({10, 20, 0, 10, -30, 0}, 2670);
  step.add({10, 20, 0, 10, -30, -5}, 2670);
  EXPECT_EQ(undefined(run_at(level, 10, 4, 0, SingularPolicy::mean)), "");
  EXPECT_EQ(undefined(run_at(level, 10, 4, 0, SingularPolicy::nan)), "g_uu");
  EXPECT_EQ(undefined(run_at(step, 10, 4, 0, SingularPolicy::mean)), "g_ee g_uu g_eu");
  EXPECT_EQ(undefined(run_at(step, 10, 4, -5, SingularPolicy::mean)), "g_ee g_uu g_eu");
  EXPECT_EQ(undefined(run_at(step, 10, 4, -2, SingularPolicy::nan)), "g_ee");
}

TEST(StationsOnBodies, AreCountedAndMaskedOneByOne) {
  StationList stations;
  stations.add(4, 3, 0);      // face
  stations.add(4, 3, -20);    // inside
  stations.add(4, 3, 5);      // above
  stations.add(30, 40, 0);    // corner
  stations.add(-20, 40, -5);  // edge
  stations.add(0, 0, -59.9);  // inside
  stations.add(4, 3, 1e-9);   // just above
  const auto r = run(block(), stations, SingularPolicy::mean);
  EXPECT_EQ(r.report.inside_stations, 2U);
  EXPECT_EQ(r.report.singular_stations, 3U);
  EXPECT_EQ(r.singular, (std::vector<unsigned char>{1, 0, 0, 1, 1, 0, 0}));
}

TEST(StationsOnBodies, AreTheSameForAChannelAloneWhoseAxesAreTurned) {
  PrismList body = block();
  body.add({30, 50, -10, 40, -60, -20}, 900);
  StationList stations;
  for (double x : {-20.0, 4.0, 30.0, 50.0})
    for (double y : {-10.0, 3.0, 40.0})
      for (double z : {-60.0, -30.0, -20.0, 0.0}) stations.add(x, y, z);
  for (auto policy : every_policy) {
    const auto all = run(body, stations, policy);
    for (auto channel : ChannelSet::all().list()) {
      Parameters p;
      p.channels = {channel};
      p.accuracy = best_accuracy;
      p.method = Method::direct;
      p.singular = policy;
      const auto alone = test::field(body.view(), stations.view(), p);
      for (std::size_t n = 0; n < stations.size(); ++n) {
        const double value = all.at(channel, n);
        EXPECT_EQ(std::isnan(alone[0][n]), std::isnan(value)) << name(channel) << " at station " << n;
        if (!std::isnan(value)) {
          EXPECT_NEAR(alone[0][n], value, 1e-13 * (channel < Channel::g_ee ? std::fabs(value) + 1e-7 : 1e-6));
        }
      }
    }
  }
}

}  // namespace
}  // namespace terrane::gravity
