#include "terrane/physics/acoustic/inverse_scattering.hpp"

#include <algorithm>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::acoustic {

namespace {

constexpr Index reach =
    4;  ///< nodes on each side of a half-way point that a first difference of order 8 reads

/// Adds (ρ/2) D⁻(ρ⁻¹ D⁺c) along one axis to `out`, for lines of nodes that lie side by side in memory.
class ScatteringAlong {
 public:
  /// density: null if it is even
  ScatteringAlong(const std::vector<double>& half, double spacing, Index nodes, Index stride,
                  const std::vector<double>& correlation, const std::vector<double>* density)
      : spacing_(spacing), nodes_(nodes), stride_(stride), correlation_(correlation), density_(density) {
    std::copy_n(half.begin(), reach, half_);
  }
  /// first: offset of the first node of the first line; lines: how many, each one element after the other
  void operator()(Index first, Index lines, std::vector<double>& out) {
    take(correlation_, first, lines, field_);
    if (density_ != nullptr) take(*density_, first, lines, rho_);
    flux_.resize(static_cast<std::size_t>((nodes_ + 2 * reach) * lines));
    const double h = spacing_;
    const double* const c = field_.data() + reach * lines;  // of node −reach: the first flux lies behind it
    for (Index t = 0; t < std::ssize(flux_); ++t) {
      double slope = 0;
      for (Index m = 0; m < reach; ++m) slope += half_[m] * (c[t + (1 + m) * lines] - c[t - m * lines]);
      flux_[static_cast<std::size_t>(t)] = slope;
    }
    const double* const rho = density_ == nullptr ? nullptr : rho_.data() + reach * lines;
    for (Index t = 0; t < std::ssize(flux_); ++t)
      flux_[static_cast<std::size_t>(t)] /= h * (rho == nullptr ? 1 : (rho[t] + rho[t + lines]) / 2);
    const double* const f = flux_.data() + reach * lines;  // behind node 0
    for (Index n = 0; n < nodes_; ++n) {
      double* const to = out.data() + first + n * stride_;
      const double* const at = f + n * lines;
      for (Index i = 0; i < lines; ++i) {
        double change = 0;
        for (Index m = 0; m < reach; ++m) change += half_[m] * (at[i + m * lines] - at[i - (1 + m) * lines]);
        to[i] += change / (2 * h) * (rho == nullptr ? 1 : rho[(reach + n) * lines + i]);
      }
    }
  }

 private:
  /// Copies lines with 2 reach nodes beyond each end, which have the values of the ends: [nodes][lines].
  void take(const std::vector<double>& values, Index first, Index lines, std::vector<double>& to) const {
    to.resize(static_cast<std::size_t>((nodes_ + 4 * reach + 1) * lines));
    for (Index n = 0; n < nodes_ + 4 * reach + 1; ++n)
      std::copy_n(values.data() + first + std::clamp<Index>(n - 2 * reach, 0, nodes_ - 1) * stride_, lines,
                  to.data() + n * lines);
  }

  double half_[reach];
  double spacing_;
  Index nodes_, stride_;
  const std::vector<double>& correlation_;
  const std::vector<double>* density_;
  std::vector<double> field_, rho_, flux_;
};

}  // namespace

std::vector<double> inverse_scattering_of(const Problem& problem, const std::vector<double>& correlation) {
  const auto half =
      differences(2 * static_cast<int>(reach), Coefficients::taylor, Equation::variable_density).half;
  const auto box = problem.grid.box();
  const Index strides[3] = {box.size(1) * box.size(2), box.size(2), 1};
  const auto* const density = problem.equation == Equation::variable_density ? &problem.density : nullptr;
  auto out = filled(correlation.size(), 0.0);
  for (int axis = 0; axis < 3; ++axis) {
    const Index nodes = box.size(axis), stride = strides[axis];
    if (nodes == 1) continue;
    constexpr Index most_lines = 32;
    const Index groups = (stride + most_lines - 1) / most_lines;  // of the lines that lie side by side
    const auto some_groups = [&](std::size_t from, std::size_t to) {
      ScatteringAlong along(half, problem.grid.spacing[static_cast<std::size_t>(axis)], nodes, stride,
                            correlation, density);
      for (auto group = static_cast<Index>(from); group < static_cast<Index>(to); ++group) {
        const Index line = group % groups * most_lines;
        along(group / groups * stride * nodes + line, std::min(most_lines, stride - line), out);
      }
    };
    const auto count = static_cast<std::size_t>(box.count() / (nodes * stride) * groups);
    for_each_stretch(count, 0, some_groups, axis == 2 ? 64 : 2);
  }
  return out;
}

}  // namespace terrane::acoustic
