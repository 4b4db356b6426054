#include "terrane/job/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "terrane/model/properties.hpp"

namespace terrane {

namespace {

constexpr std::size_t width = 100;

/// Breaks a sentence into comment lines.
std::string comment(std::string_view text, std::string_view start = "# ") {
  std::string out, line(start);
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (line.size() > start.size() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = start;
    }
    if (line.size() > start.size()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + line + "\n";
}

/// The heading of a table: "[survey]"; "[[model.body]]" if the table above has a key `body` of the type
/// "tables".
std::string heading_of(std::string_view path, std::span<const Section> sections) {
  const auto dot = path.rfind('.');
  for (const auto& section : sections)
    if (dot != path.npos && section.path == path.substr(0, dot))
      for (const auto& key : section.keys)
        if (key.name == path.substr(dot + 1) && key.type == "tables") return fmt::format("[[{}]]", path);
  return fmt::format("[{}]", path);
}

std::string without_pipes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string row(const Key& key) {
  return fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.type,
                     key.fallback.empty()     ? "must be given"
                     : key.fallback == "none" ? "none"
                                              : fmt::format("`{}`", key.fallback),
                     without_pipes(key.help));
}

/// The Markdown rows of a table of keys in the reference.
std::string rows(std::span<const Key> keys) {
  std::string text;
  for (const auto& key : keys) text += row(key);
  return text;
}

constexpr auto table_head = "| key | type | default | |\n|---|---|---|---|\n";

bool is_property(const Key& key) { return find_property(key.name) != nullptr; }

/// Whether a table may have more than `few` properties of rock.
bool holds_rock(const Section& section) {
  constexpr std::ptrdiff_t few = 10;
  return std::count_if(section.keys.begin(), section.keys.end(), is_property) > few;
}

/// The Markdown rows of a table of keys, as rows() returns, but one row for all properties of rock.
std::string rows_of_rock(std::span<const Key> keys) {
  std::string text;
  bool told = false;
  for (const auto& key : keys) {
    if (!is_property(key)) text += row(key);
    else if (!told)
      text += "| *property* | number or text | none | Each of the [properties](#properties). |\n";
    told = told || is_property(key);
  }
  return text;
}

/// The anchor of a heading for links (after #): the heading without punctuation.
std::string anchor_of(std::string_view path) {
  std::string out;
  for (const char c : path)
    if (c != '.') out += c;
  return out;
}

/// Headings and tables of sections. leave: sections that are on another page
std::string tables_of(std::span<const Section> sections, std::span<const Section> leave, bool rock_once) {
  std::string text;
  std::string_view last, last_kind;
  for (const auto& section : sections) {
    if (has_section(leave, section)) continue;
    const auto own_rows = rock_once && holds_rock(section) ? rows_of_rock(section.keys) : rows(section.keys);
    if (section.kind.empty() && section.path == last && section.in_template) {
      text += own_rows;
      continue;
    }
    if (section.path == last && section.kind == last_kind) {
      text += fmt::format("\n{}\n", section.summary);
    } else if (section.kind.empty()) {
      text += fmt::format("\n## `{}`\n\n{}\n", heading_of(section.path, sections), section.summary);
      if (std::any_of(leave.begin(), leave.end(), [&](const Section& s) { return s.path == section.path; }))
        text +=
            fmt::format("\nThis table has [general keys](job_tables.md#{}), too.\n", anchor_of(section.path));
    } else if (section.path != last) {
      text +=
          fmt::format("\n## `[{}]` for mesh kind `{}`\n\n{}\n", section.path, section.kind, section.summary);
    } else {
      text += fmt::format("\n### kind = \"{}\"\n\n{}\n", section.kind, section.summary);
    }
    last = section.path;
    last_kind = section.kind;
    text += fmt::format("\n{}{}", table_head, own_rows);
  }
  return text;
}

}  // namespace

std::string job_template(std::span<const Section> sections, const std::map<std::string, std::string>& kinds,
                         const std::string& heading, const std::map<std::string, std::string>& examples) {
  std::string text = comment(heading);
  const auto chosen = [&](const Section& section) {
    const auto kind = kinds.find(std::string(section.path));
    return section.kind.empty() || (kind != kinds.end() && kind->second == section.kind);
  };
  std::string_view open;
  for (const auto& section : sections) {
    if (!chosen(section)) continue;
    const auto own_example = [&](const Key& key) {
      return examples.find(fmt::format("{}.{}", section.path, key.name));
    };
    if (!section.in_template && std::none_of(section.keys.begin(), section.keys.end(), [&](const Key& key) {
          return own_example(key) != examples.end();
        }))
      continue;
    if (open != section.path) {
      open = section.path;
      text += fmt::format("\n{}{}\n", comment(section.summary), heading_of(section.path, sections));
    }
    for (const auto& key : section.keys) {
      if (key.type == "tables" || key.type == "table")
        continue;  // tables inside this table have separate headings
      const auto kind = kinds.find(std::string(section.path));
      const bool is_kind = key.name == "kind" && kind != kinds.end();
      const auto own = own_example(key);
      if (own == examples.end() ? !section.in_template : own->second.empty()) continue;
      const bool set = is_kind || own != examples.end() || !key.example.empty();
      const std::string value = is_kind                 ? fmt::format("\"{}\"", kind->second)
                                : own != examples.end() ? own->second
                                : set                   ? std::string(key.example)
                                : key.fallback == "none" || key.fallback.empty() ? "..."
                                                                                 : std::string(key.fallback);
      const std::string entry = fmt::format("{}{} = {}", set ? "" : "# ", key.name, value);
      const std::string beside = fmt::format("{:<44}  # {}\n", entry, key.help);
      text += beside.size() <= width + 10 ? beside : comment(key.help) + entry + '\n';
    }
  }
  return text;
}

bool has_section(std::span<const Section> list, const Section& section) {
  return std::any_of(list.begin(), list.end(), [&](const Section& other) {
    return other.path == section.path && other.kind == section.kind && other.summary == section.summary &&
           other.keys.data() == section.keys.data() && other.keys.size() == section.keys.size();
  });
}

std::string job_reference(std::string_view physics, std::string_view summary,
                          std::span<const Section> sections, std::span<const Section> general) {
  std::string text = fmt::format("# The job file of {}\n\n{}\n\n", physics, summary);
  text +=
      "A job is a [TOML](https://toml.io) file with the tables below. Numbers are in SI units; a text such as"
      " `\"22 km\"`\nnames another unit, and a list may end with the unit of all its entries:"
      " `[0, 22, 0, 22, -8, 0, \"km\"]`. In lists of\nwidths and faces `\"60*20\"` stands for sixty times 20."
      " Relative paths start from the folder of the job file;\n`${name}` in a text is replaced by"
      " `--arg name=VALUE`, and `${data}` by `--data FOLDER`. Any key can be set on the\ncommand line:"
      " `--set survey.height=100`.\n\nA key that is not listed here, or that has no effect in a job, stops "
      "the"
      " run.\n\n";
  text += fmt::format("This page is written by `terrane new {} --reference`.\n", physics);
  std::string links;
  std::string_view last;
  for (const auto& section : sections) {
    if (!has_section(general, section) || !section.kind.empty() || section.path == last) continue;
    last = section.path;
    links += fmt::format("| [`{}`](job_tables.md#{}) | {} |\n", heading_of(section.path, sections),
                         anchor_of(section.path), section.summary);
  }
  if (!links.empty())
    text +=
        "\nThese tables are [those of other jobs, too](job_tables.md):\n\n| table | |\n|---|---|\n" + links;
  return text + tables_of(sections, general, false);
}

std::string general_reference(std::span<const Section> general) {
  std::string text =
      "# General tables\n\nThese tables are common to the jobs of most physics. The page of each physics has "
      "the others.\n\nThis page is written by `terrane new tables --reference`.\n";
  text += tables_of(general, {}, true);
  const auto rock = std::find_if(general.begin(), general.end(), holds_rock);
  if (rock == general.end()) return text;
  text += fmt::format(
      "\n## Properties\n\nEvery table that describes rock, air or water may have these keys. A job has the "
      "properties that its physics reads.\n\n{}",
      table_head);
  for (const auto& key : rock->keys)
    if (is_property(key)) text += row(key);
  return text;
}

}  // namespace terrane
