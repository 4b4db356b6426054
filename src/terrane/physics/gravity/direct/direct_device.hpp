// The direct sum on a GPU (or the debug device): every prism at every station.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

/// Uses these parameters: channels, accuracy (of every pair; in single precision limited by single_accuracy),
/// precision, threads. The views must outlive the sum. in_order: whether the prisms are already in compact
/// order (mesh/order.hpp). same_stations: a direct sum on the device with these stations and parameters,
/// whose copy of the stations is used. All GPUs of one kind give bitwise the same result, however the sum is
/// divided; the debug device agrees with them within the accuracy. Throws MemoryError when not even a small
/// part fits the device.
std::unique_ptr<Summation> direct_sum_on_device(Device device, const Prisms& prisms, const Stations& stations,
                                                const Parameters& parameters, bool in_order = false,
                                                const Summation* same_stations = nullptr);

/// Device memory in bytes that the sum needs: prisms, stations and the sums of one part. near_share: see
/// DirectCost
double direct_device_bytes(std::size_t prisms, std::size_t stations, ChannelSet channels, double near_share);

}  // namespace terrane::gravity
