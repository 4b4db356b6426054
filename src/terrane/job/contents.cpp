#include "terrane/job/contents.hpp"

namespace terrane {

namespace {

const io::Content* given(const Config& table, std::string_view key) {
  if (table.contents() == nullptr) return nullptr;
  const auto& all = table.contents()->of;
  const auto found = all.find(table.text(key));
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options) {
  if (const auto* content = given(table, key)) return *content;
  return io::read(table.input_file(key).string(), options);
}

}  // namespace terrane
