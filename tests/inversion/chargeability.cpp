// Chargeabilities from apparent ones, where resistivities are known.
#include "terrane/physics/electric/inverse/chargeability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/physics/electric/inverse/direct_current.hpp"

namespace terrane::inversion {
namespace {

using namespace electric::inverse;

constexpr Device processor{Device::Kind::cpu, -1};

TensorMesh cells_of_line() {
  std::vector<double> east{-150, -80, -45}, north{-90, -45, -20, -10, 0, 10, 20, 45, 90}, up{-120, -60, -35};
  for (int n = -6; n <= 6; ++n) east.push_back(5 * n);
  east.insert(east.end(), {45, 80, 150});
  for (int n = -4; n <= 0; ++n) up.push_back(5 * n);
  return {east, north, up};
}

/// Dipole-dipole along easting.
electric::Electrodes line() {
  electric::Electrodes made;
  for (int n = -4; n <= 4; ++n) made.place.push_back({7.5 * n, 1, 0});
  for (int level = 1; level < 5; ++level)
    for (int n = 0; n + 2 + level < 9; ++n) made.arrays.push_back({n + 1, n, n + 1 + level, n + 2 + level});
  return made;
}

electric::Medium rock_with_a_block(const TensorMesh& mesh, double chargeability) {
  electric::Medium medium;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto p = mesh.prism(c);
    const bool inside =
        p.west >= -10 && p.east <= 15 && p.top <= -5 && p.bottom >= -15 && p.south >= -20 && p.north <= 20;
    medium.conductivity.push_back(inside ? 0.02 : 0.01);
    medium.chargeability.push_back(inside ? chargeability : 0);
  }
  return medium;
}

/// −J as a job has it: by F(e^m) of ln ρ.
std::shared_ptr<const solve::LinearOperator> g_of(const TensorMesh& mesh, const electric::Medium& medium) {
  std::vector<double> log_resistivity;
  for (const double sigma : medium.conductivity) log_resistivity.push_back(-std::log(sigma));
  const LogarithmForward physics(std::make_shared<DirectCurrent>(
      mesh, std::vector<std::uint32_t>{}, std::vector<double>{}, line(),
      electric::Parameters{.tolerance = 1e-11}, electric::Datum::log_apparent_resistivity, processor, 2));
  return physics.at(log_resistivity).jacobian;
}

std::vector<double> measured(const TensorMesh& mesh, const electric::Medium& medium) {
  Stream stream(processor);
  return electric::direct_current(mesh, medium, line(),
                                  {.potential = electric::Potential::total, .tolerance = 1e-11}, stream)
      .chargeability;
}

TEST(Chargeability, OfGroundThatIsAllAlikeIsTheApparentOne) {
  const auto mesh = cells_of_line();
  const auto g = g_of(mesh, rock_with_a_block(mesh, 0));
  std::vector<double> apparent(g->rows());
  g->apply(std::vector<double>(mesh.size(), 0.07), apparent);
  for (const double m : apparent) EXPECT_NEAR(m, 0.07, 1e-9);
  MeanOfCells(g->rows(), mesh.size()).apply(std::vector<double>(mesh.size(), 0.07), apparent);
  for (const double m : apparent) EXPECT_NEAR(m, 0.07, 1e-15);
}

TEST(Chargeability, IsThatOfTheSensitivityByConductivities) {
  const auto mesh = cells_of_line();
  const auto medium = rock_with_a_block(mesh, 0);
  electric::Medium plain;
  plain.conductivity = medium.conductivity;
  Stream stream(processor);
  const auto j = std::make_shared<electric::Sensitivity>(
      mesh, plain, line(), electric::Parameters{.tolerance = 1e-11},
      electric::Datum::log_apparent_resistivity, electric::Unknown::log_conductivity, stream);
  const std::vector<std::uint32_t> active{3, 40, 41, 200};
  const auto of_some = operator_of_charges(j, active, active.size());
  const auto g = g_of(mesh, medium);
  std::vector<double> all(mesh.size()), some(active.size());
  for (std::size_t i = 0; i < g->rows(); i += 5) {
    g->row(i, all);
    of_some->row(i, some);
    for (std::size_t c = 0; c < active.size(); ++c)
      EXPECT_NEAR(some[c], all[active[c]], 1e-9 * std::abs(all[active[c]]) + 1e-15);
  }
}

TEST(Chargeability, IsLinearUpToTheSquareOfIt) {
  const auto mesh = cells_of_line();
  double left[2] = {};
  for (int half = 0; half < 2; ++half) {
    const auto medium = rock_with_a_block(mesh, half == 0 ? 0.04 : 0.02);
    const auto exact = measured(mesh, medium);
    std::vector<double> linear(exact.size());
    g_of(mesh, medium)->apply(medium.chargeability, linear);
    for (std::size_t n = 0; n < exact.size(); ++n) left[half] += std::pow(exact[n] - linear[n], 2);
  }
  EXPECT_NEAR(std::sqrt(left[0] / left[1]), 4, 0.2);
}

TEST(Chargeability, OfABlockIsFoundFromNoisyData) {
  const auto mesh = cells_of_line();
  const auto medium = rock_with_a_block(mesh, 0.1);
  auto apparent = measured(mesh, medium);
  std::mt19937 generator(3);
  std::normal_distribution<double> noise(0, 1e-3);
  for (double& m : apparent) m += noise(generator);
  const std::size_t count = apparent.size();
  auto problem = problem_of_charges(mesh, {}, apparent, std::vector<double>(count, 1e-3));
  problem.g = in_memory(*g_of(mesh, medium), 2);
  Settings settings;
  settings.alphas = Alphas::from_lengths({15, 30, 10});
  settings.weighting = Weighting::sensitivity;
  settings.tolerance = tolerance_of_charges;
  const auto found = invert(problem, settings);
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.chi_squared.front(), 1, 0.03);
  double inside = 0, beside = 0, cells = 0, others = 0;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    EXPECT_GE(found.model[c], 0);
    EXPECT_LE(found.model[c], most_chargeability);
    const auto p = mesh.prism(c);
    if (p.west < -30 || p.east > 30 || p.bottom < -20 || p.south < -20 || p.north > 20) continue;
    const bool block = medium.chargeability[c] > 0;
    (block ? inside : beside) += found.model[c];
    (block ? cells : others) += 1;
  }
  EXPECT_GT(inside / cells, 0.03);
  EXPECT_LT(inside / cells, 0.2);
  EXPECT_GT(inside / cells, 3 * beside / others);
}

TEST(Chargeability, ThatCannotBeIsRefused) {
  const auto message = [](std::vector<double> apparent, double most) -> std::string {
    try {
      problem_of_charges(cells_of_line(), {}, apparent, std::vector<double>(apparent.size(), 0.01), most);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  using testing::HasSubstr;
  EXPECT_THAT(message({0.1, 20, NAN, 30}, 0.9), HasSubstr("2 of 4 apparent chargeabilities"));
  EXPECT_THAT(message({0.1, 20, NAN, 30}, 0.9), HasSubstr("array 2, 20 V/V"));
  EXPECT_THAT(message({0.1, -1}, 0.9), HasSubstr("[mV/V]"));
  for (const double most : {0.0, 1.0, -0.5, std::nan("")})
    EXPECT_THAT(message({0.1}, most), HasSubstr("below 1"));
  EXPECT_EQ(message({0.1, -0.01, NAN}, 0.9), "");  // apparent ones may be below zero
}

}  // namespace
}  // namespace terrane::inversion
