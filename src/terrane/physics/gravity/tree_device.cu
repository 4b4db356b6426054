// Floor: FP64 instructions, 13 (p + 3)² for an expansion of order p at a station; its tables (22 kB of shared
// memory at the highest order) are made once for 32 stations.
#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/for_each.hpp"
#include "terrane/parallel/launch.hpp"
#include "terrane/physics/gravity/device_sum.hpp"
#include "terrane/physics/gravity/formula_harmonics.hpp"
#include "terrane/physics/gravity/tree.hpp"
#include "terrane/physics/gravity/tree_device.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_groups = 1 << 14;  // whose lists are held at once
constexpr std::uint32_t slices = 16;          // of the expansions that a group meets, so that a GPU is filled
constexpr std::uint32_t near_chunks = 8;

// ---- from Cartesian to solid harmonics ----

/// ∂x^a ∂y^b = Σ_j k(a, b, j) ∂₊^j ∂₋^(a+b−j): the real number and the power of −i that it is to be taken
/// times.
class CartesianToHarmonic {
 public:
  CartesianToHarmonic() {
    for (int n = 0; n <= most_order; ++n)
      for (int a = 0; a <= n; ++a) {
        // (∂₊ + ∂₋)^a (∂₊ − ∂₋)^b / 2^n
        std::array<double, most_order + 2> row{};
        row[0] = std::ldexp(1.0, -n);
        for (int factor = 0; factor < n; ++factor) {
          const double sign = factor < a ? 1 : -1;
          for (int j = factor + 1; j >= 0; --j)
            row[static_cast<std::size_t>(j)] = (j > 0 ? row[static_cast<std::size_t>(j - 1)] : 0.0) +
                                               sign * row[static_cast<std::size_t>(j)];
        }
        for (int j = 0; j <= n; ++j) k_[n][a][j] = row[static_cast<std::size_t>(j)];
      }
  }

  /// cartesian: coefficient_count(order), in units of `scale`; to: harmonic_count(order), in units of one.
  void convert(const double* cartesian, int order, double scale, ComplexNumber* to) const {
    double power = 1;
    for (int n = 0; n <= order; ++n) {
      for (int m = 0; m <= n; ++m) to[harmonic_place(n, m)] = {0, 0};
      for (int c = 0; c <= std::min(n, 1); ++c) {
        const int degree = n - c;  // in ∂x and ∂y
        const double* from = cartesian + n * n + (c == 1 ? n + 1 : 0);
        for (int a = 0; a <= degree; ++a) {
          const int b = degree - a;
          for (int j = (degree + 1) / 2; j <= degree; ++j) {
            const int m = 2 * j - degree;
            // ∂₊^j ∂₋^(degree−j) = (−∂z²)^(degree−j) ∂₊^m
            const double value =
                from[a] * k_[degree][a][j] * ((degree - j) % 2 ? -1 : 1) * (m > 0 ? 2 : 1) * power;
            auto& at = to[harmonic_place(n, m)];
            switch (b % 4) {  // times (−i)^b
              case 0:
                at.re += value;
                break;
              case 1:
                at.im -= value;
                break;
              case 2:
                at.re -= value;
                break;
              default:
                at.im += value;
            }
          }
        }
      }
      to[harmonic_place(n, 0)].im = 0;
      power *= scale;
    }
  }

 private:
  double k_[most_order + 1][most_order + 1][most_order + 1] = {};
};

// ---- on the device ----

struct DeviceCluster {
  double centre[3];         ///< m
  std::uint32_t expansion;  ///< its number
};

struct FarCluster {
  std::uint32_t cluster, order;
};

/// Expansions at a group of stations; a group of threads takes every `slices`th that they meet. Lengths in
/// units of `unit`.
struct ExpansionField {
  struct Shared {
    GatheredHarmonics table[gathered_count(most_order)];
    double centre[3];
    int order;
  };
  struct Thread {
    double x, y, z;
    HarmonicSums sum;
  };
  static constexpr int groups_at_once = 8;

  DeviceStations stations;
  View<const DeviceCluster> clusters;
  View<const ComplexNumber> coefficients;  ///< [expansions][harmonic_count(order)]
  View<const std::uint64_t> start;         ///< [groups of stations + 1]
  View<const FarCluster> list;
  View<double> sums;  ///< [slices][channel_count][stations]
  std::uint32_t groups;
  int order;
  double inverse_unit;
  bool tensor;

  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t group, int t) const {
    const std::size_t s = group % groups * device_tile + static_cast<std::size_t>(t);
    thread.x = stations.at[0][s];
    thread.y = stations.at[1][s];
    thread.z = stations.at[2][s];
    thread.sum = {};
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    const std::size_t g = group % groups, count = start[g + 1] - start[g], slice = group / groups;
    return (count + slices - 1 - slice) / slices;
  }
  TERRANE_FN void load(Shared& shared, std::size_t group, std::size_t step, int t) const {
    const FarCluster far = list[start[group % groups] + group / groups + step * slices];
    const DeviceCluster& cluster = clusters[far.cluster];
    const int p = static_cast<int>(far.order);
    if (t == 0) {
      for (int a = 0; a < 3; ++a) shared.centre[a] = cluster.centre[a];
      shared.order = p;
    }
    const ComplexNumber* const m =
        coefficients.data + cluster.expansion * static_cast<std::size_t>(harmonic_count(order));
    const auto at = [&](int n, int k) { return k <= n ? m[harmonic_place(n, k)] : ComplexNumber{0, 0}; };
    for (int n = 0; n <= p; ++n)
      if (t < n + 3) shared.table[gathered_place(n, t)] = gathered(at, n, t);
  }
  TERRANE_FN void work(const Shared& shared, Thread& thread, std::size_t, std::size_t, int) const {
    const double x = (thread.x - shared.centre[0]) * inverse_unit,
                 y = (thread.y - shared.centre[1]) * inverse_unit,
                 z = (thread.z - shared.centre[2]) * inverse_unit;
    const double inverse = inverse_square_root(x * x + (y * y + z * z)), inverse2 = inverse * inverse;
    if (tensor) add_harmonics<true>(shared.table, shared.order, x, y, z, inverse2, inverse, thread.sum);
    else add_harmonics<false>(shared.table, shared.order, x, y, z, inverse2, inverse, thread.sum);
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    const std::size_t row = std::size_t{groups} * device_tile;
    double* const to = sums.data + group / groups * channel_count * row + group % groups * device_tile +
                       static_cast<std::size_t>(t);
    const auto& s = thread.sum;
    const double u2 = inverse_unit * inverse_unit, u3 = u2 * inverse_unit;
    to[0] = inverse_unit * s.v;
    to[row] = u2 * s.x;
    to[2 * row] = u2 * s.y;
    to[3 * row] = u2 * s.z;
    to[4 * row] = 0.5 * u3 * (s.difference - s.zz);
    to[5 * row] = -0.5 * u3 * (s.difference + s.zz);
    to[6 * row] = u3 * s.zz;
    to[7 * row] = u3 * s.xy;
    to[8 * row] = u3 * s.xz;
    to[9 * row] = u3 * s.yz;
  }
};

/// Adds the expansions, slice by slice, to the sums of the near pairs.
struct AddExpansions {
  View<const double> far;  ///< [slices][channel_count][stations]
  View<double> sums;       ///< [channels of the set][stations]
  std::size_t row;
  int channel[channel_count];  ///< of the set
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t from = static_cast<std::size_t>(channel[i / row]) * row + i % row;
    double sum = 0;
    for (std::uint32_t s = 0; s < slices; ++s) sum += far[s * channel_count * row + from];
    sums[i] += sum;
  }
};

/// The leaves, one after the other.
std::vector<PrismRange> leaves(const Tree& tree) {
  std::vector<PrismRange> ranges;
  for (std::size_t c = 0; c < tree.clusters(); ++c)
    if (tree.is_leaf(c)) ranges.push_back({tree.prisms_of(c).first, tree.prisms_of(c).second});
  return ranges;
}

class TreeOnDevice final : public DeviceSummation {
 public:
  /// The tree is prepared.
  TreeOnDevice(Device device, std::shared_ptr<Tree> tree, Precision precision, Progress& progress)
      : DeviceSummation(device, tree->prisms(), tree->stations(), tree->channels(),
                        {{0, 1, 2}, tree->channels()}, Switching::for_accuracy(tree->pair_accuracy()),
                        tree->prism_order(), leaves(*tree), precision, tree->threads()),
        tree_(std::move(tree)),
        range_of_(tree_->clusters()) {
    std::uint32_t ranges = 0;
    for (std::size_t c = 0; c < tree_->clusters(); ++c)
      if (tree_->is_leaf(c)) range_of_[c] = ranges++;
    bring_expansions();
    list(0, groups_at_once(), progress);
  }

 private:
  std::size_t groups_at_once() const override { return std::min(most_groups, receivers_->groups()); }

  void bring_expansions() {
    std::vector<DeviceCluster> clusters(tree_->clusters());
    std::uint32_t count = 0;
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      const auto e = tree_->expansion(c);
      std::copy_n(e.centre, 3, clusters[c].centre);
      if (e.coefficients) clusters[c].expansion = count++;
      unit_ = std::max(unit_, e.scale);
    }
    unit_ = unit_ > 0 ? std::ldexp(1.0, std::ilogb(unit_)) : 1.0;
    const auto terms = static_cast<std::size_t>(harmonic_count(tree_->order()));
    std::vector<ComplexNumber> coefficients(std::max<std::size_t>(1, count * terms));
    const auto convert = std::make_unique<CartesianToHarmonic>();
    for_each((clusters.size() + 63) / 64, tree_->threads(), [&](std::size_t chunk) {
      for (std::size_t c = chunk * 64; c < std::min((chunk + 1) * 64, clusters.size()); ++c)
        if (const auto e = tree_->expansion(c); e.coefficients)
          convert->convert(e.coefficients, tree_->order(), e.scale / unit_,
                           coefficients.data() + clusters[c].expansion * terms);
    });
    clusters_ = Buffer<DeviceCluster>(stream_.device(), clusters.size());
    clusters_.upload(stream_, clusters);
    coefficients_ = Buffer<ComplexNumber>(stream_.device(), coefficients.size());
    coefficients_.upload(stream_, coefficients);
  }

  /// What the groups first .. last − 1 meet, on the device, unless it is there already.
  void list(std::size_t first, std::size_t last, Progress& progress) {
    if (first == listed_[0] && last == listed_[1]) return;
    listed_[1] = listed_[0];  // nothing, until it is done
    const std::size_t groups = last - first;
    std::vector<Tree::Meetings> met(groups);
    constexpr std::size_t chunk = 4;
    for_each((groups + chunk - 1) / chunk, tree_->threads(), [&](std::size_t c) {
      if (progress.cancelled()) throw Cancelled();
      for (std::size_t g = c * chunk; g < std::min((c + 1) * chunk, groups); ++g)
        met[g] = tree_->meetings(receivers_->bounds(first + g));
    });
    std::vector<std::uint64_t> start(groups + 1);
    for (std::size_t g = 0; g < groups; ++g) start[g + 1] = start[g] + met[g].far.size();
    std::vector<FarCluster> far(std::max<std::size_t>(1, start.back()));
    for_each((groups + 63) / 64, tree_->threads(), [&](std::size_t c) {
      for (std::size_t g = c * 64; g < std::min((c + 1) * 64, groups); ++g)
        for (std::size_t i = 0; i < met[g].far.size(); ++i)
          far[start[g] + i] = {met[g].far[i].cluster, met[g].far[i].order};
    });
    // Tiles of leaves, dealt out in chunks of equal length.
    near_ = {near_chunks, {}, {}};
    std::vector<std::vector<std::uint32_t>> tiles(groups);
    for (std::size_t g = 0; g < groups; ++g)
      for (const auto leaf : met[g].near)
        for (std::uint32_t t = sources_.first_tile(range_of_[leaf]);
             t < sources_.first_tile(range_of_[leaf] + 1); ++t)
          tiles[g].push_back(t);
    for (std::uint32_t c = 0; c < near_chunks; ++c)
      for (std::size_t g = 0; g < groups; ++g) {
        near_.start.push_back(near_.tile.size());
        const std::size_t count = tiles[g].size();
        near_.tile.insert(near_.tile.end(),
                          tiles[g].begin() + static_cast<std::ptrdiff_t>(count * c / near_chunks),
                          tiles[g].begin() + static_cast<std::ptrdiff_t>(count * (c + 1) / near_chunks));
      }
    near_.start.push_back(near_.tile.size());
    enlarge(stream_, far_start_, start.size());
    far_start_.upload(stream_, start);
    enlarge(stream_, far_list_, far.size());
    far_list_.upload(stream_, far);
    listed_[0] = first;
    listed_[1] = last;
  }

  void run(std::size_t first, std::size_t last, View<double> sums, Progress& progress) override {
    const std::size_t groups = last - first, row = groups * device_tile;
    list(first, last, progress);
    enlarge(stream_, far_sums_, slices * channel_count * row);
    ExpansionField field{};
    field.stations = receivers_->view(first, last);
    field.clusters = clusters_.view();
    field.coefficients = coefficients_.view();
    field.start = far_start_.view();
    field.list = far_list_.view();
    field.sums = far_sums_.view();
    field.groups = static_cast<std::uint32_t>(groups);
    field.order = tree_->order();
    field.inverse_unit = 1 / unit_;
    field.tensor = (channels_.bits() & tensor_channels.bits()) != 0;
    for_each_group(stream_, groups * slices, field);
    sum_.run(first, last, near_, sums);
    AddExpansions add{far_sums_.view(), sums, row, {}};
    int c = 0;
    for (const auto channel : kernel_sets[set_].list()) add.channel[c++] = static_cast<int>(channel);
    terrane::for_each(stream_, sums.size, add);
  }

  std::shared_ptr<Tree> tree_;
  std::vector<std::uint32_t> range_of_;  // of each leaf, its number among ranges
  Buffer<DeviceCluster> clusters_;
  Buffer<ComplexNumber> coefficients_;
  double unit_ = 0;
  std::size_t listed_[2] = {};
  Buffer<std::uint64_t> far_start_;
  Buffer<FarCluster> far_list_;
  DeviceTileSum::Lists near_;
  Buffer<double> far_sums_;
};

}  // namespace

std::unique_ptr<Summation> tree_sum_on_device(Device device, std::shared_ptr<Tree> tree, Precision precision,
                                              Progress& progress) {
  tree->prepare(progress);
  return std::make_unique<TreeOnDevice>(device, std::move(tree), precision, progress);
}

}  // namespace terrane::gravity
