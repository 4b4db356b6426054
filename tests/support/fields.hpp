// Whether a problem's list of fields (job/fields.hpp) is whole: every member travels to ranks and is in the
// fingerprint.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "terrane/simulation/field_facts.hpp"

namespace terrane::test {

/// Visitor: changes the field at one place of the list.
class AlterField {
 public:
  explicit AlterField(int which) : which_(which) {}
  template <class T, class Rule>
  void operator()(std::string_view name, T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) {
    if (which_-- != 0) return;
    this->name = name;
    alter(value, rule);
  }
  std::string name;  ///< of the field that was changed; empty: there are not so many

 private:
  template <class T, class Rule>
  static void alter(T& value, const Rule& rule) {
    if constexpr (std::is_same_v<Rule, WordField>)
      value = static_cast<T>((static_cast<std::size_t>(value) + 1) % rule.words.size());
    else if constexpr (std::is_same_v<T, bool>) value = !value;
    else value = static_cast<T>(value * 2 + 1);
  }
  template <class T, class Rule>
  static void alter(std::vector<T>& values, const Rule&) {
    if (values.empty()) values.push_back(T{});
    else values.back() = static_cast<T>(values.back() * 2 + 1);
  }
  template <class Rule>
  static void alter(TensorMesh& mesh, const Rule&) {
    auto up = mesh.up();
    up.back() += 1;
    mesh = TensorMesh(mesh.easting(), mesh.northing(), up);
  }
  int which_;
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
    const auto there = get_fields<Problem>(packet);
    EXPECT_TRUE(packet.empty());
    EXPECT_EQ(whole(fingerprint_of(there)), whole(fingerprint_of(changed))) << alter.name;
    EXPECT_NE(whole(fingerprint_of(there)), whole(fingerprint_of(problem))) << alter.name;
  }
  EXPECT_GT(fields, 1);
}

}  // namespace terrane::test
