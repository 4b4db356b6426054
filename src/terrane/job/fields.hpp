// The settings of a problem, listed once.
//
// A plain struct with defaults says in one function template what its members are called, what they may be
// and what they mean:
//
//   struct Problem {
//     std::vector<double> conductivity;  // of cells
//     double end = 0, tolerance = 1e-12;
//     Method method = Method::automatic;
//
//     template <class Self, class Field>
//     static void fields(Self& p, Field& field) {
//       field("conductivity", p.conductivity, carried("cells"));
//       field("end", p.end, number(Quantity::time, positive).must_be_given(), "How long to compute.", "\"1
//       h\""); field("tolerance", p.tolerance, number(between(0, 1)), "Residual over right-hand side.");
//       field("method", p.method, one_of(method_names), "explicit, implicit, or auto.");
//     }
//   };
//
// A visitor is a class with a template operator() that takes such a line. From this list follow the keys of
// the job file with their defaults, units and ranges (keys_of), their reading, with errors at the right key
// (read_fields), the same check for a struct made in C++ or Python (check_fields), what ranks are sent
// (put_fields, get_fields), and, in simulation/field_facts.hpp, what a checkpoint is for and what a report
// says. A member that is not listed does not compile (every_member_is_a_field).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/units.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

// ------------------------------------------------------------------------------------------------ what a
// field may be

/// From least to most; `above` and `below`: these themselves not.
struct Allowed {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool above = false, below = false;

  constexpr bool holds(double value) const {  // false for NaN
    return std::isfinite(value) && (above ? value > least : value >= least) &&
           (below ? value < most : value <= most);
  }
  /// "more than 0 s and less than 1 s"; "any finite number".
  std::string text(std::string_view unit) const;
};
inline constexpr Allowed finite{};
inline constexpr Allowed positive{.least = 0, .above = true};
inline constexpr Allowed not_negative{.least = 0};
constexpr Allowed between(double least, double most) { return {least, most, true, true}; }

/// A number with a unit.
struct NumberField {
  enum class Without { takes_the_default, must_be_given, leaves_it_open };
  Quantity quantity = Quantity::dimensionless;
  Allowed allowed;
  Without without = Without::takes_the_default;

  constexpr NumberField must_be_given() const { return {quantity, allowed, Without::must_be_given}; }
  /// The default, a value outside of `allowed` such as 0 for a time, means that the program chooses.
  constexpr NumberField or_open() const { return {quantity, allowed, Without::leaves_it_open}; }
};
constexpr NumberField number(Quantity quantity, Allowed allowed) { return {quantity, allowed}; }
constexpr NumberField number(Allowed allowed) { return {Quantity::dimensionless, allowed}; }

/// A whole number.
struct CountField {
  std::uint64_t least, most;
};
constexpr CountField count(std::uint64_t least, std::uint64_t most) { return {least, most}; }

/// An enumerator: its word is at its place in `words`.
struct WordField {
  std::span<const std::string_view> words;
};
constexpr WordField one_of(std::span<const std::string_view> words) { return {words}; }

/// true or false.
struct FlagField {};
constexpr FlagField flag() { return {}; }

/// No key: it comes from other tables, such as the model. `group` is what a checkpoint calls it.
struct CarriedField {
  std::string_view group;
};
constexpr CarriedField carried(std::string_view group) { return {group}; }

// ------------------------------------------------------------------------------------------------ job files
// and checks

/// "time", "thermal conductivity": the type of a key, for people.
std::string_view type_of_key(Quantity quantity);

/// Visitor: keys with their defaults.
class KeyList {
 public:
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view help,
                  std::string_view example = {}) {
    add(name, value, rule, help, example);
  }
  template <class T>
  void operator()(std::string_view, const T&, const CarriedField&) {}

  /// A key that is no member of the struct, such as `physics`.
  void add(const Key& key) { keys_.push_back(key); }
  std::span<const Key> keys() const { return keys_; }

 private:
  void add(std::string_view name, double value, const NumberField& rule, std::string_view help,
           std::string_view example);
  template <class T>
  void add(std::string_view name, const T& value, const CountField&, std::string_view help,
           std::string_view example) {
    add({name, "count", keep(std::to_string(value)), help, example});
  }
  template <class T>
  void add(std::string_view name, const T& value, const WordField& rule, std::string_view help,
           std::string_view example) {
    add({name, "text", keep('"' + std::string(rule.words[static_cast<std::size_t>(value)]) + '"'), help,
         example});
  }
  void add(std::string_view name, bool value, const FlagField&, std::string_view help,
           std::string_view example) {
    add({name, "flag", value ? "true" : "false", help, example});
  }
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::vector<Key> keys_;
  std::deque<std::string> texts_;  // of defaults; they do not move
};

/// Visitor: takes the values of a table of the job file. Throws InputError at the key.
class ReadFields {
 public:
  explicit ReadFields(const Config& table) : table_(table) {}
  void operator()(std::string_view name, double& value, const NumberField& rule, std::string_view,
                  std::string_view = {}) const;
  template <class T>
  void operator()(std::string_view name, T& value, const CountField& rule, std::string_view,
                  std::string_view = {}) const {
    value = static_cast<T>(table_.count(name, rule.least, rule.most));
  }
  template <class T>
  void operator()(std::string_view name, T& value, const WordField& rule, std::string_view,
                  std::string_view = {}) const {
    value = static_cast<T>(place_of_word(name, rule));
  }
  void operator()(std::string_view name, bool& value, const FlagField&, std::string_view,
                  std::string_view = {}) const {
    value = table_.flag(name);
  }
  template <class T>
  void operator()(std::string_view, T&, const CarriedField&) const {}

 private:
  std::size_t place_of_word(std::string_view name, const WordField& rule) const;
  const Config& table_;
};

/// Visitor: throws InputError("heat: tolerance") at the first number that is not allowed.
class CheckFields {
 public:
  explicit CheckFields(std::string_view physics) : physics_(physics) {}
  void operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                  std::string_view = {}) const;
  template <class T>
  void operator()(std::string_view name, const T& value, const CountField& rule, std::string_view,
                  std::string_view = {}) const {
    check_count(name, static_cast<double>(value), rule);
  }
  template <class T, class Rule>
  void operator()(std::string_view, const T&, const Rule&, std::string_view = {},
                  std::string_view = {}) const {}

 private:
  void check_count(std::string_view name, double value, const CountField& rule) const;
  std::string_view physics_;
};

/// The keys of a struct, with the defaults of one just made; `more` stand before them. They live as long as
/// the program.
template <class Problem>
std::span<const Key> keys_of(std::initializer_list<Key> more = {}) {
  static const KeyList list = [&] {
    KeyList made;
    for (const auto& key : more) made.add(key);
    const Problem defaults{};
    Problem::fields(defaults, made);
    return made;
  }();
  return list.keys();
}

template <class Problem>
void read_fields(const Config& table, Problem& problem) {
  ReadFields read(table);
  Problem::fields(problem, read);
}

template <class Problem>
void check_fields(std::string_view physics, const Problem& problem) {
  CheckFields check(physics);
  Problem::fields(problem, check);
}

/// Visitor: whether the table has a key of this name.
class FindField {
 public:
  explicit FindField(std::string_view name) : name_(name) {}
  template <class T, class Rule>
  void operator()(std::string_view name, const T&, const Rule&, std::string_view = {},
                  std::string_view = {}) {
    found = found || (name == name_ && !std::is_same_v<Rule, CarriedField>);
  }
  bool found = false;

 private:
  std::string_view name_;
};

/// An error of check_fields() or of the physics about a field, "heat: step", as one at its key of the job
/// file, "job.toml:7: simulation.step"; any other error as it is.
template <class Problem>
[[noreturn]] void throw_at_its_key(const InputError& error, std::string_view physics, const Config& table) {
  const std::string_view where = error.where();
  if (where.size() > physics.size() + 2 && where.starts_with(physics)) {
    const auto name = where.substr(physics.size() + 2);
    FindField find(name);
    const Problem defaults{};
    Problem::fields(defaults, find);
    if (find.found) throw table.wrong(name, error.problem(), error.next());
  }
  throw error;
}

// ------------------------------------------------------------------------------------------------ ranks

/// Visitor: every member into a packet.
class PutFields {
 public:
  explicit PutFields(Packet& packet) : packet_(packet) {}
  template <class T, class Rule>
  void operator()(std::string_view, const T& value, const Rule&, std::string_view = {},
                  std::string_view = {}) const {
    put(value);
  }

 private:
  template <class T>
  void put(const T& value) const {
    packet_.put(value);
  }
  void put(const TensorMesh& mesh) const {
    for (const auto* faces : {&mesh.easting(), &mesh.northing(), &mesh.up()}) packet_.put(*faces);
  }
  Packet& packet_;
};

/// Visitor: and out of it.
class GetFields {
 public:
  explicit GetFields(Packet& packet) : packet_(packet) {}
  template <class T, class Rule>
  void operator()(std::string_view, T& value, const Rule&, std::string_view = {},
                  std::string_view = {}) const {
    get(value);
  }

 private:
  template <class T>
  void get(T& value) const {
    value = packet_.get<T>();
  }
  template <class T>
  void get(std::vector<T>& values) const {
    values = packet_.get_vector<T>();
  }
  void get(TensorMesh& mesh) const {
    auto east = packet_.get_vector<double>(), north = packet_.get_vector<double>(),
         up = packet_.get_vector<double>();
    mesh = TensorMesh(std::move(east), std::move(north), std::move(up));
  }
  Packet& packet_;
};

template <class Problem>
void put_fields(const Problem& problem, Packet& packet) {
  PutFields put(packet);
  Problem::fields(problem, put);
}

template <class Problem>
Problem get_fields(Packet& packet) {
  Problem problem;
  GetFields get(packet);
  Problem::fields(problem, get);
  return problem;
}

// ------------------------------------------------------------------------------------------------ none is
// forgotten

namespace fields_detail {
struct Anything {
  template <class T>
  constexpr operator T() const;  // NOLINT: never called, and meant to be implicit
};
template <class T, class... Of>
constexpr std::size_t members() {
  if constexpr (requires { T{Of{}..., Anything{}}; }) return members<T, Of..., Anything>();
  else return sizeof...(Of);
}
struct CountFields {
  template <class T, class Rule>
  constexpr void operator()(std::string_view, const T&, const Rule&, std::string_view = {},
                            std::string_view = {}) {
    ++count;
  }
  std::size_t count = 0;
};
}  // namespace fields_detail

/// Whether fields() lists as many members as the struct has.
template <class Problem>
bool every_member_is_a_field() {
  fields_detail::CountFields list;
  const Problem defaults{};
  Problem::fields(defaults, list);
  return list.count == fields_detail::members<Problem>();
}

}  // namespace terrane
