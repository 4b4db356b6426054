#include "terrane/physics/elastic/march/checkpoint.hpp"

#include <fmt/format.h>

#include "terrane/physics/elastic/march/part.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::elastic {

namespace {

Fingerprint fingerprint(const Problem& p) {
  std::vector<double> mesh, rocks, acquisition;
  for (const auto& node : p.mesh.nodes) mesh.insert(mesh.end(), node.begin(), node.end());
  for (std::size_t n = 0; n < p.mesh.size(); ++n) {
    const auto corners = p.mesh.vertices(n);
    mesh.insert(mesh.end(), corners.begin(), corners.end());
    mesh.push_back(p.mesh.medium[n]);
  }
  for (const auto& face : p.mesh.absorbing)
    mesh.insert(mesh.end(), {double(face.element), double(face.side)});
  mesh.insert(mesh.end(), p.mesh.curve.begin(), p.mesh.curve.end());
  for (const auto& nodes : p.mesh.curves)
    for (const auto& x : nodes) mesh.insert(mesh.end(), x.begin(), x.end());
  mesh.insert(mesh.end(), p.mesh.fading.begin(), p.mesh.fading.end());
  for (const auto& m : p.mesh.margins)
    mesh.insert(mesh.end(), {m.from, m.to, m.speed, m.reflection, m.braking});
  for (const auto& rock : p.mesh.media) {
    rocks.push_back(rock.density);
    rocks.insert(rocks.end(), rock.taken_kappa.begin(), rock.taken_kappa.end());
    rocks.insert(rocks.end(), rock.taken_mu.begin(), rock.taken_mu.end());
    for (const auto& row : rock.stiffness) rocks.insert(rocks.end(), row.begin(), row.end());
  }
  for (const auto& s : p.sources) {
    acquisition.insert(acquisition.end(), s.at.begin(), s.at.end());
    acquisition.insert(acquisition.end(), s.strength.begin(), s.strength.end());
    acquisition.insert(acquisition.end(),
                       {double(s.is_moment), double(s.course.pulse), s.course.width, s.course.delay});
    acquisition.insert(acquisition.end(), s.course.samples.begin(), s.course.samples.end());
  }
  const auto& shown = p.snapshots;
  std::vector<double> pictures(shown.box.begin(), shown.box.end());
  pictures.insert(pictures.end(), {double(shown.of), double(shown.velocity), double(shown.every)});
  for (const auto& r : p.receivers) acquisition.insert(acquisition.end(), r.begin(), r.end());
  return {this_program(),
          {"elements", hash({mesh}), true},
          {"rocks", hash({rocks}), true},
          {"sources or receivers", hash({acquisition}), true},
          {"snapshots", hash({pictures}), true},
          {"degree", fmt::format("{}", p.degree)},
          {"precision", p.precision == Precision::single_precision ? "single" : "double"},
          {"recorded", p.records_pressure ? "pressure" : "displacement"},
          {"sums", p.sums == Sums::fixed ? "fixed" : "fast"},
          {"band of constant Q", fmt::format("{} Hz", p.relaxation_middle)},
          {"frequency of margins", fmt::format("{} Hz", p.fading_frequency)},
          {"begin", fmt::format("{} s", p.begin)},
          {"end", fmt::format("{} s", p.end)},
          {"step", fmt::format("{} s", p.step)},
          {"time_dispersion", p.remove_dispersion ? "removed" : "kept"}};
}

/// Snapshots that were taken until `done` steps were done.
std::size_t pictures_by(const Problem& problem, std::size_t done) {
  return problem.pictures() == 0 ? 0 : done / problem.snapshots.every;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& state) {
  CheckpointWriter out(file, fingerprint(problem), done);
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
  auto in = CheckpointReader::open(file);
  if (!in) {
    state.warnings.push_back(fmt::format("there is no checkpoint {}: the run starts afresh", file.string()));
    return 0;
  }
  in->expect(fingerprint(problem));
  in->expect_parts(problem.steps());
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
  state.notes.push_back(
      fmt::format("resumed from {}, with {} of {} steps done", file.string(), in->parts(), problem.steps()));
  return in->parts();
}

}  // namespace terrane::elastic
