#include "terrane/inversion/job/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/units.hpp"

namespace terrane::inversion {

void report_outcome(Report& report, const Problem& problem, const Settings& settings, const Outcome& outcome,
                    const FoundProperty& property) {
  for (const auto& i : outcome.iterations) {  // the report shows a few iterations; result files contain all
    if (i.what == "lanczos" && i.number % 10 != 0 && &i != &outcome.iterations.back()) continue;
    report.notes.push_back(
        fmt::format("{:<8} {:>3}  β {:.6g}  φ_d/N {:.5g}  φ_m {:.5g}  {} products  {:.3g} s", i.what,
                    i.number, i.beta, i.phi_d / static_cast<double>(std::max<std::size_t>(1, outcome.data)),
                    i.phi_m, i.products, i.seconds));
  }
  report.add("converged", outcome.converged);
  report.add("stopped", outcome.reason, "", "stopped", outcome.reason);
  report.add("beta", outcome.beta, "", "beta",
             fmt::format("{:.6g}, {:.3g} of the largest eigenvalue", outcome.beta, outcome.beta_relative));
  report.add("phi_d", outcome.phi_d, "", "phi_d",
             fmt::format("{:.6g}, target {:.6g}", outcome.phi_d, outcome.target));
  for (std::size_t s = 0; s < problem.sets.size(); ++s)
    report.add("chi_squared_" + problem.sets[s].name, outcome.chi_squared[s], "", "chi² / N",
               fmt::format("{} {:.4g}", problem.sets[s].name, outcome.chi_squared[s]));
  const auto& m = outcome.phi_m;
  report.add("phi_m", m.sum(), "", "phi_m",
             fmt::format("{:.6g}: smallness {:.4g}, flatness {:.4g} east, {:.4g} north, {:.4g} up", m.sum(),
                         m.smallness, m.flatness[0], m.flatness[1], m.flatness[2]));
  if (settings.huber > 0) {
    const auto doubted = static_cast<std::uint64_t>(
        std::count_if(outcome.trust.begin(), outcome.trust.end(), [](double w) { return w < 0.5; }));
    report.add("outliers", doubted, "", "outliers",
               fmt::format("{} of {} data count by less than half", grouped(doubted), grouped(outcome.data)));
  }
  report.add(
      "products", std::uint64_t(outcome.products), "", "products",
      fmt::format("{} with each of {} and its transpose", outcome.products, problem.forward ? "J" : "G"));
  if (outcome.z0 > 0)
    report.add("z0", outcome.z0, "m", "weights",
               fmt::format("depth, z0 = {:.4g} m, exponent {:g}", outcome.z0, settings.exponent));
  else
    report.add("weighting", std::string(weighting_names[static_cast<std::size_t>(settings.weighting)]), "",
               "weights");
  const auto [least, most] = std::minmax_element(property.values.begin(), property.values.end());
  report.add("model_least", *least);
  report.add("model_most", *most, "", "model",
             fmt::format("{} {:.5g} … {:.5g}{}", property.name, *least, *most,
                         property.unit == "1" ? "" : ' ' + property.unit));
  if (problem.bounds.any())
    report.add("on_bounds", std::uint64_t{outcome.on_bounds}, "", "on bounds",
               fmt::format("{} cells", grouped(outcome.on_bounds)));
  report.warnings.insert(report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  const double fits = 1 + std::max(0.05, settings.misfit_tolerance);
  if (outcome.converged) return;
  if (settings.choice == Choice::discrepancy && outcome.phi_d <= fits * outcome.target)
    report.notes.push_back("the data fit as they should, though the model still changed: " + outcome.reason);
  else report.warnings.push_back("not converged: " + outcome.reason);
}

void add_attributes(Result& result, const Outcome& outcome) {
  if (outcome.iterations.empty() && outcome.model.empty()) return;
  std::string table = "what,number,beta,phi_d,phi_m,products,seconds\n", curve = "beta,phi_d,phi_m\n";
  for (const auto& i : outcome.iterations)
    table += fmt::format("{},{},{},{},{},{},{:.4g}\n", i.what, i.number, i.beta, i.phi_d, i.phi_m, i.products,
                         i.seconds);
  for (const auto& step : outcome.curve)
    curve += fmt::format("{},{},{}\n", step.beta, step.phi_d, step.phi_m);
  result.attributes["iterations"] = table;
  result.attributes["curve"] = curve;
  result.attributes["beta"] = fmt::format("{}", outcome.beta);
  result.attributes["phi_d"] = fmt::format("{}", outcome.phi_d);
  result.attributes["target"] = fmt::format("{}", outcome.target);
  result.attributes["phi_m"] = fmt::format("{}", outcome.phi_m.sum());
  result.attributes["stopped"] = outcome.reason;
}

std::vector<Column> cell_columns(const Problem& problem, const Settings& settings, const Outcome& outcome,
                                 const FoundProperty& property, const std::vector<double>& apart) {
  const auto& [name, unit, values] = property;
  const auto whole = [&](const std::vector<double>& of_active) {
    if (of_active.empty() || problem.active.empty()) return of_active;
    std::vector<double> all(problem.mesh.size());  // values of all cells of the mesh; inactive cells have 0
    for (std::size_t c = 0; c < of_active.size(); ++c) all[problem.active[c]] = of_active[c];
    return all;
  };
  std::vector<Column> columns{
      {name, unit, "found by inversion", whole(values)},
      {"weight", "1", "weight of the cell in the model's norm", whole(outcome.weight)}};
  if (!problem.active.empty())
    columns.push_back({"active", "1", "1 where the cell takes part",
                       whole(std::vector<double>(problem.active.size(), 1.0))});
  if (!apart.empty())
    columns.push_back({name + "_apart", unit, "found from its own data alone", whole(apart)});
  if (!outcome.sensitivity.empty())
    columns.push_back({"sensitivity", "1",
                       "how much data, in their uncertainties, change with a unit of volume of the cell "
                       "at the last step; divided by the largest",
                       whole(outcome.sensitivity)});
  if (settings.posterior) {
    columns.push_back(
        {name + "_deviation", unit, "standard deviation of the posterior", whole(outcome.deviation)});
    columns.push_back({"resolution", "1", "part of a change of the cell alone that the model would show",
                       whole(outcome.resolution)});
  }
  return columns;
}

void add_settings(Fingerprint& fingerprint, const Problem& p, const Settings& s) {
  const std::vector<double> active(p.active.begin(), p.active.end());
  const auto& alpha = s.alphas;
  const auto& norm = s.norms.p;
  const auto setting = [&](const char* name, const auto& value) {
    fingerprint.push_back({name, fmt::format("{}", value)});
  };
  fingerprint.push_back({"data or uncertainties", hash({p.data, p.sigma}), true});
  fingerprint.push_back({"active cells", hash({active}), true});
  fingerprint.push_back({"reference model or bounds",
                         hash({p.reference, p.bounds.lower, p.bounds.upper, p.bounds.length}), true});
  fingerprint.push_back({"alphas, lengths or norms",
                         hash({std::vector{alpha.smallness}, alpha.flatness, norm, std::vector{s.epsilon}}),
                         true});
  if (p.weights) {
    const auto& w = *p.weights;
    fingerprint.push_back({"weights of cells and faces", hash({w[0], w[1], w[2], w[3]}), true});
  }
  setting("weighting", weighting_names[static_cast<std::size_t>(s.weighting)]);
  setting("exponent", s.exponent);
  setting("z0", s.z0);
  setting("weights_in_gradients", s.weights_in_gradients);
  setting("reference_in_gradients", s.reference_in_gradients);
  setting("choice", static_cast<int>(s.choice));
  setting("chi", s.chi);
  setting("beta", s.beta);
  setting("trend", static_cast<int>(s.trend));
  setting("huber", s.huber);
  setting("solver", static_cast<int>(s.solver));
  setting("tolerance", s.tolerance);
  setting("misfit_tolerance", s.misfit_tolerance);
  setting("posterior", s.posterior);
  if (!p.forward) return;
  fingerprint.push_back({"first model", hash({p.start}), true});
  setting("most_steps", s.most_steps);
  setting("cooling", s.cooling);
  setting("jacobian_in_memory", s.jacobian_in_memory);
}

}  // namespace terrane::inversion
