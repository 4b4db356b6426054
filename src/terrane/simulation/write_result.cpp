#include "terrane/simulation/write_result.hpp"

#include <algorithm>

#include "terrane/io/registry.hpp"

namespace terrane {

namespace {

std::vector<Column> all_columns(const Result& result) {
  auto columns = result.survey.columns;
  // A field takes the place of a column of the survey with its name.
  std::erase_if(columns, [&](const Column& c) {
    return std::any_of(result.fields.begin(), result.fields.end(),
                       [&](const Column& f) { return f.name == c.name; });
  });
  columns.insert(columns.end(), result.fields.begin(), result.fields.end());
  if (!result.singular.empty())
    columns.push_back({"singular",
                       "1",
                       "1 where the gradient tensor has no single value",
                       {result.singular.begin(), result.singular.end()}});
  return columns;
}

}  // namespace

io::Content to_content(const Result& result) {
  const auto& survey = result.survey;
  if (survey.grid) {
    io::GridData grid;
    grid.easting = survey.grid->easting;
    grid.northing = survey.grid->northing;
    grid.fields.push_back({"up", "m", "height", survey.up});
    for (auto& c : all_columns(result)) grid.fields.push_back(std::move(c));
    grid.projection = survey.projection;
    grid.attributes = result.attributes;
    return grid;
  }
  auto table = io::to_table(survey, result.attributes);
  table.columns.resize(3);
  for (auto& c : all_columns(result)) table.columns.push_back(std::move(c));
  return table;
}

void write_result(const std::string& path, const Result& result) {
  if (path.ends_with(".npy")) {
    io::Array array{{result.fields.size(), result.survey.size()}, {}, {}, false};
    array.single =
        std::all_of(result.fields.begin(), result.fields.end(), [](const Column& f) { return f.single; });
    for (const auto& f : result.fields)
      array.values.insert(array.values.end(), f.values.begin(), f.values.end());
    return io::write(path, array);
  }
  io::write(path, to_content(result));
}

}  // namespace terrane
