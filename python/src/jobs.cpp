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
  nb::dict floor;
  for (const auto& [kind, value] : report.rounding_floor) floor[kind.c_str()] = value;
  d["rounding_floor"] = floor;
  d["rounding_stations"] = report.rounding_stations;
  d["verified_stations"] = report.verified_stations;
  d["verified_by"] = report.verified_by;
  d["verified_error"] = report.verified_error;
  d["singular_stations"] = report.singular_stations;
  d["inside_stations"] = report.inside_stations;
  nb::dict misfits;
  for (const auto& misfit : report.misfits) {
    nb::dict m;
    m["unit"] = misfit.unit;
    m["count"] = misfit.count;
    m["mean"] = misfit.mean;
    m["rms"] = misfit.rms;
    m["weighted"] = misfit.weighted;
    m["chi_squared"] = misfit.chi_squared;
    misfits[misfit.field.c_str()] = m;
  }
  d["misfits"] = misfits;
  nb::list notes, warnings;
  for (const auto& note : report.notes) notes.append(note);
  for (const auto& warning : report.warnings) warnings.append(warning);
  d["notes"] = notes;
  d["warnings"] = warnings;
  return d;
}

Report report_of(const nb::dict& d) {
  Report report;
  const auto take = [&](const char* name, auto& to) { to = nb::cast<std::decay_t<decltype(to)>>(d[name]); };
  take("sources", report.sources);
  take("stations", report.stations);
  take("pairs", report.pairs);
  take("seconds", report.seconds);
  take("memory_bytes", report.memory_bytes);
  take("method", report.method);
  take("reason", report.reason);
  take("device", report.device);
  take("estimated_error", report.estimated_error);
  take("rounding_floor", report.rounding_floor);
  take("rounding_stations", report.rounding_stations);
  take("verified_stations", report.verified_stations);
  take("verified_by", report.verified_by);
  take("verified_error", report.verified_error);
  take("singular_stations", report.singular_stations);
  take("inside_stations", report.inside_stations);
  for (const auto& [field, value] : nb::cast<nb::dict>(d["misfits"])) {
    const auto m = nb::cast<nb::dict>(value);
    report.misfits.push_back({nb::cast<std::string>(field), nb::cast<std::string>(m["unit"]),
                              nb::cast<std::size_t>(m["count"]), nb::cast<double>(m["mean"]),
                              nb::cast<double>(m["rms"]), nb::cast<std::size_t>(m["weighted"]),
                              nb::cast<double>(m["chi_squared"])});
  }
  take("notes", report.notes);
  take("warnings", report.warnings);
  return report;
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

/// What pickle keeps of a result: (survey, fields, which are single, singular, attributes, report, residuals)
nb::tuple state_of(const Result& result) {
  nb::list single;
  for (const auto& field : result.fields) single.append(field.single);
  return nb::make_tuple(to_tuple(result.survey), to_list(result.fields), single,
                        nb::bytes(result.singular.data(), result.singular.size()), to_dict(result.attributes),
                        to_dict(result.report), to_list(result.residuals));
}

Result result_of(const nb::tuple& state) {
  Result result;
  result.survey = survey_of(nb::cast<nb::tuple>(state[0]));
  result.fields = columns_of(nb::cast<nb::list>(state[1]));
  const auto single = nb::cast<nb::list>(state[2]);
  for (std::size_t f = 0; f < result.fields.size(); ++f) result.fields[f].single = nb::cast<bool>(single[f]);
  const auto mask = nb::cast<nb::bytes>(state[3]);
  const auto* bytes = reinterpret_cast<const unsigned char*>(mask.c_str());
  result.singular.assign(bytes, bytes + mask.size());
  result.attributes = nb::cast<std::map<std::string, std::string>>(state[4]);
  result.report = report_of(nb::cast<nb::dict>(state[5]));
  result.residuals = columns_of(nb::cast<nb::list>(state[6]));
  return result;
}

}  // namespace

void bind_jobs(nb::module_& m) {
  nb::class_<Result>(m, "Result")
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](Result& result, const nb::tuple& state) { new (&result) Result(result_of(state)); })
      .def("survey", [](const Result& result) { return to_tuple(result.survey); })
      .def("fields", [](const Result& result) { return to_list(result.fields); })
      .def("singular",
           [](const Result& result) {
             return array_of({result.singular.begin(), result.singular.end()});
           })
      .def("attributes", [](const Result& result) { return to_dict(result.attributes); })
      .def("report", [](const Result& result) { return to_dict(result.report); })
      .def("residuals", [](const Result& result) { return to_list(result.residuals); })
      .def("write", [](const Result& result, const std::string& path) {
        const nb::gil_scoped_release free;
        auto names = left_out(path, result);
        write_result(path, result);
        return names;
      });

  nb::class_<Job>(m, "Job")
      .def("check", [](Job& job) { return to_dict(plan_of(*job.simulation)); })
      .def(
          "run",
          [](Job& job, const nb::object& report) {
            return released(report, [&](Progress& progress) { return job.simulation->run(&progress); });
          },
          nb::arg("report").none())
      .def("left_out",
           [](const Job& job) {
             const auto outline = job.simulation->outline();
             std::map<std::string, std::vector<std::string>> names;
             for (const auto& path : job.output.files)
               if (auto of_file = left_out(path.string(), outline); !of_file.empty())
                 names[path.string()] = std::move(of_file);
             return names;
           })
      .def("write_model",
           [](const Job& job, const std::string& path) {
             const nb::gil_scoped_release free;
             job.simulation->write_model(path);
           })
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
