// What the unknowns of a network may be: real, or complex with real conductances.
//
// Complex arrays are two real ones, so that the compiler vectorises rows and a halo moves them as real
// fields.
#pragma once

#include "terrane/parallel/arrays/view.hpp"

namespace terrane::solve {

template <class T>
struct Complex {
  T re = 0, im = 0;

  TERRANE_FN friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  TERRANE_FN friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  TERRANE_FN friend Complex operator-(Complex a) { return {-a.re, -a.im}; }
  TERRANE_FN friend Complex operator*(T a, Complex b) { return {a * b.re, a * b.im}; }
  TERRANE_FN friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  TERRANE_FN friend Complex operator/(Complex a, Complex b) {
    const T square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
  }
  TERRANE_FN Complex& operator+=(Complex b) { return *this = *this + b; }
  TERRANE_FN Complex& operator-=(Complex b) { return *this = *this - b; }
  friend bool operator==(const Complex&, const Complex&) = default;
};

template <class T>
struct ComplexView {
  View<T, 3> re, im;
  ComplexView() = default;
  TERRANE_FN ComplexView(const View<T, 3>& real, const View<T, 3>& imaginary) : re(real), im(imaginary) {}
  /// Whoever may write may also just look.
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN ComplexView(const ComplexView<Other>& other)
      : re(other.re), im(other.im) {}
  TERRANE_FN Complex<std::remove_const_t<T>> operator()(Index k, Index j, Index i) const {
    return {re(k, j, i), im(k, j, i)};
  }
  TERRANE_FN const IndexBox<3>& box() const { return re.box(); }
};

/// Of a kind of value V: the real type T, the arrays that it takes, how kernels see them, and what s S u is
/// in the equation of a network: s S u where u is real, i s S u where it is complex.
template <class V>
struct Values {
  using Real = V;
  template <class T>
  using With = T;  ///< in another precision
  static constexpr int arrays = 1;
  using In = View<const V, 3>;
  using Out = View<V, 3>;
  TERRANE_FN static V stored(V amount, V u) { return amount * u; }
  /// u/(diagonal + amount); 0 for a point that nothing holds.
  TERRANE_FN static V divided(V u, V diagonal, V amount) {
    const V sum = diagonal + amount;
    return sum > V(0) ? u / sum : V(0);
  }
};
template <class T>
struct Values<Complex<T>> {
  using Real = T;
  template <class Other>
  using With = Complex<Other>;
  static constexpr int arrays = 2;
  using In = ComplexView<const T>;
  using Out = ComplexView<T>;
  TERRANE_FN static Complex<T> stored(T amount, Complex<T> u) { return {-amount * u.im, amount * u.re}; }
  /// u/(diagonal + i amount); 0 for a point that nothing holds.
  TERRANE_FN static Complex<T> divided(Complex<T> u, T diagonal, T amount) {
    const T tilt = amount / diagonal;  // so that no square leaves single precision
    const T inverse = diagonal > T(0) ? T(1) / (diagonal + amount * tilt) : T(0);
    return diagonal > T(0) ? Complex<T>{(u.re + tilt * u.im) * inverse, (u.im - tilt * u.re) * inverse}
                           : Complex<T>{};
  }
};

template <class V>
using RealOf = typename Values<V>::Real;

template <class T>
TERRANE_FN void put(const View<T, 3>& to, Index k, Index j, Index i, T value) {
  to(k, j, i) = value;
}
template <class T>
TERRANE_FN void put(const ComplexView<T>& to, Index k, Index j, Index i, Complex<T> value) {
  to.re(k, j, i) = value.re;
  to.im(k, j, i) = value.im;
}

/// Another precision.
template <class To, class From>
TERRANE_FN To converted(double factor, From value) {
  return static_cast<To>(factor * static_cast<double>(value));
}
template <class To, class From>
TERRANE_FN To converted(double factor, Complex<From> value) {
  return {converted<RealOf<To>>(factor, value.re), converted<RealOf<To>>(factor, value.im)};
}

}  // namespace terrane::solve
