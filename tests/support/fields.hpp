// Whether a problem's list of fields (job/fields.hpp) is whole: every member travels to ranks and is in the
// fingerprint.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/simulation/field_facts.hpp"

namespace terrane::test {

/// Visitor: changes the field at one place of the list; fields of a struct inside have places of their own.
class AlterField {
 public:
  explicit AlterField(int which) : which_(which) {}
  template <class T, class Rule>
  void operator()(std::string_view of, T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) {
    if constexpr (std::is_same_v<Rule, HereField>) return;
    else if constexpr (Listed<T>) T::fields(value, *this);
    else if constexpr (is_list_of_listed<T>()) {
      typename fields_detail::ElementOf<T>::type last{};
      if (!value.empty()) last = value.back();
      const bool sought = name.empty();
      last.fields(last, *this);
      if (!sought || name.empty()) return;  // it is not in here
      if constexpr (VectorOfValues<T>)
        if (value.empty()) value.emplace_back();
      value.back() = last;
    } else if (which_-- == 0) {
      name = of;
      decides = decides_bits(rule);
      if constexpr (std::is_same_v<Rule, WordField>) alter(value, rule);
      else alter(value);
    }
  }
  std::string name;  ///< of the field that was changed; empty: there are not so many
  bool decides = true;

 private:
  template <class T>
  static constexpr bool is_list_of_listed() {
    if constexpr (ListOfValues<T>) return Listed<typename fields_detail::ElementOf<T>::type>;
    else return false;
  }
  /// To the next word that makes other bits.
  template <class T>
  static void alter(T& value, const WordField& rule) {
    const auto before = static_cast<std::size_t>(value);
    auto next = before;
    do next = (next + 1) % rule.words.size();
    while (rule.bits[next] == rule.bits[before]);
    value = static_cast<T>(next);
  }
  template <class T>
  static void alter(T& value) {
    if constexpr (std::is_same_v<T, bool>) value = !value;
    else if constexpr (std::is_same_v<T, std::string>) value += "x";
    else if constexpr (std::is_floating_point_v<T>)
      value = std::isfinite(value) ? value + 1 + std::fabs(value) : 1;
    else if constexpr (std::is_same_v<T, TensorMesh>) {
      auto up = value.up();
      up.back() += 1;
      value = TensorMesh(value.easting(), value.northing(), up);
    } else if constexpr (ListOfValues<T>) {
      if constexpr (VectorOfValues<T>)
        if (value.empty()) value.emplace_back();
      alter(value.back());
    } else if constexpr (std::is_class_v<T>) {
      std::as_writable_bytes(std::span(&value, 1))[0] ^= std::byte{1};
    } else {
      value = static_cast<T>(static_cast<long long>(value) + 1);
    }
  }
  int which_;
};

/// Visitor: takes what goes beside the packet out of one problem, and puts it into another.
struct ApartValues {
  template <class T, class Rule>
  void operator()(std::string_view, T& value, const Rule&, std::string_view = {}, std::string_view = {}) {
    if constexpr (!std::is_same_v<Rule, ApartField>) return;
    else if constexpr (std::is_const_v<T>) all.push_back(value);
    else {
      EXPECT_EQ(value.size(), all[next].size());
      value = all[next++];
    }
  }
  std::vector<std::vector<double>> all;
  std::size_t next = 0;
};

template <class Problem>
void expect_every_field_travels_and_is_in_the_fingerprint(const Problem& problem) {
  const auto whole = [](const Fingerprint& of) {
    std::string text;
    for (const auto& [what, value, is_hash] : of) text += what + "=" + value + ";";
    return text;
  };
  EXPECT_TRUE(every_member_is_a_field<Problem>()) << "a member is not in the list";
  int fields = 0;
  for (;; ++fields) {
    auto changed = problem;
    AlterField alter(fields);
    Problem::fields(changed, alter);
    if (alter.name.empty()) break;
    Packet packet;
    put_fields(changed, packet);
    auto there = get_fields<Problem>(packet);
    EXPECT_TRUE(packet.empty());
    std::vector<double> before, sent, received;
    ApartValues apart;
    Problem::fields(std::as_const(changed), apart);
    Problem::fields(there, apart);
    add_numbers(problem, before, true), add_numbers(changed, sent, true), add_numbers(there, received, true);
    EXPECT_NE(before, sent) << alter.name;
    EXPECT_EQ(sent, received) << alter.name << " does not travel";
    EXPECT_EQ(whole(fingerprint_of(changed)) == whole(fingerprint_of(problem)), !alter.decides)
        << alter.name << (alter.decides ? " is not in the fingerprint" : " is in the fingerprint");
  }
  EXPECT_GT(fields, 1);
}

}  // namespace terrane::test
