// Data sets as dicts of arrays, and back.
#include "terrane/io/dataset.hpp"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "module.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/netcdf_sink.hpp"

namespace terrane::python {

namespace {

/// Of variables, in the order of VariableRole.
constexpr std::array<const char*, 4> roles{"computed", "given", "residual", "mark"};

/// A NumPy array that takes over the values.
template <class T>
nb::object owned(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  static T nothing{};
  T* data = kept->empty() ? &nothing : kept->data();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

nb::list to_list(const std::vector<Attribute>& attributes) {
  nb::list list;
  for (const auto& a : attributes)
    std::visit([&](const auto& value) { list.append(nb::make_tuple(a.name, value)); }, a.value);
  return list;
}

/// (name, dimensions, values, unit, long name, attributes, role); words are a flat list.
nb::tuple to_tuple(const Dataset& data, const Variable& v) {
  const auto shape = data.shape(v);
  auto values = std::visit(
      [&](const auto& list) -> nb::object {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) return nb::cast(list);
        else return owned<T>(list, shape);
      },
      v.values);
  return nb::make_tuple(v.name, v.dimensions, values, v.unit, v.long_name, to_list(v.attributes),
                        roles.at(static_cast<std::size_t>(v.role)));
}

template <class T>
bool take(const nb::object& array, Values& out) {
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  if (!nb::isinstance<Array>(array)) return false;
  const auto seen = nb::cast<Array>(array);
  out = std::vector<T>(seen.data(), seen.data() + seen.size());
  return true;
}

std::vector<Attribute> attributes_of(const nb::list& list) {
  std::vector<Attribute> out;
  for (const nb::handle item : list) {
    const auto pair = nb::cast<nb::tuple>(item);
    Attribute a{nb::cast<std::string>(pair[0]), {}};
    if (nb::isinstance<nb::str>(pair[1])) a.value = nb::cast<std::string>(pair[1]);
    else a.value = nb::cast<double>(pair[1]);
    out.push_back(std::move(a));
  }
  return out;
}

Variable variable_of(const nb::tuple& t) {
  Variable v{nb::cast<std::string>(t[0]),
             nb::cast<std::string>(t[3]),
             nb::cast<std::string>(t[4]),
             nb::cast<std::vector<std::string>>(t[1]),
             {},
             attributes_of(nb::cast<nb::list>(t[5]))};
  if (t.size() > 6)
    v.role = static_cast<VariableRole>(std::find(roles.begin(), roles.end(), nb::cast<std::string>(t[6])) -
                                       roles.begin());
  const nb::object values = t[2];
  if (nb::isinstance<nb::list>(values)) v.values = nb::cast<std::vector<std::string>>(values);
  else if (!(take<double>(values, v.values) || take<float>(values, v.values) ||
             take<std::complex<double>>(values, v.values) || take<std::complex<float>>(values, v.values) ||
             take<std::int32_t>(values, v.values) || take<unsigned char>(values, v.values)))
    throw InputError(v.name, "its values are of a type that files do not keep",
                     "Allowed: float64, float32, complex128, complex64, int32, uint8, words.");
  return v;
}

}  // namespace

nb::dict to_dict(const Dataset& data) {
  nb::dict dimensions, out;
  for (const auto& d : data.dimensions) dimensions[d.name.c_str()] = d.size;
  nb::list coordinates, variables;
  for (const auto& c : data.coordinates) coordinates.append(to_tuple(data, c));
  for (const auto& v : data.variables) variables.append(to_tuple(data, v));
  out["dimensions"] = dimensions;
  out["coordinates"] = coordinates;
  out["variables"] = variables;
  out["attributes"] = to_list(data.attributes);
  return out;
}

Dataset dataset_of(const nb::dict& d) {
  Dataset data;
  for (const auto& [name, size] : nb::cast<nb::dict>(d["dimensions"]))
    data.dimensions.push_back({nb::cast<std::string>(name), nb::cast<std::size_t>(size)});
  for (const nb::handle item : nb::cast<nb::list>(d["coordinates"]))
    data.coordinates.push_back(variable_of(nb::cast<nb::tuple>(item)));
  for (const nb::handle item : nb::cast<nb::list>(d["variables"]))
    data.variables.push_back(variable_of(nb::cast<nb::tuple>(item)));
  data.attributes = attributes_of(nb::cast<nb::list>(d["attributes"]));
  return data;
}

void bind_datasets(nb::module_& m) {
  m.def("read_dataset", [](const std::string& path) {
    Dataset data;
    {
      const nb::gil_scoped_release free;
      data = io::read_dataset(path);
    }
    return to_dict(data);
  });
  m.def("write_dataset", [](const std::string& path, const nb::dict& content) {
    const auto data = dataset_of(content);
    const nb::gil_scoped_release free;
    io::write(path, data);
  });
}

}  // namespace terrane::python
