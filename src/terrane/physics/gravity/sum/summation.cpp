#include "terrane/physics/gravity/sum/summation.hpp"

#include <algorithm>

namespace terrane::gravity {

void Summation::sum_ranges(std::span<const Range> ranges, const Take& take, Progress& progress) {
  constexpr std::uint64_t steps = 1024;  // steps of progress per part
  std::uint64_t parts = 0;
  for (const auto& range : ranges) parts += range.size();
  progress.start("gravity", parts * steps);
  for (const auto& range : ranges) {
    if (range.size() == 0) continue;
    ShareOfProgress mine(progress, static_cast<double>(range.size() * steps));
    sum(range.first, range.last, take, mine);
  }
  progress.finish();
}

void join(PartSums& left, const PartSums& right) {
  for (std::size_t c = 0; c < left.values.size(); ++c)
    for (std::size_t s = 0; s < left.values[c].size(); ++s) left.values[c][s] += right.values[c][s];
  left.contacts.insert(left.contacts.end(), right.contacts.begin(), right.contacts.end());
}

void scatter_values(const Summation::Part& part, std::span<const std::span<const double>> values,
                    ChannelSet channels, PartSums& all) {
  std::size_t from = 0, to = 0;
  for (const auto channel : channels.list()) {
    if (part.channels.contains(channel)) {
      const auto& some = values[from++];
      auto& target = all.values[to];
      for (std::size_t s = 0; s < some.size(); ++s) target[part.stations[s]] = some[s];
    }
    ++to;
  }
}

void scatter_values(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all) {
  const std::vector<std::span<const double>> values(sums.values.begin(), sums.values.end());
  scatter_values(part, values, channels, all);
}

void scatter(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all) {
  scatter_values(part, sums, channels, all);
  all.contacts.insert(all.contacts.end(), sums.contacts.begin(), sums.contacts.end());
}

void sort_contacts(std::vector<Contact>& contacts) {
  // All contacts of a station come with one part, so the order of the parts does not matter.
  std::stable_sort(contacts.begin(), contacts.end(),
                   [](const Contact& a, const Contact& b) { return a.station < b.station; });
}

PartSums sum_all(Summation& summation, ChannelSet channels, std::size_t stations, Progress& progress) {
  PartSums all;
  all.values.assign(channels.size(), std::vector<double>(stations));
  summation.sum(
      0, summation.parts(),
      [&](std::size_t part, PartSums&& sums) { scatter(summation.part(part), sums, channels, all); },
      progress);
  sort_contacts(all.contacts);
  return all;
}

}  // namespace terrane::gravity
