// Floor: channels + 1 FFTs a layer and group, 2.5 N log₂ N flops each, of arrays that do not fit the caches;
// tables of K cost less than half of that, and a quarter again where stations stand at the centres or the
// corners of cells.
#include "terrane/physics/gravity/lattice.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <mutex>

#include "terrane/base/error.hpp"
#include "terrane/parallel/for_each.hpp"
#include "terrane/physics/gravity/near_field.hpp"
#include "terrane/physics/gravity/tile_sets.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_layers = 4096, most_groups = 1024;
using Complex = std::complex<double>;

/// Memory aligned for FFTW's vector instructions.
class Array {
 public:
  Array() = default;
  explicit Array(std::size_t reals) : data_(fftw_alloc_real(reals)) {
    if (!data_) throw std::bad_alloc();
  }
  bool empty() const { return !data_; }
  double* real() const { return data_.get(); }
  Complex* complex() const { return reinterpret_cast<Complex*>(data_.get()); }

 private:
  struct Free {
    void operator()(double* p) const { fftw_free(p); }
  };
  std::unique_ptr<double, Free> data_;
};

/// FFTW makes and destroys plans one at a time in the whole process.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

/// The smallest number with no prime factor above 7 that is not below n.
std::size_t good_size(std::size_t n) {
  for (;; ++n) {
    std::size_t rest = n;
    for (const std::size_t p : {2U, 3U, 5U, 7U})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

/// Lags along one axis, −(cells − 1) + low .. high, and the distances that the table of K needs for them.
struct Lags {
  long first, count;
  int symmetry;  ///< 0 none; 1 stations at centres, x(−l) = −x(l); 2 at faces, x(1 − l) = −x(l)
  double offset;
  std::size_t distances = 0;

  Lags(const Lattice::Group& group, int axis, std::size_t cells)
      : first(group.low[axis] - static_cast<long>(cells) + 1),
        count(group.high[axis] - first + 1),
        symmetry(group.offset[axis] == 0      ? 1
                 : group.offset[axis] == -0.5 ? 2
                                              : 0),
        offset(group.offset[axis]) {
    for (long l = first; l < first + count; ++l) distances = std::max(distances, index(l) + 1);
  }
  std::size_t index(long lag) const {
    switch (symmetry) {
      case 1:
        return static_cast<std::size_t>(std::labs(lag));
      case 2:
        return static_cast<std::size_t>(lag >= 1 ? lag - 1 : -lag);
      default:
        return static_cast<std::size_t>(lag - first);
    }
  }
  bool mirrored(long lag) const { return symmetry != 0 && static_cast<double>(lag) + offset < 0; }
  /// In cells.
  double distance(std::size_t i) const {
    switch (symmetry) {
      case 1:
        return static_cast<double>(i);
      case 2:
        return static_cast<double>(i) + 0.5;
      default:
        return static_cast<double>(first + static_cast<long>(i)) + offset;
    }
  }
};

/// Whether a channel changes sign with the easting or northing of the station.
bool odd(Channel c, int axis) {
  switch (c) {
    case Channel::g_e:
    case Channel::g_eu:
      return axis == 0;
    case Channel::g_n:
    case Channel::g_nu:
      return axis == 1;
    case Channel::g_en:
      return true;
    default:
      return false;
  }
}

class PlainNearPairs final : public NearPairs {
 public:
  explicit PlainNearPairs(const Switching& switching) : switching_(switching) {}
  void evaluate(const PrismTile& tile, int p, int, double x, double y, double z, double (&q)[10]) override {
    const auto f = field_of_prism(
        {tile.west[p], tile.east[p], tile.south[p], tile.north[p], tile.bottom[p], tile.top[p]}, x, y, z,
        switching_);
    const double values[10] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
    std::copy_n(values, 10, q);
  }

 private:
  const Switching& switching_;
};

}  // namespace

// ---- recognition
// -------------------------------------------------------------------------------------------

std::optional<Lattice> recognise_lattice(const Prisms& prisms, const Stations& stations,
                                         std::string& reason) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const auto no = [&](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  if (prisms.size() == 0 || stations.size() == 0) return no("there is nothing to compute");
  Lattice lattice;
  const std::span<const double> low[2] = {prisms.west, prisms.south}, high[2] = {prisms.east, prisms.north};
  const std::span<const double> at[2] = {stations.easting, stations.northing};
  double slack[2];  // of coordinates, m
  for (int a = 0; a < 2; ++a) {
    const double width = high[a][0] - low[a][0];
    double least = low[a][0], most = high[a][0];
    for (std::size_t n = 0; n < prisms.size(); ++n) {
      if (std::fabs(high[a][n] - low[a][n] - width) > 1e-6 * width)
        return no(fmt::format("prisms 0 and {} have different widths", n));
      least = std::min(least, low[a][n]);
      most = std::max(most, high[a][n]);
    }
    const double cells = std::round((most - least) / width);
    if (cells > 1e6) return no("the prisms lie too far apart for a mesh");
    lattice.cells[a] = static_cast<std::size_t>(cells);
    lattice.corner[a] = least;
    lattice.spacing[a] = (most - least) / cells;
    slack[a] = 16 * eps * std::max(std::fabs(least), std::fabs(most));
  }
  const double plane = static_cast<double>(lattice.cells[0]) * static_cast<double>(lattice.cells[1]);
  for (std::size_t n = 0; n < prisms.size(); ++n) {
    const Lattice::Layer layer{prisms.bottom[n], prisms.top[n]};
    if (!lattice.layers.empty() && lattice.layers.back().bottom == layer.bottom &&
        lattice.layers.back().top == layer.top)
      continue;
    const auto less = [](const Lattice::Layer& x, const Lattice::Layer& y) {
      return x.bottom < y.bottom || (x.bottom == y.bottom && x.top < y.top);
    };
    lattice.layers.push_back(layer);
    if (lattice.layers.size() < 4 * most_layers && n + 1 < prisms.size()) continue;
    std::sort(lattice.layers.begin(), lattice.layers.end(), less);
    lattice.layers.erase(
        std::unique(lattice.layers.begin(), lattice.layers.end(),
                    [&](const auto& x, const auto& y) { return !less(x, y) && !less(y, x); }),
        lattice.layers.end());
    if (lattice.layers.size() > most_layers) return no("the prisms do not lie in layers");
  }
  std::sort(lattice.layers.begin(), lattice.layers.end(), [](const auto& x, const auto& y) {
    return x.bottom < y.bottom || (x.bottom == y.bottom && x.top < y.top);
  });
  lattice.layers.erase(
      std::unique(lattice.layers.begin(), lattice.layers.end(),
                  [](const auto& x, const auto& y) { return x.bottom == y.bottom && x.top == y.top; }),
      lattice.layers.end());
  const double all = plane * static_cast<double>(lattice.layers.size());
  if (lattice.layers.size() > most_layers || all > 1e3 * static_cast<double>(prisms.size()) + 1e6 ||
      all > 4e9)
    return no("the prisms fill too little of a mesh");

  // Stations first: there are fewer of them, and they are what usually does not fit.
  for (std::size_t n = 0; n < stations.size(); ++n) {
    long cell[2];
    double offset[2];
    for (int a = 0; a < 2; ++a) {
      const double place = (at[a][n] - lattice.corner[a]) / lattice.spacing[a] - 0.5;
      if (std::fabs(place) > 1e6) return no("stations lie too far from the mesh");
      const double near =
          (slack[a] + 16 * eps * std::fabs(at[a][n])) / lattice.spacing[a] + 16 * eps * std::fabs(place);
      cell[a] = std::lround(std::floor(place + 0.5));
      offset[a] = place - static_cast<double>(cell[a]);
      if (offset[a] > 0.5 - near) {
        offset[a] -= 1;
        ++cell[a];
      }
      if (std::fabs(offset[a]) <= near) offset[a] = 0;
      if (std::fabs(offset[a] + 0.5) <= near) offset[a] = -0.5;
      if (near > 1e-6) return no("coordinates are too large for the size of the cells");
    }
    const auto fits = [&](const Lattice::Group& g) {
      const auto same = [&](int a) {
        return std::fabs(g.offset[a] - offset[a]) * lattice.spacing[a] <=
               2 * slack[a] + 32 * eps * std::fabs(at[a][n]);
      };
      return g.up == stations.up[n] && same(0) && same(1);
    };
    std::size_t g = lattice.groups.size();
    // Neighbours in a list mostly belong to groups found lately.
    for (std::size_t back = 0; back < lattice.groups.size(); ++back)
      if (fits(lattice.groups[lattice.groups.size() - 1 - back])) {
        g = lattice.groups.size() - 1 - back;
        break;
      }
    if (g == lattice.groups.size()) {
      if (g == most_groups || g > 16 + n / 4) return no("the stations are not in step with the mesh");
      Lattice::Group group{};
      std::copy_n(offset, 2, group.offset);
      group.up = stations.up[n];
      std::copy_n(cell, 2, group.low);
      std::copy_n(cell, 2, group.high);
      lattice.groups.push_back(std::move(group));
    }
    auto& group = lattice.groups[g];
    group.station.push_back(static_cast<std::uint32_t>(n));
    for (int a = 0; a < 2; ++a) {
      group.cell[a].push_back(static_cast<std::int32_t>(cell[a]));
      group.low[a] = std::min(group.low[a], cell[a]);
      group.high[a] = std::max(group.high[a], cell[a]);
    }
  }

  lattice.place.resize(prisms.size());
  std::vector<bool> filled(static_cast<std::size_t>(all));
  std::size_t layer = 0;
  for (std::size_t n = 0; n < prisms.size(); ++n) {
    long cell[2];
    for (int a = 0; a < 2; ++a) {
      cell[a] = std::lround((low[a][n] - lattice.corner[a]) / lattice.spacing[a]);
      const double face = lattice.corner[a] + static_cast<double>(cell[a]) * lattice.spacing[a];
      if (std::fabs(low[a][n] - face) > slack[a] ||
          std::fabs(high[a][n] - face - lattice.spacing[a]) > slack[a])
        return no(fmt::format("prism {} is out of step with the mesh of the others", n));
    }
    const auto here = [&](std::size_t l) {
      return lattice.layers[l].bottom == prisms.bottom[n] && lattice.layers[l].top == prisms.top[n];
    };
    if (!here(layer))
      layer = static_cast<std::size_t>(std::partition_point(lattice.layers.begin(), lattice.layers.end(),
                                                            [&](const auto& l) {
                                                              return l.bottom < prisms.bottom[n] ||
                                                                     (l.bottom == prisms.bottom[n] &&
                                                                      l.top < prisms.top[n]);
                                                            }) -
                                       lattice.layers.begin());
    const std::size_t place =
        static_cast<std::size_t>(cell[0]) +
        lattice.cells[0] * (static_cast<std::size_t>(cell[1]) + lattice.cells[1] * layer);
    if (filled[place]) return no(fmt::format("prism {} lies where another is", n));
    filled[place] = true;
    lattice.place[n] = static_cast<std::uint32_t>(place);
  }
  return lattice;
}

// ---- the operator
// ------------------------------------------------------------------------------------------

/// Sizes and FFTs of one group.
struct LatticeOperator::Plans {
  Lags lags[2];
  std::size_t n[2], row, reals;  // sizes; complex numbers in a row; doubles in an array
  fftw_plan forward = nullptr, backward = nullptr;

  Plans(const Lattice::Group& group, const Lattice& lattice)
      : lags{{group, 0, lattice.cells[0]}, {group, 1, lattice.cells[1]}} {
    for (int a = 0; a < 2; ++a) n[a] = good_size(static_cast<std::size_t>(lags[a].count));
    row = n[0] / 2 + 1;
    reals = 2 * row * n[1];
  }
  /// Makes the transforms; until then only sizes are known, so that a lattice too large to hold can be
  /// costed.
  void prepare() {
    if (forward != nullptr) return;
    Array array(reals);
    auto* complex = reinterpret_cast<fftw_complex*>(array.complex());
    const std::lock_guard lock(planning());
    // Measuring plans would change with the load of the machine, and the last bits with them.
    forward = fftw_plan_dft_r2c_2d(static_cast<int>(n[1]), static_cast<int>(n[0]), array.real(), complex,
                                   FFTW_ESTIMATE);
    backward = fftw_plan_dft_c2r_2d(static_cast<int>(n[1]), static_cast<int>(n[0]), complex, array.real(),
                                    FFTW_ESTIMATE);
  }
  ~Plans() {
    const std::lock_guard lock(planning());
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  /// For the spectra and the tables of one layer.
  std::size_t layer_bytes(std::size_t channels) const {
    return (reals * (channels + 1) + lags[0].distances * lags[1].distances * channels) * sizeof(double);
  }
  void transform(const Array& a) const {
    fftw_execute_dft_r2c(forward, a.real(), reinterpret_cast<fftw_complex*>(a.complex()));
  }
  void transform_back(const Array& a) const {
    fftw_execute_dft_c2r(backward, reinterpret_cast<fftw_complex*>(a.complex()), a.real());
  }
};

struct LatticeOperator::Spectra {
  std::array<Array, channel_count> channel;  // of K, those that are known
};

/// The prisms of each layer, and of each cell.
struct LatticeOperator::Layers {
  std::vector<std::size_t> start;     // [layers + 1]
  std::vector<std::uint32_t> member;  // [prisms] by layer
  std::vector<std::uint32_t> cell;    // [cells] made when the first station needs it
};

LatticeOperator::LatticeOperator(Lattice lattice, ChannelSet channels, bool keep)
    : lattice_(std::move(lattice)), channels_(channels), computed_(channels), keep_(keep) {
  // Outside all layers Γuu = −(Γee + Γnn).
  const bool outside = std::all_of(lattice_.groups.begin(), lattice_.groups.end(), [&](const auto& g) {
    return std::all_of(lattice_.layers.begin(), lattice_.layers.end(),
                       [&](const auto& l) { return g.up < l.bottom || g.up > l.top; });
  });
  if (outside && channels.contains(ChannelSet{Channel::g_ee, Channel::g_nn, Channel::g_uu}))
    computed_ = ChannelSet::from_bits(channels.bits() & ~ChannelSet{Channel::g_uu}.bits());
  const ChannelSet laplace{Channel::g_ee, Channel::g_nn, Channel::g_uu};
  for (std::size_t g = 0; g < lattice_.groups.size(); ++g) {
    plans_.push_back(std::make_unique<Plans>(lattice_.groups[g], lattice_));
    bool first = true;
    for (const auto channel : channels_.list()) {
      if (computed_ == channels_ || !laplace.contains(ChannelSet{channel}))
        parts_.push_back({g, ChannelSet{channel}, first});
      else if (channel == Channel::g_ee) parts_.push_back({g, laplace, first});
      first = false;
    }
  }
  if (keep_) spectra_.resize(lattice_.groups.size() * lattice_.layers.size());
}

LatticeOperator::~LatticeOperator() = default;
LatticeOperator::LatticeOperator(LatticeOperator&&) noexcept = default;

LatticeCost LatticeOperator::cost() const {
  LatticeCost cost;
  const double layers = static_cast<double>(lattice_.layers.size()),
               channels = static_cast<double>(computed_.size());
  std::size_t most = 0;
  for (const auto& p : plans_) {
    const double size = static_cast<double>(p->reals);
    const double fft = 0.3e-9 * size * std::log2(size);
    cost.seconds +=
        fft * (layers * (channels + 1) + channels) + layers * channels * size * 1e-9 +
        layers * static_cast<double>(p->lags[0].distances * p->lags[1].distances) * (40e-9 + channels * 4e-9);
    cost.spectra_bytes += p->reals * sizeof(double) * lattice_.layers.size() * computed_.size();
    most = std::max(most, batch(*p, computed_.size()) * p->layer_bytes(computed_.size()) +
                              p->reals * computed_.size() * sizeof(double));
  }
  cost.memory_bytes = most + lattice_.place.size() * sizeof(std::uint32_t);
  return cost;
}

/// K at a row of the distances that the lags of the group need, for one layer: values
/// [channels][north][east]. Always by the kernels of all channels, whose last bits may differ from those of
/// fewer.
void LatticeOperator::table(const Lattice::Group& group, const Lattice::Layer& layer, std::size_t j,
                            ChannelSet channels, double* values) const {
  const Lags x(group, 0, lattice_.cells[0]), y(group, 1, lattice_.cells[1]);
  const std::size_t plane = x.distances * y.distances;
  const double half[2] = {0.5 * lattice_.spacing[0], 0.5 * lattice_.spacing[1]}, one = 1;
  const double west = -half[0], south = -half[1];
  const Prisms cell{{&west, 1},         {&half[0], 1},   {&south, 1}, {&half[1], 1},
                    {&layer.bottom, 1}, {&layer.top, 1}, {&one, 1}};
  const auto switching = Switching::for_accuracy(best_accuracy);
  const Sources source(cell, Turn{{0, 1, 2}, computed_}, switching, {0});
  PrismTile tile;
  const double origin[3] = {0, 0, layer.bottom};
  source.load(0, 1, origin, tile);
  const std::size_t set = smallest_kernel_set(computed_), width = kernel_sets[set].size();
  const auto& kernels = kernel_target().kernels[set];
  const auto from_set = kernel_sets[set].list();
  PlainNearPairs near_pairs(switching);
  StationTile stations{};
  std::vector<double> sums(width * tile_size);
  for (std::size_t first = 0; first < x.distances; first += tile_size) {
    stations.count = static_cast<int>(std::min<std::size_t>(tile_size, x.distances - first));
    for (std::size_t s = 0; s < tile_size; ++s) {
      stations.x[s] = x.distance(std::min(first + s, x.distances - 1)) * lattice_.spacing[0];
      stations.y[s] = y.distance(j) * lattice_.spacing[1];
      stations.z[s] = group.up;
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    kernels.near(tile, stations, near_pairs, sums.data());
    std::size_t to = 0;
    for (std::size_t c = 0; c < width; ++c)
      if (channels.contains(from_set[c]))
        std::copy_n(sums.data() + c * tile_size, stations.count,
                    values + to++ * plane + j * x.distances + first);
  }
}

/// Layers done together: as many as a quarter of a gigabyte holds.
std::size_t LatticeOperator::batch(const Plans& plans, std::size_t channels) const {
  const std::size_t layer = plans.layer_bytes(channels);
  return std::clamp<std::size_t>((std::size_t{1} << 28) / layer, 1, lattice_.layers.size());
}

/// Writes K of one channel over all lags, the lag of the lowest station and the first cell first; lags
/// below it wrap around. from: at the distances of the lags [north][east]; to: an array of the FFT
void LatticeOperator::spread(const Plans& p, const Lattice::Group& group, Channel channel, const double* from,
                             double* to) {
  std::fill_n(to, p.reals, 0.0);
  const bool odd_x = odd(channel, 0), odd_y = odd(channel, 1);
  const auto wrapped = [&](long lag, int axis) {
    const long from_lowest = lag - group.low[axis];
    return static_cast<std::size_t>(from_lowest >= 0 ? from_lowest
                                                     : from_lowest + static_cast<long>(p.n[axis]));
  };
  for (long lag_y = p.lags[1].first; lag_y < p.lags[1].first + p.lags[1].count; ++lag_y) {
    double* const row = to + wrapped(lag_y, 1) * 2 * p.row;
    const double* const values = from + p.lags[1].index(lag_y) * p.lags[0].distances;
    const double sign_y = odd_y && p.lags[1].mirrored(lag_y) ? -1 : 1;
    for (long lag_x = p.lags[0].first; lag_x < p.lags[0].first + p.lags[0].count; ++lag_x)
      row[wrapped(lag_x, 0)] =
          (odd_x && p.lags[0].mirrored(lag_x) ? -sign_y : sign_y) * values[p.lags[0].index(lag_x)];
  }
}

Summation::Part LatticeOperator::part(std::size_t index) const {
  return {lattice_.groups[parts_[index].group].station, parts_[index].channels};
}

void LatticeOperator::sum(std::span<const double> density, std::size_t first, std::size_t last, int threads,
                          const Summation::Take& take, Progress& progress) {
  if (density.size() != lattice_.place.size())
    throw ShapeError("lattice: density",
                     fmt::format("{} values for {} prisms", density.size(), lattice_.place.size()),
                     "Give one density a prism.");
  const std::size_t layers = lattice_.layers.size(), plane = lattice_.cells[0] * lattice_.cells[1];
  Layers prisms;
  prisms.start.resize(layers + 1);
  for (const auto place : lattice_.place) ++prisms.start[place / plane + 1];
  for (std::size_t l = 0; l < layers; ++l) prisms.start[l + 1] += prisms.start[l];
  prisms.member.resize(density.size());
  auto next = prisms.start;
  for (std::size_t n = 0; n < density.size(); ++n)
    prisms.member[next[lattice_.place[n] / plane]++] = static_cast<std::uint32_t>(n);

  const auto end_of_group = [&](std::size_t p) {
    std::size_t end = p + 1;
    while (end < last && parts_[end].group == parts_[p].group) ++end;
    return end;
  };
  std::size_t groups = 0;
  for (std::size_t p = first; p < last; p = end_of_group(p)) ++groups;
  progress.start("gravity", groups * layers);
  for (std::size_t p = first; p < last; p = end_of_group(p))
    sum_group(p, end_of_group(p), prisms, density, threads, take, progress);
  progress.finish();
}

void LatticeOperator::sum_group(std::size_t first_part, std::size_t last_part, Layers& prisms,
                                std::span<const double> density, int threads, const Summation::Take& take,
                                Progress& progress) {
  ChannelSet wanted;
  for (std::size_t i = first_part; i < last_part; ++i) wanted = wanted | parts_[i].channels;
  const std::size_t g = parts_[first_part].group, layers = lattice_.layers.size(),
                    plane = lattice_.cells[0] * lattice_.cells[1];
  const auto& group = lattice_.groups[g];
  const auto list = (wanted & computed_).list();
  const std::size_t channels = list.size();
  plans_[g]->prepare();
  const Plans& p = *plans_[g];
  const std::size_t width = 2 * p.row, distances = p.lags[0].distances;
  std::array<Array, channel_count> total;
  for (const auto channel : list) total[static_cast<std::size_t>(channel)] = Array(p.reals);
  const auto total_of = [&](std::size_t c) -> const Array& {
    return total[static_cast<std::size_t>(list[c])];
  };
  for_each(channels, threads, [&](std::size_t c) { std::fill_n(total_of(c).real(), p.reals, 0.0); });
  const std::size_t at_once = batch(p, channels), rows = p.lags[1].distances, plane_of_k = distances * rows;
  std::vector<Array> masses;
  std::vector<Spectra> scratch(keep_ ? 0 : at_once);
  for (std::size_t l = 0; l < at_once; ++l) masses.emplace_back(p.reals);
  std::vector<double> values(at_once * channels * plane_of_k);
  for (std::size_t first_layer = 0; first_layer < layers; first_layer += at_once) {
    const std::size_t count = std::min(at_once, layers - first_layer);
    std::vector<Spectra*> kernel(count);
    std::vector<unsigned char> known(count * channels), all_known(count, 1);
    for (std::size_t l = 0; l < count; ++l) {
      if (keep_) {
        auto& kept = spectra_[g * layers + first_layer + l];
        if (!kept) kept = std::make_unique<Spectra>();
        kernel[l] = kept.get();
      } else {
        kernel[l] = &scratch[l];
      }
      for (std::size_t c = 0; c < channels; ++c) {
        auto& spectrum = kernel[l]->channel[static_cast<std::size_t>(list[c])];
        known[l * channels + c] = keep_ && !spectrum.empty();
        all_known[l] = all_known[l] && known[l * channels + c];
        if (spectrum.empty()) spectrum = Array(p.reals);
      }
    }
    for_each(count * rows, threads, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t l = task / rows;
      if (!all_known[l])
        table(group, lattice_.layers[first_layer + l], task % rows, wanted & computed_,
              values.data() + l * channels * plane_of_k);
    });
    for_each(count * (channels + 1), threads, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t l = task / (channels + 1);
      if (task % (channels + 1) == 0) {
        double* const to = masses[l].real();
        std::fill_n(to, p.reals, 0.0);
        for (std::size_t m = prisms.start[first_layer + l]; m < prisms.start[first_layer + l + 1]; ++m) {
          const std::size_t place = lattice_.place[prisms.member[m]] % plane;
          to[place / lattice_.cells[0] * width + place % lattice_.cells[0]] = density[prisms.member[m]];
        }
        p.transform(masses[l]);
        return;
      }
      const std::size_t c = task % (channels + 1) - 1;
      if (known[l * channels + c]) return;
      const auto& spectrum = kernel[l]->channel[static_cast<std::size_t>(list[c])];
      spread(p, group, list[c], values.data() + (l * channels + c) * plane_of_k, spectrum.real());
      p.transform(spectrum);
    });
    constexpr std::size_t rows_a_task = 64;
    const std::size_t pieces = (p.n[1] + rows_a_task - 1) / rows_a_task;
    for_each(channels * pieces, threads, [&](std::size_t task) {
      const std::size_t c = task / pieces, first = task % pieces * rows_a_task * p.row,
                        last = std::min(first + rows_a_task * p.row, p.n[1] * p.row);
      Complex* t = total_of(c).complex();
      for (std::size_t l = 0; l < count; ++l) {
        const Complex *a = masses[l].complex(),
                      *k = kernel[l]->channel[static_cast<std::size_t>(list[c])].complex();
        for (std::size_t i = first; i < last; ++i)
          t[i] += Complex(a[i].real() * k[i].real() - a[i].imag() * k[i].imag(),
                          a[i].real() * k[i].imag() + a[i].imag() * k[i].real());
      }
    });
    progress.advance(count);
  }
  for_each(channels, threads, [&](std::size_t c) { p.transform_back(total_of(c)); });

  const double scale = 1 / static_cast<double>(p.n[0] * p.n[1]);
  for (std::size_t i = first_part; i < last_part; ++i) {
    PartSums sums;
    for (const auto channel : parts_[i].channels.list()) {
      auto& out = sums.values.emplace_back(group.station.size());
      if (!computed_.contains(channel)) {  // Γuu comes after Γee and Γnn
        for (std::size_t s = 0; s < out.size(); ++s) out[s] = -sums.values[0][s] - sums.values[1][s];
        continue;
      }
      const double* const from = total[static_cast<std::size_t>(channel)].real();
      for (std::size_t s = 0; s < out.size(); ++s)
        out[s] = from[static_cast<std::size_t>(group.cell[1][s] - group.low[1]) * width +
                      static_cast<std::size_t>(group.cell[0][s] - group.low[0])] *
                 scale;
    }
    if (parts_[i].first) contacts(group, density, prisms, sums.contacts);
    take(i, std::move(sums));
  }
}

PartSums LatticeOperator::apply(std::span<const double> density, std::size_t stations, int threads,
                                Progress& progress) {
  LatticeSummation summation(std::shared_ptr<LatticeOperator>(std::shared_ptr<void>(), this), density,
                             threads);
  return sum_all(summation, channels_, stations, progress);
}

/// Stations inside and on cells, by their places on the lattice.
void LatticeOperator::contacts(const Lattice::Group& group, std::span<const double> density, Layers& prisms,
                               std::vector<Contact>& found) const {
  constexpr std::uint32_t none = 0xffffffffU;
  for (std::size_t l = 0; l < lattice_.layers.size(); ++l) {
    const auto& layer = lattice_.layers[l];
    if (group.up < layer.bottom || group.up > layer.top) continue;
    if (prisms.cell.empty()) {
      prisms.cell.assign(lattice_.cells[0] * lattice_.cells[1] * lattice_.layers.size(), none);
      for (std::size_t n = 0; n < lattice_.place.size(); ++n)
        prisms.cell[lattice_.place[n]] = static_cast<std::uint32_t>(n);
    }
    const double z[2] = {layer.bottom - group.up, layer.top - group.up};
    for (std::size_t s = 0; s < group.station.size(); ++s)
      for (int dj = group.offset[1] == -0.5 ? -1 : 0; dj <= 0; ++dj)
        for (int di = group.offset[0] == -0.5 ? -1 : 0; di <= 0; ++di) {
          const long i = group.cell[0][s] + di, j = group.cell[1][s] + dj;
          if (i < 0 || j < 0 || i >= static_cast<long>(lattice_.cells[0]) ||
              j >= static_cast<long>(lattice_.cells[1]))
            continue;
          const auto n =
              prisms.cell[static_cast<std::size_t>(i) +
                          lattice_.cells[0] * (static_cast<std::size_t>(j) + lattice_.cells[1] * l)];
          if (n == none) continue;
          const double x[2] = {-0.5 - group.offset[0] + di, 0.5 - group.offset[0] + di},
                       y[2] = {-0.5 - group.offset[1] + dj, 0.5 - group.offset[1] + dj};
          found.push_back({group.station[s], density[n], octants_filled(x, y, z)});
        }
  }
}

}  // namespace terrane::gravity
