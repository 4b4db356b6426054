#include "terrane/physics/electric/inverse/chargeability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "terrane/base/error.hpp"

namespace terrane::electric::inverse {

inversion::Problem problem_of_charges(TensorMesh mesh, std::vector<std::uint32_t> active,
                                      std::vector<double> apparent, std::vector<double> sigma, double most) {
  if (!(most > 0 && most < 1))
    throw InputError("chargeability", fmt::format("the largest is {:g} V/V", most),
                     "Allowed: above 0 and below 1.");
  std::size_t bad = 0, first = 0;
  for (std::size_t n = 0; n < apparent.size(); ++n)
    if (!std::isnan(apparent[n]) && !(std::fabs(apparent[n]) < 1) && bad++ == 0) first = n;
  if (bad > 0)
    throw InputError("survey",
                     fmt::format("{} of {} apparent chargeabilities are not below 1 V/V (first: array {}, "
                                 "{:g} V/V)",
                                 bad, apparent.size(), first + 1, apparent[first]),
                     "Are they in mV/V? Write the unit into the header: chargeability_observed [mV/V].");
  inversion::Problem problem;
  const std::size_t cells = active.empty() ? mesh.size() : active.size();
  problem.mesh = std::move(mesh);
  problem.active = std::move(active);
  problem.sets = {{"chargeability", "V/V", 0, apparent.size()}};
  problem.data = std::move(apparent);
  problem.sigma = std::move(sigma);
  problem.bounds = {std::vector<double>(cells, 0.0), std::vector<double>(cells, most)};
  return problem;
}

std::shared_ptr<const solve::LinearOperator> operator_of_charges(
    std::shared_ptr<const solve::LinearOperator> j, const std::vector<std::uint32_t>& active,
    std::size_t cells) {
  return std::make_shared<inversion::Chained>(std::move(j), active, std::vector<double>(cells, -1.0));
}

void MeanOfCells::apply(std::span<const double> model, std::span<double> data) const {
  double sum = 0;
  for (const double value : model) sum += value;
  std::fill(data.begin(), data.end(), sum / static_cast<double>(columns_));
}

void MeanOfCells::apply_transpose(std::span<const double> data, std::span<double> model) const {
  double sum = 0;
  for (const double value : data) sum += value;
  std::fill(model.begin(), model.end(), sum / static_cast<double>(columns_));
}

void MeanOfCells::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  double sum = 0;
  for (const double value : weight) sum += value;
  const auto n = static_cast<double>(columns_);
  std::fill(diagonal.begin(), diagonal.end(), sum / (n * n));
}

void MeanOfCells::row(std::size_t, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 1 / static_cast<double>(columns_));
}

}  // namespace terrane::electric::inverse
