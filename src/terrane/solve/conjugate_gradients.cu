#include <cmath>
#include <memory>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/solve/conjugate_gradients.hpp"
#include "terrane/solve/krylov.hpp"

namespace terrane::solve {

namespace {

/// q = A p
struct Apply {
  NetworkView<double> a;
  View<const double, 3> p;
  View<double, 3> q;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { q(k, j, i) = a.apply(p, k, j, i); }
};

/// x += α p,  r −= α q
struct Advance {
  double alpha;
  View<const double, 3> p, q;
  View<double, 3> x, r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    x(k, j, i) += alpha * p(k, j, i);
    r(k, j, i) -= alpha * q(k, j, i);
  }
};

/// p = z + β p
struct NewDirection {
  double beta;
  View<const double, 3> z;
  View<double, 3> p;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    p(k, j, i) = beta == 0 ? z(k, j, i) : z(k, j, i) + beta * p(k, j, i);
  }
};

/// r = b − q
struct Subtract {
  View<const double, 3> b, q;
  View<double, 3> r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { r(k, j, i) = b(k, j, i) - q(k, j, i); }
};

/// 1/diag(A); 0 for a point that nothing holds.
struct InverseDiagonal {
  NetworkView<double> a;
  View<double, 3> out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    out(k, j, i) = a.over_diagonal(1.0, k, j, i);
  }
};

/// z = d r
struct Multiply {
  View<const double, 3> d, r;
  View<double, 3> z;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { z(k, j, i) = d(k, j, i) * r(k, j, i); }
};

/// Real fields of the points of a network (krylov.hpp).
class PointSpace {
 public:
  using Vector = Field<double>;
  using Number = double;

  PointSpace(Stream& stream, const IndexBox<3>& part, const SharedGrid<double>* grid)
      : stream_(stream),
        part_(part),
        sums_(stream, grid ? grid->whole() : part, part, grid ? grid->comm() : alone_) {}

  Vector vector() { return {stream_, part_}; }
  Vector image() { return vector(); }
  double dot(const Vector& u, const Vector& v) { return sums_.sum(Product<3>{u.view(), v.view()}); }
  double norm(const Vector& u) { return std::sqrt(dot(u, u)); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    for_each(stream_, part_, Subtract{b.view(), q.view(), r.view()});
  }
  /// v = u + β v: CG needs no other.
  void blend(double, const Vector& u, double beta, Vector& v) {
    for_each(stream_, part_, NewDirection{beta, u.view(), v.view()});
  }
  void advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    for_each(stream_, part_, Advance{alpha, p.view(), q.view(), x.view(), r.view()});
  }

 private:
  Stream& stream_;
  Alone alone_;
  IndexBox<3> part_;
  Reduction<3> sums_;
};

}  // namespace

Preconditioner jacobi(Stream& stream, const Network<double>& network) {
  auto inverse = std::make_shared<Field<double>>(stream, network.points());
  for_each(stream, network.points(), InverseDiagonal{NetworkView<double>(network), inverse->view()});
  return [inverse](Stream& s, const Field<double>& r, Field<double>& z, double) {
    for_each(s, r.points(), Multiply{std::as_const(*inverse).view(), r.view(), z.view()});
  };
}

void apply(Stream& stream, const Network<double>& network, const Field<double>& p, Field<double>& q) {
  for_each(stream, network.points(), Apply{NetworkView<double>(network), p.view(), q.view()});
}

SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping, const SharedGrid<double>* grid) {
  PointSpace space(stream, network.points(), grid);
  RoomOfGradients<PointSpace> room(space);
  return conjugate_gradients(
      space,
      [&](Field<double>& p, Field<double>& q) {
        if (grid) grid->bring(stream, p);
        apply(stream, network, p, q);
      },
      [&](const Field<double>& r, Field<double>& z, double scale) { precondition(stream, r, z, scale); }, b,
      x, stopping, room);
}

}  // namespace terrane::solve
