// The estimated errors that a run states: one for every datum, and a summary.
//
// A physics computes its data d again on a companion mesh (mesh/companion.hpp), d_c. The difference, divided
// by a calibrated factor s, is the error e₁ = |d_c − d|/s. As it may cross zero, the error of a datum is at
// least half the mean (rms) error of all data of the same source, relative to their scales; or, if data have
// an order (electrode arrays along a line), at least half the larger error of its two neighbours; for
// electrode arrays of the same shape side by side, at least the mean of the adjacent ones. Temperatures
// around a source have large errors only near contacts of rocks: their error is at least the mean of the
// previous and the next one (heat/simulation.cpp).
//
//   s = 2^2α − 1  direct current, from 1 to 1.7, α of the sharpest edge of bodies (electric/edges.hpp): 1.5
//            to 1.7 for boxes in one rock; 1.7 was measured beside vertical contacts, which have no edges
//   s = 1.5  magnetotellurics
//   s = 1.6  electromagnetic fields of sources
//   s = 2.5  temperatures
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

/// The accuracy keys of the table [simulation], which every physics with a mesh has.
struct Accuracy {
  double accuracy = 0.01;  ///< accuracy asked for, relative to the scale of each datum
  Verify verify = Verify::off;
  std::uint64_t most_cells = 1'000'000;  ///< most cells of refined meshes

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

/// The accuracy settings of an inversion, from its table [simulation]: whether mesh errors are added to data
/// errors, and whether the mesh is refined. Throws InputError if the job gives an accuracy (an inversion's is
/// that of its data), asks for errors that the physics cannot state, or for refinement of a mesh that it
/// specifies itself.
Accuracy errors_counted(const Config& table, bool states_some, bool plans_mesh);

/// For jobs of waves that do not estimate mesh errors, such as migrations: throws InputError if the table
/// [simulation] asks for them. next: advice on how the user can estimate the error
void refuse_errors_of_waves(const Config& table, const std::string& next);

/// Data whose errors are estimated together: numbers of one kind; each belongs to one source.
struct JudgedData {
  std::string name;                 ///< "resistance"
  std::vector<double> difference;   ///< e₁ (see the head) in the unit of the data; NaN: unknown
  std::vector<double> scale;        ///< reference of relative errors, in that unit; above zero
  std::vector<std::size_t> source;  ///< index of each datum's source
  std::function<std::string(std::size_t)> place;  ///< name of a datum, for messages: "array 12"
  bool in_order = false;                          ///< true: successive data of a source are neighbours
  double least = 1e-4;  ///< least relative error, from sampling, boundaries and solver
  /// Group index of each datum; empty if there are no groups. Data of one group have errors of similar size,
  /// for example those of electrode arrays of one shape along a line. Within a group, data are ordered by
  /// position.
  std::vector<std::size_t> alike = {};
  double of_mean = 0.5;            ///< least error of a datum, relative to its source's mean error
  std::vector<double> floor = {};  ///< further least relative error of each datum; or empty
};

class StatedErrors {
 public:
  /// The largest relative error that is stated: a larger difference of two meshes shows only that the first
  /// is too coarse.
  static constexpr double largest_told = 0.2;

  /// why_none: reason why no error can be stated; empty if errors can be stated
  explicit StatedErrors(const Accuracy& accuracy, std::string why_none = {})
      : accuracy_(accuracy), why_none_(std::move(why_none)) {}

  /// The error of each datum, in its unit: e₁, but at least the minimum errors that JudgedData describes.
  /// NaN if there is no difference.
  std::vector<double> of(const JudgedData& data);

  /// The relative error that 95 % of all data so far do not exceed; NaN if no error can be stated.
  double at_95() const;

  /// Adds attributes, facts, a line and warnings to the result.  seconds: of the companion's run, and of both
  /// runs
  void tell(Result& result, double companion_seconds, double seconds) const;

 private:
  Accuracy accuracy_;
  std::string why_none_;
  std::vector<double> relative_;
  std::size_t above_ = 0;
  std::string first_above_;
};

/// The column NAME_error with the errors of the column NAME.
Column error_column(const Column& of, std::vector<double> errors);

}  // namespace terrane
