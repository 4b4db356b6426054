#include "terrane/physics/heat/checkpoint.hpp"

#include <fmt/format.h>

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
  auto in = CheckpointReader::open(file);
  if (!in) {
    state.warnings.push_back(fmt::format("there is no checkpoint {}: the run starts afresh", file.string()));
    return 0;
  }
  in->expect(fingerprint_of(problem));
  in->expect_parts(problem.steps());
  state.temperature = in->array<double>("temperature", {problem.mesh.size()});
  state.series = in->array<double>("series", {(in->parts() + 1) * problem.receivers.size()});
  state.heat_before = in->array<double>("heat_before", {1})[0];
  state.notes.push_back(
      fmt::format("resumed from {}, with {} of {} steps done", file.string(), in->parts(), problem.steps()));
  return in->parts();
}

}  // namespace terrane::heat
