// Example jobs for `terrane new inversion --of NAME`: inversions, and the forward jobs that compute their
// data.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electric::inverse {

inline constexpr inversion::ExampleJob example{
    "electric",
    R"(# Resistivities from a line of electrodes. The mesh is planned for the line.
[survey]
file = "line.ohm"               # put your data here: BERT, pyGIMLi, UBC, Res2dinv, Syscal, tables

[simulation]
physics = "electric"

[inversion]
percent = [3]                   # how well the data are known; left out: as the file says

[output]
files = ["fit.nc"]              # observed, computed, residual
model = ["model.nc"]
)",
    R"(# The earth that line.ohm comes from: clay in ground of 100 ohm m.
[model.background]
resistivity = "100 ohm m"

[[model.body]]
kind = "box"
box = [-25, -5, -20, 20, -14, -5]
resistivity = "15 ohm m"

[survey]
kind = "line"
start = [-45, 0]
electrodes = 19
spacing = 5
array = "dipole-dipole"
levels = 6

[simulation]
physics = "electric"

[output]
folder = "."
files = ["line.ohm"]
)",
    "line.ohm"};

}  // namespace terrane::electric::inverse
