// Whether a run holds the wavelets of its sources. A run that begins within a wavelet s(t) starts with a jump
// of s(first), which sends waves of all frequencies that no mesh can carry; one that ends before the wavelet
// is at its largest shows next to nothing of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace terrane {

/// What a run from `first` to `last` cuts off a wavelet: a sentence for a warning; nothing where |s(first)|
/// is below 1 % of the largest |s|, nine tenths of the largest come before `last`, and the run does not begin
/// after it.
///
/// from, to: where the wavelet changes, s; it is looked at 2000 times between them. A wavelet of zeros has
/// nothing to cut.
std::optional<std::string> cut_of_wavelet(const std::function<double(double)>& wavelet, double from,
                                          double to, double first, double last);

}  // namespace terrane
