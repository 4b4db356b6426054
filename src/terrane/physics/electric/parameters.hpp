// The settings of a direct-current run, with the texts that document them; they can be printed, compared and
// read from a job file.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "terrane/base/field.hpp"

namespace terrane::electric {

/// The condition at a side of the mesh.
///   mixed      as if a half space with a point source continued (Dey & Morrison 1979); not at the top
///   grounded   zero potential (Dirichlet)
///   insulated  no normal current (Neumann): the surface of the ground, or a plane of symmetry
enum class Boundary { mixed, grounded, insulated };
inline constexpr std::array<std::string_view, 3> boundary_names{"mixed", "grounded", "insulated"};

/// The boundary conditions of all sides.
struct Boundaries {
  /// One condition for the sides and the bottom; the top is insulated, because no current flows into the air.
  constexpr Boundaries(Boundary all = Boundary::mixed) : at_{all, Boundary::insulated, all, all, all, all} {}

  /// axis: 0 up, 1 north, 2 east; high: the side at the upper end of the axis
  constexpr Boundary operator()(std::size_t axis, bool high) const { return at_[2 * axis + high]; }
  constexpr Boundary& operator()(std::size_t axis, bool high) { return at_[2 * axis + high]; }
  /// Whether no current can leave the mesh: then the current of one electrode must flow out at another.
  constexpr bool closed() const {
    for (const Boundary one : at_)
      if (one != Boundary::insulated) return false;
    return true;
  }
  /// Whether the earth continues beyond all sides except the top.
  constexpr bool of_half_space() const { return *this == Boundaries(); }
  template <class Self, class Field>
  static void fields(Self& b, Field& field) {
    field("sides", b.at_, carried("boundary"));
  }
  friend bool operator==(const Boundaries&, const Boundaries&) = default;

 private:
  std::array<Boundary, 6> at_;
};

/// The unknown of the equations. secondary: the difference from the closed-form potential of the medium at
/// the current electrode (a half space, layers or one vertical contact); its error near the electrode is a
/// tenth to a hundredth of that of total, the whole potential. automatic: secondary if the medium is one of
/// these (surroundings.hpp), else total. The total potential is then corrected, if the earth continues beyond
/// all sides: multiplied by the ratio, over homogeneous ground, of the closed form to the value on the mesh.
enum class Potential { automatic, secondary, total };
inline constexpr std::array<std::string_view, 3> potential_names{"auto", "secondary", "total"};

/// Fields at the centres of all cells that are stored for 1 A from each current electrode: φ, E = −∇φ, J =
/// σE.
struct Volume {
  bool potential = false, electric = false, current = false;

  std::size_t arrays() const {
    return std::size_t{potential} + 3 * std::size_t{electric} + 3 * std::size_t{current};
  }
  template <class Self, class Field>
  static void fields(Self& v, Field& field) {
    for (auto* wanted : {&v.potential, &v.electric, &v.current}) field("volume", *wanted, carried("volume"));
  }
  friend bool operator==(const Volume&, const Volume&) = default;
};

/// The choices that `automatic` made on one mesh of an earth. They are repeated on another mesh, so that the
/// runs on both meshes have similar errors. Empty or negative: the choice is made on the other mesh.
struct TakenElsewhere {
  std::vector<int> turned;   ///< [array] 1: current and potential electrodes are exchanged
  std::vector<int> primary;  ///< [electrode] Primary::candidate; 0: the total potential

  template <class Self, class Field>
  static void fields(Self& t, Field& field) {
    field("turned", t.turned, carried("electrodes"));
    field("primary", t.primary, carried("electrodes"));
  }
  friend bool operator==(const TakenElsewhere&, const TakenElsewhere&) = default;
};

struct Parameters {
  Boundaries boundary = {};
  Potential potential = Potential::automatic;
  double tolerance = 1e-8;    ///< relative residual at which a solve ends
  int most_iterations = 200;  ///< limit for conjugate gradients; 7 to 25 are usual
  Volume volume = {};         ///< read by direct_current() only
  TakenElsewhere taken = {};  ///< set only for the companion, a second run on another mesh
  int ranks_per_field = 0;    ///< least number of ranks that share one field; 0: share_ranks() chooses

  /// All members; job/fields.hpp says what is derived from this list.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("boundary", p.boundary, own_key("text", "\"mixed\"", "boundary"),
          "Sides and bottom: mixed, as if a half space continued (Dey & Morrison 1979); grounded "
          "(Dirichlet); or insulated (Neumann). [sides] sets single ones.");
    field("potential", p.potential, one_of(potential_names),
          "Potential that is solved for: secondary, the difference from a half space, from horizontal layers "
          "or from the images of one vertical contact, accurate to 0.5 %; total, if there are eight cells "
          "between electrodes; auto selects secondary if the medium around an electrode is of these kinds, "
          "else total, multiplied by the ratio of closed form to mesh for homogeneous ground, which needs a "
          "second solve.");
    field("volume", p.volume, own_key("list of texts", "[]", "volume"),
          "Fields of all cells, at their centres, for 1 A from each current electrode, in addition to the "
          "data: "
          "potential, e (electric field), j (current density). NetCDF holds both, .vtr (VTK) and .h5 (HDF5) "
          "those of cells.");
    field("taken", p.taken, carried("electrodes"));
    field("tolerance", p.tolerance, number(Allowed{1e-14, 1e-2}), "Relative residual at which a solve ends.");
    field("most_iterations", p.most_iterations, count(1, 100'000),
          "Most iterations of each solve; 7 to 25 are usual.");
    field("ranks_per_field", p.ranks_per_field, count(0, 1'000'000).same_bits(),
          "Under mpirun: smallest number of ranks that share the mesh of one field. 0: one, if there are as "
          "many current electrodes (in inversions: electrodes) as ranks and the memory holds as many meshes; "
          "else all ranks, evenly, but GPUs only if a mesh is so large that this is faster.");
  }
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electric
