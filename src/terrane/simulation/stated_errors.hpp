// The errors of data that a run states: one beside every datum, and a summary of all.
//
// A physics computes its data again on a companion mesh (mesh/companion.hpp) and hands over how far both are
// apart, divided by what makes of it an error: e₁ = |d_c − d|/s. The difference crosses zero, as data do; so
// no datum's error is below half the mean (rms) of those of the same source, relative to their scales; or,
// where these have an order, as arrays along a line, below half of the larger one of its two neighbours;
// where arrays of one shape stand side by side, below the mean of those next to it. Temperatures around a
// source err alone where other rock begins: none of them is below the mean of those just before and after it
// (heat/simulation.cpp).
//
//   s = 1    direct current: undivided; with three times the error misses are few where the mesh is coarse
//   s = 1.7  the same beside vertical contacts alone, which have no edges
//   s = 1.5  magnetotellurics · 1.6  fields of sources · 2.5  temperatures
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/base/field.hpp"
#include "terrane/job/config.hpp"
#include "terrane/simulation/result.hpp"

namespace terrane {

enum class Verify { off, estimate, refine };
inline constexpr std::array<std::string_view, 3> verify_names{"off", "estimate", "refine"};

/// Keys of the table [simulation] that every physics with a mesh has.
struct Accuracy {
  double accuracy = 0.01;  ///< accuracy asked for, relative to the scale of each datum
  Verify verify = Verify::off;
  std::uint64_t most_cells = 1'000'000;  ///< most cells of the meshes that refining makes

  bool states_errors() const { return verify != Verify::off; }
  template <class Self, class Field>
  static void fields(Self& a, Field& field) {
    field("accuracy", a.accuracy, number(Allowed{1e-9, 0.5}).same_bits(),
          "Requested relative error. With verify = \"estimate\" a run warns of the first datum whose error "
          "is larger, and gives the fraction of such data.");
    field(
        "verify", a.verify, one_of(verify_names).same_bits(),
        "estimate: a second run on cells twice as wide, with the boundary twice as far away, gives an error "
        "for every datum (NAME_error). refine: if the error that 95 % of the data do not exceed is above "
        "accuracy, up to three finer meshes follow. off: no errors. In an inversion the errors are added to "
        "those of data; with refine a planned mesh is refined, up to twice, if they are larger than those.");
    field("most_cells", a.most_cells, count(1, std::uint64_t{1} << 40).same_bits(),
          "Largest number of cells of a mesh with verify = \"refine\"; refinement ends before a mesh with "
          "more.");
  }
  friend bool operator==(const Accuracy&, const Accuracy&) = default;
};

/// The accuracy settings of an inversion, from its table [simulation]: whether errors of its mesh count
/// beside those of data, and whether finer meshes follow. Throws InputError where the job asks for an
/// accuracy, which is that of the data; for errors where the physics states none; or for finer meshes where
/// the job gives its own.
Accuracy errors_counted(const Config& table, bool states_some, bool plans_mesh);

/// For the table [simulation] of waves, which state no error of their mesh: throws InputError where it asks
/// for one. next: how the user can see that error
void refuse_errors_of_waves(const Config& table, const std::string& next);

/// Data that are judged together: numbers of one kind, each of one source.
struct JudgedData {
  std::string name;                               ///< "resistance"
  std::vector<double> difference;                 ///< e₁ in the unit of the data; NaN: there is none
  std::vector<double> scale;                      ///< what errors are relative to, in that unit; above zero
  std::vector<std::size_t> source;                ///< of each datum
  std::function<std::string(std::size_t)> place;  ///< name of a datum, for people: "array 12"
  bool in_order = false;  ///< data of a source are neighbours in the order in which they stand here
  double least = 1e-4;    ///< relative: what sampling, walls and residuals may add where both meshes agree
  /// The group of each datum, or empty. Data of one group have errors of similar size, as arrays of one shape
  /// along a line; they stand in the order of their places.
  std::vector<std::size_t> alike = {};
  double of_mean = 0.5;            ///< the part of its source's mean error that a datum has at least
  std::vector<double> floor = {};  ///< relative, of each datum, in addition; or empty
};

class StatedErrors {
 public:
  /// Largest relative error that is stated: above it two meshes show only that the first is too coarse.
  static constexpr double largest_told = 0.2;

  /// why_none: no error can be stated, because of this; empty: some can
  explicit StatedErrors(const Accuracy& accuracy, std::string why_none = {})
      : accuracy_(accuracy), why_none_(std::move(why_none)) {}

  /// The error of each datum, in its unit: e₁, but at least half the typical error of its source's data, and
  /// at least the error that closed forms and solves leave.  NaN where there is no difference.
  std::vector<double> of(const JudgedData& data);

  /// The relative error that 95 % of all data so far do not exceed; NaN where none can be stated.
  double at_95() const;

  /// Adds attributes, facts, a line and warnings.  seconds: of the companion's run, and of both runs
  void tell(Result& result, double companion_seconds, double seconds) const;

 private:
  Accuracy accuracy_;
  std::string why_none_;
  std::vector<double> relative_;
  std::size_t above_ = 0;
  std::string first_above_;
};

/// The column of errors of a column: "voltage per current" -> NAME_error.
Column error_column(const Column& of, std::vector<double> errors);

}  // namespace terrane
