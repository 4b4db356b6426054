#include "terrane/io/notes.hpp"

#include <variant>

namespace terrane::io {

std::vector<std::string> notes_of(const Content& content) {
  std::vector<std::string> notes;
  if (const auto* data = std::get_if<Dataset>(&content)) {
    for (const auto& a : data->attributes)
      if (const auto* words = std::get_if<std::string>(&a.value); words != nullptr && a.name == "note")
        notes.push_back(*words);
    return notes;
  }
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, Dataset>)
          if (const auto note = held.attributes.find("note"); note != held.attributes.end())
            notes.push_back(note->second);
      },
      content);
  if (const auto* grid = std::get_if<GridData>(&content); grid != nullptr && may_be_degrees(*grid))
    notes.emplace_back("it does not say the unit of its coordinates: give --length-unit m or degrees");
  return notes;
}

}  // namespace terrane::io
