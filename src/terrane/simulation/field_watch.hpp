// Detects that the field of a time-stepping run has become invalid: NaN, infinite or unstable.
//
// From time to time a run checks the largest magnitude in its field. It ends with an error if a check finds
// NaN or infinity, or if two consecutive checks find more than ten times the largest possible value. For
// waves this value is the maximum found by all checks before the run is "quiet": until sources have ended,
// plus half the duration of the sources and a hundred steps. After that waves spread and attenuate; focusing
// or amplification by the medium does not make them ten times as large as near their source. If sources act
// until the end, only NaN and infinity are detected. For heat the value is the bound of the maximum
// principle.
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
  static constexpr std::size_t between_looks = 30;  ///< least number of steps between two checks
  static constexpr double growth = 10;
  static constexpr std::size_t never = SIZE_MAX;

  /// first: number of the first step of this run. quiet: the number of steps after which the run is quiet.
  explicit FieldWatch(std::size_t first = 0, std::size_t quiet = never) : looked_(first), quiet_(quiet) {}
  /// The number of steps after which a run is quiet if its sources act in steps first .. last − 1.
  static std::size_t quiet_after(std::size_t first, std::size_t last) {
    return last + (last > first ? last - first : 0) / 2 + 100;
  }

  bool due(std::size_t done) const noexcept { return done >= looked_ + between_looks; }
  /// Whether the field is invalid after `done` steps. largest: largest magnitude in the whole field, the same
  /// on all ranks; may be NaN.
  bool lost(std::size_t done, double largest) {
    if (done < quiet_) most_ = largest > most_ ? largest : most_;
    return lost_beyond(done, largest, done < quiet_ || most_ == 0 ? INFINITY : most_);
  }
  /// Whether a field whose values cannot exceed `bound` is invalid after `done` steps.
  bool lost_beyond(std::size_t done, double largest, double bound);

 private:
  std::size_t looked_, quiet_;
  double most_ = 0;
  bool above_ = false;  // whether the last check found too large a value
};

/// A value of a field and its position: easting, northing, up, m.
struct FieldPlace {
  double value = 0;
  std::array<double, 3> at{};

  /// Whether an error message should name this position rather than `other`: values that are NaN or infinite
  /// come first, then larger values, then smaller coordinates. So the position does not depend on how ranks
  /// divide the field.
  bool comes_before(const FieldPlace& other) const noexcept;
};

/// Collective: the ranks' largest value, or one that is NaN or infinite, returned on all ranks.
FieldPlace largest_of(Comm& comm, const FieldPlace& mine);

/// The error shown to the user.  where: "elastic: step"; field: "velocities", with the unit of place's value
InputError lost_field(const std::string& where, const std::string& field, const std::string& unit,
                      std::size_t done, double time, const FieldPlace& place, const std::string& next);

}  // namespace terrane
