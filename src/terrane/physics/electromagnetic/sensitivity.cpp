#include "terrane/physics/electromagnetic/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;

/// Calls visit(edge, cell, V/4) for the four cells around each edge along an axis, one edge after the other.
template <class Visit>
void for_cells_of_edges(const Metric& metric, int axis, const Visit& visit) {
  const auto box = metric.edges(axis);
  const auto width = [&](int a, Index n) {
    return metric.width[static_cast<std::size_t>(a)][static_cast<std::size_t>(n)];
  };
  const auto b = static_cast<std::size_t>((axis + 1) % 3), e = static_cast<std::size_t>((axis + 2) % 3);
  std::size_t edge = 0;
  for (Index k = 0; k < box.size(0); ++k)
    for (Index j = 0; j < box.size(1); ++j)
      for (Index i = 0; i < box.size(2); ++i, ++edge)
        for (Index corner = 0; corner < 4; ++corner) {
          std::array<Index, 3> cell{k, j, i};
          cell[b] += corner & 1;
          cell[e] += corner >> 1;
          visit(edge,
                static_cast<std::size_t>((cell[0] * metric.cells(1) + cell[1]) * metric.cells(2) + cell[2]),
                width(0, cell[0]) * width(1, cell[1]) * width(2, cell[2]) / 4);
        }
}

EdgeValues zero(const Metric& metric) {
  EdgeValues all;
  for (int a = 0; a < 3; ++a)
    all[static_cast<std::size_t>(a)].assign(static_cast<std::size_t>(metric.edges(a).count()), 0.0);
  return all;
}

void require(std::size_t given, std::size_t wanted, const char* what) {
  if (given != wanted)
    throw ShapeError("electromagnetic sensitivity", fmt::format("{} values for {} {}", given, wanted, what));
}

void end_if_cancelled(const Progress* progress) {
  if (progress != nullptr && progress->cancelled()) throw Cancelled();
}

/// Calls take(solve, result of make(solve)) on rank 0, in the order of Problem::solve_at, on any number of
/// ranks.
template <class Make, class Take>
void by_turns(Comm* comm, const Problem& problem, const Make& make, const Take& take) {
  const std::size_t solves = problem.solves();
  const auto ranks = static_cast<std::size_t>(comm ? comm->size() : 1);
  if (ranks == 1) {
    for (std::size_t turn = 0; turn < solves; ++turn) {
      const std::size_t n = problem.solve_at(turn);
      take(n, make(n));
    }
    return;
  }
  for (std::size_t first = 0; first < solves; first += ranks) {
    std::vector<Z> mine;
    together(*comm, [&] {
      const std::size_t turn = first + static_cast<std::size_t>(comm->rank());
      if (turn < solves) mine = make(problem.solve_at(turn));
    });
    const auto all = comm->gather(std::as_bytes(std::span(mine)), 0);
    for (std::size_t rank = 0; rank < all.size() && first + rank < solves; ++rank) {
      std::vector<Z> theirs(all[rank].size() / sizeof(Z));
      if (!theirs.empty()) std::memcpy(static_cast<void*>(theirs.data()), all[rank].data(), all[rank].size());
      take(problem.solve_at(first + rank), std::move(theirs));
    }
  }
}

/// b += amount times the weights Q of a receiver.
void add_sent(const Reception& reception, Z amount, double omega_mu, EdgeValues& b) {
  const auto add = [&](const EdgeSum& sum, Z factor) {
    for (const auto& term : sum) b[static_cast<std::size_t>(term.axis)][term.edge] += factor * term.weight;
  };
  add(reception.electric, amount);
  add(reception.quadrature, amount * Z(0, 1));
  add(reception.curl, amount * Z(0, 1 / omega_mu));
}

Z taken(const WeightChange& change, const EdgeValues& field) {
  return change.weight * field[static_cast<std::size_t>(change.axis)][change.edge];
}

}  // namespace

Sensitivity::Sensitivity(const Problem& problem, Stream& stream, Progress* progress, Comm* comm)
    : problem_(problem), stream_(stream), comm_(comm) {
  Alone alone;
  Comm& all = comm_ ? *comm_ : alone;
  together(all, [&] {
    problem_.check();
    if (problem_.parameters.field == Field::corrected)
      throw InputError("simulation.field",
                       "sensitivities are of total or secondary fields, not of corrected ones",
                       "Take \"secondary\", or \"total\".");
    solves_.emplace(problem_, stream);
  });
  const std::size_t solves = problem_.solves(), ranks = static_cast<std::size_t>(all.size());
  outcome_.solves.resize(solves);
  outcome_.data.resize(solves * problem_.data_of_a_solve());
  fields_.assign(solves, zero(metric()));
  for (std::size_t first = 0; first < solves; first += ranks) {
    if (all.lowest(progress != nullptr && progress->cancelled() ? 0 : 1) == 0) throw Cancelled();
    std::vector<Z> one;
    together(all, [&] {
      const std::size_t turn = first + static_cast<std::size_t>(all.rank());
      if (turn >= solves) return;
      const std::size_t n = problem_.solve_at(turn);
      outcome_.solves[n] = solves_->solve(n, one);
      fields_[n] = solves_->field();
    });
    for (std::size_t turn = first; turn < std::min(first + ranks, solves); ++turn)
      share(problem_.solve_at(turn), static_cast<int>(turn - first), one);
  }
}

/// Sends the results of a solve from the rank that computed it to all ranks.  data: of that rank
void Sensitivity::share(std::size_t n, int from, const std::vector<Z>& data) {
  const auto place =
      std::span(outcome_.data).subspan(n * problem_.data_of_a_solve(), problem_.data_of_a_solve());
  if (comm_ == nullptr || comm_->rank() == from) std::copy(data.begin(), data.end(), place.begin());
  if (comm_ == nullptr || comm_->size() == 1) return;
  const auto send = [&](auto values) { comm_->broadcast(std::as_writable_bytes(values), from); };
  send(std::span(&outcome_.solves[n], 1));
  send(place);
  for (auto& values : fields_[n]) send(std::span(values));
}

std::vector<Z> Sensitivity::times(std::span<const double> v, Progress* progress) {
  require(v.size(), cells(), "cells");
  begin_product();
  std::vector<Z> all;
  by_turns(
      comm_, problem_,
      [&](std::size_t n) {
        end_if_cancelled(progress);
        return changes_of(n, v);
      },
      [&](std::size_t n, const std::vector<Z>& changes) {
        all.resize(data());
        std::copy(changes.begin(), changes.end(),
                  all.begin() + static_cast<std::ptrdiff_t>(n * problem_.data_of_a_solve()));
      });
  return all;
}

std::vector<Z> Sensitivity::changes_of(std::size_t n, std::span<const double> v) {
  const auto sigma = sigma_of(n);
  auto b = zero(metric());
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    for_cells_of_edges(metric(), axis, [&](std::size_t edge, std::size_t cell, double quarter) {
      b[a][edge] += sigma(a, cell) * (v[cell] * quarter) * fields_[n][a][edge];
    });
  }
  const double omega_mu = problem_.omega_mu(n);
  for (auto& values : b)
    for (auto& value : values) value *= Z(0, -omega_mu);
  of_product_[n] = solves_->solve_for(n, b);
  auto changes = solves_->recorded();
  for (std::size_t d = 0; d < changes.size(); ++d)
    for (const auto& change : solves_->weight_changes_of(n, d))
      changes[d] += v[change.cell] * taken(change, fields_[n]);
  return changes;
}

/// row_c += −iωμ₀ Σ σV/4 λ E over the twelve edges of each cell c.  sent: λ; field: E
void Sensitivity::add_products(double omega_mu, const Sigma& sigma, const EdgeValues& sent,
                               const EdgeValues& field, std::span<Z> row) const {
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    for_cells_of_edges(metric(), axis, [&](std::size_t edge, std::size_t cell, double quarter) {
      row[cell] += Z(0, -omega_mu) * sigma(a, cell) * quarter * sent[a][edge] * field[a][edge];
    });
  }
}

std::vector<Z> Sensitivity::transposed_times(std::span<const Z> w, Progress* progress) {
  require(w.size(), data(), "data");
  begin_product();
  std::vector<Z> gradient(cells(), 0.0);
  by_turns(
      comm_, problem_,
      [&](std::size_t n) {
        end_if_cancelled(progress);
        return gradient_of(n, w);
      },
      [&](std::size_t, const std::vector<Z>& part) {
        for (std::size_t c = 0; c < gradient.size(); ++c) gradient[c] += part[c];
      });
  return gradient;
}

std::vector<Z> Sensitivity::gradient_of(std::size_t n, std::span<const Z> w) {
  const std::size_t each = problem_.data_of_a_solve();
  std::vector<Z> gradient(cells(), 0.0);
  const double omega_mu = problem_.omega_mu(n);
  const auto sigma = sigma_of(n);
  auto b = zero(metric());
  bool nothing = true;
  for (std::size_t d = 0; d < each; ++d) {
    const Z weight = w[n * each + d];
    if (weight == 0.0) continue;
    nothing = false;
    add_sent(solves_->receptions(n)[d], weight, omega_mu, b);
    for (const auto& change : solves_->weight_changes_of(n, d))
      gradient[change.cell] += weight * taken(change, fields_[n]);
  }
  if (nothing) return gradient;
  of_product_[n] = solves_->solve_for(n, b);
  add_products(omega_mu, sigma, solves_->found(), fields_[n], gradient);
  return gradient;
}

std::vector<Solve> Sensitivity::rows(std::span<const std::size_t> places, const TakeRow& take,
                                     Progress* progress) {
  const std::size_t each = problem_.data_of_a_solve(), frequencies = problem_.frequencies.size();
  // Indices of wanted rows, by frequency and datum of a solve.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> of;
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (places[n] >= data())
      throw ShapeError("electromagnetic sensitivity", fmt::format("there is no datum {}", places[n] + 1));
    of[{places[n] / each % frequencies, places[n] % each}].push_back(n);
  }
  std::vector<Solve> solves;
  for (const auto& [which, wanted] : of) {
    if (progress != nullptr && progress->cancelled()) throw Cancelled();
    const auto& [frequency, d] = which;
    const double omega_mu = problem_.omega_mu(frequency);
    const auto sigma = sigma_of(frequency);
    auto b = zero(metric());
    add_sent(solves_->receptions(frequency)[d], 1.0, omega_mu, b);
    solves.push_back(solves_->solve_for(frequency, b));
    const auto sent = solves_->found();
    std::vector<std::vector<Z>> made(wanted.size(), std::vector<Z>(cells(), 0.0));
    const auto& numbers = wanted;
    const auto changes = solves_->weight_changes_of(frequency, d);
    for_each(numbers.size(), stream_.threads(), [&](std::size_t n) {
      const auto& field = fields_[places[numbers[n]] / each];
      add_products(omega_mu, sigma, sent, field, made[n]);
      for (const auto& change : changes) made[n][change.cell] += taken(change, field);
    });
    for (std::size_t n = 0; n < numbers.size(); ++n) take(numbers[n], made[n]);
  }
  return solves;
}

}  // namespace terrane::electromagnetic
