// Sensitivities: the columns that cells cause, and G and Gᵀ in every storage, beside the forward calculation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"

namespace terrane::gravity {
namespace {

using solve::LinearOperator;

std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

PrismSet cells_of(const TensorMesh& mesh, std::size_t leave_out = 0) {
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (leave_out == 0 || c % leave_out != 1) cells.push_back(mesh.prism(c));
  return cells;
}

KeptStations station_grid(std::size_t nx, std::size_t ny, double first, double step, double up) {
  KeptStations stations;
  for (std::size_t j = 0; j < ny; ++j)
    for (std::size_t i = 0; i < nx; ++i) {
      stations.easting.push_back(first + step * static_cast<double>(i));
      stations.northing.push_back(first + step * static_cast<double>(j));
      stations.up.push_back(up);
    }
  return stations;
}

double largest_of(std::span<const double> a) {
  double most = 0;
  for (const double v : a) most = std::max(most, std::fabs(v));
  return most;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = worse(most, std::fabs(a[i] - b[i]));
  return most;
}

constexpr double g_constant = default_gravitational_constant;

std::vector<Observable> plain(ChannelSet channels) {
  std::vector<Observable> all;
  for (const auto c : channels.list()) all.push_back(Observable::of(c, g_constant));
  return all;
}

std::vector<double> forward_of(const PrismSet& p, const std::vector<double>& density,
                               const KeptStations& stations, ChannelSet channels) {
  Parameters parameters;
  parameters.channels = channels;
  parameters.method = Method::direct;
  std::vector<double> all(channels.size() * stations.size());
  Fields out{channels, {}, {}};
  for (std::size_t c = 0; c < channels.size(); ++c)
    out.values.push_back(std::span(all).subspan(c * stations.size(), stations.size()));
  forward({p.west, p.east, p.south, p.north, p.bottom, p.top, density}, stations.view(), parameters, out);
  return all;
}

TEST(GravitySensitivity, GTimesTheDensitiesIsTheForwardCalculation) {
  const TensorMesh mesh({-300, -100, 0, 40, 90, 400}, {-200, -50, 0, 60, 300}, {-250, -100, -30, 0});
  const auto cells = cells_of(mesh, 4);
  auto stations = station_grid(9, 8, -180, 47, 12);
  for (std::size_t s = 0; s < stations.size(); ++s) stations.up[s] += static_cast<double>(s % 7);
  stations.easting[3] = 40;  // above corners of cells, and on their sides' planes
  stations.northing[3] = 60;
  const auto density = random_values(cells.size(), 1);
  for (const ChannelSet channels :
       {ChannelSet{Channel::g_u}, ChannelSet{Channel::g_e}, ChannelSet{Channel::g_nn},
        ChannelSet{Channel::g_eu}, ChannelSet{Channel::g_u, Channel::g_uu}, tensor_channels,
        ChannelSet::all()}) {
    const SensitivityColumns source(cells, stations, plain(channels), 1e-12);
    const solve::DenseOperator<double> g(source);
    std::vector<double> data(g.rows());
    g.apply(density, data);
    const auto expected = forward_of(cells, density, stations, channels);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const auto mine = std::span(data).subspan(c * stations.size(), stations.size());
      const auto theirs = std::span(expected).subspan(c * stations.size(), stations.size());
      EXPECT_LT(largest_difference(mine, theirs), 2e-12 * largest_of(theirs)) << name(channels.list()[c]);
    }
  }
}

TEST(GravitySensitivity, EveryStorageHasTheDotProductOfItsTranspose) {
  const auto mesh = TensorMesh::regular({0, 1000, 0, 800, -400, 0}, {20, 16, 8});
  const auto stations = station_grid(17, 13, 25, 50, 10);
  const auto source = std::make_shared<SensitivityColumns>(cells_of(mesh), stations,
                                                           plain({Channel::g_u, Channel::g_uu}), 1e-9);
  const solve::DenseOperator<double> wide(*source);
  const solve::DenseOperator<float> narrow(*source);
  const solve::OnTheFlyOperator fly(source);
  std::string reason;
  const PrismSet& p = source->cells();
  const std::vector<double> ones(p.size(), 1);
  auto lattice =
      recognise_lattice({p.west, p.east, p.south, p.north, p.bottom, p.top, ones}, stations.view(), reason);
  ASSERT_TRUE(lattice) << reason;
  const LatticeSensitivity fft(*lattice, stations.size(), source->observables());
  const auto m = random_values(wide.columns(), 2);
  auto d = random_values(wide.rows(), 3);
  for (const LinearOperator* g : std::initializer_list<const LinearOperator*>{&wide, &narrow, &fly, &fft})
    EXPECT_LT(dot_product_test(*g, m, d), 1e-12);  // 1e-16 measured
}

TEST(GravitySensitivity, TheLatticeAgreesWithTheMatrixForOverhangingStationsAndMissingCells) {
  const auto mesh = TensorMesh::regular({0, 1000, 0, 1000, -500, 0}, {20, 20, 10});
  const auto cells = cells_of(mesh, 5);
  // Over centres, over corners, twice as fine, and beyond the mesh.
  for (const auto& stations : {station_grid(20, 20, 25, 50, 10), station_grid(31, 17, -200, 50, 30),
                               station_grid(25, 25, 0, 25, 10)}) {
    std::vector<Observable> observables = plain({Channel::g_u, Channel::g_uu, Channel::g_eu});
    Observable mixed;  // as of a magnetic anomaly
    for (const auto c : tensor_channels.list())
      mixed.weight[static_cast<std::size_t>(c)] = 0.1 + 0.2 * static_cast<double>(c);
    observables.push_back(mixed);
    const SensitivityColumns source(cells, stations, observables, 2e-15);
    const solve::DenseOperator<double> dense(source);
    std::string reason;
    const std::vector<double> ones(cells.size(), 1);
    auto lattice =
        recognise_lattice({cells.west, cells.east, cells.south, cells.north, cells.bottom, cells.top, ones},
                          stations.view(), reason);
    ASSERT_TRUE(lattice) << reason;
    const LatticeSensitivity fft(*lattice, stations.size(), observables);
    const auto m = random_values(dense.columns(), 4);
    const std::size_t n = stations.size();
    for (std::size_t o = 0; o < observables.size(); ++o) {
      // One observable at a time: they differ by orders of magnitude.
      std::vector<double> d(dense.rows()), w(dense.rows());
      const auto some = random_values(n, 5);
      for (std::size_t s = 0; s < n; ++s) {
        d[o * n + s] = some[s];
        w[o * n + s] = some[s] * some[s];
      }
      std::vector<double> a(dense.rows()), b(dense.rows()), at(dense.columns()), bt(dense.columns());
      dense.apply(m, a);
      fft.apply(m, b);
      const auto mine = std::span(b).subspan(o * n, n), theirs = std::span(a).subspan(o * n, n);
      EXPECT_LT(largest_difference(mine, theirs), 2e-13 * largest_of(theirs)) << o;
      dense.apply_transpose(d, at);
      fft.apply_transpose(d, bt);
      EXPECT_LT(largest_difference(at, bt), 2e-13 * largest_of(at)) << o;
      dense.weighted_diagonal(w, at);
      fft.weighted_diagonal(w, bt);
      EXPECT_LT(largest_difference(at, bt), 2e-12 * largest_of(at)) << o;
    }
  }
}

TEST(GravitySensitivity, HasTheSameBitsForAnyNumberOfThreads) {
  const auto mesh = TensorMesh::regular({0, 1000, 0, 800, -400, 0}, {20, 16, 8});
  const auto stations = station_grid(20, 16, 25, 50, 10);
  const SensitivityColumns source(cells_of(mesh), stations, plain({Channel::g_u}), 1e-9);
  const PrismSet& p = source.cells();
  const std::vector<double> ones(p.size(), 1);
  std::string reason;
  const auto lattice =
      recognise_lattice({p.west, p.east, p.south, p.north, p.bottom, p.top, ones}, stations.view(), reason);
  ASSERT_TRUE(lattice) << reason;
  const auto m = random_values(p.size(), 6), d = random_values(source.rows(), 7);
  std::vector<std::vector<double>> dense, fft, dense_back, fft_back;
  for (const int threads : {1, 2, 3}) {
    const solve::DenseOperator<float> g(source, threads);
    const LatticeSensitivity h(*lattice, stations.size(), source.observables(), threads);
    g.apply(m, dense.emplace_back(g.rows()));
    h.apply(m, fft.emplace_back(g.rows()));
    g.apply_transpose(d, dense_back.emplace_back(g.columns()));
    h.apply_transpose(d, fft_back.emplace_back(g.columns()));
  }
  for (std::size_t t : {1U, 2U}) {
    EXPECT_EQ(dense[t], dense[0]);
    EXPECT_EQ(fft[t], fft[0]);
    EXPECT_EQ(dense_back[t], dense_back[0]);
    EXPECT_EQ(fft_back[t], fft_back[0]);
  }
}

TEST(GravitySensitivity, SinglePrecisionKeepsSevenDigitsOfARow) {
  const auto mesh = TensorMesh::regular({0, 1000, 0, 1000, -500, 0}, {20, 20, 10});
  const SensitivityColumns source(cells_of(mesh), station_grid(5, 5, 30, 210, 10),
                                  plain({Channel::g_u, Channel::g_uu}), 1e-9);
  const solve::DenseOperator<double> wide(source);
  const solve::DenseOperator<float> narrow(source);
  std::vector<double> a(wide.columns()), b(wide.columns());
  for (std::size_t i = 0; i < wide.rows(); i += 7) {
    wide.row(i, a);
    narrow.row(i, b);
    double difference = 0, size = 0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      difference += (a[j] - b[j]) * (a[j] - b[j]) * 1e48;
      size += a[j] * a[j] * 1e48;
    }
    EXPECT_LT(std::sqrt(difference / size), 6e-8);  // half of the last place; 1e-8 … 5e-8 measured
  }
}

}  // namespace
}  // namespace terrane::gravity
