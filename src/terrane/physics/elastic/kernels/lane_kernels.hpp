// Included once for each instruction set, with TERRANE_SIMD_TARGET its name (physics.cmake).
#include "terrane/physics/elastic/element/stress.hpp"
#include "terrane/physics/elastic/kernels/lanes.hpp"

#if defined(__AVX512F__)
#define TERRANE_LANE_BYTES 64
#elif defined(__AVX__)
#define TERRANE_LANE_BYTES 32
#else
#define TERRANE_LANE_BYTES 16
#endif

namespace terrane::elastic::TERRANE_SIMD_TARGET {

inline constexpr int lane_bytes = TERRANE_LANE_BYTES;
template <class T>
inline constexpr int lanes_of = lane_bytes / static_cast<int>(sizeof(T));
template <class T, int W>
struct Vectors {
  using type [[gnu::vector_size(W * sizeof(T))]] = T;
};
template <class T>
using Lanes = typename Vectors<T, lanes_of<T>>::type;

/// Copies x, y, z (in a fluid x) of point n in each lane to u [components][points].
template <class T, int components, class U>
TERRANE_FN void gather(const Vec4<T>* from, const std::uint32_t* point, U& u, int n) {
  for (int l = 0; l < lanes_of<T>; ++l) {
    const Vec4<T>& v = from[point[l]];
    u[0][n][l] = v.x;
    if constexpr (components == 3) {
      u[1][n][l] = v.y;
      u[2][n][l] = v.z;
    }
  }
}

/// Multiplies values along one direction by a matrix (EvenOdd).  N: number of points, if known at compile
/// time, else 0.
template <class T, int N>
struct Contraction {
  using V = Lanes<T>;
  const EvenOdd<T>& m;
  int points;

  TERRANE_FN void operator()(const V* u, int stride, V* d, int step) const {
    const int p = N ? N : points, half = p / 2;
    constexpr int most = N ? N / 2 : most_points / 2;
    V e[most], o[most];
    const V middle = u[half * stride];
    for (int l = 0; l < half; ++l) {
      e[l] = u[l * stride] + u[(p - 1 - l) * stride];
      o[l] = u[l * stride] - u[(p - 1 - l) * stride];
    }
    for (int i = 0; i < half; ++i) {
      V even = m.even[i][0] * e[0], odd = m.odd[i][0] * o[0];
      for (int l = 1; l < half; ++l) {
        even += m.even[i][l] * e[l];
        odd += m.odd[i][l] * o[l];
      }
      if (p % 2) even += m.even[i][half] * middle;
      d[i * step] = odd + even;
      d[(p - 1 - i) * step] = odd - even;
    }
    if (p % 2) {
      V sum = m.middle[0] * o[0];
      for (int l = 1; l < half; ++l) sum += m.middle[l] * o[l];
      d[half * step] = sum;
    }
  }
};

/// The shape of elements, at one point or for all points: a_r, proportional to ∇ξ_r, from which gradients and
/// fluxes are computed, and the factor with which the flux along ξ_r is F_r = factor σ·a_r.
template <class T, Shape shape>
struct ShapeOfLanes;
template <class T>
struct ShapeOfLanes<T, Shape::parallel> {
  using V = Lanes<T>;
  V a[9], factor;
  TERRANE_FN explicit ShapeOfLanes(const V* s) : factor(s[9]) {
    for (int n = 0; n < 9; ++n) a[n] = s[n];
  }
  TERRANE_FN void layer(T) {}
  TERRANE_FN void row(T) {}
  TERRANE_FN void point(T, int) {}
};
/// Curved elements: rows and factor are stored for each point.
template <class T>
struct ShapeOfLanes<T, Shape::curved> {
  using V = Lanes<T>;
  const V* all;
  V a[9], factor;
  TERRANE_FN explicit ShapeOfLanes(const V* s) : all(s) {}
  TERRANE_FN void layer(T) {}
  TERRANE_FN void row(T) {}
  TERRANE_FN void point(T, int n) {
    for (int m = 0; m < 9; ++m) a[m] = all[10 * n + m];
    factor = all[10 * n + 9];
  }
};
template <class T>
struct ShapeOfLanes<T, Shape::trilinear> {
  using V = Lanes<T>;
  const V* m;  // m1 … m7 of hexahedron.hpp, three components each
  V p1[3], p2[3], p4[3], q3[3], q6[3], j0[3], a[9], factor;
  TERRANE_FN explicit ShapeOfLanes(const V* s) : m(s) {}
  TERRANE_FN void layer(T zeta) {
    for (int d = 0; d < 3; ++d) {
      p1[d] = m[d] + m[15 + d] * zeta;
      p2[d] = m[3 + d] + m[12 + d] * zeta;
      p4[d] = m[9 + d] + m[18 + d] * zeta;
    }
  }
  TERRANE_FN void row(T eta) {
    for (int d = 0; d < 3; ++d) {
      j0[d] = p1[d] + p4[d] * eta;
      q3[d] = m[6 + d] + m[12 + d] * eta;
      q6[d] = m[15 + d] + m[18 + d] * eta;
    }
  }
  TERRANE_FN void point(T xi, int) {
    V j1[3], j2[3];
    for (int d = 0; d < 3; ++d) {
      j1[d] = p2[d] + p4[d] * xi;
      j2[d] = q3[d] + q6[d] * xi;
    }
    for (int d = 0; d < 3; ++d) {
      const int f = (d + 1) % 3, g = (d + 2) % 3;
      a[d] = j1[f] * j2[g] - j1[g] * j2[f];
      a[3 + d] = j2[f] * j0[g] - j2[g] * j0[f];
      a[6 + d] = j0[f] * j1[g] - j0[g] * j1[f];
    }
    factor = T(1) / (j0[0] * a[0] + j0[1] * a[1] + j0[2] * a[2]);
  }
};

template <class T, int N, Shape kind, Rheology rheology>
void lane_forces(const LaneTables<T>& tables, const LaneWork<T>& work, std::size_t first, std::size_t last) {
  using V = Lanes<T>;
  constexpr int W = lanes_of<T>, most = N ? N : most_points, components = is_potential(rheology) ? 1 : 3;
  const int p = N ? N : tables.points, p2 = p * p, p3 = p2 * p;
  // u: displacement; in planes of points (constant ζ) that are already computed, instead the forces of the
  // fluxes along ξ and η. z: first the derivative along ζ, then the flux along ζ. x, y: the same for ξ and η,
  // for the points of one plane.
  alignas(64) V u[components][most * most * most], z[components][most * most * most],
      x[components][most * most], y[components][most * most];
  V inertia[rheology == Rheology::matched ? 3 : 1]
           [most * most];  // in matched layers: added force `push` (matched.hpp) at the points of a plane
  const Contraction<T, N> derivative{tables.derivative, p}, transposed{tables.transposed, p};
  const T* const w = tables.w;
  for (std::size_t block = first; block < last; ++block) {
    const std::uint32_t* const point = work.point + block * static_cast<std::size_t>(p3 * W);
    for (int n = 0; n < p3; ++n) gather<T, components>(work.displacement, point + n * W, u, n);
    const V* const medium = reinterpret_cast<const V*>(work.medium) +
                            block * static_cast<std::size_t>(medium_numbers(rheology, p));
    const V* const at_points = medium + even_numbers(rheology, p);  // media that vary: [numbers][points]
    ShapeOfLanes<T, kind> shape(reinterpret_cast<const V*>(work.shape) +
                                block * static_cast<std::size_t>(shape_numbers(kind, p3)));
    for (int c = 0; c < components; ++c)
      for (int n = 0; n < p2; ++n) derivative(&u[c][n], p2, &z[c][n], p2);

    for (int k = 0; k < p; ++k) {
      shape.layer(tables.x[k]);
      for (int c = 0; c < components; ++c)
        for (int j = 0; j < p; ++j) {
          derivative(&u[c][k * p2 + j * p], 1, &x[c][j * p], 1);
          derivative(&u[c][k * p2 + j], p, &y[c][j], p);
        }
      for (int j = 0; j < p; ++j) {
        shape.row(tables.x[j]);
        for (int i = 0; i < p; ++i) {
          const int q = j * p + i, n = k * p2 + q;
          shape.point(tables.x[i], n);
          const V* const a = shape.a;
          V gradient[components][3];
          for (int c = 0; c < components; ++c)
            for (int d = 0; d < 3; ++d)
              gradient[c][d] = x[c][q] * a[d] + y[c][q] * a[3 + d] + z[c][n] * a[6 + d];
          if constexpr (is_potential(rheology)) {
            const V lightness = (point_numbers(rheology) > 0 ? at_points[n] : medium[0]) * shape.factor;
            V* const to[3] = {&x[0][q], &y[0][q], &z[0][n]};
            for (int r = 0; r < 3; ++r)
              *to[r] = lightness * (gradient[0][0] * a[3 * r] + gradient[0][1] * a[3 * r + 1] +
                                    gradient[0][2] * a[3 * r + 2]);
          } else if constexpr (rheology == Rheology::matched) {
            V* const memory = reinterpret_cast<V*>(work.memory) +
                              (block * static_cast<std::size_t>(p3) + static_cast<std::size_t>(n)) *
                                  static_cast<std::size_t>(matched_memory(work.axes));
            const auto kept = [&](int m) -> V& { return memory[m]; };
            const int index[3] = {i, j, k};
            const auto axis = [&](int d) { return medium + 22 + fading_numbers * (d * p + index[d]); };
            for (auto& row : gradient)
              for (V& g : row) g *= shape.factor;
            V of[3][3][3], t[3][3], push[3];
            const int used = stretch(work.axes, gradient, axis, kept, of);
            stretched_stress(
                of, [&](int m) { return medium[m]; }, t);
            V* const to[3][3] = {{&x[0][q], &y[0][q], &z[0][n]},
                                 {&x[1][q], &y[1][q], &z[1][n]},
                                 {&x[2][q], &y[2][q], &z[2][n]}};
            for (int c = 0; c < 3; ++c)
              for (int r = 0; r < 3; ++r)
                *to[c][r] = t[c][0] * a[3 * r] + t[c][1] * a[3 * r + 1] + t[c][2] * a[3 * r + 2];
            const V at[3] = {u[0][n], u[1][n], u[2][n]},
                    mass = (w[i] * w[j] * w[k]) * medium[21] / shape.factor;
            stretched_inertia(work.axes, at, axis, kept, used, push);
            for (int c = 0; c < 3; ++c) inertia[c][q] = mass * push[c];
          } else {
            V stress[6];
            if constexpr (hooke_numbers(rheology) == 21) {
              anisotropic_stress(
                  gradient, shape.factor, [&](int m) { return medium[m]; }, stress);
            } else {
              const V* const hooke = point_numbers(rheology) > 0 ? at_points + n : medium;
              const V lambda = hooke[0] * shape.factor,
                      mu = hooke[point_numbers(rheology) > 0 ? p3 : 1] * shape.factor;
              isotropic_stress(gradient, lambda, mu, stress);
            }
            if constexpr (attenuates(rheology)) {
              V* const memory =
                  reinterpret_cast<V*>(work.memory) +
                  (block * static_cast<std::size_t>(p3) + static_cast<std::size_t>(n)) * memory_of_point;
              const auto& r = tables.recursion;
              const auto taken = [&](int m) -> V {
                if constexpr (point_numbers(rheology) == 0) return medium[hooke_numbers(rheology) + m];
                const V of_point = at_points[n + p3];
                return medium[m] * (m < relaxations ? at_points[n] + T(2.0 / 3) * of_point : of_point);
              };
              relax<relaxations>(
                  gradient, shape.factor, taken, r.a, r.b, r.c,
                  [&](int l, int m) -> V& { return memory[6 * l + m]; }, stress);
            }
            flux(stress, a[0], a[1], a[2], x[0][q], x[1][q], x[2][q]);
            flux(stress, a[3], a[4], a[5], y[0][q], y[1][q], y[2][q]);
            flux(stress, a[6], a[7], a[8], z[0][n], z[1][n], z[2][n]);
          }
        }
      }
      for (int c = 0; c < components; ++c) {
        V* const sum = &u[c][k * p2];
        V d[most];
        for (int j = 0; j < p; ++j) {
          transposed(&x[c][j * p], 1, d, 1);
          for (int i = 0; i < p; ++i) sum[j * p + i] = (w[j] * w[k]) * d[i];
        }
        for (int i = 0; i < p; ++i) {
          transposed(&y[c][i], p, d, 1);
          for (int j = 0; j < p; ++j) sum[j * p + i] += (w[i] * w[k]) * d[j];
        }
        if constexpr (rheology == Rheology::matched)
          for (int q = 0; q < p2; ++q) sum[q] += inertia[c][q];
      }
    }
    V* const force = reinterpret_cast<V*>(work.force) + block * static_cast<std::size_t>(3 * p3);
    for (int c = 0; c < components; ++c)
      for (int q = 0; q < p2; ++q) {
        V d[most];
        transposed(&z[c][q], p2, d, 1);
        const T across = w[q % p] * w[q / p];
        for (int k = 0; k < p; ++k) force[3 * (k * p2 + q) + c] = -(u[c][k * p2 + q] + across * d[k]);
      }
    for (int c = components; c < 3; ++c)
      for (int n = 0; n < p3; ++n) force[3 * n + c] = V{};
  }
}

template <class T, int N, Shape kind>
inline constexpr LaneKernel<T> of_rheology[rheologies]{lane_forces<T, N, kind, Rheology::isotropic>,
                                                       lane_forces<T, N, kind, Rheology::anisotropic>,
                                                       lane_forces<T, N, kind, Rheology::attenuating>,
                                                       lane_forces<T, N, kind, Rheology::fluid>,
                                                       lane_forces<T, N, Shape::trilinear, Rheology::matched>,
                                                       lane_forces<T, N, kind, Rheology::lossy>,
                                                       lane_forces<T, N, kind, Rheology::varying>,
                                                       lane_forces<T, N, kind, Rheology::varying_attenuating>,
                                                       lane_forces<T, N, kind, Rheology::varying_fluid>};
template <class T, int N, Shape kind>
void take(LaneKernels<T>& all, int degree_is_4) {
  for (int r = 0; r < rheologies; ++r)
    all.kernel[degree_is_4][static_cast<int>(kind)][r] = of_rheology<T, N, kind>[r];
}
template <class T>
inline const LaneKernels<T> lane_kernels = [] {
  LaneKernels<T> all{lanes_of<T>, {}};
  take<T, 0, Shape::parallel>(all, 0), take<T, 0, Shape::trilinear>(all, 0),
      take<T, 0, Shape::curved>(all, 0);
  take<T, 5, Shape::parallel>(all, 1), take<T, 5, Shape::trilinear>(all, 1),
      take<T, 5, Shape::curved>(all, 1);
  return all;
}();

}  // namespace terrane::elastic::TERRANE_SIMD_TARGET
