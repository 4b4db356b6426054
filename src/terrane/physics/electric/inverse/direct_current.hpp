// Direct current in an inversion for resistivity: F and J of electrode arrays, and their measured data.
//
//   data    ln ρ_a by default, which depends almost linearly on the logarithm of the model; or ρ_a, or ΔV/I
//   model   the resistivity of each cell that has ground, Ω·m; the inversion uses its logarithm
//
// Sensitivities need one solve for each electrode and model (physics/electric/sensitivity.hpp).
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

/// The services with which the other ranks, in serve(), answer the requests of DirectCurrent.
std::vector<inversion::Service> services_of_currents();

class DirectCurrent final : public inversion::Forward {
 public:
  /// active: indices of cells that have ground, ascending; empty: all; ground: fraction of each cell that is
  /// not air, or empty; device: for the solves; products with J are computed on the CPU; comm: null, or this
  /// is rank 0, and the other ranks are in serve(): ranks share electrodes for solves and layers of cells for
  /// products, with bitwise identical results. While a Jacobian exists, the other ranks answer only its
  /// requests and those sent through `workers`; workers: sends tasks to the other ranks where these wait for
  /// tasks, or null; at_once: number of groups into which ranks are divided, 0: each rank is a group; slopes:
  /// slopes_at() the electrodes, or empty
  DirectCurrent(TensorMesh mesh, std::vector<std::uint32_t> active, std::vector<double> ground,
                Electrodes electrodes, const Parameters& parameters, Datum datum,
                Device device = {Device::Kind::cpu, -1}, int threads = 0, Comm* comm = nullptr,
                std::shared_ptr<solve::Workers> workers = nullptr, int at_once = 0,
                std::vector<double> slopes = {});
  std::size_t rows() const override { return electrodes_.arrays.size(); }
  std::size_t columns() const override { return active_.empty() ? mesh_.size() : active_.size(); }
  /// model: Ω·m. The warnings name solves that did not converge.
  inversion::Linearised at(std::span<const double> resistivity, Progress* progress = nullptr) const override;
  /// unit_transfers() (sensitivity.hpp): ΔV/I of each array over ground of 1 Ω·m on the mesh, with the
  /// boundary conditions of its sides; needs a solve for each current electrode.
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

/// Measured values, one for each array; NaN if there is none.
struct MeasuredArrays {
  std::string name;  ///< "resistance" V/A or "apparent_resistivity" Ω·m
  /// Values and standard deviations, in the unit of the measured quantity.
  std::vector<double> values, sigma;
  std::vector<double> resistance;   ///< V/A
  std::vector<double> resistivity;  ///< Ω·m
  std::vector<double> factors;      ///< m; geometric factor k of each array, ρ_a = k ΔV/I
  /// Computes apparent resistivities if resistances were measured, else resistances.
  void convert(const std::vector<double>& factor);
  /// Standard deviation of an array's resistance or apparent resistivity.
  double deviation_of(Datum datum, std::size_t n) const;
  double median_resistivity() const;
  /// Converts to the data of an inversion, and to their standard deviations, to first order. Throws
  /// InputError: the logarithm of a value that is not positive.
  void as(Datum datum, std::vector<double>& data, std::vector<double>& deviation) const;
  /// Converts data of an inversion back to apparent resistivities and resistances.
  void from(Datum datum, const std::vector<double>& factor, std::vector<double> predicted);
};

}  // namespace terrane::electric::inverse
