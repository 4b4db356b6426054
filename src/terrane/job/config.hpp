// The job file: TOML whose every key knows its line, its default and its documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/units.hpp"

namespace terrane {

struct Contents;  // contents.hpp

/// One key that a table of the job file may hold. A list of these is at once the set of allowed keys, the
/// defaults, the text of error messages, the template of `terrane new` and the reference.
struct Key {
  std::string_view name;
  std::string_view type;          ///< for people: "length", "list of 6 lengths", "text"
  std::string_view fallback;      ///< TOML text; "" when the key must be given, "none" when it may be absent
  std::string_view help;          ///< one sentence
  std::string_view example = {};  ///< TOML text for the template of `terrane new`
  std::string_view former = {};   ///< what it was called before: still taken, with a note
};

/// One table of the job file.
struct Section {
  std::string_view path;     ///< "mesh", "model.body"
  std::string_view kind;     ///< the value of its key `kind` this list belongs to; "" for all
  std::string_view summary;  ///< one sentence
  std::span<const Key> keys;
  bool in_template = true;  ///< false: only in the reference
};

/// A view of one table of a job file. Copies look at the same document; getters remember which keys were
/// read.
///
/// Every getter takes the default from the list given to describe(); without a default and without the key it
/// throws InputError: "job.toml:12: survey.height: missing", with what the key means.
/// Numbers with a unit are written "22 km" (text), or as a plain number in the SI unit. Lists take a unit for
/// each entry or one at the end: [0, 22, 0, 22, -8, 0, "km"].
class Config {
 public:
  static constexpr std::size_t largest = 16 << 20;  ///< bytes of a job file: people write it

  struct Options {
    std::vector<std::string> sets;                 ///< "survey.height=100"; the value is TOML or plain text
    std::map<std::string, std::string> arguments;  ///< what stands for ${name} in texts of the file
    std::shared_ptr<const Contents> contents = nullptr;  ///< what a program gives in place of files
  };

  /// Throws FileError (cannot be read), InputError (not TOML; a bad --set; an argument that is missing).
  static Config read(const std::filesystem::path& file, const Options& options);
  static Config read(const std::filesystem::path& file) { return read(file, Options()); }
  /// name: what messages call the text; folder: what relative paths start from.
  static Config parse(std::string_view text, std::string name, std::filesystem::path folder,
                      const Options& options);
  static Config parse(std::string_view text, std::string name = "job.toml",
                      std::filesystem::path folder = {}) {
    return parse(text, std::move(name), std::move(folder), Options());
  }

  /// This table with the keys it may hold. Throws InputError at the first key that is not among them, with
  /// the nearest spelling. Several lists may be joined.
  Config describe(const std::vector<std::span<const Key>>& keys) const;

  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;
  /// A table inside this one; empty when it is not in the file. Throws InputError when it is not a table.
  Config table(std::string_view key) const;
  /// [[key]]: every table of the array, in order; one [key] counts as an array of one.
  std::vector<Config> tables(std::string_view key) const;

  double number(std::string_view key, Quantity quantity = Quantity::dimensionless) const;
  /// A number that may be absent or the text "none".
  std::optional<double> optional_number(std::string_view key,
                                        Quantity quantity = Quantity::dimensionless) const;
  /// As number(), and more than zero.
  double positive(std::string_view key, Quantity quantity = Quantity::dimensionless) const;
  /// A whole number from `least` to `most`.
  std::uint64_t count(std::string_view key, std::uint64_t least = 0,
                      std::uint64_t most = std::uint64_t{1} << 53) const;
  bool flag(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::optional<std::string> optional_text(std::string_view key) const;
  /// A text that must be one of `allowed`.
  std::string choice(std::string_view key, std::span<const std::string_view> allowed) const;
  std::string choice(std::string_view key, std::initializer_list<std::string_view> allowed) const {
    return choice(key, std::span<const std::string_view>(allowed.begin(), allowed.size()));
  }

  /// A list of numbers; `expected` entries unless that is 0. Entries may be runs such as "60*20" or
  /// "60*20 km"; at most `most` numbers come out.
  std::vector<double> numbers(std::string_view key, Quantity quantity = Quantity::dimensionless,
                              std::size_t expected = 0, std::size_t most = 100'000'000) const;
  std::vector<std::size_t> counts(std::string_view key, std::size_t expected, std::uint64_t least = 1) const;
  /// A list of texts; a single text counts as a list of one.
  std::vector<std::string> texts(std::string_view key) const;
  /// A list of lists of numbers, each `columns` long: the corners of a polygon.
  std::vector<std::vector<double>> rows(std::string_view key, Quantity quantity, std::size_t columns) const;

  /// A path; relative ones start from the folder of the job file.
  std::filesystem::path path(std::string_view key) const;
  /// As path(), and the file must be there.
  std::filesystem::path input_file(std::string_view key) const;
  std::optional<std::filesystem::path> optional_input_file(std::string_view key) const;
  /// One file, a list of them, those of a folder or those that a pattern names ("sites/*.edi"): io/sites.hpp.
  std::vector<std::filesystem::path> input_files(std::string_view key) const;

  /// True when the key holds a text (and not a number or a list).
  bool is_text(std::string_view key) const;
  bool is_list(std::string_view key) const;

  /// "job.toml:14: survey.height": for errors found later that belong to this key.
  std::string where(std::string_view key) const;
  /// "job.toml:12: survey".
  std::string where() const;
  InputError wrong(std::string_view key, std::string problem, std::string next = {}) const;

  /// One of the simulations of a job, with all that it reads.
  struct Part;
  /// Returns the names of the tables that a simulation reads ("mesh", "survey", ...), given the simulation's
  /// own table.
  using TablesOf = std::function<std::vector<std::string>(const Config& simulation)>;
  /// Whether the job has an array [[simulation]].
  bool has_parts() const;
  /// What each [[simulation]] reads, as a job of one simulation (parts.cpp says how they are made). Throws
  /// InputError: names that are missing, no file names or taken; tables that are not there or that no
  /// simulation reads.
  std::vector<Part> parts(const TablesOf& tables_of) const;

  /// This job, with what another text says of tables and keys that it does not have: what a program takes
  /// where the user says nothing.  name: what errors there call it.
  Config supposing(std::string_view text, std::string name) const;
  /// Counts the keys that were read in such a copy as read here.
  void take_reading_of(const Config& copy) const;
  /// Throws InputError for the first key of the whole document that nobody has read.
  void finish() const;

  /// What was given in place of files; null: nothing.
  const Contents* contents() const;
  /// What this job reads: its own file, when there is one, and every input_file() so far.
  const std::vector<std::filesystem::path>& inputs() const;

  /// Tells plan and report of the job what was taken for granted at this key, once: "job.toml:14: …".
  void note(std::string_view key, const std::string& text) const;
  const std::vector<std::string>& notes() const;

  /// The whole file as it was, followed by the overrides and arguments as comments.
  const std::string& source() const;
  const std::string& name() const;
  const std::filesystem::path& folder() const;

 private:
  struct Node;
  struct Document;
  Config(std::shared_ptr<const Document> document, const Node* node, std::string path)
      : document_(std::move(document)), node_(node), path_(std::move(path)) {}
  const Node* find(std::string_view key) const;
  /// The name by which the table has a key: its own, or its former one.
  std::string_view name_here(std::string_view key) const;
  /// Whether `name` is the former name of a key: then with a note. Throws InputError: both are there.
  bool take_former(std::string_view name) const;
  /// The node of the key, of its default, or an error; nullptr when the default is "none".
  const Node* value(std::string_view key) const;
  const Key* described(std::string_view key) const;
  double as_number(const Node& node, std::string_view key, Quantity quantity, std::string_view what) const;

  std::shared_ptr<const Document> document_;
  const Node* node_ = nullptr;  ///< null: a table that is not in the file
  std::string path_;            ///< "survey"; empty at the root
  std::vector<Key> known_;
};

struct Config::Part {
  std::string name;
  Config job;
};

}  // namespace terrane
