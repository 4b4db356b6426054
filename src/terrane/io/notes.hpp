// What reading a file took for granted, in words for plans, reports and the command.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Attributes "note", and a grid without a unit that may be in degrees.
std::vector<std::string> notes_of(const Content& content);

}  // namespace terrane::io
