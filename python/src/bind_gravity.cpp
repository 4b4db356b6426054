// Gravity: forward() on arrays, simulations from nouns, and the names of channels in frames.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/gravity/normal_gravity.hpp"
#include "terrane/physics/gravity/simulation.hpp"

namespace terrane::python {

namespace {

/// prisms [m, 6] m · density [m] kg/m³ · easting, northing, up [n] m · out: one array [n] for each channel.
/// out = SI / divisors; singular [n] is set to 1 where the tensor has no single value.
gravity::Report forward_arrays(const Matrix& prisms, const Vector& density, const Vector& easting,
                               const Vector& northing, const Vector& up, unsigned channels,
                               const std::vector<Output>& out, const std::vector<double>& divisors,
                               const Mask& singular, double accuracy, int method, int policy, bool single,
                               double gravitational_constant, std::size_t verify, const std::string& device,
                               int threads, const nb::object& report) {
  gravity::Parameters parameters;
  parameters.channels = gravity::ChannelSet::from_bits(channels);
  parameters.accuracy = accuracy;
  parameters.method = static_cast<gravity::Method>(method);
  parameters.singular = static_cast<gravity::SingularPolicy>(policy);
  if (single) parameters.precision = gravity::Precision::single_precision;
  parameters.gravitational_constant = gravitational_constant;
  parameters.verify = verify;
  parameters.device = device_from_text(device);
  parameters.threads = threads;

  std::array<std::vector<double>, 10> kept;
  gravity::Prisms sources{column_of(prisms, 0, kept[0]), column_of(prisms, 1, kept[1]),
                          column_of(prisms, 2, kept[2]), column_of(prisms, 3, kept[3]),
                          column_of(prisms, 4, kept[4]), column_of(prisms, 5, kept[5]),
                          span_of(density, kept[6])};
  gravity::Stations stations{span_of(easting, kept[7]), span_of(northing, kept[8]), span_of(up, kept[9])};
  gravity::Fields fields{parameters.channels, {}, {singular.data(), singular.shape(0)}};
  for (const auto& values : out) fields.values.emplace_back(values.data(), values.shape(0));

  return released(report, [&](Progress& progress) {
    auto done = gravity::forward(sources, stations, parameters, fields, &progress);
    for (std::size_t c = 0; c < fields.values.size(); ++c)
      if (divisors[c] != 1)
        for (double& value : fields.values[c]) value /= divisors[c];
    return done;
  });
}

/// (bits, [(name, divisor, unit, description, enu name)]) of a list of channels in a frame; names may be the
/// frame's, those of enu, or a group.
nb::tuple channels_in_frame(const std::vector<std::string>& names, const std::string& frame_name,
                            const std::string& units_name) {
  const gravity::Frame frame = gravity::frame_from_name(frame_name);
  const UnitSystem units = unit_system_from_name(units_name);
  gravity::ChannelSet set;
  for (const auto& name : names) {
    try {
      set.insert(gravity::channel_from_frame(name, frame, units).channel);
    } catch (const InputError&) {
      try {
        set = set | gravity::channels_from_names({name});
        continue;
      } catch (const InputError&) {
      }
      throw;
    }
  }
  nb::list list;
  for (const auto channel : set.list()) {
    const auto there = in_frame(channel, frame, units);
    list.append(nb::make_tuple(std::string(there.name), there.sign * si_factor(quantity(channel), there.unit),
                               std::string(there.unit), there.description, std::string(name(channel))));
  }
  return nb::make_tuple(set.bits(), list);
}

/// ("mesh", easting, northing, up, properties [cells]) or ("prisms", [m, 6], properties [m])
EarthModel model_of(const nb::tuple& t) {
  if (nb::cast<std::string>(t[0]) == "mesh")
    return from_dense(TensorMesh(values_of(nb::cast<Vector>(t[1])), values_of(nb::cast<Vector>(t[2])),
                                 values_of(nb::cast<Vector>(t[3]))),
                      properties_of(nb::cast<nb::list>(t[4])));
  const auto faces = nb::cast<Matrix>(t[1]);
  PrismSet p;
  std::size_t column = 0;
  for (auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top}) {
    std::vector<double> kept;
    const auto seen = column_of(faces, column++, kept);
    face->assign(seen.begin(), seen.end());
  }
  return {std::move(p), properties_of(nb::cast<nb::list>(t[2]))};
}

/// What pickle keeps of a report.
nb::tuple state_of(const gravity::Report& r) {
  return nb::make_tuple(r.method, r.reason, r.device, r.seconds, r.memory_bytes, r.notes, r.warnings,
                        r.sources, r.stations, r.pairs, r.estimated_error, r.verified_stations, r.verified_by,
                        r.verified_error, r.singular_stations, r.inside_stations, r.rounding_floor,
                        r.rounding_stations);
}

gravity::Report report_of(const nb::tuple& state) {
  gravity::Report r;
  std::size_t at = 0;
  const auto take = [&](auto&... to) { ((to = nb::cast<std::decay_t<decltype(to)>>(state[at++])), ...); };
  take(r.method, r.reason, r.device, r.seconds, r.memory_bytes, r.notes, r.warnings, r.sources, r.stations,
       r.pairs, r.estimated_error, r.verified_stations, r.verified_by, r.verified_error, r.singular_stations,
       r.inside_stations, r.rounding_floor, r.rounding_stations);
  return r;
}

}  // namespace

void bind_gravity(nb::module_& m) {
  nb::class_<gravity::Report>(m, "Report")
      .def("to_dict", [](const gravity::Report& report) { return to_dict(report.named()); })
      .def("__getstate__", [](const gravity::Report& report) { return state_of(report); })
      .def("__setstate__", [](gravity::Report& report,
                              const nb::tuple& state) { new (&report) gravity::Report(report_of(state)); })
      .def_ro("singular_stations", &gravity::Report::singular_stations);
  m.attr("default_accuracy") = gravity::default_accuracy;
  m.attr("best_accuracy") = gravity::best_accuracy;
  m.def("forward", &forward_arrays, nb::arg("prisms"), nb::arg("density"), nb::arg("easting"),
        nb::arg("northing"), nb::arg("up"), nb::arg("channels"), nb::arg("out"), nb::arg("divisors"),
        nb::arg("singular"), nb::arg("accuracy"), nb::arg("method"), nb::arg("policy"), nb::arg("single"),
        nb::arg("gravitational_constant"), nb::arg("verify"), nb::arg("device"), nb::arg("threads"),
        nb::arg("report").none());
  nb::class_<gravity::Simulation>(m, "GravitySimulation")
      .def("check", [](gravity::Simulation& simulation) { return to_dict(plan_of(simulation)); })
      .def(
          "run",
          [](gravity::Simulation& simulation, const nb::object& report) {
            return run(simulation, {}, report);
          },
          nb::arg("report").none())
      .def("write_model", [](const gravity::Simulation& simulation, const std::string& path) {
        const nb::gil_scoped_release free;
        simulation.write_model(path);
      });

  m.def("simulation", [](const nb::tuple& model, const nb::tuple& survey, unsigned channels, double accuracy,
                         int method, int policy, bool single, double gravitational_constant,
                         std::size_t verify, const std::string& device, int threads, const std::string& frame,
                         const std::string& units, int partition, const std::string& memory,
                         const std::string& normal_gravity, bool subtract_terrain) {
    gravity::Settings settings;
    auto& p = settings.parameters;
    p.channels = gravity::ChannelSet::from_bits(channels);
    p.accuracy = accuracy;
    p.method = static_cast<gravity::Method>(method);
    p.singular = static_cast<gravity::SingularPolicy>(policy);
    if (single) p.precision = gravity::Precision::single_precision;
    p.gravitational_constant = gravitational_constant;
    p.verify = verify;
    p.device = device_from_text(device);
    p.threads = threads;
    settings.frame = gravity::frame_from_name(frame);
    settings.units = unit_system_from_name(units);
    p.partition = static_cast<gravity::Partition>(partition);
    if (!normal_gravity.empty()) settings.normal_gravity = gravity::ellipsoid_from_name(normal_gravity).name;
    settings.subtract_terrain = subtract_terrain;
    const auto budget = memory.empty() ? MemoryBudget{} : MemoryBudget{bytes_from_text(memory)};
    auto made = std::make_unique<gravity::Simulation>(model_of(model), survey_of(survey), settings, budget);
    made->name_stations(words_of(survey));
    return made;
  });

  m.def("channels", &channels_in_frame);
}

}  // namespace terrane::python
