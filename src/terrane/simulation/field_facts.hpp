// What a checkpoint is for and what a report says of the settings of a problem, from its list of fields
// (job/fields.hpp).
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/job/fields.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/report.hpp"

namespace terrane {

/// Visitor: one determinant for each key, and one hash for each group of fields that are carried.
class FingerprintFields {
 public:
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) {
    if constexpr (std::is_same_v<Rule, CarriedField>) group(rule.group).push_back(numbers_of(value));
    else settings_.push_back({std::string(name), text_of(value, rule)});
  }
  /// With the program in front.
  Fingerprint all() const;

 private:
  using Columns = std::vector<std::span<const double>>;
  Columns& group(std::string_view name);
  std::span<const double> numbers_of(const std::vector<double>& values) const { return values; }
  template <class T>
  std::span<const double> numbers_of(const std::vector<T>& values) {
    return copies_.emplace_back(values.begin(), values.end());
  }
  std::span<const double> numbers_of(const TensorMesh& mesh);
  std::span<const double> numbers_of(double value) { return copies_.emplace_back(1, value); }
  template <class T>
  static std::string text_of(const T& value, const WordField& rule) {
    return std::string(rule.words[static_cast<std::size_t>(value)]);
  }
  static std::string text_of(double value, const NumberField& rule);
  template <class T>
  static std::string text_of(const T& value, const CountField&) {
    return std::to_string(value);
  }
  static std::string text_of(bool value, const FlagField&) { return value ? "true" : "false"; }

  std::vector<std::pair<std::string, Columns>> groups_;
  Fingerprint settings_;
  std::deque<std::vector<double>> copies_;  // they do not move
};

template <class Problem>
Fingerprint fingerprint_of(const Problem& problem) {
  FingerprintFields list;
  Problem::fields(problem, list);
  return list.all();
}

/// Visitor: every number and word among the keys as a fact of the report, without a line for people.
class ReportFields {
 public:
  explicit ReportFields(RunFacts& facts) : facts_(facts) {}
  void operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                  std::string_view = {}) const;
  template <class T>
  void operator()(std::string_view name, const T& value, const CountField&, std::string_view,
                  std::string_view = {}) const {
    facts_.add(std::string(name), static_cast<std::uint64_t>(value));
  }
  template <class T>
  void operator()(std::string_view name, const T& value, const WordField& rule, std::string_view,
                  std::string_view = {}) const {
    facts_.add(std::string(name), std::string(rule.words[static_cast<std::size_t>(value)]));
  }
  void operator()(std::string_view name, bool value, const FlagField&, std::string_view,
                  std::string_view = {}) const {
    facts_.add(std::string(name), value);
  }
  template <class T>
  void operator()(std::string_view, const T&, const CarriedField&) const {}

 private:
  RunFacts& facts_;
};

template <class Problem>
void report_fields(const Problem& problem, RunFacts& facts) {
  ReportFields report(facts);
  Problem::fields(problem, report);
}

}  // namespace terrane
