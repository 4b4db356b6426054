#include "terrane/simulation/refining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/memory.hpp"

namespace terrane {

namespace {

constexpr double aimed_at = 0.6;  // a round aims at this fraction of the accuracy: estimates are rough
constexpr double narrowest = 0.35, widest = 1.15;
// Largest ratio of the cells of a round to those of the last one: large errors predict the necessary number
// poorly.
constexpr double most_at_once = 6;
constexpr double little = 0.9;         // rounds end if a round leaves more than this fraction of the error
constexpr double most_foretold = 1e3;  // largest growth factor of cells that is predicted

/// The factors fₐ of cell widths (refining.hpp) with eₐ fₐ² equal on all axes and Σ eₐ fₐ² = left, within
/// their bounds: if one is at a bound, the others are adapted. errors: eₐ.
std::array<double, 3> factors_of(const std::array<double, 3>& errors, double left) {
  std::array<double, 3> factor{};
  std::array<bool, 3> bound{};
  for (int turn = 0; turn < 3; ++turn) {
    double rest = left;
    int free = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (bound[a]) rest -= errors[a] * factor[a] * factor[a];
      else ++free;
    }
    if (free == 0) break;
    bool changed = false;
    for (std::size_t a = 0; a < 3; ++a) {
      if (bound[a]) continue;
      const double wanted = std::sqrt(std::max(rest, 0.0) / free / std::max(errors[a], 1e-300));
      factor[a] = std::clamp(wanted, narrowest, widest);
      if (wanted > widest) bound[a] = changed = true;
    }
    if (!changed) break;
  }
  return factor;
}

}  // namespace

double most_times(std::uint64_t cells, std::uint64_t most_cells) {
  constexpr double room_for_walls = 0.75, worth_it = 1.5;
  const double times = room_for_walls * static_cast<double>(most_cells) / static_cast<double>(cells);
  return times < worth_it ? most_at_once : std::min(most_at_once, times);
}

FinerWish finer_wish(const ErrorShares& shares, double error, double accuracy, double most) {
  // The contributions are those of wider cells, and may cancel in the sum: they are scaled to the total error
  // that the run itself states.
  auto cells = shares.cells;
  const double all = cells[0] + cells[1] + cells[2] + shares.walls;
  const double sum = std::isfinite(all) ? all : 0;  // counts as 0 if a companion did not converge
  const double scale = sum > 0 ? std::clamp(error / sum, 0.5, 1e3) : 1;
  for (double& e : cells) e = sum > 0 ? e * scale : error / 3;
  FinerWish wish;
  const double of_walls = sum > 0 ? shares.walls * scale : 0;
  wish.walls = of_walls > 0.3 * accuracy;
  // With boundaries at twice the distance, a quarter of the error due to boundaries is assumed to remain.
  const double left = aimed_at * accuracy - (wish.walls ? 0.25 : 1) * of_walls;
  wish.factor = factors_of(cells, std::max(left, 0.3 * accuracy));
  const auto& f = wish.factor;
  if (const double times = 1 / (f[0] * f[1] * f[2]); times > most)
    for (double& factor : wish.factor) factor = std::pow(factor, std::log(most) / std::log(times));
  return wish;
}

void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  for (const auto& line : more)
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

bool Rounds::goes_on() {
  const auto& last = all_.back();
  if (accuracy_.verify != Verify::refine || kept()) return false;
  if (std::isnan(last.error)) why_ = "no error can be stated";
  else if (all_.size() > most) why_ = fmt::format("that were {} rounds", most);
  else if (all_.size() > 1 && last.error > little * all_[all_.size() - 2].error)
    why_ = "the last round gained less than a tenth: it is not the width of cells that limits";
  return why_.empty();
}

bool Rounds::takes(const Round& next) {
  if (next.cells > accuracy_.most_cells)
    why_ = fmt::format("the next mesh has {} cells, and simulation.most_cells is {}", grouped(next.cells),
                       grouped(accuracy_.most_cells));
  return why_.empty();
}

void Rounds::come_from(const ErrorShares& shares, const FinerWish& next) {
  const auto percent = [](double e) { return fmt::format("{:.2g} %", 100 * e); };
  from_.push_back(fmt::format(
      "errors on {} cells: {} by cells along easting, {} along northing, {} upwards, {} by {}; the next are "
      "{:.2f}, {:.2f} and {:.2f} times as wide",
      grouped(all_.back().cells), percent(shares.cells[0]), percent(shares.cells[1]),
      percent(shares.cells[2]), percent(shares.walls), shares.of_steps ? "steps" : "walls", next.factor[0],
      next.factor[1], next.factor[2]));
}

void Rounds::tell(Result& result) const {
  if (accuracy_.verify != Verify::refine) return;
  auto& report = result.report;
  const auto share = [](double e) {
    return std::isnan(e) ? std::string("no error is stated") : fmt::format("{:.2g} %", 100 * e);
  };
  std::string line;
  for (const auto& round : all_)
    line +=
        fmt::format("{}{} on {} cells", line.empty() ? "" : ", ", share(round.error), grouped(round.cells));
  line += fmt::format("; {:.2g} s, {:.2g} times the first solve", seconds_, seconds_ / all_.front().seconds);
  report.add("error_kept", kept(), "", "refined",
             fmt::format("{}: {}",
                         kept() ? fmt::format("{:g} % is kept", 100 * accuracy_.accuracy)
                                : fmt::format("{:g} % is not kept", 100 * accuracy_.accuracy),
                         line));
  report.notes.insert(report.notes.end(), from_.begin(), from_.end());
  report.add("rounds", std::uint64_t{all_.size() - 1});
  report.add("rounds_seconds", seconds_, "s");
  result.attributes["error_kept"] = kept() ? "true" : "false";
  if (kept()) return;
  const auto& last = all_.back();
  if (!std::isfinite(last.error)) {
    report.warnings.push_back(fmt::format("asked {:g} %, and no error can be stated: nothing was refined",
                                          100 * accuracy_.accuracy));
    return;
  }
  const double times = std::min(std::pow(last.error / (aimed_at * accuracy_.accuracy), 1.5), most_foretold);
  report.warnings.push_back(fmt::format(
      "asked {:g} %, kept {} (95 % of data): {}; one more round would take about {:.2g} cells, {} and {:.2g} "
      "s. "
      "Take a larger accuracy, more of simulation.most_cells, or smaller cells (mesh.cell)",
      100 * accuracy_.accuracy, share(last.error), why_.empty() ? "rounds ended" : why_,
      times * static_cast<double>(last.cells), bytes_text(times * last.memory), times * last.seconds));
}

}  // namespace terrane
