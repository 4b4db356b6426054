// Sources and receivers from files of SPECFEM3D (io/specfem.hpp), converted to those of a run:
//
//   moment tensor    in solids a step of the half duration T: ½ (1 + erf(t/τ)), τ = T / 1.628
//                    in a fluid its derivative, a Gaussian, for an explosion of as large a moment
//   force            time functions 0 Gaussian (τ as above), 1 Ricker (T is its peak frequency), 2 step,
//                    4 Gaussian with τ = T / π; in a fluid the explosion M = [F, F, F, 0, 0, 0]
//   both             if the Par_file says so, a Ricker whose peak frequency is T
//   T below 5 DT     is replaced by 5 DT
//
// The smallest time shift of all sources is subtracted from all time shifts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/io/specfem.hpp"
#include "terrane/physics/elastic/source.hpp"

namespace terrane::elastic {

/// Reads a STATIONS file. Throws FileError, InputError with the line.
std::vector<io::SpecfemStation> read_stations(const std::filesystem::path& file);

/// Rules that a Par_file gives for sources.
struct SourceRules {
  bool ricker = false;      ///< whether all time functions are Ricker wavelets
  bool heights = false;     ///< true: depths are heights in m; false: km below the surface
  bool keeps_sign = false;  ///< whether implosions in fluids keep their sign
  double step = 0;          ///< DT, s; 0: not known, then a half duration of zero is refused
};

struct SpecfemSource {
  double latitude = 0, longitude = 0;  ///< degrees or m
  double depth = 0;                    ///< m below the surface, or a height, m
  Source source;                       ///< the source in a solid, without its position
  Source in_fluid;                     ///< the source in a fluid, without its position
  std::string where;  ///< line of the source's position, for messages: "CMTSOLUTION:5: latitude"
};
/// Reads a CMTSOLUTION or a FORCESOLUTION file. notes: messages for the user. Throws FileError; InputError
/// with the line: a missing key, a value that is not a number, an unknown time function, a half duration or
/// strength of zero.
std::vector<SpecfemSource> read_solution(const std::filesystem::path& file, const SourceRules& rules,
                                         std::vector<std::string>& notes);
std::vector<SpecfemSource> read_solution(const std::string& name, const std::string& text,
                                         const SourceRules& rules, std::vector<std::string>& notes);

}  // namespace terrane::elastic
