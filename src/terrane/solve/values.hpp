// Types of the unknowns of a network: real, or complex with real conductances.
//
// On the CPU, a complex array is stored as two real ones, so that the compiler vectorises rows. On a GPU it
// is one array of pairs, so that a thread loads a value by one request.
#pragma once

#include "terrane/parallel/arrays/view.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane::solve {

/// a/b for preconditioners. In single precision on GPUs it is accurate to two units in the last place and has
/// no branch; it is then 0 if b is above 2^126, and undefined if b is below 2^-126.
template <class T>
TERRANE_FN T quotient(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return __fdividef(a, b);
#endif
  return a / b;
}

template <class T>
struct alignas(2 * sizeof(T)) Complex {
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

/// A View without its box, for kernels that read many arrays, where computing an element's address costs as
/// much as loading it. On GPUs, offsets are 32-bit integers (Field refuses more elements).
template <class T>
struct GridView {
  GridView() = default;
  TERRANE_FN GridView(const View<T, 3>& view) : GridView(view, 1) {}
  /// A view for writing converts to one for reading.
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN GridView(const GridView<Other>& other)
      : zero_(other.zero_), stride_{other.stride_[0], other.stride_[1]} {}
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN GridView(const View<Other, 3>& view)
      : GridView(View<T, 3>(view)) {}

  TERRANE_FN T* place(Index k, Index j, Index i) const {
#if defined(__CUDA_ARCH__)
    return zero_ + (static_cast<int>(k) * static_cast<int>(stride_[0]) +
                    static_cast<int>(j) * static_cast<int>(stride_[1]) + static_cast<int>(i));
#else
    return zero_ + (k * stride_[0] + j * stride_[1] + i);
#endif
  }
  TERRANE_FN T& operator()(Index k, Index j, Index i) const { return *place(k, j, i); }

 private:
  template <class>
  friend struct GridView;
  template <class>
  friend struct ComplexView;
  /// each: number of elements of T per point.
  TERRANE_FN GridView(const View<T, 3>& view, Index each)
      : zero_(view.first()), stride_{view.stride(0), view.stride(1)} {
    const auto& first = view.box().first;
    if (zero_ != nullptr) zero_ -= each * (first[0] * stride_[0] + first[1] * stride_[1] + first[2]);
  }

  T* zero_ = nullptr;
  Index stride_[2] = {};
};

/// Whether complex arrays on this device are arrays of pairs (re, im), or else separate arrays of real and of
/// imaginary parts. Kernels are compiled for the format of their device.
inline bool has_pairs(Device device) { return device.kind == Device::Kind::cuda; }

/// A view of complex values on a box.
template <class T>
struct ComplexView {
  using Value = Complex<std::remove_const_t<T>>;

  ComplexView() = default;
  /// real: the array of the real parts; to_im: distance, in elements, from a real part to its imaginary part,
  /// on devices with separate arrays.
  ComplexView(const View<T, 3>& real, Device device, std::ptrdiff_t to_im)
      : real_(real, has_pairs(device) ? 2 : 1), to_im_(has_pairs(device) ? 1 : to_im) {}
  /// A view for writing converts to one for reading.
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN ComplexView(const ComplexView<Other>& other)
      : real_(other.real_), to_im_(other.to_im_) {}

  TERRANE_FN Value operator()(Index k, Index j, Index i) const {
#if defined(__CUDA_ARCH__)
    return *pair<const Value>(k, j, i);
#else
    const T* const place = real_.place(k, j, i);
    return {place[0], place[to_im_]};
#endif
  }
  TERRANE_FN void put(Index k, Index j, Index i, Value value) const {
#if defined(__CUDA_ARCH__)
    *pair<Value>(k, j, i) = value;
#else
    T* const place = real_.place(k, j, i);
    place[0] = value.re;
    place[to_im_] = value.im;
#endif
  }
  /// On the CPU: the address of an element's real part, and the distance from it to the imaginary part.
  T* place(Index k, Index j, Index i) const { return real_.place(k, j, i); }
  std::ptrdiff_t to_im() const { return to_im_; }

 private:
  template <class>
  friend struct ComplexView;
  /// On a GPU: the address of an element, a pair (re, im).
  template <class Pair>
  TERRANE_FN Pair* pair(Index k, Index j, Index i) const {
    return reinterpret_cast<Pair*>(real_.zero_) +
           (static_cast<int>(k) * static_cast<int>(real_.stride_[0]) +
            static_cast<int>(j) * static_cast<int>(real_.stride_[1]) + static_cast<int>(i));
  }
  GridView<T> real_;
  std::ptrdiff_t to_im_ = 0;
};

/// Properties of a number type V: its real type, the number of real numbers in it, its views for kernels, and
/// the storage term of a network's equation: s S u if u is real, i s S u if it is complex.
template <class V>
struct Values {
  using Real = V;
  template <class T>
  using With = T;  ///< the same type in another precision
  static constexpr int numbers = 1;
  using In = GridView<const V>;
  using Out = GridView<V>;
  TERRANE_FN static V stored(V amount, V u) { return amount * u; }
  /// u/(diagonal + amount); 0 if the divisor is 0.
  TERRANE_FN static V divided(V u, V diagonal, V amount) {
    const V sum = diagonal + amount, share = quotient(u, sum);
    return sum > V(0) ? share : V(0);  // a select, not a branch, so that rows are vectorised
  }
};
template <class T>
struct Values<Complex<T>> {
  using Real = T;
  template <class Other>
  using With = Complex<Other>;
  static constexpr int numbers = 2;
  using In = ComplexView<const T>;
  using Out = ComplexView<T>;
  TERRANE_FN static Complex<T> stored(T amount, Complex<T> u) { return {-amount * u.im, amount * u.re}; }
  /// u/(diagonal + i amount); 0 if the diagonal is 0.
  TERRANE_FN static Complex<T> divided(Complex<T> u, T diagonal, T amount) {
    const T tilt = quotient(amount, diagonal);  // a quotient, so that no square overflows single precision
    const T inverse = quotient(T(1), diagonal + amount * tilt);
    const T re = (u.re + tilt * u.im) * inverse, im = (u.im - tilt * u.re) * inverse;
    return {diagonal > T(0) ? re : T(0), diagonal > T(0) ? im : T(0)};
  }
};

template <class V>
using RealOf = typename Values<V>::Real;

template <class T>
TERRANE_FN void put(const GridView<T>& to, Index k, Index j, Index i, T value) {
  to(k, j, i) = value;
}
template <class T>
TERRANE_FN void put(const ComplexView<T>& to, Index k, Index j, Index i, Complex<T> value) {
  to.put(k, j, i, value);
}

/// `factor` times the value, converted to another precision.
template <class To, class From>
TERRANE_FN To converted(double factor, From value) {
  return static_cast<To>(factor * static_cast<double>(value));
}
template <class To, class From>
TERRANE_FN To converted(double factor, Complex<From> value) {
  return {converted<RealOf<To>>(factor, value.re), converted<RealOf<To>>(factor, value.im)};
}

}  // namespace terrane::solve
