#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/physics/heat/checkpoint.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/simulation/field_watch.hpp"
#include "terrane/simulation/on_ranks.hpp"
#include "terrane/simulation/steps.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::heat {

namespace {

using Values = View<const double, 3>;

/// The explicit step (problem.hpp): T⁺ = T + Δt / (V C) (Σ F(T) + P), P: power added in the cell, W.
struct ExplicitStep {
  solve::NetworkView<double> network;  // computes −Σ F(T) as its product with T
  // capacity: V C, J/K; power: heat added and produced during the step, W.
  Values temperature, capacity, power;
  double step;
  View<double, 3> next;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const double flow = power(k, j, i) - network.apply(temperature, k, j, i);
    next(k, j, i) = temperature(k, j, i) + step / capacity(k, j, i) * flow;
  }
};

/// The right-hand side of the implicit step (problem.hpp): (V C / Δt) T + P, P: power added in the cell, W.
struct ImplicitSide {
  Values temperature, capacity, power;
  double step;
  View<double, 3> side;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    side(k, j, i) = capacity(k, j, i) / step * temperature(k, j, i) + power(k, j, i);
  }
};

struct Magnitude {
  Values temperature;
  TERRANE_FN double operator()(Index k, Index j, Index i) const { return std::fabs(temperature(k, j, i)); }
};

/// Records the temperature of the receivers in this rank's part, in row `row` of `series`.
struct Record {
  Values temperature;
  IndexBox<3> part;
  View<const Index> cells;  // [receiver] indices k, j, i (up, north, east) of the receiver's cell
  View<double> series;      // [rows, receivers] temperatures, K; a row for each time
  std::size_t row, count;   // index of the row; number of receivers
  TERRANE_FN void operator()(std::size_t n) const {
    const Index k = cells[3 * n], j = cells[3 * n + 1], i = cells[3 * n + 2];
    if (part.contains(k, j, i)) series[row * count + n] = temperature(k, j, i);
  }
};

/// The network of conductances G between the centres of cells, without the term V C / Δt of implicit steps.
solve::Network<double> network_of(const Problem& problem, Stream& stream, const IndexBox<3>& whole,
                                  const IndexBox<3>& part) {
  solve::Network<double> network;
  const auto box = whole.grown(1);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> links(static_cast<std::size_t>(box.count()), 0.0);
    const View<double, 3> here(links.data(), box);
    for_each(whole.grown(axis, 0, 1), stream.threads(), [&](Index k, Index j, Index i) {
      here(k, j, i) = conductance(problem, axis, {k, j, i});
    });
    auto& link = network.link[static_cast<std::size_t>(axis)];
    link = solve::link_field<double>(stream, part);
    link.upload(stream, links, box);
  }
  return network;
}

/// Distances between neighbouring centres, and between the outermost centres and the walls.
std::array<solve::AxisSpacing, 3> spacing_of(const Problem& problem) {
  std::array<solve::AxisSpacing, 3> axes;
  const bool natural = problem.boundary == Boundary::insulated;
  const std::array faces{&problem.mesh.up(), &problem.mesh.northing(), &problem.mesh.easting()};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& f = *faces[a];
    axes[a] = {{(f[1] - f[0]) / 2}, natural, natural};
    for (std::size_t n = 2; n < f.size(); ++n) axes[a].spacing.push_back((f[n] - f[n - 2]) / 2);
    axes[a].spacing.push_back((f.back() - f[f.size() - 2]) / 2);
  }
  return axes;
}

/// One rank's part of the run. All members are collective.
class Rank {
 public:
  Rank(const Problem& problem, const RankPlace& place, std::size_t first_step);

  /// Computes one step; returns the number of finished steps.
  std::size_t advance(std::size_t n);
  double heat() { return sums_.sum(Product<3>{in(capacity_), in(now_)}); }
  /// After `done` steps: an error if a temperature is NaN or above its bound; else empty.
  std::optional<InputError> lost(std::size_t done);
  /// On rank 0: the temperature of all cells, and the rows of all receivers' series that exist by now.
  void gather(std::size_t done, March& out);
  void report(March& out) const;

 private:
  using Cells = solve::Field<double>;
  static Values in(const Cells& field) { return field.view(); }
  Cells of_part(const std::vector<double>& cells) {
    Cells field(stream_, grid_.part());
    field.upload(stream_, cells, grid_.whole());
    return field;
  }
  void record(std::size_t row) {
    const std::size_t count = problem_.receivers.size();
    for_each(stream_, count, Record{in(now_), grid_.part(), places_.view(), series_.view(), row, count});
  }

  const Problem& problem_;
  Comm& comm_;
  Stream stream_;
  solve::SharedGrid<double> grid_;
  Reduction<3> sums_;
  std::size_t first_step_;
  solve::Network<double> network_;
  std::optional<solve::Multigrid<float>> multigrid_;   // preconditioner of implicit steps
  Cells capacity_, heated_, production_, now_, next_;  // heated_: production plus heat of the source, W
  std::vector<Index> receivers_;                       // indices k, j, i of each receiver's cell
  Buffer<Index> places_;
  Buffer<double> series_;
  std::size_t iterations_ = 0;
  double residual_ = 0;
  bool converged_ = true;
  FieldWatch watch_;
  double hottest_ = 0, faster_ = 0;  // largest initial |T|, K; fastest warming by added heat, K/s
};

IndexBox<3> cells_of(const TensorMesh& mesh) { return index_box(mesh.n_up(), mesh.n_north(), mesh.n_east()); }

Rank::Rank(const Problem& problem, const RankPlace& place, std::size_t first_step)
    : problem_(problem),
      comm_(place.comm),
      stream_(place.device, false, place.threads),
      grid_(cells_of(problem.mesh), comm_, place.device),
      sums_(stream_, grid_.whole(), grid_.part(), comm_),
      first_step_(first_step),
      network_(network_of(problem, stream_, grid_.whole(), grid_.part())),
      production_(of_part(problem.production)),
      now_(of_part(problem.initial)),
      next_(stream_, grid_.part()) {
  auto heat_per_kelvin = problem.capacity;
  for (std::size_t n = 0; n < heat_per_kelvin.size(); ++n) heat_per_kelvin[n] *= problem.volume(n);
  watch_ = FieldWatch(first_step);
  for (std::size_t n = 0; n < heat_per_kelvin.size(); ++n) {
    hottest_ = std::max(hottest_, std::fabs(problem.initial[n]));
    const double watt = std::fabs(problem.power[n]) + std::fabs(problem.production[n]);
    faster_ = std::max(faster_, watt / heat_per_kelvin[n]);
  }
  capacity_ = of_part(heat_per_kelvin);
  auto heated = problem.power;
  for (std::size_t n = 0; n < heated.size(); ++n) heated[n] += problem.production[n];
  heated_ = of_part(heated);
  for (const auto receiver : problem.receivers) {
    const auto [i, j, k] = problem.mesh.cell(receiver);
    for (const auto at : {k, j, i}) receivers_.push_back(static_cast<Index>(at));
  }
  places_ = Buffer<Index>(stream_, receivers_);
  series_ = Buffer<double>(place.device, (problem.steps() - first_step + 1) * problem.receivers.size());
  record(0);
  if (problem.method == Method::explicit_steps) return;
  network_.storage = of_part(heat_per_kelvin);
  network_.shift = 1 / problem.step;
  multigrid_.emplace(stream_, network_, spacing_of(problem), grid_);
}

std::size_t Rank::advance(std::size_t n) {
  const double dt = problem_.step, share = heated_share(problem_, n);
  if (share > 0 && share < 1) {  // the source is turned off within this step
    auto partly = problem_.production;
    for (std::size_t cell = 0; cell < partly.size(); ++cell) partly[cell] += share * problem_.power[cell];
    heated_ = of_part(partly);
  }
  const auto power = in(share > 0 ? heated_ : production_);
  if (problem_.method == Method::explicit_steps) {
    grid_.bring(stream_, now_);
    for_each(
        stream_, grid_.part(),
        ExplicitStep{solve::NetworkView<double>(network_), in(now_), in(capacity_), power, dt, next_.view()});
    std::swap(now_, next_);
  } else {
    for_each(stream_, grid_.part(), ImplicitSide{in(now_), in(capacity_), power, dt, next_.view()});
    const auto cycle = [&](Stream& stream, const Cells& r, Cells& z, double scale) {
      multigrid_->apply(stream, r, z, scale);
    };
    const solve::Stopping stopping{.relative = problem_.tolerance};
    const auto done = solve::conjugate_gradients(stream_, network_, next_, now_, cycle, stopping, &grid_);
    iterations_ += static_cast<std::size_t>(done.iterations);
    residual_ = std::max(residual_, done.residual);
    converged_ = converged_ && done.converged();
  }
  record(n + 1 - first_step_);
  return n + 1;
}

/// By the maximum principle no cell becomes hotter than the hottest cell at the beginning, plus the warming
/// that the strongest heating (faster_, K/s) has caused since.
std::optional<InputError> Rank::lost(std::size_t done) {
  if (!watch_.due(done) && done < problem_.steps()) return {};
  const double largest = sums_.highest(Magnitude{in(now_)}),
               since = static_cast<double>(done - first_step_) * problem_.step;
  if (!watch_.lost_beyond(done, largest, hottest_ + since * faster_)) return {};
  const auto all = grid_.gather(stream_, now_);
  FieldPlace most{-1, {}};
  for (std::size_t n = 0; n < all.size(); ++n)
    if (const double value = std::fabs(all[n]); !(value < most.value)) {
      const auto [i, j, k] = problem_.mesh.cell(n);
      const auto middle = [](const auto& faces, auto at) {
        return (faces[static_cast<std::size_t>(at)] + faces[static_cast<std::size_t>(at) + 1]) / 2;
      };
      const FieldPlace one{value,
                           {middle(problem_.mesh.easting(), i), middle(problem_.mesh.northing(), j),
                            middle(problem_.mesh.up(), k)}};
      if (one.comes_before(most)) most = one;
    }
  return lost_field("heat: step", "temperatures", "K", done, static_cast<double>(done) * problem_.step, most,
                    problem_.method == Method::explicit_steps
                        ? "Take shorter steps, or method = \"implicit\"."
                        : "Take shorter steps, and look for rock that conducts or holds no heat.");
}

void Rank::gather(std::size_t done, March& out) {
  auto temperature = grid_.gather(stream_, now_);
  const std::size_t count = problem_.receivers.size(), rows = done - first_step_ + 1;
  std::vector<double> mine(rows * count);
  series_.download(stream_, mine);
  const auto all = comm_.gather(std::as_bytes(std::span(mine)), 0);
  if (comm_.rank() != 0) return;

  out.temperature = std::move(temperature);
  if (count == 0) return;
  out.series.resize((done + 1) * count);  // a resumed run already contains the rows before first_step_
  for (int rank = 0; rank < comm_.size(); ++rank) {
    std::memcpy(mine.data(), all[static_cast<std::size_t>(rank)].data(), mine.size() * sizeof(double));
    for (std::size_t n = 0; n < count; ++n)
      if (grid_.partition().part(rank).contains(receivers_[3 * n], receivers_[3 * n + 1],
                                                receivers_[3 * n + 2]))
        for (std::size_t row = 0; row < rows; ++row)
          out.series[(first_step_ + row) * count + n] = mine[row * count + n];
  }
}

void Rank::report(March& out) const {
  out.iterations = iterations_;
  out.residual = residual_;
  out.converged = converged_;
}

}  // namespace

double heated_share(const Problem& problem, std::size_t step) {
  constexpr double rounding = 1e-9;
  const double share = problem.power_end / problem.step - static_cast<double>(step);
  return share < rounding ? 0 : share > 1 - rounding ? 1 : share;
}

March march(const Problem& problem, const Runtime& runtime) {
  const auto& checkpoint = runtime.checkpoint;
  March out;
  Problem here = problem;
  if (checkpoint.resume && !checkpoint.file.empty())
    out.first_step = read_checkpoint(checkpoint.file, problem, out);
  if (out.first_step > 0) here.initial = out.temperature;
  const auto put = [&](Packet& packet) {
    put_fields(here, packet);
    packet.put(out.first_step);
  };
  const auto stopped = lead_ranks("heat", runtime, put, [&](const RankPlace& place) {
    Rank rank(here, place, out.first_step);
    const double heat_now = rank.heat();
    if (out.first_step == 0) out.heat_before = heat_now;
    const auto gather = [&](std::size_t done) { rank.gather(done, out); };
    const auto write = [&](const auto& file, std::size_t done) {
      write_checkpoint(file, problem, done, out);
    };
    double seconds = 0;
    auto why = lead_steps("heat", rank, out.first_step, problem.steps(), place.comm, runtime, out.warnings,
                          seconds, gather, write);
    if (why) return why;
    rank.gather(problem.steps(), out);
    out.heat_after = rank.heat();
    rank.report(out);
    return why;
  });
  if (stopped) std::rethrow_exception(stopped);  // thrown only now, when all ranks have freed their parts
  double power = 0, production = 0;
  for (const double watt : problem.power) power += watt;
  for (const double watt : problem.production) production += watt;
  for (std::size_t n = 0; n < problem.steps(); ++n)
    out.heat_put_in += (heated_share(problem, n) * power + production) * problem.step;
  return out;
}

void serve(Comm& comm) {
  const auto take = [](Packet& packet) {
    auto problem = get_fields<Problem>(packet);
    return std::pair(std::move(problem), packet.get<std::size_t>());
  };
  follow_ranks(comm, take, [](const auto& task, const RankPlace& place) {
    const auto& [problem, first] = task;
    Rank rank(problem, place, first);
    rank.heat();
    March nothing;
    const auto gather = [&](std::size_t done) { rank.gather(done, nothing); };
    if (!follow_steps(rank, first, problem.steps(), place.comm, gather)) return;
    rank.gather(problem.steps(), nothing);
    rank.heat();
  });
}

}  // namespace terrane::heat
