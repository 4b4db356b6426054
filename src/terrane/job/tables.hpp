// Reads keys that the tables of several physics share: one of a list of words, positions, and properties that
// every cell of a mesh must have.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// Easting, northing, up, m.
using Position = std::array<double, 3>;

/// The enumerator whose word is the value of the key; `words` are in the order of Enum. Throws InputError.
template <class Enum>
Enum chosen(const Config& table, std::string_view key, std::span<const std::string_view> words) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), table.choice(key, words)) - words.begin());
}

/// at = [easting, northing, up]. Throws InputError.
Position read_position(const Config& table, std::string_view key);
/// at = [[easting, northing, up], …]. Throws InputError.
std::vector<Position> read_positions(const Config& table, std::string_view key);
/// The positions of a survey's stations.
std::vector<Position> positions_of(const Survey& survey);

/// The mesh of a model of cells. If the model has no cells, throws InputError at [mesh]: "direct current
/// needs a mesh of cells, not a list of prisms" for needs = "direct current needs".
const TensorMesh& mesh_of_cells(const EarthModel& model, const Config& job, std::string_view needs,
                                std::string next = "Take mesh.kind = \"regular\" or \"tensor\".");

/// Conductivity in S/m of all cells [up, north, east] along `axis` ("east", "north", "up"; "" for isotropic
/// models, see model/conductivity.hpp). Cells whose `needed` is 0 need no conductivity; if `needed` is empty,
/// all cells need one. Throws InputError at [model] with the advice `next`: no cell has a conductivity, or so
/// many cells have none above zero.
std::vector<double> conductivity_of_cells(const EarthModel& model, const Config& job, std::string_view axis,
                                          std::string next, const std::vector<double>& needed = {});

}  // namespace terrane
