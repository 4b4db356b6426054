#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/pinned.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/physics/electromagnetic/grid/kernels_maxwell.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr double mu0 = 4e-7 * std::numbers::pi;

ThreeOut three(EdgeVector& x) { return {{x.e[0].view(), x.e[1].view(), x.e[2].view()}}; }
Three three(const EdgeVector& x) { return {{x.e[0].view(), x.e[1].view(), x.e[2].view()}}; }

/// Calls call(0), call(1), call(2); the arguments are compile-time constants.
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

/// A rank's part of a mesh: a box of cells, and the edges and interior nodes with the same indices.
struct EdgeShare {
  IndexBox<3> whole, cells, nodes;
  std::array<IndexBox<3>, 3> edges;
  // Null if there is only one rank.
  Comm* comm = nullptr;
  std::unique_ptr<solve::SharedGrid<double>> of_nodes;
  std::array<std::unique_ptr<solve::SharedGrid<double>>, 3> of_edges;

  EdgeShare(Stream& stream, const Metric& metric, Comm* ranks) : whole(metric.all()), cells(whole) {
    comm = ranks && ranks->size() > 1 ? ranks : nullptr;
    if (!comm) {
      nodes = metric.nodes();
      for (int a = 0; a < 3; ++a) edges[static_cast<std::size_t>(a)] = metric.edges(a);
      return;
    }
    const auto all = cut(whole, comm->size());
    cells = all.part(comm->rank());
    const auto grid = [&](const IndexBox<3>& points, bool corners) {
      auto parts = all;
      parts.whole = points;
      for (auto& part : parts.parts) part = overlap(part, points);
      return std::make_unique<solve::SharedGrid<double>>(parts, *comm, solve::Around{1, corners});
    };
    of_nodes = grid(metric.nodes(), false);
    nodes = of_nodes->part();
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      of_edges[n] = grid(metric.edges(a), true);
      of_edges[n]->prepare<Number>(stream);
      edges[n] = of_edges[n]->part();
    }
  }

  /// Whether halos are exchanged by kernels of the stream, without the host.
  bool direct() const { return !comm || of_edges[0]->direct(); }
  bool by_peers() const { return !comm || of_edges[0]->by_peers(); }
  /// The host waits for the stream and checks that messages arrive.
  void watch(Stream& stream) const {
    if (comm) of_edges[0]->watch(stream);
  }

  /// Fetches the halo of edges around a part, including the edges and corners of its box, because curls read
  /// neighbours along two axes at once.
  void bring(Stream& stream, EdgeVector& x) const {
    for (std::size_t a = 0; a < 3 && comm; ++a) of_edges[a]->bring(stream, x.e[a]);
  }
};

/// The Space of krylov.hpp for edge vectors.
class EdgeSpace {
 public:
  using Vector = EdgeVector;
  using Number = electromagnetic::Number;

  /// lent: device memory that the finest levels of the multigrid cycles use while conjugate gradients do not
  /// need q. Slots 0 … 2: cycles of the components and, before and after these, coarser levels of the
  /// potential; slot 3: the finest level of the potential.
  EdgeSpace(Stream& stream, const Metric& metric, const EdgeShare& share, solve::SharedMemory& lent)
      : stream_(stream),
        metric_(metric),
        share_(share),
        lent_(lent),
        sums_(stream, share.whole, share.cells, comm(), 2) {
    if (!share.comm || !share.by_peers() || sums_.cells_of_all().count() < 2) return;
    Cartesian<3> cells{sums_.cells_of_all(), {}, {}};
    for (int rank = 0; rank < share.comm->size(); ++rank) cells.parts.push_back(sums_.cells_of_rank(rank));
    of_cells_ =
        std::make_unique<solve::SharedGrid<double>>(cells, *share.comm, solve::Around{0, false, true});
    of_cells_->prepare<Number>(stream);
    // Without direct access to peers' memory, sums are exchanged through the host.
    if (!of_cells_->by_peers()) {
      of_cells_ = nullptr;
      return;
    }
    cells_ = solve::Field<Number>(stream, cells.whole);
  }

  Vector vector() {
    Vector made;
    for (int a = 0; a < 3; ++a)
      made.e[static_cast<std::size_t>(a)] =
          solve::Field<Number>(stream_, share_.edges[static_cast<std::size_t>(a)]);
    return made;
  }
  Vector image() {
    Vector made = vector();
    made.divergence = solve::Field<Number>(stream_, share_.nodes);
    return made;
  }
  /// A vector in memory that the multigrid cycles also use; its halo may contain any values.
  Vector scratch() {
    if (stream_.device().kind == Device::Kind::cpu) return image();
    Vector made;
    for (std::size_t a = 0; a < 3; ++a) made.e[a] = solve::Field<Number>(stream_, share_.edges[a], lent_, a);
    made.divergence = solve::Field<Number>(stream_, share_.nodes, lent_, 3);
    return made;
  }
  Number dot(const Vector& u, const Vector& v) {
    if (stream_.device().kind == Device::Kind::cpu) return sum(EdgeProduct<false>{three(u), three(v)});
    return sum(EdgeProductInside{inside(), three(u), three(v)});
  }
  Number inner(const Vector& u, const Vector& v) { return sum(EdgeProduct<true>{three(u), three(v)}); }
  double norm(const Vector& u) { return std::sqrt(inner(u, u).re); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    for (std::size_t a = 0; a < 3; ++a)
      sweep(stream_, b.e[a].points(), Difference{b.e[a].view(), q.e[a].view(), r.e[a].view()}, After::events);
    if (!r.carries()) return;
    if (b.carries())
      return sweep(stream_, share_.nodes,
                   Difference{b.divergence.view(), q.divergence.view(), r.divergence.view()}, After::events);
    sweep(stream_, share_.nodes,
          DivergenceLeft{{metric_.view(), {b.e[0].view(), b.e[1].view(), b.e[2].view()}},
                         std::as_const(q.divergence).view(),
                         r.divergence.view()},
          After::events);
  }
  void blend(Number alpha, const Vector& u, Number beta, Vector& v) {
    const bool add = !(beta == Number{});
    for (std::size_t a = 0; a < 3; ++a)
      sweep(stream_, u.e[a].points(), Blend{alpha, beta, add, u.e[a].view(), v.e[a].view()}, After::events);
    if (u.carries() && v.carries())
      sweep(stream_, share_.nodes, Blend{alpha, beta, add, u.divergence.view(), v.divergence.view()},
            After::events);
  }
  /// Runs a kernel that writes r and sums |r|²; returns ‖r‖.
  template <class Kernel>
  double written_and_norm(const Kernel& kernel) {
    return std::sqrt(sum(kernel).re);
  }
  void advance(Number alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    for (std::size_t a = 0; a < 3; ++a)
      sweep(stream_, p.e[a].points(),
            Advance{alpha, p.e[a].view(), q.e[a].view(), x.e[a].view(), r.e[a].view()}, After::events);
    sweep(stream_, share_.nodes, Blend{-alpha, Number{1}, true, q.divergence.view(), r.divergence.view()},
          After::events);
  }
  /// advance(), and returns ‖r‖; on devices one kernel does both.
  double advance_and_norm(Number alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    if (stream_.device().kind == Device::Kind::cpu) {
      advance(alpha, p, q, x, r);
      return norm(r);
    }
    return std::sqrt(sum(advance_all(alpha, p, q, x, r)).re);
  }
  AdvanceAll advance_all(Number alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    return {inside(),           alpha, three(p), three(q), three(x), three(r), q.divergence.view(),
            r.divergence.view()};
  }
  Inside inside() const {
    const auto nodes = metric_.nodes();
    return {{nodes.last[0], nodes.last[1], nodes.last[2]}};
  }
  /// begin_sum() and end_sum() together compute a sum over all edges; begin_sum() may be recorded in a graph.
  /// to: null, or device memory that receives the sum, over all ranks if they can read each other's memory.
  template <class Kernel>
  void begin_sum(const Kernel& kernel, Number* to = nullptr, After after = After::events) {
    if (!to) return sums_.template begin_sums<2>(kernel, after);
    if (!of_cells_) return sums_.template sums_to<2>(&to->re, kernel, after);
    const auto own = of_cells_->part(), all = of_cells_->whole();
    for_each(stream_, own, TakeCells{sums_.template sums_of_cells<2>(kernel, after), own, cells_.view()});
    of_cells_->bring(stream_, cells_);
    for_each(stream_, all, GiveCells{std::as_const(cells_).view(), all, sums_.room_of_all()});
    sums_.template add_all_to<2>(&to->re);
  }
  bool sums_stay() const { return !share_.comm || of_cells_; }
  Number end_sum() {
    share_.watch(stream_);
    const auto both = sums_.template end_sums<2>();
    return {both[0], both[1]};
  }
  template <class Kernel>
  std::array<double, 4> nodes(const Kernel& kernel) {
    Reduction<3> sums(stream_, metric_.nodes(), share_.nodes, comm(), 4);
    sums.template begin_sums<4>(kernel);
    share_.watch(stream_);
    return sums.template end_sums<4>();
  }

 private:
  Comm& comm() { return share_.comm ? *share_.comm : alone_; }
  template <class Kernel>
  Number sum(const Kernel& kernel) {
    begin_sum(kernel);
    return end_sum();
  }

  Stream& stream_;
  const Metric& metric_;
  const EdgeShare& share_;
  solve::SharedMemory& lent_;
  Alone alone_;
  Reduction<3> sums_;
  // Partial sums of cells, for ranks that exchange them.
  std::unique_ptr<solve::SharedGrid<double>> of_cells_;
  solve::Field<Number> cells_;
};

namespace {

/// Σ ln σ over all cells, summed plane by plane, so that the result is bitwise identical for any number of
/// threads.
double sum_of_logarithms(const std::vector<double>& sigma, std::size_t planes, int threads) {
  const std::size_t each = sigma.size() / planes;
  std::vector<double> sums(planes);
  for_each(planes, threads, [&](std::size_t k) {
    for (std::size_t n = k * each; n < (k + 1) * each; ++n) sums[k] += std::log(sigma[n]);
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

void check_cells(const TensorMesh& mesh, const Conductivity& conductivity) {
  if (mesh.n_east() < 2 || mesh.n_north() < 2 || mesh.n_up() < 2)
    throw InputError("electromagnetic", "the mesh has fewer than two cells along an axis",
                     "Fields need walls on all sides, far from where they are looked at.");
  for (std::size_t a = 0; a < 3; ++a) {
    const auto* sigma = conductivity[a];
    if (a > 0 && sigma == conductivity[a - 1]) continue;
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

MetricView Metric::view() const {
  MetricView m;
  for (std::size_t a = 0; a < 3; ++a) {
    m.width[a] = widths[a].view();
    m.inverse[a] = inverses[a].view();
    m.distance[a] = distances[a].view();
  }
  return m;
}
IndexBox<3> Metric::nodes() const { return index_box(cells(0) - 1, cells(1) - 1, cells(2) - 1); }
IndexBox<3> Metric::edges(int axis) const { return nodes().grown(axis, 0, 1); }
IndexBox<3> Metric::all() const { return index_box(cells(0), cells(1), cells(2)); }

template <class T>
struct MaxwellSolver<T>::Parts {
  using Cycle = solve::Multigrid<Complex<T>>;
  Stream& stream;
  Metric metric;
  EdgeShare share;
  Index together;              // levels with fewer points than this are stored entirely on every rank
  solve::SharedMemory memory;  // memory shared by cycles that run one after another: on the CPU by all cycles
  EdgeSpace space;
  bool rough = false, diagonal = false;
  double w = 0;                           // ωμ₀
  std::array<solve::Field<double>, 3> s;  // s V of edges (maxwell.hpp)
  bool complex = false;
  std::array<std::array<solve::Field<double>, 3>, 2> beyond;  // real and imaginary part of δV if `complex`
  std::unique_ptr<Cycle> potential;                           // cycle B_K of maxwell.hpp
  std::array<std::unique_ptr<Cycle>, 3> component;
  solve::Field<Complex<T>> phi;           // solution of the first potential cycle, kept during the second
  EdgeVector left, correction, smoothed;  // vectors of the Jacobi steps, used after set_rough(true)
  std::optional<solve::RoomOfGradients<EdgeSpace>> room;
  Buffer<double>
      scale_there;  // factors of r and of z, [2]; kernels read them, so a recorded graph fits any scale
  double scale_here = 0;
  /// Addresses of two vectors: a graph fits only vectors at the addresses for which it was recorded.
  using Addresses = std::array<const void*, 8>;
  static Addresses memory_of(const EdgeVector& a, const EdgeVector& b) {
    return {a.e[0].memory(), a.e[1].memory(), a.e[2].memory(), a.divergence.memory(),
            b.e[0].memory(), b.e[1].memory(), b.e[2].memory(), b.divergence.memory()};
  }

  // On devices: a stream for each component, because the three cycles run concurrently; and a graph of the
  // block (the preconditioner), recorded for vectors at the addresses `recorded`.
  std::array<std::unique_ptr<Stream>, 3> beside;  // null for the first component, which uses `stream`
  std::array<std::unique_ptr<Event>, 3> reached;
  std::unique_ptr<Graph> graph;
  Addresses recorded = {};
  // Graph of a whole iteration, for vectors at the addresses `iterated`.
  solve::DeviceGradients<Number> gradients;
  Addresses iterated = {};

  Parts(Stream& on, const TensorMesh& mesh, const Conductivity& conductivity, const Beyond& more, Comm* comm,
        Index least)
      : stream(on),
        metric(on, mesh),
        share(on, metric, comm),
        together(least),
        space(on, metric, share, memory),
        scale_there(on.device(), 2),
        gradients(on.device()) {
    fill_volumes(conductivity, s);
    if (more[0] != nullptr) fill_beyond(more);
    if (!on_cpu()) space.scratch();  // allocates the shared memory with its final size
    for (int a = 0; a < 3; ++a) component[static_cast<std::size_t>(a)] = component_cycle(a);
    potential = potential_cycle(conductivity);
    phi = potential->another_solution(on);
    for (std::size_t a = 0; a < 3 && on.device().kind != Device::Kind::cpu && share.by_peers(); ++a) {
      reached[a] = std::make_unique<Event>(on.device());
      if (a > 0) beside[a] = std::make_unique<Stream>(on.device(), false, on.threads());
    }
  }

  MetricView view() const { return metric.view(); }
  Edges edges(const EdgeVector& x) const { return {view(), {x.e[0].view(), x.e[1].view(), x.e[2].view()}}; }
  Currents currents(const EdgeVector& x) const { return {edges(x), {s[0].view(), s[1].view(), s[2].view()}}; }

  /// Computes s V of the edges and of their halo without messages: every rank has the whole conductivity.
  void fill_volumes(const Conductivity& conductivity, std::array<solve::Field<double>, 3>& volumes) {
    solve::detail::check_numbers(stream.device(), metric.all());
    Buffer<double> sigma;
    for_axes([&](auto axis) {
      constexpr int a = axis;
      if (a == 0 || conductivity[a] != conductivity[(a + 2) % 3]) sigma = on_device(stream, *conductivity[a]);
      const View<const double, 3> cells(std::as_const(sigma).view().data, metric.all());
      volumes[a] = solve::Field<double>(stream, share.edges[a]);
      for_each(stream, overlap(volumes[a].box(), metric.edges(a)),
               EdgeVolume<a>{view(), cells, volumes[a].view()});
    });
    stream.wait();  // waits, because `sigma` is freed after this
  }
  void fill_beyond(const Beyond& more) {
    complex = true;
    for (std::size_t part = 0; part < 2; ++part) {
      std::array<std::vector<double>, 3> values;
      Conductivity of{};
      for (std::size_t a = 0; a < 3; ++a) {
        const bool again = a > 0 && more[a] == more[a - 1];
        for (const auto& one : *more[a])
          if (!again) values[a].push_back(part == 0 ? one.real() : one.imag());
        of[a] = again ? of[a - 1] : &values[a];
      }
      fill_volumes(of, beyond[part]);
    }
  }

  /// The multigrid cycle for component a. Conductances: c_a = d_b d_e/d_a, with Neumann conditions at the
  /// ends of axis a; c_b = h_a d_e/h_b, with Dirichlet conditions at the ends of axis b (h: widths of cells,
  /// d: distances of their centres). Both are products of h or d across the axis and of 1/d or 1/h along it.
  std::unique_ptr<Cycle> component_cycle(int a) {
    solve::ProductNetwork network;
    network.part = share.edges[static_cast<std::size_t>(a)];
    network.storage = &s[static_cast<std::size_t>(a)];
    std::array<solve::AxisSpacing, 3> spacing;
    for (std::size_t x = 0; x < 3; ++x) {
      const bool own = static_cast<int>(x) == a;
      const auto &h = metric.width[x], &d = metric.distance[x];
      auto& axis = spacing[x];
      auto& along = network.along[x];
      network.across[x] = own ? h : d;
      axis.spacing = own ? d : h;
      for (const double length : axis.spacing) along.push_back(1 / length);
      if (!own) continue;
      axis.natural_low = axis.natural_high = true;
      axis.spacing.insert(axis.spacing.begin(), axis.spacing.front());
      axis.spacing.push_back(axis.spacing.back());
      along.insert(along.begin(), 0);
      along.push_back(0);
    }
    return std::make_unique<Cycle>(stream, network, spacing,
                                   share.of_edges[static_cast<std::size_t>(a)].get(), together,
                                   solve::Transfers::quickest, lent_to(a));
  }

  /// The multigrid cycle for the potential, K = Gᵀ sV G. Spacings are divided by √σ, so that coarsening
  /// treats an axis with higher conductivity as one with smaller cells.
  std::unique_ptr<Cycle> potential_cycle(const Conductivity& conductivity) {
    solve::Network<double> network;
    for_axes([&](auto axis) {
      constexpr int a = axis;
      network.link[a] = solve::link_field<double>(stream, share.nodes);
      for_each(stream, overlap(share.nodes.grown(a, 0, 1), metric.edges(a)),
               EdgeConductance<a>{view(), std::as_const(s[a]).view(), network.link[a].view()});
    });
    std::array<solve::AxisSpacing, 3> spacing;
    for (std::size_t a = 0; a < 3; ++a) spacing[a].spacing = metric.width[a];
    if (conductivity[0] != conductivity[1] || conductivity[0] != conductivity[2]) {
      std::array<double, 3> mean{};
      for (std::size_t a = 0; a < 3; ++a)
        mean[a] = sum_of_logarithms(*conductivity[a], metric.width[0].size(), stream.threads()) /
                  static_cast<double>(conductivity[a]->size());
      for (std::size_t a = 0; a < 3; ++a)
        for (double& h : spacing[a].spacing) h *= std::exp((mean[0] + mean[1] + mean[2]) / 6 - mean[a] / 2);
    }
    if (share.comm)
      return std::make_unique<Cycle>(stream, network, spacing, *share.of_nodes, together,
                                     solve::Transfers::quickest, lent_to(3));
    return std::make_unique<Cycle>(stream, network, spacing, solve::Transfers::quickest, lent_to(3));
  }
  /// The memory lent to a cycle. On devices the cycles of the three components run concurrently, and that of
  /// the potential before or after them; so its coarser levels use the memory of the components' finest
  /// levels.
  solve::InTurn lent_to(int cycle) {
    if (on_cpu()) return {&memory};
    if (cycle == 3) return {&memory, true, 3, {0, 1, 2}};
    return {&memory, true, static_cast<std::size_t>(cycle)};
  }

  bool on_cpu() const { return stream.device().kind == Device::Kind::cpu; }

  WholeProduct whole_product(const EdgeVector& p) const { return {space.inside(), currents(p), w}; }
  WholeOperator whole_operator(const EdgeVector& p, EdgeVector& q) const {
    return {whole_product(p), three(q), q.divergence.view()};
  }
  /// q = A p. Fetches the halo of p.
  void apply(EdgeVector& p, EdgeVector& q) {
    share.bring(stream, p);
    apply_real(p, q);
    if (complex) add_beyond(p, q);
  }
  void apply_real(EdgeVector& p, EdgeVector& q) {
    if (!on_cpu()) return sweep(stream, share.cells, whole_operator(p, q), After::events);
    for_axes([&](auto axis) {
      constexpr int a = axis, b = (a + 1) % 3, e = (a + 2) % 3;
      sweep(stream, share.edges[a],
            CurlCurl<a>{view(), w, p.e[a].view(), p.e[b].view(), p.e[e].view(), std::as_const(s[a]).view(),
                        q.e[a].view()},
            After::events);
    });
    sweep(stream, share.nodes, CurrentDivergence{currents(p), w, q.divergence.view()}, After::events);
  }

  BeyondView beyond_view() const {
    const auto of = [&](std::size_t part, std::size_t a) { return beyond[part][a].view(); };
    return {{of(0, 0), of(0, 1), of(0, 2)}, {of(1, 0), of(1, 1), of(1, 2)}};
  }
  /// q += iωμ₀ δV p, with δV of BeyondView; the divergence of this term is added to that of q.
  void add_beyond(const EdgeVector& p, EdgeVector& q) {
    for_axes([&](auto axis) {
      constexpr int a = axis;
      for_each(stream, share.edges[a], AddBeyond<a>{w, beyond_view(), p.e[a].view(), q.e[a].view()});
    });
    for_each(stream, share.nodes, AddBeyondDivergence{{edges(p), beyond_view()}, w, q.divergence.view()});
  }

  /// q = A p; returns pᵀq, which on devices the same kernel sums.
  Number apply_and_product(EdgeVector& p, EdgeVector& q) {
    if (on_cpu()) {
      apply(p, q);
      return space.dot(p, q);
    }
    share.bring(stream, p);
    begin_product(p, q);
    return space.end_sum();
  }
  /// q = A p on devices; the halo of p must be filled. to, after: as in begin_sum().
  void begin_product(EdgeVector& p, EdgeVector& q, Number* to = nullptr, After after = After::events) {
    if (!complex) return space.begin_sum(whole_operator(p, q), to, after);
    apply_real(p, q);
    add_beyond(p, q);
    space.begin_sum(EdgeProductInside{space.inside(), three(std::as_const(p)), three(std::as_const(q))}, to);
  }
  /// r = b − A x; returns ‖r‖.
  double residual(const EdgeVector& b, EdgeVector& x, EdgeVector& r, EdgeVector& q) {
    if (on_cpu() || complex) {
      apply(x, q);
      space.subtract(b, q, r);
      return space.norm(r);
    }
    share.bring(stream, x);
    return space.written_and_norm(WholeResidual{whole_product(x), three(b), three(r), r.divergence.view()});
  }

  /// The block: cycles for the potential, for the components, and again for the potential; z is the sum of
  /// the three results.
  BlockSum<T> block(const EdgeVector& r) {
    const auto m = view();
    const auto scale = std::as_const(scale_there).view();
    const auto nodes = share.nodes;
    const auto to_first = potential->template beginning<solve::NetworkView<T>>();
    sweep(stream, nodes, FirstCharge<T>{r.divergence.view(), scale, to_first}, After::events);
    potential->cycle(stream, to_first);
    potential->swap_solution(phi);
    const ComplexView<const T> first = std::as_const(phi).view();
    if (reached[0]) reached[0]->record(stream);
    for_axes([&](auto axis) {
      constexpr int a = axis;
      auto& cycle = *component[a];
      Stream& own = beside[a] ? *beside[a] : stream;
      if (beside[a]) own.wait_for(*reached[0]);
      const auto to_component = cycle.template beginning<solve::ProductView<T>>();
      sweep(own, share.edges[a],
            WithoutGradient<a, T>{m, r.e[a].view(), scale, std::as_const(s[a]).view(), first, to_component},
            After::events);
      cycle.cycle(own, to_component);
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
    const auto to_second = potential->template beginning<solve::NetworkView<T>>();
    sweep(stream, nodes, SecondCharge<T>{r.divergence.view(), scale, currents, to_second}, After::events);
    potential->cycle(stream, to_second);
    const BlockSum<T> sum{
        m, 1 / w, scale, first, std::as_const(*potential).solution().view(), {y(0), y(1), y(2)}};
    // The buffers are swapped back, so that they are those for which the block was recorded.
    potential->swap_solution(phi);
    return sum;
  }
  /// z = B r.
  void block(const EdgeVector& r, EdgeVector& z) {
    const auto sum = block(r);
    if (!on_cpu()) return space.begin_sum(BlockSums<T, true>{space.inside(), sum, three(r), three(z)});
    for_axes([&](auto axis) {
      constexpr int a = axis;
      sweep(stream, share.edges[a], WriteBlockSum<a, T>{sum, z.e[a].view()}, After::events);
    });
  }

  void set_scale(double scale) {
    if (scale == scale_here) return;
    const double both[2] = {scale, 1 / scale};
    scale_there.upload(stream, std::span<const double>(both, 2));
    scale_here = scale;
  }

  /// z = B r by the block; on devices as one graph, so that the host does not launch its hundreds of kernels
  /// separately.
  void quick_block(const EdgeVector& r, double scale, EdgeVector& z) {
    set_scale(scale);
    if (on_cpu() || !share.direct()) return block(r, z);  // messages through the host cannot be recorded
    const auto now = memory_of(r, z);
    if (!graph || now != recorded) {
      graph = nullptr;
      graph = std::make_unique<Graph>(stream, [&] { block(r, z); });
      recorded = now;
    }
    graph->launch(stream);
  }

  JacobiAll jacobi_all(const EdgeVector& r, EdgeVector& z) const {
    return {space.inside(), view(), w, {s[0].view(), s[1].view(), s[2].view()}, three(r), three(z)};
  }

  using Room = solve::RoomOfGradients<EdgeSpace>;
  /// An iteration of COCG as one graph, on one device or on several that can read each other's memory; the
  /// host synchronises once.
  std::optional<solve::StepDone<Number>> whole_step(Room& own, EdgeVector& x, double scale, bool fresh) {
    if (on_cpu() || !space.sums_stay() || rough) return std::nullopt;
    if (!diagonal) set_scale(scale);
    if (const auto now = memory_of(own.r, x); now != iterated) {
      gradients.forget();
      iterated = now;
    }
    return gradients.iterate(Kernels{*this, own.r, own.p, own.q, x}, fresh);
  }
  /// The kernels that device_gradients.hpp calls.
  struct Kernels {
    Parts& own;
    EdgeVector &r, &p, &q, &x;
    // Sum of the block's parts: set by precondition(), used by direction().
    mutable std::optional<BlockSum<T>> sum = std::nullopt;

    Stream& stream() const { return own.stream; }
    After after() const {  // kernels that send messages may run between others
      return own.share.comm ? After::events : After::kernel;
    }
    void wait() const {
      if (own.share.comm) own.share.watch(own.stream);
      else own.stream.wait();
    }
    template <class Kernel>
    void one(const Kernel& kernel) const {
      sweep(own.stream, index_box(1, 1, 1), kernel, after());
    }
    void begin(StepNumbers*) const {}
    void precondition(StepNumbers* n) const {
      if (own.diagonal) return own.space.begin_sum(own.jacobi_all(r, q), &n->next);
      sum.emplace(own.block(r));
      own.space.begin_sum(BlockSums<T, false>{own.space.inside(), *sum, three(std::as_const(r)), {}},
                          &n->next, after());
    }
    void direction(const StepNumbers* n) const {
      const Direction direction{own.space.inside(), n, three(p)};
      if (own.diagonal)
        sweep(own.stream, own.share.cells, DirectionAll{direction, three(std::as_const(q))}, after());
      else sweep(own.stream, own.share.cells, DirectionOfBlock<T>{direction, *sum}, after());
    }
    void product(StepNumbers* n) const {
      own.share.bring(own.stream, p);
      own.begin_product(p, q, &n->curvature, after());
    }
    void advance(StepNumbers* n) const {
      auto advance = own.space.advance_all({}, p, q, x, r);
      advance.numbers = n;
      own.space.begin_sum(advance, &n->square, after());
    }
  };
  void jacobi(const EdgeVector& r, EdgeVector& z, double damping = 0.65) {
    for_axes([&](auto axis) {
      constexpr int a = axis;
      for_each(stream, share.edges[a],
               Jacobi<a>{view(), w, damping, std::as_const(s[a]).view(), r.e[a].view(), z.e[a].view()});
    });
  }
  /// Computes the residual after z: left = r − A z.
  void what_is_left(const EdgeVector& r, EdgeVector& z) {
    apply(z, left);
    space.subtract(r, left, left);
  }
  /// z = B r; returns rᵀz, which on devices the same kernel sums.
  Number precondition_and_product(const EdgeVector& r, EdgeVector& z, double scale) {
    if (diagonal && !on_cpu()) {
      space.begin_sum(jacobi_all(r, z));
      return space.end_sum();
    }
    precondition(r, z, scale);
    if (rough && !diagonal) return space.dot(r, smoothed);  // the halo of z may contain any values
    return diagonal || on_cpu() ? space.dot(r, z) : space.end_sum();
  }
  /// The preconditioner of conjugate gradients as krylov.hpp calls it.
  struct CgPreconditioner {
    Parts& own;
    Number operator()(const EdgeVector& r, EdgeVector& z, double scale) const {
      return own.precondition_and_product(r, z, scale);
    }
    auto whole_step(Room& room, EdgeVector& x, double scale, bool fresh) const {
      return own.whole_step(room, x, scale, fresh);
    }
    double residual(const EdgeVector& b, EdgeVector& x, Room& room) const {
      return own.residual(b, x, room.r, room.q);
    }
  };
  void precondition(const EdgeVector& r, EdgeVector& z, double scale) {
    if (diagonal) return jacobi(r, z, 1);
    if (!rough) return quick_block(r, scale, z);
    jacobi(r, smoothed);  // written to `smoothed`, because z may share memory with the block's cycles
    what_is_left(r, smoothed);
    quick_block(left, scale, correction);
    space.blend({1}, correction, {1}, smoothed);
    what_is_left(r, smoothed);
    jacobi(left, correction);
    space.blend({1}, correction, {1}, smoothed);
    space.blend({1}, smoothed, {}, z);
  }
};

template <class T>
MaxwellSolver<T>::MaxwellSolver(Stream& stream, const TensorMesh& mesh, const Conductivity& conductivity,
                                Comm* comm, Index together, const Beyond& beyond) {
  check_cells(mesh, conductivity);
  for (const auto* more : beyond)
    if (beyond[0] != nullptr && (more == nullptr || more->size() != mesh.size()))
      throw ShapeError("electromagnetic",
                       "complex conductivities are not those of the cells, along each axis");
  parts_ = std::make_unique<Parts>(stream, mesh, conductivity, beyond, comm, together);
}
template <class T>
void MaxwellSolver<T>::set_rough(bool rough) {
  auto& own = *parts_;
  own.rough = rough;
  if (!own.rough || own.left.carries()) return;
  own.left = own.space.image();
  own.correction = own.space.vector();
  own.smoothed = own.space.vector();
}
template <class T>
void MaxwellSolver<T>::set_diagonal(bool diagonal) {
  parts_->diagonal = diagonal;
  parts_->gradients.forget();
}
template <class T>
MaxwellSolver<T>::~MaxwellSolver() = default;

template <class T>
void MaxwellSolver<T>::set_frequency(double hertz) {
  parts_->w = 2 * std::numbers::pi * hertz * mu0;
  for (auto& cycle : parts_->component) cycle->set_shift(parts_->w);
  parts_->graph = nullptr;
  parts_->gradients.forget();
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
  parts_->share.bring(parts_->stream, b);
  if (b.carries())
    for_each(parts_->stream, parts_->share.nodes, Divergence{parts_->edges(b), b.divergence.view()});
}
template <class T>
void MaxwellSolver<T>::apply(EdgeVector& p, EdgeVector& q) {
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
      parts_->space, [&](EdgeVector& p, EdgeVector& q) { return parts_->apply_and_product(p, q); },
      typename Parts::CgPreconditioner{*parts_}, b, x, stopping, *parts_->room);
}
template <class T>
solve::SolveReport MaxwellSolver<T>::solve_by_qmr(const EdgeVector& b, EdgeVector& x,
                                                  const solve::Stopping& stopping) {
  return solve::quasi_minimal_residuals(
      parts_->space, [&](EdgeVector& p, EdgeVector& q) { return parts_->apply_and_product(p, q); },
      [&](const EdgeVector& r, EdgeVector& z, double scale) {
        return parts_->precondition_and_product(r, z, scale);
      },
      b, x, stopping);
}
template <class T>
solve::SolveReport MaxwellSolver<T>::solve_by_bicgstab(const EdgeVector& b, EdgeVector& x,
                                                       const solve::Stopping& stopping) {
  return solve::stabilised_bi_conjugate_gradients(
      parts_->space, [&](EdgeVector& p, EdgeVector& q) { apply(p, q); },
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
Charges MaxwellSolver<T>::charges(const EdgeVector& b, EdgeVector& x) {
  parts_->share.bring(parts_->stream, x);
  const auto sums = parts_->space.nodes(ChargeError{parts_->currents(x),
                                                    parts_->w,
                                                    parts_->edges(b),
                                                    parts_->complex,
                                                    {parts_->edges(x), parts_->beyond_view()}});
  const auto share_of = [](double error, double terms) { return terms > 0 ? std::sqrt(error / terms) : 0; };
  return {share_of(sums[0] + sums[2], sums[1] + sums[3]), share_of(sums[0], sums[1]),
          share_of(sums[2], sums[3])};
}
template <class T>
std::vector<double> MaxwellSolver<T>::gather(const EdgeVector& x, int axis) const {
  const auto a = static_cast<std::size_t>(axis);
  const auto& grid = parts_->share.of_edges[a];
  return grid ? grid->gather(parts_->stream, x.e[a]) : x.e[a].download(parts_->stream);
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
