// Forces of elements on devices, for any degree: a group of threads computes one element, layer of points by
// layer, and each thread computes columns of points along ζ. Displacements and the fluxes of a layer are in
// shared memory. Degree 4 has faster kernels (pencils.hpp).
#pragma once

#include <atomic>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/elastic/element/basis.hpp"
#include "terrane/physics/elastic/kernels/fluxes.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"

namespace terrane::elastic {

/// Adds atomically, therefore in any order, on GPUs and on the debug device, whose threads run on the host.
/// GPUs since Hopper add four floats at once, which is twice as fast as three single additions.
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
  T d[most_points][most_points];  ///< derivative matrix D_il (basis.hpp)
  Recursion<T> recursion;
};

/// Elements of one kind, and the arrays from which their forces are computed and to which they are added.
template <class T>
struct ElementsOfDevice {
  std::size_t first;           // index in `point` of the element that group 0 of threads computes
  const std::uint32_t* point;  // [elements][points of an element]
  const T *shape, *medium;     // [elements from `first` on][shape_numbers()], […][medium_numbers()]
  T* memory;      // memory variables of attenuating media and matched layers: [elements from `first`
                  // on][layers][numbers per point][points of a layer]
  unsigned axes;  // axes along which waves are damped in matched layers
  Vec4<T>*displacement, *change;  // [points]: u and w of points.hpp
  Vec4<T>* force;                 // if `fixed`: [elements from `first` on][forces_kept()]; else [points]
  Vec4<T>* inner_force;  // [points]: where forces at points within elements are stored; null: these points
                         // are advanced by a time step instead
  bool fixed;            // true: forces are stored for sums in a fixed order; false: added atomically

  TERRANE_FN const std::uint32_t* points_of(std::size_t group, int each) const {
    return point + (first + group) * static_cast<std::size_t>(each);
  }

  /// Stores or adds the force at point i, j, k, of p points in each direction, whose displacement is u.
  /// leaps: points within the element are advanced by a time step here, unless inner_force is given
  /// (uses_inner()).
  TERRANE_FN void put(std::size_t group, int i, int j, int k, int p, bool leaps, const Vec4<T>& f,
                      const Vec4<T>& u) const {
    const std::uint32_t* const at = points_of(group, p * p * p) + (i + p * (j + p * k));
    if (leaps && within(i, p) && within(j, p) && within(k, p)) {
      if (inner_force) {
        inner_force[*at] = f;
        return;
      }
      Vec4<T> now = change[*at];
      now.x += now.w * f.x;
      now.y += now.w * f.y;
      now.z += now.w * f.z;
      change[*at] = now;
      displacement[*at] = {u.x + now.x, u.y + now.y, u.z + now.z, 0};
    } else if (fixed) {
      force[group * static_cast<std::size_t>(forces_kept(p, leaps)) +
            static_cast<std::size_t>(leaps ? place_of_force(i, j, k, p) : i + p * (j + p * k))] = f;
    } else {
      add_to(force[*at], f);
    }
  }
};

/// The map of an element along a column of points (constant ξ and η).
template <class T, Shape kind>
struct ShapeOfColumn {
  const T* shape;
  T j0[2][3], j1[2][3], j2[3];  // J_0 = j0[0] + ζ j0[1], J_1 = j1[0] + ζ j1[1], J_2 = j2 (hexahedron.hpp)
  int each, layer;

  /// numbers: the element's values that shape_numbers() describes; for a curved element from the column's
  /// first point on
  TERRANE_FN ShapeOfColumn(const T* numbers, T xi, T eta, int points, int points_of_layer)
      : shape(numbers), each(points), layer(points_of_layer) {
    if constexpr (kind == Shape::trilinear) {
      const T* const m = numbers;
      TERRANE_UNROLL
      for (int d = 0; d < 3; ++d) {
        j0[0][d] = m[d] + m[9 + d] * eta;
        j0[1][d] = m[15 + d] + m[18 + d] * eta;
        j1[0][d] = m[3 + d] + m[9 + d] * xi;
        j1[1][d] = m[12 + d] + m[18 + d] * xi;
        j2[d] = m[6 + d] + m[12 + d] * eta + (m[15 + d] + m[18 + d] * eta) * xi;
      }
    }
  }

  TERRANE_FN void rows(int k, T zeta, T (&a)[9], T& factor) const {
    if constexpr (kind == Shape::curved) {  // shape holds [10][points]
      TERRANE_UNROLL
      for (int m = 0; m < 9; ++m) a[m] = shape[m * each + k * layer];
      factor = shape[9 * each + k * layer];
    } else if constexpr (kind == Shape::trilinear) {
      T b0[3], b1[3];
      TERRANE_UNROLL
      for (int d = 0; d < 3; ++d) {
        b0[d] = j0[0][d] + zeta * j0[1][d];
        b1[d] = j1[0][d] + zeta * j1[1][d];
      }
      TERRANE_UNROLL
      for (int d = 0; d < 3; ++d) {
        const int f = (d + 1) % 3, g = (d + 2) % 3;
        a[d] = b1[f] * j2[g] - b1[g] * j2[f];
        a[3 + d] = j2[f] * b0[g] - j2[g] * b0[f];
        a[6 + d] = b0[f] * b1[g] - b0[g] * b1[f];
      }
      factor = T(1) / (b0[0] * a[0] + b0[1] * a[1] + b0[2] * a[2]);
    } else {
      TERRANE_UNROLL
      for (int m = 0; m < 9; ++m) a[m] = shape[m];
      factor = shape[9];
    }
  }
};

template <class T, Shape kind, Rheology rheology>
struct GroupForces {
  static constexpr int most = most_points, columns = (most * most + group_threads - 1) / group_threads,
                       groups_at_once = 8;

  DeviceTables<T> tables;
  const DeviceTables<T>*
      spread;  // the contents of `tables` in memory, for indices that differ from thread to thread
  ElementsOfDevice<T> all;

  struct Shared {
    Vec4<T> u[most * most * most], x[most * most], y[most * most];
  };
  struct Thread {
    Vec4<T> force[columns][most];
  };

  TERRANE_FN std::size_t steps(std::size_t) const { return static_cast<std::size_t>(tables.points); }
  /// Calls work(forces of the column, index q, i, j of the column) for each column of a thread.
  template <class Do>
  TERRANE_FN void each_column(Thread& mine, int thread, const Do& work) const {
    const int p = tables.points;
    for (int c = 0; c < columns; ++c) {
      const int q = thread + c * group_threads;
      if (q < p * p) work(mine.force[c], q, q % p, q / p);
    }
  }

  TERRANE_FN void begin(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    const int p = tables.points, p2 = p * p;
    const std::uint32_t* const points = all.points_of(group, p2 * p);
    each_column(mine, thread, [&](Vec4<T>* force, int q, int, int) {
      for (int k = 0; k < p; ++k) {
        shared.u[k * p2 + q] = all.displacement[points[k * p2 + q]];
        force[k] = {0, 0, 0, 0};
      }
    });
  }

  /// Computes the stress in layer `step`. Its fluxes along ξ and η are stored in shared memory; the flux
  /// along ζ is added to the forces at all points of the column.
  TERRANE_FN void load(Shared& shared, Thread& mine, std::size_t group, std::size_t step, int thread) const {
    const int p = tables.points, p2 = p * p, each = p2 * p, k = static_cast<int>(step);
    each_column(mine, thread, [&](Vec4<T>* force, int q, int i, int j) {
      T du[3][3] = {};  // [component][ξ, η, ζ]
      for (int l = 0; l < p; ++l) {
        const T along[3] = {spread->d[i][l], spread->d[j][l], spread->d[k][l]};
        const Vec4<T> v[3] = {shared.u[k * p2 + j * p + l], shared.u[k * p2 + l * p + i],
                              shared.u[l * p2 + q]};
        for (int axis = 0; axis < 3; ++axis) {
          du[0][axis] += along[axis] * v[axis].x;
          du[1][axis] += along[axis] * v[axis].y;
          du[2][axis] += along[axis] * v[axis].z;
        }
      }
      const int shapes = shape_numbers(kind, each);
      const ShapeOfColumn<T, kind> map(
          all.shape + group * static_cast<std::size_t>(shapes) + (kind == Shape::curved ? q : 0),
          spread->x[i], spread->x[j], each, p2);
      T a[9], factor;
      map.rows(k, spread->x[k], a, factor);
      Here<T> here{};
      here.medium = all.medium + group * static_cast<std::size_t>(medium_numbers(rheology, p));
      for (int m = 0; m < point_numbers(rheology); ++m)
        here.varying[m] = here.medium[even_numbers(rheology, p) + m * each + k * p2 + q];
      if (all.memory) {
        const auto kept = static_cast<std::size_t>(memory_numbers_of(rheology, all.axes));
        here.memory = all.memory + (group * kept * static_cast<std::size_t>(each)) +
                      kept * static_cast<std::size_t>(k * p2) + q;
        here.each = static_cast<std::size_t>(p2);
      }
      here.recursion = &tables.recursion;
      here.axes = all.axes;
      here.points = p;
      here.at[0] = i, here.at[1] = j, here.at[2] = k;
      here.u = shared.u[k * p2 + q];
      Vec4<T> along[3], inertia{0, 0, 0, 0};
      fluxes<rheology>(du, a, factor, spread->w[i] * spread->w[j] * spread->w[k], here, along, inertia);
      shared.x[q] = along[0];
      shared.y[q] = along[1];
      for (int l = 0; l < p; ++l) take(force[l], spread->d[k][l], along[2]);
      take(force[k], T(1), inertia);
    });
  }

  TERRANE_FN void work(Shared& shared, Thread& mine, std::size_t, std::size_t step, int thread) const {
    const int p = tables.points;
    each_column(mine, thread, [&](Vec4<T>* force, int, int i, int j) {
      for (int l = 0; l < p; ++l) {
        take(force[step], spread->d[l][i], shared.x[j * p + l]);
        take(force[step], spread->d[l][j], shared.y[l * p + i]);
      }
    });
  }

  TERRANE_FN void end(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    const int p = tables.points;
    each_column(mine, thread, [&](Vec4<T>* force, int q, int i, int j) {
      for (int k = 0; k < p; ++k)
        all.put(group, i, j, k, p, uses_inner(rheology), force[k], shared.u[k * p * p + q]);
    });
  }

 private:
  TERRANE_FN static void take(Vec4<T>& from, T factor, const Vec4<T>& what) {
    from.x -= factor * what.x;
    from.y -= factor * what.y;
    from.z -= factor * what.z;
  }
};

}  // namespace terrane::elastic
