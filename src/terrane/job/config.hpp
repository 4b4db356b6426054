// Reads the job file, a TOML file. Every key has a line number, a default and documentation.
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

struct Contents;  // defined in contents.hpp

/// One key that a table of the job file may have. A list of keys defines the allowed keys, their defaults,
/// the text of error messages, the template of `terrane new` and the reference.
struct Key {
  std::string_view name;
  std::string_view type;      ///< the type as readers see it: "length", "list of 6 lengths", "text"
  std::string_view fallback;  ///< default as TOML text; "" if the key is required, "none" if it may be absent
  std::string_view help;      ///< one sentence
  std::string_view example = {};  ///< TOML text for the template of `terrane new`
  std::string_view former = {};   ///< former name of the key: still accepted, with a note
};

/// One table of the job file.
struct Section {
  std::string_view path;     ///< "mesh", "model.body"
  std::string_view kind;     ///< this list is for tables whose key `kind` has this value; "": for all
  std::string_view summary;  ///< one sentence
  std::span<const Key> keys;
  bool in_template = true;  ///< false: shown only in the reference
};

/// A view of one table of a job file. Copies refer to the same document; getters record which keys were read.
///
/// Every getter uses the defaults of the list passed to describe(). If a key is absent and has no default, it
/// throws InputError: "job.toml:12: survey.height: missing", with the key's help.
/// Numbers with a unit are written "22 km" (text), or as a plain number in the SI unit. A list may have a
/// unit in each entry or one unit at its end: [0, 22, 0, 22, -8, 0, "km"].
class Config {
 public:
  static constexpr std::size_t largest = 16 << 20;  ///< upper limit of a job file, bytes

  struct Options {
    std::vector<std::string> sets;                 ///< "survey.height=100"; the value is TOML or plain text
    std::map<std::string, std::string> arguments;  ///< the values that replace ${name} in texts of the file
    std::shared_ptr<const Contents> contents = nullptr;  ///< content passed in memory in place of files
  };

  /// Throws FileError (cannot be read), InputError (not TOML; a bad --set; an argument that is missing).
  static Config read(const std::filesystem::path& file, const Options& options);
  static Config read(const std::filesystem::path& file) { return read(file, Options()); }
  /// Parses the text of a job. name: name of the text in messages; folder: relative paths start from it.
  static Config parse(std::string_view text, std::string name, std::filesystem::path folder,
                      const Options& options);
  static Config parse(std::string_view text, std::string name = "job.toml",
                      std::filesystem::path folder = {}) {
    return parse(text, std::move(name), std::move(folder), Options());
  }

  /// This table with the list of its allowed keys. Throws InputError at the first key that is not in the
  /// list, and suggests the nearest spelling. Several lists may be joined.
  Config describe(const std::vector<std::span<const Key>>& keys) const;

  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;
  /// A table inside this one; empty if the file does not have it. Throws InputError if the key is not a
  /// table.
  Config table(std::string_view key) const;
  /// [[key]]: every table of the array, in order; one [key] counts as an array of one.
  std::vector<Config> tables(std::string_view key) const;

  double number(std::string_view key, Quantity quantity = Quantity::dimensionless) const;
  /// A number that may be absent or the text "none".
  std::optional<double> optional_number(std::string_view key,
                                        Quantity quantity = Quantity::dimensionless) const;
  /// Like number(), but throws InputError unless the number is above zero.
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

  /// A list of numbers; it must have `expected` entries unless that is 0. Entries may be repetitions such as
  /// "60*20" or "60*20 km"; a list of more than `most` numbers is refused.
  std::vector<double> numbers(std::string_view key, Quantity quantity = Quantity::dimensionless,
                              std::size_t expected = 0, std::size_t most = 100'000'000) const;
  std::vector<std::size_t> counts(std::string_view key, std::size_t expected, std::uint64_t least = 1) const;
  /// A list of texts; a single text counts as a list of one.
  std::vector<std::string> texts(std::string_view key) const;
  /// A list of lists of numbers, each `columns` long, for example the corners of a polygon.
  std::vector<std::vector<double>> rows(std::string_view key, Quantity quantity, std::size_t columns) const;

  /// A path; relative ones start from the folder of the job file.
  std::filesystem::path path(std::string_view key) const;
  /// Like path(), but throws InputError unless the file exists.
  std::filesystem::path input_file(std::string_view key) const;
  std::optional<std::filesystem::path> optional_input_file(std::string_view key) const;
  /// The files that the key names: one file, a list of files, all files of a folder, or those that match a
  /// pattern ("sites/*.edi"), see io/sites.hpp.
  std::vector<std::filesystem::path> input_files(std::string_view key) const;

  /// True when the key holds a text (and not a number or a list).
  bool is_text(std::string_view key) const;
  bool is_list(std::string_view key) const;

  /// The place of a key, "job.toml:14: survey.height", for errors in its value that are found later.
  std::string where(std::string_view key) const;
  /// The place of this table, "job.toml:12: survey".
  std::string where() const;
  InputError wrong(std::string_view key, std::string problem, std::string next = {}) const;

  /// One of the simulations of a job, with all tables that it reads.
  struct Part;
  /// Returns the names of the tables that a simulation reads ("mesh", "survey", ...), given the simulation's
  /// own table.
  using TablesOf = std::function<std::vector<std::string>(const Config& simulation)>;
  /// Whether the job has an array [[simulation]].
  bool has_parts() const;
  /// For each [[simulation]] the tables that it reads, as a job of one simulation (for the rules see
  /// parts.cpp). Throws InputError: a name that is missing, used twice or not valid as a file name; a table
  /// that does not exist or that no simulation reads.
  std::vector<Part> parts(const TablesOf& tables_of) const;

  /// This job, completed by another text: tables and keys that the job lacks are added, as defaults of a
  /// program. name: name of that text in errors.
  Config supposing(std::string_view text, std::string name) const;
  /// Marks the keys that were read in `copy`, which supposing() made, as read in this job.
  void take_reading_of(const Config& copy) const;
  /// Throws InputError for the first key of the whole document that nobody has read.
  void finish() const;

  /// The content passed in memory in place of files; null: none.
  const Contents* contents() const;
  /// The files that this job reads: the job file itself, if there is one, and all files from input_file() so
  /// far.
  const std::vector<std::filesystem::path>& inputs() const;

  /// Adds to the plan and the report of the job, once, an assumption made at this key: "job.toml:14: …".
  void note(std::string_view key, const std::string& text) const;
  const std::vector<std::string>& notes() const;

  /// The unchanged text of the file, followed by the overrides and arguments as comments.
  const std::string& source() const;
  const std::string& name() const;
  const std::filesystem::path& folder() const;

 private:
  struct Node;
  struct Document;
  Config(std::shared_ptr<const Document> document, const Node* node, std::string path)
      : document_(std::move(document)), node_(node), path_(std::move(path)) {}
  const Node* find(std::string_view key) const;
  /// The name under which the table has a key: its present or its former name.
  std::string_view name_here(std::string_view key) const;
  /// Whether `name` is the former name of a key; if so, adds a note. Throws InputError if the table has both
  /// names.
  bool take_former(std::string_view name) const;
  /// The node of the key or, if the key is absent, of its default; nullptr if the default is "none". Throws
  /// InputError if there is neither.
  const Node* value(std::string_view key) const;
  const Key* described(std::string_view key) const;
  double as_number(const Node& node, std::string_view key, Quantity quantity, std::string_view what) const;

  std::shared_ptr<const Document> document_;
  const Node* node_ = nullptr;  ///< null if the file does not have this table
  std::string path_;            ///< "survey"; empty at the root
  std::vector<Key> known_;
};

struct Config::Part {
  std::string name;
  Config job;
};

}  // namespace terrane
