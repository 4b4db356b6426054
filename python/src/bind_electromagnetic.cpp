// Electromagnetics for Python: E on the edges of a mesh for a right-hand side of the caller's; data and their
// sensitivity; fields of layers.
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
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"
#include "terrane/physics/electromagnetic/solves.hpp"
#include "terrane/simulation/describe.hpp"

namespace terrane::python {

namespace {

using electromagnetic::EdgeValues;

/// A mesh with its conductivities, and what solves on it.
class EdgeSolver {
 public:
  /// sigma: [up, north, east] along up, north, east, S/m; the last two may be empty.
  EdgeSolver(const Vector& easting, const Vector& northing, const Vector& up, const nb::list& sigma,
             double tolerance, std::size_t most_iterations, const std::string& device, int threads)
      : stream_(resolve(device_from_text(device)), false, threads) {
    problem_.mesh = TensorMesh(values_of(easting), values_of(northing), values_of(up));
    for (std::size_t a = 0; a < 3; ++a) problem_.conductivity[a] = values_of(nb::cast<Vector>(sigma[a]));
    problem_.parameters.tolerance = tolerance;
    problem_.parameters.most_iterations = static_cast<int>(most_iterations);
    problem_.sources.resize(1);
    problem_.frequencies = {1};
    solves_ = released([&] { return std::make_unique<electromagnetic::Solves>(problem_, stream_); });
  }

  /// b, E: real parts of the edges along up, north, east, then imaginary ones; interior edges, [up, north,
  /// east] each.
  nb::tuple solve(double hertz, const Vector& given) {
    std::vector<double> kept;
    const auto b = span_of(given, kept);
    std::array<std::size_t, 3> count{};
    std::size_t all = 0;
    for (int a = 0; a < 3; ++a)
      all += count[static_cast<std::size_t>(a)] =
          static_cast<std::size_t>(solves_->metric().edges(a).count());
    if (b.size() != 2 * all)
      throw ShapeError("electromagnetic",
                       std::to_string(b.size()) + " values for " + std::to_string(all) + " complex edges");
    if (!(hertz > 0)) throw InputError("electromagnetic", "the frequency is not above zero");
    electromagnetic::Solve done;
    std::vector<double> e(2 * all);
    alone_.released(nb::none(), [&](Progress&) {
      EdgeValues sent;
      std::size_t at = 0;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t n = 0; n < count[a]; ++n, ++at) sent[a].emplace_back(b[at], b[all + at]);
      problem_.frequencies = {hertz};
      done = solves_->solve_for(0, sent);
      at = 0;
      for (const auto& values : solves_->found())
        for (const auto& value : values) {
          e[at] = value.real();
          e[all + at] = value.imag();
          ++at;
        }
    });
    return nb::make_tuple(array_of(std::move(e)), done.converged(), solve::name(done.reason), done.iterations,
                          done.residual);
  }

 private:
  electromagnetic::Problem problem_;  // stays where it is: solves_ looks at it
  Stream stream_;
  std::unique_ptr<electromagnetic::Solves> solves_;
  OneAtATime alone_;
};

/// Real parts of all, then imaginary ones.
nb::object array_of_complex(const std::vector<std::complex<double>>& values) {
  std::vector<double> parts(2 * values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    parts[n] = values[n].real();
    parts[values.size() + n] = values[n].imag();
  }
  return array_of(std::move(parts));
}

std::vector<std::complex<double>> complex_of(const Vector& parts) {
  const auto given = values_of(parts);
  std::vector<std::complex<double>> values(given.size() / 2);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = {given[n], given[values.size() + n]};
  return values;
}

/// Data of a job, J v and Jᵀ w.
class FieldSensitivity {
 public:
  FieldSensitivity(electromagnetic::Problem problem, const Runtime& runtime, Progress* progress)
      : problem_(std::move(problem)),
        stream_(resolve(runtime.device), false, runtime.threads),
        shape_{problem_.sources.size(), problem_.frequencies.size(), problem_.components.size(),
               problem_.receivers.size()},
        made_(problem_, stream_, progress) {}

  std::array<std::size_t, 4> shape() const { return shape_; }
  std::size_t cells() const { return made_.cells(); }
  nb::object data() const { return array_of_complex(made_.outcome().data); }
  /// Where solves of the fields did not converge, the first reason.
  std::string trouble() const { return first_of(made_.outcome().solves); }
  /// (product, the first reason why a solve of it did not converge)
  nb::tuple apply(const Vector& model) {
    const auto v = values_of(model);
    return product([&](Progress& progress) { return made_.times(v, &progress); });
  }
  nb::tuple apply_transpose(const Vector& parts) {
    const auto w = complex_of(parts);
    return product([&](Progress& progress) { return made_.transposed_times(w, &progress); });
  }

 private:
  template <class Multiply>
  nb::tuple product(const Multiply& multiply) {
    std::string trouble;
    auto made = alone_.released(nb::none(), [&](Progress& progress) {
      auto values = multiply(progress);
      trouble = first_of(made_.solves_of_product());
      return values;
    });
    return nb::make_tuple(array_of_complex(made), trouble);
  }
  std::string first_of(const std::vector<electromagnetic::Solve>& solves) const {
    for (std::size_t n = 0; n < solves.size(); ++n)
      if (!solves[n].converged()) return electromagnetic::trouble(problem_, n, solves[n]);
    return {};
  }

  electromagnetic::Problem problem_;
  Stream stream_;
  std::array<std::size_t, 4> shape_;
  electromagnetic::Sensitivity made_;
  OneAtATime alone_;
};

std::unique_ptr<FieldSensitivity> sensitivity_of(const Config& config, const std::string& name,
                                                 Progress* progress) {
  return of_config<electromagnetic::Simulation>(
      config, name, "electromagnetic", "electromagnetics",
      [&](const electromagnetic::Simulation& simulation, const Runtime& runtime) {
        if (!simulation.meshes().empty())
          throw InputError(name, "its solves have meshes of their own, where a model has one set of cells",
                           "Leave gridding out, or set it to \"same\".");
        const auto& problem = simulation.problem();
        const double kept = 48.0 * static_cast<double>(problem.mesh.size() * problem.solves());
        memory_budget(runtime).require(name, "fields of " + std::to_string(problem.solves()) + " solves",
                                       problem.memory() + kept);
        return std::make_unique<FieldSensitivity>(problem, runtime, progress);
      });
}

std::unique_ptr<FieldSensitivity> sensitivity_of_job(const std::string& path, const Sets& sets,
                                                     const Arguments& arguments) {
  return released(nb::none(), [&](Progress& progress) {
    return sensitivity_of(Config::read(path, {sets, arguments}), path, &progress);
  });
}

std::unique_ptr<FieldSensitivity> sensitivity_of_text(const std::string& text, const Sets& sets,
                                                      const Arguments& arguments, const nb::dict& contents) {
  const auto config = config_of(text, sets, arguments, contents);
  return released(nb::none(), [&](Progress& progress) { return sensitivity_of(config, "job", &progress); });
}

/// E and H [receivers, 6], real parts of all and then imaginary ones, of a dipole in layers. horizontal,
/// vertical: S/m of the layers from below. moment: east, north, up; magnetic: its part up alone.
nb::object layered_fields(const Vector& interfaces, const Vector& horizontal, const Vector& vertical,
                          double hertz, const std::array<double, 3>& source,
                          const std::array<double, 3>& moment, bool magnetic, const Matrix& receivers) {
  using namespace electromagnetic;
  LayeredEarth earth;
  earth.interfaces = values_of(interfaces);
  const auto h = values_of(horizontal), v = values_of(vertical);
  for (std::size_t n = 0; n < h.size(); ++n) earth.layers.push_back({h[n], v[n]});
  std::vector<std::array<double, 3>> places;
  for (std::size_t n = 0; n < receivers.shape(0); ++n)
    places.push_back({receivers(n, 0), receivers(n, 1), receivers(n, 2)});
  std::vector<std::complex<double>> found;
  released([&] {
    for (const auto& at : places) {
      const auto field = magnetic ? vertical_magnetic_dipole(earth, hertz, source, moment[2], at)
                                  : electric_dipole(earth, hertz, source, moment, at);
      found.insert(found.end(), field.e.begin(), field.e.end());
      found.insert(found.end(), field.h.begin(), field.h.end());
    }
  });
  return array_of_complex(found);
}

/// Real and imaginary part of E/H at the top interface, ohm.
std::pair<double, double> layered_impedance(const Vector& interfaces, const Vector& horizontal,
                                            double hertz) {
  electromagnetic::LayeredEarth earth;
  earth.interfaces = values_of(interfaces);
  for (const double sigma : values_of(horizontal)) earth.layers.push_back({sigma, sigma});
  const auto z = electromagnetic::plane_wave_impedance(earth, hertz);
  return {z.real(), z.imag()};
}

}  // namespace

void bind_electromagnetic(nb::module_& m) {
  nb::class_<FieldSensitivity>(m, "FieldSensitivity")
      .def_prop_ro("shape", &FieldSensitivity::shape)
      .def_prop_ro("cells", &FieldSensitivity::cells)
      .def_prop_ro("trouble", &FieldSensitivity::trouble)
      .def("data", &FieldSensitivity::data)
      .def("apply", &FieldSensitivity::apply)
      .def("apply_transpose", &FieldSensitivity::apply_transpose);
  m.def("electromagnetic_sensitivity", &sensitivity_of_job);
  m.def("electromagnetic_sensitivity_of", &sensitivity_of_text);
  m.def("layered_fields", &layered_fields);
  m.def("layered_impedance", &layered_impedance);
  nb::class_<EdgeSolver>(m, "EdgeSolver")
      .def(nb::init<const Vector&, const Vector&, const Vector&, const nb::list&, double, std::size_t,
                    const std::string&, int>())
      .def("solve", &EdgeSolver::solve);
}

}  // namespace terrane::python
