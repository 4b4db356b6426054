#include "terrane/job/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <sstream>
#include <variant>

#include "terrane/base/number.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/sites.hpp"
#include "terrane/job/config_node.hpp"

#define TOML_ENABLE_FORMATTERS 0
// toml++ assumes that some invalid texts cannot occur: it then ends the program or, with NDEBUG, has
// undefined behaviour. These headers define its macros for such assumptions; they are redefined to throw an
// exception.
#if __has_include(<toml++/impl/preprocessor.hpp>)  // from version 3.4 on
#include <toml++/impl/forward_declarations.hpp>
#include <toml++/impl/preprocessor.hpp>
#else
#include <toml++/impl/forward_declarations.h>
#include <toml++/impl/preprocessor.h>
#endif

namespace {
/// Thrown when toml++ reaches a case that it assumes impossible.
struct ParserIsLost {};
constexpr void bear(bool possible) {
  if (!possible) throw ParserIsLost();
}
}  // namespace

#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#undef TOML_UNREACHABLE
// The functions of this header that classify characters must not throw. toml++ assumes that they never get
// some characters, such as U+00A1 to U+0499; these are not spaces, so the functions return false for them.
#define TOML_UNREACHABLE return false
#define TOML_ASSERT_ASSUME(condition) static_assert(true)
#if __has_include(<toml++/impl/unicode.hpp>)
#include <toml++/impl/unicode.hpp>
#else
#include <toml++/impl/unicode.h>
#endif
#undef TOML_UNREACHABLE
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(condition) ::bear(static_cast<bool>(condition))
#define TOML_ASSERT_ASSUME(condition) ::bear(static_cast<bool>(condition))
#define TOML_UNREACHABLE (::bear(false), __builtin_unreachable())
#include <toml++/toml.h>

namespace terrane {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The number at the start of a text, and the rest of the text. Accepts "+5", ".5", "1e3".
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = read_number(text, value);
  if (error != std::errc{}) return std::nullopt;
  return std::pair{value, trimmed(text.substr(static_cast<std::size_t>(end - text.data())))};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? fmt::format("\"{}\"", text)
                                : fmt::format("\"{}…\"", text.substr(0, longest));
}

}  // namespace

namespace config_detail {

template <class Node, class Convert>
Node list_of(const toml::array& array, const std::string& place, Convert&& convert) {
  typename Node::List items;
  for (const auto& item : array) items.push_back(convert(item));
  Node node;
  node.value = std::move(items);
  node.place = place;
  return node;
}

/// Copies a node of toml++ with all nodes inside it. place_of(line): the place in messages, "job.toml:14", or
/// the override that the text came from
template <class Node, class PlaceOf>
Node converted(const toml::node& source, std::uint32_t key_line, const PlaceOf& place_of) {
  const auto line = source.source().begin.line ? source.source().begin.line : key_line;
  Node node;
  node.place = place_of(line);
  if (const auto* table = source.as_table()) {
    typename Node::Table entries;
    for (const auto& [key, child] : *table) {
      auto entry = converted<Node>(child, key.source().begin.line, place_of);
      // The line of a key is the one with its name, even if its list ends further down.
      if (key.source().begin.line && !child.is_table() && !child.is_array_of_tables())
        entry.place = place_of(key.source().begin.line);
      entries.push_back({std::string(key.str()), std::move(entry)});
    }
    node.value = std::move(entries);
  } else if (const auto* array = source.as_array()) {
    return list_of<Node>(*array, node.place, [&](const toml::node& item) {
      return converted<Node>(item, static_cast<std::uint32_t>(line), place_of);
    });
  } else if (const auto* text = source.as_string()) {
    node.value = text->get();
  } else if (const auto* whole = source.as_integer()) {
    node.value = whole->get();
  } else if (const auto* real = source.as_floating_point()) {
    node.value = real->get();
  } else if (const auto* truth = source.as_boolean()) {
    node.value = truth->get();
  } else {
    throw InputError(node.place, "dates and times have no use in a job file");
  }
  return node;
}

/// Assigns a value to a dotted key. The dots lead into tables, which are created if absent, and into lists of
/// tables, whose entries are selected by index or `name`; any other word is a key of every entry of the list.
template <class Node>
struct Assignment {
  const std::string& path;
  const Node& value;
  const std::string& place;  // place of the value, for messages

  /// at: the node that the first `begin` characters of the path lead to
  void operator()(Node& at, std::size_t begin) const {
    if (begin > path.size()) {
      at = value;
      return;
    }
    const auto dot = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, dot - begin);
    if (auto* list = std::get_if<typename Node::List>(&at.value)) {
      if (auto* entry = entry_of(*list, part)) return (*this)(*entry, dot + 1);
      for (auto& entry : *list) (*this)(entry, begin);
    } else if (auto* table = std::get_if<typename Node::Table>(&at.value)) {
      auto found = std::find_if(table->begin(), table->end(), [&](auto& e) { return e.first == part; });
      if (found == table->end()) {
        Node fresh;
        fresh.value = typename Node::Table{};
        fresh.place = place;
        table->push_back({part, std::move(fresh)});
        found = std::prev(table->end());
      }
      (*this)(found->second, dot + 1);
    } else {
      throw InputError(place, fmt::format("nothing can stand below \"{}\": it is {}",
                                          path.substr(0, begin == 0 ? 0 : begin - 1), at.type_name()));
    }
  }

 private:
  /// The entry of a list of tables that this part of the key selects; null: the part is a key of the entries.
  Node* entry_of(typename Node::List& list, const std::string& part) const {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool number = error == std::errc{} && end == part.data() + part.size();
    if (number && index < list.size()) return &list[index];
    bool tables = !number;
    for (auto& entry : list) {
      const auto* name = entry.entry("name");
      tables = tables && entry.table();
      if (name && name->text() && *name->text() == part) return &entry;
    }
    if (tables) return nullptr;
    throw InputError(place, fmt::format("\"{}\" is not an entry of this list", part),
                     fmt::format("Entries are counted from 0 to {}.", list.size() - 1));
  }
};

}  // namespace config_detail

using config_detail::converted;

namespace {

void check_size(std::string_view text, const std::string& name) {
  if (text.size() > Config::largest)
    throw InputError(name, fmt::format("more than {} bytes are too many for a job file", Config::largest),
                     "`terrane info FILE` tells what a data file holds.");
  if (const auto zero = text.find('\0'); zero != text.npos)
    throw InputError(
        fmt::format("{}:{}", name,
                    1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n')),
        "a zero byte stands where text belongs", "The job file is TOML: key = value.");
}

/// Throws InputError if keys nest tables absurdly deep: each dot of a key opens a table in a table, and the
/// parser and all code that visits tables recurse to the same depth.
class KeyDepth {
 public:
  explicit KeyDepth(const std::string& name, bool on_command_line = false)
      : name_(name), on_command_line_(on_command_line) {}
  /// For the command line: whether the value is a plain word, which is no TOML but needs no quotes there.
  bool plain_word() const { return plain_word_; }

  void check(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '\n') ++line_;
      refuse_what_the_parser_does_not_bear(text, at);
      refuse_long_words(c);
      if (c == '"' || c == '\'') at = end_of_text(text, at);
      else if (c == '#') at = std::min(text.find('\n', at), text.size()) - 1;
      else if (c == '.') add(1);
      else if (c == '{') open_.push_back(0);
      else if (c == '}' && open_.size() > 1) close();
      else if (c == ',' || (c == '\n' && open_.size() == 1)) add(-open_.back());
    }
  }

 private:
  void add(int dots) {
    open_.back() += dots;
    depth_ += dots;
    if (depth_ > most)
      throw InputError(fmt::format("{}:{}", name_, line_),
                       fmt::format("tables are nested more than {} deep", most),
                       "Keys have a few parts: survey.height = 100.");
  }
  /// Refuses a table's name that begins with an invalid character, unbalanced brackets, and non-ASCII
  /// characters outside quotes and comments: none is TOML, but toml++ 3.3 assumes that they cannot occur.
  void refuse_what_the_parser_does_not_bear(std::string_view text, std::size_t at) {
    if (static_cast<unsigned char>(text[at]) >= 0x80) {
      if (on_command_line_) {
        plain_word_ = true;
        return;
      }
      throw InputError(fmt::format("{}:{}", name_, line_),
                       "this is not TOML: a letter beyond ASCII without quotes",
                       "Texts stand in quotes: title = \"Größe\".");
    }
    const char c = text[at];
    if (c == '\n' && in_name_) nesting_.clear();
    if ((c == ']' || c == '}') && !nesting_.empty()) {
      if (nesting_.back() != (c == ']' ? '[' : '{'))
        throw InputError(fmt::format("{}:{}", name_, line_),
                         fmt::format("this is not TOML: '{}' closes nothing", c),
                         "Every [ has its ], and every { its }.");
      nesting_.pop_back();
    }
    if (nesting_.empty()) in_name_ = false;
    if (c == '[' || c == '{') nesting_ += c;
    if (nesting_ != "[" || c != '[') return;
    const auto before = text.substr(0, at).find_last_not_of(" \t");
    in_name_ = before == text.npos || text[before] != '=';
    if (!in_name_) return;
    const auto first = text.find_first_not_of(" \t", at + (text.substr(at, 2) == "[[" ? 2 : 1));
    constexpr std::string_view begins_names =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-\"']";
    if (first != text.npos && begins_names.find(text[first]) == begins_names.npos)
      throw InputError(fmt::format("{}:{}", name_, line_), "this is not TOML",
                       "A table's name stands in brackets, of letters, digits, - and _: [mesh].");
  }
  /// Refuses long names and numbers without quotes: toml++ keeps only a limited number of past characters,
  /// and checks that in code that may not throw.
  void refuse_long_words(char c) {
    constexpr std::string_view between_words = " \t\r\n\"'#=,.[]{}";
    word_ = between_words.find(c) == between_words.npos ? word_ + 1 : 0;
    if (word_ <= most) return;
    if (!on_command_line_)
      throw InputError(fmt::format("{}:{}", name_, line_),
                       fmt::format("a word of more than {} letters without quotes", most),
                       "Texts stand in quotes: title = \"A spring\".");
    plain_word_ = true;
  }
  void close() {
    add(-open_.back());
    open_.pop_back();
  }
  /// The index of the quote that ends the text starting at `at`; the last character if the text does not end.
  std::size_t end_of_text(std::string_view text, std::size_t at) {
    const char quote = text[at];
    // At most eight quotes in a row are valid TOML; toml++ needs quadratic time for a long row of quotes.
    if (std::min(text.find_first_not_of(quote, at), text.size()) - at > most)
      throw InputError(fmt::format("{}:{}", name_, line_), fmt::format("a row of more than {} quotes", most),
                       "Texts stand in quotes: title = \"A spring\".");
    const bool long_one = text.substr(at, 3) == std::string(3, quote);
    for (std::size_t end = at + (long_one ? 3 : 1); end < text.size(); ++end) {
      if (text[end] == '\\' && quote == '"') ++end;
      else if (long_one && text.substr(end, 3) == std::string(3, quote))
        return std::min(text.find_first_not_of(quote, end), std::min(end + 5, text.size())) - 1;
      else if (!long_one && (text[end] == quote || text[end] == '\n'))
        return text[end] == '\n' ? end - 1 : end;
      if (end < text.size() && text[end] == '\n') ++line_;
    }
    return text.size() - 1;
  }

  static constexpr int most = 100;
  const std::string& name_;
  std::size_t line_ = 1;
  std::vector<int> open_{0};  // number of dots of the current key, for each open pair of braces
  int depth_ = 0, word_ = 0;
  bool on_command_line_, plain_word_ = false;
  std::string nesting_;   // the brackets and braces that are open
  bool in_name_ = false;  // whether the current character is inside the name of a table
};

toml::table parsed(std::string_view text, const std::string& name) {
  constexpr auto next_move = "The job file is TOML: key = value, texts in quotes, tables in [brackets].";
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}", name, error.source().begin.line), std::string(error.description()),
                     next_move);
  } catch (const ParserIsLost&) {
    throw InputError(name, "this is not TOML, and the parser cannot say where", next_move);
  }
}

}  // namespace

Config Config::read(const std::filesystem::path& file, const Options& options) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status))
    throw FileError(file.string(), "this is a folder, not a job file", "Name the .toml file inside it.");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw FileError(file.string(), "the job file cannot be opened",
                    "`terrane new gravity > job.toml` writes one that runs.");
  std::string text;  // read in blocks up to `largest`: a device file may never end
  std::array<char, 65536> part;
  while (text.size() <= largest &&
         (stream.read(part.data(), static_cast<std::streamsize>(part.size())), stream.gcount() > 0))
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw FileError(file.string(), "the job file cannot be read to its end");
  auto job = parse(text, file.string(), file.parent_path(), options);
  job.document_->inputs.push_back(file);
  return job;
}

namespace {

/// Applies --set key=value. A value that is not TOML is used as a text: a plain word needs no quotes on the
/// command line.
template <class Node>
void override_by(Node& root, const std::string& set) {
  const auto equals = set.find('=');
  const std::string place = "--set " + set;
  if (equals == set.npos || equals == 0)
    throw InputError(place, "an override reads key=value", "For example --set survey.height=100");
  KeyDepth depth(place, true);
  depth.check(set);
  const std::string path(trimmed(std::string_view(set).substr(0, equals)));
  const std::string given(trimmed(std::string_view(set).substr(equals + 1)));
  Node value;
  value.value = given;
  value.place = place;
  if (!depth.plain_word()) try {
      auto table = toml::parse("x = " + given);
      value = converted<Node>(*table.get("x"), 1, [&](auto) { return place; });
    } catch (const toml::parse_error&) {
    } catch (const ParserIsLost&) {
    }
  config_detail::Assignment<Node>{path, value, place}(root, 0);
}

/// Replaces ${name} in all texts by the arguments' values. path: the dotted key of the node
template <class Node, class Arguments>
void put_arguments(Node& node, const Arguments& arguments, const std::string& path) {
  if (auto* table = std::get_if<typename Node::Table>(&node.value)) {
    for (auto& [key, child] : *table) put_arguments(child, arguments, path.empty() ? key : path + "." + key);
  } else if (auto* list = std::get_if<typename Node::List>(&node.value)) {
    for (auto& child : *list) put_arguments(child, arguments, path);
  } else if (auto* content = std::get_if<std::string>(&node.value)) {
    for (auto at = content->find("${"); at != content->npos; at = content->find("${", at)) {
      const auto end = content->find('}', at);
      if (end == content->npos) break;
      const std::string argument = content->substr(at + 2, end - at - 2);
      const auto found = arguments.find(argument);
      if (found == arguments.end())
        throw InputError(fmt::format("{}: {}", node.place, path),
                         fmt::format("the job needs the argument \"{}\"", argument),
                         argument == "data" ? "Give it with --data FOLDER."
                                            : fmt::format("Give it with --arg {}=VALUE.", argument));
      content->replace(at, end - at + 1, found->second);
      at += found->second.size();
    }
  }
}

}  // namespace

Config Config::parse(std::string_view text, std::string name, std::filesystem::path folder,
                     const Options& options) {
  check_size(text, name);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // the byte order mark that some editors write
  KeyDepth(name).check(text);
  auto document = std::make_shared<Document>();
  document->name = std::move(name);
  document->folder = std::move(folder);
  document->contents = options.contents;
  document->source = std::string(text);
  document->root = converted<Node>(parsed(text, document->name), 1,
                                   [&](auto line) { return fmt::format("{}:{}", document->name, line); });
  document->root.place = document->name;

  const auto remark = [&](std::string_view option, std::string_view given) {
    document->source +=
        fmt::format("{}# {} {}\n", document->source.ends_with('\n') ? "" : "\n", option, given);
  };
  for (const auto& set : options.sets) {
    override_by<Node>(document->root, set);
    remark("--set", set);
  }
  put_arguments(document->root, options.arguments, "");
  for (const auto& [argument, given] : options.arguments) remark("--arg", argument + "=" + given);
  const Node* root = &document->root;
  return Config(std::move(document), root, "");
}

Config Config::describe(const std::vector<std::span<const Key>>& lists) const {
  Config described = *this;
  described.known_.clear();
  for (const auto list : lists) described.known_.insert(described.known_.end(), list.begin(), list.end());
  if (node_) {
    std::vector<std::string_view> names;
    for (const auto& key : described.known_) names.push_back(key.name);
    for (const auto& [key, child] : *node_->table())
      if (std::find(names.begin(), names.end(), key) == names.end() && !described.take_former(key))
        throw InputError(
            where(key), "this key is not known here." + did_you_mean(key, names),
            fmt::format("Allowed{}: {}.", path_.empty() ? "" : " in [" + path_ + "]", joined(names)));
  }
  return described;
}

bool Config::take_former(std::string_view name) const {
  const auto now =
      std::find_if(known_.begin(), known_.end(), [&](const Key& key) { return key.former == name; });
  if (now == known_.end()) return false;
  if (node_->entry(now->name))
    throw InputError(where(name), fmt::format("this key is now called {}, which is there, too", now->name),
                     "Leave one of them out.");
  note(name, fmt::format("this key is now called {}", now->name));
  return true;
}

std::string_view Config::name_here(std::string_view key) const {
  if (!node_ || node_->entry(key)) return key;
  const auto* known = described(key);
  return known && !known->former.empty() && node_->entry(known->former) ? known->former : key;
}

const Config::Node* Config::find(std::string_view key) const {
  const auto* child = node_ ? node_->entry(name_here(key)) : nullptr;
  if (child) child->read = true;
  return child;
}

const Key* Config::described(std::string_view key) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Key& k) { return k.name == key; });
  return found == known_.end() ? nullptr : &*found;
}

const Config::Node* Config::value(std::string_view key) const {
  if (const auto* node = find(key)) return node;
  const auto* description = described(key);
  if (description && description->fallback == "none") return nullptr;
  if (description && !description->fallback.empty()) {
    auto table = toml::parse(fmt::format("x = {}", description->fallback));
    auto node = converted<Node>(*table.get("x"), 1, [&](auto) { return std::string("default"); });
    document_->defaults.push_back(std::move(node));
    return &document_->defaults.back();
  }
  throw InputError(
      where(key), "missing",
      description ? fmt::format("{} ({}): {}", key, description->type, description->help) : std::string());
}

bool Config::has(std::string_view key) const { return node_ && node_->entry(name_here(key)); }

std::vector<std::string> Config::keys() const {
  std::vector<std::string> names;
  if (node_)
    for (const auto& [key, child] : *node_->table()) names.push_back(key);
  return names;
}

Config Config::table(std::string_view key) const {
  const std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  const auto* node = find(key);
  if (node && node->list() && !node->list()->empty() && node->list()->front().table())  // a list of tables,
                                                                                        // such as [[source]]
    throw wrong(key, fmt::format("of [[{}]] there is one here", path),
                fmt::format("Write [{}] once; keys of it that take several values take a list.", path));
  if (node && !node->table())
    throw wrong(key, fmt::format("a table is needed here, not {}", node->type_name()),
                fmt::format("Write [{}] on a line of its own, its keys below.", path));
  return Config(document_, node, path);
}

std::vector<Config> Config::tables(std::string_view key) const {
  const auto* node = find(key);
  if (!node) return {};
  if (node->table()) return {table(key)};
  const std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  std::vector<Config> all;
  if (const auto* list = node->list()) {
    for (const auto& item : *list) {
      if (!item.table()) break;
      item.read = true;
      all.push_back(Config(document_, &item, fmt::format("{}[{}]", path, all.size())));
    }
    if (all.size() == list->size()) return all;
  }
  throw wrong(key, "tables are needed here", fmt::format("Write [[{}]] above each.", path));
}

std::string Config::where() const {
  const std::string place = node_ ? node_->place : document_->name;
  return path_.empty() ? place : fmt::format("{}: {}", place, path_);
}

std::string Config::where(std::string_view wanted) const {
  const auto key = name_here(wanted);
  constexpr std::size_t longest = 100;  // longest text of a key in a message, bytes
  const auto named = key.size() > longest ? std::string(key.substr(0, longest)) + "…" : std::string(key);
  const std::string path = path_.empty() ? named : fmt::format("{}.{}", path_, named);
  if (node_)
    for (const auto& [name, child] : *node_->table())
      if (name == key) return fmt::format("{}: {}", child.place, path);
  return fmt::format("{}: {}", node_ ? node_->place : document_->name, path);
}

InputError Config::wrong(std::string_view key, std::string problem, std::string next) const {
  if (next.empty())
    if (const auto* description = described(key))
      next = fmt::format("{} ({}): {}", key, description->type, description->help);
  return InputError(where(key), std::move(problem), std::move(next));
}

namespace {

/// The largest SI value that is accepted: larger ones are typing errors, and their squares would overflow.
double largest_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::length:
      return 1e15;        // m; a tenth of a light year: beyond it the formulas lose their meaning
    case Quantity::time:  // s; about twice the age of the universe
    case Quantity::frequency:
      return 1e18;
    case Quantity::velocity:
      return 299'792'458;  // speed of light
    case Quantity::conductivity:
      return 1e12;  // S/m; about 10⁴ times the conductivity of silver
    case Quantity::dimensionless:
      return 1e100;
    default:
      return 1e30;
  }
}

/// The smallest accepted value of quantities that must be above zero: lengths, times and so on.
double smallest_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::length:
      return 1e-12;
    case Quantity::time:
    case Quantity::frequency:
      return 1e-18;
    default:
      return 0;
  }
}

}  // namespace

double Config::as_number(const Node& node, std::string_view key, Quantity quantity,
                         std::string_view what) const {
  double number = 0;
  const auto units = [&] {
    return quantity == Quantity::dimensionless
               ? std::string("Write a plain number.")
               : fmt::format(
                     "Write a plain number in {}, or a text with the unit, such as \"22 {}\"."
                     " Units: {}.",
                     si_unit(quantity), quantity == Quantity::length ? "km" : si_unit(quantity),
                     allowed_units(quantity));
  };
  if (const auto* real = std::get_if<double>(&node.value)) {
    number = *real;
  } else if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
    number = static_cast<double>(*whole);
  } else if (const auto* text = node.text()) {
    const auto split = leading_number(*text);
    if (!split) throw wrong(key, fmt::format("{}{} is not a number", what, in_quotes(*text)), units());
    number = split->first;
    if (!split->second.empty()) {
      if (quantity == Quantity::dimensionless)
        throw wrong(key, fmt::format("{}{} has a unit, and this number has none", what, in_quotes(*text)));
      try {
        number *= si_factor(quantity, split->second);
      } catch (const InputError& error) {
        throw wrong(key, fmt::format("{}{}", what, error.problem()), error.next());
      }
    }
  } else {
    throw wrong(key, fmt::format("{}a number is needed here, not {}", what, node.type_name()), units());
  }
  if (!std::isfinite(number)) throw wrong(key, fmt::format("{}{} is not a finite number", what, number));
  if (const double most = largest_of(quantity); std::abs(number) > most)
    throw wrong(key,
                fmt::format("{}{:g} {} is beyond all that this computes with", what, number,
                            quantity == Quantity::dimensionless ? "" : si_unit(quantity)),
                fmt::format("Allowed: up to {:g}.", most));
  constexpr double least_of_rock = 1e-12;
  if ((quantity == Quantity::resistivity || quantity == Quantity::velocity) && number != 0 &&
      std::abs(number) < least_of_rock)
    throw wrong(key, fmt::format("{}{:g} {} is less than anything has", what, number, si_unit(quantity)),
                fmt::format("Allowed: {:g} and more.", least_of_rock));
  return number;
}

double Config::number(std::string_view key, Quantity quantity) const {
  const auto* node = value(key);
  if (!node) throw InputError(where(key), "missing");
  return as_number(*node, key, quantity, "");
}

std::optional<double> Config::optional_number(std::string_view key, Quantity quantity) const {
  const auto* node = value(key);
  if (!node || (node->text() && *node->text() == "none")) return std::nullopt;
  return as_number(*node, key, quantity, "");
}

double Config::positive(std::string_view key, Quantity quantity) const {
  const double number = this->number(key, quantity);
  if (!(number > 0)) throw wrong(key, fmt::format("{} is not more than zero", number));
  if (const double least = smallest_of(quantity); number < least)
    throw wrong(key,
                fmt::format("{:g} {} is smaller than all that this computes with", number, si_unit(quantity)),
                fmt::format("Allowed: {:g} and more.", least));
  return number;
}

std::uint64_t Config::count(std::string_view key, std::uint64_t least, std::uint64_t most) const {
  const double number = this->number(key);
  if (number != std::floor(number)) throw wrong(key, fmt::format("{} is not a whole number", number));
  if (number < static_cast<double>(least) || number > static_cast<double>(most))
    throw wrong(key, fmt::format("{} is not between {} and {}", number, least, most));
  return static_cast<std::uint64_t>(number);
}

bool Config::flag(std::string_view key) const {
  const auto* node = value(key);
  if (node)
    if (const auto* truth = std::get_if<bool>(&node->value)) return *truth;
  throw wrong(key, "true or false is needed here", "Write true or false, without quotes.");
}

std::string Config::text(std::string_view key) const {
  const auto* node = value(key);
  if (!node) throw InputError(where(key), "missing");
  if (const auto* content = node->text()) {
    if (content->find('\0') != content->npos) throw wrong(key, "the text holds a zero byte");
    return *content;
  }
  throw wrong(key, fmt::format("a text is needed here, not {}", node->type_name()));
}

std::optional<std::string> Config::optional_text(std::string_view key) const {
  return value(key) ? std::optional(text(key)) : std::nullopt;
}

std::string Config::choice(std::string_view key, std::span<const std::string_view> allowed) const {
  const std::string chosen = text(key);
  if (std::find(allowed.begin(), allowed.end(), chosen) == allowed.end())
    throw wrong(key, fmt::format("{} is not known.{}", in_quotes(chosen), did_you_mean(chosen, allowed)),
                fmt::format("Allowed: {}.", joined(allowed)));
  return chosen;
}

std::vector<double> Config::numbers(std::string_view key, Quantity quantity, std::size_t expected,
                                    std::size_t most) const {
  const auto* node = value(key);
  if (!node) throw InputError(where(key), "missing");
  // A list of one number may lack brackets: percent = 5, frequencies = "4 Hz", easting_widths = "60*20".
  const bool alone = std::holds_alternative<double>(node->value) ||
                     std::holds_alternative<std::int64_t>(node->value) ||
                     (node->text() && leading_number(*node->text()));
  const Node::List of_one = alone ? Node::List{*node} : Node::List{};
  const auto* list = alone ? &of_one : node->list();
  if (!list) throw wrong(key, fmt::format("a list of numbers is needed here, not {}", node->type_name()));

  // A unit at the end of a list applies to all its numbers.
  double factor = 1;
  std::size_t entries = list->size();
  if (entries > 1 && list->back().text() && !leading_number(*list->back().text()) &&
      list->back().text()->find('*') == std::string::npos) {
    try {
      factor = si_factor(quantity, *list->back().text());
    } catch (const InputError& error) {
      throw wrong(key, error.problem(), error.next());
    }
    --entries;
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < entries; ++i) {
    const Node& item = (*list)[i];
    const std::string what = fmt::format("entry {}: ", i + 1);
    if (item.text()) {
      if (const auto star = item.text()->find('*'); star != std::string::npos) {
        const auto repeat = leading_number(std::string_view(*item.text()).substr(0, star));
        if (!repeat || !repeat->second.empty() || repeat->first < 1 ||
            repeat->first != std::floor(repeat->first))
          throw wrong(key, fmt::format("{}{} is not a run such as \"60*20\"", what, in_quotes(*item.text())));
        if (repeat->first > static_cast<double>(most - values.size()))
          throw wrong(key,
                      fmt::format("{}{} asks for more than {} numbers", what, in_quotes(*item.text()), most));
        Node single;
        single.value = item.text()->substr(star + 1);
        single.place = item.place;
        const auto run_value = as_number(single, key, quantity, what);
        const bool own_unit = !leading_number(*single.text())->second.empty();
        values.insert(values.end(), static_cast<std::size_t>(repeat->first),
                      run_value * (own_unit ? 1 : factor));
        continue;
      }
    }
    const auto split = item.text() ? leading_number(*item.text()) : std::nullopt;
    const bool own_unit = split && !split->second.empty();
    values.push_back(as_number(item, key, quantity, what) * (own_unit ? 1 : factor));
  }
  if (expected && values.size() != expected)
    throw wrong(key, fmt::format("{} numbers are needed, {} given", expected, values.size()));
  return values;
}

std::vector<std::size_t> Config::counts(std::string_view key, std::size_t expected,
                                        std::uint64_t least) const {
  std::vector<std::size_t> whole;
  for (const double number : numbers(key, Quantity::dimensionless, expected)) {
    if (number != std::floor(number) || number < static_cast<double>(least) || number > 0x1p53)
      throw wrong(key, fmt::format("{} is not a whole number of at least {}", number, least));
    whole.push_back(static_cast<std::size_t>(number));
  }
  return whole;
}

std::vector<std::string> Config::texts(std::string_view key) const {
  const auto* node = value(key);
  if (!node) return {};
  if (node->text()) return {text(key)};
  std::vector<std::string> all;
  if (const auto* list = node->list()) {
    for (const auto& item : *list) {
      if (!item.text())
        throw wrong(key, fmt::format("entry {}: a text is needed, not {}", all.size() + 1, item.type_name()));
      if (item.text()->find('\0') != std::string::npos)
        throw wrong(key, fmt::format("entry {}: the text holds a zero byte", all.size() + 1));
      all.push_back(*item.text());
    }
    return all;
  }
  throw wrong(key, fmt::format("a list of texts is needed here, not {}", node->type_name()));
}

std::vector<std::vector<double>> Config::rows(std::string_view key, Quantity quantity,
                                              std::size_t columns) const {
  const auto* node = value(key);
  if (!node) throw InputError(where(key), "missing");
  const auto* list = node->list();
  if (!list) throw wrong(key, fmt::format("a list of lists is needed here, not {}", node->type_name()));
  // A list of one row may lack its outer brackets: at = [1000, 0, -20].
  const bool single = list->size() >= columns && list->size() <= columns + 1 && !list->front().list();
  double factor = 1;
  std::size_t entries = list->size();
  if (entries > (single ? columns : 1) && list->back().text()) {
    try {
      factor = si_factor(quantity, *list->back().text());
    } catch (const InputError& error) {
      throw wrong(key, error.problem(), error.next());
    }
    --entries;
  }
  std::vector<std::vector<double>> all;
  if (single && entries == columns) {
    auto& numbers = all.emplace_back();
    for (std::size_t i = 0; i < columns; ++i)
      numbers.push_back(as_number((*list)[i], key, quantity, "") * ((*list)[i].text() ? 1 : factor));
    return all;
  }
  for (std::size_t i = 0; i < entries; ++i) {
    const auto* row = (*list)[i].list();
    if (!row || row->size() != columns)
      throw wrong(key, fmt::format("entry {}: a list of {} numbers is needed", i + 1, columns));
    std::vector<double> numbers;
    for (const auto& item : *row)
      numbers.push_back(as_number(item, key, quantity, fmt::format("entry {}: ", i + 1)) *
                        (item.text() ? 1 : factor));
    all.push_back(std::move(numbers));
  }
  return all;
}

std::filesystem::path Config::path(std::string_view key) const {
  const std::string given = text(key);
  if (given.empty()) throw wrong(key, "the path is empty");
  return document_->folder / given;
}

std::filesystem::path Config::input_file(std::string_view key) const {
  auto file = path(key);
  std::error_code status;
  if (!std::filesystem::exists(file, status))
    throw wrong(key, fmt::format("the file {} does not exist", in_quotes(file.string())),
                "Relative paths start from the folder of the job file.");
  document_->inputs.push_back(file);
  return file;
}

std::optional<std::filesystem::path> Config::optional_input_file(std::string_view key) const {
  return value(key) ? std::optional(input_file(key)) : std::nullopt;
}

std::vector<std::filesystem::path> Config::input_files(std::string_view key) const {
  const auto given = texts(key);
  if (given.empty()) throw wrong(key, "there are no files");
  std::vector<std::filesystem::path> files;
  for (const auto& name : given) {
    if (name.empty()) throw wrong(key, "the path is empty");
    std::vector<std::string> named;
    try {
      named = io::files_named((document_->folder / name).string());
    } catch (const FileError& error) {
      throw wrong(key, fmt::format("{}: {}", in_quotes(error.where()), error.problem()), error.next());
    }
    for (const auto& file : named) {
      std::error_code status;
      if (!std::filesystem::exists(file, status))
        throw wrong(key, fmt::format("the file {} does not exist", in_quotes(file)),
                    "Relative paths start from the folder of the job file.");
      files.emplace_back(file);
      document_->inputs.emplace_back(file);
    }
  }
  return files;
}

bool Config::is_text(std::string_view key) const {
  const auto* node = find(key);
  return node && node->text();
}

bool Config::is_list(std::string_view key) const {
  const auto* node = find(key);
  return node && node->list();
}

const Contents* Config::contents() const { return document_->contents.get(); }

void Config::finish() const {
  const auto visit = [&](auto&& self, const Node& node, const std::string& path) -> void {
    if (const auto* table = node.table()) {
      for (const auto& [key, child] : *table) {
        const std::string below = path.empty() ? key : path + "." + key;
        if (!child.read)
          throw InputError(fmt::format("{}: {}", child.place, below), "this key has no effect in this job",
                           "Remove it, or choose the kind that uses it.");
        self(self, child, below);
      }
    } else if (const auto* list = node.list()) {
      for (const auto& item : *list) self(self, item, path);
    }
  };
  visit(visit, document_->root, "");
}

const std::vector<std::filesystem::path>& Config::inputs() const { return document_->inputs; }

void Config::note(std::string_view key, const std::string& text) const {
  auto said = fmt::format("{}: {}", where(key), text);
  auto& notes = document_->notes;
  if (std::find(notes.begin(), notes.end(), said) == notes.end()) notes.push_back(std::move(said));
}
const std::vector<std::string>& Config::notes() const { return document_->notes; }

const std::string& Config::source() const { return document_->source; }
const std::string& Config::name() const { return document_->name; }
const std::filesystem::path& Config::folder() const { return document_->folder; }

}  // namespace terrane
