// Example inversions, and the models from which their data are computed: `terrane new inversion --of NAME`.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::gravity::inverse {

inline constexpr inversion::ExampleJob example{
    "gravity",
    R"(# Densities from gravity. The mesh is planned for the stations.
[survey]
file = "stations.csv"           # easting, northing, up, g_u: put your data here

[inversion]
floor = [0.01]                  # mGal: how well the data are known
lower = 0                       # kg/m3: bounds, where they are known
upper = 500

[output]
files = ["fit.nc"]              # observed, computed, residual
model = ["model.nc"]
)",
    R"(# The earth that stations.csv comes from: a body in rock that is 400 kg/m3 lighter.
[[model.body]]
kind = "box"
box = [-100, 150, -150, 50, -300, -100]
density = 400

[survey]
region = [-600, 600, -600, 600]
shape = [17, 17]
height = 2

[output]
folder = "."
files = ["stations.csv"]
)",
    "stations.csv"};

}  // namespace terrane::gravity::inverse
