// Results that must agree to the last bit, NaNs included.
#pragma once

#include <cstring>
#include <vector>

namespace terrane::test {

inline bool same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (a[c].size() != b[c].size()) return false;
    if (!a[c].empty() && std::memcmp(a[c].data(), b[c].data(), a[c].size() * sizeof(double)) != 0)
      return false;
  }
  return true;
}

}  // namespace terrane::test
