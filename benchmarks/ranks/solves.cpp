// What several devices do for fields that are solved for and for the products of an inversion: one
// electromagnetic field, or one potential of direct current, on one device and shared by all, and G v and
// Gᵀ w with G on one device and divided among all. Prints JSON; the best repeat counts.
//
//     mpirun -n 2 ranks_solves [device] [WORD=SIZE]...
//
// Words: fields and potentials with the cells a side (the land of tests/support/land.hpp, 1 Hz, to 1e-8; two
// poles under its surface in a grounded box, to 1e-8); pairs, kept and
// tree with the cells a side of 32 layers and four stations for each cell of the surface, every entry
// computed anew, kept in single precision, or by a tree.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/land.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/parallel/comm/comm_gpu.hpp"
#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"
#include "terrane/simulation/serve.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace terrane {
namespace {

using Time = std::chrono::steady_clock;
double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

/// Rows of the record, of rank 0, as they come.
class Rows {
 public:
  explicit Rows(bool prints) : prints_(prints) {}
  void add(const std::string& row) {
    if (prints_) fmt::print("{}\n    {{{}}}", any_ ? "," : "", row);
    std::fflush(stdout);
    any_ = true;
  }

 private:
  bool prints_, any_ = false;
};

struct Solved {
  double setup = 0, seconds = 1e300, unknowns = 0;
  solve::SolveReport report;
  std::vector<double> found;  // all of it
};

/// The best of four runs of `solve` by all ranks.
template <class Prepare, class Solve>
void time_solves(Stream& stream, Comm& comm, Solved& found, const Prepare& prepare, const Solve& solve) {
  for (int repeat = 0; repeat < 4; ++repeat) {
    prepare();
    stream.wait();
    comm.lowest(0);
    const auto start = Time::now();
    found.report = solve();
    stream.wait();
    found.seconds = std::min(found.seconds, comm.highest(seconds_since(start)));
  }
}

/// A dipole under the surface; the ranks of comm share its field.
Solved solve_field(Device device, const test::Land& earth, Comm& comm) {
  using namespace electromagnetic;
  Solved found;
  Stream stream(device);
  comm.lowest(0);  // or it would be timed how long ranks wait for the host of the slowest
  const auto start = Time::now();
  MaxwellSolver<float> solver(stream, earth.mesh, {&earth.sigma, &earth.sigma, &earth.sigma}, &comm);
  stream.wait();
  found.setup = comm.highest(seconds_since(start));
  solver.set_frequency(1);
  auto b = solver.vector();
  auto x = solver.vector();
  const auto whole = solver.metric().edges(2);
  const auto count = static_cast<std::size_t>(whole.count());
  std::vector<double> values(2 * count);
  const Index middle = earth.cells / 2;
  View<double, 3>(values.data() + count, whole)(middle - 2, middle - 1, middle) =
      -8e-7 * std::numbers::pi * std::numbers::pi * 100;
  b.e[2].upload(stream, values, whole);
  solver.complete(b);
  time_solves(
      stream, comm, found,
      [&] {
        for (auto& field : x.e) field.fill_zero(stream);
      },
      [&] { return solver.solve(b, x, {}); });
  found.unknowns = solver.unknowns();
  for (int axis = 0; axis < 3; ++axis) {
    const auto one = solver.gather(x, axis);
    found.found.insert(found.found.end(), one.begin(), one.end());
  }
  return found;
}

/// Two poles under the surface of a grounded box; the ranks of comm share its potential.
Solved solve_potential(Device device, const test::Land& earth, Comm& comm) {
  Solved found;
  Stream stream(device);
  const auto& sigma = earth.sigma;
  const auto host =
      electric::assemble(earth.mesh, {{&sigma, &sigma, &sigma}}, electric::Boundary::grounded, {});
  const solve::SharedGrid<double> grid(host.nodes, comm, device);
  const auto network = host.on(stream, grid.part());
  stream.wait();
  comm.lowest(0);
  const auto start = Time::now();
  solve::Multigrid<float> multigrid(stream, network, host.spacing, grid);
  stream.wait();
  found.setup = comm.highest(seconds_since(start));
  solve::Field<double> b(stream, grid.part()), x(stream, grid.part());
  std::vector<double> values(static_cast<std::size_t>(host.nodes.count()), 0.0);
  const View<double, 3> at(values.data(), host.nodes);
  const Index middle = earth.cells / 2;
  at(middle - 2, middle, middle - 4) = 1;
  at(middle - 2, middle, middle + 4) = -1;
  b.upload(stream, values, host.nodes);
  const auto precondition = [&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z,
                                double scale) { multigrid.apply(s, r, z, scale); };
  time_solves(
      stream, comm, found, [&] { x.fill_zero(stream); },
      [&] { return solve::conjugate_gradients(stream, network, b, x, precondition, {}, &grid); });
  found.unknowns = static_cast<double>(host.nodes.count());
  found.found = grid.gather(stream, x);
  return found;
}

template <class Solve>
void fields(Comm& ranks, Device device, const std::string& name, int cells, Rows& rows, const Solve& solve) {
  const auto earth = test::land(cells, 1.3);
  Alone alone;
  const Solved one = solve(device, earth, static_cast<Comm&>(alone));
  const auto add = [&](const Solved& found, int size) {
    rows.add(fmt::format(
        "\"what\": \"{}\", \"cells_a_side\": {}, \"unknowns\": {:.0f}, \"ranks\": {}, \"setup_s\": {:.4g}, "
        "\"solve_s\": {:.4g}, \"iterations\": {}, \"residual\": {:.2g}, \"times_one\": {:.4f}, "
        "\"same_bits\": {}",
        name, cells, found.unknowns, size, found.setup, found.seconds, found.report.iterations,
        found.report.residual, one.seconds / found.seconds, found.found == one.found));
  };
  add(one, 1);
  if (ranks.size() > 1) add(solve(device, earth, ranks), ranks.size());
}

std::shared_ptr<const gravity::SensitivityColumns> sensitivities(int side) {
  constexpr double width = 25;
  constexpr int layers = 32;
  PrismSet cells;
  for (int k = 0; k < layers; ++k)
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i)
        cells.push_back(
            {width * i, width * (i + 1), width * j, width * (j + 1), -width * (k + 1), -width * k});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(0, width * side), height(5, 105);
  gravity::KeptStations stations;
  for (int s = 0; s < 4 * side * side; ++s) {
    stations.easting.push_back(place(random));
    stations.northing.push_back(place(random));
    stations.up.push_back(height(random));
  }
  return std::make_shared<gravity::SensitivityColumns>(
      std::move(cells), std::move(stations),
      std::vector{gravity::Observable::of(gravity::Channel::g_u, 1e5 * default_gravitational_constant)},
      1e-9);
}

template <class Work>
double seconds_of(const Work& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < 4; ++repeat) {
    const auto start = Time::now();
    work();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

/// Rank 0: products with G on its device alone, then divided among all.
void products(Comm& ranks, Device device, const std::string& name, gravity::inverse::Storage storage,
              int side, Rows& rows) {
  using namespace gravity::inverse;
  const auto source = sensitivities(side);
  StorageSettings settings;
  settings.storage = storage;
  settings.tree_accuracy = 1e-5;
  settings.device = device;
  std::vector<double> first_data, first_model;
  double first[2] = {};
  for (const int count : {1, ranks.size()}) {
    if (count == 1 && first[0] > 0) break;
    Runtime runtime;
    runtime.device = device;
    if (count > 1) {
      runtime.comm = &ranks;
      settings.device.index = -1;  // each rank takes its own
    }
    std::vector<std::string> notes;
    const auto start = Time::now();
    const auto g = make_operator(source, settings, runtime, notes);
    const double made = seconds_since(start);
    std::vector<double> model(g->columns(), 1.0), data(g->rows());
    const double forth = seconds_of([&] { g->apply(model, data); });
    const double back = seconds_of([&] { g->apply_transpose(data, model); });
    if (count == 1) {
      first[0] = forth;
      first[1] = back;
      first_data = data;
      first_model = model;
    }
    rows.add(fmt::format(
        "\"what\": \"{}\", \"cells\": {}, \"stations\": {}, \"ranks\": {}, \"seconds_made\": {:.4g}, "
        "\"seconds_g\": "
        "{:.4g}, \"seconds_g_transposed\": {:.4g}, \"times_one\": {:.4f}, \"transposed_times_one\": {:.4f}, "
        "\"same_bits\": {}",
        name, g->columns(), g->rows(), count, made, forth, back, first[0] / forth, first[1] / back,
        data == first_data && model == first_model));
  }
}

void run(Comm& ranks, Device device, const std::vector<std::string>& what) {
#ifdef TERRANE_HAS_NCCL
  GpuComm through_gpus(ranks, nccl_link, GpuLinkUse::always, nccl_direct_link);
#else
  GpuComm through_gpus(ranks, {}, GpuLinkUse::always);
#endif
  Rows rows(ranks.rank() == 0);
  if (ranks.rank() == 0)
    fmt::print(
        "{{\"what\": \"solves and products of several devices\", \"device\": \"{}\", \"threads\": {}, "
        "\"rows\": [",
        device_name(device), thread_count(0));
  Registry registry;
  registry.add(physics::inversions().job());
  for (const auto& word : what) {
    const auto size = std::atoi(word.substr(word.find('=') + 1).c_str());
    const auto name = word.substr(0, word.find('='));
    if (name == "fields") {
      fields(through_gpus, device, "field", size, rows, solve_field);
    } else if (name == "potentials") {
      fields(through_gpus, device, "potential", size, rows, solve_potential);
    } else if (ranks.rank() > 0) {
      serve(registry, ranks);
    } else {
      products(ranks, device, name,
               name == "pairs"  ? gravity::inverse::Storage::none
               : name == "kept" ? gravity::inverse::Storage::single
                                : gravity::inverse::Storage::tree,
               size, rows);
      dismiss(ranks);
    }
  }
  if (ranks.rank() == 0) fmt::print("\n]}}\n");
}

}  // namespace
}  // namespace terrane

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    using namespace terrane;
    const auto comm = mpi_comm(MPI_COMM_WORLD);
    share_cores(comm->on_node().count);
    const auto device = resolve(device_from_text(argc > 1 ? argv[1] : "debug"), comm->on_node().index);
    std::vector<std::string> what(argv + std::min(argc, 2), argv + argc);
    if (what.empty()) what = {"fields=16", "potentials=16", "pairs=8", "kept=8", "tree=8"};
    run(*comm, device, what);
  }
  MPI_Finalize();
}
