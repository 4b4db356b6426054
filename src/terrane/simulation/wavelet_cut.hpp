// Whether the wavelets of sources lie within the time of a run. A run that begins within a wavelet s(t)
// starts with a jump of s(first), which emits waves of all frequencies, for which no mesh is fine enough; a
// run that ends before the wavelet's maximum shows hardly anything of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace terrane {

/// A sentence for a warning on what a run from `first` to `last`, s, cuts off a wavelet s(t). Nothing if all
/// three hold: |s(first)| is at most 1 % of the largest |s|, or `first` is before `from`; |s| reaches 90 % of
/// its maximum before `last`; the run begins before `to`.
///
/// from, to: the time interval in which the wavelet changes, s; it is sampled 2000 times. For a wavelet of
/// zeros, the result is nothing.
std::optional<std::string> cut_of_wavelet(const std::function<double(double)>& wavelet, double from,
                                          double to, double first, double last);

}  // namespace terrane
