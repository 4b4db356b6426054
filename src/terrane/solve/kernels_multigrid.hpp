// What a multigrid cycle does at one point of a grid. Equations in multigrid.hpp.
#pragma once

#include "terrane/solve/network.hpp"

namespace terrane::solve {

/// Indices of a point, one of which moves along an axis that the compiler knows.
struct Place {
  Index k, j, i;

  template <int Axis>
  TERRANE_FN Index get() const {
    return Axis == up ? k : Axis == north ? j : i;
  }
  template <int Axis>
  TERRANE_FN Place with(Index to) const {
    return {Axis == up ? to : k, Axis == north ? to : j, Axis == east ? to : i};
  }
  template <int Axis>
  TERRANE_FN Place moved(Index by) const {
    return with<Axis>(get<Axis>() + by);
  }
};

template <class T>
TERRANE_FN T at(const View<const T, 3>& view, const Place& p) {
  return view(p.k, p.j, p.i);
}

/// How the points of one axis become fewer.  kept(I): the fine index of coarse point I; kept(−1) = −1 and
/// kept(n) is the number of fine points.  below(p): the last coarse point at or below fine point p; −1 when
/// there is none.
struct Thinning {
  View<const Index> kept_and_ends;  // [coarse points + 2]
  View<const Index> below;          // [fine points]

  TERRANE_FN Index kept(Index coarse) const { return kept_and_ends[static_cast<std::size_t>(coarse + 1)]; }
  TERRANE_FN bool removed_below(Index coarse) const { return kept(coarse) - kept(coarse - 1) == 2; }
  TERRANE_FN bool removed_above(Index coarse) const { return removed_below(coarse + 1); }
};

/// What a removed point takes from its neighbours below and above on the axis.
template <class T>
struct Weights {
  T below, above;

  template <int Axis>
  static TERRANE_FN Weights of(const View<const T, 3>& link, const Place& removed) {
    const T low = at(link, removed), high = at(link, removed.moved<Axis>(1)), sum = low + high;
    if (!(sum > T(0))) return {T(0.5), T(0.5)};  // no conductance along the axis: nothing depends on it
    return {low / sum, high / sum};
  }
};

/// Along the axis: the link as it is, or two in series where a point between them was removed.
template <class T, int Axis>
struct CoarseLinkAlong {
  View<const T, 3> fine;
  Thinning thinning;
  View<T, 3> coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    T link = at(fine, p);
    if (thinning.removed_below(n)) {
      const T other = at(fine, p.moved<Axis>(-1)), sum = link + other;
      link = sum > T(0) ? link * (other / sum) : T(0);  // the product may be beyond single precision
    }
    coarse(k, j, i) = link;
  }
};

/// Across the axis: a link's own conductance and the share of its removed neighbours, weighted at both of
/// their ends.
template <class T, int Axis, int Across>
struct CoarseLinkAcross {
  View<const T, 3> along, fine;  // c of Axis, c of Across
  Thinning thinning;
  Index points;  // of the axis Across
  View<T, 3> coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    T link = at(fine, p);
    if (thinning.removed_below(n)) link += share<true>(p.moved<Axis>(-1));
    if (thinning.removed_above(n)) link += share<false>(p.moved<Axis>(1));
    coarse(k, j, i) = link;
  }

 private:
  /// Of the link between a removed point and its neighbour below on the axis Across; at a wall one end
  /// counts.
  template <bool KeptIsAbove>
  TERRANE_FN T share(const Place& removed) const {
    const Index place = removed.get<Across>();
    T sum = 0, ends = 0;
    if (place < points) {
      sum += weight<KeptIsAbove>(removed);
      ends += 1;
    }
    if (place > 0) {
      sum += weight<KeptIsAbove>(removed.moved<Across>(-1));
      ends += 1;
    }
    return sum / ends * at(fine, removed);
  }
  template <bool KeptIsAbove>
  TERRANE_FN T weight(const Place& removed) const {
    const auto weights = Weights<T>::template of<Axis>(along, removed);
    return KeptIsAbove ? weights.above : weights.below;
  }
};

/// coarse = Pᵀ fine: a point's own value and the share of its removed neighbours. For residuals, and for S.
template <class T, int Axis>
struct Restrict {
  View<const T, 3> along, fine;
  Thinning thinning;
  View<T, 3> coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    T sum = at(fine, p);
    if (thinning.removed_below(n)) {
      const Place f = p.moved<Axis>(-1);
      sum += Weights<T>::template of<Axis>(along, f).above * at(fine, f);
    }
    if (thinning.removed_above(n)) {
      const Place f = p.moved<Axis>(1);
      sum += Weights<T>::template of<Axis>(along, f).below * at(fine, f);
    }
    coarse(k, j, i) = sum;
  }
};

/// fine = P coarse, or fine += P coarse.
template <class T, int Axis, bool Add>
struct Interpolate {
  View<const T, 3> along, coarse;
  Thinning thinning;
  View<T, 3> fine;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place p{k, j, i};
    const Index n = thinning.below[static_cast<std::size_t>(p.get<Axis>())];
    const Place q = p.with<Axis>(n);
    T value;
    if (n >= 0 && thinning.kept(n) == p.get<Axis>()) {
      value = at(coarse, q);
    } else {
      const auto weights = Weights<T>::template of<Axis>(along, p);
      value = weights.below * at(coarse, q) + weights.above * at(coarse, q.moved<Axis>(1));
    }
    if constexpr (Add) fine(k, j, i) += value;
    else fine(k, j, i) = value;
  }
};

/// 1/diag(A); 0 for a point that nothing holds.
template <class T>
struct InverseDiagonal {
  NetworkView<T> a;
  View<T, 3> out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const T diagonal = a.diagonal(k, j, i);
    out(k, j, i) = diagonal > T(0) ? T(1) / diagonal : T(0);
  }
};

/// r = b − A u
template <class T>
struct Residual {
  NetworkView<T> a;
  View<const T, 3> b, u;
  View<T, 3> r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    r(k, j, i) = b(k, j, i) - a.apply(u, k, j, i);
  }
};

/// u = weight D⁻¹ b: the first step from zero.
template <class T>
struct FirstStep {
  View<const T, 3> inverse_diagonal, b;
  T weight;
  View<T, 3> u;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    u(k, j, i) = weight * inverse_diagonal(k, j, i) * b(k, j, i);
  }
};

/// next = u + momentum (u − before) + weight D⁻¹ (b − A u). `next` may be the array of `before`.
template <class T>
struct ChebyshevStep {
  NetworkView<T> a;
  View<const T, 3> inverse_diagonal, b, u, before;
  T momentum, weight;
  View<T, 3> next;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const T here = u(k, j, i);
    const T r = b(k, j, i) - a.apply(u, k, j, i);
    next(k, j, i) = here + momentum * (here - before(k, j, i)) + weight * inverse_diagonal(k, j, i) * r;
  }
};
/// The same where `before` is zero, or has no weight.
template <class T>
struct ChebyshevStepFromZero {
  NetworkView<T> a;
  View<const T, 3> inverse_diagonal, b, u;
  T momentum, weight;
  View<T, 3> next;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const T here = u(k, j, i);
    const T r = b(k, j, i) - a.apply(u, k, j, i);
    next(k, j, i) = here + momentum * here + weight * inverse_diagonal(k, j, i) * r;
  }
};

/// to = factor · from, in another precision.
template <class From, class To>
struct Convert {
  View<const From, 3> from;
  double factor;
  View<To, 3> to;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    to(k, j, i) = static_cast<To>(factor * static_cast<double>(from(k, j, i)));
  }
};

}  // namespace terrane::solve
