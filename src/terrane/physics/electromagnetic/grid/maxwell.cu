#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/physics/electromagnetic/grid/kernels_maxwell.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr double mu0 = 4e-7 * std::numbers::pi;

Three three(const EdgeVector& x) { return {{x.e[0].view(), x.e[1].view(), x.e[2].view()}}; }

/// call(0), call(1), call(2) with the axis known to the compiler.
template <class Call>
void for_axes(const Call& call) {
  call(std::integral_constant<int, 0>{});
  call(std::integral_constant<int, 1>{});
  call(std::integral_constant<int, 2>{});
}

Buffer<double> on_device(Stream& stream, const std::vector<double>& values) {
  return Buffer<double>(stream, std::span<const double>(values.data(), values.size()));
}

}  // namespace

/// What krylov.hpp needs of edge vectors.
class EdgeSpace {
 public:
  using Vector = EdgeVector;
  using Number = electromagnetic::Number;

  EdgeSpace(Stream& stream, const Metric& metric)
      : stream_(stream), metric_(metric), sums_(stream, metric.all(), metric.all(), alone_, 2) {}

  Vector vector() {
    Vector made;
    for (int a = 0; a < 3; ++a)
      made.e[static_cast<std::size_t>(a)] = solve::Field<Number>(stream_, metric_.edges(a));
    return made;
  }
  Vector image() {
    Vector made = vector();
    made.divergence = solve::Field<Number>(stream_, metric_.nodes());
    return made;
  }
  Number dot(const Vector& u, const Vector& v) { return sum(EdgeProduct<false>{three(u), three(v)}); }
  Number inner(const Vector& u, const Vector& v) { return sum(EdgeProduct<true>{three(u), three(v)}); }
  double norm(const Vector& u) { return std::sqrt(inner(u, u).re); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    for (std::size_t a = 0; a < 3; ++a)
      for_each(stream_, b.e[a].points(), Difference{b.e[a].view(), q.e[a].view(), r.e[a].view()});
    if (r.carries())
      for_each(stream_, metric_.nodes(),
               Difference{b.divergence.view(), q.divergence.view(), r.divergence.view()});
  }
  void blend(Number alpha, const Vector& u, Number beta, Vector& v) {
    const bool add = !(beta == Number{});
    for (std::size_t a = 0; a < 3; ++a)
      for_each(stream_, u.e[a].points(), Blend{alpha, beta, add, u.e[a].view(), v.e[a].view()});
    if (u.carries() && v.carries())
      for_each(stream_, metric_.nodes(), Blend{alpha, beta, add, u.divergence.view(), v.divergence.view()});
  }
  void advance(Number alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    for (std::size_t a = 0; a < 3; ++a)
      for_each(stream_, p.e[a].points(),
               Advance{alpha, p.e[a].view(), q.e[a].view(), x.e[a].view(), r.e[a].view()});
    for_each(stream_, metric_.nodes(),
             Blend{-alpha, Number{1}, true, q.divergence.view(), r.divergence.view()});
  }
  template <class Kernel>
  std::array<double, 2> nodes(const Kernel& kernel) {
    Reduction<3> sums(stream_, metric_.nodes(), metric_.nodes(), alone_, 2);
    return sums.template sums<2>(kernel);
  }

 private:
  template <class Kernel>
  Number sum(const Kernel& kernel) {
    const auto both = sums_.template sums<2>(kernel);
    return {both[0], both[1]};
  }

  Stream& stream_;
  const Metric& metric_;
  Alone alone_;
  Reduction<3> sums_;
};

namespace {

/// σV/4 of the cells around each edge along an axis, added; [edges].
std::vector<double> edge_volumes(const Metric& metric, const std::vector<double>& sigma, int axis) {
  const auto box = metric.edges(axis);
  std::vector<double> values(static_cast<std::size_t>(box.count()));
  const View<double, 3> out(values.data(), box);
  const int b = (axis + 1) % 3, e = (axis + 2) % 3;
  const auto width = [&](int a, Index n) {
    return metric.width[static_cast<std::size_t>(a)][static_cast<std::size_t>(n)];
  };
  for_each(box, 0, [&](Index k, Index j, Index i) {
    const Index q[3] = {k, j, i};
    double sum = 0;
    for (Index high_b = 0; high_b < 2; ++high_b)
      for (Index high_e = 0; high_e < 2; ++high_e) {
        Index cell[3] = {k, j, i};
        cell[b] += high_b;
        cell[e] += high_e;
        const auto n =
            static_cast<std::size_t>((cell[0] * metric.cells(1) + cell[1]) * metric.cells(2) + cell[2]);
        sum += sigma[n] * width(b, cell[b]) * width(e, cell[e]);
      }
    out(k, j, i) = sum * width(axis, q[axis]) / 4;
  });
  return values;
}

/// Arrays of links as Field::upload_with_layer takes them; value(a, place) for places 0 … points of the axis
/// a.
template <class Value>
void fill_links(Stream& stream, solve::Network<double>& network, const IndexBox<3>& points,
                const Value& value) {
  for (int a = 0; a < 3; ++a) {
    auto& link = network.link[static_cast<std::size_t>(a)];
    link = solve::link_field<double>(stream, points);
    const auto box = points.grown(a, 0, 1);
    std::vector<double> values(static_cast<std::size_t>(box.count()));
    const View<double, 3> out(values.data(), box);
    for_each(box, stream.threads(), [&](Index k, Index j, Index i) {
      const Index q[3] = {k, j, i};
      out(k, j, i) = value(a, q);
    });
    link.upload(stream, values, box);
  }
}

void check_cells(const TensorMesh& mesh, const Conductivity& conductivity) {
  if (mesh.n_east() < 2 || mesh.n_north() < 2 || mesh.n_up() < 2)
    throw InputError("electromagnetic", "the mesh has fewer than two cells along an axis",
                     "Fields need walls on all sides, far from where they are looked at.");
  for (const auto* sigma : conductivity) {
    if (sigma->size() != mesh.size())
      throw ShapeError("electromagnetic", std::to_string(sigma->size()) + " conductivities for " +
                                              std::to_string(mesh.size()) + " cells");
    for (const double value : *sigma)
      if (!(value > 0) || !std::isfinite(value))
        throw InputError("electromagnetic", "a conductivity is not positive and finite",
                         "Give air a small one, such as 1e-8 S/m.");
  }
}

}  // namespace

Metric::Metric(Stream& stream, const TensorMesh& mesh) {
  const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& f = *faces[a];
    std::vector<double> inverse;
    for (std::size_t n = 0; n + 1 < f.size(); ++n) {
      width[a].push_back(f[n + 1] - f[n]);
      inverse.push_back(1 / width[a].back());
      if (n > 0) distance[a].push_back((width[a][n - 1] + width[a][n]) / 2);
    }
    widths[a] = on_device(stream, width[a]);
    inverses[a] = on_device(stream, inverse);
    distances[a] = on_device(stream, distance[a]);
  }
}

IndexBox<3> Metric::nodes() const { return index_box(cells(0) - 1, cells(1) - 1, cells(2) - 1); }
IndexBox<3> Metric::edges(int axis) const { return nodes().grown(axis, 0, 1); }
IndexBox<3> Metric::all() const { return index_box(cells(0), cells(1), cells(2)); }

template <class T>
struct MaxwellSolver<T>::Parts {
  using Cycle = solve::Multigrid<Complex<T>>;
  Stream& stream;
  Metric metric;
  EdgeSpace space;
  bool rough = false;
  double w = 0;                           // ωμ₀
  std::array<solve::Field<double>, 3> s;  // s V
  std::unique_ptr<Cycle> potential;       // B_K
  std::array<std::unique_ptr<Cycle>, 3> component;
  solve::Field<Complex<T>> phi;
  EdgeVector left, correction;  // of the rough form, once it was asked for
  std::optional<solve::RoomOfGradients<EdgeSpace>> room;
  Buffer<double>
      scale_there;  // what r is multiplied by: read by kernels, so that a recorded block serves all
  double scale_here = 0;
  // On devices: components beside each other, and the block recorded for these vectors.
  std::array<std::unique_ptr<Stream>, 3> beside;  // none for the first component
  std::array<std::unique_ptr<Event>, 3> reached;
  std::unique_ptr<Graph> graph;
  const void* recorded[2] = {};

  Parts(Stream& on, const TensorMesh& mesh, const Conductivity& conductivity)
      : stream(on),
        metric(on, mesh),
        space(on, metric),
        phi(on, metric.nodes()),
        scale_there(on.device(), 1) {
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const auto values = edge_volumes(metric, *conductivity[n], a);
      s[n] = solve::Field<double>(on, metric.edges(a));
      s[n].upload(on, values);
      component[n] = component_cycle(a);
    }
    potential = potential_cycle(conductivity);
    for (std::size_t a = 0; a < 3 && on.device().kind != Device::Kind::cpu; ++a) {
      reached[a] = std::make_unique<Event>(on.device());
      if (a > 0) beside[a] = std::make_unique<Stream>(on.device(), false, on.threads());
    }
  }

  MetricView view() const {
    MetricView m;
    for (std::size_t a = 0; a < 3; ++a) {
      m.width[a] = metric.widths[a].view();
      m.inverse[a] = metric.inverses[a].view();
      m.distance[a] = metric.distances[a].view();
    }
    return m;
  }
  Edges edges(const EdgeVector& x) const { return {view(), {x.e[0].view(), x.e[1].view(), x.e[2].view()}}; }
  Currents currents(const EdgeVector& x) const { return {edges(x), {s[0].view(), s[1].view(), s[2].view()}}; }

  /// c_a = d_b d_e/d_a between natural ends, c_b = h_a d_e/h_b between grounded ones.
  std::unique_ptr<Cycle> component_cycle(int a) {
    const auto h = [&](int x, Index n) {
      return metric.width[static_cast<std::size_t>(x)][static_cast<std::size_t>(n)];
    };
    const auto d = [&](int x, Index n) {
      return metric.distance[static_cast<std::size_t>(x)][static_cast<std::size_t>(n)];
    };
    const auto points = metric.edges(a);
    solve::Network<double> network;
    fill_links(stream, network, points, [&](int x, const Index(&q)[3]) {
      const int y = x == a ? (a + 1) % 3 : 3 - x - a, z = x == a ? (a + 2) % 3 : a;  // the other two axes
      if (x != a) return h(a, q[a]) * d(y, q[y]) / h(x, q[x]);
      return q[a] == 0 || q[a] == points.last[a] ? 0.0 : d(y, q[y]) * d(z, q[z]) / d(a, q[a] - 1);
    });
    network.storage = solve::Field<double>(stream, points);
    network.storage.upload(stream, s[static_cast<std::size_t>(a)].download(stream));
    std::array<solve::AxisSpacing, 3> spacing;
    for (int x = 0; x < 3; ++x) {
      auto& axis = spacing[static_cast<std::size_t>(x)];
      axis.spacing = metric.width[static_cast<std::size_t>(x)];
      if (x != a) continue;
      axis.natural_low = axis.natural_high = true;
      axis.spacing = metric.distance[static_cast<std::size_t>(x)];
      axis.spacing.insert(axis.spacing.begin(), axis.spacing.front());
      axis.spacing.push_back(axis.spacing.back());
    }
    return std::make_unique<Cycle>(stream, network, spacing);
  }

  /// K = Gᵀ sV G. Directions that conduct better are shorter to it.
  std::unique_ptr<Cycle> potential_cycle(const Conductivity& conductivity) {
    std::array<std::vector<double>, 3> host;
    for (std::size_t a = 0; a < 3; ++a) host[a] = s[a].download(stream);
    solve::Network<double> network;
    fill_links(stream, network, metric.nodes(), [&](int a, const Index(&q)[3]) {
      const auto n = static_cast<std::size_t>(a);
      const View<const double, 3> sv(host[n].data(), metric.edges(a));
      const double h = metric.width[n][static_cast<std::size_t>(q[a])];
      return sv(q[0], q[1], q[2]) / (h * h);
    });
    std::array<solve::AxisSpacing, 3> spacing;
    std::array<double, 3> mean{};
    for (std::size_t a = 0; a < 3; ++a)
      for (const double sigma : *conductivity[a])
        mean[a] += std::log(sigma) / static_cast<double>(conductivity[a]->size());
    for (std::size_t a = 0; a < 3; ++a) {
      spacing[a].spacing = metric.width[a];
      for (double& h : spacing[a].spacing) h *= std::exp((mean[0] + mean[1] + mean[2]) / 6 - mean[a] / 2);
    }
    return std::make_unique<Cycle>(stream, network, spacing);
  }

  void apply(const EdgeVector& p, EdgeVector& q) {
    for_axes([&](auto axis) {
      constexpr int a = axis, b = (a + 1) % 3, e = (a + 2) % 3;
      for_each(stream, metric.edges(a),
               CurlCurl<a>{view(), w, p.e[a].view(), p.e[b].view(), p.e[e].view(), std::as_const(s[a]).view(),
                           q.e[a].view()});
    });
    for_each(stream, metric.nodes(), CurrentDivergence{currents(p), w, q.divergence.view()});
  }

  /// z = gradient, components, gradient.
  void block(const EdgeVector& r, EdgeVector& z) {
    const auto m = view();
    const auto scale = std::as_const(scale_there).view();
    const auto nodes = metric.nodes();
    for_each(stream, nodes, FirstCharge<T>{r.divergence.view(), scale, potential->right().view()});
    potential->cycle(stream);
    for_each(stream, nodes, Keep<T>{std::as_const(*potential).solution().view(), phi.view()});
    const ComplexView<const T> first = std::as_const(phi).view();
    if (reached[0]) reached[0]->record(stream);
    for_axes([&](auto axis) {
      constexpr int a = axis;
      auto& cycle = *component[a];
      Stream& own = beside[a] ? *beside[a] : stream;
      if (beside[a]) own.wait_for(*reached[0]);
      for_each(own, metric.edges(a),
               WithoutGradient<a, T>{m, r.e[a].view(), scale, std::as_const(s[a]).view(), first,
                                     cycle.right().view()});
      cycle.cycle(own);
      if (beside[a]) reached[a]->record(own);
    });
    for (std::size_t a = 1; a < 3 && beside[a]; ++a) stream.wait_for(*reached[a]);
    const auto y = [&](std::size_t a) { return std::as_const(*component[a]).solution().view(); };
    const BlockCurrents<T> currents{
        m,
        w,
        {std::as_const(s[0]).view(), std::as_const(s[1]).view(), std::as_const(s[2]).view()},
        first,
        {y(0), y(1), y(2)}};
    for_each(stream, nodes, SecondCharge<T>{r.divergence.view(), scale, currents, potential->right().view()});
    potential->cycle(stream);
    const ComplexView<const T> second = std::as_const(*potential).solution().view();
    for_axes([&](auto axis) {
      constexpr int a = axis;
      for_each(stream, metric.edges(a), BlockSum<a, T>{m, w, scale, first, second, y(a), z.e[a].view()});
    });
  }

  /// The block; on devices as one graph, so that the host need not begin its hundreds of kernels.
  void quick_block(const EdgeVector& r, double scale, EdgeVector& z) {
    if (scale != scale_here) {
      scale_there.upload(stream, std::span<const double>(&scale, 1));
      scale_here = scale;
    }
    if (stream.device().kind == Device::Kind::cpu) return block(r, z);
    const void* now[2] = {r.e[0].view().re.first(), z.e[0].view().re.first()};
    if (!graph || now[0] != recorded[0] || now[1] != recorded[1]) {
      graph = nullptr;
      graph = std::make_unique<Graph>(stream, [&] { block(r, z); });
      recorded[0] = now[0];
      recorded[1] = now[1];
    }
    graph->launch(stream);
  }

  void jacobi(const EdgeVector& r, EdgeVector& z) {
    for_axes([&](auto axis) {
      constexpr int a = axis;
      for_each(stream, metric.edges(a),
               Jacobi<a>{view(), w, 0.65, std::as_const(s[a]).view(), r.e[a].view(), z.e[a].view()});
    });
  }
  /// left = r − A z
  void what_is_left(const EdgeVector& r, const EdgeVector& z) {
    apply(z, left);
    space.subtract(r, left, left);
  }
  void precondition(const EdgeVector& r, EdgeVector& z, double scale) {
    if (!rough) return quick_block(r, scale, z);
    jacobi(r, z);
    what_is_left(r, z);
    quick_block(left, scale, correction);
    space.blend({1}, correction, {1}, z);
    what_is_left(r, z);
    jacobi(left, correction);
    space.blend({1}, correction, {1}, z);
  }
};

template <class T>
MaxwellSolver<T>::MaxwellSolver(Stream& stream, const TensorMesh& mesh, const Conductivity& conductivity) {
  check_cells(mesh, conductivity);
  parts_ = std::make_unique<Parts>(stream, mesh, conductivity);
}
template <class T>
void MaxwellSolver<T>::set_rough(bool rough) {
  auto& own = *parts_;
  own.rough = rough;
  if (!own.rough || own.left.carries()) return;
  own.left = own.space.image();
  own.correction = own.space.vector();
}
template <class T>
MaxwellSolver<T>::~MaxwellSolver() = default;

template <class T>
void MaxwellSolver<T>::set_frequency(double hertz) {
  parts_->w = 2 * std::numbers::pi * hertz * mu0;
  for (auto& cycle : parts_->component) cycle->set_shift(parts_->w);
  parts_->graph = nullptr;
}

template <class T>
EdgeVector MaxwellSolver<T>::vector() {
  return parts_->space.vector();
}
template <class T>
EdgeVector MaxwellSolver<T>::image() {
  return parts_->space.image();
}
template <class T>
void MaxwellSolver<T>::complete(EdgeVector& b) {
  for_each(parts_->stream, parts_->metric.nodes(), Divergence{parts_->edges(b), b.divergence.view()});
}
template <class T>
void MaxwellSolver<T>::apply(const EdgeVector& p, EdgeVector& q) {
  parts_->apply(p, q);
}
template <class T>
void MaxwellSolver<T>::precondition(const EdgeVector& r, EdgeVector& z, double scale) {
  parts_->precondition(r, z, scale);
}

template <class T>
solve::SolveReport MaxwellSolver<T>::solve(const EdgeVector& b, EdgeVector& x,
                                           const solve::Stopping& stopping) {
  if (!parts_->room) parts_->room.emplace(parts_->space);
  return solve::conjugate_gradients(
      parts_->space, [&](const EdgeVector& p, EdgeVector& q) { apply(p, q); },
      [&](const EdgeVector& r, EdgeVector& z, double scale) { precondition(r, z, scale); }, b, x, stopping,
      *parts_->room);
}
template <class T>
solve::SolveReport MaxwellSolver<T>::solve_by_qmr(const EdgeVector& b, EdgeVector& x,
                                                  const solve::Stopping& stopping) {
  return solve::quasi_minimal_residuals(
      parts_->space, [&](const EdgeVector& p, EdgeVector& q) { apply(p, q); },
      [&](const EdgeVector& r, EdgeVector& z, double scale) { precondition(r, z, scale); }, b, x, stopping);
}
template <class T>
solve::SolveReport MaxwellSolver<T>::solve_by_bicgstab(const EdgeVector& b, EdgeVector& x,
                                                       const solve::Stopping& stopping) {
  return solve::stabilised_bi_conjugate_gradients(
      parts_->space, [&](const EdgeVector& p, EdgeVector& q) { apply(p, q); },
      [&](const EdgeVector& r, EdgeVector& z, double scale) { precondition(r, z, scale); }, b, x, stopping);
}

template <class T>
Number MaxwellSolver<T>::dot(const EdgeVector& u, const EdgeVector& v) {
  return parts_->space.dot(u, v);
}
template <class T>
double MaxwellSolver<T>::norm(const EdgeVector& u) {
  return parts_->space.norm(u);
}
template <class T>
double MaxwellSolver<T>::divergence(const EdgeVector& b, const EdgeVector& x) {
  const auto sums =
      parts_->space.nodes(ChargeError{parts_->currents(x), parts_->w, std::as_const(b.divergence).view()});
  return sums[1] > 0 ? std::sqrt(sums[0] / sums[1]) : 0;
}
template <class T>
const Metric& MaxwellSolver<T>::metric() const {
  return parts_->metric;
}
template <class T>
double MaxwellSolver<T>::unknowns() const {
  double sum = 0;
  for (int a = 0; a < 3; ++a) sum += static_cast<double>(parts_->metric.edges(a).count());
  return sum;
}

template class MaxwellSolver<float>;
template class MaxwellSolver<double>;

}  // namespace terrane::electromagnetic
