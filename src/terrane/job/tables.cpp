#include "terrane/job/tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "terrane/model/conductivity.hpp"

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

std::vector<double> conductivity_of_cells(const EarthModel& model, const Config& job, std::string_view axis,
                                          std::string next, const std::vector<double>& needed) {
  const auto where = job.table("model").where();
  const auto along = axis.empty() ? std::string() : fmt::format(" along {}", axis);
  auto values = conductivity_along(model, axis);
  if (values.empty())
    throw InputError(
        where, "the model has neither conductivity nor resistivity" + along,
        "Give [model.background] or its bodies resistivity = \"100 ohm m\", air and sea included.");
  std::size_t missing = 0;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    if (!(std::isfinite(values[cell]) && values[cell] > 0) && (needed.empty() || needed[cell] > 0)) ++missing;
  if (missing > 0)
    throw InputError(where,
                     fmt::format("{} of {} cells have no conductivity or resistivity{}, or one that is zero",
                                 missing, values.size(), along),
                     std::move(next));
  return values;
}

}  // namespace terrane
