// Minimum cost: channels + 1 FFTs per layer and group of stations, of arrays of N numbers that do not fit in
// the caches: 2.5 N log₂ N flops each. Tables of K cost less than half of the FFTs; a quarter of that if
// stations are at the centres or corners of cells.
#include "terrane/physics/gravity/lattice/lattice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <new>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/lattice/lattice_table.hpp"

namespace terrane::gravity {

namespace {

using Complex = std::complex<double>;
using Array = LatticeArray;
using Layers = LatticeLayers;

constexpr double seconds_per_group = 0.5e-3;  // s: FFT plans, arrays, start of threads

/// Memory for the spectra and the tables of one layer.
std::size_t layer_bytes(const Convolution& sizes, std::size_t channels) {
  return (sizes.reals * (channels + 1) + sizes.distances() * channels) * sizeof(double);
}

}  // namespace

struct LatticeOperator::Spectra {
  std::array<Array, channel_count> channel;  // transforms of the kernel K that are already computed
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
    cost.seconds += seconds_per_group + fft * (layers * (channels + 1) + channels) +
                    layers * channels * size * 1e-9 +
                    layers * static_cast<double>(sizes.distances()) * (40e-9 + channels * 4e-9);
    cost.spectra_bytes += sizes.reals * sizeof(double) * lattice.layers.size() * count;
    most = std::max(most,
                    batch(sizes, count) * layer_bytes(sizes, count) + sizes.reals * count * sizeof(double));
  }
  cost.memory_bytes = most + lattice.place.size() * sizeof(std::uint32_t);
  return cost;
}

/// Number of layers computed together: as many as fit in a quarter of a gigabyte.
std::size_t LatticeOperator::batch(const Convolution& sizes, std::size_t channels) const {
  return std::clamp<std::size_t>((std::size_t{1} << 28) / layer_bytes(sizes, channels), 1,
                                 plan_->lattice().layers.size());
}

class LatticeOperator::OnCpu final : public Convolver {
 public:
  OnCpu(LatticeOperator& op, std::span<const double> density, int threads)
      : op_(op),
        plan_(*op.plan_),
        lattice_(plan_.lattice()),
        density_(density),
        threads_(threads),
        prisms_(lattice_, threads) {}

  void convolve(std::size_t group, ChannelSet channels, Progress& progress) override;
  void values(Channel channel, std::span<double> values) override;

 private:
  class Batches;

  LatticeOperator& op_;
  const LatticePlan& plan_;
  const Lattice& lattice_;
  std::span<const double> density_;
  int threads_;
  Layers prisms_;
  std::size_t group_ = 0;
  std::array<Array, channel_count> total_;  // sums of the group in progress
};

/// Computes F⁻¹ Σ F(K of a layer) · F(densities of the layer), summed over layers; F: Fourier transform, K:
/// field of one cell. Layers are processed in batches.
class LatticeOperator::OnCpu::Batches {
 public:
  Batches(OnCpu& on, std::size_t g, ChannelSet wanted, Progress& progress)
      : on_(on),
        op_(on.op_),
        first_spectrum_(g * on.lattice_.layers.size()),
        group_(on.lattice_.groups[g]),
        sizes_(on.plan_.convolution(g)),
        wanted_(wanted),
        list_(wanted.list()),
        fft_(*op_.transforms_[g]),
        progress_(progress) {}

  void convolve() {
    for (const auto channel : list_) by_name(on_.total_, channel) = Array(sizes_.reals);
    each(list_.size(),
         [&](std::size_t c) { std::fill_n(by_name(on_.total_, list_[c]).real(), sizes_.reals, 0.0); });
    const std::size_t layers = on_.lattice_.layers.size(), at_once = op_.batch(sizes_, list_.size());
    if (!op_.keep_) scratch_.resize(at_once);
    for (std::size_t l = 0; l < at_once; ++l) masses_.emplace_back(sizes_.reals);
    values_.resize(at_once * list_.size() * sizes_.distances());
    for (first_ = 0; first_ < layers; first_ += at_once) {
      count_ = std::min(at_once, layers - first_);
      find_spectra();
      make_tables();
      transform();
      add_products();
      progress_.advance(count_);
    }
    each(list_.size(), [&](std::size_t c) { fft_.inverse(by_name(on_.total_, list_[c]).real()); });
  }

 private:
  template <class Kept>
  static Kept& by_name(std::array<Kept, channel_count>& all, Channel c) {
    return all[static_cast<std::size_t>(c)];
  }
  template <class Work>
  void each(std::size_t tasks, const Work& work) const {
    for_each(tasks, on_.threads_, work);
  }
  template <class Work>
  void each_unless_cancelled(std::size_t tasks, const Work& work) const {
    each(tasks, [&](std::size_t task) {
      if (progress_.cancelled()) throw Cancelled();
      work(task);
    });
  }
  bool& known(std::size_t l, std::size_t c) { return known_[l * list_.size() + c]; }

  /// Finds the arrays for the spectra of kernels, whether computed already or not.
  void find_spectra() {
    kernel_.assign(count_, nullptr);
    known_ = std::make_unique<bool[]>(count_ * list_.size());
    for (std::size_t l = 0; l < count_; ++l) {
      if (op_.keep_) {
        auto& kept = op_.spectra_[first_spectrum_ + first_ + l];
        if (!kept) kept = std::make_unique<Spectra>();
        kernel_[l] = kept.get();
      } else {
        kernel_[l] = &scratch_[l];
      }
      for (std::size_t c = 0; c < list_.size(); ++c) {
        auto& spectrum = by_name(kernel_[l]->channel, list_[c]);
        known(l, c) = op_.keep_ && !spectrum.empty();
        if (spectrum.empty()) spectrum = Array(sizes_.reals);
      }
    }
  }
  /// Computes K, the field of a cell, at all distances.
  void make_tables() {
    const std::size_t rows = sizes_.lags[1].distances, channels = list_.size();
    each_unless_cancelled(count_ * rows, [&](std::size_t task) {
      const std::size_t l = task / rows;
      const bool* const of_layer = known_.get() + l * channels;
      if (std::all_of(of_layer, of_layer + channels, [](bool is_known) { return is_known; })) return;
      lattice_table(on_.plan_, group_, sizes_, first_ + l, task % rows, wanted_,
                    values_.data() + l * channels * sizes_.distances());
    });
  }
  void transform() {
    const std::size_t channels = list_.size();
    each_unless_cancelled(count_ * (channels + 1), [&](std::size_t task) {
      const std::size_t l = task / (channels + 1);
      if (task % (channels + 1) == 0) return transform_masses(l);
      const std::size_t c = task % (channels + 1) - 1;
      if (known(l, c)) return;
      double* const to = by_name(kernel_[l]->channel, list_[c]).real();
      spread_table(sizes_, list_[c], values_.data() + (l * channels + c) * sizes_.distances(), to);
      fft_.forward(to);
    });
  }
  void transform_masses(std::size_t l) {
    const auto& lattice = on_.lattice_;
    const auto& prisms = on_.prisms_;
    double* const to = masses_[l].real();
    std::fill_n(to, sizes_.reals, 0.0);
    for (std::size_t m = prisms.start[first_ + l]; m < prisms.start[first_ + l + 1]; ++m) {
      const std::size_t place = lattice.place[prisms.member[m]] % lattice.plane();
      to[place / lattice.cells[0] * sizes_.width() + place % lattice.cells[0]] =
          on_.density_[prisms.member[m]];
    }
    fft_.forward(to);
  }
  void add_products() {
    constexpr std::size_t rows_per_task = 64;
    const std::size_t rows = sizes_.lags[1].size, pieces = (rows + rows_per_task - 1) / rows_per_task;
    each(list_.size() * pieces, [&](std::size_t task) {
      const std::size_t c = task / pieces, first = task % pieces * rows_per_task * sizes_.row,
                        last = std::min(first + rows_per_task * sizes_.row, rows * sizes_.row);
      Complex* t = by_name(on_.total_, list_[c]).complex();
      for (std::size_t l = 0; l < count_; ++l) {
        const Complex *a = masses_[l].complex(), *k = by_name(kernel_[l]->channel, list_[c]).complex();
        for (std::size_t i = first; i < last; ++i)
          t[i] += Complex(a[i].real() * k[i].real() - a[i].imag() * k[i].imag(),
                          a[i].real() * k[i].imag() + a[i].imag() * k[i].real());
      }
    });
  }

  OnCpu& on_;
  LatticeOperator& op_;
  std::size_t first_spectrum_;  // index of the group's first spectra
  const Lattice::Group& group_;
  const Convolution& sizes_;
  ChannelSet wanted_;
  std::vector<Channel> list_;
  const HostFft& fft_;
  Progress& progress_;
  std::size_t first_ = 0, count_ = 0;  // first and number of the layers processed together
  std::vector<Array> masses_;
  std::vector<Spectra> scratch_;
  std::vector<double> values_;     // [layer, channel, distances]
  std::vector<Spectra*> kernel_;   // [layer, channel] spectra of the kernel K
  std::unique_ptr<bool[]> known_;  // [layer, channel]: whether the spectrum is known from an earlier product
};

void LatticeOperator::OnCpu::convolve(std::size_t g, ChannelSet wanted, Progress& progress) {
  group_ = g;
  const Convolution& sizes = plan_.convolution(g);
  if (!op_.transforms_[g])
    op_.transforms_[g] = std::make_unique<HostFft>(sizes.lags[0].size, sizes.lags[1].size);
  Batches(*this, g, wanted, progress).convolve();
}

void LatticeOperator::OnCpu::values(Channel channel, std::span<double> values) {
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
  OnCpu cores(*this, density, threads);
  plan_->sum(cores, density, first, last, threads, take, progress);
}

PartSums LatticeOperator::apply(std::span<const double> density, std::size_t stations, int threads,
                                Progress& progress) {
  LatticeSummation summation(std::shared_ptr<LatticeOperator>(std::shared_ptr<void>(), this), density,
                             threads);
  return sum_all(summation, plan_->channels(), stations, progress);
}

}  // namespace terrane::gravity
