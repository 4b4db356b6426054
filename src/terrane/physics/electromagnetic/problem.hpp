// The problem: sources, earth and receivers.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "terrane/job/fields.hpp"
#include "terrane/parallel/arrays/index_box.hpp"
#include "terrane/physics/electromagnetic/parameters.hpp"
#include "terrane/physics/electromagnetic/survey/sampling.hpp"
#include "terrane/physics/electromagnetic/survey/sigma.hpp"

namespace terrane::electromagnetic {

struct Problem {
  TensorMesh mesh;
  std::array<std::vector<double>, 3> conductivity;  ///< S/m along up, north, east, each [up, north, east];
                                                    ///< north and east may be empty: as up
  std::array<std::vector<double>, 3> quadrature;    ///< σ'', S/m, along the same axes; all empty: σ is real
  /// The Cole-Cole parameters m (0 … 1), τ (s) and c (0 … 1) of the cells, or all empty (survey/sigma.hpp).
  std::vector<double> chargeability, charge_time, charge_exponent;
  /// Conductivity of the cells, S/m, used to find the contrasts that limit interpolation at sources and
  /// receivers (sampling.hpp), and the layers at the sides of the mesh for the known part of a field. Empty:
  /// `conductivity` is used. Inversions keep the contrasts of their first model: otherwise data would jump
  /// when a contrast appears or vanishes in a later model.
  std::vector<double> contrasts;
  std::vector<Source> sources;
  std::size_t first_source = 0;     ///< number of the job's sources before sources[0]; messages count these
                                    ///< sources, too
  std::vector<double> frequencies;  ///< Hz
  std::vector<Vector3> receivers;
  std::vector<Component> components;
  bool planned = false;  ///< whether plan_mesh() made the mesh
  /// Fields that are stored in addition to those at receivers: E and H at the centres of all cells; E on all
  /// edges, the unknowns, including those on walls.
  bool electric_volume = false, magnetic_volume = false, edge_volume = false;
  Parameters parameters;

  /// All members; job/fields.hpp says what is derived from this list.
  template <class Self, class Visitor>
  static void fields(Self& p, Visitor& field) {
    field("frequencies", p.frequencies, own_key("list of numbers", "none", "frequencies"),
          "Frequencies, Hz; none: those of the survey in source.file.", "[10, 30]");
    field("components", p.components,
          own_key("list of texts", R"(["e_e", "e_n", "e_u", "h_e", "h_n", "h_u"])", "receivers or channels"),
          "Fields recorded at every receiver: e (V/m) or h (A/m) along e (east), n (north), u (up).");
    field("volume", p.electric_volume, own_key("list of texts", "[]", "receivers or channels"),
          "Fields of all cells, at their centres, in addition to those at receivers: e, h; or edges: E on "
          "the edges of the mesh, where it is solved for. NetCDF holds all, .vtr (VTK) and .h5 (HDF5) those "
          "of cells.");
    field("parameters", p.parameters, in_same_table());
    field("mesh", p.mesh, carried("mesh"));
    field("conductivity", p.conductivity, carried("medium"));
    field("quadrature", p.quadrature, carried("medium"));
    field("chargeability", p.chargeability, carried("medium"));
    field("charge_time", p.charge_time, carried("medium"));
    field("charge_exponent", p.charge_exponent, carried("medium"));
    field("contrasts", p.contrasts, carried("medium"));
    field("sources", p.sources, carried("sources"));
    field("first_source", p.first_source, derived());
    field("receivers", p.receivers, carried("receivers or channels"));
    field("planned", p.planned, derived());
    field("magnetic_volume", p.magnetic_volume, carried("receivers or channels"));
    field("edge_volume", p.edge_volume, carried("receivers or channels"));
  }

  Conductivity along() const;
  /// Whether conductivity is complex, and so depends on frequency.
  bool stores_charge() const { return !quadrature[0].empty() || !chargeability.empty(); }
  Sigma sigma(double hertz) const { return sigma_of(along(), hertz); }
  /// The conductivity whose contrasts limit the interpolation at sources and receivers, at a frequency.
  Sigma sigma_of_sides(double hertz) const { return sigma_of(sides(), hertz); }
  /// The real conductivities whose contrasts limit the interpolation at sources and receivers.
  Conductivity sides() const;
  /// Conductivity along up in the cell that contains a point.
  double conductivity_at(const Vector3& point) const;
  std::size_t solves() const { return sources.size() * frequencies.size(); }
  /// The index of the solve that is computed as number `turn`. If the medium stores charge, the multigrid
  /// networks depend on the frequency: then all sources are solved for at one frequency before the next.
  std::size_t solve_at(std::size_t turn) const {
    if (!stores_charge()) return turn;
    return turn % sources.size() * frequencies.size() + turn / sources.size();
  }
  /// ωμ₀ of a solve, by its index in [source, frequency].
  double omega_mu(std::size_t solve) const;
  std::size_t data_of_a_solve() const { return receivers.size() * components.size(); }
  /// Number of values that a solve stores for all cells, [field and component, up, north, east]: E, then H,
  /// along e, n, u at the centres; then E on the edges along e, n, u.
  std::size_t volume_of_a_solve() const {
    return (3U * electric_volume + 3U * magnetic_volume) * mesh.size() +
           (edge_volume ? edges_along(0) + edges_along(1) + edges_along(2) : 0);
  }
  /// The index box of the mesh's cells: up, north, east.
  IndexBox<3> cells() const {
    return index_box(static_cast<Index>(mesh.n_up()), static_cast<Index>(mesh.n_north()),
                     static_cast<Index>(mesh.n_east()));
  }
  /// Number of edges of the mesh along up, north or east.
  std::size_t edges_along(std::size_t axis) const {
    const std::size_t cells[3] = {mesh.n_up(), mesh.n_north(), mesh.n_east()};
    std::size_t count = 1;
    for (std::size_t a = 0; a < 3; ++a) count *= cells[a] + (a == axis ? 0 : 1);
    return count;
  }
  /// The name of source n in messages, "source 3", counted in the whole job.
  std::string source_name(std::size_t n) const;
  /// Bytes needed by `ranks` ranks that compute `fields` fields at once on CPUs.
  double memory(double fields = 1, double ranks = 1) const {
    return fields * field_memory(false) + host_memory(ranks);
  }
  /// Bytes of the stored properties of the earth.
  double model_memory() const;
  /// field_memory(): bytes of one field on the device that computes it. host_memory(): bytes on the hosts of
  /// `ranks` ranks, without their fields.
  double field_memory(bool on_gpu) const;
  /// Bytes of one field that `ranks` ranks share on CPUs, summed over the ranks: each rank also stores a
  /// halo.
  double field_memory_on_ranks(int ranks) const;
  double host_memory(double ranks) const;
  /// Throws InputError: no source, nothing to record or to compute; a frequency that is not positive; a point
  /// outside of the mesh.
  void check() const;
  /// Lines for the user about cells that are too coarse for the skin depth and walls that are too near.
  std::vector<std::string> warnings() const;
  /// A warning that the air above the ground is too thin, which costs iterations; empty if it is thick enough
  /// or there is no air.
  std::string thin_air() const;

 private:
  Sigma sigma_of(const Conductivity& real, double hertz) const;
  void check_charges() const;
  void check_air() const;
  double conductivity_below() const;
  void warn_of_cells(std::vector<std::string>& lines) const;
  void warn_of_cells_below(std::vector<std::string>& lines) const;
  void warn_of_walls(std::vector<std::string>& lines) const;
  void warn_of_upright(std::vector<std::string>& lines) const;
  void warn_of_displacement(std::vector<std::string>& lines) const;
  void warn_of_ground(std::vector<std::string>& lines) const;
  void check_secondary() const;
};

/// The name of a component, such as "e_e" or "h_u".
std::string name(const Component& component);

}  // namespace terrane::electromagnetic
