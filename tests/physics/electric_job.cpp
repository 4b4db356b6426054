// Jobs of direct current: what is refused and warned of before a run, and the model that is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/fields.hpp"
#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/electric/simulation.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::electric::jobs {
namespace {

using namespace testing_support;
using testing::HasSubstr;

std::string line(const std::string& body = "resistivity = 100", const std::string& survey = "",
                 const std::string& simulation = "", const std::string& cells = "40*25") {
  return "[mesh]\nkind = \"tensor\"\norigin = [-500, -500, -500]\neasting_widths = [\"" + cells +
         "\"]\nnorthing_widths = [\"" + cells +
         "\"]\nup_widths = [\"20*25\"]\n[[model.body]]\nkind = \"layer\"\nbottom = -500\ntop = 0\n" + body +
         "\n[survey]\nkind = \"line\"\nstart = [-100, 0]\nelectrodes = 9\nspacing = 25\nlevels = 2\n" +
         survey + "\n[simulation]\nphysics = \"electric\"\n" + simulation + "\n";
}

std::unique_ptr<terrane::Simulation> simulation_of(const std::string& text, const std::string& folder = ".") {
  return Simulation::from_job(Config::parse(text, "job.toml", folder), {});
}

TEST(ElectricJobs, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(Medium{{1, 2}, {}, {0.1, 0.2}, {}});
  test::expect_every_field_travels_and_is_in_the_fingerprint(Settings());
}

/// Misfits of resistances of -9999 were told without a word.
TEST(ElectricJobs, RefuseNumbersForNoValueAmongResistances) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& last) {
    folder.put("arrays.csv",
               "a_easting,a_northing,b_easting,b_northing,m_easting,m_northing,n_easting,n_northing,"
               "resistance_observed [V/A],chargeability_observed [mV/V]\n-100,0,-75,0,-50,0,-25,0,0.1,5\n"
               "-75,0,-50,0,-25,0,0,0,0.2,-9999\n-50,0,-25,0,0,0,25,0,0.15,6\n-25,0,0,0,25,0,50,0," +
                   last + ",7\n");
    auto text = line();
    const auto survey = text.find("[survey]"), end = text.find("[simulation]");
    text.replace(survey, end - survey, "[survey]\nkind = \"file\"\nfile = \"arrays.csv\"\n");
    return message([&] { simulation_of(text, folder / ""); });
  };
  EXPECT_EQ(with("0.1"), "no error") << "chargeabilities are compared with none";
  EXPECT_THAT(with("-9999"), HasSubstr("survey.file: resistance: -9999 (value 4)"));
}

TEST(ElectricJobs, RefuseCurrentsWithoutAWayBeforeTheRun) {
  const char* closed = "boundary = \"insulated\"";
  EXPECT_NO_THROW(simulation_of(line("resistivity = 100", "", closed)));
  EXPECT_THAT(message([&] { simulation_of(line("resistivity = 100", "array = \"pole-pole\"", closed)); }),
              HasSubstr("an electrode is far away, and all sides of the mesh are insulated"));
}

TEST(ElectricJobs, WarnOfCellsThatDoNotTellElectrodesFromEachOther) {
  EXPECT_THAT(simulation_of(line("resistivity = 100", "", "", "4*250"))->check().warnings,
              testing::Contains(HasSubstr("electrodes 25 m apart are in cells of 250 m")));
  EXPECT_THAT(simulation_of(line())->check().warnings,
              testing::Not(testing::Contains(HasSubstr("m apart are in cells"))));
}

/// A dyke of one cell; rock that goes on from one contact; a layer two cells down, under electrodes above it.
TEST(ElectricJobs, WarnOfPotentialsAmongTheNearestElectrodesWhereRockIsNeitherAlikeNorOneContact) {
  const auto warnings = [](const std::string& body, const std::string& simulation = "") {
    const auto painted = "resistivity = 100\n[[model.body]]\n" + body;
    return simulation_of(line(painted, "", simulation))->check().warnings;
  };
  const auto dyke = "kind = \"box\"\nbox = [0, 25, -500, 500, -500, 0]\nresistivity = 1";
  const auto warned = testing::Contains(testing::AllOf(
      HasSubstr("current electrodes (first: 2) otherwise than at one vertical contact"),
      HasSubstr("down to 1 cells"), HasSubstr("within 4 cells may be wrong by 20 %, within 8 by 5 %"),
      HasSubstr("let cells be smaller, so that eight lie between these electrodes")));
  EXPECT_THAT(warnings(dyke), warned);
  EXPECT_THAT(warnings(dyke, "potential = \"total\""), testing::Not(warned));
  const auto contact = "kind = \"box\"\nbox = [0, 500, -500, 500, -500, 0]\nresistivity = 1";
  EXPECT_THAT(warnings(contact), testing::Not(testing::Contains(HasSubstr("medium changes around"))));
  EXPECT_THAT(warnings("kind = \"layer\"\nbottom = -500\ntop = -50\nresistivity = 1"),
              testing::Not(testing::Contains(HasSubstr("medium changes around"))));
}

/// Those of homogeneous ground are counted.
TEST(ElectricJobs, CountASecondSolveForElectrodesThatAreHeldAgainstHomogeneousGround) {
  const auto solves = [](const std::string& simulation) {
    const auto made =
        simulation_of(line("resistivity = 100\n[[model.body]]\nkind = \"box\"\n"
                           "box = [0, 25, -500, 500, -500, 0]\nresistivity = 1",
                           "", simulation));
    const auto plan = made->check();
    const auto result = made->run();
    const auto held = std::get<std::uint64_t>(result.report.find("held_against")->value);
    return std::pair{std::get<std::uint64_t>(plan.find("solves")->value), held};
  };
  const auto [all, held] = solves("");
  const auto [few, none] = solves("potential = \"total\"");
  EXPECT_EQ(none, 0U);
  EXPECT_GT(held, 0U);
  EXPECT_GE(all, few);
  EXPECT_LE(all, 9 + held);
}

/// A chargeable block is other rock when currents begin, if not later.
TEST(ElectricJobs, ForeseeSolvesForElectrodesThatAreHeldInChargeableRock) {
  const char* changes[] = {"resistivity = 100\nchargeability = 0.95", "resistivity = 1\nchargeability = 0.3"};
  for (const std::string change : changes) {
    const auto made =
        simulation_of(line("resistivity = 100\nchargeability = 0\n[[model.body]]\nkind = \"box\"\n"
                           "box = [0, 25, -500, 500, -500, 0]\n" +
                           change));
    const auto plan = made->check();
    EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("medium changes around")));
    const auto held = std::get<std::uint64_t>(made->run().report.find("held_against")->value);
    EXPECT_GT(held, 0U);
    const auto solves = std::get<std::uint64_t>(plan.find("solves")->value);
    EXPECT_GE(solves, 2 * 5 + held);
    EXPECT_LE(solves, 2 * 9 + held);
  }
}

/// Sides that no half space has: nothing is held against homogeneous ground, and secondary potentials are
/// taken for longer.
TEST(ElectricJobs, WarnOfTotalPotentialsOverGroundedSides) {
  const auto warnings = [](const std::string& box) {
    const auto made = simulation_of(
        line("resistivity = 100\n[[model.body]]\nkind = \"box\"\nbox = " + box + "\nresistivity = 1", "",
             "[sides]\nbottom = \"grounded\""));
    return made->check().warnings;
  };
  EXPECT_THAT(warnings("[0, 25, -500, 500, -500, 0]"),
              testing::Contains(HasSubstr("or sides are grounded or insulated, and voltages")));
  EXPECT_THAT(warnings("[-500, 500, -500, 500, -500, -100]"),
              testing::Not(testing::Contains(HasSubstr("medium changes around"))));
}

TEST(ElectricJobs, SayHowManyRanksShareAField) {
  const auto job = line("resistivity = 100", "", "ranks_per_field = 2");
  EXPECT_EQ(Settings::read(Config::parse(job, "job.toml")).parameters.ranks_per_field, 2);
  EXPECT_EQ(simulation_of(job)->check().find("fields_at_once"), nullptr);  // one process
}

TEST(ElectricJobs, WriteAModelThatIsReadAgain) {
  const TemporaryFolder folder;
  const auto made = simulation_of(
      line("resistivity = 100\nresistivity_up = 400\nchargeability = 0.1", "array = \"wenner\""));
  made->write_model(folder / "model.nc");
  const auto model = std::get<io::MeshData>(io::read(folder / "model.nc"));
  for (const char* name : {"conductivity_east", "conductivity_north"}) {
    ASSERT_NE(model.find(name), nullptr) << name;
    EXPECT_THAT(model.find(name)->values, testing::Each(0.01));
  }
  EXPECT_THAT(model.find("conductivity_up")->values, testing::Each(0.0025));
  EXPECT_THAT(model.find("chargeability")->values, testing::Each(0.1));
  auto again = line("", "array = \"wenner\"");
  const auto body = again.find("[[model.body]]");
  again.replace(body, again.find("[survey]") - body, "[model]\nfile = \"model.nc\"\n");
  again.replace(again.find("[mesh]"), again.find("[model]") - again.find("[mesh]"),
                "[mesh]\nkind = \"file\"\nfile = \"model.nc\"\n");
  const auto one = made->run(), other = simulation_of(again, folder / ".")->run();
  ASSERT_EQ(one.data.variables.size(), 4U);  // chargeability, too
  for (const auto& v : one.data.variables) EXPECT_EQ(v.values, other.data.find(v.name)->values) << v.name;
}

TEST(ElectricJobs, AtAFrequencyCompareWithTheMagnitudesThatFilesHold) {
  const TemporaryFolder folder;
  const auto job =
      line("resistivity = 100\nchargeability = 0.5\ncole_cole_time = 0.1\ncole_cole_exponent = 0.5",
           "array = \"wenner\"", "frequency = 1", "20*50");
  const auto made = simulation_of(job)->run();
  write_result(folder / "line.ohm", made);
  auto again = job;
  const auto survey = again.find("[survey]");
  again.replace(survey, again.find("[simulation]") - survey,
                "[survey]\nkind = \"file\"\nfile = \"line.ohm\"\n");
  const auto other = simulation_of(again, folder / ".")->run();
  const auto &seen = other.data.real("resistance_observed"), &left = other.data.real("resistance_residual"),
             &part = other.data.real("resistance");
  ASSERT_EQ(seen.size(), part.size());
  ASSERT_EQ(left.size(), part.size());
  for (std::size_t n = 0; n < part.size(); ++n) {
    EXPECT_GT(std::abs(seen[n]), 1.001 * std::abs(part[n]));  // a phase of more than 50 mrad
    EXPECT_LT(std::abs(left[n]), 1e-6 * std::abs(seen[n]));
  }
}

TEST(ElectricJobs, OfOtherProgramsPassNeitherSharesNorQuadraturesThatAreNone) {
  const std::vector<double> faces{-100, -50, 0, 50, 100};
  const TensorMesh mesh(faces, faces, {-100, -50, 0});
  const Electrodes electrodes{{{-60, 0, 0}, {-20, 0, 0}, {20, 0, 0}, {60, 0, 0}}, {{0, 3, 1, 2}}};
  Stream stream({Device::Kind::cpu});
  const auto said = [&](const Medium& medium) {
    return message([&] { direct_current(mesh, medium, electrodes, {}, stream); });
  };
  Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  EXPECT_EQ(said(medium), "no error");
  auto above = medium, few = medium, lagging = medium;
  above.ground.assign(mesh.size(), 2.0);
  EXPECT_THAT(said(above), HasSubstr("from 0 to 1"));
  above.ground.assign(mesh.size(), NAN);
  EXPECT_THAT(said(above), HasSubstr("from 0 to 1"));
  few.ground.assign(3, 1.0);
  EXPECT_THAT(said(few), HasSubstr("3 values for a mesh of 32 cells"));
  lagging.quadrature.assign(mesh.size(), 1e-4);
  lagging.quadrature[5] = NAN;
  EXPECT_THAT(said(lagging), HasSubstr("imaginary part of a conductivity is not finite"));
  auto charged = medium;
  charged.chargeability.assign(mesh.size(), 1.5);
  DirectCurrentReport report;
  EXPECT_THAT(message([&] { direct_current(mesh, charged, electrodes, {}, stream, &report); }),
              HasSubstr("from 0 to below 1"));
  EXPECT_TRUE(report.solves.empty());  // before anything is solved
}

}  // namespace
}  // namespace terrane::electric::jobs
