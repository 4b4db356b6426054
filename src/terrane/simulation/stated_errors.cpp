#include "terrane/simulation/stated_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

constexpr double of_neighbours = 0.5;  // a datum's error is at least this part of its source's rms error
constexpr double most_counted = 3;     // in that rms: a datum at a zero crossing is not to rule all others
/// What sampling, walls and residuals may leave where both meshes agree.
constexpr double least = 1e-4;
/// Above it two meshes show no more than that the first is too coarse.
constexpr double told_as_number = 0.2;

double quantile(std::vector<double> values, double part) {
  const auto n = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), values.end());
  return values[n];
}

std::string share_text(double error) {
  return error > told_as_number ? fmt::format("> {:g} %", 100 * told_as_number)
                                : fmt::format("{:.2g} %", 100 * error);
}

std::string number_text(double error) {
  return error > told_as_number ? fmt::format("> {:g}", told_as_number) : fmt::format("{:.2g}", error);
}

}  // namespace

void refuse_accuracy(const Config& table) {
  for (const char* key : {"verify", "accuracy", "most_cells"})
    if (table.has(key))
      throw table.wrong(
          key, "inversions state no errors of their meshes",
          "Leave the key out; a job without [inversion] and verify = \"estimate\" states them.");
}

std::vector<double> StatedErrors::of(const JudgedData& data) {
  std::map<std::size_t, std::pair<double, double>> squares;  // of a source: their sum, and how many
  const auto relative = [&](std::size_t n) { return data.difference[n] / data.scale[n]; };
  for (std::size_t n = 0; n < data.difference.size(); ++n) {
    const double e = relative(n);
    if (!std::isfinite(e)) continue;
    auto& [sum, count] = squares[data.source[n]];
    sum += std::pow(std::min(e, most_counted), 2);
    count += 1;
  }
  std::vector<double> errors;
  for (std::size_t n = 0; n < data.difference.size(); ++n) {
    if (!std::isfinite(relative(n))) {
      errors.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto& [sum, count] = squares.at(data.source[n]);
    const double e = std::max({relative(n), of_neighbours * std::sqrt(sum / count), least});
    errors.push_back(e * data.scale[n]);
    relative_.push_back(e);
    if (!(e > accuracy_.accuracy)) continue;
    if (above_++ == 0)
      first_above_ = fmt::format("{} of {} has an error of {}", data.name, data.place(n), share_text(e));
  }
  return errors;
}

double StatedErrors::at_95() const {
  return why_none_.empty() && !relative_.empty() ? quantile(relative_, 0.95)
                                                 : std::numeric_limits<double>::quiet_NaN();
}

void StatedErrors::tell(Result& result, double companion_seconds, double seconds) const {
  auto& report = result.report;
  result.attributes["accuracy"] = fmt::format("{:g}", accuracy_.accuracy);
  if (!why_none_.empty() || relative_.empty()) {
    const auto why = why_none_.empty() ? "there are no data" : why_none_;
    result.attributes["error_from"] = "not resolved";
    report.add("error_from", std::string("not resolved"), "", "error", "not stated: " + why);
    report.warnings.push_back("no error is stated: " + why);
    return;
  }
  const double median = quantile(relative_, 0.5), most = quantile(relative_, 0.95),
               worst = *std::max_element(relative_.begin(), relative_.end()),
               share = static_cast<double>(above_) / static_cast<double>(relative_.size());
  const std::string from = "cells and walls";
  result.attributes["error_50"] = number_text(median);
  result.attributes["error_95"] = number_text(most);
  result.attributes["error_max"] = number_text(worst);
  result.attributes["error_share_above"] = fmt::format("{:.3g}", share);
  result.attributes["error_from"] = from;
  report.add("error_95", most, "", "error",
             fmt::format("{} at 95 % of data (asked {:g} %), {} in the median, by {}; companion {:.2g} s of "
                         "{:.2g} s",
                         share_text(most), 100 * accuracy_.accuracy, share_text(median), from,
                         companion_seconds, seconds));
  report.add("error_50", median);
  report.add("error_max", worst);
  report.add("error_share_above", share);
  report.add("error_from", from);
  report.add("companion_seconds", companion_seconds, "s");
  if (above_ > 0)
    report.warnings.push_back(
        fmt::format("{}, where {:g} % is asked for; {} of {} data have more than that: take smaller cells",
                    first_above_, 100 * accuracy_.accuracy, above_, relative_.size()));
}

Column error_column(const Column& of, std::vector<double> errors) {
  return {of.name + "_error", of.unit, "error of " + of.description, std::move(errors), of.single};
}

}  // namespace terrane
