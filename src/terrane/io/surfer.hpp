// Golden Software Surfer grids (.grd): Surfer 6 text (DSAA) and binary (DSBB), Surfer 7 binary (DSRB).
//
// Values sit on nodes, rows run from south to north.
//
//   counts, limits, spacings      applied
//   blanks                        1.7e38 and more; of Surfer 7 what the file says, from it on or equal to it
//   rotation                      refused unless it is zero, as Surfer writes it
//   least and greatest value      not read: the nodes say it
//   what stands behind the nodes  noted (faults)
//   unit of coordinates           the format has none: metres (unit_is_assumed)
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// bytes: the whole file, any of the three kinds; name: for messages.
GridData read_surfer(const std::string& name, std::string_view bytes);
GridData read_surfer(const std::string& path);
/// Throws InputError when the nodes are not evenly spaced.
void write_surfer_text(const std::string& path, const GridData& grid, const std::string& field = {});
void write_surfer7(const std::string& path, const GridData& grid, const std::string& field = {});

/// Throw what writing would throw; fields need no values.
void check_surfer_text(const std::string& path, const GridData& grid, const std::string& field = {});
void check_surfer7(const std::string& path, const GridData& grid, const std::string& field = {});

}  // namespace terrane::io
