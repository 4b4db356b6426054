// Two physics, one sea: what they must agree on.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/acoustic_box.hpp"
#include "terrane/physics/elastic/march/march.hpp"

namespace terrane {
namespace {

TEST(SoundInWater, OfFiniteDifferencesAndOfSpectralElementsIsTheSame) {
  // Water over slower mud of the same density, a free surface above. An explosion M s(t) in a fluid is a
  // source M s̈ / c² of pressure: of a gaussian s, −2 a M / (√π τ c²) times a ricker, a = 1/τ².
  constexpr double h = 12.5, side = 800, depth = 600, floor = -350, fast = 1500, slow = 1200, frequency = 8;
  const elastic::Vector source{412, 395, -180};
  const std::vector<elastic::Vector> receivers{{520, 420, -90}, {330, 480, -430}, {600, 395, -200}};
  constexpr double end = 0.42;

  elastic::Problem water;
  const std::size_t n = 16, nz = 12;
  std::vector<std::uint32_t> rock(n * n * nz);
  for (std::size_t e = 0; e < rock.size(); ++e) rock[e] = e / (n * n) < 5 ? 1 : 0;  // 50 m each
  water.mesh = elastic::bricks(
      TensorMesh::regular({0, side, 0, side, -depth, 0}, {n, n, nz}),
      {elastic::Medium::from_speeds(fast, 0, 1000), elastic::Medium::from_speeds(slow, 0, 1000)}, rock, {});
  const double tau = 1 / (std::numbers::pi * frequency), moment = 1e10;
  water.sources = {
      {source, true, {moment, moment, moment, 0, 0, 0}, {elastic::Pulse::gaussian, tau, 0.12, {}}}};
  water.receivers = receivers;
  water.records_pressure = true;
  water.end = end;
  water.settle();
  const auto elements = seismograms(water, march(water, {}), elastic::Quantity::pressure);
  const auto at = times(water, elastic::Quantity::pressure);

  auto p = test::even_box(
      {static_cast<Index>(depth / h), static_cast<Index>(side / h), static_cast<Index>(side / h)}, h, fast);
  p.grid.first = {-depth + h / 2, h / 2, h / 2};
  for (std::size_t k = 0; k < p.velocity.size(); ++k)
    if (-depth + h * (static_cast<double>(k / (64 * 64)) + 0.5) < floor) p.velocity[k] = slow;
  test::all_sides(p, acoustic::Boundary::cpml);
  p.sides[acoustic::up][1] = acoustic::Boundary::free_surface;
  p.wavelet.frequency = frequency;
  p.wavelet.delay = 0.12;
  p.shots = {{{source}, {receivers.begin(), receivers.end()}}};
  p.end = end;
  p.settle();
  const auto differences = test::traces<double>(p, p.shots[0]);
  const double strength = -2 * moment / (std::sqrt(std::numbers::pi) * tau * tau * tau * fast * fast);

  for (std::size_t r = 0; r < receivers.size(); ++r) {
    double error = 0, all = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double place = at[k] / p.step;
      if (place < 1 || place + 3 > static_cast<double>(p.steps()) || at[k] > 0.38) continue;
      const auto m = static_cast<std::size_t>(place);
      const double x = place - static_cast<double>(m);
      const auto f = [&](std::size_t row) { return strength * differences[row * receivers.size() + r]; };
      const double a = f(m - 1), b = f(m), c = f(m + 1), d = f(m + 2),
                   other =
                       b + 0.5 * x * (c - a + x * (2 * a - 5 * b + 4 * c - d + x * (3 * (b - c) + d - a)));
      error += std::pow(elements[r * at.size() + k] - other, 2);
      all += other * other;
    }
    EXPECT_GT(all, 0);
    EXPECT_LT(std::sqrt(error / all), 0.03) << r;
  }
}

}  // namespace
}  // namespace terrane
