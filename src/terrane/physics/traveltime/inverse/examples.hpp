// Example jobs for `terrane new inversion --of NAME`: inversions, and the forward jobs that compute their
// data.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::traveltime::inverse {

inline constexpr inversion::ExampleJob example{
    "traveltime",
    R"(# Velocities from first arrivals between two boreholes.
[mesh]
box = [-2, 22, -1, 1, -32, 0]
shape = [24, 1, 32]

[model.background]              # the first model and the reference
velocity_p = 2000

[source]
file = "picks.csv"              # put your data here: a table, or shots and geophones of pyGIMLi (.sgt)

[simulation]
physics = "traveltime"

[inversion]
floor = [1e-4]                  # s: how well times are known; left out: as the file says
length_scale = [2, 2, 2]        # m

[output]
files = ["fit.csv"]             # observed, computed, residual
model = ["velocities.nc"]
)",
    R"(# The earth that picks.csv comes from: a slow layer with a fast body.
[mesh]
box = [-2, 22, -1, 1, -32, 0]
shape = [48, 1, 64]

[model.background]
velocity_p = 2000

[[model.body]]
kind = "box"
box = [-2, 22, -1, 1, -14, -10]
velocity_p = 1700

[[model.body]]
kind = "box"
box = [6, 13, -1, 1, -24, -17]
velocity_p = 2500

[source]
first = [0, 0, -2]
last = [0, 0, -30]
count = 15

[survey]
stations = [[20, 0, -2], [20, 0, -4], [20, 0, -6], [20, 0, -8], [20, 0, -10], [20, 0, -12], [20, 0, -14], [20, 0, -16],
            [20, 0, -18], [20, 0, -20], [20, 0, -22], [20, 0, -24], [20, 0, -26], [20, 0, -28], [20, 0, -30]]

[simulation]
physics = "traveltime"

[output]
folder = "."
files = ["picks.csv"]
)",
    "picks.csv"};

}  // namespace terrane::traveltime::inverse
