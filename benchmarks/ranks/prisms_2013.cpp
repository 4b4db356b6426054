// The scheme of Couder-Castañeda and others (2013) on processors, by MPI and OpenMP: ranks have balanced
// ranges of the prisms (their equations 7 to 10), threads of a rank share its prisms, each with an
// observation grid of its own, and the grids are added, those of the ranks by one message each (MPI_Reduce).
// The textbook's formula, all nine components at once, the seven spheres of support/seven_spheres.hpp.
//
//     mpirun -n RANKS ranks_prisms_2013 THREADS [EVERY]       prints JSON
//     mpirun -n RANKS ranks_prisms_2013 window                the same, of Gz and Gzz in a window
//
// window: 32 × 20 stations over the ball in the middle, all prisms, the formula in double and in single
// precision: the field and the differences from Terrane's, mGal and E (figures 18 to 21 of the paper).
//
// EVERY: one prism of so many (100); times are of the share, scaled_s of all. processor_s: of all ranks. The
// sum is compared with Terrane's direct sum of the same prisms.
#include <mpi.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/seven_spheres.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"

namespace terrane::gravity {
namespace {

constexpr std::size_t components = 9;
using Grid = std::vector<std::array<double, components>>;

double processor_seconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  double mine = static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec),
         all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void add_prism(const test::PrismList& p, std::size_t n, const test::StationList& s, Grid& grid) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    RelativePrism<double> r{};
    r.x[0] = p.west[n] - s.easting[i], r.x[1] = p.east[n] - s.easting[i];
    r.y[0] = p.south[n] - s.northing[i], r.y[1] = p.north[n] - s.northing[i];
    r.z[0] = p.bottom[n] - s.up[i], r.z[1] = p.top[n] - s.up[i];
    const auto q = naive(
        r, [](double v) { return std::log(v); }, [](double v) { return std::atan(v); });
    const double all[components] = {q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
    for (std::size_t c = 0; c < components; ++c)
      grid[i][c] += default_gravitational_constant * p.density[n] * all[c];
  }
}

/// Private grids of the threads, added.
Grid of_range(const test::PrismList& prisms, const test::StationList& stations, Range range, int threads) {
  std::vector<Grid> grids(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    auto& mine = grids[static_cast<std::size_t>(omp_get_thread_num())];
    mine.assign(stations.size(), {});
#pragma omp for schedule(static)
    for (std::size_t n = range.first; n < range.last; ++n) add_prism(prisms, n, stations, mine);
  }
  for (std::size_t t = 1; t < grids.size(); ++t)
    for (std::size_t i = 0; i < stations.size(); ++i)
      for (std::size_t c = 0; c < components; ++c) grids[0][i][c] += grids[t][i][c];
  return std::move(grids[0]);
}

/// Largest difference of a component from Terrane's sum, over its largest value.
double apart_from_terrane(const test::PrismList& prisms, const test::StationList& stations, const Grid& sum) {
  Parameters parameters;
  parameters.channels = ChannelSet{Channel::g_e,  Channel::g_n,  Channel::g_u,  Channel::g_ee, Channel::g_nn,
                                   Channel::g_uu, Channel::g_en, Channel::g_eu, Channel::g_nu};
  parameters.method = Method::direct;
  std::vector<std::vector<double>> out(components, std::vector<double>(stations.size()));
  Fields fields;
  fields.channels = parameters.channels;
  for (auto& column : out) fields.values.emplace_back(column);
  forward(prisms.view(), stations.view(), parameters, fields);
  double most = 0;
  for (std::size_t c = 0; c < components; ++c) {
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < stations.size(); ++i) {
      largest = std::max(largest, std::fabs(out[c][i]));
      apart = std::max(apart, std::fabs(out[c][i] - sum[i][c]));
    }
    most = std::max(most, apart / largest);
  }
  return most;
}

/// Gz and Gzz at a station, places, formula and sum of the number type, for all prisms of a range; SI.
template <class T>
std::array<T, 2> at_station(const test::PrismList& p, Range range, double x, double y, double z) {
  const T at[3] = {static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)};
  std::array<T, 2> sum{};
  for (std::size_t n = range.first; n < range.last; ++n) {
    RelativePrism<T> r{};
    r.x[0] = static_cast<T>(p.west[n]) - at[0], r.x[1] = static_cast<T>(p.east[n]) - at[0];
    r.y[0] = static_cast<T>(p.south[n]) - at[1], r.y[1] = static_cast<T>(p.north[n]) - at[1];
    r.z[0] = static_cast<T>(p.bottom[n]) - at[2], r.z[1] = static_cast<T>(p.top[n]) - at[2];
    const auto q = naive(
        r, [](T v) { return std::log(v); }, [](T v) { return std::atan(v); });
    const auto rho = static_cast<T>(default_gravitational_constant * p.density[n]);
    sum[0] += rho * q.u;
    sum[1] += rho * q.uu;
  }
  return sum;
}

void print_map(const char* name, const std::vector<double>& values, bool last = false) {
  std::printf("  \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.9g", i ? ", " : "", values[i]);
  std::printf("]%s\n", last ? "" : ",");
}

void window() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto prisms = benchmarks::seven_spheres();
  const auto all = benchmarks::grid(150, 100, 22'000, 100);
  constexpr std::size_t east = 32, north = 20, first_east = 59, first_north = 40;
  test::StationList stations;
  for (std::size_t j = 0; j < north; ++j)
    for (std::size_t i = 0; i < east; ++i) {
      const std::size_t n = (first_north + j) * 150 + first_east + i;
      stations.add(all.easting[n], all.northing[n], all.up[n]);
    }
  const auto range =
      balanced_range(prisms.size(), static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
  const std::size_t count = stations.size();
  std::vector<double> mine(4 * count), sum(4 * count);  // Gz, Gzz in double; in single
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < count; ++i) {
    const double x = stations.easting[i], y = stations.northing[i], z = stations.up[i];
    const auto in_double = at_station<double>(prisms, range, x, y, z);
    const auto in_single = at_station<float>(prisms, range, x, y, z);
    for (std::size_t c = 0; c < 2; ++c) {
      mine[c * count + i] = in_double[c];
      mine[(2 + c) * count + i] = static_cast<double>(in_single[c]);
    }
  }
  MPI_Reduce(mine.data(), sum.data(), static_cast<int>(sum.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  Parameters parameters;
  parameters.channels = ChannelSet{Channel::g_u, Channel::g_uu};
  parameters.method = Method::direct;
  std::vector<std::vector<double>> right(2, std::vector<double>(count));
  Fields fields;
  fields.channels = parameters.channels;
  for (auto& column : right) fields.values.emplace_back(column);
  forward(prisms.view(), stations.view(), parameters, fields);
  std::printf("{\n  \"east\": %zu, \"north\": %zu, \"ranks\": %d,\n", east, north, ranks);
  print_map("easting", {stations.easting.begin(), stations.easting.begin() + east});
  std::vector<double> northing;
  for (std::size_t j = 0; j < north; ++j) northing.push_back(stations.northing[j * east]);
  print_map("northing", northing);
  const char* names[2][4] = {{"Gz", "Gz_single", "Gz_error_double", "Gz_error_single"},
                             {"Gzz", "Gzz_single", "Gzz_error_double", "Gzz_error_single"}};
  for (std::size_t c = 0; c < 2; ++c) {
    const double unit = c == 0 ? 1e5 : 1e9;  // mGal, E
    std::vector<double> map[4];
    for (std::size_t i = 0; i < count; ++i) {
      const double in_double = sum[c * count + i], in_single = sum[(2 + c) * count + i];
      map[0].push_back(unit * in_double), map[1].push_back(unit * in_single);
      map[2].push_back(unit * (in_double - right[c][i])), map[3].push_back(unit * (in_single - right[c][i]));
    }
    for (std::size_t m = 0; m < 4; ++m) print_map(names[c][m], map[m], c == 1 && m == 3);
  }
  std::printf("}\n");
}

void run(int threads, std::size_t every) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto all = benchmarks::seven_spheres();
  const auto stations = benchmarks::grid(150, 100, 22'000, 100);
  test::PrismList prisms;
  for (std::size_t n = 0; n < all.size(); n += every)
    prisms.add({all.west[n], all.east[n], all.south[n], all.north[n], all.bottom[n], all.top[n]},
               all.density[n]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = processor_seconds(), start = MPI_Wtime();
  const auto range =
      balanced_range(prisms.size(), static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
  auto mine = of_range(prisms, stations, range, threads);
  const double computed = MPI_Wtime();
  Grid sum(stations.size());
  MPI_Reduce(mine.data(), sum.data(), static_cast<int>(components * stations.size()), MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start, message = MPI_Wtime() - computed;
  const double processor = processor_seconds() - before;
  if (rank != 0) return;
  std::printf(
      "{\"ranks\": %d, \"threads\": %d, \"prisms\": %zu, \"of\": %zu, \"stations\": %zu, \"components\": 9, "
      "\"seconds\": %.4g, \"processor_s\": %.4g, \"reduce_s\": %.3g, \"scaled_s\": %.4g, "
      "\"processor_scaled_s\": %.4g, \"apart_from_terrane\": %.2g}\n",
      ranks, threads, prisms.size(), all.size(), stations.size(), seconds, processor, message,
      seconds * static_cast<double>(all.size()) / static_cast<double>(prisms.size()),
      processor * static_cast<double>(all.size()) / static_cast<double>(prisms.size()),
      apart_from_terrane(prisms, stations, sum));
}

}  // namespace
}  // namespace terrane::gravity

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && std::string(argv[1]) == "window") {
    terrane::gravity::window();
    MPI_Finalize();
    return 0;
  }
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  const int every = argc > 2 ? std::max(1, std::atoi(argv[2])) : 100;
  terrane::gravity::run(threads, static_cast<std::size_t>(every));
  MPI_Finalize();
}
