// Magnetotellurics: plane waves over layers, over a block, and what symmetry asks of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "devices/device.hpp"
#include "support/rows.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/survey/section.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::electromagnetic {
namespace {

constexpr std::size_t ee = 0, en = 1, ne = 2, nn = 3;

/// Resistivities from above, and thicknesses.
LayeredEarth layers_under_air(const std::vector<double>& ohm_m, const std::vector<double>& thickness) {
  LayeredEarth earth;
  double depth = 0;
  for (const double h : thickness) depth += h;
  for (std::size_t n = ohm_m.size(); n-- > 0;) {
    earth.layers.push_back({1 / ohm_m[n], 1 / ohm_m[n]});
    earth.interfaces.push_back(-depth);
    if (n > 0) depth -= thickness[n - 1];
  }
  earth.layers.push_back({1e-8, 1e-8});
  return earth;
}
LayeredEarth half_space() { return layers_under_air({100}, {}); }
LayeredEarth three_layers() { return layers_under_air({100, 10, 1000}, {500, 1000}); }
LayeredEarth five_layers() { return layers_under_air({50, 500, 5, 200, 1}, {200, 800, 300, 5000}); }

// electromagnetic/reference/mt_layered.csv
struct Row {
  LayeredEarth earth;
  double hertz, re, im;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all{{half_space(), 1e-4, 1.986917653159e-04, 1.986917653159e-04},
                                    {half_space(), 10, 6.283185307180e-02, 6.283185307180e-02},
                                    {three_layers(), 0.00316227766, 3.055043326862e-03, 1.781003286318e-03},
                                    {three_layers(), 1, 9.283265696946e-03, 6.927458255961e-03},
                                    {three_layers(), 316.227766, 3.675667877935e-01, 3.591455601765e-01},
                                    {five_layers(), 0.000316227766, 3.541551232985e-05, 5.076587070852e-05},
                                    {five_layers(), 0.1, 1.907172289945e-03, 4.728815250570e-03},
                                    {five_layers(), 31.6227766, 1.245046679906e-01, 1.256328734085e-01},
                                    {five_layers(), 10000, 1.404948968012e+00, 1.404986198023e+00}};
  return all;
}

TEST(PlaneWaves, HaveTheImpedanceOfLayersInClosedForm) {
  for (const auto& row : rows()) {
    const std::complex<double> expected(row.re, row.im);
    EXPECT_LT(std::abs(plane_wave_impedance(row.earth, row.hertz) - expected), 1e-9 * std::abs(expected))
        << row.hertz;
  }
}

double skin_depth(double sigma, double hertz) { return 503.292 / std::sqrt(sigma * hertz); }

/// Faces at the interfaces, cells of a 16th of the skin depth at the surface that grow with depth.
std::vector<double> faces_for(const LayeredEarth& earth, double hertz) {
  const std::size_t top = earth.layers.size() - 2;
  const double at_surface = skin_depth(earth.layers[top].horizontal.real(), hertz) / 16;
  std::vector<double> faces{0};
  const auto down_to = [&](double end, double sigma) {
    while (faces.back() > end + 1e-6) {
      const double from = faces.back(),
                   wanted = std::min(at_surface - 0.08 * from, skin_depth(sigma, hertz) / 16 - 0.04 * from),
                   left = std::ceil((from - end) / wanted);
      faces.push_back(left <= 1 ? end : from - std::min(wanted, (from - end) / 2));
    }
  };
  for (std::size_t n = top; n > 0; --n) down_to(earth.interfaces[n - 1], earth.layers[n].horizontal.real());
  down_to(faces.back() - 8 * skin_depth(earth.layers[0].horizontal.real(), hertz),
          earth.layers[0].horizontal.real());
  std::reverse(faces.begin(), faces.end());
  for (double h = at_surface; faces.back() < 60 * at_surface; h *= 1.4) faces.push_back(faces.back() + h);
  return faces;
}

Problem plane_waves(TensorMesh mesh, std::vector<double> frequencies, std::vector<Vector3> receivers) {
  Problem problem;
  problem.mesh = std::move(mesh);
  problem.sources = both_polarisations();
  problem.components = recorded_of_plane_waves();
  problem.frequencies = std::move(frequencies);
  problem.receivers = std::move(receivers);
  return problem;
}

/// Conductivity at the centres of cells.
template <class Sigma>
void paint(Problem& problem, const Sigma& sigma) {
  const auto& mesh = problem.mesh;
  for (std::size_t k = 0; k < mesh.n_up(); ++k)
    for (std::size_t j = 0; j < mesh.n_north(); ++j)
      for (std::size_t i = 0; i < mesh.n_east(); ++i)
        problem.conductivity[0].push_back(sigma((mesh.easting()[i] + mesh.easting()[i + 1]) / 2,
                                                (mesh.northing()[j] + mesh.northing()[j + 1]) / 2,
                                                (mesh.up()[k] + mesh.up()[k + 1]) / 2));
}

/// Faces every `step` from −half to half, then `more` cells that grow by 1.6.
std::vector<double> growing_faces(double half, double step, int more) {
  std::vector<double> up{step / 2};
  while (up.back() < half) up.push_back(up.back() + step);
  for (double width = step * 1.6; more > 0; --more, width *= 1.6) up.push_back(up.back() + width);
  std::vector<double> all;
  for (auto face = up.rbegin(); face != up.rend(); ++face) all.push_back(-*face);
  all.insert(all.end(), up.begin(), up.end());
  return all;
}

/// The largest of ∇×∇×E + iωμ₀sE on interior edges, over the largest iωμ₀sE: E by edges, walls included.
double unbalance(const TensorMesh& mesh, const Conductivity& sigma, const EdgeField& field, double hertz) {
  using Place = std::array<Index, 3>;
  const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
  const auto width = [&](int a, Index n) {
    const auto& f = *faces[a];
    return f[static_cast<std::size_t>(n) + 1] - f[static_cast<std::size_t>(n)];
  };
  const auto moved = [](Place place, int axis, Index by) {
    place[static_cast<std::size_t>(axis)] += by;
    return place;
  };
  const auto e = [&](int axis, Place place) {  // by nodes of the mesh; fields count interior ones
    for (int a = 0; a < 3; ++a)
      if (a != axis) place[static_cast<std::size_t>(a)] -= 1;
    return field(axis, place);
  };
  const auto curl = [&](int axis, const Place& face) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    return (e(b, moved(face, c, 1)) - e(b, face)) / width(c, face[static_cast<std::size_t>(c)]) -
           (e(c, moved(face, b, 1)) - e(c, face)) / width(b, face[static_cast<std::size_t>(b)]);
  };
  double worst = 0, largest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    const auto cells = [&](int a) { return static_cast<Index>(faces[a]->size()) - 1; };
    Place at{};
    const auto first = [&](int a) { return a == axis ? Index{0} : Index{1}; };
    for (at[0] = first(0); at[0] < cells(0); ++at[0])
      for (at[1] = first(1); at[1] < cells(1); ++at[1])
        for (at[2] = first(2); at[2] < cells(2); ++at[2]) {
          const Index p = at[static_cast<std::size_t>(b)], q = at[static_cast<std::size_t>(c)];
          const double db = (width(b, p - 1) + width(b, p)) / 2, dc = (width(c, q - 1) + width(c, q)) / 2;
          // The curl of the faces beside the edge, with the signs of curl() above.
          const auto twice =
              (curl(b, at) - curl(b, moved(at, c, -1))) / dc - (curl(c, at) - curl(c, moved(at, b, -1))) / db;
          double current = 0;
          for (Index corner = 0; corner < 4; ++corner) {
            const auto cell = moved(moved(at, b, -(corner & 1)), c, -(corner >> 1));
            current +=
                (*sigma[static_cast<std::size_t>(axis)])[mesh.index(static_cast<std::size_t>(cell[2]),
                                                                    static_cast<std::size_t>(cell[1]),
                                                                    static_cast<std::size_t>(cell[0]))] *
                width(b, cell[static_cast<std::size_t>(b)]) * width(c, cell[static_cast<std::size_t>(c)]);
          }
          const auto sent = std::complex<double>(0, 2 * std::numbers::pi * hertz * 4e-7 * std::numbers::pi) *
                            current / (4 * db * dc) * e(axis, at);
          worst = std::max(worst, std::abs(twice + sent));
          if (!(std::abs(twice + sent) <= worst)) return NAN;
          largest = std::max(largest, std::abs(sent));
        }
  }
  return worst / largest;
}

TEST(PlaneWaves, OverASectionSolveTheEquationsOfTheMeshForBothPolarisations) {
  const TensorMesh mesh(growing_faces(300, 150, 3), growing_faces(400, 200, 2), growing_faces(300, 120, 3));
  for (const int strike : {1, 2}) {
    std::array<std::vector<double>, 3> sigma;  // differs by axis, with air above
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t k = 0; k < mesh.n_up(); ++k)
        for (std::size_t j = 0; j < mesh.n_north(); ++j)
          for (std::size_t i = 0; i < mesh.n_east(); ++i) {
            const double along = static_cast<double>(strike == 1 ? i : j);
            sigma[a].push_back(2 * k > mesh.n_up()
                                   ? 1e-6
                                   : 0.01 *
                                         std::exp(2 * std::sin(1.7 * along + 2.3 * double(k) + double(a))));
          }
    const Conductivity all{&sigma[0], &sigma[1], &sigma[2]};
    const auto section = section_of_ends(mesh, Sigma{all, {}, {}}, strike);
    EXPECT_TRUE(section.alike);
    const auto along = wave_along_strike(mesh, section, 10), across = wave_across_strike(mesh, section, 10);
    EXPECT_LT(unbalance(mesh, all, along, 10), 1e-9) << strike;
    EXPECT_LT(unbalance(mesh, all, across, 10), 1e-7) << strike;  // H hardly changes in air
    const Index top = static_cast<Index>(mesh.n_up()) - 1;
    EXPECT_NEAR(std::abs(along(strike, {top, strike == 1 ? 3 : -1, strike == 1 ? -1 : 3})), 1, 1e-12);
    EXPECT_EQ(across(strike, {3, 3, 3}), 0.0);
  }
}

/// Where an earth goes on along its strike, waves over its section are right on a mesh of any length; over
/// the mean layers of its sides they need a mesh that is long along the strike.
TEST(PlaneWaves, OverADikeNeedItsSectionOrALongMesh) {
  const auto at = [](int along_strike, Strike strike, bool turned) {
    const auto wide = growing_faces(900, 300, 7), along = growing_faces(400, 400, along_strike);
    std::vector<double> up = growing_faces(600, 150, 9);
    auto problem =
        plane_waves(turned ? TensorMesh(along, wide, up) : TensorMesh(wide, along, up), {3}, {{40, 40, 75}});
    paint(problem, [&](double e, double n, double u) {
      const double x = turned ? n : e;
      return u > 75 ? 1e-8 : x > 150 && x < 1050 && u > -525 ? 0.5 : 0.01;
    });
    problem.parameters.strike = strike;
    Stream stream({Device::Kind::cpu, -1});
    const auto outcome = forward(problem, stream);
    if (strike != Strike::none) {
      for (const auto& solve : outcome.solves) EXPECT_EQ(solve.iterations, 0);
    }
    return transfer_functions(problem, outcome).front();
  };
  const auto section = at(2, Strike::north, false), layers = at(2, Strike::none, false),
             far = at(9, Strike::none, false), turned = at(2, Strike::east, true);
  for (const auto element : {en, ne}) {
    const double size = std::abs(section.z[element]);
    EXPECT_LT(std::abs(far.z[element] - section.z[element]), 1e-3 * size) << element;
    EXPECT_LT(std::abs(turned.z[element == en ? ne : en] + section.z[element]), 1e-3 * size) << element;
  }
  // E across the dike is given at the ends, and wrong there; E along it is not.
  EXPECT_GT(std::abs(layers.z[en] - section.z[en]), 0.03 * std::abs(section.z[en]));
  EXPECT_GT(std::abs(section.z[ne] + section.z[en]), 0.1 * std::abs(section.z[ne]));  // the dike is seen
}

TEST(PlaneWaves, OverLayersHaveTheirApparentResistivityToHalfAPercentAndATenthOfADegree) {
  for (const auto& row : rows()) {
    const double side = skin_depth(0.01, row.hertz);
    std::vector<double> across;
    for (int n = -5; n <= 5; ++n) across.push_back(n * side);
    auto problem = plane_waves(TensorMesh(across, across, faces_for(row.earth, row.hertz)), {row.hertz},
                               {{0, 0, 0}, {0.3 * side, -0.4 * side, 0}});
    paint(problem, [&](double, double, double up) {
      const auto& at = row.earth.interfaces;
      return row.earth
          .layers[static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), up) - at.begin())]
          .horizontal.real();
    });
    Stream stream({Device::Kind::cpu, -1});
    const auto out = forward(problem, stream);
    for (const auto& solve : out.solves) EXPECT_EQ(solve.iterations, 0) << "the field of layers is known";
    const double rho = (row.re * row.re + row.im * row.im) /
                       (2 * std::numbers::pi * row.hertz * 4e-7 * std::numbers::pi),
                 phase = std::atan2(row.im, row.re) * 180 / std::numbers::pi;
    for (const auto& site : transfer_functions(problem, out)) {
      EXPECT_NEAR(site.apparent_resistivity(ne, row.hertz), rho, 0.005 * rho) << row.hertz;
      EXPECT_NEAR(site.apparent_resistivity(en, row.hertz), rho, 0.005 * rho) << row.hertz;
      EXPECT_NEAR(site.phase(ne), phase, 0.1) << row.hertz;
      EXPECT_NEAR(site.phase(en), phase - 180, 0.1) << row.hertz;
      EXPECT_LT(std::abs(site.z[ee]), 1e-12 * std::abs(site.z[ne]));
      const auto tensor = site.phase_tensor();
      EXPECT_NEAR(tensor[ee], std::tan(phase * std::numbers::pi / 180), 0.01);
      EXPECT_NEAR(tensor[en], 0, 1e-9);
    }
  }
}

/// Widths on both sides of even cells.
std::vector<double> core_and_sides(double half_core, double cell, double growth, double reach) {
  std::vector<double> faces;
  for (double x = -half_core; x < half_core + cell / 2; x += cell) faces.push_back(x);
  for (double h = cell * growth; faces.back() < reach; h *= growth) {
    faces.push_back(faces.back() + h);
    faces.insert(faces.begin(), -faces.back());
  }
  return faces;
}

/// COMMEMI 3D-1A: 0.5 ohm m, 1 km by 2 km by 2 km, 250 m under the ground of 100 ohm m.
Problem commemi(double cell, double hertz, std::vector<Vector3> sites) {
  std::vector<double> up{-2750};
  while (up.back() < 0) {
    const double depth = -up.back();
    const double h = depth > 2200 || depth <= 750    ? cell / 2
                     : depth > 1750 || depth <= 1000 ? cell
                                                     : 2 * cell;
    up.push_back(up.back() + h);
  }
  const double reach = 13e3 * std::sqrt(10 / hertz);  // eight skin depths of the sides
  // Half the cells grow by the root, so that errors fall with the square of the cells in all directions.
  const double across = std::pow(1.35, cell / 125), upright = std::pow(1.4, cell / 125);
  for (double h = cell / 2 * upright; up.back() < reach; h *= upright) up.push_back(up.back() + h);
  for (double h = cell / 2 * upright; up.front() > -reach; h *= upright)
    up.insert(up.begin(), up.front() - h);
  auto problem = plane_waves(
      TensorMesh(core_and_sides(1000, cell, across, reach), core_and_sides(1500, cell, across, reach), up),
      {hertz}, std::move(sites));
  paint(problem, [](double east, double north, double height) {
    if (height > 0) return 1e-8;
    const bool inside = std::abs(east) < 500 && std::abs(north) < 1000 && height < -250 && height > -2250;
    return inside ? 2.0 : 0.01;
  });
  return problem;
}

/// Of solves that converge.
std::vector<TransferFunction> responses_of(const Problem& problem) {
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  for (const auto& solve : out.solves) {
    EXPECT_TRUE(solve.converged());
    EXPECT_LE(solve.iterations, 25);
  }
  return transfer_functions(problem, out);
}

/// What a row of mt_block_two_grids.csv holds: logarithms of apparent resistivities, degrees, tippers.
using Responses = std::array<double, 6>;
Responses responses_of(const test::Row& row) {
  return {std::log(row("rho_en_ohm_m")), std::log(row("rho_ne_ohm_m")), row("phase_en_deg_plus_180"),
          row("phase_ne_deg"),           row("abs_tipper_e"),           row("abs_tipper_n")};
}
Responses responses_of(const TransferFunction& site, double hertz) {
  return {std::log(site.apparent_resistivity(en, hertz)),
          std::log(site.apparent_resistivity(ne, hertz)),
          site.phase(en) + 180,
          site.phase(ne),
          std::abs(site.tipper[0]),
          std::abs(site.tipper[1])};
}

/// Another program's responses and ours, at the sites of the file, on cells of 125 or 62.5 m.
struct Compared {
  std::vector<Vector3> sites;
  std::vector<Responses> theirs, ours;

  void expect(std::size_t n, double of_rho, double degrees, double of_tipper) const {
    const auto name = fmt::format("site {} {}", sites[n][0], sites[n][1]);
    for (std::size_t c = 0; c < 6; ++c)
      EXPECT_NEAR(ours[n][c], theirs[n][c], c < 2 ? of_rho : c < 4 ? degrees : of_tipper) << name << ' ' << c;
  }
};
Compared compared(double hertz, double cell, const std::function<bool(double, double)>& taken) {
  Compared both;
  for (const auto& row : test::rows_of("mt_block_two_grids.csv"))
    if (row("frequency_hz") == hertz && row("core_cell_m") == cell && taken(row("e_m"), row("n_m"))) {
      both.sites.push_back({row("e_m"), row("n_m"), 0});
      both.theirs.push_back(responses_of(row));
    }
  for (const auto& site : responses_of(commemi(cell, hertz, both.sites))) {
    // On the axes of a symmetric body the field of one polarisation stays in its plane.
    EXPECT_LT(std::abs(site.z[ee]), 1e-6 * std::abs(site.z[ne]));
    EXPECT_LT(std::abs(site.z[nn]), 1e-6 * std::abs(site.z[ne]));
    both.ours.push_back(responses_of(site, hertz));
  }
  return both;
}
bool over_the_block(double east, double north) { return std::abs(east) <= 500 && std::abs(north) <= 1000; }
const auto every = [](double, double) { return true; };

TEST(PlaneWaves, BesideABlockHaveTheResponsesOfAnotherProgramOnSuchCells) {
  const auto beside = compared(10, 125, std::not_fn(over_the_block));
  ASSERT_EQ(beside.sites.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) beside.expect(n, 0.003, 0.2, 0.003);  // 0.25 %, 0.19°, 0.0025 measured
}

/// By h² to cells of no width, from cells of 125 and 62.5 m.
Compared extrapolated(const Compared& coarse, const Compared& fine) {
  Compared both = fine;
  for (std::size_t n = 0; n < fine.sites.size(); ++n)
    for (std::size_t c = 0; c < 6; ++c) {
      both.theirs[n][c] = (4 * fine.theirs[n][c] - coarse.theirs[n][c]) / 3;
      both.ours[n][c] = (4 * fine.ours[n][c] - coarse.ours[n][c]) / 3;
    }
  return both;
}

TEST(LongPlaneWaves, OverABlockAtATenthOfAHertzHaveTheResponsesOfAnotherProgramInEveryRow) {
  const auto coarse = compared(0.1, 125, every), fine = compared(0.1, 62.5, every),
             limit = extrapolated(coarse, fine);
  ASSERT_EQ(limit.sites.size(), 6U);
  for (std::size_t n = 0; n < 6; ++n) {
    coarse.expect(n, 0.006, 0.13, 6e-4);  // 0.57 %, 0.12° in the middle, 0.1° and less elsewhere
    fine.expect(n, 0.005, 0.1, 5e-4);     // 0.24 %, 0.03°
    limit.expect(n, 0.005, 0.1, 5e-4);    // 0.18 %, 0.01°
  }
}

// The skin depth in the block is 112 m: over it the two programs differ as their meshes do, by 10 % on cells
// of 125 m, 2 % on 62.5 m, and where both are continued to cells of no width by 0.5 % and 0.35°.
TEST(LongPlaneWaves, OverABlockAtTenHertzHaveTheResponsesOfAnotherProgramInEveryRow) {
  const auto coarse = compared(10, 125, every), fine = compared(10, 62.5, every),
             limit = extrapolated(coarse, fine);
  ASSERT_EQ(limit.sites.size(), 6U);
  for (std::size_t n = 0; n < 6; ++n) {
    const bool over = over_the_block(limit.sites[n][0], limit.sites[n][1]);
    coarse.expect(n, over ? 0.1 : 0.005, over ? 1.4 : 0.2, over ? 0.009 : 0.003);
    fine.expect(n, over ? 0.021 : 0.005, over ? 0.65 : 0.1, 0.002);
    limit.expect(n, over ? 0.006 : 0.005, over ? 0.36 : 0.1, 0.002);
  }
}

/// A small earth with a block beside its middle.
Problem with_a_block(bool turned) {
  const auto across = core_and_sides(600, 100, 1.5, 8000);
  auto problem = plane_waves(TensorMesh(across, across, core_and_sides(600, 100, 1.5, 8000)), {5},
                             {{60, -230, 0}, {-320, 80, 0}});
  problem.parameters = {.tolerance = 1e-11, .receiver_tolerance = 1e-9};
  if (turned) problem.receivers = {{230, 60, 0}, {-80, -320, 0}};  // by 90° anticlockwise
  paint(problem, [&](double east, double north, double up) {
    const double e = turned ? north : east, n = turned ? -east : north;
    if (up > 0) return 1e-8;
    return e > 0 && e < 300 && n > -400 && n < 200 && up > -400 && up < -100 ? 0.5 : 0.01;
  });
  return problem;
}

TEST(PlaneWaves, TurnWithTheEarth) {
  Stream stream({Device::Kind::cpu, -1});
  const auto straight = with_a_block(false), turned = with_a_block(true);
  const auto before = transfer_functions(straight, forward(straight, stream)),
             after = transfer_functions(turned, forward(turned, stream));
  for (std::size_t n = 0; n < before.size(); ++n) {
    const double size = std::abs(before[n].z[ne]);
    // East becomes north, and north becomes west.
    EXPECT_LT(std::abs(after[n].z[nn] - before[n].z[ee]), 1e-6 * size);
    EXPECT_LT(std::abs(after[n].z[ee] - before[n].z[nn]), 1e-6 * size);
    EXPECT_LT(std::abs(after[n].z[ne] + before[n].z[en]), 1e-6 * size);
    EXPECT_LT(std::abs(after[n].z[en] + before[n].z[ne]), 1e-6 * size);
    EXPECT_LT(std::abs(after[n].tipper[1] - before[n].tipper[0]), 1e-6);
    EXPECT_LT(std::abs(after[n].tipper[0] + before[n].tipper[1]), 1e-6);
    EXPECT_GT(std::abs(before[n].z[ee]), 0.01 * size) << "nothing would be tested";
  }
}

using PlaneWavesOn = test::OnDevice;
TERRANE_ON_EVERY_DEVICE(PlaneWavesOn);

TEST_P(PlaneWavesOn, ImpedancesAreThoseOfTheProcessors) {
  const auto problem = with_a_block(false);
  Stream here({Device::Kind::cpu, -1}), there(GetParam());
  const auto expected = transfer_functions(problem, forward(problem, here)),
             found = transfer_functions(problem, forward(problem, there));
  for (std::size_t n = 0; n < expected.size(); ++n) {
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_LT(std::abs(found[n].z[c] - expected[n].z[c]), 1e-8 * std::abs(expected[n].z[ne]));
    EXPECT_LT(std::abs(found[n].tipper[0] - expected[n].tipper[0]), 1e-8);
  }
}

TEST(PlaneWaves, OverGroundThatDistortsTheElectricFieldKeepTheirPhaseTensor) {
  Stream stream({Device::Kind::cpu, -1});
  const auto problem = with_a_block(false);
  for (const auto& site : transfer_functions(problem, forward(problem, stream))) {
    auto distorted = site;
    const double c[4] = {1.4, 0.3, -0.6, 0.7};  // E = C E of the region
    distorted.z = {c[0] * site.z[ee] + c[1] * site.z[ne], c[0] * site.z[en] + c[1] * site.z[nn],
                   c[2] * site.z[ee] + c[3] * site.z[ne], c[2] * site.z[en] + c[3] * site.z[nn]};
    for (std::size_t n = 0; n < 4; ++n)
      EXPECT_NEAR(distorted.phase_tensor()[n], site.phase_tensor()[n], 1e-12);
    EXPECT_GT(std::abs(distorted.phase(ne) - site.phase(ne)), 0.1);
  }
}

TEST(PlaneWaves, MustBeHorizontalAndWarnOfSidesThatDiffer) {
  auto problem = with_a_block(false);
  EXPECT_NO_THROW(problem.check());
  problem.sources[0].moment = {0, 0, 1};
  EXPECT_THROW(problem.check(), InputError);
  problem.sources[0].moment = {};
  EXPECT_THROW(problem.check(), InputError);
  problem.sources[0].moment = {1, 0, 0};
  const auto warned = [&] {
    const auto lines = problem.warnings();
    return std::any_of(lines.begin(), lines.end(), [](const auto& line) {
      return line.find("not the same layers") != std::string::npos;
    });
  };
  EXPECT_FALSE(warned());
  problem.conductivity[0][0] *= 2;
  EXPECT_TRUE(warned());
}

}  // namespace
}  // namespace terrane::electromagnetic
