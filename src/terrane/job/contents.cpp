#include "terrane/job/contents.hpp"

#include "terrane/io/notes.hpp"
#include "terrane/io/sites.hpp"

namespace terrane {

namespace {

const io::Content* given(const Config& table, std::string_view key) {
  if (table.contents() == nullptr) return nullptr;
  const auto& all = table.contents()->of;
  const auto found = all.find(table.text(key));
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

bool is_given(const Config& table, std::string_view key) {
  return table.has(key) && table.is_text(key) && given(table, key) != nullptr;
}

void refuse_written_for_none(const Config& table, std::string_view key, const io::Content& content,
                             const UsedColumns& used) {
  const auto text = io::written_for_none(content, used);
  if (text.empty()) return;
  const bool has_gaps =
      std::holds_alternative<io::Table>(content) || std::holds_alternative<io::GridData>(content);
  throw table.wrong(key, text,
                    has_gaps ? "Leave such entries empty, or name the no-data value as the format does."
                             : "Write what the value is there, or NaN where there may be none.");
}

void refuse_written_for_none(const Config& table, std::string_view key, const Column& column) {
  if (const auto text = io::written_for_none(column); !text.empty())
    throw table.wrong(key, text, "Leave such entries out, or empty (nan) where the format allows it.");
}

io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options,
                         const UsedColumns& used) {
  const auto looked_at = [&](io::Content content) {
    refuse_written_for_none(table, key, content, used);
    return content;
  };
  if (!table.is_list(key))
    if (const auto* content = given(table, key)) return looked_at(*content);
  std::vector<std::string> files;
  for (const auto& file : table.input_files(key)) files.push_back(file.string());
  return looked_at(files.size() == 1 ? io::read(files.front(), options) : io::read_sites(files, options));
}

void tell_notes(const Config& table, std::string_view key, const io::Content& content) {
  for (const auto& note : io::notes_of(content)) table.note(key, note);
}

}  // namespace terrane
