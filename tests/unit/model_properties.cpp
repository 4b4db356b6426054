#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/files.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/model/maps.hpp"

namespace terrane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

TEST(Properties, EachHasANameOfItsOwnAndAnAbsentValueThatItAllows) {
  std::set<std::string_view> names;
  for (const auto& kind : known_properties()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_LT(kind.least, kind.most);
    if (!std::isnan(kind.absent)) {
      EXPECT_NO_THROW(check_value(kind, kind.absent, "test")) << kind.name;
    }
  }
  EXPECT_THAT(message([] { property_kind("densty"); }), HasSubstr("Did you mean \"density\"?"));
  EXPECT_THAT(message([] { check_value(property_kind("chargeability"), 1.5, "here"); }),
              HasSubstr("between 0 and 1"));
}

TEST(Properties, AreThoseThatEveryPhysicsTakes) {
  for (const auto* name : {"density",       "susceptibility",  "magnetization_up",
                           "permeability",  "conductivity_up", "resistivity_up",
                           "chargeability", "cole_cole_time",  "cole_cole_exponent",
                           "velocity_p",    "velocity_s",      "quality_p",
                           "quality_s",     "quality_kappa",   "quality_mu",
                           "epsilon",       "delta",           "gamma",
                           "tilt",          "tilt_azimuth",    "thermal_conductivity",
                           "heat_capacity", "heat_production"})
    EXPECT_NE(find_property(name), nullptr) << name;
}

TEST(Properties, ThatStateTheSameOtherwiseNameEachOther) {
  for (const auto& kind : known_properties()) {
    const auto same = in_other_words(kind.name);
    if (same.empty()) continue;
    EXPECT_EQ(in_other_words(property_kind(same).name), kind.name);
    EXPECT_TRUE(supersedes(kind.name, same)) << kind.name;
    EXPECT_TRUE(std::isnan(kind.absent)) << kind.name << ": only a cell without a value can be told apart";
  }
  EXPECT_TRUE(supersedes("conductivity", "resistivity_up") && supersedes("resistivity", "resistivity_up"));
  EXPECT_FALSE(supersedes("resistivity_up", "conductivity") || supersedes("velocity_p", "velocity_s"));
}

TEST(EarthModel, FillLeavesCellsAloneThatStateTheirConductivityAsAResistivity) {
  const TensorMesh mesh({0, 1, 2, 3}, {0, 1}, {-1, 0});
  auto model = from_dense(mesh, {{"resistivity", {10, nan, nan}}, {"resistivity_up", {nan, 40, nan}}});
  fill(model, {{"conductivity", 0.01}});
  EXPECT_THAT(conductivity_along(model, "east"), ElementsAre(0.1, 0.01, 0.01));
  EXPECT_THAT(conductivity_along(model, "up"), ElementsAre(0.1, 1 / 40.0, 0.01));
}

TEST(EarthModel, WhoseConductivityAndResistivityContradictIsRefusedWithTheCell) {
  const TensorMesh mesh({0, 1, 2}, {0, 1}, {-1, 0});
  const auto model = [&](double rho) {
    return from_dense(mesh, {{"conductivity", {nan, 0.02}}, {"resistivity", {5, rho}}});
  };
  EXPECT_THAT(conductivity_along(model(50.1), ""), ElementsAre(0.2, 0.02)) << "as rounded in a file";
  EXPECT_THAT(message([&] { conductivity_along(model(100), "up"); }),
              AllOf(HasSubstr("cell 1 has a conductivity of 0.02 S/m and a resistivity of 100 ohm m"),
                    HasSubstr("keep one of the two")));
}

// More cells than one thread takes at a time.
TEST(EarthModel, FillOfManyCellsPassesOverThoseThatStateTheQuantityOtherwise) {
  const auto mesh = TensorMesh::regular({0, 100, 0, 100, -20, 0}, {100, 100, 20});
  std::vector<double> resistivity(mesh.size(), nan);
  for (std::size_t n = 0; n < mesh.size(); n += 3) resistivity[n] = 50;
  auto model = from_dense(mesh, {{"resistivity", resistivity}});
  fill(model, {{"conductivity", 0.1}});
  const auto& conductivity = model.property("conductivity");
  ASSERT_EQ(conductivity.size(), mesh.size());
  for (std::size_t n = 0; n < mesh.size(); ++n) ASSERT_EQ(std::isnan(conductivity[n]), n % 3 == 0) << n;
}

TEST(EarthModel, FillGivesEveryCellTheBackgroundThatHasNoValue) {
  const TensorMesh mesh({0, 1, 2, 3}, {0, 1}, {-1, 0});
  auto model = from_dense(mesh, {{"density", {0, 5, 0}}, {"conductivity", {nan, nan, 2}}});
  fill(model, {{"conductivity", 0.1}, {"velocity_p", 3000}});
  EXPECT_EQ(model.size(), 3U);
  EXPECT_THAT(model.property("density"), ElementsAre(0, 5, 0));
  EXPECT_THAT(model.property("conductivity"), ElementsAre(0.1, 0.1, 2));
  EXPECT_THAT(model.property("velocity_p"), ElementsAre(3000, 3000, 3000));
  EXPECT_THAT(message([&] { fill(model, {{"velocity_p", -1}}); }), HasSubstr("0 m/s or more"));
}

TEST(EarthModel, OfAWholeMeshTakesTheListsThatItIsGivenAndNoNumbersOfCells) {
  std::vector<Property> properties{{"density", {4, 0, 5}}, {"conductivity", {nan, 1, nan}}};
  const auto* const given = properties[0].values.data();
  auto model = from_dense(TensorMesh({0, 1, 2, 3}, {0, 1}, {-1, 0}), std::move(properties));
  const auto& cells = std::get<MeshCells>(model.geometry).cell;
  EXPECT_EQ(model.property("density").data(), given);
  EXPECT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[2], 2U);
  EXPECT_EQ(cells.place_of(1), 1U);
  EXPECT_EQ(cells.bytes(), 0);
  EXPECT_EQ(CellNumbers({0, 1, 2}).bytes(), 0);
}

TEST(EarthModel, HoldsTheCellsInWhichSomethingIsSet) {
  const TensorMesh mesh({0, 1, 2, 3}, {0, 1}, {-1, 0});
  const auto model = from_dense(mesh, {{"density", {0, 5, 0}}, {"conductivity", {nan, nan, 2}}});
  const auto& cells = std::get<MeshCells>(model.geometry).cell;
  EXPECT_THAT((std::vector<std::size_t>{cells[0], cells[1]}), ElementsAre(1, 2));
  EXPECT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells.bytes(), 16);
  EXPECT_EQ(cells.place_of(2), 1U);
  EXPECT_THAT(model.property("density"), ElementsAre(5, 0));
  EXPECT_THAT(model.dense("density"), ElementsAre(0, 5, 0));
  EXPECT_THAT(model.dense("conductivity"), ElementsAre(testing::IsNan(), testing::IsNan(), 2));
  EXPECT_EQ(source_count(model, "density"), 1U);
  EXPECT_EQ(prisms_of(model).size(), 2U);
  EXPECT_THAT(message([&] {
                from_dense(mesh, {{"density", {0, nan, 0}}});
              }),
              HasSubstr("cell 1 has density nan"));
  EXPECT_THAT(message([&] {
                from_dense(mesh, {{"density", {0, 1}}});
              }),
              HasSubstr("2 values for a mesh of 3 cells"));
}

TEST(Laws, DerivativesAreThoseOfTheirFormulas) {
  for (const auto& law : laws())
    for (const double part : {0.1, 0.5, 0.9}) {
      const double least = law.from == "velocity_p" || law.from == "porosity" ? law.least : 0.01,
                   most = std::isinf(law.most) ? 100 : law.most;
      const double x = least + part * (most - least), h = 1e-5 * x;
      const double slope = (law.value(x + h) - law.value(x - h)) / (2 * h);
      EXPECT_NEAR(law.derivative(x), slope, 1e-7 * std::abs(slope)) << law.name << " " << law.to;
    }
}

TEST(Laws, GiveWhatTheirSourcesGive) {
  const auto value = [](const char* text, double x) { return law_from_text(text).value(x); };
  // Brocher (2005), figures 2 and 5: crust of 6 km/s has 2.72 g/cm³ and 3.5 km/s.
  EXPECT_NEAR(value("density from velocity_p by brocher", 6000), 2720, 10);
  EXPECT_NEAR(value("velocity_s from velocity_p by brocher", 6000), 3550, 60);
  EXPECT_NEAR(value("density from velocity_p by gardner", 3000), 2294, 1);
  EXPECT_NEAR(value("velocity_s from velocity_p by castagna", 1360 + 1160), 1000, 1e-9);
  EXPECT_EQ(value("resistivity from conductivity by reciprocal", 0.01), 100);
  // A sandstone of 20 % in sea water of 0.2 ohm m: formation factor 25.
  EXPECT_NEAR(value("resistivity from porosity by archie with water = 0.2", 0.2), 5, 1e-12);
  EXPECT_NEAR(value("resistivity from porosity by archie with cementation = 1.5, water = 1", 0.25), 8, 1e-12);
  EXPECT_EQ(value("density from porosity by mixture", 0), 2650);
  EXPECT_NEAR(value("density from porosity by mixture with grains = 2700, water = 1000", 0.1), 2530, 1e-9);
  // Times add: half of it water of 1500 m/s, half grains of 6000 m/s.
  EXPECT_NEAR(value("velocity_p from porosity by wyllie with grains = 6000", 0.5), 2400, 1e-9);
}

TEST(Laws, SayWhichParametersTheyHave) {
  const auto refusal = [](const char* text) { return message([&] { law_from_text(text); }); };
  EXPECT_THAT(refusal("resistivity from porosity by archie with watr = 1"),
              HasSubstr("Did you mean \"water\"?"));
  EXPECT_THAT(refusal("resistivity from porosity by archie with water = salty"),
              HasSubstr("above zero, in ohm m"));
  EXPECT_THAT(refusal("resistivity from porosity by archie with water"), HasSubstr("above zero"));
  EXPECT_THAT(refusal("density from velocity_p by gardner with water = 1"), HasSubstr("This law has none"));
  EXPECT_EQ(text_of(law_from_text("resistivity from porosity by archie with water = 2")),
            "resistivity from porosity by archie with water = 2, cementation = 2");
}

TEST(Laws, KeepAConductivityWhereTheyWouldGiveAResistivity) {
  const TensorMesh mesh({0, 1, 2}, {0, 1}, {-1, 0});
  auto model = from_dense(mesh, {{"porosity", {0.2, 0.2}}, {"conductivity", {0.5, nan}}});
  apply(law_from_text("resistivity from porosity by archie with water = 0.2"), model);
  const auto sigma = conductivity_along(model, "");
  EXPECT_EQ(sigma[0], 0.5);
  EXPECT_NEAR(sigma[1], 0.2, 1e-12);
}

TEST(Laws, KeepWhatIsGivenAndCountWhatLiesOutside) {
  const TensorMesh mesh({0, 1, 2, 3, 4}, {0, 1}, {-1, 0});
  auto model = from_dense(mesh, {{"velocity_p", {3000, 500, 3000, nan}}, {"density", {0, 0, 9, 1}}});
  EXPECT_EQ(apply(law_from_text("density from velocity_p by gardner"), model), 1U);
  EXPECT_NEAR(model.property("density")[0], 2294, 1);
  EXPECT_THAT(std::vector<double>(model.property("density").begin() + 2, model.property("density").end()),
              ElementsAre(9, 1));
}

TEST(Laws, WithValuesThatMayNotBeNameTheFirst) {
  std::vector<double> velocities(300'000, 3000);
  velocities[200'000] = 1e30;
  velocities[299'999] = 1e40;
  auto model = from_dense(TensorMesh::regular({0, 3000, 0, 1000, -100, 0}, {300, 100, 10}),
                          {{"velocity_p", velocities}});
  auto law = law_from_text("density from velocity_p by gardner");
  law.formula_of = [](double v, const LawParameters&) { return v > 1e20 ? INFINITY : v; };
  EXPECT_THAT(message([&] { apply(law, model); }), HasSubstr("velocity_p 1e+30"));
}

}  // namespace
}  // namespace terrane
