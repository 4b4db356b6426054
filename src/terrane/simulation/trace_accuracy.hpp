// The accuracy keys of acoustic and elastic waves.
#pragma once

#include <array>
#include <string_view>

#include "terrane/simulation/stated_errors.hpp"

namespace terrane {

enum class VerifyTraces { off, estimate };
inline constexpr std::array<std::string_view, 2> verify_traces_names{"off", "estimate"};

/// The accuracy keys of the table [simulation] of waves, whose meshes are not refined.
struct AccuracyOfTraces {
  double accuracy = 0.01;  ///< accuracy asked for, relative to the rms of each trace; of elastic waves, of
                           ///< the three components of a receiver together
  VerifyTraces verify = VerifyTraces::off;

  bool states_errors() const { return verify != VerifyTraces::off; }
  /// The accuracy of traces as a StatedErrors takes the accuracy of data.
  Accuracy of_data() const { return {accuracy, states_errors() ? Verify::estimate : Verify::off}; }
  template <class Self, class Field>
  static void fields(Self& a, Field& field) {
    field("accuracy", a.accuracy, number(Allowed{1e-9, 0.5}).same_bits(),
          "Requested error of a trace, rms, relative to the rms of the trace (elastic: of the receiver's "
          "components together). With verify = \"estimate\" a run warns of the first trace whose error is "
          "larger, and gives the fraction of such traces.");
    field("verify", a.verify, one_of(verify_traces_names).same_bits(),
          "estimate: a second run on cells or elements 1.5 times as wide gives an error for every trace of "
          "modelling (NAME_error). off: no errors.");
  }
};

}  // namespace terrane
