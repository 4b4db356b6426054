#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <system_error>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"

namespace terrane::gravity {

namespace {

/// The numbers of near tiles and of pieces per group of stations for which arrays are allocated at first;
/// arrays grow if there are more.
constexpr std::size_t near_tiles_expected = 16, near_pieces_expected = near_tiles_expected / tiles_per_piece;

/// Counts the near tiles of each group of stations, chunk by chunk; or lists them, after the counts have been
/// converted to offsets.
template <class Real>
struct FindNear {
  DeviceEarth<Real> earth;
  DeviceStations stations;
  TileLists all;
  View<std::uint64_t> count;  ///< [groups of stations][chunks] number of tiles
  View<const std::uint64_t> start;
  View<std::uint32_t> list;  ///< empty: tiles are only counted
  TERRANE_FN void operator()(std::size_t group) const {
    const std::size_t g = all.station_group(group), place = g * all.chunks + group / all.stations;
    const StationBox box = stations.boxes[g];
    std::uint64_t found = 0;
    for (std::size_t i = all.first(group); i < all.last(group); ++i) {
      const std::uint32_t tile = all.tile(i);
      if (far_order(earth.switching, earth.least_gap, earth.tiles[tile], box) < 4) continue;
      if (list.size != 0) list[start[place] + found] = tile;
      ++found;
    }
    if (list.size == 0) count[place] = found;
  }
};

/// Adds the far sums of all chunks, then the near sums of all pieces, from first to last.
struct AddPartialSums {
  View<const double> far, near;
  /// [groups of stations + 1] index of the group's first piece, and the end.
  View<const std::uint64_t> first_piece;
  View<double> sums;               ///< [channels][stations]
  std::uint32_t chunks, stations;  ///< numbers of chunks and of groups of stations
  TERRANE_FN void operator()(std::size_t i) const {
    double sum = 0;
    for (std::uint32_t c = 0; c < chunks; ++c) sum += far[c * sums.size + i];
    const std::size_t row = std::size_t{stations} * device_tile, channel = i / row,
                      channels = sums.size / row, station = i % row, group = station / device_tile;
    double close = 0;
    for (std::uint64_t p = first_piece[group]; p < first_piece[group + 1]; ++p)
      close += near[(p * channels + channel) * device_tile + station % device_tile];
    sums[i] = sum + close;
  }
};

/// Computes the centre and mass of each prism in units of its tile.
template <class Real>
struct PrepareSources {
  View<const double> low[3], high[3], density;
  View<const DeviceTile> tiles;
  View<Source<Real>> sources;
  TERRANE_FN void operator()(std::size_t i) const {
    const DeviceTile& tile = tiles[i / device_tile];
    if (i % device_tile >= tile.count) return;
    const std::size_t n = tile.first + i % device_tile;
    const double unit = tile.length;
    double side[3], centre[3];
    for (int a = 0; a < 3; ++a) {
      const double l = low[a][n], h = high[a][n];
      side[a] = h - l;
      centre[a] = 0.5 * ((l - tile.low[a]) + (h - tile.low[a])) * tile.inverse_length;
    }
    const double mass =
        density[n] * (1 / (tile.density * unit * unit * unit)) * (side[0] * side[1] * side[2]);
    sources[n] = {static_cast<Real>(centre[0]), static_cast<Real>(centre[1]), static_cast<Real>(centre[2]),
                  static_cast<Real>(mass)};
  }
};

/// The shape of at least 7/8 of all tiles; `shapes` if there is none. Kernels have separate code for tiles of
/// this shape; if fewer tiles had it, multiprocessors would alternate between both codes, which together
/// exceed their instruction caches.
std::uint32_t common_shape(std::span<const DeviceTile> tiles, std::size_t shapes) {
  std::vector<std::size_t> tiles_of(shapes + 1);
  for (const auto& tile : tiles)
    if (tile.shape != DeviceTile::no_shape) ++tiles_of[tile.shape];
  const auto most = std::max_element(tiles_of.begin(), tiles_of.end());
  return static_cast<std::uint32_t>(
      *most < tiles.size() - tiles.size() / 8 ? shapes : static_cast<std::size_t>(most - tiles_of.begin()));
}

MultipoleTables multipole_tables() {
  MultipoleTables tables;
  std::memcpy(tables.order_2, tables::order_2, sizeof tables.order_2);
  std::memcpy(tables.order_4, tables::order_4, sizeof tables.order_4);
  std::memcpy(tables.order_6, tables::order_6, sizeof tables.order_6);
  std::memcpy(tables.order_8, tables::order_8, sizeof tables.order_8);
  return tables;
}

double power_of_two_near(double x) { return x > 0 ? std::ldexp(1.0, std::ilogb(x)) : 1.0; }

}  // namespace

double operations_at_once(Device device) {
  return device.kind == Device::Kind::cuda ? gpu(device.index).fp64_per_second / 2 : 1.25e9;
}

// ---- prisms ----

DeviceSources::DeviceSources(Stream& stream, const Prisms& prisms, const Turn& turn,
                             const Switching& switching, std::vector<std::uint32_t> order,
                             const std::vector<PrismRange>& ranges, Precision precision, int threads)
    : switching_(switching), precision_(precision), density_(prisms.density), order_(std::move(order)) {
  const auto faces = boxes(prisms);
  for (int a = 0; a < 3; ++a) {
    low_[a] = faces.low[turn.axis[a]];
    high_[a] = faces.high[turn.axis[a]];
  }
  upload_columns(stream, threads);
  auto tiles = cut_into_tiles(ranges);
  for_each((tiles.size() + 255) / 256, threads, [&](std::size_t c) {
    for (std::size_t t = c * 256; t < std::min((c + 1) * 256, tiles.size()); ++t) measure(tiles[t]);
  });
  const auto shapes = find_shapes(tiles);
  for (auto& tile : tiles) tile.inverse_length = 1 / tile.length;
  const auto common = common_shape(tiles, shapes.coefficients.size());
  tiles_ = Buffer<DeviceTile>(stream.device(), tiles.size());
  tiles_.upload(stream, tiles);
  if (precision == Precision::single_precision)
    prepare<float>(stream, shapes.coefficients, shapes.length, common);
  else prepare<double>(stream, shapes.coefficients, shapes.length, common);
  const MultipoleTables tables = multipole_tables();
  tables_ = Buffer<MultipoleTables>(stream.device(), 1);
  tables_.upload(stream, {&tables, 1});
}

/// Uploads faces and densities in the device's order.
void DeviceSources::upload_columns(Stream& stream, int threads) {
  const std::size_t count = order_.size();
  std::vector<double> column(count);
  const auto upload = [&](std::span<const double> from, Buffer<double>& to) {
    constexpr std::size_t chunk = 1 << 16;
    for_each((count + chunk - 1) / chunk, threads, [&](std::size_t c) {
      for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, count); ++i) column[i] = from[order_[i]];
    });
    to = Buffer<double>(stream.device(), count);
    to.upload(stream, column);
  };
  for (int a = 0; a < 3; ++a) {
    upload(low_[a], device_low_[a]);
    upload(high_[a], device_high_[a]);
  }
  upload(density_, device_density_);
}

std::vector<DeviceTile> DeviceSources::cut_into_tiles(const std::vector<PrismRange>& ranges) {
  std::vector<DeviceTile> tiles;
  for (const auto& range : ranges) {
    first_tile_.push_back(static_cast<std::uint32_t>(tiles.size()));
    for (std::uint32_t done = 0; done < range.count; done += device_tile) {
      DeviceTile tile{};
      tile.first = range.first + done;
      tile.count = std::min<std::uint32_t>(device_tile, range.count - done);
      tiles.push_back(tile);
    }
  }
  first_tile_.push_back(static_cast<std::uint32_t>(tiles.size()));
  return tiles;
}

/// Sets the tile's box of centres, longest side and units, and whether its prisms have one shape.
void DeviceSources::measure(DeviceTile& tile) const {
  std::fill_n(tile.low, 3, INFINITY);
  std::fill_n(tile.high, 3, -INFINITY);
  double first_side[3] = {}, most = 0;
  bool same = true;
  for (std::uint32_t i = 0; i < tile.count; ++i) {
    const std::size_t n = order_[tile.first + i];
    for (int a = 0; a < 3; ++a) {
      const double side = high_[a][n] - low_[a][n], centre = low_[a][n] + 0.5 * side;
      tile.low[a] = std::min(tile.low[a], centre);
      tile.high[a] = std::max(tile.high[a], centre);
      tile.longest = std::max(tile.longest, side);
      if (i == 0) first_side[a] = side;
      // Evenly spaced faces differ in the last bits; the shape only enters as a small correction.
      same = same && std::fabs(side - first_side[a]) <= switching_.shape_tolerance * first_side[a];
    }
    most = std::max(most, std::fabs(density_[n]));
  }
  // In float, mass times the fifth power of an inverse distance must not underflow. So the unit of density is
  // small, and masses are large numbers.
  const bool single = precision_ == Precision::single_precision;
  tile.length = single ? power_of_two_near(tile.longest) : 1;
  tile.density = single ? std::ldexp(power_of_two_near(std::max(most, 0x1p-900)), -60) : 1;
  tile.shape = same ? 0 : DeviceTile::no_shape;
}

/// Lists the different shapes of tiles whose prisms are alike, and stores the index of its shape in each
/// tile.
DeviceSources::Shapes DeviceSources::find_shapes(std::vector<DeviceTile>& tiles) const {
  using Sides = std::array<double, 3>;
  std::map<std::array<float, 3>, std::vector<std::pair<Sides, std::uint32_t>>> known;
  Shapes shapes;
  Sides last{};
  std::uint32_t last_shape = DeviceTile::no_shape;
  for (auto& tile : tiles) {
    if (tile.shape == DeviceTile::no_shape) continue;
    const std::size_t n = order_[tile.first];
    const Sides sides{high_[0][n] - low_[0][n], high_[1][n] - low_[1][n], high_[2][n] - low_[2][n]};
    const auto alike = [&](const Sides& other) {
      for (std::size_t a = 0; a < 3; ++a)
        if (std::fabs(other[a] - sides[a]) > switching_.shape_tolerance * sides[a]) return false;
      return true;
    };
    if (last_shape == DeviceTile::no_shape || !alike(last)) {
      auto& bucket =
          known[{static_cast<float>(sides[0]), static_cast<float>(sides[1]), static_cast<float>(sides[2])}];
      const auto found =
          std::find_if(bucket.begin(), bucket.end(), [&](const auto& entry) { return alike(entry.first); });
      if (found != bucket.end()) {
        last = found->first;
        last_shape = found->second;
      } else {
        last = sides;
        last_shape = static_cast<std::uint32_t>(shapes.coefficients.size());
        shapes.coefficients.push_back(multipole_coefficients(sides[0], sides[1], sides[2]));
        shapes.length.push_back(tile.length);
        bucket.emplace_back(last, last_shape);
      }
    }
    tile.shape = last_shape;
    tile.length = shapes.length[last_shape];
  }
  return shapes;
}

template <class Real>
void DeviceSources::prepare(Stream& stream, std::span<const MultipoleCoefficients> shapes,
                            std::span<const double> length, std::uint32_t common_shape) {
  Prepared<Real> prepared;
  prepared.sources = Buffer<Source<Real>>(stream.device(), order_.size());
  terrane::for_each(
      stream, tiles_.size() * device_tile,
      PrepareSources<Real>{{device_low_[0].view(), device_low_[1].view(), device_low_[2].view()},
                           {device_high_[0].view(), device_high_[1].view(), device_high_[2].view()},
                           device_density_.view(),
                           tiles_.view(),
                           prepared.sources.view()});
  // The last element stays zero, for "no common shape".
  std::vector<TileCoefficients<Real>> scaled(shapes.size() + 1);
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const auto in_units = [&](const auto& from, auto& to, int power) {
      const double unit = std::pow(length[s], -power);  // length is a power of two, so this is exact
      for (std::size_t i = 0; i < std::size(from); ++i) to[i] = static_cast<Real>(from[i] * unit);
    };
    in_units(shapes[s].t2, scaled[s].t2, 2);
    in_units(shapes[s].t4, scaled[s].t4, 4);
    in_units(shapes[s].t6, scaled[s].t6, 6);
    in_units(shapes[s].t8, scaled[s].t8, 8);
  }
  prepared.common_shape = common_shape;
  prepared.common = scaled[common_shape];
  // This upload waits for the stream, so that the sources are complete when other streams read them.
  prepared.shapes = Buffer<TileCoefficients<Real>>(stream, scaled);
  if constexpr (sizeof(Real) < sizeof(double)) float_ = std::move(prepared);
  else double_ = std::move(prepared);
}

double DeviceSources::bytes(std::size_t prisms) {
  return static_cast<double>(prisms) *
         (7.0 * sizeof(double) + sizeof(Source<double>) +
          (sizeof(DeviceTile) + sizeof(TileCoefficients<double>)) / double{device_tile});
}

template <class Real>
DeviceEarth<Real> DeviceSources::view() const {
  const auto& prepared = [this]() -> const Prepared<Real>& {
    if constexpr (sizeof(Real) < sizeof(double)) return float_;
    else return double_;
  }();
  return {{device_low_[0].view(), device_low_[1].view(), device_low_[2].view()},
          {device_high_[0].view(), device_high_[1].view(), device_high_[2].view()},
          device_density_.view(),
          prepared.sources.view(),
          tiles_.view(),
          prepared.shapes.view(),
          prepared.common_shape,
          prepared.common,
          tables_.view(),
          switching_,
          sizeof(Real) < sizeof(double) ? 0.5 : 0.0};
}

Prism DeviceSources::prism(std::uint32_t place) const {
  const std::size_t n = order_[place];
  return {low_[0][n], high_[0][n], low_[1][n], high_[1][n], low_[2][n], high_[2][n]};
}

// ---- stations ----

DeviceReceivers::DeviceReceivers(Stream& stream, const Stations& stations, const Turn& turn, int threads,
                                 std::span<const std::uint32_t> order) {
  const std::span<const double> given[3] = {stations.easting, stations.northing, stations.up};
  for (int a = 0; a < 3; ++a) at_[a] = given[turn.axis[a]];
  if (order.empty()) order_ = compact_order(at_[0], at_[1], at_[2], device_tile, threads);
  else order_.assign(order.begin(), order.end());
  const std::size_t count = order_.size(), groups = (count + device_tile - 1) / device_tile;
  bounds_.resize(groups);
  std::vector<StationBox> boxes(groups);
  std::vector<double> column(groups * device_tile);
  for (int a = 0; a < 3; ++a) {
    constexpr std::size_t chunk = 256;
    for_each((groups + chunk - 1) / chunk, threads, [&](std::size_t c) {
      for (std::size_t g = c * chunk; g < std::min((c + 1) * chunk, groups); ++g) {
        const auto row = std::span(column).subspan(g * device_tile, device_tile);
        for (std::size_t t = 0; t < row.size(); ++t)
          row[t] = at_[a][order_[std::min(g * device_tile + t, count - 1)]];
        const auto [least, most] = std::minmax_element(row.begin(), row.end());
        bounds_[g].low[a] = boxes[g].low[a] = *least;
        bounds_[g].high[a] = boxes[g].high[a] = *most;
      }
    });
    device_at_[a] = Buffer<double>(stream.device(), column.size());
    device_at_[a].upload(stream, column);
  }
  boxes_ = Buffer<StationBox>(stream.device(), groups);
  boxes_.upload(stream, boxes);
}

DeviceStations DeviceReceivers::view(std::size_t first, std::size_t last) const {
  const auto cut = [](auto view, std::size_t from, std::size_t to) {
    view.data += from;
    view.size = to - from;
    return view;
  };
  DeviceStations stations{};
  for (int a = 0; a < 3; ++a)
    stations.at[a] = cut(device_at_[a].view(), first * device_tile, last * device_tile);
  stations.boxes = cut(boxes_.view(), first, last);
  stations.count = std::min(last * device_tile, order_.size()) - first * device_tile;
  return stations;
}

std::span<const std::uint32_t> DeviceReceivers::stations(std::size_t first, std::size_t last) const {
  const std::size_t begin = first * device_tile, end = std::min(last * device_tile, order_.size());
  return {order_.data() + begin, end - begin};
}

void DeviceReceivers::at(std::size_t place, double (&position)[3]) const {
  for (int a = 0; a < 3; ++a) position[a] = at_[a][order_[place]];
}

// ---- the sum ----

namespace {

/// Enlarges a buffer whose size varies between calls: to a quarter more than is needed now.
template <class T>
void enlarge_amply(Stream& stream, Buffer<T>& buffer, std::size_t size) {
  if (buffer.size() < size) enlarge(stream, buffer, size + size / 4);
}

}  // namespace

DeviceTileSum::DeviceTileSum(Stream& stream, const DeviceSources& sources, const DeviceReceivers& receivers,
                             const Turn& turn, std::size_t set)
    : stream_(stream),
      near_stream_(stream.device(), true),
      sources_(sources),
      receivers_(receivers),
      turn_(turn),
      set_(set),
      found_(stream.device(), 1) {}

std::size_t DeviceTileSum::bytes_per_group(std::uint32_t chunks) const {
  const std::size_t values = kernel_sets[set_].size() * device_tile * sizeof(double);
  return chunks * (values + sizeof(std::uint64_t)) + near_tiles_expected * sizeof(std::uint32_t) +
         near_pieces_expected * (values + sizeof(TilePieces::Piece));
}

void DeviceTileSum::release() {
  for (auto* buffer : {&far_sums_, &near_sums_}) *buffer = {};
  for (auto* buffer : {&all_start_, &near_start_, &first_piece_}) *buffer = {};
  for (auto* buffer : {&all_list_, &near_list_}) *buffer = {};
  pieces_ = {};
  host_pairs_ = {};
}

void DeviceTileSum::make_room(std::size_t groups, const Lists& lists) {
  const std::size_t values = groups * kernel_sets[set_].size() * device_tile;
  enlarge(stream_, far_sums_, values * lists.chunks);
  enlarge(near_stream_, near_start_, groups * lists.chunks + 1);
  enlarge(near_stream_, near_list_, groups * near_tiles_expected);
  enlarge(near_stream_, pieces_, groups * near_pieces_expected);
  enlarge(near_stream_, near_sums_, near_pieces_expected * values);
  enlarge(near_stream_, first_piece_, groups + 1);
  enlarge(near_stream_, host_pairs_, std::size_t{1} << 14);
  enlarge_amply(stream_, all_start_, lists.start.size());
  enlarge_amply(stream_, all_list_, lists.tile.size());
}

/// Lists the near tiles of every group of stations and cuts the lists into pieces.
template <class Real>
void DeviceTileSum::list_near(const DeviceEarth<Real>& earth, const DeviceStations& stations,
                              const TileLists& all) {
  const std::size_t groups = std::size_t{all.stations} * all.chunks;
  terrane::for_each(near_stream_, groups, FindNear<Real>{earth, stations, all, near_start_.view(), {}, {}});
  std::vector<std::uint64_t> start(groups + 1);
  near_start_.download(near_stream_, {start.data(), groups});
  std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint64_t{0});
  near_start_.upload(near_stream_, start);
  if (start.back() > 0) {
    enlarge_amply(near_stream_, near_list_, start.back());
    terrane::for_each(near_stream_, groups,
                      FindNear<Real>{earth, stations, all, {}, near_start_.view(), near_list_.view()});
  }
  std::vector<TilePieces::Piece> pieces;
  std::vector<std::uint64_t> first_piece;
  for (std::uint32_t g = 0; g < all.stations; ++g) {
    first_piece.push_back(pieces.size());
    const std::uint64_t last = start[std::size_t{g + 1} * all.chunks];
    for (std::uint64_t at = start[std::size_t{g} * all.chunks]; at < last; at += tiles_per_piece)
      pieces.push_back({at, std::min(at + tiles_per_piece, last), g});
  }
  first_piece.push_back(pieces.size());
  enlarge_amply(near_stream_, pieces_, pieces.size());
  pieces_.upload(near_stream_, pieces);
  first_piece_.upload(near_stream_, first_piece);
  piece_count_ = pieces.size();
}

template <class Real>
void DeviceTileSum::run_in(const DeviceStations& stations, const TileLists& all, View<double> sums) {
  const auto earth = sources_.view<Real>();
  const auto& kernels = device_kernels<Real>(set_);
  const std::size_t width = kernel_sets[set_].size();
  kernels.far(stream_, earth, stations, all, far_sums_.view());
  // Near tiles are computed at the same time as far tiles, in another stream, which has priority.
  list_near(earth, stations, all);
  enlarge_amply(near_stream_, near_sums_, piece_count_ * width * device_tile);
  const TilePieces near{{pieces_.view().data, piece_count_}, near_list_.view()};
  std::uint64_t found = 0;
  for (bool again = piece_count_ > 0; again;) {
    found_.fill_zero(near_stream_);
    kernels.near(near_stream_, earth, stations, near, near_sums_.view(), host_pairs_.view(), found_.view());
    found_.download(near_stream_, {&found, 1});
    again = found > host_pairs_.size();  // there were more pairs than the array holds
    if (again) enlarge(near_stream_, host_pairs_, found + found / 4);
  }
  terrane::for_each(stream_, sums.size,
                    AddPartialSums{far_sums_.view(), near_sums_.view(), first_piece_.view(), sums, all.chunks,
                                   all.stations});
  pairs_.resize(found);
  host_pairs_.download(near_stream_, pairs_);
  // The threads of the device have listed the pairs in any order.
  std::sort(pairs_.begin(), pairs_.end(), [](const HostPair& a, const HostPair& b) {
    return a.station < b.station || (a.station == b.station && a.prism < b.prism);
  });
}

void DeviceTileSum::run(std::size_t first, std::size_t last, const Lists& lists, View<double> sums) {
  TileLists all{static_cast<std::uint32_t>(sources_.tiles()),
                lists.chunks,
                static_cast<std::uint32_t>(last - first),
                {},
                {}};
  make_room(last - first, lists);
  if (!lists.start.empty()) {
    all_start_.upload(stream_, lists.start);
    all_list_.upload(stream_, lists.tile);
    all.start = all_start_.view();
    all.list = all_list_.view();
  }
  const auto stations = receivers_.view(first, last);
  if (sources_.precision() == Precision::single_precision) run_in<float>(stations, all, sums);
  else run_in<double>(stations, all, sums);
}

void DeviceTileSum::add_host_pairs(std::size_t first, const std::vector<HostPair>& pairs,
                                   std::span<double> values, std::size_t row, std::vector<Contact>& contacts,
                                   int threads) const {
  if (pairs.empty()) return;
  const auto list = kernel_sets[set_].list();
  const Switching& switching = sources_.switching();
  // Tasks are cut between stations, so that no two tasks add to one station.
  std::vector<std::size_t> cut{0};
  for (std::size_t i = 1; i < pairs.size(); ++i)
    if (i - cut.back() >= 256 && pairs[i].station != pairs[i - 1].station) cut.push_back(i);
  cut.push_back(pairs.size());
  std::vector<std::vector<Contact>> touched(cut.size() - 1);
  for_each(touched.size(), threads, [&](std::size_t task) {
    for (std::size_t i = cut[task]; i < cut[task + 1]; ++i) {
      const auto& pair = pairs[i];
      double at[3];
      receivers_.at(first * device_tile + pair.station, at);
      const Prism prism = sources_.prism(pair.prism);
      const double density = sources_.density(pair.prism);
      const auto f = field_of_prism(prism, at[0], at[1], at[2], switching);
      const double q[10] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
      for (std::size_t c = 0; c < list.size(); ++c)
        values[c * row + pair.station] += density * q[static_cast<std::size_t>(list[c])];
      const double x[2] = {prism.west - at[0], prism.east - at[0]},
                   y[2] = {prism.south - at[1], prism.north - at[1]},
                   z[2] = {prism.bottom - at[2], prism.top - at[2]};
      if (x[0] <= 0 && x[1] >= 0 && y[0] <= 0 && y[1] >= 0 && z[0] <= 0 && z[1] >= 0)
        touched[task].push_back({receivers_.station(first * device_tile + pair.station), density,
                                 turned_back(octants_filled(x, y, z), turn_)});
    }
  });
  for (const auto& some : touched) contacts.insert(contacts.end(), some.begin(), some.end());
}

// ---- in parts ----

DeviceSummation::DeviceSummation(Device device, const Prisms& prisms, const Stations& stations,
                                 ChannelSet channels, const Turn& turn, const Switching& switching,
                                 std::vector<std::uint32_t> order, const std::vector<PrismRange>& ranges,
                                 Precision precision, int threads, const DeviceSummation* same_stations,
                                 std::span<const std::uint32_t> station_order)
    : channels_(channels),
      threads_(threads),
      turn_(turn),
      set_(smallest_kernel_set(turn.channels)),
      stream_(device),
      sources_(stream_, prisms, turn, switching, std::move(order), ranges, precision, threads),
      receivers_(same_stations
                     ? same_stations->receivers_
                     : std::make_shared<DeviceReceivers>(stream_, stations, turn, threads, station_order)),
      sum_(stream_, sources_, *receivers_, turn, set_) {}

std::size_t DeviceSummation::parts() const {
  return (receivers_->groups() + groups_per_part - 1) / groups_per_part;
}

std::size_t DeviceSummation::last_group(std::size_t part) const {
  return std::min((part + 1) * groups_per_part, receivers_->groups());
}

Summation::Part DeviceSummation::part(std::size_t index) const {
  return {receivers_->stations(index * groups_per_part, last_group(index)), channels_};
}

void DeviceSummation::sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) {
  const Range all{first, last};
  sum_ranges({&all, 1}, take, progress);
}

void DeviceSummation::sum_ranges(std::span<const Range> ranges, const Take& take, Progress& progress) {
  std::uint64_t stations = 0;
  std::size_t left = 0;
  for (const auto& range : ranges) {
    left += range.size();
    for (std::size_t p = range.first; p < range.last; ++p) stations += part(p).stations.size();
  }
  progress.start("gravity", stations);
  device_seconds_ = 0;
  std::size_t at_once = (groups_at_once() + groups_per_part - 1) / groups_per_part;
  const int threads = thread_count(threads_);  // within another thread, thread_count() may return another
                                               // number
  std::future<void> handed;
  for (const auto& range : ranges)
    for (std::size_t begin = range.first; begin < range.last;) {
      if (progress.cancelled()) throw Cancelled();
      const auto batch = std::make_shared<Batch>(begin, std::min(begin + at_once, range.last));
      const std::size_t size = batch->last - batch->first;
      try {
        compute(*batch, progress);
      } catch (const MemoryError&) {
        if (size == 1) throw;
        at_once = size / 2;  // other processes may have allocated memory meanwhile
        stream_.wait();
        sums_ = {};
        sum_.release();
        continue;
      }
      for (std::size_t p = batch->first; p < batch->last; ++p) progress.advance(part(p).stations.size());
      begin = batch->last;
      left -= size;
      if (handed.valid()) handed.get();
      const auto hand = [=, this, &take] { hand_over(*batch, take, threads); };
      // The last batch needs no other thread. Other batches do without one if the system has no thread left.
      if (left == 0) hand();
      else try {
          handed = std::async(std::launch::async, hand);
        } catch (const std::system_error&) {
          hand();
        }
    }
  if (handed.valid()) handed.get();
  if (progress.cancelled()) throw Cancelled();
  progress.finish();
}

void DeviceSummation::compute(Batch& batch, Progress& progress) {
  const std::size_t first = batch.first * groups_per_part, groups = last_group(batch.last - 1) - first,
                    size = kernel_sets[set_].size() * groups * device_tile;
  enlarge(stream_, sums_, size);
  const auto start = std::chrono::steady_clock::now();
  run(first, first + groups, {sums_.view().data, size}, progress);
  stream_.wait();
  device_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  batch.values.resize(size);
  sums_.download(stream_, batch.values);
  batch.pairs = sum_.take_host_pairs();
}

void DeviceSummation::hand_over(Batch& batch, const Take& take, int threads) const {
  const std::size_t first = batch.first * groups_per_part,
                    row = (last_group(batch.last - 1) - first) * device_tile;
  std::vector<Contact> contacts;
  sum_.add_host_pairs(first, batch.pairs, batch.values, row, contacts, threads);
  auto contact = contacts.begin();
  for (std::size_t p = batch.first; p < batch.last; ++p) {
    const auto here = part(p);
    PartSums out;
    std::size_t column = 0;
    for (const auto channel : kernel_sets[set_].list()) {
      if (turn_.channels.contains(channel)) {
        const auto begin =
            batch.values.begin() +
            static_cast<std::ptrdiff_t>(column * row + (p * groups_per_part - first) * device_tile);
        out.values.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(here.stations.size()));
      }
      ++column;
    }
    // Contacts are in the device's order, as are the stations of the parts.
    for (const auto station : here.stations)
      for (; contact != contacts.end() && contact->station == station; ++contact)
        out.contacts.push_back(*contact);
    take(p, std::move(out));
  }
}

}  // namespace terrane::gravity
