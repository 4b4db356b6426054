// Reading and writing of all formats: reads what a file holds, writes it in another format, describes it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane::io {

struct ReadOptions {
  std::string format;       ///< name of a format; empty: by extension and by the first bytes
  std::string mesh;         ///< file with the mesh of cell values that come without one (.den, .sus, .npy)
  std::string unit;         ///< of values whose file has no unit; empty: none, or an error where SI is needed
  std::string length_unit;  ///< unit of coordinates whose file gives none; empty: that of the format
  std::string field;        ///< which variable to read; empty: all
  std::string mesh_format;  ///< format of the file with the mesh; empty: by extension and by the first bytes
  std::string property;     ///< property of values without a name; empty: what the extension says, or density
  std::size_t memory = 0;   ///< bytes that reading may take; 0: what the machine has left
};

struct WriteOptions {
  std::string format;  ///< name of a format; empty: by extension
  std::string field;   ///< which field to write where the format holds only one; empty: the only one
  /// The names that columns may have: for formats with a few channels only. Null: Terrane's own names.
  const Conventions* conventions = nullptr;
};

struct Source;       // what a format reads from and writes to
struct Destination;  // what it writes: registry.cpp

/// One format: all that Terrane knows of it. A new format is a file that reads and writes it, and one row of
/// these in registry.cpp.
struct Format {
  std::string_view name;        ///< "ubc-mesh"
  std::string_view title;       ///< "UBC-GIF tensor mesh"
  std::string_view extensions;  ///< ".msh"; several parted by blanks
  std::string_view holds;       ///< "mesh", "grid", "table", "prisms", "array", "dataset"; several by blanks
  bool all_columns = false;  ///< holds every column of a table or grid by its name, not only values of some
  bool takes_rows = false;   ///< takes data sets as tables of their rows (dataset.hpp), where they suit
  bool (*begins)(std::string_view head) = nullptr;     ///< whether a file that begins so has this format
  bool (*resembles)(std::string_view head) = nullptr;  ///< whether it may, if no name tells
  Content (*read)(const Source& from) = nullptr;       ///< null: it can be written and not read
  void (*write)(const Destination& to) = nullptr;      ///< null: it can be read and not written
  /// Names of the columns that a file would not hold. Throws what write would throw because of the content.
  std::vector<std::string> (*left_out)(const Destination& to) = nullptr;
  /// The files that write makes; null: the one that is named.
  std::vector<std::string> (*files)(const Destination& to) = nullptr;

  bool reads() const { return read != nullptr; }
  bool writes() const { return write != nullptr; }
};

/// All formats, in the order in which they are tried.
std::span<const Format> formats();

/// The format that write() would write. Throws UnsupportedError.
const Format& format_to_write(const std::string& path, const WriteOptions& options = {});

/// The format of an existing file, by extension and first bytes. Throws UnsupportedError, FileError.
const Format& format_of(const std::string& path);

/// What a file holds; of a folder, or a pattern such as "sites/*.edi", the magnetotelluric sites of its files
/// (sites.hpp). Throws FileError (cannot be read), InputError (what is in it is wrong: file, line, what
/// was allowed), UnsupportedError (format unknown or write-only).
Content read(const std::string& path, const ReadOptions& options = {});

/// Writes to a temporary file that takes the name only when it is complete. Turns a table whose rows form a
/// grid into a grid, a grid into a table, a mesh into prisms where the format asks for it.
/// Throws UnsupportedError (format unknown, read-only, or cannot hold this), FileError.
void write(const std::string& path, const Content& content, const WriteOptions& options = {});

/// Names of the fields in `content` that a file of this name would not hold, because its format has room for
/// some channels only. Throws UnsupportedError and InputError as write() would; columns need no values here.
std::vector<std::string> left_out(const std::string& path, const Content& content,
                                  const WriteOptions& options = {});

/// The files that write() makes of this: the one that is named, or, in formats that divide the content,
/// several beside it. Throws as write() does because of the content; columns need no values, except places of
/// sites.
std::vector<std::string> written_files(const std::string& path, const Content& content,
                                       const WriteOptions& options = {});

/// The text of `terrane info FILE`: shape, units, range, frame, projection, attributes; one item per line.
std::string describe(const Content& content, const std::string& path);

}  // namespace terrane::io
