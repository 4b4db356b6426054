// Steps of acoustic waves that ranks share on CPUs, one after the other and several in each pass over memory
// (physics/acoustic/march/passes.hpp), taking turns. Prints JSON; the slowest rank counts, the best repeat.
//
//     mpirun -n 2 ranks_passes ROCK NODES STEPS REPEATS      constant or density; nodes a side of the whole
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"

namespace terrane::acoustic {
namespace {

/// Walls or layers all round, a source and 1,000 receivers; the layers are among the nodes.
Problem cube(Index nodes, Boundary kind, Equation equation, Index steps) {
  Problem p;
  p.equation = equation;
  p.grid = {{nodes, nodes, nodes}, {10, 10, 10}, {0, 0, 0}};
  for (auto& axis : p.sides) axis = {kind, kind};
  if (kind == Boundary::cpml)
    for (auto& n : p.grid.nodes) n -= 2 * p.margin(0, 0);
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), 2000.0);
  if (equation == Equation::variable_density) p.density.assign(p.velocity.size(), 2000.0);
  p.wavelet.frequency = 20;
  const double middle = 5.0 * static_cast<double>(p.grid.nodes[0]);
  Shot shot{{{middle + 3, middle + 1, middle}}, {}};
  for (int n = 0; n < 1000; ++n)
    shot.receivers.push_back({middle / 520 * n + 1.7, middle, middle / 550 * n + 2.1});
  p.shots = {shot};
  p.end = 1;
  p.settle();
  p.end = static_cast<double>(steps) * p.step;
  p.settle();
  return p;
}

struct Seconds {
  double wall = 1e30, processor = 1e30;  ///< processor: of all ranks, waiting included
};

template <class Work>
void time(const Work& work, Seconds& best) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  const auto before = std::clock();
  work();
  double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
         processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  MPI_Allreduce(MPI_IN_PLACE, &wall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  best.wall = std::min(best.wall, wall);
  best.processor = std::min(best.processor, processor);
}

std::string row(Comm& comm, Equation equation, Boundary kind, Index nodes, Index steps, int repeats) {
  const auto p = cube(nodes, kind, equation, steps);
  const int threads = thread_count(0);
  Stream stream({Device::Kind::cpu, -1}, false, threads);
  const Medium<float> medium(p, stream, cut_grid(p, comm.size()), comm.rank());
  Wave<float> wave(stream, medium, comm);
  Sources<float> sources(stream, medium, p.shots[0].sources, 1 / p.grid.volume());
  sources.send(stream, p.steps(), p.source_series());
  Receivers<float> readers(stream, medium, p.shots[0].receivers, p.steps());
  Clock clock(stream, 0);
  const auto chosen = passes_for(p, stream.device(), threads, medium.cut());
  Seconds one, several;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    clock.set(stream, 0);
    time(
        [&] {
          for (Index n = 0; n < steps; ++n) {
            wave.step_and_read(stream, sources, readers, clock);
            clock.tick(stream, 1);
          }
        },
        one);
    clock.set(stream, 0);
    time(
        [&] {
          for (Index n = 0; n < steps; n += chosen.steps) {
            wave.pass(stream, chosen, std::min(chosen.steps, steps - n), sources, &readers, clock);
            clock.tick(stream, chosen.steps);
          }
        },
        several);
  }
  const auto points = static_cast<double>(p.whole().count() * steps);
  return fmt::format(
      "    {{\"rock\": \"{}\", \"nodes\": {}, \"layers\": {}, \"ranks\": {}, \"threads\": {}, "
      "\"steps_in_a_pass\": {}, \"points_per_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}, "
      "\"points_per_processor_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}}}",
      equation == Equation::variable_density ? "variable_density" : "constant_density", nodes,
      kind == Boundary::cpml, comm.size(), threads, chosen.steps, points / one.wall, points / several.wall,
      points / one.processor, points / several.processor);
}

}  // namespace
}  // namespace terrane::acoustic

int main(int argc, char** argv) {
  using namespace terrane;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    const auto comm = mpi_comm(MPI_COMM_WORLD);
    share_cores(comm->on_node().count);
    const auto word = [&](int n, const char* otherwise) {
      return std::string(argc > n ? argv[n] : otherwise);
    };
    const auto equation = word(1, "constant") == "density" ? acoustic::Equation::variable_density
                                                           : acoustic::Equation::constant_density;
    std::string rows;
    for (const auto kind : {acoustic::Boundary::wall, acoustic::Boundary::cpml})
      rows += (rows.empty() ? "" : ",\n") + acoustic::row(*comm, equation, kind, std::stol(word(2, "64")),
                                                          std::stol(word(3, "8")), std::stoi(word(4, "1")));
    if (comm->rank() == 0) fmt::print("{{\n  \"runs\": [\n{}\n  ]\n}}\n", rows);
  }
  MPI_Finalize();
}
