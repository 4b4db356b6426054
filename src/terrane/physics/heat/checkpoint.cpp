#include "terrane/physics/heat/checkpoint.hpp"

#include <fmt/format.h>

#include "terrane/simulation/checkpoint.hpp"

namespace terrane::heat {

namespace {

Fingerprint fingerprint(const Problem& p) {
  std::vector<double> receivers(p.receivers.begin(), p.receivers.end());
  return {
      this_program(),
      {"cells", hash({p.mesh.easting(), p.mesh.northing(), p.mesh.up(), p.conductivity, p.capacity}), true},
      {"temperatures, sources or receivers", hash({p.initial, p.power, p.production, receivers}), true},
      {"step", fmt::format("{} s", p.step)},
      {"end", fmt::format("{} s", p.end)},
      {"end of the source", fmt::format("{} s", p.power_end)},
      {"tolerance", fmt::format("{}", p.tolerance)},
      {"method", p.method == Method::explicit_steps ? "explicit" : "implicit"},
      {"boundary", p.boundary == Boundary::fixed ? "fixed" : "insulated"}};
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const March& state) {
  CheckpointWriter out(file, fingerprint(problem), done);
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
  in->expect(fingerprint(problem));
  in->expect_parts(problem.steps());
  state.temperature = in->array<double>("temperature", {problem.mesh.size()});
  state.series = in->array<double>("series", {(in->parts() + 1) * problem.receivers.size()});
  state.heat_before = in->array<double>("heat_before", {1})[0];
  state.notes.push_back(
      fmt::format("resumed from {}, with {} of {} steps done", file.string(), in->parts(), problem.steps()));
  return in->parts();
}

}  // namespace terrane::heat
