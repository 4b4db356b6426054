// Whether the field of a run of steps is still what its equation says.
//
// Now and then a run looks at the largest value of its field. It ends, with the time, the place and the next
// move, where a look finds a value that is no number, or where two looks one after the other find more than
// ten times as much as there can be. With waves that is the most of all looks before the run was quiet:
// before its sources had ended, half of the time that they took had passed, and a hundred steps. From then on
// waves spread and lose; rock that focuses or amplifies them does not make them ten times as large as they
// were beside their source. Where sources go on to the end, what is no number remains. With heat it is the
// bound that the maximum principle gives.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

class FieldWatch {
 public:
  static constexpr std::size_t between_looks = 30;  ///< least number of steps from one look to the next
  static constexpr double growth = 10;
  static constexpr std::size_t never = SIZE_MAX;

  /// first: number of the first step of this run. quiet: the number of steps after which the run is quiet.
  explicit FieldWatch(std::size_t first = 0, std::size_t quiet = never) : looked_(first), quiet_(quiet) {}
  /// The number of steps after which a run is quiet, whose sources act from step `first` to the one before
  /// `last`.
  static std::size_t quiet_after(std::size_t first, std::size_t last) {
    return last + (last > first ? last - first : 0) / 2 + 100;
  }

  bool due(std::size_t done) const noexcept { return done >= looked_ + between_looks; }
  /// After `done` steps: whether the field is lost. largest: of the whole field, the same on all ranks, or no
  /// number.
  bool lost(std::size_t done, double largest) {
    if (done < quiet_) most_ = largest > most_ ? largest : most_;
    return lost_beyond(done, largest, done < quiet_ || most_ == 0 ? INFINITY : most_);
  }
  /// The same where no value can be above `bound`.
  bool lost_beyond(std::size_t done, double largest, double bound);

 private:
  std::size_t looked_, quiet_;
  double most_ = 0;
  bool above_ = false;  // at the last look
};

/// A value of a field, m east, north and up of it.
struct FieldPlace {
  double value = 0;
  std::array<double, 3> at{};

  /// Whether the user is told of this place rather than of the other: first values that are no number, then
  /// the larger value, then the smaller coordinates. So it is the same place however ranks divide the field.
  bool comes_before(const FieldPlace& other) const noexcept;
};

/// Collective: the largest of the ranks' values, or one that is no number, on all ranks.
FieldPlace largest_of(Comm& comm, const FieldPlace& mine);

/// The error that the user sees.  where: "elastic: step"; field: "velocities", with the unit of place's value
InputError lost_field(const std::string& where, const std::string& field, const std::string& unit,
                      std::size_t done, double time, const FieldPlace& place, const std::string& next);

}  // namespace terrane
