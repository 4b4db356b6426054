// Refines the mesh of a run until the requested accuracy is reached (simulation.verify = "refine").
//
// A round solves on one mesh, and estimates errors by solving on a companion mesh, too; e is the error that
// 95 % of the data do not exceed. If e exceeds the requested accuracy ε, four more companions tell which axis
// or boundary causes it: they have cells twice as wide along all axes, or along all but one, and boundaries
// that are moved or not. They are coarse and cost less than the run. With the contribution eₐ of cells along
// axis a, the next mesh has cells fₐ times as wide:
//
//   Σ eₐ fₐ² + e_b = 0.6 ε,  Π 1/fₐ minimal:  all eₐ fₐ² equal,  0.35 ≤ fₐ ≤ 1.15
//
// e_b: the contribution of boundaries, or a quarter of it if they are moved to twice the distance. A mesh has
// at most six times as many cells as before, because errors far above ε predict the necessary number
// poorly, and at most simulation.most_cells. Rounds end when ε is reached, after three of them, if the next
// mesh would need more cells than most_cells or more memory than available, or if a round reduced e by less
// than a tenth. If memory runs out during a round, data are those of the previous round.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "terrane/simulation/stated_errors.hpp"

namespace terrane {

/// The contributions to the error that 95 % of the data do not exceed.
struct ErrorShares {
  std::array<double, 3> cells{};  ///< contributions of cell widths along easting, northing, up
  double walls = 0;               ///< contribution of the boundaries; of time steps if `of_steps`
  bool of_steps = false;
};

/// The wanted properties of the next mesh.
struct FinerWish {
  std::array<double, 3> factor{1, 1, 1};  ///< factors of cell widths along easting, northing, up
  bool walls = false;                     ///< true: boundaries are moved to twice the distance
};
/// The next mesh, from the contributions to the error. error: the total that the run states; most: largest
/// growth factor of the number of cells
FinerWish finer_wish(const ErrorShares& shares, double error, double accuracy, double most = 6);
/// The largest growth factor of the number of cells in the next mesh: six, or less if most_cells requires;
/// six also if most_cells leaves too little for a useful round, which is then refused.
double most_times(std::uint64_t cells, std::uint64_t most_cells);

/// The solution of one round, its error and its cost.
struct Round {
  std::uint64_t cells = 0;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< error at 95 % of data; NaN: not known
  /// Time of the run, without the time of its companion.
  double seconds = 0;
  double memory = 0;  ///< bytes
};

/// All rounds of a run, for the result.
class Rounds {
 public:
  static constexpr std::size_t most = 3;  ///< largest number of rounds after the first mesh

  explicit Rounds(const Accuracy& accuracy) : accuracy_(accuracy) {}

  void add(const Round& round) { all_.push_back(round); }
  /// Whether the last round reached the accuracy.
  bool kept() const { return all_.back().error <= accuracy_.accuracy; }
  /// Whether another round should be tried; if not, stores the reason.
  bool goes_on();
  /// Whether the next mesh has no more cells than allowed; if not, stores that as the reason to end.
  bool takes(const Round& next);
  /// Stores the reason why there is no next round.
  void stop(std::string why) { why_ = std::move(why); }
  /// Stores the contributions to the last round's error, for the notes.
  void come_from(const ErrorShares& shares, const FinerWish& next);
  /// Stores the time of all rounds: solves, companions, and the runs that determine the contributions to the
  /// error.
  void took(double seconds) { seconds_ = seconds; }
  const Accuracy& accuracy() const { return accuracy_; }
  const std::vector<Round>& all() const { return all_; }

  /// Adds facts and a line to the report, and a warning if the accuracy is not reached.
  void tell(Result& result) const;

 private:
  Accuracy accuracy_;
  std::vector<Round> all_;
  std::string why_;
  std::vector<std::string> from_;
  double seconds_ = 0;
};

/// Adds the lines of `more` that are not yet in `lines`.
void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more);

}  // namespace terrane
