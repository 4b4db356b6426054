// The field of one tile of prisms at one tile of stations. Compiled once per instruction set by
// kernels_<target>.cpp; a Pack holds as many stations as fit into one register.
#pragma once

#include "terrane/math/pack.hpp"
#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/formula/edge_face.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"

// The namespace of everything in this file, one per instruction set: otherwise the linker would merge a
// template compiled for two of them into one symbol.
#ifndef TERRANE_SIMD_TARGET
#define TERRANE_SIMD_TARGET this_file
#endif

namespace terrane::gravity::TERRANE_SIMD_TARGET {

/// Sums at a pack of stations.
template <unsigned Bits>
struct Sums : ChannelSums<Bits, Pack, false> {
  using Base = ChannelSums<Bits, Pack, false>;
  using Base::add, Base::count, Base::has, Base::place, Base::sum, Base::uu_by_laplace;

  TERRANE_FN Sums() { Base::clear(); }
  /// Computes Γuu from the sums of Γee and Γnn, for sums of multipoles only.
  TERRANE_FN void complete() {
    if constexpr (uu_by_laplace && has(Channel::g_uu))
      sum[place(Channel::g_uu)] = -(sum[place(Channel::g_ee)] + sum[place(Channel::g_nn)]);
  }
  TERRANE_FN void add_where(const PackMask& mask, const Pack& weight, const Quantities<Pack>& q) {
    Sums other;
    other.add(weight, q);
    for (int c = 0; c < count; ++c) where(mask, sum[c]) += other.sum[c];
  }
  void add_lane(int lane, double weight, const double (&q)[10]) {
    int c = 0;
    for (unsigned channel = 0; channel < channel_count; ++channel)
      if ((Bits >> channel) & 1U) {
        sum[c][lane] = sum[c][lane] + weight * q[channel];
        ++c;
      }
  }
  TERRANE_FN void store(double* sums, int station) const {
    for (int c = 0; c < count; ++c) {
      double* at = sums + c * tile_size + station;
      Pack total(at, element_aligned);
      total += sum[c];
      total.copy_to(at, element_aligned);
    }
  }
};

inline constexpr int lanes = static_cast<int>(Pack::size());

/// Multipole of one order for all pairs of two tiles far apart.
template <unsigned Bits, int Order>
struct AddFarField {
  static void run(const PrismTile& tile, const StationTile& stations, NearPairs&, double* sums) {
    for (int s = 0; s < stations.count; s += lanes) {
      const Pack x = Pack(stations.x + s, element_aligned) - Pack(tile.origin[0]);
      const Pack y = Pack(stations.y + s, element_aligned) - Pack(tile.origin[1]);
      const Pack z = Pack(stations.z + s, element_aligned) - Pack(tile.origin[2]);
      Sums<Bits> total;
      if (tile.same_size) {
        for (int p = 0; p < tile.count; ++p) add(tile, p, tile.coefficients[0], x, y, z, total);
      } else {
        for (int p = 0; p < tile.count; ++p) add(tile, p, tile.coefficients[p], x, y, z, total);
      }
      total.complete();
      total.store(sums, s);
    }
  }

 private:
  static TERRANE_FN void add(const PrismTile& tile, int p, const MultipoleCoefficients& t, const Pack& x,
                             const Pack& y, const Pack& z, Sums<Bits>& total) {
    const Pack dx = x - Pack(tile.x[p]), dy = y - Pack(tile.y[p]), dz = z - Pack(tile.z[p]);
    add_multipole<Order>(t, dx, dy, dz, inverse_square_root(dx * dx + (dy * dy + dz * dz)),
                         Pack(tile.mass[p]), total);
  }
};

/// Any distance: for each prism and each pack of stations, the cheapest form that keeps the accuracy.
template <unsigned Bits>
struct AddNearField {
  static constexpr bool uu_by_laplace = Sums<Bits>::uu_by_laplace;

  static void run(const PrismTile& tile, const StationTile& stations, NearPairs& near_pairs, double* sums) {
    for (int s = 0; s < stations.count; s += lanes) {
      const Pack x(stations.x + s, element_aligned);
      const Pack y(stations.y + s, element_aligned);
      const Pack z(stations.z + s, element_aligned);
      Sums<Bits> total;
      for (int p = 0; p < tile.count; ++p) add(tile, p, stations, s, x, y, z, near_pairs, total);
      total.store(sums, s);
    }
  }

 private:
  /// Distance along one axis from the station to the prism, 0 between its faces.
  static TERRANE_FN Pack outside(const Pack (&faces)[2]) {
    return maximum(maximum(faces[0], -faces[1]), Pack(0));
  }

  static TERRANE_FN Quantities<Pack> near_form(const RelativePrism<Pack>& prism) {
    if constexpr (Bits == ChannelSet{Channel::g_u}.bits()) {
      Quantities<Pack> q{};
      q.u = edge_face_g_u(prism);
      return q;
    } else {
      return edge_face<false>(prism);
    }
  }

  static void add(const PrismTile& tile, int p, const StationTile& stations, int s, const Pack& x,
                  const Pack& y, const Pack& z, NearPairs& near_pairs, Sums<Bits>& total) {
    RelativePrism<Pack> prism;
    prism.x[0] = Pack(tile.west[p]) - x;
    prism.x[1] = Pack(tile.east[p]) - x;
    prism.y[0] = Pack(tile.south[p]) - y;
    prism.y[1] = Pack(tile.north[p]) - y;
    prism.z[0] = Pack(tile.bottom[p]) - z;
    prism.z[1] = Pack(tile.top[p]) - z;
    prism.lx = Pack(tile.east[p] - tile.west[p]);
    prism.ly = Pack(tile.north[p] - tile.south[p]);
    prism.lz = Pack(tile.top[p] - tile.bottom[p]);
    const Pack density(tile.density[p]), half(-0.5);
    const Pack xc = half * (prism.x[0] + prism.x[1]), yc = half * (prism.y[0] + prism.y[1]),
               zc = half * (prism.z[0] + prism.z[1]);  // the station, relative to the centre
    const double r2 = least_lane(xc * xc + (yc * yc + zc * zc));
    if (r2 >= tile.multipole2[p]) {
      total.add(multipole<8, uu_by_laplace>(tile.multipole(p), xc, yc, zc, Pack(tile.mass[p])));
      return;
    }
    if (r2 >= BeyondThreeSides::from2 * tile.longest[p] * tile.longest[p]) {
      total.add(density, stable<BeyondThreeSides, uu_by_laplace>(prism));
      return;
    }
    const Pack zero(0);
    const Pack hx = outside(prism.x), hy = outside(prism.y), hz = outside(prism.z);
    const Pack h2 = hx * hx + (hy * hy + hz * hz);
    const PackMask apart = h2 >= Pack(tile.stable_h2[p]);
    if (any(apart)) total.add_where(apart, density, stable<AnyDistance, uu_by_laplace>(prism));
    if (all(apart)) return;
    const PackMask touching = h2 == zero;  // lanes of stations inside prisms or on their surface
    const PackMask single = tile.stretched[p] ? !apart : touching;
    if (any(!apart && !single)) total.add_where(!apart && !single, density, near_form(prism));
    if (!any(single)) return;
    for (int lane = 0; lane < lanes; ++lane) {
      if (!single[lane] || s + lane >= stations.count) continue;
      double q[10];
      near_pairs.evaluate(tile, p, s + lane, stations.x[s + lane], stations.y[s + lane], stations.z[s + lane],
                          q);
      total.add_lane(lane, tile.density[p], q);
    }
  }
};

template <unsigned Bits>
TileKernels tile_kernels() {
  return {lanes,
          AddNearField<Bits>::run,
          {AddFarField<Bits, 2>::run, AddFarField<Bits, 4>::run, AddFarField<Bits, 6>::run,
           AddFarField<Bits, 8>::run}};
}

}  // namespace terrane::gravity::TERRANE_SIMD_TARGET
