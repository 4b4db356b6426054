// Direct current as data of resistivities: F and J of arrays of electrodes, and what was measured with them.
//
//   data    ln ρ_a by default: in the logarithms of model and data it is nearly linear; or ρ_a, or ΔV/I
//   model   the resistivity of each cell that has ground, Ω·m; the inversion takes its logarithm
//
// Sensitivities come from one solve for each electrode (physics/electric/sensitivity.hpp), at every model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/inversion/job/services.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/electric/sensitivity.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electric::inverse {

/// The services of the other ranks for DirectCurrent.
std::vector<inversion::Service> services_of_currents();

class DirectCurrent final : public inversion::Forward {
 public:
  /// active: cells that have ground, ascending; empty: all · ground: share of each cell that is not air, or
  /// empty · device: of the solves; products are made on the CPU · comm: where this is rank 0, whose others
  /// serve(): electrodes are shared, then layers of cells, with the same bits. While there is a jacobian,
  /// they serve nothing but this and the workers · workers: that the others may be in, or null · at_once:
  /// into how many groups ranks are divided, 0: each rank is one · slopes: of the ground (slopes_at()), or
  /// empty
  DirectCurrent(TensorMesh mesh, std::vector<std::uint32_t> active, std::vector<double> ground,
                Electrodes electrodes, const Parameters& parameters, Datum datum,
                Device device = {Device::Kind::cpu, -1}, int threads = 0, Comm* comm = nullptr,
                std::shared_ptr<solve::Workers> workers = nullptr, int at_once = 0,
                std::vector<double> slopes = {});
  std::size_t rows() const override { return electrodes_.arrays.size(); }
  std::size_t columns() const override { return active_.empty() ? mesh_.size() : active_.size(); }
  /// model: Ω·m. A solve that does not converge is among the warnings.
  inversion::Linearised at(std::span<const double> resistivity, Progress* progress = nullptr) const override;
  /// unit_transfers(): ΔV/I of each array over ground of 1 Ω·m, the sides included, with a solve
  /// for each current electrode.
  const std::vector<double>& unit() const;

 private:
  Packet request(const char* service, const std::vector<double>& conductivity) const;

  TensorMesh mesh_;
  std::vector<std::uint32_t> active_;
  std::vector<double> ground_;
  Electrodes electrodes_;
  Parameters parameters_;
  Datum datum_;
  int threads_;
  Device device_;
  Comm* comm_;
  mutable std::shared_ptr<solve::Workers> workers_;
  int at_once_;
  std::vector<double> slopes_;
  mutable std::vector<double> unit_;
};

/// Measured values, one for each array; NaN where there is none.
struct MeasuredArrays {
  std::string name;                   ///< "resistance" V/A or "apparent_resistivity" Ω·m
  std::vector<double> values, sigma;  ///< in its unit
  std::vector<double> resistance;     ///< V/A
  std::vector<double> resistivity;    ///< Ω·m
  std::vector<double> factors;        ///< m: k of each array, ρ_a = k ΔV/I
  /// Computes resistance from resistivity or the other way round, whichever was measured.
  void convert(const std::vector<double>& factor);
  /// Standard deviation of an array's resistance or apparent resistivity.
  double deviation_of(Datum datum, std::size_t n) const;
  double median_resistivity() const;
  /// The data of an inversion and their standard deviations, to first order. Throws InputError: logarithms of
  /// what is not above zero.
  void as(Datum datum, std::vector<double>& data, std::vector<double>& deviation) const;
  /// Back from data to apparent resistivities and resistances.
  void from(Datum datum, const std::vector<double>& factor, std::vector<double> predicted);
};

}  // namespace terrane::electric::inverse
