#include "terrane/simulation/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

using Clock = std::chrono::steady_clock;

/// How many parts the next round takes, from what the last one took.
class Pace {
 public:
  Pace(std::size_t parts, std::size_t least, double expected_seconds, double wanted_seconds)
      : parts_(parts), least_(static_cast<double>(least)), next_(static_cast<double>(parts)) {
    if (expected_seconds > 2 * wanted_seconds) next_ *= wanted_seconds / expected_seconds;
  }
  Range next(std::size_t done) const {
    return {done, std::min(parts_, done + static_cast<std::size_t>(std::max(least_, next_)))};
  }
  /// wanted_seconds: that the next should take
  void took(const Range& round, double seconds, double wanted_seconds) {
    const double count = static_cast<double>(round.size());
    next_ = std::clamp(count * wanted_seconds / std::max(seconds, 1e-6), count / 4, count * 4);
  }

 private:
  std::size_t parts_;
  double least_, next_;
};

/// A round without parts ends the run.
void announce(Comm& comm, const Range& round) {
  if (comm.size() == 1) return;
  Packet packet;
  packet.put(round);
  packet.broadcast(comm);
}

Range announced(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  return packet.get<Range>();
}

}  // namespace

void InStep::run(Comm& comm, const std::function<void(InStep&)>& work) {
  InStep ranks(comm);
  try {
    work(ranks);
  } catch (const std::exception& error) {
    if (comm.size() > 1 && !ranks.agreed_) throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());
    if (comm.rank() == 0) throw;
  }
}

void give_turn(Comm& comm, int rank) {
  const std::byte turn{};
  comm.send({&turn, 1}, rank);
}

void wait_for_turn(Comm& comm) {
  std::byte turn{};
  comm.receive({&turn, 1}, 0);
}

void lead_rounds(InStep& ranks, RoundWork& work, const RoundSettings& settings, Progress& progress,
                 const std::function<void(std::size_t done)>& after_round,
                 const std::function<void()>& when_stopped) {
  Comm& comm = ranks.comm();
  const std::size_t parts = work.parts();
  const auto wanted_seconds = [&] {
    return work.slow_to_begin() ? settings.interval : std::min(settings.interval, settings.round);
  };
  Pace pace(parts, settings.least, settings.expected_seconds, wanted_seconds());
  std::size_t done = settings.done;
  progress.start(settings.what, parts * RoundWork::steps_per_part);
  progress.advance(done * RoundWork::steps_per_part);
  while (done < parts) {
    const auto begin = Clock::now();
    const auto round = pace.next(done);
    announce(comm, round);
    ranks.together([&] {
      try {
        work.compute(round, progress);
        if (progress.cancelled()) throw Cancelled();
      } catch (const Cancelled&) {
        when_stopped();
        throw;
      }
    });
    work.take_own(round);
    for (int rank = 1; rank < comm.size(); ++rank) {
      give_turn(comm, rank);
      work.take(comm, rank, round);
    }
    work.finish(round);
    done = round.last;
    if (work.tells_pace())
      pace.took(round, std::chrono::duration<double>(Clock::now() - begin).count(), wanted_seconds());
    after_round(done);
  }
  announce(comm, {parts, parts});
  progress.finish();
}

void follow_rounds(InStep& ranks, RoundWork& work) {
  Progress silent;
  for (;;) {
    const auto round = announced(ranks.comm());
    if (round.size() == 0) return;
    ranks.together([&] { work.compute(round, silent); });
    work.hand_over(ranks.comm(), round);
  }
}

}  // namespace terrane
