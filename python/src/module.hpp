// The parts of terrane._core.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "terrane/data/dataset.hpp"
#include "terrane/io/content.hpp"
#include "terrane/model/properties.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::python {

void bind_errors(nb::module_& m);
void bind_files(nb::module_& m);
void bind_jobs(nb::module_& m);
/// What every bind_<physics>.cpp adds.
void bind_physics(nb::module_& m);
void bind_datasets(nb::module_& m);

nb::dict to_dict(const Report& report);
nb::dict to_dict(const Plan& plan);
/// simulation.check(), without holding Python up.
Plan plan_of(terrane::Simulation& simulation, const Runtime& runtime = {});
/// simulation.run(), with progress to `report`, a callable or None.
Result run(terrane::Simulation& simulation, Runtime runtime, const nb::object& report);
/// (name, unit, description, values), the values taken over.
nb::tuple to_tuple(Column column);
nb::list to_list(std::vector<Column> columns);
std::vector<Column> columns_of(const nb::list& columns);
nb::list to_list(const std::vector<Property>& properties);
/// From tuples as to_list() makes them; names and values count.
std::vector<Property> properties_of(const nb::list& properties);
/// (easting, northing, up, columns, grid or None, projection)
Survey survey_of(const nb::tuple& survey);
/// Its columns of words.
std::vector<io::TextColumn> words_of(const nb::tuple& survey);
nb::tuple to_tuple(Survey survey);
/// As _core.write takes it: a dict with its kind.
io::Content content_of(const nb::dict& content);
nb::dict to_dict(const Dataset& data);
Dataset dataset_of(const nb::dict& data);
nb::dict to_dict(const std::map<std::string, std::string>& attributes);

}  // namespace terrane::python
