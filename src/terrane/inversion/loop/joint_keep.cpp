#include "terrane/inversion/loop/joint_keep.hpp"

#include <array>
#include <utility>

namespace terrane::inversion {

namespace {

/// The lists of an outcome and their names.
template <class Of>
auto lists_of(Of& outcome) {
  return std::array{std::pair{"model", &outcome.model},   std::pair{"predicted", &outcome.predicted},
                    std::pair{"trend", &outcome.trend},   std::pair{"trust", &outcome.trust},
                    std::pair{"weight", &outcome.weight}, std::pair{"chi_squared", &outcome.chi_squared}};
}

constexpr std::size_t steps_of_curve = 4;  // numbers of each

}  // namespace

void keep_outcome(const Outcome& o, const std::string& name, Standing& standing) {
  for (const auto& [list, values] : lists_of(o)) standing.lists[name + list] = *values;
  Standing lines;
  keep_lines(o.iterations, lines);
  standing.lists[name + "lines"] = std::move(lines.lists["lines"]);
  auto& curve = standing.lists[name + "curve"];
  for (const auto& step : o.curve)
    curve.insert(curve.end(), {static_cast<double>(step.steps), step.beta, step.phi_d, step.phi_m});
  standing.lists[name + "numbers"] = {o.beta,
                                      o.phi_d,
                                      o.target,
                                      o.z0,
                                      o.beta_relative,
                                      o.phi_m.smallness,
                                      o.phi_m.flatness[0],
                                      o.phi_m.flatness[1],
                                      o.phi_m.flatness[2],
                                      static_cast<double>(o.data),
                                      static_cast<double>(o.on_bounds),
                                      static_cast<double>(o.products),
                                      static_cast<double>(o.forwards),
                                      o.converged ? 1.0 : 0.0,
                                      static_cast<double>(o.warnings.size())};
  standing.words.push_back(o.reason);
  standing.words.insert(standing.words.end(), o.warnings.begin(), o.warnings.end());
}

Outcome kept_outcome(const Standing& standing, const std::string& name, std::size_t& word) {
  const auto list = [&](const std::string& of) {
    const auto found = standing.lists.find(name + of);
    return found == standing.lists.end() ? std::vector<double>{} : found->second;
  };
  Outcome o;
  for (const auto& [of, values] : lists_of(o)) *values = list(of);
  Standing lines;
  lines.lists["lines"] = list("lines");
  o.iterations = kept_lines(lines);
  const auto curve = list("curve"), n = list("numbers");
  if (curve.size() % steps_of_curve != 0 || n.size() != 15) refuse_checkpoint();
  for (std::size_t i = 0; i < curve.size(); i += steps_of_curve)
    o.curve.push_back({static_cast<int>(curve[i]), curve[i + 1], curve[i + 2], curve[i + 3]});
  o.beta = n[0];
  o.phi_d = n[1];
  o.target = n[2];
  o.z0 = n[3];
  o.beta_relative = n[4];
  o.phi_m = {n[5], {n[6], n[7], n[8]}};
  o.data = static_cast<std::size_t>(n[9]);
  o.on_bounds = static_cast<std::size_t>(n[10]);
  o.products = static_cast<int>(n[11]);
  o.forwards = static_cast<int>(n[12]);
  o.converged = n[13] != 0;
  const auto warnings = static_cast<std::size_t>(n[14]);
  if (word >= standing.words.size() || warnings >= standing.words.size() - word) refuse_checkpoint();
  o.reason = standing.words[word++];
  for (std::size_t i = 0; i < warnings; ++i) o.warnings.push_back(standing.words[word++]);
  return o;
}

}  // namespace terrane::inversion
