// Waves against values computed elsewhere, from solutions on paper: files in support/data that say how.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "support/acoustic_box.hpp"
#include "terrane/physics/acoustic/formula/time_dispersion.hpp"

namespace terrane::acoustic {
namespace {

using test::apart;

/// Rows of a file below its comments and its header, with a letter as a number of its own.
std::vector<std::vector<double>> rows_of_file(const std::string& name) {
  std::ifstream file(std::string(TERRANE_SOURCE_DIR) + "/tests/support/data/" + name);
  std::vector<std::vector<double>> rows;
  std::string line;
  bool header = true;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (header) {
      header = false;
      continue;
    }
    std::vector<double> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      row.push_back(cell[0] >= 'A' && cell[0] <= 'Z' ? cell[0] : std::strtod(cell.c_str(), nullptr));
    rows.push_back(row);
  }
  EXPECT_GT(rows.size(), 50U) << name;
  return rows;
}

/// The step that divides `spacing`, at most 0.9 of the longest stable one.
void take_steps_of(Problem& p, double spacing) {
  p.step = spacing / std::ceil(spacing / (0.9 * p.longest_step()));
}

/// Samples of one receiver at these times, which are at steps.
std::vector<double> at_times(const Problem& p, const std::vector<double>& all, std::size_t receiver,
                             const std::vector<double>& times) {
  std::vector<double> values;
  for (const double t : times)
    values.push_back(
        all[static_cast<std::size_t>(std::llround(t / p.step)) * p.shots[0].receivers.size() + receiver]);
  return values;
}

/// 2000 m/s about the source in the origin; nodes every 10 m, the uppermost at `top`.
Problem homogeneous(double top) {
  auto p = test::even_box({static_cast<Index>(std::lround((top + 155) / 10)), 39, 54}, 10, 2000);
  p.grid.first = {top - 10 * static_cast<double>(p.grid.nodes[0] - 1), -100, -330};
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), 2000.0);
  p.wavelet.frequency = 15;
  p.wavelet.delay = 0.1;
  test::all_sides(p, Boundary::cpml);
  p.end = 0.4;
  take_steps_of(p, 0.0125);
  return p;
}

struct Record {
  Place receiver;
  std::vector<double> times, direct, free, scattered;
};

std::map<int, Record> records() {
  std::map<int, Record> all;
  for (const auto& row : rows_of_file("acoustic_homogeneous.csv")) {
    auto& record = all[static_cast<int>(row[0])];
    record.receiver = {row[1], row[2], row[3]};
    record.times.push_back(row[4]);
    record.direct.push_back(row[5]);
    record.free.push_back(row[6]);
    record.scattered.push_back(row[7]);
  }
  return all;
}

TEST(AcousticReference, TheWaveOfAPointIsThatOfGreensFunction) {
  for (const auto equation : {Equation::constant_density, Equation::variable_density}) {
    auto p = homogeneous(250);
    p.equation = equation;
    if (equation == Equation::variable_density) p.density.assign(p.velocity.size(), 2300.0);
    const auto all = records();
    p.shots = {{{{0, 0, 0}}, {}}};
    for (const auto& [name, record] : all) p.shots[0].receivers.push_back(record.receiver);
    p.settle();
    const auto found = test::traces<float>(p, p.shots[0]);
    std::size_t r = 0;
    for (const auto& [name, record] : all)
      EXPECT_LT(apart(at_times(p, found, r++, record.times), record.direct), 5e-3) << name;
  }
}

TEST(AcousticReference, AFreeSurfaceSendsTheWaveOfGreensFunctionBack) {
  for (const auto equation : {Equation::constant_density, Equation::variable_density}) {
    auto p = homogeneous(85);  // whose upper face is at 90
    p.equation = equation;
    if (equation == Equation::variable_density) p.density.assign(p.velocity.size(), 2300.0);
    p.sides[up][1] = Boundary::free_surface;
    p.shots = {{{{0, 0, 0}}, {}}};
    std::vector<Record> below;
    for (const auto& [name, record] : records())
      if (record.receiver[2] < 90) {
        below.push_back(record);
        p.shots[0].receivers.push_back(record.receiver);
      }
    ASSERT_EQ(below.size(), 2U);
    p.settle();
    const auto found = test::traces<float>(p, p.shots[0]);
    for (std::size_t r = 0; r < below.size(); ++r)
      EXPECT_LT(apart(at_times(p, found, r, below[r].times), below[r].free), 6e-3) << r;
  }
}

TEST(AcousticReference, APointScattererSendsTheFieldOfBorn) {
  auto p = homogeneous(250);
  p.end = 0.5;
  const auto all = records();
  p.shots = {{{{0, 0, 0}}, {}}};
  for (const auto& [name, record] : all) p.shots[0].receivers.push_back(record.receiver);
  p.settle();
  std::vector<double> change(p.velocity.size(), 0.0);  // the last wave is there at 0.39 s
  const auto node = [&](int axis, double at) {
    return std::lround((at - p.grid.first[static_cast<std::size_t>(axis)]) / 10);
  };
  change[static_cast<std::size_t>((node(0, -120) * 39 + node(1, 90)) * 54 + node(2, 60))] = 1e-9;
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  Engine<float> engine(p, stream, alone);
  auto found = engine.born(p.shots[0], p.source_series(), change);
  warp(found, p.steps(), Dispersion::take_out, 0);
  std::size_t r = 0;
  for (const auto& [name, record] : all)
    EXPECT_LT(apart(at_times(p, found, r++, record.times), record.scattered), 1.2e-2) << name;
}

/// What the plane between two half-spaces sends back, at these offsets: with it less without it.
std::vector<std::vector<double>> reflections(double h, const std::vector<double>& offsets,
                                             const std::vector<double>& times) {
  auto p = test::even_box({static_cast<Index>(std::lround(350 / h)), static_cast<Index>(std::lround(100 / h)),
                           static_cast<Index>(std::lround(1000 / h))},
                          h, 2000);
  p.grid.first = {-100 + h / 2, -50 + h / 2, -50 + h / 2};  // the plane is at 0, on faces of cells
  p.equation = Equation::variable_density;
  p.density.assign(p.velocity.size(), 1000.0);
  p.wavelet.frequency = 12;
  p.wavelet.delay = 0.125;
  test::all_sides(p, Boundary::cpml);
  p.end = 0.96;
  p.shots = {{{{0, 0, 200}}, {}}};
  for (const double x : offsets) p.shots[0].receivers.push_back({x, 0, 150});
  auto layered = p;
  const auto below = static_cast<std::size_t>(std::lround(100 / h) * p.grid.nodes[1] * p.grid.nodes[2]);
  std::fill_n(layered.velocity.begin(), below, 3000.0);
  std::fill_n(layered.density.begin(), below, 2300.0);
  take_steps_of(layered, 0.02);
  p.step = layered.step;
  p.settle();
  layered.settle();
  const auto with = test::traces<float>(layered, layered.shots[0]),
             without = test::traces<float>(p, p.shots[0]);
  std::vector<double> back(with.size());
  for (std::size_t n = 0; n < back.size(); ++n) back[n] = with[n] - without[n];
  std::vector<std::vector<double>> all;
  for (std::size_t r = 0; r < offsets.size(); ++r) all.push_back(at_times(p, back, r, times));
  return all;
}

TEST(AcousticReference, APlaneBetweenRocksOfOtherDensityReflectsAsOnPaper) {
  std::map<int, std::vector<double>> paper;
  std::vector<double> times, offsets;
  for (const auto& row : rows_of_file("acoustic_half_spaces.csv")) {
    if (row[1] > 0.9401) continue;
    paper[static_cast<int>(row[0])].push_back(row[3]);
    if (row[0] == 0) times.push_back(row[1]);
    if (row[1] == 0) offsets.push_back(row[0]);
  }
  // 900 m is beyond the critical angle. Measured: see the theory page.
  const auto found = reflections(12.5, offsets, times);
  for (std::size_t r = 0; r < offsets.size(); ++r)
    EXPECT_LT(apart(found[r], paper[static_cast<int>(offsets[r])]), 2e-2) << offsets[r];
}

}  // namespace
}  // namespace terrane::acoustic
