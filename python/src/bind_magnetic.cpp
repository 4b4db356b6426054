// Magnetics: the flux density of magnetized prisms on arrays.
#include <nanobind/stl/string.h>

#include <array>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/physics/magnetic/forward.hpp"

namespace terrane::python {

namespace {

/// prisms [m, 6] m · east, north, high: their magnetization [m] A/m · easting, northing, up [n] m.
/// (b_e, b_n, b_u [n] T, the stations inside of prisms, how many have no single value)
nb::tuple field_of_magnets(const Matrix& prisms, const Vector& east, const Vector& north, const Vector& high,
                           const Vector& easting, const Vector& northing, const Vector& up, double accuracy,
                           int method, int policy, const std::string& device, int threads,
                           const nb::object& report) {
  gravity::Parameters parameters;
  parameters.accuracy = accuracy;
  parameters.method = static_cast<gravity::Method>(method);
  parameters.singular = static_cast<gravity::SingularPolicy>(policy);
  parameters.device = device_from_text(device);
  parameters.threads = threads;
  std::array<std::vector<double>, 9> kept;
  const gravity::Prisms sources{column_of(prisms, 0, kept[0]),
                                column_of(prisms, 1, kept[1]),
                                column_of(prisms, 2, kept[2]),
                                column_of(prisms, 3, kept[3]),
                                column_of(prisms, 4, kept[4]),
                                column_of(prisms, 5, kept[5]),
                                {}};
  const gravity::Stations stations{span_of(easting, kept[6]), span_of(northing, kept[7]),
                                   span_of(up, kept[8])};
  const magnetic::Magnetization m{values_of(east), values_of(north), values_of(high)};
  auto field = released(report, [&](Progress& progress) {
    return magnetic::forward(sources, m, stations, parameters, &progress);
  });
  std::vector<double> inside(field.inside.begin(), field.inside.end());
  return nb::make_tuple(array_of(std::move(field.b[0])), array_of(std::move(field.b[1])),
                        array_of(std::move(field.b[2])), array_of(std::move(inside)),
                        field.report.singular_stations);
}

}  // namespace

void bind_magnetic(nb::module_& m) {
  m.def("field_of_magnets", &field_of_magnets, nb::arg("prisms"), nb::arg("east"), nb::arg("north"),
        nb::arg("high"), nb::arg("easting"), nb::arg("northing"), nb::arg("up"), nb::arg("accuracy"),
        nb::arg("method"), nb::arg("policy"), nb::arg("device"), nb::arg("threads"),
        nb::arg("report").none());
}

}  // namespace terrane::python
