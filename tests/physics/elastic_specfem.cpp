// Files of SPECFEM3D.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/files.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/march/part.hpp"
#include "terrane/physics/elastic/simulation.hpp"
#include "terrane/physics/elastic/specfem/par_file.hpp"
#include "terrane/physics/elastic/specfem/specfem.hpp"

namespace terrane::elastic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

constexpr const char* cmt_file = R"( PDE  1999 01 01 00 00 00.00  67000 67000 -25000 4.2 4.2 homog_test
event name:       hom_explosion
time shift:       2.0000
half duration:    5.0
latitude:        67000.0
longitude:       67100.0
depth:          30.0
Mrr:       1.000000e+23
Mtt:       2.000000e+23
Mpp:       3.000000e+23
Mrt:       4.000000d+23
Mrp:       5.000000e+23
Mtp:       6.000000e+23
)";

TEST(SpecfemFiles, ACmtsolutionIsAMomentTensorWithItsAxesTurned) {
  const TemporaryFolder folder;
  auto second = std::string(cmt_file);
  second.replace(second.find("2.0000"), 6, "3.5000");
  std::vector<std::string> notes;
  const auto sources = read_solution(folder.put("CMTSOLUTION", cmt_file + second), {}, notes);
  ASSERT_EQ(sources.size(), 2u);
  const auto& s = sources[0];
  EXPECT_TRUE(s.source.is_moment);
  EXPECT_EQ(s.latitude, 67000);
  EXPECT_EQ(s.longitude, 67100);
  EXPECT_EQ(s.depth, 30000);
  const double expected[6] = {3e16, 2e16, 1e16, -4e16, 5e16, -6e16};  // xx yy zz yz xz xy, N m
  for (std::size_t n = 0; n < 6; ++n) EXPECT_NEAR(s.source.strength[n], expected[n], 10);
  EXPECT_EQ(s.source.course.pulse, Pulse::step);
  EXPECT_NEAR(s.source.course.width, 5 / 1.628, 1e-12);
  EXPECT_EQ(s.source.course.delay, 0);  // the smallest shift counts as none
  EXPECT_EQ(sources[1].source.course.delay, 1.5);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("time shift is 2 s"));
}

constexpr const char* force_file = R"(FORCE  001
time shift:     0.0
hdurorf0:       2.5
latorUTM:       67000.0
longorUTM:      67000.0
depth:          0.5
source time function:            1
factor force source:             1.d15
component dir vect source E:     3.d0
component dir vect source N:     0.d0
component dir vect source Z_UP:  -4.d0
)";

TEST(SpecfemFiles, AForcesolutionIsAForceWhoseDirectionMayHaveAnyLength) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const auto s = read_solution(folder.put("FORCESOLUTION", force_file), {}, notes).at(0);
  EXPECT_FALSE(s.source.is_moment);
  EXPECT_NEAR(s.source.strength[0], 0.6e15, 1);
  EXPECT_NEAR(s.source.strength[2], -0.8e15, 1);
  EXPECT_EQ(s.source.course.pulse, Pulse::ricker);
  EXPECT_EQ(s.source.course.width, 2.5);
  auto older = std::string(force_file);
  older.erase(older.find("source time"), older.find("factor") - older.find("source time"));
  older.replace(older.find("hdurorf0"), 8, "f0");
  EXPECT_EQ(read_solution(folder.put("OLDER", older), {}, notes).at(0).source.course.pulse, Pulse::ricker);
  EXPECT_TRUE(notes.empty());
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(SpecfemFiles, TimeFunctionsAreThoseOfTheirNumbersAndRickersWhereAParFileSaysSo) {
  std::vector<std::string> notes;
  const auto course = [&](const std::string& text, const SourceRules& rules) {
    return read_solution("SOLUTION", text, rules, notes).at(0).source.course;
  };
  const auto number = [](const char* n) {
    return with(force_file, "function:            1", std::string("function: ") + n);
  };
  EXPECT_EQ(course(number("0"), {}), (Course{Pulse::gaussian, 2.5 / 1.628, 0, {}}));
  EXPECT_EQ(course(number("2"), {}), (Course{Pulse::step, 2.5 / 1.628, 0, {}}));
  // Meschede and others 2011: √π/τ exp(−π² t²/τ²)
  EXPECT_NEAR(course(number("4"), {}).at(0.3),
              std::sqrt(std::numbers::pi) / 2.5 * std::exp(-std::pow(std::numbers::pi * 0.3 / 2.5, 2)),
              1e-12);
  const SourceRules ricker{true, false, false, 0};
  EXPECT_EQ(course(number("0"), ricker), (Course{Pulse::ricker, 2.5, 0, {}}));
  EXPECT_EQ(course(with(cmt_file, "half duration:    5.0", "half duration:  10.0"), ricker),
            (Course{Pulse::ricker, 10, 0, {}}));
  EXPECT_THAT(message([&] { course(with(cmt_file, "half duration:    5.0", "half duration: 0"), ricker); }),
              AllOf(HasSubstr("SOLUTION:4: half duration"), HasSubstr("USE_RICKER_TIME_FUNCTION")));
  // A half duration below five steps counts as five.
  EXPECT_TRUE(notes.back().find("time shift") != std::string::npos);
  EXPECT_EQ(course(with(cmt_file, "half duration:    5.0", "half duration: 0"), {false, false, false, 0.1}),
            (Course{Pulse::step, 0.5 / 1.628, 0, {}}));
  EXPECT_THAT(notes.back(), HasSubstr("below five steps count as 0.5 s"));
  EXPECT_EQ(course(with(cmt_file, "half duration:    5.0", "half duration: -3"), {false, false, false, 0.1}),
            (Course{Pulse::step, 0.5 / 1.628, 0, {}}))
      << "as in SPECFEM3D, which has no other meaning for it";
  EXPECT_THAT(message([&] { course(with(force_file, "source time function:            1\n", ""), {}); }),
              HasSubstr("no line \"source time function:\""));
}

TEST(SpecfemFiles, SourcesInAFluidAreExplosionsWithTheDerivativeOfTheirStep) {
  std::vector<std::string> notes;
  const auto all_equal =
      with(with(cmt_file, "Mtt:       2.", "Mtt:       1."), "Mpp:       3.", "Mpp:       1.");
  auto explosion = all_equal;
  for (const char* m : {"4.000000d+23", "5.000000e+23", "6.000000e+23"}) explosion = with(explosion, m, "0");
  const auto s = read_solution("CMTSOLUTION", explosion, {}, notes).at(0);
  EXPECT_EQ(s.in_fluid.course, (Course{Pulse::gaussian, 5 / 1.628, 0, {}}));
  EXPECT_TRUE(s.in_fluid.is_explosion());
  EXPECT_NEAR(s.in_fluid.strength[0], 1e16, 10);
  EXPECT_FALSE(read_solution("CMTSOLUTION", cmt_file, {}, notes).at(0).in_fluid.is_explosion());
  auto implosion = explosion;
  for (const char* m : {"Mrr:       1", "Mtt:       1", "Mpp:       1"})
    implosion = with(implosion, m, std::string(m).replace(10, 1, "-"));
  EXPECT_NEAR(read_solution("CMTSOLUTION", implosion, {}, notes).at(0).in_fluid.strength[0], 1e16, 10);
  EXPECT_NEAR(
      read_solution("CMTSOLUTION", implosion, {false, false, true, 0}, notes).at(0).in_fluid.strength[0],
      -1e16, 10);
  const auto force = read_solution("FORCESOLUTION", with(force_file, "1.d15", "-1.d15"), {}, notes).at(0);
  EXPECT_EQ(force.in_fluid.strength, (std::array<double, 6>{-1e15, -1e15, -1e15, 0, 0, 0}));
  EXPECT_EQ(force.in_fluid.course.pulse, Pulse::ricker);
}

TEST(SpecfemFiles, StationsHaveANameANetworkAndFourNumbers) {
  const TemporaryFolder folder;
  const auto stations = read_stations(folder.put(
      "STATIONS", "X20 DB 67000.00 22732.14 0.0 -10\n\n# a comment\nX30 DB 6.7d4 34696.43 5 0.0\n"));
  ASSERT_EQ(stations.size(), 2u);
  EXPECT_EQ(stations[0].name, "X20");
  EXPECT_EQ(stations[0].network, "DB");
  EXPECT_EQ(stations[0].longitude, 22732.14);
  EXPECT_EQ(stations[0].burial, -10);
  EXPECT_EQ(stations[1].latitude, 67000);
}

TEST(SpecfemFiles, ThatAreBrokenAreRefusedWithTheirLine) {
  const TemporaryFolder folder;
  const auto broken = [&](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    std::vector<std::string> notes;
    return message([&] { read_solution(folder.put("BROKEN", text), {}, notes); });
  };
  EXPECT_THAT(broken(cmt_file, "Mrr:", "Mxx:"), AllOf(HasSubstr(":2"), HasSubstr("mrr")));
  EXPECT_THAT(broken(cmt_file, "30.0", "deep"), AllOf(HasSubstr(":7: depth"), HasSubstr("no number")));
  EXPECT_THAT(broken(cmt_file, "half duration:    5.0", "half duration:   -2.5"),
              HasSubstr("a half duration of -2.5 s"));
  EXPECT_THAT(broken(cmt_file, "event name", "event"), HasSubstr("no sources"));
  EXPECT_THAT(broken(force_file, "function:            1", "function:            5"),
              AllOf(HasSubstr(":7"), HasSubstr("not offered")));
  EXPECT_THAT(broken(force_file, "hdurorf0:       2.5", "hdurorf0:       0"), HasSubstr("peak frequency"));
  EXPECT_THAT(broken(force_file, "1.d15", "0"), AllOf(HasSubstr(":8"), HasSubstr("a force of zero")));
  EXPECT_THAT(message([&] { read_stations(folder.put("STATIONS", "A B 1 2 3\n")); }),
              AllOf(HasSubstr(":1"), HasSubstr("six words")));
  EXPECT_THAT(message([&] { read_stations(folder / "NOWHERE"); }), HasSubstr("cannot be opened"));
}

constexpr const char* a_push_down = R"(FORCE 001
time shift: 0
hdurorf0: 2
latorUTM: 300
longorUTM: 500
depth: 0.2
source time function: 1
factor force source: 1e9
component dir vect source E: 0
component dir vect source N: 0
component dir vect source Z_UP: -1
)";

TEST(ElasticJobs, TakeSourcesAndReceiversFromFilesOfSpecfem) {
  const TemporaryFolder folder;
  folder.put("FORCESOLUTION", a_push_down);
  folder.put("STATIONS", "A1 TE 300 700 0 0\nA2 TE 200 900 0 50\n");
  const auto text = [](const std::string& more) {
    return R"([mesh]
kind = "regular"
box = [0, 1000, 0, 600, -400, 100]
shape = [10, 6, 5]
[[model.body]]
kind = "layer"
bottom = -400
top = 100
density = 2000
velocity_p = 3000
velocity_s = 1700
quality_p = 90
quality_s = 40
[[source]]
file = "FORCESOLUTION"
[simulation]
physics = "elastic"
end = 0.5
stations = "STATIONS"
)" + more + "[output]\nfiles = [\"a.nc\"]\n";
  };
  const auto made = [&](const std::string& more) {
    return Simulation::from_job(Config::parse(text(more), "job.toml", folder / "."), {});
  };
  const auto simulation = made("");
  const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
  ASSERT_EQ(p.sources.size(), 1u);
  EXPECT_EQ(p.sources[0].at, (Vector{500, 300, -100}));  // 200 m below the top of the mesh
  EXPECT_EQ(p.receivers, (std::vector<Vector>{{700, 300, 100}, {900, 200, 50}}));
  EXPECT_TRUE(p.mesh.media[0].loses_energy());
  const auto outline = simulation->outline();
  const auto* names = outline.data.find("receiver");
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(std::get<std::vector<std::string>>(names->values), (std::vector<std::string>{"TE.A1", "TE.A2"}));

  EXPECT_THAT(message([&] { made("absorbing = [\"up\"]\n"); }),
              AllOf(HasSubstr("job.toml:"), HasSubstr("no side")));
  EXPECT_THAT(message([&] { made("step = 1\n"); }),
              AllOf(HasSubstr("simulation.step"), HasSubstr("not stable")));
  EXPECT_THAT(message([&] { made("end = 0.6\n"); }), HasSubstr("end"));
  EXPECT_THAT(message([&] { made("[source]\nat = [0, 0, 0]\n"); }), HasSubstr("source"));
}

constexpr const char* par_file = R"(# simulation input parameters
SIMULATION_TYPE                 = 1
NPROC                           = 4   # processors
NSTEP                           = 250
DT                              = 2.d-3
ATTENUATION                     = .true.
ATTENUATION_f0_REFERENCE        = 0.3d0
PML_CONDITIONS                  = .false.
STACEY_ABSORBING_CONDITIONS     = .true.
BOTTOM_FREE_SURFACE             = .true.
USE_FORCE_POINT_SOURCE          = .true.
SAVE_SEISMOGRAMS_DISPLACEMENT   = .false.
SAVE_SEISMOGRAMS_VELOCITY       = .true.
SAVE_SEISMOGRAMS_ACCELERATION   = .true.
MOVIE_SURFACE                   = .true.
NTSTEP_BETWEEN_FRAMES           = 50
)";

TEST(SpecfemFiles, AParFileSaysStepsSidesAndWhatIsRecorded) {
  const auto par = read_par_file("Par_file", par_file);
  EXPECT_EQ(par.steps, 250u);
  EXPECT_EQ(par.step, 2e-3);
  EXPECT_EQ(par.absorbing, (std::vector<std::string>{"west", "east", "south", "north"}));
  EXPECT_FALSE(par.matched);
  EXPECT_TRUE(par.attenuation);
  EXPECT_EQ(par.reference_frequency, 0.3);
  EXPECT_EQ(par.quantity, "velocity");
  EXPECT_TRUE(par.forces);
  EXPECT_EQ(par.film_every, 50u);
  ASSERT_EQ(par.notes.size(), 1u);
  EXPECT_THAT(par.notes[0], HasSubstr("accelerations"));

  const auto broken = [](const std::string& from, const std::string& to) {
    std::string text = par_file;
    text.replace(text.find(from), from.size(), to);
    return message([&] { read_par_file("Par_file", text); });
  };
  EXPECT_THAT(broken("NSTEP ", "STEPS "), HasSubstr("NSTEP"));
  EXPECT_THAT(broken("250", "2.5"), AllOf(HasSubstr("Par_file:4: NSTEP"), HasSubstr("no number of steps")));
  EXPECT_THAT(broken("2.d-3", "-1"), AllOf(HasSubstr("Par_file:5: DT"), HasSubstr("longer than zero")));
  EXPECT_THAT(broken(".true.", "yes"), AllOf(HasSubstr("Par_file:6"), HasSubstr("neither .true. nor")));
  EXPECT_THAT(broken("= 1\n", "= 3\n"), AllOf(HasSubstr("Par_file:2"), HasSubstr("3 is not offered")));
  EXPECT_THAT(broken("MOVIE_SURFACE", "GRAVITY"), HasSubstr("GRAVITY: .true. is not offered"));
}

std::vector<std::string> notes_of(const std::string& more, const OwnParts& own = {}) {
  return read_par_file("Par_file", "NSTEP = 10\nDT = 1d-2\n" + more, own).notes;
}

TEST(SpecfemFiles, EveryKeyOfAParFileIsTakenRefusedNotedOrHarmless) {
  for (const auto& key : par_file_keys()) {
    const std::string name(key.name), neutral(key.neutral);
    if (key.effect == KeyEffect::harmless) {
      EXPECT_TRUE(notes_of(name + " = .true.\n").empty()) << name;
    }
    if (key.effect != KeyEffect::noted && key.effect != KeyEffect::refused) continue;
    EXPECT_FALSE(key.text.empty()) << name;
    EXPECT_TRUE(notes_of(name + " = " + neutral + "\n").empty()) << name;
    const auto line = name + (neutral == ".false."   ? " = .true.\n"
                              : neutral == "default" ? " = tomo\n"
                                                     : " = 2\n");
    if (key.effect == KeyEffect::noted) {
      ASSERT_EQ(notes_of(line).size(), 1u) << name;
      EXPECT_THAT(notes_of(line)[0], HasSubstr("Par_file:3: " + name));
    } else {
      EXPECT_THAT(message([&] { notes_of(line); }),
                  AllOf(HasSubstr("Par_file:3: " + name), HasSubstr("is not offered")));
    }
  }
  const auto unknown = notes_of("NEX_XI = 64\nnproc = 4\n");
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_THAT(unknown[0], AllOf(HasSubstr("NEX_XI (line 3), nproc (line 4)"), HasSubstr("not known")));
  EXPECT_THAT(notes_of("MODEL = gll\n", {false, true}).at(0), HasSubstr("gll is not taken"));
  EXPECT_THAT(notes_of("USE_EXTERNAL_SOURCE_FILE = .true.\n", {true, false}).at(0), HasSubstr("own sources"));
  EXPECT_THAT(notes_of("NSTEP = 11\n").at(0), HasSubstr("line 1, too, which counts"));
}

TEST(SpecfemFiles, AParFileSaysHowTimesPlacesAndAttenuationAreMeant) {
  const auto par = [](const std::string& more) {
    return read_par_file("Par_file", "NSTEP = 10\nDT = 1d-2\n" + more);
  };
  EXPECT_TRUE(par("USE_RICKER_TIME_FUNCTION = .true.\n").ricker);
  EXPECT_FALSE(par("USE_RICKER_TIME_FUNCTION = .false.\n").ricker);
  EXPECT_TRUE(par("USE_SOURCES_RECEIVERS_Z = .true.\n").heights);
  EXPECT_EQ(par("SUPPRESS_UTM_PROJECTION = .false.\nUTM_PROJECTION_ZONE = -34\n").utm_zone, -34);
  EXPECT_FALSE(par("SUPPRESS_UTM_PROJECTION = .true.\nUTM_PROJECTION_ZONE = 11\n").utm_zone);
  EXPECT_TRUE(par("SUPPRESS_UTM_PROJECTION = .true.\n").in_metres);
  EXPECT_THAT(message([&] { par("SUPPRESS_UTM_PROJECTION = .false.\nUTM_PROJECTION_ZONE = 0\n"); }),
              AllOf(HasSubstr("Par_file:4: UTM_PROJECTION_ZONE"), HasSubstr("no zone")));
  const auto local = par("LTS_MODE = .true.\n");
  EXPECT_TRUE(local.own_step);
  EXPECT_THAT(local.notes.at(0), HasSubstr("LTS_MODE"));
  EXPECT_NEAR(
      par("USE_LDDRK = .true.\nINCREASE_CFL_FOR_LDDRK = .true.\nRATIO_BY_WHICH_TO_INCREASE_IT = 1.4\n").step,
      0.014, 1e-15);
  EXPECT_THAT(message([&] { par("ATTENUATION = .true.\nUSE_OLSEN_ATTENUATION = .true.\n"); }),
              HasSubstr("Par_file:4"));
  EXPECT_TRUE(par("USE_OLSEN_ATTENUATION = .true.\n").notes.empty());
  EXPECT_THAT(par("ATTENUATION = .true.\nCOMPUTE_FREQ_BAND_AUTOMATIC = .false.\n").notes.at(0),
              HasSubstr("MIN_ATTENUATION_PERIOD"));
  EXPECT_THAT(message([&] { par("MOVIE_SURFACE = .true.\nNTSTEP_BETWEEN_FRAMES = 5\nHDUR_MOVIE = 0.1\n"); }),
              HasSubstr("Par_file:5: HDUR_MOVIE"));
  EXPECT_FALSE(
      par("MOVIE_SURFACE = .true.\nNTSTEP_BETWEEN_FRAMES = 5\nSAVE_DISPLACEMENT = .true.\n").film_velocity);
  EXPECT_THAT(message([&] { par("PML_CONDITIONS = .true.\nSTACEY_ABSORBING_CONDITIONS = .true.\n"); }),
              HasSubstr("both"));
}

TEST(ElasticJobs, TakeFromAParFileWhatTheyLeaveOut) {
  const TemporaryFolder folder;
  folder.put("Par_file", par_file);
  folder.put("FORCESOLUTION", a_push_down);
  folder.put("STATIONS", "A1 TE 300 700 0 0\n");
  const auto made = [&](const std::string& more) {
    const std::string text = R"([mesh]
kind = "regular"
box = [0, 1000, 0, 600, -400, 0]
shape = [10, 6, 4]
[[model.body]]
kind = "layer"
bottom = -400
top = 0
density = 2000
velocity_p = 3000
velocity_s = 1700
quality_p = 90
quality_s = 40
[simulation]
physics = "elastic"
par_file = "Par_file"
)" + more + "[output]\nfiles = [\"a.nc\"]\n";
    return Simulation::from_job(Config::parse(text, "job.toml", folder / "."), {});
  };
  const auto problem = [](const auto& simulation) {
    return dynamic_cast<const Simulation&>(*simulation).problem();
  };
  const auto p = problem(made(""));
  EXPECT_EQ(p.step, 2e-3);
  EXPECT_EQ(p.end, 0.5);
  ASSERT_EQ(p.sources.size(), 1u);
  EXPECT_EQ(p.sources[0].at, (Vector{500, 300, -200}));
  EXPECT_EQ(p.receivers, (std::vector<Vector>{{700, 300, 0}}));
  EXPECT_EQ(p.reference_frequency, 0.3);
  EXPECT_EQ(p.mesh.absorbing.size(), 2u * 4 * (10 + 6));  // four sides and not the bottom
  EXPECT_TRUE(p.mesh.media[0].loses_energy());
  EXPECT_EQ(p.snapshots.every, 50u);
  const auto own =
      problem(made("end = 0.3\nabsorbing = []\n[source]\nat = [500, 300, -100]\n"
                   "force = [0, 0, 1]\nfrequency = 2\n[snapshots]\nevery = 0.02\n"));
  EXPECT_EQ(own.end, 0.3);
  EXPECT_EQ(own.step, 2e-3);
  EXPECT_TRUE(own.mesh.absorbing.empty());
  EXPECT_EQ(own.sources[0].at, (Vector{500, 300, -100}));
  EXPECT_EQ(own.snapshots.every, 10u);
  folder.put("Par_file", "NSTEP = 250\nDT = 0.002\nATTENUATION = .false.\n");
  folder.put("CMTSOLUTION", "no source\n");
  EXPECT_THAT(message([&] { made(""); }), HasSubstr("it has no sources"));
  const auto elastic = problem(made("[source]\nat = [500, 300, -100]\nforce = [0, 0, 1]\nfrequency = 2\n"));
  EXPECT_FALSE(elastic.mesh.media[0].loses_energy());
  EXPECT_TRUE(elastic.mesh.absorbing.empty());
}

TEST(ElasticJobs, TakeAFaultFromATableAndSayTheLargestMotionOfEachReceiver) {
  const TemporaryFolder folder;
  folder.put("fault.csv",
             "easting [m],northing [m],up [m],ee,nn,uu,nu,eu,en,delay [s]\n"
             "100,150,-150,0,0,0,0,0,1e12,0\n150,150,-150,0,0,0,0,0,2e12,0.1\n");
  std::string quantity;
  const auto made = [&](const std::string& table) {
    return Simulation::from_job(Config::parse(R"([mesh]
kind = "regular"
box = [0, 300, 0, 300, -300, 0]
shape = [3, 3, 3]
[[model.body]]
kind = "layer"
bottom = -300
top = 0
density = 2400
velocity_p = 3000
velocity_s = 1500
[survey]
kind = "list"
stations = [[150, 150, 0], [250, 150, 0]]
[simulation]
physics = "elastic"
end = 0.5
)" + quantity + R"([[source]]
pulse = "step"
delay = 0.05
)" + table + "[output]\nfiles = [\"a.nc\"]\n",
                                              "job.toml", folder / "."),
                                {});
  };
  const auto simulation = made("table = \"fault.csv\"\nduration = 0.1\n");
  const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
  ASSERT_EQ(p.sources.size(), 2u);
  EXPECT_EQ(p.sources[1].strength[5], 2e12);
  EXPECT_NEAR(p.sources[1].course.delay, 0.15, 1e-15);
  EXPECT_EQ(p.sources[0].course.width, 0.1);
  const auto result = simulation->run();
  const auto& traces = std::get<std::vector<double>>(result.data.find("displacement")->values);
  const auto& peaks = std::get<std::vector<double>>(result.data.find("peak_displacement")->values);
  ASSERT_EQ(peaks.size(), 2u);
  const std::size_t steps = p.steps();
  double most = 0;
  for (std::size_t n = 0; n < steps; ++n)
    most = std::max(most, std::hypot(traces[3 * steps + n], traces[4 * steps + n], traces[5 * steps + n]));
  EXPECT_NEAR(peaks[1] / most, 1, 1e-12);
  EXPECT_THAT(message([&] { made("table = \"fault.csv\"\n"); }), HasSubstr("duration"));

  quantity = "quantity = \"velocity\"\n";
  const auto shaking = made("table = \"fault.csv\"\nduration = 0.1\n")->run();
  const auto peak = [&](const char* name) {
    return std::get<std::vector<double>>(shaking.data.find(name)->values).at(1);
  };
  const auto horizontal = [&](std::size_t n) {
    return std::hypot(traces[3 * steps + n], traces[4 * steps + n]);
  };
  double furthest = 0, hardest = 0;
  for (std::size_t n = 1; n + 1 < steps; ++n) {
    furthest = std::max(furthest, horizontal(n));
    std::array<double, 2> second{};
    for (std::size_t c = 0; c < 2; ++c) {
      const double* const u = &traces[(3 + c) * steps + n];
      second[c] = (u[1] - 2 * u[0] + u[-1]) / (p.step * p.step);
    }
    hardest = std::max(hardest, std::hypot(second[0], second[1]));
  }
  EXPECT_NEAR(peak("peak_horizontal_displacement") / furthest, 1, 0.01);
  EXPECT_NEAR(peak("peak_horizontal_acceleration") / hardest, 1, 0.01);
}

TEST(ElasticJobs, ForeseeWhatAFaultTakesForThePointsThatItPushes) {
  const TemporaryFolder folder;
  const auto made = [&](std::size_t patches) {  // one in each element, and on none of its points
    std::string table = "easting [m],northing [m],up [m],ee,nn,uu,nu,eu,en,delay [s]\n";
    for (std::size_t n = 0; n < patches; ++n)
      table += fmt::format("{},{},{},0,0,0,0,0,1e12,0\n", 37 + 100 * (n % 6), 61 + 100 * (n / 6 % 6),
                           -43 - 100 * static_cast<int>(n / 36));
    folder.put("fault.csv", table);
    return Simulation::from_job(Config::parse(R"([mesh]
kind = "regular"
box = [0, 600, 0, 600, -300, 0]
shape = [6, 6, 3]
[[model.body]]
kind = "layer"
bottom = -300
top = 0
density = 2400
velocity_p = 3000
velocity_s = 1500
[survey]
kind = "list"
stations = [[150, 150, 0]]
[simulation]
physics = "elastic"
end = 0.1
[[source]]
pulse = "step"
delay = 0.05
table = "fault.csv"
duration = 0.1
[output]
files = ["a.nc"]
)",
                                              "job.toml", folder / "."),
                                {});
  };
  struct Bytes {
    double foreseen, taken;
  };
  const auto bytes = [&](std::size_t patches) -> Bytes {
    const auto simulation = made(patches);
    const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
    const Device debug{Device::Kind::debug, -1};
    Alone alone;
    const auto free = device_memory(debug).free;
    const auto field = make_field(p, make_part(p, 0, 1), {debug, 1, rows_at_once}, alone);
    Runtime on_cpu;
    on_cpu.device.kind = Device::Kind::cpu;
    return {static_cast<double>(simulation->check(on_cpu).memory_bytes),
            static_cast<double>(free - device_memory(debug).free)};
  };
  const auto point = bytes(1), fault = bytes(108);
  const double foreseen = fault.foreseen - point.foreseen, taken = fault.taken - point.taken;
  EXPECT_GT(taken, 12.0 * rows_at_once * 24 * 24 * 12);  // what is done to each point in each step
  EXPECT_GT(foreseen, taken);
  EXPECT_LT(foreseen, 2 * taken);
}

TEST(ElasticJobs, TakeThomsensParametersWithATiltedAxisFromTheModel) {
  const auto made = [](const std::string& more) {
    return Simulation::from_job(Config::parse(R"([mesh]
kind = "regular"
box = [0, 300, 0, 300, -300, 0]
shape = [3, 3, 3]
[[model.body]]
kind = "layer"
bottom = -300
top = 0
density = 2400
velocity_p = 3000
velocity_s = 1500
)" + more + R"([survey]
kind = "list"
stations = [[150, 150, -100]]
[source]
at = [150, 150, -150]
force = [0, 0, 1]
frequency = 1
[simulation]
physics = "elastic"
end = 0.5
[output]
files = ["a.nc"]
)"),
                                {});
  };
  // The axis leans 40 degrees towards the north-east and a little more east.
  const auto simulation = made("epsilon = 0.2\ndelta = 0.1\ngamma = 0.15\ntilt = 40\ntilt_azimuth = 60\n");
  const auto& rock = dynamic_cast<const Simulation&>(*simulation).problem().mesh.medium_of(0);
  EXPECT_FALSE(rock.isotropic);
  const double t = 40 * std::numbers::pi / 180, z = 60 * std::numbers::pi / 180;
  const Vector axis{std::sin(t) * std::sin(z), std::sin(t) * std::cos(z), std::cos(t)},
      across{std::cos(z), -std::sin(z), 0};
  EXPECT_NEAR(rock.speeds(axis)[0], 3000, 1e-6);
  EXPECT_NEAR(rock.speeds(axis)[1], 1500, 1e-6);
  EXPECT_NEAR(rock.speeds(across)[0], 3000 * std::sqrt(1.4), 1e-6);
  EXPECT_NEAR(rock.speeds(across)[1], 1500 * std::sqrt(1.3), 1e-6);
  EXPECT_THAT(message([&] { made("delta = -0.49\n"); }), HasSubstr("delta"));
  const auto lossy = made("epsilon = 0.1\nquality_s = 40\n");
  EXPECT_TRUE(dynamic_cast<const Simulation&>(*lossy).problem().mesh.media[0].loses_energy());
}

}  // namespace
}  // namespace terrane::elastic
