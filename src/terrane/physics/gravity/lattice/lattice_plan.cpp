#include "terrane/physics/gravity/lattice/lattice_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_layers = 4096, most_groups = 1024;

/// body(first, last, index of the chunk); returns how many chunks there are.
template <class Body>
void in_chunks(std::size_t count, std::size_t chunk, int threads, const Body& body) {
  for_each((count + chunk - 1) / chunk, threads,
           [&](std::size_t c) { body(c * chunk, std::min((c + 1) * chunk, count), c); });
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

bool below(const Lattice::Layer& a, const Lattice::Layer& b) {
  return a.bottom < b.bottom || (a.bottom == b.bottom && a.top < b.top);
}

bool same_layer(const Lattice::Layer& a, const Lattice::Layer& b) {
  return a.bottom == b.bottom && a.top == b.top;
}

void sort_unique(std::vector<Lattice::Layer>& layers) {
  std::sort(layers.begin(), layers.end(), below);
  layers.erase(std::unique(layers.begin(), layers.end(), same_layer), layers.end());
}

}  // namespace

// ---- recognition ----

std::optional<Lattice> recognise_lattice(const Prisms& prisms, const Stations& stations, std::string& reason,
                                         int threads) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const auto no = [&](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  if (prisms.size() == 0 || stations.size() == 0) return no("there is nothing to compute");
  // What is found does not depend on the chunks: the first prism that does not fit is that of all.
  const std::size_t chunk = std::max<std::size_t>(1 << 14, prisms.size() / 512),
                    chunks = (prisms.size() + chunk - 1) / chunk, none = prisms.size();
  Lattice lattice;
  const std::span<const double> low[2] = {prisms.west, prisms.south}, high[2] = {prisms.east, prisms.north};
  const std::span<const double> at[2] = {stations.easting, stations.northing};
  double slack[2];  // of coordinates, m
  for (int a = 0; a < 2; ++a) {
    struct Extent {
      double least, most;
      std::size_t wrong;
    };
    const double width = high[a][0] - low[a][0];
    std::vector<Extent> extents(chunks);
    in_chunks(prisms.size(), chunk, threads, [&](std::size_t first, std::size_t last, std::size_t c) {
      Extent e{low[a][first], low[a][first], none};
      for (std::size_t n = first; n < last && e.wrong == none; ++n) {
        if (std::fabs(high[a][n] - low[a][n] - width) > 1e-6 * width) e.wrong = n;
        e.least = std::min(e.least, low[a][n]);
        e.most = std::max(e.most, high[a][n]);
      }
      extents[c] = e;
    });
    Extent all = extents[0];
    for (const auto& e : extents)
      all = {std::min(all.least, e.least), std::max(all.most, e.most), std::min(all.wrong, e.wrong)};
    if (all.wrong != none) return no(fmt::format("prisms 0 and {} have different widths", all.wrong));
    const double cells = std::round((all.most - all.least) / width);
    if (cells > 1e6) return no("the prisms lie too far apart for a mesh");
    lattice.cells[a] = static_cast<std::size_t>(cells);
    lattice.corner[a] = all.least;
    lattice.spacing[a] = (all.most - all.least) / cells;
    slack[a] = 16 * eps * std::max(std::fabs(all.least), std::fabs(all.most));
  }
  std::vector<std::vector<Lattice::Layer>> found(chunks);
  in_chunks(prisms.size(), chunk, threads, [&](std::size_t first, std::size_t last, std::size_t c) {
    auto& layers = found[c];
    for (std::size_t n = first; n < last && layers.size() <= 4 * most_layers; ++n) {
      const Lattice::Layer layer{prisms.bottom[n], prisms.top[n]};
      if (!layers.empty() && same_layer(layers.back(), layer)) continue;
      layers.push_back(layer);
      if (layers.size() < 4 * most_layers) continue;
      sort_unique(layers);
      if (layers.size() > most_layers) return;
    }
    sort_unique(layers);
  });
  for (const auto& some : found) {
    lattice.layers.insert(lattice.layers.end(), some.begin(), some.end());
    sort_unique(lattice.layers);
    if (lattice.layers.size() > most_layers) return no("the prisms do not lie in layers");
  }
  const double all = static_cast<double>(lattice.plane()) * static_cast<double>(lattice.layers.size());
  if (all > 1e3 * static_cast<double>(prisms.size()) + 1e6 || all > 4e9)
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
  std::vector<std::uint64_t> filled(static_cast<std::size_t>(all) / 64 + 1);
  std::vector<std::size_t> astray(chunks, none);
  std::atomic<bool> twice{false};
  in_chunks(prisms.size(), chunk, threads, [&](std::size_t first, std::size_t last, std::size_t c) {
    std::size_t layer = 0;
    for (std::size_t n = first; n < last; ++n) {
      long cell[2];
      for (int a = 0; a < 2; ++a) {
        cell[a] = std::lround((low[a][n] - lattice.corner[a]) / lattice.spacing[a]);
        const double face = lattice.corner[a] + static_cast<double>(cell[a]) * lattice.spacing[a];
        if (std::fabs(low[a][n] - face) > slack[a] ||
            std::fabs(high[a][n] - face - lattice.spacing[a]) > slack[a]) {
          astray[c] = n;
          return;
        }
      }
      const Lattice::Layer here{prisms.bottom[n], prisms.top[n]};
      if (!same_layer(lattice.layers[layer], here))
        layer = static_cast<std::size_t>(
            std::lower_bound(lattice.layers.begin(), lattice.layers.end(), here, below) -
            lattice.layers.begin());
      const std::size_t place =
          static_cast<std::size_t>(cell[0]) +
          lattice.cells[0] * (static_cast<std::size_t>(cell[1]) + lattice.cells[1] * layer);
      const std::uint64_t bit = std::uint64_t{1} << place % 64;
      if (std::atomic_ref(filled[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) twice = true;
      lattice.place[n] = static_cast<std::uint32_t>(place);
    }
  });
  const std::size_t first_astray = *std::min_element(astray.begin(), astray.end());
  if (twice) {
    std::fill(filled.begin(), filled.end(), 0U);
    for (std::size_t n = 0; n < first_astray; ++n) {
      auto& word = filled[lattice.place[n] / 64];
      const std::uint64_t bit = std::uint64_t{1} << lattice.place[n] % 64;
      if (word & bit) return no(fmt::format("prism {} lies where another is", n));
      word |= bit;
    }
  }
  if (first_astray != none)
    return no(fmt::format("prism {} is out of step with the mesh of the others", first_astray));
  return lattice;
}

// ---- the plan ----

Lags::Lags(const Lattice::Group& group, int axis, std::size_t cells)
    : low(group.low[axis]),
      first(low - static_cast<long>(cells) + 1),
      count(group.high[axis] - first + 1),
      size(good_size(static_cast<std::size_t>(count))),
      symmetry(group.offset[axis] == 0      ? 1
               : group.offset[axis] == -0.5 ? 2
                                            : 0),
      offset(group.offset[axis]) {
  distances = std::max(index(first), index(first + count - 1)) + 1;
}

Convolution::Convolution(const Lattice::Group& group, const Lattice& lattice)
    : lags{{group, 0, lattice.cells[0]}, {group, 1, lattice.cells[1]}},
      row(lags[0].size / 2 + 1),
      reals(2 * row * lags[1].size) {}

LatticePlan::LatticePlan(Lattice lattice, ChannelSet channels)
    : lattice_(std::move(lattice)), channels_(channels), computed_(channels) {
  const bool outside = std::all_of(lattice_.groups.begin(), lattice_.groups.end(), [&](const auto& g) {
    return std::all_of(lattice_.layers.begin(), lattice_.layers.end(),
                       [&](const auto& l) { return g.up < l.bottom || g.up > l.top; });
  });
  const ChannelSet laplace{Channel::g_ee, Channel::g_nn, Channel::g_uu};
  if (outside && channels.contains(laplace))
    computed_ = ChannelSet::from_bits(channels.bits() & ~ChannelSet{Channel::g_uu}.bits());
  for (std::size_t g = 0; g < lattice_.groups.size(); ++g) {
    convolutions_.emplace_back(lattice_.groups[g], lattice_);
    bool first = true;
    for (const auto channel : channels_.list()) {
      if (computed_ == channels_ || !laplace.contains(ChannelSet{channel}))
        parts_.push_back({g, ChannelSet{channel}, first});
      else if (channel == Channel::g_ee) parts_.push_back({g, laplace, first});
      first = false;
    }
  }
}

Summation::Part LatticePlan::part(std::size_t index) const {
  return {lattice_.groups[parts_[index].group].station, parts_[index].channels};
}

void LatticePlan::check(std::span<const double> density) const {
  if (density.size() != lattice_.place.size())
    throw ShapeError("lattice: density",
                     fmt::format("{} values for {} prisms", density.size(), lattice_.place.size()),
                     "Give one density per prism.");
}

void LatticePlan::sum(Convolver& convolver, std::span<const double> density, std::size_t first,
                      std::size_t last, int threads, const Summation::Take& take, Progress& progress) const {
  check(density);
  const auto end_of_group = [&](std::size_t p) {
    std::size_t end = p + 1;
    while (end < last && parts_[end].group == parts_[p].group) ++end;
    return end;
  };
  std::size_t groups = 0;
  for (std::size_t p = first; p < last; p = end_of_group(p)) ++groups;
  progress.start("gravity", groups * lattice_.layers.size());
  LatticeContacts contacts(lattice_, density, threads);
  for (std::size_t begin = first; begin < last;) {
    const std::size_t end = end_of_group(begin);
    const auto& group = lattice_.groups[parts_[begin].group];
    ChannelSet wanted;
    for (std::size_t p = begin; p < end; ++p) wanted = wanted | parts_[p].channels;
    convolver.convolve(parts_[begin].group, wanted & computed_, progress);
    for (std::size_t p = begin; p < end; ++p) {
      PartSums sums;
      for (const auto channel : parts_[p].channels.list()) {
        auto& out = sums.values.emplace_back(group.station.size());
        if (computed_.contains(channel)) {
          convolver.values(channel, out);
        } else {  // Γuu comes after Γee and Γnn
          for (std::size_t s = 0; s < out.size(); ++s) out[s] = -sums.values[0][s] - sums.values[1][s];
        }
      }
      if (parts_[p].first) sums.contacts = contacts.of(group);
      take(p, std::move(sums));
    }
    begin = end;
  }
  progress.finish();
}

// ---- stations inside and on cells ----

namespace {

constexpr std::uint32_t no_prism = 0xffffffffU;

}  // namespace

const std::vector<std::uint32_t>& LatticeContacts::prisms_of(std::size_t layer) {
  const auto [entry, fresh] = prisms_.try_emplace(layer);
  auto& prisms = entry->second;
  if (!fresh) return prisms;
  const std::size_t plane = lattice_.plane();
  prisms.assign(plane, no_prism);
  in_chunks(lattice_.place.size(), 1 << 16, threads_, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t n = first; n < last; ++n)
      if (lattice_.place[n] / plane == layer)
        prisms[lattice_.place[n] % plane] = static_cast<std::uint32_t>(n);
  });
  return prisms;
}

std::vector<Contact> LatticeContacts::of(const Lattice::Group& group) {
  std::vector<Contact> found;
  for (std::size_t l = 0; l < lattice_.layers.size(); ++l) {
    const auto& layer = lattice_.layers[l];
    if (group.up < layer.bottom || group.up > layer.top) continue;
    const auto& prisms = prisms_of(l);
    const double z[2] = {layer.bottom - group.up, layer.top - group.up};
    for (std::size_t s = 0; s < group.station.size(); ++s)
      for (int dj = group.offset[1] == -0.5 ? -1 : 0; dj <= 0; ++dj)
        for (int di = group.offset[0] == -0.5 ? -1 : 0; di <= 0; ++di) {
          const long i = group.cell[0][s] + di, j = group.cell[1][s] + dj;
          if (i < 0 || j < 0 || i >= static_cast<long>(lattice_.cells[0]) ||
              j >= static_cast<long>(lattice_.cells[1]))
            continue;
          const auto n =
              prisms[static_cast<std::size_t>(i) + lattice_.cells[0] * static_cast<std::size_t>(j)];
          if (n == no_prism) continue;
          const double x[2] = {-0.5 - group.offset[0] + di, 0.5 - group.offset[0] + di},
                       y[2] = {-0.5 - group.offset[1] + dj, 0.5 - group.offset[1] + dj};
          found.push_back({group.station[s], density_[n], octants_filled(x, y, z)});
        }
  }
  return found;
}

}  // namespace terrane::gravity
