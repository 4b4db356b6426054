// Data of electrode arrays over an earth of cells: one solve for each current electrode, with unit current;
// the datum of an array is a sum of these potentials with positive and negative signs.
//
// A medium that stores charge is described in one of two ways (formula/polarization.hpp): at a frequency, its
// conductivity is complex, and data have a phase; in the time domain, its chargeability makes the voltage
// decay, and the apparent chargeability is m_a = 1 − ΔV[σ∞]/ΔV[σ] (Seigel 1959), with the conductivity σ∞
// when currents are switched on, and σ after long currents.
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

/// Data: one value per electrode array in each member except the volume.
struct DirectCurrentData {
  std::vector<double> resistance;            ///< real part of ΔV/I, V/A
  std::vector<double> geometric_factor;      ///< m; NaN above 1e6 m: no voltage over homogeneous ground
  std::vector<double> apparent_resistivity;  ///< Ω·m; NaN without a factor; magnitude if data are complex
  std::vector<double> reactance;             ///< V/A; imaginary part of ΔV/I if conductivity is complex
  std::vector<double> phase;          ///< rad, positive if the voltage lags; empty if conductivity is real
  std::vector<double> chargeability;  ///< V/V, apparent; empty if the medium has no chargeability
  /// Fields in all cells, as from Potentials::in_cells(), each [source, up, north, east], sources in the
  /// order of the report.
  std::vector<CellValues> volume;
};

/// Properties of the cells of a mesh, each [cells] or empty; view() returns pointers to them.
struct Medium {
  std::vector<double> conductivity;   ///< S/m; in anisotropic media, along easting
  std::vector<double> quadrature;     ///< S/m, imaginary part
  std::vector<double> chargeability;  ///< V/V, below 1; `conductivity` is then that of long-lasting currents
  std::vector<double> ground;         ///< fraction of the cell that is not air (grid/ground.hpp)
  /// Conductivity and quadrature along northing and up, S/m; empty: as along easting.
  std::vector<double> conductivity_north = {}, conductivity_up = {};
  std::vector<double> quadrature_north = {}, quadrature_up = {};
  std::vector<double> slopes =
      {};  ///< slopes of the surface at electrodes, from slopes_at() (grid/ground.hpp); empty: from `ground`

  /// All members; job/fields.hpp says what is derived from this list.
  template <class Self, class Field>
  static void fields(Self& r, Field& field) {
    for (auto* values : {&r.conductivity, &r.quadrature, &r.chargeability, &r.ground, &r.conductivity_north,
                         &r.conductivity_up, &r.quadrature_north, &r.quadrature_up, &r.slopes})
      field("values of cells", *values, carried("medium"));
  }
  bool differs_by_axis() const { return !(conductivity_north.empty() && conductivity_up.empty()); }

  Conductivity view() const;
};

/// The medium at the moment when currents are switched on, before charge is stored: conductivity σ/(1 − m),
/// m the chargeability. Throws InputError: a chargeability outside 0 … 1, or a complex conductivity as well.
Medium begun(const Medium& medium);

struct DirectCurrentReport {
  std::vector<std::size_t> sources;        ///< electrodes that were solved for, as sources of current
  std::vector<solve::SolveReport> solves;  ///< [source]
  std::size_t secondary = 0;               ///< number of sources solved for the secondary potential
  std::size_t held_against = 0;  ///< number of sources whose total potentials were corrected by homogeneous
                                 ///< ground (surroundings.hpp)
  std::size_t null_arrays = 0;   ///< number of arrays without a geometric factor
  double operator_complexity = 0;

  int most_iterations() const;
  bool converged() const;
};

/// Geometric factor for electrodes on or below a flat surface at height `surface`, m; NaN above 1e6 m.
double geometric_factor(const Electrodes& electrodes, const Array& array, double surface);

/// Data of all arrays. The surface is the top of the mesh, or follows from conductivity.ground; in the latter
/// case geometric factors are computed for a homogeneous ground on the same mesh, with as many solves again.
/// Results are bitwise identical for any number of threads, ranks and groups. comm: collective over its
/// ranks, which pass the same problem. Ranks are divided into `at_once` groups, which solve for different
/// electrodes at the same time; the ranks of a group share the nodes of the mesh. Rank 0 returns all data,
/// and all ranks stop if one is cancelled. at_once: 1 … number of ranks; 0: that number, or the number of
/// current electrodes if it is less. Throws InputError (Electrodes::check; an electrode outside of the mesh
/// or in the air), MemoryError, Cancelled: on all ranks; OutOfStep. If a solve does not converge, the report
/// says so.
DirectCurrentData direct_current(const TensorMesh& mesh, const Conductivity& conductivity,
                                 const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report = nullptr, Progress* progress = nullptr,
                                 Comm* comm = nullptr, int at_once = 0);

/// direct_current() of a Medium. If the medium has chargeability, a second run with the conductivity of
/// begun() gives apparent chargeabilities. Throws InputError also if a medium with chargeability has a
/// complex conductivity.
DirectCurrentData direct_current(const TensorMesh& mesh, const Medium& medium, const Electrodes& electrodes,
                                 const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report = nullptr, Progress* progress = nullptr,
                                 Comm* comm = nullptr, int at_once = 0);

/// Checks boundary conditions against electrodes. Throws InputError: an array whose current cannot leave,
/// because all sides are insulated; a mixed condition at the top; a volume, which belongs to single
/// electrodes, in a mesh with all sides insulated.
void check(const Boundaries& boundary, const Electrodes& electrodes, const Volume& volume = {});

/// Electrodes that arrays use as current electrodes, ascending.
std::vector<std::size_t> current_electrodes(const Electrodes& electrodes);

/// Electrodes that must be solved for, ascending: the current electrodes of as_solved() arrays
/// (surroundings.hpp), and those whose fields in all cells are wanted.
std::vector<std::size_t> sources_of(const Electrodes& given, const Electrodes& solved,
                                    const Parameters& parameters);

/// bytes_needed(): bytes that direct_current() needs on the host and on the device for a mesh of `nodes`
/// nodes. bytes_of_helper(): host memory that every further rank sharing this mesh needs while it sets up its
/// part. coarser: points of all coarser multigrid levels, relative to nodes
double bytes_needed(double nodes, bool complex = false, bool on_gpu = false, double coarser = 1.5);
double bytes_of_helper(double nodes, bool complex = false);

}  // namespace terrane::electric
