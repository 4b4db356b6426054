// The direct sum on a GPU (or the debug device): every prism at every station.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

/// Of the parameters: channels, accuracy (of every pair; in single precision no better than single_accuracy
/// is tried for), precision, threads. The views must outlive it. in_order: the prisms are in compact order.
/// same_stations: a direct sum on the device with these stations and parameters, whose copy of the stations
/// is used. All GPUs of one kind give the same bits, however the sum is divided; the debug device agrees
/// with them within the accuracy.
/// Throws MemoryError when not even a small part fits the device.
std::unique_ptr<Summation> direct_sum_on_device(Device device, const Prisms& prisms, const Stations& stations,
                                                const Parameters& parameters, bool in_order = false,
                                                const Summation* same_stations = nullptr);

/// Memory of the sum on the device: prisms, stations and the sums of one part or more. near_share: of
/// DirectCost.
double direct_device_bytes(std::size_t prisms, std::size_t stations, ChannelSet channels, double near_share);

}  // namespace terrane::gravity
