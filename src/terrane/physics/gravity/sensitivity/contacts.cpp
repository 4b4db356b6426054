#include "terrane/physics/gravity/sensitivity/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"

namespace terrane::gravity {

namespace {

constexpr Channel diagonal_channels[3] = {Channel::g_ee, Channel::g_nn, Channel::g_uu};

double weight_in(const Observable& observable, Channel channel) {
  return observable.weight[static_cast<std::size_t>(channel)];
}

/// The correction of a datum at a station with the densities rho in the eight octants around it; NaN if the
/// datum has no value.
double missing(const Observable& observable, const std::array<double, 8>& rho, SingularPolicy policy) {
  std::array<double, 8> size{};
  for (std::size_t o = 0; o < 8; ++o) size[o] = std::fabs(rho[o]);
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double weight = weight_in(observable, diagonal_channels[a]);
    if (weight == 0) continue;
    const auto fix = observable.flux[a] ? flux_correction(a, rho, size, policy)
                                        : correction(diagonal_channels[a], rho, policy);
    if (fix.undefined) return std::numeric_limits<double>::quiet_NaN();
    sum += weight * fix.add;
  }
  for (const auto channel : {Channel::g_en, Channel::g_eu, Channel::g_nu})
    if (weight_in(observable, channel) != 0 && correction(channel, rho, policy).undefined)
      return std::numeric_limits<double>::quiet_NaN();
  return sum;
}

void add_to(std::array<double, 8>& rho, const CellContacts::One& contact, double density) {
  for (std::size_t o = 0; o < 8; ++o)
    if (contact.octants >> o & 1) rho[o] += density;
}

/// Finds all contacts. Stations are sorted by easting, so that each cell is compared only with those between
/// its west and east.
std::vector<CellContacts::One> find(const PrismSet& cells, const KeptStations& stations) {
  std::vector<std::uint32_t> order(stations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return stations.easting[a] < stations.easting[b]; });
  double lowest = INFINITY, highest = -INFINITY;
  for (const double up : stations.up) {
    lowest = std::min(lowest, up);
    highest = std::max(highest, up);
  }
  constexpr std::size_t chunk = 4096;
  const std::size_t chunks = (cells.size() + chunk - 1) / chunk;
  std::vector<std::vector<CellContacts::One>> found(chunks);
  for_each(chunks, 0, [&](std::size_t part) {
    for (std::size_t n = part * chunk; n < std::min((part + 1) * chunk, cells.size()); ++n) {
      const Prism cell = cells[n];
      if (cell.top < lowest || cell.bottom > highest) continue;
      const auto first = std::lower_bound(order.begin(), order.end(), cell.west,
                                          [&](std::uint32_t s, double w) { return stations.easting[s] < w; });
      for (auto at = first; at != order.end() && stations.easting[*at] <= cell.east; ++at) {
        const double x = stations.easting[*at], y = stations.northing[*at], z = stations.up[*at];
        if (y < cell.south || y > cell.north || z < cell.bottom || z > cell.top) continue;
        const auto octants = octants_filled({cell.west - x, cell.east - x}, {cell.south - y, cell.north - y},
                                            {cell.bottom - z, cell.top - z});
        if (octants != 0) found[part].push_back({*at, static_cast<std::uint32_t>(n), octants});
      }
    }
  });
  std::vector<CellContacts::One> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.station < b.station; });
  return all;
}

using Group = std::span<const CellContacts::One>;

/// Calls use(contacts of one station, index of the first) for each station.
template <class Use>
void for_stations(const std::vector<CellContacts::One>& all, const Use& use) {
  for (std::size_t first = 0, last; first < all.size(); first = last) {
    last = first + 1;
    while (last < all.size() && all[last].station == all[first].station) ++last;
    use(Group(all).subspan(first, last - first), first);
  }
}

double missing_of_pair(const Observable& observable, const CellContacts::One& a, double density_a,
                       const CellContacts::One& b, double density_b, SingularPolicy policy) {
  std::array<double, 8> rho{};
  add_to(rho, a, density_a);
  add_to(rho, b, density_b);
  return missing(observable, rho, policy);
}

/// Corrections of the elements of G of one station, one per contact. A correction is NaN if the element has
/// no value, or if the correction for two cells together is not the sum of the corrections for each.
std::vector<double> added_to(const Observable& observable, Group group, SingularPolicy policy) {
  std::vector<double> added;
  for (const auto& one : group) {
    std::array<double, 8> rho{};
    add_to(rho, one, 1);
    added.push_back(missing(observable, rho, policy));
  }
  if (policy == SingularPolicy::nan || policy == SingularPolicy::mean) return added;
  const auto alone = added;
  for (std::size_t j = 0; j < group.size(); ++j)
    for (std::size_t k = 0; k < j; ++k)
      for (const auto& [a, b] : {std::pair{1.0, 2.0}, {2.0, 1.0}}) {
        const double sum = a * alone[j] + b * alone[k],
                     both = missing_of_pair(observable, group[j], a, group[k], b, policy);
        if (std::fabs(both - sum) <= 1e-9 * (std::fabs(both) + std::fabs(sum))) continue;
        added[j] = added[k] = std::numeric_limits<double>::quiet_NaN();
      }
  return added;
}

}  // namespace

CellContacts::CellContacts(const PrismSet& cells, const KeptStations& stations,
                           const std::vector<Observable>& observables, SingularPolicy policy)
    : stations_(stations.size()), policy_(policy), observables_(observables) {
  const bool tensor = std::any_of(observables.begin(), observables.end(), [](const Observable& one) {
    return !(one.channels() & tensor_channels).empty();
  });
  const auto found = find(cells, stations);
  for_stations(found, [&](Group group, std::size_t) {
    std::uint8_t filled = 0;
    for (const auto& one : group) filled = static_cast<std::uint8_t>(filled | one.octants);
    if (filled == 0xff) inside_.push_back(group.front().station);
    if (!tensor) return;
    std::vector<std::vector<double>> of_observable;
    bool any = false;
    for (const auto& observable : observables) {
      of_observable.push_back(added_to(observable, group, policy));
      for (const double value : of_observable.back()) any = any || value != 0;
    }
    if (!any) return;
    for (std::size_t c = 0; c < group.size(); ++c) {
      all_.push_back(group[c]);
      for (const auto& values : of_observable) added_.push_back(values[c]);
    }
  });
}

std::vector<std::uint32_t> CellContacts::undefined() const {
  std::vector<std::uint32_t> stations;
  for (std::size_t c = 0; c < all_.size(); ++c) {
    const auto entries = added(c);
    if (std::any_of(entries.begin(), entries.end(), [](double v) { return std::isnan(v); }) &&
        (stations.empty() || stations.back() != all_[c].station))
      stations.push_back(all_[c].station);
  }
  return stations;
}

void CellContacts::settle(std::span<const double> model, std::span<double> data) const {
  for_stations(all_, [&](Group group, std::size_t) {
    std::array<double, 8> rho{};
    for (const auto& one : group) add_to(rho, one, model[one.cell]);
    for (std::size_t o = 0; o < observables_.size(); ++o)
      data[o * stations_ + group.front().station] += missing(observables_[o], rho, policy_);
  });
}

SettledOperator::SettledOperator(std::shared_ptr<const solve::LinearOperator> bare, CellContacts contacts,
                                 const PrismSet& cells, const KeptStations& stations, double accuracy)
    : bare_(std::move(bare)), contacts_(std::move(contacts)) {
  const auto switching = Switching::for_accuracy(accuracy);
  for (const auto& one : contacts_.all()) {
    const auto f = field_of_prism(cells[one.cell], stations.easting[one.station],
                                  stations.northing[one.station], stations.up[one.station], switching);
    const double q[channel_count] = {f.v, f.e, f.n, f.u, f.ee, f.nn, f.uu, f.en, f.eu, f.nu};
    for (const auto& observable : contacts_.observables()) {
      double value = 0;
      for (std::size_t c = 0; c < channel_count; ++c)
        if (observable.weight[c] != 0) value += observable.weight[c] * q[c];
      bare_entries_.push_back(value);
    }
  }
}

template <class Use>
void SettledOperator::for_entries(const Use& use) const {
  const std::size_t observables = contacts_.observables().size();
  for (std::size_t c = 0; c < contacts_.all().size(); ++c)
    for (std::size_t o = 0; o < observables; ++o)
      use(c, o, o * contacts_.stations() + contacts_.all()[c].station);
}

void SettledOperator::apply(std::span<const double> model, std::span<double> data) const {
  bare_->apply(model, data);
  contacts_.settle(model, data);
}

void SettledOperator::apply_transpose(std::span<const double> data, std::span<double> model) const {
  bare_->apply_transpose(data, model);
  for_entries([&](std::size_t c, std::size_t o, std::size_t row) {
    if (data[row] != 0) model[contacts_.all()[c].cell] += contacts_.added(c)[o] * data[row];
  });
}

void SettledOperator::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  bare_->weighted_diagonal(weight, diagonal);
  for_entries([&](std::size_t c, std::size_t o, std::size_t row) {
    const double added = contacts_.added(c)[o], entry = bare_entries_[c * contacts_.observables().size() + o];
    if (weight[row] != 0) diagonal[contacts_.all()[c].cell] += weight[row] * added * (2 * entry + added);
  });
}

void SettledOperator::row(std::size_t i, std::span<double> out) const {
  bare_->row(i, out);
  for_entries([&](std::size_t c, std::size_t o, std::size_t row) {
    if (row == i) out[contacts_.all()[c].cell] += contacts_.added(c)[o];
  });
}

}  // namespace terrane::gravity
