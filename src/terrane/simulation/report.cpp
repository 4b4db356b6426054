#include "terrane/simulation/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

struct ValueText {
  std::string operator()(std::uint64_t count) const { return fmt::format("{}", count); }
  std::string operator()(double number) const { return fmt::format("{:.3g}", number); }
  std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
  std::string operator()(const std::string& words) const { return words; }
  std::string operator()(const std::map<std::string, double>& numbers) const {
    std::string text;
    for (const auto& [name, number] : numbers)
      text += fmt::format("{}{} {:.1e}", text.empty() ? "" : ", ", name, number);
    return text;
  }
};

/// Lines of text, each with a label in front.
class Lines {
 public:
  void add(std::string_view what, const std::string& text) {
    if (!text.empty()) lines_ += fmt::format("  {:<10} {}\n", what, text);
  }
  void add(std::string_view what, const std::vector<std::string>& texts) {
    for (const auto& text : texts) add(what, text);
  }
  void add(const RunFacts& facts) {
    for (const auto& [label, text] : facts.lines()) add(label, text);
  }
  std::string take() { return std::move(lines_); }

 private:
  std::string lines_;
};

std::string misfit_text(const Misfit& misfit) {
  auto text = fmt::format("{}: rms {:.4g}, mean {:.4g} {} of {} data", misfit.field, misfit.rms, misfit.mean,
                          misfit.unit, grouped(misfit.count));
  if (misfit.weighted)
    text += fmt::format("; chi-squared {:.4g} of {}", misfit.chi_squared, grouped(misfit.weighted));
  return text;
}

std::string with_reason(const RunFacts& facts) {
  return facts.reason.empty() ? facts.method : fmt::format("{}: {}", facts.method, facts.reason);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

const NamedValue* RunFacts::find(std::string_view name) const {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const NamedValue& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

double RunFacts::number(std::string_view name) const {
  const auto* found = find(name);
  if (found) {
    if (const auto* count = std::get_if<std::uint64_t>(&found->value)) return static_cast<double>(*count);
    if (const auto* number = std::get_if<double>(&found->value)) return *number;
    if (const auto* flag = std::get_if<bool>(&found->value)) return *flag ? 1 : 0;
  }
  std::vector<std::string_view> names;
  for (const auto& value : values)
    if (!std::holds_alternative<std::string>(value.value)) names.push_back(value.name);
  throw InputError("report", fmt::format("it has no number \"{}\".{}", name, did_you_mean(name, names)),
                   fmt::format("There are: {}.", joined(names)));
}

std::vector<std::pair<std::string, std::string>> RunFacts::lines() const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& value : values) {
    if (value.label.empty()) continue;
    std::string text = value.text.empty() ? std::visit(ValueText{}, value.value) : value.text;
    if (value.text.empty() && !value.unit.empty()) text += " " + value.unit;
    lines.emplace_back(value.label, std::move(text));
  }
  return lines;
}

std::string Plan::text() const {
  Lines lines;
  lines.add(*this);
  lines.add("memory", fmt::format("{} of {} available", bytes_text(static_cast<double>(memory_bytes)),
                                  bytes_text(static_cast<double>(memory_available))));
  if (seconds > 0) lines.add("time", seconds < 0.1 ? "less than 0.1 s" : "about " + duration_text(seconds));
  lines.add("method", with_reason(*this));
  lines.add("device", device);
  lines.add("note", notes);
  lines.add("warning", warnings);
  return lines.take();
}

std::string Report::text() const {
  Lines lines;
  lines.add("of", problem);
  lines.add("on", device);
  lines.add("method", with_reason(*this));
  auto time = fmt::format("{:.3g} s", seconds);
  // `work` counts the whole problem, but a resumed run computed only a part of it in these seconds.
  const bool resumed = std::any_of(notes.begin(), notes.end(),
                                   [](const std::string& note) { return note.starts_with("resumed from"); });
  if (work > 0 && !resumed)
    time += fmt::format(", {:.3g} {} per second", seconds > 0 ? work / seconds : 0.0, work_unit);
  lines.add("time", time);
  lines.add("memory", bytes_text(static_cast<double>(peak_memory())));
  lines.add("note", notes);
  for (const auto& misfit : misfits) lines.add("misfit", misfit_text(misfit));
  lines.add(*this);
  return lines.take();
}

}  // namespace terrane
