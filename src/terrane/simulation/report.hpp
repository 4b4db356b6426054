// What a run would do (Plan) and what it did (Report), in words and numbers that can be shown without knowing
// the physics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace terrane {

/// A fact about a run that only some physics report, with its name in Python and, if users should see it, a
/// line of text.
struct NamedValue {
  using Value = std::variant<std::uint64_t, double, bool, std::string, std::map<std::string, double>>;

  std::string name;  ///< "singular_stations"
  Value value;
  std::string unit;   ///< SI; empty: a count, a ratio or words
  std::string label;  ///< label in front of the line, "singular"; empty: no line
  std::string text;   ///< text of the line; empty: the value and its unit
};

/// What Plan and Report share.
struct RunFacts {
  std::string problem;  ///< "62,500 sources at 441 stations"
  std::string method;   ///< "tree", "explicit"
  std::string reason;   ///< why this method was chosen
  std::string device;   ///< "cpu (AVX-512, 16 threads)"
  double seconds = 0;   ///< wall time of the computation; in a plan the expected one, or 0 if not estimated
  std::size_t memory_bytes = 0;  ///< planned working memory
  double work = 0;               ///< number of work units of the run; 0: the report has no speed
  std::string work_unit;         ///< "pairs"
  std::vector<NamedValue> values;
  std::vector<std::string> notes, warnings;

  void add(std::string name, NamedValue::Value value, std::string unit = {}, std::string label = {},
           std::string text = {}) {
    values.push_back({std::move(name), std::move(value), std::move(unit), std::move(label), std::move(text)});
  }
  /// The fact of this name; null if there is none.
  const NamedValue* find(std::string_view name) const;
  /// A fact that is a count, number or flag, as a number. Throws an InputError that lists the names if there
  /// is none.
  double number(std::string_view name) const;
  /// The lines of all facts that have one: (label, text).
  std::vector<std::pair<std::string, std::string>> lines() const;
};

/// The method and expected cost of a run, known before it starts.
struct Plan : RunFacts {
  std::size_t memory_available = 0;

  /// The plan as text, one item per line.
  std::string text() const;
};

/// Statistics of the residuals of one field: residual = observed - computed.
struct Misfit {
  std::string field, unit;
  std::size_t count = 0;     ///< stations that have an observation
  double mean = 0, rms = 0;  ///< mean and root mean square of the residual, in `unit`
  std::size_t weighted = 0;  ///< stations whose observation has an uncertainty above zero
  double chi_squared = 0;    ///< sum of (residual / uncertainty)² over the weighted stations
};

/// What a run did.
struct Report : RunFacts {
  std::vector<Misfit> misfits;  ///< one per observed field

  /// The report as text, one item per line, without the warnings. The memory in it is the peak of this
  /// process.
  std::string text() const;
};

/// A number with separators: 1234567 → "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace terrane
