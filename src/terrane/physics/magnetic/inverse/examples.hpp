// Example jobs for `terrane new inversion --of NAME`: inversions, and the forward jobs that compute their
// data.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::magnetic::inverse {

inline constexpr inversion::ExampleJob example{
    "magnetic",
    R"(# Susceptibilities from a total-field anomaly. The mesh is planned for the stations.
[survey]
file = "stations.csv"           # easting, northing, up, tmi: put your data here

[simulation]
physics = "magnetic"
inclination = 60                # of the main field, degrees below the horizon

[inversion]
floor = [2]                     # nT: how well the data are known
lower = 0

[output]
files = ["fit.nc"]              # observed, computed, residual
model = ["model.nc"]
)",
    R"(# The earth that stations.csv comes from: a magnetized body.
[[model.body]]
kind = "box"
box = [-100, 150, -150, 50, -300, -80]
susceptibility = 0.05

[survey]
region = [-600, 600, -600, 600]
shape = [21, 21]
height = 30

[simulation]
physics = "magnetic"
inclination = 60

[output]
folder = "."
files = ["stations.csv"]
)",
    "stations.csv"};

inline constexpr inversion::ExampleJob vector_example{
    "magnetization",
    R"(# Magnetizations of any direction from a total-field anomaly: for rock with remanence.
[survey]
file = "stations.csv"           # easting, northing, up, tmi: put your data here

[simulation]
physics = "magnetic"
property = "magnetization"      # three components in each cell
inclination = 60                # of the main field, degrees below the horizon

[inversion]
floor = [2]                     # nT: how well the data are known
norms = [1, 1, 1, 1]            # of the lengths: compact bodies, whose direction is that of their rock

[output]
files = ["fit.nc"]              # observed, computed, residual
model = ["model.nc"]
)",
    R"(# The earth that stations.csv comes from: a body whose remanence points to the north-east, and up.
[[model.body]]
kind = "box"
box = [-100, 150, -150, 50, -300, -80]
magnetization_east = 1.0
magnetization_north = 1.0
magnetization_up = 1.0

[survey]
region = [-600, 600, -600, 600]
shape = [21, 21]
height = 30

[simulation]
physics = "magnetic"
inclination = 60

[output]
folder = "."
files = ["stations.csv"]
)",
    "stations.csv"};

inline constexpr inversion::ExampleJob joint_example{
    "joint",
    R"(# Densities and susceptibilities that share their structure, from gravity and magnetics.
[mesh]                          # one for both
box = [-700, 700, -700, 700, -600, 0]
shape = [14, 14, 8]

[[simulation]]
name = "gravity"

[[simulation]]
name = "magnetic"
physics = "magnetic"
inclination = 60

[survey.gravity]
file = "gravity.csv"            # easting, northing, up, g_u: put your data here

[survey.magnetic]
file = "magnetic.csv"           # easting, northing, up, tmi

[joint]
coupling = 1                    # how strongly both are held to one structure
tolerance = 0.05

[inversion]
tolerance = 0.01
misfit_tolerance = 0.05

[inversion.gravity]
floor = [0.01]                  # mGal
lower = 0

[inversion.magnetic]
floor = [2]                     # nT
lower = 0

[output.gravity]
files = ["gravity.nc"]
model = ["density.nc"]

[output.magnetic]
files = ["magnetic.nc"]
model = ["susceptibility.nc"]
)",
    R"(# The earth that gravity.csv and magnetic.csv come from: one body, dense and magnetized.
[[model.body]]
kind = "box"
box = [-100, 150, -150, 50, -300, -100]
density = 400
susceptibility = 0.05

[survey]
region = [-600, 600, -600, 600]
shape = [13, 13]
height = 10

[[simulation]]
name = "gravity"

[[simulation]]
name = "magnetic"
physics = "magnetic"
inclination = 60

[output]
folder = "."

[output.gravity]
files = ["gravity.csv"]

[output.magnetic]
files = ["magnetic.csv"]
)",
    "gravity.csv"};

}  // namespace terrane::magnetic::inverse
