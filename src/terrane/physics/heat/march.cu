#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "terrane/base/error.hpp"
#include "terrane/parallel/partition/halo.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/physics/heat/checkpoint.hpp"
#include "terrane/physics/heat/conjugate_gradients.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::heat {

namespace {

using Field = View<double, 3>;
using Values = View<const double, 3>;

/// Between the centres of neighbouring cells; of a cell's lower faces, W/K.
struct Conductances {
  Values up, north, east;

  /// What flows into a cell, W.
  TERRANE_FN double flow(const Values& t, Index k, Index j, Index i) const {
    const double here = t(k, j, i);
    return up(k, j, i) * (t(k - 1, j, i) - here) + up(k + 1, j, i) * (t(k + 1, j, i) - here) +
           north(k, j, i) * (t(k, j - 1, i) - here) + north(k, j + 1, i) * (t(k, j + 1, i) - here) +
           east(k, j, i) * (t(k, j, i - 1) - here) + east(k, j, i + 1) * (t(k, j, i + 1) - here);
  }
  TERRANE_FN double sum(Index k, Index j, Index i) const {
    return up(k, j, i) + up(k + 1, j, i) + north(k, j, i) + north(k, j + 1, i) + east(k, j, i) +
           east(k, j, i + 1);
  }
};

/// T⁺ = T + Δt / (V C) (Σ F(T) + P)
struct ExplicitStep {
  Conductances g;
  Values temperature, capacity, power;  // capacity: V C, J/K
  double step, heating;                 // heating: 1 while heat is put in, else 0
  Field next;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    next(k, j, i) = temperature(k, j, i) +
                    step / capacity(k, j, i) * (g.flow(temperature, k, j, i) + heating * power(k, j, i));
  }
};

/// The right side of the implicit step: V C / Δt T + P.
struct ImplicitSide {
  Values temperature, capacity, power;
  double step, heating;
  Field side;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    side(k, j, i) = capacity(k, j, i) / step * temperature(k, j, i) + heating * power(k, j, i);
  }
};

/// A x = V C / Δt x − Σ F(x): symmetric, positive definite.
struct ImplicitOperator {
  Conductances g;
  Values x, capacity;
  double step;
  Field product;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    product(k, j, i) = capacity(k, j, i) / step * x(k, j, i) - g.flow(x, k, j, i);
  }
};
struct InverseDiagonal {
  Conductances g;
  Values capacity;
  double step;
  Field inverse;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    inverse(k, j, i) = 1 / (capacity(k, j, i) / step + g.sum(k, j, i));
  }
};

/// Keeps the temperature of this rank's receivers: row `row` of series.
struct Record {
  Values temperature;
  View<const Index> cells;  // k, j, i of each
  View<double> series;
  std::size_t row, count;
  TERRANE_FN void operator()(std::size_t n) const {
    series[row * count + n] = temperature(cells[3 * n], cells[3 * n + 1], cells[3 * n + 2]);
  }
};

/// One rank's part of the run. All members are collective.
class Rank {
 public:
  Rank(const Problem& problem, Device device, int threads, Comm& comm, std::size_t first_step);

  void step(std::size_t n);
  double heat() { return sums_.sum(Product<3>{capacity_.view(box_), now_.view(box_)}); }
  /// On rank 0 the temperature of all cells, and the rows of all receivers' series that are there now.
  void gather(std::size_t done, March& out);
  Solved solved;  ///< sum of iterations, worst residual

 private:
  void record(std::size_t row);
  Buffer<double> of_part(const std::vector<double>& cells);
  Buffer<double> lower_faces(int axis);
  Conductances conductances() { return {up_.view(box_), north_.view(box_), east_.view(box_)}; }
  void bring(Field field) { halo_.exchange(stream_, std::span<const Field>(&field, 1)); }
  std::vector<std::size_t> receivers_of(int rank) const;
  std::size_t cell(Index k, Index j, Index i) const {
    return problem_.mesh.index(static_cast<std::size_t>(i), static_cast<std::size_t>(j),
                               static_cast<std::size_t>(k));
  }

  const Problem& problem_;
  Comm& comm_;
  Stream stream_;
  Cartesian<3> cut_;
  IndexBox<3> part_;
  Halo<double, 3> halo_;
  IndexBox<3> box_;  // of this rank's arrays: its part and a halo of one
  Reduction<3> sums_;
  ConjugateGradients solver_;
  std::size_t first_step_;
  Buffer<double> up_, north_, east_, capacity_, power_, inverse_, now_, next_, series_;
  std::vector<std::size_t> mine_;  // receivers in the part
  Buffer<Index> places_;
};

IndexBox<3> cells_of(const TensorMesh& mesh) { return index_box(mesh.n_up(), mesh.n_north(), mesh.n_east()); }

Rank::Rank(const Problem& problem, Device device, int threads, Comm& comm, std::size_t first_step)
    : problem_(problem),
      comm_(comm),
      stream_(device, false, threads),
      cut_(cut(cells_of(problem.mesh), comm.size())),
      part_(cut_.part(comm.rank())),
      halo_(stream_, cut_, {{1, 1, 1}, {1, 1, 1}, {}, false}, 1, comm),
      box_(halo_.box()),
      sums_(stream_, cut_.whole, part_, comm),
      solver_(stream_, part_, box_, sums_),
      first_step_(first_step),
      up_(lower_faces(0)),
      north_(lower_faces(1)),
      east_(lower_faces(2)),
      power_(of_part(problem.power)),
      now_(of_part(problem.initial)),
      next_(of_part({})),
      mine_(receivers_of(comm.rank())) {
  auto heat_per_kelvin = problem.capacity;
  for (std::size_t n = 0; n < heat_per_kelvin.size(); ++n) heat_per_kelvin[n] *= problem.volume(n);
  capacity_ = of_part(heat_per_kelvin);
  std::vector<Index> places;
  for (const auto receiver : mine_) {
    const auto [i, j, k] = problem.mesh.cell(problem.receivers[receiver]);
    for (const auto at : {k, j, i}) places.push_back(static_cast<Index>(at));
  }
  places_ = Buffer<Index>(stream_, places);
  series_ = Buffer<double>(device, (problem.steps() - first_step + 1) * mine_.size());
  record(0);
  if (problem.method == Method::explicit_steps) return;
  inverse_ = of_part({});
  for_each(stream_, part_,
           InverseDiagonal{conductances(), capacity_.view(box_), problem.step, inverse_.view(box_)});
}

/// Values of the part's cells, zero in its halo; zeros from an empty list.
Buffer<double> Rank::of_part(const std::vector<double>& cells) {
  std::vector<double> values(static_cast<std::size_t>(box_.count()), 0.0);
  const Field here(values.data(), box_);
  if (!cells.empty())
    for_each(part_, stream_.threads(),
             [&](Index k, Index j, Index i) { here(k, j, i) = cells[cell(k, j, i)]; });
  return Buffer<double>(stream_, values);
}

Buffer<double> Rank::lower_faces(int axis) {
  std::vector<double> values(static_cast<std::size_t>(box_.count()), 0.0);
  const Field here(values.data(), box_);
  if (!part_.empty())
    for_each(part_.grown(axis, 0, 1), stream_.threads(), [&](Index k, Index j, Index i) {
      here(k, j, i) = conductance(problem_, axis, {k, j, i});
    });
  return Buffer<double>(stream_, values);
}

std::vector<std::size_t> Rank::receivers_of(int rank) const {
  std::vector<std::size_t> found;
  for (std::size_t n = 0; n < problem_.receivers.size(); ++n) {
    const auto [i, j, k] = problem_.mesh.cell(problem_.receivers[n]);
    if (cut_.part(rank).contains(k, j, i)) found.push_back(n);
  }
  return found;
}

void Rank::record(std::size_t row) {
  for_each(stream_, mine_.size(), Record{now_.view(box_), places_.view(), series_.view(), row, mine_.size()});
}

void Rank::step(std::size_t n) {
  const double dt = problem_.step, heating = heats(problem_, n) ? 1 : 0;
  const auto now = now_.view(box_), next = next_.view(box_);
  const Values capacity = capacity_.view(box_), power = power_.view(box_);
  const auto g = conductances();
  if (problem_.method == Method::explicit_steps) {
    bring(now);
    for_each(stream_, part_, ExplicitStep{g, now, capacity, power, dt, heating, next});
    std::swap(now_, next_);
  } else {
    for_each(stream_, part_, ImplicitSide{now, capacity, power, dt, heating, next});
    const auto apply = [&](Field x, Field product) {
      bring(x);
      for_each(stream_, part_, ImplicitOperator{g, x, capacity, dt, product});
    };
    const auto done = solver_.solve(apply, inverse_.view(box_), next, now, problem_.tolerance, 10000);
    solved.iterations += done.iterations;
    solved.residual = std::max(solved.residual, done.residual);
    solved.converged = solved.converged && done.converged;
  }
  record(n + 1 - first_step_);
}

void Rank::gather(std::size_t done, March& out) {
  std::vector<double> arrays(static_cast<std::size_t>(box_.count())), mine;
  now_.download(stream_, arrays);
  const Values here(arrays.data(), box_);
  const auto for_cells = [](const IndexBox<3>& part, const auto& use) {
    for (Index k = part.first[0]; k < part.last[0]; ++k)
      for (Index j = part.first[1]; j < part.last[1]; ++j)
        for (Index i = part.first[2]; i < part.last[2]; ++i) use(k, j, i);
  };
  for_cells(part_, [&](Index k, Index j, Index i) { mine.push_back(here(k, j, i)); });
  const std::size_t rows = done - first_step_ + 1, cells = mine.size();
  mine.resize(cells + rows * mine_.size());
  series_.download(stream_, std::span(mine).subspan(cells));
  const auto all = comm_.gather(std::as_bytes(std::span(mine)), 0);
  if (comm_.rank() != 0) return;

  const std::size_t receivers = problem_.receivers.size();
  out.temperature.resize(problem_.mesh.size());
  out.series.resize((done + 1) * receivers);  // a resumed run has the rows before first_step_ already
  for (int rank = 0; rank < comm_.size(); ++rank) {
    std::vector<double> theirs(all[static_cast<std::size_t>(rank)].size() / sizeof(double));
    std::memcpy(theirs.data(), all[static_cast<std::size_t>(rank)].data(), theirs.size() * sizeof(double));
    auto next = theirs.begin();
    for_cells(cut_.part(rank), [&](Index k, Index j, Index i) { out.temperature[cell(k, j, i)] = *next++; });
    const auto theirs_are = receivers_of(rank);
    for (std::size_t row = first_step_; row <= done; ++row)
      for (const auto receiver : theirs_are) out.series[row * receivers + receiver] = *next++;
  }
}

enum class After { stop, keep, go_on };  // in the order in which they prevail

/// Every rank: from step `first` to the end. ask(done): what this rank wants after a step. keep(done): on all
/// ranks.
template <class Ask, class Keep>
bool advance(Rank& rank, const Problem& problem, std::size_t first, Comm& comm, const Ask& ask,
             const Keep& keep) {
  for (std::size_t n = first; n < problem.steps(); ++n) {
    rank.step(n);
    const auto wish = static_cast<After>(comm.lowest(static_cast<int>(ask(n + 1))));
    if (wish == After::stop) return false;
    if (wish == After::keep) keep(n + 1);
  }
  return true;
}

}  // namespace

bool heats(const Problem& problem, std::size_t step) {
  return static_cast<double>(step) * problem.step < problem.power_end * (1 - 1e-12);
}

March march(const Problem& problem, const Runtime& runtime) {
  Alone alone;
  Progress silent;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  Progress& progress = runtime.progress ? *runtime.progress : silent;
  auto keeping = runtime.checkpoint;
  March out;
  Problem here = problem;
  if (keeping.resume && !keeping.file.empty()) out.first_step = read_checkpoint(keeping.file, problem, out);
  if (out.first_step > 0) here.initial = out.temperature;
  const Device device = resolve(shared_device(runtime.device, comm), comm.on_node().index);
  try {
    if (comm.size() > 1) {
      call(comm, "heat");
      Packet packet;
      here.put_into(packet);
      packet.put(out.first_step);
      packet.put(device.kind);
      packet.put(runtime.threads);
      packet.broadcast(comm);
    }
    Rank rank(here, device, runtime.threads, comm, out.first_step);
    const double heat_now = rank.heat();
    if (out.first_step == 0) out.heat_before = heat_now;
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point t) {
      return std::chrono::duration<double>(Clock::now() - t).count();
    };
    const auto begin = Clock::now();
    auto last_kept = begin;
    progress.start("heat", problem.steps());
    progress.advance(out.first_step);
    const auto ask = [&](std::size_t done) {
      progress.advance(1);
      if (progress.cancelled()) return After::stop;
      const bool long_run = seconds_since(begin) * static_cast<double>(problem.steps() - out.first_step) >=
                            keeping.least_run * static_cast<double>(done - out.first_step);
      const bool due = !keeping.file.empty() && long_run && seconds_since(last_kept) >= keeping.interval;
      return due && done < problem.steps() ? After::keep : After::go_on;
    };
    const auto keep = [&](std::size_t done) {
      rank.gather(done, out);
      try {
        write_checkpoint(keeping.file, problem, done, out);
      } catch (const std::exception& error) {  // a full disk must not cost the hours it was to save
        out.warnings.push_back(std::string("no checkpoint was kept: ") + error.what());
        keeping.file.clear();
      }
      last_kept = Clock::now();
    };
    if (!advance(rank, problem, out.first_step, comm, ask, keep)) throw Cancelled();
    rank.gather(problem.steps(), out);
    out.heat_after = rank.heat();
    out.iterations = rank.solved.iterations;
    out.residual = rank.solved.residual;
    out.converged = rank.solved.converged;
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    if (comm.size() == 1) throw;
    throw OutOfStep("rank 0", error.what());
  }
  progress.finish();
  double power = 0;
  for (const double watt : problem.power) power += watt;
  for (std::size_t n = 0; n < problem.steps(); ++n)
    out.heat_put_in += heats(problem, n) ? power * problem.step : 0;
  return out;
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto problem = Problem::from(packet);
  const auto first = packet.get<std::size_t>();
  const auto kind = packet.get<Device::Kind>();
  const auto threads = packet.get<int>();
  Rank rank(problem, resolve(shared_device({kind, -1}, comm), comm.on_node().index), threads, comm, first);
  rank.heat();
  March nothing;
  const auto ask = [](std::size_t) { return After::go_on; };
  if (!advance(rank, problem, first, comm, ask, [&](std::size_t done) { rank.gather(done, nothing); }))
    return;
  rank.gather(problem.steps(), nothing);
  rank.heat();
}

}  // namespace terrane::heat
