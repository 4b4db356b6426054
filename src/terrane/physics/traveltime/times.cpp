#include "terrane/physics/traveltime/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/traveltime/front.hpp"
#include "terrane/simulation/checkpoint_times.hpp"
#include "terrane/simulation/field_facts.hpp"
#include "terrane/simulation/on_ranks.hpp"
#include "terrane/simulation/rounds.hpp"

namespace terrane::traveltime {

namespace {

constexpr double nodes_per_second = 3e5;  // nodes per second on one core, measured by benchmarks/traveltime

/// Distributes shots over ranks; each shot is computed by one thread.
class ShotRounds final : public RoundWork {
 public:
  /// values: the times of all picks; rank 0 collects the results of all ranks there
  ShotRounds(const Problem& problem, const RankPlace& place, std::vector<double>& values)
      : problem_(problem),
        medium_(problem.mesh, problem.velocity),
        picks_(problem.picks_of_shots()),
        threads_(place.threads),
        comm_(place.comm),
        values_(values) {}
  std::size_t parts() const override { return problem_.shots.size(); }
  void compute(const Range& round, Progress& progress) override {
    const auto mine = share(round, comm_.rank());
    found_.assign(mine.size(), {});
    done_.assign(mine.size(), 0);
    for_each(mine.size(), threads_, [&](std::size_t n) {
      const auto shot = mine.first + n;
      const auto stopped = [&] { return progress.cancelled(); };
      if (stopped()) throw Cancelled();
      const auto front = march(medium_, problem_.shots[shot], problem_.order, stopped);
      if (stopped()) throw Cancelled();
      for (const auto pick : picks_[shot])
        found_[n].push_back(time_at(medium_, front, problem_.receivers[problem_.picks[pick].receiver]));
      done_[n] = 1;
      progress.advance(steps_per_part);
    });
  }
  void hand_over(Comm& comm, const Range&) override {
    wait_for_turn(comm);
    for (const auto& times : found_) {
      Packet packet;
      packet.put(times);
      packet.send(comm, 0);
    }
  }
  void take_own(const Range& round) override {
    auto shot = share(round, 0).first;
    for (const auto& times : found_) take_shot(shot++, times);
  }
  void take(Comm& comm, int rank, const Range& round) override {
    const auto theirs = share(round, rank);
    for (std::size_t shot = theirs.first; shot < theirs.last; ++shot)
      take_shot(shot, Packet::receive(comm, rank).get_vector<double>());
  }
  void finish(const Range&) override {}
  std::size_t done_in_order() const override {
    return static_cast<std::size_t>(std::find(done_.begin(), done_.end(), 0) - done_.begin());
  }

 private:
  void take_shot(std::size_t shot, const std::vector<double>& times) {
    for (std::size_t n = 0; n < times.size(); ++n) values_[picks_[shot][n]] = times[n];
  }
  Range share(const Range& round, int rank) const {
    const auto range =
        balanced_range(round.size(), static_cast<std::size_t>(comm_.size()), static_cast<std::size_t>(rank));
    return {round.first + range.first, round.first + range.last};
  }

  const Problem& problem_;
  Medium medium_;
  std::vector<std::vector<std::size_t>> picks_;
  int threads_;
  Comm& comm_;
  std::vector<double>& values_;
  std::vector<std::vector<double>> found_;
  std::vector<std::uint8_t> done_;
};

void write_checkpoint(const CheckpointSettings& settings, const Problem& problem, std::size_t done,
                      const std::vector<double>& values) {
  CheckpointWriter out(settings.file, fingerprint_of(problem), done);
  out.list("times", std::span<const double>(values));
  out.finish();
}

std::size_t read_checkpoint(const CheckpointSettings& settings, const Problem& problem, Times& out) {
  auto in =
      CheckpointReader::resume(settings.file, fingerprint_of(problem), problem.shots.size(), "shots", out);
  if (!in) return 0;
  out.values = in->array<double>("times", {problem.picks.size()});
  return in->parts();
}

void lead(const Problem& problem, const RankPlace& place, std::size_t first, const Runtime& runtime,
          Times& out) {
  Progress silent;
  CheckpointTimes times(runtime.checkpoint, first, problem.shots.size(), out.warnings);
  const auto keep = [&](std::size_t done, bool last) {
    if (!(last ? times.due_last(done) : times.due(done))) return;
    times.keep(done, [&](const CheckpointSettings& settings) {
      write_checkpoint(settings, problem, done, out.values);
    });
  };
  InStep::run(place.comm, [&](InStep& ranks) {
    ShotRounds work(problem, place, out.values);
    RoundSettings rounds{"traveltime",
                         first,
                         static_cast<std::size_t>(place.comm.size() * thread_count(place.threads)),
                         static_cast<double>(problem.shots.size()) * seconds_of_front(problem),
                         runtime.checkpoint.interval,
                         runtime.checkpoint.round};
    lead_rounds(
        ranks, work, rounds, runtime.progress ? *runtime.progress : silent,
        [&](std::size_t done) { keep(done, false); }, [&](std::size_t done) { keep(done, true); });
  });
}

}  // namespace

Times travel_times(const Problem& problem, const Runtime& runtime) {
  Times out;
  out.values.assign(problem.picks.size(), 0);
  std::size_t first = 0;
  if (runtime.checkpoint.resume && !runtime.checkpoint.file.empty())
    first = read_checkpoint(runtime.checkpoint, problem, out);
  lead_ranks(
      "traveltime", runtime, [&](Packet& packet) { put_fields(problem, packet); },
      [&](const RankPlace& place) { lead(problem, place, first, runtime, out); });
  return out;
}

void serve(Comm& comm) {
  follow_ranks(
      comm, [](Packet& packet) { return get_fields<Problem>(packet); },
      [](const Problem& problem, const RankPlace& place) {
        std::vector<double> values(problem.picks.size());
        InStep::run(place.comm, [&](InStep& ranks) {
          ShotRounds work(problem, place, values);
          follow_rounds(ranks, work);
        });
      });
}

double bytes_of_medium(const Problem& p) { return 90 * static_cast<double>(p.mesh.size()); }

/// 45 bytes per node: tau, time, order, stencil, accepted, and the heap of nodes that wait.
double bytes_of_front(const Problem& p) { return 45 * static_cast<double>(Nodes(p.mesh).size()); }

double seconds_of_front(const Problem& p) {
  return static_cast<double>(Nodes(p.mesh).size()) / nodes_per_second;
}

}  // namespace terrane::traveltime
