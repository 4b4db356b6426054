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

/// Between levels: one kernel goes along all axes, as devices like it, with branches where no neighbour was
/// removed or, for few points, without; or one kernel per axis. On CPUs: in two passes over memory, with the
/// smoother (host_passes.hpp). The bits are the same on CPUs; on GPUs sums are fused as nvcc likes.
enum class Transfers { quickest, axis_by_axis, together, together_flat, in_passes };

/// Memory that others use in turn: where fields are, but for the solution, between the beginning and the end
/// of a cycle. Several Multigrids whose cycles never overlap may have the same.
struct InTurn {
  SharedMemory* memory = nullptr;
  /// b and v of the finest level alone, in this place; or all fields in all places. Then the solution may be
  /// in memory that coarser levels have, too: it lasts until the next cycle, and nobody may swap it.
  bool finest_alone = false;
  std::size_t place = 0;
  /// In the first case: places where large fields of coarser levels are, one behind the other, as far as
  /// there is room; on one rank.
  std::vector<std::size_t> coarser = {};
};

/// Levels with fewer points are on every rank: as many as are quickest for the way that messages go.
inline constexpr Index as_messages_go = -1;

/// Where kernels write the right-hand side of a cycle, and with it the first step of the smoother.  A:
/// NetworkView or ProductView, as the Multigrid was made of.
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

/// The same without the first step: on the CPU, where passes over a level make it.
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

  /// The same without copies: where this rank's part of r is written, the cycle, and z with its layer.
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
  /// Where another solution can be, to keep one while the next is made: what swap_solution() takes.
  Field<V> another_solution(Stream& stream) const;
  void swap_solution(Field<V>& other);

  /// Of the finest level, with the memory that it has there. Throws ShapeError: its networks are products.
  Field<Real> finest_link(int axis) const;

  /// Another s of the network: the coarse networks do not depend on it.
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

/// The network, of which `rounded` was made, with the memory of its finest level; `exact` is given back axis
/// by axis. Throws MemoryError.
SplitNetwork split(Stream& stream, Network<double> exact, const Multigrid<float>& rounded);

}  // namespace terrane::solve
