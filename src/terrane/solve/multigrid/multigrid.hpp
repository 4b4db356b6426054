// One symmetric multigrid V-cycle for conductance networks (network.hpp), as a preconditioner of conjugate
// gradients.
//
// Coarsening by a growing target spacing H: on each axis separately, a point p is removed if p−1 stays and
// the sum of the spacings to its two neighbours, h_{p−½} + h_{p+½}, is at most 2H. H starts at 1.5 times the
// smallest spacing and doubles from level to level. So only directions with short spacings are coarsened,
// coarser levels become isotropic, and a pointwise smoother suffices on any stretched grid.
//
// At a removed point f between its neighbours L and R, the solution u is interpolated: w_L u_L + w_R u_R with
// w_L = c(f)/(c(f) + c(f+1)), w_R = 1 − w_L. c(f) is the conductance between L and f, c(f+1) that between f
// and R. In the coarse network, a conductance along the axis is that of two fine ones in series; across the
// axis it is the fine one plus shares of those at removed neighbours. The coarse storage S is likewise the
// fine one plus shares of S at removed neighbours. The matrix A of the coarse network is again a 7-point
// M-matrix.
//
// The smoother is a Chebyshev polynomial of degree 2 of D⁻¹A (D: the diagonal of A), for the interval [λ/6,
// λ] of eigenvalues; λ = 2 is Gershgorin's bound of the largest. The same smoother runs before and after the
// coarse correction, and restriction is the transpose of interpolation. So the cycle is a symmetric positive
// operator.
//
// With several ranks, levels are cut where the finest one is: a point that stays belongs to the same rank as
// before. A rank also computes the points up to three around its part, as its neighbours do, so that ranks
// exchange only the right-hand side of a level at its beginning and the solution at its end. Levels with few
// points are whole on every rank: the right-hand side is gathered, and all ranks compute the same from there
// on. So no bit depends on the number of ranks.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "terrane/solve/networks/product_network.hpp"
#include "terrane/solve/networks/shared_grid.hpp"

namespace terrane::solve {

/// How values are transferred between levels. together: one kernel along all axes, fast on GPUs, with
/// branches that skip neighbours that were not removed; together_flat: without these branches, for few
/// points; axis_by_axis: a kernel per axis; in_passes: on CPUs, together with the smoother, in two passes
/// over memory (host_passes.hpp). On CPUs all give the same bits; on GPUs nvcc fuses sums of each
/// differently.
enum class Transfers { quickest, axis_by_axis, together, together_flat, in_passes };

/// Memory that other code uses at other times: a cycle keeps its fields, except the solution, there from its
/// beginning to its end. Several Multigrids may share it if their cycles never overlap in time.
struct InTurn {
  SharedMemory* memory = nullptr;
  /// true: only the right-hand side and a work field of the finest level are in `memory`, at `place`. Then
  /// the solution may share memory with coarser levels, so it is valid only until the next cycle and cannot
  /// be swapped. false: all fields except the solution are in `memory`.
  bool finest_alone = false;
  std::size_t place = 0;
  /// With finest_alone and one rank: places for large fields of coarser levels, which are stored there one
  /// after the other while there is room.
  std::vector<std::size_t> coarser = {};
};

/// Value of `together` that chooses the number of points below which a level is computed faster whole on
/// every rank, depending on the transport of messages (through the host, or between devices).
inline constexpr Index as_messages_go = -1;

/// Kernels call take() to write the right-hand side of a cycle and, in the same pass, the first step of the
/// smoother. A: NetworkView or ProductView, as the Multigrid's network.
template <class V, class A>
struct Beginning {
  A a;
  RealOf<V> weight = 0;
  typename Values<V>::Out b, v;

  TERRANE_FN void take(Index k, Index j, Index i, V value) const {
    put(b, k, j, i, value);
    put(v, k, j, i, weight * a.template over_diagonal<V>(value, k, j, i));
  }
};

/// Like Beginning, but without the first step of the smoother, which the passes over a level compute on a
/// CPU.
template <class V>
struct RightHandSide {
  typename Values<V>::Out b;
  TERRANE_FN void take(Index k, Index j, Index i, V value) const { put(b, k, j, i, value); }
};

/// V: number type of the cycle, float, double or Complex of these; the conductances are real. The bits of
/// results do not depend on the number of threads and ranks.
template <class V>
class Multigrid {
 public:
  using Real = RealOf<V>;
  using Wide = typename Values<V>::template With<double>;

  /// spacing: along the axes up, north, east of the whole grid. If conductivity is anisotropic, divide each
  /// axis' spacing by the square root of its mean conductivity. Throws ShapeError, InputError (a spacing that
  /// is not positive), MemoryError.
  Multigrid(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  /// Collective: for a grid that is divided among ranks; `fine` is this rank's part of the network, with
  /// halos around the links (link_field()). together: levels with fewer points are computed whole on every
  /// rank.
  Multigrid(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
            const SharedGrid<double>& grid, Index together = as_messages_go,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  /// For a network of products. grid: null if this rank has the whole grid; otherwise the call is collective.
  Multigrid(Stream& stream, const ProductNetwork& fine, const std::array<AxisSpacing, 3>& spacing,
            const SharedGrid<double>* grid = nullptr, Index together = as_messages_go,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;

  /// Collective: z = B r, one V-cycle from zero. r is scaled by `scale` before it is rounded to V, and z
  /// scaled back.
  void apply(Stream& stream, const Field<Wide>& r, Field<Wide>& z, double scale = 1);

  /// Does what apply() does, without copies, in three calls: this rank's part of r is written to right(),
  /// cycle() runs, and solution() is z, including its halo.
  Field<V>& right();
  void cycle(Stream& stream) { cycle(stream, false); }
  /// For kernels that write r by take() of this Beginning instead of into right(); the Beginning is then
  /// passed to cycle(), too.
  template <class A>
  Beginning<V, A> beginning() {
    Beginning<V, A> made;
    begin(made);
    return made;
  }
  template <class A>
  void cycle(Stream& stream, const Beginning<V, A>&) {
    cycle(stream, true);
  }
  const Field<V>& solution() const;
  /// A field for swap_solution(), so that a solution is kept while the next one is computed.
  Field<V> another_solution(Stream& stream) const;
  void swap_solution(Field<V>& other);

  /// The links of the finest level along an axis, sharing their memory. Throws ShapeError if its networks are
  /// products.
  Field<Real> finest_link(int axis) const;

  /// Changes the factor s of the storage term; the links of coarse networks do not depend on s.
  void set_shift(double shift);

  /// The levels on which the smoother runs, the finest first: the points of each level on all ranks together.
  std::vector<IndexBox<3>> levels() const;
  /// Number of points of all levels with a smoother, divided by that of the finest: a measure of a cycle's
  /// cost.
  double operator_complexity() const;

 private:
  struct Hierarchy;
  template <class Net>
  struct Levels;
  void begin(Beginning<V, NetworkView<Real>>& made);
  void begin(Beginning<V, ProductView<Real>>& made);
  void cycle(Stream& stream, bool begun);
  template <class Net, class Fine>
  static std::unique_ptr<Hierarchy> make(Stream& stream, const Fine& fine,
                                         const std::array<AxisSpacing, 3>& spacing,
                                         const SharedGrid<double>* grid, Index together, Transfers transfers,
                                         InTurn memory);
  std::unique_ptr<Hierarchy> hierarchy_;
};

/// Splits the network `exact`, from which the cycle `rounded` was made; the part in single precision is
/// shared with the finest level of `rounded`. Frees the links of `exact` axis by axis. Throws MemoryError.
SplitNetwork split(Stream& stream, Network<double> exact, const Multigrid<float>& rounded);

}  // namespace terrane::solve
