#include "terrane/survey/electrodes.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"

namespace terrane::electric {

void Electrodes::check() const {
  const auto count = static_cast<int>(place.size());
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const auto& array = arrays[n];
    const int all[4] = {array.a, array.b, array.m, array.n};
    const auto where = fmt::format("array {}", n + 1);
    for (const int electrode : all)
      if (electrode != Array::far_away && (electrode < 0 || electrode >= count))
        throw InputError(where, fmt::format("there is no electrode {}", electrode + 1),
                         fmt::format("The survey has electrodes 1 to {}.", count));
    for (int p = 0; p < 4; ++p)
      for (int q = p + 1; q < 4; ++q)
        if (all[p] != Array::far_away && all[p] == all[q])
          throw InputError(where, fmt::format("electrode {} stands for two of its four", all[p] + 1),
                           "An array has four different electrodes, some of which may be far away.");
    if ((array.a == Array::far_away && array.b == Array::far_away) ||
        (array.m == Array::far_away && array.n == Array::far_away))
      throw InputError(where, "both current electrodes or both potential electrodes are far away",
                       "At least one of a and b, and one of m and n, is in the list.");
  }
}

}  // namespace terrane::electric
