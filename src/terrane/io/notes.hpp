// The assumptions made in reading a file, in words for plans, reports and the command.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// A number that programs write where there is no value, such as -9999 or 1e30, and that lies far from all
/// others of its column, in words; empty: there is none. Places on a map are not looked at: a remote
/// electrode may be anywhere.
std::string written_for_none(const Content& content);

/// The attributes "note", and notes on a grid without a unit that may be in degrees, and on numbers that are
/// written for none.
std::vector<std::string> notes_of(const Content& content);

}  // namespace terrane::io
