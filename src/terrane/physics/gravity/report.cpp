#include "terrane/physics/gravity/report.hpp"

#include <fmt/format.h>

namespace terrane::gravity {

terrane::Report Report::named() const {
  terrane::Report all = *this;
  all.problem = fmt::format("{} sources at {} stations", grouped(sources), grouped(stations));
  all.work = pairs;
  all.work_unit = "pairs";
  all.add("sources", sources);
  all.add("stations", stations);
  all.add("pairs", pairs);
  const bool only_estimated = verified_stations == 0 && estimated_error > 0;
  all.add("estimated_error", estimated_error, "", only_estimated ? "error" : "",
          fmt::format("{:.1e} expected; simulation.verify = 8 measures it", estimated_error));
  std::string floors;
  for (const auto& [kind, floor] : rounding_floor)
    floors += fmt::format("{}{} {:.1e}", floors.empty() ? "" : ", ", kind, floor);
  const auto looked = rounding_stations < stations
                          ? fmt::format(" (looked for at {} stations)", grouped(rounding_stations))
                          : "";
  all.add("verified_stations", verified_stations);
  all.add("verified_by", verified_by);
  all.add("verified_error", verified_error, "", verified_stations > 0 ? "error" : "",
          fmt::format("{:.1e} of the largest value, against {} at {} stations", verified_error, verified_by,
                      verified_stations));
  all.add("rounding_floor", rounding_floor, "", rounding_floor.empty() ? "" : "rounding",
          fmt::format("at most {} of the largest value{}", floors, looked));
  all.add("rounding_stations", rounding_stations);
  all.add("inside_stations", inside_stations, "", inside_stations > 0 ? "inside" : "",
          fmt::format("{} stations lie inside bodies", grouped(inside_stations)));
  all.add("singular_stations", singular_stations, "", singular_stations > 0 ? "singular" : "",
          fmt::format("{} stations lie on edges, corners or faces", grouped(singular_stations)));
  return all;
}

}  // namespace terrane::gravity
