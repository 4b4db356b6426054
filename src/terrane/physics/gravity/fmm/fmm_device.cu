// Local expansions in solid harmonics (formula/harmonics.hpp), about the centre t of a box, σ its scale:
//
//   V(t + σ x) = (1/σ) Σ_j Σ_k g_jk(x) L_jk,   L_jk = E_jk V at t,   −j ≤ k ≤ j
//   E_jk = ∂z^(j−k) ∂₊^k,   E_j(−k) = (−1)^k ∂z^(j−k) ∂₋^k   (k ≥ 0),   ∂± = ∂x ± i ∂y
//
// V being harmonic, ∂₊∂₋ = −∂z², and so E_nm E_jk = E_(n+j)(m+k) whatever the signs. The regular harmonics g
// are those of exp(x · ∂) = Σ g_jk E_jk:
//   g_kk = ((x − iy)/2)^k / k!,   ((j + 1)² − k²) g_(j+1)k = (2j + 1) z g_jk − r² g_(j−1)k
//   g_j(−k) = (−1)^k conj(g_jk),  and the same holds for L
// The local expansion of a multipole Σ M_nm E_nm (1/r), and that of a local expansion L shifted by d, are
//   L_jk = Σ_nm M_nm F_(n+j)(m+k),   F = E (1/r);   L'_jk = Σ_nm g_nm(d) L_(n+j)(m+k)
// Both are sums over two tables with both signs of m: correlate().
//
// Translations are limited by FP64 multiply-adds. A translation of order p needs 4 Σ_j (j + 1) (min(p, p + 2
// − j) + 1)², about (p + 3)⁴ / 3; a thread computes three neighbours L_jk, so that two numbers from shared
// memory are used in twelve multiply-adds.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/fmm/fmm_device.hpp"
#include "terrane/physics/gravity/formula/harmonics.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"
#include "terrane/physics/gravity/tree/device_expansions.hpp"
#include "terrane/physics/gravity/tree/device_leaves.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_groups_at_once = 1 << 15;
constexpr std::uint32_t chunks_of_pairs = 4;
constexpr std::uint32_t no_box = 0xffffffffU;

/// A box of stations, or a cluster of prisms.
struct DevicePlace {
  double centre[3], scale;  ///< m
};

struct DeviceBox {
  DevicePlace place;
  std::uint64_t first, last;  ///< the clusters of this box are entries first .. last − 1 of the list
  std::uint32_t parent;       ///< index of the parent, or no_box
  int degree, parent_degree;  ///< degrees of the local expansions of the box and of its parent; −1: none
};

struct TranslatedCluster {
  std::uint32_t cluster;
  int order;
};

// ---- tables with both signs of m: n² + n + m ----

TERRANE_FN ComplexNumber times(double factor, const ComplexNumber& c) {
  return {factor * c.re, factor * c.im};
}

/// Stores c_nm, and c_n(−m) = (−1)^m conj(c_nm), in a table with both signs of m.
TERRANE_FN void put_both(ComplexNumber* table, int n, int m, const ComplexNumber& c) {
  const double sign = m % 2 ? -1 : 1;
  table[n * n + n - m] = {sign * c.re, -sign * c.im};
  table[n * n + n + m] = c;
}

/// Stores F_nm = E_nm (1/r) (head of this file) up to degree `top`; one thread for each m.
TERRANE_FN void put_derivatives(ComplexNumber* table, int top, double x, double y, double z, int m) {
  if (m > top) return;
  const double inverse = inverse_square_root(x * x + (y * y + z * z)), inverse2 = inverse * inverse;
  const double xr = x * inverse2, yr = y * inverse2, zr = z * inverse2;
  ComplexNumber f{inverse, 0}, before{0, 0};
  double a = 1, b = 0;  // factors of the recurrence: 2 n + 1, n² − m²
  for (int i = 0; i < m; ++i, a += 2) f = {a * (f.im * yr - f.re * xr), -a * (f.re * yr + f.im * xr)};
  for (int n = m; n <= top; ++n) {
    put_both(table, n, m, f);
    const double down = zr * a, back = inverse2 * b;
    const ComplexNumber next{-(down * f.re + back * before.re), -(down * f.im + back * before.im)};
    before = f;
    f = next;
    b += a;
    a += 2;
  }
}

/// The regular harmonics g_nm (head of this file) for one m and increasing n, from n = m.
struct RegularColumn {
  ComplexNumber g, before{0, 0};
  double a, b;  // factors of the recurrence: 2 n + 1, (n + 1)² − m²

  TERRANE_FN RegularColumn(int m, const ComplexNumber& first) : g(first), a(2 * m + 1), b(2 * m + 1) {}
  TERRANE_FN void next(double z, double r2) {
    const double inverse = 1 / b, up = a * z * inverse, back = r2 * inverse;
    const ComplexNumber above{up * g.re - back * before.re, up * g.im - back * before.im};
    before = g;
    g = above;
    a += 2;
    b += a;
  }
};
/// The regular harmonic g_(m+1)(m+1) from g_mm.
TERRANE_FN ComplexNumber next_diagonal(const ComplexNumber& g, int m, double x, double y) {
  const double half = 0.5 / (m + 1);
  return {half * (g.re * x + g.im * y), half * (g.im * x - g.re * y)};
}

TERRANE_FN void put_regular(ComplexNumber* table, int top, double x, double y, double z, int m) {
  if (m > top) return;
  ComplexNumber first{1, 0};
  for (int i = 0; i < m; ++i) first = next_diagonal(first, i, x, y);
  RegularColumn column(m, first);
  const double r2 = x * x + (y * y + z * z);
  for (int n = m; n <= top; ++n) {
    put_both(table, n, m, column.g);
    column.next(z, r2);
  }
}

TERRANE_FN void add_product(ComplexNumber& sum, const ComplexNumber& a, const ComplexNumber& b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
}

/// Calls use(j, first k) for the sums that thread t computes, three consecutive k at a time.
template <class Use>
TERRANE_FN void each_three(int top, int t, const Use& use) {
  for (int j = 0, i = t;; i += group_threads) {
    while (j <= top && i > j / 3) i -= j++ / 3 + 1;
    if (j > top) return;
    use(j, 3 * i);
  }
}

/// sum_jk += Σ_n Σ_m a_nm b_(n+j)(m+k), n ≤ order, n + j ≤ top, k ≥ 0, for the sums of thread t. Two numbers
/// after the end of b are read; their values do not matter.
TERRANE_FN void correlate(const ComplexNumber* a, const ComplexNumber* b, int order, int top,
                          ComplexNumber* sum, int t) {
  each_three(top, t, [&](int j, int k) {
    const int last = order < top - j ? order : top - j;
    ComplexNumber s0{0, 0}, s1{0, 0}, s2{0, 0};
    for (int n = 0; n <= last; ++n) {
      const ComplexNumber* const from = a + n * n;
      const ComplexNumber* const at = b + (n + j) * (n + j) + j + k;
      ComplexNumber b0 = at[0], b1 = at[1];
      for (int m = 0; m <= 2 * n; ++m) {
        const ComplexNumber c = from[m], b2 = at[m + 2];
        add_product(s0, c, b0);
        add_product(s1, c, b1);
        add_product(s2, c, b2);
        b0 = b1;
        b1 = b2;
      }
    }
    ComplexNumber* const to = sum + harmonic_place(j, k);
    const ComplexNumber all[3] = {s0, s1, s2};
    for (int i = 0; i < 3 && k + i <= j; ++i) to[i] = {to[i].re + all[i].re, to[i].im + all[i].im};
  });
}

/// Calls use(index) for each number that thread t computes.
template <class Use>
TERRANE_FN void each_own(int top, int t, const Use& use) {
  each_three(top, t, [&](int j, int k) {
    for (int i = k; i < k + 3 && i <= j; ++i) use(harmonic_place(j, i));
  });
}

constexpr int both_signs(int degree) { return (degree + 1) * (degree + 1); }

// ---- kernels ----

/// Multipole to local: a group of threads computes the local expansion of one box, and adds the clusters of
/// its list one after the other.
template <int Most>
struct Translate {
  struct Shared {
    ComplexNumber multipole[both_signs(Most)], derivatives[both_signs(Most + most_added) + 2],
        sum[harmonic_count(Most + most_added)];
  };
  struct Thread {};
  static constexpr int groups_at_once = 8;

  View<const DeviceBox> boxes;
  View<const DevicePlace> clusters;
  View<const std::uint32_t> expansion;  ///< [clusters] index of the cluster's expansion
  View<const TranslatedCluster> list;
  View<const ComplexNumber> multipoles;  ///< [expansions][harmonic_count(order)]
  int order, added;
  View<ComplexNumber> local;  ///< [boxes][harmonic_count(order + added)]

  TERRANE_FN void begin(Shared& shared, Thread&, std::size_t, int t) const {
    each_own(order + added, t, [&](int i) { shared.sum[i] = {0, 0}; });
  }
  TERRANE_FN std::size_t steps(std::size_t group) const { return boxes[group].last - boxes[group].first; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const DeviceBox& box = boxes[group];
    const TranslatedCluster met = list[box.first + step];
    const DevicePlace& cluster = clusters[met.cluster];
    const double inverse = 1 / box.place.scale, ratio = cluster.scale * inverse;
    const int top = met.order + added;
    put_derivatives(shared.derivatives, top, (box.place.centre[0] - cluster.centre[0]) * inverse,
                    (box.place.centre[1] - cluster.centre[1]) * inverse,
                    (box.place.centre[2] - cluster.centre[2]) * inverse, t);
    if (t < 2) shared.derivatives[both_signs(top) + t] = {0, 0};
    const ComplexNumber* const from =
        multipoles.data + expansion[met.cluster] * static_cast<std::size_t>(harmonic_count(order));
    double power = t == 0 ? 1 : 0.5;  // factor ½ for m > 0, because such a term occurs with both signs of m
    for (int n = 0; n <= met.order; ++n) {
      if (t <= n) put_both(shared.multipole, n, t, times(power, from[harmonic_place(n, t)]));
      power *= ratio;
    }
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const int p = list[boxes[group].first + step].order;
    correlate(shared.multipole, shared.derivatives, p, p + added, shared.sum, t);
  }
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    ComplexNumber* const to = local.data + group * static_cast<std::size_t>(harmonic_count(order + added));
    each_own(order + added, t, [&](int i) { to[i] = shared.sum[i]; });
  }
};

/// Local to local: adds to the boxes of one level the shifted local expansions of their parents.
struct ShiftDown {
  struct Shared {
    ComplexNumber regular[both_signs(most_local_degree)], above[both_signs(most_local_degree) + 2],
        sum[harmonic_count(most_local_degree)];
  };
  struct Thread {};
  static constexpr int groups_at_once = 8;

  View<const DeviceBox> boxes;
  std::size_t first;  ///< first box of the level
  int degrees;        ///< highest degree stored for each box
  View<ComplexNumber> local;

  TERRANE_FN void begin(Shared& shared, Thread&, std::size_t, int t) const {
    each_own(degrees, t, [&](int i) { shared.sum[i] = {0, 0}; });
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return boxes[first + group].parent_degree < 0 ? 0 : 1;
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const DeviceBox& box = boxes[first + group];
    const DevicePlace& from = boxes[box.parent].place;
    const int top = box.parent_degree;
    const double inverse = 1 / box.place.scale, ratio = box.place.scale / from.scale;
    put_regular(shared.regular, top, (box.place.centre[0] - from.centre[0]) * inverse,
                (box.place.centre[1] - from.centre[1]) * inverse,
                (box.place.centre[2] - from.centre[2]) * inverse, t);
    if (t < 2) shared.above[both_signs(top) + t] = {0, 0};
    const ComplexNumber* const numbers =
        local.data + box.parent * static_cast<std::size_t>(harmonic_count(degrees));
    double power = ratio;  // converts ∂^n to units of the box
    for (int n = 0; n <= top; ++n) {
      if (t <= n) put_both(shared.above, n, t, times(power, numbers[harmonic_place(n, t)]));
      power *= ratio;
    }
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const int top = boxes[first + group].parent_degree;
    correlate(shared.regular, shared.above, top, top, shared.sum, t);
  }
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    ComplexNumber* const to =
        local.data + (first + group) * static_cast<std::size_t>(harmonic_count(degrees));
    each_own(degrees, t, [&](int i) { to[i] = {to[i].re + shared.sum[i].re, to[i].im + shared.sum[i].im}; });
  }
};

/// Adds, at each group of stations, the field of the local expansion of the group's box to the sums.
struct EvaluateLocal {
  static constexpr int rows = most_local_degree + 3, width = most_local_degree + 5, zero = 2;
  struct Shared {
    ComplexNumber l[rows][width];  ///< L_jk for k = 0 .. j at [j][zero + k]; else 0
  };
  struct Thread {
    HarmonicSums sum;
  };
  static constexpr int groups_at_once = 8;

  DeviceStations stations;
  View<const DeviceBox> boxes;
  View<const std::uint32_t> box_of;  ///< [groups of stations] index of the group's box
  View<const ComplexNumber> local;
  int degrees;
  bool tensor;
  View<double> sums;  ///< [channels of the set][row]
  std::size_t row;
  int channels;
  int channel[channel_count];  ///< channel of each row of sums

  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t, int) const { thread.sum = {}; }
  TERRANE_FN std::size_t steps(std::size_t group) const { return boxes[box_of[group]].degree < 0 ? 0 : 1; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const std::size_t box = box_of[group];
    const ComplexNumber* const from = local.data + box * static_cast<std::size_t>(harmonic_count(degrees));
    const int degree = boxes[box].degree;
    if (t >= width) return;
    const int k = t - zero;
    for (int j = 0; j <= degree + 2; ++j)
      shared.l[j][t] = k >= 0 && k <= j && j <= degree ? from[harmonic_place(j, k)] : ComplexNumber{0, 0};
  }
  TERRANE_FN void work(const Shared& shared, Thread& thread, std::size_t group, std::size_t, int t) const {
    const DeviceBox& box = boxes[box_of[group]];
    const double inverse = 1 / box.place.scale;
    const std::size_t s = group * device_tile + static_cast<std::size_t>(t);
    const double x = (stations.at[0][s] - box.place.centre[0]) * inverse,
                 y = (stations.at[1][s] - box.place.centre[1]) * inverse,
                 z = (stations.at[2][s] - box.place.centre[2]) * inverse, r2 = x * x + (y * y + z * z);
    ComplexNumber first{1, 0};
    for (int k = 0; k <= box.degree; ++k) {
      RegularColumn column(k, first);
      for (int j = k; j <= box.degree; ++j) {
        add(shared, j, k, column.g, thread.sum);
        column.next(z, r2);
      }
      first = next_diagonal(first, k, x, y);
    }
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    const DeviceBox& box = boxes[box_of[group]];
    if (box.degree < 0) return;
    const auto& s = thread.sum;
    const double u = 1 / box.place.scale, u2 = u * u, u3 = u2 * u;
    for (int c = 0; c < channels; ++c) {
      double value = 0;
      switch (channel[c]) {
        case 0:
          value = u * s.v;
          break;
        case 1:
          value = u2 * s.x;
          break;
        case 2:
          value = u2 * s.y;
          break;
        case 3:
          value = u2 * s.z;
          break;
        case 4:
          value = 0.5 * u3 * (s.difference - s.zz);
          break;
        case 5:
          value = -0.5 * u3 * (s.difference + s.zz);
          break;
        case 6:
          value = u3 * s.zz;
          break;
        case 7:
          value = u3 * s.xy;
          break;
        case 8:
          value = u3 * s.xz;
          break;
        default:
          value = u3 * s.yz;
      }
      sums[static_cast<std::size_t>(c) * row + group * device_tile + static_cast<std::size_t>(t)] += value;
    }
  }

 private:
  TERRANE_FN static double re(const ComplexNumber& a, const ComplexNumber& b) {
    return a.re * b.re - a.im * b.im;
  }
  TERRANE_FN static double im(const ComplexNumber& a, const ComplexNumber& b) {
    return a.re * b.im + a.im * b.re;
  }
  TERRANE_FN static ComplexNumber sum_of(const ComplexNumber& a, const ComplexNumber& b, double sign) {
    return {a.re + sign * b.re, a.im + sign * b.im};
  }
  /// Adds the terms of g_jk and g_j(−k) (head of this file) to V, g and Γ; ∂x V and ∂y V are the real and
  /// imaginary part of ∂₊V. ∂₊ E_j(−k) = E_(j+1)(1−k) = −(−1)^k conj(E_(j+1)(k−1)): so the term with −k adds
  /// −conj(g_jk L_(j+1)(k−1)) to ∂₊V.
  TERRANE_FN void add(const Shared& shared, int j, int k, const ComplexNumber& g, HarmonicSums& sum) const {
    const double both = k == 0 ? 1 : 2;
    const ComplexNumber *const here = shared.l[j] + zero + k, *const next = shared.l[j + 1] + zero + k,
                               *const second = shared.l[j + 2] + zero + k;
    sum.v += both * re(g, here[0]);
    sum.x += re(g, sum_of(next[1], next[-1], -1));
    sum.y += im(g, sum_of(next[1], next[-1], 1));
    sum.z += both * re(g, next[0]);
    if (!tensor) return;
    sum.zz += both * re(g, second[0]);
    sum.xz += re(g, sum_of(second[1], second[-1], -1));
    sum.yz += im(g, sum_of(second[1], second[-1], 1));
    // ∂₊² maps k = −1 to the conjugate of k = 1.
    const ComplexNumber below = k == 1 ? ComplexNumber{-second[0].re, second[0].im} : second[-2];
    sum.difference += re(g, sum_of(second[2], below, 1));
    sum.xy += 0.5 * im(g, sum_of(second[2], below, -1));
  }
};

// ---- the sum ----

DevicePlace place_of(const LocalPlace& place) {
  return {{place.centre[0], place.centre[1], place.centre[2]}, place.scale};
}

/// Bytes of device memory per group of stations while its sums are computed, without lists of near tiles.
double bytes_of_group(int degree, std::size_t width) {
  constexpr double boxes = 1.5, met = 200;  // boxes per group, with their parents; clusters per box
  return boxes * (harmonic_count(degree) * static_cast<double>(sizeof(ComplexNumber)) +
                  static_cast<double>(sizeof(DeviceBox)) + met * sizeof(TranslatedCluster)) +
         static_cast<double>((chunks_of_pairs + 2) * width * device_tile * sizeof(double));
}

/// Bytes of device memory for the near tiles of a group, as in a sum by the tree: pieces, and pairs for the
/// host.
double bytes_of_near(double tiles, std::size_t width) {
  const auto values = static_cast<double>(width * device_tile * sizeof(double));
  return 2 * sizeof(std::uint32_t) * tiles +
         (tiles / static_cast<double>(tiles_per_piece) + 1) * (values + sizeof(TilePieces::Piece)) +
         device_tile * device_tile * sizeof(HostPair);
}

/// Average number of tiles of prisms near a group of stations.
double near_tiles(const Fmm& fmm, const FmmCost& cost, std::size_t tiles) {
  const auto prisms = static_cast<double>(std::max<std::size_t>(1, fmm.tree().prisms().size())),
             stations = static_cast<double>(std::max<std::size_t>(1, fmm.tree().stations().size()));
  return cost.near_pairs / stations * static_cast<double>(tiles) / prisms;
}

class FmmOnDevice final : public DeviceSummation {
 public:
  FmmOnDevice(Device device, std::shared_ptr<Fmm> fmm, Precision precision, const FmmCost& cost)
      : DeviceSummation(device, fmm->tree().prisms(), fmm->tree().stations(), fmm->tree().channels(),
                        {{0, 1, 2}, fmm->tree().channels()},
                        Switching::for_accuracy(fmm->tree().pair_accuracy()), fmm->tree().prism_order(),
                        DeviceLeaves::ranges(fmm->tree()),
                        DeviceLeaves::precision_for(fmm->tree(), precision), fmm->tree().threads(), nullptr,
                        fmm->tree().receivers().stations(0, fmm->tree().receivers().tiles())),
        fmm_(std::move(fmm)),
        leaves_(fmm_->tree()),
        degrees_(fmm_->tree().order() + fmm_->added()),
        expansions_(stream_, fmm_->tree(), 0) {
    bring_clusters();
    decide_groups_at_once(cost);
  }

 private:
  /// The lists, on the device, of the clusters and tiles for a batch of groups.
  struct Listed {
    std::size_t first = 0, last = 0;  // range of groups
    std::vector<std::size_t> levels;  // first box of each level, and the end
    DeviceTileSum::Lists near;
  };

  std::size_t groups_at_once() const override { return groups_at_once_; }

  void bring_clusters() {
    const auto nodes = fmm_->tree().nodes();
    std::vector<DevicePlace> places(std::max<std::size_t>(1, nodes.size()));
    std::vector<std::uint32_t> numbers(places.size());
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      std::copy_n(nodes[c].centre, 3, places[c].centre);
      places[c].scale = nodes[c].scale;
      numbers[c] = nodes[c].expanded() ? static_cast<std::uint32_t>(nodes[c].expansion) : 0;
    }
    clusters_ = Buffer(stream_, places);
    expansion_ = Buffer(stream_, numbers);
  }

  /// Sets groups_at_once_: so few that Ctrl-C need not wait for long, and that they fit in memory. Decided
  /// once, so that all sums are divided alike and can use the lists of the sum before.
  void decide_groups_at_once(const FmmCost& cost) {
    const auto groups = static_cast<double>(std::max<std::size_t>(1, receivers_->groups()));
    const std::size_t width = kernel_sets[set_].size();
    const double bytes =
        bytes_of_group(degrees_, width) + bytes_of_near(2 * near_tiles(*fmm_, cost, sources_.tiles()), width);
    const double operations = device_tile * cost.operations / groups + 1,
                 room = 0.5 * static_cast<double>(device_memory(stream_.device()).free);
    groups_at_once_ = static_cast<std::size_t>(
        std::max(1.0, std::min({operations_at_once(stream_.device()) / operations, room / bytes,
                                static_cast<double>(most_groups_at_once), groups})));
  }

  /// Makes the lists of the groups first .. last − 1, unless they are there already.
  void list(std::size_t first, std::size_t last, Progress& progress) {
    if (first == listed_.first && last == listed_.last) return;
    listed_ = {};  // marks the lists as absent until these are complete
    const auto served = fmm_->served(first, last, progress);
    const auto boxes = list_boxes(served, first, last);
    list_clusters(served, boxes, progress);
    listed_.near = leaves_.deal(sources_, last - first, chunks_of_pairs, threads_, [&](std::size_t g) {
      return std::span<const std::uint32_t>(served[leaf_cells_[g]].near);
    });
    listed_.first = first;
    listed_.last = last;
  }

  /// Numbers the boxes that contain one of the groups, level by level; returns the cell of each.
  std::vector<std::uint32_t> list_boxes(const std::vector<Fmm::Served>& served, std::size_t first,
                                        std::size_t last) {
    const auto& cells = fmm_->cells();
    std::vector<std::uint32_t> number(cells.size(), no_box), parent(cells.size(), no_box), cell_of, leaf_box;
    std::vector<DeviceBox> boxes;
    leaf_cells_.assign(last - first, 0);
    leaf_box.assign(last - first, 0);
    std::uint64_t met = 0;
    for (std::uint32_t c = 0; c < cells.size(); ++c) {
      const auto& cell = cells[c];
      if (cell.first >= last || cell.last <= first) continue;
      if (boxes.empty() || cells[cell_of.back()].level != cell.level) listed_.levels.push_back(boxes.size());
      number[c] = static_cast<std::uint32_t>(boxes.size());
      const std::uint32_t above = parent[c];
      DeviceBox box{place_of(cell.place), met, met + served[c].local.size(), above, -1, -1};
      if (above != no_box) box.parent_degree = boxes[above].degree;
      box.degree = box.parent_degree;
      for (const auto& s : served[c].local) box.degree = std::max(box.degree, s.order + fmm_->added());
      met = box.last;
      for (std::uint32_t i = 0; i < cell.children; ++i) parent[cell.child + i] = number[c];
      if (cell.leaf()) {
        leaf_cells_[cell.first - first] = c;
        leaf_box[cell.first - first] = number[c];
      }
      boxes.push_back(box);
      cell_of.push_back(c);
    }
    listed_.levels.push_back(boxes.size());
    enlarge(stream_, boxes_, boxes.size());
    boxes_.upload(stream_, boxes);
    box_count_ = boxes.size();
    enlarge(stream_, box_of_, leaf_box.size());
    box_of_.upload(stream_, leaf_box);
    starts_.resize(boxes.size() + 1);
    for (std::size_t b = 0; b < boxes.size(); ++b) starts_[b] = boxes[b].first;
    starts_.back() = met;
    return cell_of;
  }

  /// Uploads the clusters of the boxes' lists, and their expansions.
  void list_clusters(const std::vector<Fmm::Served>& served, const std::vector<std::uint32_t>& cell_of,
                     Progress& progress) {
    std::vector<std::uint8_t> wanted(fmm_->tree().clusters());
    const auto met = std::make_unique_for_overwrite<TranslatedCluster[]>(starts_.back());
    for_each((cell_of.size() + 63) / 64, threads_, [&](std::size_t chunk) {
      for (std::size_t b = chunk * 64; b < std::min((chunk + 1) * 64, cell_of.size()); ++b) {
        auto* to = met.get() + starts_[b];
        for (const auto& s : served[cell_of[b]].local) {
          *to++ = {s.cluster, s.order};
          std::atomic_ref(wanted[s.cluster]).store(1, std::memory_order_relaxed);
        }
      }
    });
    expansions_.bring(wanted, progress);
    enlarge(stream_, met_, std::max<std::size_t>(1, starts_.back()));
    met_.upload(stream_, {met.get(), starts_.back()});
  }

  template <int Most>
  void translate() {
    for_each_group(stream_, box_count_,
                   Translate<Most>{boxes_.view(), clusters_.view(), expansion_.view(), met_.view(),
                                   expansions_.view(), fmm_->tree().order(), fmm_->added(), local_.view()});
  }

  /// Computes the local expansions of all boxes listed.
  void expand() {
    enlarge(stream_, local_, box_count_ * static_cast<std::size_t>(harmonic_count(degrees_)));
    const int order = fmm_->tree().order();
    if (order <= 12) translate<12>();
    else if (order <= 16) translate<16>();
    else translate<most_order>();
    for (std::size_t l = 1; l + 1 < listed_.levels.size(); ++l)
      for_each_group(stream_, listed_.levels[l + 1] - listed_.levels[l],
                     ShiftDown{boxes_.view(), listed_.levels[l], degrees_, local_.view()});
  }

  void run(std::size_t first, std::size_t last, View<double> sums, Progress& progress) override {
    if (fmm_->tree().nodes().empty()) return sum_.run(first, last, {}, sums);
    list(first, last, progress);
    expand();
    sum_.run(first, last, listed_.near, sums);
    EvaluateLocal evaluate{receivers_->view(first, last),
                           boxes_.view(),
                           box_of_.view(),
                           local_.view(),
                           degrees_,
                           fmm_->tree().wants_tensor(),
                           sums,
                           (last - first) * device_tile,
                           0,
                           {}};
    for (const auto channel : kernel_sets[set_].list())
      evaluate.channel[evaluate.channels++] = static_cast<int>(channel);
    for_each_group(stream_, last - first, evaluate);
  }

  std::shared_ptr<Fmm> fmm_;
  DeviceLeaves leaves_;
  int degrees_;
  DeviceExpansions expansions_;
  Buffer<DevicePlace> clusters_;
  Buffer<std::uint32_t> expansion_;  // [clusters] index of the cluster's expansion
  std::size_t groups_at_once_ = 1;
  Listed listed_;
  std::vector<std::uint32_t> leaf_cells_;  // cell of each group listed
  std::vector<std::uint64_t> starts_;      // offset of each box's clusters in the list
  std::size_t box_count_ = 0;
  Buffer<DeviceBox> boxes_;
  Buffer<std::uint32_t> box_of_;
  Buffer<TranslatedCluster> met_;
  Buffer<ComplexNumber> local_;
};

}  // namespace

std::unique_ptr<Summation> fmm_sum_on_device(Device device, std::shared_ptr<Fmm> fmm, Precision precision,
                                             Progress& progress) {
  const auto cost = fmm->cost(progress);
  return std::make_unique<FmmOnDevice>(device, std::move(fmm), precision, cost);
}

FmmDeviceMemory fmm_memory_on_device(const Fmm& fmm, const FmmCost& cost) {
  const auto& tree = fmm.tree();
  const std::size_t groups = (tree.stations().size() + device_tile - 1) / device_tile,
                    width = kernel_sets[smallest_kernel_set(tree.channels())].size();
  std::size_t tiles = 0;
  for (const auto& range : DeviceLeaves::ranges(tree)) tiles += (range.count + device_tile - 1) / device_tile;
  const double lying = DeviceSources::bytes(tree.prisms().size()) + DeviceExpansions::bytes(tree) +
                       static_cast<double>(tree.clusters() * (sizeof(DevicePlace) + sizeof(std::uint32_t)) +
                                           groups * (device_tile * 3 * sizeof(double) + sizeof(StationBox))),
               near = near_tiles(fmm, cost, tiles);
  const double of_group = bytes_of_group(tree.order() + fmm.added(), width) + bytes_of_near(near, width);
  // Bytes of both copies of a group's list: as found, and as sent to the device.
  constexpr double list_of_group = 400 * sizeof(Fmm::Serving);
  return {lying + static_cast<double>(std::min(groups, groups_per_part)) * of_group,
          static_cast<double>(std::min(groups, most_groups_at_once)) *
              (list_of_group + 2 * sizeof(std::uint32_t) * near +
               static_cast<double>(width * device_tile * sizeof(double)))};
}

}  // namespace terrane::gravity
