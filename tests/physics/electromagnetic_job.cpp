// Jobs of electromagnetics: files of emg3d, rock that stores charge, and planned meshes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "support/fields.hpp"
#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"

namespace terrane::electromagnetic::jobs {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

Problem problem_of(const std::string& text, const std::string& folder = ".") {
  const auto made = Simulation::from_job(Config::parse(text, "job.toml", folder), {});
  return dynamic_cast<const Simulation&>(*made).problem();
}
/// A model of two by two by two cells, and a survey, as emg3d writes them.
const std::string model_file =
    R"({"model": {"__class__": "Model", "mapping": "Resistivity", "grid": {"__class__": "TensorMesh",
"hx__array-float64": [3000, 4000], "hy__array-float64": [5000, 5000], "hz__array-float64": [4000, 2000],
"origin__array-float64": [-3000, -5000, -4000]},
"property_x__array-float64": [[[2, 1e8], [4, 1e8]], [[5, 1e8], [8, 1e8]]], "property_y": "NoneType",
"property_z": "NoneType", "mu_r": "NoneType", "epsilon_r": "NoneType"}})";
const std::string survey_file =
    R"({"survey": {"__class__": "Survey", "frequencies": {"f-1": 0.5, "f-2": 2.0}, "sources": {
"TxED-1": {"__class__": "TxElectricDipole", "coordinates__array-float64": [0, 200, 0, 0, -50, -60], "strength": 3.0},
"TxEP-2": {"__class__": "TxElectricPoint", "coordinates__array-float64": [10, 20, -30, 0, 90], "strength": 2.0}},
"receivers": {"a": {"__class__": "RxElectricPoint", "coordinates__array-float64": [900, 50, -10, 0, 0], "relative": false},
"b": {"__class__": "RxElectricPoint", "coordinates__array-float64": [1200, 60, -10, 90, 0], "relative": false}}}})";
const std::string job = R"(
[mesh]
kind = "file"
file = "model.json"
[[source]]
kind = "file"
file = "survey.json"
[survey]
kind = "list"
file = "survey.json"
[simulation]
physics = "electromagnetic"
components = ["e_e"]
)";

TEST(ElectromagneticJobs, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  Problem problem;
  problem.mesh = TensorMesh({0, 1, 2}, {0, 1}, {0, 1, 3});
  problem.conductivity = {std::vector<double>{1, 2, 3, 4}, {}, {2, 2, 2, 2}};
  problem.sources.resize(2);
  test::expect_every_field_travels_and_is_in_the_fingerprint(problem);
}

TEST(ElectromagneticJobs, TakeModelSourcesReceiversAndFrequenciesFromFilesOfEmg3d) {
  const TemporaryFolder folder;
  folder.put("model.json", model_file);
  folder.put("survey.json", survey_file);
  const auto p = problem_of(job, folder / ".");
  EXPECT_THAT(p.mesh.easting(), ElementsAre(-3000, 0, 4000));
  EXPECT_THAT(p.mesh.up(), ElementsAre(-4000, 0, 2000));
  EXPECT_THAT(p.conductivity[0], ElementsAre(0.5, 0.2, 0.25, 0.125, 1e-8, 1e-8, 1e-8, 1e-8));
  EXPECT_THAT(p.frequencies, ElementsAre(0.5, 2));
  ASSERT_EQ(p.sources.size(), 2U);
  EXPECT_EQ(p.sources[0].current, 3);
  EXPECT_THAT(p.sources[0].points[1], ElementsAre(200, 0, -60));
  EXPECT_EQ(p.sources[1].kind, Source::Kind::electric_dipole);
  EXPECT_NEAR(p.sources[1].moment[2], 2, 1e-15);
  ASSERT_EQ(p.receivers.size(), 2U);
  EXPECT_THAT(p.receivers[1], ElementsAre(1200, 60, -10));
}

TEST(ElectromagneticJobs, SayWhatIsWrongWithFilesOfEmg3d) {
  const TemporaryFolder folder;
  folder.put("model.json", model_file);
  folder.put("survey.json", survey_file);
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = job;
    text.replace(text.find(from), from.size(), to);
    return message([&] { problem_of(text, folder / "."); });
  };
  EXPECT_THAT(with("kind = \"file\"\nfile = \"survey.json\"", "kind = \"file\"\nfile = \"model.json\""),
              HasSubstr("no Survey of emg3d"));
  EXPECT_THAT(with("kind = \"file\"\nfile = \"survey.json\"", "at = [0, 0, -50]"),
              HasSubstr("there are none"));
  EXPECT_THAT(with("file = \"model.json\"", "file = \"survey.json\""), HasSubstr("survey.json"));
  EXPECT_THAT(with("file = \"model.json\"", "file = \"model.npz\""), HasSubstr("model.npz"));
}

TEST(ElectromagneticJobs, TakeSourcesOfSurveysWhoseFrequenciesDifferAtThoseOfTheJob) {
  const TemporaryFolder folder;
  folder.put("model.json", model_file);
  folder.put("survey.json", survey_file);
  auto other = survey_file;
  other.replace(other.find("0.5"), 3, "0.7");
  folder.put("other.json", other);
  const auto both = job + "frequencies = [3]\n[[source]]\nkind = \"file\"\nfile = \"other.json\"\n";
  const auto p = problem_of(both, folder / ".");
  EXPECT_EQ(p.sources.size(), 4U);
  EXPECT_THAT(p.frequencies, ElementsAre(3));
  auto without = both;
  without.replace(without.find("frequencies = [3]"), 17, "");
  EXPECT_THAT(message([&] { problem_of(without, folder / "."); }), HasSubstr("simulation.frequencies"));
}

TEST(ElectromagneticJobs, SayWhatIsWrongWithASurveyBesideAModel) {
  const TemporaryFolder folder;
  const auto beside = [&](const std::string& from, const std::string& to) {
    auto survey = survey_file.substr(1);
    if (const auto at = survey.find(from); at != std::string::npos) survey.replace(at, from.size(), to);
    folder.put("survey.json", model_file.substr(0, model_file.size() - 1) + ", " + survey);
    auto text = job;
    text.replace(text.find("model.json"), 10, "survey.json");
    return problem_of(text, folder / ".");
  };
  EXPECT_EQ(beside("no such word", "").receivers.size(), 2U);
  EXPECT_THAT(message([&] { beside("[900, 50, -10, 0, 0]", "[900, 50]"); }),
              HasSubstr("receiver a: its coordinates are not five numbers"));
  EXPECT_THAT(message([&] { beside("\"relative\": false", "\"relative\": true"); }),
              HasSubstr("relative to sources"));
  folder.put("model.json", model_file);
  folder.put("survey.json", survey_file);
  auto text = job;
  text.replace(text.rfind("survey.json"), 11, "model.json");
  EXPECT_THAT(message([&] { problem_of(text, folder / "."); }), HasSubstr("holds no stations"));
}

const std::string charged = R"(
[mesh]
kind = "tensor"
easting_widths = ["6*500"]
northing_widths = ["6*500"]
up_widths = ["6*500"]
origin = [-1500, -1500, -2000]
[model.background]
conductivity = 0.1
{}
[source]
at = [-300, 0, -50]
[survey]
kind = "list"
stations = [[400, 0, -50]]
[simulation]
physics = "electromagnetic"
frequencies = [1]
{}
)";

TEST(ElectromagneticJobs, OfRockThatStoresChargeNeedAllThreeOfColeAndCole) {
  const auto of = [](const char* rock) { return problem_of(fmt::format(fmt::runtime(charged), rock, "")); };
  const auto all = of("chargeability = 0.2\ncole_cole_time = \"10 ms\"\ncole_cole_exponent = 0.5");
  EXPECT_TRUE(all.stores_charge());
  EXPECT_EQ(all.charge_time.front(), 0.01);
  EXPECT_GT(all.sigma(1)(0, 0).imag(), 0);
  EXPECT_FALSE(of("").stores_charge());
  EXPECT_FALSE(of("chargeability = 0.2").stores_charge());  // of direct current; a note says so
  EXPECT_THAT(message([&] { of("chargeability = 0.2\ncole_cole_time = 1"); }),
              HasSubstr("without a time constant or exponent"));
  EXPECT_THAT(message([&] { of("chargeability = 1\ncole_cole_time = 1\ncole_cole_exponent = 0.5"); }),
              HasSubstr("Allowed: from 0 to below 1"));
}

TEST(ElectromagneticJobs, TakeOfEachCellOfAFileWhatItHasAlongAnAxisElseWhatItHas) {
  const TemporaryFolder folder;
  const std::vector<double> faces{-1000, 0, 1000};
  std::vector<double> up(8, std::nan(""));
  up[3] = 40;
  io::write(folder / "cells.nc", io::MeshData{TensorMesh(faces, faces, faces),
                                              {{"resistivity", "Ohm.m", "", std::vector<double>(8, 10)},
                                               {"resistivity_up", "Ohm.m", "", up}},
                                              {}});
  const std::string text = R"(
[mesh]
kind = "file"
file = "cells.nc"
[source]
at = [-300, 0, -50]
[survey]
kind = "list"
stations = [[400, 0, -50]]
[simulation]
physics = "electromagnetic"
frequencies = [1]
)";
  const auto p = problem_of(text, folder / ".");
  EXPECT_THAT(p.conductivity[0], ElementsAre(0.1, 0.1, 0.1, 0.025, 0.1, 0.1, 0.1, 0.1));
  for (const std::size_t axis : {1, 2}) EXPECT_THAT(p.conductivity[axis], testing::Each(0.1));
  // And a file of the model has all three again.
  const auto made = Simulation::from_job(Config::parse(text, "job.toml", folder / "."), {});
  made->write_model(folder / "again.nc");
  auto again = text;
  again.replace(again.find("cells.nc"), 8, "again.nc");
  EXPECT_EQ(problem_of(again, folder / ".").conductivity, p.conductivity);
}

TEST(ElectromagneticJobs, PlanMeshesByTheWordsOfEmg3d) {
  const std::string plain = R"(
[model.background]
conductivity = 0.1
[[model.body]]
kind = "layer"
bottom = 0
top = 100000
conductivity = 1e-8
[source]
at = [0, 0, -50]
[survey]
kind = "list"
stations = [[3000, 0, -20]]
[simulation]
physics = "electromagnetic"
frequencies = [1]
)";
  const auto smallest = [&](const std::string& more) {
    const auto mesh = problem_of(plain + more).mesh;
    double least = 1e9, most = 0;
    for (std::size_t n = 1; n < mesh.easting().size(); ++n) {
      least = std::min(least, mesh.easting()[n] - mesh.easting()[n - 1]);
      most = std::max(most, mesh.easting()[n]);
    }
    return std::pair(least, most);
  };
  const auto usual = smallest("");
  EXPECT_NEAR(usual.first, 300, 0.06 * 300);  // a tenth of the distance; else a quarter of the skin depth
  EXPECT_NEAR(smallest("min_width_pps = 8").first, 0.95 * 1591.5 / 8, 0.06 * 1591.5 / 8);
  EXPECT_NEAR(smallest("min_width_limits = [100, 150]").first, 0.95 * 150, 0.06 * 150);
  EXPECT_THAT(
      message([&] {
        problem_of("[mesh]\nkind = \"planned\"\ncell = 200\n" + plain + "min_width_limits = [10, 50]");
      }),
      HasSubstr("min_width_limits"));
  EXPECT_LT(smallest("lambda_factor = 0.5").second, usual.second - 3000);
  EXPECT_LT(smallest("max_buffer = \"2 km\"").second, 8000);
  EXPECT_NEAR(smallest("min_width_limits = 150").first, 0.95 * 150, 0.06 * 150);
  EXPECT_NEAR(smallest("properties = [2.5, 10]").first, 0.95 * 503.3 * std::sqrt(2.5) / 4, 12);
  EXPECT_NEAR(smallest("properties = [-1, -1]\nmapping = \"LgConductivity\"").first, usual.first, 1);
  EXPECT_GT(smallest("properties = [10, 40]").second, usual.second + 9000);
  EXPECT_LT(smallest("center = [0, 0, -50]\nlambda_from_center = true").second, usual.second - 1000);
  const auto placed = problem_of(plain + R"(center = [100, 0, -50]
distance = [["1 km", "4 km"], [900, 900], [700, 300]]
stretching = [1.05, 1.4]
vector_up = [-500, -250, -100, 0]
seasurface = 400)")
                          .mesh;
  const auto has = [](const std::vector<double>& faces, double at) {
    return std::any_of(faces.begin(), faces.end(), [&](double f) { return std::abs(f - at) < 1e-6; });
  };
  EXPECT_TRUE(has(placed.easting(), 100));
  for (const double height : {-500, -250, -100, 0}) EXPECT_TRUE(has(placed.up(), height)) << height;
  const std::pair<const char*, const char*> refused[] = {
      {"stretching = 2", "up to 1.5"},
      {"stretching = [1.4, 1.3]", "1 to what they grow by"},
      {"cell_numbers = [2, 4]", "cell_numbers ends with 4"},
      {"cell_numbers = [16, 32.5]", "32.5 is no number of cells"},
      {"distance = [[1, 1], [1, 1], [1, 1]]", "Give center"},
      {"lambda_from_center = true", "Give center"},
      {"domain = [[1, 2], [3, 4]]", "2 pairs"},
      {"domain = [[1, 2], [4, 3], [0, 1]]", "from a lower to a higher"},
      {"mapping = \"Conductivity\"", "no properties"},
      {"properties = [1, 2, 3, 4, 5]", "1, 2, 3, 4 or 7"},
      {"properties = -1", "above zero"},
      {"properties = 1\nmapping = \"Resistance\"", "LnConductivity"},
      {"center = [0, 0, 0]\nseasurface = -10", "not above the center"},
      {"vector_east = [0, 100]", "fewer than three"}};
  for (const auto& [lines, said] : refused)
    EXPECT_THAT(message([&] { problem_of(plain + lines); }), HasSubstr(said)) << lines;
  EXPECT_THAT(message([&] { problem_of(plain + "min_width_limits = [0, 5]"); }), HasSubstr("two lengths"));
  EXPECT_THAT(message([&] { problem_of(fmt::format(fmt::runtime(charged), "", "lambda_factor = 2")); }),
              HasSubstr("a mesh of its own"));
}

// --- several meshes -------------------------------------------------------------------------------------

std::string gridded(const std::string& gridding, const std::string& frequencies,
                    const std::string& more = "") {
  return fmt::format(R"(
[model.background]
conductivity = 0.1
[[model.body]]
kind = "layer"
bottom = 0
top = 100000
conductivity = 1e-8
[[source]]
at = [0, 0, -50]
[[source]]
at = [500, 100, -50]
[survey]
kind = "list"
stations = [[3000, 0, -20], [2500, 300, -20]]
[simulation]
physics = "electromagnetic"
components = ["e_e", "h_n"]
min_width_pps = 2
stretching = 1.5
lambda_factor = 0.4
frequencies = {}
{}
{}
)",
                     frequencies, gridding.empty() ? "" : "gridding = \"" + gridding + '"', more);
}

std::unique_ptr<terrane::Simulation> simulation_of(const std::string& text) {
  return Simulation::from_job(Config::parse(text), {});
}

TEST(SeveralMeshes, HaveFewerCellsThanOneForAllFrequenciesAndSayWhy) {
  const auto job_of = [](const char* gridding) {
    auto text = gridded(gridding, "[0.3, 10]");
    return text.replace(text.find("min_width_pps = 2"), 17, "min_width_pps = 8");
  };
  const auto all = problem_of(job_of("single"));
  const auto made = simulation_of(job_of("frequency"));
  const auto& meshes = dynamic_cast<const Simulation&>(*made).meshes();
  ASSERT_EQ(meshes.size(), 2U);
  const auto width = [](const TensorMesh& mesh) {
    const auto& faces = mesh.easting();
    double least = INFINITY;
    for (std::size_t n = 1; n < faces.size(); ++n) least = std::min(least, faces[n] - faces[n - 1]);
    return std::pair(least, faces.back() - faces.front());
  };
  const auto [slow, slow_box] = width(meshes[0].problem.mesh);
  const auto [fast, fast_box] = width(meshes[1].problem.mesh);
  const auto [one, one_box] = width(all.mesh);
  EXPECT_LT(meshes[0].problem.mesh.size(), all.mesh.size() / 4);
  EXPECT_LT(meshes[1].problem.mesh.size(), all.mesh.size());
  EXPECT_NEAR(fast, one, 0.05 * one);  // the fastest asks for small cells,
  EXPECT_GT(slow, 3 * fast);           // the slowest does not,
  EXPECT_GT(slow_box, 2 * fast_box);   // and reaches far,
  EXPECT_GT(one_box, 0.9 * slow_box);  // as the one for both does
  const auto plan = made->check();
  EXPECT_THAT(plan.problem, HasSubstr("4 solves on 2 meshes of"));
  EXPECT_EQ(plan.number("meshes"), 2);
  EXPECT_THAT(plan.notes, testing::Contains(testing::StartsWith("0.3 Hz: mesh: walls ")));
  EXPECT_THAT(plan.notes, testing::Contains(testing::StartsWith("10 Hz: mesh: cells of ")));
  EXPECT_LT(plan.memory_bytes, simulation_of(job_of("single"))->check().memory_bytes);
}

TEST(SeveralMeshes, ByFrequencyBySourceOrByBothGiveTheFieldsOfJobsOfTheirOwn) {
  const auto data_of = [](const std::string& text) { return simulation_of(text)->run().data; };
  using Values = std::vector<std::complex<double>>;
  const auto values = [](const Dataset& data, const char* name) {
    return std::get<Values>(data.find(name)->values);
  };
  const auto by_frequency = data_of(gridded("frequency", "[1, 10]"));
  for (const std::size_t f : {0U, 1U}) {
    const auto alone = data_of(gridded("", f == 0 ? "[1]" : "[10]"));
    for (const char* name : {"e_e", "h_n"})
      for (const std::size_t source : {0U, 1U})
        for (const std::size_t receiver : {0U, 1U})
          EXPECT_EQ(values(by_frequency, name)[(source * 2 + f) * 2 + receiver],
                    values(alone, name)[source * 2 + receiver]);
  }
  const auto one_source = [](std::string text, bool first) {
    const std::string table = first ? "[[source]]\nat = [500, 100, -50]\n" : "[[source]]\nat = [0, 0, -50]\n";
    return text.erase(text.find(table), table.size());
  };
  const auto by_both = data_of(gridded("both", "[1, 10]")), by_source = data_of(gridded("source", "[10]"));
  for (const std::size_t source : {0U, 1U}) {
    const auto alone = data_of(one_source(gridded("", "[10]"), source == 0));
    for (const std::size_t receiver : {0U, 1U}) {
      EXPECT_EQ(values(by_both, "e_e")[(source * 2 + 1) * 2 + receiver], values(alone, "e_e")[receiver]);
      EXPECT_EQ(values(by_source, "e_e")[source * 2 + receiver], values(alone, "e_e")[receiver]);
    }
  }
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(by_both.find("cells")->values).size(), 4U);
}

TEST(SeveralMeshes, AreRefusedWhereThereCannotBeSome) {
  const auto said = [](const std::string& text) { return message([&] { simulation_of(text); }); };
  EXPECT_THAT(said(gridded("input", "[1]")), HasSubstr("single, frequency, source, both"));
  EXPECT_THAT(said(gridded("same", "[1]")), HasSubstr("no mesh of its own"));
  for (const char* gridding : {"", "frequency", "both"})
    EXPECT_THAT(said(gridded(gridding, "[]")), HasSubstr("frequencies: there are none"));
  EXPECT_THAT(said(gridded("frequency", "[1, 10]", "volume = [\"e\"]")), HasSubstr("one mesh"));
  EXPECT_THAT(said(fmt::format(fmt::runtime(charged), "", "gridding = \"frequency\"")),
              HasSubstr("model.file"));
  auto waves = gridded("both", "[1]");
  for (const char* table : {"[[source]]\nat = [500, 100, -50]\n", "components = [\"e_e\", \"h_n\"]\n"})
    waves.erase(waves.find(table), std::string(table).size());
  waves.replace(waves.find("at = [0, 0, -50]"), 16, "kind = \"plane_wave\"");
  EXPECT_THAT(said(waves), HasSubstr("both polarisations"));
  const auto made = simulation_of(gridded("frequency", "[1, 10]"));
  EXPECT_THAT(message([&] { made->check_model("model.nc"); }), HasSubstr("2 meshes"));
}

TEST(SeveralMeshes, OfOneFrequencyAreOneMeshWhoseFieldsAndModelAreWritten) {
  const auto made = simulation_of(gridded("frequency", "[10]", "volume = [\"e\"]"));
  const auto plan = made->check();
  EXPECT_THAT(plan.problem, HasSubstr("2 solves on "));
  EXPECT_THAT(plan.problem, testing::Not(HasSubstr("meshes")));
  EXPECT_NO_THROW(made->check_model("model.nc"));
  const auto planned = made->outline().data;
  EXPECT_NE(planned.find("e_e_cells"), nullptr);
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(planned.find("cells")->values).size(), 2U);
}

TEST(SeveralMeshes, MoveOneBarFromItsStartToItsEnd) {
  struct Counted final : Progress {
    void start(std::string_view, std::uint64_t count) override { ++starts, total = count; }
    void advance(std::uint64_t amount) override { done += amount; }
    void finish() override { ++ends; }
    std::uint64_t total = 0, done = 0;
    int starts = 0, ends = 0;
  } bar;
  Runtime runtime;
  runtime.progress = &bar;
  simulation_of(gridded("both", "[10]"))->run(runtime);
  EXPECT_EQ(bar.starts, 1);
  EXPECT_EQ(bar.ends, 1);
  EXPECT_EQ(bar.total, 2U);
  EXPECT_EQ(bar.done, 2U);
}

TEST(SeveralMeshes, AreRefusedWhereTheirModelsTogetherTakeMoreMemoryThanThereIs) {
  const auto one = simulation_of(gridded("frequency", "[10]"));
  const double of_one = dynamic_cast<const Simulation&>(*one).problem().model_memory();
  std::string frequencies = "10";
  for (int n = 1; n < 60; ++n) frequencies += fmt::format(", {:.9f}", 10 + 1e-9 * n);
  Runtime runtime;
  runtime.memory = static_cast<std::size_t>(30.5 * of_one);
  EXPECT_THAT(message([&] {
                Simulation::from_job(Config::parse(gridded("frequency", "[" + frequencies + "]")), runtime);
              }),
              testing::AllOf(HasSubstr("models on 31 meshes"), HasSubstr("simulation.stretching = 1.5")));
}

TEST(SeveralMeshes, NameSourcesByTheirNumbersInTheJob) {
  auto text = gridded("source", "[10]");
  text.replace(text.find("[0, 0, -50]"), 11, "[0, 0, 50]");
  text.replace(text.find("[500, 100, -50]"), 15, "[500, 100, 50]");
  EXPECT_THAT(simulation_of(text)->check().warnings,
              testing::IsSupersetOf({HasSubstr("source 1: source 1 is grounded in air"),
                                     HasSubstr("source 2: source 2 is grounded in air")}));
}

TEST(SeveralMeshes, TakeAveragesOfAModelOnAMeshOfItsOwnWhichGoesOnBeyondItsSides) {
  const TemporaryFolder folder;
  const std::vector<double> faces{-2000, 0, 2000};
  std::vector<double> sigma(8, 0.1);
  std::fill(sigma.begin() + 4, sigma.end(), 1e-8);
  io::write(folder / "rock.nc",
            io::MeshData{TensorMesh(faces, faces, faces), {{"conductivity", "S/m", "", sigma}}, {}});
  auto text = gridded("frequency", "[1, 10]");
  const auto body = text.find("[model.background]");
  text.replace(body, text.find("[[source]]") - body, "[model]\nfile = \"rock.nc\"\n");
  const auto made = Simulation::from_job(Config::parse(text, "job.toml", folder / "."), {});
  const auto described = simulation_of(gridded("frequency", "[1, 10]"));
  for (const std::size_t f : {0U, 1U}) {
    const auto &of_file = dynamic_cast<const Simulation&>(*made).meshes()[f].problem,
               &of_bodies = dynamic_cast<const Simulation&>(*described).meshes()[f].problem;
    EXPECT_EQ(of_file.mesh.easting(), of_bodies.mesh.easting());
    EXPECT_GT(of_file.mesh.easting().back(), 2000);
    EXPECT_EQ(of_file.mesh.up(), of_bodies.mesh.up());
    EXPECT_EQ(of_file.conductivity[0], of_bodies.conductivity[0]);
  }
}

/// A job on a model of its own: layers of rock from the bottom, a face each 500 m, the last one at `top`.
class OwnLayers {
 public:
  OwnLayers(const std::vector<double>& layers, double top) {
    const std::vector<double> sides{-2000, 0, 2000};
    std::vector<double> up, sigma;
    for (std::size_t k = 0; k <= layers.size(); ++k)
      up.push_back(top - 500 * static_cast<double>(layers.size() - k));
    for (const double layer : layers) sigma.insert(sigma.end(), 4, layer);
    io::write(folder_ / "rock.nc",
              io::MeshData{TensorMesh(sides, sides, up), {{"conductivity", "S/m", "", sigma}}, {}});
  }
  Problem problem(const std::string& more = "") const {
    auto text = gridded("", "[1]");
    const auto body = text.find("[model.background]");
    text.replace(body, text.find("[[source]]") - body, "[model]\nfile = \"rock.nc\"\n" + more);
    const std::string of_plans = "min_width_pps = 2\nstretching = 1.5\nlambda_factor = 0.4\n";
    if (more.find("[mesh]") < more.size()) text.erase(text.find(of_plans), of_plans.size());
    return problem_of(text, folder_ / "");
  }

 private:
  TemporaryFolder folder_;
};

TEST(ModelsOfTheirOwn, ThatEndAtTheGroundNeedAirAbove) {
  const OwnLayers rock({0.1, 0.1, 0.1}, 0), both({0.1, 0.1, 1e-8}, 500);
  const auto said = message([&] { rock.problem(); });
  for (const char* part : {"above 0 m rock would go on", "rock.nc", "kind = \"layer\", bottom = 0"})
    EXPECT_THAT(said, HasSubstr(part));
  const auto own =
      "[mesh]\nkind = \"tensor\"\neasting = [-5000, 0, 5000]\nnorthing = [-5000, 0, 5000]\n"
      "up = [-5000, -100, 0, 100]\n";
  const auto averaged = std::string("transfer = \"average\"\n") + own;
  EXPECT_THAT(message([&] { rock.problem(averaged); }), HasSubstr("reaches up to 100 m"));
  const auto low = averaged.substr(0, averaged.find(", 100]")) + "]\n";
  EXPECT_NO_THROW(rock.problem(low));
  const auto layer = [](const char* bottom, const char* top) {
    return fmt::format("[[model.body]]\nkind = \"layer\"\nbottom = {}\ntop = {}\nconductivity = 1e-8\n",
                       bottom, top);
  };
  EXPECT_THAT(message([&] { rock.problem(layer("3000", "100000")); }), HasSubstr("rock would go on"));
  for (const auto& problem : {rock.problem(layer("0", "100000")),
                              rock.problem("topography = 0\n[model.air]\n"
                                           "conductivity = 1e-8\n"),
                              both.problem()}) {
    EXPECT_EQ(problem.conductivity[0].front(), 0.1);
    EXPECT_EQ(problem.conductivity[0].back(), 1e-8);
  }
}

TEST(ModelsOfTheirOwn, GiveAMeshFacesWhereRockChangesByMoreThanHalf) {
  const auto faces = [](const std::vector<double>& layers, double top = 500, const std::string& more = "") {
    const auto mesh = OwnLayers(layers, top).problem(more).mesh;
    std::vector<double> found;
    for (const double z : {500.0, -500.0, -1000.0})
      if (std::find(mesh.up().begin(), mesh.up().end(), z) != mesh.up().end()) found.push_back(z);
    return found;
  };
  EXPECT_THAT(faces({0.1, 0.1, 0.1, 1e-8}), testing::IsEmpty());
  EXPECT_THAT(faces({0.1, 0.11, 0.12, 1e-8}), testing::IsEmpty());
  EXPECT_THAT(faces({0.1, 0.101, 0.16, 1e-8}), ElementsAre(-500));
  EXPECT_THAT(faces({0.2, 0.1, 0.11, 1e-8}), ElementsAre(-1000));
  const auto ground =
      "topography = 0\n[model.air]\nconductivity = 1e-8\n";  // above it the file has no values
  EXPECT_THAT(faces({0.1, 0.1, 0.1, NAN, NAN}, 1000, ground), testing::IsEmpty());
}

// --- what is wrong ---------------------------------------------------------------------------------------

TEST(ElectromagneticJobs, RefuseBeforeTheRunWhatWouldBeWrongAfterIt) {
  const auto said = [](const char* old_text, const char* new_text) {
    auto text = gridded("", "[1]");
    text.replace(text.find(old_text), std::string(old_text).size(), new_text);
    return message([&] { simulation_of(text); });
  };
  EXPECT_THAT(said("[\"e_e\", \"h_n\"]", "[\"e_e\", \"h_n\", \"e_e\"]"),
              HasSubstr("components: \"e_e\" stands there twice"));
  EXPECT_THAT(said("[\"e_e\", \"h_n\"]", "[]"), HasSubstr("components: nothing is recorded"));
  EXPECT_THAT(said("at = [0, 0, -50]", "at = [0, 0, -50]\nmoment = 0"),
              HasSubstr("moment: it is zero: nothing is sent"));
  EXPECT_THAT(said("at = [0, 0, -50]", "kind = \"wire\"\npoints = [[0, 0, -50], [9, 0, -50]]\ncurrent = 0"),
              HasSubstr("current: it is zero: nothing is sent"));
  EXPECT_THAT(said("at = [0, 0, -50]", "kind = \"wire\"\npoints = [[9, 0, -50], [9, 0, -50]]"),
              HasSubstr("source 1: it sends nothing"));
  EXPECT_THAT(said("min_width_pps = 2", "min_width_pps = 2\ntolerance = 10"),
              HasSubstr("tolerance: 10 is not between 1e-14 and 0.01"));
}

TEST(ElectromagneticJobs, WriteTheChargesOfTheirRockIntoTheModelToo) {
  const TemporaryFolder folder;
  const auto p = problem_of(
      fmt::format(fmt::runtime(charged),
                  "chargeability = 0.2\ncole_cole_time = \"10 ms\"\ncole_cole_exponent = 0.5", ""));
  ASSERT_FALSE(p.chargeability.empty());
  Simulation(p).write_model(folder / "model.nc");
  const auto model = std::get<io::MeshData>(io::read(folder / "model.nc"));
  ASSERT_NE(model.find("chargeability"), nullptr);
  EXPECT_EQ(model.find("chargeability")->values, p.chargeability);
  EXPECT_EQ(model.find("cole_cole_time")->values, p.charge_time);
  EXPECT_EQ(model.find("cole_cole_exponent")->values, p.charge_exponent);
}

/// A source in the sea under thin air, on a mesh of 25 km: 700 m of it, or 8 km.
Result run_under_a_lid(double air) {
  const auto grown = [](std::vector<double> faces, double growth, double low, double high) {
    for (double h = faces[1] - faces[0]; faces.front() > low;)
      faces.insert(faces.begin(), faces.front() - (h *= growth));
    for (double h = faces.back() - faces[faces.size() - 2]; faces.back() < high;)
      faces.push_back(faces.back() + (h *= growth));
    return faces;
  };
  Problem problem;
  const auto across = grown({-600, -400, -200, 0, 200, 400, 600}, 1.6, -12e3, 12e3);
  auto up = grown({-450, -300, -150, 0, 350}, 1.5, -12e3, air);
  if (air < 1000) up.back() = air;
  problem.mesh = TensorMesh(across, across, up);
  for (std::size_t k = 0; k < problem.mesh.n_up(); ++k)
    problem.conductivity[0].insert(problem.conductivity[0].end(), (across.size() - 1) * (across.size() - 1),
                                   up[k] < 0 ? 3 : 1e-8);
  problem.sources = {{Source::Kind::electric_dipole, {{50, 0, -250}}, {1, 0, 0}, 1}};
  problem.receivers = {{1000, 300, -300}};
  problem.components = {{false, 2}};
  problem.frequencies = {2};
  return Simulation(std::move(problem)).run(Runtime{});
}
TEST(ElectromagneticJobs, ThatTakeMoreThanThirtyIterationsSayWhy) {
  const auto told = [](const Result& result) {
    for (const auto& line : result.report.warnings)
      if (line.find("iterations, where 7 to 25 are usual") != std::string::npos) return line;
    return std::string();
  };
  EXPECT_THAT(told(run_under_a_lid(700)), HasSubstr("the air is 700 m high over a mesh of"));
  EXPECT_EQ(told(run_under_a_lid(8e3)), "");
}

}  // namespace
}  // namespace terrane::electromagnetic::jobs
