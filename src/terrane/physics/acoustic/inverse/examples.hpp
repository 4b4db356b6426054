// Example job files that `terrane new inversion --of NAME` writes: the inversion, and the job that computes
// its data.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::acoustic::inverse {

inline constexpr inversion::ExampleJob example{"acoustic",
                                               R"(# Velocities from recorded waves.
[mesh]
box = [0, 800, -10, 10, -500, 0]
shape = [40, 1, 25]

[model.background]              # the first model and the reference
velocity_p = 2000

[source]
first = [60, 0, -20]
last = [740, 0, -20]
count = 5
frequency = 5

[survey]
kind = "lines"
start = [50, 0]
azimuth = 90
length = 700
spacing = 50
height = -490

[boundary]
top = "cpml"

[simulation]
physics = "acoustic"
end = 0.8
sample = "16 ms"

[inversion]
observed = "gathers.nc"         # put your data here: SEG-Y, SU, NetCDF
percent = [3]                   # of the root mean square of each trace: how well the data are known
length_scale = [100, 100, 100]  # m
misfit_tolerance = 0.1
tolerance = 0.05

[output]
files = ["fit.nc"]
model = ["velocities.nc"]
)",
                                               R"(# The earth that gathers.nc comes from: a fast body.
[mesh]
box = [0, 800, -10, 10, -500, 0]
shape = [40, 1, 25]

[model.background]
velocity_p = 2000

[[model.body]]
kind = "sphere"
centre = [400, 0, -250]
radius = 100
velocity_p = 2200

[source]
first = [60, 0, -20]
last = [740, 0, -20]
count = 5
frequency = 5

[survey]
kind = "lines"
start = [50, 0]
azimuth = 90
length = 700
spacing = 50
height = -490

[boundary]
top = "cpml"

[simulation]
physics = "acoustic"
end = 0.8
sample = "16 ms"

[output]
folder = "."
files = ["gathers.nc"]
)",
                                               "gathers.nc"};

}  // namespace terrane::acoustic::inverse
