// Conjugate gradients with the diagonal as preconditioner, for symmetric positive definite A (Saad 2003,
// Iterative Methods for Sparse Linear Systems, algorithm 9.1, M = diag A). Knows nothing of heat.
//
// Per iteration and point, beside A: 9 values are read and 3 written. Its sums have the same bits for any
// number of threads and ranks (parallel/reduce), so the iterates have.
#pragma once

#include <cmath>

#include "terrane/parallel/reduce/reduce.hpp"

namespace terrane::heat {

struct Solved {
  std::size_t iterations = 0;
  double residual = 0;  ///< |b − A x| / |b|, norms weighted by 1 / diag A
  bool converged = true;
};

/// Kernels of one point.
namespace detail {

using Values = View<const double, 3>;
using Field = View<double, 3>;

struct Residual {  // r = b − A x
  Values b, product;
  Field r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { r(k, j, i) = b(k, j, i) - product(k, j, i); }
};
struct Direction {  // p = r / diag A + β p
  Values r, inverse;
  double beta;
  Field p;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const double old = beta == 0 ? 0 : beta * p(k, j, i);
    p(k, j, i) = r(k, j, i) * inverse(k, j, i) + old;
  }
};
struct Advance {  // x += α p, r −= α A p
  Values p, product;
  double alpha;
  Field x, r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    x(k, j, i) += alpha * p(k, j, i);
    r(k, j, i) -= alpha * product(k, j, i);
  }
};
struct Weighted {  // r · r / diag A
  Values r, inverse;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    return r(k, j, i) * r(k, j, i) * inverse(k, j, i);
  }
};

}  // namespace detail

class ConjugateGradients {
  using Values = View<const double, 3>;
  using Field = View<double, 3>;

 public:
  /// part: the points of this rank; box: those of its arrays, halo included.
  ConjugateGradients(Stream& stream, const IndexBox<3>& part, const IndexBox<3>& box, Reduction<3>& sums)
      : stream_(stream), part_(part), box_(box), sums_(sums) {
    for (auto* buffer : {&r_, &p_, &product_}) {
      *buffer = Buffer<double>(stream.device(), static_cast<std::size_t>(box.count()));
      buffer->fill_zero(stream);
    }
  }

  /// Collective: A x = b from the x that is there. apply(p, product): product = A p on the part, the halo of
  /// p brought.
  template <class Apply>
  Solved solve(const Apply& apply, Values inverse_diagonal, Values b, Field x, double tolerance,
               std::size_t most) {
    const auto r = r_.view(box_), p = p_.view(box_), product = product_.view(box_);
    const auto norm = [&](Values values) { return sums_.sum(detail::Weighted{values, inverse_diagonal}); };
    const double goal = tolerance * tolerance * norm(b);
    apply(x, product);
    for_each(stream_, part_, detail::Residual{b, product, r});
    double rr = norm(r), beta = 0;
    Solved done;
    for (; rr > goal && done.iterations < most; ++done.iterations) {
      for_each(stream_, part_, detail::Direction{r, inverse_diagonal, beta, p});
      apply(p, product);
      const double alpha = rr / sums_.sum(Product<3>{p, product});
      for_each(stream_, part_, detail::Advance{p, product, alpha, x, r});
      const double before = rr;
      rr = norm(r);
      beta = rr / before;
    }
    done.converged = rr <= goal;
    done.residual = goal > 0 ? tolerance * std::sqrt(rr / goal) : 0;
    return done;
  }

 private:
  Stream& stream_;
  IndexBox<3> part_, box_;
  Reduction<3>& sums_;
  Buffer<double> r_, p_, product_;
};

}  // namespace terrane::heat
