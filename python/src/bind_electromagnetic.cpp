// E on the edges of a mesh for a right-hand side of the caller's.
#include <nanobind/stl/string.h>

#include <memory>

#include "module.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/solves.hpp"

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
    const nb::gil_scoped_release free;
    solves_ = std::make_unique<electromagnetic::Solves>(problem_, stream_);
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
    {
      const nb::gil_scoped_release free;
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
    }
    return nb::make_tuple(array_of(std::move(e)), done.converged(), solve::name(done.reason), done.iterations,
                          done.residual);
  }

 private:
  electromagnetic::Problem problem_;  // stays where it is: solves_ looks at it
  Stream stream_;
  std::unique_ptr<electromagnetic::Solves> solves_;
};

}  // namespace

void bind_electromagnetic(nb::module_& m) {
  nb::class_<EdgeSolver>(m, "EdgeSolver")
      .def(nb::init<const Vector&, const Vector&, const Vector&, const nb::list&, double, std::size_t,
                    const std::string&, int>())
      .def("solve", &EdgeSolver::solve);
}

}  // namespace terrane::python
