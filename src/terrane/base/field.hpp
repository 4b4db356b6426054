// The kinds of members that a problem's struct may have, and the functions with which the struct lists them
// (see job/fields.hpp).
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

/// A range of numbers from `least` to `most`; `above` excludes `least`, `below` excludes `most`.
struct Allowed {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool above = false, below = false;

  constexpr bool holds(double value) const {  // false for NaN
    return std::isfinite(value) && (above ? value > least : value >= least) &&
           (below ? value < most : value <= most);
  }
  /// The range in words: "more than 0 s and less than 1 s"; "any finite number".
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
  /// Makes the field optional: if it is absent or equals `value`, the program chooses. `value` may lie
  /// outside the allowed range.
  constexpr NumberField or_open(double value = 0) const {
    NumberField changed = *this;
    changed.without = Without::leaves_it_open, changed.open = value;
    return changed;
  }
  /// Declares that the value does not change the bits of results: a checkpoint may be resumed with another
  /// value.
  constexpr NumberField same_bits() const {
    NumberField changed = *this;
    changed.decides = false;
    return changed;
  }
  /// Sets the text of the default in templates and the reference: "50000 nT" in quotes.
  constexpr NumberField written(std::string_view text) const {
    NumberField changed = *this;
    changed.fallback = text;
    return changed;
  }
  /// Allows a word in place of a certain value.
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

/// An enumerator, or a flag; `words`: the word for each of its values, in the order of the values.
struct WordField {
  std::span<const std::string_view> words, bits;
  bool decides = true;
  std::string_view former = {};
  constexpr WordField same_bits() const { return {words, bits, false, former}; }
  /// Sets the names that checkpoints use: the same name for words that give results with the same bits.
  constexpr WordField bits_of(std::span<const std::string_view> names) const {
    return {words, names, decides, former};
  }
  /// Sets the former name of the key, which is still accepted, with a note.
  constexpr WordField formerly(std::string_view name) const { return {words, bits, decides, name}; }
};
constexpr WordField one_of(std::span<const std::string_view> words) { return {words, words}; }

/// true or false.
struct FlagField {
  bool decides = true;
};
constexpr FlagField flag() { return {}; }

/// A member that is not read as a key of this table: it is set from other tables, such as the model, or the
/// physics reads its key separately. `group`: the name under which a checkpoint compares it; empty if it
/// follows from other members or does not change the bits of results. `type` and `fallback`: what the
/// reference says of a key that the physics reads.
struct CarriedField {
  std::string_view group, type = {}, fallback = {};
};
constexpr CarriedField carried(std::string_view group) { return {group}; }
constexpr CarriedField derived() { return {{}}; }
constexpr CarriedField own_key(std::string_view type, std::string_view fallback, std::string_view group) {
  return {group, type, fallback};
}

/// A vector too large for the packet in which the members are sent to ranks: the packet has only its size,
/// and send_apart() sends the values.
struct ApartField {
  std::string_view group;
};
constexpr ApartField apart(std::string_view group) { return {group}; }

/// A member that only this process uses and that is not sent to other ranks, such as a text for messages.
struct HereField {};
constexpr HereField kept_here() { return {}; }

/// A struct that lists members of its own; their keys are in the table `name` or, if that is empty, in the
/// same table.
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

/// A struct that lists its members in a function fields().
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

/// Whether a checkpoint can be resumed only if a member has the same value.
template <class Rule>
constexpr bool decides_bits(const Rule& rule) {
  if constexpr (requires { rule.decides; }) return rule.decides;
  else if constexpr (requires { rule.group; }) return !rule.group.empty();
  else return !std::is_same_v<Rule, HereField>;
}

}  // namespace terrane
