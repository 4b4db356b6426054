// What holds for every inversion, whatever its numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "inversion/problems.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/inversion/least_squares/data_space.hpp"
#include "terrane/solve/matrices/symmetric.hpp"

namespace terrane::inversion {
namespace {

std::vector<double> random_values(std::size_t n, unsigned seed, double low = -1, double high = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = worse(most, std::fabs(a[i] - b[i]));
  return most;
}

/// Cells below a slope.
std::vector<std::uint32_t> below_a_slope(const TensorMesh& mesh) {
  std::vector<std::uint32_t> active;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto p = mesh.prism(c);
    if (p.top <= -0.08 * (0.5 * (p.west + p.east) + 500) + 1) active.push_back(static_cast<std::uint32_t>(c));
  }
  return active;
}

TEST(Regulariser, IsSymmetricAndItsTermsAreItsQuadraticForm) {
  const auto mesh = mesh_b();
  const auto active = below_a_slope(mesh);
  for (const bool inside : {true, false}) {
    const Regulariser r(mesh, active, Alphas::from_lengths({100, 200, 50}),
                        random_values(active.size(), 1, 0.1, 1), inside);
    const auto a = random_values(r.size(), 2), b = random_values(r.size(), 3);
    std::vector<double> ra(r.size()), rb(r.size()), diagonal(r.size());
    r.apply(a, ra);
    r.apply(b, rb);
    EXPECT_NEAR(solve::dot(a, rb), solve::dot(b, ra), 1e-12 * solve::norm(a) * solve::norm(rb));
    EXPECT_NEAR(r.terms(a).sum(), solve::dot(a, ra), 1e-12 * solve::dot(a, ra));
    r.diagonal(diagonal);
    for (const std::size_t c : {std::size_t{0}, r.size() / 2, r.size() - 1}) {
      std::vector<double> one(r.size()), column(r.size());
      one[c] = 1;
      r.apply(one, column);
      EXPECT_NEAR(diagonal[c], column[c], 1e-14 * column[c]);
    }
  }
}

TEST(Regulariser, AConstantIsFlat) {
  const Regulariser r(mesh_b(), {}, Alphas::from_lengths({100, 200, 50}));
  const std::vector<double> constant(r.size(), 3.0);
  const auto terms = r.terms(constant);
  EXPECT_EQ(terms.flatness[0], 0);
  EXPECT_EQ(terms.flatness[2], 0);
  double volume = 0;
  for (const double v : r.volume()) volume += v;
  EXPECT_NEAR(terms.smallness, 9 * volume, 1e-12 * volume);
}

TEST(Regulariser, FlatnessOfALinearModelIsItsSlopeTimesTheVolumeBetweenTheOutermostCentres) {
  const auto mesh = mesh_b();
  const Regulariser r(mesh, {}, {1, {7, 11, 13}});
  std::vector<double> linear(r.size());
  for (std::size_t c = 0; c < r.size(); ++c) {
    const auto p = mesh.prism(c);
    linear[c] = 2 * 0.5 * (p.west + p.east) - 3 * 0.5 * (p.bottom + p.top);
  }
  const auto between = [](const std::vector<double>& faces) {
    return 0.5 * (faces[faces.size() - 1] + faces[faces.size() - 2] - faces[0] - faces[1]);
  };
  const auto box = mesh.bounds();
  const auto terms = r.terms(linear);
  const double area_x = (box.north - box.south) * (box.top - box.bottom),
               area_z = (box.north - box.south) * (box.east - box.west);
  EXPECT_NEAR(terms.flatness[0], 7 * 4 * between(mesh.easting()) * area_x, 1e-11 * terms.flatness[0]);
  EXPECT_NEAR(terms.flatness[2], 13 * 9 * between(mesh.up()) * area_z, 1e-11 * terms.flatness[2]);
  EXPECT_LT(terms.flatness[1], 1e-9 * terms.flatness[0]);
}

TEST(Regulariser, TheInverseUndoesItWithTopographyToo) {
  const auto mesh = mesh_b();
  const auto active = below_a_slope(mesh);
  ASSERT_GT(active.size(), mesh.size() / 2);
  ASSERT_LT(active.size(), mesh.size());
  for (const auto& cells : {std::vector<std::uint32_t>{}, active})
    for (const bool inside : {true, false}) {
      const Regulariser r(mesh, cells, Alphas::from_lengths({150, 150, 150}),
                          depth_weights(mesh, cells, 25, 2), inside);
      const auto x = random_values(r.size(), 4);
      std::vector<double> v(r.size());
      r.apply(x, v);
      const int steps = r.solve(v, 1e-12);
      EXPECT_EQ(steps == 0, r.exact());
      EXPECT_LE(steps, 60);
      EXPECT_LT(largest_difference(v, x), 1e-8);
    }
}

TEST(Regulariser, ActiveCellsThatAreAllCellsAreNoRestriction) {
  const auto mesh = mesh_a();
  std::vector<std::uint32_t> all(mesh.size());
  for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<std::uint32_t>(c);
  EXPECT_TRUE(Regulariser(mesh, all, Alphas::from_lengths({1, 1, 1})).exact());
}

/// Of all cells and faces of a mesh, between a half and two.
Factors random_factors(const TensorMesh& mesh, unsigned seed) {
  Factors factors;
  for (auto& of : factors) of = random_values(mesh.size(), seed++, 0.5, 2);
  return factors;
}

TEST(Regulariser, TheDiagonalOfItsInverseIsThatOfSolvesWhereNoInverseIsExact) {
  const auto mesh = mesh_a();
  const auto active = below_a_slope(mesh);
  for (const bool inside : {true, false}) {
    std::vector<std::vector<double>> found;
    for (const int threads : {1, 2, 3}) {
      Regulariser r(mesh, active, Alphas::from_lengths({150, 90, 150}), depth_weights(mesh, active, 25, 2),
                    inside, threads);
      if (inside) r.weigh(random_factors(mesh, 5));
      r.diagonal_of_inverse(found.emplace_back(r.size()));
      for (const std::size_t c : {std::size_t{0}, r.size() / 2, r.size() - 1}) {
        std::vector<double> one(r.size());
        one[c] = 1;
        r.solve(one, 1e-13);
        EXPECT_NEAR(found.back()[c], one[c], 1e-10 * one[c]);
      }
    }
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
  }
}

/// [columns, columns]: of GᵀW²G, and with factor R.
std::vector<double> normal_matrix(const solve::LinearOperator& g, const std::vector<double>& weight,
                                  const Regulariser& r, double factor) {
  const std::size_t n = g.columns();
  std::vector<double> made(n * n), one(n), data(g.rows()), column(n), flat(n);
  for (std::size_t c = 0; c < n; ++c) {
    one[c] = 1;
    g.apply(one, data);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] *= weight[i] * weight[i];
    g.apply_transpose(data, column);
    r.apply(one, flat);
    one[c] = 0;
    for (std::size_t i = 0; i < n; ++i) made[c * n + i] = column[i] + factor * flat[i];
  }
  return made;
}

TEST(Posterior, IsTheInverseOfTheHessianBelowHillsAndWithWeightsOfCellsAndFacesToo) {
  const auto mesh = TensorMesh({-500, -300, -150, -50, 50, 150, 300, 500}, {-400, -200, -80, 80, 200, 400},
                               {-400, -250, -150, -80, -40, 0});
  std::map<std::string, std::vector<double>> data;
  for (int s = 0; s < 25; ++s) {
    data["x"].push_back(-320 + 160 * (s % 5) + 7 * s);
    data["y"].push_back(-300 + 150 * (s / 5) - 5 * s);
    data["g_u_mgal"].push_back(0.1 * s);
    data["sigma"].push_back(0.02 + 0.001 * s);
  }
  for (int kind = 0; kind < 4; ++kind) {
    const auto active = kind == 0 ? std::vector<std::uint32_t>{} : below_a_slope(mesh);
    const auto p = problem(mesh, data, {"g_u_mgal"}, active);
    const std::size_t n = p.g->columns();
    ASSERT_EQ(n<mesh.size(), kind> 0);
    Regulariser r(mesh, active, Alphas::from_lengths({150, 150, 150}), depth_weights(mesh, active, 25, 2),
                  kind < 3);
    if (kind >= 2) r.weigh(random_factors(mesh, 9));
    std::vector<double> weight, centre(n), none(p.sigma.size());
    for (const double sigma : p.sigma) weight.push_back(1 / sigma);
    const DenseDataSpace dense({p.g.get(), p.data, weight, &r, centre});
    const double beta = dense.eigenvalues()[4];
    const auto [deviation, resolution] = dense.posterior(beta);
    const auto eigen = solve::eigen_symmetric(normal_matrix(*p.g, weight, r, beta), n);
    const auto fit = normal_matrix(*p.g, weight, r, 0);
    for (std::size_t c = 0; c < n; ++c) {
      double variance = 0, shown = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double* const v = eigen.vector.data() + k * n;
        variance += v[c] * v[c] / eigen.value[k];
        shown += v[c] / eigen.value[k] * solve::dot({v, n}, std::span(fit).subspan(c * n, n));
      }
      EXPECT_NEAR(deviation[c], std::sqrt(variance), 1e-7 * deviation[c]) << kind;
      EXPECT_NEAR(resolution[c], shown, 1e-7) << kind;
    }
  }
}

TEST(Inversion, TheUsualWayOfCoolingBetaFindsTheSameModel) {
  const auto data = read_columns("p1_data.csv");
  Settings s = reference_settings();
  s.tolerance = 1e-8;
  s.misfit_tolerance = 1e-7;
  for (const auto& active : {std::vector<std::uint32_t>{}, below_a_slope(mesh_a())}) {
    auto p = problem(mesh_a(), data, {"g_u_mgal"}, active);
    const auto fast = invert(p, s);
    s.solver = Solver::model_space;
    const auto slow = invert(p, s);
    s.solver = Solver::data_space;
    ASSERT_TRUE(fast.converged);
    ASSERT_TRUE(slow.converged);
    EXPECT_NEAR(slow.beta / fast.beta, 1, 1e-5);
    EXPECT_LT(largest_difference(slow.model, fast.model), 1e-2);  // of 172 kg/m³
    EXPECT_LT(fast.products, slow.products / 5);                  // and by a fraction of the products
  }
}

TEST(Inversion, HasTheSameBitsForAnyNumberOfThreads) {
  const auto data = read_columns("p1_data.csv");
  auto p = problem(mesh_a(), data);
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 400.0)};
  std::vector<std::vector<double>> models;
  for (const int threads : {1, 2, 3}) {
    Settings s = reference_settings();
    s.tolerance = 1e-3;
    s.threads = threads;
    models.push_back(invert(p, s).model);
  }
  EXPECT_EQ(models[0], models[1]);
  EXPECT_EQ(models[0], models[2]);
}

TEST(Inversion, TwiceTheDataWithTwiceTheNoiseIsTwiceTheModelAtAQuarterOfBeta) {
  const auto data = read_columns("p1_data.csv");
  auto p = problem(mesh_a(), data);
  const auto once = invert(p, reference_settings());
  for (double& d : p.data) d *= 2;
  for (double& s : p.sigma) s *= 2;
  const auto twice = invert(p, reference_settings());
  EXPECT_NEAR(twice.beta / once.beta, 0.25, 1e-9);
  auto doubled = once.model;
  for (double& m : doubled) m *= 2;
  EXPECT_LT(largest_difference(twice.model, doubled), 1e-5);
}

TEST(Inversion, ADatumWithoutWeightChangesNothing) {
  const auto data = read_columns("p1_data.csv");
  auto p = problem(mesh_a(), data);
  Settings s = reference_settings();
  s.choice = Choice::fixed;
  s.beta = 7.5e-9;
  p.sigma[17] = 1e30;
  const auto weak = invert(p, s);
  p.data[17] = NAN;
  const auto absent = invert(p, s);
  EXPECT_EQ(absent.data, 399U);
  EXPECT_LT(largest_difference(weak.model, absent.model), 1e-6);
}

TEST(Inversion, FewerDataThanStepsOfLanczosAreFittedInAsManyStepsAsData) {
  const auto data = read_columns("p1_data.csv");
  for (const std::size_t kept : {1U, 3U}) {
    auto p = problem(mesh_a(), data);
    const std::size_t places[] = {210, 30, 377};
    for (std::size_t i = 0; i < p.data.size(); ++i)
      if (std::find(places, places + kept, i) == places + kept) p.data[i] = NAN;
    auto s = reference_settings();
    s.tolerance = 1e-12;  // so that only the end of the space ends it
    const auto out = invert(p, s);
    EXPECT_EQ(out.data, kept);
    EXPECT_EQ(out.reason, "converged");
    EXPECT_LE(out.products, static_cast<int>(kept) + 1);  // and one for the model
    EXPECT_NEAR(out.phi_d, static_cast<double>(kept), 1e-9);
    if (kept == 1) {  // the model of one datum is one standard deviation away from it
      EXPECT_NEAR((p.data[210] - out.predicted[210]) / p.sigma[210], p.data[210] > 0 ? 1 : -1, 1e-9);
      // φ_m = yᵀ K y with (K + β) y = r, and β y = W (d − G m)
      EXPECT_NEAR(out.phi_m.sum() * out.beta, std::fabs(out.predicted[210]) / p.sigma[210], 1e-6);
    } else {
      s.solver = Solver::model_space;
      s.misfit_tolerance = 1e-7;
      s.tolerance = 1e-8;
      const auto slow = invert(p, s);
      EXPECT_NEAR(slow.beta / out.beta, 1, 1e-5);
      double most = 0;
      for (const double m : out.model) most = worse(most, std::fabs(m));
      EXPECT_LT(largest_difference(slow.model, out.model), 1e-4 * most);
    }
  }
}

TEST(Inversion, AReferenceThatFitsIsReturnedAsItIs) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  for (double& s : p.sigma) s *= 1e4;
  const auto out = invert(p, reference_settings());
  EXPECT_EQ(out.reason, "the reference model fits the data already");
  EXPECT_EQ(out.model, std::vector<double>(p.mesh.size(), 0.0));
}

TEST(Inversion, DataThatNoModelFitsAreReportedAndNotIteratedForEver) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  std::mt19937 random(5);
  // Two data at one place that contradict each other cannot both be fitted.
  p.easting[1] = p.easting[0];
  p.northing[1] = p.northing[0];
  auto data = read_columns("p1_data.csv");
  data["x"][1] = data["x"][0];
  data["y"][1] = data["y"][0];
  p = problem(mesh_a(), data);
  p.data[0] = 1;
  p.data[1] = -1;
  p.sigma[0] = p.sigma[1] = 1e-6;
  const auto out = invert(p, reference_settings());
  EXPECT_FALSE(out.converged);
  EXPECT_THAT(out.reason, ::testing::HasSubstr("uncertainties are too small"));
}

TEST(Inversion, DistanceAndSensitivityWeightsGiveModelsThatFit) {
  const auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  for (const auto weighting : {Weighting::distance, Weighting::sensitivity, Weighting::none}) {
    Settings s = reference_settings();
    s.tolerance = 1e-4;
    s.weighting = weighting;
    const auto out = invert(p, s);
    EXPECT_TRUE(out.converged);
    EXPECT_NEAR(out.phi_d, 400, 0.5);
    EXPECT_EQ(*std::max_element(out.weight.begin(), out.weight.end()), 1);
  }
}

TEST(Inversion, DepthWeightsCountFromTheGroundThatCutsACell) {
  const auto cut = TensorMesh::regular({0, 10, 0, 10, -40, 0}, {1, 1, 4});
  const TensorMesh down({0, 10}, {0, 10}, {-40, -30, -20, -10, -7});
  const std::vector<double> ground{1, 1, 1, 0.3};
  const auto w = depth_weights(cut, {}, 5, 2, ground), expected = depth_weights(down, {}, 5, 2);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(w[c], expected[c], 1e-14);
}

TEST(Inversion, SparseNormsMakeBodiesCompact) {
  auto p = problem(mesh_a(), read_columns("p3_data.csv"));
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 500.0)};
  Settings s = reference_settings();
  s.tolerance = 1e-3;
  const auto smooth = invert(p, s);
  s.norms.p = {0, 1, 1, 1};
  const auto sparse = invert(p, s);
  EXPECT_NEAR(sparse.phi_d / sparse.target, 1, 0.1) << sparse.reason;
  const auto above = [](const std::vector<double>& m, double limit) {
    return std::count_if(m.begin(), m.end(), [&](double v) { return v > limit; });
  };
  EXPECT_LT(above(sparse.model, 50), above(smooth.model, 50) * 3 / 4);
  EXPECT_GT(*std::max_element(sparse.model.begin(), sparse.model.end()),
            *std::max_element(smooth.model.begin(), smooth.model.end()));
}

std::string refusal(const Problem& p, const Settings& s) {
  try {
    check(p, s);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(InversionInput, WhatCannotBeIsRefusedWithTheNextMove) {
  using ::testing::HasSubstr;
  const auto data = read_columns("p1_data.csv");
  const auto good = problem(mesh_a(), data);
  const auto s = reference_settings();
  EXPECT_EQ(refusal(good, s), "accepted");
  auto p = good;
  p.sigma[3] = 0;
  EXPECT_THAT(refusal(p, s), HasSubstr("1 of 400 data have none above zero (first: row 4)"));
  p = good;
  p.data.assign(400, NAN);
  EXPECT_THAT(refusal(p, s), HasSubstr("there are no data"));
  p = good;
  p.bounds = {std::vector<double>(4000, 10.0), std::vector<double>(4000, -10.0)};
  EXPECT_THAT(refusal(p, s), HasSubstr("they cross: lower 10, upper -10"));
  p.bounds = {std::vector<double>(4000, 10.0), std::vector<double>(4000, 20.0)};
  EXPECT_THAT(refusal(p, s), HasSubstr("the reference model, 0, is not between 10 and 20"));
  p = good;
  p.reference.resize(3);
  EXPECT_THAT(refusal(p, s), HasSubstr("one value for every active cell"));
  auto t = s;
  t.norms.p[2] = 3;
  EXPECT_THAT(refusal(good, t), HasSubstr("3 is not between 0 and 2"));
  t = s;
  t.choice = Choice::gcv;
  t.most_dense = 100;
  EXPECT_THAT(refusal(good, t), HasSubstr("all pairs of 400 data; up to 100"));
}

TEST(InversionInput, UpReadAsDownIsFoundWhereBoundsHaveOneSign) {
  for (const auto* file : {"p1_data.csv", "p3_data.csv"}) {
    auto p = problem(mesh_a(), read_columns(file));
    p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 500.0)};
    EXPECT_EQ(refusal(p, reference_settings()), "accepted");
    for (double& d : p.data) d = -d;
    EXPECT_THAT(refusal(p, reference_settings()), ::testing::HasSubstr("read as down"));
  }
}

}  // namespace
}  // namespace terrane::inversion
