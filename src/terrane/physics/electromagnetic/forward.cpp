#include "terrane/physics/electromagnetic/forward.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/groups.hpp"
#include "terrane/physics/electromagnetic/checkpoint.hpp"
#include "terrane/physics/electromagnetic/correction.hpp"
#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane::electromagnetic {

namespace {

/// A solve on one rank, to be sent to rank 0.
struct FieldsFound {
  std::uint64_t number;
  Solve solve;
};

/// Rank 0 collects the results of all ranks in a round, in any order: `each` values of every solve, stored at
/// the solve's index.
void collect(Comm& comm, const std::vector<FieldsFound>& found, const std::vector<std::complex<double>>& data,
             std::size_t each, std::vector<Solve>& solves, std::vector<std::complex<double>>& out) {
  const auto all_found = comm.gather(std::as_bytes(std::span(found)), 0);
  const auto all_data = comm.gather(std::as_bytes(std::span(data)), 0);
  for (std::size_t rank = 0; rank < all_found.size(); ++rank)
    for (std::size_t n = 0; n < all_found[rank].size() / sizeof(FieldsFound); ++n) {
      FieldsFound one;
      std::memcpy(&one, all_found[rank].data() + n * sizeof(FieldsFound), sizeof one);
      solves[one.number] = one.solve;
      if (each > 0)
        std::memcpy(out.data() + one.number * each, all_data[rank].data() + n * each * sizeof(out[0]),
                    each * sizeof(out[0]));
    }
}

/// E and H at the centres of cells, as means over their four edges and two faces; E on all edges.
/// wanted: false on ranks that only take part in gathering
std::vector<std::complex<double>> in_volume(const Problem& problem, Solves& own, bool wanted) {
  using Z = std::complex<double>;
  const auto e = own.field();
  if (!wanted) return {};
  const auto& metric = own.metric();
  const Index size[3] = {metric.cells(0), metric.cells(1), metric.cells(2)};
  // E on an edge, by the index of its cell along the axis and of its nodes across, counted from the wall; on
  // walls the known field.
  const auto edge = [&](int axis, std::array<Index, 3> place) -> Z {
    const auto box = metric.edges(axis);
    bool inside = true;
    for (int a = 0; a < 3; ++a) {
      if (a != axis) place[static_cast<std::size_t>(a)] -= 1;
      const Index q = place[static_cast<std::size_t>(a)];
      inside = inside && q >= 0 && q < box.size(a);
    }
    if (!inside) return own.known(axis, place);
    const auto n = (place[0] * box.size(1) + place[1]) * box.size(2) + place[2];
    return e[static_cast<std::size_t>(axis)][static_cast<std::size_t>(n)];
  };
  const auto width = [&](int a, const std::array<Index, 3>& cell) {
    const auto n = static_cast<std::size_t>(a);
    return metric.width[n][static_cast<std::size_t>(cell[n])];
  };
  const auto moved = [](std::array<Index, 3> place, int axis) {
    place[static_cast<std::size_t>(axis)] += 1;
    return place;
  };
  // The axes up, north, east are left-handed: the curl along an axis is −(∂_b E_e − ∂_e E_b).
  const auto magnetic = [&](int axis, const std::array<Index, 3>& face) -> Z {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    const Z curl = (edge(b, moved(face, c)) - edge(b, face)) / width(c, face) -
                   (edge(c, moved(face, b)) - edge(c, face)) / width(b, face);
    return Z(0, 1 / own.omega_mu()) * curl;
  };
  std::vector<Z> all;
  for (const bool h : {false, true}) {
    if (!(h ? problem.magnetic_volume : problem.electric_volume)) continue;
    for (const int axis : {2, 1, 0}) {
      const int b = (axis + 1) % 3, c = (axis + 2) % 3;
      for (Index k = 0; k < size[0]; ++k)
        for (Index j = 0; j < size[1]; ++j)
          for (Index i = 0; i < size[2]; ++i) {
            const std::array<Index, 3> cell{k, j, i};
            all.push_back(h ? (magnetic(axis, cell) + magnetic(axis, moved(cell, axis))) / 2.0
                            : (edge(axis, cell) + edge(axis, moved(cell, b)) + edge(axis, moved(cell, c)) +
                               edge(axis, moved(moved(cell, b), c))) /
                                  4.0);
          }
    }
  }
  for (const int axis : {2, 1, 0}) {
    if (!problem.edge_volume) continue;
    const auto count = [&](int a) { return size[a] + (a == axis ? 0 : 1); };
    for (Index k = 0; k < count(0); ++k)
      for (Index j = 0; j < count(1); ++j)
        for (Index i = 0; i < count(2); ++i) all.push_back(edge(axis, {k, j, i}));
  }
  return all;
}

}  // namespace

namespace {

/// Results of a rank that rank 0 has not yet collected.
struct LeftBehind {
  std::vector<FieldsFound> found;
  std::vector<std::complex<double>> data, volume;

  /// Collective: rank 0 collects the results.
  void hand_over(const Problem& problem, Comm& comm, Outcome& out) {
    collect(comm, found, data, problem.data_of_a_solve(), out.solves, out.data);
    if (problem.volume_of_a_solve() > 0)
      collect(comm, found, volume, problem.volume_of_a_solve(), out.solves, out.volume);
    found.clear(), data.clear(), volume.clear();
  }
};

/// Collective: rank 0 allocates the results of all solves and reads the checkpoint, if there is one. Returns
/// the first solve to do, in the order of Problem::solve_at.
std::size_t begin_solves(const Problem& problem, const CheckpointSettings& checkpoint, const Groups& groups,
                         Outcome& out) {
  Comm& comm = groups.comm();
  std::size_t done = 0;
  groups.together([&] {
    if (comm.rank() > 0) return;
    out.data.resize(problem.solves() * problem.data_of_a_solve());
    out.solves.resize(problem.solves());
    out.volume.resize(problem.solves() * problem.volume_of_a_solve());
    if (checkpoint.resume && !checkpoint.file.empty()) done = read_checkpoint(checkpoint.file, problem, out);
  });
  return static_cast<std::size_t>(
      comm.lowest(comm.rank() == 0 ? static_cast<int>(done) : std::numeric_limits<int>::max()));
}

Outcome of_groups(const Problem& problem, Stream& stream, Progress& told, const Groups& groups,
                  const CheckpointSettings& checkpoint) {
  Comm& comm = groups.comm();
  const std::size_t solves = problem.solves();
  Outcome out;
  std::size_t done = begin_solves(problem, checkpoint, groups, out);
  std::optional<Solves> own;
  groups.in_step([&] {
    if (done + groups.own() < solves) own.emplace(problem, stream, groups.sharing());
  });
  LeftBehind left;
  std::vector<std::complex<double>> one;
  CheckpointTimes times(checkpoint, done, solves, out.warnings);
  const auto wish = [&] {
    if (comm.rank() > 0) return told.cancelled() ? Wish::stop : Wish::go_on;
    if (told.cancelled()) return times.last_wish(done);
    return times.due(done) ? Wish::keep : Wish::go_on;
  };
  const auto keep = [&] {
    left.hand_over(problem, comm, out);
    if (comm.rank() == 0)
      times.keep(done, [&](const auto& settings) { write_checkpoint(settings.file, problem, done, out); });
  };
  if (own && comm.size() == 1) own->stop_when([&] { return told.cancelled(); });
  const auto solved_or_kept = [&](std::size_t number) {
    try {
      return own->solve(number, one);
    } catch (const Cancelled&) {  // thrown only in a run of a single process
      go_on(comm, wish(), keep);
      throw;
    }
  };
  told.start("solving for fields", solves);
  told.advance(done);
  while (done < solves) {
    if (!go_on(comm, wish(), keep)) throw Cancelled();
    groups.in_step([&] {
      if (done + groups.own() >= solves) return;
      const std::size_t mine = problem.solve_at(done + groups.own());
      const auto solved = solved_or_kept(mine);
      std::vector<std::complex<double>> cells;
      if (problem.volume_of_a_solve() > 0) cells = in_volume(problem, *own, groups.hands_over());
      if (!groups.hands_over()) return;
      left.found.push_back({mine, solved});
      left.data.insert(left.data.end(), one.begin(), one.end());
      left.volume.insert(left.volume.end(), cells.begin(), cells.end());
    });
    const std::size_t more = std::min(groups.count(), solves - done);
    done += more;
    told.advance(more);
  }
  told.finish();
  left.hand_over(problem, comm, out);
  if (comm.rank() == 0 && times.due(done))  // a run on several meshes also saves after each mesh
    times.keep(done, [&](const auto& settings) { write_checkpoint(settings.file, problem, done, out); });
  return out;
}

/// The outcome over the earth, corrected by that over its layers (correction.hpp) on rank 0, which has the
/// data.  outcome_of(problem, checkpoint, progress): solves on all ranks
template <class OutcomeOf>
Outcome corrected(const Problem& problem, const CheckpointSettings& checkpoint, Progress& told, int threads,
                  const OutcomeOf& outcome_of) {
  const auto solves = static_cast<double>(problem.solves());
  told.start("solving for fields", 2 * problem.solves());
  const auto part = [&](const Problem& one, std::size_t n) {
    ShareOfProgress its(told, solves);
    return outcome_of(one, checkpoint_of_one(checkpoint, n, 2), its);
  };
  auto total = problem;
  total.parameters.field = Field::total;
  auto outcome = part(total, 0);
  const auto layered = over_its_layers(problem);
  const auto over_layers = part(layered, 1);
  if (!outcome.data.empty()) correct_by_layers(layered, over_layers, threads, outcome);
  outcome.warnings.insert(outcome.warnings.end(), over_layers.warnings.begin(), over_layers.warnings.end());
  told.finish();
  return outcome;
}

}  // namespace

Outcome forward(const Problem& problem, Stream& stream, Progress* progress, Comm* ranks, int at_once,
                const CheckpointSettings& checkpoint) {
  Alone alone;
  Progress silent;
  const auto solves = [&] {
    problem.check();
    return problem.solves();
  };
  const Groups groups(ranks ? *ranks : alone, solves, at_once);
  Progress& told = progress ? *progress : silent;
  const auto outcome_of = [&](const Problem& one, const CheckpointSettings& kept, Progress& its) {
    return groups.run([&] { return of_groups(one, stream, its, groups, kept); });
  };
  if (problem.parameters.field != Field::corrected) return outcome_of(problem, checkpoint, told);
  return corrected(problem, checkpoint, told, stream.threads(), outcome_of);
}

}  // namespace terrane::electromagnetic
