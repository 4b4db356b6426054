// Gathers that were recorded, from a file of any format, at the shots, receivers and steps of a problem.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/gathers.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// What a file has in place of a number that was not recorded.
enum class Gaps { refused, kept };

/// Traces between whose samples a sinc under Kaiser's window finds those at the steps, right to 10⁻⁴ up to
/// 0.7 of Nyquist's frequency: [shots][steps, receivers].  problem: settled; notes: gets what was passed
/// over.  gaps: whether NaN may stand for what was not recorded; then so it does at every step whose sinc
/// reaches it.  Throws InputError at `path`: a shot or receiver of the problem without a trace or with two,
/// with the place of the nearest; traces that begin after 0 or end before the run; values that are not
/// finite.
std::vector<std::vector<double>> fitted(const std::string& path, const io::Gathers& recorded,
                                        const Problem& problem, std::vector<std::string>& notes,
                                        Gaps gaps = Gaps::refused);

/// Of what a file holds, for every component that the problem records: gathers, or an array [shot, time,
/// receiver] at the steps (of several components [shot, time, component, receiver]). Throws as fitted().
std::vector<std::vector<double>> observed_of(const std::string& path, const io::Content& content,
                                             const Problem& problem, std::vector<std::string>& notes,
                                             Gaps gaps = Gaps::refused);

}  // namespace terrane::acoustic
