#include "terrane/inversion/joint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/coupling.hpp"

namespace terrane::inversion {

namespace {

double largest_size(std::span<const double> values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

}  // namespace

void expect_same_cells(const Problem& a, const Problem& b) {
  if (a.mesh.easting() != b.mesh.easting() || a.mesh.northing() != b.mesh.northing() ||
      a.mesh.up() != b.mesh.up())
    throw InputError("joint inversion", "the two problems have different meshes",
                     "Give both jobs the same table [mesh].");
  if (a.active != b.active)
    throw InputError("joint inversion", "the two problems have different active cells",
                     "Give both jobs the same inversion.topography or inversion.active_file.");
}

JointOutcome invert_jointly(const std::array<const Problem*, 2>& problems,
                            const std::array<const Settings*, 2>& settings, const JointSettings& joint,
                            Progress* progress) {
  if (!(joint.coupling >= 0)) throw InputError("joint inversion: coupling", "it must be zero or more");
  expect_same_cells(*problems[0], *problems[1]);
  for (const auto* s : settings)
    if (s->posterior || !s->norms.square())
      throw InputError("joint inversion", "standard deviations and sparse norms are of one model alone",
                       "Leave posterior = false and norms = [2, 2, 2, 2].");
  const auto& mesh = problems[0]->mesh;
  const auto& active = problems[0]->active;
  JointOutcome out;
  for (std::size_t p = 0; p < 2; ++p)
    out.together[p] = out.apart[p] = invert(*problems[p], *settings[p], {}, progress);
  const auto form = [&](std::size_t other, double factor) {
    return std::make_shared<const CrossGradient>(mesh, active, out.together[other].model, factor,
                                                 settings[other]->threads);
  };
  const double apart = form(1, 1)->value(out.together[0].model);
  if (!(apart > 0) || joint.coupling == 0) {  // one of the models is flat, or nothing is wanted of both
    out.converged = true;
    out.cross_gradient = apart > 0 ? 1 : 0;
    return out;
  }
  std::array<double, 2> norm{};
  for (std::size_t p = 0; p < 2; ++p) norm[p] = out.apart[p].phi_m.sum();
  for (int round = 0; round < joint.most_rounds && !out.converged; ++round) {
    JointRound line;
    for (std::size_t p = 0; p < 2; ++p) {
      Problem coupled = *problems[p];
      coupled.coupling = form(1 - p, joint.coupling * norm[p] / apart);
      auto found = invert(coupled, *settings[p], {}, progress);
      double change = 0;
      for (std::size_t c = 0; c < found.model.size(); ++c)
        change = std::max(change, std::fabs(found.model[c] - out.together[p].model[c]));
      line.change[p] = change / std::max(largest_size(found.model), 1e-300);
      out.together[p] = std::move(found);
    }
    line.cross_gradient = out.cross_gradient = form(1, 1)->value(out.together[0].model) / apart;
    out.rounds.push_back(line);
    out.converged = std::max(line.change[0], line.change[1]) <= joint.tolerance;
  }
  if (!out.converged)
    out.warnings.push_back(
        fmt::format("after {} rounds the models still change, by {:.2g} and {:.2g} of their largest",
                    out.rounds.size(), out.rounds.back().change[0], out.rounds.back().change[1]));
  return out;
}

}  // namespace terrane::inversion
