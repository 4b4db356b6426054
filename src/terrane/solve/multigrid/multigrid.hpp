// One symmetric multigrid V-cycle for conductance networks (network.hpp), as a preconditioner of conjugate
// gradients.
//
// Coarsening by a growing target spacing H: on each axis by itself, a point p is removed when p−1 stays and
// h_{p−½} + h_{p+½} ≤ 2H; H starts at 1.5 times the smallest spacing and doubles from level to level. So only
// short directions coarsen, levels march to isotropy, and a pointwise smoother is enough on any stretched
// grid.
//
// A removed point f between its neighbours L and R takes w_L u_L + w_R u_R with w_L = c(f)/(c(f) + c(f+1)),
// w_R = 1 − w_L, the weights of its own conductances. The coarse network has, along the axis, two
// conductances in series; across it, a link's own and the share of its removed neighbours; and S likewise. It
// stays a 7-point M-matrix.
//
// The smoother is a Chebyshev polynomial of degree 2 on D⁻¹A, for the interval [λ/6, λ] with λ = 2
// (Gershgorin), the same before and after the coarse correction; restriction is the transpose of
// interpolation. So the cycle is a symmetric positive operator.
//
// Over several ranks a level is cut where the finest is: a point that stays belongs to the rank that had it.
// A rank also computes what lies up to three points around its part, as its neighbours do, so that ranks
// bring each other the right-hand side of a level and, at its end, the solution, and nothing between. Levels
// of few points are on every rank: the right-hand side becomes whole, and all compute the same from there on.
// So no bit depends on the ranks.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "terrane/solve/networks/product_network.hpp"
#include "terrane/solve/networks/shared_grid.hpp"

namespace terrane::solve {

/// How values go between levels. together: one kernel along all axes, quick on GPUs, with branches that skip
/// neighbours which were not removed; together_flat: without these branches, for few points; axis_by_axis: a
/// kernel per axis; in_passes: on CPUs, together with the smoother, in two passes over memory
/// (host_passes.hpp). On CPUs all give the same bits; on GPUs nvcc fuses sums of each differently.
enum class Transfers { quickest, axis_by_axis, together, together_flat, in_passes };

/// Memory that others use in turn: a cycle needs it for its fields, except the solution, from its beginning
/// to its end. Several Multigrids whose cycles never overlap may have the same.
struct InTurn {
  SharedMemory* memory = nullptr;
  /// true: only b and v of the finest level are in it, at `place`. Then the solution may share memory with
  /// coarser levels: it lasts until the next cycle, and cannot be swapped. false: all fields, in all places.
  bool finest_alone = false;
  std::size_t place = 0;
  /// Where finest_alone: places for large fields of coarser levels, one field behind the other while there is
  /// room; on one rank.
  std::vector<std::size_t> coarser = {};
};

/// Value of `together`: the number of points below which a level is quicker whole on every rank, by the way
/// that messages go (through the host, or between devices).
inline constexpr Index as_messages_go = -1;

/// Kernels call take() to write the right-hand side of a cycle, and with it the first step of the smoother.
/// A: NetworkView or ProductView, whichever the Multigrid was made of.
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

/// As Beginning, without the first step of the smoother: on the CPU the passes over a level compute it.
template <class V>
struct RightHandSide {
  typename Values<V>::Out b;
  TERRANE_FN void take(Index k, Index j, Index i, V value) const { put(b, k, j, i, value); }
};

/// V: float or double, or Complex of these, in which the cycle computes; the conductances are real. Same bits
/// for any number of threads and ranks.
template <class V>
class Multigrid {
 public:
  using Real = RealOf<V>;
  using Wide = typename Values<V>::template With<double>;

  /// spacing: of the axes up, north, east, of the whole grid. Where conductivity depends on the axis, divide
  /// each axis' spacing by the square root of its mean conductivity. Throws ShapeError, InputError (a spacing
  /// that is not positive), MemoryError.
  Multigrid(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  /// Collective: of a grid whose parts the ranks have; `fine` holds this rank's part, its links with their
  /// layers. together: levels with fewer points are on every rank.
  Multigrid(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
            const SharedGrid<double>& grid, Index together = as_messages_go,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  /// Of a network of products. grid: null where this rank has everything; otherwise collective.
  Multigrid(Stream& stream, const ProductNetwork& fine, const std::array<AxisSpacing, 3>& spacing,
            const SharedGrid<double>* grid = nullptr, Index together = as_messages_go,
            Transfers transfers = Transfers::quickest, InTurn memory = {});
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;

  /// Collective: z = B r, one V-cycle from zero. r is scaled by `scale` before it is rounded to V, and z
  /// scaled back.
  void apply(Stream& stream, const Field<Wide>& r, Field<Wide>& z, double scale = 1);

  /// apply() without copies, in three calls: this rank's part of r is written to right(), cycle() runs, and
  /// solution() is z with its layer.
  Field<V>& right();
  void cycle(Stream& stream) { cycle(stream, false); }
  /// The same where r is written by `take` of a Beginning.
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
  /// A field for a second solution, to keep one while the next is computed: the argument of swap_solution().
  Field<V> another_solution(Stream& stream) const;
  void swap_solution(Field<V>& other);

  /// The links of the finest level along an axis, in the memory that they have there. Throws ShapeError: its
  /// networks are products.
  Field<Real> finest_link(int axis) const;

  /// Changes s of the network; the links of coarse networks do not depend on it.
  void set_shift(double shift);

  /// Levels on which the smoother runs, the finest first: their points, of all ranks.
  std::vector<IndexBox<3>> levels() const;
  /// Points of all those levels over points of the finest: what a cycle costs.
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

/// Splits the network `exact`, of which `rounded` was made, and takes one part of it from the finest level of
/// `rounded`. Frees `exact` axis by axis. Throws MemoryError.
SplitNetwork split(Stream& stream, Network<double> exact, const Multigrid<float>& rounded);

}  // namespace terrane::solve
