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
#include "terrane/physics/gravity/lattice/lattice_table.hpp"

namespace terrane::gravity {

namespace {

using Complex = std::complex<double>;
using Array = LatticeArray;
using Layers = LatticeLayers;

constexpr double seconds_per_group = 0.5e-3;  // plans of the FFT, arrays, threads that are woken

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

/// Layers done together: as many as a quarter of a gigabyte holds.
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
  LatticeOperator& op_;
  const LatticePlan& plan_;
  const Lattice& lattice_;
  std::span<const double> density_;
  int threads_;
  Layers prisms_;
  std::size_t group_ = 0;
  std::array<Array, channel_count> total_;  // of the group
};

void LatticeOperator::OnCpu::convolve(std::size_t g, ChannelSet wanted, Progress& progress) {
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
        lattice_table(plan_, group, sizes, first_layer + l, task % rows, wanted,
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
      spread_table(sizes, list[c], values.data() + (l * channels + c) * plane_of_k, to);
      fft.forward(to);
    });
    constexpr std::size_t rows_per_task = 64;
    const std::size_t all_rows = sizes.lags[1].size, pieces = (all_rows + rows_per_task - 1) / rows_per_task;
    for_each(channels * pieces, threads_, [&](std::size_t task) {
      const std::size_t c = task / pieces, first = task % pieces * rows_per_task * sizes.row,
                        last = std::min(first + rows_per_task * sizes.row, all_rows * sizes.row);
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
  OnCpu processors(*this, density, threads);
  plan_->sum(processors, density, first, last, threads, take, progress);
}

PartSums LatticeOperator::apply(std::span<const double> density, std::size_t stations, int threads,
                                Progress& progress) {
  LatticeSummation summation(std::shared_ptr<LatticeOperator>(std::shared_ptr<void>(), this), density,
                             threads);
  return sum_all(summation, plan_->channels(), stations, progress);
}

}  // namespace terrane::gravity
