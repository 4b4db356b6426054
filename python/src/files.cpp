// Files of all formats as dicts of arrays, and back.
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "module.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/library_lock.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::python {

nb::tuple to_tuple(Column column) {
  return nb::make_tuple(column.name, column.unit, column.description, array_of(std::move(column.values)));
}

nb::list to_list(std::vector<Column> columns) {
  nb::list list;
  for (auto& column : columns) list.append(to_tuple(std::move(column)));
  return list;
}

std::vector<Column> columns_of(const nb::list& columns) {
  std::vector<Column> made;
  for (const nb::handle item : columns) {
    const auto t = nb::cast<nb::tuple>(item);
    made.push_back({nb::cast<std::string>(t[0]), nb::cast<std::string>(t[1]), nb::cast<std::string>(t[2]),
                    values_of(nb::cast<Vector>(t[3]))});
  }
  return made;
}

std::vector<Property> properties_of(const nb::list& properties) {
  std::vector<Property> made;
  for (const nb::handle item : properties) {
    const auto t = nb::cast<nb::tuple>(item);
    made.push_back({nb::cast<std::string>(t[0]), values_of(nb::cast<Vector>(t[3]))});
  }
  return made;
}

nb::list to_list(const std::vector<Property>& properties) {
  std::vector<Column> columns;
  for (const auto& p : properties)
    columns.push_back({p.name, std::string(si_unit(property_kind(p.name).quantity)), p.name, p.values});
  return to_list(std::move(columns));
}

nb::dict to_dict(const std::map<std::string, std::string>& attributes) {
  nb::dict d;
  for (const auto& [name, value] : attributes) d[name.c_str()] = value;
  return d;
}

nb::tuple to_tuple(Survey survey) {
  nb::object grid = nb::none();
  if (survey.grid)
    grid =
        nb::make_tuple(array_of(std::move(survey.grid->easting)), array_of(std::move(survey.grid->northing)));
  return nb::make_tuple(array_of(std::move(survey.easting)), array_of(std::move(survey.northing)),
                        array_of(std::move(survey.up)), to_list(std::move(survey.columns)), grid,
                        survey.projection, survey.frame, nb::dict());
}

std::vector<io::TextColumn> words_of(const nb::tuple& survey) {
  std::vector<io::TextColumn> all;
  for (const auto [name, words] : nb::cast<nb::dict>(survey[7]))
    all.push_back({nb::cast<std::string>(name), nb::cast<std::vector<std::string>>(words), 0});
  return all;
}

Survey survey_of(const nb::tuple& t) {
  Survey survey;
  survey.easting = values_of(nb::cast<Vector>(t[0]));
  survey.northing = values_of(nb::cast<Vector>(t[1]));
  survey.up = values_of(nb::cast<Vector>(t[2]));
  survey.columns = columns_of(nb::cast<nb::list>(t[3]));
  if (const nb::object item = t[4]; !item.is_none()) {
    const auto grid = nb::cast<nb::tuple>(item);
    survey.grid = SurveyGrid{values_of(nb::cast<Vector>(grid[0])), values_of(nb::cast<Vector>(grid[1]))};
  }
  survey.projection = nb::cast<std::string>(t[5]);
  survey.frame = nb::cast<std::string>(t[6]);
  return survey;
}

namespace {

nb::dict content_to_dict(io::Content content) {
  nb::dict d;
  std::visit(
      [&](auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (!std::is_same_v<Held, Dataset>) d["attributes"] = to_dict(held.attributes);
        if constexpr (std::is_same_v<Held, Dataset>) {
          d["kind"] = "dataset";
          d["dataset"] = to_dict(std::move(held));
        } else if constexpr (std::is_same_v<Held, io::GridData>) {
          d["kind"] = "grid";
          d["easting"] = array_of(std::move(held.easting));
          d["northing"] = array_of(std::move(held.northing));
          d["geographic"] = held.geographic;
          d["fields"] = to_list(std::move(held.fields));
          d["projection"] = held.projection;
        } else if constexpr (std::is_same_v<Held, io::Table>) {
          if (io::holds_prisms(held)) {
            d["kind"] = "prisms";
            const auto prisms = io::to_prisms(held, "m", "kg/m3");
            const auto& p = prisms.prisms;
            nb::list faces;
            for (const auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top})
              faces.append(array_of(*face));
            d["faces"] = faces;
            d["properties"] = to_list(prisms.properties);
            return;
          }
          d["kind"] = "table";
          d["columns"] = to_list(std::move(held.columns));
          nb::dict texts;
          for (const auto& text : held.texts) {
            nb::list words;
            for (const auto& word : text.values) words.append(word);
            texts[text.name.c_str()] = words;
          }
          d["texts"] = texts;
          d["projection"] = held.projection;
        } else if constexpr (std::is_same_v<Held, io::MeshData>) {
          d["kind"] = "mesh";
          d["easting"] = array_of(held.mesh.easting());
          d["northing"] = array_of(held.mesh.northing());
          d["up"] = array_of(held.mesh.up());
          d["cells"] = to_list(std::move(held.cells));
        } else if constexpr (std::is_same_v<Held, io::PrismData>) {
          d["kind"] = "prisms";
          auto& p = held.prisms;
          nb::list faces;
          for (auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top})
            faces.append(array_of(std::move(*face)));
          d["faces"] = faces;
          d["properties"] = to_list(held.properties);
        } else {
          d["kind"] = "array";
          nb::list shape;
          for (const auto n : held.shape) shape.append(n);
          d["shape"] = shape;
          d["values"] = array_of(std::move(held.values));
        }
      },
      content);
  return d;
}

/// h5py may stand on the same HDF5 library. Once it is imported, its lock is held too while Terrane is in
/// there.
io::LibraryGate gate_of_h5py() {
  static thread_local bool held = false;
  const auto call = [](const char* what) {
    try {
      const nb::dict modules = nb::module_::import_("sys").attr("modules");
      if (!modules.contains("h5py._objects")) return false;
      modules["h5py._objects"].attr("phil").attr(what)();
      return true;
    } catch (const nb::python_error&) {  // h5py of another kind, without that lock
      return false;
    }
  };
  return {[call] {
            const nb::gil_scoped_acquire gil;
            held = call("acquire");
          },
          [call] {
            if (!held) return;
            const nb::gil_scoped_acquire gil;
            call("release");
            held = false;
          }};
}

}  // namespace

io::Content content_of(const nb::dict& d) {
  const auto kind = nb::cast<std::string>(d["kind"]);
  const auto attributes = nb::cast<io::Attributes>(d["attributes"]);
  const auto vector = [&](const char* name) { return values_of(nb::cast<Vector>(d[name])); };
  if (kind == "mesh")
    return io::MeshData{TensorMesh(vector("easting"), vector("northing"), vector("up")),
                        columns_of(nb::cast<nb::list>(d["cells"])), attributes};
  if (kind == "prisms") {
    io::PrismData prisms;
    const auto faces = nb::cast<nb::list>(d["faces"]);
    auto& p = prisms.prisms;
    std::size_t place = 0;
    for (auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top})
      *face = values_of(nb::cast<Vector>(faces[place++]));
    prisms.properties = properties_of(nb::cast<nb::list>(d["properties"]));
    prisms.attributes = attributes;
    return prisms;
  }
  if (kind == "grid")
    return io::to_grid_data({vector("easting"), vector("northing"), vector("values"), false}, "elevation",
                            "m");
  if (kind == "array") {
    io::Array array;
    array.shape = nb::cast<std::vector<std::size_t>>(d["shape"]);
    array.values = vector("values");
    array.attributes = attributes;
    return array;
  }
  if (kind == "dataset") return dataset_of(nb::cast<nb::dict>(d["dataset"]));
  if (kind == "columns") {
    io::Table table;
    table.columns = columns_of(nb::cast<nb::list>(d["columns"]));
    table.source = nb::cast<std::string>(d["source"]);
    table.attributes = attributes;
    return table;
  }
  const auto survey = nb::cast<nb::tuple>(d["survey"]);
  auto table = io::to_table(survey_of(survey), attributes);
  table.texts = words_of(survey);
  return table;
}

void bind_files(nb::module_& m) {
  io::set_library_gate(gate_of_h5py());
  m.def(
      "read",
      [](const std::string& path, const std::string& format, const std::string& mesh, const std::string& unit,
         const std::string& length_unit, const std::string& field, const std::string& property) {
        io::Content content;
        {
          const nb::gil_scoped_release free;
          content = io::read(path, {format, mesh, unit, length_unit, field, {}, property});
        }
        return content_to_dict(std::move(content));
      },
      nb::arg("path"), nb::arg("format") = "", nb::arg("mesh") = "", nb::arg("unit") = "",
      nb::arg("length_unit") = "", nb::arg("field") = "", nb::arg("property") = "");
  m.def("properties", [] {
    nb::list list;
    for (const auto& kind : known_properties())
      list.append(nb::make_tuple(std::string(kind.name), std::string(si_unit(kind.quantity)),
                                 std::string(kind.meaning), kind.absent));
    return list;
  });
  m.def(
      "write",
      [](const std::string& path, const nb::dict& content, const std::string& format,
         const std::string& field) {
        const auto held = content_of(content);
        const nb::gil_scoped_release free;
        const auto known = physics::all().conventions();
        const io::WriteOptions options{format, field, &known};
        auto names = io::left_out(path, held, options);
        io::write(path, held, options);
        return names;
      },
      nb::arg("path"), nb::arg("content"), nb::arg("format") = "", nb::arg("field") = "");
  m.def("describe", [](const std::string& path) {
    const nb::gil_scoped_release free;
    return io::describe(io::read(path), path);
  });
  m.def("crs_wkt", [](const std::string& definition) { return crs_wkt(definition); });
  m.def("formats", [] {
    nb::list list;
    for (const auto& f : io::formats())
      list.append(nb::make_tuple(std::string(f.name), std::string(f.title), std::string(f.extensions),
                                 std::string(f.holds), f.reads(), f.writes()));
    return list;
  });
}

}  // namespace terrane::python
