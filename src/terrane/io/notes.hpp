// The assumptions made in reading a file, as texts for plans, reports and the command.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// A text about a number in the content that probably marks missing values: one that programs use for this,
/// such as -9999 or 1e30, and far from all others of its column; empty if there is none. Columns of
/// coordinates are ignored, and so are faces of prisms: a remote electrode may be anywhere, and a slab may
/// end far away. used: whether the column of this name matters; empty: all do.
std::string written_for_none(const Content& content, const std::function<bool(std::string_view)>& used = {});
/// A text about a number in this column that probably marks missing values, whatever the column's name; empty
/// if there is none.
std::string written_for_none(const Column& column);

/// The attributes "note", and notes on a grid without a unit that may be in degrees, and on numbers that
/// probably mark missing values.
std::vector<std::string> notes_of(const Content& content);

}  // namespace terrane::io
