#include "terrane/physics/gravity/run/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/run/checkpoint.hpp"
#include "terrane/physics/gravity/run/part_rounds.hpp"
#include "terrane/physics/gravity/run/spread.hpp"
#include "terrane/physics/gravity/run/worker.hpp"
#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane::gravity {

namespace {

/// Stores the sums that are done so far, and from time to time writes them to the checkpoint.
class Keeper {
 public:
  Keeper(const MethodPlan& plan, const CheckpointSettings& settings, double expected_seconds)
      : plan_(plan),
        settings_(settings),
        keeps_(!settings.file.empty() && (settings.resume || expected_seconds >= settings.least_run)) {}

  bool keeps() const noexcept { return keeps_; }
  double interval() const noexcept { return keeps_ ? settings_.interval : CheckpointSettings::never; }

  /// Reads the sums of the checkpoint, or begins with none. Throws FileError, InputError.
  void begin(Distributed& out) {
    const auto& p = plan_.parameters;
    if (keeps_) {
      print_ = fingerprint(plan_.summed, plan_.stations, p, plan_.method, plan_.device, p.partition);
      if (settings_.resume) {
        auto found = read_checkpoint(settings_.file, print_, p.channels, plan_.stations.size());
        if (found) state = std::move(*found);
        else out.warnings.push_back(no_checkpoint(settings_.file));
      }
    }
    state.sums.values.resize(p.channels.size());
    make_columns(state.sums.values, plan_.stations.size(), p.threads);
  }

  /// Called once the number of parts is known: checks the checkpoint against it. Throws FileError.
  void resume(std::size_t parts, Distributed& out) {
    last_written_ = Clock::now();
    written_ = state.parts;
    if (state.parts > parts)
      throw FileError(settings_.file.string(),
                      fmt::format("is damaged: {} of {} parts are done", state.parts, parts),
                      "Remove it, and run without --resume.");
    if (state.parts > 0)
      out.notes.push_back(fmt::format("resumed from {}, with {:.0f} % done", settings_.file.string(),
                                      100 * static_cast<double>(state.parts) / static_cast<double>(parts)));
  }

  /// Called between rounds: writes a checkpoint if one is due.
  void keep(std::size_t done, std::size_t parts, Distributed& out) {
    state.parts = done;
    const std::chrono::duration<double> since = Clock::now() - last_written_;
    const bool whole =
        done == parts && settings_.also_whole && settings_.interval < CheckpointSettings::never;
    if (keeps_ && (whole || (done < parts && since.count() >= settings_.interval))) write(out);
  }
  /// Called when the run is cancelled: writes what is done so far.
  void keep_last(Distributed& out) {
    if (keeps_ && settings_.interval < CheckpointSettings::never && state.parts > written_) write(out);
  }

  Checkpoint state;

 private:
  using Clock = std::chrono::steady_clock;

  void write(Distributed& out) {
    try {
      write_checkpoint(settings_.file, print_, plan_.parameters.channels, state);
      forget_later_runs(settings_);
      written_ = state.parts;
    } catch (const std::exception& error) {  // ignored as an error, because a full disk must not end the run
      out.warnings.push_back(fmt::format("no checkpoint was kept: {}", error.what()));
      keeps_ = false;
    }
    last_written_ = Clock::now();
  }

  const MethodPlan& plan_;
  const CheckpointSettings& settings_;
  bool keeps_;
  Fingerprint print_;
  std::size_t written_ = 0;  // number of parts that the file contains
  Clock::time_point last_written_;
};

/// The least number of parts in a round: enough for all ranks and, with the tree, for all their threads.
std::size_t least_parts(const MethodPlan& plan, const Comm& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (plan.parameters.partition == Partition::prisms) return 1;
  return plan.method == Method::tree
             ? 2 * ranks * static_cast<std::size_t>(thread_count(plan.parameters.threads))
             : ranks;
}

}  // namespace

Partition choose_partition(const MethodPlan& plan, const Runtime& runtime, std::size_t memory) {
  const auto& parameters = plan.parameters;
  if (parameters.partition != Partition::automatic) return parameters.partition;
  // Prisms that do not fit a device are copied there chunk by chunk.
  if (plan.device.has_own_memory() && plan.method == Method::direct &&
      plan.device_bytes > 0.8 * static_cast<double>(device_memory(plan.device).free))
    return Partition::prisms;
  const int ranks = runtime.comm ? runtime.comm->on_node().count : 1;
  if (ranks == 1) return Partition::stations;
  const double each = static_cast<double>(plan.memory_bytes) +
                      static_cast<double>(plan.summed.size()) * 7 * sizeof(double) +
                      static_cast<double>(plan.stations.size()) * 3 * sizeof(double);
  if (each * ranks <= static_cast<double>(memory)) return Partition::stations;
  if (plan.method == Method::direct) return Partition::prisms;
  throw MemoryError(
      "run",
      fmt::format("{} ranks of a node would need {} each by the {} method, and {} are available", ranks,
                  bytes_text(each), name(plan.method), bytes_text(static_cast<double>(memory))),
      "Start fewer ranks on each node, with more threads each, or write partition = \"prisms\".");
}

std::string describe(const std::string& device, Partition partition, const Runtime& runtime) {
  if (!runtime.comm || runtime.comm->size() == 1) return device;
  return fmt::format("{} ranks by {}, each {}", runtime.comm->size(),
                     partition == Partition::prisms ? "prisms" : "stations", device);
}

Distributed distribute(const MethodPlan& plan, const Runtime& runtime, Progress& progress,
                       const std::function<void()>& beside) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  const auto& p = plan.parameters;
  const bool by_prisms = p.partition == Partition::prisms;
  const double expected_seconds = plan.seconds / comm.size();
  Keeper keeper(plan, runtime.checkpoint, expected_seconds);
  std::future<void> another;  // the destructor of `another` waits for the thread
  const auto begin_beside = [&] {
    if (!beside) return;
    try {
      another = std::async(std::launch::async, beside);
    } catch (const std::system_error&) {  // the system has no more threads
      another = std::async(std::launch::deferred, beside);
    }
  };
  if (comm.size() == 1 && !by_prisms && !keeper.keeps()) {
    const auto summation = plan.summation(progress);
    begin_beside();
    Distributed all{sum_all(*summation, p.channels, plan.stations.size(), progress), {}, {}};
    if (another.valid()) another.get();
    return all;
  }

  Distributed out;
  keeper.begin(out);
  InStep::run(comm, [&](InStep& ranks) {
    const auto share = spread(ranks, plan);
    if (!share.note.empty()) out.notes.push_back(share.note);
    std::unique_ptr<Worker> worker;
    ranks.together([&] {
      worker = by_prisms ? worker_by_prisms(share, plan.stations, comm)
                         : worker_by_stations(plan.summation(progress), share.parameters, comm);
    });
    // The lattice repeats the transforms of the densities in each round, and chunks that a device cannot keep
    // are copied there again in each round.
    PartRounds rounds(*worker, share.parameters, plan.method == Method::lattice, &keeper.state.sums);
    keeper.resume(rounds.parts(), out);
    begin_beside();
    lead_rounds(
        ranks, rounds,
        {"gravity", keeper.state.parts, least_parts(plan, comm), expected_seconds, keeper.interval(),
         runtime.checkpoint.round},
        progress, [&](std::size_t done) { keeper.keep(done, rounds.parts(), out); },
        [&](std::size_t) { keeper.keep_last(out); });
  });
  if (another.valid()) another.get();
  sort_contacts(keeper.state.sums.contacts);
  out.sums = std::move(keeper.state.sums);
  return out;
}

void serve(Comm& comm) {
  InStep::run(comm, [](InStep& ranks) {
    const auto share = receive_share(ranks);
    const auto stations = share.stations();
    std::unique_ptr<Worker> worker;
    ranks.together([&] {
      Progress silent;
      worker = share.by_prisms()
                   ? worker_by_prisms(share, stations, ranks.comm())
                   : worker_by_stations(summation({share.own->view(), stations, share.parameters}, silent),
                                        share.parameters, ranks.comm());
    });
    PartRounds rounds(*worker, share.parameters, false, nullptr);
    follow_rounds(ranks, rounds);
  });
}

}  // namespace terrane::gravity
