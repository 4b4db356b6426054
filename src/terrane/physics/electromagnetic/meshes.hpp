// Groups of solves that share a mesh (words of emg3d: single, frequency, source, both), and how the results
// of several meshes are joined.
//
// A mesh for all frequencies must have the small cells of the highest frequency as far out as the lowest
// frequency reaches. A mesh for one frequency has only the cells that its skin depth needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

/// same: the mesh specified in the job, for all solves. Planned meshes: single: one for all solves;
/// frequency, source, both: one for each frequency, each source, or each pair of a source and a frequency.
enum class Gridding { same, single, frequency, source, both };
inline constexpr std::string_view griddings[] = {"same", "single", "frequency", "source", "both"};

/// Whether solves that differ in frequency or in source use different meshes.
inline bool parts_solves(Gridding gridding) {
  return gridding == Gridding::frequency || gridding == Gridding::source || gridding == Gridding::both;
}

/// A group of solves that share a mesh: all these sources at all these frequencies, as indices into the lists
/// of the job.
struct Share {
  std::vector<std::size_t> sources, frequencies;
};
std::vector<Share> shares_of(Gridding gridding, std::size_t sources, std::size_t frequencies);

/// A group of solves, and the problem on the mesh that only they use.
struct OnMesh {
  Share share;
  Problem problem;  ///< the problem restricted to the sources and frequencies of `share`

  /// The name of this mesh among several: "0.5 Hz", "source 2", "source 2 at 0.5 Hz".
  std::string name(Gridding gridding) const;
};

/// The sources and frequencies of all meshes, and the recorded components: a problem without a mesh.
Problem whole_of(const std::vector<OnMesh>& meshes);

/// The problem restricted to the sources and frequencies of one mesh.
Problem part_of(const Problem& whole, const Share& share);

/// Copies the results computed on one mesh to their indices in `all`, the results of all meshes.
void put(const Problem& whole, const OnMesh& mesh, const Outcome& computed, Outcome& all);

/// Joins the lines of all meshes, lines[mesh]: a line that all meshes have in common is listed once, others
/// with the name of their mesh.
std::vector<std::string> told_of(const std::vector<OnMesh>& meshes, Gridding gridding,
                                 const std::vector<std::vector<std::string>>& lines);

}  // namespace terrane::electromagnetic
