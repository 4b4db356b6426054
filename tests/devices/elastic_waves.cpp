// Elastic waves on devices.
#include <gtest/gtest.h>

#include "../support/elastic_meshes.hpp"
#include "../support/worse.hpp"
#include "device.hpp"
#include "terrane/physics/elastic/march/field.hpp"

namespace terrane::elastic {
namespace {

using ElasticOnDevice = test::OnDevice;
TERRANE_ON_EVERY_DEVICE(ElasticOnDevice);

TEST_P(ElasticOnDevice, GraphsHaveTheBitsOfSteps) {
  const auto problem = test::rough_earth(Precision::single_precision, 4, true, true);
  constexpr std::size_t rows = 5;
  std::vector<double> series[2], displacement[2];
  for (const bool graphs : {false, true}) {
    Alone alone;
    const auto field =
        make_field(problem, make_part(problem, 0, 1), {GetParam(), 0, rows, false, graphs}, alone);
    for (int chunk = 0; chunk < 4; ++chunk) {
      std::vector<double> courses;
      for (std::size_t n = 0; n < rows * problem.sources.size(); ++n)
        courses.push_back(static_cast<double>(n % 3) - chunk);
      field->load_courses(courses);
      field->steps(chunk == 2 ? 3 : rows);  // one chunk is too short for the graph
      const auto some = field->take_series();
      EXPECT_EQ(some.size(), (chunk == 2 ? 3 : rows) * 3 * problem.receivers.size());
      series[graphs].insert(series[graphs].end(), some.begin(), some.end());
    }
    displacement[graphs] = field->state().displacement;
  }
  EXPECT_EQ(series[0], series[1]);
  EXPECT_EQ(displacement[0], displacement[1]);
  double sum = 0;
  for (const double u : series[1]) sum += std::abs(u);
  EXPECT_GT(sum, 0);
}

/// Rock that fades, fluids, a Q: what a device computes differs from the CPU by rounding.
TEST_P(ElasticOnDevice, StepsAreThoseOfTheCpu) {
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const int degree : {4, 5}) {
      auto problem = test::rough_earth(precision, degree, true, true);
      if (degree == 5) {  // far from the sources, so that both are one launch
        problem.receivers = {{520, 330, 120}, {440, 150, 260}};
        problem.settle();
      }
      constexpr std::size_t rows = 40;
      std::vector<double> series[2];
      for (const bool on_device : {false, true}) {
        Alone alone;
        const Device device = on_device ? GetParam() : Device{Device::Kind::cpu, -1};
        const auto field = make_field(problem, make_part(problem, 0, 1), {device, 0, rows}, alone);
        std::vector<double> courses;
        for (std::size_t n = 0; n < rows * problem.sources.size(); ++n)
          courses.push_back(std::sin(0.2 * static_cast<double>(n)));
        field->load_courses(courses);
        field->steps(rows);
        series[on_device] = field->take_series();
      }
      double most = 0, apart = 0;
      for (std::size_t n = 0; n < series[0].size(); ++n) {
        most = worse(most, std::fabs(series[0][n]));
        apart = worse(apart, std::fabs(series[1][n] - series[0][n]));
      }
      EXPECT_GT(most, 0);
      EXPECT_LT(apart, (precision == Precision::double_precision ? 1e-12 : 1e-5) * most)
          << "degree " << degree << " on " << to_string(GetParam());
    }
}

}  // namespace
}  // namespace terrane::elastic
