#include "terrane/inversion/loop/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/inversion/data/robust.hpp"

namespace terrane::inversion {

std::vector<double> lengths_of(std::span<const double> model, std::size_t components) {
  const std::size_t cells = model.size() / components;
  std::vector<double> made(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(cells));
  for (std::size_t c = cells; c < model.size(); ++c) made[c % cells] = std::hypot(made[c % cells], model[c]);
  return made;
}

std::vector<double> cell_weights(const Problem& p, const Settings& settings, double& z0) {
  if (!p.own_weight.empty()) return p.own_weight;
  switch (settings.weighting) {
    case Weighting::none:
      break;
    case Weighting::distance:
      return distance_weights(p.mesh, p.active, {p.easting, p.northing, p.up}, settings.exponent,
                              settings.threads);
    case Weighting::sensitivity: {
      std::vector<double> weight(p.sigma.size()), volume;
      for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = std::isnan(p.data[i]) ? 0 : 1 / p.sigma[i];
      for (std::size_t c = 0; c < p.cells(); ++c)
        volume.push_back(p.mesh.prism(p.active.empty() ? c : p.active[c]).volume());
      return sensitivity_weights(*p.g, weight, volume);
    }
    case Weighting::depth: {
      z0 = settings.z0;
      if (z0 == 0) {  // z₀ is fitted at the station nearest to the middle of all stations
        const std::size_t n = p.easting.size();
        double middle[2] = {0, 0};
        for (std::size_t s = 0; s < n; ++s) {
          middle[0] += p.easting[s] / static_cast<double>(n);
          middle[1] += p.northing[s] / static_cast<double>(n);
        }
        std::size_t nearest = 0;
        const auto distance = [&](std::size_t s) {
          return std::hypot(p.easting[s] - middle[0], p.northing[s] - middle[1]);
        };
        for (std::size_t s = 1; s < n; ++s)
          if (distance(s) < distance(nearest)) nearest = s;
        std::vector<double> row(p.g->columns());
        p.g->row(nearest, row);
        row = lengths_of(row, p.components);
        z0 = fit_z0(p.mesh, p.active, row, p.easting[nearest], p.northing[nearest], settings.exponent,
                    p.ground);
      }
      return depth_weights(p.mesh, p.active, z0, settings.exponent, p.ground);
    }
  }
  return std::vector<double>(p.cells(), 1.0);
}

void show_nearness(Progress* progress, const Outcome& out) {
  if (progress == nullptr) return;
  const auto& last = out.iterations.back();
  const double n = static_cast<double>(std::max<std::size_t>(1, out.data));
  const double first = out.iterations.front().phi_d;
  const double part = std::log(first / last.phi_d) / std::log(first / out.target);
  progress->start(fmt::format("{} {}, φ_d/N {:.3g}", last.what, last.number, last.phi_d / n), 1000);
  if (part > 0) progress->advance(static_cast<std::uint64_t>(1000 * std::min(part, 1.0)));
}

std::vector<double> centre_of(const Problem& p, const Settings& settings,
                              const std::vector<double>& reference, Regulariser& regulariser) {
  auto centre = reference;
  if (settings.reference_in_gradients && p.couplings.empty()) return centre;
  // Apart from a constant, φ_m is the quadratic form around m̃ = R⁻¹ R_s m_ref, R_s the smallness part of R;
  // or with couplings C, c (coupling.hpp) around m̃ = (R + C)⁻¹ (R m_ref + c).
  if (!settings.reference_in_gradients) regulariser.apply_smallness(reference, centre);
  else regulariser.apply(reference, centre);
  for (const auto& one : p.couplings) one->add_centre(centre);
  regulariser.couple(p.couplings);
  regulariser.solve(centre, 1e-12);
  return centre;
}

void judge(const Problem& problem, const Settings& settings, const std::vector<double>& deviation,
           const std::vector<double>& reference, Regulariser& regulariser, Outcome& out) {
  out.phi_d = 0;
  for (const auto& set : problem.sets) {
    std::vector<double> r;
    for (std::size_t i = set.first; i < set.first + set.count; ++i)
      if (deviation[i] > 0) r.push_back(deviation[i] * (problem.data[i] - out.predicted[i]));
    double sum = settings.huber > 0 ? huber_misfit(r, settings.huber) : 0;
    if (!(settings.huber > 0))
      for (const double one : r) sum += one * one;
    out.phi_d += sum;
    out.chi_squared.push_back(r.empty() ? 0 : sum / static_cast<double>(r.size()));
  }
  const auto u = [&](const std::vector<double>& from) {
    std::vector<double> less(out.model);
    for (std::size_t c = 0; c < less.size(); ++c) less[c] -= from[c];
    return less;
  };
  // φ_m by its definition: a reference that is not in the gradients affects the smallness alone.
  regulariser.reweight(std::nullopt);
  out.phi_m = settings.reference_in_gradients ? regulariser.terms(u(reference))
                                              : regulariser.terms(out.model, u(reference));
  out.on_bounds = problem.bounds.count_on(out.model);
  const double chi = out.phi_d / out.target;
  if (settings.choice == Choice::discrepancy && out.converged && std::isfinite(out.beta) &&
      std::fabs(chi - 1) > std::max(0.05, settings.misfit_tolerance) && chi > 1)
    out.warnings.push_back(fmt::format("φ_d is {:.3f} times its target", chi));
}

}  // namespace terrane::inversion
