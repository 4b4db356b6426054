// Electromagnetic fields as data: two numbers for each complex datum, and their derivatives.
#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "support/land.hpp"
#include "support/worse.hpp"
#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::inversion {
namespace {

using namespace electromagnetic::inverse;

using Z = std::complex<double>;

/// A wire and an upright loop over small land, and of their four fields at two receivers some; air takes no
/// part.
struct SmallSurvey {
  electromagnetic::Problem problem;
  std::vector<std::uint32_t> active;
  MeasuredFields measured;
  std::vector<double> resistivity;

  SmallSurvey() {
    const auto earth = test::land(8, 1.3);
    problem.mesh = earth.mesh;
    problem.conductivity[0] = earth.sigma;
    using Kind = electromagnetic::Source::Kind;
    problem.sources = {{Kind::wire, {{-133, 77, -21}, {112.5, -40, -155}}, {}, 1},
                       {Kind::magnetic_dipole, {{30, 40, -60}}, {0, 0, 3}, 1}};
    problem.frequencies = {3, 20};
    problem.receivers = {{210, 50, -60}, {-220, 160, -30}};
    problem.components = {{false, 2}, {true, 0}};
    problem.parameters = {.tolerance = 1e-12, .receiver_tolerance = 1e-10};
    for (std::size_t c = 0; c < earth.sigma.size(); ++c)
      if (earth.sigma[c] > 1e-6) {
        active.push_back(static_cast<std::uint32_t>(c));
        resistivity.push_back(1 / earth.sigma[c]);
      }
    Stream stream({Device::Kind::cpu, -1});
    const auto data = forward(problem, stream).data;
    for (const std::size_t place : {0, 5, 9, 14, 15}) {
      measured.place.push_back(place);
      measured.value.push_back(data[place]);
      measured.sigma.push_back(0.02 * std::abs(data[place]));
    }
  }
  ElectromagneticFields fields(Parts parts, bool in_memory) const {
    return {problem, active, measured, parts, in_memory, Device{Device::Kind::cpu, -1}};
  }
};

std::vector<double> normal_numbers(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> all(count);
  for (double& one : all) one = normal(generator);
  return all;
}

TEST(ElectromagneticData, JacobianInMemoryIsThatOfSolvesAndTheTangentOfBothParts) {
  const SmallSurvey survey;
  for (const auto parts : {Parts::amplitude_phase, Parts::real_imaginary}) {
    auto kept = survey.fields(parts, true).at(survey.resistivity);
    const auto solved = survey.fields(parts, false).at(survey.resistivity);
    kept.store_entries();
    EXPECT_FALSE(solved.entries);
    EXPECT_EQ(kept.data, solved.data);
    EXPECT_TRUE(kept.warnings.empty());
    auto v = normal_numbers(survey.active.size(), 1);
    for (std::size_t c = 0; c < v.size(); ++c) v[c] *= survey.resistivity[c];  // alike in ln ρ
    const auto w = normal_numbers(kept.data.size(), 2);
    std::vector<double> one(w.size()), other(w.size());
    kept.jacobian->apply(v, one);
    solved.jacobian->apply(v, other);
    const double size = solve::norm(other);
    double error = 0;
    for (std::size_t n = 0; n < one.size(); ++n) error = worse(error, std::fabs(one[n] - other[n]));
    EXPECT_LT(error, 1e-8 * size);
    EXPECT_LT(solve::dot_product_test(*solved.jacobian, v, w), 1e-8);
    // A step of ±h along v.
    constexpr double h = 1e-4;
    std::vector<double> ahead(survey.resistivity), behind(survey.resistivity);
    for (std::size_t c = 0; c < v.size(); ++c) {
      ahead[c] += h * v[c];
      behind[c] -= h * v[c];
    }
    const auto plus = survey.fields(parts, true).at(ahead).data,
               minus = survey.fields(parts, true).at(behind).data;
    error = 0;
    for (std::size_t n = 0; n < one.size(); ++n)
      error = worse(error, std::fabs((plus[n] - minus[n]) / (2 * h) - one[n]));
    EXPECT_LT(error, 1e-5 * size);
  }
}

/// Impedances and tippers of the same land at two sites, all of them at one and some at the other.
struct SmallSites : SmallSurvey {
  SmallSites() {
    problem.sources = electromagnetic::both_polarisations();
    problem.components = electromagnetic::recorded_of_plane_waves();
    problem.frequencies = {3, 20};
    problem.receivers = {{110, 50, 0}, {-120, 160, -30}};
    Stream stream({Device::Kind::cpu, -1});
    const auto functions = transfer_functions(problem, forward(problem, stream));
    measured = {};
    for (std::size_t which = 0; which < 6; ++which)
      for (std::size_t site = 0; site < (which % 4 == 1 ? 4U : 2U); ++site) {
        measured.place.push_back(4 * which + site);
        measured.value.push_back(number(functions[site], which));
        measured.sigma.push_back(0.02 * std::abs(functions[site].z[1]));
        measured.straight.push_back(which != 1 && which != 2);
      }
  }
};

TEST(ElectromagneticData, OfPlaneWavesHaveTheJacobianOfSolvesAndItsTangent) {
  const SmallSites survey;
  for (const auto parts : {Parts::amplitude_phase, Parts::real_imaginary}) {
    auto kept = survey.fields(parts, true).at(survey.resistivity);
    const auto solved = survey.fields(parts, false).at(survey.resistivity);
    kept.store_entries();
    EXPECT_FALSE(solved.entries);
    ASSERT_EQ(kept.data.size(), 32U);
    EXPECT_EQ(kept.data, solved.data);
    std::vector<double> data, deviation;
    survey.measured.as(parts, data, deviation);
    double error = 0;
    for (std::size_t n = 0; n < data.size(); ++n) error = worse(error, std::fabs(kept.data[n] - data[n]));
    EXPECT_LT(error, 1e-12);
    auto v = normal_numbers(survey.active.size(), 1);
    for (std::size_t c = 0; c < v.size(); ++c) v[c] *= survey.resistivity[c];
    const auto w = normal_numbers(kept.data.size(), 2);
    std::vector<double> one(w.size()), other(w.size()), row(v.size());
    kept.jacobian->apply(v, one);
    solved.jacobian->apply(v, other);
    for (std::size_t n = 0; n < one.size(); ++n)  // ohm, radians and tippers differ in size
      EXPECT_NEAR(one[n], other[n], 1e-7 * std::fabs(other[n]) + 1e-12) << n;
    EXPECT_LT(solve::dot_product_test(*solved.jacobian, v, w), 1e-8);
    solved.jacobian->row(7, row);
    double product = 0;
    for (std::size_t c = 0; c < v.size(); ++c) product += row[c] * v[c];
    EXPECT_NEAR(product, one[7], 1e-8 * std::fabs(one[7]) + 1e-12);
    constexpr double h = 1e-4;
    std::vector<double> ahead(survey.resistivity), behind(survey.resistivity);
    for (std::size_t c = 0; c < v.size(); ++c) {
      ahead[c] += h * v[c];
      behind[c] -= h * v[c];
    }
    const auto plus = survey.fields(parts, true).at(ahead).data,
               minus = survey.fields(parts, true).at(behind).data;
    for (std::size_t n = 0; n < one.size(); ++n)
      EXPECT_NEAR((plus[n] - minus[n]) / (2 * h), one[n], 1e-4 * std::fabs(one[n]) + 1e-9) << n;
  }
}

// Receivers keep the contrasts of the first model: what the tangent leaves of a step falls by four with half
// of it.
TEST(ElectromagneticData, ChangeSmoothlyWithCellsBesideReceivers) {
  const SmallSurvey survey;
  const auto fields = survey.fields(Parts::amplitude_phase, true);
  const auto v = normal_numbers(survey.active.size(), 4);
  const auto at = [&](double step) {
    auto resistivity = survey.resistivity;
    for (std::size_t c = 0; c < v.size(); ++c) resistivity[c] *= std::exp(step * v[c]);
    return fields.at(resistivity);
  };
  const auto here = at(0);
  std::vector<double> slope(v), tangent(here.data.size());
  for (std::size_t c = 0; c < v.size(); ++c) slope[c] *= survey.resistivity[c];
  here.jacobian->apply(slope, tangent);
  double left[2];
  for (const std::size_t halved : {0U, 1U}) {
    const double step = halved ? 0.06 : 0.12;
    auto change = at(step).data;
    for (std::size_t n = 0; n < change.size(); ++n) change[n] -= here.data[n] + step * tangent[n];
    left[halved] = solve::norm(change);
  }
  EXPECT_GT(left[0] / left[1], 3.3);
  EXPECT_LT(left[0] / left[1], 4.7);
}

TEST(ElectromagneticData, AreRefusedWhereImaginaryPartsWouldStayAsTheResistivityChanges) {
  SmallSurvey survey;
  survey.problem.quadrature[0] = survey.problem.conductivity[0];
  EXPECT_THROW(survey.fields(Parts::real_imaginary, true), InputError);
}

TEST(ElectromagneticData, OfTheModelItselfAreWhatWasMeasuredAndPhasesAreOfTheNearestBranch) {
  SmallSurvey survey;
  std::vector<double> data, deviation;
  for (const auto parts : {Parts::amplitude_phase, Parts::real_imaginary}) {
    survey.measured.as(parts, data, deviation);
    const auto computed = survey.fields(parts, true).at(survey.resistivity).data;
    ASSERT_EQ(computed.size(), data.size());
    for (std::size_t n = 0; n < data.size(); ++n) {
      EXPECT_NEAR(computed[n], data[n], 1e-12 * std::fabs(data[n])) << n;
      EXPECT_NEAR(deviation[n], parts == Parts::amplitude_phase ? 0.02 : survey.measured.sigma[n / 2], 1e-15);
    }
  }
  // Measured just beyond ±180 degrees: no turn lies between.
  const Z turned = std::polar(std::abs(survey.measured.value[0]), std::numbers::pi - 0.01);
  const Z shift = turned / survey.measured.value[0];
  survey.measured.value[0] *= shift * std::polar(1.0, 0.02);
  survey.measured.as(Parts::amplitude_phase, data, deviation);
  auto computed = survey.fields(Parts::amplitude_phase, true).at(survey.resistivity).data;
  const double difference = std::remainder(data[1] - computed[1], 2 * std::numbers::pi);
  EXPECT_NEAR(data[1] - computed[1], difference, 1e-12);
  EXPECT_NEAR(difference, std::remainder(std::arg(shift) + 0.02, 2 * std::numbers::pi), 1e-9);
}

}  // namespace
}  // namespace terrane::inversion
