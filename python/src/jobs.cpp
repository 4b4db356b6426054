// Simulations from job files, and results of every physics.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::python {

nb::dict to_dict(const Report& report) {
  nb::dict d;
  d["sources"] = report.sources;
  d["stations"] = report.stations;
  d["pairs"] = report.pairs;
  d["seconds"] = report.seconds;
  d["memory_bytes"] = report.memory_bytes;
  d["method"] = report.method;
  d["reason"] = report.reason;
  d["device"] = report.device;
  d["estimated_error"] = report.estimated_error;
  d["verified_stations"] = report.verified_stations;
  d["verified_error"] = report.verified_error;
  d["singular_stations"] = report.singular_stations;
  d["inside_stations"] = report.inside_stations;
  nb::list warnings;
  for (const auto& warning : report.warnings) warnings.append(warning);
  d["warnings"] = warnings;
  return d;
}

nb::dict to_dict(const Plan& plan) {
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

namespace {

Config read_job(const std::string& job, const std::vector<std::string>& sets,
                const std::map<std::string, std::string>& arguments) {
  return Config::read(job, {sets, arguments});
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

  nb::class_<Job>(m, "Job")
      .def("check", [](Job& job) { return to_dict(plan_of(*job.simulation)); })
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

  m.def("physics", [] {
    std::vector<std::string> names;
    const auto registry = physics::all();
    for (const auto& one : registry.all()) names.emplace_back(one.name);
    return names;
  });
  m.def("job", [](const std::string& path, const std::vector<std::string>& sets,
                  const std::map<std::string, std::string>& arguments) {
    const nb::gil_scoped_release free;
    const auto config = read_job(path, sets, arguments);
    auto made = std::make_unique<Job>();
    made->simulation = physics::all().make(config);
    made->output = terrane::Output::read(config);
    return made;
  });
}

}  // namespace terrane::python
