// The kernels of maxwell.hpp, with its symbols: the computation at one edge or node. a: the axis of the edge,
// b and e the other two axes.
#pragma once

#include "terrane/parallel/reduce/tree.hpp"
#include "terrane/solve/device_gradients.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/multigrid/place.hpp"

namespace terrane::electromagnetic {

using solve::at;
using solve::Complex;
using solve::ComplexView;
using solve::Place;
using solve::put;

using Number = Complex<double>;
using In = ComplexView<const double>;
using Out = ComplexView<double>;
using Real = solve::GridView<const double>;

/// Along each axis (up, north, east): widths h of the cells and their inverses 1/h, [cell]; and distances d
/// of the cell centres on either side of each interior node, [node].
struct MetricView {
  View<const double> width[3], inverse[3], distance[3];

  template <int Axis>
  TERRANE_FN double h(const Place& q) const {
    return width[Axis](q.get<Axis>());
  }
  /// 1/h of the cell below node q on this axis, and of the cell above it.
  template <int Axis>
  TERRANE_FN double below(const Place& q) const {
    return inverse[Axis](q.get<Axis>());
  }
  template <int Axis>
  TERRANE_FN double above(const Place& q) const {
    return inverse[Axis](q.get<Axis>() + 1);
  }
  template <int Axis>
  TERRANE_FN double d(const Place& q) const {
    return distance[Axis](q.get<Axis>());
  }
};

/// s V of an edge: the sum of σV/4 over the four cells around the edge, V the volume of a cell.
template <int A>
struct EdgeVolume {
  static constexpr int B = (A + 1) % 3, E = (A + 2) % 3;
  MetricView m;
  Real sigma;  // conductivity of the cells along A
  View<double, 3> out;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i}, b = q.moved<B>(1);
    const auto area = [&](const Place& cell) { return at(sigma, cell) * m.h<B>(cell) * m.h<E>(cell); };
    out(k, j, i) = (area(q) + area(q.moved<E>(1)) + area(b) + area(b.template moved<E>(1))) * m.h<A>(q) / 4;
  }
};

/// Conductance of an edge in the network K (maxwell.hpp): s V/h², h the length of the edge.
template <int A>
struct EdgeConductance {
  MetricView m;
  Real s;
  View<double, 3> out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    out(k, j, i) = at(s, q) / (m.h<A>(q) * m.h<A>(q));
  }
};

/// The product of i, w and u.
TERRANE_FN Number turned(double w, const Number& u) { return {-w * u.im, w * u.re}; }

/// (A E)_a = d_b (F_below − F_above) − d_e (H_below − H_above) + iωμ₀ sV E_a. F: circulations of E around the
/// two faces that adjoin the edge below and above it along e, divided by the face's width across the edge; H:
/// the same along b; d: distances of the centres of cells; w = ωμ₀.
template <int A>
TERRANE_FN Number curl_curl(const MetricView& m, double w, const In& a, const In& b, const In& e,
                            const Real& s, const Place& q) {
  constexpr int B = (A + 1) % 3, E = (A + 2) % 3;
  const Place lower = q.moved<A>(-1);
  const double h = m.h<A>(q);
  const Number here = at(a, q), b_low = at(b, q) - at(b, lower),
               b_high = at(b, q.moved<B>(1)) - at(b, lower.template moved<B>(1)),
               e_low = at(e, q) - at(e, lower),
               e_high = at(e, q.moved<E>(1)) - at(e, lower.template moved<E>(1));
  const Number f_low = h * m.below<E>(q) * (here - at(a, q.moved<E>(-1))) - e_low,
               f_high = h * m.above<E>(q) * (at(a, q.moved<E>(1)) - here) - e_high,
               h_low = b_low - h * m.below<B>(q) * (here - at(a, q.moved<B>(-1))),
               h_high = b_high - h * m.above<B>(q) * (at(a, q.moved<B>(1)) - here);
  return m.d<B>(q) * (f_low - f_high) - m.d<E>(q) * (h_low - h_high) + turned(w * at(s, q), here);
}
template <int A>
struct CurlCurl {
  MetricView m;
  double w;  // ωμ₀
  In a, b, e;
  Real s;
  Out out;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(out, k, j, i, curl_curl<A>(m, w, a, b, e, s, {k, j, i}));
  }
};

/// r/D, where D is the diagonal of A.
template <int A>
TERRANE_FN Number over_diagonal(const MetricView& m, double w, const Real& s, const In& r, const Place& q) {
  constexpr int B = (A + 1) % 3, E = (A + 2) % 3;
  const double diagonal =
      m.h<A>(q) * (m.d<B>(q) * (m.below<E>(q) + m.above<E>(q)) + m.d<E>(q) * (m.below<B>(q) + m.above<B>(q)));
  return solve::Values<Number>::divided(at(r, q), diagonal, w * at(s, q));
}
/// A damped Jacobi step: z = damping r/D, D the diagonal of A.
template <int A>
struct Jacobi {
  MetricView m;
  double w, damping;
  Real s;
  In r;
  Out z;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(z, k, j, i, damping * over_diagonal<A>(m, w, s, r, {k, j, i}));
  }
};

/// The divergence Gᵀ f at a node of a field f on edges; `value` returns the values on edges, already divided
/// by the widths of their cells.
template <class Value>
TERRANE_FN Number divergence_of(const Place& node, const Value& value) {
  return value.template along<0>(node) - value.template along<0>(node.template moved<0>(1)) +
         (value.template along<1>(node) - value.template along<1>(node.template moved<1>(1))) +
         (value.template along<2>(node) - value.template along<2>(node.template moved<2>(1)));
}

/// Edge values divided by the width h of the cell, for divergence_of(): Edges has E/h, Currents sV E/h.
struct Edges {
  MetricView m;
  In e[3];
  template <int A>
  TERRANE_FN Number along(const Place& q) const {
    return m.below<A>(q) * at(e[A], q);
  }
};
struct Currents {
  Edges edges;
  Real s[3];
  template <int A>
  TERRANE_FN Number along(const Place& q) const {
    return at(s[A], q) * edges.along<A>(q);
  }
};

/// out = Gᵀ E, the divergence of E at nodes.
struct Divergence {
  Edges edges;
  Out out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(out, k, j, i, divergence_of({k, j, i}, edges));
  }
};
/// out = Gᵀ b − q at nodes, the divergence of a residual b − A x; q: divergence of A x.
struct DivergenceLeft {
  Edges b;
  In q;
  Out out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(out, k, j, i, divergence_of({k, j, i}, b) - q(k, j, i));
  }
};
/// out = iωμ₀ Gᵀ(sV E), the divergence of A E at nodes.
struct CurrentDivergence {
  Currents currents;
  double w;
  Out out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(out, k, j, i, turned(w, divergence_of({k, j, i}, currents)));
  }
};
/// δV of edges, as s V but for the complex conductivity minus the real conductivity of the networks.
struct BeyondView {
  Real re[3], im[3];
  template <int A>
  TERRANE_FN Number of(const Place& q) const {
    return {at(re[A], q), at(im[A], q)};
  }
};
/// q += iωμ₀ δV p on edges, δV as in BeyondView.
template <int A>
struct AddBeyond {
  double w;
  BeyondView beyond;
  In p;
  Out q;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    put(q, k, j, i, q(k, j, i) + turned(w, beyond.template of<A>(here) * at(p, here)));
  }
};
/// δV E/h on edges, for divergence_of().
struct BeyondCurrents {
  Edges edges;
  BeyondView beyond;
  template <int A>
  TERRANE_FN Number along(const Place& q) const {
    return beyond.of<A>(q) * edges.along<A>(q);
  }
};
/// out += iωμ₀ Gᵀ(δV E) at nodes, δV as in BeyondView.
struct AddBeyondDivergence {
  BeyondCurrents currents;
  double w;
  Out out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(out, k, j, i, out(k, j, i) + turned(w, divergence_of({k, j, i}, currents)));
  }
};
/// For Charges: |Gᵀ(b − iωμ₀ sV x)|² at a node, and the sum of squares of the six terms of Gᵀ(iωμ₀ sV x):
/// two values that are zero if the node is in air, then two that are zero if it is in the earth.
struct ChargeError {
  Currents currents;
  double w;
  Edges b;
  bool complex;
  BeyondCurrents beyond;  // currents of δV; used if `complex`
  TERRANE_FN Several<4> operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    Number difference = divergence_of(q, b) - turned(w, divergence_of(q, currents));
    if (complex) difference = difference - turned(w, divergence_of(q, beyond));
    double terms = 0;
    const auto add = [&](const Number& x) { terms += w * w * (x.re * x.re + x.im * x.im); };
    add(currents.along<0>(q));
    add(currents.along<0>(q.moved<0>(1)));
    add(currents.along<1>(q));
    add(currents.along<1>(q.moved<1>(1)));
    add(currents.along<2>(q));
    add(currents.along<2>(q.moved<2>(1)));
    const double error = difference.re * difference.re + difference.im * difference.im;
    return earth(q) ? Several<4>{{error, terms, 0, 0}} : Several<4>{{0, 0, error, terms}};
  }

 private:
  /// Whether one of the edges at a node conducts more than air.
  TERRANE_FN bool earth(const Place& q) const {
    return conducts<0>(q) || conducts<1>(q) || conducts<2>(q) || conducts<0>(q.moved<0>(1)) ||
           conducts<1>(q.moved<1>(1)) || conducts<2>(q.moved<2>(1));
  }
  template <int A>
  TERRANE_FN bool conducts(const Place& q) const {
    constexpr double air = 1e-6;  // S/m; a smaller conductivity is air
    const MetricView& m = currents.edges.m;
    return at(currents.s[A], q) > air * m.h<A>(q) * m.d<(A + 1) % 3>(q) * m.d<(A + 2) % 3>(q);
  }
};

/// The three components of a field, with the index box of all edges; a component is zero at indices at which
/// it has no edge.
struct Three {
  In of[3];
};
struct ThreeOut {
  Out of[3];
};

/// Whether the box of all edges has an edge along an axis, or a node, at these indices. nodes: numbers of
/// interior nodes along up, north, east.
struct Inside {
  Index nodes[3];

  template <int A>
  TERRANE_FN bool edge(const Place& q) const {
    constexpr int B = (A + 1) % 3, E = (A + 2) % 3;
    return q.get<B>() < nodes[B] && q.get<E>() < nodes[E];
  }
  TERRANE_FN bool node(const Place& q) const { return q.k < nodes[0] && q.j < nodes[1] && q.i < nodes[2]; }
};

using StepNumbers = solve::StepNumbers<Number>;

/// Copies two values per cell of a sum (not of the mesh: see tree.hpp), stored consecutively, into the real
/// and imaginary part of a complex field; GiveCells copies them back.
struct TakeCells {
  const double* values;
  IndexBox<3> cells;
  Out out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const double* const two = values + 2 * detail::number_of<3>({{k, j, i}}, cells);
    put(out, k, j, i, Number{two[0], two[1]});
  }
};
struct GiveCells {
  In from;
  IndexBox<3> cells;
  double* values;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    double* const two = values + 2 * detail::number_of<3>({{k, j, i}}, cells);
    const Number value = from(k, j, i);
    two[0] = value.re;
    two[1] = value.im;
  }
};

/// The next direction of conjugate gradients: p = z + β p on all edges. value[a]: z on the edge along a at
/// indices `here`, if there is one.
struct Direction {
  Inside inside;
  const StepNumbers* numbers;
  ThreeOut p;

  TERRANE_FN void take(const Place& here, const Number (&value)[3]) const {
    const Number beta = numbers->beta;
    Number next[3];
    for (int a = 0; a < 3; ++a) {
      next[a] = Number{1} * value[a];
      if (!(beta == Number{})) next[a] += beta * at(p.of[a], here);
    }
    if (inside.edge<0>(here)) put(p.of[0], here.k, here.j, here.i, next[0]);
    if (inside.edge<1>(here)) put(p.of[1], here.k, here.j, here.i, next[1]);
    if (inside.edge<2>(here)) put(p.of[2], here.k, here.j, here.i, next[2]);
  }
};
struct DirectionAll {
  Direction direction;
  Three z;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    direction.take(here, {at(z.of[0], here), at(z.of[1], here), at(z.of[2], here)});
  }
};

/// CurlCurl and CurrentDivergence in one pass over index triples, each of which has up to three edges and a
/// node. If all four exist, all values are read before any is written, so that components share loads.
struct WholeProduct {
  Inside inside;
  Currents currents;  // currents of p
  double w;

  /// Calls edge.take<axis>(here, value) for the edges at these indices, and node(here, value) for the node.
  template <class Edge, class Node>
  TERRANE_FN void operator()(const Place& here, const Edge& edge, const Node& node) const {
    if (inside.node(here)) {
      const Number value[3] = {of<0>(here), of<1>(here), of<2>(here)},
                   charge = turned(w, divergence_of(here, currents));
      edge.template take<0>(here, value[0]);
      edge.template take<1>(here, value[1]);
      edge.template take<2>(here, value[2]);
      node(here, charge);
    } else {
      if (inside.edge<0>(here)) edge.template take<0>(here, of<0>(here));
      if (inside.edge<1>(here)) edge.template take<1>(here, of<1>(here));
      if (inside.edge<2>(here)) edge.template take<2>(here, of<2>(here));
    }
  }
  template <int A>
  TERRANE_FN Number of(const Place& here) const {
    const auto& p = currents.edges.e;
    return curl_curl<A>(currents.edges.m, w, p[A], p[(A + 1) % 3], p[(A + 2) % 3], currents.s[A], here);
  }
};

/// q = A p and Gᵀ q; returns pᵀq.
struct WholeOperator {
  static constexpr int blocks_at_once = 2;  // leaves 128 registers per thread
  WholeProduct product;
  ThreeOut q;
  Out divergence;

  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    Number sum{};
    product({k, j, i}, Edge{*this, sum}, [this](const Place& here, const Number& value) {
      put(divergence, here.k, here.j, here.i, value);
    });
    return {{sum.re, sum.im}};
  }

 private:
  struct Edge {
    const WholeOperator& own;
    Number& sum;
    template <int A>
    TERRANE_FN void take(const Place& here, const Number& value) const {
      put(own.q.of[A], here.k, here.j, here.i, value);
      sum += at(own.product.currents.edges.e[A], here) * value;
    }
  };
};
/// r = b − A x and Gᵀ r; returns |r|².
struct WholeResidual {
  static constexpr int blocks_at_once = 2;
  WholeProduct product;  // A x
  Three b;
  ThreeOut r;
  Out divergence;

  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    double sum = 0;
    const Edges of_b{product.currents.edges.m, {b.of[0], b.of[1], b.of[2]}};
    product({k, j, i}, Edge{*this, sum}, [&](const Place& here, const Number& value) {
      put(divergence, here.k, here.j, here.i, divergence_of(here, of_b) - value);
    });
    return {{sum, 0}};
  }

 private:
  struct Edge {
    const WholeResidual& own;
    double& sum;
    template <int A>
    TERRANE_FN void take(const Place& here, const Number& value) const {
      const Number left = at(own.b.of[A], here) - value;
      put(own.r.of[A], here.k, here.j, here.i, left);
      sum += left.re * left.re + left.im * left.im;
    }
  };
};

/// Updates x and r on all edges (x += α p, r −= α q), and the divergence of r; returns |r|². All values are
/// read before any is written, so that loads overlap; a component is zero at indices at which it has no edge.
struct AdvanceAll {
  Inside inside;
  Number alpha;
  Three p, q;
  ThreeOut x, r;
  In divergence;
  Out left;                              // divergence of the residual r
  const StepNumbers* numbers = nullptr;  // contains α; or null: `alpha` is used

  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    return advanced(numbers == nullptr ? alpha : numbers->alpha, k, j, i);
  }

 private:
  TERRANE_FN Several<2> advanced(const Number& length, Index k, Index j, Index i) const {
    const Place here{k, j, i};
    Number ahead[3], next[3];
    for (int a = 0; a < 3; ++a) {
      ahead[a] = at(x.of[a], here) + length * at(p.of[a], here);
      next[a] = at(r.of[a], here) - length * at(q.of[a], here);
    }
    const Number charge = -length * at(divergence, here) + Number{1} * at(left, here);
    double sum = 0;
    along<0>(here, ahead, next, sum);
    along<1>(here, ahead, next, sum);
    along<2>(here, ahead, next, sum);
    if (inside.node(here)) put(left, k, j, i, charge);
    return {{sum, 0}};
  }

  template <int A>
  TERRANE_FN void along(const Place& here, const Number (&ahead)[3], const Number (&next)[3],
                        double& sum) const {
    if (!inside.edge<A>(here)) return;
    put(x.of[A], here.k, here.j, here.i, ahead[A]);
    put(r.of[A], here.k, here.j, here.i, next[A]);
    sum += next[A].re * next[A].re + next[A].im * next[A].im;
  }
};

/// z = r/D on all edges, D the diagonal of A; returns rᵀz.
struct JacobiAll {
  Inside inside;
  MetricView m;
  double w;
  Real s[3];
  Three r;
  ThreeOut z;

  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    Number product{};
    along<0>(here, product);
    along<1>(here, product);
    along<2>(here, product);
    return {{product.re, product.im}};
  }

 private:
  template <int A>
  TERRANE_FN void along(const Place& here, Number& product) const {
    if (!inside.edge<A>(here)) return;
    const Number value = over_diagonal<A>(m, w, s[A], r.of[A], here);
    put(z.of[A], here.k, here.j, here.i, value);
    product += at(r.of[A], here) * value;
  }
};

template <bool Conjugated>
struct EdgeProduct {
  Three u, v;
  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    Number sum{};
    for (int a = 0; a < 3; ++a) {
      Number left = u.of[a](k, j, i);
      if (Conjugated) left.im = -left.im;
      sum += left * v.of[a](k, j, i);
    }
    return {{sum.re, sum.im}};
  }
};

/// uᵀv, not conjugated; skips indices at which a component has no edge, because values there are arbitrary.
struct EdgeProductInside {
  Inside inside;
  Three u, v;
  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    Number sum{};
    if (inside.edge<0>(here)) sum += at(u.of[0], here) * at(v.of[0], here);
    if (inside.edge<1>(here)) sum += at(u.of[1], here) * at(v.of[1], here);
    if (inside.edge<2>(here)) sum += at(u.of[2], here) * at(v.of[2], here);
    return {{sum.re, sum.im}};
  }
};

/// v = α u + β v. add: whether β is not zero; if it is zero, v is not read.
struct Blend {
  Number alpha, beta;
  bool add;
  In u;
  Out v;
  // The branch that all points take; evaluated before the loop (sweep.hpp).
  bool choice() const { return add; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    Number value = alpha * u(k, j, i);
    if (add) value += beta * v(k, j, i);
    put(v, k, j, i, value);
  }
};

/// r = b − q
struct Difference {
  In b, q;
  Out r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { put(r, k, j, i, b(k, j, i) - q(k, j, i)); }
};

/// x += α p,  r −= α q
struct Advance {
  Number alpha;
  In p, q;
  Out x, r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(x, k, j, i, x(k, j, i) + alpha * p(k, j, i));
    put(r, k, j, i, r(k, j, i) - alpha * q(k, j, i));
  }
};

/// Write the right-hand sides of multigrid cycles: ToPotential for a potential, ToComponent for a component
/// of E.
template <class T>
using ToPotential = solve::Beginning<Complex<T>, solve::NetworkView<T>>;
template <class T>
using ToComponent = solve::Beginning<Complex<T>, solve::ProductView<T>>;

/// Right-hand side of the block's first potential: d = Gᵀ r, scaled, in the precision of the cycle.
template <class T>
struct FirstCharge {
  In d;
  View<const double> scale;
  ToPotential<T> out;
  // The branch that all points take; evaluated before the loop (sweep.hpp).
  bool choice() const { return out.a.shift == 0; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    out.take(k, j, i, solve::converted<Complex<T>>(scale[0], d(k, j, i)));
  }
};

/// The gradient (G φ)_a of a potential at an edge along axis a, in double precision.
template <int A, class T>
TERRANE_FN Number gradient(const MetricView& m, const ComplexView<const T>& phi, const Place& q) {
  const Complex<T> high = at(phi, q), low = at(phi, q.moved<A>(-1));
  const Number difference{static_cast<double>(high.re) - static_cast<double>(low.re),
                          static_cast<double>(high.im) - static_cast<double>(low.im)};
  return m.below<A>(q) * difference;
}

/// Right-hand side of a component's cycle: t_a = r_a − iωμ₀ sV z with z = G φ/(iωμ₀), φ the first potential.
template <int A, class T>
struct WithoutGradient {
  MetricView m;
  In r;
  View<const double> scale;
  Real s;
  ComplexView<const T> phi;
  ToComponent<T> out;
  // The branch that all points take; evaluated before the loop (sweep.hpp).
  bool choice() const { return out.a.shift == 0; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Number t = scale[0] * at(r, q) - at(s, q) * gradient<A>(m, phi, q);
    out.take(k, j, i, solve::converted<Complex<T>>(1, t));
  }
};

/// sV (G φ + iωμ₀ y)/h for divergence_of(): φ the first potential, y the solutions for the components.
template <class T>
struct BlockCurrents {
  MetricView m;
  double w;
  Real s[3];
  ComplexView<const T> phi, y[3];
  template <int A>
  TERRANE_FN Number along(const Place& q) const {
    const Complex<T> own = at(y[A], q);
    const Number field{static_cast<double>(own.re), static_cast<double>(own.im)};
    return m.below<A>(q) * at(s[A], q) * (gradient<A>(m, phi, q) + turned(w, field));
  }
};
/// Right-hand side of the block's second potential: d = Gᵀ r minus the divergence of iωμ₀ sV z, with z from
/// the first potential and the components.
template <class T>
struct SecondCharge {
  In d;
  View<const double> scale;
  BlockCurrents<T> currents;
  ToPotential<T> out;
  // The branch that all points take; evaluated before the loop (sweep.hpp).
  bool choice() const { return out.a.shift == 0; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    out.take(k, j, i, solve::converted<Complex<T>>(1, scale[0] * at(d, q) - divergence_of(q, currents)));
  }
};

/// The result of the block, divided by its scale: z = y + G(φ₁ + φ₂)/(iωμ₀), with the solutions y for the
/// components, and φ₁ (`first`) and φ₂ (`second`) for the potential.
template <class T>
struct BlockSum {
  MetricView m;
  double inverse;            // 1/ωμ₀
  View<const double> scale;  // the scale and 1/scale
  ComplexView<const T> first, second, y[3];

  template <int A>
  TERRANE_FN Number along(const Place& q) const {
    const Number g = gradient<A>(m, first, q) + gradient<A>(m, second, q);
    const Complex<T> own = at(y[A], q);
    const Number value{static_cast<double>(own.re) + g.im * inverse,
                       static_cast<double>(own.im) - g.re * inverse};
    return scale[1] * value;
  }
};
template <int A, class T>
struct WriteBlockSum {
  BlockSum<T> sum;
  Out z;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(z, k, j, i, sum.template along<A>({k, j, i}));
  }
};
/// z on all edges by BlockSum; all values are read before any is written, as in AdvanceAll. Returns rᵀz.
/// Writes: whether z is stored; if not, only rᵀz is computed.
template <class T, bool Writes>
struct BlockSums {
  Inside inside;
  BlockSum<T> sum;
  Three r;
  ThreeOut z;

  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    const Number value[3] = {sum.template along<0>(here), sum.template along<1>(here),
                             sum.template along<2>(here)},
                 left[3] = {at(r.of[0], here), at(r.of[1], here), at(r.of[2], here)};
    Number product{};
    along<0>(here, value, left, product);
    along<1>(here, value, left, product);
    along<2>(here, value, left, product);
    return {{product.re, product.im}};
  }

 private:
  template <int A>
  TERRANE_FN void along(const Place& here, const Number (&value)[3], const Number (&left)[3],
                        Number& product) const {
    if (!inside.edge<A>(here)) return;
    if constexpr (Writes) put(z.of[A], here.k, here.j, here.i, value[A]);
    product += left[A] * value[A];
  }
};
/// The next direction of conjugate gradients, p = z + β p; z is not stored but computed anew by BlockSum.
template <class T>
struct DirectionOfBlock {
  Direction direction;
  BlockSum<T> sum;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place here{k, j, i};
    direction.take(here,
                   {sum.template along<0>(here), sum.template along<1>(here), sum.template along<2>(here)});
  }
};

}  // namespace terrane::electromagnetic
