#include "terrane/physics/electromagnetic/meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace terrane::electromagnetic {

namespace {

/// The indices 0 … count − 1, all in one list, or each in its own list.
std::vector<std::vector<std::size_t>> lists(std::size_t count, bool apart) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!apart) return {all};
  std::vector<std::vector<std::size_t>> each;
  for (const auto n : all) each.push_back({n});
  return each;
}

}  // namespace

std::vector<Share> shares_of(Gridding gridding, std::size_t sources, std::size_t frequencies) {
  const bool by_source = gridding == Gridding::source || gridding == Gridding::both,
             by_frequency = gridding == Gridding::frequency || gridding == Gridding::both;
  std::vector<Share> shares;
  for (const auto& some : lists(sources, by_source))
    for (const auto& hertz : lists(frequencies, by_frequency)) shares.push_back({some, hertz});
  return shares;
}

std::string OnMesh::name(Gridding gridding) const {
  const auto source = fmt::format("source {}", share.sources.front() + 1),
             hertz = fmt::format("{} Hz", problem.frequencies.front());
  if (gridding == Gridding::frequency) return hertz;
  return gridding == Gridding::both ? source + " at " + hertz : source;
}

Problem whole_of(const std::vector<OnMesh>& meshes) {
  Problem whole;
  const auto& first = meshes.front().problem;
  whole.receivers = first.receivers;
  whole.components = first.components;
  whole.parameters = first.parameters;
  for (const auto& [share, problem] : meshes) {
    whole.sources.resize(std::max(whole.sources.size(), share.sources.back() + 1));
    whole.frequencies.resize(std::max(whole.frequencies.size(), share.frequencies.back() + 1));
    for (std::size_t n = 0; n < share.sources.size(); ++n)
      whole.sources[share.sources[n]] = problem.sources[n];
    for (std::size_t n = 0; n < share.frequencies.size(); ++n)
      whole.frequencies[share.frequencies[n]] = problem.frequencies[n];
  }
  return whole;
}

Problem part_of(const Problem& whole, const Share& share) {
  Problem part = whole;
  part.sources.clear();
  part.frequencies.clear();
  for (const auto n : share.sources) part.sources.push_back(whole.sources[n]);
  part.first_source = share.sources.front();  // a share has either all sources or only one
  for (const auto n : share.frequencies) part.frequencies.push_back(whole.frequencies[n]);
  return part;
}

void put(const Problem& whole, const OnMesh& mesh, const Outcome& computed, Outcome& all) {
  const std::size_t each = whole.data_of_a_solve();
  all.data.resize(whole.solves() * each);
  all.solves.resize(whole.solves());
  all.notes.insert(all.notes.end(), computed.notes.begin(), computed.notes.end());
  all.warnings.insert(all.warnings.end(), computed.warnings.begin(), computed.warnings.end());
  std::size_t n = 0;
  for (const auto source : mesh.share.sources)
    for (const auto frequency : mesh.share.frequencies) {
      const std::size_t place = source * whole.frequencies.size() + frequency;
      all.solves[place] = computed.solves[n];
      std::copy_n(computed.data.begin() + static_cast<std::ptrdiff_t>(n * each), each,
                  all.data.begin() + static_cast<std::ptrdiff_t>(place * each));
      ++n;
    }
}

std::vector<std::string> told_of(const std::vector<OnMesh>& meshes, Gridding gridding,
                                 const std::vector<std::vector<std::string>>& lines) {
  const auto of_all = [&](const std::string& line) {
    return std::all_of(lines.begin(), lines.end(),
                       [&](const auto& own) { return std::find(own.begin(), own.end(), line) != own.end(); });
  };
  std::vector<std::string> told;
  for (const auto& line : lines.front())
    if (of_all(line)) told.push_back(line);
  for (std::size_t m = 0; m < meshes.size(); ++m)
    for (const auto& line : lines[m])
      if (!of_all(line)) told.push_back(meshes[m].name(gridding) + ": " + line);
  return told;
}

}  // namespace terrane::electromagnetic
