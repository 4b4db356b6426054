// Models that are vectors, and data that are amplitudes: magnetizations of any direction.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>

#include "inversion/problems.hpp"
#include "support/files.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
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

/// A block of 20 m with its magnetization, below 64 stations; data are tmi, or b_amplitude.
struct MagnetizedBlock {
  TensorMesh mesh = TensorMesh::regular({0, 80, 0, 80, -40, 0}, {8, 8, 4});
  std::vector<double> truth = std::vector<double>(3 * mesh.size());
  static constexpr std::array<double, 3> direction{0.6, -0.64, 0.48};

  Problem problem(bool amplitudes) const {
    Magnets at;
    at.cells = {};
    at.stations = {};
    for (std::size_t c = 0; c < mesh.size(); ++c) at.cells.push_back(mesh.prism(c));
    for (int j = 0; j < 8; ++j)
      for (int i = 0; i < 8; ++i) {
        at.stations.easting.push_back(10 * i + 5);
        at.stations.northing.push_back(10 * j + 5);
        at.stations.up.push_back(5);
      }
    Problem p;
    p.mesh = mesh;
    p.components = 3;
    p.easting = at.stations.easting;
    p.northing = at.stations.northing;
    p.up = at.stations.up;
    p.data.resize(p.easting.size());
    const auto g = at.g(amplitudes ? components : std::vector{magnetic::Channel::tmi});
    if (amplitudes) {
      p.forward = std::make_shared<AmplitudeForward>(g, p.easting.size(), std::vector<std::size_t>{3});
      p.data = p.forward->at(block()).data;
      p.start.assign(3 * mesh.size(), 0.01);
    } else {
      p.g = g;
      g->apply(block(), p.data);
    }
    const double largest = *std::max_element(p.data.begin(), p.data.end());
    const auto noise = normal_values(p.data.size(), 8);
    for (std::size_t i = 0; i < noise.size(); ++i) p.data[i] += 0.02 * largest * noise[i];
    p.sigma.assign(p.data.size(), 0.02 * largest);
    p.sets = {{"field", "T", 0, p.data.size()}};
    return p;
  }
  /// 2 A/m in 2 x 2 x 2 cells, 10 to 30 m deep.
  std::vector<double> block() const {
    auto model = truth;
    for (std::size_t c = 0; c < mesh.size(); ++c) {
      const auto [i, j, k] = mesh.cell(c);
      if (i / 2 != 1 || j / 2 != 2 || k < 1 || k > 2) continue;
      for (std::size_t a = 0; a < 3; ++a) model[a * mesh.size() + c] = 2 * direction[a];
    }
    return model;
  }
  static Settings settings() {
    Settings s;
    s.alphas = Alphas::from_lengths({10, 10, 10});
    s.weights_in_gradients = false;
    s.exponent = 3;
    s.z0 = 8;
    s.jacobian_in_memory = false;
    return s;
  }
  /// The angle between the model's moment and the block's, degrees.
  double off(const std::vector<double>& model) const {
    double along = 0, square = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      double sum = 0;
      for (std::size_t c = 0; c < mesh.size(); ++c) sum += model[a * mesh.size() + c];
      along += sum * direction[a];
      square += sum * sum;
    }
    return std::acos(along / std::sqrt(square)) * 180 / pi;
  }
};

TEST(BoundsOfStrengths, TheMinimumWithinThemHasNoWayDownhill) {
  const MagnetizedBlock at;
  const auto p = at.problem(false);
  const auto s = MagnetizedBlock::settings();
  double z0 = 0;
  const Regulariser regulariser(p.mesh, {}, s.alphas, cell_weights(p, s, z0), false, 1, 3);
  std::vector<double> weight(p.data.size(), 1 / p.sigma[0]), centre(3 * p.mesh.size());
  NormalEquations equations({p.g.get(), p.data, weight, &regulariser, centre});
  equations.set_beta(invert(p, s).beta);
  auto model = centre;
  minimise(equations, model, 1e-9, false);
  const auto free = lengths_of(model, 3);
  const double most = 0.6 * *std::max_element(free.begin(), free.end());
  const std::size_t n = p.mesh.size();
  Bounds bounds;
  bounds.length.assign(n, most);
  for (std::size_t c = 0; c < 20; ++c) bounds.length[c] = 0;  // rock that is not magnetic
  const auto done = minimise_within(equations, bounds, model, 1e-6);
  EXPECT_TRUE(done.converged);
  EXPECT_LT(done.products, 500);
  std::vector<double> gradient(model.size()), weighted(p.data.size());
  equations.apply(model, gradient, weighted);
  double largest = 0;
  for (std::size_t c = 0; c < gradient.size(); ++c) {
    largest = std::max(largest, std::fabs(equations.right_side()[c]));
    gradient[c] -= equations.right_side()[c];
  }
  std::size_t on = 0;
  const auto length = lengths_of(model, 3);
  for (std::size_t c = 0; c < n; ++c) {
    ASSERT_LE(length[c], bounds.length[c] * (1 + 1e-14)) << c;
    if (bounds.length[c] == 0) continue;
    double outward = 0;  // the gradient along the vector, which must not be above zero on the bound
    for (std::size_t a = 0; a < 3; ++a) outward += gradient[a * n + c] * model[a * n + c] / length[c];
    if (length[c] > most * (1 - 1e-12)) {
      ++on;
      EXPECT_LE(outward, 1e-5 * largest) << c;
    } else {
      EXPECT_LE(std::fabs(outward), 1e-5 * largest) << c;
      outward = 0;
    }
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(gradient[a * n + c], outward * model[a * n + c] / length[c], 1e-5 * largest) << c;
  }
  EXPECT_EQ(done.on_bounds, on + 20);
  EXPECT_GT(on, 8);
}

TEST(BoundsOfStrengths, HoldInSmoothAndCompactModels) {
  const MagnetizedBlock at;
  auto p = at.problem(false);
  auto s = MagnetizedBlock::settings();
  for (const auto& [norm, largest] : {std::pair{2.0, 0.2}, {1.0, 0.7}}) {
    s.norms.p.fill(norm);
    p.bounds.length.assign(p.mesh.size(), largest);
    const auto out = invert(p, s);
    EXPECT_TRUE(out.converged) << out.reason;
    EXPECT_NEAR(out.phi_d / out.target, 1, 0.1);
    EXPECT_GT(out.on_bounds, 3);
    const auto length = lengths_of(out.model, 3);
    EXPECT_NEAR(*std::max_element(length.begin(), length.end()), largest, 1e-12);
    if (norm == 1) {
      EXPECT_LT(at.off(out.model), 8);
    }
  }
  p.bounds.length.assign(p.mesh.size(), -1.0);
  EXPECT_THROW(invert(p, s), InputError);
  p.bounds.length.resize(3);
  EXPECT_THROW(invert(p, s), ShapeError);
}

/// Cancels when it has been asked a number of times.
class FewQuestions final : public Progress {
 public:
  explicit FewQuestions(int left) : left_(left) {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

TEST(Amplitudes, HaveCompactModelsWhoseInversionContinuesWithTheSameBits) {
  const MagnetizedBlock at;
  const auto p = at.problem(true);
  auto s = MagnetizedBlock::settings();
  const auto smooth = invert(p, s);
  EXPECT_TRUE(smooth.converged) << smooth.reason;
  s.norms.p.fill(1);
  const auto compact = invert(p, s);
  EXPECT_TRUE(compact.converged) << compact.reason;
  EXPECT_NEAR(compact.phi_d / compact.target, 1, 0.06);
  // The strongest cells hold more of the moment.
  const auto share = [&](const std::vector<double>& model) {
    auto length = lengths_of(model, 3);
    std::sort(length.rbegin(), length.rend());
    return std::accumulate(length.begin(), length.begin() + 12, 0.0) /
           std::accumulate(length.begin(), length.end(), 0.0);
  };
  EXPECT_GT(share(compact.model), 2 * share(smooth.model));
  const testing_support::TemporaryFolder folder;
  CheckpointSettings settings;
  settings.file = folder / "steps.checkpoint";
  settings.interval = 1e9;
  std::optional<Outcome> out;
  int stops = 0;
  for (int patience = 60; !out; patience += 10) {
    settings.resume = stops > 0 && std::filesystem::exists(settings.file);
    Keeper keeper(settings, {{"problem", "p"}});
    FewQuestions progress(patience);
    try {
      out = invert(p, s, {}, &progress, &keeper);
    } catch (const Cancelled&) {
      ASSERT_LT(++stops, 50);
    }
  }
  EXPECT_GT(stops, 1);
  EXPECT_EQ(out->model, compact.model);
  EXPECT_EQ(out->iterations.size(), compact.iterations.size());
}

}  // namespace
}  // namespace terrane::inversion
