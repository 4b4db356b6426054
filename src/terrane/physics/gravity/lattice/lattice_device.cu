// Each thread computes one entry of the tables of K. The few cells so close that the stable form is not
// accurate enough are computed on the host (near_field.hpp), which has extended precision.
//
// The sum is limited by memory traffic. For an array of N doubles the traffic is, in bytes per layer and
// channel: 8 N to clear the array, 8 N to fill it, 32 N to transform it in two passes at best, 16 N to
// multiply it by the transform of the densities and add it. The densities of a layer need 40 N more. 1e8
// prisms (100 layers of 1000 × 1000) at 1e6 stations, nine channels by FFT, N = 4.0e6: 0.25 TB, 0.06 s at
// 4270 GB/s; and 1.2 GB of densities and cell indices across the bus, 0.03 s at 50 GB/s. Tables of K need
// little: 4e8 entries of 222 instructions take 0.006 s, and a quarter of that if stations are at centres or
// corners.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/math/fused.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/fft/device_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"
#include "terrane/physics/gravity/lattice/lattice_device.hpp"

namespace terrane::gravity {

namespace {

/// Number of table entries that the host computes and sends to the device at once.
constexpr std::size_t near_at_once = 1 << 14;

/// A cell of a layer, and the squared distances at which the form that computes its field changes.
struct DeviceCell {
  Prism shape;
  double longest2, multipole2, volume;  ///< (longest side)²; squared distance for multipoles; m³
  double close2;  ///< squared distance to the surface; nearer entries, and some farther ones, are computed by
                  ///< the host
  MultipoleCoefficients coefficients;
};

/// Computes K, the field of one cell of each layer, at every distance except close to the cell; PutNear sets
/// those entries.
struct TableOfK {
  View<const DeviceCell> cells;  ///< [layers]
  Lags x, y;
  double spacing[2], up;
  ChannelSet channels;
  std::size_t count;   ///< number of channels
  View<double> table;  ///< [layer][channel][north][east]
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t plane = x.distances * y.distances, layer = i / plane, at = i % plane;
    const DeviceCell& cell = cells[layer];
    const auto p = relative_to<double>(cell.shape, x.distance(at % x.distances) * spacing[0],
                                       y.distance(at / x.distances) * spacing[1], up);
    const double xc = -0.5 * (p.x[0] + p.x[1]), yc = -0.5 * (p.y[0] + p.y[1]), zc = -0.5 * (p.z[0] + p.z[1]);
    const double r2 = xc * xc + yc * yc + zc * zc;
    if (r2 >= cell.multipole2)
      return store(layer, at, cell.volume, multipole<8, true>(cell.coefficients, xc, yc, zc));
    if (r2 >= BeyondThreeSides::from2 * cell.longest2)
      return store(layer, at, 1, stable<BeyondThreeSides, true>(p));
    const double hx = outside(p.x), hy = outside(p.y), hz = outside(p.z);
    if (hx * hx + hy * hy + hz * hz >= cell.close2) store(layer, at, 1, stable<AnyDistance, true>(p));
  }

 private:
  /// Distance along one axis from the station to the cell, 0 between its faces.
  TERRANE_FN static double outside(const double (&faces)[2]) {
    return maximum(maximum(faces[0], -faces[1]), 0.0);
  }
  TERRANE_FN void store(std::size_t layer, std::size_t at, double weight, const Quantities<double>& f) const {
    const double all[channel_count] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
    const std::size_t plane = x.distances * y.distances;
    std::size_t to = layer * count * plane + at;
    unrolled<channel_count>([&](auto c) {
      if (!channels.contains(static_cast<Channel>(c()))) return;
      table[to] = weight * all[c];
      to += plane;
    });
  }
};

/// Stores the entries of the table that the host computed.
struct PutNear {
  View<const std::uint64_t> place;  ///< [entries] index of the first channel's value
  View<const double> values;        ///< [entries][channels]
  std::size_t channels, plane;
  View<double> table;
  TERRANE_FN void operator()(std::size_t i) const {
    table[place[i / channels] + i % channels * plane] = values[i];
  }
};

/// Writes K, the field of one cell, at all lags to arrays that are zero: from the table, which contains each
/// distance once, with the sign of odd channels changed for mirrored lags. width, reals: doubles in a row and
/// in an array
struct SpreadK {
  View<const double> table;
  Lags x, y;
  std::size_t width, reals;
  ChannelSet channels;
  std::size_t count;    ///< number of channels
  View<double> arrays;  ///< [layer][channel]
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t count_x = static_cast<std::size_t>(x.count),
                      count_y = static_cast<std::size_t>(y.count), row = i / count_x, layer = row / count_y;
    const long lag_x = x.first + static_cast<long>(i % count_x),
               lag_y = y.first + static_cast<long>(row % count_y);
    const std::size_t plane = x.distances * y.distances, to = y.place(lag_y) * width + x.place(lag_x),
                      from = y.index(lag_y) * x.distances + x.index(lag_x);
    const bool mirrored_x = x.mirrored(lag_x), mirrored_y = y.mirrored(lag_y);
    std::size_t c = layer * count;
    unrolled<channel_count>([&](auto index) {
      constexpr auto channel = static_cast<Channel>(index());
      constexpr bool odd_x = odd_channels[0].contains(channel), odd_y = odd_channels[1].contains(channel);
      if (!channels.contains(channel)) return;
      const bool minus = (odd_x && mirrored_x) != (odd_y && mirrored_y);
      const double value = table[c * plane + from];
      arrays[c * reals + to] = minus ? -value : value;
      ++c;
    });
  }
};

/// Writes the densities of some layers to arrays that are zero. place: as in Lattice; plane, cells: cells of
/// a layer and of one of its rows
struct PlaceDensities {
  View<const std::uint32_t> place;
  View<const double> density;
  std::uint32_t plane, cells, first, layers;
  std::size_t width, reals;
  View<double> arrays;  ///< [layer]
  TERRANE_FN void operator()(std::size_t n) const {
    // If the prism lies in a layer below the first, the unsigned difference is a large number, so the prism
    // is skipped.
    const std::uint32_t layer = place[n] / plane - first;
    if (layer >= layers) return;
    const std::uint32_t cell = place[n] % plane;
    arrays[layer * reals + cell / cells * width + cell % cells] = density[n];
  }
};

/// total[channel] += Σ_layers density[layer] · K[layer][channel], with the transforms of all three; bitwise
/// the same however many layers are computed at once.
struct MultiplyAdd {
  View<const double> density, k;
  std::size_t reals, layers, channels;
  View<double> total;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t at = 2 * (i % (reals / 2)), channel = i / (reals / 2);
    double re = total[channel * reals + at], im = total[channel * reals + at + 1];
    for (std::size_t l = 0; l < layers; ++l) {
      const std::size_t a = l * reals + at, b = (l * channels + channel) * reals + at;
      re += fused(density[a], k[b], -(density[a + 1] * k[b + 1]));
      im += fused(density[a], k[b + 1], density[a + 1] * k[b]);
    }
    total[channel * reals + at] = re;
    total[channel * reals + at + 1] = im;
  }
};

/// Copies the field of one channel at the stations of a group from an array.
struct AtStations {
  View<const double> total;
  View<const std::uint64_t> place;  ///< [stations] index in the array
  double scale;
  View<double> values;
  TERRANE_FN void operator()(std::size_t s) const { values[s] = scale * total[place[s]]; }
};

/// An entry of a table that the host computes.
struct NearEntry {
  std::uint32_t layer, north, east;
};

/// Device arrays of the layers that are computed together.
struct Work {
  Buffer<double> arrays;  ///< densities [layers], K [layers][channels]
  Buffer<double> total;   ///< [channels]
  Buffer<double> table, near_values, values;
  Buffer<std::uint64_t> near_place, station_place;
  std::unique_ptr<DeviceFft> fft;
  std::size_t columns = 0, rows = 0, channels = 0, layers = 0;

  bool serves(const Convolution& sizes, std::size_t wanted_channels, std::size_t stations) const {
    return columns == sizes.lags[0].size && rows == sizes.lags[1].size && channels == wanted_channels &&
           table.size() >= layers * channels * sizes.distances() && values.size() >= stations;
  }
  static double bytes(const Convolution& sizes, std::size_t channels, std::size_t stations,
                      std::size_t layers) {
    const std::size_t together = DeviceFft::at_once(sizes.lags[0].size, sizes.lags[1].size),
                      arrays = layers * (channels + 1) + channels + 2 * together;
    return sizeof(double) *
           static_cast<double>(
               (arrays + together) *
                   sizes.reals +  // as much memory as `together` arrays is about cuFFT's work space
               layers * channels * sizes.distances() +
               near_at_once * (channels + 1) + 2 * stations);
  }
};

class LatticeOnDevice final : public Summation, private Convolver {
 public:
  LatticeOnDevice(Device device, std::shared_ptr<const LatticePlan> plan, std::span<const double> density,
                  int threads, double most_bytes)
      : plan_(std::move(plan)),
        lattice_(plan_->lattice()),
        density_(density),
        threads_(threads),
        most_bytes_(most_bytes),
        stream_(device) {
    plan_->check(density);
    std::vector<DeviceCell> cells;
    for (std::size_t l = 0; l < lattice_.layers.size(); ++l) {
      const Prism p = lattice_.cell(l);
      const double lx = p.east - p.west, ly = p.north - p.south, lz = p.top - p.bottom;
      const auto& limits = limits_.emplace_back(switching_, lx, ly, lz);
      cells.push_back({p, limits.longest * limits.longest, limits.multipole2_8, lx * ly * lz,
                       0.5 * limits.stable_h2, multipole_coefficients(lx, ly, lz)});
    }
    cells_ = Buffer(stream_, cells);
    device_density_ = Buffer<double>(device, density.size());
    device_density_.upload(stream_, density);
    place_ = Buffer(stream_, lattice_.place);
  }

  std::size_t parts() const override { return plan_->parts(); }
  Part part(std::size_t index) const override { return plan_->part(index); }
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override {
    plan_->sum(*this, density_, first, last, threads_, take, progress);
  }

 private:
  void convolve(std::size_t group, ChannelSet channels, Progress& progress) override;
  void values(Channel channel, std::span<double> values) override;

  std::size_t make_room(const Convolution& sizes, std::size_t channels, std::size_t stations);
  void allocate(const Convolution& sizes, std::size_t channels, std::size_t stations, std::size_t layers);
  std::vector<NearEntry> near_entries(std::size_t first, std::size_t last) const;
  void put_near(std::size_t first, std::size_t last, Progress& progress);

  std::shared_ptr<const LatticePlan> plan_;
  const Lattice& lattice_;
  std::span<const double> density_;
  int threads_;
  double most_bytes_;
  const Switching switching_ = Switching::for_accuracy(best_accuracy);
  std::vector<PrismSwitching> limits_;  // [layers]
  Stream stream_;
  Buffer<DeviceCell> cells_;  // [layers]
  Buffer<double> device_density_;
  Buffer<std::uint32_t> place_;
  Work work_;
  std::size_t group_ = 0;  // the group in progress, whose sums are in work_.total
  ChannelSet channels_;
};

/// Allocates memory for as many layers at once as fit; returns their number.
std::size_t LatticeOnDevice::make_room(const Convolution& sizes, std::size_t channels, std::size_t stations) {
  if (work_.serves(sizes, channels, stations)) return work_.layers;
  work_ = {};
  const double room = std::min(0.9 * static_cast<double>(device_memory(stream_.device()).free), most_bytes_),
               one = Work::bytes(sizes, channels, stations, 1),
               layer = Work::bytes(sizes, channels, stations, 2) - one;
  std::size_t layers = std::clamp<std::size_t>(
      1 + static_cast<std::size_t>(std::max(0.0, room - one) / layer), 1, lattice_.layers.size());
  for (;;) try {
      allocate(sizes, channels, stations, layers);
      return layers;
    } catch (const MemoryError&) {
      work_ = {};
      if (layers == 1) throw;
      layers /= 2;  // other processes may have allocated memory meanwhile
    }
}

void LatticeOnDevice::allocate(const Convolution& sizes, std::size_t channels, std::size_t stations,
                               std::size_t layers) {
  const Device device = stream_.device();
  work_.fft = std::make_unique<DeviceFft>(stream_, sizes.lags[0].size, sizes.lags[1].size, threads_);
  const auto arrays = [&](std::size_t count) {
    return Buffer<double>(device, work_.fft->rounded(count) * sizes.reals);
  };
  work_.arrays = arrays(layers * (channels + 1));
  work_.total = arrays(channels);
  work_.table = Buffer<double>(device, layers * channels * sizes.distances());
  work_.near_values = Buffer<double>(device, near_at_once * channels);
  work_.near_place = Buffer<std::uint64_t>(device, near_at_once);
  work_.station_place = Buffer<std::uint64_t>(device, stations);
  work_.values = Buffer<double>(device, stations);
  work_.columns = sizes.lags[0].size;
  work_.rows = sizes.lags[1].size;
  work_.channels = channels;
  work_.layers = layers;
}

void LatticeOnDevice::convolve(std::size_t g, ChannelSet wanted, Progress& progress) {
  group_ = g;
  channels_ = wanted;
  const auto& group = lattice_.groups[g];
  const Convolution& sizes = plan_->convolution(g);
  const std::size_t channels = wanted.size(), layers = lattice_.layers.size(),
                    stations = group.station.size(), at_once = make_room(sizes, channels, stations);
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  work_.total.fill_zero(stream_);
  for (std::size_t first = 0; first < layers; first += at_once) {
    if (progress.cancelled()) throw Cancelled();
    const std::size_t count = std::min(at_once, layers - first);
    const View<double> densities = work_.arrays.view(),
                       k{densities.data + count * sizes.reals, densities.size - count * sizes.reals};
    work_.arrays.fill_zero(stream_);
    terrane::for_each(
        stream_, lattice_.place.size(),
        PlaceDensities{place_.view(), device_density_.view(), static_cast<std::uint32_t>(lattice_.plane()),
                       static_cast<std::uint32_t>(lattice_.cells[0]), static_cast<std::uint32_t>(first),
                       static_cast<std::uint32_t>(count), sizes.width(), sizes.reals, densities});
    terrane::for_each(stream_, count * sizes.distances(),
                      TableOfK{{cells_.view().data + first, count},
                               x,
                               y,
                               {lattice_.spacing[0], lattice_.spacing[1]},
                               group.up,
                               wanted,
                               channels,
                               work_.table.view()});
    put_near(first, first + count, progress);
    terrane::for_each(stream_, count * static_cast<std::size_t>(x.count * y.count),
                      SpreadK{work_.table.view(), x, y, sizes.width(), sizes.reals, wanted, channels, k});
    work_.fft->forward(work_.arrays.view(), count * (channels + 1));
    terrane::for_each(stream_, channels * sizes.reals / 2,
                      MultiplyAdd{densities, k, sizes.reals, count, channels, work_.total.view()});
    stream_.wait();
    progress.advance(count);
  }
  work_.fft->inverse(work_.total.view(), channels);

  std::vector<std::uint64_t> place(stations);
  for (std::size_t s = 0; s < stations; ++s)
    place[s] = static_cast<std::size_t>(group.cell[1][s] - group.low[1]) * sizes.width() +
               static_cast<std::size_t>(group.cell[0][s] - group.low[0]);
  work_.station_place.upload(stream_, place);
}

void LatticeOnDevice::values(Channel channel, std::span<double> values) {
  const Convolution& sizes = plan_->convolution(group_);
  const unsigned before = channels_.bits() & ((1U << static_cast<unsigned>(channel)) - 1);
  const std::size_t c = ChannelSet::from_bits(before).size();
  terrane::for_each(stream_, values.size(),
                    AtStations{{work_.total.view().data + c * sizes.reals, sizes.reals},
                               work_.station_place.view(),
                               1 / static_cast<double>(sizes.size()),
                               work_.values.view()});
  work_.values.download(stream_, values);
}

/// The entries, in the tables of layers first to last − 1, of cells too close for the stable form.
std::vector<NearEntry> LatticeOnDevice::near_entries(std::size_t first, std::size_t last) const {
  const Convolution& sizes = plan_->convolution(group_);
  std::vector<NearEntry> entries;
  for (std::size_t l = first; l < last; ++l) {
    const double reach2 = limits_[l].stable_h2, up = lattice_.groups[group_].up;
    const auto& layer = lattice_.layers[l];
    const auto squared = [](double gap) { return gap > 0 ? gap * gap : 0; };
    const double z2 = squared(std::max(layer.bottom - up, up - layer.top));
    // Index and squared gap of the nearest lags, along each axis.
    std::vector<std::pair<std::uint32_t, double>> near[2];
    for (int a = 0; a < 2; ++a)
      for (std::size_t i = 0; i < sizes.lags[a].distances; ++i) {
        const double gap2 = squared((std::fabs(sizes.lags[a].distance(i)) - 0.5) * lattice_.spacing[a]);
        if (gap2 + z2 < reach2) near[a].emplace_back(static_cast<std::uint32_t>(i), gap2);
      }
    for (const auto& [j, y2] : near[1])
      for (const auto& [i, x2] : near[0])
        if (x2 + y2 + z2 < reach2) entries.push_back({static_cast<std::uint32_t>(l - first), j, i});
  }
  return entries;
}

void LatticeOnDevice::put_near(std::size_t first, std::size_t last, Progress& progress) {
  const auto& group = lattice_.groups[group_];
  const Convolution& sizes = plan_->convolution(group_);
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  const auto list = channels_.list();
  const auto entries = near_entries(first, last);
  for (std::size_t begin = 0; begin < entries.size(); begin += near_at_once) {
    const std::size_t count = std::min(near_at_once, entries.size() - begin);
    std::vector<std::uint64_t> place(count);
    std::vector<double> values(count * list.size());
    constexpr std::size_t chunk = 16;
    for_each((count + chunk - 1) / chunk, threads_, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      for (std::size_t n = task * chunk; n < std::min((task + 1) * chunk, count); ++n) {
        const auto& e = entries[begin + n];
        const auto f =
            field_of_prism(lattice_.cell(first + e.layer), x.distance(e.east) * lattice_.spacing[0],
                           y.distance(e.north) * lattice_.spacing[1], group.up, switching_);
        const double q[channel_count] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
        place[n] = e.layer * list.size() * sizes.distances() + e.north * x.distances + e.east;
        for (std::size_t c = 0; c < list.size(); ++c)
          values[n * list.size() + c] = q[static_cast<std::size_t>(list[c])];
      }
    });
    work_.near_place.upload(stream_, place);
    work_.near_values.upload(stream_, values);
    terrane::for_each(stream_, values.size(),
                      PutNear{work_.near_place.view(), work_.near_values.view(), list.size(),
                              sizes.distances(), work_.table.view()});
  }
}

}  // namespace

std::unique_ptr<Summation> lattice_sum_on_device(Device device, std::shared_ptr<const LatticePlan> plan,
                                                 std::span<const double> density, int threads,
                                                 double most_bytes) {
  return std::make_unique<LatticeOnDevice>(device, std::move(plan), density, threads, most_bytes);
}

LatticeDeviceCost lattice_cost_on_device(const LatticePlan& plan) {
  // Bandwidths that are reached, bytes per second.
  constexpr double bus = 8e9, memory = 2e12;
  constexpr double entry = 50e-12, group = 5e-3,
                   launch = 5e-6;  // seconds per entry of K, per group, per launch of a kernel
  const Lattice& lattice = plan.lattice();
  const double prisms = static_cast<double>(lattice.place.size()),
               layers = static_cast<double>(lattice.layers.size()),
               channels = static_cast<double>(plan.computed().size());
  const double given = prisms * (sizeof(double) + sizeof(std::uint32_t));
  LatticeDeviceCost cost;
  cost.seconds = given / bus;
  for (std::size_t g = 0; g < lattice.groups.size(); ++g) {
    const auto& sizes = plan.convolution(g);
    const std::size_t stations = lattice.groups[g].station.size();
    const double reals = static_cast<double>(sizes.reals);
    const double ffts = layers * (channels + 1) /
                        static_cast<double>(DeviceFft::at_once(sizes.lags[0].size, sizes.lags[1].size));
    cost.seconds += group + reals * layers * (64 * channels + 40) / memory + 5 * launch * ffts +
                    entry * layers * static_cast<double>(sizes.distances()) +
                    channels * static_cast<double>(stations) * sizeof(double) / bus;
    cost.bytes = std::max(cost.bytes, Work::bytes(sizes, plan.computed().size(), stations, 1));
  }
  cost.bytes += given;
  return cost;
}

}  // namespace terrane::gravity
