#include "terrane/inversion/loop/joint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/inversion/loop/state.hpp"
#include "terrane/inversion/model/coupling.hpp"

namespace terrane::inversion {

namespace {

/// The largest magnitude; NaN if a value is NaN.
double largest_size(std::span<const double> values) {
  double most = 0;
  for (const double v : values) {
    if (std::isnan(v)) return v;
    most = std::max(most, std::fabs(v));
  }
  return most;
}

bool cuts_cells(std::span<const double> ground) {
  return std::any_of(ground.begin(), ground.end(), [](double share) { return share > 0 && share < 1; });
}

}  // namespace

void expect_same_cells(const Problem& a, const Problem& b) {
  if (a.mesh.easting() != b.mesh.easting() || a.mesh.northing() != b.mesh.northing() ||
      a.mesh.up() != b.mesh.up())
    throw InputError("joint inversion", "the two problems have different meshes",
                     "Give both jobs the same table [mesh].");
  const auto ground = [](const Problem& p) {
    return p.ground_key.empty() ? "the top of the mesh" : p.ground_key;
  };
  for (const auto& [whole, other] : {std::pair{&a, &b}, {&b, &a}})
    if (whole->whole_cells && cuts_cells(other->ground))
      throw InputError(
          "joint inversion",
          fmt::format("{} cuts cells, and electromagnetic fields take whole ones", ground(*other)),
          "Lay the ground along faces of cells; or give all the same inversion.topography or "
          "inversion.active_file, and model.topography to the electromagnetic simulation alone, as "
          "[model.NAME].");
  if (a.ground != b.ground && !a.whole_cells && !b.whole_cells)
    throw InputError("joint inversion",
                     fmt::format("the two problems have two grounds: {}, and {}", ground(a), ground(b)),
                     "Name the ground once, as model.topography, from which all take it.");
  if (a.active != b.active)
    throw InputError(
        "joint inversion", "the two problems have different active cells",
        "Name the ground once, as model.topography, or give all the same inversion.active_file.");
}

void expect_joinable(const Settings& settings) {
  if (settings.posterior || !settings.norms.square())
    throw InputError("joint inversion", "standard deviations and sparse norms are of one model alone",
                     "Leave posterior = false and norms = [2, 2, 2, 2].");
}

namespace {

/// The models of a joint inversion, and the values of the two coupling terms for each pair.
class Group {
 public:
  Group(const std::vector<const Problem*>& problems, const std::vector<const Settings*>& settings,
        const JointSettings& joint, Progress* progress, Keeper* keeper)
      : problems_(problems), settings_(settings), joint_(joint), progress_(progress), keeper_(keeper) {}
  JointOutcome all();

 private:
  enum Term { structure, rocks };  ///< the coupling terms
  std::size_t size() const { return problems_.size(); }
  double weight(Term term) const { return term == structure ? joint_.coupling : joint_.rocks; }
  const std::vector<double>& model(std::size_t p) const { return out_.together[p].model; }
  /// The coupling of model p to another model, which is constant.
  std::shared_ptr<const Coupling> form(Term term, std::size_t p, std::size_t other, double factor) const;
  double& apart(Term term, std::size_t p, std::size_t q) {
    return apart_[term][std::min(p, q) * size() + std::max(p, q)];
  }
  void measure_apart();
  /// The mean of a term over all pairs that have it, each relative to its value for the separate inversions.
  double mean_of_pairs(Term term);
  void expect_numbers(const Outcome& found, std::size_t p) const;
  double renew(std::size_t p);
  void step();
  bool settled() const { return out_.converged || std::cmp_equal(out_.rounds.size(), joint_.most_rounds); }
  void save_state();
  void restore(const State& from);
  template <class Self, class Field>
  static void fields(Self& g, const Field& field) {
    field("apart", g.out_.apart);
    field("together", g.out_.together);
    field("rounds", g.out_.rounds);
    field("change", g.change_);
  }

  const std::vector<const Problem*>& problems_;
  const std::vector<const Settings*>& settings_;
  const JointSettings& joint_;
  Progress* progress_;
  Keeper* keeper_;
  std::optional<State> last_;
  std::array<std::vector<double>, 2> apart_;
  std::vector<double> norm_;
  std::vector<double> change_;  ///< changes of the models computed so far in this round
  JointOutcome out_;
};

std::shared_ptr<const Coupling> Group::form(Term term, std::size_t p, std::size_t other,
                                            double factor) const {
  const auto& first = *problems_[0];
  if (term == structure)
    return std::make_shared<const CrossGradient>(first.mesh, first.active, model(other), factor,
                                                 settings_[other]->threads);
  return std::make_shared<const SharedMixture>(first.mesh, first.active, joint_.of[p], model(other),
                                               joint_.of[other], factor);
}

void Group::measure_apart() {
  out_.together = out_.apart;
  norm_.clear();
  for (const auto& one : out_.apart) norm_.push_back(one.phi_m.sum());
  bool any = false;
  for (const auto term : {structure, rocks}) {
    apart_[term].assign(size() * size(), 0.0);
    if (term == rocks && joint_.of.empty()) continue;
    for (std::size_t p = 0; p < size(); ++p)
      for (std::size_t q = p + 1; q < size(); ++q) {
        apart(term, p, q) = form(term, p, q, 1)->value(model(p));
        any = any || (weight(term) > 0 && apart(term, p, q) > 0);
      }
  }
  out_.cross_gradient = mean_of_pairs(structure);
  out_.unlike_shares = mean_of_pairs(rocks);
  out_.converged = !any;  // no couplings: all models but one are uniform, or λ = μ = 0
}

double Group::mean_of_pairs(Term term) {
  double sum = 0;
  int pairs = 0;
  for (std::size_t p = 0; p < size(); ++p)
    for (std::size_t q = p + 1; q < size(); ++q) {
      if (!(apart(term, p, q) > 0)) continue;
      sum += form(term, p, q, 1)->value(model(p)) / apart(term, p, q);
      ++pairs;
    }
  return pairs > 0 ? sum / pairs : 0;
}

/// Throws InputError if model p has a value that is not finite.
void Group::expect_numbers(const Outcome& found, std::size_t p) const {
  if (std::isfinite(largest_size(found.model))) return;
  throw InputError(
      fmt::format("joint inversion: model {} of {}", p + 1, size()),
      fmt::format("after {} rounds it has a cell that is no number", out_.rounds.size()),
      "Look for one in its reference, bounds and weights; a smaller joint.coupling changes models less.");
}

/// Computes one model again with the others constant; returns its change relative to its largest value.
double Group::renew(std::size_t p) {
  Problem coupled = *problems_[p];
  for (const auto term : {structure, rocks})
    for (std::size_t q = 0; q < size(); ++q)
      if (q != p && weight(term) > 0 && apart(term, p, q) > 0)
        coupled.couplings.push_back(form(term, p, q, weight(term) * norm_[p] / apart(term, p, q)));
  if (coupled.forward) coupled.start = model(p);
  auto found = invert(coupled, *settings_[p], {}, progress_);
  auto difference = found.model;
  for (std::size_t c = 0; c < difference.size(); ++c) difference[c] -= model(p)[c];
  expect_numbers(found, p);
  out_.together[p] = std::move(found);
  return largest_size(difference) / std::max(largest_size(model(p)), 1e-300);
}

/// Computes the next model again; the last one completes the round.
void Group::step() {
  change_.push_back(renew(change_.size()));
  if (change_.size() < size()) return;
  JointRound line{mean_of_pairs(structure), mean_of_pairs(rocks), std::move(change_)};
  change_.clear();
  out_.cross_gradient = line.cross_gradient;
  out_.unlike_shares = line.unlike_shares;
  out_.converged = largest_size(line.change) <= joint_.tolerance;
  out_.rounds.push_back(std::move(line));
}

void Group::save_state() {
  if (keeper_ == nullptr || !keeper_->keeps()) return;
  State s;
  fields(*this, PutState(s));
  s.steps = out_.apart.size() + out_.rounds.size() * size() + change_.size();
  last_ = std::move(s);
  if (!keeper_->due()) return;
  keeper_->write(*last_);
  last_.reset();
}

void Group::restore(const State& from) {
  fields(*this, TakeState(from));
  auto &apart = out_.apart, &together = out_.together;
  const bool all = apart.size() == size() && together.size() == size();
  if (apart.size() > size() || !(together.empty() || all) || change_.size() >= size()) refuse_checkpoint();
  for (const auto* outcomes : {&apart, &together})
    for (std::size_t p = 0; p < outcomes->size(); ++p)
      if ((*outcomes)[p].model.size() != problems_[p]->columns()) refuse_checkpoint();
  for (const auto& round : out_.rounds)
    if (round.change.size() != size()) refuse_checkpoint();
  if (together.empty()) return;
  auto kept = std::move(together);
  measure_apart();
  together = std::move(kept);
  if (out_.rounds.empty()) return;
  out_.cross_gradient = out_.rounds.back().cross_gradient;
  out_.unlike_shares = out_.rounds.back().unlike_shares;
  out_.converged = largest_size(out_.rounds.back().change) <= joint_.tolerance;
}

JointOutcome Group::all() {
  if (keeper_ != nullptr)
    if (const auto from = keeper_->begin()) restore(*from);
  try {
    while (out_.apart.size() < size()) {
      const std::size_t p = out_.apart.size();
      out_.apart.push_back(invert(*problems_[p], *settings_[p], {}, progress_));
      expect_numbers(out_.apart.back(), p);
      save_state();
    }
    if (out_.together.empty()) measure_apart();
    while (!settled()) {
      step();
      save_state();
    }
  } catch (const Cancelled&) {
    if (keeper_ != nullptr && last_) keeper_->keep_last(*last_);
    throw;
  }
  for (std::size_t p = 0; p < size(); ++p) out_.together[p].apart = out_.apart[p].model;
  if (!out_.converged && !out_.rounds.empty())
    out_.warnings.push_back(fmt::format("after {} rounds the models still change, by {:.2g} of their largest",
                                        out_.rounds.size(), largest_size(out_.rounds.back().change)));
  return std::move(out_);
}

}  // namespace

JointOutcome invert_jointly(const std::vector<const Problem*>& problems,
                            const std::vector<const Settings*>& settings, const JointSettings& joint,
                            Progress* progress, Keeper* keeper) {
  if (problems.size() < 2 || settings.size() != problems.size())
    throw ShapeError("joint inversion", "it takes two problems or more, and settings for each");
  for (const auto& [name, weight] : {std::pair{"coupling", joint.coupling}, {"rocks", joint.rocks}})
    if (!(weight >= 0) || !std::isfinite(weight))
      throw InputError(fmt::format("joint inversion: {}", name), "it must be zero or more");
  if (joint.rocks > 0 && joint.of.size() != problems.size())
    throw ShapeError("joint inversion", "it takes the properties of two rocks for each problem");
  if (joint.rocks > 0)
    for (const auto& rocks : joint.of)
      if (!(std::fabs(rocks.second - rocks.first) > 0))
        throw InputError("joint inversion: rocks", "the two rocks are alike");
  for (const auto* other : problems) expect_same_cells(*problems[0], *other);
  for (const auto* one : settings) expect_joinable(*one);
  return Group(problems, settings, joint, progress, keeper).all();
}

}  // namespace terrane::inversion
