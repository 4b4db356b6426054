// Forces of elements on the CPU: a block of elements at once, one in each lane of a SIMD register.
//
// Memory traffic per element of degree 4 in single precision: displacements 1 kB (65 points of 16 B), indices
// of points 500 B, shape 40 B (linear map) or 84 B (trilinear map), forces 1.5 kB written. Products with the
// derivative matrix take 5,400 multiplications and additions per element. They use the antisymmetry of this
// matrix: even and odd parts of the values on a line of points are multiplied separately, which halves the
// work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "terrane/physics/elastic/element/basis.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"

namespace terrane::elastic {

/// A matrix with M_{N−i, N−j} = − M_ij, stored such that d = M u is computed from the even and odd parts
/// e_l = u_l + u_{N−l}, o_l = u_l − u_{N−l}:
///   p_i = Σ even_il e_l (+ M_i,middle u_middle),   q_i = Σ odd_il o_l
///   d_i = q_i + p_i,   d_{N−i} = q_i − p_i,   d_middle = Σ middle_l o_l
template <class T>
struct EvenOdd {
  T even[4][5], odd[4][4], middle[4];
};

template <class T>
struct LaneTables {
  int points;
  T x[most_points], w[most_points];
  EvenOdd<T> derivative, transposed;  ///< matrices D_il; w_l D_li (basis.hpp)
  Recursion<T> recursion;
};

/// Blocks of elements of one kind, one element per lane. All values of a block are contiguous:
/// [block][…][lane].
template <class T>
struct LaneWork {
  const Vec4<T>* displacement;  ///< u: [points]
  const std::uint32_t* point;   ///< [block][points of an element][lane]
  const T* shape;               ///< [block][shape_numbers()][lane]
  const T* medium;              ///< [block][medium_numbers()][lane]
  T* force;                     ///< [block][points of an element][3][lane]
  T* memory;                    ///< memory variables: [block][points of an element][numbers per point][lane]
  unsigned axes;                ///< axes along which waves are damped in matched layers
};

template <class T>
using LaneKernel = void (*)(const LaneTables<T>&, const LaneWork<T>&, std::size_t first_block,
                            std::size_t last_block);

/// Kernels of one instruction set.
template <class T>
struct LaneKernels {
  int lanes;
  LaneKernel<T> kernel[2][3][rheologies];  ///< [1 for degree 4, else 0][shape][rheology]
};
template <class T>
LaneTables<T> lane_tables(const Basis& basis);

/// The kernels for this CPU, or for the instruction set `wanted` (parallel/simd/instruction_set.hpp).
const LaneKernels<float>& lane_kernels_float(std::string_view wanted = {});
const LaneKernels<double>& lane_kernels_double(std::string_view wanted = {});
template <class T>
const LaneKernels<T>& lane_kernels(std::string_view wanted = {}) {
  if constexpr (sizeof(T) == sizeof(float)) return lane_kernels_float(wanted);
  else return lane_kernels_double(wanted);
}

}  // namespace terrane::elastic
