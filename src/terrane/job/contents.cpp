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

io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options) {
  const auto looked_at = [&](io::Content content) {
    if (const auto text = io::written_for_none(content); !text.empty())
      throw table.wrong(key, text, "Leave such entries empty, or name the no-data value as the format does.");
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
