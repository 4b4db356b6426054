// The kernel is limited by FP64 instructions: 13 (p + 3)² for an expansion of order p at a station; the
// tables of an expansion (22 kB of shared memory at the highest order) are computed once for 32 stations.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/harmonics.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"
#include "terrane/physics/gravity/tree/device_expansions.hpp"
#include "terrane/physics/gravity/tree/device_leaves.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_groups_listed = 1 << 14;  // most groups of stations whose lists are in memory
constexpr std::uint32_t slices = 16;  // pieces of a group's list of expansions, enough to occupy a GPU
constexpr std::uint32_t near_chunks = 8;

// ---- on the device ----

struct DeviceCluster {
  double centre[3];         ///< m
  std::uint32_t expansion;  ///< index of the cluster's expansion, if it has one
};

struct FarCluster {
  std::uint32_t cluster, order;
};

/// Evaluates expansions at groups of stations. A group of threads computes one group of stations, and one
/// slice of its list: every `slices`-th expansion. The coefficients' unit of length is 1 / inverse_unit m.
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
  View<const std::uint64_t> start;         ///< [groups of stations + 1] offsets in list
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
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
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

/// Adds the fields of the expansions, slice by slice, to the sums of the near pairs.
struct AddExpansions {
  View<const double> far;  ///< [slices][channel_count][stations]
  View<double> sums;       ///< [channels of the set][stations]
  std::size_t row;
  int channel[channel_count];  ///< channel of each row of sums
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t from = static_cast<std::size_t>(channel[i / row]) * row + i % row;
    double sum = 0;
    for (std::uint32_t s = 0; s < slices; ++s) sum += far[s * channel_count * row + from];
    sums[i] += sum;
  }
};

/// The expansions and tiles with which a group of stations interacts.
struct Met {
  std::size_t far = 0;         ///< number of expansions
  double harmonics = 0;        ///< Σ (p + 3)² of the expansions of order p
  std::size_t near_tiles = 0;  ///< number of tiles of prisms

  double operations() const {
    constexpr double of_pair =
        400;  // operations per pair: more than for a multipole of order 2, fewer than for the stable form
    return device_tile * (13 * harmonics + device_tile * of_pair * static_cast<double>(near_tiles));
  }
  /// Bytes of device memory while the group's sums are computed. Any tile may be cut into pieces; about one
  /// tile is expected to have pairs for the host.
  double device_bytes(std::size_t width) const {
    const double values = static_cast<double>(width * device_tile * sizeof(double)),
                 tiles = static_cast<double>(near_tiles);
    return slices * channel_count * device_tile * sizeof(double) + (near_chunks + 1) * values +
           static_cast<double>(far * sizeof(FarCluster)) + 2 * sizeof(std::uint32_t) * tiles +
           (tiles / static_cast<double>(tiles_per_piece) + 1) * (values + sizeof(TilePieces::Piece)) +
           (2 * near_chunks + 2) * sizeof(std::uint64_t) + device_tile * device_tile * sizeof(HostPair);
  }
  /// Bytes of host memory: the lists, twice, and the sums.
  double host_bytes(std::size_t width) const {
    return static_cast<double>(2 * far * sizeof(FarCluster) + 2 * near_tiles * sizeof(std::uint32_t) +
                               width * device_tile * sizeof(double));
  }
};

std::size_t count_tiles(const std::vector<PrismRange>& ranges) {
  std::size_t tiles = 0;
  for (const auto& range : ranges) tiles += (range.count + device_tile - 1) / device_tile;
  return tiles;
}

class TreeOnDevice final : public DeviceSummation {
 public:
  /// tree: must be prepared
  TreeOnDevice(Device device, std::shared_ptr<Tree> tree, Precision precision)
      : DeviceSummation(device, tree->prisms(), tree->stations(), tree->channels(),
                        {{0, 1, 2}, tree->channels()}, Switching::for_accuracy(tree->pair_accuracy()),
                        tree->prism_order(), DeviceLeaves::ranges(*tree),
                        DeviceLeaves::precision_for(*tree, precision), tree->threads()),
        tree_(std::move(tree)),
        leaves_(*tree_) {
    bring_clusters();
    decide_groups_at_once();
  }

 private:
  std::size_t groups_at_once() const override { return groups_at_once_; }

  void bring_clusters() {
    std::vector<DeviceCluster> clusters(tree_->clusters());
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      const auto& node = tree_->nodes()[c];
      std::copy_n(node.centre, 3, clusters[c].centre);
      clusters[c].expansion = node.expanded() ? static_cast<std::uint32_t>(node.expansion) : 0;
      unit_ = std::max(unit_, node.scale);
    }
    unit_ = unit_ > 0 ? std::ldexp(1.0, std::ilogb(unit_)) : 1.0;
    clusters_ = Buffer(stream_, clusters);
    expansions_.emplace(stream_, *tree_, unit_);
  }

  /// Sets groups_at_once_ from a sample of the groups: so few that Ctrl-C need not wait for long, and that
  /// they fit in memory. Done once, so that all sums are divided alike and can use the lists of the sum
  /// before.
  void decide_groups_at_once() {
    const std::size_t groups = receivers_->groups(), sample = std::min<std::size_t>(groups, 64);
    std::vector<Met> met(sample);
    for_each(sample, threads_, [&](std::size_t i) {
      const auto found = tree_->meetings(receivers_->bounds(i * groups / sample));
      met[i].far = found.far.size();
      for (const auto& far : found.far) met[i].harmonics += (far.order + 3.0) * (far.order + 3.0);
      met[i].near_tiles += leaves_.tiles(sources_, found.near);
    });
    double operations = 1, bytes = 1;
    for (const auto& m : met) {
      operations = std::max(operations, m.operations());
      bytes = std::max(bytes, m.device_bytes(kernel_sets[set_].size()));
    }
    const double room = 0.5 * static_cast<double>(device_memory(stream_.device()).free);
    groups_at_once_ = static_cast<std::size_t>(
        std::max(1.0, std::min({operations_at_once(stream_.device()) / operations, room / bytes,
                                static_cast<double>(most_groups_listed), static_cast<double>(groups)})));
  }

  /// Puts the interaction lists of the groups first .. last − 1 on the device, unless they are there already.
  void list(std::size_t first, std::size_t last, Progress& progress) {
    if (first == listed_[0] && last == listed_[1]) return;
    listed_[1] = listed_[0];  // the device has no lists until the new ones are complete
    const std::size_t groups = last - first;
    std::vector<Tree::Meetings> met(groups);
    std::vector<std::uint64_t> start(groups + 1);
    std::vector<std::uint8_t> wanted(tree_->clusters());
    const auto each_group = [&](const auto& work) {
      constexpr std::size_t chunk = 4;
      for_each((groups + chunk - 1) / chunk, threads_, [&](std::size_t c) {
        if (progress.cancelled()) throw Cancelled();
        for (std::size_t g = c * chunk; g < std::min((c + 1) * chunk, groups); ++g) work(g);
      });
    };
    each_group([&](std::size_t g) {
      met[g] = tree_->meetings(receivers_->bounds(first + g));
      start[g + 1] = met[g].far.size();
      for (const auto& far : met[g].far)
        std::atomic_ref(wanted[far.cluster]).store(1, std::memory_order_relaxed);
    });
    expansions_->bring(wanted, progress);
    std::partial_sum(start.begin(), start.end(), start.begin());
    const std::size_t far_count = start.back();
    const auto far = std::make_unique_for_overwrite<FarCluster[]>(far_count);
    each_group([&](std::size_t g) {
      for (std::size_t i = 0; i < met[g].far.size(); ++i)
        far[start[g] + i] = {met[g].far[i].cluster, met[g].far[i].order};
    });
    near_ = leaves_.deal(sources_, groups, near_chunks, threads_,
                         [&](std::size_t g) { return std::span<const std::uint32_t>(met[g].near); });
    enlarge(stream_, far_start_, start.size());
    far_start_.upload(stream_, start);
    enlarge(stream_, far_list_, std::max<std::size_t>(1, far_count));
    far_list_.upload(stream_, {far.get(), far_count});
    listed_[0] = first;
    listed_[1] = last;
  }

  void run(std::size_t first, std::size_t last, View<double> sums, Progress& progress) override {
    const std::size_t groups = last - first, row = groups * device_tile;
    list(first, last, progress);
    enlarge(stream_, far_sums_, slices * channel_count * row);
    sum_.make_room(groups, near_);
    ExpansionField field{};
    field.stations = receivers_->view(first, last);
    field.clusters = clusters_.view();
    field.coefficients = expansions_->view();
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
  DeviceLeaves leaves_;
  Buffer<DeviceCluster> clusters_;
  std::optional<DeviceExpansions> expansions_;
  double unit_ = 0;
  std::size_t groups_at_once_ = 1;
  std::size_t listed_[2] = {};  // range of groups whose lists are on the device
  Buffer<std::uint64_t> far_start_;
  Buffer<FarCluster> far_list_;
  DeviceTileSum::Lists near_;
  Buffer<double> far_sums_;
};

}  // namespace

std::unique_ptr<Summation> tree_sum_on_device(Device device, std::shared_ptr<Tree> tree, Precision precision,
                                              Progress& progress) {
  tree->prepare(progress);
  return std::make_unique<TreeOnDevice>(device, std::move(tree), precision);
}

TreeDeviceMemory tree_memory_on_device(const Tree& tree, const TreeCost& cost) {
  // Ratio of clusters, because a group of stations interacts with more of them than a CPU's tile does.
  constexpr double wider = 1.5;
  const std::size_t prisms = tree.prisms().size(), tiles = count_tiles(DeviceLeaves::ranges(tree)),
                    groups = (tree.stations().size() + device_tile - 1) / device_tile,
                    width = kernel_sets[smallest_kernel_set(tree.channels())].size();
  Met met;
  met.far = static_cast<std::size_t>(wider * cost.most_far);
  met.near_tiles = static_cast<std::size_t>(wider * cost.most_near * static_cast<double>(tiles) /
                                            static_cast<double>(std::max<std::size_t>(1, prisms)));
  const double lying = static_cast<double>(prisms * 7 * sizeof(double) +
                                           tiles * (sizeof(DeviceTile) + sizeof(MultipoleCoefficients)) +
                                           tree.clusters() * sizeof(DeviceCluster) +
                                           groups * (device_tile * 3 * sizeof(double) + sizeof(StationBox))) +
                       DeviceExpansions::bytes(tree);
  const double summing = static_cast<double>(std::min(groups, groups_per_part)) * met.device_bytes(width);
  return {lying + summing, static_cast<double>(std::min(groups, most_groups_listed)) * met.host_bytes(width)};
}

}  // namespace terrane::gravity
