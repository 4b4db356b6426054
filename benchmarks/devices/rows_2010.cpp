// The experiment of Moorkamp, Jegen, Roberts & Hobbs (2010): gravity, and its gradients, of rectilinear grids
// of 8 … 10⁶ cells at 30 stations; densities of 0.1 … 3.0 g/cm³ and widths of 1 … 11 km at random.
//
//   devices_rows_2010 [device] [repeats]      prints JSON; device cpu: without the GPU's columns
//   devices_rows_2010 models [count]          so many (five) random models of each size, on one thread
//
// models: means and extremes, over the models, of seconds; and how far the gradients are from Poisson's
// equation, U_xx + U_yy + U_zz = −4πGρ, at the 30 stations above the cells and at 30 in the middle of cells,
// over the largest component there.
//
// Seconds, medians, on one thread of its processor time, so that other work on the machine does not count;
// else by the clock on the wall: rows of sensitivities made on one thread and on all; the field with no row
// kept, on one thread, on all and on the device (upload and way back included); the product of the rows that
// are kept, in double, on one thread. Field and rows are right to 1e-12 of each pair. Differences of the
// field on the device from that of one thread, relative, as the paper has them: how many lie within each
// power of ten; and of a textbook formula in single precision throughout (theirs) and of the device's single
// precision (ours) from double.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include "support/prism_field.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane::gravity {
namespace {

using Clock = std::chrono::steady_clock;
using test::FieldTable;
using test::PrismList;
using test::StationList;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// alone: by the processor time of this process, in which one thread works.
template <class Work>
double median_seconds(int repeats, const Work& work, bool alone = false) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    const std::clock_t processor = std::clock();
    work();
    times.push_back(alone ? static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC
                          : seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Case {
  PrismSet cells;
  PrismList prisms;
  StationList stations;
};

std::vector<double> random_faces(std::size_t n, double from, std::mt19937& random) {
  std::uniform_real_distribution<double> width(1000, 11000);
  std::vector<double> faces{from};
  for (std::size_t i = 0; i < n; ++i) faces.push_back(faces.back() + width(random));
  return faces;
}

/// n³ cells below 30 stations, which stand 1 m above and at random.
Case make_case(std::size_t n, unsigned model = 0) {
  std::mt19937 random(static_cast<unsigned>(n) + 1000 * model);
  auto down = random_faces(n, 0, random);
  for (double& z : down) z = -z;
  std::reverse(down.begin(), down.end());
  const TensorMesh mesh(random_faces(n, 0, random), random_faces(n, 0, random), down);
  std::uniform_real_distribution<double> density(100, 3000), part(0, 1);
  Case made;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    made.cells.push_back(mesh.prism(c));
    made.prisms.add(mesh.prism(c), density(random));
  }
  const auto box = mesh.bounds();
  for (int s = 0; s < 30; ++s)
    made.stations.add(box.west + part(random) * (box.east - box.west),
                      box.south + part(random) * (box.north - box.south), 1);
  return made;
}

FieldTable field_of(const Case& problem, ChannelSet channels, Device device, int threads,
                    Precision precision = Precision::double_precision) {
  Parameters parameters;
  parameters.channels = channels;
  parameters.method = Method::direct;
  parameters.device = device;
  parameters.threads = threads;
  parameters.precision = precision;
  if (precision == Precision::single_precision) parameters.accuracy = 1e-6;
  FieldTable out(channels.size(), std::vector<double>(problem.stations.size()));
  Fields fields;
  fields.channels = channels;
  for (auto& column : out) fields.values.emplace_back(column);
  forward(problem.prisms.view(), problem.stations.view(), parameters, fields);
  return out;
}

/// Everything in float: places, formula and sum.
FieldTable naive_in_float(const Case& problem, ChannelSet channels) {
  const auto& p = problem.prisms;
  const auto& s = problem.stations;
  FieldTable out(channels.size(), std::vector<double>(s.size()));
  for_each(s.size(), 0, [&](std::size_t i) {
    std::vector<float> sum(channels.size());
    for (std::size_t j = 0; j < p.size(); ++j) {
      const auto x = static_cast<float>(s.easting[i]), y = static_cast<float>(s.northing[i]),
                 z = static_cast<float>(s.up[i]);
      RelativePrism<float> r{};
      r.x[0] = static_cast<float>(p.west[j]) - x;
      r.x[1] = static_cast<float>(p.east[j]) - x;
      r.y[0] = static_cast<float>(p.south[j]) - y;
      r.y[1] = static_cast<float>(p.north[j]) - y;
      r.z[0] = static_cast<float>(p.bottom[j]) - z;
      r.z[1] = static_cast<float>(p.top[j]) - z;
      const auto q = naive(
          r, [](float v) { return std::log(v); }, [](float v) { return std::atan(v); });
      const float all[] = {q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
      std::size_t c = 0;
      for (const auto channel : channels.list())
        sum[c++] += static_cast<float>(p.density[j]) * all[static_cast<std::size_t>(channel)];
    }
    for (std::size_t c = 0; c < sum.size(); ++c) out[c][i] = default_gravitational_constant * sum[c];
  });
  return out;
}

/// "1e-13": how many relative differences are at most that, and above the power before.
std::string histogram(const FieldTable& of, const FieldTable& right) {
  std::map<int, int> count;
  for (std::size_t c = 0; c < of.size(); ++c)
    for (std::size_t i = 0; i < of[c].size(); ++i) {
      const double off = std::fabs(of[c][i] / right[c][i] - 1);
      ++count[off > 1e-17 ? static_cast<int>(std::ceil(std::log10(off))) : -17];
    }
  std::string text;
  for (const auto& [power, n] : count)
    text += fmt::format("{}\"1e{}\": {}", text.empty() ? "" : ", ", power, n);
  return "{" + text + "}";
}

void report(std::size_t n, const char* what, ChannelSet channels, Device device, int repeats, bool first) {
  const auto problem = make_case(n);
  const auto cells = problem.prisms.size();
  const int several = cells < 20000 ? repeats : 1;
  std::vector<Observable> observables;
  for (const auto channel : channels.list())
    observables.push_back(Observable::of(channel, default_gravitational_constant));
  const auto& s = problem.stations;
  const SensitivityColumns source(problem.cells, {s.easting, s.northing, s.up}, observables,
                                  default_accuracy);
  const auto rows = [&](int threads) {
    return median_seconds(
        several, [&] { const solve::DenseOperator<double> made(source, threads); }, threads == 1);
  };
  const double rows_one = rows(1), rows_all = rows(0);
  const Device cpu{Device::Kind::cpu, -1};
  FieldTable here, there, single;
  const double field_one = median_seconds(
      several, [&] { here = field_of(problem, channels, cpu, 1); }, true);
  const double field_all = median_seconds(several, [&] { field_of(problem, channels, cpu, 0); });
  const solve::DenseOperator<double> kept(source, 1);
  std::vector<double> data(kept.rows());
  // Too short for the processor's clock one by one.
  const int times = std::max(1, static_cast<int>(3e6 / static_cast<double>(cells * channels.size())));
  const double product = median_seconds(
                             repeats,
                             [&] {
                               for (int i = 0; i < times; ++i) kept.apply(problem.prisms.density, data);
                             },
                             true) /
                         times;
  std::printf(
      "%s\n {\"what\": \"%s\", \"cells\": %zu, \"rows_one_thread\": %.3e, \"rows_all_threads\": %.3e, "
      "\"field_one_thread\": %.3e, \"field_all_threads\": %.3e, \"product_one_thread\": %.3e, "
      "\"stored_bytes\": %.3e, \"theirs_in_single\": %s",
      first ? "" : ",", what, cells, rows_one, rows_all, field_one, field_all, product,
      8.0 * static_cast<double>(kept.rows() * cells),
      histogram(naive_in_float(problem, channels), here).c_str());
  if (device.kind != Device::Kind::cpu) {
    there = field_of(problem, channels, device, 0);  // once before
    const double on_device = median_seconds(repeats, [&] { there = field_of(problem, channels, device, 0); });
    const double in_single = median_seconds(
        repeats, [&] { single = field_of(problem, channels, device, 0, Precision::single_precision); });
    std::printf(
        ", \"field_device\": %.3e, \"field_device_single\": %.3e, \"device_minus_cpu\": %s, "
        "\"ours_in_single\": %s",
        on_device, in_single, histogram(there, here).c_str(), histogram(single, here).c_str());
  }
  std::printf("}");
  std::fflush(stdout);
}

/// Largest |trace + 4πGρ| over the largest component, at the stations of a case; density: there, kg/m³.
double off_poisson(const Case& problem, const std::vector<double>& density) {
  const ChannelSet channels{Channel::g_ee, Channel::g_nn, Channel::g_uu};
  const auto field = field_of(problem, channels, {Device::Kind::cpu, -1}, 1);
  double off = 0, largest = 0;
  for (std::size_t i = 0; i < density.size(); ++i) {
    off = std::max(off, std::fabs(field[0][i] + field[1][i] + field[2][i] +
                                  4 * std::numbers::pi * default_gravitational_constant * density[i]));
    for (const auto& component : field) largest = std::max(largest, std::fabs(component[i]));
  }
  return off / largest;
}

/// Stations in the middle of 30 cells, and the densities there.
std::pair<Case, std::vector<double>> inside(const Case& problem) {
  auto made = problem;
  made.stations = {};
  std::vector<double> density;
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t cell = i * problem.cells.size() / 30;
    const auto& p = problem.prisms;
    made.stations.add((p.west[cell] + p.east[cell]) / 2, (p.south[cell] + p.north[cell]) / 2,
                      (p.bottom[cell] + p.top[cell]) / 2);
    density.push_back(p.density[cell]);
  }
  return {std::move(made), std::move(density)};
}

void report_models(std::size_t n, int models, bool first) {
  const ChannelSet scalar{Channel::g_u},
      tensor{Channel::g_ee, Channel::g_nn, Channel::g_uu, Channel::g_en, Channel::g_eu, Channel::g_nu};
  const Device cpu{Device::Kind::cpu, -1};
  std::map<std::string, std::vector<double>> all;
  for (int m = 1; m <= models; ++m) {
    const auto problem = make_case(n, static_cast<unsigned>(m));
    const auto timed = [&](const char* what, const auto& work) {
      all[what].push_back(median_seconds(n < 20 ? 3 : 1, work, true));
    };
    timed("scalar", [&] { field_of(problem, scalar, cpu, 1); });
    timed("tensor", [&] { field_of(problem, tensor, cpu, 1); });
    const auto& s = problem.stations;
    const std::vector<Observable> g_u{Observable::of(Channel::g_u, default_gravitational_constant)};
    const SensitivityColumns source(problem.cells, {s.easting, s.northing, s.up}, g_u, default_accuracy);
    timed("rows_scalar", [&] { const solve::DenseOperator<double> made(source, 1); });
    all["off_poisson_above"].push_back(off_poisson(problem, std::vector<double>(30, 0.0)));
    const auto [within, density] = inside(problem);
    all["off_poisson_inside"].push_back(off_poisson(within, density));
  }
  std::printf("%s\n {\"cells\": %zu, \"models\": %d", first ? "" : ",", n * n * n, models);
  for (const auto& [what, values] : all) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    double mean = 0;
    for (const double value : values) mean += value / models;
    std::printf(", \"%s\": {\"mean\": %.3e, \"least\": %.3e, \"most\": %.3e}", what.c_str(), mean, *least,
                *most);
  }
  std::printf("}");
  std::fflush(stdout);
}

int main_models(int models) {
  std::printf("{\"stations\": 30, \"cases\": [");
  for (const std::size_t n : {2U, 3U, 5U, 10U, 22U, 46U, 100U}) report_models(n, models, n == 2);
  std::printf("\n]}\n");
  return 0;
}

int main_program(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "models")
    return main_models(argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
  const Device device = resolve(device_from_text(argc > 1 ? argv[1] : "auto"));
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  std::printf("{\"device\": \"%s\", \"threads\": %d, \"stations\": 30, \"cases\": [",
              device_name(device).c_str(), thread_count(0));
  bool first = true;
  for (const std::size_t n : {2U, 3U, 5U, 10U, 22U, 46U, 100U})
    for (const bool tensor : {false, true}) {
      ChannelSet channels{Channel::g_u};
      if (tensor)
        channels = ChannelSet{Channel::g_ee, Channel::g_nn, Channel::g_uu,
                              Channel::g_en, Channel::g_eu, Channel::g_nu};
      report(n, tensor ? "tensor" : "scalar", channels, device, repeats, first);
      first = false;
    }
  std::printf("\n]}\n");
  return 0;
}

}  // namespace
}  // namespace terrane::gravity

int main(int argc, char** argv) { return terrane::gravity::main_program(argc, argv); }
