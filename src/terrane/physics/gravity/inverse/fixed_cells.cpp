#include "terrane/physics/gravity/inverse/fixed_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/inversion/job/cell_files.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"

namespace terrane::gravity::inverse {

FixedCells read_fixed(const Config& table, const std::string& property, const inversion::Problem& problem,
                      const std::string& mesh_file) {
  FixedCells fixed;
  if (problem.active.empty() || problem.reference.empty()) return fixed;
  if (!inversion::names_file(table, "reference")) {
    if (problem.reference.front() != 0)
      fixed.notes.push_back("inversion.reference, a number, stands in the active cells alone");
    return fixed;
  }
  const auto all = inversion::values_of_file(table, "reference", property, problem.mesh, mesh_file);
  std::vector<char> active(problem.mesh.size());
  for (const auto cell : problem.active) active[cell] = 1;
  std::size_t in_air = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (active[c] || all[c] == 0 || !std::isfinite(all[c])) continue;
    if (!table.has("active_file")) {
      ++in_air;
      continue;
    }
    fixed.place.push_back(static_cast<std::uint32_t>(c));
    fixed.value.push_back(all[c]);
    fixed.prisms.push_back(problem.mesh.prism(c));
  }
  if (in_air > 0)
    fixed.notes.push_back(fmt::format(
        "inversion.reference has {} in {} cells above the ground, which are left out", property, in_air));
  return fixed;
}

std::vector<double> data_of(const FixedCells& cells, const SensitivityColumns& source, SingularPolicy policy,
                            int threads) {
  const auto& observables = source.observables();
  const auto& stations = source.stations();
  const auto& p = cells.prisms;
  Parameters parameters;
  parameters.accuracy = std::clamp(source.accuracy(), best_accuracy, 1e-9);
  parameters.channels = channels_of(observables);
  parameters.gravitational_constant = 1;
  parameters.threads = threads;
  parameters.device = {Device::Kind::cpu, -1};
  const auto channels = parameters.channels.list();
  std::vector<std::vector<double>> values(channels.size(), std::vector<double>(stations.size()));
  std::vector<Contact> contacts;  // data at contacts are corrected below, from all channels of an observable
  Fields fields{parameters.channels, {values.begin(), values.end()}, {}, &contacts};
  forward({p.west, p.east, p.south, p.north, p.bottom, p.top, cells.value}, stations.view(), parameters,
          fields);
  std::vector<double> data(source.rows());
  for (std::size_t o = 0; o < observables.size(); ++o)
    for (std::size_t c = 0; c < channels.size(); ++c)
      for (std::size_t s = 0; s < stations.size(); ++s)
        data[o * stations.size() + s] +=
            observables[o].weight[static_cast<std::size_t>(channels[c])] * values[c][s];
  CellContacts(p, stations, observables, policy).settle(cells.value, data);
  return data;
}

}  // namespace terrane::gravity::inverse
