// Golden Software Surfer grids (.grd): Surfer 6 text (DSAA) and binary (DSBB), Surfer 7 binary (DSRB).
//
// Values are at nodes; rows run from south to north.
//
//   counts, limits, spacings      applied
//   blank values                  1.7e38 and above; Surfer 7: the value in the file (version 2), or also all
//                                 larger values (version 1)
//   rotation                      refused unless it is zero, as Surfer writes it
//   least and greatest value      not read: computed from the nodes
//   content after the nodes       noted (faults)
//   unit of coordinates           not in the format; of a .prj beside the file (beside_grid.hpp), or metres
//   are
//                                 assumed (unit_is_assumed)
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// bytes: the whole file, in any of the three formats; name: for messages.
GridData read_surfer(const std::string& name, std::string_view bytes);
GridData read_surfer(const std::string& path);
/// Throws InputError if the nodes are not evenly spaced.
void write_surfer_text(const std::string& path, const GridData& grid, const std::string& field = {});
void write_surfer7(const std::string& path, const GridData& grid, const std::string& field = {});

/// Throw what writing would throw; fields may be without values.
void check_surfer_text(const std::string& path, const GridData& grid, const std::string& field = {});
void check_surfer7(const std::string& path, const GridData& grid, const std::string& field = {});

}  // namespace terrane::io
