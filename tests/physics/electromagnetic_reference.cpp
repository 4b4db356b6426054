// Every row of the reference files of electromagnetics: the layered earth in closed form and by another
// code's quadrature, a marine line, plane waves over layers and over a block, and counts of iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/land.hpp"
#include "support/rows.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::electromagnetic::reference {
namespace {

using Z = std::complex<double>;

using test::Row, test::rows_of;

LayeredEarth::Layer of(double rho, double more_upright = 1) { return {1 / rho, 1 / (rho * more_upright)}; }
LayeredEarth earth_of(const std::string& name) {
  const double more =
      name == "marine_vti" ? 2 : 1;  // vertical resistivity of the sediment over the horizontal
  if (name == "land") return {{of(1000), of(10), of(100), {1e-12, 1e-12}}, {-800, -500, 0}};
  return {{of(1, more), of(100), of(1, more), of(0.3), {1e-12, 1e-12}}, {-2100, -2000, -1000, 0}};
}

const char* const components[6] = {"e_e", "e_n", "e_u", "h_e", "h_n", "h_u"};
Z expected(const Row& row, std::size_t c) {
  return {row(std::string(components[c]) + "_re"), row(std::string(components[c]) + "_im")};
}

/// Where a value is not empty, or zero: against the largest component of its kind, as small ones are the
/// difference of large integrals.
void compare_layers(std::size_t every, double within) {
  const auto rows = rows_of("csem_layered.csv");
  ASSERT_EQ(rows.size(), 440U);
  std::size_t compared = 0;
  for (std::size_t n = 0; n < rows.size(); n += every) {
    const auto& row = rows[n];
    const Vector3 from{0, 0, row("source_up_m")}, to{row("x_m"), row("y_m"), row("up_m")};
    const auto earth = earth_of(row.text("model"));
    const double hertz = row("frequency_hz");
    const auto field =
        row.text("source") == "vmd"
            ? vertical_magnetic_dipole(earth, hertz, from, 1, to)
            : electric_dipole(earth, hertz, from,
                              row.text("source") == "hed" ? Vector3{1, 0, 0} : Vector3{0, 0, 1}, to);
    for (std::size_t c = 0; c < 6; ++c) {
      const Z value = expected(row, c), found = c < 3 ? field.e[c] : field.h[c - 3];
      if (std::isnan(value.real()) || value == 0.0) continue;
      ++compared;
      EXPECT_LE(std::abs(found - value), within * std::abs(value)) << "row " << n + 2 << " " << components[c];
    }
  }
  EXPECT_GT(compared, 2000 / every);
}
TEST(Reference, OfLayersIsWhatTheFormulasGiveAtEveryTenthOffset) { compare_layers(10, 2e-6); }
TEST(LongReference, OfLayersIsWhatTheFormulasGiveAtEveryOffset) { compare_layers(1, 5e-6); }

/// A wire by eight Gauss points.
DipoleField of_wire(const LayeredEarth& earth, double hertz, const Vector3& from, const Vector3& to,
                    const Vector3& receiver) {
  const double x[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363},
               w[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  DipoleField sum;
  for (int p = 0; p < 8; ++p) {
    Vector3 at{}, moment{};
    for (std::size_t a = 0; a < 3; ++a) {
      at[a] = (from[a] + to[a]) / 2 + (p < 4 ? 1 : -1) * x[p % 4] * (to[a] - from[a]) / 2;
      moment[a] = w[p % 4] / 2 * (to[a] - from[a]);
    }
    const auto one = electric_dipole(earth, hertz, at, moment, receiver);
    for (std::size_t a = 0; a < 3; ++a) {
      sum.e[a] += one.e[a];
      sum.h[a] += one.h[a];
    }
  }
  return sum;
}
constexpr Vector3 wire_from{-36.65, -11.8, -950}, wire_to{57.35, 41.5, -930};

TEST(Reference, OfASlantedWireIsWhatTheFormulasGive) {
  const auto rows = rows_of("csem_wire.csv");
  ASSERT_EQ(rows.size(), 21U);
  for (const auto& row : rows) {
    const auto field = of_wire(earth_of("marine"), row("frequency_hz"), wire_from, wire_to,
                               {row("e_m"), row("n_m"), row("u_m")});
    for (std::size_t c = 0; c < 6; ++c) {
      const Z value = expected(row, c);
      EXPECT_LE(std::abs((c < 3 ? field.e[c] : field.h[c - 3]) - value), 1e-6 * std::abs(value))
          << row("frequency_hz") << " " << row("e_m") << " " << components[c];
    }
  }
}

/// Cells of 100 m by 70 m, 50 m upright at the sea floor, over `refine`; then such that grow by 1.3 for
/// `reach`. The nearest receivers are 865 m away: with 100 m across as well, E is wrong there by 2.1 %.
TensorMesh marine_mesh(int refine, double reach) {
  const auto growing = [&](const std::vector<double>& middle, double from) {
    std::vector<double> faces{from};
    for (const double width : middle)
      for (int n = 0; n < refine; ++n) faces.push_back(faces.back() + width / refine);
    const double end = faces.back() + reach, begin = from - reach;
    for (double h = middle.back() / refine * 1.3; faces.back() < end; h *= 1.3)
      faces.push_back(faces.back() + h);
    for (double h = middle.front() / refine * 1.3; faces.front() > begin; h *= 1.3)
      faces.insert(faces.begin(), faces.front() - h);
    return faces;
  };
  return {growing(std::vector<double>(48, 100), -500), growing(std::vector<double>(20, 70), -700),
          growing({50, 50, 160, 140, 140, 110, 85, 65, 50,  50,  50,  50,  50,  50,  // −2100 … −1000
                   50, 50, 50,  50,  50,  50,  65, 85, 110, 140, 150, 150, 150, 150, 150},
                  -2100)};
}

/// Of one row of csem_wire.csv: errors of E and H as vectors, and of the upright E, which jumps at the sea
/// floor, relative to itself.
struct MarineError {
  double east, up;  ///< of the receiver, m
  double e, h, e_u;
};
std::vector<MarineError> marine_errors(int refine, double hertz) {
  Problem problem;
  problem.mesh = marine_mesh(refine, hertz < 0.3 ? 13000 : 7000);
  const auto earth = earth_of("marine");
  for (std::size_t k = 0; k < problem.mesh.n_up(); ++k) {
    const double middle = (problem.mesh.up()[k] + problem.mesh.up()[k + 1]) / 2;
    const auto layer =
        static_cast<std::size_t>(std::upper_bound(earth.interfaces.begin(), earth.interfaces.end(), middle) -
                                 earth.interfaces.begin());
    problem.conductivity[0].insert(problem.conductivity[0].end(),
                                   problem.mesh.n_east() * problem.mesh.n_north(),
                                   std::max(earth.layers[layer].horizontal.real(), 1e-8));
  }
  problem.sources = {{Source::Kind::wire, {wire_from, wire_to}, {}, 1}};
  problem.frequencies = {hertz};
  std::vector<Row> rows;
  for (const auto& row : rows_of("csem_wire.csv"))
    if (row("frequency_hz") == hertz) rows.push_back(row);
  for (const auto& row : rows) problem.receivers.push_back({row("e_m"), row("n_m"), row("u_m")});
  for (const bool magnetic : {false, true})
    for (const int axis : {2, 1, 0}) problem.components.push_back({magnetic, axis});
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  EXPECT_TRUE(out.solves[0].converged());
  std::vector<MarineError> errors;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    std::array<double, 2> wrong{}, size{};
    double upright = 0;
    for (std::size_t c = 0; c < 6; ++c) {
      const Z value = expected(rows[n], c), off = out.data[c * rows.size() + n] - value;
      wrong[c / 3] += std::norm(off);
      size[c / 3] += std::norm(value);
      if (c == 2) upright = std::abs(off) / std::abs(value);
    }
    errors.push_back({rows[n]("e_m"), rows[n]("u_m"), std::sqrt(wrong[0] / size[0]),
                      std::sqrt(wrong[1] / size[1]), upright});
    if (std::getenv("SHOW"))
      printf("%d %g Hz, %g m, %g m: E %.2f H %.2f E_u %.2f %%\n", refine, hertz, errors.back().east,
             errors.back().up, 100 * errors.back().e, 100 * errors.back().h, 100 * upright);
  }
  return errors;
}

/// Every row of a frequency, on the sea floor, under and above it.
void expect_marine_rows(int refine, double hertz, double allowed, double upright = 0) {
  const auto errors = marine_errors(refine, hertz);
  EXPECT_EQ(errors.size(), 7U);
  for (const auto& error : errors) {
    EXPECT_LE(error.e, allowed) << hertz << " Hz, " << error.east << " m east, " << error.up << " m";
    EXPECT_LE(error.h, allowed) << hertz << " Hz, " << error.east << " m east, " << error.up << " m";
    EXPECT_LE(error.e_u, std::max(allowed, upright))
        << hertz << " Hz, " << error.east << " m east, " << error.up << " m";
  }
}

// Skin depths of the sea are 872, 390 and 195 m: 8.7, 3.9 and 3.9 cells. At 0.1 Hz cells of 200 m would be
// wider than the wire is long, and four of them would lie between it and the nearest receivers.
TEST(LongReference, OfTheMarineLineIsWithinTwoPercentWithFourCellsInASkinDepthInEveryRow) {
  expect_marine_rows(1, 0.1, 0.02, 0.025);  // E upright, a third of E, at 865 m in the sediment
  expect_marine_rows(1, 0.5, 0.02);
  expect_marine_rows(2, 2, 0.02);
}
TEST(LongReference, OfTheMarineLineIsWithinSixThousandthsWithEightCellsInASkinDepthInEveryRow) {
  expect_marine_rows(2, 0.1, 0.006);
  expect_marine_rows(2, 0.5, 0.006);
  expect_marine_rows(4, 2, 0.006);
}

LayeredEarth telluric_earth(const std::string& name) {
  const LayeredEarth::Layer air{1e-8, 1e-8};
  if (name.starts_with("half_space")) return {{of(100), air}, {0}};
  if (name.starts_with("three")) return {{of(1000), of(10), of(100), air}, {-1500, -500, 0}};
  return {{of(1), of(200), of(5), of(500), of(50), air}, {-6300, -1300, -1000, -200, 0}};
}

double skin_depth(double sigma, double hertz) { return 503.292 / std::sqrt(sigma * hertz); }

/// Faces at the interfaces, cells of a 16th of the skin depth at the surface that grow with depth.
std::vector<double> faces_for(const LayeredEarth& earth, double hertz) {
  const std::size_t top = earth.layers.size() - 2;
  const auto sigma = [&](std::size_t n) { return earth.layers[n].horizontal.real(); };
  const double at_surface = skin_depth(sigma(top), hertz) / 16;
  std::vector<double> faces{0};
  const auto down_to = [&](double end, double conducts) {
    while (faces.back() > end + 1e-6) {
      const double from = faces.back(), wanted = std::min(at_surface - 0.08 * from,
                                                          skin_depth(conducts, hertz) / 16 - 0.04 * from);
      faces.push_back(from - end <= wanted ? end : from - std::min(wanted, (from - end) / 2));
    }
  };
  for (std::size_t n = top; n > 0; --n) down_to(earth.interfaces[n - 1], sigma(n));
  down_to(faces.back() - 8 * skin_depth(sigma(0), hertz), sigma(0));
  std::reverse(faces.begin(), faces.end());
  for (double h = at_surface; faces.back() < 60 * at_surface; h *= 1.4) faces.push_back(faces.back() + h);
  return faces;
}

TEST(Reference, OfPlaneWavesOverLayersIsMetToHalfAPercentAndATenthOfADegree) {
  const auto rows = rows_of("mt_layered.csv");
  ASSERT_EQ(rows.size(), 51U);
  for (const auto& row : rows) {
    const auto earth = telluric_earth(row.text("model"));
    const double hertz = row("frequency_hz"), side = skin_depth(0.01, hertz);
    const Z value(row("z_re_ohm"), row("z_im_ohm"));
    EXPECT_LT(std::abs(plane_wave_impedance(earth, hertz) - value), 1e-8 * std::abs(value)) << hertz;
    Problem problem;
    const std::vector<double> across{-3 * side, -2 * side, -side, 0, side, 2 * side, 3 * side};
    problem.mesh = TensorMesh(across, across, faces_for(earth, hertz));
    for (std::size_t k = 0; k < problem.mesh.n_up(); ++k) {
      const double middle = (problem.mesh.up()[k] + problem.mesh.up()[k + 1]) / 2;
      const auto layer = static_cast<std::size_t>(
          std::upper_bound(earth.interfaces.begin(), earth.interfaces.end(), middle) -
          earth.interfaces.begin());
      problem.conductivity[0].insert(problem.conductivity[0].end(), 36,
                                     earth.layers[layer].horizontal.real());
    }
    problem.sources = both_polarisations();
    problem.components = recorded_of_plane_waves();
    problem.frequencies = {hertz};
    problem.receivers = {{0.3 * side, -0.4 * side, 0}};
    Stream stream({Device::Kind::cpu, -1}, false, 1);
    const auto site = transfer_functions(problem, forward(problem, stream)).front();
    const double rho = row("apparent_resistivity_ohm_m");
    for (const std::size_t element : {1U, 2U}) {
      EXPECT_NEAR(site.apparent_resistivity(element, hertz), rho, 0.005 * rho) << row.text("model") << hertz;
      EXPECT_NEAR(site.phase(element) + (element == 1 ? 180 : 0), row("phase_deg"), 0.1) << hertz;
    }
  }
}

TEST(LongReference, CountsOfIterationsAreAsMeasured) {
  const auto rows = rows_of("em_iterations.csv");
  EXPECT_EQ(rows.size(), 36U);
  for (const auto& row : rows) {
    const auto earth = test::land(static_cast<int>(row("cells_per_side")), row("stretch"));
    const auto count = [&](auto precision) {
      Stream stream({Device::Kind::cpu, -1});
      MaxwellSolver<decltype(precision)> solver(stream, earth.mesh,
                                                {&earth.sigma, &earth.sigma, &earth.sigma});
      solver.set_frequency(row("frequency_hz"));
      auto b = solver.vector();
      auto x = solver.vector();
      const double omega_mu = 8e-7 * std::numbers::pi * std::numbers::pi * row("frequency_hz");
      add(stream, solver.metric(),
          moments(earth.mesh, {Source::Kind::wire, {{0, 0, -100}, {100, 0, -100}}, {}, 1}, ""),
          {0, -omega_mu}, b);
      solver.complete(b);
      return solver.solve(b, x, {.relative = 1e-8}).iterations;
    };
    const double found = row.text("cycle_precision") == "float" ? count(0.0F) : count(0.0),
                 measured = row("iterations_to_1e-8");
    EXPECT_LE(found, measured + std::max(1.0, std::floor(0.25 * measured)))
        << row("cells_per_side") << " " << row("stretch") << " " << row("frequency_hz");
  }
}

}  // namespace
}  // namespace terrane::electromagnetic::reference
