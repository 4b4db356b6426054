// What arrays of electrodes measure on an earth of cells: one solve for each current electrode, for unit
// current; every array is a difference of those potentials.
//
// A medium that stores charge, two ways (formula/polarization.hpp): at a frequency its conductivity is
// complex, and data have a phase; in time its chargeability makes the voltage decay, m_a = 1 − ΔV[σ∞]/ΔV[σ]
// (Seigel 1959).
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
#include "terrane/physics/electric/potentials.hpp"
#include "terrane/solve/report.hpp"
#include "terrane/survey/electrodes.hpp"

namespace terrane::electric {

/// Data, one entry per array, except the volume.
struct DirectCurrentData {
  std::vector<double> resistance;            ///< ΔV/I, V/A; its real part
  std::vector<double> geometric_factor;      ///< m; NaN beyond 1e6 m: homogeneous ground gives no voltage
  std::vector<double> apparent_resistivity;  ///< Ω·m; NaN where the factor is; of complex data the magnitude
  std::vector<double> reactance;             ///< V/A; imaginary part of ΔV/I where conductivity is complex
  std::vector<double> phase;  ///< rad, positive where the voltage lags; empty where conductivity is real
  std::vector<double> chargeability;  ///< V/V; empty where the medium has none
  /// As Potentials::in_cells() has them, each [source, up, north, east] in the order of the report's sources.
  std::vector<CellValues> volume;
};

/// Values of the cells of a mesh, owned by this struct (Conductivity points at them): [cells] each, or empty.
struct Medium {
  std::vector<double> conductivity;   ///< S/m, along all axes, or along easting
  std::vector<double> quadrature;     ///< S/m, imaginary part
  std::vector<double> chargeability;  ///< V/V, below 1; `conductivity` is then that after long currents
  std::vector<double> ground;         ///< share of the cell that is not air (grid/ground.hpp)
  /// Conductivity and quadrature along northing and up, S/m; an empty array: as along easting.
  std::vector<double> conductivity_north = {}, conductivity_up = {};
  std::vector<double> quadrature_north = {}, quadrature_up = {};
  std::vector<double> slopes =
      {};  ///< slopes of the ground at the electrodes (grid/ground.hpp); empty: those that cells show

  /// All members, once: job/fields.hpp says what follows from this list.
  template <class Self, class Field>
  static void fields(Self& r, Field& field) {
    for (auto* values : {&r.conductivity, &r.quadrature, &r.chargeability, &r.ground, &r.conductivity_north,
                         &r.conductivity_up, &r.quadrature_north, &r.quadrature_up, &r.slopes})
      field("values of cells", *values, carried("medium"));
  }
  bool differs_by_axis() const { return !(conductivity_north.empty() && conductivity_up.empty()); }

  Conductivity view() const;
};

/// The medium at the moment when currents begin, before charge is stored: conductivity σ/(1 − m). Throws
/// InputError: chargeabilities that are none, or a phase beside them.
Medium begun(const Medium& medium);

struct DirectCurrentReport {
  std::vector<std::size_t> sources;        ///< electrodes that gave current
  std::vector<solve::SolveReport> solves;  ///< one per source
  std::size_t secondary = 0;               ///< number of sources solved for the secondary potential
  std::size_t held_against = 0;            ///< sources with total potentials, corrected (surroundings.hpp)
  std::size_t null_arrays = 0;             ///< number of arrays without a geometric factor
  double operator_complexity = 0;

  int most_iterations() const;
  bool converged() const;
};

/// Geometric factor on or under a flat surface at this height, m; NaN beyond 1e6 m.
double geometric_factor(const Electrodes& electrodes, const Array& array, double surface);

/// The surface is the top of the mesh, or where conductivity.ground says; then geometric factors are those of
/// a homogeneous ground on the same mesh, with as many solves again. The same bits for any number of threads,
/// ranks and groups. comm: collective over its ranks, which pass the same problem and `at_once`, into how
/// many groups they are divided; each group solves for the electrodes that are its turn, and its ranks share
/// the nodes of the mesh. Rank 0 returns all data, and all stop when one is cancelled. at_once: 1 … ranks; 0:
/// one group for each rank, or each current electrode where these are fewer. Throws InputError
/// (Electrodes::check; an electrode outside of the mesh or in the air), MemoryError, Cancelled: on all ranks;
/// OutOfStep. A solve that does not converge is in the report.
DirectCurrentData direct_current(const TensorMesh& mesh, const Conductivity& conductivity,
                                 const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report = nullptr, Progress* progress = nullptr,
                                 Comm* comm = nullptr, int at_once = 0);

/// direct_current() of a Medium, with the apparent chargeability where the medium has one: a second run with
/// the conductivity σ/(1 − m) of the moment at which currents begin. Throws InputError also for
/// chargeabilities beside complex conductivities.
DirectCurrentData direct_current(const TensorMesh& mesh, const Medium& medium, const Electrodes& electrodes,
                                 const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report = nullptr, Progress* progress = nullptr,
                                 Comm* comm = nullptr, int at_once = 0);

/// Checks boundaries against electrodes. Throws InputError: an array whose current cannot leave, as all sides
/// are insulated; a top that is mixed; a volume of single electrodes in a closed mesh.
void check(const Boundaries& boundary, const Electrodes& electrodes, const Volume& volume = {});

/// Electrodes that an array sends current from or to, ascending.
std::vector<std::size_t> current_electrodes(const Electrodes& electrodes);

/// Electrodes that are solved for, ascending: the current electrodes of as_solved() arrays
/// (surroundings.hpp), and those whose volume is wanted.
std::vector<std::size_t> sources_of(const Electrodes& given, const Electrodes& solved,
                                    const Parameters& parameters);

/// Bytes that direct_current() takes on the host and on the device, for a mesh of `nodes` nodes; and host
/// memory that every further rank that shares this mesh takes while it prepares its part.
double bytes_needed(double nodes, bool complex = false, bool on_gpu = false, double coarser = 1.5);
double bytes_of_helper(double nodes, bool complex = false);

}  // namespace terrane::electric
