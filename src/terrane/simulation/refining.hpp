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
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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
  bool walls = false;                     ///< true: walls move outwards until they are twice as far away
};
/// The next mesh, from the parts of the error. error: their total, as the run states it; most: how many times
/// the cells
FinerWish finer_wish(const ErrorShares& shares, double error, double accuracy, double most = 6);
/// By how much the number of cells may grow in the next mesh: six times, or what most_cells allows, where
/// that is worth a round.
double most_times(std::uint64_t cells, std::uint64_t most_cells);

/// One solution with its errors.
struct Round {
  std::uint64_t cells = 0;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< at 95 % of data; NaN: none could be stated
  double seconds = 0;                                       ///< of its run alone
  double memory = 0;                                        ///< bytes
};

/// All rounds of a run, for the result.
class Rounds {
 public:
  static constexpr std::size_t most = 3;  ///< after the first mesh

  explicit Rounds(const Accuracy& accuracy) : accuracy_(accuracy) {}

  void add(const Round& round) { all_.push_back(round); }
  /// Whether the last one keeps the accuracy.
  bool kept() const { return all_.back().error <= accuracy_.accuracy; }
  /// Whether another round is to be tried; if not, remembers why.
  bool goes_on();
  /// Whether the next mesh has no more cells than allowed; if not, remembers that as the reason to end.
  bool takes(const Round& next);
  /// Ends the rounds before the next mesh, for this reason.
  void stop(std::string why) { why_ = std::move(why); }
  /// Takes the parts of the last round's error, for the notes.
  void come_from(const ErrorShares& shares, const FinerWish& next);
  /// Takes the time of all rounds: solves, companions, and the runs that find the parts of the error.
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

/// Adds those lines that are not there yet.
void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more);

}  // namespace terrane
