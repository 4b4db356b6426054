// Reads the table [model] of a job into a description of the earth without a mesh: units of rock, surfaces,
// bodies and the ground. For earth.cpp, which transfers the description to cells.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/model/description.hpp"

namespace terrane {

/// [model.background], [[model.unit]], [[model.surface]], [model.air], [[model.body]] and their kinds.
std::span<const Section> description_sections();
/// The key maps = [...], a list of laws that compute one property from another.
std::span<const Key> law_keys();
/// One key for each property; help() returns its text in the reference.
std::vector<Key> keys_of_properties(bool with_density,
                                    const std::function<std::string(const PropertyKind&)>& help);

/// The box [west, east, south, north, bottom, top], m. Throws InputError.
Prism box_of(const Config& table, std::string_view key);

/// Each [[model.surface]], by its name.
using Surfaces = std::map<std::string, Surface, std::less<>>;
/// The surface that a key gives: a constant level, a grid from a file, or one of the surfaces in `named`.
/// Throws InputError, FileError.
Surface surface_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                   const MemoryBudget& memory, const Surfaces& named = {});

/// The properties that a table gives, SI.
std::vector<PropertyValue> values_of(const Config& table);
/// The properties that [model.background] gives every cell.
std::vector<PropertyValue> background_of(const Config& model);

/// The description that [model] gives, without model.file. Notes, warnings and the height of the ground are
/// stored in `earth`. Throws InputError, FileError.
Description described(const Config& model, const std::optional<Projection>& projection,
                      const MemoryBudget& memory, Earth& earth);

/// Height of the ground of an earth that has a topography.
Ground ground_of(const Description& earth);

/// Height of the ground that [model] describes, for jobs that use nothing else of [model]; empty if it
/// describes no ground. Throws InputError, FileError.
Ground build_ground(const Config& job, const std::optional<Projection>& projection,
                    const MemoryBudget& memory);

/// The laws that model.maps names, in their order. Throws InputError.
std::vector<Law> laws_of(const Config& model);
/// Applies the laws of model.maps to cells that have no value of the computed property yet, except to cells
/// marked in `above` as above the ground (empty: no cell).
void apply_maps(const Config& model, Earth& earth, const std::vector<bool>& above = {});
/// Adds the notes and warnings on laws if the description applies them to each unit and body instead of to
/// cells. Throws InputError.
void tell_of_maps(const Config& model, const Description& description, Earth& earth);

}  // namespace terrane
