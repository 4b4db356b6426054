// Sensitivities: what one cell of unit density does at every station. They are the columns of G in d = G m.
//
// A datum need not be a channel: an observable is Σ_c weight_c q_c over the ten quantities of a prism with
// unit density and G = 1. So g_u in mGal, and the magnetic anomaly of a susceptible cell (by Poisson's
// relation) come from the same kernels, several of them in one pass.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/solve/chunked.hpp"

namespace terrane::gravity {

/// Σ_c weight_c q_c, q in the order of Channel.
struct Observable {
  std::array<double, channel_count> weight{};

  /// One channel, times `factor`: the gravitational constant for SI.
  static Observable of(Channel channel, double factor);
  ChannelSet channels() const;
};

/// The channels that any of them needs.
ChannelSet channels_of(const std::vector<Observable>& observables);

/// Stations that the sensitivities keep, m.
struct KeptStations {
  std::vector<double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
  Stations view() const { return {easting, northing, up}; }
};

/// Rows are observable by observable, station by station within: row = station + stations · observable.
/// Columns are cells, in their order.
class SensitivityColumns final : public solve::ColumnSource {
 public:
  /// accuracy: relative, of every entry; 1e-9 for double precision and 1e-7 for single are ample. Throws
  /// InputError: nothing is observed.
  SensitivityColumns(PrismSet cells, KeptStations stations, std::vector<Observable> observables,
                     double accuracy);

  std::size_t rows() const override { return stations_.size() * observables_.size(); }
  std::size_t columns() const override { return cells_.size(); }
  void make(std::size_t first, std::size_t last, std::span<double> out) const override;

  const PrismSet& cells() const { return cells_; }
  const KeptStations& stations() const { return stations_; }
  const std::vector<Observable>& observables() const { return observables_; }
  double accuracy() const { return accuracy_; }

 private:
  PrismSet cells_;
  KeptStations stations_;
  std::vector<Observable> observables_;
  double accuracy_;
  struct Kernels;  ///< the tiles of stations, and which kernel takes them
  std::shared_ptr<const Kernels> kernels_;
};

}  // namespace terrane::gravity
