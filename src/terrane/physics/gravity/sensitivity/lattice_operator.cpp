#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"

#include <algorithm>
#include <complex>

#include "terrane/base/error.hpp"
#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/lattice/lattice_table.hpp"

namespace terrane::gravity {

namespace {

using Complex = std::complex<double>;

/// The observables in terms of computed channels: if the plan does not compute Γuu, it is replaced by −Γee −
/// Γnn.
std::vector<Observable> as_computed(std::vector<Observable> observables, const LatticePlan& plan) {
  constexpr auto ee = static_cast<std::size_t>(Channel::g_ee), nn = static_cast<std::size_t>(Channel::g_nn),
                 uu = static_cast<std::size_t>(Channel::g_uu);
  if (plan.computed().contains(Channel::g_uu)) return observables;
  for (auto& one : observables) {
    one.weight[ee] -= one.weight[uu];
    one.weight[nn] -= one.weight[uu];
    one.weight[uu] = 0;
  }
  return observables;
}

constexpr std::size_t layers_at_once = 16;  // layers of the model whose transforms are in memory at once
constexpr std::size_t most_parts = 8;

}  // namespace

LatticeParts::LatticeParts(Lattice lattice, std::size_t stations, std::vector<Observable> observables,
                           int threads, solve::ShareOfParts share)
    : plan_(std::move(lattice), channels_of(observables)),
      stations_(stations),
      threads_(threads),
      share_(share) {
  observables_ = as_computed(std::move(observables), plan_);
  LatticeLayers layers(plan_.lattice(), threads);
  start_ = std::move(layers.start);
  member_ = std::move(layers.member);
}

std::size_t LatticeParts::parts() const { return std::min(plan_.lattice().layers.size(), most_parts); }

Range LatticeParts::layers_of(const Range& parts) const {
  const std::size_t layers = plan_.lattice().layers.size(), all = this->parts();
  const auto first = [&](std::size_t part) {
    return part < all ? balanced_range(layers, all, part).first : layers;
  };
  return {first(parts.first), first(parts.last)};
}

std::vector<std::uint32_t> LatticeParts::columns_of(const Range& parts) const {
  const auto cells = cells_of(layers_of(parts));
  return {cells.begin(), cells.end()};
}

std::size_t LatticeParts::place_of_station(std::size_t g, std::size_t s) const {
  const auto& group = plan_.lattice().groups[g];
  return static_cast<std::size_t>(group.cell[1][s] - group.low[1]) * plan_.convolution(g).width() +
         static_cast<std::size_t>(group.cell[0][s] - group.low[0]);
}

std::size_t LatticeParts::place_of_cell(std::size_t g, std::uint32_t cell) const {
  const auto& lattice = plan_.lattice();
  const std::size_t place = lattice.place[cell] % lattice.plane();
  return place / lattice.cells[0] * plan_.convolution(g).width() + place % lattice.cells[0];
}

LatticeSensitivity::LatticeSensitivity(Lattice lattice, std::size_t stations,
                                       std::vector<Observable> observables, int threads, Progress* progress,
                                       solve::ShareOfParts share)
    : LatticeParts(std::move(lattice), stations, std::move(observables), threads, share) {
  const auto& found = plan_.lattice();
  for (std::size_t g = 0; g < found.groups.size(); ++g) {
    const auto& sizes = plan_.convolution(g);
    transform_.push_back(std::make_unique<HostFft>(sizes.lags[0].size, sizes.lags[1].size));
  }
  spectrum_.resize(found.groups.size() * found.layers.size());
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  const auto mine = layers_of(held());
  const std::size_t tasks = mine.size() * found.groups.size();
  bar.start("sensitivities", tasks);
  for_each(tasks, threads, [&](std::size_t task) {
    if (bar.cancelled()) throw Cancelled();
    const std::size_t g = task / mine.size(), l = mine.first + task % mine.size();
    auto made = tables(g, l);
    for (auto& table : made) transform_[g]->forward(table.real());
    spectrum_[g * found.layers.size() + l] = std::move(made);
    bar.advance(1);
  });
  bar.finish();
}

LatticeSensitivity::~LatticeSensitivity() = default;

void LatticeSensitivity::clear(const Range& layers, std::span<double> model) const {
  for (const auto cell : cells_of(layers)) model[cell] = 0;
}

double LatticeParts::bytes(const Lattice& lattice, std::size_t observables) {
  double sum = 0;
  for (const auto& group : lattice.groups)
    sum += static_cast<double>(Convolution(group, lattice).reals) * sizeof(double);
  return sum * static_cast<double>(lattice.layers.size() * observables);
}

std::vector<LatticeArray> LatticeParts::tables(std::size_t g, std::size_t layer) const {
  const auto& group = plan_.lattice().groups[g];
  const auto& sizes = plan_.convolution(g);
  const auto channels = plan_.computed().list();
  std::vector<double> values(channels.size() * sizes.distances());
  for (std::size_t j = 0; j < sizes.lags[1].distances; ++j)
    lattice_table(plan_, group, sizes, layer, j, plan_.computed(), values.data());
  std::vector<LatticeArray> made;
  LatticeArray one(sizes.reals);
  for (std::size_t o = 0; o < observables_.size(); ++o) {
    double* const to = made.emplace_back(sizes.reals).real();
    std::fill_n(to, sizes.reals, 0.0);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const double weight = observables_[o].weight[static_cast<std::size_t>(channels[c])];
      if (weight == 0) continue;
      spread_table(sizes, channels[c], values.data() + c * sizes.distances(), one.real());
      for (std::size_t i = 0; i < sizes.reals; ++i) to[i] += weight * one.real()[i];
    }
  }
  return made;
}

LatticeArray LatticeSensitivity::spread_stations(std::size_t g, std::size_t observable,
                                                 std::span<const double> values) const {
  const auto& group = plan_.lattice().groups[g];
  const auto& sizes = plan_.convolution(g);
  LatticeArray array(sizes.reals);
  std::fill_n(array.real(), sizes.reals, 0.0);
  // Values are added, because several stations may be at one point.
  for (std::size_t s = 0; s < group.station.size(); ++s)
    array.real()[place_of_station(g, s)] += values[observable * stations_ + group.station[s]];
  transform_[g]->forward(array.real());
  return array;
}

void LatticeSensitivity::gather_layer(const LatticeArray& array, std::size_t g, std::size_t layer,
                                      std::span<double> model) const {
  const double scale = 1 / static_cast<double>(plan_.convolution(g).size());
  for (const auto cell : cells_of({layer, layer + 1}))
    model[cell] += scale * array.real()[place_of_cell(g, cell)];
}

void LatticeSensitivity::apply_parts(const Range& parts, std::span<const double> model,
                                     std::span<double> sums) const {
  for (std::size_t g = 0; g < transform_.size(); ++g)
    for (std::size_t first = parts.first, last; first < parts.last; first = last) {
      last = first + 1;
      while (last < parts.last && layers_of({first, last + 1}).size() <= layers_at_once) ++last;
      convolve(g, {first, last}, model,
               sums.subspan((first - parts.first) * rows(), (last - first) * rows()));
    }
}

void LatticeSensitivity::convolve(std::size_t g, const Range& parts, std::span<const double> model,
                                  std::span<double> sums) const {
  const auto& lattice = plan_.lattice();
  const auto& group = lattice.groups[g];
  const auto& sizes = plan_.convolution(g);
  const std::size_t observables = observables_.size();
  const auto layers = layers_of(parts);
  std::vector<std::size_t> part_of;  // [layers]
  for (std::size_t p = parts.first; p < parts.last; ++p)
    part_of.resize(layers_of({parts.first, p + 1}).size(), p - parts.first);
  // total: [parts · observables] sums; masses: [layers at once] transforms of layers.
  std::vector<LatticeArray> total, masses;
  for (std::size_t t = 0; t < parts.size() * observables; ++t)
    std::fill_n(total.emplace_back(sizes.reals).real(), sizes.reals, 0.0);
  for (std::size_t l = 0; l < std::min(layers_at_once, layers.size()); ++l) masses.emplace_back(sizes.reals);
  for (std::size_t first = layers.first; first < layers.last; first += layers_at_once) {
    const std::size_t count = std::min(layers_at_once, layers.last - first);
    for_each(count, threads_, [&](std::size_t l) {
      double* const to = masses[l].real();
      std::fill_n(to, sizes.reals, 0.0);
      for (const auto cell : cells_of({first + l, first + l + 1})) to[place_of_cell(g, cell)] = model[cell];
      transform_[g]->forward(to);
    });
    // Layers are added one after the other, in an order that does not depend on threads.
    const std::size_t all_rows = sizes.lags[1].size;
    for_each(all_rows * observables, threads_, [&](std::size_t task) {
      const std::size_t o = task / all_rows, begin = task % all_rows * sizes.row;
      for (std::size_t l = 0; l < count; ++l) {
        Complex* const to = total[part_of[first + l - layers.first] * observables + o].complex();
        const Complex* const a = masses[l].complex();
        const Complex* const k = spectrum_[g * lattice.layers.size() + first + l][o].complex();
        for (std::size_t i = begin; i < begin + sizes.row; ++i)
          to[i] += Complex(a[i].real() * k[i].real() - a[i].imag() * k[i].imag(),
                           a[i].real() * k[i].imag() + a[i].imag() * k[i].real());
      }
    });
  }
  const double scale = 1 / static_cast<double>(sizes.size());
  for_each(total.size(), threads_, [&](std::size_t t) {
    transform_[g]->inverse(total[t].real());
    double* const to = sums.data() + t * stations_;
    for (std::size_t s = 0; s < group.station.size(); ++s)
      to[group.station[s]] = scale * total[t].real()[place_of_station(g, s)];
  });
}

namespace {

/// to += conj(k) d.
void correlate(const Complex* k, const Complex* d, Complex* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] += Complex(k[i].real() * d[i].real() + k[i].imag() * d[i].imag(),
                     k[i].real() * d[i].imag() - k[i].imag() * d[i].real());
}

}  // namespace

void LatticeSensitivity::transpose_parts(const Range& parts, std::span<const double> data,
                                         std::span<double> model) const {
  const auto mine = layers_of(parts);
  clear(mine, model);
  const std::size_t layers = plan_.lattice().layers.size();
  for (std::size_t g = 0; g < transform_.size(); ++g) {
    const auto& sizes = plan_.convolution(g);
    std::vector<LatticeArray> observed(observables_.size());
    for_each(observables_.size(), threads_,
             [&](std::size_t o) { observed[o] = spread_stations(g, o, data); });
    for_each(mine.size(), threads_, [&](std::size_t n) {
      const std::size_t l = mine.first + n;
      LatticeArray sum(sizes.reals);
      std::fill_n(sum.real(), sizes.reals, 0.0);
      for (std::size_t o = 0; o < observables_.size(); ++o)
        correlate(spectrum_[g * layers + l][o].complex(), observed[o].complex(), sum.complex(),
                  sizes.reals / 2);
      transform_[g]->inverse(sum.real());
      gather_layer(sum, g, l, model);
    });
  }
}

void LatticeSensitivity::diagonal_parts(const Range& parts, std::span<const double> weight,
                                        std::span<double> diagonal) const {
  const auto mine = layers_of(parts);
  clear(mine, diagonal);
  for (std::size_t g = 0; g < transform_.size(); ++g) {
    const auto& sizes = plan_.convolution(g);
    std::vector<LatticeArray> weights(observables_.size());
    for_each(observables_.size(), threads_,
             [&](std::size_t o) { weights[o] = spread_stations(g, o, weight); });
    for_each(mine.size(), threads_, [&](std::size_t n) {
      const std::size_t l = mine.first + n;
      auto squares = tables(g, l);
      LatticeArray sum(sizes.reals);
      std::fill_n(sum.real(), sizes.reals, 0.0);
      for (std::size_t o = 0; o < observables_.size(); ++o) {
        double* const k = squares[o].real();
        for (std::size_t i = 0; i < sizes.reals; ++i) k[i] *= k[i];
        transform_[g]->forward(k);
        correlate(squares[o].complex(), weights[o].complex(), sum.complex(), sizes.reals / 2);
      }
      transform_[g]->inverse(sum.real());
      gather_layer(sum, g, l, diagonal);
    });
  }
  // The smallest values may become negative by rounding of the transforms.
  for (const auto cell : cells_of(mine)) diagonal[cell] = std::max(diagonal[cell], 0.0);
}

}  // namespace terrane::gravity
