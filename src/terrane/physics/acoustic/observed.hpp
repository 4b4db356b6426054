// Recorded gathers from a file of any format, assigned to a problem's shots and receivers, and interpolated
// to its time steps.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/gathers.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// Whether gathers may contain NaN in place of samples that were not recorded.
enum class Gaps { refused, kept };

/// Returns the recorded traces [shots][steps, receivers], interpolated to the time steps by a sinc under
/// Kaiser's window, with errors of 10⁻⁴ up to 0.7 of the Nyquist frequency.  problem: settled; notes: a list
/// to which notes about ignored contents of the file are added.  gaps: whether samples may be NaN; if so,
/// every step whose sinc reaches such a sample is NaN, too.  Throws InputError, which names `path`: a shot or
/// receiver of the problem has no trace (the message gives the position of the nearest trace) or two; traces
/// begin after 0 or end before the run; values are not finite.
std::vector<std::vector<double>> fitted(const std::string& path, const io::Gathers& recorded,
                                        const Problem& problem, std::vector<std::string>& notes,
                                        Gaps gaps = Gaps::refused);

/// Reads the recorded gathers of every component that the problem records from the content of a file: either
/// gathers, or an array [shot, time step, receiver] (several components: [shot, time step, component,
/// receiver]).
/// Throws what fitted() throws.
std::vector<std::vector<double>> observed_of(const std::string& path, const io::Content& content,
                                             const Problem& problem, std::vector<std::string>& notes,
                                             Gaps gaps = Gaps::refused);

}  // namespace terrane::acoustic
