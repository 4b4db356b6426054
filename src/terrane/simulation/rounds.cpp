#include "terrane/simulation/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

using Clock = std::chrono::steady_clock;

/// Chooses how many parts the next round has, from the time of the last one.
class Pace {
 public:
  Pace(std::size_t parts, std::size_t least, double expected_seconds, double wanted_seconds)
      : parts_(parts), least_(static_cast<double>(least)), next_(static_cast<double>(parts)) {
    if (expected_seconds > 2 * wanted_seconds) next_ *= wanted_seconds / expected_seconds;
  }
  Range next(std::size_t done) const {
    return {done, std::min(parts_, done + static_cast<std::size_t>(std::max(least_, next_)))};
  }
  /// wanted_seconds: time that the next round should take
  void took(const Range& round, double seconds, double wanted_seconds) {
    const double count = static_cast<double>(round.size());
    next_ = std::clamp(count * wanted_seconds / std::max(seconds, 1e-6), count / 4, count * 4);
  }

 private:
  std::size_t parts_;
  double least_, next_;
};

/// Sends the next round to the other ranks; a round without parts ends the run.
void announce(Comm& comm, const Range& round, const std::vector<double>& shares) {
  if (comm.size() == 1) return;
  Packet packet;
  packet.put(round);
  packet.put(shares);
  packet.broadcast(comm);
}

/// Collective: computes this rank's share of a round; returns the seconds that each rank took.
template <class Compute>
std::vector<double> compute_together(InStep& ranks, const Compute& compute) {
  const auto begin = Clock::now();
  double mine = 0;
  ranks.together([&] {
    compute();
    mine = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  std::vector<double> all(static_cast<std::size_t>(ranks.comm().size()), mine);
  if (all.size() > 1)
    ranks.comm().gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

std::vector<double> next_shares(std::span<const double> shares, std::span<const double> seconds,
                                std::size_t parts) {
  // Shares stay equal if a rank took less than `shortest` seconds; a share changes by at most the factor
  // `most`.
  constexpr double shortest = 0.1, most = 1.5;
  constexpr std::size_t few = 32;  // least number of parts per rank
  std::vector<double> next(shares.size(), 1.0 / static_cast<double>(shares.size()));
  if (parts < few * shares.size() || *std::min_element(seconds.begin(), seconds.end()) < shortest)
    return next;
  double speed = 0;
  for (std::size_t r = 0; r < next.size(); ++r) speed += shares[r] / seconds[r];
  double sum = 0;
  for (std::size_t r = 0; r < next.size(); ++r) {
    next[r] = std::clamp(shares[r] / seconds[r] / speed, shares[r] / most, shares[r] * most);
    sum += next[r];
  }
  for (double& share : next) share /= sum;
  return next;
}

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
                 const std::function<void(std::size_t done)>& when_stopped) {
  Comm& comm = ranks.comm();
  const std::size_t parts = work.parts();
  const auto wanted_seconds = [&] {
    return work.slow_to_begin() ? settings.interval : std::min(settings.interval, settings.round);
  };
  Pace pace(parts, settings.least, settings.expected_seconds, wanted_seconds());
  std::size_t done = settings.done;
  const auto ranks_there = static_cast<std::size_t>(comm.size());
  std::vector<double> shares(ranks_there, 1.0 / static_cast<double>(ranks_there));
  progress.start(settings.what, parts * RoundWork::steps_per_part);
  progress.advance(done * RoundWork::steps_per_part);
  while (done < parts) {
    const auto begin = Clock::now();
    const auto round = pace.next(done);
    announce(comm, round, shares);
    work.set_shares(shares);
    const auto seconds = compute_together(ranks, [&] {
      try {
        work.compute(round, progress);
        if (progress.cancelled()) throw Cancelled();
      } catch (const Cancelled&) {
        if (const auto more = work.done_in_order(); comm.size() == 1 && more > 0) {
          const Range part{round.first, std::min(round.first + more, round.last)};
          work.take_own(part);
          work.finish(part);
          done = part.last;
        }
        when_stopped(done);
        throw;
      }
    });
    shares = next_shares(shares, seconds, round.size());
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
  announce(comm, {parts, parts}, shares);
  progress.finish();
}

void follow_rounds(InStep& ranks, RoundWork& work) {
  Progress silent;
  for (;;) {
    Packet packet;
    packet.broadcast(ranks.comm());
    const auto round = packet.get<Range>();
    if (round.size() == 0) return;
    work.set_shares(packet.get_vector<double>());
    compute_together(ranks, [&] { work.compute(round, silent); });
    work.hand_over(ranks.comm(), round);
  }
}

}  // namespace terrane
