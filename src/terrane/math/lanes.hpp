// SIMD numbers made of the compiler's own vector types (GCC and Clang), for standard libraries without a
// complete <experimental/simd>, such as libc++. They have those functions of std::experimental::simd that
// Terrane uses, under the same names.
//
// The number of lanes is part of the type and differs between the instruction sets of one architecture, so
// templates compiled several times for run-time dispatch never collide at link time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "terrane/math/number.hpp"

namespace terrane {

struct ElementAligned {};
struct VectorAligned {};

/// Number of doubles in the widest register of the instruction set for which the file is compiled.
#if defined(__AVX512F__)
inline constexpr int native_lanes = 8;
#elif defined(__AVX__)
inline constexpr int native_lanes = 4;
#else
inline constexpr int native_lanes = 2;  // SSE2, NEON
#endif

template <class T, int N>
struct VectorOf {
  using Type __attribute__((vector_size(N * sizeof(T)))) = T;
};

template <int N>
class LanesMask {
 public:
  // a mask: in each lane all bits are one or all are zero
  using Bits = typename VectorOf<std::int64_t, N>::Type;

  TERRANE_FN explicit LanesMask(const Bits& bits) : bits_(bits) {}
  TERRANE_FN const Bits& bits() const { return bits_; }
  TERRANE_FN bool operator[](std::size_t lane) const { return bits_[lane] != 0; }

  TERRANE_FN friend LanesMask operator!(const LanesMask& m) { return LanesMask(~m.bits_); }
  TERRANE_FN friend LanesMask operator&&(const LanesMask& a, const LanesMask& b) {
    return LanesMask(a.bits_ & b.bits_);
  }
  TERRANE_FN friend LanesMask operator||(const LanesMask& a, const LanesMask& b) {
    return LanesMask(a.bits_ | b.bits_);
  }

 private:
  Bits bits_;
};

template <int N>
class Lanes {
 public:
  using Values = typename VectorOf<double, N>::Type;
  using Mask = LanesMask<N>;
  using mask_type = Mask;
  using Bits = typename Mask::Bits;

  Lanes() = default;
  TERRANE_FN Lanes(double value) : values_(value - Values{}) {}  // sets all lanes to `value`
  TERRANE_FN explicit Lanes(const Values& values) : values_(values) {}
  template <class T, class Alignment>
  TERRANE_FN Lanes(const T* from, Alignment) {
    for (int i = 0; i < N; ++i) values_[i] = static_cast<double>(from[i]);
  }
  template <class Alignment>
  TERRANE_FN void copy_to(double* to, Alignment) const {
    for (int i = 0; i < N; ++i) to[i] = values_[i];
  }

  static constexpr std::size_t size() { return N; }
  TERRANE_FN const Values& values() const { return values_; }
  TERRANE_FN Values& values() { return values_; }
  TERRANE_FN double operator[](std::size_t lane) const { return values_[lane]; }
  TERRANE_FN auto operator[](std::size_t lane) { return Lane{values_, lane}; }

  TERRANE_FN Lanes operator-() const { return Lanes(-values_); }
  TERRANE_FN friend Lanes operator+(const Lanes& a, const Lanes& b) { return Lanes(a.values_ + b.values_); }
  TERRANE_FN friend Lanes operator-(const Lanes& a, const Lanes& b) { return Lanes(a.values_ - b.values_); }
  TERRANE_FN friend Lanes operator*(const Lanes& a, const Lanes& b) { return Lanes(a.values_ * b.values_); }
  TERRANE_FN friend Lanes operator/(const Lanes& a, const Lanes& b) { return Lanes(a.values_ / b.values_); }
  TERRANE_FN Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  TERRANE_FN Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  TERRANE_FN Lanes& operator*=(const Lanes& b) { return *this = *this * b; }
  TERRANE_FN Lanes& operator/=(const Lanes& b) { return *this = *this / b; }

  TERRANE_FN friend Mask operator<(const Lanes& a, const Lanes& b) { return Mask(a.values_ < b.values_); }
  TERRANE_FN friend Mask operator>(const Lanes& a, const Lanes& b) { return Mask(a.values_ > b.values_); }
  TERRANE_FN friend Mask operator<=(const Lanes& a, const Lanes& b) { return Mask(a.values_ <= b.values_); }
  TERRANE_FN friend Mask operator>=(const Lanes& a, const Lanes& b) { return Mask(a.values_ >= b.values_); }
  TERRANE_FN friend Mask operator==(const Lanes& a, const Lanes& b) { return Mask(a.values_ == b.values_); }
  TERRANE_FN friend Mask operator!=(const Lanes& a, const Lanes& b) { return Mask(a.values_ != b.values_); }

 private:
  /// Reference to the number in one lane, for reading and assigning.
  struct Lane {
    Values& values;
    std::size_t lane;
    TERRANE_FN operator double() const { return values[lane]; }
    TERRANE_FN Lane& operator=(double value) {
      values[lane] = value;
      return *this;
    }
  };

  Values values_;
};

template <int N>
TERRANE_FN Lanes<N> select(const LanesMask<N>& condition, const Lanes<N>& yes, const Lanes<N>& no) {
  return Lanes<N>(condition.bits() ? yes.values() : no.values());
}

/// The result of where(mask, x): assignments and += change only those lanes of x whose mask is set.
template <int N>
struct LanesWhere {
  const LanesMask<N>& mask;
  Lanes<N>& lanes;
  TERRANE_FN void operator=(const Lanes<N>& other) { lanes = select(mask, other, lanes); }
  TERRANE_FN void operator+=(const Lanes<N>& other) { lanes = select(mask, lanes + other, lanes); }
};
template <int N>
TERRANE_FN LanesWhere<N> where(const LanesMask<N>& mask, Lanes<N>& lanes) {
  return {mask, lanes};
}

template <int N>
TERRANE_FN Lanes<N> minimum(const Lanes<N>& a, const Lanes<N>& b) {
  return select(b < a, b, a);
}
template <int N>
TERRANE_FN Lanes<N> maximum(const Lanes<N>& a, const Lanes<N>& b) {
  return select(a < b, b, a);
}
template <int N>
TERRANE_FN Lanes<N> absolute(const Lanes<N>& x) {
  using Bits = typename Lanes<N>::Bits;
  return Lanes<N>(
      __builtin_bit_cast(typename Lanes<N>::Values, __builtin_bit_cast(Bits, x.values()) & INT64_MAX));
}
template <int N>
TERRANE_FN Lanes<N> square_root(const Lanes<N>& x) {
  Lanes<N> root;
  // compilers make one instruction of this loop
  for (int i = 0; i < N; ++i) root.values()[i] = std::sqrt(x.values()[i]);
  return root;
}
template <int N>
TERRANE_FN Lanes<N> reciprocal(const Lanes<N>& x) {
  return 1.0 / x;
}
template <int N>
TERRANE_FN Lanes<N> inverse_square_root(const Lanes<N>& x) {
  return 1.0 / square_root(x);
}
template <int N>
TERRANE_FN Lanes<N> quotient(const Lanes<N>& n, const Lanes<N>& d) {
  return n / d;
}
template <int N>
TERRANE_FN Lanes<N> with_sign_of(const Lanes<N>& magnitude, const Lanes<N>& sign) {
  using Bits = typename Lanes<N>::Bits;
  return Lanes<N>(__builtin_bit_cast(typename Lanes<N>::Values,
                                     (__builtin_bit_cast(Bits, magnitude.values()) & INT64_MAX) |
                                         (__builtin_bit_cast(Bits, sign.values()) & INT64_MIN)));
}
template <int N>
TERRANE_FN bool any(const LanesMask<N>& m) {
  std::int64_t found = 0;
  for (int i = 0; i < N; ++i) found |= m.bits()[i];
  return found != 0;
}
template <int N>
TERRANE_FN bool all(const LanesMask<N>& m) {
  std::int64_t found = -1;
  for (int i = 0; i < N; ++i) found &= m.bits()[i];
  return found != 0;
}

/// Sum of the lanes: the second half of the lanes is added to the first half, and so on with the remaining
/// half.
template <int N>
TERRANE_FN double sum_of_lanes(const Lanes<N>& x) {
  double sum[N];
  for (int i = 0; i < N; ++i) sum[i] = x.values()[i];
  for (int half = N / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
  return sum[0];
}
template <int N>
TERRANE_FN double least_lane(const Lanes<N>& x) {
  double least = x.values()[0];
  for (int i = 1; i < N; ++i) least = minimum(least, x.values()[i]);
  return least;
}

template <int N>
TERRANE_FN Scaled<Lanes<N>> scale_towards(const Lanes<N>& a, const Lanes<N>& b) {
  using Bits = typename Lanes<N>::Bits;
  using Doubles = typename Lanes<N>::Values;
  constexpr std::int64_t one = std::int64_t{1} << 52;
  const Bits bits_a = __builtin_bit_cast(Bits, a.values()), bits_b = __builtin_bit_cast(Bits, b.values());
  const Bits shift = (bits_a - bits_b + one / 2) & -one;  // k · 2⁵², see math/number.hpp
  return {Lanes<N>(__builtin_convertvector(shift, Doubles) * 0x1p-52),
          Lanes<N>(__builtin_bit_cast(Doubles, bits_b + shift))};
}

}  // namespace terrane
