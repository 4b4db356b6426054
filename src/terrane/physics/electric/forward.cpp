// Outline of direct_current(): assemble the network and its multigrid once; for each current electrode solve
// for the secondary potential (or the total one), and keep it at the electrodes; add up the arrays.
#include "terrane/physics/electric/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/solve/conjugate_gradients.hpp"
#include "terrane/solve/multigrid.hpp"

namespace terrane::electric {

namespace {

/// The cells that a point lies in or on, as ranges along easting, northing, up: one cell, or two where it is
/// on a face.
std::array<std::pair<std::size_t, std::size_t>, 3> cells_around(const TensorMesh& mesh, const Point& p) {
  const double place[3] = {p.e, p.n, p.u};
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  std::array<std::pair<std::size_t, std::size_t>, 3> ranges;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& f = *faces[a];
    const std::size_t cells = f.size() - 1;
    const auto above = static_cast<std::size_t>(std::upper_bound(f.begin(), f.end(), place[a]) - f.begin());
    const std::size_t here = std::min(above == 0 ? 0 : above - 1, cells - 1);
    const bool on_face = place[a] == f[here];
    ranges[a] = {on_face && here > 0 ? here - 1 : here, here + 1};
  }
  return ranges;
}

/// The conductivity around an electrode when it is the same in all cells there, whatever the axis.
std::optional<double> conductivity_at(const TensorMesh& mesh, const Conductivity& conductivity,
                                      const Point& p) {
  std::optional<double> value;
  const auto ranges = cells_around(mesh, p);
  for (std::size_t k = ranges[2].first; k < ranges[2].second; ++k)
    for (std::size_t j = ranges[1].first; j < ranges[1].second; ++j)
      for (std::size_t i = ranges[0].first; i < ranges[0].second; ++i)
        for (const auto* sigma : conductivity.along) {
          const double here = (*sigma)[mesh.index(i, j, k)];
          if (value && *value != here) return std::nullopt;
          value = here;
        }
  return value;
}

Point middle_of(const std::vector<Point>& points, double surface) {
  Point middle;
  for (const auto& p : points) {
    middle.e += p.e / static_cast<double>(points.size());
    middle.n += p.n / static_cast<double>(points.size());
    middle.u += p.u / static_cast<double>(points.size());
  }
  middle.u = std::min(middle.u, surface);
  return middle;
}

class Solver {
 public:
  Solver(const TensorMesh& mesh, const Conductivity& conductivity, const Electrodes& electrodes,
         const Parameters& parameters, Stream& stream, Comm& comm)
      : mesh_(mesh),
        conductivity_(conductivity),
        parameters_(parameters),
        stream_(stream),
        surface_(mesh.up().back()),
        centre_(middle_of(electrodes.place, surface_)),
        host_(assemble(mesh, conductivity, parameters.boundary, centre_)),
        grid_(stream, host_.nodes, comm),
        network_(host_.on(stream, grid_.part())),
        multigrid_(stream, network_, host_.spacing, grid_),
        b_(stream, grid_.part()),
        x_(stream, grid_.part()) {
    for (std::size_t n = 0; n < electrodes.place.size(); ++n)
      weights_.push_back(node_weights(mesh, electrodes.place[n], fmt::format("electrode {}", n + 1)));
  }

  /// Potentials of 1 A from one electrode at all electrodes; infinite at itself.
  std::vector<double> potentials(const Electrodes& electrodes, std::size_t source,
                                 DirectCurrentReport& report) {
    const Point& from = electrodes.place[source];
    std::optional<double> host_sigma;
    if (parameters_.potential != Potential::total) host_sigma = conductivity_at(mesh_, conductivity_, from);
    if (!host_sigma && parameters_.potential == Potential::secondary)
      throw InputError(fmt::format("electrode {}", source + 1),
                       "the cells around it differ in conductivity, so there is no secondary potential",
                       "Make them alike, or take potential = \"auto\" with 8 cells between electrodes.");
    if (host_sigma) secondary_source(from, *host_sigma);
    else total_source(source);

    x_.fill_zero(stream_);
    const solve::Stopping stopping{.relative = parameters_.tolerance,
                                   .most_iterations = parameters_.most_iterations};
    report.solves.push_back(solve::conjugate_gradients(
        stream_, network_, b_, x_,
        [&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z, double scale) {
          multigrid_.apply(s, r, z, scale);
        },
        stopping, &grid_));
    report.sources.push_back(source);
    report.secondary += host_sigma ? 1 : 0;

    const auto nodes = grid_.gather(stream_, x_);
    std::vector<double> at(electrodes.place.size());
    for (std::size_t n = 0; n < at.size(); ++n) {
      at[n] = weights_[n].at(nodes);
      if (host_sigma) at[n] += half_space_potential(from, electrodes.place[n], surface_, *host_sigma);
    }
    return at;
  }

  double operator_complexity() const { return multigrid_.operator_complexity(); }

 private:
  /// b = the current of the electrode, shared among the nodes around it.
  void total_source(std::size_t source) {
    std::vector<double> b(static_cast<std::size_t>(host_.nodes.count()), 0.0);
    weights_[source].add(1, b);
    b_.upload(stream_, b, host_.nodes);
  }

  /// b = −(K − K₀) φ_p, φ_p the half space of σ₀ and K₀ its network.
  void secondary_source(const Point& from, double sigma) {
    std::vector<double> primary(static_cast<std::size_t>(host_.nodes.count()));
    const View<double, 3> phi(primary.data(), host_.nodes);
    for (Index k = 0; k < host_.nodes.last[0]; ++k)
      for (Index j = 0; j < host_.nodes.last[1]; ++j)
        for (Index i = 0; i < host_.nodes.last[2]; ++i) {
          const Point p{mesh_.easting()[static_cast<std::size_t>(i)],
                        mesh_.northing()[static_cast<std::size_t>(j)],
                        mesh_.up()[static_cast<std::size_t>(k)]};
          const double value = half_space_potential(from, p, surface_, sigma);
          phi(k, j, i) = std::isfinite(value) ? -value : 0;  // at the source: K − K₀ is zero there
        }
    x_.upload(stream_, primary, host_.nodes);  // the layer, too
    solve::apply(stream_, difference(sigma), x_, b_);
  }

  /// K − K₀, kept as long as electrodes lie in the same conductivity.
  const solve::Network<double>& difference(double sigma) {
    if (difference_sigma_ == sigma) return difference_;
    if (unit_.link[0].empty()) {
      const std::vector<double> ones(mesh_.size(), 1.0);
      unit_ = assemble(mesh_, {{&ones, &ones, &ones}}, parameters_.boundary, centre_);
    }
    HostNetwork less = host_;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t n = 0; n < less.link[a].size(); ++n) less.link[a][n] -= sigma * unit_.link[a][n];
    difference_ = less.on(stream_, grid_.part());
    difference_sigma_ = sigma;
    return difference_;
  }

  const TensorMesh& mesh_;
  const Conductivity& conductivity_;
  const Parameters& parameters_;
  Stream& stream_;
  double surface_;
  Point centre_;
  HostNetwork host_, unit_;
  solve::SharedGrid<double> grid_;
  solve::Network<double> network_, difference_;
  double difference_sigma_ = 0;
  solve::Multigrid<float> multigrid_;
  solve::Field<double> b_, x_;
  std::vector<NodeWeights> weights_;
};

/// Σ± of a value between the current electrodes a, b and the potential electrodes m, n.
template <class Value>
double combine(const Array& array, const Value& value) {
  double sum = 0;
  const auto add = [&](int from, int to, double sign) {
    if (from != Array::far_away && to != Array::far_away)
      sum += sign * value(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
  };
  add(array.a, array.m, 1);
  add(array.b, array.m, -1);
  add(array.a, array.n, -1);
  add(array.b, array.n, 1);
  return sum;
}

}  // namespace

void Electrodes::check() const {
  const auto count = static_cast<int>(place.size());
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const auto& array = arrays[n];
    const int all[4] = {array.a, array.b, array.m, array.n};
    const auto where = fmt::format("array {}", n + 1);
    for (const int electrode : all)
      if (electrode != Array::far_away && (electrode < 0 || electrode >= count))
        throw InputError(where, fmt::format("there is no electrode {}", electrode + 1),
                         fmt::format("The survey has electrodes 1 to {}.", count));
    for (int p = 0; p < 4; ++p)
      for (int q = p + 1; q < 4; ++q)
        if (all[p] != Array::far_away && all[p] == all[q])
          throw InputError(where, fmt::format("electrode {} stands for two of its four", all[p] + 1),
                           "An array has four different electrodes, some of which may be far away.");
    if ((array.a == Array::far_away && array.b == Array::far_away) ||
        (array.m == Array::far_away && array.n == Array::far_away))
      throw InputError(where, "both current electrodes or both potential electrodes are far away",
                       "At least one of a and b, and one of m and n, is in the list.");
  }
}

int DirectCurrentReport::most_iterations() const {
  int most = 0;
  for (const auto& solve : solves) most = std::max(most, solve.iterations);
  return most;
}

bool DirectCurrentReport::converged() const {
  return std::all_of(solves.begin(), solves.end(), [](const auto& solve) { return solve.converged(); });
}

double geometric_factor(const Electrodes& electrodes, const Array& array, double surface) {
  const double sum = combine(array, [&](std::size_t from, std::size_t to) {
    return inverse_distances(electrodes.place[from], electrodes.place[to], surface);
  });
  const double factor = 4 * std::numbers::pi / sum;
  constexpr double beyond = 1e6;  // m: a null array
  return std::abs(factor) <= beyond ? factor : std::numeric_limits<double>::quiet_NaN();
}

DirectCurrentData direct_current(const TensorMesh& mesh, const Conductivity& conductivity,
                                 const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report, Progress* progress, Comm* ranks) {
  electrodes.check();
  Progress silent;
  Progress& told = progress ? *progress : silent;
  DirectCurrentReport own;
  DirectCurrentReport& said = report ? *report : own;
  Alone alone;
  Comm& comm = ranks ? *ranks : alone;
  Solver solver(mesh, conductivity, electrodes, parameters, stream, comm);
  said.operator_complexity = solver.operator_complexity();

  std::map<std::size_t, std::vector<double>> potentials;  // of each electrode that gives current
  for (const auto& array : electrodes.arrays)
    for (const int source : {array.a, array.b})
      if (source != Array::far_away) potentials[static_cast<std::size_t>(source)];
  told.start("solving for electrodes", potentials.size());
  for (auto& [source, at] : potentials) {
    if (comm.lowest(told.cancelled() ? 0 : 1) == 0) throw Cancelled();
    at = solver.potentials(electrodes, source, said);
    told.advance(1);
  }
  told.finish();

  DirectCurrentData data;
  const double surface = mesh.up().back();
  for (const auto& array : electrodes.arrays) {
    const double resistance =
        combine(array, [&](std::size_t from, std::size_t to) { return potentials.at(from)[to]; });
    const double factor = geometric_factor(electrodes, array, surface);
    said.null_arrays += std::isnan(factor) ? 1 : 0;
    data.resistance.push_back(resistance);
    data.geometric_factor.push_back(factor);
    data.apparent_resistivity.push_back(factor * resistance);
  }
  return data;
}

double bytes_needed(double nodes) {
  // Device: links of A and of K − K₀, and b, x, r, z, p, q in double; links, diagonal, b, u, v of all levels
  // (twice the points of the finest) in float. Host: three networks, and copies on their way.
  return nodes * (8.0 * (3 + 3 + 6) + 4.0 * 7 * 2 + 8.0 * (9 + 4));
}

}  // namespace terrane::electric
