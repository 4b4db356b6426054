// Forces of elements on devices: a group of threads does one element, layer by layer. A thread has a column
// of points along ζ; what it needs of other columns lies in shared memory, three components together, so that
// one load brings them. Derivatives along ζ stay within a thread.
#pragma once

#include <atomic>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/elastic/basis.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"
#include "terrane/physics/elastic/stress.hpp"

/// Only so do arrays of a thread stay in its registers.
#if defined(__CUDACC__)
#define TERRANE_UNROLL _Pragma("unroll")
#else
#define TERRANE_UNROLL
#endif

namespace terrane::elastic {

/// On a device in any order; where threads run on the host as well. GPUs since Hopper add four floats at
/// once, which is twice as fast as three by themselves.
template <class T>
TERRANE_FN void add_to(Vec4<T>& sum, const Vec4<T>& by) {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900
  if constexpr (sizeof(T) == sizeof(float)) {
    atomicAdd(reinterpret_cast<float4*>(&sum), make_float4(by.x, by.y, by.z, 0));
    return;
  }
#endif
  atomicAdd(&sum.x, by.x);
  atomicAdd(&sum.y, by.y);
  atomicAdd(&sum.z, by.z);
#else
  std::atomic_ref<T>(sum.x).fetch_add(by.x, std::memory_order_relaxed);
  std::atomic_ref<T>(sum.y).fetch_add(by.y, std::memory_order_relaxed);
  std::atomic_ref<T>(sum.z).fetch_add(by.z, std::memory_order_relaxed);
#endif
}

template <class T>
struct DeviceTables {
  int points;
  T x[most_points], w[most_points];
  T d[most_points][most_points];  ///< D_il
  Recursion<T> recursion;
};

/// N: points in each direction, 0 where only the tables know.
template <class T, int N, Shape kind, Rheology rheology>
struct GroupForces {
  static constexpr int most = N ? N : most_points,
                       columns = (most * most + group_threads - 1) / group_threads;
  static constexpr int groups_at_once = sizeof(T) == 4 ? (N ? 16 : 8) : 8;

  DeviceTables<T> tables;
  const DeviceTables<T>* spread;  // the same in memory, for rows that differ from thread to thread
  std::size_t first;              // element of group 0
  const std::uint32_t* point;     // [element][points of an element]
  const T *shape, *rock;          // [element][…], from the element of group 0 on
  const Vec4<T>* displacement;
  Vec4<T>* force;  // fixed: [element][points of an element]; else [points]
  bool fixed;
  T* memory;      // of attenuating rock and margins: [element][numbers per point][points of an element], from
                  // group 0
  unsigned axes;  // of margins: along which waves fade

  struct Shared {
    Vec4<T> u[most * most * most], x[most * most], y[most * most];
  };
  struct Column {
    Vec4<T> u[most], f[most];
    T across;                                  // − w_i w_j
    T di[most], dj[most], ti[most], tj[most];  // D_il, D_jl; w_j w_l D_li, w_i w_l D_lj
    T j0[2][3], j1[2][3], j2[3];               // J_0 = j0[0] + ζ j0[1], and so on
  };
  struct Thread {
    Column column[columns];
  };

  TERRANE_FN int size() const { return N ? N : tables.points; }
  TERRANE_FN std::size_t steps(std::size_t) const { return static_cast<std::size_t>(size()); }
  template <class Do>
  TERRANE_FN void each_column(Thread& mine, int thread, const Do& work) const {
    const int p = size();
    TERRANE_UNROLL
    for (int c = 0; c < columns; ++c) {
      const int q = thread + c * group_threads;
      if (q < p * p) work(mine.column[c], q, q % p, q / p);
    }
  }

  TERRANE_FN void begin(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    const int p = size(), p2 = p * p;
    const std::uint32_t* const points = point + (first + group) * static_cast<std::size_t>(p2 * p);
    each_column(mine, thread, [&](Column& column, int q, int i, int j) {
      TERRANE_UNROLL
      for (int k = 0; k < most; ++k)
        if (k < p) {
          column.u[k] = shared.u[k * p2 + q] = displacement[points[k * p2 + q]];
          column.f[k] = {0, 0, 0, 0};
          column.di[k] = spread->d[i][k];
          column.dj[k] = spread->d[j][k];
          column.ti[k] = spread->w[j] * spread->w[k] * spread->d[k][i];
          column.tj[k] = spread->w[i] * spread->w[k] * spread->d[k][j];
        }
      column.across = -spread->w[i] * spread->w[j];
      if constexpr (kind == Shape::trilinear) {
        const T* const m = shape + group * static_cast<std::size_t>(shape_numbers(kind, 0));
        const T xi = spread->x[i], eta = spread->x[j];
        for (int d = 0; d < 3; ++d) {
          column.j0[0][d] = m[d] + m[9 + d] * eta;
          column.j0[1][d] = m[15 + d] + m[18 + d] * eta;
          column.j1[0][d] = m[3 + d] + m[9 + d] * xi;
          column.j1[1][d] = m[12 + d] + m[18 + d] * xi;
          column.j2[d] = m[6 + d] + m[12 + d] * eta + (m[15 + d] + m[18 + d] * eta) * xi;
        }
      }
    });
  }

  TERRANE_FN void rows_at(const Column& column, std::size_t group, int n, T zeta, T (&a)[9],
                          T& factor) const {
    if constexpr (kind == Shape::curved) {  // [element][10][points]
      const int p3 = size() * size() * size();
      const T* const s = shape + group * static_cast<std::size_t>(shape_numbers(kind, p3)) + n;
      TERRANE_UNROLL
      for (int m = 0; m < 9; ++m) a[m] = s[m * p3];
      factor = s[9 * p3];
    } else if constexpr (kind == Shape::trilinear) {
      T j0[3], j1[3];
      for (int d = 0; d < 3; ++d) {
        j0[d] = column.j0[0][d] + zeta * column.j0[1][d];
        j1[d] = column.j1[0][d] + zeta * column.j1[1][d];
      }
      const T(&j2)[3] = column.j2;
      TERRANE_UNROLL
      for (int d = 0; d < 3; ++d) {
        const int f = (d + 1) % 3, g = (d + 2) % 3;
        a[d] = j1[f] * j2[g] - j1[g] * j2[f];
        a[3 + d] = j2[f] * j0[g] - j2[g] * j0[f];
        a[6 + d] = j0[f] * j1[g] - j0[g] * j1[f];
      }
      factor = T(1) / (j0[0] * a[0] + j0[1] * a[1] + j0[2] * a[2]);
    } else {
      const T* const s = shape + group * static_cast<std::size_t>(shape_numbers(kind, 0));
      TERRANE_UNROLL
      for (int n = 0; n < 9; ++n) a[n] = s[n];
      factor = s[9];
    }
  }

  /// Stress in layer `step`; its fluxes along ξ and η go to shared memory, the one along ζ to all points of
  /// the column.
  TERRANE_FN void load(Shared& shared, Thread& mine, std::size_t group, std::size_t step, int thread) const {
    const int p = size(), p2 = p * p, k = static_cast<int>(step);
    const T* const r = rock + group * static_cast<std::size_t>(rock_numbers(rheology, p));
    each_column(mine, thread, [&](Column& column, int q, int i, int j) {
      T du[3][3] = {};  // [component][ξ, η, ζ]
      TERRANE_UNROLL
      for (int l = 0; l < most; ++l) {
        if (l >= p) break;
        const T along[3] = {column.di[l], column.dj[l], tables.d[k][l]};
        const Vec4<T> v[3] = {shared.u[k * p2 + j * p + l], shared.u[k * p2 + l * p + i], column.u[l]};
        TERRANE_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
          du[0][axis] += along[axis] * v[axis].x;
          du[1][axis] += along[axis] * v[axis].y;
          du[2][axis] += along[axis] * v[axis].z;
        }
      }
      T a[9], factor;
      rows_at(column, group, k * p2 + q, tables.x[k], a, factor);
      Vec4<T> fx{}, fy{}, fz{}, inertia{};
      if constexpr (rheology == Rheology::fluid) {  // the potential is the first component
        T g[3];
        TERRANE_UNROLL
        for (int d = 0; d < 3; ++d)
          g[d] = r[0] * factor * (du[0][0] * a[d] + du[0][1] * a[3 + d] + du[0][2] * a[6 + d]);
        fx.x = g[0] * a[0] + g[1] * a[1] + g[2] * a[2];
        fy.x = g[0] * a[3] + g[1] * a[4] + g[2] * a[5];
        fz.x = g[0] * a[6] + g[1] * a[7] + g[2] * a[8];
      } else if constexpr (rheology == Rheology::matched) {
        T gradient[3][3], of[3][3][3], t[3][3], push[3];
        TERRANE_UNROLL
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            gradient[c][d] = factor * (du[c][0] * a[d] + du[c][1] * a[3 + d] + du[c][2] * a[6 + d]);
        const auto each = static_cast<std::size_t>(p2 * p);
        T* const mine_in_memory = memory + group * static_cast<std::size_t>(matched_memory(axes)) * each +
                                  static_cast<std::size_t>(k * p2 + q);
        const auto kept = [&](int m) -> T& { return mine_in_memory[static_cast<std::size_t>(m) * each]; };
        const auto axis = [&](int d) {
          return r + 22 + fading_numbers * (d * p + (d == 0 ? i : d == 1 ? j : k));
        };
        const int used = stretch(axes, gradient, axis, kept, of);
        stretched_stress(
            of, [&](int m) { return r[m]; }, t);
        const auto through = [&](Vec4<T>& f, int row) {
          f.x = t[0][0] * a[row] + t[0][1] * a[row + 1] + t[0][2] * a[row + 2];
          f.y = t[1][0] * a[row] + t[1][1] * a[row + 1] + t[1][2] * a[row + 2];
          f.z = t[2][0] * a[row] + t[2][1] * a[row + 1] + t[2][2] * a[row + 2];
        };
        through(fx, 0);
        through(fy, 3);
        through(fz, 6);
        const Vec4<T> v = shared.u[k * p2 + q];
        const T at[3] = {v.x, v.y, v.z}, mass = -column.across * tables.w[k] * r[21] / factor;
        stretched_inertia(axes, at, axis, kept, used, push);
        inertia = {mass * push[0], mass * push[1], mass * push[2], 0};
      } else {
        T gradient[3][3], stress[6];
        TERRANE_UNROLL
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            gradient[c][d] = du[c][0] * a[d] + du[c][1] * a[3 + d] + du[c][2] * a[6 + d];
        if constexpr (rheology == Rheology::anisotropic)
          anisotropic_stress(
              gradient, factor, [&](int m) { return r[m]; }, stress);
        else isotropic_stress(gradient, r[0] * factor, r[1] * factor, stress);
        if constexpr (rheology == Rheology::attenuating) {
          const auto each = static_cast<std::size_t>(p2 * p);
          T* const mine_in_memory =
              memory + group * memory_of_point * each + static_cast<std::size_t>(k * p2 + q);
          const auto& f = tables.recursion;
          relax<relaxations>(
              gradient, factor, [&](int m) { return r[2 + m]; }, f.a, f.b, f.c,
              [&](int l, int m) -> T& { return mine_in_memory[static_cast<std::size_t>(6 * l + m) * each]; },
              stress);
        }
        flux(stress, a[0], a[1], a[2], fx.x, fx.y, fx.z);
        flux(stress, a[3], a[4], a[5], fy.x, fy.y, fy.z);
        flux(stress, a[6], a[7], a[8], fz.x, fz.y, fz.z);
      }
      shared.x[q] = fx;
      shared.y[q] = fy;
      const T across = column.across * tables.w[k];
      TERRANE_UNROLL
      for (int l = 0; l < most; ++l) {
        if (l >= p) break;
        const T factor_l = across * tables.d[k][l];
        column.f[l].x += factor_l * fz.x;
        column.f[l].y += factor_l * fz.y;
        column.f[l].z += factor_l * fz.z;
        if constexpr (rheology == Rheology::matched)
          if (l == k) {
            column.f[l].x -= inertia.x;
            column.f[l].y -= inertia.y;
            column.f[l].z -= inertia.z;
          }
      }
    });
  }

  TERRANE_FN void work(Shared& shared, Thread& mine, std::size_t, std::size_t step, int thread) const {
    const int p = size(), k = static_cast<int>(step);
    each_column(mine, thread, [&](Column& column, int, int i, int j) {
      Vec4<T> sum{};
      TERRANE_UNROLL
      for (int l = 0; l < most; ++l) {
        if (l >= p) break;
        const T a = column.ti[l], b = column.tj[l];
        const Vec4<T> x = shared.x[j * p + l], y = shared.y[l * p + i];
        sum.x += a * x.x + b * y.x;
        sum.y += a * x.y + b * y.y;
        sum.z += a * x.z + b * y.z;
      }
      const T w = tables.w[k];
      TERRANE_UNROLL
      for (int l = 0; l < most; ++l)  // with l known to the compiler the column stays in registers
        if (l == k) {
          column.f[l].x -= w * sum.x;
          column.f[l].y -= w * sum.y;
          column.f[l].z -= w * sum.z;
        }
    });
  }

  TERRANE_FN void end(Shared&, Thread& mine, std::size_t group, int thread) const {
    const int p = size(), p2 = p * p;
    const std::size_t element = (first + group) * static_cast<std::size_t>(p2 * p);
    each_column(mine, thread, [&](Column& column, int q, int, int) {
      TERRANE_UNROLL
      for (int k = 0; k < most; ++k) {
        if (k >= p) break;
        const std::size_t n = element + static_cast<std::size_t>(k * p2 + q);
        if (fixed) {
          force[n] = column.f[k];
        } else {
          add_to(force[point[n]], column.f[k]);
        }
      }
    });
  }
};

}  // namespace terrane::elastic
