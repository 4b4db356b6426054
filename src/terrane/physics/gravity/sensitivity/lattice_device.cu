// Products are limited by memory traffic. For an array of N doubles the traffic is, in bytes per layer of G:
// 8 N to clear the array, 8 N to fill it, 32 N to transform it, 16 N to multiply it by the spectrum; and the
// same per layer of Gᵀ. Models and data cross the bus once. 1e7 cells in 100 layers at 1e5 stations, N
// = 4.1e5: 2.6 GB, 0.6 ms at 4270 GB/s; 80 MB of a model across the bus, 2 to 8 ms.
#include <algorithm>
#include <memory>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/math/fused.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/fft/device_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/lattice/lattice_table.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"

namespace terrane::gravity {

namespace {

constexpr double most_bytes_at_once = 2e9;  // bytes of transforms at once; more would not be faster

/// Writes a model to arrays that are zero, one array per layer. plane, columns: cells of a layer and of a row
/// of it; width, reals: doubles in a row of an array and in an array
struct PlaceCells {
  View<const std::uint32_t> cell;   ///< [cells of the layers]
  View<const std::uint32_t> place;  ///< [all cells] index of the cell in the lattice
  std::uint32_t plane, columns, first_layer;
  std::size_t width, reals;
  View<const double> model;
  View<double> arrays;  ///< [layer]

  TERRANE_FN static std::size_t in_array(std::uint32_t in_plane, std::uint32_t columns, std::size_t width) {
    return in_plane / columns * width + in_plane % columns;
  }
  TERRANE_FN void operator()(std::size_t i) const {
    const std::uint32_t at = place[cell[i]];
    arrays[(at / plane - first_layer) * reals + in_array(at % plane, columns, width)] = model[cell[i]];
  }
};

/// The transpose of PlaceCells: model += scale · arrays, at the cells of the layers. Members as in
/// PlaceCells.
struct AddCells {
  View<const std::uint32_t> cell, place;
  std::uint32_t plane, columns, first_layer;
  std::size_t width, reals;
  double scale;
  View<const double> arrays;
  View<double> model;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::uint32_t at = place[cell[i]];
    model[cell[i]] +=
        scale * arrays[(at / plane - first_layer) * reals + PlaceCells::in_array(at % plane, columns, width)];
  }
};

/// total [observable] += Σ_layers K · model; all are transforms, K that of an observable of one cell at all
/// lags.
struct AddProducts {
  View<const double> model, k;  ///< model: [layers]; k: [layers][observables]
  std::size_t reals, layers, observables;
  View<double> total;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t at = 2 * (i % (reals / 2)), o = i / (reals / 2);
    double re = total[o * reals + at], im = total[o * reals + at + 1];
    for (std::size_t l = 0; l < layers; ++l) {
      const std::size_t a = l * reals + at, b = (l * observables + o) * reals + at;
      re += fused(model[a], k[b], -(model[a + 1] * k[b + 1]));
      im += fused(model[a], k[b + 1], model[a + 1] * k[b]);
    }
    total[o * reals + at] = re;
    total[o * reals + at + 1] = im;
  }
};

/// arrays [layer] = Σ_observables conj(K) · data; all are transforms, K as in AddProducts.
struct Correlate {
  View<const double> data, k;
  std::size_t reals, observables;
  View<double> arrays;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t at = 2 * (i % (reals / 2)), layer = i / (reals / 2);
    double re = 0, im = 0;
    for (std::size_t o = 0; o < observables; ++o) {
      const std::size_t a = o * reals + at, b = (layer * observables + o) * reals + at;
      re += fused(k[b], data[a], k[b + 1] * data[a + 1]);
      im += fused(k[b], data[a + 1], -(k[b + 1] * data[a]));
    }
    arrays[layer * reals + at] = re;
    arrays[layer * reals + at + 1] = im;
  }
};

/// Writes data to arrays that are zero, at the positions of stations. Two stations may have one position.
struct PlaceData {
  View<const std::uint64_t> place;  ///< [positions] index of the position in an array
  View<const std::uint32_t> first;  ///< [positions + 1] offsets in `station`
  View<const std::uint32_t> station;
  std::size_t stations, reals, places;
  View<const double> data;  ///< [observables][stations]
  View<double> arrays;      ///< [observable]
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t o = i / places, p = i % places;
    double sum = 0;
    for (std::uint32_t n = first[p]; n < first[p + 1]; ++n) sum += data[o * stations + station[n]];
    arrays[o * reals + place[p]] = sum;
  }
};

/// Writes sums [part][observable][station] at the stations of a group.
struct TotalsAtStations {
  View<const double> total;  ///< [part][observable]
  View<const std::uint64_t> place;
  View<const std::uint32_t> first, station;
  std::size_t stations, reals, places;
  double scale;
  View<double> sums;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t t = i / places, p = i % places;
    for (std::uint32_t n = first[p]; n < first[p + 1]; ++n)
      sums[t * stations + station[n]] = scale * total[t * reals + place[p]];
  }
};

/// Sets values that are negative by rounding of the transforms to 0.
struct AtLeastZero {
  View<const std::uint32_t> cell;
  View<double> values;
  TERRANE_FN void operator()(std::size_t i) const {
    if (values[cell[i]] < 0) values[cell[i]] = 0;
  }
};

/// Arrays of a group of stations on the device.
struct GroupOnDevice {
  std::unique_ptr<DeviceFft> fft;
  Buffer<std::uint64_t> place;           ///< [positions] index of the position in an array
  Buffer<std::uint32_t> first, station;  ///< first: [positions + 1]; station: [stations]
  Buffer<double> spectra;                ///< [held layers][observables] spectra of the kernel
};

class LatticeOperatorOnDevice final : public LatticeParts {
 public:
  LatticeOperatorOnDevice(Device device, Lattice lattice, std::size_t stations,
                          std::vector<Observable> observables, int threads, Progress* progress,
                          solve::ShareOfParts share);
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override {
    correlate(parts, data, false, model);
  }
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override {
    correlate(parts, weight, true, diagonal);
  }

 private:
  void place_stations(std::size_t group);
  /// Computes the transforms of the tables of some layers, or of their squares: [layers][observables].
  void make_spectra(std::size_t group, const Range& layers, bool squares, View<double> to) const;
  void correlate(const Range& parts, std::span<const double> data, bool squares,
                 std::span<double> model) const;
  std::size_t layers_at_once(std::size_t group, std::size_t arrays) const;
  View<const std::uint32_t> cells_on_device(const Range& layers) const {
    return {cell_.view().data + start_[layers.first], start_[layers.last] - start_[layers.first]};
  }

  mutable Stream stream_;
  Buffer<std::uint32_t> cell_,
      place_;  ///< cell_: indices of cells, layer by layer; place_: [cells] index of the cell in the lattice
  mutable std::vector<GroupOnDevice> groups_;
  mutable Buffer<double> model_, data_, arrays_, total_, squares_;
};

LatticeOperatorOnDevice::LatticeOperatorOnDevice(Device device, Lattice lattice, std::size_t stations,
                                                 std::vector<Observable> observables, int threads,
                                                 Progress* progress, solve::ShareOfParts share)
    : LatticeParts(std::move(lattice), stations, std::move(observables), threads, share),
      stream_(device, false, threads) {
  const auto& found = plan_.lattice();
  cell_ = Buffer<std::uint32_t>(stream_, member_);
  place_ = Buffer<std::uint32_t>(stream_, found.place);
  model_ = Buffer<double>(device, columns());
  data_ = Buffer<double>(device, parts() * rows());
  groups_.resize(found.groups.size());
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  const auto mine = layers_of(held());
  bar.start("sensitivities", found.groups.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (bar.cancelled()) throw Cancelled();
    const auto& sizes = plan_.convolution(g);
    auto& group = groups_[g];
    group.fft = std::make_unique<DeviceFft>(stream_, sizes.lags[0].size, sizes.lags[1].size, threads);
    place_stations(g);
    group.spectra =
        Buffer<double>(device, group.fft->rounded(mine.size() * observables_.size()) * sizes.reals);
    make_spectra(g, mine, false, group.spectra.view());
    bar.advance(1);
  }
  bar.finish();
}

/// Sorts a group's stations by position; those of one position in ascending order.
void LatticeOperatorOnDevice::place_stations(std::size_t g) {
  const auto& group = plan_.lattice().groups[g];
  std::vector<std::pair<std::uint64_t, std::uint32_t>> at;
  for (std::size_t s = 0; s < group.station.size(); ++s)
    at.emplace_back(place_of_station(g, s), group.station[s]);
  std::sort(at.begin(), at.end());
  std::vector<std::uint64_t> place;
  std::vector<std::uint32_t> first, station;
  for (const auto& [where, number] : at) {
    if (place.empty() || place.back() != where) {
      place.push_back(where);
      first.push_back(static_cast<std::uint32_t>(station.size()));
    }
    station.push_back(number);
  }
  first.push_back(static_cast<std::uint32_t>(station.size()));
  groups_[g].place = Buffer<std::uint64_t>(stream_, place);
  groups_[g].first = Buffer<std::uint32_t>(stream_, first);
  groups_[g].station = Buffer<std::uint32_t>(stream_, station);
}

void LatticeOperatorOnDevice::make_spectra(std::size_t g, const Range& layers, bool squares,
                                           View<double> to) const {
  const std::size_t reals = plan_.convolution(g).reals, observables = observables_.size(), at_once = 16;
  for (std::size_t begin = layers.first; begin < layers.last; begin += at_once) {
    const std::size_t count = std::min(at_once, layers.last - begin);
    std::vector<double> made(count * observables * reals);
    terrane::for_each(count, threads_, [&](std::size_t l) {
      const auto of_layer = tables(g, begin + l);
      for (std::size_t o = 0; o < observables; ++o) {
        double* const k = made.data() + (l * observables + o) * reals;
        for (std::size_t i = 0; i < reals; ++i) {
          const double value = of_layer[o].real()[i];
          k[i] = squares ? value * value : value;
        }
      }
    });
    const std::size_t first = (begin - layers.first) * observables * reals;
    terrane::detail::upload(stream_, made.data(), to.data + first, made.size() * sizeof(double));
  }
  groups_[g].fft->forward(to, layers.size() * observables);
}

std::size_t LatticeOperatorOnDevice::layers_at_once(std::size_t g, std::size_t arrays) const {
  const double bytes = static_cast<double>(plan_.convolution(g).reals * arrays * sizeof(double));
  return std::max<std::size_t>(1, static_cast<std::size_t>(most_bytes_at_once / bytes));
}

void LatticeOperatorOnDevice::apply_parts(const Range& parts, std::span<const double> model,
                                          std::span<double> sums) const {
  const auto& lattice = plan_.lattice();
  const std::size_t observables = observables_.size(), arrays = parts.size() * observables;
  if (parts.size() == 0) return;
  model_.upload(stream_, model);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto& sizes = plan_.convolution(g);
    const auto& group = groups_[g];
    const std::size_t reals = sizes.reals, at_once = layers_at_once(g, 1);
    enlarge(stream_, total_, group.fft->rounded(arrays) * reals);
    total_.fill_zero(stream_);
    for (std::size_t p = parts.first; p < parts.last; ++p) {
      const auto layers = layers_of({p, p + 1});
      for (std::size_t first = layers.first; first < layers.last; first += at_once) {
        const Range some{first, std::min(first + at_once, layers.last)};
        const auto cells = cells_on_device(some);
        enlarge(stream_, arrays_, group.fft->rounded(some.size()) * reals);
        arrays_.fill_zero(stream_);
        terrane::for_each(
            stream_, cells.size,
            PlaceCells{cells, place_.view(), static_cast<std::uint32_t>(lattice.plane()),
                       static_cast<std::uint32_t>(lattice.cells[0]), static_cast<std::uint32_t>(first),
                       sizes.width(), reals, model_.view(), arrays_.view()});
        group.fft->forward(arrays_.view(), some.size());
        const std::size_t offset = (first - layers_of(held()).first) * observables * reals;
        terrane::for_each(
            stream_, observables * reals / 2,
            AddProducts{arrays_.view(),
                        {group.spectra.view().data + offset, some.size() * observables * reals},
                        reals,
                        some.size(),
                        observables,
                        {total_.view().data + (p - parts.first) * observables * reals, observables * reals}});
      }
    }
    group.fft->inverse(total_.view(), arrays);
    terrane::for_each(stream_, arrays * group.place.size(),
                      TotalsAtStations{total_.view(), group.place.view(), group.first.view(),
                                       group.station.view(), stations_, reals, group.place.size(),
                                       1 / static_cast<double>(sizes.size()), data_.view()});
  }
  data_.download(stream_, sums.first(parts.size() * rows()));
}

void LatticeOperatorOnDevice::correlate(const Range& parts, std::span<const double> data, bool squares,
                                        std::span<double> model) const {
  const auto& lattice = plan_.lattice();
  const std::size_t observables = observables_.size();
  const auto mine = layers_of(parts);
  if (mine.size() == 0) return;
  data_.upload(stream_, data);
  model_.fill_zero(stream_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto& sizes = plan_.convolution(g);
    const auto& group = groups_[g];
    const std::size_t reals = sizes.reals, places = group.place.size(),
                      at_once = layers_at_once(g, squares ? 1 + observables : 1);
    enlarge(stream_, total_, group.fft->rounded(observables) * reals);
    total_.fill_zero(stream_);
    terrane::for_each(stream_, observables * places,
                      PlaceData{group.place.view(), group.first.view(), group.station.view(), stations_,
                                reals, places, data_.view(), total_.view()});
    group.fft->forward(total_.view(), observables);
    for (std::size_t first = mine.first; first < mine.last; first += at_once) {
      const Range some{first, std::min(first + at_once, mine.last)};
      const auto cells = cells_on_device(some);
      enlarge(stream_, arrays_, group.fft->rounded(some.size()) * reals);
      View<const double> k{
          group.spectra.view().data + (first - layers_of(held()).first) * observables * reals,
          some.size() * observables * reals};
      if (squares) {
        enlarge(stream_, squares_, group.fft->rounded(some.size() * observables) * reals);
        make_spectra(g, some, true, squares_.view());
        k = squares_.view();
      }
      terrane::for_each(stream_, some.size() * reals / 2,
                        Correlate{total_.view(), k, reals, observables, arrays_.view()});
      group.fft->inverse(arrays_.view(), some.size());
      terrane::for_each(stream_, cells.size,
                        AddCells{cells, place_.view(), static_cast<std::uint32_t>(lattice.plane()),
                                 static_cast<std::uint32_t>(lattice.cells[0]),
                                 static_cast<std::uint32_t>(first), sizes.width(), reals,
                                 1 / static_cast<double>(sizes.size()), arrays_.view(), model_.view()});
    }
  }
  if (squares)
    terrane::for_each(stream_, cells_on_device(mine).size, AtLeastZero{cells_on_device(mine), model_.view()});
  if (mine.size() == lattice.layers.size()) return model_.download(stream_, model);
  std::vector<double> whole(columns());
  model_.download(stream_, whole);
  for (const auto cell : cells_of(mine)) model[cell] = whole[cell];
}

}  // namespace

std::shared_ptr<const solve::PartedOperator> lattice_sensitivity_on_device(
    Device device, Lattice lattice, std::size_t stations, std::vector<Observable> observables, int threads,
    Progress* progress, solve::ShareOfParts share) {
  return std::make_shared<LatticeOperatorOnDevice>(device, std::move(lattice), stations,
                                                   std::move(observables), threads, progress, share);
}

}  // namespace terrane::gravity
