#include "terrane/job/described.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>

#include "terrane/base/text.hpp"
#include "terrane/job/ground.hpp"
#include "terrane/model/in_other_words.hpp"

namespace terrane {

namespace {

constexpr Key unit_keys[] = {
    {"name", "text", "", "Name to which bodies refer: unit = \"salt\"."},
};
constexpr Key unit_map_keys[] = {
    {"maps", "list of texts", "none",
     "Properties that are computed from its others: [\"velocity_s from velocity_p by castagna\"], in order."},
};
constexpr Key surface_keys[] = {
    {"name", "text", "", "Name to which layers refer: top = \"floor\"."},
    {"elevation", "length or path", "none", "A grid of elevations in the job's coordinates, or a level."},
    {"depth", "length or path", "none",
     "In place of elevation: depth below the surface `below`, positive downwards."},
    {"below", "length or path", "0",
     "Surface from which depths are measured: a level, a grid, or the name of a surface above."},
};
constexpr Key of_unit_keys[] = {
    {"unit", "text", "none",
     "Its rock, by the name of a [[model.unit]]; properties given here take precedence."},
};
constexpr std::array<std::string_view, 5> body_kinds{"sphere", "ellipsoid", "box", "polygon", "layer"};
constexpr Key body_keys[] = {
    {"kind", "text", "", "sphere, ellipsoid, box, polygon or layer.", "\"sphere\""},
    {"density", "density", "none",
     "Density of the body, or its contrast to its surroundings; 0 makes a cavity. A body has one property or "
     "several.",
     "\"0.4 g/cm3\""},
    {"name", "text", "\"\"", "For messages."},
};
constexpr Key map_keys[] = {
    {"maps", "list of texts", "none",
     "Properties that are computed from others: [\"density from velocity_p by gardner\"], in order."},
};

/// Stores the text of keys that are made from the table of properties, because a Key has only views of its
/// texts.
std::string_view kept(std::string text) {
  static std::deque<std::string> all;
  return all.emplace_back(std::move(text));
}

std::span<const Key> body_property_keys() {
  static const auto keys =
      keys_of_properties(false, [](const PropertyKind& kind) { return fmt::format("{}.", kind.meaning); });
  return keys;
}

std::span<const Key> background_keys() {
  static const auto keys =
      keys_of_properties(true, [](const PropertyKind& kind) { return fmt::format("{}.", kind.meaning); });
  return keys;
}

constexpr Key sphere_keys[] = {
    {"centre", "list of 3 lengths", "", "Easting, northing, up of the centre.", "[11, 11, -4, \"km\"]"},
    {"radius", "length", "", "Radius.", "\"2.5 km\""},
};
constexpr Key ellipsoid_keys[] = {
    {"centre", "list of 3 lengths", "", "Easting, northing, up of the centre."},
    {"semi_axes", "list of 3 lengths", "", "Half lengths a, b, c: east, north, up before turning."},
    {"trend", "number", "90", "Azimuth of axis a, degrees clockwise from north."},
    {"plunge", "number", "0", "Dip of axis a below the horizontal, degrees."},
    {"roll", "number", "0", "Turn about axis a, degrees, clockwise when looking along it."},
};
constexpr Key box_keys[] = {
    {"box", "list of 6 lengths", "", "West, east, south, north, bottom, top."},
};
constexpr Key polygon_keys[] = {
    {"vertices", "list of pairs of lengths", "", "Outline: [[easting, northing], ...], at least three."},
    {"bottom", "length", "", "Lower end."},
    {"top", "length", "", "Upper end."},
};
constexpr Key layer_keys[] = {
    {"bottom", "length or path", "",
     "Lower surface: a level, a grid of elevations in the job's coordinates, or the name of a "
     "[[model.surface]]."},
    {"top", "length or path", "", "Upper surface."},
};

}  // namespace

std::vector<Key> keys_of_properties(bool with_density,
                                    const std::function<std::string(const PropertyKind&)>& help) {
  std::vector<Key> keys;
  for (const auto& kind : known_properties()) {
    if (kind.name == "density" && !with_density) continue;
    const auto unit = si_unit(kind.quantity);
    keys.push_back({kind.name, unit == "1" ? "number" : unit, "none", kept(help(kind))});
  }
  return keys;
}

std::span<const Key> law_keys() { return map_keys; }

std::span<const Section> description_sections() {
  static const std::array sections{
      Section{"model", "", "Properties from other properties:", map_keys, false},
      Section{"model.background", "", "Properties of every cell for which no body and no file gives others.",
              background_keys(), false},
      Section{"model.background", "", "Or:", of_unit_keys, false},
      Section{"model.unit", "",
              "A kind of rock: its properties are given once, and bodies refer to it by name.", unit_keys,
              false},
      Section{"model.unit", "", "Properties:", background_keys(), false},
      Section{"model.unit", "", "Properties from other properties:", unit_map_keys, false},
      Section{"model.surface", "", "A surface, to which layers and the topography refer by its name.",
              surface_keys, false},
      Section{"model.air", "", "Properties of the air above the topography.", background_keys(), false},
      Section{"model.air", "", "Or:", of_unit_keys, false},
      Section{"model.body", "", "A body; a cell belongs to it if the cell's centre is inside.", body_keys},
      Section{"model.body", "", "Or:", of_unit_keys, false},
      Section{"model.body", "", "Other properties of a body:", body_property_keys(), false},
      Section{"model.body", "sphere", "A sphere.", sphere_keys},
      Section{"model.body", "ellipsoid", "An ellipsoid, turned any way.", ellipsoid_keys},
      Section{"model.body", "box", "A box.", box_keys},
      Section{"model.body", "polygon", "An outline between two levels.", polygon_keys},
      Section{"model.body", "layer", "The body between two surfaces.", layer_keys},
  };
  return sections;
}

Prism box_of(const Config& table, std::string_view key) {
  const auto faces = table.numbers(key, Quantity::length, 6);
  const Prism box{faces[0], faces[1], faces[2], faces[3], faces[4], faces[5]};
  if (!(box.west < box.east) || !(box.south < box.north) || !(box.bottom < box.top))
    throw table.wrong(key, "the box has no volume",
                      "It reads west, east, south, north, bottom, top, in metres or with a unit at the end.");
  return box;
}

namespace {

using ReadSurface = Grid (*)(const Config& table, std::string_view key,
                             const std::optional<Projection>& projection, const MemoryBudget& memory);

/// read: reads the grid of a file
Surface surface_by(ReadSurface read, const Config& table, std::string_view key,
                   const std::optional<Projection>& projection, const MemoryBudget& memory,
                   const Surfaces& named) {
  if (!table.is_text(key)) return table.number(key, Quantity::length);
  const auto text = table.text(key);
  if (const auto known = named.find(text); known != named.end()) return known->second;
  const bool starts_as_number =
      !text.empty() && std::string_view("0123456789+-.").find(text.front()) != std::string_view::npos &&
      !std::filesystem::exists(table.path(key));
  if (starts_as_number) return table.number(key, Quantity::length);
  return read(table, key, projection, memory);
}

}  // namespace

Surface surface_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                   const MemoryBudget& memory, const Surfaces& named) {
  const auto read = [](const Config& in, std::string_view of, const std::optional<Projection>& on,
                       const MemoryBudget& within) { return read_elevation(in, of, on, within); };
  return surface_by(read, table, key, projection, memory, named);
}

std::vector<PropertyValue> values_of(const Config& table) {
  std::vector<PropertyValue> values;
  for (const auto& kind : known_properties())
    if (const auto value = table.optional_number(kind.name, kind.quantity)) {
      check_value(kind, *value, table.where(kind.name));
      for (const auto& given : values)
        if (given.property == in_other_words(kind.name))
          throw table.wrong(kind.name,
                            fmt::format("{} is given, too, and both state one property", given.property),
                            "Keep one of the two.");
      values.push_back({std::string(kind.name), *value});
    }
  return values;
}

namespace {

/// A surface `depth` below another one, where both have values. If one of the two is a grid, the result has
/// its nodes; if both are, those of `depth`.
Surface below(const Surface& from, const Surface& depth) {
  const auto *level = std::get_if<double>(&from), *constant = std::get_if<double>(&depth);
  if (level && constant) return *level - *constant;
  Grid grid = std::get<Grid>(constant ? from : depth);
  for (std::size_t j = 0; j < grid.n_north(); ++j)
    for (std::size_t i = 0; i < grid.n_east(); ++i) {
      auto& value = grid.values[j * grid.n_east() + i];
      const double down = constant ? *constant : value;
      const double start =
          level ? *level : std::get<Grid>(from).interpolate(grid.easting[i], grid.northing[j]);
      value = start - down;
    }
  return grid;
}

Surfaces surfaces_of(const Config& model, const std::optional<Projection>& projection,
                     const MemoryBudget& memory) {
  Surfaces surfaces;
  for (const auto& raw : model.tables("surface")) {
    const auto table = raw.describe({surface_keys});
    if (table.has("elevation") == table.has("depth"))
      throw table.wrong(table.has("depth") ? "depth" : "elevation",
                        table.has("depth") ? "there is an elevation, too" : "missing",
                        "Give one of the two: elevation, or depth.");
    auto surface = table.has("elevation") ? surface_of(table, "elevation", projection, memory, surfaces)
                                          : below(surface_of(table, "below", projection, memory, surfaces),
                                                  surface_of(table, "depth", projection, memory, surfaces));
    if (!surfaces.emplace(table.text("name"), std::move(surface)).second)
      throw table.wrong("name", fmt::format("there are two surfaces \"{}\"", table.text("name")),
                        "Give one of them another name.");
  }
  return surfaces;
}

/// The properties of each [[model.unit]], by its name.
using Units = std::map<std::string, std::vector<PropertyValue>, std::less<>>;

/// Adds the properties that the laws (key maps) of a unit compute.
void add_by_laws(const Config& table, std::vector<PropertyValue>& values, Earth* earth) {
  if (!table.has("maps")) return;
  const auto value_of = [&](std::string_view name) {
    return std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.property == name; });
  };
  for (const auto& text : table.texts("maps")) try {
      const auto law = law_from_text(text);
      const auto from = value_of(law.from);
      if (from == values.end())
        throw InputError("", fmt::format("the unit has no {}", law.from),
                         "Give it one, or leave this law out.");
      for (const auto name : {law.to, in_other_words(law.to)})
        if (name != law.from && value_of(name) != values.end())
          throw InputError("", fmt::format("the unit has a {} already", name), "Keep one of the two.");
      const double x = from->value, y = law.value(x);
      check_value(property_kind(law.to), y, "");
      if (earth != nullptr) {
        earth->notes.push_back(fmt::format("unit {}: {} {:.4g} {}, {} ({})", table.text("name"), law.to, y,
                                           si_unit(property_kind(law.to).quantity), law.formula, law.source));
        if (x < law.least || x > law.most)
          earth->warnings.push_back(fmt::format("{}: {} lies outside {} to {}, for which the law was made",
                                                table.where("maps"), x, law.least, law.most));
      }
      values.push_back({std::string(law.to), y});
    } catch (const InputError& error) {
      throw table.wrong("maps", fmt::format("\"{}\": {}", text, error.problem()), error.next());
    }
}

/// Reads all [[model.unit]]. earth: receives the notes; null if it already has them
Units units_of(const Config& model, Earth* earth = nullptr) {
  Units units;
  if (model.is_text("unit")) return units;  // model.unit is then the unit of the values in model.file
  for (const auto& raw : model.tables("unit")) {
    const auto table = raw.describe({unit_keys, background_keys(), unit_map_keys});
    auto values = values_of(table);
    add_by_laws(table, values, earth);
    if (values.empty())
      throw InputError(table.where(), "it names no property", "Give it a density, a conductivity, ...");
    if (!units.emplace(table.text("name"), std::move(values)).second)
      throw table.wrong("name", fmt::format("there are two units \"{}\"", table.text("name")),
                        "Give one of them another name.");
  }
  return units;
}

/// The properties of rock that a table gives: its own, and those of the [[model.unit]] that the table names;
/// for a property in both, the table's own value.
std::vector<PropertyValue> values_of(const Config& table, const Units& units) {
  auto own = values_of(table);
  const auto name = table.optional_text("unit");
  if (!name) return own;
  const auto unit = units.find(*name);
  if (unit == units.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, values] : units) names.push_back(known);
    throw table.wrong("unit", fmt::format("there is no unit \"{}\".{}", *name, did_you_mean(*name, names)),
                      names.empty() ? "Describe it: [[model.unit]], name = \"...\" and its properties."
                                    : fmt::format("Units: {}.", joined(names)));
  }
  for (const auto& value : unit->second)
    if (std::none_of(own.begin(), own.end(), [&](const auto& v) {
          return v.property == value.property || supersedes(v.property, value.property);
        }))
      own.push_back(value);
  return own;
}

}  // namespace

std::vector<PropertyValue> background_of(const Config& model) {
  if (!model.has("background")) return {};
  const auto table = model.table("background").describe({background_keys(), of_unit_keys});
  auto values = values_of(table, units_of(model));
  if (values.empty())
    throw InputError(table.where(), "it names no property",
                     "Give it a density, a conductivity, ... or a unit.");
  return values;
}

namespace {

/// The key of a body that the message of an error in its geometry names; the body itself if the message names
/// no key.
std::string place_in_body(const Config& body, std::string_view problem) {
  constexpr std::pair<std::string_view, std::string_view> keys[] = {
      {"bottom", "bottom"},         {"bottom", "top"},       {"top", "top"}, {"the radius", "radius"},
      {"a semi-axis", "semi_axes"}, {"the centre", "centre"}};
  for (const auto& [words, key] : keys)
    if (problem.starts_with(words) && body.has(key)) return body.where(key);
  return body.where();
}

Body body_of(const Config& raw, const Units& units, const Surfaces& surfaces,
             const std::optional<Projection>& projection, const MemoryBudget& memory) {
  if (!raw.has("kind")) throw raw.wrong("kind", "missing", fmt::format("Allowed: {}.", joined(body_kinds)));
  const auto kind = raw.choice("kind", body_kinds);
  Body body;
  const auto common = [&](std::span<const Key> own) {
    const auto table = raw.describe({body_keys, of_unit_keys, body_property_keys(), own});
    body.values = values_of(table, units);
    if (body.values.empty())
      throw table.wrong("density", "missing",
                        "Give the body a density, or another property: conductivity, ...; or a unit.");
    body.name = table.text("name");
    return table;
  };
  if (kind == "sphere") {
    const auto table = common(sphere_keys);
    const auto centre = table.numbers("centre", Quantity::length, 3);
    body.shape = Sphere{centre[0], centre[1], centre[2], table.positive("radius", Quantity::length)};
  } else if (kind == "ellipsoid") {
    const auto table = common(ellipsoid_keys);
    const auto centre = table.numbers("centre", Quantity::length, 3);
    const auto axes = table.numbers("semi_axes", Quantity::length, 3);
    body.shape = Ellipsoid{centre[0],
                           centre[1],
                           centre[2],
                           {axes[0], axes[1], axes[2]},
                           table.number("trend"),
                           table.number("plunge"),
                           table.number("roll")};
  } else if (kind == "box") {
    body.shape = box_of(common(box_keys), "box");
  } else if (kind == "polygon") {
    const auto table = common(polygon_keys);
    Polygon polygon;
    for (const auto& vertex : table.rows("vertices", Quantity::length, 2)) {
      polygon.easting.push_back(vertex[0]);
      polygon.northing.push_back(vertex[1]);
    }
    polygon.bottom = table.number("bottom", Quantity::length);
    polygon.top = table.number("top", Quantity::length);
    body.shape = std::move(polygon);
  } else {
    const auto table = common(layer_keys);
    body.shape = Layer{surface_of(table, "bottom", projection, memory, surfaces),
                       surface_of(table, "top", projection, memory, surfaces)};
  }
  try {
    check(body);
  } catch (const InputError& error) {
    throw InputError(place_in_body(raw, error.problem()), error.problem(), error.next());
  }
  return body;
}

}  // namespace

Ground ground_of(const Description& earth) {
  return [ground = Description{{}, {}, {}, {}, {}, earth.topography, {}}](double easting, double northing) {
    return ground.ground(easting, northing);
  };
}

namespace {

/// Throws InputError if values of bodies add and the earth states one quantity in two ways, such as
/// conductivity and resistivity, whose sum is none of the two.
void expect_one_word_of_sums(const Config& table, const Description& earth) {
  if (earth.rule != OverlapRule::add) return;
  const auto names = earth.properties();
  for (const auto& name : names)
    if (const auto other = in_other_words(name); std::find(names.begin(), names.end(), other) != names.end())
      throw table.wrong(
          "overlap",
          fmt::format("values add, and the model gives {} and {}, which state one property", name, other),
          "Give one of the two everywhere, or take overlap = \"replace\".");
}

}  // namespace

Description described(const Config& table, const std::optional<Projection>& projection,
                      const MemoryBudget& memory, Earth& earth) {
  Description made;
  const auto units = units_of(table, &earth);
  const auto surfaces = surfaces_of(table, projection, memory);
  made.background = background_of(table);
  for (const auto& body : table.tables("body"))
    made.bodies.push_back(body_of(body, units, surfaces, projection, memory));
  if (table.choice("overlap", {"replace", "add"}) == "add") made.rule = OverlapRule::add;
  if (table.has("topography")) {
    made.topography = surface_by(read_ground, table, "topography", projection, memory, surfaces);
    earth.ground = ground_of(made);
  }
  if (table.has("air")) {
    if (!made.topography)
      throw table.wrong("air", "there is no topography that air is above", "Give model.topography.");
    made.air = values_of(table.table("air").describe({background_keys(), of_unit_keys}), units);
  }
  complete_axes(made);
  expect_one_word_of_sums(table, made);
  try {
    check(made);
  } catch (const InputError& error) {
    throw table.wrong("topography", error.problem(), error.next());
  }
  return made;
}

std::vector<Law> laws_of(const Config& table) {
  std::vector<Law> all;
  if (table.has("maps"))
    for (const auto& text : table.texts("maps")) try {
        all.push_back(law_from_text(text));
      } catch (const InputError& error) {
        throw table.wrong("maps", error.problem(), error.next());
      }
  return all;
}

namespace {

/// Adds a note on each law of model.maps. use(law): applies the law and returns how many values lie outside
/// its range
void tell_of_each(const Config& table, Earth& earth, const std::function<std::size_t(const Law&)>& use) {
  if (!table.has("maps")) return;
  for (const auto& text : table.texts("maps")) {
    try {
      const auto law = law_from_text(text);
      if (const auto outside = use(law); outside > 0)
        earth.warnings.push_back(
            fmt::format("{}: {} values of {} lie outside {} to {} {}, for which the law was made", text,
                        outside, law.from, law.least, law.most, si_unit(property_kind(law.from).quantity)));
      earth.notes.push_back(fmt::format("{}: {} ({})", text, law.formula, law.source));
    } catch (const InputError& error) {
      throw table.wrong("maps", error.problem(), error.next());
    }
  }
}

}  // namespace

void apply_maps(const Config& table, Earth& earth, const std::vector<bool>& above) {
  tell_of_each(table, earth, [&](const Law& law) { return apply(law, earth.model, above); });
}

void tell_of_maps(const Config& table, const Description& description, Earth& earth) {
  tell_of_each(table, earth, [&](const Law& law) {
    const auto from = description.values(law.from);
    if (from.empty())
      throw InputError("model.maps", fmt::format("the model has no {}", law.from),
                       "Name the property in [model], or take the law away.");
    std::size_t outside = 0;
    for (const double value : from) {
      outside += value < law.least || value > law.most;
      check_value(property_kind(law.to), law.value(value),
                  fmt::format("model.maps: {}: {} {}", text_of(law), law.from, value));
    }
    return outside;
  });
}

}  // namespace terrane
