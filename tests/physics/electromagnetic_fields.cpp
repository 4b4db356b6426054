// Fields of sources at receivers: the layered earth, what sources give to a mesh, and both together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/land.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {
namespace {

using Values = std::vector<std::complex<double>>;

/// Air, 1000 m of sea, sediment, and a resistive layer of 100 m in it.
LayeredEarth marine() {
  const auto layer = [](double rho) { return LayeredEarth::Layer{1 / rho, 1 / rho}; };
  return {{layer(1), layer(100), layer(1), layer(0.3), {1e-12, 1e-12}}, {-2100, -2000, -1000, 0}};
}
LayeredEarth ground() {
  const auto layer = [](double rho) { return LayeredEarth::Layer{1 / rho, 1 / rho}; };
  return {{layer(1000), layer(10), layer(100), {1e-12, 1e-12}}, {-800, -500, 0}};
}

// electromagnetic/reference/csem_layered.csv, two offsets of each block; checked there against empymod.
TEST(LayeredEarth, HasTheFieldsOfTwoOtherQuadratures) {
  enum class Sent { hed, ved, vmd };
  struct Row {
    LayeredEarth earth;
    Sent sent;
    double hertz, height;
    Vector3 receiver;
    double field[12];  // re, im of e_e, e_n, e_u, h_e, h_n, h_u
  };
  const Row rows[] = {
      {marine(),
       Sent::hed,
       0.1,
       -950.0,
       {419.941291, 242.453217, -999.9},
       {3.561661962683e-10, -7.130166586452e-11, 4.062962082623e-10, -2.371015118192e-11, -2.697525664667e-11,
        -7.914135773972e-12, -1.319443223455e-07, 1.208214464977e-08, 9.38187016355e-08, -1.590956545208e-08,
        1.590630435528e-07, -2.532348678885e-08}},
      {marine(),
       Sent::hed,
       0.1,
       -950.0,
       {4293.751948, 2478.998843, -999.9},
       {1.175658651698e-13, -1.206167923968e-13, -1.038709941023e-13, -2.852037046562e-13, -3.17296089907e-14,
        4.751904113816e-14, 6.924398713001e-11, 4.194561454958e-10, 4.594881013151e-11, -4.262502168755e-10,
        -1.969612835025e-10, 5.331778516056e-11}},
      {marine(),
       Sent::hed,
       0.5,
       -950.0,
       {419.941291, 242.453217, -999.9},
       {2.165274366725e-10, -1.819191488528e-10, 3.789847843255e-10, -1.048532515408e-10, -4.747649466602e-11,
        -2.176646271646e-11, -1.128413063943e-07, 4.654872376559e-08, 7.293475844343e-08, -3.713650738786e-08,
        1.136773405128e-07, -7.231255433313e-08}},
      {marine(),
       Sent::hed,
       0.5,
       -950.0,
       {4293.751948, 2478.998843, -999.9},
       {-6.781209273207e-14, -1.318096321507e-14, -4.901822234964e-14, 1.073536552489e-20, 1.308810309525e-14,
        -2.246934298967e-15, 3.856569189086e-11, -3.014195134374e-11, -5.314510573787e-11, 3.617037971042e-11,
        1.245687807709e-12, -1.269451374029e-12}},
      {marine(),
       Sent::hed,
       2.0,
       -950.0,
       {419.941291, 242.453217, -999.9},
       {-1.070255169566e-11, -1.197107900775e-10, 1.98253202965e-10, -2.463627152484e-10, -8.240737490765e-11,
        1.882354527048e-11, -3.46471896648e-08, 7.746176078335e-08, 1.688115430054e-08, -4.728893583857e-08,
        7.652125944074e-09, -7.599794208538e-08}},
      {marine(),
       Sent::hed,
       2.0,
       -950.0,
       {4293.751948, 2478.998843, -999.9},
       {2.894356341445e-15, -1.01136906808e-15, 1.999032769e-15, -9.06993687442e-16, -3.630117122171e-16,
        2.661788559532e-16, -3.551963002074e-13, 9.770916789424e-13, 6.103890218512e-13, -1.286056936958e-12,
        6.1658553427e-16, -1.251235855959e-15}},
      {marine(),
       Sent::ved,
       0.5,
       -950.0,
       {419.941291, 242.453217, -999.9},
       {-4.268661387219e-11, 6.594870453805e-11, -2.46451280099e-11, 3.807550231775e-11, -1.169702134514e-10,
        -1.050695422216e-13, -5.891405517027e-08, 2.934811565325e-08, 1.020421368348e-07, -5.083242741783e-08,
        0.0, 0.0}},
      {marine(),
       Sent::ved,
       0.5,
       -950.0,
       {4293.751948, 2478.998843, -999.9},
       {-1.31001110847e-14, 2.3290928653e-15, -7.563352661164e-15, 1.344702392749e-15, 1.689185239905e-15,
        -1.624358073937e-15, 3.789313919534e-12, -5.843009518576e-12, -6.56328423446e-12, 1.012038935528e-11,
        0.0, 0.0}},
      {ground(),
       Sent::hed,
       1.0,
       -1.0,
       {111.367135, 64.297845, -0.5},
       {9.372250116596e-06, -4.877839130125e-09, 9.719821622672e-06, -4.442253269707e-11, -7.558067239006e-08,
        1.657762442933e-11, 4.094520112495e-06, -3.548198325219e-10, -2.353420103511e-06, 5.18911263114e-09,
        2.405979450636e-06, -9.254827552698e-10}},
      {ground(),
       Sent::hed,
       1.0,
       -1.0,
       {1329.474841, 767.572657, -0.5},
       {2.872639756055e-09, -1.761498955411e-10, 3.046521140119e-09, 1.892100740869e-11, -3.529993555375e-12,
        7.615127755506e-14, 2.914725611933e-08, -6.837602545877e-10, -1.589693516261e-08, 2.40301029262e-09,
        1.661448285406e-08, -1.380252516377e-09}},
      {ground(),
       Sent::hed,
       10.0,
       -1.0,
       {111.367135, 64.297845, -0.5},
       {9.370321601888e-06, -4.717628542526e-08, 9.719822184492e-06, -4.425343131658e-10, -7.558009298025e-08,
        1.657615270597e-10, 4.09446973988e-06, -3.519177665368e-09, -2.339941350999e-06, 2.732654081979e-08,
        2.404995909154e-06, -8.232389977119e-09}},
      {ground(),
       Sent::hed,
       10.0,
       -1.0,
       {1329.474841, 767.572657, -0.5},
       {2.346557731681e-09, -5.791738818397e-10, 2.948645041172e-09, 3.554477211413e-10, -3.422175404034e-12,
        7.473340854054e-13, 2.656629430509e-08, -4.192368396034e-09, -8.421059372599e-09, 4.73788850424e-09,
        1.12036317729e-08, -5.23927191325e-09}},
      {ground(),
       Sent::hed,
       100.0,
       -1.0,
       {111.367135, 64.297845, -0.5},
       {9.297071395537e-06, -4.237724096537e-07, 9.720004371418e-06, -4.544998050085e-09, -7.552809874762e-08,
        1.647877500654e-09, 4.093212442188e-06, -3.428020196269e-08, -2.293452791386e-06, 1.358145557328e-07,
        2.396145125892e-06, -6.779338833657e-08}},
      {ground(),
       Sent::hed,
       100.0,
       -1.0,
       {1329.474841, 767.572657, -0.5},
       {7.223770265783e-10, -5.568783899903e-10, 5.702595143304e-09, 1.87500301337e-09, 5.081320435606e-13,
        2.063343750405e-12, 1.77942463765e-08, -8.510435180664e-09, -3.484632750209e-09, 3.12317600892e-09,
        3.532307947013e-09, -4.834657997975e-09}},
      {ground(),
       Sent::vmd,
       10.0,
       0.5,
       {111.367135, 64.297845, 0.5},
       {6.377276481273e-13, 1.898955240127e-10, -1.104576687948e-12, -3.289086957199e-10, 0.0, 0.0,
        -3.065746767182e-12, -1.074996146576e-10, -1.7700097213e-12, -6.206493146037e-11, -3.745160714139e-08,
        -1.306553891863e-10}},
      {ground(),
       Sent::vmd,
       10.0,
       0.5,
       {1329.474841, 767.572657, 0.5},
       {4.126712822589e-13, 8.856705209165e-13, -7.14767627697e-13, -1.534026340993e-12, 0.0, 0.0,
        -9.351951497567e-12, -8.814860543429e-12, -5.399351714569e-12, -5.089262107618e-12,
        -2.845325879916e-11, 1.066409252717e-12}},
      {ground(),
       Sent::vmd,
       1000.0,
       0.5,
       {111.367135, 64.297845, 0.5},
       {3.676068912097e-09, 1.744549871361e-08, -6.367138127876e-09, -3.021649013535e-08, 0.0, 0.0,
        -2.844196593267e-09, -8.314487246088e-09, -1.642097668751e-09, -4.800371449703e-09,
        -4.183069243531e-08, -3.066942410959e-09}},
      {ground(),
       Sent::vmd,
       1000.0,
       0.5,
       {1329.474841, 767.572657, 0.5},
       {4.303800519331e-12, 6.619313965324e-14, -7.454401165123e-12, -1.146498809919e-13, 0.0, 0.0,
        -6.160153437264e-12, 5.624673272371e-12, -3.556566245254e-12, 3.247406627907e-12, -7.486673453615e-14,
        2.087508655872e-12}},
      {ground(),
       Sent::ved,
       10.0,
       -50.0,
       {111.367135, 64.297845, -0.5},
       {5.318299753968e-06, -1.344916194501e-08, 3.070521794585e-06, -7.764877269325e-09, -5.592725586563e-08,
        3.513828844487e-11, -1.535330837067e-08, 3.882556999328e-11, 2.659271016227e-08, -6.724785986118e-11,
        0.0, 0.0}},
      {ground(),
       Sent::ved,
       10.0,
       -50.0,
       {1329.474841, 767.572657, -0.5},
       {3.406761199447e-10, -7.444564317998e-11, 1.966894495566e-10, -4.298121212996e-11, -5.945808726568e-13,
        9.480806217106e-14, -9.834515653452e-13, 2.14906303372e-13, 1.703388077961e-12, -3.722286363071e-13,
        0.0, 0.0}},
  };
  for (const auto& row : rows) {
    const Vector3 source{0, 0, row.height};
    const auto field =
        row.sent == Sent::vmd
            ? vertical_magnetic_dipole(row.earth, row.hertz, source, 1, row.receiver)
            : electric_dipole(row.earth, row.hertz, source,
                              row.sent == Sent::hed ? Vector3{1, 0, 0} : Vector3{0, 0, 1}, row.receiver);
    for (std::size_t c = 0; c < 6; ++c) {
      const std::complex<double> expected(row.field[2 * c], row.field[2 * c + 1]),
          computed = c < 3 ? field.e[c] : field.h[c - 3];
      EXPECT_LE(std::abs(computed - expected), 2e-7 * std::abs(expected) + 1e-300)
          << row.hertz << " Hz, " << row.receiver[0] << " m, component " << c;
    }
  }
}

/// Ward & Hohmann 1988, (2.40): an electric dipole in a whole space, of rock that stores charge, too.
TEST(LayeredEarth, WithoutContrastsIsAWholeSpaceAndAtRestDirectCurrent) {
  using Z = std::complex<double>;
  const Vector3 source{10, -30, -380}, receiver{260, 140, -455}, moment{2, -1, 3};
  Vector3 d{};
  double r = 0, along = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    d[a] = receiver[a] - source[a];
    r += d[a] * d[a];
    along += moment[a] * d[a];
  }
  r = std::sqrt(r);
  const double four_pi = 4 * std::numbers::pi;
  for (const Z sigma : {Z(0.5), std::polar(0.5, 0.6)})
    for (const double hertz : {1e-6, 0.3, 30.0}) {
      const LayeredEarth earth{{{sigma, sigma}, {sigma, sigma}}, {-400}};
      const Z ik = std::sqrt(Z(0, 2 * std::numbers::pi * hertz * four_pi * 1e-7) * sigma), x = ik * r,
              front = std::exp(-x) / (four_pi * sigma * r * r * r);
      const auto field = electric_dipole(earth, hertz, source, moment, receiver);
      for (std::size_t a = 0; a < 3; ++a) {
        const auto expected =
            front * ((x * x + 3.0 * x + 3.0) * along * d[a] / (r * r) - (x * x + x + 1.0) * moment[a]);
        EXPECT_LT(std::abs(field.e[a] - expected), 3e-8 * std::abs(expected)) << hertz << sigma;
        const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
        const auto h =
            std::exp(-x) * (1.0 + x) / (four_pi * r * r * r) * (moment[b] * d[c] - moment[c] * d[b]);
        EXPECT_LT(std::abs(field.h[a] - h), 3e-8 * std::abs(h)) << hertz << sigma;
      }
    }
}

TEST(LayeredEarth, DipolesAddAndTurn) {
  const Vector3 source{30, -20, -950}, receiver{800, 500, -999};
  const auto oblique = electric_dipole(marine(), 0.7, source, {2, -3, 0.5}, receiver);
  std::complex<double> sum[6] = {};
  const Vector3 parts[3] = {{2, 0, 0}, {0, -3, 0}, {0, 0, 0.5}};
  for (const auto& part : parts) {
    const auto one = electric_dipole(marine(), 0.7, source, part, receiver);
    for (std::size_t c = 0; c < 3; ++c) {
      sum[c] += one.e[c];
      sum[3 + c] += one.h[c];
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_LT(std::abs(oblique.e[c] - sum[c]), 1e-7 * std::abs(sum[c]));
    EXPECT_LT(std::abs(oblique.h[c] - sum[3 + c]), 1e-7 * std::abs(sum[3 + c]));
  }
}

TEST(LayeredEarth, SourceAndReceiverMayChangePlaces) {
  const Vector3 a{30, -20, -950}, b{800, 500, -1010}, p{1, 2, -1}, q{-2, 1, 3};
  const auto there = electric_dipole(marine(), 0.7, a, p, b), back = electric_dipole(marine(), 0.7, b, q, a);
  std::complex<double> one = 0, other = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    one += q[c] * there.e[c];
    other += p[c] * back.e[c];
  }
  EXPECT_LT(std::abs(one - other), 1e-7 * std::abs(one));
}

/// Gᵀ(J V) on interior nodes, of a source of a mesh.
struct Charge {
  double largest, sum_of_magnitudes, moment[3];
};

std::vector<double> charges(const TensorMesh& mesh, const EdgeSum& sum) {
  Stream stream({Device::Kind::cpu, -1});
  const std::vector<double> sigma(mesh.size(), 1);
  MaxwellSolver<double> solver(stream, mesh, {&sigma, &sigma, &sigma});
  auto b = solver.image();
  add(stream, solver.metric(), sum, {1, 0}, b);
  // b has J V of edges, which is their moment: over the length, the current that arrives at a node.
  solver.complete(b);
  auto all = b.divergence.download(stream);
  all.resize(all.size() / 2);
  return all;
}

/// By linear functions, and by the cubic ones of uniform surroundings.
TEST(Sources, AWireHasItsChargesAtItsEndsAndALoopHasNone) {
  const auto faces = test::stretched_faces(12, 1.3);
  const TensorMesh mesh(faces, faces, faces);
  const std::vector<double> sigma(mesh.size(), 1);
  const Conductivity uniform{&sigma, &sigma, &sigma};
  const Vector3 a{-133, 77, -21}, b{212.5, -40, 155}, c{100, 100, -100};  // c: a node
  for (const Conductivity* around : {static_cast<const Conductivity*>(nullptr), &uniform}) {
    const auto wire = charges(mesh, moments(mesh, {Source::Kind::wire, {a, c, b}, {}, 2.5}, "wire", around));
    const auto loop =
                   charges(mesh, moments(mesh, {Source::Kind::wire, {a, b, c, a}, {}, 2.5}, "loop", around)),
               magnetic = charges(
                   mesh, moments(mesh, {Source::Kind::magnetic_dipole, {a}, {1, -2, 3}}, "dipole", around));
    double sum = 0, plus = 0, stray = 0;
    std::size_t charged = 0;
    for (const double q : wire) {
      sum += q;
      plus += std::max(q, 0.0);
      if (std::abs(q) > 1e-12) ++charged;
      else stray = worse(stray, std::abs(q));
    }
    EXPECT_NEAR(sum, 0, 1e-13);
    if (around == nullptr) {
      EXPECT_NEAR(plus, 2.5, 1e-13);  // cubic functions have both signs around each end
    }
    EXPECT_GT(charged, around ? 100U : 0U);  // of two times 4³
    EXPECT_LE(charged, around ? 128U : 16U);
    EXPECT_LT(stray, 1e-14);
    for (const auto& closed : {loop, magnetic})
      for (const double q : closed) EXPECT_LT(std::abs(q), 3e-15);
  }
}

TEST(Sources, AWireGivesItsWholeMoment) {
  const auto faces = test::stretched_faces(12, 1.3);
  const TensorMesh mesh(faces, faces, faces);
  const std::vector<double> sigma(mesh.size(), 1);
  const Conductivity uniform{&sigma, &sigma, &sigma};
  for (const Conductivity* around : {static_cast<const Conductivity*>(nullptr), &uniform}) {
    double moment[3] = {};
    for (const auto& term :
         moments(mesh, {Source::Kind::wire, {{-133, 77, -21}, {212.5, -40, 155}}, {}, 2}, "wire", around))
      moment[term.axis] += term.weight;
    EXPECT_NEAR(moment[2], 2 * 345.5, 1e-10);
    EXPECT_NEAR(moment[1], -2 * 117, 1e-10);
    EXPECT_NEAR(moment[0], 2 * 176, 1e-10);
  }
}

/// On the face of a cell the functions of a wire know only the edge on one side: half a cell off.
TEST(Sources, ADipoleIsWhereItWasPut) {
  const auto faces = test::stretched_faces(12, 1.3);
  const TensorMesh mesh(faces, faces, faces);
  std::vector<double> sigma(mesh.size(), 1);
  const Conductivity earth{&sigma, &sigma, &sigma};
  const Metric metric = [&] {
    Stream stream({Device::Kind::cpu, -1});
    return Metric(stream, mesh);
  }();
  const Vector3 at{100, 30, -20};
  /// Σ of the moments along east times (x − x_s)^n, n = 1, 2, of easting and northing.
  const auto spread = [&] {
    std::array<double, 4> sums{};
    for (const auto& term :
         moments(mesh, {Source::Kind::electric_dipole, {at}, {1, 0, 0}}, "dipole", &earth)) {
      const auto box = metric.edges(2);
      const auto n = static_cast<Index>(term.edge);
      const auto i = static_cast<std::size_t>(n % box.size(2)),
                 j = static_cast<std::size_t>(n / box.size(2) % box.size(1));
      const double east = (faces[i] + faces[i + 1]) / 2 - at[0], north = faces[j + 1] - at[1];
      sums[0] += term.weight * east;
      sums[1] += term.weight * north;
      sums[2] += term.weight * north * north;
      sums[3] += term.weight;
    }
    return sums;
  };
  const auto cubic = spread();
  EXPECT_NEAR(cubic[3], 1, 1e-13);
  for (int n = 0; n < 3; ++n) EXPECT_NEAR(cubic[static_cast<std::size_t>(n)], 0, 1e-9);
  for (std::size_t j = 0; j < 12; ++j)
    for (std::size_t i = 0; i < 12; ++i) sigma[mesh.index(i, j, 6)] = 1e-8;  // under the ground: cubic across
  const auto across = spread();
  EXPECT_NEAR(across[3], 1, 1e-13);
  for (int n = 0; n < 3; ++n) EXPECT_NEAR(across[static_cast<std::size_t>(n)], 0, 1e-9);
  sigma[mesh.index(6, 6, 4)] = 3;  // beside the dipole's cell: linear functions
  EXPECT_NEAR(spread()[0], 0, 1e-9);
  EXPECT_NEAR(spread()[1], 0, 1e-9);
  EXPECT_GT(spread()[2], 1);
  sigma[mesh.index(6, 6, 5)] = 3;  // where the other edge would be
  EXPECT_NEAR(std::abs(spread()[0]), 50, 1e-9);
}

Problem small_problem() {
  const auto earth = test::land(16, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  problem.frequencies = {2};
  for (const bool magnetic : {false, true})
    for (const int axis : {2, 1, 0}) problem.components.push_back({magnetic, axis});
  return problem;
}

TEST(Fields, OfTwoWiresAreReciprocal) {
  auto problem = small_problem();
  Stream stream({Device::Kind::cpu, -1});
  MaxwellSolver<double> solver(stream, problem.mesh, problem.along());
  solver.set_frequency(2);
  const EdgeSum wires[2] = {
      moments(problem.mesh, {Source::Kind::wire, {{-133, 77, -21}, {112.5, -40, -155}}, {}, 1}, "a"),
      moments(problem.mesh, {Source::Kind::wire, {{310, 50, -60}, {420, 160, 30}, {250, 300, -10}}, {}, 1},
              "b")};
  std::complex<double> voltage[2];
  for (std::size_t n = 0; n < 2; ++n) {
    auto b = solver.image();
    auto x = solver.vector();
    add(stream, solver.metric(), wires[n], {0, -1}, b);
    solver.complete(b);
    EXPECT_TRUE(solver.solve(b, x, {.relative = 1e-12}).converged());
    voltage[n] = Sampler(stream, solver.metric(), x, std::span(&wires[1 - n], 1)).of(stream, x)[0];
  }
  EXPECT_LT(std::abs(voltage[0] - voltage[1]), 1e-10 * std::abs(voltage[0]));
}

/// At 1e-4 Hz E is a gradient, circulates around no face, and its current leaves one end of the wire and
/// arrives at the other: with the walls, at which E along them is zero, these are the equations of direct
/// current on the nodes, whose solution is unique.
TEST(Fields, AtATenThousandthOfAHertzAreThoseOfDirectCurrentOnTheMesh) {
  auto problem = small_problem();
  problem.frequencies = {1e-4};
  problem.sources = {{Source::Kind::wire, {{-133, 77, -121}, {312.5, -140, -355}}, {}, 2}};
  problem.receivers = {{400, 300, -60}};
  problem.edge_volume = true;
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  ASSERT_TRUE(out.solves[0].converged());
  const auto& mesh = problem.mesh;
  const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
  using Place = std::array<std::size_t, 3>;  // up, north, east
  const Place cells{mesh.n_up(), mesh.n_north(), mesh.n_east()};
  const auto width = [&](std::size_t a, std::size_t n) { return (*faces[a])[n + 1] - (*faces[a])[n]; };
  const auto next = [](Place p, std::size_t axis) { return ++p[axis], p; };
  std::size_t begin[3] = {};
  begin[1] = problem.edges_along(2);
  begin[0] = begin[1] + problem.edges_along(1);
  const auto along = [&](std::size_t axis, const Place& p) {  // E h
    Place size{cells[0] + 1, cells[1] + 1, cells[2] + 1};
    --size[axis];
    return out.volume[begin[axis] + (p[0] * size[1] + p[1]) * size[2] + p[2]] * width(axis, p[axis]);
  };
  double largest = 0, around = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    Place last = next(cells, axis), p{};
    for (p[0] = 0; p[0] < last[0]; ++p[0])
      for (p[1] = 0; p[1] < last[1]; ++p[1])
        for (p[2] = 0; p[2] < last[2]; ++p[2]) {
          largest = std::max(largest, std::abs(along(b, p)));
          around = worse(around,
                         std::abs(along(b, p) + along(c, next(p, b)) - along(b, next(p, c)) - along(c, p)));
        }
  }
  EXPECT_LT(around, 1e-6 * largest);  // iωμ₀H through the face
  EXPECT_GT(around, 0);
  const auto current = [&](std::size_t axis, const Place& p) {  // through the dual face of an edge
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    double conducts = 0;
    for (std::size_t corner = 0; corner < 4; ++corner) {
      Place cell = p;
      cell[b] -= corner & 1;
      cell[c] -= corner >> 1;
      conducts += problem.conductivity[0][mesh.index(cell[2], cell[1], cell[0])] * width(b, cell[b]) *
                  width(c, cell[c]) / 4;
    }
    return conducts * along(axis, p) / width(axis, p[axis]);
  };
  double stray = 0, leaves = 0, arrives = 0;
  Place p{};
  for (p[0] = 1; p[0] < cells[0]; ++p[0])
    for (p[1] = 1; p[1] < cells[1]; ++p[1])
      for (p[2] = 1; p[2] < cells[2]; ++p[2]) {
        double outward = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          Place before = p;
          --before[axis];
          outward += (current(axis, p) - current(axis, before)).real();
        }
        if (std::abs(outward) < 1e-6) stray = worse(stray, std::abs(outward));
        else (outward > 0 ? leaves : arrives) += outward;
      }
  EXPECT_LT(stray, 1e-10);
  EXPECT_NEAR(leaves, 2, 1e-10);
  EXPECT_NEAR(arrives, -2, 1e-10);
}

TEST(Fields, HaveConvergedWhereRoundingEndsTheResidualAfterReceiversHaveSettled) {
  auto problem = small_problem();
  problem.frequencies = {1e-4, 1e-5};
  problem.sources = {{Source::Kind::wire, {{-133, 77, -121}, {312.5, -140, -355}}, {}, 2}};
  problem.receivers = {{400, 300, -60}};
  problem.components = {{false, 2}, {true, 1}};
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  EXPECT_TRUE(out.solves[0].converged());
  EXPECT_TRUE(out.solves[1].converged());
  EXPECT_GT(out.solves[1].residual, problem.parameters.tolerance);
  EXPECT_LT(out.solves[1].change, problem.parameters.receiver_tolerance / 10);
  for (std::size_t c = 0; c < 2; ++c)  // both are those of direct current
    EXPECT_LT(std::abs(out.data[2 + c] - out.data[c]), 1e-5 * std::abs(out.data[c])) << c;
}

TEST(Fields, AMagneticDipoleIsASmallLoop) {
  auto problem = small_problem();
  const Vector3 at{30, 20, -60};
  const double half = 4;
  problem.sources = {{Source::Kind::magnetic_dipole, {at}, {0, 0, 4 * half * half}},
                     {Source::Kind::wire,
                      {{at[0] - half, at[1] - half, at[2]},
                       {at[0] + half, at[1] - half, at[2]},
                       {at[0] + half, at[1] + half, at[2]},
                       {at[0] - half, at[1] + half, at[2]},
                       {at[0] - half, at[1] - half, at[2]}},
                      {},
                      1}};
  problem.receivers = {{620, 250, -160}, {-450, 600, -90}};
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  const std::size_t each = problem.data_of_a_solve();
  double difference = 0, size = 0;
  for (std::size_t n = 0; n < each; ++n) {
    const double unit = n / 2 < 3 ? 1 : 1e3;
    difference += std::pow(unit * std::abs(out.data[n] - out.data[each + n]), 2);
    size += std::pow(unit * std::abs(out.data[n]), 2);
  }
  EXPECT_LT(std::sqrt(difference / size), 0.1);  // the loop lies in one cell of 100 m, the dipole in eight
}

/// A marine line over a resistive layer: cells of 100 m, 50 m upright, growing by 1.3 for a wavelength.
Problem marine_line(double refine) {
  const auto growing = [&](std::vector<double> middle, double from, double low, double high) {
    std::vector<double> faces{from};
    for (const double width : middle)
      for (int n = 0; n < refine; ++n) faces.push_back(faces.back() + width / refine);
    for (double h = middle.back() / refine * 1.3; faces.back() < high; h *= 1.3)
      faces.push_back(faces.back() + h);
    std::vector<double> below;
    for (double h = middle.front() / refine * 1.3, at = from; at > low; h *= 1.3) below.push_back(at -= h);
    faces.insert(faces.begin(), below.rbegin(), below.rend());
    return faces;
  };
  Problem problem;
  problem.mesh =
      TensorMesh(growing(std::vector<double>(48, 100), -500, -7000, 11000),
                 growing(std::vector<double>(14, 100), -700, -7500, 7500),
                 growing({50, 50, 160, 140, 140, 110, 85, 65, 50,  50,  50,  50,  50,  50,  // −2100 … −1000
                          50, 50, 50,  50,  50,  50,  65, 85, 110, 140, 150, 150, 150, 150, 150},
                         -2100, -9000, 9000));
  return problem;
}

/// Errors of all components relative to the field there, of a slanted wire in the sea above the layered
/// earth.
struct MarineErrors {
  double e = 0, h = 0;
  int iterations = 0;
};
MarineErrors marine_errors(double refine, double hertz, const std::vector<Vector3>& receivers) {
  auto problem = marine_line(refine);
  const auto earth = marine();
  for (std::size_t k = 0; k < problem.mesh.n_up(); ++k) {
    const double middle = (problem.mesh.up()[k] + problem.mesh.up()[k + 1]) / 2;
    std::size_t layer = 0;
    while (layer < earth.interfaces.size() && middle > earth.interfaces[layer]) ++layer;
    const double sigma = std::max(earth.layers[layer].horizontal.real(), 1e-8);
    problem.conductivity[0].insert(problem.conductivity[0].end(),
                                   problem.mesh.n_east() * problem.mesh.n_north(), sigma);
  }
  const Vector3 from{-36.65, -11.8, -950}, to{57.35, 41.5, -930};
  problem.sources = {{Source::Kind::wire, {from, to}, {}, 1}};
  problem.frequencies = {hertz};
  problem.receivers = receivers;
  for (const bool magnetic : {false, true})
    for (const int axis : {2, 1, 0}) problem.components.push_back({magnetic, axis});
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  EXPECT_TRUE(out.solves[0].converged());

  MarineErrors errors;
  errors.iterations = out.solves[0].iterations;
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    std::complex<double> expected[6] = {};
    // Gauss points of the wire: 4 are exact to 1e-6 at these distances.
    const double x[4] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526},
                 w[4] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538};
    for (int p = 0; p < 4; ++p) {
      Vector3 at{}, moment{};
      for (std::size_t a = 0; a < 3; ++a) {
        at[a] = (from[a] + to[a]) / 2 + x[p] * (to[a] - from[a]) / 2;
        moment[a] = w[p] / 2 * (to[a] - from[a]);
      }
      const auto field = electric_dipole(earth, hertz, at, moment, receivers[n]);
      for (std::size_t c = 0; c < 3; ++c) {
        expected[c] += field.e[c];
        expected[3 + c] += field.h[c];
      }
    }
    for (std::size_t c = 0; c < 6; ++c) {
      const double error = std::abs(out.data[c * receivers.size() + n] - expected[c]) / std::abs(expected[c]);
      double& worst = c < 3 ? errors.e : errors.h;
      worst = worse(worst, error);
      if (std::getenv("SHOW"))
        printf("%g %g %g: %zu %.2f %%\n", receivers[n][0], receivers[n][1], receivers[n][2], c, 100 * error);
    }
  }
  return errors;
}

// The skin depth of the sea is 390 m: four cells and more.
TEST(Fields, OfAMarineLineAreThoseOfTheLayeredEarthOnBothSidesOfTheSeaFloor) {
  const auto errors = marine_errors(
      1, 0.5, {{1230, -210, -985}, {2040, 330, -999.9}, {2040, 330, -1020}, {3010, -430, -1000.1}});
  EXPECT_LT(errors.e, 0.013);
  EXPECT_LT(errors.h, 0.017);
  EXPECT_LE(errors.iterations, 25);
}

/// Upright E jumps where conductivity does, or chargeability alone, by however little. Linear E between the
/// cells was wrong by half the jump, 10 %.
TEST(Fields, JumpAtContactsThatDifferByLessThanAFifth) {
  const auto axis = [](double low, double high, double width) {
    std::vector<double> faces;
    for (double x = low; x < high + width / 2; x += width) faces.push_back(x);
    for (double h = width * 1.4; faces.back() < 12e3; h *= 1.4) faces.push_back(faces.back() + h);
    for (double h = width * 1.4; faces.front() > -12e3; h *= 1.4)
      faces.insert(faces.begin(), faces.front() - h);
    return faces;
  };
  for (const bool charged : {false, true}) {
    Problem problem;
    problem.mesh = TensorMesh(axis(-200, 900, 50), axis(-300, 500, 50), axis(-200, 400, 25));
    const auto& mesh = problem.mesh;
    for (std::size_t n = 0; n < mesh.size(); ++n) {
      const double height = mesh.up()[mesh.cell(n)[2]];
      problem.conductivity[0].push_back(height >= 400 ? 1e-8 : height >= 0 || charged ? 1 : 1 / 1.19);
      if (charged) {
        problem.chargeability.push_back(height >= 0 ? 0 : 0.25);
        problem.charge_time.push_back(0.5);
        problem.charge_exponent.push_back(1);
      }
    }
    problem.frequencies = {0.25};
    problem.sources = {{Source::Kind::electric_dipole, {{0, 0, 100}}, {1, 0, 0}, 1}};
    problem.receivers = {{600, 200, -0.02}, {600, 200, 0}};
    problem.components = {{false, 0}, {false, 2}, {true, 1}};
    Stream stream({Device::Kind::cpu, -1});
    const auto out = forward(problem, stream);
    const auto sigma = problem.sigma(0.25);
    const auto below = sigma(0, 0);
    const LayeredEarth earth{{{below, below}, {1, 1}, {1e-8, 1e-8}}, {0, 400}};
    for (std::size_t n = 0; n < 2; ++n) {
      auto at = problem.receivers[n];
      if (n == 1) at[2] = 1e-3;
      const auto right = electric_dipole(earth, 0.25, problem.sources[0].points[0], {1, 0, 0}, at);
      const std::complex<double> expected[3] = {right.e[2], right.e[0], right.h[1]};
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_LT(std::abs(out.data[2 * c + n] - expected[c]), 0.015 * std::abs(expected[c]))
            << charged << n << c << " " << out.data[2 * c + n] / expected[c];
    }
  }
}

TEST(Fields, OnAMeshMadeFromSkinDepthsAreThoseOfTheLayeredEarth) {
  const auto earth = ground();
  Problem problem;
  const Vector3 source{0, 0, -40};
  problem.sources = {{Source::Kind::electric_dipole, {source}, {1, 0, 0}, 1}};
  problem.receivers = {{1500, 400, -20}, {900, -600, -20}};
  problem.frequencies = {10};
  problem.components = {{false, 2}, {false, 1}};
  const auto plan = plan_mesh({.frequencies = problem.frequencies,
                               .at_sources = 0.01,
                               .mean = 0.01,
                               .sources = {source},
                               .receivers = problem.receivers,
                               .heights = {-800, -500, 0}});
  EXPECT_EQ(plan.reasons.size(), 4U);
  for (const double height : {-800.0, -500.0, 0.0})
    EXPECT_NE(std::find(plan.mesh.up().begin(), plan.mesh.up().end(), height), plan.mesh.up().end());
  for (const auto* faces : {&plan.mesh.easting(), &plan.mesh.northing(), &plan.mesh.up()})
    for (std::size_t n = 2; n < faces->size(); ++n) {
      const double ratio = ((*faces)[n] - (*faces)[n - 1]) / ((*faces)[n - 1] - (*faces)[n - 2]);
      EXPECT_GT(ratio, 1 / 1.9) << n;
      EXPECT_LT(ratio, 1.9) << n;
    }
  problem.mesh = plan.mesh;
  EXPECT_TRUE(
      (problem.conductivity[0] = std::vector<double>(problem.mesh.size(), 0.01), problem.warnings()).empty());
  for (std::size_t k = 0, n = 0; k < problem.mesh.n_up(); ++k) {
    const double middle = (problem.mesh.up()[k] + problem.mesh.up()[k + 1]) / 2;
    std::size_t layer = 0;
    while (layer < earth.interfaces.size() && middle > earth.interfaces[layer]) ++layer;
    for (std::size_t m = 0; m < problem.mesh.n_east() * problem.mesh.n_north(); ++m)
      problem.conductivity[0][n++] = std::max(earth.layers[layer].horizontal.real(), 1e-8);
  }
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  EXPECT_TRUE(out.solves[0].converged());
  for (std::size_t n = 0; n < 2; ++n) {
    const auto expected = electric_dipole(earth, 10, source, {1, 0, 0}, problem.receivers[n]);
    double difference = 0, size = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      difference += std::norm(out.data[2 * c + n] - expected.e[c]);
      size += std::norm(expected.e[c]);
    }
    EXPECT_LT(std::sqrt(difference / size), 0.03);
  }
}

TEST(Problems, AreRefusedOrWarnedOfWithTheirNumbers) {
  auto problem = small_problem();
  problem.sources = {{Source::Kind::electric_dipole, {{3, 40, -20}}, {1, 2, 0}}};
  problem.receivers = {{310, 20, -5}};
  EXPECT_NO_THROW(problem.check());
  const auto refused = [&](const auto& spoil) {
    auto other = problem;
    spoil(other);
    EXPECT_THROW(other.check(), InputError);
  };
  refused([](Problem& p) { p.frequencies = {1, 0}; });
  refused([](Problem& p) { p.frequencies.clear(); });
  refused([](Problem& p) { p.sources.clear(); });
  refused([](Problem& p) { p.components.clear(); });
  refused([](Problem& p) { p.receivers.push_back({1e6, 0, 0}); });
  refused([](Problem& p) { p.sources.push_back({Source::Kind::wire, {{0, 0, 0}}, {}, 1}); });
  refused([](Problem& p) { p.sources.push_back({Source::Kind::wire, {{0, 0, 0}, {0, 0, -1e7}}, {}, 1}); });
  auto poor = problem;
  poor.conductivity[0][3] = 0;
  Stream stream({Device::Kind::cpu, -1});
  EXPECT_THROW(forward(poor, stream), InputError);

  const auto ends_in_air = [](const Problem& p) {
    const auto lines = p.warnings();
    return std::any_of(lines.begin(), lines.end(),
                       [](const auto& line) { return line.find("grounded in air") != std::string::npos; });
  };
  auto flying = problem;
  for (const double height : {-20.0, 0.0, 60.0}) {
    flying.sources = {{Source::Kind::wire, {{0, 0, -30}, {100, 0, height}}, {}, 1}};
    EXPECT_EQ(ends_in_air(flying), height > 0) << height;
    flying.sources[0].points.push_back(flying.sources[0].points.front());
    EXPECT_FALSE(ends_in_air(flying)) << "a loop is not grounded";
  }

  problem.frequencies = {1000};  // skin depth of the overburden 71 m, cells of 100 m
  const auto lines = problem.warnings();
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.front().find("cells of 100 m beside a source, where the skin depth at 1000 Hz is 71.2 m"),
            std::string::npos)
      << lines.front();
  problem.frequencies = {0.001};
  EXPECT_NE(problem.warnings().front().find("a wall of the mesh"), std::string::npos);
}

TEST(LongFields, OfAMarineLineAreRightToSixThousandthsWithEightCellsInASkinDepth) {
  const auto errors = marine_errors(
      2, 0.5, {{1230, -210, -985}, {2040, 330, -999.9}, {2040, 330, -1020}, {3010, -430, -1000.1}});
  EXPECT_LT(errors.e, 0.006);
  EXPECT_LT(errors.h, 0.006);
}

}  // namespace
}  // namespace terrane::electromagnetic
