// Golden Software Surfer grids (.grd): Surfer 6 text (DSAA) and binary (DSBB), Surfer 7 binary (DSRB).
//
// Values sit on nodes, rows run from south to north. Blanks become NaN.
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
