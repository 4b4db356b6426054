// Inversions beside answers of 12 digits that were computed elsewhere, by dense matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "inversion/problems.hpp"
#include "support/worse.hpp"
#include "terrane/inversion/least_squares/data_space.hpp"

namespace terrane::inversion {
namespace {

double relative(double a, double b) { return std::fabs(a / b - 1); }

/// At the cells that the file has; in parts of the largest value.
double model_error(const std::vector<double>& model, const std::string& file, const std::string& column) {
  const auto expected = read_columns(file);
  double worst = 0, most = 0;
  for (std::size_t i = 0; i < expected.at("cell").size(); ++i) {
    const double value = expected.at(column)[i];
    worst = worse(worst, std::fabs(model.at(static_cast<std::size_t>(expected.at("cell")[i])) - value));
    most = std::max(most, std::fabs(value));
  }
  return worst / most;
}

struct Answer {
  double beta, phi_d, phi_m;
};

void expect(const Outcome& out, const Answer& answer, double tolerance = 1e-8) {
  EXPECT_TRUE(out.converged) << out.reason;
  EXPECT_LT(relative(out.beta, answer.beta), tolerance);
  EXPECT_LT(relative(out.phi_d, answer.phi_d), tolerance);
  EXPECT_LT(relative(out.phi_m.sum(), answer.phi_m), tolerance);
}

TEST(ReferenceInversion, DepthWeightsAreThoseOfTheMeshes) {
  for (const auto& [mesh, file] : {std::pair{mesh_a(), "p1_a_weights.csv"}, {mesh_b(), "p1_b_weights.csv"}}) {
    const auto w = depth_weights(mesh, {}, 25, 2);
    const auto expected = read_columns(file).at("w");
    const std::size_t plane = mesh.n_east() * mesh.n_north();
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(w[k * plane + 3], expected[k], 1e-14);
  }
}

TEST(ReferenceInversion, TheDecayOfTheSensitivitiesGivesTheDepthOfTheWeights) {
  const auto data = read_columns("p1_data.csv");
  // A station above the middle of a cell, as measured elsewhere.
  for (const auto& [mesh, z0] : {std::pair{mesh_a(), 13.516}, {mesh_b(), 19.255}}) {
    const auto p = problem(mesh, data);
    Settings s = reference_settings();
    s.z0 = 0;
    double found = 0;
    cell_weights(p, s, found);
    EXPECT_NEAR(found, z0, 0.01 * z0);
  }
}

TEST(ReferenceInversion, LanczosFindsTheDiscrepancyOfABlock) {
  const auto data = read_columns("p1_data.csv");
  const auto a = invert(problem(mesh_a(), data), reference_settings());
  expect(a, {7.54705799492e-09, 400, 7.6842797599e+10});
  EXPECT_LT(model_error(a.model, "p1_a_models.csv", "l2_w_inside"), 1e-7);
  EXPECT_EQ(std::max_element(a.model.begin(), a.model.end()) - a.model.begin(), 2190);
  const auto b = invert(problem(mesh_b(), data), reference_settings());
  expect(b, {1.18279794246e-08, 400, 4.9117517425e+10});
  EXPECT_LT(model_error(b.model, "p1_b_models.csv", "l2_w_inside"), 1e-7);
}

TEST(ReferenceInversion, ThirtyStepsDoForAnyMesh) {
  const auto data = read_columns("p1_data.csv");
  Settings s = reference_settings();
  s.tolerance = 1e-3;
  for (const auto& mesh : {mesh_a(), mesh_b()}) {
    const auto out = invert(problem(mesh, data), s);
    EXPECT_TRUE(out.converged);
    EXPECT_NEAR(out.phi_d, 400, 0.5);
    EXPECT_LE(out.iterations.back().number, 30);
  }
}

TEST(ReferenceInversion, WeightsOutsideOfTheGradientsAreAnotherRegulariser) {
  const auto data = read_columns("p1_data.csv");
  Settings s = reference_settings();
  s.weights_in_gradients = false;
  const auto out = invert(problem(mesh_a(), data), s);
  expect(out, {7.18084803189e-09, 400, 9.0555120833e+10});
  EXPECT_LT(model_error(out.model, "p1_a_models.csv", "l2_w_outside"), 1e-7);
}

TEST(ReferenceInversion, AReferenceModelMayCountInTheGradientsOrNot) {
  const auto data = read_columns("p1_data.csv");
  auto p = problem(mesh_a(), data);
  p.reference.resize(p.mesh.size());
  for (std::size_t c = 0; c < p.reference.size(); ++c) {
    const auto cell = p.mesh.prism(c);
    p.reference[c] = 0.5 * (cell.bottom + cell.top) < -200 ? 20 : 0;
  }
  Settings s = reference_settings();
  const auto in = invert(p, s);
  expect(in, {7.45969239264e-09, 400, 7.5483448068e+10});
  s.reference_in_gradients = false;
  const auto out = invert(p, s);
  expect(out, {7.51864528304e-09, 400, 7.6081073450e+10});
  EXPECT_NEAR(*std::max_element(out.model.begin(), out.model.end()), 172.814565, 1e-4);
}

TEST(ReferenceInversion, TheDenseDataSpaceKnowsEveryBeta) {
  const auto data = read_columns("p1_data.csv");
  const auto p = problem(mesh_a(), data);
  Settings s = reference_settings();
  std::vector<double> weight, centre(p.mesh.size());
  for (const double sigma : p.sigma) weight.push_back(1 / sigma);
  double z0 = 0;
  const Regulariser regulariser(p.mesh, {}, s.alphas, cell_weights(p, s, z0));
  const DenseDataSpace dense({p.g.get(), p.data, weight, &regulariser, centre});
  const auto values = read_columns("p1_a_eigenvalues.csv").at("lambda_of_K");
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(dense.eigenvalues()[i], values[i], 1e-8 * values[i] + 1e-13 * values[0]);
  const auto curve = read_columns("p1_a_curve.csv");
  for (std::size_t i = 0; i < curve.at("beta").size(); ++i) {
    const double beta = curve.at("beta")[i];
    EXPECT_LT(relative(dense.phi_d(beta), curve.at("phi_d")[i]), 1e-7) << beta;
    EXPECT_LT(relative(dense.phi_m(beta), curve.at("phi_m")[i]), 1e-7) << beta;
    EXPECT_LT(relative(dense.degrees_of_freedom(beta), curve.at("dof")[i]), 1e-7) << beta;
    EXPECT_LT(relative(dense.gcv(beta), curve.at("gcv")[i]), 1e-6) << beta;
    EXPECT_NEAR(dense.curvature(beta), curve.at("curvature")[i], 1e-6) << beta;
  }
  EXPECT_LT(relative(dense.gcv_minimum(), 1.45357187e-9), 1e-5);
  EXPECT_LT(relative(dense.l_curve_corner(), 3.22210754e-9), 1e-5);
  const double beta = dense.discrepancy(400);
  EXPECT_LT(relative(beta, 7.54705799492e-09), 1e-8);
  EXPECT_NEAR(dense.degrees_of_freedom(beta), 59.6357, 1e-4);
  const auto [deviation, resolution] = dense.posterior(beta);
  const auto expected = read_columns("p1_a_posterior_sd.csv");
  for (std::size_t i = 0; i < expected.at("cell").size(); ++i)
    EXPECT_LT(
        relative(deviation[static_cast<std::size_t>(expected.at("cell")[i])], expected.at("posterior_sd")[i]),
        1e-6);
  double sum = 0;
  for (const double r : resolution) sum += r;
  EXPECT_NEAR(sum, 59.6357, 1e-3);
  // What it is: the model that the data of one cell alone give, in that cell.
  for (const std::size_t cell : {2190U, 17U}) {
    std::vector<double> one(p.mesh.size()), data_of_one(p.g->rows());
    one[cell] = 1;
    p.g->apply(one, data_of_one);
    EXPECT_NEAR(DenseDataSpace({p.g.get(), data_of_one, weight, &regulariser, centre}).model(beta)[cell],
                resolution[cell], 1e-9);
  }
}

TEST(ReferenceInversion, GravityAndItsGradientTogetherAndEachAlone) {
  const auto data = read_columns("p2_data.csv");
  const Settings s = reference_settings();
  const auto g = invert(problem(mesh_b(), data), s);
  expect(g, {9.18965235150e-09, 400, 5.3578059354e+10});
  EXPECT_LT(model_error(g.model, "p2_b_models.csv", "l2_z"), 1e-7);
  const auto uu = invert(problem(mesh_b(), data, {"g_uu_eotvos"}), s);
  expect(uu, {3.68434253028e-08, 400, 5.6241707966e+10});
  EXPECT_LT(model_error(uu.model, "p2_b_models.csv", "l2_zz"), 1e-7);
  const auto both = invert(problem(mesh_b(), data, {"g_u_mgal", "g_uu_eotvos"}), s);
  expect(both, {3.89352838911e-08, 800, 5.8640230524e+10});
  EXPECT_LT(model_error(both.model, "p2_b_models.csv", "l2_joint"), 1e-7);
  ASSERT_EQ(both.chi_squared.size(), 2U);
  EXPECT_NEAR(both.chi_squared[0] * 400, 460.461895, 1e-4);
  EXPECT_NEAR(both.chi_squared[1] * 400, 339.538105, 1e-4);
}

Bounds between(double lower, double upper, std::size_t n) {
  return {std::vector<double>(n, lower), std::vector<double>(n, upper)};
}

TEST(ReferenceInversion, BoundsHoldAndTheMinimumWithinThemIsFound) {
  const auto data = read_columns("p1_data.csv");
  for (const auto& [mesh, answer, file, on_bounds] :
       {std::tuple{mesh_a(), Answer{5.68703672880e-09, 400, 9.9330950282e+10}, "p1_a_models.csv",
                   std::size_t{2993}},
        {mesh_b(), Answer{8.58936130690e-09, 400, 6.4120745184e+10}, "p1_b_models.csv", std::size_t{5021}}}) {
    auto p = problem(mesh, data);
    p.bounds = between(0, 400, p.mesh.size());
    Settings s = reference_settings();
    s.tolerance = 1e-9;
    s.misfit_tolerance = 1e-8;
    const auto out = invert(p, s);
    expect(out, answer, 1e-7);
    EXPECT_LT(model_error(out.model, file, "bounded_0_400"), 1e-6);
    EXPECT_EQ(out.on_bounds, on_bounds);
    EXPECT_GE(*std::min_element(out.model.begin(), out.model.end()), 0);
  }
}

TEST(ReferenceInversion, ADikeWithinBounds) {
  auto p = problem(mesh_a(), read_columns("p3_data.csv"));
  const auto smooth = invert(p, reference_settings());
  expect(smooth, {2.18389879135e-09, 400, 2.1916767220e+11});
  EXPECT_LT(model_error(smooth.model, "p3_a_models.csv", "l2"), 1e-7);
  p.bounds = between(0, 500, p.mesh.size());
  Settings s = reference_settings();
  s.choice = Choice::fixed;
  s.beta = 1.56868e-9;
  s.tolerance = 1e-8;
  const auto out = invert(p, s);
  expect(out, {1.56868e-9, 400.000110942, 2.9364757627e+11}, 1e-6);
  EXPECT_LT(model_error(out.model, "p3_a_models.csv", "bounded_0_500"), 1e-5);
}

/// Reweighted steps at fixed β and ε, scales 1, from the smooth model.
struct Reweighted {
  Problem problem;
  Settings settings = reference_settings();
  SparseNorms norms;
  SparseStage stage{{2, 0.02, 0.02, 0.02}, {1, 1, 1, 1}};
  double beta;
  std::vector<double> model, weight, centre, phi;  ///< phi: after each step
  std::unique_ptr<Regulariser> regulariser;

  Reweighted(const std::array<double, 4>& p, double beta_, int steps, bool weights_in_gradients)
      : problem(inversion::problem(mesh_a(), read_columns("p3_data.csv"))), norms{p}, beta(beta_) {
    settings.weights_in_gradients = weights_in_gradients;
    settings.tolerance = 1e-4;
    model = invert(problem, settings).model;
    centre.resize(model.size());
    for (const double sigma : problem.sigma) weight.push_back(1 / sigma);
    double z0 = 0;
    regulariser = std::make_unique<Regulariser>(problem.mesh, std::vector<std::uint32_t>{}, settings.alphas,
                                                cell_weights(problem, settings, z0), weights_in_gradients);
    NormalEquations equations({problem.g.get(), problem.data, weight, regulariser.get(), centre});
    for (int step = 0; step < steps; ++step) {
      regulariser->reweight(sparse_factors(norms, stage, regulariser->magnitudes(model)));
      equations.set_beta(beta);
      minimise(equations, model, 1e-5, false);
      phi.push_back(value(model));
    }
  }

  /// φ_d + β φ_m as sparse.hpp has it, summand by summand.
  double value(const std::vector<double>& m) const {
    std::vector<double> d(problem.data.size());
    problem.g->apply(m, d);
    double sum = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      sum += weight[i] * weight[i] * (d[i] - problem.data[i]) * (d[i] - problem.data[i]);
    const auto& mesh = problem.mesh;
    const auto& w = regulariser->weight();
    const auto psi = [](double x, double p) {
      return p == 0 ? std::log1p(x * x) : 2 / p * (std::pow(1 + x * x, p / 2) - 1);
    };
    const std::size_t n[3] = {mesh.n_east(), mesh.n_north(), mesh.n_up()}, step[3] = {1, n[0], n[0] * n[1]};
    const double volume = 50.0 * 50 * 50;  // of mesh_a's cells
    const double alpha[3] = {150 * 150, 150 * 150, 150 * 150};
    for (std::size_t c = 0; c < m.size(); ++c) {
      sum += beta * volume * w[c] * w[c] * stage.epsilon[0] * stage.epsilon[0] *
             psi(m[c] / stage.epsilon[0], norms.p[0]);
      for (std::size_t a = 0; a < 3; ++a) {
        if (c / step[a] % n[a] + 1 == n[a]) continue;
        const std::size_t next = c + step[a];
        const bool inside = settings.weights_in_gradients;
        const double slope = (inside ? w[next] * m[next] - w[c] * m[c] : m[next] - m[c]) / 50,
                     of_face = inside ? 1 : 0.5 * (w[c] * w[c] + w[next] * w[next]), e = stage.epsilon[a + 1];
        sum += beta * alpha[a] * volume * of_face * e * e * psi(slope / e, norms.p[a + 1]);
      }
    }
    return sum;
  }
};

TEST(ReferenceInversion, ReweightingForSparseNormsNeverRaisesTheirObjective) {
  for (const bool inside : {true, false}) {
    const Reweighted ones({1, 1, 1, 1}, 2.52e-8, 2, inside);
    EXPECT_TRUE(std::is_sorted(ones.phi.rbegin(), ones.phi.rend()));
  }
  const Reweighted small({0, 2, 2, 2}, 2.54e-9, 6, false);
  EXPECT_TRUE(std::is_sorted(small.phi.rbegin(), small.phi.rend()));
  // It ends at a minimum: every way from there leads up.
  for (const std::size_t c : {std::size_t{2190}, std::size_t{1500}, std::size_t{3900}})
    for (const double step : {-3.0, 3.0}) {
      auto other = small.model;
      other[c] += step;
      EXPECT_GT(small.value(other), small.phi.back()) << c;
    }
}

TEST(ReferenceInversion, ACompactBodyIsAtItsDepth) {
  // 400 kg/m³ from -220 to -120 m, whose field the cells can have, without noise.
  const auto mesh = TensorMesh::regular({-300, 300, -300, 300, -400, 0}, {15, 15, 10});
  std::map<std::string, std::vector<double>> data;
  for (int j = 0; j < 11; ++j)
    for (int i = 0; i < 11; ++i) {
      data["x"].push_back(-300 + 60 * i);
      data["y"].push_back(-300 + 60 * j);
    }
  data["g_u_mgal"].assign(121, 0.0);
  data["sigma"].assign(121, 0.0025);
  auto p = problem(mesh, data);
  std::vector<double> body(p.mesh.size());
  for (std::size_t c = 0; c < body.size(); ++c) {
    const auto cell = p.mesh.prism(c);
    const double middle[3] = {0.5 * (cell.west + cell.east), 0.5 * (cell.south + cell.north),
                              0.5 * (cell.bottom + cell.top)};
    if (std::fabs(middle[0]) < 60 && std::fabs(middle[1]) < 60 && middle[2] > -210 && middle[2] < -110)
      body[c] = 400;
  }
  p.g->apply(body, p.data);
  Settings s = reference_settings();
  s.alphas = Alphas::from_lengths({60, 60, 60});
  s.z0 = 15;
  s.tolerance = 1e-3;
  s.chi = 0.5;
  s.weights_in_gradients = false;
  p.bounds = {std::vector<double>(body.size(), 0.0), std::vector<double>(body.size(), 400.0)};
  const auto centroid = [&](const std::vector<double>& m) {
    double sum = 0, all = 0;
    for (std::size_t c = 0; c < m.size(); ++c) {
      sum += m[c] * 0.5 * (p.mesh.prism(c).bottom + p.mesh.prism(c).top);
      all += m[c];
    }
    return sum / all;
  };
  for (const auto& norms : {std::array<double, 4>{0, 1, 1, 1}, {0, 0, 0, 0}}) {
    s.norms.p = norms;
    const auto found = invert(p, s);
    EXPECT_NEAR(centroid(found.model), centroid(body), 25) << norms[1];
    // 331 of the first; of the second 714 to 1274 as one side of the mesh moves by 1e-9 m or less.
    EXPECT_LT(found.products, norms[1] == 1 ? 400 : 1500);
  }
}

}  // namespace
}  // namespace terrane::inversion
