// What a run returns: fields at stations, with everything needed to know how they came about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// How far what was computed is from what was observed: residual = observed - computed.
struct Misfit {
  std::string field, unit;
  std::size_t count = 0;     ///< stations that have an observation
  double mean = 0, rms = 0;  ///< of the residual, in `unit`
  std::size_t weighted = 0;  ///< stations whose observation has an uncertainty above zero
  double chi_squared = 0;    ///< sum of (residual / uncertainty)² over these
};

/// Numbers about the run itself.
struct Report {
  std::size_t sources = 0, stations = 0;
  double pairs = 0;              ///< source-station pairs the direct sum has
  double seconds = 0;            ///< wall time of the computation
  std::size_t memory_bytes = 0;  ///< planned working memory
  std::string method;            ///< "direct", "tree", "lattice"
  std::string reason;            ///< why this method
  std::string device;            ///< "cpu (AVX-512, 16 threads)"
  double estimated_error = 0;    ///< relative to the largest value of each kind of channel, at most
  /// What rounding takes of it, at most: of each kind asked for ("potential", "vector", "tensor"), because
  /// contributions cancel more in one than in another.
  std::map<std::string, double> rounding_floor;
  std::size_t rounding_stations = 0;  ///< at which it was looked for
  std::size_t verified_stations = 0;
  std::string verified_by;    ///< "quadruple precision", or "the direct sum at its best"
  double verified_error = 0;  ///< against quadruple precision, largest over the stations verified
  std::size_t singular_stations = 0, inside_stations = 0;
  std::vector<Misfit> misfits;  ///< one a field that was observed too
  std::vector<std::string> notes, warnings;
};

/// Fields in the units and the frame that were asked for. `attributes` is written into every file: program,
/// version, frame, gravitational constant, and the whole job. No two columns have one name.
struct Result {
  Survey survey;                  ///< its columns: what was observed (compare.hpp), and all else as given
  std::vector<Column> fields;     ///< one a channel asked for, [stations]
  std::vector<Column> residuals;  ///< observed - computed, one a field that was observed too
  std::vector<unsigned char> singular;  ///< 1 where the tensor is singular at the station; empty if nowhere
  std::map<std::string, std::string> attributes;
  Report report;
};

}  // namespace terrane
