// All file formats: reads a file of any format, writes its content in another one, describes it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane::io {

struct ReadOptions {
  std::string format;  ///< name of a format; empty: determined by extension and first bytes
  std::string mesh;    ///< path of the mesh for cell values in a separate file (.den, .sus, .npy)
  std::string unit;  ///< unit of values if the file has none; empty: no unit, or an error where SI is needed
  std::string length_unit;  ///< unit of coordinates if the file gives none; empty: that of the format
  std::string field;        ///< name of the variable to read; empty: all
  std::string mesh_format;  ///< format of the mesh file; empty: determined by extension and first bytes
  std::string property;     ///< property of values without a name; empty: by the extension, or density
  std::size_t memory = 0;   ///< maximum number of bytes for reading; 0: the free memory
};

struct WriteOptions {
  std::string format;  ///< name of a format; empty: determined by extension
  std::string field;   ///< field to write if the format holds only one; empty: the only one
  /// Names that columns may have, for formats with only a few channels. Null: Terrane's own names.
  const Conventions* conventions = nullptr;
};

struct Source;       // argument of a format's reader, defined in registry.cpp
struct Destination;  // argument of a format's writer, defined in registry.cpp

/// The entry of a file format in the table of formats. To add a format, write a file that reads and writes
/// it, and add a row in registry.cpp.
struct Format {
  std::string_view name;        ///< "ubc-mesh"
  std::string_view title;       ///< "UBC-GIF tensor mesh"
  std::string_view extensions;  ///< ".msh"; several are separated by blanks
  std::string_view holds;       ///< "mesh", "grid", "table", "prisms", "array", "dataset"; blanks between
  /// Whether the format can hold all columns of a table or grid by name, not just certain channels.
  bool all_columns = false;
  bool takes_rows = false;  ///< whether the format accepts data sets as tables of their rows (dataset.hpp)
  bool (*begins)(std::string_view head) = nullptr;  ///< whether these first bytes prove this format
  /// Whether these first bytes may be of this format; used if the extension does not determine one.
  bool (*resembles)(std::string_view head) = nullptr;
  Content (*read)(const Source& from) = nullptr;   ///< null: the format cannot be read
  void (*write)(const Destination& to) = nullptr;  ///< null: the format cannot be written
  /// The names of columns that a file would not hold. Throws what write would throw because of the content.
  std::vector<std::string> (*left_out)(const Destination& to) = nullptr;
  /// The files that write makes; null: only the given path.
  std::vector<std::string> (*files)(const Destination& to) = nullptr;

  bool reads() const { return read != nullptr; }
  bool writes() const { return write != nullptr; }
};

/// All formats, in the order in which they are tried for a file.
std::span<const Format> formats();

/// The format in which write() would write. Throws UnsupportedError.
const Format& format_to_write(const std::string& path, const WriteOptions& options = {});

/// The format of an existing file, determined by extension and first bytes. Throws UnsupportedError,
/// FileError.
const Format& format_of(const std::string& path);

/// The content of a file. For a folder, or a pattern such as "sites/*.edi": the magnetotelluric sites of all
/// its files (sites.hpp). Throws FileError (cannot be read), InputError (wrong content: file, line, what is
/// allowed), UnsupportedError (format unknown or write-only).
Content read(const std::string& path, const ReadOptions& options = {});

/// Writes to a temporary file, which is renamed when it is complete. If the format needs it, converts a table
/// whose rows form a grid to a grid, a grid to a table, or a mesh to prisms. Throws UnsupportedError (format
/// unknown, read-only, or unable to hold the content), FileError.
void write(const std::string& path, const Content& content, const WriteOptions& options = {});

/// The names of the fields in `content` that a file of this name would not hold because its format has only
/// certain channels. Throws UnsupportedError and InputError as write() would; columns may be without values.
std::vector<std::string> left_out(const std::string& path, const Content& content,
                                  const WriteOptions& options = {});

/// The files that write() would make: only the given path, or, for formats that divide the content, several
/// in the same folder. Throws what write() throws because of the content; columns may be without values,
/// except positions of sites.
std::vector<std::string> written_files(const std::string& path, const Content& content,
                                       const WriteOptions& options = {});

/// The text of `terrane info FILE`: shape, units, range, frame, projection, attributes; one item per line.
std::string describe(const Content& content, const std::string& path);

}  // namespace terrane::io
