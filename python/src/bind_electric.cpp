// Direct current for Python: data of electrode arrays, and their sensitivities.
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electric/cell_potentials.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/physics/electric/sensitivity.hpp"
#include "terrane/physics/electric/simulation.hpp"
#include "terrane/physics/electric/survey/files.hpp"

namespace terrane::python {

namespace {

/// places [electrodes, 3] east, north, up · arrays [arrays, 4] numbers of a, b, m, n, −1 far away
electric::Electrodes electrodes_of(const Matrix& places, const Matrix& arrays) {
  electric::Electrodes electrodes;
  for (std::size_t n = 0; n < places.shape(0); ++n)
    electrodes.place.push_back({places(n, 0), places(n, 1), places(n, 2)});
  for (std::size_t n = 0; n < arrays.shape(0); ++n) {
    const auto at = [&](std::size_t p) { return static_cast<int>(arrays(n, p)); };
    electrodes.arrays.push_back({at(0), at(1), at(2), at(3)});
  }
  return electrodes;
}

/// boundary: 0 mixed, 1 grounded, 2 insulated, at the lower and upper ends of up, northing, easting
electric::Parameters parameters_of(const std::array<int, 6>& boundary, const std::string& potential,
                                   double tolerance) {
  electric::Parameters parameters;
  parameters.tolerance = tolerance;
  for (std::size_t side = 0; side < boundary.size(); ++side)
    parameters.boundary(side / 2, side % 2 == 1) = static_cast<electric::Boundary>(boundary[side]);
  if (potential == "secondary") parameters.potential = electric::Potential::secondary;
  if (potential == "total") parameters.potential = electric::Potential::total;
  return parameters;
}

/// What the command would warn of.
nb::list warnings_of(const std::vector<std::string>& before, const electric::DirectCurrentReport& report) {
  nb::list all;
  for (const auto& warning : before) all.append(warning);
  for (const auto& warning : electric::warnings_of(report)) all.append(warning);
  return all;
}

/// conductivity, quadrature: [cells], or [3 cells] along easting, northing, up; quadrature, chargeability,
/// ground: or empty
electric::Medium medium_of(const TensorMesh& mesh, std::vector<double> conductivity,
                           std::vector<double> quadrature, std::vector<double> chargeability,
                           std::vector<double> ground) {
  electric::Medium medium{std::move(conductivity), std::move(quadrature), std::move(chargeability),
                          std::move(ground)};
  const auto share_out = [&](std::vector<double>& all, std::vector<double>& north, std::vector<double>& up) {
    if (all.size() != 3 * mesh.size()) return;
    const auto cells = static_cast<std::ptrdiff_t>(mesh.size());
    north.assign(all.begin() + cells, all.begin() + 2 * cells);
    up.assign(all.begin() + 2 * cells, all.end());
    all.resize(mesh.size());
  };
  share_out(medium.conductivity, medium.conductivity_north, medium.conductivity_up);
  share_out(medium.quadrature, medium.quadrature_north, medium.quadrature_up);
  return medium;
}

/// The arguments are those of medium_of().
nb::dict electric_data(const Vector& easting, const Vector& northing, const Vector& up,
                       const Vector& conductivity, const Vector& quadrature, const Vector& chargeability,
                       const Vector& ground, const Matrix& places, const Matrix& arrays,
                       const std::array<int, 6>& boundary, const std::string& potential, double tolerance,
                       int threads) {
  const TensorMesh mesh(values_of(easting), values_of(northing), values_of(up));
  const auto medium = medium_of(mesh, values_of(conductivity), values_of(quadrature),
                                values_of(chargeability), values_of(ground));
  const auto electrodes = electrodes_of(places, arrays);
  electric::DirectCurrentData data;
  electric::DirectCurrentReport report;
  std::vector<std::string> warnings;
  released([&] {
    Stream stream(Device{Device::Kind::cpu, -1}, false, threads);
    const auto parameters = parameters_of(boundary, potential, tolerance);
    data = electric::direct_current(mesh, medium, electrodes, parameters, stream, &report);
    warnings = electric::warnings_of(mesh, medium, electrodes, parameters);
  });
  nb::dict all;
  const auto put = [&](const char* name, std::vector<double> values) {
    if (!values.empty()) all[name] = array_of(std::move(values));
  };
  put("resistance", std::move(data.resistance));
  put("geometric_factor", std::move(data.geometric_factor));
  put("apparent_resistivity", std::move(data.apparent_resistivity));
  put("reactance", std::move(data.reactance));
  put("phase", std::move(data.phase));
  put("chargeability", std::move(data.chargeability));
  all["warnings"] = warnings_of(warnings, report);
  return all;
}

/// (operator, data, unit transfers, warnings).  datum: 0 resistance, 1 apparent resistivity, 2 its logarithm
nb::tuple electric_sensitivity(const Vector& easting, const Vector& northing, const Vector& up,
                               const Vector& conductivity, const Vector& quadrature, const Vector& ground,
                               const Matrix& places, const Matrix& arrays, const std::array<int, 6>& boundary,
                               double tolerance, int datum, bool logarithm, const Vector& unit, int threads) {
  const TensorMesh mesh(values_of(easting), values_of(northing), values_of(up));
  const auto medium = medium_of(mesh, values_of(conductivity), values_of(quadrature), {}, values_of(ground));
  auto known = values_of(unit);
  const auto electrodes = electrodes_of(places, arrays);
  electric::DirectCurrentReport report;
  std::shared_ptr<electric::Sensitivity> made;
  std::vector<std::string> warnings;
  released([&] {
    const auto parameters = parameters_of(boundary, "total", tolerance);
    Stream stream(Device{Device::Kind::cpu, -1}, false, threads);
    made = std::make_shared<electric::Sensitivity>(
        mesh, medium, electrodes, parameters, static_cast<electric::Datum>(datum),
        logarithm ? electric::Unknown::log_conductivity : electric::Unknown::conductivity, stream,
        std::move(known), &report);
    warnings = electric::warnings_of(mesh, medium, electrodes, parameters);
  });
  return nb::make_tuple(nb::cast(std::shared_ptr<solve::LinearOperator>(made)), array_of(made->data()),
                        array_of(made->unit()), warnings_of(warnings, report));
}

/// (places, arrays, {name: (unit, values, uncertainty)})
nb::tuple read_arrays(const std::string& path) {
  const auto measured = electric::read_measured(path);
  std::vector<double> places, arrays;
  for (const auto& p : measured.electrodes.place) places.insert(places.end(), {p.e, p.n, p.u});
  for (const auto& array : measured.electrodes.arrays)
    for (const int n : {array.a, array.b, array.m, array.n}) arrays.push_back(n);
  nb::dict columns;
  for (const auto& column : measured.columns)
    columns[column.name.c_str()] =
        nb::make_tuple(column.unit, array_of(column.values), array_of(column.uncertainty));
  const std::size_t electrodes = places.size() / 3, count = arrays.size() / 4;
  return nb::make_tuple(array_of(std::move(places), {electrodes, 3}), array_of(std::move(arrays), {count, 4}),
                        columns);
}

/// columns: {name: (unit, values, uncertainty)}; UBC DCIP unless the name ends with .ohm
void write_arrays(const std::string& path, const Matrix& places, const Matrix& arrays,
                  const nb::dict& columns) {
  electric::Measured measured;
  measured.electrodes = electrodes_of(places, arrays);
  for (const auto [name, given] : columns) {
    const auto parts = nb::cast<nb::tuple>(given);
    measured.columns.push_back({nb::cast<std::string>(name), nb::cast<std::string>(parts[0]),
                                values_of(nb::cast<Vector>(parts[1])),
                                values_of(nb::cast<Vector>(parts[2]))});
  }
  if (path.ends_with(".ohm")) io::write_bert(path, measured);
  else io::write_ubc_dcip(path, measured);
}

/// Potentials in the middle of cells, V; all arrays [cells].
class CellSolver {
 public:
  /// resistivity: ohm m · boundary: as of parameters_of() · fields: how many potentials will be kept
  CellSolver(const Vector& easting, const Vector& northing, const Vector& up, const Vector& resistivity,
             const std::array<int, 6>& boundary, double tolerance, std::size_t fields, int threads)
      : stream_(Device{Device::Kind::cpu, -1}, false, threads) {
    TensorMesh mesh(values_of(easting), values_of(northing), values_of(up));
    auto rho = values_of(resistivity);
    made_ = released([&] {
      return std::make_unique<electric::CellPotentials>(
          std::move(mesh), std::move(rho), parameters_of(boundary, "total", tolerance), stream_, fields);
    });
  }

  /// (potential, what did not converge or nothing)
  nb::tuple potential(const Vector& currents) {
    std::vector<double> kept;
    const auto q = span_of(currents, kept);
    return solved([&](solve::SolveReport& report) { return made_->potential(q, report); });
  }
  nb::tuple change(const Vector& potential, const Vector& change) {
    std::vector<double> kept[2];
    const auto phi = span_of(potential, kept[0]), by = span_of(change, kept[1]);
    return solved([&](solve::SolveReport& report) { return made_->change(phi, by, report); });
  }
  nb::object slope(const Vector& potential, const Vector& of_receivers) {
    std::vector<double> kept[2], slope(made_->cells());
    const auto phi = span_of(potential, kept[0]), lambda = span_of(of_receivers, kept[1]);
    alone_.released(nb::none(), [&](Progress&) { made_->add_slope(phi, lambda, slope); });
    return array_of(std::move(slope));
  }

 private:
  template <class Work>
  nb::tuple solved(const Work& work) {
    solve::SolveReport report;
    auto found = alone_.released(nb::none(), [&](Progress&) { return work(report); });
    return nb::make_tuple(array_of(std::move(found)), report.converged() ? std::string() : report.text());
  }

  Stream stream_;
  std::unique_ptr<electric::CellPotentials> made_;
  OneAtATime alone_;
};

}  // namespace

void bind_electric(nb::module_& m) {
  m.def("electric_data", &electric_data);
  m.def("electric_sensitivity", &electric_sensitivity);
  m.def("read_arrays", &read_arrays);
  m.def("write_arrays", &write_arrays);
  nb::class_<CellSolver>(m, "CellSolver")
      .def(nb::init<const Vector&, const Vector&, const Vector&, const Vector&, const std::array<int, 6>&,
                    double, std::size_t, int>())
      .def("potential", &CellSolver::potential)
      .def("change", &CellSolver::change)
      .def("slope", &CellSolver::slope);
}

}  // namespace terrane::python
