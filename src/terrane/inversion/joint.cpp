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

namespace {

/// The models of a joint inversion, and what each pair has of the cross-gradient.
class Group {
 public:
  Group(const std::vector<const Problem*>& problems, const std::vector<const Settings*>& settings,
        const JointSettings& joint, Progress* progress)
      : problems_(problems), settings_(settings), joint_(joint), progress_(progress) {}
  JointOutcome all();

 private:
  std::size_t size() const { return problems_.size(); }
  const std::vector<double>& model(std::size_t p) const { return out_.together[p].model; }
  std::shared_ptr<const CrossGradient> form(std::size_t other, double factor) const {
    return std::make_shared<const CrossGradient>(problems_[0]->mesh, problems_[0]->active, model(other),
                                                 factor, settings_[other]->threads);
  }
  double& apart(std::size_t p, std::size_t q) { return apart_[std::min(p, q) * size() + std::max(p, q)]; }
  /// Of all pairs that have any: their mean, of what it is of the models found apart.
  double cross_gradient();
  double renew(std::size_t p);

  const std::vector<const Problem*>& problems_;
  const std::vector<const Settings*>& settings_;
  const JointSettings& joint_;
  Progress* progress_;
  std::vector<double> apart_, norm_;
  JointOutcome out_;
};

double Group::cross_gradient() {
  double sum = 0;
  int pairs = 0;
  for (std::size_t p = 0; p < size(); ++p)
    for (std::size_t q = p + 1; q < size(); ++q) {
      if (!(apart(p, q) > 0)) continue;
      sum += form(q, 1)->value(model(p)) / apart(p, q);
      ++pairs;
    }
  return pairs > 0 ? sum / pairs : 0;
}

/// One model anew, the others in their places; by how much it changes, relative to its largest value.
double Group::renew(std::size_t p) {
  Problem coupled = *problems_[p];
  for (std::size_t q = 0; q < size(); ++q)
    if (q != p && apart(p, q) > 0)
      coupled.couplings.push_back(form(q, joint_.coupling * norm_[p] / apart(p, q)));
  if (coupled.forward) coupled.start = model(p);
  auto found = invert(coupled, *settings_[p], {}, progress_);
  double change = 0;
  for (std::size_t c = 0; c < found.model.size(); ++c)
    if (const double d = std::fabs(found.model[c] - model(p)[c]); !(d <= change))
      change = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  change /= std::max(largest_size(found.model), 1e-300);
  out_.together[p] = std::move(found);
  return change;
}

JointOutcome Group::all() {
  for (std::size_t p = 0; p < size(); ++p) {
    out_.apart.push_back(invert(*problems_[p], *settings_[p], {}, progress_));
    norm_.push_back(out_.apart[p].phi_m.sum());
  }
  out_.together = out_.apart;
  apart_.assign(size() * size(), 0.0);
  double all = 0;
  for (std::size_t p = 0; p < size(); ++p)
    for (std::size_t q = p + 1; q < size(); ++q) all += apart(p, q) = form(q, 1)->value(model(p));
  out_.cross_gradient = all > 0 ? 1 : 0;
  // All models but one are flat, or nothing is wanted of them together.
  out_.converged = !(all > 0) || joint_.coupling == 0;
  for (int round = 0; round < joint_.most_rounds && !out_.converged; ++round) {
    JointRound line;
    for (std::size_t p = 0; p < size(); ++p) line.change.push_back(renew(p));
    line.cross_gradient = out_.cross_gradient = cross_gradient();
    out_.rounds.push_back(line);
    out_.converged = largest_size(line.change) <= joint_.tolerance;
  }
  if (!out_.converged)
    out_.warnings.push_back(fmt::format("after {} rounds the models still change, by {:.2g} of their largest",
                                        out_.rounds.size(), largest_size(out_.rounds.back().change)));
  return std::move(out_);
}

}  // namespace

JointOutcome invert_jointly(const std::vector<const Problem*>& problems,
                            const std::vector<const Settings*>& settings, const JointSettings& joint,
                            Progress* progress) {
  if (problems.size() < 2 || settings.size() != problems.size())
    throw ShapeError("joint inversion", "it takes two problems or more, and settings for each");
  if (!(joint.coupling >= 0)) throw InputError("joint inversion: coupling", "it must be zero or more");
  for (const auto* other : problems) expect_same_cells(*problems[0], *other);
  for (const auto* s : settings)
    if (s->posterior || !s->norms.square())
      throw InputError("joint inversion", "standard deviations and sparse norms are of one model alone",
                       "Leave posterior = false and norms = [2, 2, 2, 2].");
  return Group(problems, settings, joint, progress).all();
}

}  // namespace terrane::inversion
