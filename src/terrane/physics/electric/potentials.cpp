// Outline: assemble the network (or two, for a complex conductivity) and its multigrid hierarchy once; for
// each source solve for the secondary or the total potential; interpolate it to electrodes and cells.
#include "terrane/physics/electric/potentials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/difference.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/complex_network.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::electric {

namespace {

using Number = std::complex<double>;

Conductivity quadrature_alone(const Conductivity& conductivity) { return {conductivity.quadrature}; }

/// The magnitudes of complex conductances, from which the multigrid hierarchy is made.
HostNetwork magnitudes(const HostNetwork& real, const HostNetwork& imaginary) {
  HostNetwork all = real;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t n = 0; n < all.link[a].size(); ++n)
      all.link[a][n] = std::hypot(real.link[a][n], imaginary.link[a][n]);
  return all;
}

/// For meshes with all sides insulated, in which currents must add up to zero: lets the sum of currents leave
/// evenly at all nodes.
void balance(std::span<double> currents) {
  double sum = 0;
  for (const double value : currents) sum += value;
  for (double& value : currents) value -= sum / static_cast<double>(currents.size());
}

}  // namespace

Viewpoint viewpoint(const TensorMesh& mesh, const std::vector<double>* ground,
                    const std::vector<Point>& electrodes) {
  Point middle;
  for (const auto& p : electrodes) {
    middle.e += p.e / static_cast<double>(electrodes.size());
    middle.n += p.n / static_cast<double>(electrodes.size());
    middle.u += p.u / static_cast<double>(electrodes.size());
  }
  const double surface = ground ? std::max(middle.u, ground_level(mesh, *ground, middle)) : mesh.up().back();
  middle.u = std::min(middle.u, surface);
  return {middle, surface};
}

std::vector<NodeWeights> weights_of(const TensorMesh& mesh, const std::vector<double>* ground,
                                    const std::vector<Point>& electrodes) {
  if (ground != nullptr) check_ground(mesh, *ground);
  std::vector<NodeWeights> all;
  for (std::size_t n = 0; n < electrodes.size(); ++n) {
    const auto name = fmt::format("electrode {}", n + 1);
    if (ground != nullptr) refuse_air(mesh, *ground, electrodes[n], name);
    all.push_back(node_weights(mesh, electrodes[n], name));
  }
  return all;
}

void check(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& electrodes) {
  weights_of(mesh, conductivity.ground, electrodes);
  if (conductivity.ground == nullptr) check(mesh, conductivity);
  else check(mesh, CellsWithAir(mesh, conductivity).view());
}

/// The part of the solver that is the same for real and complex conductivities.
struct Potentials::Solver {
  Solver(const TensorMesh& cells, const Conductivity& conductivity, const std::vector<Point>& electrodes,
         const Parameters& settings, Stream& on, Comm& comm)
      : mesh(cells),
        place(electrodes),
        parameters(settings),
        stream(on),
        has_ground(conductivity.ground != nullptr),
        ground(conductivity.ground),
        filled(has_ground ? std::optional<CellsWithAir>(std::in_place, cells, conductivity) : std::nullopt),
        sigma(filled ? filled->view() : conductivity),
        from(viewpoint(cells, conductivity.ground, electrodes)),
        host((from.stretch = mean_stretch(sigma), check(cells, sigma),
              network_of(cells, sigma, settings.boundary, from))),
        grid(host.nodes, comm, on.device()),
        network(host.on(on, grid.part())) {
    weights = weights_of(cells, conductivity.ground, electrodes);
  }
  virtual ~Solver() = default;

  /// Returns the potential x; if complex, its real part, followed by its imaginary part. secondary: medium of
  /// the primary potential, or empty
  virtual std::vector<double> solve(std::size_t source, const std::optional<Primary>& secondary,
                                    solve::SolveReport& report) = 0;
  virtual double operator_complexity() const = 0;

  /// The current of an electrode, distributed to the nodes around it.
  std::vector<double> current(std::size_t source) const {
    std::vector<double> b(static_cast<std::size_t>(host.nodes.count()), 0.0);
    weights[source].add(1, b);
    if (parameters.boundary.closed()) balance(b);
    return b;
  }

  /// −φ_p on the nodes, φ_p the primary potential: either its real part or its imaginary part.
  std::vector<double> less_primary(std::size_t source, const Primary& primary, bool imaginary = false) const {
    std::vector<double> nodes(static_cast<std::size_t>(host.nodes.count()));
    const View<double, 3> phi(nodes.data(), host.nodes);
    const PrimaryPotential potential(primary, place[source], from.surface,
                                     on_planes(primary, place[source].u));
    const double at_source = 1e-6 * narrowest();
    for_each(mesh.up().size(), stream.threads(), [&](std::size_t k) {
      for (std::size_t j = 0; j < mesh.northing().size(); ++j)
        for (std::size_t i = 0; i < mesh.easting().size(); ++i) {
          const Point p{mesh.easting()[i], mesh.northing()[j], mesh.up()[k]};
          const Number at = potential(p);
          const double value = imaginary ? at.imag() : at.real();
          // At the source K − K₀ is zero, except for rounding errors.
          const bool there = !std::isfinite(value) || distance(p, place[source]) < at_source;
          phi(static_cast<Index>(k), static_cast<Index>(j), static_cast<Index>(i)) = there ? 0 : -value;
        }
    });
    return nodes;
  }
  /// The potential of layers on the planes of nodes, stored for further electrodes at the same height; null
  /// if there are no layers.
  std::shared_ptr<const LayersPotential> on_planes(const Primary& primary, double up) const {
    if (!primary.layered) return nullptr;
    if (of_layers.medium != primary.layered || of_layers.up != up)
      of_layers = {primary.layered, up, layers_potential(primary, up, mesh.up())};
    return of_layers.potential;
  }
  std::shared_ptr<const LayersPotential> layers_potential(const Primary& primary, double up,
                                                          const std::vector<double>& planes) const {
    const double across = std::hypot(mesh.easting().back() - mesh.easting().front(),
                                     mesh.northing().back() - mesh.northing().front());
    return std::make_shared<LayersPotential>(primary.layered->layers, up, from.surface, planes,
                                             1e-3 * narrowest(), across);
  }
  /// The width of the narrowest cell.
  double narrowest() const {
    double least = INFINITY;
    for (const auto* faces : {&mesh.easting(), &mesh.northing()})
      for (std::size_t n = 1; n < faces->size(); ++n) least = std::min(least, (*faces)[n] - (*faces)[n - 1]);
    return least;
  }
  /// sums += sign (K − K₀) φ (grid/difference.hpp), for the real or imaginary part of complex conductivities;
  /// empty sums count as zeros.
  void add_difference(double sign, bool quadrature, const Primary& primary, std::size_t source,
                      const std::vector<double>& phi, std::vector<double>& sums) const {
    const Viewpoint seen{place[source], from.surface, primary.own.stretch()};
    if (primary.slope) return add_difference_of_slope(sign, quadrature, primary, phi, sums);
    auto currents =
        difference_times(mesh, quadrature ? sigma.quadrature : sigma.along, {primary, seen, quadrature},
                         parameters.boundary, from, phi, stream.threads());
    if (sums.empty()) return sums.swap(currents);
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += sign * currents[n];
  }

  /// Adds −K φ_p + χ K₀ φ_p, with K₀ for cells cut by the slope and air above it, and a weight χ of each
  /// node. Where the cells around a node have the same fractions of ground in K and K₀, χ is 1, and the
  /// singularity of the source cancels. Where K₀ has ground and K hardly any, χ is close to 0: K₀ φ_p should
  /// be zero away from the source, but has errors of the mesh, and as currents these would flow through very
  /// small conductances of K.
  void add_difference_of_slope(double sign, bool quadrature, const Primary& primary,
                               const std::vector<double>& phi, std::vector<double>& sums) const {
    const auto& slope = *primary.slope;
    const auto share = ground_below(mesh, [&](double e, double n) { return slope.height(e, n); });
    const double own = (quadrature ? primary.own.quadrature : primary.own.along)[0], air = filled->air;
    std::vector<double> taken(share);
    for (double& value : taken)
      value = quadrature ? value * own : value > 0 ? std::max(value * own, air) : air;
    const PrimaryMedium nothing{Primary{}, {}, false};
    auto currents = difference_times(mesh, quadrature ? sigma.quadrature : sigma.along, nothing,
                                     parameters.boundary, from, phi, stream.threads());
    const auto by_slope = difference_times(mesh, {&taken, &taken, &taken}, nothing, parameters.boundary, from,
                                           phi, stream.threads());
    auto free = by_slope;  // K₀ φ_p, which away from the electrode is only the error of the mesh
    for (double& value : free) value = -value;
    if (!quadrature && !imaginary_of_slope) add_flow_through_top(slope, free);
    const auto alike = likeness(share);
    for (std::size_t n = 0; n < currents.size(); ++n) currents[n] += alike[n] * free[n];
    weights_of_source(slope).add(left_out(slope, alike, free), currents);
    if (sums.empty()) return sums.swap(currents);
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += sign * currents[n];
  }
  NodeWeights weights_of_source(const Slope& slope) const {
    return node_weights(mesh, slope.electrode, "electrode");
  }
  /// The current lost by χ < 1 within six cells of the electrode; it is added again at the electrode.
  double left_out(const Slope& slope, const std::vector<double>& alike,
                  const std::vector<double>& free) const {
    const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
    const double at[3] = {slope.electrode.e, slope.electrode.n, slope.electrode.u};
    std::size_t first[3], end[3];
    for (std::size_t a = 0; a < 3; ++a) {
      const auto above = static_cast<std::size_t>(
          std::upper_bound(faces[a]->begin(), faces[a]->end(), at[a]) - faces[a]->begin());
      first[a] = above > 7 ? above - 7 : 1;
      end[a] = std::min(above + 6, faces[a]->size() - (a == 2 ? 0 : 1));
    }
    double sum = 0;
    for (std::size_t k = first[2]; k < end[2]; ++k)
      for (std::size_t j = first[1]; j < end[1]; ++j)
        for (std::size_t i = first[0]; i < end[0]; ++i) {
          const auto node = (k * faces[1]->size() + j) * faces[0]->size() + i;
          sum += (1 - alike[node]) * free[node];
        }
    return sum;
  }
  /// χ on the nodes: the least, over the cells around a node, of the fraction of ground divided by the
  /// fraction of the cell below the slope; at most 1.
  std::vector<double> likeness(const std::vector<double>& share) const {
    const std::size_t rows = mesh.northing().size(), row = mesh.easting().size();
    std::vector<double> alike(static_cast<std::size_t>(host.nodes.count()), 1.0);
    for (std::size_t k = 0; k < mesh.n_up(); ++k)
      for (std::size_t j = 0; j < mesh.n_north(); ++j)
        for (std::size_t i = 0; i < mesh.n_east(); ++i) {
          const auto cell = mesh.index(i, j, k);
          if (!((*ground)[cell] < share[cell])) continue;
          for (std::size_t corner = 0; corner < 8; ++corner) {
            auto& least =
                alike[((k + (corner >> 2)) * rows + j + (corner >> 1 & 1)) * row + i + (corner & 1)];
            least = std::min(least, (*ground)[cell] / share[cell]);
          }
        }
    return alike;
  }
  /// Adds the current σ E_u of φ_p through the top of the mesh, distributed to the corners of each cell, if
  /// the slope rises above the top: K₀ on the mesh does not contain it.
  void add_flow_through_top(const Slope& slope, std::vector<double>& currents) const {
    const double top = mesh.up().back();
    const auto &east = mesh.easting(), &north = mesh.northing();
    const std::size_t rows = north.size(), row = east.size(), first = (mesh.up().size() - 1) * rows * row;
    for (std::size_t j = 0; j + 1 < rows; ++j)
      for (std::size_t i = 0; i + 1 < row; ++i)
        for (std::size_t corner = 0; corner < 4; ++corner) {
          const double a = corner & 1 ? 0.75 : 0.25, b = corner & 2 ? 0.75 : 0.25;
          const Point p{east[i] + a * (east[i + 1] - east[i]), north[j] + b * (north[j + 1] - north[j]), top};
          if (!(slope.height(p.e, p.n) > top)) continue;
          const double area = (east[i + 1] - east[i]) * (north[j + 1] - north[j]) / 4;
          const auto node = first + (j + (corner >> 1)) * row + i + (corner & 1);
          currents[node] += area * slope.field(p)[2];
        }
  }

  /// Frees the network on the host after it was copied to devices.
  void forget_host() { host.link = {}; }

  /// Multigrid cycles and conjugate gradients share memory: the fields b and v of the finest level are needed
  /// only during a cycle, and the vector q of conjugate gradients only between two cycles.
  solve::InTurn lent_to_finest() { return {&lent, true, 0}; }

  solve::Stopping stopping() const {
    return {.relative = parameters.tolerance, .most_iterations = parameters.most_iterations};
  }

  const TensorMesh& mesh;
  const std::vector<Point>& place;
  const Parameters& parameters;
  Stream& stream;
  bool has_ground;
  const std::vector<double>* ground;
  std::optional<CellsWithAir> filled;
  Conductivity sigma;
  Viewpoint from;
  HostNetwork host;
  solve::SharedGrid<double> grid;
  solve::Network<double> network;
  std::vector<NodeWeights> weights;
  solve::SharedMemory lent;
  bool imaginary_of_slope = false;  // whether (K − K₀) is being applied to the imaginary part of φ_p
  mutable struct {
    std::shared_ptr<const LayeredMedium> medium;
    double up = 0;
    std::shared_ptr<const LayersPotential> potential;
  } of_layers;
};

namespace {

struct RealSolver final : Potentials::Solver {
  template <class... Given>
  explicit RealSolver(Given&&... given)
      : Solver(given...),
        multigrid(stream, (forget_host(), network), host.spacing, grid, solve::as_messages_go,
                  solve::Transfers::quickest, lent_to_finest()),
        halves(solve::split(stream, std::move(network), multigrid)),
        b(stream, grid.part()),
        x(stream, grid.part()) {}

  std::vector<double> solve(std::size_t source, const std::optional<Primary>& secondary,
                            solve::SolveReport& report) override {
    if (secondary) {  // b = −(K − K₀) φ_p, K₀ the network of the primary's medium
      std::vector<double> currents;
      add_difference(1, false, *secondary, source, less_primary(source, *secondary), currents);
      if (parameters.boundary.closed()) balance(currents);
      b.upload(stream, currents, host.nodes);
    } else {
      b.upload(stream, current(source), host.nodes);
    }
    x.fill_zero(stream);
    report = solve::conjugate_gradients(
        stream, halves, b, x,
        [&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z, double scale) {
          multigrid.apply(s, r, z, scale);
        },
        stopping(), &grid, &lent);
    return grid.gather(stream, x);
  }
  double operator_complexity() const override { return multigrid.operator_complexity(); }

  solve::Multigrid<float> multigrid;
  solve::SplitNetwork halves;  // both halves of the network, whose own memory is freed
  solve::Field<double> b, x;
};

struct ComplexSolver final : Potentials::Solver {
  template <class... Given>
  explicit ComplexSolver(Given&&... given)
      : Solver(given...),
        turned_host(network_of(mesh, quadrature_alone(sigma), parameters.boundary, from)),
        turned(turned_host.on(stream, grid.part())),
        multigrid(stream, take_magnitudes(), host.spacing, grid, solve::as_messages_go,
                  solve::Transfers::quickest, lent_to_finest()),
        b(stream, grid.part()),
        x(stream, grid.part()) {}

  /// The magnitudes of conductances on the device; frees the host's networks before coarser levels are made.
  solve::Network<double> take_magnitudes() {
    auto taken = magnitudes(host, turned_host).on(stream, grid.part());
    forget_host();
    turned_host.link = {};
    return taken;
  }

  std::vector<double> solve(std::size_t source, const std::optional<Primary>& secondary,
                            solve::SolveReport& report) override {
    std::vector<double> parts;
    if (secondary) {
      // (D' + iD'')(φ' + iφ''), D = K − K₀.
      std::vector<double> imaginary;
      for (const bool turned_phi : {false, true}) {
        const auto phi = less_primary(source, *secondary, turned_phi);
        imaginary_of_slope = turned_phi;
        add_difference(turned_phi ? -1 : 1, turned_phi, *secondary, source, phi, parts);
        add_difference(1, !turned_phi, *secondary, source, phi, imaginary);
      }
      if (parameters.boundary.closed())
        for (auto* part : {&parts, &imaginary}) balance(*part);
      parts.insert(parts.end(), imaginary.begin(), imaginary.end());
    } else {
      parts = current(source);
      parts.resize(2 * parts.size());
    }
    b.upload(stream, parts, host.nodes);
    parts = std::vector<double>();  // frees the memory
    x.fill_zero(stream);
    report = solve::conjugate_gradients(
        stream, network, turned, b, x,
        [&](Stream& s, const solve::ComplexField& r, solve::ComplexField& z, double scale) {
          multigrid.apply(s, r, z, scale);
        },
        stopping(), &grid, &lent);
    return grid.gather(stream, x);
  }
  double operator_complexity() const override { return multigrid.operator_complexity(); }

  HostNetwork turned_host;
  solve::Network<double> turned;
  solve::Multigrid<solve::Complex<float>> multigrid;
  solve::ComplexField b, x;
};

}  // namespace

Potentials::Potentials(const TensorMesh& mesh, const Conductivity& conductivity,
                       const std::vector<Point>& electrodes, const Parameters& parameters, Stream& stream,
                       Comm& comm) {
  if (conductivity.complex())
    solver_ = std::make_unique<ComplexSolver>(mesh, conductivity, electrodes, parameters, stream, comm);
  else solver_ = std::make_unique<RealSolver>(mesh, conductivity, electrodes, parameters, stream, comm);
}

Potentials::~Potentials() = default;

std::vector<Number> Potentials::at_electrodes(std::size_t source, const std::optional<Primary>& primary,
                                              Solved& solved) {
  const auto& s = *solver_;
  source_ = source;
  secondary_ = primary;
  solved.secondary = secondary_.has_value();
  for (auto* values : {&real_, &imaginary_}) *values = std::vector<double>();  // frees memory first
  real_ = solver_->solve(source, secondary_, solved.report);
  const auto nodes = static_cast<std::ptrdiff_t>(s.host.nodes.count());
  imaginary_.assign(real_.begin() + nodes, real_.end());
  real_.resize(static_cast<std::size_t>(nodes));
  std::vector<Number> at(s.place.size());
  for (std::size_t n = 0; n < at.size(); ++n)
    at[n] = {s.weights[n].at(real_), imaginary_.empty() ? 0 : s.weights[n].at(imaginary_)};
  if (!secondary_) return at;
  const auto& from = s.place[source];
  std::shared_ptr<const LayersPotential> layered;
  if (secondary_->layered) {
    std::vector<double> heights;
    for (const auto& p : s.place) heights.push_back(p.u);
    layered = s.layers_potential(*secondary_, from.u, heights);
  }
  const PrimaryPotential potential(*secondary_, from, s.from.surface, std::move(layered));
  for (std::size_t n = 0; n < at.size(); ++n) at[n] += potential(s.place[n]);
  return at;
}

namespace {

/// φ and E = −∇φ at the centre of a cell, E along easting, northing, up.
template <class T>
struct InCell {
  T potential{};
  std::array<T, 3> field{};
};

/// φ as mean of the eight nodes of a cell, and E along each axis as mean of its four edges.
InCell<double> in_cell(const View<const double, 3>& phi, const TensorMesh& mesh, std::size_t i, std::size_t j,
                       std::size_t k) {
  InCell<double> mean;
  const double width[3] = {mesh.easting()[i + 1] - mesh.easting()[i],
                           mesh.northing()[j + 1] - mesh.northing()[j], mesh.up()[k + 1] - mesh.up()[k]};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const std::size_t e = corner & 1, n = corner >> 1 & 1, u = corner >> 2;
    const double value = phi(static_cast<Index>(k + u), static_cast<Index>(j + n), static_cast<Index>(i + e));
    mean.potential += value / 8;
    const std::size_t high[3] = {e, n, u};
    for (std::size_t a = 0; a < 3; ++a) mean.field[a] += (high[a] ? -value : value) / (4 * width[a]);
  }
  return mean;
}

/// E of the potential of layers, along easting, northing, up; adds φ to `potential`. Both are left zero at
/// the electrode itself.
std::array<Number, 3> layered_field(const LayersPotential& layers, const Point& from, const Point& p,
                                    Number& potential) {
  const double e = p.e - from.e, n = p.n - from.n, r = std::hypot(e, n);
  if (r == 0 && p.u == from.u) return {};
  potential += layers.potential(p.u, r);
  const auto [radial, up] = layers.field(p.u, r);
  return r > 0 ? std::array{radial * (e / r), radial * (n / r), up} : std::array{Number(0), Number(0), up};
}

}  // namespace

std::vector<CellValues> Potentials::in_cells(const Volume& wanted) const {
  const auto& s = *solver_;
  const auto& mesh = s.mesh;
  const bool complex = !imaginary_.empty();
  std::vector<CellValues> all(wanted.arrays());
  for (auto& one : all) {
    one.real.reserve(mesh.size());
    if (complex) one.imaginary.reserve(mesh.size());
  }
  const View<const double, 3> real(real_.data(), s.host.nodes), imaginary(imaginary_.data(), s.host.nodes);
  std::shared_ptr<const LayersPotential> layered;
  if (secondary_ && secondary_->layered) {
    std::vector<double> middles;
    for (std::size_t k = 0; k < mesh.n_up(); ++k) middles.push_back((mesh.up()[k] + mesh.up()[k + 1]) / 2);
    layered = s.layers_potential(*secondary_, s.place[source_].u, middles);
  }
  for (std::size_t k = 0; k < mesh.n_up(); ++k)
    for (std::size_t j = 0; j < mesh.n_north(); ++j)
      for (std::size_t i = 0; i < mesh.n_east(); ++i) {
        const auto re = in_cell(real, mesh, i, j, k);
        const auto im = complex ? in_cell(imaginary, mesh, i, j, k) : InCell<double>{};
        InCell<Number> here{{re.potential, im.potential}, {}};
        for (std::size_t a = 0; a < 3; ++a) here.field[a] = {re.field[a], im.field[a]};
        if (secondary_) {
          const Point middle{(mesh.easting()[i] + mesh.easting()[i + 1]) / 2,
                             (mesh.northing()[j] + mesh.northing()[j + 1]) / 2,
                             (mesh.up()[k] + mesh.up()[k + 1]) / 2};
          const auto& from = s.place[source_];
          if (!layered) here.potential += secondary_->potential(from, middle, s.from.surface);
          const auto primary = layered ? layered_field(*layered, from, middle, here.potential)
                                       : secondary_->field(from, middle, s.from.surface);
          for (std::size_t a = 0; a < 3; ++a) here.field[a] += primary[a];
        }
        const auto cell = mesh.index(i, j, k);
        std::size_t n = 0;
        const auto put = [&](const Number& value) {
          all[n].real.push_back(value.real());
          if (complex) all[n].imaginary.push_back(value.imag());
          ++n;
        };
        if (wanted.potential) put(here.potential);
        for (std::size_t a = 0; a < 3 && wanted.electric; ++a) put(here.field[a]);
        for (std::size_t a = 0; a < 3 && wanted.current; ++a)
          put(Number((*s.sigma.along[a])[cell], s.sigma.complex() ? (*s.sigma.quadrature[a])[cell] : 0.0) *
              here.field[a]);
      }
  return all;
}

std::vector<double> Potentials::on_nodes(std::size_t source, Solved& solved) {
  solved.secondary = false;
  return solver_->solve(source, std::nullopt, solved.report);
}

const std::vector<NodeWeights>& Potentials::weights() const { return solver_->weights; }

double Potentials::operator_complexity() const { return solver_->operator_complexity(); }

}  // namespace terrane::electric
