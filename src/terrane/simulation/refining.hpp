// Runs that refine their mesh until the accuracy asked for is kept (simulation.verify = "refine").
//
// A round solves, and states errors by a companion; e is what 95 % of data have at most. Where e is above the
// accuracy ε asked for, four more companions tell where it comes from: they have cells twice as wide along
// all axes, and along all but one, which has its own; and none or all of their walls are moved. They are
// coarse, and cost less than the run. With eₐ from cells along axis a the next mesh has cells fₐ times as
// wide:
//
//   Σ eₐ fₐ² + e_walls/2 = 0.6 ε,  Π 1/fₐ least:  all eₐ fₐ² alike,  0.35 ≤ fₐ ≤ 1.15
//
// but no more than six times the cells at once, as errors far above ε say less of how many there have to be,
// and no more than simulation.most_cells.
// Rounds end when ε is kept, after three, where the next mesh would need more cells than most_cells or more
// memory than there is, and where a round gained less than a tenth. Where memory runs out in the middle of a
// round, data are those of the round before.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/simulation/stated_errors.hpp"

namespace terrane {

/// Stated errors at 95 % of data, and where they come from.
struct ErrorShares {
  std::array<double, 3> cells{};  ///< along easting, northing, up
  double walls = 0;               ///< or steps of time, where `of_steps`
  bool of_steps = false;
};

/// What the next mesh is to be.
struct FinerWish {
  std::array<double, 3> factor{1, 1, 1};  ///< widths of cells along easting, northing, up
  bool walls = false;                     ///< whether these move outwards until they are twice as far
};
/// error: what all shares come to, as the run states it; most: times the cells
FinerWish finer_wish(const ErrorShares& shares, double error, double accuracy, double most = 6);
/// Times the cells that the next mesh may have: six, or what most_cells leaves, where that is worth a round.
double most_times(std::uint64_t cells, std::uint64_t most_cells);

/// One solution with its errors.
struct Round {
  std::uint64_t cells = 0;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< at 95 % of data; NaN: none could be stated
  double seconds = 0;                                       ///< of its run alone
  double memory = 0;                                        ///< bytes
};

/// What rounds came to, for the result.
class Rounds {
 public:
  static constexpr std::size_t most = 3;  ///< after the first mesh

  explicit Rounds(const Accuracy& accuracy) : accuracy_(accuracy) {}

  void add(const Round& round) { all_.push_back(round); }
  /// Whether the last one keeps the accuracy.
  bool kept() const { return all_.back().error <= accuracy_.accuracy; }
  /// Whether another one is to be tried; else why not is known.
  bool goes_on();
  /// Whether the next mesh has no more cells than it may; else that is why it is not solved on.
  bool takes(const Round& next);
  /// The next mesh is not solved on.
  void stop(std::string why) { why_ = std::move(why); }
  /// Where the errors of the last one come from, for the notes.
  void come_from(const ErrorShares& shares, const FinerWish& next);
  /// How long all took: solves, companions, and what tells where errors come from.
  void took(double seconds) { seconds_ = seconds; }
  const Accuracy& accuracy() const { return accuracy_; }
  const std::vector<Round>& all() const { return all_; }

  /// Facts and a line; a warning where the accuracy is not kept.
  void tell(Result& result) const;

 private:
  Accuracy accuracy_;
  std::vector<Round> all_;
  std::string why_;
  std::vector<std::string> from_;
  double seconds_ = 0;
};

/// What rounds ask of a physics. Found: with its `seconds`.
template <class Simulation, class Found>
struct RoundsOf {
  std::function<Found(Simulation&, std::size_t round)> find;     ///< the data and those of the companion
  std::function<double(const Simulation&, const Found&)> error;  ///< at 95 % of data; NaN: none
  std::function<ErrorShares(Simulation&)> shares;
  /// On a finer mesh. Throws InputError, MemoryError.
  std::function<std::unique_ptr<Simulation>(Simulation&, const FinerWish&)> finer;
  /// Of its mesh and its run: cells and memory.
  std::function<Round(const Simulation&)> size;
};

/// The simulation of the next round; null: there is none.
template <class Simulation, class Found>
std::unique_ptr<Simulation> next_round(Simulation& now, Rounds& rounds,
                                       const RoundsOf<Simulation, Found>& of) {
  if (!rounds.goes_on()) return nullptr;
  try {
    const auto shares = of.shares(now);
    const auto& last = rounds.all().back();
    const auto& asked = rounds.accuracy();
    const auto wish =
        finer_wish(shares, last.error, asked.accuracy, most_times(last.cells, asked.most_cells));
    rounds.come_from(shares, wish);
    auto next = of.finer(now, wish);
    if (rounds.takes(of.size(*next))) return next;
  } catch (const MemoryError& error) {
    rounds.stop("the next mesh needs more memory than there is: " + error.problem());
  } catch (const std::bad_alloc&) {
    rounds.stop("there is no memory left for the next mesh");
  } catch (const InputError& error) {
    rounds.stop("the next mesh cannot be made: " + error.problem());
  }
  return nullptr;
}

/// What the last mesh gave; where the memory did not suffice for that, the one before. last: gets its
/// simulation, where it is not the first.
template <class Simulation, class Found>
Found found_in_rounds(Simulation& first, std::unique_ptr<Simulation>& last, Rounds& rounds,
                      const RoundsOf<Simulation, Found>& of) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<Simulation> before;
  std::optional<Found> earlier;
  for (;;) {
    Simulation& now = last ? *last : first;
    std::optional<Found> one;
    try {
      one = of.find(now, rounds.all().size());
    } catch (const MemoryError& error) {
      if (!earlier) throw;
      rounds.stop("the solve on the next mesh needs more memory than there is: " + error.problem());
    } catch (const std::bad_alloc&) {
      if (!earlier) throw;
      rounds.stop("there is no memory left for the solve on the next mesh");
    }
    if (!one) {
      rounds.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      last = std::move(before);
      return std::move(*earlier);
    }
    auto& found = *one;
    auto round = of.size(now);
    round.error = of.error(now, found);
    round.seconds = found.seconds;
    rounds.add(round);
    auto next = next_round(now, rounds, of);
    rounds.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (!next) return std::move(found);
    before = std::exchange(last, std::move(next));
    earlier = std::move(found);
  }
}

/// Adds what is not there yet.
void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more);

/// Of the report that was begun for the first mesh: what the last one says of itself.
template <class Describe>
void describe_again(Report& report, const Describe& describe) {
  RunFacts facts;
  describe(facts);
  facts.seconds = report.seconds;
  static_cast<RunFacts&>(report) = std::move(facts);
}

}  // namespace terrane
