// Models that are vectors, and data that are amplitudes: magnetizations of any direction.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "inversion/problems.hpp"
#include "terrane/inversion/data/amplitude.hpp"
#include "terrane/inversion/model/sparse.hpp"
#include "terrane/physics/magnetic/forward.hpp"
#include "terrane/solve/matrices/side_by_side.hpp"

namespace terrane::inversion {
namespace {

std::vector<double> normal_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& v : values) v = normal(random);
  return values;
}

/// All cells of mesh_b() but a corner, with depth weights; 3 components or 1.
Regulariser regulariser_of(std::size_t components, bool mapped, bool weights_in_gradients) {
  const auto mesh = mesh_b();
  std::vector<std::uint32_t> active;
  for (std::uint32_t c = 40; mapped && c < mesh.size(); ++c) active.push_back(c);
  return {mesh,
          active,
          Alphas::from_lengths({100, 200, 50}),
          depth_weights(mesh, active, 25, 3),
          weights_in_gradients,
          1,
          components};
}

TEST(VectorModels, TheModelNormIsTheSumOverTheComponents) {
  for (const bool mapped : {false, true})
    for (const bool inside : {false, true}) {
      const auto one = regulariser_of(1, mapped, inside), three = regulariser_of(3, mapped, inside);
      ASSERT_EQ(three.size(), 3 * one.size());
      EXPECT_EQ(three.exact(), one.exact());
      const auto v = normal_values(three.size(), 1);
      std::vector<double> out(v.size()), diagonal(v.size());
      auto solved = v;
      three.apply(v, out);
      three.diagonal(diagonal);
      three.solve(solved, 1e-10);
      double smallness = 0, flatness = 0;
      for (std::size_t n = 0; n < 3; ++n) {
        const auto part = std::span(v).subspan(n * one.size(), one.size());
        std::vector<double> alone(one.size()), of_one(one.size()), own(part.begin(), part.end());
        one.apply(part, alone);
        one.diagonal(of_one);
        one.solve(own, 1e-10);
        smallness += one.terms(part).smallness;
        flatness += one.terms(part).flatness[2];
        double largest = 0;
        for (const double x : own) largest = std::max(largest, std::fabs(x));
        for (std::size_t c = 0; c < one.size(); ++c) {
          ASSERT_EQ(out[n * one.size() + c], alone[c]);
          ASSERT_EQ(diagonal[n * one.size() + c], of_one[c]);
          ASSERT_NEAR(solved[n * one.size() + c], own[c], 1e-8 * largest);
        }
      }
      EXPECT_NEAR(three.terms(v).smallness, smallness, 1e-12 * smallness);
      EXPECT_NEAR(three.terms(v).flatness[2], flatness, 1e-12 * flatness);
    }
}

TEST(VectorModels, ArgumentsOfNormsAreLengthsThatNoRotationChanges) {
  const auto regulariser = regulariser_of(3, true, false);
  const auto v = normal_values(regulariser.size(), 2);
  const std::size_t n = regulariser.cells();
  auto turned = v;  // by 30° about north, then a cyclic change of axes
  for (std::size_t c = 0; c < n; ++c) {
    const double x = 0.5 * std::sqrt(3.0) * v[c] - 0.5 * v[2 * n + c],
                 z = 0.5 * v[c] + 0.5 * std::sqrt(3.0) * v[2 * n + c];
    turned[c] = z;
    turned[n + c] = x;
    turned[2 * n + c] = v[n + c];
  }
  const auto before = regulariser.magnitudes(v), after = regulariser.magnitudes(turned);
  std::size_t compared = 0;
  for (std::size_t t = 0; t < before.size(); ++t)
    for (std::size_t c = 0; c < before[t].size(); ++c) {
      ASSERT_EQ(std::isnan(before[t][c]), std::isnan(after[t][c]));
      if (std::isnan(before[t][c])) continue;
      ASSERT_NEAR(before[t][c], after[t][c], 1e-13 * (1 + before[t][c]));
      ++compared;
    }
  EXPECT_GT(compared, 3 * n);
  const std::size_t cell = 40;  // the first active one
  EXPECT_NEAR(before[0][cell], std::hypot(v[0], v[n], v[2 * n]), 1e-14);
}

const magnetic::MainField inducing_field{50'000e-9, 60, 10};
const std::vector<magnetic::Channel> components{magnetic::Channel::b_e, magnetic::Channel::b_n,
                                                magnetic::Channel::b_u};

/// Cells of 10 m below and around scattered stations, of which some are inside.
struct Magnets {
  PrismSet cells;
  gravity::KeptStations stations;
  std::vector<double> model;
  Magnets() {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
          cells.push_back({10.0 * i, 10.0 * i + 10, 10.0 * j, 10.0 * j + 10, 10.0 * k - 30, 10.0 * k - 20});
    model = normal_values(3 * cells.size(), 3);
    const auto places = normal_values(60, 4);
    for (std::size_t s = 0; s < 20; ++s) {
      stations.easting.push_back(20 + 13 * places[s]);
      stations.northing.push_back(20 + 13 * places[20 + s]);
      stations.up.push_back(12 * places[40 + s]);
    }
  }
  /// G of these channels for the magnetizations of the cells.
  std::shared_ptr<const solve::LinearOperator> g(const std::vector<magnetic::Channel>& channels) const {
    std::vector<std::shared_ptr<const solve::LinearOperator>> parts;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::array<double, 3> by_unit{};
      by_unit[axis] = magnetic::mu0_over_4pi;
      std::vector<gravity::Observable> all;
      for (const auto channel : channels)
        all.push_back(magnetic::observable(magnetic::direction_of(channel, inducing_field), by_unit));
      parts.push_back(std::make_shared<solve::DenseOperator<double>>(
          gravity::SensitivityColumns(cells, stations, all, 1e-12)));
    }
    return std::make_shared<solve::SideBySide>(std::move(parts));
  }
};

TEST(Magnetizations, OfCellsHaveTheFieldOfTheForwardRunAndItsTransposeIsExact) {
  const Magnets at;
  auto channels = components;
  channels.push_back(magnetic::Channel::tmi);
  const auto g = at.g(channels);
  const std::size_t n = at.cells.size(), stations = at.stations.size();
  ASSERT_EQ(g->columns(), 3 * n);
  std::vector<double> data(g->rows()), zero(n);
  g->apply(at.model, data);
  magnetic::Magnetization m;
  for (std::size_t a = 0; a < 3; ++a)
    m[a].assign(at.model.begin() + static_cast<std::ptrdiff_t>(a * n),
                at.model.begin() + static_cast<std::ptrdiff_t>((a + 1) * n));
  const auto& c = at.cells;
  gravity::Parameters parameters;
  parameters.method = gravity::Method::direct;
  const auto field = magnetic::forward({c.west, c.east, c.south, c.north, c.bottom, c.top, zero}, m,
                                       at.stations.view(), parameters);
  EXPECT_FALSE(field.inside.empty());
  const auto tmi = magnetic::total_field_anomaly(field, inducing_field);
  const double* right[] = {field.b[0].data(), field.b[1].data(), field.b[2].data(), tmi.data()};
  double largest = 0;
  for (const double d : data) largest = std::max(largest, std::fabs(d));
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_NEAR(data[i], right[i / stations][i % stations], 1e-9 * largest) << "row " << i;
  EXPECT_LT(solve::dot_product_test(*g, at.model, normal_values(g->rows(), 5)), 1e-15);
  const auto weight = std::vector<double>(g->rows(), 2.0);
  std::vector<double> diagonal(g->columns()), row(g->columns()), sums(g->columns());
  g->weighted_diagonal(weight, diagonal);
  for (std::size_t i = 0; i < g->rows(); ++i) {
    g->row(i, row);
    for (std::size_t k = 0; k < row.size(); ++k) sums[k] += 2 * row[k] * row[k];
  }
  for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_NEAR(diagonal[k], sums[k], 1e-12 * sums[k]);
}

TEST(Amplitudes, AreLengthsOfTheFieldAndTheirDerivativeIsThatOfDifferences) {
  const Magnets at;
  auto channels = std::vector{magnetic::Channel::tmi};  // tmi, then the three rows of an amplitude
  channels.insert(channels.end(), components.begin(), components.end());
  const auto g = at.g(channels);
  const std::size_t stations = at.stations.size();
  const AmplitudeForward forward(g, stations, {1, 3});
  const auto here = forward.at(at.model);
  ASSERT_EQ(here.data.size(), 2 * stations);
  std::vector<double> b(g->rows());
  g->apply(at.model, b);
  for (std::size_t s = 0; s < stations; ++s) {
    EXPECT_EQ(here.data[s], b[s]);
    EXPECT_NEAR(here.data[stations + s],
                std::hypot(b[stations + s], b[2 * stations + s], b[3 * stations + s]),
                1e-15 * here.data[stations + s]);
  }
  const auto step = normal_values(at.model.size(), 6);
  std::vector<double> slope(here.data.size());
  here.jacobian->apply(step, slope);
  auto ahead = at.model, behind = at.model;
  constexpr double h = 1e-5;
  for (std::size_t c = 0; c < step.size(); ++c) ahead[c] += h * step[c], behind[c] -= h * step[c];
  const auto after = forward.at(ahead).data, before = forward.at(behind).data;
  double largest = 0;
  for (const double s : slope) largest = std::max(largest, std::fabs(s));
  for (std::size_t i = 0; i < slope.size(); ++i)
    EXPECT_NEAR(slope[i], (after[i] - before[i]) / (2 * h), 1e-6 * largest) << "datum " << i;
  EXPECT_LT(solve::dot_product_test(*here.jacobian, step, normal_values(slope.size(), 7)), 1e-15);
  const auto at_zero = forward.at(std::vector<double>(at.model.size()));
  at_zero.jacobian->apply(step, slope);
  for (std::size_t s = 0; s < stations; ++s) EXPECT_EQ(slope[stations + s], 0);
  EXPECT_THROW(AmplitudeForward(g, stations, {1, 1}), ShapeError);
}

}  // namespace
}  // namespace terrane::inversion
