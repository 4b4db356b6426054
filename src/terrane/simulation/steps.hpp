// Time steps on all ranks, with checkpoints between them, until the end, or until the user stops the run or
// the field becomes invalid (field_watch.hpp).
//
// A Rank is one rank's part of the run:
//   std::size_t advance(n)      makes one or more steps, the first with number n; returns how many are done
//   lost(done)                  the error if the field is invalid, the same on all ranks; else empty
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/simulation/checkpoint_times.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane {

/// Makes steps from number `first` on. Returns null at the end, else the error that all ranks must throw once
/// the Rank objects are freed. ask(before, done): this rank's wish after these steps · keep(done): called on
/// all ranks for a checkpoint.
template <class Rank, class Ask, class Keep>
std::exception_ptr take_steps(Rank& rank, std::size_t first, std::size_t steps, Comm& comm, const Ask& ask,
                              const Keep& keep) {
  for (std::size_t n = first; n < steps;) {
    const std::size_t done = rank.advance(n);
    if (const auto lost = rank.lost(done)) return std::make_exception_ptr(*lost);
    if (!go_on(comm, ask(n, done), [&] { keep(done); })) return std::make_exception_ptr(Cancelled());
    n = done;
  }
  return nullptr;
}

/// Makes all steps on rank 0.  gather(done): collects the state from all ranks · write(file, done): writes it
/// as a checkpoint; seconds: gets the time that the steps took
template <class Rank, class Gather, class Write>
std::exception_ptr lead_steps(std::string_view physics, Rank& rank, std::size_t first, std::size_t steps,
                              Comm& comm, const Runtime& runtime, std::vector<std::string>& warnings,
                              double& seconds, const Gather& gather, const Write& write) {
  Progress silent;
  Progress& progress = runtime.progress ? *runtime.progress : silent;
  CheckpointTimes times(runtime.checkpoint, first, steps, warnings);
  progress.start(physics, steps);
  progress.advance(first);
  const auto ask = [&](std::size_t before, std::size_t done) {
    progress.advance(done - before);
    if (progress.cancelled()) return times.last_wish(done);
    return times.due(done) ? Wish::keep : Wish::go_on;
  };
  const auto keep = [&](std::size_t done) {
    gather(done);
    times.keep(done, [&](const auto& settings) { write(settings.file, done); });
  };
  const auto stopped = take_steps(rank, first, steps, comm, ask, keep);
  seconds = times.seconds();
  if (!stopped) progress.finish();
  return stopped;
}

/// Makes all steps on another rank; returns whether the end was reached.
template <class Rank, class Gather>
bool follow_steps(Rank& rank, std::size_t first, std::size_t steps, Comm& comm, const Gather& gather) {
  return !take_steps(
      rank, first, steps, comm, [](std::size_t, std::size_t) { return Wish::go_on; }, gather);
}

}  // namespace terrane
