// Sources and receivers from files of SPECFEM3D (io/specfem.hpp): what the run takes them for.
//
//   moment tensor    in solids a step of the half duration T: ½ (1 + erf(t/τ)), τ = T / 1.628
//                    in a fluid its derivative, a Gaussian, for an explosion of as large a moment
//   force            time functions 0 Gaussian (τ as above), 1 Ricker (T is its peak frequency), 2 step,
//                    4 Gaussian with τ = T / π; in a fluid the explosion M = [F, F, F, 0, 0, 0]
//   either           where the Par_file says so, a Ricker whose peak frequency is T
//   T below 5 DT     counts as 5 DT
//
// Of several sources the smallest time shift counts as none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/io/specfem.hpp"
#include "terrane/physics/elastic/source.hpp"

namespace terrane::elastic {

/// Throws FileError, InputError with the line.
std::vector<io::SpecfemStation> read_stations(const std::filesystem::path& file);

/// Rules that a Par_file gives for sources.
struct SourceRules {
  bool ricker = false;      ///< all are Ricker wavelets
  bool heights = false;     ///< depths are heights in m, and not km below the surface
  bool keeps_sign = false;  ///< of implosions in fluids
  double step = 0;          ///< DT, s; 0: not known, and a half duration of zero is refused
};

struct SpecfemSource {
  double latitude = 0, longitude = 0;  ///< degrees or m
  double depth = 0;                    ///< m below the surface, or a height, m
  Source source;                       ///< but for its place
  Source in_fluid;                     ///< what it is in a fluid, but for its place
  std::string where;                   ///< "CMTSOLUTION:5: latitude": of its place, for messages
};
/// A CMTSOLUTION or a FORCESOLUTION. notes: lines for the user. Throws FileError, InputError with the line: a
/// key that is not there, no number, a time function that is not offered, a half duration or strength of
/// zero.
std::vector<SpecfemSource> read_solution(const std::filesystem::path& file, const SourceRules& rules,
                                         std::vector<std::string>& notes);
std::vector<SpecfemSource> read_solution(const std::string& name, const std::string& text,
                                         const SourceRules& rules, std::vector<std::string>& notes);

}  // namespace terrane::elastic
