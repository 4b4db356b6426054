// Inversions to start from, and the earths that their data come from: `terrane new inversion --of NAME`.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electromagnetic::inverse {

inline constexpr inversion::ExampleJob example{
    "electromagnetic",
    R"(# Resistivities from electric fields of grounded wires.
[mesh]                          # 250 m along the line; cells that grow, for a wavelength in the ground
kind = "tensor"
easting_widths = [3200, 2000, 1200, 700, 400, "20*250", 400, 700, 1200, 2000, 3200]
northing_widths = [3200, 2000, 1200, 700, 450, "6*300", 450, 700, 1200, 2000, 3200]
up_widths = [2800, 1800, 1100, 700, 400, 250, "8*125", 250, 500, 1000, 2000, 4000]
origin = [-10000, -8450, -8050]

[model.background]              # the first model and the reference
resistivity = "30 ohm m"

[[model.body]]                  # air, which takes no part
kind = "layer"
bottom = 0
top = 7750
resistivity = "1e8 ohm m"

[[source]]
kind = "wire"
points = [[-2500, 0, 0], [-1500, 0, 0]]

[[source]]
kind = "wire"
points = [[1500, 0, 0], [2500, 0, 0]]

[survey]
stations = [[-1000, 0, 0], [-500, 0, 0], [0, 0, 0], [500, 0, 0], [1000, 0, 0]]

[simulation]
physics = "electromagnetic"
frequencies = [4]
components = ["e_e"]

[inversion]
observed = "data.csv"           # source, frequency, receiver, e_e_real, e_e_imag: put your data here
percent = [3]                   # of the amplitude: how well the data are known
length_scale = [500, 1500, 250]  # smoother across the line, m
tolerance = 0.05

[output]
files = ["fit.nc"]
model = ["model.nc"]
)",
    R"(# The earth that data.csv comes from: a conductor in ground of 30 ohm m.

[mesh]
kind = "tensor"
easting_widths = [3200, 2000, 1200, 700, 400, "20*250", 400, 700, 1200, 2000, 3200]
northing_widths = [3200, 2000, 1200, 700, 450, "6*300", 450, 700, 1200, 2000, 3200]
up_widths = [2800, 1800, 1100, 700, 400, 250, "8*125", 250, 500, 1000, 2000, 4000]
origin = [-10000, -8450, -8050]

[model.background]
resistivity = "30 ohm m"

[[model.body]]
kind = "layer"
bottom = 0
top = 7750
resistivity = "1e8 ohm m"

[[model.body]]
kind = "box"
box = [-750, 500, -600, 600, -750, -250]
resistivity = "3 ohm m"

[[source]]
kind = "wire"
points = [[-2500, 0, 0], [-1500, 0, 0]]

[[source]]
kind = "wire"
points = [[1500, 0, 0], [2500, 0, 0]]

[survey]
stations = [[-1000, 0, 0], [-500, 0, 0], [0, 0, 0], [500, 0, 0], [1000, 0, 0]]

[simulation]
physics = "electromagnetic"
frequencies = [4]
components = ["e_e"]

[output]
folder = "."
files = ["data.csv"]
)",
    "data.csv"};

inline constexpr inversion::ExampleJob magnetotelluric_example{
    "magnetotelluric",
    R"(# Resistivities from magnetotelluric sites. Without [mesh] and [model] both are planned, more finely, and take longer.
[mesh]
kind = "tensor"
origin = [-49, -47, -47.35, "km"]
easting_widths = [24, 12, 6, 3, "8*1", 3, 6, 12, 24, "km"]
northing_widths = [24, 12, 6, 3, "4*1", 3, 6, 12, 24, "km"]
up_widths = [14, 10, 7, 5, 3.5, 2.4, 1.6, 1.1, 0.7, 0.5, 0.4, 0.35, 0.4, 0.4, 0.4, 0.8, 1.6, 3, 6, 12, 24, "km"]

[model.background]              # the first model and the reference
resistivity = "100 ohm m"

[[model.body]]                  # air, which takes no part
kind = "layer"
bottom = 0
top = "48 km"
resistivity = "1e8 ohm m"

[survey]
file = "sites.modem"            # put your data here: EDI files, a ModEM list, a table

[simulation]
physics = "electromagnetic"

[inversion]
elements = ["z_en", "z_ne"]
percent = [5]                   # of the impedances: how well the data are known
misfit_tolerance = 0.1
tolerance = 0.05
length_scale = [2000, 4000, 500]  # smoother across the line, m

[output]
files = ["fit.nc"]
model = ["model.nc"]
)",
    R"(# The earth that sites.modem comes from: a conductor in ground of 100 ohm m.
[mesh]
kind = "tensor"
origin = [-49, -47, -47.35, "km"]
easting_widths = [24, 12, 6, 3, "8*1", 3, 6, 12, 24, "km"]
northing_widths = [24, 12, 6, 3, "4*1", 3, 6, 12, 24, "km"]
up_widths = [14, 10, 7, 5, 3.5, 2.4, 1.6, 1.1, 0.7, 0.5, 0.4, 0.35, 0.4, 0.4, 0.4, 0.8, 1.6, 3, 6, 12, 24, "km"]

[model.background]
resistivity = "100 ohm m"

[[model.body]]
kind = "layer"
bottom = 0
top = "48 km"
resistivity = "1e8 ohm m"

[[model.body]]
kind = "box"
box = [-2, 1, -2, 2, -2.05, -0.8, "km"]
resistivity = "10 ohm m"

[source]
kind = "plane_wave"

[survey]
kind = "lines"
start = [-3500, 0]
azimuth = 90
length = 7000
spacing = 1000
height = 0

[simulation]
physics = "electromagnetic"
frequencies = [0.3, 3]

[output]
folder = "."
files = ["sites.modem"]
)",
    "sites.modem"};

}  // namespace terrane::electromagnetic::inverse
