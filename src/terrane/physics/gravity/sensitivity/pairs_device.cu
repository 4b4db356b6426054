// Pairs of stations and cells on a device. G: a thread computes a station, with a loop over cells; Gᵀ: a
// thread computes a cell, with a loop over stations. Both compute a pair by the same code, in a form that
// depends on the pair alone, so that they are transposes to rounding. Pairs inside, on and close to stretched
// cells are few; the host computes them once, in extended precision, and adds them to every product.
//
// Products are limited by FP64 instructions, 60 to 220 per pair (tiles/device_kernels.hpp); only 7 doubles
// are read for 32 pairs.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/mesh/order.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/tiles/device_kernels.hpp"
#include "terrane/solve/matrices/device_matrix.hpp"

namespace terrane::gravity {

namespace {

constexpr ChannelSet pair_sets[] = {{Channel::g_u}, tensor_channels, ChannelSet::all()};

/// A cell, and the distances at which its form changes.
struct PairCell {
  double low[3], high[3];
  double centre[3], volume;
  double multipole2[4];  ///< squared distances from which multipoles of order 2, 4, 6, 8 are used
  /// (3 · longest side)²; squared distance to the surface from which the stable form is used.
  double three_sides2, stable_h2;
  bool stretched;  ///< whether the cell is stretched (see PrismSwitching)
  MultipoleCoefficients coefficients;
};

/// All cells and stations on the device.
struct PairsView {
  View<const double> low[3], high[3];  ///< faces of cells, m
  View<const double> at[3];            ///< stations, m, in groups of device_tile; the last group is padded
  std::size_t cells, stations;
  Switching switching;
  View<const MultipoleTables> tables;

  TERRANE_FN void load(std::size_t cell, PairCell& to) const {
    place(cell, to);
    set_multipole_coefficients(tables[0], to.high[0] - to.low[0], to.high[1] - to.low[1],
                               to.high[2] - to.low[2], 8, to.coefficients);
  }
  /// Sets everything except the coefficients.
  TERRANE_FN void place(std::size_t cell, PairCell& to) const {
    double side[3];
    to.volume = 1;
    for (int a = 0; a < 3; ++a) {
      to.low[a] = low[a][cell];
      to.high[a] = high[a][cell];
      side[a] = to.high[a] - to.low[a];
      to.centre[a] = to.low[a] + 0.5 * side[a];
      to.volume *= side[a];
    }
    const PrismSwitching limits(switching, side[0], side[1], side[2]);
    const double longest2 = limits.longest * limits.longest;
    for (int n = 0; n < 4; ++n)
      to.multipole2[n] = switching.multipole_from[n] * switching.multipole_from[n] * longest2;
    to.three_sides2 = BeyondThreeSides::from2 * longest2;
    to.stable_h2 = limits.stable_h2;
    to.stretched = limits.stretched;
  }
};

/// Distance along one axis from the station to the cell, 0 between its faces.
TERRANE_FN double gap(const double (&faces)[2]) { return maximum(maximum(faces[0], -faces[1]), 0.0); }

TERRANE_FN double squared_distance(const PairCell& cell, double x, double y, double z) {
  const double dx = x - cell.centre[0], dy = y - cell.centre[1], dz = z - cell.centre[2];
  return dx * dx + (dy * dy + dz * dz);
}
TERRANE_FN double squared_gap(const RelativePrism<double>& p) {
  const double hx = gap(p.x), hy = gap(p.y), hz = gap(p.z);
  return hx * hx + (hy * hy + hz * hz);
}
TERRANE_FN RelativePrism<double> seen_from(const PairCell& cell, double x, double y, double z) {
  return {{cell.low[0] - x, cell.high[0] - x}, {cell.low[1] - y, cell.high[1] - y},
          {cell.low[2] - z, cell.high[2] - z}, cell.high[0] - cell.low[0],
          cell.high[1] - cell.low[1],          cell.high[2] - cell.low[2]};
}

/// Whether add_pair() leaves the pair to the host. Decides as add_pair() does, from the same numbers.
TERRANE_FN bool is_of_host(const PairCell& cell, double x, double y, double z) {
  const double r2 = squared_distance(cell, x, y, z);
  if (r2 >= cell.multipole2[3] || r2 >= cell.three_sides2) return false;
  const double h2 = squared_gap(seen_from(cell, x, y, z));
  return !(h2 >= cell.stable_h2) && (h2 == 0 || cell.stretched);
}

/// Adds `mass` times the field of the cell with unit density. Returns false if the pair is left to the host.
template <unsigned Bits>
TERRANE_FN bool add_pair(const PairCell& cell, double x, double y, double z, double mass,
                         DeviceSums<Bits, double>& sum) {
  const double dx = x - cell.centre[0], dy = y - cell.centre[1], dz = z - cell.centre[2];
  const double r2 = squared_distance(cell, x, y, z);
  if (r2 >= cell.multipole2[3]) {
    const double q = inverse_square_root(r2), weight = mass * cell.volume;
    if (r2 >= cell.multipole2[0]) add_multipole<2>(cell.coefficients, dx, dy, dz, q, weight, sum);
    else if (r2 >= cell.multipole2[1]) add_multipole<4>(cell.coefficients, dx, dy, dz, q, weight, sum);
    else if (r2 >= cell.multipole2[2]) add_multipole<6>(cell.coefficients, dx, dy, dz, q, weight, sum);
    else add_multipole<8>(cell.coefficients, dx, dy, dz, q, weight, sum);
    return true;
  }
  const auto p = seen_from(cell, x, y, z);
  if (r2 >= cell.three_sides2) {
    sum.add(mass, stable<BeyondThreeSides, true>(p));
    return true;
  }
  const double h2 = squared_gap(p);
  if (h2 >= cell.stable_h2) sum.add(mass, stable<AnyDistance, true>(p));
  else if (h2 == 0 || cell.stretched) return false;
  else sum.add(mass, edge_face<false>(p));
  return true;
}

/// Computes Γuu as −(Γee + Γnn), if the sums are computed that way.
template <unsigned Bits>
TERRANE_FN void complete(DeviceSums<Bits, double>& sum) {
  using Sums = DeviceSums<Bits, double>;
  if constexpr (Sums::uu_by_laplace && Sums::has(Channel::g_uu))
    sum.sum[Sums::place(Channel::g_uu)] =
        -(sum.sum[Sums::place(Channel::g_ee)] + sum.sum[Sums::place(Channel::g_nn)]);
}

/// The tiles of cells in each part: parts consist of whole tiles.
struct TilesOfParts {
  std::size_t tiles, parts;
  TERRANE_FN std::size_t first(std::size_t part) const { return solve::first_of_part(tiles, parts, part); }
};

/// partial [part][channel][station] = Σ over the cells of the part: (field of the cell with unit density) ·
/// model. A group of threads computes device_tile stations and one part.
template <unsigned Bits>
struct OverCells {
  using Sums = DeviceSums<Bits, double>;
  static constexpr int groups_at_once = 12;
  struct Shared {
    PairCell cell[device_tile];
    double model[device_tile];
  };
  struct Thread {
    double x, y, z;
    Sums sum;
  };
  PairsView pairs;
  TilesOfParts all;
  std::size_t first_part, station_groups;
  View<const double> model;  ///< [cells]
  View<double> partial;

  TERRANE_FN std::size_t station(std::size_t group, int t) const {
    return group % station_groups * device_tile + static_cast<std::size_t>(t);
  }
  TERRANE_FN std::size_t part(std::size_t group) const { return first_part + group / station_groups; }
  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t group, int t) const {
    const std::size_t s = station(group, t);
    thread.x = pairs.at[0][s];
    thread.y = pairs.at[1][s];
    thread.z = pairs.at[2][s];
    thread.sum.clear();
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return all.first(part(group) + 1) - all.first(part(group));
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const std::size_t cell = (all.first(part(group)) + step) * device_tile + static_cast<std::size_t>(t);
    const bool real = cell < pairs.cells;
    if (real) pairs.load(cell, shared.cell[t]);
    shared.model[t] = real ? model[cell] : 0.0;
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int) const {
    const std::size_t first = (all.first(part(group)) + step) * device_tile, left = pairs.cells - first,
                      count = left < device_tile ? left : device_tile;
    for (std::size_t p = 0; p < count; ++p)
      add_pair<Bits>(shared.cell[p], thread.x, thread.y, thread.z, shared.model[p], thread.sum);
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    complete<Bits>(thread.sum);
    const std::size_t row = station_groups * device_tile, to = group / station_groups * Sums::count;
    unrolled<Sums::count>([&](auto c) { partial[(to + c) * row + station(group, t)] = thread.sum.sum[c]; });
  }
};

/// What OverStations computes from the values of observables.
enum class Asked { product, squares, entries };

/// For the cells first_cell .. last_cell − 1, with value: the entry of G of a cell, a station and an
/// observable: out [cell] = Σ_stations Σ_observables value · data (asked: product), or value² · data
/// (squares); or the values themselves, out [cell][observable][caller's index of the station] (entries). A
/// group of threads computes device_tile cells.
template <unsigned Bits>
struct OverStations {
  using Sums = DeviceSums<Bits, double>;
  static constexpr int groups_at_once = 12;
  struct Shared {
    PairCell cell[device_tile];  // the cell of each thread
    double at[3][device_tile];
  };
  struct Thread {
    double sum;
  };
  PairsView pairs;
  Asked asked;
  std::size_t first_cell, last_cell, observables;
  View<const double> weight;             ///< [observables][channels] weights of Observable
  View<const double> data;               ///< [observables][stations in device order, padded with zeros]
  View<const std::uint32_t> station_of;  ///< [stations] the caller's index of the station
  View<double> out;

  TERRANE_FN std::size_t cell(std::size_t group, int t) const {
    return first_cell + group * device_tile + static_cast<std::size_t>(t);
  }
  TERRANE_FN void begin(Shared& shared, Thread& thread, std::size_t group, int t) const {
    if (cell(group, t) < last_cell) pairs.load(cell(group, t), shared.cell[t]);
    thread.sum = 0;
  }
  TERRANE_FN std::size_t steps(std::size_t) const { return (pairs.stations + device_tile - 1) / device_tile; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t, std::size_t step, int t) const {
    for (int a = 0; a < 3; ++a)
      shared.at[a][t] = pairs.at[a][step * device_tile + static_cast<std::size_t>(t)];
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    if (cell(group, t) >= last_cell) return;
    const std::size_t first = step * device_tile, left = pairs.stations - first,
                      count = left < device_tile ? left : device_tile,
                      row = (pairs.stations + device_tile - 1) / device_tile * device_tile;
    for (std::size_t s = 0; s < count; ++s) {
      Sums field;
      field.clear();
      add_pair<Bits>(shared.cell[t], shared.at[0][s], shared.at[1][s], shared.at[2][s], 1.0, field);
      complete<Bits>(field);
      for (std::size_t o = 0; o < observables; ++o) {
        double value = 0;
        unrolled<Sums::count>([&](auto c) { value += weight[o * Sums::count + c] * field.sum[c]; });
        if (asked == Asked::entries)
          out[(cell(group, t) - first_cell) * observables * pairs.stations + o * pairs.stations +
              station_of[first + s]] = value;
        else thread.sum += (asked == Asked::squares ? value * value : value) * data[o * row + first + s];
      }
    }
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    if (asked != Asked::entries && cell(group, t) < last_cell) out[cell(group, t) - first_cell] = thread.sum;
  }
};

/// Computes sums [part][observable][caller's index of the station] from the sums of channels, `partial` of
/// OverCells, with the observables' weights [observables][channels]. row: stations, padded to whole groups
struct Observe {
  View<const double> partial, weight;
  View<const std::uint32_t> station_of;
  std::size_t channels, observables, stations, row;
  View<double> sums;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t s = i % stations, o = i / stations % observables, part = i / stations / observables;
    double value = 0;
    for (std::size_t c = 0; c < channels; ++c)
      value += weight[o * channels + c] * partial[(part * channels + c) * row + s];
    sums[(part * observables + o) * stations + station_of[s]] = value;
  }
};

/// Lists the pairs that add_pair() leaves to the host.
struct FindHostPairs {
  PairsView pairs;
  std::size_t first_cell;
  View<HostPair> list;  ///< pairs left to the host; pairs beyond the size of the list are not stored
  View<std::uint64_t> found;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t cell = first_cell + i / pairs.stations, s = i % pairs.stations;
    PairCell placed;
    pairs.place(cell, placed);
    if (!is_of_host(placed, pairs.at[0][s], pairs.at[1][s], pairs.at[2][s])) return;
    const std::uint64_t at = fetch_add(found[0], 1);
    if (at < list.size) list[at] = {static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(cell)};
  }
};

MultipoleTables tables_for_pairs() {
  MultipoleTables tables;
  std::memcpy(tables.order_2, tables::order_2, sizeof tables.order_2);
  std::memcpy(tables.order_4, tables::order_4, sizeof tables.order_4);
  std::memcpy(tables.order_6, tables::order_6, sizeof tables.order_6);
  std::memcpy(tables.order_8, tables::order_8, sizeof tables.order_8);
  return tables;
}

/// A pair of a station and a cell that the host computes: its entries of G, one for each observable.
struct NearPair {
  std::uint32_t station, cell;
  std::vector<double> entries;
};

class PairsOnDevice final : public solve::PartedOperator {
 public:
  PairsOnDevice(Device device, std::shared_ptr<const SensitivityColumns> source, int threads,
                solve::ShareOfParts share);

  std::size_t rows() const override { return source_->rows(); }
  std::size_t columns() const override { return source_->columns(); }
  std::size_t parts() const override { return std::min(tiles(), solve::most_parts_on_device); }
  Range held() const override { return share_.of(parts()); }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override;
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override {
    over_stations(parts, data, Asked::product, model);
  }
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override {
    over_stations(parts, weight, Asked::squares, diagonal);
  }
  /// Computes entries of some columns, on the device: [columns][rows]. stream: of the same device.
  void make(Stream& stream, std::size_t first, std::size_t last, View<double> entries) const;

 private:
  std::size_t tiles() const { return (columns() + device_tile - 1) / device_tile; }
  std::size_t station_groups() const { return (source_->stations().size() + device_tile - 1) / device_tile; }
  TilesOfParts tiles_of_parts() const { return {tiles(), parts()}; }
  std::size_t first_cell(std::size_t part) const {
    return std::min(tiles_of_parts().first(part) * device_tile, columns());
  }
  void upload_pairs(int threads);
  void find_near_pairs();
  std::span<const NearPair> near_pairs(std::size_t first_cell, std::size_t last_cell) const;
  void over_stations(const Range& parts, std::span<const double> values, Asked asked,
                     std::span<double> out) const;
  /// Calls use(the bits of the channel set, as an integral constant).
  template <class Use>
  void with_channels(const Use& use) const;

  std::shared_ptr<const SensitivityColumns> source_;
  solve::ShareOfParts share_;
  mutable Stream stream_;
  std::size_t set_ = 0;
  std::vector<std::uint32_t> station_order_;
  Buffer<double> low_[3], high_[3], at_[3], weight_;
  Buffer<std::uint32_t> station_of_;
  Buffer<MultipoleTables> tables_;
  PairsView pairs_{};
  std::vector<NearPair> near_;  // pairs, sorted by cell, then by station
  mutable Buffer<double> of_cells_, of_stations_, partial_;
};

PairsOnDevice::PairsOnDevice(Device device, std::shared_ptr<const SensitivityColumns> source, int threads,
                             solve::ShareOfParts share)
    : source_(std::move(source)), share_(share), stream_(device, false, threads) {
  const auto channels = channels_of(source_->observables());
  while (!pair_sets[set_].contains(channels)) ++set_;
  upload_pairs(threads);
  find_near_pairs();
}

void PairsOnDevice::upload_pairs(int threads) {
  const auto& c = source_->cells();
  const auto& s = source_->stations();
  const std::vector<double>* const low[3] = {&c.west, &c.south, &c.bottom};
  const std::vector<double>* const high[3] = {&c.east, &c.north, &c.top};
  const std::vector<double>* const at[3] = {&s.easting, &s.northing, &s.up};
  station_order_ = compact_order(s.easting, s.northing, s.up, device_tile, threads);
  std::vector<double> column(station_groups() * device_tile), weights;
  for (int a = 0; a < 3; ++a) {
    low_[a] = Buffer<double>(stream_, *low[a]);
    high_[a] = Buffer<double>(stream_, *high[a]);
    for (std::size_t n = 0; n < column.size(); ++n)
      column[n] = (*at[a])[station_order_[std::min(n, station_order_.size() - 1)]];
    at_[a] = Buffer<double>(stream_, column);
    pairs_.low[a] = low_[a].view();
    pairs_.high[a] = high_[a].view();
    pairs_.at[a] = at_[a].view();
  }
  for (const auto& one : source_->observables())
    for (const auto channel : pair_sets[set_].list())
      weights.push_back(one.weight[static_cast<std::size_t>(channel)]);
  weight_ = Buffer<double>(stream_, weights);
  station_of_ = Buffer<std::uint32_t>(stream_, station_order_);
  tables_ = Buffer<MultipoleTables>(stream_, std::vector<MultipoleTables>{tables_for_pairs()});
  pairs_.cells = columns();
  pairs_.stations = s.size();
  pairs_.switching = Switching::for_accuracy(source_->accuracy());
  pairs_.tables = tables_.view();
}

/// Finds the host's pairs, on the device and in any order, then sorts and computes them here.
void PairsOnDevice::find_near_pairs() {
  const std::size_t first = first_cell(held().first), cells = first_cell(held().last) - first;
  Buffer<HostPair> list(stream_.device(), 1 << 12);
  Buffer<std::uint64_t> found(stream_.device(), 1);
  std::uint64_t count = 0;
  for (bool again = true; again;) {
    found.fill_zero(stream_);
    terrane::for_each(stream_, cells * pairs_.stations,
                      FindHostPairs{pairs_, first, list.view(), found.view()});
    found.download(stream_, {&count, 1});
    again = count > list.size();
    if (again) enlarge(stream_, list, count);
  }
  std::vector<HostPair> pairs(count);
  list.download(stream_, pairs);
  near_.resize(count);
  for (std::size_t i = 0; i < count; ++i) near_[i] = {station_order_[pairs[i].station], pairs[i].prism, {}};
  std::sort(near_.begin(), near_.end(), [](const NearPair& a, const NearPair& b) {
    return a.cell < b.cell || (a.cell == b.cell && a.station < b.station);
  });
  const auto& c = source_->cells();
  const auto& s = source_->stations();
  terrane::for_each(count, stream_.threads(), [&](std::size_t i) {
    auto& pair = near_[i];
    const auto f = field_of_prism({c.west[pair.cell], c.east[pair.cell], c.south[pair.cell],
                                   c.north[pair.cell], c.bottom[pair.cell], c.top[pair.cell]},
                                  s.easting[pair.station], s.northing[pair.station], s.up[pair.station],
                                  pairs_.switching);
    const double q[channel_count] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
    for (const auto& one : source_->observables()) {
      double value = 0;
      for (std::size_t k = 0; k < channel_count; ++k)
        if (one.weight[k] != 0) value += one.weight[k] * q[k];
      pair.entries.push_back(value);
    }
  });
}

std::span<const NearPair> PairsOnDevice::near_pairs(std::size_t first_cell, std::size_t last_cell) const {
  const auto before = [](const NearPair& pair, std::size_t cell) { return pair.cell < cell; };
  const auto first = std::lower_bound(near_.begin(), near_.end(), first_cell, before),
             last = std::lower_bound(near_.begin(), near_.end(), last_cell, before);
  return {near_.data() + (first - near_.begin()), static_cast<std::size_t>(last - first)};
}

std::vector<std::uint32_t> PairsOnDevice::columns_of(const Range& parts) const {
  std::vector<std::uint32_t> columns(first_cell(parts.last) - first_cell(parts.first));
  std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>(first_cell(parts.first)));
  return columns;
}

template <class Use>
void PairsOnDevice::with_channels(const Use& use) const {
  if (set_ == 0) use(std::integral_constant<unsigned, pair_sets[0].bits()>{});
  else if (set_ == 1) use(std::integral_constant<unsigned, pair_sets[1].bits()>{});
  else use(std::integral_constant<unsigned, pair_sets[2].bits()>{});
}

void PairsOnDevice::apply_parts(const Range& parts, std::span<const double> model,
                                std::span<double> sums) const {
  const std::size_t n = rows(), stations = pairs_.stations, row = station_groups() * device_tile,
                    channels = pair_sets[set_].size(), first = first_cell(parts.first),
                    cells = first_cell(parts.last) - first;
  if (cells == 0) return;
  enlarge(stream_, of_cells_, columns());
  enlarge(stream_, partial_, parts.size() * channels * row);
  enlarge(stream_, of_stations_, parts.size() * n);
  of_cells_.upload(stream_, model.subspan(first, cells), first);
  with_channels([&](auto bits) {
    for_each_group(stream_, parts.size() * station_groups(),
                   OverCells<decltype(bits)::value>{pairs_, tiles_of_parts(), parts.first, station_groups(),
                                                    of_cells_.view(), partial_.view()});
  });
  terrane::for_each(stream_, parts.size() * n,
                    Observe{partial_.view(), weight_.view(), station_of_.view(), channels,
                            source_->observables().size(), stations, row, of_stations_.view()});
  of_stations_.download(stream_, sums.first(parts.size() * n));
  for (std::size_t p = parts.first; p < parts.last; ++p)
    for (const auto& pair : near_pairs(first_cell(p), first_cell(p + 1)))
      for (std::size_t o = 0; o < pair.entries.size(); ++o)
        sums[(p - parts.first) * n + o * stations + pair.station] += pair.entries[o] * model[pair.cell];
}

void PairsOnDevice::over_stations(const Range& parts, std::span<const double> values, Asked asked,
                                  std::span<double> out) const {
  const std::size_t stations = pairs_.stations, row = station_groups() * device_tile,
                    observables = source_->observables().size(), first = first_cell(parts.first),
                    cells = first_cell(parts.last) - first;
  if (cells == 0) return;
  std::vector<double> in_order(observables * row);
  for (std::size_t o = 0; o < observables; ++o)
    for (std::size_t s = 0; s < stations; ++s)
      in_order[o * row + s] = values[o * stations + station_order_[s]];
  enlarge(stream_, of_cells_, columns());
  enlarge(stream_, partial_, in_order.size());
  partial_.upload(stream_, in_order);
  with_channels([&](auto bits) {
    for_each_group(
        stream_, (cells + device_tile - 1) / device_tile,
        OverStations<decltype(bits)::value>{pairs_, asked, first, first + cells, observables, weight_.view(),
                                            partial_.view(), station_of_.view(), of_cells_.view()});
  });
  of_cells_.download(stream_, out.subspan(first, cells));
  for (const auto& pair : near_pairs(first, first + cells))
    for (std::size_t o = 0; o < observables; ++o) {
      const double entry = asked == Asked::squares ? pair.entries[o] * pair.entries[o] : pair.entries[o];
      out[pair.cell] += entry * values[o * stations + pair.station];
    }
}

/// Writes entries that the host has computed to their places among the entries of the columns.
struct PutPairs {
  View<const std::uint64_t> place;
  View<const double> values;
  View<double> entries;
  TERRANE_FN void operator()(std::size_t i) const { entries[place[i]] = values[i]; }
};

void PairsOnDevice::make(Stream& stream, std::size_t first, std::size_t last, View<double> entries) const {
  const std::size_t stations = pairs_.stations, observables = source_->observables().size();
  with_channels([&](auto bits) {
    for_each_group(stream, (last - first + device_tile - 1) / device_tile,
                   OverStations<decltype(bits)::value>{pairs_,
                                                       Asked::entries,
                                                       first,
                                                       last,
                                                       observables,
                                                       weight_.view(),
                                                       {},
                                                       station_of_.view(),
                                                       entries});
  });
  std::vector<std::uint64_t> place;
  std::vector<double> values;
  for (const auto& pair : near_pairs(first, last))
    for (std::size_t o = 0; o < observables; ++o) {
      place.push_back((pair.cell - first) * rows() + o * stations + pair.station);
      values.push_back(pair.entries[o]);
    }
  if (place.empty()) return;
  const Buffer<std::uint64_t> there(stream, place);
  const Buffer<double> these(stream, values);
  terrane::for_each(stream, place.size(), PutPairs{there.view(), these.view(), entries});
  stream.wait();
}

}  // namespace

std::shared_ptr<const solve::PartedOperator> sensitivity_on_device(
    Device device, std::shared_ptr<const SensitivityColumns> source, KeptEntries kept, int threads,
    Progress* progress, solve::ShareOfParts share) {
  const std::size_t rows = source->rows(), columns = source->columns();
  if (kept == KeptEntries::none)
    return std::make_shared<PairsOnDevice>(device, std::move(source), threads, share);
  const PairsOnDevice pairs(device, std::move(source), threads, {});
  const auto fill = [&](Stream& stream, std::size_t first, std::size_t last, View<double> entries) {
    pairs.make(stream, first, last, entries);
  };
  if (kept == KeptEntries::double_precision)
    return std::make_shared<solve::DeviceMatrix<double>>(device, rows, columns, fill, threads, progress,
                                                         share);
  return std::make_shared<solve::DeviceMatrix<float>>(device, rows, columns, fill, threads, progress, share);
}

}  // namespace terrane::gravity
