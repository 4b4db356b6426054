// Numbers of an iteration of conjugate gradients that kernels leave on the device for those that come after:
// then the host need not wait for them (krylov.hpp, whole_step).
#pragma once

#include "terrane/base/function.hpp"
#include "terrane/solve/values.hpp"

namespace terrane::solve {

/// Number: double, or Complex<double> of COCG. Those of sums lie one after the other.
template <class Number>
struct StepNumbers {
  Number square, next, rho, curvature;  ///< |r|², rᵀz, that of the iteration before, pᵀA p
  Number alpha, beta;
  double fresh;  ///< not 0: p begins anew
};

/// a/b; 0 where these let no step follow.
TERRANE_FN double step_ratio(double a, double b) {
  const double ratio = a / b;
  return a > 0 && b > 0 && ratio - ratio == 0 ? ratio : 0;
}
/// Every product is rounded, as hosts compute it for ranks that share a field: nvcc would fuse it.
TERRANE_FN Complex<double> step_ratio(Complex<double> a, Complex<double> b) {
#if defined(__CUDA_ARCH__)
  const auto sum = [](double x, double y, double z, double w) {
    return __dadd_rn(__dmul_rn(x, y), __dmul_rn(z, w));
  };
  const double square = sum(b.re, b.re, b.im, b.im);
  const Complex<double> ratio{__ddiv_rn(sum(a.re, b.re, a.im, b.im), square),
                              __ddiv_rn(sum(a.im, b.re, -a.re, b.im), square)};
#else
  const Complex<double> ratio = a / b;
#endif
  return ratio.re - ratio.re == 0 && ratio.im - ratio.im == 0 ? ratio : Complex<double>{};
}

/// By a launch of one thread: for_each() over one index, or sweep() over a box of one point.
template <class Number>
struct FindBeta {
  StepNumbers<Number>* numbers;
  TERRANE_FN void operator()(std::size_t) const {
    auto& n = *numbers;
    n.beta = n.fresh != 0 ? Number{} : step_ratio(n.next, n.rho);
    n.rho = n.next;
    n.fresh = 0;
  }
  TERRANE_FN void operator()(Index, Index, Index) const { (*this)(std::size_t{}); }
};
template <class Number>
struct FindAlpha {
  StepNumbers<Number>* numbers;
  TERRANE_FN void operator()(std::size_t) const {
    numbers->alpha = step_ratio(numbers->rho, numbers->curvature);
  }
  TERRANE_FN void operator()(Index, Index, Index) const { (*this)(std::size_t{}); }
};

}  // namespace terrane::solve
