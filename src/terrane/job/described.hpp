// The table [model] of a job as a description of an earth: kinds of rock, surfaces, bodies and the ground,
// before any mesh. For earth.cpp, which puts them into cells.
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
/// The key maps = [...].
std::span<const Key> law_keys();
/// One key per property, with what help() says of it.
std::vector<Key> keys_of_properties(bool with_density,
                                    const std::function<std::string(const PropertyKind&)>& help);

/// West, east, south, north, bottom, top. Throws InputError.
Prism box_of(const Config& table, std::string_view key);

/// Each [[model.surface]], by its name.
using Surfaces = std::map<std::string, Surface, std::less<>>;
/// A level, a grid, or one of the surfaces with names. Throws InputError, FileError.
Surface surface_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                   const MemoryBudget& memory, const Surfaces& named = {});

/// The properties that a table names, SI.
std::vector<PropertyValue> values_of(const Config& table);
/// The properties that [model.background] gives every cell.
std::vector<PropertyValue> background_of(const Config& model);

/// All that [model] says, but for its file. Notes, warnings and the ground go to `earth`. Throws InputError,
/// FileError.
Description described(const Config& model, const std::optional<Projection>& projection,
                      const MemoryBudget& memory, Earth& earth);

/// Height of the ground of an earth that has a topography.
Ground ground_of(const Description& earth);

/// Height of the ground that [model] describes, for jobs that use nothing else of it; empty where it
/// describes none.
/// Throws InputError, FileError.
Ground build_ground(const Config& job, const std::optional<Projection>& projection,
                    const MemoryBudget& memory);

/// The laws that model.maps names, in their order. Throws InputError.
std::vector<Law> laws_of(const Config& model);
/// Applies these laws, in cells that have no value yet, except those above the ground (empty: none).
void apply_maps(const Config& model, Earth& earth, const std::vector<bool>& above = {});
/// Adds notes and warnings of laws that the description itself applies, rock by rock. Throws InputError.
void tell_of_maps(const Config& model, const Description& description, Earth& earth);

}  // namespace terrane
