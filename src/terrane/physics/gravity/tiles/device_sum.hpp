// Sums over tiles of prisms at groups of stations on a device: the common part of the direct sum and the
// tree.
#pragma once

#include <memory>
#include <optional>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tiles/device_kernels.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

/// Groups of device_tile stations in one part of a sum.
inline constexpr std::size_t groups_per_part = 32;
/// Number of tiles in a piece: the tiles near a group of stations are cut into pieces, and each piece is
/// summed by one group of threads.
inline constexpr std::uint64_t tiles_per_piece = 4;

/// Most multiply-adds per launch of a kernel. A launch takes half a second at most, so that Ctrl-C acts soon.
double operations_at_once(Device device);

/// Consecutive prisms in some order.
struct PrismRange {
  std::uint32_t first, count;
};

/// The prisms on the device, cut into tiles of at most device_tile.
class DeviceSources {
 public:
  /// order: a permutation of the prisms; ranges: of this order, each cut into tiles by itself; precision: in
  /// which pairs are computed. The views must outlive this object. Throws MemoryError.
  DeviceSources(Stream& stream, const Prisms& prisms, const Turn& turn, const Switching& switching,
                std::vector<std::uint32_t> order, const std::vector<PrismRange>& ranges, Precision precision,
                int threads);

  /// Real: float in single precision, else double.
  template <class Real>
  DeviceEarth<Real> view() const;
  Precision precision() const { return precision_; }
  std::size_t tiles() const { return tiles_.size(); }
  /// Tiles of a range: first_tile(r) .. first_tile(r + 1) − 1.
  std::uint32_t first_tile(std::size_t range) const { return first_tile_[range]; }
  /// The prism at an index of the device's order, in the axes of the kernels.
  Prism prism(std::uint32_t place) const;
  double density(std::uint32_t place) const { return density_[order_[place]]; }
  const Switching& switching() const { return switching_; }

  /// Bytes on the device for this number of prisms.
  static double bytes(std::size_t prisms);

 private:
  /// Data that the multipoles need, in the precision of pairs.
  template <class Real>
  struct Prepared {
    Buffer<Source<Real>> sources;
    Buffer<TileCoefficients<Real>> shapes;
    std::uint32_t common_shape = 0;
    TileCoefficients<Real> common{};
  };
  /// One entry for each different shape of prisms, among the tiles whose prisms all have one shape.
  struct Shapes {
    std::vector<MultipoleCoefficients> coefficients;
    std::vector<double> length;  // unit of length of the tiles of each shape
  };
  void upload_columns(Stream& stream, int threads);
  std::vector<DeviceTile> cut_into_tiles(const std::vector<PrismRange>& ranges);
  void measure(DeviceTile& tile) const;
  Shapes find_shapes(std::vector<DeviceTile>& tiles) const;
  template <class Real>
  void prepare(Stream& stream, std::span<const MultipoleCoefficients> shapes, std::span<const double> length,
               std::uint32_t common_shape);

  Switching switching_;
  Precision precision_;
  std::span<const double> low_[3], high_[3], density_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> first_tile_;
  Buffer<double> device_low_[3], device_high_[3], device_density_;
  Buffer<DeviceTile> tiles_;
  Prepared<double> double_;  // only one of double_ and float_ is filled
  Prepared<float> float_;
  Buffer<MultipoleTables> tables_;
};

/// The stations on the device, in groups.
class DeviceReceivers {
 public:
  /// order: result of compact_order() for tiles of device_tile, if known already; empty: computed here.
  DeviceReceivers(Stream& stream, const Stations& stations, const Turn& turn, int threads,
                  std::span<const std::uint32_t> order = {});

  std::size_t groups() const { return boxes_.size(); }
  /// Groups first .. last − 1.
  DeviceStations view(std::size_t first, std::size_t last) const;
  /// The caller's index of the station at an index of the device's order.
  std::uint32_t station(std::size_t place) const { return order_[place]; }
  /// Stations of groups first .. last − 1, as the caller numbers them.
  std::span<const std::uint32_t> stations(std::size_t first, std::size_t last) const;
  /// Bounds of a group, m.
  const Bounds& bounds(std::size_t group) const { return bounds_[group]; }
  void at(std::size_t place, double (&position)[3]) const;

 private:
  std::span<const double> at_[3];
  std::vector<std::uint32_t> order_;
  std::vector<Bounds> bounds_;
  Buffer<double> device_at_[3];
  Buffer<StationBox> boxes_;
};

/// Sums tiles at groups of stations.
class DeviceTileSum {
 public:
  /// set: index in kernel_sets.
  DeviceTileSum(Stream& stream, const DeviceSources& sources, const DeviceReceivers& receivers,
                const Turn& turn, std::size_t set);

  /// The tiles that each group of stations interacts with.
  struct Lists {
    std::uint32_t chunks = 1;
    /// Offsets of the groups in `tile`; empty: each group interacts with all tiles.
    std::vector<std::uint64_t> start;
    std::vector<std::uint32_t> tile;
  };
  /// Bytes of device memory that run() needs per group of stations if few tiles are near.
  std::size_t bytes_per_group(std::uint32_t chunks) const;
  /// Allocates the memory that run() needs for this number of groups if few tiles are near. run() also does
  /// this; but replacing a buffer by a larger one waits for kernels that are already running.
  void make_room(std::size_t groups, const Lists& lists);
  /// Frees all memory that run() has allocated. No kernel may be running.
  void release();

  /// Computes the sums of groups first .. last − 1 into sums [channels of the set][stations of these groups,
  /// padded], on the device.
  void run(std::size_t first, std::size_t last, const Lists& lists, View<double> sums);
  /// The pairs that the last run() left to the host, sorted by station and prism.
  std::vector<HostPair> take_host_pairs() { return std::move(pairs_); }
  /// Adds the fields of these pairs to values [channels of the set][row]. A row is the stations of the groups
  /// from `first` on, in the device's order. May run at the same time as the next run().
  void add_host_pairs(std::size_t first, const std::vector<HostPair>& pairs, std::span<double> values,
                      std::size_t row, std::vector<Contact>& contacts, int threads) const;

 private:
  template <class Real>
  void run_in(const DeviceStations& stations, const TileLists& all, View<double> sums);
  template <class Real>
  void list_near(const DeviceEarth<Real>& earth, const DeviceStations& stations, const TileLists& all);

  Stream& stream_;
  Stream near_stream_;
  const DeviceSources& sources_;
  const DeviceReceivers& receivers_;
  Turn turn_;
  std::size_t set_;
  Buffer<double> far_sums_, near_sums_;
  Buffer<std::uint64_t> all_start_, near_start_, first_piece_, found_;
  Buffer<std::uint32_t> all_list_, near_list_;
  Buffer<TilePieces::Piece> pieces_;
  std::size_t piece_count_ = 0;
  Buffer<HostPair> host_pairs_;
  std::vector<HostPair> pairs_;
};

/// The common part of all sums over tiles on a device: prisms and stations are stored there, and parts of
/// 1024 stations are summed, as many at once as fit. While the device computes a batch of parts, another
/// thread passes the sums of the previous batch to the caller.
class DeviceSummation : public Summation {
 public:
  std::size_t parts() const final;
  Part part(std::size_t index) const final;
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) final;
  void sum_ranges(std::span<const Range> ranges, const Take& take, Progress& progress) final;

  /// Seconds that the last sum() took on the device: from the first launch to the last result there, without
  /// the transfer to the host.
  double device_seconds() const noexcept { return device_seconds_; }

 protected:
  /// same_stations: a sum with the same stations, turn and device, whose copy of the stations is used;
  /// station_order: see `order` of DeviceReceivers
  DeviceSummation(Device device, const Prisms& prisms, const Stations& stations, ChannelSet channels,
                  const Turn& turn, const Switching& switching, std::vector<std::uint32_t> order,
                  const std::vector<PrismRange>& ranges, Precision precision, int threads,
                  const DeviceSummation* same_stations = nullptr,
                  std::span<const std::uint32_t> station_order = {});

  /// Number of groups of stations to compute at once, if memory allows.
  virtual std::size_t groups_at_once() const = 0;
  /// Computes the sums of groups first .. last − 1, as DeviceTileSum::run does.
  virtual void run(std::size_t first, std::size_t last, View<double> sums, Progress& progress) = 0;

  ChannelSet channels_;
  int threads_;
  Turn turn_;
  std::size_t set_;
  Stream stream_;
  DeviceSources sources_;
  std::shared_ptr<const DeviceReceivers> receivers_;
  DeviceTileSum sum_;

 private:
  /// Results of the device for the parts first .. last − 1, and the pairs that it left to the host.
  struct Batch {
    Batch(std::size_t from, std::size_t to) : first(from), last(to) {}
    std::size_t first, last;
    std::vector<double> values;  // [channels of the set][stations, padded]
    std::vector<HostPair> pairs;
  };
  std::size_t last_group(std::size_t part) const;
  void compute(Batch& batch, Progress& progress);
  void hand_over(Batch& batch, const Take& take, int threads) const;

  Buffer<double> sums_;
  double device_seconds_ = 0;
};

}  // namespace terrane::gravity
