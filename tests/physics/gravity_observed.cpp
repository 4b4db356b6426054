#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane::gravity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ObservedColumns, NamesOfRolesComeBackInEveryFrame) {
  for (std::size_t f = 0; f < frame_names.size(); ++f)
    for (const auto channel : ChannelSet::all().list())
      for (const auto role : {Role::field, Role::observed, Role::uncertainty, Role::residual}) {
        const auto& frame = convention(static_cast<Frame>(f));
        const auto back = channel_column(column_name({name(channel), role}, frame), frame);
        ASSERT_TRUE(back) << column_name({name(channel), role}, frame);
        EXPECT_EQ(back->channel, name(channel));
        EXPECT_EQ(back->role, role);
      }
  EXPECT_FALSE(channel_column("g_u_survey", convention(Frame::enu)));
  EXPECT_FALSE(channel_column("g_u", convention(Frame::harmonica)));
}

TEST(ObservedColumns, ChangeSignWithTheFrameAndUncertaintiesDoNot) {
  const auto observed = in_other_frame({"gz_observed", "mGal", "", {2}}, convention(Frame::ubc),
                                       convention(Frame::enu), UnitSystem::si);
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->name, "g_u_observed");
  EXPECT_EQ(observed->unit, "m/s2");
  EXPECT_DOUBLE_EQ(observed->values[0], -2e-5);
  const auto uncertainty = in_other_frame({"gz_uncertainty", "mGal", "", {2}}, convention(Frame::ubc),
                                          convention(Frame::enu), UnitSystem::geo);
  ASSERT_TRUE(uncertainty);
  EXPECT_EQ(uncertainty->name, "g_u_uncertainty");
  EXPECT_EQ(uncertainty->values[0], 2);
  EXPECT_FALSE(
      in_other_frame({"gz", "m", "", {2}}, convention(Frame::ubc), convention(Frame::enu), UnitSystem::geo));
  EXPECT_FALSE(in_other_frame({"line", "1", "", {2}}, convention(Frame::ubc), convention(Frame::enu),
                              UnitSystem::geo));
}

Survey survey_with(std::vector<Column> columns, std::string frame = {}) {
  return {{0}, {0}, {0}, std::nullopt, std::move(columns), "", std::move(frame)};
}

TEST(ObservedColumns, AnyFrameOfTheFileBecomesTheFrameAskedFor) {
  const auto parted = observed_columns(
      survey_with({{"g_u", "mGal", "", {-3}}, {"g_u_uncertainty", "uGal", "", {50}}, {"line", "1", "", {7}}},
                  "enu"),
      conventions(), convention(Frame::ubc), UnitSystem::geo);
  ASSERT_EQ(parted.observed.size(), 1U);
  EXPECT_EQ(parted.observed[0].field, "gz");
  EXPECT_EQ(parted.observed[0].observed.name, "gz_observed");
  EXPECT_THAT(parted.observed[0].observed.values, ElementsAre(3));
  ASSERT_TRUE(parted.observed[0].uncertainty);
  EXPECT_EQ(parted.observed[0].uncertainty->name, "gz_uncertainty");
  EXPECT_DOUBLE_EQ(parted.observed[0].uncertainty->values[0], 0.05);
  ASSERT_EQ(parted.others.size(), 1U);
  EXPECT_EQ(parted.others[0].name, "line");
  EXPECT_THAT(parted.warnings, IsEmpty());
}

TEST(ObservedColumns, WithoutAFrameTheNamesAreThoseOfTheFrameAskedForOrOfEnu) {
  const auto own = observed_columns(survey_with({{"gz", "mGal", "", {3}}}), conventions(),
                                    convention(Frame::simpeg), UnitSystem::geo);
  ASSERT_EQ(own.observed.size(), 1U);
  EXPECT_THAT(own.observed[0].observed.values, ElementsAre(3));
  const auto enu = observed_columns(survey_with({{"g_u", "mGal", "", {3}}}), conventions(),
                                    convention(Frame::ubc), UnitSystem::geo);
  ASSERT_EQ(enu.observed.size(), 1U);
  EXPECT_THAT(enu.observed[0].observed.values, ElementsAre(-3));
  // What a "gz" is cannot be told here: up or down.
  EXPECT_THAT(observed_columns(survey_with({{"gz", "mGal", "", {3}}}), conventions(), convention(Frame::enu),
                               UnitSystem::geo)
                  .observed,
              IsEmpty());
}

TEST(ObservedColumns, WhatAnEarlierRunComputedIsNotTakenForObserved) {
  const auto parted = observed_columns(
      survey_with(
          {{"gz_observed", "mGal", "", {1}}, {"gz", "mGal", "", {2}}, {"gz_residual", "mGal", "", {-1}}},
          "ubc"),
      conventions(), convention(Frame::enu), UnitSystem::geo);
  ASSERT_EQ(parted.observed.size(), 1U);
  EXPECT_THAT(parted.observed[0].observed.values, ElementsAre(-1));
  ASSERT_EQ(parted.others.size(), 2U);
  EXPECT_EQ(parted.others[0].name, "gz_survey");
  EXPECT_EQ(parted.others[1].name, "gz_residual_survey");
}

TEST(ObservedColumns, WithoutAUnitTheyAreKeptAndNotCompared) {
  const auto parted = observed_columns(survey_with({{"g_u", "", "", {1}}}), conventions(),
                                       convention(Frame::enu), UnitSystem::geo);
  EXPECT_THAT(parted.observed, IsEmpty());
  ASSERT_EQ(parted.others.size(), 1U);
  EXPECT_EQ(parted.others[0].name, "g_u_survey");
  EXPECT_THAT(parted.warnings, ElementsAre(HasSubstr("has no unit")));
}

TEST(Conventions, OfSeveralPhysicsHaveTheChannelsOfAllInEachFrame) {
  const Conventions other{
      {{"enu", {{"b_u", "b_u", 1, Quantity::flux_density, "nT", "field, upward component"}}},
       {"oasis", {{"b_u", "Bz", -1, Quantity::flux_density, "nT", "field, down"}}}}};
  const std::array both{&conventions(), &other};
  const auto joint = joined(both);
  EXPECT_EQ(joint.own().name, "enu");
  EXPECT_NE(joint.own().find("g_u"), nullptr);
  EXPECT_NE(joint.own().find("b_u"), nullptr);
  const auto there =
      in_other_frame({"Bz", "nT", "", {5}}, joint.named("oasis"), joint.named("enu"), UnitSystem::si);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->name, "b_u");
  EXPECT_DOUBLE_EQ(there->values[0], -5e-9);
  EXPECT_FALSE(
      in_other_frame({"g_u", "mGal", "", {5}}, joint.named("enu"), joint.named("oasis"), UnitSystem::si))
      << "oasis has no gravity";
  EXPECT_THROW(joint.named("oasys"), InputError);
}

}  // namespace
}  // namespace terrane::gravity
