// Recorded gathers from a file of any format, assigned to a problem's shots and receivers, and interpolated
// to its time steps.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/gathers.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// Whether a file may have NaN in place of a number that was not recorded.
enum class Gaps { refused, kept };

/// Returns the recorded traces [shots][steps, receivers], interpolated to the time steps by a sinc under
/// Kaiser's window, with errors of 10⁻⁴ up to 0.7 of the Nyquist frequency.  problem: settled; notes: gets
/// what in the file was ignored.  gaps: whether samples may be NaN; if so, every step whose sinc reaches such
/// a sample is NaN, too.  Throws InputError at `path`: a shot or receiver of the problem without a trace or
/// with two, with the place of the nearest; traces that begin after 0 or end before the run; values that are
/// not finite.
std::vector<std::vector<double>> fitted(const std::string& path, const io::Gathers& recorded,
                                        const Problem& problem, std::vector<std::string>& notes,
                                        Gaps gaps = Gaps::refused);

/// The recorded gathers from the content of a file, for every component that the problem records: gathers, or
/// an array [shot, time, receiver] at the steps (of several components [shot, time, component, receiver]).
/// Throws as fitted().
std::vector<std::vector<double>> observed_of(const std::string& path, const io::Content& content,
                                             const Problem& problem, std::vector<std::string>& notes,
                                             Gaps gaps = Gaps::refused);

}  // namespace terrane::acoustic
