// The settings of a gravity run: printed, compared and read from the job file; the reference of job files is
// generated from them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "terrane/base/constants.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/channels.hpp"

namespace terrane::gravity {

/// The value of the gradient tensor on edges, corners and faces of a prism, where it jumps or is unbounded.
///   nan      every component that has no single value is NaN
///   mean     on a face the mean of both one-sided limits; NaN on edges and corners
///   outside  on a face the limit from outside; NaN on edges and corners
///   inside   on a face the limit from inside; NaN on edges and corners
enum class SingularPolicy { nan, mean, outside, inside };
inline constexpr std::array<std::string_view, 4> policy_names{"nan", "mean", "outside", "inside"};

/// How the sum over prisms is computed. automatic chooses the cheapest method that reaches the accuracy.
enum class Method { automatic, direct, lattice, tree, fmm };
inline constexpr std::array<std::string_view, 5> method_names{"auto", "direct", "lattice", "tree", "fmm"};

/// What the ranks of a run divide among them. stations: every rank stores all prisms; prisms (direct sum
/// only): each rank stores a part of them. automatic: stations, unless the prisms do not fit in memory.
enum class Partition { automatic, stations, prisms };
inline constexpr std::array<std::string_view, 3> partition_names{"auto", "stations", "prisms"};

/// Precision in which results are stored. On a GPU, single also computes distant pairs in float, accurate to
/// single_accuracy; sums are always computed in double.
enum class Precision { double_precision, single_precision };
inline constexpr std::array<std::string_view, 2> precision_names{"double", "single"};

/// Relative accuracies that can be requested; the best is the limit of double precision.
inline constexpr double best_accuracy = 2e-15, default_accuracy = 1e-12, loosest_accuracy = 1e-3;
inline constexpr NumberField accuracy_rule =
    number(Allowed{best_accuracy, loosest_accuracy}).written("1e-12").or_word("best", best_accuracy);

/// Relative accuracy of distant pairs in single precision on a GPU.
inline constexpr double single_accuracy = 2e-6;

struct Parameters {
  ChannelSet channels{Channel::g_u};
  /// Relative error allowed, norm-wise: of the potential V, the vector |g| and the tensor ‖Γ‖ separately.
  /// Direct method: relative to the field of each prism-station pair; lattice, tree and fmm: relative to the
  /// largest value over the survey. It lies between best_accuracy and loosest_accuracy.
  double accuracy = default_accuracy;
  Method method = Method::automatic;
  Partition partition = Partition::automatic;
  SingularPolicy singular = SingularPolicy::nan;
  Precision precision = Precision::double_precision;
  double gravitational_constant = default_gravitational_constant;  ///< m³ kg⁻¹ s⁻²
  std::size_t verify = 0;  ///< number of stations to recompute in quadruple precision, spread over the survey
  Device device;           ///< automatic: a GPU if there is one and the run is long enough
  int threads = 0;         ///< CPU threads; 0: the number that OpenMP chooses
  std::size_t memory = 0;  ///< most bytes the run may allocate; 0: the free memory of the machine

  /// Lists each member once; job/fields.hpp says what is generated from this list. Settings marked
  /// same_bits() are used only after the sums, so a checkpoint stays valid if they change.
  template <class Self, class Field>
  static void fields(Self& p, Field& field) {
    field("channels", p.channels, own_key("list of names", "[\"g_u\"]", "channels"),
          "potential, g_e g_n g_u, g_ee g_nn g_uu g_en g_eu g_nu; or the groups all, vector, tensor; or the "
          "frame's own names.",
          "[\"all\"]");
    field("accuracy", p.accuracy, accuracy_rule,
          "Relative error allowed, from 0.001 down to \"best\": what double precision can give.");
    field("method", p.method, one_of(method_names),
          "auto takes the cheapest that keeps the accuracy; direct, lattice, tree, fmm.");
    field("partition", p.partition, one_of(partition_names),
          "What the ranks of a run under mpirun share: stations, or prisms where a rank cannot hold them "
          "all.");
    field("singular", p.singular, one_of(policy_names).same_bits(),
          "The gradient tensor where it has no single value: nan, or on faces the mean, outside or inside "
          "limit.");
    field("precision", p.precision, one_of(precision_names).same_bits(),
          "Storage of the results: double or single. On a GPU single also computes distant pairs in float, "
          "right to 2e-6. Sums are always double.");
    field("gravitational_constant", p.gravitational_constant,
          number(positive).written("6.67430e-11").same_bits(),
          "G in m3/(kg s2). Other programs use 6.67384e-11 or 6.674e-11.");
    field("verify", p.verify, count(0, std::uint64_t{1} << 53).same_bits(),
          "Stations to recompute in quadruple precision, spread over the survey.", "8");
    field("device", p.device, derived());
    field("threads", p.threads, derived());
    field("memory", p.memory, kept_here());
  }
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::gravity
