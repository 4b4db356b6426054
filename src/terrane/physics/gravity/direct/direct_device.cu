#include <algorithm>
#include <numeric>

#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"

namespace terrane::gravity {

namespace {

constexpr std::uint32_t most_chunks = 256;
constexpr std::size_t tiles_per_chunk = 8;
// Most groups of stations per launch: the host stores the sums of two launches.
constexpr double most_groups_summed = 1 << 14;
/// Most pairs per launch, at some 125 multiply-adds per pair: half a second, so that Ctrl-C acts soon.
double most_pairs(Device device) {
  return device.kind == Device::Kind::cuda ? gpu(device.index).fp64_per_second / 250 : 1e7;
}

std::vector<std::uint32_t> order_as_given(std::size_t prisms) {
  std::vector<std::uint32_t> order(prisms);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// In float, pairs are never more accurate than single_accuracy / 8, whatever was requested.
double accuracy_of_pairs(const Parameters& parameters) {
  return parameters.precision == Precision::single_precision
             ? std::max(parameters.accuracy, single_accuracy / 8)
             : parameters.accuracy;
}

class DirectOnDevice final : public DeviceSummation {
 public:
  DirectOnDevice(Device device, const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                 bool in_order, const DeviceSummation* same_stations)
      : DeviceSummation(device, prisms, stations, parameters.channels, turn_for(parameters.channels),
                        Switching::for_accuracy(accuracy_of_pairs(parameters)),
                        in_order ? order_as_given(prisms.size())
                                 : compact_order(boxes(prisms), device_tile, parameters.threads),
                        {{0, static_cast<std::uint32_t>(prisms.size())}}, parameters.precision,
                        parameters.threads, same_stations) {
    // The number of chunks depends on the prisms alone, so that it does not matter which parts are summed
    // together.
    lists_.chunks = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(sources_.tiles() / tiles_per_chunk, 1, most_chunks));
  }

 private:
  std::size_t groups_at_once() const override {
    const double pairs = static_cast<double>(sources_.tiles()) * device_tile * device_tile,
                 room = 0.5 * static_cast<double>(device_memory(stream_.device()).free);
    const double groups =
        std::min({most_pairs_ / pairs, room / static_cast<double>(sum_.bytes_per_group(lists_.chunks + 1)),
                  most_groups_summed, static_cast<double>(receivers_->groups())});
    return static_cast<std::size_t>(std::max(1.0, groups));
  }
  void run(std::size_t first, std::size_t last, View<double> sums, Progress&) override {
    sum_.run(first, last, lists_, sums);
  }

  DeviceTileSum::Lists lists_;
  double most_pairs_ = most_pairs(stream_.device());
};

}  // namespace

std::unique_ptr<Summation> direct_sum_on_device(Device device, const Prisms& prisms, const Stations& stations,
                                                const Parameters& parameters, bool in_order,
                                                const Summation* same_stations) {
  return std::make_unique<DirectOnDevice>(device, prisms, stations, parameters, in_order,
                                          dynamic_cast<const DeviceSummation*>(same_stations));
}

double direct_device_bytes(std::size_t prisms, std::size_t stations, ChannelSet channels, double near_share) {
  const std::size_t width = kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size();
  const double values = static_cast<double>(device_tile * sizeof(double) * width),
               tiles = static_cast<double>(prisms) / device_tile, near = near_share * tiles,
               chunks = std::min(tiles / tiles_per_chunk + 1, double{most_chunks}) + 1,
               pieces = near / static_cast<double>(tiles_per_piece) + 1;
  return DeviceSources::bytes(prisms) + static_cast<double>(stations) * 4 * sizeof(double) +
         static_cast<double>(groups_per_part) *
             (chunks * values + near * sizeof(std::uint32_t) + pieces * (values + sizeof(TilePieces::Piece)));
}

}  // namespace terrane::gravity
