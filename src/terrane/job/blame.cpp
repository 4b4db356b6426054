#include "terrane/job/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "terrane/model/properties.hpp"

namespace terrane {

void expect_above_zero(const Config& job, std::initializer_list<std::string_view> properties,
                       std::string_view needs) {
  const auto model = job.table("model");
  std::vector<Config> tables = model.tables("body");
  if (model.has("background")) tables.push_back(model.table("background"));
  if (model.has("unit") && !model.is_text("unit"))
    for (auto& unit : model.tables("unit")) tables.push_back(std::move(unit));
  for (const auto& table : tables)
    for (const auto name : properties) {
      if (!table.has(name)) continue;
      const auto& kind = property_kind(name);
      if (const auto value = table.optional_number(name, kind.quantity); value && !(*value > 0))
        throw table.wrong(
            name, fmt::format("{:g} {}, where {} a value above zero", *value, si_unit(kind.quantity), needs));
    }
}

std::string place_of_stations(const Config& job, std::string_view problem) {
  const auto survey = job.table("survey");
  const auto first_of = [&](std::initializer_list<std::string_view> keys) {
    for (const auto key : keys)
      if (survey.has(key)) return survey.where(key);
    return survey.where();
  };
  const auto at = [&](std::string_view word) { return std::min(problem.find(word), problem.size()); };
  const auto up = std::min(at("up "), at("surface")), east = at("easting"), north = at("northing");
  if (up < east && up < north) return first_of({"height", "clearance", "file", "stations"});
  const std::string_view axis = east < north ? "easting" : "northing";
  return first_of({"file", "stations", "region", axis, "start"});
}

}  // namespace terrane
