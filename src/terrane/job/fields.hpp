// Lists the members of a problem's struct once, for reading, checking, sending and reporting.
//
// A plain struct with defaults has one function template that lists its members: their names, the values they
// may have and their meaning:
//
//   struct Problem {
//     std::vector<double> conductivity;  // of cells
//     double end = 0, tolerance = 1e-12;
//     Method method = Method::automatic;
//
//     template <class Self, class Field>
//     static void fields(Self& p, Field& field) {
//       field("conductivity", p.conductivity, carried("cells"));
//       field("end", p.end, number(Quantity::time, positive).must_be_given(), "How long to compute.");
//       field("tolerance", p.tolerance, number(between(0, 1)), "Residual over right-hand side.");
//       field("method", p.method, one_of(method_names), "explicit, implicit, or auto.");
//     }
//   };
//
// A visitor is a class with a template operator() that accepts the arguments of such a line. The list defines
// the keys of the job file with their defaults, units and ranges (keys_of); how they are read, with errors at
// the right key (read_fields); the same check for a struct made in C++ or Python (check_fields); the data
// sent to ranks (put_fields, get_fields); and, in simulation/field_facts.hpp, the settings that a checkpoint
// depends on and the text of a report. A test fails if a member is not listed (every_member_is_a_field).
//
// A member may be a number, an enumerator, a text, a mesh, a struct with a list of its own, and vectors and
// arrays of these.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/field.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

// ---------------------------------------------------------------------------------- job files and checks

/// The type of a key as readers see it: "time", "thermal conductivity".
std::string_view type_of_key(Quantity quantity);

/// Visitor: collects the keys with their defaults.
class KeyList {
 public:
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view help = {},
                  std::string_view example = {}) {
    add(name, value, rule, help, example);
  }

  /// Adds a key that is no member of the struct, such as `physics`.
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
         example, rule.former});
  }
  void add(std::string_view name, bool value, const FlagField&, std::string_view help,
           std::string_view example) {
    add({name, "flag", value ? "true" : "false", help, example});
  }
  template <class T>
  void add(std::string_view name, const T&, const CarriedField& rule, std::string_view help,
           std::string_view example) {
    if (!rule.type.empty()) add({name, rule.type, rule.fallback, help, example});
  }
  template <class T>
  void add(std::string_view, const T& value, const TableField& rule, std::string_view, std::string_view) {
    if (rule.name.empty()) T::fields(value, *this);
  }
  template <class T, WithoutKey Rule>
  void add(std::string_view, const T&, const Rule&, std::string_view, std::string_view) {}
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::vector<Key> keys_;
  std::deque<std::string>
      texts_;  // the defaults as texts; a deque, because string_views of its elements must stay valid
};

/// Visitor: reads the members from a table of the job file. Throws InputError at the key.
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
  void operator()(std::string_view, T&, const CarriedField&, std::string_view = {},
                  std::string_view = {}) const {}
  template <class T>
  void operator()(std::string_view, T& value, const TableField& rule) const {
    if (rule.name.empty()) T::fields(value, *this);
  }
  template <class T, WithoutKey Rule>
  void operator()(std::string_view, T&, const Rule&) const {}

 private:
  std::size_t place_of_word(std::string_view name, const WordField& rule) const;
  const Config& table_;
};

/// Visitor: throws InputError at the first number outside its allowed range: "heat: tolerance", or for a
/// field of another table "acoustic: boundary.reflection".
class CheckFields {
 public:
  explicit CheckFields(std::string_view physics) : where_(std::string(physics) + ": ") {}
  void operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                  std::string_view = {}) const;
  template <class T>
  void operator()(std::string_view name, const T& value, const CountField& rule, std::string_view,
                  std::string_view = {}) const {
    check_count(name, static_cast<double>(value), rule);
  }
  template <class T>
  void operator()(std::string_view, const T& value, const TableField& rule) const {
    CheckFields inner(*this);
    if (!rule.name.empty()) inner.where_ += std::string(rule.name) + ".";
    T::fields(value, inner);
  }
  template <class T, class Rule>
  void operator()(std::string_view, const T&, const Rule&, std::string_view = {},
                  std::string_view = {}) const {}

 private:
  void check_count(std::string_view name, double value, const CountField& rule) const;
  std::string where_;
};

/// The keys of the structs, with the members of a default-constructed struct as defaults; `before` and
/// `after` are keys that are no members. The list exists until the program ends.
template <class... Problem>
std::span<const Key> keys_of(std::initializer_list<Key> before = {}, std::initializer_list<Key> after = {}) {
  static const KeyList list = [&] {
    KeyList made;
    for (const auto& key : before) made.add(key);
    const std::tuple<Problem...> defaults{};
    (Problem::fields(std::get<Problem>(defaults), made), ...);
    for (const auto& key : after) made.add(key);
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

/// Visitor: finds the table that has the key `name`, given as "tolerance" or "boundary.reflection".
class FindField {
 public:
  explicit FindField(std::string_view name) : name_(name) {}
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) {
    if constexpr (std::is_same_v<Rule, TableField>) {
      look_in(value, rule);
    } else if constexpr (std::is_same_v<Rule, CarriedField>) {
      found = found || (name == name_ && !rule.type.empty());
    } else {
      found = found || (name == name_ && !WithoutKey<Rule>);
    }
  }
  bool found = false;
  std::string_view table = "simulation";

 private:
  template <class T>
  void look_in(const T& value, const TableField& rule) {
    if (rule.name.empty()) return T::fields(value, *this);
    if (!name_.starts_with(rule.name) || name_.substr(rule.name.size(), 1) != ".") return;
    FindField inner(name_.substr(rule.name.size() + 1));
    T::fields(value, inner);
    if (inner.found) found = true, table = rule.name;
  }
  std::string_view name_;
};

/// Rethrows an error of check_fields() or of the physics about a field, "heat: step", as an error at its key
/// of the job file, "job.toml:7: simulation.step"; rethrows any other error unchanged.
template <class... Problem>
[[noreturn]] void throw_at_its_key(const InputError& error, std::string_view physics, const Config& job) {
  const std::string_view where = error.where();
  if (where.size() > physics.size() + 2 && where.starts_with(physics)) {
    const auto name = where.substr(physics.size() + 2);
    FindField find(name);
    const std::tuple<Problem...> defaults{};
    (Problem::fields(std::get<Problem>(defaults), find), ...);
    if (find.found)
      throw job.table(find.table).wrong(name.substr(name.rfind('.') + 1), error.problem(), error.next());
  }
  throw error;
}

// -------------------------------------------------------------------------------------------------- ranks

template <class T>
void put_value(const T& value, Packet& packet);
template <class T>
void get_value(T& value, Packet& packet);

/// Visitor: writes every member into a packet.
class PutFields {
 public:
  explicit PutFields(Packet& packet) : packet_(packet) {}
  template <class T, class Rule>
  void operator()(std::string_view, const T& value, const Rule&, std::string_view = {},
                  std::string_view = {}) const {
    if constexpr (std::is_same_v<Rule, ApartField>) packet_.put(value.size());
    else if constexpr (!std::is_same_v<Rule, HereField>) put_value(value, packet_);
  }

 private:
  Packet& packet_;
};

/// Visitor: reads every member from a packet.
class GetFields {
 public:
  explicit GetFields(Packet& packet) : packet_(packet) {}
  template <class T, class Rule>
  void operator()(std::string_view, T& value, const Rule&, std::string_view = {},
                  std::string_view = {}) const {
    if constexpr (std::is_same_v<Rule, ApartField>) value.resize(packet_.get<std::size_t>());
    else if constexpr (!std::is_same_v<Rule, HereField>) get_value(value, packet_);
  }

 private:
  Packet& packet_;
};

/// Writes a value of any type that a field may have.
template <class T>
void put_value(const T& value, Packet& packet) {
  if constexpr (std::is_same_v<T, TensorMesh>) {
    for (const auto* faces : {&value.easting(), &value.northing(), &value.up()}) packet.put(*faces);
  } else if constexpr (std::is_trivially_copyable_v<T> || std::is_same_v<T, std::string>) {
    packet.put(value);
  } else if constexpr (Listed<T>) {
    PutFields put(packet);
    T::fields(value, put);
  } else if constexpr (VectorOfValues<T>) {
    if constexpr (std::is_trivially_copyable_v<typename T::value_type>) return packet.put(value);
    packet.put(value.size());
    for (const auto& one : value) put_value(one, packet);
  } else {  // T is an array
    for (const auto& one : value) put_value(one, packet);
  }
}

template <class T>
void get_value(T& value, Packet& packet) {
  if constexpr (std::is_same_v<T, TensorMesh>) {
    std::vector<double> faces[3];
    for (auto& axis : faces) axis = packet.get_vector<double>();
    value = TensorMesh(std::move(faces[0]), std::move(faces[1]), std::move(faces[2]));
  } else if constexpr (std::is_trivially_copyable_v<T> || std::is_same_v<T, std::string>) {
    value = packet.get<T>();
  } else if constexpr (Listed<T>) {
    GetFields get(packet);
    T::fields(value, get);
  } else if constexpr (VectorOfValues<T>) {
    if constexpr (std::is_trivially_copyable_v<typename T::value_type>) {
      value = packet.get_vector<typename T::value_type>();
    } else {
      value.resize(packet.get<std::size_t>());
      for (auto& one : value) get_value(one, packet);
    }
  } else {
    for (auto& one : value) get_value(one, packet);
  }
}

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

/// Visitor: broadcasts the values of large members, for which a packet has only the size. Collective. sends:
/// true on rank 0, false on the others.
class ApartFields {
 public:
  ApartFields(Comm& comm, bool sends) : comm_(comm), sends_(sends) {}
  template <class T, class Rule>
  void operator()(std::string_view, T& value, const Rule&, std::string_view = {},
                  std::string_view = {}) const {
    if constexpr (std::is_same_v<Rule, ApartField>) {
      if (sends_) broadcast_from_here(comm_, std::as_bytes(std::span(value)));
      else receive(value);
    }
  }

 private:
  template <class T>
  void receive(T& value) const {
    if constexpr (!std::is_const_v<T>) comm_.broadcast(std::as_writable_bytes(std::span(value)), 0);
  }
  Comm& comm_;
  bool sends_;
};

template <class Problem>
void send_apart(const Problem& problem, Comm& comm) {
  ApartFields send(comm, true);
  Problem::fields(problem, send);
}

template <class Problem>
void receive_apart(Problem& problem, Comm& comm) {
  ApartFields receive(comm, false);
  Problem::fields(problem, receive);
}

// --------------------------------------------------------------------------------- none is forgotten

template <class Problem>
bool every_member_is_a_field();

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
template <class T>
bool is_whole() {
  if constexpr (ListOfValues<T>) return is_whole<typename ElementOf<T>::type>();
  else if constexpr (Listed<T>) return every_member_is_a_field<T>();
  else return true;
}
struct CountFields {
  template <class T, class Rule>
  void operator()(std::string_view, const T&, const Rule&, std::string_view = {}, std::string_view = {}) {
    ++count;
    whole = whole && is_whole<T>();
  }
  std::size_t count = 0;
  bool whole = true;
};
}  // namespace fields_detail

/// Whether fields() lists as many members as the struct has, and likewise for all structs inside it.
template <class Problem>
bool every_member_is_a_field() {
  fields_detail::CountFields list;
  const Problem defaults{};
  Problem::fields(defaults, list);
  if constexpr (std::is_aggregate_v<Problem>)
    return list.whole && list.count == fields_detail::members<Problem>();
  else return list.whole;
}

}  // namespace terrane
