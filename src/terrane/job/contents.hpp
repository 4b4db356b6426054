// Content that a calling program passes in memory together with a job, in place of files: a mesh from Python,
// stations, an array.
#pragma once

#include <functional>
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

/// Whether the job computes with the column of this name; empty: with all.
using UsedColumns = std::function<bool(std::string_view)>;
/// A UsedColumns for files whose values the job does not use, or checks later.
inline bool no_column(std::string_view) { return false; }

/// The content that the key names: the content passed in memory under that name, or else the content of the
/// file. Throws InputError, FileError; InputError also if a used column has numbers that programs write
/// for missing values.
io::Content read_content(const Config& table, std::string_view key, const io::ReadOptions& options = {},
                         const UsedColumns& used = {});

/// Throws InputError at the key if values that the job computes with are numbers that programs write for
/// missing values, such as -9999 (io::written_for_none).
void refuse_written_for_none(const Config& table, std::string_view key, const io::Content& content,
                             const UsedColumns& used = {});
void refuse_written_for_none(const Config& table, std::string_view key, const Column& column);

/// Adds to the job (Config::note) the assumptions made while the file of this key was read.
void tell_notes(const Config& table, std::string_view key, const io::Content& content);

}  // namespace terrane
