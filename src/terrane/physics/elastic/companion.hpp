// The companion of a problem: the same sources and receivers on elements 1.5 times as wide, from which errors
// of seismograms are estimated (trace_errors.hpp).
//
//   faces lie at all interfaces of the described earth (flat layers, boxes), wherever those of the run are,
//   so that the difference of the seismograms contains the error of interfaces within elements of the run;
//   between interfaces n elements become n/1.5, of 1.6 times the width at most; up to twice that where all
//   rock is faster than elsewhere;
//   sides that absorb by their tractions (Stacey) lie one element of the run farther outside: echoes then
//   arrive at other times, and the difference of the seismograms contains them. Matched layers begin where
//   those of the run do; their elements are wider, and so are they;
//   rock is averaged from the bodies of the job. If a file gives the properties of the job's cells, each
//   element has those of the cell at its middle.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "terrane/model/description.hpp"
#include "terrane/physics/elastic/elements.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

/// A problem, or the reason why there is none.
struct CompanionProblem {
  std::optional<Problem> problem;
  std::string why_none;
  bool shows_dispersion_alone = false;  ///< the run has faces at all interfaces, and no side reflects
};

/// Where rock ends in a described earth.
struct Interfaces {
  std::array<std::vector<double>, 3> planes;  ///< along easting, northing and up, m
  std::string others;                         ///< which interfaces are not planes along the axes; empty: none
};
Interfaces interfaces_of(const Description& earth);

/// The cells of the companion.  planes: of interfaces, along easting, northing and up; slowest: speed of the
/// slowest wave in each cell; moved: sides that lie one cell farther outside
OtherCells wider_cells(const TensorMesh& cells, const std::array<std::vector<double>, 3>& planes,
                       const std::vector<double>& slowest, const OpenSides& moved);

/// The companion of a settled problem with one element for each of `cells`, or the reason why there is none.
/// described: interfaces of the job's earth; under_surface: whether columns of elements are stretched;
/// simulation, request: those of the run. Throws FileError, MemoryError.
CompanionProblem companion_of(const Problem& problem, const TensorMesh& cells, const Interfaces& described,
                              bool under_surface, const Config& job, const Config& simulation,
                              const MemoryBudget& memory, EarthRequest request);

}  // namespace terrane::elastic
