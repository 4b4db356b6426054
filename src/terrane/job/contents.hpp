// Content that a calling program passes in memory together with a job, in place of files: a mesh from Python,
// stations, an array.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "terrane/io/registry.hpp"
#include "terrane/job/config.hpp"

namespace terrane {

/// The content, with the names by which keys of the job refer to it: file = "model".
struct Contents {
  std::map<std::string, io::Content> of;
};

/// Whether the key names content passed in memory instead of a file.
bool is_given(const Config& table, std::string_view key);

/// The content that the key names: the content passed in memory under that name, or else the content of the
/// file. Throws InputError, FileError.
io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options = {});

/// Adds to the job (Config::note) the assumptions made while the file of this key was read.
void tell_notes(const Config& table, std::string_view key, const io::Content& content);

}  // namespace terrane
