#include "terrane/simulation/stated_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

constexpr double of_neighbours = 0.5;  // least error of a datum, relative to that of its neighbours
constexpr double most_counted = 3;  // limit of relative errors in means, which data near zero would dominate
constexpr double told_as_number = StatedErrors::largest_told;

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

Accuracy errors_counted(const Config& table, bool states_some, bool plans_mesh) {
  Accuracy asked;
  const auto verify = table.has("verify") ? table.choice("verify", verify_names) : std::string("off");
  const auto at = std::find(verify_names.begin(), verify_names.end(), verify);
  asked.verify = static_cast<Verify>(at - verify_names.begin());
  for (const char* key : {"verify", "accuracy", "most_cells"})
    if (!states_some && table.has(key) && (asked.states_errors() || key != std::string_view("verify")))
      throw table.wrong(key, "this inversion states no errors of its mesh", "Leave the key out.");
  if (table.has("accuracy"))
    throw table.wrong(
        "accuracy", "an inversion asks of its mesh what the data's uncertainties do",
        "Leave the key out; verify = \"estimate\" counts errors of the mesh beside those of data.");
  if (asked.verify == Verify::refine && !plans_mesh)
    throw table.wrong("verify", "the mesh is given, and its cells are what is found",
                      "Leave [mesh] out, so that it is planned, or take \"estimate\".");
  if (!table.has("most_cells")) return asked;
  if (asked.verify != Verify::refine)
    throw table.wrong("most_cells", "no finer meshes are asked for",
                      "Leave the key out, or verify = \"refine\".");
  asked.most_cells = table.count("most_cells", 1, std::uint64_t{1} << 40);
  return asked;
}

void refuse_errors_of_waves(const Config& table, const std::string& next) {
  for (const char* key : {"verify", "accuracy", "most_cells"})
    if (table.has(key)) throw table.wrong(key, "waves state no error of their mesh, and refine none", next);
}

namespace {

/// Raises the least error of each datum to the mean (rms) error of its neighbours in the same group.
void raise_by_those_alike(const JudgedData& data, const std::vector<double>& relative,
                          std::vector<double>& floor) {
  std::map<std::size_t, std::size_t> last;  // index of the last datum of each group
  std::vector<double> sum(floor.size(), 0.0), count(floor.size(), 0.0);
  const auto add = [&](std::size_t to, std::size_t from) {
    sum[to] += std::pow(std::min(relative[from], most_counted), 2);
    ++count[to];
  };
  for (std::size_t n = 0; n < data.alike.size(); ++n) {
    if (!std::isfinite(relative[n])) continue;
    const auto [before, is_first] = last.try_emplace(data.alike[n], n);
    if (is_first) continue;
    add(n, before->second), add(before->second, n);
    before->second = n;
  }
  for (std::size_t n = 0; n < floor.size(); ++n)
    if (count[n] > 0) floor[n] = std::max(floor[n], std::sqrt(sum[n] / count[n]));
}

}  // namespace

std::vector<double> StatedErrors::of(const JudgedData& data) {
  const std::size_t count = data.difference.size();
  std::vector<double> relative(count), floor(count, data.least);
  for (std::size_t n = 0; n < data.floor.size(); ++n) floor[n] = std::max(floor[n], data.floor[n]);
  std::map<std::size_t, std::vector<std::size_t>> of_source;
  for (std::size_t n = 0; n < count; ++n) {
    relative[n] = data.difference[n] / data.scale[n];
    if (std::isfinite(relative[n])) of_source[data.source[n]].push_back(n);
  }
  for (const auto& [source, members] : of_source) {
    const auto capped = [&, &numbers = members](std::size_t m) {
      return std::min(relative[numbers[m]], most_counted);
    };
    double sum = 0;
    for (std::size_t m = 0; m < members.size(); ++m) sum += std::pow(capped(m), 2);
    const double mean = std::sqrt(sum / static_cast<double>(members.size()));
    for (std::size_t m = 0; m < members.size(); ++m) {
      double least = data.of_mean * mean;
      if (data.in_order)
        least =
            of_neighbours * std::max(m > 0 ? capped(m - 1) : 0, m + 1 < members.size() ? capped(m + 1) : 0);
      floor[members[m]] = std::max(floor[members[m]], least);
    }
  }
  raise_by_those_alike(data, relative, floor);
  std::vector<double> errors;
  for (std::size_t n = 0; n < count; ++n) {
    if (!std::isfinite(relative[n])) {
      errors.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const double e = std::max(relative[n], floor[n]);
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
