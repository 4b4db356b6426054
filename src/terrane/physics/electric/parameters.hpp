// The settings of a direct-current run; they print, compare, read from the job file, and are the
// documentation.
#pragma once

#include <array>
#include <cstddef>

namespace terrane::electric {

/// What happens at a side of the mesh.
///   mixed      the wall that a point source in a half space would see (Dey & Morrison 1979); not at the top
///   grounded   zero potential (Dirichlet)
///   insulated  no current: a natural end (Neumann), as air is above the ground, and a mirror
enum class Boundary { mixed, grounded, insulated };

/// Of all sides.
struct Boundaries {
  /// The sides and the bottom; the top is insulated, since nothing flows into the air.
  constexpr Boundaries(Boundary all = Boundary::mixed) : at_{all, Boundary::insulated, all, all, all, all} {}

  /// axis: 0 up, 1 north, 2 east; high: its upper end
  constexpr Boundary operator()(std::size_t axis, bool high) const { return at_[2 * axis + high]; }
  constexpr Boundary& operator()(std::size_t axis, bool high) { return at_[2 * axis + high]; }
  /// Whether no current can leave, so that all that flows in by one electrode must flow out by another.
  constexpr bool closed() const {
    for (const Boundary one : at_)
      if (one != Boundary::insulated) return false;
    return true;
  }
  /// Whether the earth goes on beyond all sides but the top.
  constexpr bool of_half_space() const { return *this == Boundaries(); }
  friend bool operator==(const Boundaries&, const Boundaries&) = default;

 private:
  std::array<Boundary, 6> at_;
};

/// What is solved for. secondary: the difference from the closed form for the rock at the current electrode,
/// a half space or one vertical contact, a tenth to a hundredth of the error near it; total: everything.
/// automatic takes secondary where the rock is such (surroundings.hpp); else total, and in a half space of
/// flat ground multiplies it with closed form over mesh of homogeneous ground.
enum class Potential { automatic, secondary, total };

/// What is kept of all cells, at their centres, for 1 A from each current electrode: φ, E = −∇φ, J = σE.
struct Volume {
  bool potential = false, electric = false, current = false;

  std::size_t arrays() const {
    return std::size_t{potential} + 3 * std::size_t{electric} + 3 * std::size_t{current};
  }
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct Parameters {
  Boundaries boundary = {};
  Potential potential = Potential::automatic;
  double tolerance = 1e-8;    ///< of the residual, relative
  int most_iterations = 200;  ///< of conjugate gradients; 7 to 25 are usual
  Volume volume = {};         ///< of direct_current() alone
  int ranks_per_field = 0;    ///< least number of ranks that share one field; 0: as share_ranks() finds best

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electric
