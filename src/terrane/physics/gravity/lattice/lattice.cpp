// Least cost: channels + 1 FFTs per layer and group, 2.5 N log₂ N flops each, of arrays that do not fit the
// caches; tables of K cost less than half of that, and a quarter again where stations stand at the centres or
// the corners of cells.
#include "terrane/physics/gravity/lattice/lattice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <new>

#include "terrane/base/error.hpp"
#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

namespace {

using Complex = std::complex<double>;

/// Memory aligned for vector instructions.
class Array {
 public:
  Array() = default;
  explicit Array(std::size_t reals)
      : data_(static_cast<double*>(::operator new(reals * sizeof(double), alignment))) {}
  bool empty() const { return !data_; }
  double* real() const { return data_.get(); }
  Complex* complex() const { return reinterpret_cast<Complex*>(data_.get()); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(double* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<double, Free> data_;
};

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

/// The prisms by layer.
struct Layers {
  std::vector<std::size_t> start;     // [layers + 1]
  std::vector<std::uint32_t> member;  // [prisms]

  Layers(const Lattice& lattice, int threads) : start(lattice.layers.size() + 1) {
    const std::size_t layers = lattice.layers.size(), plane = lattice.plane(), prisms = lattice.place.size(),
                      chunk = std::max<std::size_t>(1 << 16, prisms / 64),
                      chunks = (prisms + chunk - 1) / chunk;
    const auto in_chunk = [&](std::size_t c, const auto& body) {
      for (std::size_t n = c * chunk; n < std::min((c + 1) * chunk, prisms); ++n)
        body(n, lattice.place[n] / plane);
    };
    std::vector<std::size_t> next(chunks * layers);  // counts, and then where a chunk's prisms go
    for_each(chunks, threads, [&](std::size_t c) {
      in_chunk(c, [&](std::size_t, std::size_t layer) { ++next[c * layers + layer]; });
    });
    std::size_t total = 0;
    for (std::size_t l = 0; l < layers; ++l) {
      start[l] = total;
      for (std::size_t c = 0; c < chunks; ++c) {
        const std::size_t count = next[c * layers + l];
        next[c * layers + l] = total;
        total += count;
      }
    }
    start[layers] = total;
    member.resize(prisms);
    for_each(chunks, threads, [&](std::size_t c) {
      in_chunk(c, [&](std::size_t n, std::size_t layer) {
        member[next[c * layers + layer]++] = static_cast<std::uint32_t>(n);
      });
    });
  }
};

/// K at a row of the distances that the lags of the group need, for one layer: values
/// [channels][north][east]. Always by the kernels of all computed channels, whose last bits may differ from
/// those of fewer.
void table(const LatticePlan& plan, const Lattice::Group& group, const Convolution& sizes, std::size_t layer,
           std::size_t j, ChannelSet channels, double* values) {
  const Lattice& lattice = plan.lattice();
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  const Prism shape = lattice.cell(layer);
  const double one = 1;
  const Prisms cell{{&shape.west, 1},   {&shape.east, 1}, {&shape.south, 1}, {&shape.north, 1},
                    {&shape.bottom, 1}, {&shape.top, 1},  {&one, 1}};
  const auto switching = Switching::for_accuracy(best_accuracy);
  const Sources source(cell, Turn{{0, 1, 2}, plan.computed()}, switching, {0});
  PrismTile tile;
  const double origin[3] = {0, 0, shape.bottom};
  source.load(0, 1, origin, tile);
  const std::size_t set = smallest_kernel_set(plan.computed()), width = kernel_sets[set].size();
  const auto& kernels = kernel_target().kernels[set];
  const auto from_set = kernel_sets[set].list();
  PlainNearPairs near_pairs(switching);
  StationTile stations{};
  std::vector<double> sums(width * tile_size);
  for (std::size_t first = 0; first < x.distances; first += tile_size) {
    stations.count = static_cast<int>(std::min<std::size_t>(tile_size, x.distances - first));
    for (std::size_t s = 0; s < tile_size; ++s) {
      stations.x[s] = x.distance(std::min(first + s, x.distances - 1)) * lattice.spacing[0];
      stations.y[s] = y.distance(j) * lattice.spacing[1];
      stations.z[s] = group.up;
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    kernels.near(tile, stations, near_pairs, sums.data());
    std::size_t to = 0;
    for (std::size_t c = 0; c < width; ++c)
      if (channels.contains(from_set[c]))
        std::copy_n(sums.data() + c * tile_size, stations.count,
                    values + to++ * sizes.distances() + j * x.distances + first);
  }
}

/// Writes K of one channel over all lags.  from: at their distances [north][east]; to: an array of the FFT
void spread(const Convolution& sizes, Channel channel, const double* from, double* to) {
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  std::fill_n(to, sizes.reals, 0.0);
  const bool odd_x = odd_channels[0].contains(channel), odd_y = odd_channels[1].contains(channel);
  for (long lag_y = y.first; lag_y < y.first + y.count; ++lag_y) {
    double* const row = to + y.place(lag_y) * sizes.width();
    const double* const values = from + y.index(lag_y) * x.distances;
    const double sign_y = odd_y && y.mirrored(lag_y) ? -1 : 1;
    for (long lag_x = x.first; lag_x < x.first + x.count; ++lag_x)
      row[x.place(lag_x)] = (odd_x && x.mirrored(lag_x) ? -sign_y : sign_y) * values[x.index(lag_x)];
  }
}

constexpr double seconds_a_group = 0.5e-3;  // plans of the FFT, arrays, threads that are woken

/// For the spectra and the tables of one layer.
std::size_t layer_bytes(const Convolution& sizes, std::size_t channels) {
  return (sizes.reals * (channels + 1) + sizes.distances() * channels) * sizeof(double);
}

}  // namespace

struct LatticeOperator::Spectra {
  std::array<Array, channel_count> channel;  // of K, those that are known
};

LatticeOperator::LatticeOperator(Lattice lattice, ChannelSet channels, bool keep)
    : plan_(std::make_shared<LatticePlan>(std::move(lattice), channels)),
      keep_(keep),
      transforms_(plan_->lattice().groups.size()) {
  if (keep_) spectra_.resize(plan_->lattice().groups.size() * plan_->lattice().layers.size());
}

LatticeOperator::~LatticeOperator() = default;
LatticeOperator::LatticeOperator(LatticeOperator&&) noexcept = default;

LatticeCost LatticeOperator::cost() const {
  LatticeCost cost;
  const Lattice& lattice = plan_->lattice();
  const std::size_t count = plan_->computed().size();
  const double layers = static_cast<double>(lattice.layers.size()), channels = static_cast<double>(count);
  std::size_t most = 0;
  for (std::size_t g = 0; g < lattice.groups.size(); ++g) {
    const auto& sizes = plan_->convolution(g);
    const double size = static_cast<double>(sizes.reals);
    const double fft = 0.3e-9 * size * std::log2(size);
    cost.seconds += seconds_a_group + fft * (layers * (channels + 1) + channels) +
                    layers * channels * size * 1e-9 +
                    layers * static_cast<double>(sizes.distances()) * (40e-9 + channels * 4e-9);
    cost.spectra_bytes += sizes.reals * sizeof(double) * lattice.layers.size() * count;
    most = std::max(most,
                    batch(sizes, count) * layer_bytes(sizes, count) + sizes.reals * count * sizeof(double));
  }
  cost.memory_bytes = most + lattice.place.size() * sizeof(std::uint32_t);
  return cost;
}

/// Layers done together: as many as a quarter of a gigabyte holds.
std::size_t LatticeOperator::batch(const Convolution& sizes, std::size_t channels) const {
  return std::clamp<std::size_t>((std::size_t{1} << 28) / layer_bytes(sizes, channels), 1,
                                 plan_->lattice().layers.size());
}

class LatticeOperator::OnProcessors final : public Convolver {
 public:
  OnProcessors(LatticeOperator& op, std::span<const double> density, int threads)
      : op_(op),
        plan_(*op.plan_),
        lattice_(plan_.lattice()),
        density_(density),
        threads_(threads),
        prisms_(lattice_, threads) {}

  void convolve(std::size_t group, ChannelSet channels, Progress& progress) override;
  void values(Channel channel, std::span<double> values) override;

 private:
  LatticeOperator& op_;
  const LatticePlan& plan_;
  const Lattice& lattice_;
  std::span<const double> density_;
  int threads_;
  Layers prisms_;
  std::size_t group_ = 0;
  std::array<Array, channel_count> total_;  // of the group
};

void LatticeOperator::OnProcessors::convolve(std::size_t g, ChannelSet wanted, Progress& progress) {
  group_ = g;
  const auto& group = lattice_.groups[g];
  const Convolution& sizes = plan_.convolution(g);
  const auto list = wanted.list();
  const std::size_t channels = list.size(), layers = lattice_.layers.size(), plane = lattice_.plane();
  const auto by_name = [](auto& all, Channel c) -> auto& { return all[static_cast<std::size_t>(c)]; };
  if (!op_.transforms_[g])
    op_.transforms_[g] = std::make_unique<HostFft>(sizes.lags[0].size, sizes.lags[1].size);
  const HostFft& fft = *op_.transforms_[g];
  for (const auto channel : list) by_name(total_, channel) = Array(sizes.reals);
  for_each(channels, threads_,
           [&](std::size_t c) { std::fill_n(by_name(total_, list[c]).real(), sizes.reals, 0.0); });
  const std::size_t at_once = op_.batch(sizes, channels), rows = sizes.lags[1].distances,
                    plane_of_k = sizes.distances();
  std::vector<Array> masses;
  std::vector<Spectra> scratch(op_.keep_ ? 0 : at_once);
  for (std::size_t l = 0; l < at_once; ++l) masses.emplace_back(sizes.reals);
  std::vector<double> values(at_once * channels * plane_of_k);
  for (std::size_t first_layer = 0; first_layer < layers; first_layer += at_once) {
    const std::size_t count = std::min(at_once, layers - first_layer);
    std::vector<Spectra*> kernel(count);
    std::vector<unsigned char> known(count * channels), all_known(count, 1);
    for (std::size_t l = 0; l < count; ++l) {
      if (op_.keep_) {
        auto& kept = op_.spectra_[g * layers + first_layer + l];
        if (!kept) kept = std::make_unique<Spectra>();
        kernel[l] = kept.get();
      } else {
        kernel[l] = &scratch[l];
      }
      for (std::size_t c = 0; c < channels; ++c) {
        auto& spectrum = by_name(kernel[l]->channel, list[c]);
        known[l * channels + c] = op_.keep_ && !spectrum.empty();
        all_known[l] = all_known[l] && known[l * channels + c];
        if (spectrum.empty()) spectrum = Array(sizes.reals);
      }
    }
    for_each(count * rows, threads_, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t l = task / rows;
      if (!all_known[l])
        table(plan_, group, sizes, first_layer + l, task % rows, wanted,
              values.data() + l * channels * plane_of_k);
    });
    for_each(count * (channels + 1), threads_, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t l = task / (channels + 1);
      if (task % (channels + 1) == 0) {
        double* const to = masses[l].real();
        std::fill_n(to, sizes.reals, 0.0);
        for (std::size_t m = prisms_.start[first_layer + l]; m < prisms_.start[first_layer + l + 1]; ++m) {
          const std::size_t place = lattice_.place[prisms_.member[m]] % plane;
          to[place / lattice_.cells[0] * sizes.width() + place % lattice_.cells[0]] =
              density_[prisms_.member[m]];
        }
        fft.forward(to);
        return;
      }
      const std::size_t c = task % (channels + 1) - 1;
      if (known[l * channels + c]) return;
      double* const to = by_name(kernel[l]->channel, list[c]).real();
      spread(sizes, list[c], values.data() + (l * channels + c) * plane_of_k, to);
      fft.forward(to);
    });
    constexpr std::size_t rows_a_task = 64;
    const std::size_t all_rows = sizes.lags[1].size, pieces = (all_rows + rows_a_task - 1) / rows_a_task;
    for_each(channels * pieces, threads_, [&](std::size_t task) {
      const std::size_t c = task / pieces, first = task % pieces * rows_a_task * sizes.row,
                        last = std::min(first + rows_a_task * sizes.row, all_rows * sizes.row);
      Complex* t = by_name(total_, list[c]).complex();
      for (std::size_t l = 0; l < count; ++l) {
        const Complex *a = masses[l].complex(), *k = by_name(kernel[l]->channel, list[c]).complex();
        for (std::size_t i = first; i < last; ++i)
          t[i] += Complex(a[i].real() * k[i].real() - a[i].imag() * k[i].imag(),
                          a[i].real() * k[i].imag() + a[i].imag() * k[i].real());
      }
    });
    progress.advance(count);
  }
  for_each(channels, threads_, [&](std::size_t c) { fft.inverse(by_name(total_, list[c]).real()); });
}

void LatticeOperator::OnProcessors::values(Channel channel, std::span<double> values) {
  const auto& group = lattice_.groups[group_];
  const Convolution& sizes = plan_.convolution(group_);
  const double scale = 1 / static_cast<double>(sizes.size());
  const double* const from = total_[static_cast<std::size_t>(channel)].real();
  for (std::size_t s = 0; s < values.size(); ++s)
    values[s] = from[static_cast<std::size_t>(group.cell[1][s] - group.low[1]) * sizes.width() +
                     static_cast<std::size_t>(group.cell[0][s] - group.low[0])] *
                scale;
}

void LatticeOperator::sum(std::span<const double> density, std::size_t first, std::size_t last, int threads,
                          const Summation::Take& take, Progress& progress) {
  plan_->check(density);
  OnProcessors processors(*this, density, threads);
  plan_->sum(processors, density, first, last, threads, take, progress);
}

PartSums LatticeOperator::apply(std::span<const double> density, std::size_t stations, int threads,
                                Progress& progress) {
  LatticeSummation summation(std::shared_ptr<LatticeOperator>(std::shared_ptr<void>(), this), density,
                             threads);
  return sum_all(summation, plan_->channels(), stations, progress);
}

}  // namespace terrane::gravity
