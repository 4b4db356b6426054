#include "terrane/physics/electromagnetic/inverse/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/physics/electromagnetic/inverse/field_models.hpp"

namespace terrane::electromagnetic::inverse {

namespace {

using Z = std::complex<double>;

std::array<double, 2> two_parts(Parts parts, Z value, Z observed) {
  if (parts == Parts::real_imaginary) return {value.real(), value.imag()};
  return {std::log(std::abs(value)), std::arg(observed) + std::arg(value / observed)};
}

/// The factor c for which the changes of the two real data of a complex value d are Re and Im of c δd.
Z slope_of(Parts parts, Z value) { return parts == Parts::real_imaginary ? Z(1) : 1.0 / value; }

std::vector<std::size_t> numbers_of(const FieldModel& model) {
  std::vector<std::size_t> all(model.data().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// J as an operator: each product solves for fields.
class FieldJacobian final : public solve::LinearOperator {
 public:
  /// slope: c for each datum
  FieldJacobian(std::shared_ptr<FieldModel> made, std::vector<Z> slope)
      : made_(std::move(made)), slope_(std::move(slope)) {}
  std::size_t rows() const override { return 2 * slope_.size(); }
  std::size_t columns() const override { return made_->cells(); }

  void apply(std::span<const double> model, std::span<double> data) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    const auto changes = made_->times(model);
    for (std::size_t n = 0; n < slope_.size(); ++n) {
      const Z change = slope_[n] * changes[n];
      data[2 * n] = change.real();
      data[2 * n + 1] = change.imag();
    }
  }
  void apply_transpose(std::span<const double> data, std::span<double> model) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<Z> w;
    for (std::size_t n = 0; n < slope_.size(); ++n) w.push_back(slope_[n] * Z(data[2 * n], -data[2 * n + 1]));
    const auto gradient = made_->transposed_times(w);
    for (std::size_t c = 0; c < model.size(); ++c) model[c] = gradient[c].real();
  }
  /// The diagonal would need solves for every receiver.
  bool has_quick_diagonal() const override { return false; }
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override {
    solve::expect_shapes(*this, diagonal.size(), weight.size());
    std::fill(diagonal.begin(), diagonal.end(), 0.0);
    made_->rows(numbers_of(*made_), [&](std::size_t n, std::span<const Z> row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Z entry = slope_[n] * row[c];
        diagonal[c] +=
            weight[2 * n] * entry.real() * entry.real() + weight[2 * n + 1] * entry.imag() * entry.imag();
      }
    });
  }
  void row(std::size_t i, std::span<double> out) const override {
    solve::expect_shapes(*this, out.size(), rows());
    made_->rows({i / 2}, [&](std::size_t n, std::span<const Z> row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const Z entry = slope_[n] * row[c];
        out[c] = i % 2 == 0 ? entry.real() : entry.imag();
      }
    });
  }

 private:
  std::shared_ptr<FieldModel> made_;  // the model whose J this is; solves change only its buffers
  std::vector<Z> slope_;
};

void warn_of(const std::vector<Solve>& solves, const char* whose, std::vector<std::string>& warnings) {
  const auto bad = std::count_if(solves.begin(), solves.end(), [](const auto& s) { return !s.converged(); });
  if (bad > 0)
    warnings.push_back(
        fmt::format("{} of {} solves for fields of {} did not converge", bad, solves.size(), whose));
}

/// J with its entries in memory, from a solve for each receiver, component and frequency.  data, cells: its
/// factors for each datum and each active cell
std::shared_ptr<const solve::LinearOperator> entries_of(FieldModel& made, const std::vector<Z>& data,
                                                        const std::vector<double>& cells,
                                                        const std::vector<std::uint32_t>& active, int threads,
                                                        std::vector<std::string>& warnings,
                                                        Progress* progress) {
  const std::size_t rows = 2 * data.size(), columns = cells.size();
  std::vector<double> entries(rows * columns);
  const auto solves = made.rows(
      numbers_of(made),
      [&](std::size_t n, std::span<const Z> row) {
        for (std::size_t c = 0; c < columns; ++c) {
          const Z entry = data[n] * row[active.empty() ? c : active[c]] * cells[c];
          entries[2 * n * columns + c] = entry.real();
          entries[(2 * n + 1) * columns + c] = entry.imag();
        }
      },
      progress);
  warn_of(solves, "receivers", warnings);
  return inversion::in_memory(rows, columns, std::move(entries), threads);
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

ElectromagneticFields::ElectromagneticFields(Problem problem, std::vector<std::uint32_t> active,
                                             MeasuredFields measured, Parts parts, bool in_memory,
                                             Device device, int threads, Comm* comm,
                                             std::shared_ptr<solve::Workers> workers)
    : problem_(std::move(problem)),
      active_(std::move(active)),
      measured_(std::move(measured)),
      parts_(parts),
      in_memory_(in_memory),
      device_(device),
      threads_(threads),
      comm_(comm && comm->size() > 1 ? comm : nullptr),
      workers_(std::move(workers)) {
  if (!problem_.quadrature[0].empty())
    throw InputError("electromagnetic inversion",
                     "conductivity has imaginary parts, which do not follow the resistivity that is sought",
                     "Give chargeability, charge_time and charge_exponent in their place.");
  if (problem_.contrasts.empty()) problem_.contrasts = problem_.conductivity[0];
}

std::shared_ptr<FieldModel> ElectromagneticFields::model(const Problem& problem, Progress* progress) const {
  if (comm_ == nullptr)
    return std::make_shared<FieldModel>(problem, measured_.place, resolve(device_), threads_, progress,
                                        nullptr);
  if (!ranks_ || ranks_->parted())
    ranks_ = std::make_shared<FieldRanks>(*comm_, problem_, measured_.place, device_, threads_, workers_);
  return ranks_->model(problem, progress);
}

inversion::Linearised ElectromagneticFields::at(std::span<const double> resistivity,
                                                Progress* progress) const {
  auto problem = problem_;
  const auto cell = [&](std::size_t c) { return active_.empty() ? c : active_[c]; };
  std::vector<double> slope(columns());
  for (std::size_t c = 0; c < columns(); ++c) {
    problem.conductivity[0][cell(c)] = 1 / resistivity[c];
    slope[c] = -1 / resistivity[c];  // d ln σ/dρ
  }
  const auto made = model(problem, progress);
  std::vector<Z> slopes;
  inversion::Linearised here;
  bool finite = true;
  for (std::size_t n = 0; n < measured_.size(); ++n) {
    const Z value = made->data()[n].value;
    const auto parts = measured_.parts(n, parts_);
    slopes.push_back(slope_of(parts, value));
    for (const double part : two_parts(parts, value, measured_.value[n])) {
      here.data.push_back(part);
      finite = finite && std::isfinite(part);
    }
  }
  warn_of(made->outcome().solves, "sources", here.warnings);
  if (!finite) return here;
  if (in_memory_)
    here.entries = [made, slopes, slope, active = active_, threads = threads_](
                       std::vector<std::string>& warnings, Progress* seen) {
      return entries_of(*made, slopes, slope, active, threads, warnings, seen);
    };
  here.jacobian = std::make_shared<inversion::Chained>(
      std::make_shared<FieldJacobian>(made, std::move(slopes)), active_, std::move(slope));
  return here;
}

}  // namespace terrane::electromagnetic::inverse
