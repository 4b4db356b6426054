// The scheme of Couder-Castañeda and others (2013) on processors, by MPI and OpenMP: ranks have balanced
// ranges of the prisms (their equations 7 to 10), threads of a rank share its prisms, each with an
// observation grid of its own, and the grids are added, those of the ranks by one message each (MPI_Reduce).
// The textbook's formula, all nine components at once, the seven spheres of support/seven_spheres.hpp.
//
//     mpirun -n RANKS ranks_prisms_2013 THREADS [EVERY]       prints JSON
//     mpirun -n RANKS ranks_prisms_2013 window                the same, of Gz and Gzz in a window
//     mpirun -n RANKS ranks_prisms_2013 survey [SKIP]         the same, over the whole survey
//     mpirun -n RANKS ranks_prisms_2013 messages              times of the message of each rank
//
// window: 32 × 20 stations over the ball in the middle, all prisms, the formula in double and in single
// precision: the field and the differences from Terrane's, mGal and E (figures 18 to 21 of the paper).
// survey: every SKIP-th station (5) in both directions; the maps, and the RMS and the largest difference of
// each of the nine components (tables 1 to 4).
// messages: every rank has computed a grid, and rank 0 receives those of the others one after another, as the
// paper has it; the shortest of 50 times, for grids of 1 to 9 components.
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

/// [component][station] by Terrane's direct sum; SI.
std::array<std::vector<double>, components> terrane_field(const test::PrismList& prisms,
                                                          const test::StationList& stations) {
  Parameters parameters;
  parameters.channels = ChannelSet{Channel::g_e,  Channel::g_n,  Channel::g_u,  Channel::g_ee, Channel::g_nn,
                                   Channel::g_uu, Channel::g_en, Channel::g_eu, Channel::g_nu};
  parameters.method = Method::direct;
  std::array<std::vector<double>, components> out;
  Fields fields;
  fields.channels = parameters.channels;
  for (auto& column : out) {
    column.assign(stations.size(), 0);
    fields.values.emplace_back(column);
  }
  forward(prisms.view(), stations.view(), parameters, fields);
  return out;
}

/// Largest difference of a component from Terrane's sum, over its largest value.
double apart_from_terrane(const test::PrismList& prisms, const test::StationList& stations, const Grid& sum) {
  const auto out = terrane_field(prisms, stations);
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

/// All components at a station, places, formula and sum of the number type, for all prisms of a range; SI.
template <class T>
std::array<double, components> at_station(const test::PrismList& p, Range range, double x, double y,
                                          double z) {
  const T at[3] = {static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)};
  std::array<T, components> sum{};
  for (std::size_t n = range.first; n < range.last; ++n) {
    RelativePrism<T> r{};
    r.x[0] = static_cast<T>(p.west[n]) - at[0], r.x[1] = static_cast<T>(p.east[n]) - at[0];
    r.y[0] = static_cast<T>(p.south[n]) - at[1], r.y[1] = static_cast<T>(p.north[n]) - at[1];
    r.z[0] = static_cast<T>(p.bottom[n]) - at[2], r.z[1] = static_cast<T>(p.top[n]) - at[2];
    const auto q = naive(
        r, [](T v) { return std::log(v); }, [](T v) { return std::atan(v); });
    const auto rho = static_cast<T>(default_gravitational_constant * p.density[n]);
    const T all[components] = {q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
    for (std::size_t c = 0; c < components; ++c) sum[c] += rho * all[c];
  }
  std::array<double, components> out{};
  for (std::size_t c = 0; c < components; ++c) out[c] = static_cast<double>(sum[c]);
  return out;
}

constexpr const char* names[components] = {"Gx", "Gy", "Gz", "Gxx", "Gyy", "Gzz", "Gxy", "Gxz", "Gyz"};
double unit_of(std::size_t component) { return component < 3 ? 1e5 : 1e9; }  // mGal, E

/// Stations of the survey, one of `skip` in each direction from a first one.
struct Places {
  std::size_t first_east, first_north, east, north, skip;
  test::StationList stations() const {
    const auto all = benchmarks::grid(150, 100, 22'000, 100);
    test::StationList list;
    for (std::size_t j = 0; j < north; ++j)
      for (std::size_t i = 0; i < east; ++i) {
        const std::size_t n = (first_north + skip * j) * 150 + first_east + skip * i;
        list.add(all.easting[n], all.northing[n], all.up[n]);
      }
    return list;
  }
};

/// [component][station] of all ranks together, on rank 0, in double and in single precision; SI.
struct Maps {
  std::array<std::vector<double>, components> in_double, in_single, right;
};

Maps maps_of(const test::PrismList& prisms, const test::StationList& stations, int rank, int ranks) {
  const auto range =
      balanced_range(prisms.size(), static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
  const std::size_t count = stations.size();
  Maps maps;
  for (auto* map : {&maps.in_double, &maps.in_single, &maps.right})
    for (auto& values : *map) values.assign(count, 0);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < count; ++i) {
    const double x = stations.easting[i], y = stations.northing[i], z = stations.up[i];
    const auto in_double = at_station<double>(prisms, range, x, y, z);
    const auto in_single = at_station<float>(prisms, range, x, y, z);
    for (std::size_t c = 0; c < components; ++c)
      maps.in_double[c][i] = in_double[c], maps.in_single[c][i] = in_single[c];
  }
  for (std::size_t c = 0; c < components; ++c) {
    const auto size = static_cast<int>(count);
    auto own = maps.in_double[c];
    MPI_Reduce(own.data(), maps.in_double[c].data(), size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    const std::vector<float> mine(maps.in_single[c].begin(), maps.in_single[c].end());
    std::vector<float> sum(count);
    MPI_Reduce(mine.data(), sum.data(), size, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    maps.in_single[c].assign(sum.begin(), sum.end());
  }
  if (rank == 0) maps.right = terrane_field(prisms, stations);
  return maps;
}

void print_map(const char* name, const char* what, const std::vector<double>& values) {
  std::printf(",\n  \"%s%s\": [", name, what);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.9g", i ? ", " : "", values[i]);
  std::printf("]");
}

/// Field and errors of Gz and Gzz, mGal and E.
void print_maps(const Maps& maps) {
  for (const std::size_t c : {2, 5}) {
    std::vector<double> map[4];
    for (std::size_t i = 0; i < maps.right[c].size(); ++i) {
      const double in_double = maps.in_double[c][i], in_single = maps.in_single[c][i],
                   right = maps.right[c][i];
      const double all[4] = {in_double, in_single, in_double - right, in_single - right};
      for (std::size_t m = 0; m < 4; ++m) map[m].push_back(unit_of(c) * all[m]);
    }
    constexpr const char* what[4] = {"", "_single", "_error_double", "_error_single"};
    for (std::size_t m = 0; m < 4; ++m) print_map(names[c], what[m], map[m]);
  }
}

/// RMS and largest difference of each component from Terrane's, mGal and E.
void print_errors(const Maps& maps) {
  std::printf(",\n  \"errors\": [");
  for (std::size_t c = 0; c < components; ++c) {
    double square[2] = {}, most[2] = {}, largest = 0;
    const std::size_t count = maps.right[c].size();
    for (std::size_t i = 0; i < count; ++i) {
      const double apart[2] = {unit_of(c) * (maps.in_double[c][i] - maps.right[c][i]),
                               unit_of(c) * (maps.in_single[c][i] - maps.right[c][i])};
      for (std::size_t p = 0; p < 2; ++p)
        square[p] += apart[p] * apart[p], most[p] = std::max(most[p], std::fabs(apart[p]));
      largest = std::max(largest, unit_of(c) * std::fabs(maps.right[c][i]));
    }
    const auto rms = [&](double sum) { return std::sqrt(sum / static_cast<double>(count)); };
    std::printf(
        "%s\n    {\"component\": \"%s\", \"unit\": \"%s\", \"largest\": %.4g, \"rms_double\": %.3g, "
        "\"max_double\": %.3g, \"rms_single\": %.3g, \"max_single\": %.3g}",
        c ? "," : "", names[c], c < 3 ? "mGal" : "E", largest, rms(square[0]), most[0], rms(square[1]),
        most[1]);
  }
  std::printf("]");
}

void maps(const Places& places, bool errors) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto prisms = benchmarks::seven_spheres();
  const auto stations = places.stations();
  const double before = processor_seconds();
  const auto maps = maps_of(prisms, stations, rank, ranks);
  const double processor = processor_seconds() - before;
  if (rank != 0) return;
  std::printf("{\n  \"east\": %zu, \"north\": %zu, \"ranks\": %d, \"prisms\": %zu, \"processor_s\": %.4g",
              places.east, places.north, ranks, prisms.size(), processor);
  std::vector<double> northing;
  for (std::size_t j = 0; j < places.north; ++j) northing.push_back(stations.northing[j * places.east]);
  print_map("easting", "",
            {stations.easting.begin(), stations.easting.begin() + static_cast<std::ptrdiff_t>(places.east)});
  print_map("northing", "", northing);
  print_maps(maps);
  if (errors) print_errors(maps);
  std::printf("\n}\n");
}

/// Seconds until rank 0 has the grid of every other rank, one message each, the shortest of many.
double seconds_of_messages(int senders, int rank, std::vector<double>& grid) {
  double least = 1e300;
  const auto size = static_cast<int>(grid.size());
  for (int n = 0; n < 50; ++n) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0)
      for (int from = 1; from <= senders; ++from)
        MPI_Recv(grid.data(), size, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank <= senders) MPI_Send(grid.data(), size, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    least = std::min(least, MPI_Wtime() - start);
  }
  return least;
}

void messages() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) std::printf("[");
  for (int senders = 1; senders < ranks; ++senders)
    for (const std::size_t count : {std::size_t{1}, std::size_t{6}, components}) {
      std::vector<double> grid(15'000 * count);
      const double seconds = seconds_of_messages(senders, rank, grid);
      if (rank == 0)
        std::printf("%s\n  {\"senders\": %d, \"components\": %zu, \"bytes_each\": %zu, \"seconds\": %.4g}",
                    senders > 1 || count > 1 ? "," : "", senders, count, 8 * grid.size(), seconds);
    }
  if (rank == 0) std::printf("\n]\n");
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
  using namespace terrane::gravity;
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "1";
  const auto second = static_cast<std::size_t>(argc > 2 ? std::max(1, std::atoi(argv[2])) : 0);
  if (what == "window") {
    maps({59, 40, 32, 20, 1}, false);
  } else if (what == "survey") {
    const std::size_t skip = second > 0 ? second : 5;
    maps({0, 0, (150 + skip - 1) / skip, (100 + skip - 1) / skip, skip}, true);
  } else if (what == "messages") {
    messages();
  } else {
    run(std::max(1, std::atoi(what.c_str())), second > 0 ? second : 100);
  }
  MPI_Finalize();
}
