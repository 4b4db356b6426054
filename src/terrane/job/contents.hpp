// What a program gives beside a job, in place of files: a mesh from Python, stations, an array.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "terrane/io/registry.hpp"
#include "terrane/job/config.hpp"

namespace terrane {

/// By the names with which keys of the job refer to them: file = "model".
struct Contents {
  std::map<std::string, io::Content> of;
};

/// Whether the key refers to what was given in place of a file.
bool is_given(const Config& table, std::string_view key);

/// What the key refers to: what was given under that name, or else the content of the file. Throws
/// InputError, FileError.
io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options = {});

/// Tells the job what reading the file of this key took for granted (Config::note).
void tell_notes(const Config& table, std::string_view key, const io::Content& content);

}  // namespace terrane
