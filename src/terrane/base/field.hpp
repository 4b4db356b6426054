// The kinds of fields that a problem may have: the words with which a struct lists its members (fields.hpp).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "terrane/base/units.hpp"

namespace terrane {

/// A range of numbers from least to most; `above` and `below`: without these ends.
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
  double open = 0;
  bool decides = true;
  std::string_view fallback = {}, word = {};
  double of_word = 0;

  constexpr NumberField must_be_given() const {
    NumberField changed = *this;
    changed.without = Without::must_be_given;
    return changed;
  }
  /// The default, which is `value` and need not be allowed, means that the program chooses.
  constexpr NumberField or_open(double value = 0) const {
    NumberField changed = *this;
    changed.without = Without::leaves_it_open, changed.open = value;
    return changed;
  }
  /// The value does not affect the bits of results: a checkpoint may be resumed with another one.
  constexpr NumberField same_bits() const {
    NumberField changed = *this;
    changed.decides = false;
    return changed;
  }
  /// How people write the default: "50000 nT" in quotes.
  constexpr NumberField written(std::string_view text) const {
    NumberField changed = *this;
    changed.fallback = text;
    return changed;
  }
  /// A word that stands for a value.
  constexpr NumberField or_word(std::string_view text, double value) const {
    NumberField changed = *this;
    changed.word = text, changed.of_word = value;
    return changed;
  }
};
constexpr NumberField number(Quantity quantity, Allowed allowed) { return {quantity, allowed}; }
constexpr NumberField number(Allowed allowed) { return {Quantity::dimensionless, allowed}; }

/// A whole number.
struct CountField {
  std::uint64_t least, most;
  bool decides = true;
  constexpr CountField same_bits() const { return {least, most, false}; }
};
constexpr CountField count(std::uint64_t least, std::uint64_t most) { return {least, most}; }

/// An enumerator, or a flag: its word is at its place in `words`.
struct WordField {
  std::span<const std::string_view> words, bits;
  bool decides = true;
  std::string_view former = {};
  constexpr WordField same_bits() const { return {words, bits, false, former}; }
  /// For checkpoints, where several words give results with the same bits: one name for them.
  constexpr WordField bits_of(std::span<const std::string_view> names) const {
    return {words, names, decides, former};
  }
  /// The former name of the key: still accepted, with a note.
  constexpr WordField formerly(std::string_view name) const { return {words, bits, decides, name}; }
};
constexpr WordField one_of(std::span<const std::string_view> words) { return {words, words}; }

/// true or false.
struct FlagField {
  bool decides = true;
};
constexpr FlagField flag() { return {}; }

/// No key: it comes from other tables, such as the model. `group` is what a checkpoint calls it; empty: it
/// follows from the others, or results have the same bits whatever it is. Or a key that the physics reads by
/// itself: `type` and `fallback` are what the reference says of it.
struct CarriedField {
  std::string_view group, type = {}, fallback = {};
};
constexpr CarriedField carried(std::string_view group) { return {group}; }
constexpr CarriedField derived() { return {{}}; }
constexpr CarriedField own_key(std::string_view type, std::string_view fallback, std::string_view group) {
  return {group, type, fallback};
}

/// A vector too large for a packet: that has its size, and send_apart() the values.
struct ApartField {
  std::string_view group;
};
constexpr ApartField apart(std::string_view group) { return {group}; }

/// Known to this process alone and not sent to ranks, such as a text for messages.
struct HereField {};
constexpr HereField kept_here() { return {}; }

/// A struct with a list of its own, whose keys are those of the table `name`; empty: of the same one.
struct TableField {
  std::string_view name;
};
constexpr TableField in_table(std::string_view name) { return {name}; }
constexpr TableField in_same_table() { return {{}}; }

namespace fields_detail {
struct AnyVisitor {
  template <class... Of>
  void operator()(const Of&...) {}
};
template <class T>
struct ElementOf {};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};
template <class T, std::size_t n>
struct ElementOf<std::array<T, n>> {
  using type = T;
};
}  // namespace fields_detail

/// A struct that lists its fields.
template <class T>
concept Listed = requires(T& value, fields_detail::AnyVisitor& visit) {
  T::fields(value, visit);
};
template <class T>
concept VectorOfValues = requires(T& values) {
  values.reserve(0);
};
template <class T>
concept ColumnOfNumbers = std::is_convertible_v<const T&, std::span<const double>>;
/// A vector or array.
template <class T>
concept ListOfValues = requires {
  typename fields_detail::ElementOf<T>::type;
};
template <class Rule>
concept WithoutKey = std::is_same_v<Rule, ApartField> || std::is_same_v<Rule, HereField>;

/// Whether a checkpoint can be resumed only with the same value of a field.
template <class Rule>
constexpr bool decides_bits(const Rule& rule) {
  if constexpr (requires { rule.decides; }) return rule.decides;
  else if constexpr (requires { rule.group; }) return !rule.group.empty();
  else return !std::is_same_v<Rule, HereField>;
}

}  // namespace terrane
