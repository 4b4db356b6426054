// A whole inversion: densities of 25 m cells from g_u, from the matrix to φ_d = N.
//
//   devices_inversion [device] [cells a side] [layers] [stations] [lattice|scattered] [seconds]    prints
//   JSON
//
// Two blocks, noise of 0.01 mGal + 2 %; the stations on every cell's centre, 10 m up, or at random, 5 to 105
// m up. On a lattice G is applied by FFT, for scattered stations by a tree; both and the regulariser's exact
// inverse on the device. A run that is not done after `seconds` is
// stopped, and says how far it came.
//
// Floor of an iteration, n cells and N data: G and its transpose read 4 bytes of each near entry and evaluate
// the far field; the inverse takes 4 n (n_x + n_y + n_z) operations; Lanczos reads its k vectors of N twice.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"

namespace terrane::inversion {
namespace {

using namespace gravity::inverse;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double width = 25, accuracy_of_tree = 1e-5;

struct Case {
  Device device;
  std::size_t side = 64, layers = 24, stations = 2500;
  bool lattice = false;
  double limit = 1e9;  ///< s
};

class UntilLate final : public Progress {
 public:
  explicit UntilLate(double limit) : limit_(limit) {}
  bool cancelled() const override { return seconds_since(start_) > limit_; }

 private:
  Clock::time_point start_ = Clock::now();
  double limit_;
};

std::vector<double> faces(std::size_t n, double from) {
  std::vector<double> made;
  for (std::size_t i = 0; i <= n; ++i) made.push_back(from + width * static_cast<double>(i));
  return made;
}

gravity::KeptStations stations_of(const Case& c, std::mt19937& random) {
  const double half = 0.5 * width * static_cast<double>(c.side);
  gravity::KeptStations made;
  if (c.lattice)
    for (std::size_t s = 0; s < c.side * c.side; ++s) {
      made.easting.push_back(-half + width * (static_cast<double>(s % c.side) + 0.5));
      made.northing.push_back(-half + width * (static_cast<double>(s / c.side) + 0.5));
      made.up.push_back(10);
    }
  else
    for (std::size_t s = 0; s < c.stations; ++s) {
      std::uniform_real_distribution<double> place(-half, half), height(5, 105);
      made.easting.push_back(place(random));
      made.northing.push_back(place(random));
      made.up.push_back(height(random));
    }
  return made;
}

/// Two blocks in the middle: 400 and −300 kg/m³.
std::vector<double> truth(const TensorMesh& mesh, double half) {
  std::vector<double> model(mesh.size());
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto p = mesh.prism(n);
    const double x = 0.5 * (p.west + p.east) / half, y = 0.5 * (p.south + p.north) / half;
    if (p.top <= -100 && p.bottom >= -250 && x > -0.4 && x < -0.1 && y > -0.2 && y < 0.3) model[n] = 400;
    if (p.top <= -150 && p.bottom >= -350 && x > 0.1 && x < 0.4 && y > -0.3 && y < 0.1) model[n] = -300;
  }
  return model;
}

Problem problem_of(const Case& c, const Runtime& runtime, double& seconds_to_make) {
  std::mt19937 random(1);
  const double half = 0.5 * width * static_cast<double>(c.side);
  Problem p;
  p.mesh = TensorMesh(faces(c.side, -half), faces(c.side, -half),
                      faces(c.layers, -width * static_cast<double>(c.layers)));
  const auto stations = stations_of(c, random);
  p.easting = stations.easting;
  p.northing = stations.northing;
  p.up = stations.up;
  PrismSet cells;
  cells.reserve(p.mesh.size());
  for (std::size_t n = 0; n < p.mesh.size(); ++n) cells.push_back(p.mesh.prism(n));
  const auto source = std::make_shared<gravity::SensitivityColumns>(
      std::move(cells), stations,
      std::vector{gravity::Observable::of(gravity::Channel::g_u, 1e5 * default_gravitational_constant)},
      1e-9);
  StorageSettings storage;
  storage.storage = c.lattice ? Storage::lattice : Storage::tree;
  storage.tree_accuracy = accuracy_of_tree;
  storage.device = c.device;
  std::vector<std::string> notes;
  const auto begin = Clock::now();
  p.g = make_operator(source, storage, runtime, notes);
  seconds_to_make = seconds_since(begin);
  p.sets = {{"g_u", "mGal", 0, stations.size()}};
  p.data.resize(p.g->rows());
  p.g->apply(truth(p.mesh, half), p.data);
  std::normal_distribution<double> noise;
  for (double& d : p.data) {
    p.sigma.push_back(0.01 + 0.02 * std::fabs(d));
    d += p.sigma.back() * noise(random);
  }
  return p;
}

void run(const Case& c) {
  Runtime runtime;
  runtime.device = c.device;
  double seconds_to_make = 0;
  const auto begin = Clock::now();
  const auto problem = problem_of(c, runtime, seconds_to_make);
  fmt::print(
      "  {{\"device\": \"{}\", \"threads\": {}, \"stations\": \"{}\", \"cells\": {}, \"data\": {}, "
      "\"seconds_set_up\": {:.3g}, \"seconds_made\": {:.4g}",
      device_name(c.device), thread_count(0), c.lattice ? "lattice" : "scattered", problem.columns(),
      problem.rows(), seconds_since(begin), seconds_to_make);
  std::vector<double> model(problem.columns(), 1.0), data(problem.data);
  double seconds_g = 0, seconds_g_transposed = 0;  // of the second: the first takes memory from the system
  for (int n = 0; n < 2; ++n) {
    const auto forth = Clock::now();
    problem.g->apply(model, data);
    seconds_g = seconds_since(forth);
    const auto back = Clock::now();
    problem.g->apply_transpose(data, model);
    seconds_g_transposed = seconds_since(back);
  }
  fmt::print(", \"seconds_g\": {:.4g}, \"seconds_g_transposed\": {:.4g}", seconds_g, seconds_g_transposed);
  std::fflush(stdout);

  Settings settings;
  settings.alphas = Alphas::from_lengths({150, 150, 150});
  settings.z0 = 12.5;
  settings.device = c.device;
  UntilLate guard(c.limit);
  Iteration last;
  const auto start = Clock::now();
  try {
    const auto found = invert(
        problem, settings, [&](const Iteration& line) { last = line; }, &guard);
    fmt::print(
        ", \"seconds_inverted\": {:.4g}, \"products_each\": {}, \"chi_squared_per_datum\": {:.5g}, "
        "\"converged\": {}, \"least\": {:.4g}, \"most\": {:.4g}",
        seconds_since(start), found.products, found.phi_d / static_cast<double>(found.data), found.converged,
        *std::min_element(found.model.begin(), found.model.end()),
        *std::max_element(found.model.begin(), found.model.end()));
  } catch (const Cancelled&) {
    fmt::print(", \"stopped_after\": {:.4g}, \"products_each\": {}, \"phi_d_over_target\": {:.4g}",
               seconds_since(start), last.products, last.phi_d / static_cast<double>(problem.rows()));
  }
  fmt::print("}}\n");
}

}  // namespace
}  // namespace terrane::inversion

int main(int argc, char** argv) {
  using namespace terrane;
  inversion::Case c;
  c.device = resolve(argc > 1 ? device_from_text(argv[1]) : Device{Device::Kind::automatic});
  const auto number = [&](int n, std::size_t usual) {
    return argc > n ? static_cast<std::size_t>(std::atol(argv[n])) : usual;
  };
  c.side = number(2, c.side);
  c.layers = number(3, c.layers);
  c.stations = number(4, c.stations);
  c.lattice = argc > 5 && std::string_view(argv[5]) == "lattice";
  if (argc > 6) c.limit = std::atof(argv[6]);
  fmt::print("[\n");
  inversion::run(c);
  fmt::print("]\n");
}
