#include "terrane/physics/electromagnetic/sensitivity.hpp"

#include <fmt/format.h>

#include <map>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;

/// visit(edge, cell, V/4) for the four cells around each edge along an axis; cells of one edge by turns.
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

}  // namespace

Sensitivity::Sensitivity(const Problem& problem, Stream& stream, Progress* progress)
    : problem_((problem.check(), problem)), stream_(stream), solves_(problem_, stream) {
  std::vector<Z> one;
  for (std::size_t n = 0; n < problem_.solves(); ++n) {
    if (progress != nullptr && progress->cancelled()) throw Cancelled();
    outcome_.solves.push_back(solves_.solve(n, one));
    outcome_.data.insert(outcome_.data.end(), one.begin(), one.end());
    fields_.push_back(solves_.field());
  }
}

Z Sensitivity::taken(const EdgeSum& sum, const EdgeValues& field) const {
  Z total = 0;
  for (const auto& term : sum) total += term.weight * field[static_cast<std::size_t>(term.axis)][term.edge];
  return total;
}

std::vector<Z> Sensitivity::times(std::span<const double> v) {
  require(v.size(), cells(), "cells");
  const auto sigma = problem_.along();
  const auto& receptions = solves_.receptions();
  std::vector<Z> all;
  for (std::size_t n = 0; n < problem_.solves(); ++n) {
    auto b = zero(solves_.metric());
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      for_cells_of_edges(solves_.metric(), axis, [&](std::size_t edge, std::size_t cell, double quarter) {
        b[a][edge] += (*sigma[a])[cell] * v[cell] * quarter * fields_[n][a][edge];
      });
    }
    const double omega_mu = problem_.omega_mu(n);
    for (auto& values : b)
      for (auto& value : values) value *= Z(0, -omega_mu);
    solves_.solve_for(n, b);
    auto changes = solves_.recorded();
    for (std::size_t d = 0; d < changes.size(); ++d)
      if (receptions[d].proportional_to != Reception::nothing)
        changes[d] += v[receptions[d].proportional_to] * taken(receptions[d].electric, fields_[n]);
    all.insert(all.end(), changes.begin(), changes.end());
  }
  return all;
}

/// b += amount Q of a receiver.
void Sensitivity::add_sent(const Reception& reception, Z amount, double omega_mu, EdgeValues& b) const {
  const auto add = [&](const EdgeSum& sum, Z factor) {
    for (const auto& term : sum) b[static_cast<std::size_t>(term.axis)][term.edge] += factor * term.weight;
  };
  add(reception.electric, amount);
  add(reception.curl, amount * Z(0, 1 / omega_mu));
}

/// row_c += −iωμ₀ Σ of twelve edges σV/4 λ E
void Sensitivity::add_products(double omega_mu, const EdgeValues& sent, const EdgeValues& field,
                               std::span<Z> row) const {
  const auto sigma = problem_.along();
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    for_cells_of_edges(solves_.metric(), axis, [&](std::size_t edge, std::size_t cell, double quarter) {
      row[cell] += Z(0, -omega_mu) * (*sigma[a])[cell] * quarter * sent[a][edge] * field[a][edge];
    });
  }
}

std::vector<Z> Sensitivity::transposed_times(std::span<const Z> w) {
  require(w.size(), data(), "data");
  const auto& receptions = solves_.receptions();
  const std::size_t each = problem_.data_of_a_solve();
  std::vector<Z> gradient(cells(), 0.0);
  for (std::size_t n = 0; n < problem_.solves(); ++n) {
    const double omega_mu = problem_.omega_mu(n);
    auto b = zero(solves_.metric());
    bool nothing = true;
    for (std::size_t d = 0; d < each; ++d) {
      const Z weight = w[n * each + d];
      if (weight == 0.0) continue;
      nothing = false;
      add_sent(receptions[d], weight, omega_mu, b);
      if (receptions[d].proportional_to != Reception::nothing)
        gradient[receptions[d].proportional_to] += weight * taken(receptions[d].electric, fields_[n]);
    }
    if (nothing) continue;
    solves_.solve_for(n, b);
    add_products(omega_mu, solves_.found(), fields_[n], gradient);
  }
  return gradient;
}

std::vector<Solve> Sensitivity::rows(std::span<const std::size_t> places, const TakeRow& take,
                                     Progress* progress) {
  const std::size_t each = problem_.data_of_a_solve(), frequencies = problem_.frequencies.size();
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> of;  // frequency, datum of a solve
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (places[n] >= data())
      throw ShapeError("electromagnetic sensitivity", fmt::format("there is no datum {}", places[n] + 1));
    of[{places[n] / each % frequencies, places[n] % each}].push_back(n);
  }
  std::vector<Solve> solves;
  for (const auto& [which, wanted] : of) {
    if (progress != nullptr && progress->cancelled()) throw Cancelled();
    const auto& [frequency, d] = which;
    const auto& reception = solves_.receptions()[d];
    const double omega_mu = problem_.omega_mu(frequency);
    auto b = zero(solves_.metric());
    add_sent(reception, 1.0, omega_mu, b);
    solves.push_back(solves_.solve_for(frequency, b));
    const auto sent = solves_.found();
    std::vector<std::vector<Z>> made(wanted.size(), std::vector<Z>(cells(), 0.0));
    const auto& numbers = wanted;
    for_each(numbers.size(), stream_.threads(), [&](std::size_t n) {
      const auto& field = fields_[places[numbers[n]] / each];
      add_products(omega_mu, sent, field, made[n]);
      if (reception.proportional_to != Reception::nothing)
        made[n][reception.proportional_to] += taken(reception.electric, field);
    });
    for (std::size_t n = 0; n < numbers.size(); ++n) take(numbers[n], made[n]);
  }
  return solves;
}

}  // namespace terrane::electromagnetic
