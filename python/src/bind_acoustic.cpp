// Acoustic modelling as a function of the rock.
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "configs.hpp"
#include "module.hpp"
#include "progress.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/acoustic/operators.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

namespace terrane::python {

namespace {

using acoustic::Operators;
using acoustic::Problem;

/// A problem and where it is computed; operators hold what a rock needs, and are made when they are first
/// asked for.
struct Acoustic {
  Problem problem;
  Runtime runtime;
  bool double_precision = true;
  std::unique_ptr<Operators> operators;
  OneAtATime alone;  // operators change while they compute

  Acoustic(Problem p, Runtime r, bool is_double)
      : problem(std::move(p)), runtime(std::move(r)), double_precision(is_double) {}

  Operators& at() {
    if (!operators)
      operators = std::make_unique<Operators>(problem, double_precision, runtime.device, runtime.threads,
                                              runtime.memory);
    return *operators;
  }
};

std::unique_ptr<Acoustic> of_problem(Problem problem, const Runtime& runtime, bool double_precision) {
  problem.settle();
  return std::make_unique<Acoustic>(std::move(problem), runtime, double_precision);
}

std::unique_ptr<Acoustic> of_config(const Config& config, const std::string& name, bool double_precision) {
  return python::of_config<acoustic::Simulation>(
      config, name, "acoustic", "acoustic waves",
      [&](const acoustic::Simulation& simulation, Runtime runtime) {
        return of_problem(simulation.problem(), runtime, double_precision);
      });
}

std::unique_ptr<Acoustic> of_job(const std::string& path, const Sets& sets, const Arguments& arguments,
                                 bool double_precision) {
  return released([&] { return of_config(Config::read(path, {sets, arguments}), path, double_precision); });
}

std::unique_ptr<Acoustic> of_text(const std::string& text, const Sets& sets, const Arguments& arguments,
                                  const nb::dict& contents, bool double_precision) {
  const auto config = config_of(text, sets, arguments, contents);
  return released([&] { return of_config(config, "job", double_precision); });
}

std::vector<acoustic::Place> places_of(const Matrix& rows) {
  std::vector<acoustic::Place> places(rows.shape(0));
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<double> kept;
    const auto column = column_of(rows, a, kept);
    for (std::size_t n = 0; n < places.size(); ++n) places[n][a] = column[n];
  }
  return places;
}

nb::object matrix_of(const std::vector<acoustic::Place>& places) {
  std::vector<double> flat;
  for (const auto& at : places) flat.insert(flat.end(), at.begin(), at.end());
  return array_of(std::move(flat));
}

acoustic::Boundary boundary_of(const std::string& name) {
  if (name == "cpml") return acoustic::Boundary::cpml;
  if (name == "sponge") return acoustic::Boundary::sponge;
  if (name == "free_surface") return acoustic::Boundary::free_surface;
  if (name == "wall") return acoustic::Boundary::wall;
  throw InputError("sides", "there is no boundary \"" + name + "\"",
                   "Allowed: cpml, sponge, free_surface, wall.");
}

/// The rock of `options`: density, or epsilon, delta, tilt and tilt_azimuth (radians) of each node, or none.
void read_medium(const nb::dict& options, Problem& p) {
  const auto values = [&](const char* name) {
    return options.contains(name) ? values_of(nb::cast<Vector>(options[name])) : std::vector<double>{};
  };
  p.density = values("densities");
  p.epsilon = values("epsilon"), p.delta = values("delta");
  p.tilt = values("tilt"), p.azimuth = values("tilt_azimuth");
  p.equation = !p.tilt.empty()      ? acoustic::Equation::tti
               : !p.epsilon.empty() ? acoustic::Equation::vti
               : !p.density.empty() ? acoustic::Equation::variable_density
                                    : acoustic::Equation::constant_density;
}

/// sides: bottom, top, south, north, west, east · wavelet: samples, each sample_step after the other
std::unique_ptr<Acoustic> of_arrays(const Vector& velocity, const std::array<std::int64_t, 3>& nodes,
                                    const std::array<double, 3>& spacing, const std::array<double, 3>& first,
                                    const std::vector<Matrix>& sources, const std::vector<Matrix>& receivers,
                                    const Vector& wavelet, double sample_step, double step, double end,
                                    const std::vector<std::string>& sides, const nb::dict& options) {
  Problem p;
  for (std::size_t a = 0; a < 3; ++a) p.grid.nodes[a] = static_cast<Index>(nodes[a]);
  p.grid.spacing = spacing;
  p.grid.first = first;
  p.velocity = values_of(velocity);
  if (sides.size() != 6) throw InputError("sides", "six are needed: bottom, top, south, north, west, east");
  for (std::size_t n = 0; n < 6; ++n) p.sides[n / 2][n % 2] = boundary_of(sides[n]);
  p.wavelet.kind = acoustic::WaveletKind::samples;
  p.wavelet.samples = values_of(wavelet);
  p.wavelet.sample_step = sample_step;
  p.step = step;
  p.end = end;
  p.order = nb::cast<int>(options["order"]);
  p.layers.points = nb::cast<int>(options["layer_points"]);
  p.layers.frequency = nb::cast<double>(options["layer_frequency"]);
  p.exact_time = nb::cast<bool>(options["exact_time"]);
  p.record.clear();
  for (const auto& name : nb::cast<std::vector<std::string>>(options["record"]))
    p.record.push_back(acoustic::component_of(name));
  p.even_density = nb::cast<double>(options["density"]);
  read_medium(options, p);
  for (std::size_t n = 0; n < sources.size(); ++n)
    p.shots.push_back({places_of(sources[n]), places_of(receivers.at(n))});
  Runtime runtime;
  runtime.device = device_from_text(nb::cast<std::string>(options["device"]));
  runtime.threads = nb::cast<int>(options["threads"]);
  return of_problem(std::move(p), runtime, nb::cast<bool>(options["double_precision"]));
}

/// What `compute` makes of the operators, with progress and Ctrl-C.
template <class Compute>
auto computed(Acoustic& self, const nb::object& report, const Compute& compute) {
  return self.alone.released(report, [&](Progress& progress) { return compute(self.at(), &progress); });
}

}  // namespace

void bind_acoustic(nb::module_& m) {
  nb::class_<Acoustic>(m, "Acoustic")
      .def_prop_ro("nodes",
                   [](const Acoustic& a) {
                     const auto& n = a.problem.grid.nodes;
                     return nb::make_tuple(n[0], n[1], n[2]);
                   })
      .def_prop_ro("spacing", [](const Acoustic& a) { return a.problem.grid.spacing; })
      .def_prop_ro("first", [](const Acoustic& a) { return a.problem.grid.first; })
      .def_prop_ro("step", [](const Acoustic& a) { return a.problem.step; })
      .def_prop_ro("steps", [](const Acoustic& a) { return a.problem.steps(); })
      .def_prop_ro("longest_step", [](const Acoustic& a) { return a.problem.longest_step(); })
      .def_prop_ro("receivers_per_shot",
                   [](const Acoustic& a) { return a.problem.shots.front().receivers.size(); })
      .def_prop_ro("record",
                   [](const Acoustic& a) {
                     std::vector<std::string> names;
                     for (const auto component : a.problem.record)
                       names.emplace_back(acoustic::component_names[static_cast<std::size_t>(component)]);
                     return names;
                   })
      .def_prop_ro("equation",
                   [](const Acoustic& a) {
                     constexpr const char* names[] = {"constant_density", "variable_density", "vti", "tti"};
                     return names[static_cast<int>(a.problem.equation)];
                   })
      .def_prop_ro("shots", [](const Acoustic& a) { return a.problem.shots.size(); })
      .def("velocity", [](const Acoustic& a) { return array_of(a.problem.velocity); })
      .def("sources",
           [](const Acoustic& a, std::size_t shot) { return matrix_of(a.problem.shots.at(shot).sources); })
      .def("receivers",
           [](const Acoustic& a, std::size_t shot) { return matrix_of(a.problem.shots.at(shot).receivers); })
      .def("with_velocity",
           [](const Acoustic& a, const Vector& velocity) {
             auto p = a.problem;
             p.velocity = values_of(velocity);
             return of_problem(std::move(p), a.runtime, a.double_precision);
           })
      .def("send",
           [](Acoustic& a, const std::vector<Vector>& series) {
             std::vector<std::vector<double>> given;
             for (const auto& one : series) given.push_back(values_of(one));
             computed(a, nb::none(), [&](Operators& at, Progress*) { at.send(std::move(given)); });
           })
      .def(
          "snapshots",
          [](Acoustic& a, std::size_t shot, double every, std::int64_t stride,
             const std::array<double, 6>& box, const nb::object& report) {
            acoustic::Snapshots wanted;
            wanted.interval = every;
            wanted.shot = shot;
            wanted.stride = static_cast<Index>(stride);
            wanted.box = box;
            wanted.settle(a.problem);
            const auto shown = wanted.nodes(a.problem.grid);
            auto values = computed(
                a, report, [&](Operators& at, Progress* to) { return at.snapshots(wanted, to, true); });
            nb::list places;
            for (int axis = 0; axis < 3; ++axis) places.append(array_of(shown.places(a.problem.grid, axis)));
            auto times = wanted.times(a.problem);
            times.insert(times.begin(), 0.0);
            return nb::make_tuple(array_of(std::move(values)), array_of(std::move(times)), places);
          },
          nb::arg("shot"), nb::arg("every"), nb::arg("stride"), nb::arg("box"), nb::arg("report").none())
      .def(
          "model",
          [](Acoustic& a, const nb::object& report) {
            return array_of(computed(a, report, [](Operators& at, Progress* to) { return at.model(to); }));
          },
          nb::arg("report").none())
      .def(
          "born",
          [](Acoustic& a, const Vector& change, const nb::object& report) {
            const auto given = values_of(change);
            return array_of(
                computed(a, report, [&](Operators& at, Progress* to) { return at.born(given, to); }));
          },
          nb::arg("change"), nb::arg("report").none())
      .def(
          "adjoint",
          [](Acoustic& a, const Vector& gathers, const nb::object& report) {
            const auto given = values_of(gathers);
            return array_of(
                computed(a, report, [&](Operators& at, Progress* to) { return at.adjoint(given, to); }));
          },
          nb::arg("gathers"), nb::arg("report").none())
      .def(
          "misfit",
          [](Acoustic& a, const Vector& observed, const nb::object& report) {
            const auto given = values_of(observed);
            auto found =
                computed(a, report, [&](Operators& at, Progress* to) { return at.misfit(given, to); });
            return nb::make_tuple(found.value, array_of(std::move(found.gradient)));
          },
          nb::arg("observed"), nb::arg("report").none());
  m.def("acoustic_job", &of_job);
  m.def("acoustic_job_of", &of_text);
  m.def("acoustic_problem", &of_arrays);
}

}  // namespace terrane::python
