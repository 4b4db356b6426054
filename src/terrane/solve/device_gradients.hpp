// The iteration of conjugate gradients (krylov.hpp) as one graph of a device: α, β and sums stay on the
// device, where each kernel leaves them for the next, so that the host waits only once per iteration.
//
// For files of device code (*.cu).
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "terrane/base/function.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/device/pinned.hpp"
#include "terrane/solve/krylov.hpp"
#include "terrane/solve/values.hpp"

namespace terrane::solve {

/// Scalars of an iteration, on the device. Number: double, or Complex<double> for COCG. Results of sums are
/// adjacent in memory.
template <class Number>
struct StepNumbers {
  Number square, next, rho, curvature;  ///< |r|², rᵀz, rᵀz of the previous iteration, pᵀA p
  Number alpha, beta;
  double fresh;  ///< nonzero: restart with p = z (β = 0)
};

/// a/b; 0 if a or b is not positive or the ratio is not finite, so that no step is made.
TERRANE_FN double step_ratio(double a, double b) {
  const double ratio = a / b;
  return a > 0 && b > 0 && ratio - ratio == 0 ? ratio : 0;
}
/// a/b; 0 if it is not finite. Each product is rounded before it is added, which nvcc would otherwise not do:
/// so the result equals that of the CPU, which computes the ratio if ranks share a field.
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

/// Kernels of one thread (for_each() over one index, or sweep() over a box of one point) that compute β and
/// α.
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

inline double real_part(double value) { return value; }
inline double real_part(const Complex<double>& value) { return value.re; }

/// iterate() calls members of Kernels, each of which begins work on the stream:
///
///   begin(numbers)                 called before the first iteration and after a restart; r is b − A x
///   precondition(numbers)          z = B r;  stores rᵀz in next, unless begin() or advance() has done so
///   direction(numbers)             p = z + β p
///   product(numbers)               q = A p;  stores pᵀq in curvature
///   advance(numbers)               x += α p;  r −= α q;  stores |r|² in square
///   one(kernel)                    runs a kernel with a single thread
///   wait(), stream()               waits for the stream; returns it
template <class Number>
class DeviceGradients {
 public:
  using Numbers = StepNumbers<Number>;

  explicit DeviceGradients(const Device& device) : there_(device, 1), here_(device, 1) {}

  /// To be called when vectors or kernels change: the next iteration records a new graph.
  void forget() { graph_.reset(); }

  template <class Kernels>
  StepDone<Number> iterate(const Kernels& kernels, bool fresh) {
    Numbers* const numbers = there_.view().data;
    if (fresh) {
      const Numbers begin{{}, {}, {}, {}, {}, {}, 1};
      there_.upload(kernels.stream(), std::span<const Numbers>(&begin, 1));
      kernels.begin(numbers);
    }
    if (!graph_)
      graph_.emplace(kernels.stream(), [&] {
        gradients_iteration(Recorded<Kernels>{kernels, numbers});
        there_.download_async(kernels.stream(), here_.span());
      });
    graph_->launch(kernels.stream());
    kernels.wait();
    const auto& done = here_[0];
    return {done.rho, done.curvature, std::sqrt(real_part(done.square))};
  }

 private:
  template <class Kernels>
  struct Recorded {
    const Kernels& kernels;
    Numbers* numbers;
    void precondition() const { kernels.precondition(numbers); }
    void find_beta() const { kernels.one(FindBeta<Number>{numbers}); }
    void direction() const { kernels.direction(numbers); }
    void product() const { kernels.product(numbers); }
    bool find_alpha() const {
      kernels.one(FindAlpha<Number>{numbers});  // α is 0 if no step is possible
      return true;
    }
    void advance() const { kernels.advance(numbers); }
  };

  Buffer<Numbers> there_;
  PinnedBuffer<Numbers> here_;
  std::optional<Graph> graph_;
};

}  // namespace terrane::solve
