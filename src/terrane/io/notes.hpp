// The assumptions made in reading a file, in words for plans, reports and the command.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The attributes "note", and a note on a grid without a unit that may be in degrees.
std::vector<std::string> notes_of(const Content& content);

}  // namespace terrane::io
