// Sensitivities of prisms, as an operator.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/base/error.hpp"
#include "terrane/inversion/data/forward.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/physics/electric/inverse/chargeability.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"
#include "terrane/physics/magnetic/main_field.hpp"

namespace terrane::python {

namespace {

PrismSet prisms_of_faces(const Matrix& faces) {
  PrismSet p;
  std::size_t column = 0;
  for (auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top}) {
    std::vector<double> kept;
    const auto seen = column_of(faces, column++, kept);
    face->assign(seen.begin(), seen.end());
  }
  return p;
}

gravity::inverse::Storage storage_named(const std::string& name) {
  using gravity::inverse::Storage;
  if (name == "none") return Storage::none;
  if (name == "double") return Storage::dense;
  if (name == "lattice") return Storage::lattice;
  if (name == "tree") return Storage::tree;
  if (name == "fmm") return Storage::fmm;
  return Storage::single;
}

gravity::SingularPolicy policy_named(const std::string& name) {
  using gravity::SingularPolicy;
  if (name == "mean") return SingularPolicy::mean;
  if (name == "outside") return SingularPolicy::outside;
  if (name == "inside") return SingularPolicy::inside;
  return SingularPolicy::nan;
}

/// storage: "single", "double", "none", "lattice", "tree", "fmm" · weights [observables, 10] and the bits of
/// flux, as of gravity::Observable · singular: "nan", "mean", "outside", "inside"
std::shared_ptr<solve::LinearOperator> sensitivity(const Matrix& faces, const Vector& easting,
                                                   const Vector& northing, const Vector& up,
                                                   const Matrix& weights, double accuracy,
                                                   const std::string& storage, double tree_accuracy,
                                                   const std::string& device, int threads, unsigned flux,
                                                   const std::string& singular) {
  std::vector<gravity::Observable> observables(weights.shape(0));
  for (auto& one : observables)
    for (std::size_t a = 0; a < 3; ++a) one.flux[a] = (flux >> a & 1) != 0;
  for (std::size_t c = 0; c < gravity::channel_count; ++c) {
    std::vector<double> kept;
    const auto column = column_of(weights, c, kept);
    for (std::size_t o = 0; o < observables.size(); ++o) observables[o].weight[c] = column[o];
  }
  gravity::KeptStations stations{values_of(easting), values_of(northing), values_of(up)};
  auto cells = prisms_of_faces(faces);
  return released([&] {
    const auto source = std::make_shared<gravity::SensitivityColumns>(
        std::move(cells), std::move(stations), std::move(observables), accuracy, policy_named(singular));
    gravity::inverse::StorageSettings settings;
    settings.storage = storage_named(storage);
    settings.accuracy = accuracy;
    settings.tree_accuracy = tree_accuracy;
    const Device wanted = resolve(device_from_text(device));
    if (wanted.has_own_memory() && gravity::inverse::runs_on_devices(settings.storage))
      settings.device = wanted;
    std::string reason;
    if (settings.storage == gravity::inverse::Storage::lattice &&
        !gravity::inverse::lattice_of(*source, threads, reason))
      throw InputError("storage", "there is no lattice: " + reason, "Take storage=\"tree\" or \"single\".");
    Runtime runtime;
    runtime.threads = threads;
    std::vector<std::string> notes;
    // Python has no const; all that is bound below is.
    return std::const_pointer_cast<solve::LinearOperator>(
        gravity::inverse::make_operator(source, settings, runtime, notes));
  });
}

/// result [n] = product of `given`, without holding Python up.
template <class Product>
nb::object product(const Vector& given, std::size_t n, const Product& multiply) {
  std::vector<double> kept, result(n);
  const auto seen = span_of(given, kept);
  released([&] { multiply(seen, std::span<double>(result)); });
  return array_of(std::move(result));
}

/// Chargeabilities m of cells from apparent ones, m_a = −J m (Seigel 1959), between 0 and `most`.  j: of
/// logarithms of apparent resistivities and conductivities · ground: [cells], or empty · lengths: m
nb::dict invert_chargeability(const std::shared_ptr<solve::LinearOperator>& j, const Vector& easting,
                              const Vector& northing, const Vector& up, const Vector& ground,
                              const Vector& data, const Vector& sigma, const Vector& lengths, double chi,
                              double most, int threads) {
  const auto share = values_of(ground), scale = values_of(lengths);
  std::vector<std::uint32_t> active;
  for (std::size_t cell = 0; cell < share.size(); ++cell)
    if (share[cell] > 0) active.push_back(static_cast<std::uint32_t>(cell));
  auto problem = electric::inverse::problem_of_charges(
      TensorMesh(values_of(easting), values_of(northing), values_of(up)), std::move(active), values_of(data),
      values_of(sigma), most);
  const std::size_t cells = problem.bounds.upper.size();
  inversion::Settings settings;
  settings.alphas = inversion::Alphas::from_lengths({scale[0], scale[1], scale[2]});
  settings.weighting = inversion::Weighting::sensitivity;
  settings.chi = chi;
  settings.tolerance = electric::inverse::tolerance_of_charges;
  settings.threads = threads;
  inversion::Outcome found;
  released([&] {
    problem.g =
        inversion::in_memory(*electric::inverse::operator_of_charges(j, problem.active, cells), threads);
    found = inversion::invert(problem, settings);
  });
  std::vector<double> model(problem.mesh.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t c = 0; c < cells; ++c) model[share.empty() ? c : problem.active[c]] = found.model[c];
  nb::dict result;
  result["model"] = array_of(std::move(model));
  result["predicted"] = array_of(std::move(found.predicted));
  result["chi_squared"] = found.chi_squared.front();
  result["converged"] = found.converged;
  result["reason"] = found.reason;
  return result;
}

}  // namespace

void bind_inversion(nb::module_& m) {
  using solve::LinearOperator;
  nb::class_<LinearOperator>(m, "LinearOperator")
      .def_prop_ro("rows", [](const LinearOperator& g) { return g.rows(); })
      .def_prop_ro("columns", [](const LinearOperator& g) { return g.columns(); })
      .def("apply",
           [](const LinearOperator& g, const Vector& model) {
             return product(model, g.rows(), [&](auto in, auto out) { g.apply(in, out); });
           })
      .def("apply_transpose",
           [](const LinearOperator& g, const Vector& data) {
             return product(data, g.columns(), [&](auto in, auto out) { g.apply_transpose(in, out); });
           })
      .def("weighted_diagonal",
           [](const LinearOperator& g, const Vector& weight) {
             return product(weight, g.columns(), [&](auto in, auto out) { g.weighted_diagonal(in, out); });
           })
      .def_prop_ro("undefined",  // stations of which a row has no value
                   [](const LinearOperator& g) {
                     const auto* settled = dynamic_cast<const gravity::SettledOperator*>(&g);
                     return settled == nullptr ? std::size_t{0} : settled->contacts().undefined().size();
                   })
      .def("row", [](const LinearOperator& g, std::size_t i) {
        std::vector<double> row(g.columns());
        g.row(i, row);
        return array_of(std::move(row));
      });
  m.def("sensitivity", &sensitivity);
  m.def("invert_chargeability", &invert_chargeability);
  m.def("magnetic_weights",
        [](const std::string& channel, double intensity, double inclination, double declination) {
          const auto& names = magnetic::channel_names;
          const auto found = std::find(names.begin(), names.end(), channel);
          if (found == names.end() || channel == "b_amplitude")  // which is no linear function of the model
            throw InputError("channels", "\"" + channel + "\" is not known", "Allowed: b_e, b_n, b_u, tmi.");
          const auto made = magnetic::observable(static_cast<magnetic::Channel>(found - names.begin()),
                                                 {intensity, inclination, declination});
          return array_of({made.weight.begin(), made.weight.end()});
        });
}

}  // namespace terrane::python
