// Simulations from job files, and results of every physics.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "module.hpp"
#include "progress.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/joint_job.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/files.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::python {

namespace {

/// What plans and reports share, and the physics' own values by their names.
nb::dict facts_of(const RunFacts& facts) {
  nb::dict d;
  for (const auto& value : facts.values)
    std::visit([&](const auto& it) { d[value.name.c_str()] = nb::cast(it); }, value.value);
  d["seconds"] = facts.seconds;
  d["memory_bytes"] = facts.memory_bytes;
  d["method"] = facts.method;
  d["reason"] = facts.reason;
  d["device"] = facts.device;
  d["notes"] = facts.notes;
  d["warnings"] = facts.warnings;
  return d;
}

}  // namespace

nb::dict to_dict(const Report& report) {
  auto d = facts_of(report);
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
  return d;
}

nb::dict to_dict(const Plan& plan) {
  auto d = facts_of(plan);
  d["memory_available"] = plan.memory_available;
  d["text"] = plan.text();
  return d;
}

Plan plan_of(terrane::Simulation& simulation, const Runtime& runtime) {
  return released([&] { return simulation.check(runtime); });
}

Result run(terrane::Simulation& simulation, Runtime runtime, const nb::object& report) {
  return released(report, [&](Progress& progress) {
    runtime.progress = &progress;
    return simulation.run(runtime);
  });
}

namespace {

/// As of its simulation, with the notes of what the job read.
Plan plan_of_job(const Job& job, const Runtime& runtime) {
  return released([&] { return job.check(runtime); });
}

Result run_job(const Job& job, Runtime runtime, const nb::object& report) {
  return released(report, [&](Progress& progress) {
    runtime.progress = &progress;
    return job.run(runtime);
  });
}

Config read_job(const std::string& job, const std::vector<std::string>& sets,
                const std::map<std::string, std::string>& arguments) {
  return Config::read(job, {sets, arguments});
}

/// Checkpoints are of the command.
Runtime in_python(Runtime runtime) {
  runtime.checkpoint = {};
  return runtime;
}

nb::list names_of(const std::vector<std::filesystem::path>& paths) {
  nb::list list;
  for (const auto& path : paths) list.append(path.string());
  return list;
}

/// What pickle keeps of a report.
nb::tuple report_state(const Report& report) {
  nb::list values;
  for (const auto& value : report.values)
    values.append(
        nb::make_tuple(value.name, value.value.index(), value.value, value.unit, value.label, value.text));
  return nb::make_tuple(report.problem, report.method, report.reason, report.device, report.seconds,
                        report.memory_bytes, report.work, report.work_unit, values, report.notes,
                        report.warnings, to_dict(report)["misfits"]);
}

Report report_of(const nb::tuple& state) {
  Report report;
  std::size_t at = 0;
  const auto take = [&](auto& to) { to = nb::cast<std::decay_t<decltype(to)>>(state[at++]); };
  const auto take_all = [&](auto&... to) { (take(to), ...); };
  take_all(report.problem, report.method, report.reason, report.device, report.seconds, report.memory_bytes,
           report.work, report.work_unit);
  for (const nb::handle item : nb::cast<nb::list>(state[at++])) {
    const auto value = nb::cast<nb::tuple>(item);
    const auto type = nb::cast<std::size_t>(value[1]);
    const NamedValue::Value kept = type == 0   ? NamedValue::Value(nb::cast<std::uint64_t>(value[2]))
                                   : type == 1 ? NamedValue::Value(nb::cast<double>(value[2]))
                                   : type == 2 ? NamedValue::Value(nb::cast<bool>(value[2]))
                                   : type == 3
                                       ? NamedValue::Value(nb::cast<std::string>(value[2]))
                                       : NamedValue::Value(nb::cast<std::map<std::string, double>>(value[2]));
    report.add(nb::cast<std::string>(value[0]), kept, nb::cast<std::string>(value[3]),
               nb::cast<std::string>(value[4]), nb::cast<std::string>(value[5]));
  }
  take_all(report.notes, report.warnings);
  for (const auto& [field, value] : nb::cast<nb::dict>(state[at])) {
    const auto m = nb::cast<nb::dict>(value);
    report.misfits.push_back({nb::cast<std::string>(field), nb::cast<std::string>(m["unit"]),
                              nb::cast<std::size_t>(m["count"]), nb::cast<double>(m["mean"]),
                              nb::cast<double>(m["rms"]), nb::cast<std::size_t>(m["weighted"]),
                              nb::cast<double>(m["chi_squared"])});
  }
  return report;
}

/// A job that was read, and its file.
struct ReadJob : Job {
  Config config;
};

/// The simulations of a job by name, ready to run.
auto jobs_of(const Config& config, const std::vector<std::string>& only) {
  const auto registry =
      inversion::asks_for_inversion(config) ? physics::inversions().registry() : physics::all();
  std::vector<std::pair<std::string, std::unique_ptr<ReadJob>>> jobs;
  std::vector<NamedOutput> outputs;
  for (const auto& [name, job] : registry.parts(config, only)) {
    jobs.emplace_back(name, std::make_unique<ReadJob>(ReadJob{registry.make(job), job}));
    outputs.push_back({name, jobs.back().second->output});
  }
  check_shared_files(outputs);
  if (jobs.size() > 1 && inversion::asks_for_inversion(config) && inversion::asks_for_joint(config)) {
    std::vector<inversion::Member> members;
    for (auto& [name, job] : jobs)
      members.push_back({name, job->config.table("simulation").where(), job.get()});
    inversion::join(members);
  }
  return jobs;
}

/// What pickle keeps of a result: (data set, attributes, report)
nb::tuple state_of(const Result& result) {
  return nb::make_tuple(to_dict(result.data), to_dict(result.attributes), report_state(result.report));
}

Result result_of(const nb::tuple& state) {
  Result result;
  result.data = dataset_of(nb::cast<nb::dict>(state[0]));
  result.attributes = nb::cast<std::map<std::string, std::string>>(state[1]);
  result.report = report_of(nb::cast<nb::tuple>(state[2]));
  return result;
}

/// What a list of one name in each entry looks like in columns.
template <class Entry, class Number>
nb::object column(const std::vector<Entry>& entries, Number Entry::*number) {
  std::vector<double> values;
  for (const auto& entry : entries) values.push_back(static_cast<double>(entry.*number));
  return array_of(std::move(values));
}

/// Of an inversion that ran: the property that it found, the cells of its mesh, and its tables.
nb::dict found_by(const ReadJob& job) {
  const auto* inversion = inversion::inversion_of(*job.simulation);
  if (inversion == nullptr) throw InputError("job", "it is no inversion");
  auto model = inversion->model();
  nb::dict d;
  d["property"] = inversion->property();
  d["easting"] = array_of(model.mesh.easting());
  d["northing"] = array_of(model.mesh.northing());
  d["up"] = array_of(model.mesh.up());
  d["cells"] = to_list(std::move(model.cells));
  const auto& outcome = inversion->outcome();
  nb::dict steps, curve;
  nb::list what;
  for (const auto& step : outcome.iterations) what.append(step.what);
  using inversion::Iteration, inversion::Step;
  steps["what"] = what;
  steps["number"] = column(outcome.iterations, &Iteration::number);
  steps["beta"] = column(outcome.iterations, &Iteration::beta);
  steps["phi_d"] = column(outcome.iterations, &Iteration::phi_d);
  steps["phi_m"] = column(outcome.iterations, &Iteration::phi_m);
  steps["products"] = column(outcome.iterations, &Iteration::products);
  steps["seconds"] = column(outcome.iterations, &Iteration::seconds);
  curve["beta"] = column(outcome.curve, &Step::beta);
  curve["phi_d"] = column(outcome.curve, &Step::phi_d);
  curve["phi_m"] = column(outcome.curve, &Step::phi_m);
  d["steps"] = steps;
  d["curve"] = curve;
  return d;
}

/// (physics, table, key) of all that jobs of inversions may say.
nb::list keys_of_inversions() {
  nb::list list;
  for (const auto& physics : physics::inversions().registry().all())
    for (const auto& section : physics.sections)
      for (const auto& key : section.keys)
        list.append(
            nb::make_tuple(std::string(physics.name), std::string(section.path), std::string(key.name)));
  return list;
}

}  // namespace

void bind_jobs(nb::module_& m) {
  nb::class_<Result>(m, "Result")
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](Result& result, const nb::tuple& state) { new (&result) Result(result_of(state)); })
      .def("attributes", [](const Result& result) { return to_dict(result.attributes); })
      .def("report", [](const Result& result) { return to_dict(result.report); })
      .def("report_lines", [](const Result& result) { return result.report.lines(); })
      .def("data", [](const Result& result) { return to_dict(result.data); })
      .def("has_stations", [](const Result& result) { return io::has_stations(result.data); })
      .def("write", [](const Result& result, const std::string& path) {
        const nb::gil_scoped_release free;
        auto names = left_out(path, result);
        write_result(path, result);
        return names;
      });

  nb::class_<ReadJob>(m, "Job")
      .def("check", [](ReadJob& job) { return to_dict(plan_of_job(job, in_python(job.runtime))); })
      .def(
          "run",
          [](ReadJob& job, const nb::object& report) { return run_job(job, in_python(job.runtime), report); },
          nb::arg("report").none())
      .def("check_files",
           [](const ReadJob& job, bool plots) {
             const nb::gil_scoped_release free;
             return check_files(job.config, *job.simulation, job.output, plots);
           })
      .def("make_folders",
           [](const ReadJob& job, bool plots) {
             const nb::gil_scoped_release free;
             make_folders(job.output, plots);
           })
      .def("write_model",
           [](const ReadJob& job, const std::string& path) {
             released([&] { job.simulation->write_model(path); });
           })
      .def_prop_ro("inverts",
                   [](const ReadJob& job) { return inversion::inversion_of(*job.simulation) != nullptr; })
      .def("found", &found_by)
      .def_prop_ro("files", [](const ReadJob& job) { return names_of(job.output.files); })
      .def_prop_ro("model", [](const ReadJob& job) { return names_of(job.output.model); })
      .def_prop_ro("plots", [](const ReadJob& job) { return names_of(job.output.plots); })
      .def_prop_ro("plot_channels", [](const ReadJob& job) { return job.output.plot_channels; });

  m.def("physics", [] {
    std::vector<std::string> names;
    const auto registry = physics::all();
    for (const auto& one : registry.all()) names.emplace_back(one.name);
    return names;
  });
  m.def("inversion_keys", &keys_of_inversions);
  m.def("jobs",
        [](const std::string& path, const std::vector<std::string>& sets,
           const std::map<std::string, std::string>& arguments, const std::vector<std::string>& only) {
          return released([&] { return jobs_of(read_job(path, sets, arguments), only); });
        });
  m.def("jobs_of",
        [](const std::string& text, const std::string& folder, const std::vector<std::string>& sets,
           const std::map<std::string, std::string>& arguments, const nb::dict& contents,
           const std::vector<std::string>& only) {
          auto given = std::make_shared<Contents>();
          for (const auto& [name, content] : contents)
            given->of[nb::cast<std::string>(name)] = content_of(nb::cast<nb::dict>(content));
          return released([&] {
            return jobs_of(Config::parse(text, "job", folder, {sets, arguments, given}), only);
          });
        });
}

}  // namespace terrane::python
