// The magnetic field of prisms beside values of 25 digits (tests/support/data/magnetic_prism.csv: closed
// forms in 60-digit arithmetic), and the laws that it obeys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/fields.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/magnetic/forward.hpp"
#include "terrane/solve/matrices/chunked.hpp"

namespace terrane::magnetic {
namespace {

/// One prism that owns its numbers.
struct Block {
  std::vector<double> west, east, south, north, bottom, top, none{0};
  explicit Block(const Prism& p)
      : west{p.west}, east{p.east}, south{p.south}, north{p.north}, bottom{p.bottom}, top{p.top} {}
  gravity::Prisms view() const { return {west, east, south, north, bottom, top, none}; }
};

struct Points {
  std::vector<double> e, n, u;
  void add(double x, double y, double z) {
    e.push_back(x);
    n.push_back(y);
    u.push_back(z);
  }
  gravity::Stations view() const { return {e, n, u}; }
};

gravity::Parameters best() {
  gravity::Parameters p;
  p.accuracy = gravity::best_accuracy;
  p.method = gravity::Method::direct;
  return p;
}

const Prism block{-120, 80, -60, 140, -210, -30};
const Magnetization remanent{{{1.1}, {-0.7}, {-2.3}}};
const MainField main_field{50'000e-9, 65, -12};

std::vector<std::vector<double>> reference() {
  std::ifstream in(std::string(TERRANE_SOURCE_DIR) + "/tests/support/data/magnetic_prism.csv");
  std::vector<std::vector<double>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream row(line);
    auto& values = rows.emplace_back();
    for (std::string word; std::getline(row, word, ',');)
      values.push_back(std::strtod(word.c_str(), nullptr));
  }
  return rows;
}

TEST(MagneticField, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(MainField());
}

TEST(MagneticPrism, HasTheFieldOfTwentyFiveDigitsOutsideAndInside) {
  const auto rows = reference();
  ASSERT_EQ(rows.size(), 10U);
  Points at;
  for (const auto& row : rows) at.add(row[0], row[1], row[2]);
  const Block b(block);
  const std::vector<double> chi{0.035}, nothing{0};
  const auto rem = forward(b.view(), remanent, at.view(), best());
  const auto induced = forward(b.view(), magnetization(chi, main_field), at.view(), best());
  const auto both = forward(b.view(), magnetization(chi, main_field, remanent), at.view(), best());
  const auto tmi = total_field_anomaly(rem, main_field),
             tmi_induced = total_field_anomaly(induced, main_field),
             exact = total_field_anomaly(both, main_field, true);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const double size = std::hypot(row[4], row[5], row[6]),
                 induced_size = std::hypot(row[8], row[9], row[10]);
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_NEAR(rem.b[a][i] * 1e9, row[4 + a], 1e-14 * size) << i;
      EXPECT_NEAR(induced.b[a][i] * 1e9, row[8 + a], 1e-14 * induced_size) << i;
    }
    EXPECT_NEAR(tmi[i] * 1e9, row[7], 1e-14 * size) << i;
    EXPECT_NEAR(tmi_induced[i] * 1e9, row[11], 1e-14 * induced_size) << i;
    EXPECT_NEAR(exact[i] * 1e9, row[12], 3e-14 * (size + induced_size)) << i;
  }
}

TEST(MagneticPrism, PoissonsRelationHolds) {
  // B of a vertical magnetization is μ₀/(4πGρ) times the gradient of the vertical pull.
  const Block b(block);
  Points at;
  at.add(30, -200, 44);
  const Magnetization up{{{0}, {0}, {2}}};
  const auto field = forward(b.view(), up, at.view(), best());
  auto p = best();
  p.channels = {gravity::Channel::g_eu, gravity::Channel::g_nu, gravity::Channel::g_uu};
  const std::vector<double> rho{2670};
  auto mass = b.view();
  mass.density = rho;
  std::vector<double> eu(1), nu(1), uu(1);
  gravity::Fields out{p.channels, {uu, eu, nu}, {}};
  gravity::forward(mass, at.view(), p, out);
  const double factor = mu0_over_4pi / (p.gravitational_constant * 2670) * 2;
  EXPECT_NEAR(field.b[0][0], factor * eu[0], 1e-13 * std::fabs(field.b[2][0]));
  EXPECT_NEAR(field.b[1][0], factor * nu[0], 1e-13 * std::fabs(field.b[2][0]));
  EXPECT_NEAR(field.b[2][0], factor * uu[0], 1e-13 * std::fabs(field.b[2][0]));
}

TEST(MagneticPrism, ReversingTheMainFieldKeepsTheInducedAnomalyAndTurnsTheRemanentOne) {
  const Block b(block);
  Points at;
  at.add(-20, 40, 3);
  at.add(300, -100, 50);
  const std::vector<double> chi{0.02};
  const MainField turned{main_field.intensity, -main_field.inclination, main_field.declination + 180};
  const auto anomaly = [&](const MainField& field, const Magnetization& m) {
    return total_field_anomaly(forward(b.view(), m, at.view(), best()), field);
  };
  const auto one = anomaly(main_field, magnetization(chi, main_field)),
             other = anomaly(turned, magnetization(chi, turned));
  const auto rem = anomaly(main_field, remanent), rem_turned = anomaly(turned, remanent);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(one[i], other[i], 1e-13 * std::fabs(one[i]));
    EXPECT_NEAR(rem[i], -rem_turned[i], 1e-13 * std::fabs(rem[i]));
  }
}

TEST(MagneticPrism, FarAwayIsADipole) {
  const Block b(block);
  Points at;
  const double r[3] = {8000, -5000, 6000};
  at.add(-20 + r[0], 40 + r[1], -120 + r[2]);
  const auto field = forward(b.view(), remanent, at.view(), best());
  const double volume = 200 * 200 * 180, d = std::hypot(r[0], r[1], r[2]);
  const double along = (1.1 * r[0] - 0.7 * r[1] - 2.3 * r[2]) / d;
  const double m[3] = {1.1, -0.7, -2.3};
  for (std::size_t a = 0; a < 3; ++a) {
    const double dipole = mu0_over_4pi * volume * (3 * along * r[a] / d - m[a]) / (d * d * d);
    EXPECT_NEAR(field.b[a][0], dipole, 3e-4 * mu0_over_4pi * volume * 2.6 / (d * d * d));
  }
}

TEST(MagneticPrism, TwoMagnetsHoldTheSameEnergyInEachOthersField) {
  // ∫ M₂·B₁ over the one = ∫ M₁·B₂ over the other, by Gauss-Legendre with 4 points on each of 3 panels.
  const Prism box[2] = {{-30, 20, -10, 30, -60, -25}, {55, 70, -40, 55, -30, 10}};
  const double m[2][3] = {{1.1, -0.7, -2.3}, {-0.4, 1.9, 0.6}};
  constexpr double node[2] = {0.3399810435848563, 0.8611363115940526},
                   weight[2] = {0.6521451548625461, 0.3478548451374538};
  double energy[2] = {};
  for (int body : {0, 1}) {
    const Block one(box[body]);
    const auto& other = box[1 - body];
    const double low[3] = {other.west, other.south, other.bottom},
                 high[3] = {other.east, other.north, other.top};
    std::vector<double> at[3], share[3];
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (int panel = 0; panel < 3; ++panel)
        for (int q = -2; q < 2; ++q) {
          const int i = q < 0 ? -q - 1 : q;
          const double half = (high[axis] - low[axis]) / 6;
          at[axis].push_back(low[axis] + half * (2 * panel + 1 + (q < 0 ? -node[i] : node[i])));
          share[axis].push_back(half * weight[i]);
        }
    Points inside;
    std::vector<double> volume;
    for (std::size_t i = 0; i < at[0].size(); ++i)
      for (std::size_t j = 0; j < at[1].size(); ++j)
        for (std::size_t k = 0; k < at[2].size(); ++k) {
          inside.add(at[0][i], at[1][j], at[2][k]);
          volume.push_back(share[0][i] * share[1][j] * share[2][k]);
        }
    const Magnetization of_it{{{m[body][0]}, {m[body][1]}, {m[body][2]}}};
    const auto field = forward(one.view(), of_it, inside.view(), best());
    for (std::size_t n = 0; n < volume.size(); ++n)
      for (std::size_t a = 0; a < 3; ++a) energy[body] += volume[n] * m[1 - body][a] * field.b[a][n];
  }
  ASSERT_NE(energy[0], 0);
  EXPECT_NEAR(energy[0], energy[1], 1e-6 * std::abs(energy[0]));  // 1.7e-7: the quadrature
}

TEST(MagneticPrism, AFieldOfManyPrismsIsTheSumWhateverTheMethodAndDevice) {
  std::vector<double> w, e, s, n, bo, t, zero, chi;
  Magnetization extra;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      for (int k = 0; k < 4; ++k) {
        w.push_back(50 * i);
        e.push_back(50 * i + 50);
        s.push_back(50 * j);
        n.push_back(50 * j + 50);
        bo.push_back(-40 * k - 40);
        t.push_back(-40 * k);
        zero.push_back(0);
        chi.push_back(0.001 * ((7 * i + 3 * j + k) % 11));
        for (std::size_t a = 0; a < 3; ++a)
          extra[a].push_back(0.1 * ((i * 5 + j + k * static_cast<int>(a)) % 7 - 3));
      }
  const gravity::Prisms prisms{w, e, s, n, bo, t, zero};
  Points at;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) at.add(25 + 50 * i, 25 + 50 * j, 20);
  for (const auto& m : {magnetization(chi, main_field), magnetization(chi, main_field, extra)}) {
    const auto a = forward(prisms, m, at.view(), best());
    double most = 0;
    for (const double v : a.b[2]) most = std::max(most, std::fabs(v));
    for (const auto method :
         {gravity::Method::lattice, gravity::Method::tree, gravity::Method::fmm, gravity::Method::direct})
      for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
        if (method == gravity::Method::fmm && kind != Device::Kind::cpu) continue;
        auto other = best();
        other.method = method;
        const bool expands = method == gravity::Method::tree || method == gravity::Method::fmm;
        if (expands) other.accuracy = 1e-8;
        other.device = {kind, -1};
        const auto b = forward(prisms, m, at.view(), other);
        const double near = expands ? 1e-7 : 1e-13;
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t i = 0; i < at.e.size(); ++i) EXPECT_NEAR(a.b[c][i], b.b[c][i], near * most);
      }
  }
}

constexpr gravity::SingularPolicy policies[] = {gravity::SingularPolicy::nan, gravity::SingularPolicy::mean,
                                                gravity::SingularPolicy::outside,
                                                gravity::SingularPolicy::inside};

/// Prisms and the magnetization of each.
struct Magnets {
  PrismSet cells;
  Magnetization m;
  std::vector<double> none;
  void add(const Prism& cell, const std::array<double, 3>& of_it) {
    cells.push_back(cell);
    none.push_back(0);
    for (std::size_t a = 0; a < 3; ++a) m[a].push_back(of_it[a]);
  }
  FluxDensity at(const Points& points, gravity::SingularPolicy policy,
                 gravity::Method method = gravity::Method::direct) const {
    auto p = best();
    p.singular = policy;
    p.method = method;
    if (method == gravity::Method::tree) p.accuracy = 1e-9;
    return forward({cells.west, cells.east, cells.south, cells.north, cells.bottom, cells.top, none}, m,
                   points.view(), p);
  }
};

TEST(MagneticPrism, IsTheSameHoweverItIsCutIntoCells) {
  const std::array<double, 3> up{0.3, -0.2, 1};
  Magnets whole, halves, eighths, mixed;
  whole.add({-50, 50, -50, 50, -100, 0}, up);
  for (int i = 0; i < 2; ++i) halves.add({-50.0 + 50 * i, 50.0 * i, -50, 50, -100, 0}, up);
  for (int o = 0; o < 8; ++o)
    eighths.add({-50.0 + 50 * (o & 1), 50.0 * (o & 1), -50.0 + 50 * (o >> 1 & 1), 50.0 * (o >> 1 & 1),
                 -100.0 + 50 * (o >> 2), -50.0 + 50 * (o >> 2)},
                up);
  mixed = eighths;  // three sums
  mixed.add({1000, 1050, -50, 50, -100, 0}, {0, 0, 1e-12});
  Points inside;
  inside.add(0, 0, -50);
  inside.add(0, 7, -40);
  inside.add(0, 0, -33);
  inside.add(-20, 0, -50);
  Points surface;
  surface.add(0, 0, 0);
  surface.add(50, 0, -50);
  surface.add(50, 50, 0);
  surface.add(3, 50, -100);
  for (const auto policy : policies)
    for (const auto* at : {&inside, &surface}) {
      const auto right = whole.at(*at, policy);
      for (const auto* cut : {&halves, &eighths, &mixed}) {
        const auto field = cut->at(*at, policy);
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t i = 0; i < at->e.size(); ++i)
            if (std::isnan(right.b[a][i])) EXPECT_TRUE(std::isnan(field.b[a][i])) << a << i;
            else EXPECT_NEAR(field.b[a][i], right.b[a][i], 1e-18) << a << ' ' << i;
        EXPECT_EQ(field.report.inside_stations, at == &inside ? 4U : 0U);
        EXPECT_EQ(field.report.singular_stations, right.report.singular_stations);
      }
    }
  EXPECT_NEAR(whole.at(inside, policies[0]).b[2][0] * 1e9, 837.758, 1e-3);
}

TEST(MagneticPrism, OnFacesOfSeveralDirectionsHasTheLimitsOfBothSides) {
  Magnets far, joined;
  far.add({-50, 0, -50, 50, -100, 0}, {1, 0, 0.5});
  far.add({1000, 1050, -50, 50, -100, 0}, {0, 1, 0});
  joined.add({-50, 0, -50, 50, -100, 0}, {1, 0, 0.5});
  joined.add({0, 50, -50, 50, -100, 0}, {0, 0.3, 0});
  Points at, west, east;
  at.add(0, 3, -40);
  west.add(-1e-7, 3, -40);
  east.add(1e-7, 3, -40);
  for (const auto* magnets : {&far, &joined})
    for (const auto method : {gravity::Method::direct, gravity::Method::tree, gravity::Method::fmm}) {
      const auto in = magnets->at(west, gravity::SingularPolicy::nan, method),
                 out = magnets->at(east, gravity::SingularPolicy::nan, method);
      for (const auto policy : policies) {
        const auto field = magnets->at(at, policy, method);
        EXPECT_NEAR(field.b[0][0], in.b[0][0], 1e-14);  // the component across the face goes on
        for (std::size_t a : {std::size_t{1}, std::size_t{2}}) {
          const double limit = policy == gravity::SingularPolicy::inside    ? in.b[a][0]
                               : policy == gravity::SingularPolicy::outside ? out.b[a][0]
                                                                            : (in.b[a][0] + out.b[a][0]) / 2;
          const bool jumps = std::fabs(in.b[a][0] - out.b[a][0]) > 1e-13;
          if (policy == gravity::SingularPolicy::nan && jumps) EXPECT_TRUE(std::isnan(field.b[a][0]));
          else EXPECT_NEAR(field.b[a][0], limit, 1e-14) << a;
        }
        EXPECT_EQ(field.report.singular_stations, 1U);  // counted in whichever of the three sums it is
      }
    }
  Points edge;
  edge.add(0, 3, 0);
  for (const auto policy : policies) EXPECT_TRUE(std::isnan(far.at(edge, policy).b[0][0]));
}

TEST(MagneticPrism, AMagnetizationBeyondAllMatterIsRefusedByItsName) {
  Magnets magnets;
  magnets.add({-50, 0, -50, 50, -100, 0}, {0, 0, 1e200});
  Points at;
  at.add(0, 0, 10);
  try {
    magnets.at(at, gravity::SingularPolicy::nan);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("magnetization along up 1e+200 A/m"));
  }
}

TEST(MagneticSensitivity, TimesTheSusceptibilitiesIsTheInducedField) {
  PrismSet cells;
  std::vector<double> chi, zero;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 3; ++k) {
      cells.push_back({100.0 * i, 100.0 * i + 100, -80, 120, -60.0 * k - 70, -60.0 * k - 10});
      chi.push_back(0.01 * ((i + 2 * k) % 4));
      zero.push_back(0);
    }
  Points at;
  for (int i = 0; i < 7; ++i) at.add(-50 + 90 * i, 13 * i - 30, 5 + i);
  const gravity::Prisms prisms{cells.west,   cells.east, cells.south, cells.north,
                               cells.bottom, cells.top,  zero};
  const auto field = forward(prisms, magnetization(chi, main_field), at.view(), best());
  const auto tmi = total_field_anomaly(field, main_field);
  std::vector<gravity::Observable> all;
  for (const auto c : {Channel::b_e, Channel::b_n, Channel::b_u, Channel::tmi})
    all.push_back(observable(c, main_field));
  const solve::DenseOperator<double> g(gravity::SensitivityColumns(cells, {at.e, at.n, at.u}, all, 1e-13));
  std::vector<double> data(g.rows());
  g.apply(chi, data);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(data[a * 7 + i], field.b[a][i], 1e-12 * std::fabs(field.b[2][i]) + 1e-20);
    EXPECT_NEAR(data[21 + i], tmi[i], 1e-12 * std::fabs(field.b[2][i]) + 1e-20);
  }
}

}  // namespace
}  // namespace terrane::magnetic
