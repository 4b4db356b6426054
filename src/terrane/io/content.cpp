#include "terrane/io/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/scattered.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::io {

namespace {

template <class Columns>
auto* find_column(const Columns& columns, std::string_view name) {
  const auto it = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return it == columns.end() ? nullptr : &*it;
}

std::vector<std::string_view> names(const std::vector<Column>& columns) {
  std::vector<std::string_view> out;
  for (const auto& c : columns) out.push_back(c.name);
  return out;
}

[[noreturn]] void fail_missing(const std::string& where, std::string_view kind, std::string_view name,
                               const std::vector<Column>& columns) {
  const auto have = names(columns);
  throw InputError(where, fmt::format("there is no {} \"{}\".{}", kind, name, did_you_mean(name, have)),
                   have.empty() ? "It has none at all." : "It has: " + joined(have) + ".");
}

/// Adds the numbers of columns and rows as an attribute of a table whose stations are in the order of a grid.
void say_grid(Table& table, std::size_t columns, std::size_t rows) {
  table.attributes["grid"] = fmt::format("{} x {}", columns, rows);
}

/// The axes of the grid if the stations are in the order of a grid: row after row, easting varying fastest.
std::optional<SurveyGrid> grid_in_order(const std::vector<double>& easting,
                                        const std::vector<double>& northing) {
  const std::size_t n = easting.size();
  std::size_t n_east = 1;
  while (n_east < n && northing[n_east] == northing[0] && easting[n_east] > easting[n_east - 1]) ++n_east;
  if (n_east < 2 || n % n_east != 0 || n / n_east < 2) return {};
  SurveyGrid grid;
  grid.easting.assign(easting.begin(), easting.begin() + static_cast<std::ptrdiff_t>(n_east));
  for (std::size_t j = 0; j < n / n_east; ++j) {
    const double row = northing[j * n_east];
    if (j > 0 && !(row > grid.northing.back())) return {};
    grid.northing.push_back(row);
    for (std::size_t i = 0; i < n_east; ++i)
      if (northing[j * n_east + i] != row || easting[j * n_east + i] != grid.easting[i]) return {};
  }
  return grid;
}

constexpr std::array<std::string_view, 6> face_names{"west", "east", "south", "north", "bottom", "top"};
constexpr std::array<std::string_view, 6> corner_names{"x1", "x2", "y1", "y2", "z1", "z2"};

}  // namespace

const Column* GridData::find(std::string_view name) const { return find_column(fields, name); }

Grid GridData::grid(std::string_view name) const {
  const Column* field = nullptr;
  if (!name.empty()) {
    field = find(name);
    if (field == nullptr) fail_missing("grid", "field", name, fields);
  } else {
    std::size_t candidates = 0;
    for (const auto& f : fields)
      if (f.name != "up" || fields.size() == 1) field = &f, ++candidates;
    if (candidates != 1)
      throw InputError("grid", fmt::format("one field is needed and there are {}", candidates),
                       "Name one of: " + joined(names(fields)) + ".");
  }
  return {easting, northing, field->values, geographic};
}

bool may_be_degrees(const GridData& grid) {
  const auto within = [](const std::vector<double>& axis, double most) {
    return axis.size() > 1 && std::abs(axis.front()) <= most && std::abs(axis.back()) <= most &&
           axis.back() - axis.front() < static_cast<double>(axis.size() - 1);
  };
  return !grid.geographic && grid.unit_is_assumed && within(grid.easting, 360) && within(grid.northing, 90);
}

std::size_t Table::rows() const noexcept {
  return !columns.empty() ? columns.front().values.size() : !texts.empty() ? texts.front().values.size() : 0;
}

const Column* Table::find(std::string_view name) const { return find_column(columns, name); }

std::string Table::where(std::size_t row) const {
  const std::string file = source.empty() ? "table" : source;
  return row < lines.size() ? fmt::format("{}:{}", file, lines[row])
                            : fmt::format("{}: row {}", file, row + 1);
}

std::vector<double> Table::si(std::string_view name, Quantity quantity, std::string_view default_unit,
                              bool gaps) const {
  const std::string file = source.empty() ? "table" : source;
  const Column* column = find(name);
  if (column == nullptr) {
    if (const auto* text = find_column(texts, name))
      throw InputError(where(text->first_text),
                       fmt::format("column \"{}\" holds text where a number belongs: \"{}\"", name,
                                   text->values.at(text->first_text)),
                       "Give numbers in every row, or name another column.");
    fail_missing(file, "column", name, columns);
  }
  const std::string_view unit = column->unit.empty() ? default_unit : std::string_view(column->unit);
  if (unit.empty() && si_unit(quantity) != "1")
    throw InputError(
        file, fmt::format("column \"{}\" has no unit", name),
        fmt::format(
            "Write it into the header, such as \"{} [{}]\"{}; allowed: {}.", name, si_unit(quantity),
            quantity == Quantity::length ? ", or say it once for all (of a job: survey.length_unit)" : "",
            allowed_units(quantity)));
  double factor = 1;
  if (!unit.empty()) {
    try {
      factor = si_factor(quantity, unit);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: column \"{}\"", file, name), e.problem(), e.next());
    }
  }
  std::size_t empty = 0, first = 0;
  auto values = column->values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool wrong = gaps ? std::isinf(values[i]) : !std::isfinite(values[i]);
    if (wrong && empty++ == 0) first = i;
    values[i] *= factor;
  }
  if (empty > 0)
    throw InputError(
        where(first),
        fmt::format("{} row{} no {}", empty, empty == 1 ? " has" : "s (this is the first) have", name),
        fmt::format("Give a finite \"{}\" in every row.", name));
  return values;
}

const Column* MeshData::find(std::string_view name) const { return find_column(cells, name); }

Survey to_survey(const Table& table, std::string_view default_unit) {
  Survey survey;
  survey.easting = table.si("easting", Quantity::length, default_unit);
  survey.northing = table.si("northing", Quantity::length, default_unit);
  survey.up = table.si("up", Quantity::length, default_unit);
  if (survey.size() == 0)
    throw InputError(table.source.empty() ? "table" : table.source, "there are no stations",
                     "Give at least one row.");
  for (const auto& c : table.columns)
    if (c.name != "easting" && c.name != "northing" && c.name != "up") survey.columns.push_back(c);
  survey.projection = table.projection;
  if (const auto frame = table.attributes.find("frame"); frame != table.attributes.end())
    survey.frame = frame->second;
  survey.grid = grid_in_order(survey.easting, survey.northing);
  return survey;
}

Survey to_survey(const GridData& grid) {
  if (grid.geographic)
    throw InputError("stations", "the grid is in longitude and latitude", "Project it to metres first.");
  const Column* up = grid.find("up");
  if (up == nullptr) fail_missing("stations", "field", "up", grid.fields);
  Survey survey;
  const double factor = up->unit.empty() ? 1.0 : si_factor(Quantity::length, up->unit);
  for (const double y : grid.northing)
    for (const double x : grid.easting) survey.easting.push_back(x), survey.northing.push_back(y);
  for (std::size_t i = 0; i < up->values.size(); ++i) {
    if (!std::isfinite(up->values[i]))
      throw InputError("stations", fmt::format("node {} of the grid has no height", i),
                       "Fill the gaps of \"up\".");
    survey.up.push_back(up->values[i] * factor);
  }
  survey.grid = SurveyGrid{grid.easting, grid.northing};
  for (const auto& f : grid.fields)
    if (f.name != "up") survey.columns.push_back(f);
  survey.projection = grid.projection;
  if (const auto frame = grid.attributes.find("frame"); frame != grid.attributes.end())
    survey.frame = frame->second;
  return survey;
}

Table to_table(const Survey& survey, Attributes attributes) {
  Table table;
  table.columns = {{"easting", "m", "easting", survey.easting},
                   {"northing", "m", "northing", survey.northing},
                   {"up", "m", "height", survey.up}};
  table.columns.insert(table.columns.end(), survey.columns.begin(), survey.columns.end());
  table.projection = survey.projection;
  table.attributes = std::move(attributes);
  if (survey.grid) say_grid(table, survey.grid->easting.size(), survey.grid->northing.size());
  if (!survey.frame.empty()) table.attributes.emplace("frame", survey.frame);
  return table;
}

Table to_table(const GridData& grid) {
  Table table;
  Column x{grid.geographic ? "longitude" : "easting", grid.geographic ? "degrees_east" : "m", "", {}};
  Column y{grid.geographic ? "latitude" : "northing", grid.geographic ? "degrees_north" : "m", "", {}};
  x.values.reserve(grid.size());
  y.values.reserve(grid.size());
  for (const double north : grid.northing)
    for (const double east : grid.easting) x.values.push_back(east), y.values.push_back(north);
  table.columns = {std::move(x), std::move(y)};
  if (const Column* up = grid.find("up")) table.columns.push_back(*up);
  for (const auto& f : grid.fields)
    if (f.name != "up") table.columns.push_back(f);
  table.projection = grid.projection;
  table.attributes = grid.attributes;
  if (!grid.geographic) say_grid(table, grid.easting.size(), grid.northing.size());
  return table;
}

bool holds_bare_points(const Table& table) {
  return table.columns.size() == 3 && table.texts.empty() && table.columns[0].name == "column_1" &&
         table.columns[1].name == "column_2" && table.columns[2].name == "column_3";
}

std::optional<GridData> to_grid(const Table& table) {
  GridData grid;
  const auto nodes = nodes_of(table, grid);
  const auto *x = nodes.x, *y = nodes.y;
  if (x == nullptr) return {};
  const auto axis = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  };
  grid.easting = axis(x->values);
  grid.northing = axis(y->values);
  const std::size_t n = table.rows(), n_east = grid.easting.size();
  if (n_east < 2 || grid.northing.size() < 2 || n % n_east != 0 || n / n_east != grid.northing.size())
    return {};
  std::vector<std::size_t> row_of(n, n);
  for (std::size_t row = 0; row < n; ++row) {
    const auto i =
        std::lower_bound(grid.easting.begin(), grid.easting.end(), x->values[row]) - grid.easting.begin();
    const auto j =
        std::lower_bound(grid.northing.begin(), grid.northing.end(), y->values[row]) - grid.northing.begin();
    auto& place = row_of[static_cast<std::size_t>(i) + n_east * static_cast<std::size_t>(j)];
    if (place != n) return {};
    place = row;
  }
  for (const auto& c : table.columns) {
    if (&c == x || &c == y) continue;
    Column field{nodes.bare ? "up" : c.name, c.unit, c.description, {}};
    if (!c.values.empty()) {  // columns made from gathers may be without values
      field.values.reserve(n);
      for (const auto row : row_of) field.values.push_back(c.values[row]);
    }
    grid.fields.push_back(std::move(field));
  }
  scale_axes(grid, nodes);
  return grid;
}

GridData to_grid_data(const Grid& grid, std::string name, std::string unit) {
  GridData data;
  data.easting = grid.easting;
  data.northing = grid.northing;
  data.geographic = grid.geographic;
  data.fields.push_back({std::move(name), std::move(unit), "", grid.values});
  return data;
}

void to_si(Column& column) {
  const auto* kind = find_property(column.name);
  if (kind == nullptr || column.unit.empty()) return;
  const double factor = si_factor(kind->quantity, column.unit);
  if (factor != 1)
    for_each_stretch(column.values.size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) column.values[n] *= factor;
    });
  column.unit = si_unit(kind->quantity);
}

EarthModel to_earth_model(MeshData data, std::string_view property, std::string_view field) {
  if (!field.empty() && data.find(field) == nullptr)
    fail_missing("model", "cell property", field, data.cells);
  std::vector<Property> properties;
  for (auto& column : data.cells) {
    const bool is_field = column.name == field;
    if (!is_field && (find_property(column.name) == nullptr || (!field.empty() && column.name == property)))
      continue;
    Column taken{std::string(is_field ? property : std::string_view(column.name)), column.unit, "",
                 std::move(column.values)};
    to_si(taken);
    properties.push_back({std::move(taken.name), std::move(taken.values)});
  }
  if (properties.empty()) fail_missing("model", "cell property", property, data.cells);
  return from_dense(std::move(data.mesh), std::move(properties));
}

EarthModel to_earth_model(PrismData data) { return {std::move(data.prisms), std::move(data.properties)}; }

Content to_content(const EarthModel& model, Attributes attributes) {
  const auto* cells = std::get_if<MeshCells>(&model.geometry);
  if (cells == nullptr)
    return PrismData{std::get<PrismSet>(model.geometry), model.properties, std::move(attributes)};
  MeshData data{cells->mesh, {}, std::move(attributes)};
  for (const auto& p : model.properties)
    data.cells.push_back(
        {p.name, std::string(si_unit(property_kind(p.name).quantity)), p.name, model.dense(p.name)});
  return data;
}

namespace {

/// The columns of a table of prisms that have known properties, with the names of the properties; "rho" is
/// the density.
std::vector<std::pair<std::string_view, const Column*>> property_columns(const Table& table) {
  std::vector<std::pair<std::string_view, const Column*>> found;
  const bool corners = table.find(corner_names[0]) != nullptr, rho = corners && table.find("rho") != nullptr;
  for (const auto& column : table.columns)
    if (column.name == "rho" && rho) found.emplace_back("density", &column);
    else if (const auto* kind = find_property(column.name);
             kind != nullptr && !(rho && kind->name == "density"))
      found.emplace_back(kind->name, &column);
  return found;
}

bool has_all(const Table& table, const std::array<std::string_view, 6>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](std::string_view name) { return table.find(name) != nullptr; });
}

}  // namespace

bool holds_prisms(const Table& table) {
  return (has_all(table, face_names) || has_all(table, corner_names)) && !property_columns(table).empty();
}

PrismData to_prisms(const Table& table, std::string_view length_unit, std::string_view unit,
                    std::string_view property) {
  const bool corners = table.find("x1") != nullptr;
  const auto& wanted = corners ? corner_names : face_names;
  std::array<std::vector<double>, 6> faces;
  for (std::size_t f = 0; f < 6; ++f) faces[f] = table.si(wanted[f], Quantity::length, length_unit);
  PrismData data;
  for (const auto& [name, column] : property_columns(table)) {
    const auto& kind = property_kind(name);
    const auto default_unit = name == property ? unit : std::string_view{};
    data.properties.push_back(
        {std::string(name), table.si(column->name, kind.quantity, default_unit, std::isnan(kind.absent))});
  }
  if (data.properties.empty())
    table.si(property, property_kind(property).quantity, unit);  // throws an error whose message says what is
                                                                 // missing
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto &low = faces[2 * axis][row], &high = faces[2 * axis + 1][row];
      if (corners && low > high) std::swap(low, high);
      if (!(low < high))
        throw InputError(table.where(row),
                         fmt::format("the prism has no extent between {} {} and {} {}", wanted[2 * axis], low,
                                     wanted[2 * axis + 1], high),
                         corners ? "Opposite corners must differ along every axis."
                                 : "west < east, south < north and bottom < top must hold.");
    }
  auto& p = data.prisms;
  p.west = std::move(faces[0]);
  p.east = std::move(faces[1]);
  p.south = std::move(faces[2]);
  p.north = std::move(faces[3]);
  p.bottom = std::move(faces[4]);
  p.top = std::move(faces[5]);
  data.attributes = table.attributes;
  return data;
}

Table to_table(const PrismData& data) {
  Table table;
  const auto& p = data.prisms;
  table.columns = {{"west", "m", "", p.west},   {"east", "m", "", p.east},     {"south", "m", "", p.south},
                   {"north", "m", "", p.north}, {"bottom", "m", "", p.bottom}, {"top", "m", "", p.top}};
  for (const auto& property : data.properties)
    table.columns.push_back(
        {property.name, std::string(si_unit(property_kind(property.name).quantity)), "", property.values});
  table.attributes = data.attributes;
  return table;
}

}  // namespace terrane::io
