#include <cmath>
#include <limits>
#include <memory>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/solve/conjugate_gradients.hpp"
#include "terrane/solve/kernels_multigrid.hpp"

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
  TERRANE_FN void operator()(Index k, Index j, Index i) const { p(k, j, i) = z(k, j, i) + beta * p(k, j, i); }
};

/// z = d r
struct Multiply {
  View<const double, 3> d, r;
  View<double, 3> z;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { z(k, j, i) = d(k, j, i) * r(k, j, i); }
};

}  // namespace

template <class T>
void Field<T>::upload(Stream& stream, const std::vector<T>& values) {
  const auto box = points_.grown(1);
  std::vector<T> all(static_cast<std::size_t>(box.count()));
  const View<T, 3> to(all.data(), box);
  const View<const T, 3> from(values.data(), points_);
  for (Index k = points_.first[0]; k < points_.last[0]; ++k)
    for (Index j = points_.first[1]; j < points_.last[1]; ++j)
      for (Index i = points_.first[2]; i < points_.last[2]; ++i) to(k, j, i) = from(k, j, i);
  values_.upload(stream, all);
}

template <class T>
std::vector<T> Field<T>::download(Stream& stream) const {
  const auto box = points_.grown(1);
  std::vector<T> all(static_cast<std::size_t>(box.count())),
      values(static_cast<std::size_t>(points_.count()));
  values_.download(stream, all);
  const View<const T, 3> from(all.data(), box);
  const View<T, 3> to(values.data(), points_);
  for (Index k = points_.first[0]; k < points_.last[0]; ++k)
    for (Index j = points_.first[1]; j < points_.last[1]; ++j)
      for (Index i = points_.first[2]; i < points_.last[2]; ++i) to(k, j, i) = from(k, j, i);
  return values;
}

template class Field<float>;
template class Field<double>;

Preconditioner jacobi(Stream& stream, const Network<double>& network) {
  auto inverse = std::make_shared<Field<double>>(stream, network.points());
  for_each(stream, network.points(), InverseDiagonal<double>{NetworkView<double>(network), inverse->view()});
  return [inverse](Stream& s, const Field<double>& r, Field<double>& z, double) {
    for_each(s, r.points(), Multiply{std::as_const(*inverse).view(), r.view(), z.view()});
  };
}

void apply(Stream& stream, const Network<double>& network, const Field<double>& p, Field<double>& q) {
  for_each(stream, network.points(), Apply{NetworkView<double>(network), p.view(), q.view()});
}

void residual(Stream& stream, const Network<double>& network, const Field<double>& b, const Field<double>& x,
              Field<double>& r) {
  for_each(stream, network.points(),
           Residual<double>{NetworkView<double>(network), b.view(), x.view(), r.view()});
}

SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping) {
  const auto points = network.points();
  Alone alone;
  Reduction<3> reduction(stream, points, points, alone);
  const auto dot = [&](const Field<double>& u, const Field<double>& v) {
    return reduction.sum(Product<3>{u.view(), v.view()});
  };
  Field<double> r(stream, points), z(stream, points), p(stream, points), q(stream, points);

  SolveReport report;
  const double norm_b = std::sqrt(dot(b, b));
  if (norm_b == 0) {
    x.fill_zero(stream);
    return report;
  }
  const double scale = 1 / norm_b;
  residual(stream, network, b, x, r);
  double error = std::sqrt(dot(r, r)) * scale, halved = error, rho = 0;
  int last_halved = 0;
  bool fresh = true;  // r is b − A x, and p begins anew
  report.history.push_back(error);
  report.reason = Reason::most_iterations;

  for (int n = 0;; ++n) {
    report.iterations = n;
    if (error <= stopping.relative && !fresh) {  // as carried: x has the last word
      residual(stream, network, b, x, r);
      error = std::sqrt(dot(r, r)) * scale;
      fresh = true;
    }
    if (!std::isfinite(error)) report.reason = Reason::not_finite;
    else if (error <= stopping.relative) report.reason = Reason::converged;
    else if (n - last_halved >= stopping.patience) report.reason = Reason::stagnated;
    if (report.reason != Reason::most_iterations || n == stopping.most_iterations) break;

    precondition(stream, r, z, scale);
    const double next = dot(r, z);
    for_each(stream, points, NewDirection{fresh ? 0 : next / rho, std::as_const(z).view(), p.view()});
    rho = next;
    fresh = false;
    apply(stream, network, p, q);
    const double curvature = dot(p, q);
    if (!(rho > 0) || !(curvature > 0)) {
      report.reason = std::isfinite(rho) && std::isfinite(curvature) ? Reason::breakdown : Reason::not_finite;
      break;
    }
    for_each(stream, points,
             Advance{rho / curvature, std::as_const(p).view(), std::as_const(q).view(), x.view(), r.view()});

    error = std::sqrt(dot(r, r)) * scale;
    report.history.push_back(error);
    if (error <= halved / 2) {
      halved = error;
      last_halved = n + 1;
    }
  }
  residual(stream, network, b, x, r);
  report.residual = std::sqrt(dot(r, r)) * scale;
  return report;
}

}  // namespace terrane::solve
