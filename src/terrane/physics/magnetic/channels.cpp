#include "terrane/physics/magnetic/channels.hpp"

namespace terrane::magnetic {

namespace {

struct Entry {
  std::string_view name;
  int sign;
};

Convention convention_of(std::string_view frame, const std::array<Entry, 5>& entries) {
  constexpr std::array<std::string_view, 5> what{
      "magnetic field, eastward component", "magnetic field, northward component",
      "magnetic field, upward component", "total-field anomaly", "strength of the anomalous magnetic field"};
  Convention made{frame, {}, UnitSystem::geo};
  for (std::size_t c = 0; c < entries.size(); ++c) {
    std::string description(what[c]);
    if (entries[c].sign < 0) description = "magnetic field, downward component";
    made.channels.push_back(
        {channel_names[c], entries[c].name, entries[c].sign, Quantity::flux_density, "nT", description});
  }
  return made;
}

}  // namespace

const Conventions& conventions() {
  static const Conventions all{{
      convention_of("enu", {{{"b_e", 1}, {"b_n", 1}, {"b_u", 1}, {"tmi", 1}, {"b_amplitude", 1}}}),
      convention_of("harmonica", {{{"b_e", 1}, {"b_n", 1}, {"b_u", 1}, {"tmi", 1}, {"b_amplitude", 1}}}),
      convention_of("simpeg", {{{"bx", 1}, {"by", 1}, {"bz", 1}, {"tmi", 1}, {"b_amplitude", 1}}}),
      convention_of("ubc", {{{"by", 1}, {"bx", 1}, {"bz", -1}, {"tmi", 1}, {"b_amplitude", 1}}}),
  }};
  return all;
}

}  // namespace terrane::magnetic
