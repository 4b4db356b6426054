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

/// Calls body(first, last, index of the chunk) for each chunk.
template <class Body>
void in_chunks(std::size_t count, std::size_t chunk, int threads, const Body& body) {
  for_each((count + chunk - 1) / chunk, threads,
           [&](std::size_t c) { body(c * chunk, std::min((c + 1) * chunk, count), c); });
}

/// The smallest length of an array that is not below n and has no prime factor above 7; along rows an even
/// one, as DeviceFft requires.
std::size_t good_size(std::size_t n, int axis) {
  for (;; ++n) {
    if (axis == 0 && n % 2 != 0) continue;
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

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Finds the mesh, the layers, the groups of stations and the cells of prisms, in this order; a step that
/// fails sets the reason and returns false. The result does not depend on the chunks: the prism reported is
/// the first of all that does not fit.
class Recogniser {
 public:
  Recogniser(const Prisms& prisms, const Stations& stations, std::string& reason, int threads)
      : prisms_(prisms),
        stations_(stations),
        reason_(reason),
        threads_(threads),
        chunk_(std::max<std::size_t>(1 << 14, prisms.size() / 512)),
        chunks_((prisms.size() + chunk_ - 1) / chunk_) {}

  std::optional<Lattice> recognise() {
    if (prisms_.size() == 0 || stations_.size() == 0) {
      reason_ = "there is nothing to compute";
      return std::nullopt;
    }
    // Stations are tested before the cells of prisms: they are fewer, and usually the ones that do not fit.
    if (find_spacing(0) && find_spacing(1) && find_layers() && find_groups() && find_places())
      return std::move(lattice_);
    return std::nullopt;
  }

 private:
  /// The cell of a station, and the station's offset from its centre.
  struct Spot {
    long cell[2];
    double offset[2];
  };

  bool no(std::string why) {
    reason_ = std::move(why);
    return false;
  }
  template <class Body>
  void in_chunks_of_prisms(const Body& body) const {
    in_chunks(prisms_.size(), chunk_, threads_, body);
  }
  double cells_of_mesh() const {
    return static_cast<double>(lattice_.plane()) * static_cast<double>(lattice_.layers.size());
  }

  bool find_spacing(int a);
  bool find_layers();
  bool find_groups();
  bool find_spot(std::size_t station, Spot& spot);
  std::size_t group_of(std::size_t station, const Spot& spot) const;
  bool find_places();
  bool cell_of(std::size_t prism, long (&cell)[2]) const;
  bool lies_where_another_is(std::size_t count, std::size_t& which) const;

  const Prisms& prisms_;
  const Stations& stations_;
  std::string& reason_;
  int threads_;
  std::size_t chunk_, chunks_;  // prisms per chunk, number of chunks
  Lattice lattice_;
  double slack_[2] = {};  // tolerance of coordinates, m
  std::span<const double> low_[2] = {prisms_.west, prisms_.south}, high_[2] = {prisms_.east, prisms_.north},
                          at_[2] = {stations_.easting, stations_.northing};
};

/// Finds the spacing and number of cells along an axis; all prisms must have one width.
bool Recogniser::find_spacing(int a) {
  struct Extent {
    double least, most;
    std::size_t wrong;
  };
  const auto &low = low_[a], &high = high_[a];
  const std::size_t none = prisms_.size();
  const double width = high[0] - low[0];
  std::vector<Extent> extents(chunks_);
  in_chunks_of_prisms([&](std::size_t first, std::size_t last, std::size_t c) {
    Extent e{low[first], low[first], none};
    for (std::size_t n = first; n < last && e.wrong == none; ++n) {
      if (std::fabs(high[n] - low[n] - width) > 1e-6 * width) e.wrong = n;
      e.least = std::min(e.least, low[n]);
      e.most = std::max(e.most, high[n]);
    }
    extents[c] = e;
  });
  Extent all = extents[0];
  for (const auto& e : extents)
    all = {std::min(all.least, e.least), std::max(all.most, e.most), std::min(all.wrong, e.wrong)};
  if (all.wrong != none) return no(fmt::format("prisms 0 and {} have different widths", all.wrong));
  const double cells = std::round((all.most - all.least) / width);
  if (cells > 1e6) return no("the prisms lie too far apart for a mesh");
  lattice_.cells[a] = static_cast<std::size_t>(cells);
  lattice_.corner[a] = all.least;
  lattice_.spacing[a] = (all.most - all.least) / cells;
  slack_[a] = 16 * eps * std::max(std::fabs(all.least), std::fabs(all.most));
  return true;
}

bool Recogniser::find_layers() {
  std::vector<std::vector<Lattice::Layer>> found(chunks_);
  in_chunks_of_prisms([&](std::size_t first, std::size_t last, std::size_t c) {
    auto& layers = found[c];
    for (std::size_t n = first; n < last && layers.size() <= 4 * most_layers; ++n) {
      const Lattice::Layer layer{prisms_.bottom[n], prisms_.top[n]};
      if (!layers.empty() && same_layer(layers.back(), layer)) continue;
      layers.push_back(layer);
      if (layers.size() < 4 * most_layers) continue;
      sort_unique(layers);
      if (layers.size() > most_layers) return;
    }
    sort_unique(layers);
  });
  for (const auto& some : found) {
    lattice_.layers.insert(lattice_.layers.end(), some.begin(), some.end());
    sort_unique(lattice_.layers);
    if (lattice_.layers.size() > most_layers) return no("the prisms do not lie in layers");
  }
  if (cells_of_mesh() > 1e3 * static_cast<double>(prisms_.size()) + 1e6 || cells_of_mesh() > 4e9)
    return no("the prisms fill too little of a mesh");
  return true;
}

bool Recogniser::find_groups() {
  auto& groups = lattice_.groups;
  for (std::size_t n = 0; n < stations_.size(); ++n) {
    Spot spot{};
    if (!find_spot(n, spot)) return false;
    const std::size_t g = group_of(n, spot);
    if (g == groups.size()) {
      if (g == most_groups || g > 16 + n / 4) return no("the stations are not in step with the mesh");
      Lattice::Group group{};
      std::copy_n(spot.offset, 2, group.offset);
      group.up = stations_.up[n];
      std::copy_n(spot.cell, 2, group.low);
      std::copy_n(spot.cell, 2, group.high);
      groups.push_back(std::move(group));
    }
    auto& group = groups[g];
    group.station.push_back(static_cast<std::uint32_t>(n));
    for (int a = 0; a < 2; ++a) {
      group.cell[a].push_back(static_cast<std::int32_t>(spot.cell[a]));
      group.low[a] = std::min(group.low[a], spot.cell[a]);
      group.high[a] = std::max(group.high[a], spot.cell[a]);
    }
  }
  return true;
}

/// Finds the cell nearest to the station and the offset from its centre. An offset that is 0 or −0.5 within
/// rounding is set to that, so that it is the same for all stations.
bool Recogniser::find_spot(std::size_t station, Spot& spot) {
  for (int a = 0; a < 2; ++a) {
    const double at = at_[a][station], place = (at - lattice_.corner[a]) / lattice_.spacing[a] - 0.5;
    if (std::fabs(place) > 1e6) return no("stations lie too far from the mesh");
    const double near =
        (slack_[a] + 16 * eps * std::fabs(at)) / lattice_.spacing[a] + 16 * eps * std::fabs(place);
    auto& cell = spot.cell[a];
    auto& offset = spot.offset[a];
    cell = std::lround(std::floor(place + 0.5));
    offset = place - static_cast<double>(cell);
    if (offset > 0.5 - near) {
      offset -= 1;
      ++cell;
    }
    if (std::fabs(offset) <= near) offset = 0;
    if (std::fabs(offset + 0.5) <= near) offset = -0.5;
    if (near > 1e-6) return no("coordinates are too large for the size of the cells");
  }
  return true;
}

/// The index of the station's group, or the number of groups if there is none yet. The search begins at the
/// last group, because neighbours in a list mostly belong to recent groups.
std::size_t Recogniser::group_of(std::size_t station, const Spot& spot) const {
  const auto& groups = lattice_.groups;
  for (std::size_t g = groups.size(); g-- > 0;) {
    const auto same = [&](int a) {
      return std::fabs(groups[g].offset[a] - spot.offset[a]) * lattice_.spacing[a] <=
             2 * slack_[a] + 32 * eps * std::fabs(at_[a][station]);
    };
    if (groups[g].up == stations_.up[station] && same(0) && same(1)) return g;
  }
  return groups.size();
}

/// Finds the cell of every prism; no two prisms may have the same cell.
bool Recogniser::find_places() {
  const std::size_t none = prisms_.size();
  lattice_.place.resize(prisms_.size());
  std::vector<std::uint64_t> filled(static_cast<std::size_t>(cells_of_mesh()) / 64 + 1);
  std::vector<std::size_t> astray(chunks_, none);
  std::atomic<bool> twice{false};
  in_chunks_of_prisms([&](std::size_t first, std::size_t last, std::size_t c) {
    std::size_t layer = 0;
    for (std::size_t n = first; n < last; ++n) {
      long cell[2];
      if (!cell_of(n, cell)) {
        astray[c] = n;
        return;
      }
      const Lattice::Layer here{prisms_.bottom[n], prisms_.top[n]};
      if (!same_layer(lattice_.layers[layer], here))
        layer = static_cast<std::size_t>(
            std::lower_bound(lattice_.layers.begin(), lattice_.layers.end(), here, below) -
            lattice_.layers.begin());
      const std::size_t place =
          static_cast<std::size_t>(cell[0]) +
          lattice_.cells[0] * (static_cast<std::size_t>(cell[1]) + lattice_.cells[1] * layer);
      const std::uint64_t bit = std::uint64_t{1} << place % 64;
      if (std::atomic_ref(filled[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) twice = true;
      lattice_.place[n] = static_cast<std::uint32_t>(place);
    }
  });
  const std::size_t first_astray = *std::min_element(astray.begin(), astray.end());
  if (std::size_t which = 0; twice && lies_where_another_is(first_astray, which))
    return no(fmt::format("prism {} lies where another is", which));
  if (first_astray != none)
    return no(fmt::format("prism {} is out of step with the mesh of the others", first_astray));
  return true;
}

/// Finds the cell of a prism; false if its faces are not those of a cell.
bool Recogniser::cell_of(std::size_t prism, long (&cell)[2]) const {
  for (int a = 0; a < 2; ++a) {
    const double low = low_[a][prism], high = high_[a][prism];
    cell[a] = std::lround((low - lattice_.corner[a]) / lattice_.spacing[a]);
    const double face = lattice_.corner[a] + static_cast<double>(cell[a]) * lattice_.spacing[a];
    if (std::fabs(low - face) > slack_[a] || std::fabs(high - face - lattice_.spacing[a]) > slack_[a])
      return false;
  }
  return true;
}

/// Finds the first of the prisms 0 .. count − 1 that is in the cell of an earlier one.
bool Recogniser::lies_where_another_is(std::size_t count, std::size_t& which) const {
  std::vector<std::uint64_t> filled(static_cast<std::size_t>(cells_of_mesh()) / 64 + 1);
  for (std::size_t n = 0; n < count; ++n) {
    auto& word = filled[lattice_.place[n] / 64];
    const std::uint64_t bit = std::uint64_t{1} << lattice_.place[n] % 64;
    if (word & bit) {
      which = n;
      return true;
    }
    word |= bit;
  }
  return false;
}

}  // namespace

std::optional<Lattice> recognise_lattice(const Prisms& prisms, const Stations& stations, std::string& reason,
                                         int threads) {
  return Recogniser(prisms, stations, reason, threads).recognise();
}

// ---- the plan ----

Lags::Lags(const Lattice::Group& group, int axis, std::size_t cells)
    : low(group.low[axis]),
      first(low - static_cast<long>(cells) + 1),
      count(group.high[axis] - first + 1),
      size(good_size(static_cast<std::size_t>(count), axis)),
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
        } else {  // the list of channels has Γee, Γnn and Γuu in this order
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
