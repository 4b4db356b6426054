#include "terrane/physics/electric/cell_potentials.hpp"

#include <fmt/format.h>

#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::electric {

namespace {

void check_size(const char* name, std::size_t given, std::size_t cells) {
  if (given != cells) throw ShapeError(name, fmt::format("{} values for a mesh of {} cells", given, cells));
}

}  // namespace

double bytes_of_cell_potentials(double cells, double fields, bool on_gpu) {
  // Four fields of cells (resistivities; input, result and copy of a solve), and the caller's potentials.
  return bytes_needed(cells, false, on_gpu) + 8 * cells * (4 + fields);
}

struct CellPotentials::Solver {
  Solver(TensorMesh cells, std::vector<double> resistivity, const Parameters& settings, Stream& on)
      : mesh(std::move(cells)),
        rho(std::move(resistivity)),
        parameters(settings),
        stream(on),
        scheme(mesh, rho, settings.boundary),
        host(scheme.network()),
        grid(host.nodes, comm, on.device()),
        network(host.on(on, grid.part())),
        multigrid(on, (host.link = {}, network), host.spacing, grid, solve::as_messages_go,
                  solve::Transfers::quickest, {&lent, true, 0}),
        halves(solve::split(on, std::move(network), multigrid)),
        b(on, grid.part()),
        x(on, grid.part()) {}

  std::vector<double> solve(std::vector<double> currents, solve::SolveReport& report) {
    const bool closed = parameters.boundary.closed();
    if (closed) {
      double others = 0;
      for (std::size_t c = 1; c < currents.size(); ++c) others += currents[c];
      currents[0] = -others;
    }
    b.upload(stream, currents, host.nodes);
    x.fill_zero(stream);
    report = solve::conjugate_gradients(
        stream, halves, b, x,
        [&](Stream& s, const solve::Field<double>& r, solve::Field<double>& z, double scale) {
          multigrid.apply(s, r, z, scale);
        },
        {.relative = parameters.tolerance, .most_iterations = parameters.most_iterations}, &grid, &lent);
    auto phi = grid.gather(stream, x);
    if (closed)
      for (const double first = phi[0]; double& value : phi) value -= first;
    return phi;
  }

  TensorMesh mesh;
  std::vector<double> rho;
  Parameters parameters;
  Stream& stream;
  CellScheme scheme;
  HostNetwork host;
  Alone comm;
  solve::SharedGrid<double> grid;
  solve::Network<double> network;
  solve::SharedMemory lent;
  solve::Multigrid<float> multigrid;
  solve::SplitNetwork halves;  // stores the conductances of `network`, whose memory is freed
  solve::Field<double> b, x;
};

CellPotentials::CellPotentials(TensorMesh mesh, std::vector<double> resistivity, const Parameters& parameters,
                               Stream& stream, std::size_t fields, const MemoryBudget& budget) {
  const auto cells = static_cast<double>(mesh.size());
  budget.require("electric", fmt::format("{} potentials in {} cells", fields, mesh.size()),
                 bytes_of_cell_potentials(cells, static_cast<double>(fields)));
  solver_ = std::make_unique<Solver>(std::move(mesh), std::move(resistivity), parameters, stream);
}

CellPotentials::~CellPotentials() = default;

std::size_t CellPotentials::cells() const { return solver_->mesh.size(); }

std::vector<double> CellPotentials::potential(std::span<const double> currents, solve::SolveReport& report) {
  check_size("currents", currents.size(), cells());
  return solver_->solve({currents.begin(), currents.end()}, report);
}

std::vector<double> CellPotentials::change(std::span<const double> phi, std::span<const double> change,
                                           solve::SolveReport& report) {
  check_size("potential", phi.size(), cells());
  check_size("change", change.size(), cells());
  return solver_->solve(solver_->scheme.currents_of_change(change, phi, solver_->stream.threads()), report);
}

void CellPotentials::add_slope(std::span<const double> phi, std::span<const double> of_receivers,
                               std::span<double> slope) const {
  check_size("potential", phi.size(), cells());
  check_size("potential of receivers", of_receivers.size(), cells());
  check_size("slope", slope.size(), cells());
  solver_->scheme.add_slope(phi, of_receivers, slope, solver_->stream.threads());
}

}  // namespace terrane::electric
