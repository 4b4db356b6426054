#include "terrane/simulation/wavelet_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace terrane {

std::optional<std::string> cut_of_wavelet(const std::function<double(double)>& wavelet, double from,
                                          double to, double first, double last) {
  constexpr std::size_t looks = 2000;
  constexpr double small = 0.01, nearly_all = 0.9;
  std::array<double, looks + 1> size;
  double largest = 0;
  const auto time = [&](std::size_t n) { return from + (to - from) * static_cast<double>(n) / looks; };
  for (std::size_t n = 0; n <= looks; ++n) {
    size[n] = std::fabs(wavelet(time(n)));
    largest = std::max(largest, size[n]);
  }
  if (!(largest > 0)) return std::nullopt;
  const double cut = std::fabs(wavelet(first)) / largest;
  if (first >= from && cut > small)
    return fmt::format(
        "the run begins at {:.6g} s, where the wavelet has {:.3g} % of its largest value: waves "
        "start with a jump. The wavelet begins at {:.6g} s",
        first, 100 * cut, from);
  std::size_t high = 0;
  while (size[high] < nearly_all * largest) ++high;
  if (time(high) > last)
    return fmt::format("the run ends at {:.6g} s, before the wavelet is at its largest, at {:.6g} s", last,
                       time(high));
  if (first >= to)
    return fmt::format("the run begins at {:.6g} s, when the wavelet is over, since {:.6g} s", first, to);
  return std::nullopt;
}

}  // namespace terrane
