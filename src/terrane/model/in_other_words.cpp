#include "terrane/model/in_other_words.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace terrane {

namespace {

using TwoNames = std::pair<std::string_view, std::string_view>;
constexpr std::array names_of_one_quantity{TwoNames{"conductivity", "resistivity"},
                                           TwoNames{"conductivity_east", "resistivity_east"},
                                           TwoNames{"conductivity_north", "resistivity_north"},
                                           TwoNames{"conductivity_up", "resistivity_up"},
                                           TwoNames{"quality_kappa", "quality_p"},
                                           TwoNames{"quality_mu", "quality_s"},
                                           TwoNames{"heat_capacity", "specific_heat"}};

}  // namespace

std::string_view in_other_words(std::string_view property) {
  for (const auto& [one, other] : names_of_one_quantity) {
    if (property == one) return other;
    if (property == other) return one;
  }
  return {};
}

bool supersedes(std::string_view property, std::string_view other) {
  const auto same = in_other_words(property);
  if (same.empty()) return false;
  if (other == same) return true;
  for (const std::string_view axis : {"_east", "_north", "_up"})
    if (other.ends_with(axis)) {
      const auto along_all = other.substr(0, other.size() - axis.size());
      return along_all == property || along_all == same;
    }
  return false;
}

double quality_of_bulk(double quality_p, double quality_s, double velocity_p, double velocity_s) {
  // 1/Q_P = (1 − 4/3 b)/Q_κ + 4/3 b/Q_μ, b = (v_S/v_P)²
  const double b = 4.0 / 3 * velocity_s * velocity_s / (velocity_p * velocity_p);
  const double rest = 1 / quality_p - b / quality_s;
  return std::fabs(rest) < 1e-12 ? INFINITY : (1 - b) / rest;
}

}  // namespace terrane
