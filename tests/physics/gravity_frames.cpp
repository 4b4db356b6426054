#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "support/refusal.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/frames.hpp"

namespace terrane::gravity {
namespace {

using test::refusal;

using testing::HasSubstr;
constexpr Frame frames[] = {Frame::enu, Frame::harmonica, Frame::simpeg, Frame::ubc, Frame::tomofast};

double sent(Channel channel, double value, Frame frame, const std::string& name, const std::string& unit) {
  const double values[] = {value};
  const auto column = to_frame(channel, values, frame, usual_units(frame));
  EXPECT_EQ(column.name, name);
  EXPECT_EQ(column.unit, unit);
  EXPECT_FALSE(column.description.empty());
  return column.values[0];
}

TEST(Frames, HarmonicaPointsZDown) {
  const auto h = Frame::harmonica;
  EXPECT_DOUBLE_EQ(sent(Channel::potential, 3, h, "potential", "J/kg"), 3);
  EXPECT_DOUBLE_EQ(sent(Channel::g_e, 2e-5, h, "g_e", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_n, 2e-5, h, "g_n", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_u, 2e-5, h, "g_z", "mGal"), -2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_ee, 2e-9, h, "g_ee", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nn, 2e-9, h, "g_nn", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_uu, 2e-9, h, "g_zz", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_en, 2e-9, h, "g_en", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_eu, 2e-9, h, "g_ez", "E"), -2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nu, 2e-9, h, "g_nz", "E"), -2);
}

TEST(Frames, UbcHasXNorthYEastZDown) {
  const auto u = Frame::ubc;
  EXPECT_DOUBLE_EQ(sent(Channel::g_u, 2e-5, u, "gz", "mGal"), -2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_e, 2e-5, u, "gy", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_n, 2e-5, u, "gx", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nn, 2e-9, u, "xx", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_ee, 2e-9, u, "yy", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_uu, 2e-9, u, "zz", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_en, 2e-9, u, "xy", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nu, 2e-9, u, "xz", "E"), -2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_eu, 2e-9, u, "yz", "E"), -2);
}

TEST(Frames, SimpegPointsZUp) {
  const auto s = Frame::simpeg;
  EXPECT_DOUBLE_EQ(sent(Channel::g_e, 2e-5, s, "gx", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_n, 2e-5, s, "gy", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_u, 2e-5, s, "gz", "mGal"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_ee, 2e-9, s, "gxx", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nn, 2e-9, s, "gyy", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_uu, 2e-9, s, "gzz", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_en, 2e-9, s, "gxy", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_eu, 2e-9, s, "gxz", "E"), 2);
  EXPECT_DOUBLE_EQ(sent(Channel::g_nu, 2e-9, s, "gyz", "E"), 2);
}

TEST(Frames, TomofastPointsZDownInSI) {
  const auto t = Frame::tomofast;
  EXPECT_EQ(sent(Channel::g_u, 2e-5, t, "gz", "m/s2"), -2e-5);
  EXPECT_EQ(sent(Channel::g_e, 2e-5, t, "gx", "m/s2"), 2e-5);
  EXPECT_EQ(sent(Channel::g_uu, 2e-9, t, "gzz", "1/s2"), 2e-9);
  EXPECT_EQ(sent(Channel::g_eu, 2e-9, t, "gxz", "1/s2"), -2e-9);
  EXPECT_EQ(sent(Channel::g_nu, 2e-9, t, "gyz", "1/s2"), -2e-9);
}

TEST(Frames, EveryFrameFollowsFromItsAxes) {
  // A frame's axes as combinations of east, north, up fix every sign and every pair: gradients turn as R Γ
  // Rᵀ.
  const std::map<Frame, std::array<std::array<int, 3>, 3>> axes{
      {Frame::enu, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
      {Frame::harmonica, {{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}},
      {Frame::simpeg, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
      {Frame::ubc, {{{0, 1, 0}, {1, 0, 0}, {0, 0, -1}}}},
      {Frame::tomofast, {{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}}};
  const std::map<Frame, std::string> letters{{Frame::enu, "enu"},
                                             {Frame::harmonica, "enz"},
                                             {Frame::simpeg, "xyz"},
                                             {Frame::ubc, "xyz"},
                                             {Frame::tomofast, "xyz"}};
  const double g[3] = {3, 5, 7}, gamma[3][3] = {{11, 13, 17}, {13, 19, 23}, {17, 23, -30}};
  const auto value = [&](Channel c) {
    const double values[] = {0,           g[0],        g[1],        g[2],        gamma[0][0],
                             gamma[1][1], gamma[2][2], gamma[0][1], gamma[0][2], gamma[1][2]};
    return values[static_cast<int>(c)];
  };
  for (Frame frame : frames) {
    const auto& r = axes.at(frame);
    std::map<std::string, double> expected;
    for (std::size_t p = 0; p < 3; ++p) {
      const auto first = letters.at(frame).substr(p, 1);
      double component = 0;
      for (std::size_t q = 0; q < 3; ++q) component += r[p][q] * g[q];
      expected[first] = component;
      for (std::size_t s = p; s < 3; ++s) {
        double turned = 0;
        for (std::size_t q = 0; q < 3; ++q)
          for (std::size_t t = 0; t < 3; ++t) turned += r[p][q] * r[s][t] * gamma[q][t];
        expected[first + letters.at(frame).substr(s, 1)] = turned;
      }
    }
    for (Channel c : (vector_channels | tensor_channels).list()) {
      const auto there = in_frame(c, frame, UnitSystem::si);
      std::string component(there.name);
      if (component[0] == 'g') component.erase(0, component[1] == '_' ? 2 : 1);
      ASSERT_TRUE(expected.contains(component)) << there.name;
      EXPECT_EQ(there.sign * value(c), expected.at(component)) << name(frame) << " " << there.name;
    }
  }
}

TEST(Frames, ThereAndBackIsTheSameFieldInEveryFrameAndUnit) {
  const double values[] = {1.5e-5, -2.25e-6, 0, std::nan("")};
  for (Frame frame : frames)
    for (UnitSystem units : {UnitSystem::si, UnitSystem::geo}) {
      std::set<std::string> names;
      for (Channel c : ChannelSet::all().list()) {
        const auto column = to_frame(c, values, frame, units);
        names.insert(column.name);
        const auto back = from_frame(column, frame, units);
        EXPECT_EQ(back.channel, c);
        for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(back.values[n], values[n], 1e-20);
        EXPECT_TRUE(std::isnan(back.values[3]));
      }
      EXPECT_EQ(names.size(), channel_count);
    }
}

TEST(Frames, ObservedInputInItsOwnUnitBecomesEnuAndSI) {
  const auto read = from_frame({"gz", "uGal", "", {1000}}, Frame::ubc, UnitSystem::geo);
  EXPECT_EQ(read.channel, Channel::g_u);
  EXPECT_DOUBLE_EQ(read.values[0], -1e-5);
  EXPECT_DOUBLE_EQ(from_frame({"gz", "", "", {1}}, Frame::ubc, UnitSystem::geo).values[0], -1e-5);
  EXPECT_EQ(from_frame({"gxz", "E", "", {1}}, Frame::ubc, UnitSystem::geo).channel, Channel::g_nu);
  EXPECT_EQ(channel_from_frame("gxz", Frame::simpeg, UnitSystem::geo).channel, Channel::g_eu);
}

TEST(Frames, UnknownNamesAreAnsweredWithTheAllowedOnes) {
  EXPECT_EQ(frame_from_name("ubc"), Frame::ubc);
  EXPECT_THAT(refusal([] { frame_from_name("simpg"); }), HasSubstr("Did you mean \"simpeg\"?"));
  EXPECT_THAT(refusal([] { unit_system_from_name("cgs"); }), HasSubstr("Allowed: si (m2/s2"));
  EXPECT_EQ(unit_system_from_name("geo"), UnitSystem::geo);
  const auto message = refusal([] { channel_from_frame("g_uz", Frame::harmonica, UnitSystem::geo); });
  EXPECT_THAT(message, HasSubstr("not a channel of the frame harmonica"));
  EXPECT_THAT(message, HasSubstr("g_ez"));
  EXPECT_THAT(refusal([] {
                from_frame({"gz", "m", "", {1}}, Frame::ubc, UnitSystem::geo);
              }),
              HasSubstr("\"m\" is not a unit"));
}

}  // namespace
}  // namespace terrane::gravity
