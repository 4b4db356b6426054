// Solves that share a mesh, chosen by the words of emg3d, and how their results are joined.
//
// A mesh for all frequencies has the small cells of the fastest one as far out as the slowest one reaches. A
// mesh for each frequency has the cells that its skin depth asks for, and no others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

/// same: the job's own mesh. For planned meshes, single: one for all; else one for each frequency, each
/// source, or both.
enum class Gridding { same, single, frequency, source, both };
inline constexpr std::string_view griddings[] = {"same", "single", "frequency", "source", "both"};

/// Whether solves that differ in frequency or in source have meshes of their own.
inline bool parts_solves(Gridding gridding) {
  return gridding == Gridding::frequency || gridding == Gridding::source || gridding == Gridding::both;
}

/// Solves that share a mesh: all sources at all frequencies of these, as numbers in the job.
struct Share {
  std::vector<std::size_t> sources, frequencies;
};
std::vector<Share> shares_of(Gridding gridding, std::size_t sources, std::size_t frequencies);

/// Some of a job's solves, and the mesh that they have for themselves.
struct OnMesh {
  Share share;
  Problem problem;  ///< the problem with these sources and frequencies alone

  /// The name of a mesh where there are several: "0.5 Hz", "source 2", "source 2 at 0.5 Hz".
  std::string name(Gridding gridding) const;
};

/// The sources and frequencies of all, and what is recorded: a problem without a mesh.
Problem whole_of(const std::vector<OnMesh>& meshes);

/// The part of a job's problem that one mesh has: its sources and frequencies.
Problem part_of(const Problem& whole, const Share& share);

/// Puts what was computed on one mesh into the place that it has in the whole.
void put(const Problem& whole, const OnMesh& mesh, const Outcome& computed, Outcome& all);

/// Lines about all meshes from those of each, [mesh]: a line that all have in common comes once, others with
/// the name of their mesh.
std::vector<std::string> told_of(const std::vector<OnMesh>& meshes, Gridding gridding,
                                 const std::vector<std::vector<std::string>>& lines);

}  // namespace terrane::electromagnetic
