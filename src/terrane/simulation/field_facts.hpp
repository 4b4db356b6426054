// The fingerprint of a problem for checkpoints, and the entries of a report on its settings, both from the
// problem's list of fields (job/fields.hpp).
#pragma once

#include <deque>
#include <ranges>
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

/// Appends a value as numbers. Members that do not affect the bits of results are omitted, unless all = true.
template <class T>
void add_numbers(const T& value, std::vector<double>& numbers, bool all = false);

/// Visitor of a problem's fields: appends, by add_numbers(), every field that is sent to ranks.
class NumbersOfFields {
 public:
  NumbersOfFields(std::vector<double>& numbers, bool all) : numbers_(numbers), all_(all) {}
  template <class T, class Rule>
  void operator()(std::string_view, const T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) const {
    if constexpr (std::is_same_v<Rule, HereField>) return;
    else if (all_ || decides_bits(rule)) add_numbers(value, numbers_, all_);
  }

 private:
  std::vector<double>& numbers_;
  bool all_;
};

template <class T>
void add_numbers(const T& value, std::vector<double>& numbers, bool all) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    numbers.push_back(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, TensorMesh>) {
    for (const auto* faces : {&value.easting(), &value.northing(), &value.up()})
      add_numbers(*faces, numbers, all);
  } else if constexpr (Listed<T>) {
    NumbersOfFields visit(numbers, all);
    T::fields(value, visit);
  } else if constexpr (!std::ranges::range<T>) {  // T is a struct of integers without padding bytes
    static_assert(std::has_unique_object_representations_v<T>);
    for (const auto byte : std::as_bytes(std::span(&value, 1))) numbers.push_back(static_cast<double>(byte));
  } else {  // T is a text, a vector or an array
    if constexpr (VectorOfValues<T>) numbers.push_back(static_cast<double>(value.size()));
    for (const auto& one : value) add_numbers(one, numbers, all);
  }
}

/// Visitor of a problem's fields: makes one determinant for each key, and one hash for each group of
/// carried() fields.
class FingerprintFields {
 public:
  /// before: a prefix of the names of settings
  explicit FingerprintFields(std::string before = {}) : before_(std::move(before)) {}
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) {
    if constexpr (std::is_same_v<Rule, TableField>) {
      const auto before = std::exchange(before_, rule.name.empty() ? before_ : std::string(rule.name) + ".");
      T::fields(value, *this);
      before_ = before;
    } else if constexpr (std::is_same_v<Rule, CarriedField> || std::is_same_v<Rule, ApartField>) {
      if (decides_bits(rule)) add_columns(value, group(rule.group));
    } else if constexpr (!std::is_same_v<Rule, HereField>) {
      if (decides_bits(rule)) settings_.push_back({before_ + std::string(name), text_of(value, rule)});
    }
  }
  /// The fingerprint: this_program() first, then all fields.
  Fingerprint all() const;

 private:
  using Columns = std::vector<std::span<const double>>;
  Columns& group(std::string_view name);
  /// Adds large columns by reference, other values as copies.
  template <class T>
  void add_columns(const T& value, Columns& columns) {
    if constexpr (ColumnOfNumbers<T>) return columns.push_back(value);
    else if constexpr (ListOfValues<T>)
      if constexpr (ColumnOfNumbers<typename fields_detail::ElementOf<T>::type> &&
                    VectorOfValues<typename fields_detail::ElementOf<T>::type>) {
        for (const auto& column : value) columns.push_back(column);
        return;
      }
    add_numbers(value, copies_.emplace_back());
    columns.push_back(copies_.back());
  }
  template <class T>
  static std::string text_of(const T& value, const WordField& rule) {
    return std::string(rule.bits[static_cast<std::size_t>(value)]);
  }
  static std::string text_of(double value, const NumberField& rule);
  template <class T>
  static std::string text_of(const T& value, const CountField&) {
    return std::to_string(value);
  }
  static std::string text_of(bool value, const FlagField&) { return value ? "true" : "false"; }

  std::vector<std::pair<std::string, Columns>> groups_;
  Fingerprint settings_;
  // Prefix of names: name of the job's table that contains the settings.
  std::string before_;
  std::deque<std::vector<double>> copies_;  // copies of values; a deque, so that references to its elements
                                            // stay valid
};

template <class... Problem>
Fingerprint fingerprint_of(const Problem&... problem) {
  FingerprintFields list;
  (Problem::fields(problem, list), ...);
  return list.all();
}

/// Adds the fields of problems to the fingerprint of a run that contains them (an inversion). table: the
/// job's table of their settings.
template <class... Problem>
void add_determinants(Fingerprint& fingerprint, std::string table, const Problem&... problem) {
  FingerprintFields list(std::move(table));
  (Problem::fields(problem, list), ...);
  const auto all = list.all();
  fingerprint.insert(fingerprint.end(), all.begin() + 1, all.end());  // all entries but the first, the
                                                                      // program, which the fingerprint has
                                                                      // already
}

/// Visitor of a problem's fields: adds every setting that is a number or a word to the report's facts,
/// without a line of text.
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
  void operator()(std::string_view, const T&, const CarriedField&, std::string_view = {},
                  std::string_view = {}) const {}
  template <class T>
  void operator()(std::string_view, const T& value, const TableField& rule) const {
    if (rule.name.empty()) T::fields(value, *this);
  }
  template <class T, WithoutKey Rule>
  void operator()(std::string_view, const T&, const Rule&) const {}

 private:
  RunFacts& facts_;
};

template <class Problem>
void report_fields(const Problem& problem, RunFacts& facts) {
  ReportFields report(facts);
  Problem::fields(problem, report);
}

}  // namespace terrane
