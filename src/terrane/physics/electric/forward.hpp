// What arrays of electrodes measure on an earth of cells: one solve for each current electrode, for unit
// current; every array is a difference of those potentials.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/electric/formula/half_space.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::electric {

/// Current flows from a to b, the voltage is that of m above n; places in the list of electrodes, or
/// far_away.
struct Array {
  static constexpr int far_away = -1;
  int a = far_away, b = far_away, m = far_away, n = far_away;
};

struct Electrodes {
  std::vector<Point> place;  ///< m
  std::vector<Array> arrays;

  /// Throws InputError: an array that names an electrode there is not, has a current electrode for a
  /// potential one, has neither current or neither potential electrode, or one twice.
  void check() const;
};

/// One entry per array.
struct DirectCurrentData {
  std::vector<double> resistance;            ///< ΔV/I, V/A
  std::vector<double> geometric_factor;      ///< m; NaN where the array is null or beyond 1e6 m
  std::vector<double> apparent_resistivity;  ///< Ω·m; NaN where the factor is
};

struct DirectCurrentReport {
  std::vector<std::size_t> sources;        ///< electrodes that gave current
  std::vector<solve::SolveReport> solves;  ///< one per source
  std::size_t secondary = 0;               ///< solved for the secondary potential
  std::size_t null_arrays = 0;             ///< without a geometric factor
  double operator_complexity = 0;

  int most_iterations() const;
  bool converged() const;
};

/// Geometric factor on or under a flat surface at this height, m.
double geometric_factor(const Electrodes& electrodes, const Array& array, double surface);

/// surface: the top of the mesh. The same bits for any number of threads and ranks. comm: collective over its
/// ranks, which pass the same problem and share the nodes of the mesh; each returns all data, and all stop
/// when one is cancelled. Throws InputError (Electrodes::check; an electrode outside of the mesh),
/// MemoryError, Cancelled. A solve that does not converge is in the report.
DirectCurrentData direct_current(const TensorMesh& mesh, const Conductivity& conductivity,
                                 const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report = nullptr, Progress* progress = nullptr,
                                 Comm* comm = nullptr);

/// Bytes that direct_current() takes on the host and on the device, for a mesh of so many nodes.
double bytes_needed(double nodes);

}  // namespace terrane::electric
