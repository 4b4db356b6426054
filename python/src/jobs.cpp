// Simulations from nouns and from job files, and their results.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/gravity/simulation.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::python {

namespace {

/// ("mesh", easting, northing, up, density [cells]) or ("prisms", [m, 6], density [m])
DensityModel model_of(const nb::tuple& t) {
  if (nb::cast<std::string>(t[0]) == "mesh")
    return MeshModel::from_dense(
        TensorMesh(values_of(nb::cast<Vector>(t[1])), values_of(nb::cast<Vector>(t[2])),
                   values_of(nb::cast<Vector>(t[3]))),
        values_of(nb::cast<Vector>(t[4])));
  PrismModel model;
  const auto faces = nb::cast<Matrix>(t[1]);
  auto& p = model.prisms;
  std::size_t column = 0;
  for (auto* face : {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top}) {
    std::vector<double> kept;
    const auto seen = column_of(faces, column++, kept);
    face->assign(seen.begin(), seen.end());
  }
  model.density = values_of(nb::cast<Vector>(t[2]));
  return model;
}

Config read_job(const std::string& job, const std::vector<std::string>& sets,
                const std::map<std::string, std::string>& arguments) {
  return Config::read(job, {sets, arguments});
}

Registry registry() {
  Registry all;
  all.add(gravity::physics());
  return all;
}

nb::list names_of(const std::vector<std::filesystem::path>& paths) {
  nb::list list;
  for (const auto& path : paths) list.append(path.string());
  return list;
}

/// A job read and ready to run.
struct Job {
  std::unique_ptr<terrane::Simulation> simulation;
  terrane::Output output;
};

nb::dict plan_to_dict(const Plan& plan) {
  nb::dict d;
  d["sources"] = plan.sources;
  d["stations"] = plan.stations;
  d["pairs"] = plan.pairs;
  d["memory_bytes"] = plan.memory_bytes;
  d["memory_available"] = plan.memory_available;
  d["seconds"] = plan.seconds;
  d["method"] = plan.method;
  d["reason"] = plan.reason;
  d["device"] = plan.device;
  nb::list notes, warnings;
  for (const auto& note : plan.notes) notes.append(note);
  for (const auto& warning : plan.warnings) warnings.append(warning);
  d["notes"] = notes;
  d["warnings"] = warnings;
  d["text"] = plan.text();
  return d;
}

Plan plan_of(terrane::Simulation& simulation) {
  const nb::gil_scoped_release free;
  return simulation.check();
}

}  // namespace

void bind_jobs(nb::module_& m) {
  nb::class_<Result>(m, "Result")
      .def("survey", [](const Result& result) { return to_tuple(result.survey); })
      .def("fields", [](const Result& result) { return to_list(result.fields); })
      .def("singular",
           [](const Result& result) {
             return array_of({result.singular.begin(), result.singular.end()});
           })
      .def("attributes", [](const Result& result) { return to_dict(result.attributes); })
      .def("report", [](const Result& result) { return to_dict(result.report); })
      .def("write", [](const Result& result, const std::string& path) {
        const nb::gil_scoped_release free;
        write_result(path, result);
      });

  nb::class_<gravity::Simulation>(m, "GravitySimulation")
      .def("check", [](gravity::Simulation& simulation) { return plan_to_dict(plan_of(simulation)); })
      .def(
          "run",
          [](gravity::Simulation& simulation, const nb::object& report) {
            return released(report, [&](Progress& progress) { return simulation.run(&progress); });
          },
          nb::arg("report").none())
      .def("write_model", [](const gravity::Simulation& simulation, const std::string& path) {
        simulation.write_model(path);
      });

  m.def("simulation",
        [](const nb::tuple& model, const nb::tuple& survey, unsigned channels, double accuracy, int method,
           int policy, bool single, double gravitational_constant, std::size_t verify,
           const std::string& device, int threads, const std::string& frame, const std::string& units) {
          gravity::Settings settings;
          auto& p = settings.parameters;
          p.channels = ChannelSet::from_bits(channels);
          p.accuracy = accuracy;
          p.method = static_cast<gravity::Method>(method);
          p.singular = static_cast<gravity::SingularPolicy>(policy);
          if (single) p.precision = gravity::Precision::single_precision;
          p.gravitational_constant = gravitational_constant;
          p.verify = verify;
          p.device = device_from_text(device);
          p.threads = threads;
          settings.frame = frame_from_name(frame);
          settings.units = unit_system_from_name(units);
          return std::make_unique<gravity::Simulation>(model_of(model), survey_of(survey), settings);
        });

  nb::class_<Job>(m, "Job")
      .def("check", [](Job& job) { return plan_to_dict(plan_of(*job.simulation)); })
      .def(
          "run",
          [](Job& job, const nb::object& report) {
            return released(report, [&](Progress& progress) { return job.simulation->run(&progress); });
          },
          nb::arg("report").none())
      .def("write_model", [](const Job& job, const std::string& path) { job.simulation->write_model(path); })
      .def_prop_ro("files", [](const Job& job) { return names_of(job.output.files); })
      .def_prop_ro("model", [](const Job& job) { return names_of(job.output.model); })
      .def_prop_ro("plots", [](const Job& job) { return names_of(job.output.plots); })
      .def_prop_ro("plot_channels", [](const Job& job) { return job.output.plot_channels; });

  m.def("job", [](const std::string& path, const std::vector<std::string>& sets,
                  const std::map<std::string, std::string>& arguments) {
    const nb::gil_scoped_release free;
    const auto config = read_job(path, sets, arguments);
    auto made = std::make_unique<Job>();
    made->simulation = registry().make(config);
    made->output = terrane::Output::read(config);
    return made;
  });
}

}  // namespace terrane::python
