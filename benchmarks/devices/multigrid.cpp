// Direct current on stretched grids with air: set-up of the hierarchy and one solve to 1e-8.
//
//   devices_multigrid [device] [nodes a side ...]      prints JSON; without a device the CPU
//
// N cells of 100 m a side, a quarter of them at each end growing by 1.3; 0.01 S/m under an overburden of
// 0.05, blocks of 1 and 1e-3 S/m, air of 1e-8 above the middle; two poles under the surface, grounded walls.
// Beside it Jacobi's diagonal, the preconditioner of Commer et al. (2010), on the smallest grid. Floor of a
// cycle: 22 fields and four times three conductances in float per point of a level, times the operator
// complexity; of an iteration besides: 19 numbers in double.
#include "terrane/solve/multigrid/multigrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::electric {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<double> faces_of(int cells, bool down) {
  const int padding = cells / 4;
  std::vector<double> widths;
  for (int p = padding; p >= 1; --p) widths.push_back(100 * std::pow(1.3, p));
  for (int p = 0; p < cells - 2 * padding; ++p) widths.push_back(100);
  for (int p = 1; p <= padding; ++p) widths.push_back(100 * std::pow(1.3, p));
  std::vector<double> faces{0};
  for (const double width : widths) faces.push_back(faces.back() + width);
  const double shift = down ? faces[static_cast<std::size_t>(cells / 2)] : faces.back() / 2;
  for (double& face : faces) face -= shift;
  return faces;
}

void run(Device device, int cells, bool with_jacobi) {
  const TensorMesh mesh(faces_of(cells, false), faces_of(cells, false), faces_of(cells, true));
  std::vector<double> sigma;
  for (int k = 0; k < cells; ++k)
    for (int j = 0; j < cells; ++j)
      for (int i = 0; i < cells; ++i) {
        const int x = i - cells / 2, y = j - cells / 2, z = k - cells / 2;
        double value = z >= 0 ? 1e-8 : z >= -2 ? 0.05 : 0.01;
        if (x >= -3 && x < 3 && y >= -3 && y < 3 && z >= -8 && z < -3) value = 1;
        if (x >= 4 && x < 9 && y >= -6 && y < 6 && z >= -9 && z < -4) value = 1e-3;
        sigma.push_back(value);
      }
  const auto host = assemble(mesh, {{&sigma, &sigma, &sigma}}, Boundary::grounded, {});
  Stream stream(device);
  const auto network = host.on(stream, host.nodes);
  std::vector<double> right(static_cast<std::size_t>(host.nodes.count()), 0.0);
  const View<double, 3> at(right.data(), host.nodes);
  at(cells / 2 - 1, cells / 2, cells / 2 - 4) = 1;
  at(cells / 2 - 1, cells / 2, cells / 2 + 4) = -1;
  solve::Field<double> b(stream, host.nodes), x(stream, host.nodes);
  b.upload(stream, right);

  const auto begin = Clock::now();
  solve::Multigrid<float> multigrid(stream, network, host.spacing);
  stream.wait();
  const double setup = seconds_since(begin);
  const auto cycle = [&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z, double scale) {
    multigrid.apply(s, r, z, scale);
  };
  std::vector<double> times;
  solve::SolveReport report;
  for (int repeat = 0; repeat < 4; ++repeat) {
    x.fill_zero(stream);
    stream.wait();
    const auto start = Clock::now();
    report = solve::conjugate_gradients(stream, network, b, x, cycle);
    stream.wait();
    if (repeat > 0) times.push_back(seconds_since(start));  // the first warms up
  }
  const double seconds = *std::min_element(times.begin(), times.end());
  const double nodes = static_cast<double>(host.nodes.count());
  const double bytes = nodes * report.iterations * (4.0 * 34 * multigrid.operator_complexity() + 8.0 * 19);
  fmt::print(
      "  {{\"device\": \"{}\", \"threads\": {}, \"nodes\": {:.0f}, \"setup_s\": {:.4g}, \"solve_s\": {:.4g}, "
      "\"iterations\": {}, \"residual\": {:.2g}, \"operator_complexity\": {:.3g}, \"floor_GB\": {:.4g}, "
      "\"GB_per_s\": {:.4g}",
      device_name(device), thread_count(0), nodes, setup, seconds, report.iterations, report.residual,
      multigrid.operator_complexity(), bytes * 1e-9, bytes / seconds * 1e-9);
  if (with_jacobi) {
    x.fill_zero(stream);
    const auto jacobi = solve::jacobi(stream, network);
    const auto start = Clock::now();
    const auto rival = solve::conjugate_gradients(stream, network, b, x, jacobi,
                                                  {.most_iterations = 20000, .patience = 20000});
    fmt::print(", \"jacobi_s\": {:.4g}, \"jacobi_iterations\": {}", seconds_since(start), rival.iterations);
  }
  fmt::print("}}");
}

}  // namespace
}  // namespace terrane::electric

int main(int argc, char** argv) {
  using namespace terrane;
  const Device device = argc > 1 ? resolve(device_from_text(argv[1])) : resolve({Device::Kind::automatic});
  std::vector<int> sizes;
  for (int n = 2; n < argc; ++n) sizes.push_back(std::atoi(argv[n]));
  if (sizes.empty())
    sizes =
        device.kind == Device::Kind::cuda ? std::vector<int>{64, 128, 256, 384} : std::vector<int>{64, 128};
  fmt::print("[\n");
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    if (n > 0) fmt::print(",\n");
    electric::run(device, sizes[n], n == 0);
    std::fflush(stdout);
  }
  fmt::print("\n]\n");
}
