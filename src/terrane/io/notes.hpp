// The assumptions made in reading a file, as texts for plans, reports and the command.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// A text about a number in the content that probably marks missing values: one that programs use for this,
/// such as -9999 or 1e30, and far from all others of its column; empty if there is none. Columns of
/// coordinates are ignored: a remote electrode may be anywhere.
std::string written_for_none(const Content& content);

/// The attributes "note", and notes on a grid without a unit that may be in degrees, and on numbers that
/// probably mark missing values.
std::vector<std::string> notes_of(const Content& content);

}  // namespace terrane::io
