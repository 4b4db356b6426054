#include <array>
#include <cmath>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/solve/krylov.hpp"
#include "terrane/solve/networks/complex_network.hpp"

namespace terrane::solve {

namespace {

/// q = (A' + iA'') p; real: the network A', imaginary: the network A''.
struct ApplyComplex {
  NetworkView<double> real, imaginary;
  ComplexView<const double> p;
  ComplexView<double> q;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const auto kept = real.apply(p, k, j, i), turned = imaginary.apply(p, k, j, i);
    put(q, k, j, i, Complex<double>{kept.re - turned.im, kept.im + turned.re});
  }
};

/// A step of conjugate gradients (krylov.hpp): x += α p,  r −= α q
struct AdvanceComplex {
  Complex<double> alpha;
  ComplexView<const double> p, q;
  ComplexView<double> x, r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(x, k, j, i, x(k, j, i) + alpha * p(k, j, i));
    put(r, k, j, i, r(k, j, i) - alpha * q(k, j, i));
  }
};

/// v = α u + β v
struct BlendComplex {
  Complex<double> alpha, beta;
  bool anew;  // true: β is 0, and the old v is not read
  ComplexView<const double> u;
  ComplexView<double> v;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const auto first = alpha * u(k, j, i);
    put(v, k, j, i, anew ? first : first + beta * v(k, j, i));
  }
};

/// r = b − q
struct SubtractComplex {
  ComplexView<const double> b, q;
  ComplexView<double> r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { put(r, k, j, i, b(k, j, i) - q(k, j, i)); }
};

/// Real and imaginary part of u v, of which uᵀv is the sum.
struct ProductComplex {
  ComplexView<const double> u, v;
  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    const auto product = u(k, j, i) * v(k, j, i);
    return {{product.re, product.im}};
  }
};

struct SquareComplex {
  ComplexView<const double> u;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    const auto value = u(k, j, i);
    return value.re * value.re + value.im * value.im;
  }
};

/// The Space of krylov.hpp for complex fields on the points of a network.
class ComplexPointSpace {
 public:
  using Vector = ComplexField;
  using Number = Complex<double>;

  ComplexPointSpace(Stream& stream, const IndexBox<3>& part, const SharedGrid<double>* grid,
                    SharedMemory* scratch)
      : stream_(stream),
        grid_(grid),
        scratch_(scratch),
        part_(part),
        sums_(stream, grid ? grid->whole() : part, part, grid ? grid->comm() : alone_, 2) {}

  Vector vector() { return {stream_, part_}; }
  Vector image() { return vector(); }
  Vector scratch() { return scratch_ ? Vector(stream_, part_, *scratch_, 0) : image(); }
  Number dot(const Vector& u, const Vector& v) {
    const auto parts = sums<2>(ProductComplex{u.view(), v.view()});
    return {parts[0], parts[1]};
  }
  double norm(const Vector& u) { return std::sqrt(sums<1>(SquareComplex{u.view()})[0]); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    for_each(stream_, part_, SubtractComplex{b.view(), q.view(), r.view()});
  }
  void blend(Number alpha, const Vector& u, Number beta, Vector& v) {
    for_each(stream_, part_, BlendComplex{alpha, beta, beta == Number{}, u.view(), v.view()});
  }
  void advance(Number alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    for_each(stream_, part_, AdvanceComplex{alpha, p.view(), q.view(), x.view(), r.view()});
  }

 private:
  /// Sums over all ranks; while the host waits, it checks whether messages are lost.
  template <int M, class Kernel>
  std::array<double, M> sums(const Kernel& kernel) {
    sums_.template begin_sums<M>(kernel);
    if (grid_) grid_->watch(stream_);
    return sums_.template end_sums<M>();
  }

  Stream& stream_;
  const SharedGrid<double>* grid_;
  SharedMemory* scratch_;
  Alone alone_;
  IndexBox<3> part_;
  Reduction<3> sums_;
};

}  // namespace

void apply(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
           const ComplexField& p, ComplexField& q) {
  for_each(stream, real.points(),
           ApplyComplex{NetworkView<double>(real), NetworkView<double>(imaginary), p.view(), q.view()});
}

SolveReport conjugate_gradients(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
                                const ComplexField& b, ComplexField& x,
                                const ComplexPreconditioner& precondition, const Stopping& stopping,
                                const SharedGrid<double>* grid, SharedMemory* scratch) {
  ComplexPointSpace space(stream, real.points(), grid, scratch);
  RoomOfGradients<ComplexPointSpace> room(space);
  return conjugate_gradients(
      space,
      [&](ComplexField& p, ComplexField& q) {
        if (grid) grid->bring(stream, p);
        apply(stream, real, imaginary, p, q);
      },
      [&](const ComplexField& r, ComplexField& z, double scale) { precondition(stream, r, z, scale); }, b, x,
      stopping, room);
}

}  // namespace terrane::solve
