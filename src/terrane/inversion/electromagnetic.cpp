#include "terrane/inversion/electromagnetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace terrane::inversion {

namespace {

using Z = std::complex<double>;

std::array<double, 2> two_parts(Parts parts, Z value, Z observed) {
  if (parts == Parts::real_imaginary) return {value.real(), value.imag()};
  return {std::log(std::abs(value)), std::arg(observed) + std::arg(value / observed)};
}

/// c of δ(parts) = Re, Im of c δd.
Z slope_of(Parts parts, Z value) { return parts == Parts::real_imaginary ? Z(1) : 1.0 / value; }

/// Fields and their derivatives at one model, of ln σ of all cells.
struct Made {
  Stream stream;
  electromagnetic::Sensitivity sensitivity;
  std::vector<std::size_t> place;
  std::vector<Z> slope;  // of each datum

  Made(const electromagnetic::Problem& problem, Device device, int threads, Progress* progress)
      : stream(device, false, threads), sensitivity(problem, stream, progress) {}
};

/// J by solves for every product.
class FieldJacobian final : public solve::LinearOperator {
 public:
  explicit FieldJacobian(std::shared_ptr<Made> made) : made_(std::move(made)) {}
  std::size_t rows() const override { return 2 * made_->place.size(); }
  std::size_t columns() const override { return made_->sensitivity.cells(); }

  void apply(std::span<const double> model, std::span<double> data) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    const auto changes = made_->sensitivity.times(model);
    for (std::size_t n = 0; n < made_->place.size(); ++n) {
      const Z change = made_->slope[n] * changes[made_->place[n]];
      data[2 * n] = change.real();
      data[2 * n + 1] = change.imag();
    }
  }
  void apply_transpose(std::span<const double> data, std::span<double> model) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<Z> w(made_->sensitivity.data());
    for (std::size_t n = 0; n < made_->place.size(); ++n)
      w[made_->place[n]] = made_->slope[n] * Z(data[2 * n], -data[2 * n + 1]);
    const auto gradient = made_->sensitivity.transposed_times(w);
    for (std::size_t c = 0; c < model.size(); ++c) model[c] = gradient[c].real();
  }
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override {
    solve::expect_shapes(*this, diagonal.size(), weight.size());
    std::fill(diagonal.begin(), diagonal.end(), 0.0);
    made_->sensitivity.rows(made_->place, [&](std::size_t n, std::span<const Z> row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Z entry = made_->slope[n] * row[c];
        diagonal[c] +=
            weight[2 * n] * entry.real() * entry.real() + weight[2 * n + 1] * entry.imag() * entry.imag();
      }
    });
  }
  void row(std::size_t i, std::span<double> out) const override {
    solve::expect_shapes(*this, out.size(), rows());
    made_->sensitivity.rows(std::span(made_->place).subspan(i / 2, 1),
                            [&](std::size_t, std::span<const Z> row) {
                              for (std::size_t c = 0; c < row.size(); ++c) {
                                const Z entry = made_->slope[i / 2] * row[c];
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
    const double s = parts == Parts::real_imaginary ? sigma[n] : sigma[n] / std::abs(value[n]);
    for (const double part : two_parts(parts, value[n], value[n])) {
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
  const auto made = std::make_shared<Made>(problem, device_, threads_, progress);
  made->place = measured_.place;
  Linearised here;
  bool finite = true;
  for (std::size_t n = 0; n < measured_.size(); ++n) {
    const Z value = made->sensitivity.outcome().data[measured_.place[n]];
    made->slope.push_back(slope_of(parts_, value));
    for (const double part : two_parts(parts_, value, measured_.value[n])) {
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
  const auto solves = made->sensitivity.rows(
      made->place,
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
