#include "terrane/inversion/electromagnetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::inversion {

namespace {

using Z = std::complex<double>;

std::array<double, 2> two_parts(Parts parts, Z value, Z observed) {
  if (parts == Parts::real_imaginary) return {value.real(), value.imag()};
  return {std::log(std::abs(value)), std::arg(observed) + std::arg(value / observed)};
}

/// c of δ(parts) = Re, Im of c δd.
Z slope_of(Parts parts, Z value) { return parts == Parts::real_imaginary ? Z(1) : 1.0 / value; }

/// A datum of a model, how it changes with fields, and the frequency and receiver that it is of.
struct Datum {
  Z value;
  electromagnetic::SumOfFields change;
  std::size_t site;
};

std::vector<Datum> data_of(const electromagnetic::Problem& problem, const electromagnetic::Outcome& outcome,
                           const std::vector<std::size_t>& places) {
  const std::size_t receivers = problem.receivers.size(), sites = problem.frequencies.size() * receivers;
  std::vector<electromagnetic::TransferFunction> functions;
  if (electromagnetic::is_magnetotelluric(problem)) functions = transfer_functions(problem, outcome);
  std::vector<Datum> all;
  for (const auto place : places) {
    if (functions.empty()) {
      const std::size_t f = place / problem.data_of_a_solve() % problem.frequencies.size();
      all.push_back({outcome.data[place], {{place, 1.0}}, f * receivers + place % receivers});
      continue;
    }
    const std::size_t which = place / sites, site = place % sites;
    all.push_back({number(functions[site], which),
                   change_of(problem, outcome, site / receivers, site % receivers, functions[site], which),
                   site});
  }
  return all;
}

/// Data and their derivatives at one model, of ln σ of all cells.
struct Made {
  Stream stream;
  electromagnetic::Sensitivity sensitivity;
  std::vector<Datum> data;
  std::vector<Z> slope;  // of each datum

  Made(const electromagnetic::Problem& problem, Device device, int threads,
       const std::vector<std::size_t>& places, Progress* progress)
      : stream(device, false, threads),
        sensitivity(problem, stream, progress),
        data(data_of(problem, sensitivity.outcome(), places)) {}

  /// take(datum, its row) of those asked for, site by site: what they share of solves is there once.
  template <class Take>
  std::vector<electromagnetic::Solve> rows(const std::vector<std::size_t>& wanted, const Take& take,
                                           Progress* progress = nullptr) {
    std::map<std::size_t, std::vector<std::size_t>> of_site;
    for (const auto n : wanted) of_site[data[n].site].push_back(n);
    std::vector<electromagnetic::Solve> solves;
    for (const auto& [site, numbers] : of_site) {
      std::set<std::size_t> places;
      for (const auto n : numbers)
        for (const auto& [place, factor] : data[n].change) places.insert(place);
      const std::vector<std::size_t> fields(places.begin(), places.end());
      std::vector<std::vector<Z>> made(numbers.size(), std::vector<Z>(sensitivity.cells()));
      const auto done = sensitivity.rows(
          fields,
          [&](std::size_t field, std::span<const Z> row) {
            for (std::size_t k = 0; k < numbers.size(); ++k)
              for (const auto& [place, factor] : data[numbers[k]].change)
                if (place == fields[field])
                  for (std::size_t c = 0; c < row.size(); ++c) made[k][c] += factor * row[c];
          },
          progress);
      solves.insert(solves.end(), done.begin(), done.end());
      for (std::size_t k = 0; k < numbers.size(); ++k) take(numbers[k], made[k]);
    }
    return solves;
  }
  std::vector<std::size_t> all() const {
    std::vector<std::size_t> numbers(data.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
  }
};

/// J by solves for every product.
class FieldJacobian final : public solve::LinearOperator {
 public:
  explicit FieldJacobian(std::shared_ptr<Made> made) : made_(std::move(made)) {}
  std::size_t rows() const override { return 2 * made_->data.size(); }
  std::size_t columns() const override { return made_->sensitivity.cells(); }

  void apply(std::span<const double> model, std::span<double> data) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    const auto changes = made_->sensitivity.times(model);
    for (std::size_t n = 0; n < made_->data.size(); ++n) {
      Z sum = 0;
      for (const auto& [place, factor] : made_->data[n].change) sum += factor * changes[place];
      const Z change = made_->slope[n] * sum;
      data[2 * n] = change.real();
      data[2 * n + 1] = change.imag();
    }
  }
  void apply_transpose(std::span<const double> data, std::span<double> model) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<Z> w(made_->sensitivity.data());
    for (std::size_t n = 0; n < made_->data.size(); ++n)
      for (const auto& [place, factor] : made_->data[n].change)
        w[place] += factor * made_->slope[n] * Z(data[2 * n], -data[2 * n + 1]);
    const auto gradient = made_->sensitivity.transposed_times(w);
    for (std::size_t c = 0; c < model.size(); ++c) model[c] = gradient[c].real();
  }
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override {
    solve::expect_shapes(*this, diagonal.size(), weight.size());
    std::fill(diagonal.begin(), diagonal.end(), 0.0);
    made_->rows(made_->all(), [&](std::size_t n, std::span<const Z> row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Z entry = made_->slope[n] * row[c];
        diagonal[c] +=
            weight[2 * n] * entry.real() * entry.real() + weight[2 * n + 1] * entry.imag() * entry.imag();
      }
    });
  }
  void row(std::size_t i, std::span<double> out) const override {
    solve::expect_shapes(*this, out.size(), rows());
    made_->rows({i / 2}, [&](std::size_t n, std::span<const Z> row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Z entry = made_->slope[n] * row[c];
        out[c] = i % 2 == 0 ? entry.real() : entry.imag();
      }
    });
  }

 private:
  std::shared_ptr<Made> made_;  // solves change what it holds, not what it means
};

void warn_of(const std::vector<electromagnetic::Solve>& solves, const char* whose,
             std::vector<std::string>& warnings) {
  const auto bad = std::count_if(solves.begin(), solves.end(), [](const auto& s) { return !s.converged(); });
  if (bad > 0)
    warnings.push_back(
        fmt::format("{} of {} solves for fields of {} did not converge", bad, solves.size(), whose));
}

}  // namespace

void MeasuredFields::as(Parts parts, std::vector<double>& data, std::vector<double>& deviation) const {
  data.clear();
  deviation.clear();
  for (std::size_t n = 0; n < size(); ++n) {
    const auto own = this->parts(n, parts);
    const double s = own == Parts::real_imaginary ? sigma[n] : sigma[n] / std::abs(value[n]);
    for (const double part : two_parts(own, value[n], value[n])) {
      data.push_back(part);
      deviation.push_back(s);
    }
  }
}

ElectromagneticFields::ElectromagneticFields(electromagnetic::Problem problem,
                                             std::vector<std::uint32_t> active, MeasuredFields measured,
                                             Parts parts, bool in_memory, Device device, int threads)
    : problem_(std::move(problem)),
      active_(std::move(active)),
      measured_(std::move(measured)),
      parts_(parts),
      in_memory_(in_memory),
      device_(device),
      threads_(threads) {
  if (problem_.contrasts.empty()) problem_.contrasts = problem_.conductivity[0];
}

Linearised ElectromagneticFields::at(std::span<const double> resistivity, Progress* progress) const {
  auto problem = problem_;
  const auto cell = [&](std::size_t c) { return active_.empty() ? c : active_[c]; };
  std::vector<double> slope(columns());
  for (std::size_t c = 0; c < columns(); ++c) {
    problem.conductivity[0][cell(c)] = 1 / resistivity[c];
    slope[c] = -1 / resistivity[c];  // of ln σ
  }
  const auto made = std::make_shared<Made>(problem, device_, threads_, measured_.place, progress);
  Linearised here;
  bool finite = true;
  for (std::size_t n = 0; n < measured_.size(); ++n) {
    const Z value = made->data[n].value;
    const auto parts = measured_.parts(n, parts_);
    made->slope.push_back(slope_of(parts, value));
    for (const double part : two_parts(parts, value, measured_.value[n])) {
      here.data.push_back(part);
      finite = finite && std::isfinite(part);
    }
  }
  warn_of(made->sensitivity.outcome().solves, "sources", here.warnings);
  if (!finite) return here;
  if (!in_memory_) {
    here.jacobian =
        std::make_shared<Chained>(std::make_shared<FieldJacobian>(made), active_, std::move(slope));
    return here;
  }
  std::vector<double> entries(rows() * columns());
  const auto solves = made->rows(
      made->all(),
      [&](std::size_t n, std::span<const Z> row) {
        for (std::size_t c = 0; c < columns(); ++c) {
          const Z entry = made->slope[n] * row[cell(c)] * slope[c];
          entries[2 * n * columns() + c] = entry.real();
          entries[(2 * n + 1) * columns() + c] = entry.imag();
        }
      },
      progress);
  warn_of(solves, "receivers", here.warnings);
  here.jacobian = terrane::inversion::in_memory(rows(), columns(), std::move(entries), threads_);
  return here;
}

}  // namespace terrane::inversion
