// Electromagnetic fields on stretched grids with air: set-up of the networks and one solve to 1e-8.
//
//   devices_electromagnetic [device] [cells a side ...]      prints JSON; without a device the CPU
//
// The land of tests/support/land.hpp, growing by 1.3, 1 Hz, a dipole under the surface. user_s: of all
// threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numbers>
#include <string>
#include <vector>

#include "support/land.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"

namespace terrane::electromagnetic {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(Device device, int cells, bool first) {
  const auto earth = test::land(cells, 1.3);
  Stream stream(device);
  const auto begin = Clock::now();
  MaxwellSolver<float> solver(stream, earth.mesh, {&earth.sigma, &earth.sigma, &earth.sigma});
  stream.wait();
  const double setup = seconds_since(begin);
  solver.set_frequency(1);
  auto b = solver.vector();
  auto x = solver.vector();
  const auto points = b.e[2].points();
  const auto count = static_cast<std::size_t>(points.count());
  std::vector<double> values(2 * count);
  const View<double, 3> imaginary(values.data() + count, points);
  imaginary(cells / 2 - 2, cells / 2 - 1, cells / 2) = -8e-7 * std::numbers::pi * std::numbers::pi * 100;
  b.e[2].upload(stream, values);
  solver.complete(b);
  double best = 1e300, user = 1e300;
  solve::SolveReport report;
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (auto& field : x.e) field.fill_zero(stream);
    stream.wait();
    const auto start = Clock::now();
    const double before = cpu_seconds();
    report = solver.solve(b, x, {});
    stream.wait();
    best = std::min(best, seconds_since(start));
    user = std::min(user, cpu_seconds() - before);
  }
  fmt::print(
      "{}  {{\"device\": \"{}\", \"threads\": {}, \"cells\": {}, \"unknowns\": {:.0f}, \"setup_s\": {:.4g}, "
      "\"solve_s\": {:.4g}, \"user_s\": {:.4g}, \"iterations\": {}, \"residual\": {:.2g}, \"divergence\": "
      "{:.2g}}}",
      first ? "" : ",\n", device_name(stream.device()), thread_count(0), cells, solver.unknowns(), setup,
      best, user, report.iterations, report.residual, solver.divergence(b, x));
}

}  // namespace
}  // namespace terrane::electromagnetic

int main(int count, char** words) {
  using namespace terrane;
  const std::string name = count > 1 ? words[1] : "cpu";
  const Device device = resolve(device_from_text(name));
  fmt::print("[\n");
  for (int n = 2; n < std::max(count, 3); ++n)
    electromagnetic::run(device, count > 2 ? std::atoi(words[n]) : 64, n == 2);
  fmt::print("\n]\n");
}
