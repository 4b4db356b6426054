// The state of a loop in a checkpoint: every member is stored under its name.
//
// A struct lists the names of its members in one function template, by which it is both written and read:
//
//   struct Secant {
//     double beta = 0;
//     int trial = 0;
//     template <class Self, class Field>
//     static void fields(Self& s, const Field& field) {
//       field("beta", s.beta);
//       field("trial", s.trial);
//     }
//   };
//
// Members are numbers, texts, lists of these, structs with fields() of their own, and lists of such structs.
// In a list of structs, a member that is a number or text is stored as one list, over all structs, under the
// member's name; a member that is a list is stored per struct, under its name and the struct's number.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/inversion/loop/keep.hpp"

namespace terrane::inversion {

/// The name of a member in the state: its path and, in a list of structs, the struct's number.
class StatePath {
 public:
  explicit StatePath(std::string path = {}, std::optional<std::size_t> number = {})
      : path_(std::move(path)), number_(number) {}
  std::string of_one(const char* name) const { return path_.empty() ? name : path_ + " " + name; }
  std::string of_list(const char* name) const {
    return of_one(name) + (number_ ? " " + std::to_string(*number_) : std::string());
  }
  StatePath below(const char* name) const { return StatePath(of_one(name), number_); }
  std::size_t number() const { return number_.value_or(0); }

 private:
  std::string path_;
  std::optional<std::size_t> number_;
};

template <class T>
concept NumbersOfState = std::is_same_v<typename T::value_type, double>;
template <class T>
concept StructsOfState = requires(typename T::value_type one) {
  T::value_type::fields(one, [](auto&&...) {});
};

/// Writes members into the state of a checkpoint.
class PutState {
 public:
  explicit PutState(State& to, StatePath at = StatePath()) : to_(to), at_(std::move(at)) {}

  template <class T>
  void operator()(const char* name, const T& value) const {
    if constexpr (std::is_arithmetic_v<T>) {
      to_.lists[at_.of_one(name)].push_back(static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      to_.texts[at_.of_one(name)].push_back(value);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      to_.texts[at_.of_list(name)] = value;
    } else if constexpr (NumbersOfState<T>) {
      to_.lists[at_.of_list(name)].assign(value.begin(), value.end());
    } else if constexpr (std::is_same_v<T, std::vector<std::vector<double>>>) {
      const auto list = at_.of_list(name);
      to_.lists[list + " count"] = {static_cast<double>(value.size())};
      for (std::size_t n = 0; n < value.size(); ++n) to_.lists[list + " " + std::to_string(n)] = value[n];
    } else if constexpr (StructsOfState<T>) {
      const auto list = at_.of_list(name);
      to_.lists[list + " count"] = {static_cast<double>(value.size())};
      for (std::size_t n = 0; n < value.size(); ++n)
        T::value_type::fields(value[n], PutState(to_, StatePath(list, n)));
    } else {
      T::fields(value, PutState(to_, at_.below(name)));
    }
  }

 private:
  State& to_;
  StatePath at_;
};

/// Reads members from the state of a checkpoint. Throws the error of refuse_checkpoint() if a member is
/// missing.
class TakeState {
 public:
  explicit TakeState(const State& from, StatePath at = StatePath()) : from_(from), at_(std::move(at)) {}

  template <class T>
  void operator()(const char* name, T& value) const {
    if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(one(list(from_.lists, at_.of_one(name))));
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = one(list(from_.texts, at_.of_one(name)));
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      value = list(from_.texts, at_.of_list(name));
    } else if constexpr (NumbersOfState<T>) {
      take(list(from_.lists, at_.of_list(name)), value);
    } else if constexpr (std::is_same_v<T, std::vector<std::vector<double>>>) {
      const auto path = at_.of_list(name);
      const double count = list(from_.lists, path + " count").at(0);
      value.clear();
      for (std::size_t n = 0; static_cast<double>(n) < count; ++n)
        value.push_back(list(from_.lists, path + " " + std::to_string(n)));
    } else if constexpr (StructsOfState<T>) {
      const auto path = at_.of_list(name);
      const double count = list(from_.lists, path + " count").at(0);
      value.clear();
      for (std::size_t n = 0; static_cast<double>(n) < count; ++n)
        T::value_type::fields(value.emplace_back(), TakeState(from_, StatePath(path, n)));
    } else {
      T::fields(value, TakeState(from_, at_.below(name)));
    }
  }

 private:
  template <class Values>
  static const Values& list(const std::map<std::string, Values>& lists, const std::string& name) {
    const auto found = lists.find(name);
    if (found == lists.end() || (name.ends_with(" count") && found->second.empty())) refuse_checkpoint();
    return found->second;
  }
  template <class T>
  const T& one(const std::vector<T>& values) const {
    if (at_.number() >= values.size()) refuse_checkpoint();
    return values[at_.number()];
  }
  static void take(const std::vector<double>& from, std::vector<double>& to) { to = from; }
  template <std::size_t N>
  static void take(const std::vector<double>& from, std::array<double, N>& to) {
    if (from.size() != N) refuse_checkpoint();
    std::copy(from.begin(), from.end(), to.begin());
  }

  const State& from_;
  StatePath at_;
};

}  // namespace terrane::inversion
