#include "terrane/job/tables.hpp"

#include <fmt/format.h>

#include <cmath>

namespace terrane {

Position read_position(const Config& table, std::string_view key) {
  const auto at = table.numbers(key, Quantity::length, 3);
  return {at[0], at[1], at[2]};
}

std::vector<Position> read_positions(const Config& table, std::string_view key) {
  std::vector<Position> all;
  for (const auto& row : table.rows(key, Quantity::length, 3)) all.push_back({row[0], row[1], row[2]});
  return all;
}

std::vector<Position> positions_of(const Survey& survey) {
  std::vector<Position> all;
  for (std::size_t n = 0; n < survey.size(); ++n)
    all.push_back({survey.easting[n], survey.northing[n], survey.up[n]});
  return all;
}

const TensorMesh& mesh_of_cells(const EarthModel& model, const Config& job, std::string_view needs,
                                std::string next) {
  if (const auto* cells = std::get_if<MeshCells>(&model.geometry)) return cells->mesh;
  throw InputError(job.where("mesh"), fmt::format("{} a mesh of cells, not a list of prisms", needs),
                   std::move(next));
}

std::vector<double> positive_in_all_cells(const EarthModel& model, const Config& job,
                                          std::string_view property, std::string next) {
  auto values = model.dense(property);
  const auto missing = std::count_if(values.begin(), values.end(),
                                     [](double value) { return !(std::isfinite(value) && value > 0); });
  if (missing > 0)
    throw InputError(
        job.table("model").where(),
        fmt::format("{} of {} cells have no {}, or one that is zero", missing, values.size(), property),
        std::move(next));
  return values;
}

}  // namespace terrane
