#include "terrane/physics/heat/checkpoint.hpp"

#include "terrane/simulation/field_facts.hpp"

namespace terrane::heat {

void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const March& state) {
  CheckpointWriter out(file, fingerprint_of(problem), done);
  out.list("temperature", std::span<const double>(state.temperature));
  out.list("series", std::span<const double>(state.series));
  out.list("heat_before", std::span<const double>(&state.heat_before, 1));
  out.finish();
}

std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, March& state) {
  auto in = CheckpointReader::resume(file, fingerprint_of(problem), problem.steps(), "steps", state);
  if (!in) return 0;
  state.temperature = in->array<double>("temperature", {problem.mesh.size()});
  state.series = in->array<double>("series", {(in->parts() + 1) * problem.receivers.size()});
  state.heat_before = in->array<double>("heat_before", {1})[0];
  return in->parts();
}

}  // namespace terrane::heat
