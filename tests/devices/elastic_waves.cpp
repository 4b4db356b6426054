// Elastic waves on devices.
#include <gtest/gtest.h>

#include "../support/elastic_meshes.hpp"
#include "device.hpp"
#include "terrane/physics/elastic/field.hpp"

namespace terrane::elastic {
namespace {

using ElasticOnDevice = test::OnDevice;
TERRANE_ON_EVERY_DEVICE(ElasticOnDevice);

TEST_P(ElasticOnDevice, GraphsHaveTheBitsOfSteps) {
  const auto problem = test::rough_earth(Precision::single_precision);
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

}  // namespace
}  // namespace terrane::elastic
