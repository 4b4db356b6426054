// Forces of elements of degree 4 on devices, by pencils: the five points of an element along one direction.
//
// A group of threads computes one element; 25 of them compute a pencil each: derivatives along ξ, then along
// η; then along ζ, with the stress at the points of the pencil; then the forces of the fluxes along ξ and η.
// Between these phases the element is in shared memory, each point as one number and a pair, which two
// instructions load. A pencil is read and written once for five points; with one point per thread, each
// thread would read five points.
//
// Per element of an isotropic medium with a linear map: each thread computes 450 multiply-adds for
// derivatives and some 360 at the points, and transfers three components to or from shared memory 80 times;
// transfers to or from device memory are 500 bytes of point indices, 1.0 kB of displacements, 1.6 kB of
// forces and 1.3 kB for time steps. Points within the element belong to no other element: they are advanced
// by a step here (points.hpp), and their forces are not stored. On an H200 the traffic of shared memory
// limits the speed.
#pragma once

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/elastic/kernels/device_kernels.hpp"

namespace terrane::elastic {

/// A kernel for for_each_group, for float and double. axes: in matched layers the axes along which waves are
/// damped, known at compile time, so that all memory variables of a point can be loaded together.
template <class T, Shape kind, Rheology rheology, unsigned axes = 0>
struct PencilForces {
  static constexpr int p = 5, pencils = p * p;
  static constexpr bool fades = rheology == Rheology::matched;
  // Distances between layers of points (along ζ) in shared memory; with these, threads that read pencils
  // along ξ (layer_x) or η (layer_y) at the same time access different banks.
  static constexpr int layer_x = pencils, layer_y = pencils + 12;
  // More groups at once hide the latency of memory better, but the memory variables of a medium with a Q must
  // fit into the cache.
  static constexpr int groups_at_once = sizeof(T) == 8                  ? 8
                                        : attenuates(rheology)          ? 16
                                        : rheology == Rheology::matched ? 12
                                                                        : 28;
  static constexpr int shapes = kind == Shape::curved ? 0 : shape_numbers(kind, 0),
                       media = even_numbers(rheology, p), varying = point_numbers(rheology),
                       numbers = medium_numbers(rheology, p);

  DeviceTables<T> tables;
  const DeviceTables<T>* spread;
  ElementsOfDevice<T> all;

  // Fluids have one component, the potential, instead of three.
  static constexpr bool potential = is_potential(rheology);
  static constexpr int components = potential ? 1 : 3;

  /// Three components per point, stored as one number and a pair: a quarter less to transfer than four
  /// numbers.
  template <int count>
  struct Points {
    struct alignas(2 * sizeof(T)) Pair {
      T y, z;
    } pair[potential ? 1 : count];
    T x[count];
    TERRANE_FN Vec4<T> get(int n) const {
      if constexpr (potential) return {x[n], 0, 0, 0};
      else return {x[n], pair[n].y, pair[n].z, 0};
    }
    TERRANE_FN void set(int n, const Vec4<T>& v) {
      x[n] = v.x;
      if constexpr (!potential) pair[n] = {v.y, v.z};
    }
  };
  struct Shared {
    Points<p * layer_x> x;
    Points<p * layer_y> y;
    T shape[shapes + 1], medium[media + 1];
  };
  struct Thread {
    T u[p][3], f[p][3];
  };

  TERRANE_FN std::size_t steps(std::size_t) const { return 2; }

  /// Replaces the values of a pencil by out_i = Σ_l m(i, l) in_l.
  template <class Points, class Matrix>
  TERRANE_FN static void apply(Points& points, int first, int stride, const Matrix& m) {
    Vec4<T> in[p];
    TERRANE_UNROLL
    for (int l = 0; l < p; ++l) in[l] = points.get(first + l * stride);
    TERRANE_UNROLL
    for (int i = 0; i < p; ++i) {
      Vec4<T> out{0, 0, 0, 0};
      TERRANE_UNROLL
      for (int l = 0; l < p; ++l) {
        out.x += m(i, l) * in[l].x;
        if constexpr (potential) continue;
        out.y += m(i, l) * in[l].y;
        out.z += m(i, l) * in[l].z;
      }
      points.set(first + i * stride, out);
    }
  }
  template <class Matrix>
  TERRANE_FN static void apply_to_pencils(Shared& shared, int thread, const Matrix& m) {
    apply(shared.x, p * thread, 1, m);
    apply(shared.y, thread / p * layer_y + thread % p, p, m);
  }

  TERRANE_FN void begin(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    if (thread < shapes) shared.shape[thread] = all.shape[group * shapes + static_cast<std::size_t>(thread)];
    for (int n = thread; n < media; n += group_threads)
      shared.medium[n] = all.medium[group * numbers + static_cast<std::size_t>(n)];
    if (thread >= pencils) return;
    const std::uint32_t* const points = all.points_of(group, p * p * p) + thread;
    TERRANE_UNROLL
    for (int k = 0; k < p; ++k) {
      const Vec4<T> u = all.displacement[points[k * pencils]];
      mine.u[k][0] = u.x, mine.u[k][1] = u.y, mine.u[k][2] = u.z;
      shared.x.set(k * layer_x + thread, u);
      shared.y.set(k * layer_y + thread, u);
    }
  }

  /// First step: derivatives along ξ and η. Last step: the forces of the fluxes along ξ and η.
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t, std::size_t step, int thread) const {
    if (thread >= pencils) return;
    if (step == 0) apply_to_pencils(shared, thread, [&](int i, int l) { return tables.d[i][l]; });
    else apply_to_pencils(shared, thread, [&](int i, int l) { return tables.d[l][i]; });
  }

  TERRANE_FN void work(Shared& shared, Thread& mine, std::size_t group, std::size_t step, int thread) const {
    if (thread >= pencils) return;
    if (step == 0) push_along_zeta(shared, mine, group, thread);
    else store(shared, mine, group, thread);
  }

  /// Computes the stress at the points of a pencil along ζ; fluxes along ξ and η replace the derivatives in
  /// shared memory.
  TERRANE_FN void push_along_zeta(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    const int i = thread % p, j = thread / p;
    constexpr int each = p * p * p;
    const T* const shape = kind == Shape::curved ? all.shape + group * (10 * each) + thread : shared.shape;
    ShapeOfColumn<T, kind> map(shape, spread->x[i], spread->x[j], each, pencils);
    const T across = spread->w[i] * spread->w[j];
    Here<T> here{};
    here.medium = shared.medium;
    here.recursion = &tables.recursion;
    here.axes = axes;
    here.points = p;
    here.at[0] = i, here.at[1] = j;
    constexpr int keeps = memory_numbers_of(rheology, axes);
    const T* const at_points = all.medium + group * numbers + media + static_cast<std::size_t>(thread);
    T* const memory = keeps ? all.memory + group * static_cast<std::size_t>(keeps * each) + thread : nullptr;
    T kept[fades ? keeps : 1];
    if constexpr (fades) {
      here.memory = kept, here.each = 1;
    }
    TERRANE_UNROLL
    for (int k = 0; k < p; ++k) mine.f[k][0] = mine.f[k][1] = mine.f[k][2] = 0;
    TERRANE_UNROLL
    for (int k = 0; k < p; ++k) {
      T du[3][3], a[9], factor;
      const Vec4<T> ux = shared.x.get(k * layer_x + thread), uy = shared.y.get(k * layer_y + thread);
      du[0][0] = ux.x, du[1][0] = ux.y, du[2][0] = ux.z;
      du[0][1] = uy.x, du[1][1] = uy.y, du[2][1] = uy.z;
      TERRANE_UNROLL
      for (int c = 0; c < 3; ++c) {
        du[c][2] = 0;
        TERRANE_UNROLL
        for (int l = 0; l < p; ++l) du[c][2] += tables.d[k][l] * mine.u[l][c];
      }
      map.rows(k, tables.x[k], a, factor);
      here.at[2] = k;
      here.u = {mine.u[k][0], mine.u[k][1], mine.u[k][2], 0};
      TERRANE_UNROLL
      for (int m = 0; m < varying; ++m) here.varying[m] = at_points[m * each + k * pencils];
      T* const in_memory = memory + k * keeps * pencils;
      if constexpr (fades) {
        TERRANE_UNROLL
        for (int m = 0; m < keeps; ++m) kept[m] = in_memory[m * pencils];
      } else if constexpr (keeps > 0) {
        here.memory = in_memory, here.each = pencils;
      }
      Vec4<T> along[3], inertia{0, 0, 0, 0};
      fluxes<rheology>(du, a, factor, across * tables.w[k], here, along, inertia);
      if constexpr (fades) {
        TERRANE_UNROLL
        for (int m = 0; m < keeps; ++m) in_memory[m * pencils] = kept[m];
      }
      shared.x.set(k * layer_x + thread, along[0]);
      shared.y.set(k * layer_y + thread, along[1]);
      TERRANE_UNROLL
      for (int l = 0; l < p; ++l) {
        mine.f[l][0] -= tables.d[k][l] * along[2].x;
        if constexpr (potential) continue;
        mine.f[l][1] -= tables.d[k][l] * along[2].y;
        mine.f[l][2] -= tables.d[k][l] * along[2].z;
      }
      if constexpr (fades) {
        mine.f[k][0] -= inertia.x, mine.f[k][1] -= inertia.y, mine.f[k][2] -= inertia.z;
      }
    }
  }

  TERRANE_FN void store(const Shared& shared, const Thread& mine, std::size_t group, int thread) const {
    const int i = thread % p, j = thread / p;
    TERRANE_UNROLL
    for (int k = 0; k < p; ++k) {
      const Vec4<T> x = shared.x.get(k * layer_x + thread), y = shared.y.get(k * layer_y + thread);
      all.put(group, i, j, k, p, uses_inner(rheology),
              {mine.f[k][0] - (x.x + y.x), mine.f[k][1] - (x.y + y.y), mine.f[k][2] - (x.z + y.z), 0},
              {mine.u[k][0], mine.u[k][1], mine.u[k][2], 0});
    }
  }

  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

}  // namespace terrane::elastic
