#include "terrane/survey/electrodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "terrane/base/error.hpp"

namespace terrane::electric {

namespace {

/// Whether two positions are the same up to rounding.
class SamePlace {
 public:
  explicit SamePlace(const std::vector<Point>& places) {
    for (const auto& p : places) {
      if (std::isfinite(p.e) && std::isfinite(p.n))
        across_ = std::max(across_, std::hypot(p.e - places[0].e, p.n - places[0].n));
      for (const double x : {p.e, p.n, p.u})
        if (std::isfinite(x)) largest_ = std::max(largest_, std::abs(x));
    }
  }
  bool operator()(const Point& a, const Point& b) const {
    const double most = 1e-9 * across_ + 1e-15 * largest_;
    const auto near = [&](double x, double y) {  // heights may be missing
      return std::abs(x - y) <= most || (std::isnan(x) && std::isnan(y));
    };
    return near(a.e, b.e) && near(a.n, b.n) && near(a.u, b.u);
  }

 private:
  double across_ = 0, largest_ = 0;
};

/// Throws InputError for electrode arrays with two electrodes at one position, whose voltage is zero or
/// infinite.
void refuse_one_place(const Electrodes& electrodes) {
  const SamePlace same(electrodes.place);
  constexpr const char* letters[4] = {"a", "b", "m", "n"};
  std::string first, rows;
  std::size_t bad = 0;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    const auto& array = electrodes.arrays[n];
    const int all[4] = {array.a, array.b, array.m, array.n};
    std::string what;
    for (int p = 0; p < 4; ++p)
      for (int q = p + 1; q < 4; ++q) {
        if (all[p] == Array::far_away || all[q] == Array::far_away || !what.empty()) continue;
        const auto& at = electrodes.place[static_cast<std::size_t>(all[p])];
        if (!same(at, electrodes.place[static_cast<std::size_t>(all[q])])) continue;
        what = fmt::format(
            "its electrodes {} and {} (numbers {} and {}) lie at one place, ({:.6g}, {:.6g}, {:.6g})",
            letters[p], letters[q], all[p] + 1, all[q] + 1, at.e, at.n, at.u);
      }
    if (what.empty()) continue;
    if (bad++ == 0) first = fmt::format("array {}", n + 1), rows = what;
    else if (bad <= 6) rows += fmt::format("{} {}", bad == 2 ? "; the same is so of the arrays" : ",", n + 1);
  }
  if (bad > 6) rows += fmt::format(" and {} more", bad - 6);
  if (bad > 0)
    throw InputError(first, rows,
                     "Leave such arrays out, or correct the places: a pair of no length measures nothing.");
}

}  // namespace

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
  refuse_one_place(*this);
}

}  // namespace terrane::electric
