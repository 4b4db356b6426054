// The settings of a run, with the texts that document them; they can be compared and read from a job file.
#pragma once

#include <array>

#include "terrane/base/field.hpp"

namespace terrane::electromagnetic {

/// Whether the preconditioner has Jacobi steps before and after the multigrid cycles. With these steps an
/// iteration takes twice the work; but if conductivities differ by decades from cell to cell, a third of the
/// iterations suffices. automatic: from the 31st iteration of a solve on.
enum class Rough { automatic, never, always };
inline constexpr std::array<std::string_view, 3> rough_names{"auto", "never", "always"};

/// The unknown of the equations: the total field; or the secondary field, the difference from the field of
/// the layers at the sides of the mesh, which is accurate near sources, and needs a Hankel transform for each
/// edge whose conductivity differs from that of the layers; or corrected: the total field, with data
/// corrected by those of the layers (correction.hpp), which needs two solves.
enum class Field { total, secondary, corrected };
inline constexpr std::array<std::string_view, 3> field_names{"total", "secondary", "corrected"};

/// The earth whose field is the primary field of plane waves: the layers at the sides of the mesh (none), or
/// the section at the two ends of the mesh along an axis, continued along that axis.
enum class Strike { none, north, east };
inline constexpr std::array<std::string_view, 3> strike_names{"none", "north", "east"};

struct Parameters {
  double tolerance = 1e-8;           ///< relative residual at which a solve ends
  double receiver_tolerance = 1e-5;  ///< largest relative change at a receiver in the last iteration
  int most_iterations = 300;         ///< limit for COCG; 7 to 20 are usual
  Rough rough = Rough::automatic;
  Field field = Field::total;
  Strike strike = Strike::none;  ///< axis along which the earth does not vary; for plane waves only
  int ranks_per_field = 0;       ///< least number of ranks that share one field; 0: chosen by share_ranks()

  /// All members; job/fields.hpp says what is derived from this list.
  template <class Self, class Visitor>
  static void fields(Self& p, Visitor& field) {
    field("tolerance", p.tolerance, number(Allowed{1e-14, 1e-2}), "Relative residual at which a solve ends.");
    field("receiver_tolerance", p.receiver_tolerance, number(positive),
          "Largest relative change at a receiver in the last iteration of a solve: about the error that "
          "remains there.");
    field("most_iterations", p.most_iterations, count(1, 100'000),
          "Most iterations; then a solve stops unconverged, and the report says so.");
    field("field", p.field, one_of(field_names),
          "Field that is solved for: total; secondary, the difference from the layers at the sides of the "
          "mesh, which is accurate near sources, for dipoles and wires in those layers; or corrected: the "
          "total field, and data are corrected by what the mesh does wrong over those layers alone, at the "
          "cost of a second solve.");
    field("strike", p.strike, one_of(strike_names),
          "Earth of the incident plane waves: none, the layers at the sides of the mesh; north or east, the "
          "section at the two ends of the mesh along that axis, which continues along it.");
    field("rough", p.rough, one_of(rough_names),
          "Additional smoothing for models that differ by decades from cell to cell: auto (after 30 "
          "iterations), "
          "never, always.");
    field("ranks_per_field", p.ranks_per_field, count(0, 1'000'000).same_bits(),
          "Under mpirun: smallest number of ranks that share one field. 0: one, if there are as many sources "
          "times frequencies as ranks and the memory holds as many fields; else all ranks, evenly, but GPUs "
          "only if a field is so large that this is faster.");
  }
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electromagnetic
