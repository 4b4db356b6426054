// G and Gᵀ on devices beside those of the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "devices/device.hpp"
#include "support/worse.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/solve/matrices/kronecker.hpp"

namespace terrane::gravity {
namespace {

using solve::PartedOperator;
using Operator = std::shared_ptr<const PartedOperator>;

std::vector<double> numbers(std::size_t n, unsigned seed, double low = -1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, 1);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

/// Largest difference, relative to the largest value of each block of `n`: observables differ by decades.
double off_by(std::span<const double> a, std::span<const double> b, std::size_t n) {
  double worst = 0;
  for (std::size_t first = 0; first < a.size(); first += n) {
    double most = 0, difference = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      most = std::max(most, std::fabs(b[i]));
      difference = worse(difference, std::fabs(a[i] - b[i]));
    }
    worst = worse(worst, difference / most);
  }
  return worst;
}

/// Cells of all shapes, flat ones too; stations near, far, above corners, on a face and inside of a cell.
std::shared_ptr<const SensitivityColumns> scattered(const std::vector<Channel>& channels, double accuracy,
                                                    std::size_t stations = 77) {
  const TensorMesh mesh({-300, -290, -100, 0, 40, 90, 400}, {-200, -50, 0, 60, 61, 300},
                        {-450, -250, -100, -30, 0});
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 5 != 2) cells.push_back(mesh.prism(c));
  KeptStations at;
  const auto e = numbers(stations, 1), n = numbers(stations, 2), u = numbers(stations, 3, 0);
  for (std::size_t s = 0; s < stations; ++s) {
    const double reach = s % 3 == 0 ? 5000 : 400;
    at.easting.push_back(reach * e[s]);
    at.northing.push_back(reach * n[s]);
    at.up.push_back(1 + 60 * u[s]);
  }
  const double special[][3] = {{40, 60, 1}, {20, 30, 0.01}, {20, 30, 5}, {0, 0, 12}};
  for (std::size_t s = 0; s < 4; ++s) {
    at.easting[s] = special[s][0];
    at.northing[s] = special[s][1];
    at.up[s] = special[s][2];
  }
  std::vector<Observable> observables;
  for (const auto c : channels) observables.push_back(Observable::of(c, default_gravitational_constant));
  return std::make_shared<SensitivityColumns>(cells, at, observables, accuracy);
}

const std::vector<std::vector<Channel>> sets_of_channels{
    {Channel::g_u}, {Channel::g_uu, Channel::g_en}, {Channel::g_e, Channel::g_u, Channel::g_nn}};

class SensitivityOn : public test::OnDevice {};

void expect_as(const PartedOperator& mine, const PartedOperator& right, std::size_t stations, double bound) {
  const auto m = numbers(right.columns(), 4), d = numbers(right.rows(), 5), w = numbers(right.rows(), 6, 0);
  std::vector<double> a(right.rows()), b(right.rows()), at(right.columns()), bt(right.columns());
  EXPECT_LT(solve::dot_product_test(mine, m, d), 1e-12);
  mine.apply(m, a);
  right.apply(m, b);
  EXPECT_LT(off_by(a, b, stations), bound);
  mine.apply_transpose(d, at);
  right.apply_transpose(d, bt);
  EXPECT_LT(off_by(at, bt, at.size()), bound);
  mine.weighted_diagonal(w, at);
  right.weighted_diagonal(w, bt);
  EXPECT_LT(off_by(at, bt, at.size()), 2 * bound);
}

TEST_P(SensitivityOn, EveryPairIsThatOfTheProcessors) {
  for (const auto& channels : sets_of_channels)
    for (const double accuracy : {1e-12, 1e-9}) {
      const auto source = scattered(channels, accuracy);
      const solve::DenseOperator<double> dense(*source);
      const std::size_t stations = source->stations().size();
      const double bound = accuracy < 1e-10 ? 1e-12 : 2e-9;
      expect_as(*sensitivity_on_device(GetParam(), source, KeptEntries::none), dense, stations, bound);
      expect_as(*sensitivity_on_device(GetParam(), source, KeptEntries::double_precision), dense, stations,
                bound);
      expect_as(*sensitivity_on_device(GetParam(), source, KeptEntries::single_precision), dense, stations,
                2e-7);
    }
}

TEST_P(SensitivityOn, ALatticeIsThatOfTheProcessors) {
  const auto mesh = TensorMesh::regular({0, 1000, 0, 800, -450, 0}, {20, 16, 9});
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 7 != 1) cells.push_back(mesh.prism(c));
  KeptStations at;
  for (int j = -2; j < 15; ++j)
    for (int i = 0; i < 44; ++i) {  // twice as fine: four groups; and twice at one place
      at.easting.push_back(25 * std::min(i, 42));
      at.northing.push_back(25 + 50 * j);
      at.up.push_back(10);
    }
  std::vector<Observable> observables;
  for (const auto c : {Channel::g_u, Channel::g_uu, Channel::g_eu})
    observables.push_back(Observable::of(c, default_gravitational_constant));
  std::string reason;
  const std::vector<double> ones(cells.size(), 1);
  const auto lattice = recognise_lattice(
      {cells.west, cells.east, cells.south, cells.north, cells.bottom, cells.top, ones}, at.view(), reason);
  ASSERT_TRUE(lattice) << reason;
  const LatticeSensitivity host(*lattice, at.size(), observables);
  const auto device = lattice_sensitivity_on_device(GetParam(), *lattice, at.size(), observables);
  expect_as(*device, host, at.size(), 1e-12);
}

/// Enough cells for blocks, clusters of clusters and stations near and far; cells of all shapes.
std::shared_ptr<const SensitivityColumns> below_hills(const std::vector<Channel>& channels,
                                                      std::size_t stations) {
  std::vector<double> east{0}, up{-600, -450, -340, -250, -180, -120, -75, -40, -15, 0};
  for (int i = 0; i < 14; ++i) east.push_back(east.back() + 25 + (i % 3) * 10);
  const TensorMesh mesh(east, east, up);
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 11 != 3) cells.push_back(mesh.prism(c));
  KeptStations at;
  const auto e = numbers(stations, 1), n = numbers(stations, 2), u = numbers(stations, 3, 0);
  for (std::size_t s = 0; s < stations; ++s) {
    at.easting.push_back(0.5 * east.back() * (1 + 1.3 * e[s]));
    at.northing.push_back(0.5 * east.back() * (1 + 1.3 * n[s]));
    at.up.push_back(1 + 80 * u[s]);
  }
  std::vector<Observable> observables;
  for (const auto c : channels) observables.push_back(Observable::of(c, default_gravitational_constant));
  return std::make_shared<SensitivityColumns>(cells, at, observables, 1e-9);
}

TEST_P(SensitivityOn, ATreeIsThatOfTheProcessors) {
  for (const auto& channels : sets_of_channels)
    for (const double accuracy : {1e-3, 1e-7}) {  // orders of two kinds of kernels
      const auto source = below_hills(channels, 133);
      const TreeSensitivity host(*source, accuracy);
      expect_as(*tree_sensitivity_on_device(GetParam(), *source, accuracy), host, source->stations().size(),
                1e-12);
    }
}

TEST_P(SensitivityOn, ATreeForASumOfChannelsIsThatOfTheProcessors) {  // as magnetic anomalies are
  const auto plain = below_hills({Channel::g_u}, 65);
  Observable mixed;
  for (std::size_t c = 0; c < channel_count; ++c)
    mixed.weight[c] = (static_cast<double>(c % 3) - 0.7) * std::pow(80, c > 3 ? 2 : 1);
  const SensitivityColumns source(plain->cells(), plain->stations(), {mixed}, 1e-9);
  expect_as(*tree_sensitivity_on_device(GetParam(), source, 1e-5), TreeSensitivity(source, 1e-5), 65, 1e-12);
}

TEST_P(SensitivityOn, ATreeServesOneCellAndOneStation) {
  const SensitivityColumns source(
      [] {
        PrismSet one;
        one.push_back({0, 10, 0, 20, -5, 0});
        return one;
      }(),
      {{500}, {3}, {1}}, {Observable::of(Channel::g_u, 1)}, 1e-9);
  expect_as(*tree_sensitivity_on_device(GetParam(), source, 1e-5), TreeSensitivity(source, 1e-5), 1, 1e-12);
}

/// What one rank has of two, put together.
void expect_whole_of_shares(const Operator& whole, const std::vector<Operator>& shares) {
  const auto m = numbers(whole->columns(), 7), d = numbers(whole->rows(), 8);
  std::vector<double> sums(whole->parts() * whole->rows()), again(sums.size()), model(whole->columns()),
      in_shares(whole->columns());
  whole->apply_parts({0, whole->parts()}, m, sums);
  whole->transpose_parts({0, whole->parts()}, d, model);
  for (const auto& share : shares) {
    const auto held = share->held();
    share->apply_parts(held, m,
                       std::span(again).subspan(held.first * whole->rows(), held.size() * whole->rows()));
    share->transpose_parts(held, d, in_shares);
  }
  EXPECT_EQ(sums, again);
  EXPECT_EQ(model, in_shares);
}

TEST_P(SensitivityOn, SharesOfTwoAndThreeRanksHaveTheBitsOfOne) {
  const auto source = scattered({Channel::g_u, Channel::g_uu}, 1e-9);
  for (const auto kept : {KeptEntries::none, KeptEntries::single_precision})
    for (const std::size_t ranks : {2U, 3U}) {
      std::vector<Operator> shares;
      for (std::size_t r = 0; r < ranks; ++r)
        shares.push_back(sensitivity_on_device(GetParam(), source, kept, 0, nullptr, {r, ranks}));
      expect_whole_of_shares(sensitivity_on_device(GetParam(), source, kept), shares);
    }
}

TEST_P(SensitivityOn, TreesOfTwoAndThreeRanksHaveTheBitsOfOne) {
  const auto source = below_hills({Channel::g_u}, 133);
  for (const std::size_t ranks : {2U, 3U}) {
    std::vector<Operator> shares;
    for (std::size_t r = 0; r < ranks; ++r)
      shares.push_back(tree_sensitivity_on_device(GetParam(), *source, 1e-4, 0, nullptr, {r, ranks}));
    expect_whole_of_shares(tree_sensitivity_on_device(GetParam(), *source, 1e-4), shares);
  }
}

TEST_P(SensitivityOn, TheInverseOfTheRegulariserIsThatOfTheProcessors) {
  std::array<std::vector<double>, 3> widths;
  for (const double w : {5, 7, 10, 14, 20, 30, 30}) widths[0].push_back(w);
  for (const double w : {20, 10, 10, 10, 20}) widths[1].push_back(w);
  for (const double w : {40, 30, 20, 10, 5, 5}) widths[2].push_back(w);
  const std::array<double, 4> alpha{1, 400, 300, 900};
  solve::KroneckerInverse host(widths, alpha), device(widths, alpha);
  device.move_to(GetParam());
  auto a = numbers(host.size(), 9), b = a;
  host.apply(a);
  device.apply(b);
  EXPECT_LT(off_by(b, a, a.size()), 1e-13);
}

TERRANE_ON_EVERY_DEVICE(SensitivityOn);

}  // namespace
}  // namespace terrane::gravity
