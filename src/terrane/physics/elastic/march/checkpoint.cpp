#include "terrane/physics/elastic/march/checkpoint.hpp"

#include <algorithm>

#include "terrane/physics/elastic/march/part.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::elastic {

namespace {

/// Number of snapshots within the first `done` steps.
std::size_t pictures_by(const Problem& problem, std::size_t done) {
  return problem.pictures() == 0 ? 0 : std::min(done / problem.snapshots.every, problem.pictures());
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& state) {
  CheckpointWriter out(file, fingerprint_of(problem), done);
  out.list("displacement", std::span<const double>(state.displacement));
  out.list("change", std::span<const double>(state.change));
  if (!state.memory.empty()) out.list("memory", std::span<const double>(state.memory));
  out.list("series", std::span<const double>(state.changes).first(done * problem.receivers.size() * 3));
  if (const auto taken = pictures_by(problem, done); taken > 0) {
    std::vector<float> picture(state.pictures.numbers());
    out.define<float>("pictures", {taken, picture.size()});
    for (std::size_t n = 0; n < taken; ++n) {
      state.pictures.get(n, picture);
      out.piece("pictures", std::span<const float>(picture));
    }
  }
  out.finish();
}

std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& state) {
  auto in = CheckpointReader::resume(file, fingerprint_of(problem), problem.steps_taken(), "steps", state);
  if (!in) return 0;
  const std::size_t values = problem.mesh.size() * problem.points_of_element() * 3;
  state.displacement = in->array<double>("displacement", {values});
  state.change = in->array<double>("change", {values});
  if (in->holds("memory")) state.memory = in->array<double>("memory", {memory_begins(problem).back()});
  state.changes = in->array<double>("series", {in->parts() * problem.receivers.size() * 3});
  std::vector<float> picture(state.pictures.numbers());
  const auto taken = pictures_by(problem, in->parts());
  for (std::size_t n = 0; n < taken; ++n) {
    in->read<float>("pictures", {taken, picture.size()}, n * picture.size(), picture);
    state.pictures.put(n, picture);
  }
  return in->parts();
}

}  // namespace terrane::elastic
