#include <algorithm>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/device_sum.hpp"
#include "terrane/physics/gravity/direct_device.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t groups_a_part = 32;
constexpr std::uint32_t most_chunks = 64;
/// A launch should not keep Ctrl-C waiting: about a second on a GPU.
constexpr double most_pairs = 5e10;

std::vector<std::uint32_t> order_of(const Prisms& prisms) {
  std::vector<double> centre[3];
  const std::span<const double> low[3] = {prisms.west, prisms.south, prisms.bottom},
                                high[3] = {prisms.east, prisms.north, prisms.top};
  for (int a = 0; a < 3; ++a) {
    centre[a].resize(prisms.size());
    for (std::size_t n = 0; n < prisms.size(); ++n) centre[a][n] = 0.5 * (low[a][n] + high[a][n]);
  }
  return compact_order(centre[0], centre[1], centre[2], device_tile);
}

class DirectOnDevice final : public Summation {
 public:
  DirectOnDevice(Device device, const Prisms& prisms, const Stations& stations, ChannelSet channels,
                 double accuracy, Precision precision, int threads)
      : channels_(channels),
        threads_(threads),
        turn_(turn_for(channels)),
        set_(smallest_kernel_set(turn_.channels)),
        stream_(device),
        sources_(stream_, prisms, turn_, Switching::for_accuracy(accuracy), order_of(prisms),
                 {{0, static_cast<std::uint32_t>(prisms.size())}}),
        receivers_(stream_, stations, turn_),
        sum_(stream_, sources_, receivers_, turn_, set_, precision == Precision::single_precision) {
    // Of the prisms alone, so that it does not matter in which parts the stations come.
    lists_.chunks = static_cast<std::uint32_t>(std::clamp<std::size_t>(sources_.tiles() / 8, 1, most_chunks));
  }

  std::size_t parts() const override { return (receivers_.groups() + groups_a_part - 1) / groups_a_part; }
  Part part(std::size_t index) const override {
    return {receivers_.stations(index * groups_a_part, last_group(index)), channels_};
  }

  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override {
    const double pairs_a_part =
        static_cast<double>(sources_.tiles()) * groups_a_part * device_tile * device_tile;
    std::size_t at_once = std::clamp<std::size_t>(static_cast<std::size_t>(most_pairs / pairs_a_part), 1,
                                                  std::max<std::size_t>(1, last - first));
    const double room = 0.5 * static_cast<double>(device_memory(stream_.device()).free);
    const double bytes = static_cast<double>(groups_a_part * sum_.bytes_a_group(lists_.chunks + 1));
    at_once = std::clamp<std::size_t>(static_cast<std::size_t>(room / bytes), 1, at_once);
    for (std::size_t begin = first; begin < last;) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t end = std::min(begin + at_once, last);
      try {
        some(begin, end, take);
      } catch (const MemoryError&) {
        if (at_once == 1) throw;
        at_once /= 2;  // others may use the device too
        continue;
      }
      for (std::size_t p = begin; p < end; ++p)
        progress.advance(static_cast<std::uint64_t>(sources_.tiles()) * device_tile *
                         part(p).stations.size());
      begin = end;
    }
  }

 private:
  std::size_t last_group(std::size_t index) const {
    return std::min((index + 1) * groups_a_part, receivers_.groups());
  }

  void some(std::size_t first, std::size_t last, const Take& take) {
    const std::size_t first_group = first * groups_a_part, groups = last_group(last - 1) - first_group;
    const std::size_t width = kernel_sets[set_].size(), row = groups * device_tile;
    if (sums_.size() < width * row) sums_ = Buffer<double>(stream_.device(), width * row);
    sum_.run(first_group, first_group + groups, lists_, {sums_.view().data, width * row});
    std::vector<std::vector<double>> values(width, std::vector<double>(row));
    for (std::size_t c = 0; c < width; ++c) sums_.download(stream_, values[c], c * row);
    std::vector<Contact> contacts;
    sum_.add_host_pairs(first_group, values, contacts, threads_);
    auto contact = contacts.begin();
    for (std::size_t p = first; p < last; ++p) {
      const auto here = part(p);
      PartSums out;
      std::size_t column = 0;
      for (const auto channel : kernel_sets[set_].list()) {
        if (turn_.channels.contains(channel)) {
          const auto begin = values[column].begin() +
                             static_cast<std::ptrdiff_t>((p * groups_a_part - first_group) * device_tile);
          out.values.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(here.stations.size()));
        }
        ++column;
      }
      // Contacts come by place, as the stations of the parts do.
      for (std::size_t s = 0; s < here.stations.size(); ++s)
        for (; contact != contacts.end() && contact->station == here.stations[s]; ++contact)
          out.contacts.push_back(*contact);
      take(p, std::move(out));
    }
  }

  ChannelSet channels_;
  int threads_;
  Turn turn_;
  std::size_t set_;
  Stream stream_;
  DeviceSources sources_;
  DeviceReceivers receivers_;
  DeviceTileSum sum_;
  DeviceTileSum::Lists lists_;
  Buffer<double> sums_;
};

}  // namespace

std::unique_ptr<Summation> direct_sum_on_device(Device device, const Prisms& prisms, const Stations& stations,
                                                ChannelSet channels, double accuracy, Precision precision,
                                                int threads) {
  return std::make_unique<DirectOnDevice>(device, prisms, stations, channels, accuracy, precision, threads);
}

double direct_device_bytes(std::size_t prisms, std::size_t stations) {
  return DeviceSources::bytes(prisms) + static_cast<double>(stations) * 4 * sizeof(double);
}

}  // namespace terrane::gravity
