#include "terrane/physics/electric/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/turns.hpp"

namespace terrane::electric {

namespace {

/// Calls use(electrode of current, electrode of potential, sign) for the pairs that an array is made of.
template <class Use>
void for_pairs(const Array& array, const Use& use) {
  const auto one = [&](int from, int to, double sign) {
    if (from != Array::far_away && to != Array::far_away)
      use(static_cast<std::size_t>(from), static_cast<std::size_t>(to), sign);
  };
  one(array.a, array.m, 1);
  one(array.b, array.m, -1);
  one(array.a, array.n, -1);
  one(array.b, array.n, 1);
}

/// φᵀ (∂K/∂σ_c) ψ: twelve edges, each with a quarter of the cell, and the corners on walls.
class CellForms {
 public:
  CellForms(const TensorMesh& mesh, const Boundaries& boundary, const Viewpoint& from)
      : mesh_(mesh), row_(mesh.n_east() + 1), plane_(row_ * (mesh.n_north() + 1)) {
    for (const auto& wall : walls)
      if (const auto kind = boundary(wall.axis, wall.high); kind != Boundary::insulated)
        add_wall(kind, from, wall);
  }

  /// Calls take(cell, φᵀ K_c ψ) for the cells of layer k.  phi, psi: [nodes]
  template <class Take>
  void layer(std::size_t k, const double* phi, const double* psi, const Take& take) const {
    std::vector<double> sums(mesh_.n_east());
    for (std::size_t j = 0; j < mesh_.n_north(); ++j) {
      row(k, j, phi + row_ * j + plane_ * k, psi + row_ * j + plane_ * k, sums.data());
      const bool outer = k == 0 || k + 1 == mesh_.n_up() || j == 0 || j + 1 == mesh_.n_north();
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto cell = mesh_.index(i, j, k);
        if (outer || i == 0 || i + 1 == sums.size()) {
          const auto range = corners_.equal_range(cell);
          for (auto corner = range.first; corner != range.second; ++corner)
            sums[i] += corner->second.weight * phi[corner->second.node] * psi[corner->second.node];
        }
        take(cell, sums[i]);
      }
    }
  }

 private:
  struct Corner {
    std::size_t node;
    double weight;  // m
  };

  /// Edges of the cells of a row, from four rows of nodes, which begin at a and b. Reads each number once.
  void row(std::size_t k, std::size_t j, const double* a, const double* b, double* sums) const {
    const double north = width(mesh_.northing(), j), up = width(mesh_.up(), k);
    const std::size_t corner[4] = {0, row_, plane_, row_ + plane_};
    const auto edge = [&](std::size_t from, std::size_t to) { return (a[to] - a[from]) * (b[to] - b[from]); };
    for (std::size_t i = 0; i < mesh_.n_east(); ++i) {
      const double east = mesh_.easting()[i + 1] - mesh_.easting()[i];
      const double quarter = east * north * up / 4;
      double along[3] = {0, 0, 0};
      for (const std::size_t c : corner) along[0] += edge(c + i, c + i + 1);
      for (std::size_t side = i; side < i + 2; ++side) {
        along[1] += edge(side, row_ + side) + edge(plane_ + side, plane_ + row_ + side);
        along[2] += edge(side, plane_ + side) + edge(row_ + side, row_ + plane_ + side);
      }
      sums[i] = quarter / (east * east) * along[0] + quarter / (north * north) * along[1] +
                quarter / (up * up) * along[2];
    }
  }

  static double width(const std::vector<double>& faces, std::size_t cell) {
    return faces[cell + 1] - faces[cell];
  }

  void add_wall(Boundary boundary, const Viewpoint& from, const Wall& wall) {
    const std::vector<double>* faces[3] = {&mesh_.up(), &mesh_.northing(), &mesh_.easting()};
    const std::size_t a = wall.axis, b = (a + 1) % 3, c = (a + 2) % 3;
    std::size_t cell[3];
    cell[a] = wall.high ? faces[a]->size() - 2 : 0;
    for (cell[b] = 0; cell[b] + 1 < faces[b]->size(); ++cell[b])
      for (cell[c] = 0; cell[c] + 1 < faces[c]->size(); ++cell[c])
        for (std::size_t corner = 0; corner < 4; ++corner) {
          std::size_t node[3];
          node[a] = wall.high ? faces[a]->size() - 1 : 0;
          node[b] = cell[b] + (corner & 1);
          node[c] = cell[c] + (corner >> 1);
          const Point p{(*faces[2])[node[2]], (*faces[1])[node[1]], (*faces[0])[node[0]]};
          const double area = width(*faces[b], cell[b]) * width(*faces[c], cell[c]);
          corners_.insert(
              {mesh_.index(cell[2], cell[1], cell[0]),
               {node[2] + row_ * node[1] + plane_ * node[0],
                wall_weight(boundary, from, p, a, wall.high, width(*faces[a], cell[a])) * area / 4}});
        }
  }

  const TensorMesh& mesh_;
  std::size_t row_, plane_;
  std::multimap<std::size_t, Corner> corners_;
};

/// y = K φ on the host, for the links of a network.
void multiply(const HostNetwork& network, const std::vector<double>& phi, std::vector<double>& y,
              int threads) {
  const auto nodes = network.nodes;
  const View<const double, 3> u(phi.data(), nodes);
  const View<double, 3> out(y.data(), nodes);
  const auto links = nodes.grown(1);
  for_each(static_cast<std::size_t>(nodes.size(0)), threads, [&](std::size_t plane) {
    const auto k = static_cast<Index>(plane);
    const auto beyond = [&](Index p, Index q, Index r) {
      const bool inside =
          p >= 0 && p < nodes.last[0] && q >= 0 && q < nodes.last[1] && r >= 0 && r < nodes.last[2];
      return inside ? u(p, q, r) : 0.0;
    };
    for (Index j = 0; j < nodes.last[1]; ++j)
      for (Index i = 0; i < nodes.last[2]; ++i) {
        double sum = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const View<const double, 3> c(network.link[a].data(), links);
          const Index dk = a == 0, dj = a == 1, di = a == 2;
          sum += c(k, j, i) * (u(k, j, i) - beyond(k - dk, j - dj, i - di)) +
                 c(k + dk, j + dj, i + di) * (u(k, j, i) - beyond(k + dk, j + dj, i + di));
        }
        out(k, j, i) = sum;
      }
  });
}

/// Of each electrode that an array names, on the nodes.
using NodePotentials = std::map<std::size_t, std::vector<double>>;

/// Those that an array names: all, or those of currents.
std::vector<std::size_t> named(const Electrodes& electrodes, bool all) {
  if (!all) return current_electrodes(electrodes);
  std::set<std::size_t> numbers;
  for (const auto& array : electrodes.arrays)
    for (const int n : {array.a, array.b, array.m, array.n})
      if (n != Array::far_away) numbers.insert(static_cast<std::size_t>(n));
  return {numbers.begin(), numbers.end()};
}

/// Collective: solves for electrodes by turns of groups. Rank 0 has all potentials and transfers.
NodePotentials node_potentials(const TensorMesh& mesh, const Conductivity& conductivity,
                               const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                               std::vector<double>& transfers, DirectCurrentReport& report,
                               Progress& progress, bool all, const Groups& groups) {
  Turns turns(mesh, conductivity, electrodes.place, parameters, stream, named(electrodes, all), groups);
  NodePotentials potentials;
  turns.solve(
      progress,
      [](Potentials& solver, std::size_t electrode, Solved& solved) {
        return solver.on_nodes(electrode, solved);
      },
      [&](std::size_t electrode, const Solved& solved, std::vector<double> nodes) {
        report.sources.push_back(electrode);
        report.solves.push_back(solved.report);
        potentials[electrode] = std::move(nodes);
      });
  if (groups.comm().rank() > 0) return {};
  report.operator_complexity = turns.solver().operator_complexity();
  for (const auto& array : electrodes.arrays) {
    double sum = 0;
    for_pairs(array, [&](std::size_t from, std::size_t to, double sign) {
      sum += sign * turns.solver().weights()[to].at(potentials.at(from));
    });
    transfers.push_back(sum);
  }
  return potentials;
}

}  // namespace

std::vector<double> unit_transfers(const TensorMesh& mesh, const std::vector<double>& ground,
                                   const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                   Comm* comm, int at_once) {
  Alone alone;
  std::vector<double> ones;
  together(comm ? *comm : alone, [&] {
    electrodes.check();
    check(parameters.boundary, electrodes);
    ones.assign(mesh.size(), 1.0);
  });
  std::vector<double> transfers;
  DirectCurrentReport unread;
  Progress silent;
  const auto solves = [&] { return current_electrodes(electrodes).size(); };
  const Groups groups(comm ? *comm : alone, solves, at_once);
  groups.run([&] {
    node_potentials(mesh, {{&ones, &ones, &ones}, {}, ground.empty() ? nullptr : &ground}, electrodes,
                    parameters, stream, transfers, unread, silent, false, groups);
  });
  return transfers;
}

void help(const TensorMesh& mesh, const std::vector<double>& conductivity, const std::vector<double>& ground,
          const Electrodes& electrodes, const Parameters& parameters, Stream& stream, bool all, Comm& comm,
          int at_once) {
  together(comm, [] {});  // with what rank 0 does first
  const Groups groups(
      comm, [&] { return named(electrodes, all).size(); }, at_once);
  std::vector<double> transfers;
  DirectCurrentReport unread;
  Progress silent;
  groups.run([&] {
    node_potentials(mesh,
                    {{&conductivity, &conductivity, &conductivity}, {}, ground.empty() ? nullptr : &ground},
                    electrodes, parameters, stream, transfers, unread, silent, all, groups);
  });
}

struct Sensitivity::Kept {
  TensorMesh mesh;
  std::vector<double> ground;
  Electrodes electrodes;
  Parameters parameters;
  Viewpoint from;
  int threads;
  std::vector<double> unit, data;
  std::vector<double> row, column;  ///< of datum and unknown: J = diag(row) ∂R/∂σ diag(column)
  NodePotentials potentials;
  std::unique_ptr<CellForms> forms;

  Kept(TensorMesh cells, std::vector<double> share, Electrodes places, const Parameters& settings,
       const Stream& stream)
      : mesh(std::move(cells)),
        ground(std::move(share)),
        electrodes(std::move(places)),
        parameters(settings),
        from((electrodes.check(), check(settings.boundary, electrodes),
              viewpoint(mesh, ground.empty() ? nullptr : &ground, electrodes.place))),
        threads(stream.threads()),
        forms(std::make_unique<CellForms>(mesh, parameters.boundary, from)) {}

  std::size_t nodes() const { return (mesh.n_east() + 1) * (mesh.n_north() + 1) * (mesh.n_up() + 1); }

  /// transfers: ΔV/I of this conductivity, total potentials.  Apparent resistivities are k ΔV/I with k of a
  /// half space, but where another divides out errors of the mesh: in a half space, and under uneven ground,
  /// which has no other.
  void scale(const std::vector<double>& transfers, const std::vector<double>& conductivity, Datum datum,
             Unknown unknown) {
    for (std::size_t n = 0; n < transfers.size(); ++n) {
      const double factor =
          ground.empty() ? geometric_factor(electrodes, electrodes.arrays[n], mesh.up().back()) : 1 / unit[n];
      const bool by_factor = ground.empty() && !parameters.boundary.of_half_space();
      const bool null = !(std::abs(factor) <= 1e6) || !(by_factor || std::abs(unit[n]) > 0);
      if (null && datum != Datum::resistance)
        throw InputError(fmt::format("array {}", n + 1), "it has no geometric factor below 1e6 m",
                         "Leave it out, or invert resistances.");
      const double per_transfer = by_factor ? factor : 1 / unit[n], resistivity = per_transfer * transfers[n];
      switch (datum) {
        case Datum::resistance:
          if (null || !parameters.boundary.of_half_space()) {  // nothing in closed form to hold it against
            row.push_back(1);
            data.push_back(transfers[n]);
            break;
          }
          row.push_back(1 / (unit[n] * factor));
          data.push_back(resistivity / factor);
          break;
        case Datum::apparent_resistivity:
          row.push_back(per_transfer);
          data.push_back(resistivity);
          break;
        case Datum::log_apparent_resistivity:
          row.push_back(1 / transfers[n]);
          data.push_back(std::log(std::abs(resistivity)));
          break;
      }
    }
    column.assign(mesh.size(), 1.0);
    for (std::size_t cell = 0; cell < column.size(); ++cell) {
      if (!ground.empty()) column[cell] = ground[cell];
      if (unknown == Unknown::log_conductivity && column[cell] > 0) column[cell] *= conductivity[cell];
    }
  }

  /// Calls take(layer of cells) on threads.
  template <class Take>
  void for_layers(const Take& take) const {
    for_each(mesh.n_up(), threads, take);
  }

  /// Σ weight φ_electrode on the nodes.
  void combine(std::span<const std::pair<int, double>> electrodes_of, std::vector<double>& nodes_of) const {
    std::vector<std::pair<const double*, double>> terms;
    for (const auto& [electrode, weight] : electrodes_of)
      if (electrode != Array::far_away)
        terms.emplace_back(potentials.at(static_cast<std::size_t>(electrode)).data(), weight);
    const std::size_t pieces = mesh.n_up() + 1, piece = nodes() / pieces;
    for_each(pieces, threads, [&](std::size_t part) {
      for (std::size_t node = part * piece; node < (part + 1) * piece; ++node) {
        double sum = 0;
        for (const auto& [phi, weight] : terms) sum += weight * phi[node];
        nodes_of[node] = sum;
      }
    });
  }

  /// Calls take(cell, entry) for the entries of row n of J.
  template <class Take>
  void for_row(std::size_t n, std::vector<double>& phi, std::vector<double>& psi, const Take& take) const {
    const auto& array = electrodes.arrays[n];
    combine(std::array{std::pair{array.a, 1.0}, std::pair{array.b, -1.0}}, phi);
    combine(std::array{std::pair{array.m, 1.0}, std::pair{array.n, -1.0}}, psi);
    for_layers([&](std::size_t k) {
      forms->layer(k, phi.data(), psi.data(),
                   [&](std::size_t cell, double value) { take(cell, -row[n] * column[cell] * value); });
    });
  }
};

Sensitivity::Sensitivity(TensorMesh mesh, const std::vector<double>& conductivity, std::vector<double> ground,
                         Electrodes electrodes, const Parameters& parameters, Datum datum, Unknown unknown,
                         Stream& stream, std::vector<double> unit, DirectCurrentReport* report,
                         Progress* progress, Comm* comm, int at_once) {
  Progress silent;
  DirectCurrentReport unread;
  Alone alone;
  if (unit.empty()) unit = unit_transfers(mesh, ground, electrodes, parameters, stream, comm, at_once);
  together(comm ? *comm : alone, [&] {
    kept_ =
        std::make_unique<Kept>(std::move(mesh), std::move(ground), std::move(electrodes), parameters, stream);
    const std::size_t places = kept_->electrodes.place.size(), arrays = kept_->electrodes.arrays.size();
    const double nodes = static_cast<double>(kept_->nodes());
    MemoryBudget{}.require("sensitivity", fmt::format("{} electrodes on {} nodes", places, kept_->nodes()),
                           8 * nodes * static_cast<double>(places) + bytes_needed(nodes));
    if (unit.size() != arrays)
      throw ShapeError("unit", fmt::format("{} values for {} arrays", unit.size(), arrays));
  });
  auto& kept = *kept_;
  kept.unit = std::move(unit);
  std::vector<double> transfers;
  const Conductivity sigma{
      {&conductivity, &conductivity, &conductivity}, {}, kept.ground.empty() ? nullptr : &kept.ground};
  const auto solves = [&] { return named(kept.electrodes, true).size(); };
  const Groups groups(comm ? *comm : alone, solves, at_once);
  kept.potentials = groups.run([&] {
    return node_potentials(kept.mesh, sigma, kept.electrodes, kept.parameters, stream, transfers,
                           report ? *report : unread, progress ? *progress : silent, true, groups);
  });
  kept.scale(transfers, conductivity, datum, unknown);
}

Sensitivity::~Sensitivity() = default;

const std::vector<double>& Sensitivity::data() const { return kept_->data; }
const std::vector<double>& Sensitivity::unit() const { return kept_->unit; }
std::size_t Sensitivity::rows() const { return kept_->electrodes.arrays.size(); }
std::size_t Sensitivity::columns() const { return kept_->mesh.size(); }

/// K of δσ once, K φ_A for each current electrode, and its products with φ_M of each pair.
void Sensitivity::apply(std::span<const double> model, std::span<double> data) const {
  solve::expect_shapes(*this, model.size(), data.size());
  const auto& kept = *kept_;
  std::vector<double> change(columns());
  for (std::size_t cell = 0; cell < change.size(); ++cell) change[cell] = kept.column[cell] * model[cell];
  const auto network =
      network_of(kept.mesh, {{&change, &change, &change}}, kept.parameters.boundary, kept.from);
  std::map<std::size_t, std::map<std::size_t, double>> pairs;  // of current and potential electrodes
  for (const auto& array : kept.electrodes.arrays)
    for_pairs(array, [&](std::size_t from, std::size_t to, double) { pairs[from][to]; });
  std::vector<double> y(kept.nodes());
  for (auto& [from, others] : pairs) {
    multiply(network, kept.potentials.at(from), y, kept.threads);
    for (auto& [to, value] : others) value = solve::dot(y, kept.potentials.at(to), kept.threads);
  }
  for (std::size_t n = 0; n < data.size(); ++n) {
    double sum = 0;
    for_pairs(kept.electrodes.arrays[n],
              [&](std::size_t from, std::size_t to, double sign) { sum += sign * pairs[from][to]; });
    data[n] = -kept.row[n] * sum;
  }
}

/// For each current electrode the sum ψ of what its arrays weigh φ_M − φ_N with; then φᵀ K_c ψ.
void Sensitivity::apply_transpose(std::span<const double> data, std::span<double> model) const {
  solve::expect_shapes(*this, model.size(), data.size());
  const auto& kept = *kept_;
  std::map<std::size_t, std::map<std::size_t, double>> pairs;
  for (std::size_t n = 0; n < data.size(); ++n)
    for_pairs(kept.electrodes.arrays[n], [&](std::size_t from, std::size_t to, double sign) {
      pairs[from][to] -= sign * kept.row[n] * data[n];
    });
  std::fill(model.begin(), model.end(), 0.0);
  std::vector<double> psi(kept.nodes());
  for (const auto& [from, others] : pairs) {
    std::vector<std::pair<int, double>> weights;
    for (const auto& [to, weight] : others) weights.emplace_back(static_cast<int>(to), weight);
    kept.combine(weights, psi);
    const double* phi = kept.potentials.at(from).data();
    kept.for_layers([&](std::size_t k) {
      kept.forms->layer(k, phi, psi.data(),
                        [&](std::size_t cell, double value) { model[cell] += kept.column[cell] * value; });
    });
  }
}

void Sensitivity::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  solve::expect_shapes(*this, diagonal.size(), weight.size());
  std::fill(diagonal.begin(), diagonal.end(), 0.0);
  std::vector<double> phi(kept_->nodes()), psi(kept_->nodes());
  for (std::size_t n = 0; n < weight.size(); ++n)
    kept_->for_row(n, phi, psi,
                   [&](std::size_t cell, double entry) { diagonal[cell] += weight[n] * entry * entry; });
}

void Sensitivity::row(std::size_t i, std::span<double> out) const {
  solve::expect_shapes(*this, out.size(), rows());
  std::vector<double> phi(kept_->nodes()), psi(kept_->nodes());
  kept_->for_row(i, phi, psi, [&](std::size_t cell, double entry) { out[cell] = entry; });
}

}  // namespace terrane::electric
