#include "terrane/physics/acoustic/shot_files.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

namespace {

std::filesystem::path file_in(const std::filesystem::path& folder, std::size_t shot) {
  return folder / fmt::format("shot-{}", shot + 1);
}

}  // namespace

void ShotResult::put_into(Packet& packet) const {
  packet.put(gather);
  for (const auto* values : {&images.kernel, &images.correlation, &images.illumination, &images.at_lags})
    packet.put(*values);
  packet.put(kept);
}

ShotResult ShotResult::from(Packet& packet) {
  ShotResult result;
  result.gather = packet.get_vector<float>();
  auto& images = result.images;
  for (auto* values : {&images.kernel, &images.correlation, &images.illumination, &images.at_lags})
    *values = packet.get_vector<double>();
  result.kept = packet.get<bool>();
  return result;
}

Fingerprint fingerprint(const Problem& p, const Settings& s) {
  std::vector<double> places;
  for (const auto& shot : p.shots)
    for (const auto* list : {&shot.sources, &shot.receivers}) {
      places.push_back(static_cast<double>(list->size()));
      for (const auto& at : *list) places.insert(places.end(), at.begin(), at.end());
    }
  std::vector<double> data;
  for (const auto& gather : s.data) data.insert(data.end(), gather.begin(), gather.end());
  const std::vector<double> nodes(p.grid.nodes.begin(), p.grid.nodes.end());
  std::vector<double> record{p.even_density};
  for (const auto component : p.record) record.push_back(static_cast<double>(component));
  std::vector<double> sides;
  for (const auto& axis : p.sides)
    for (const auto side : axis) sides.push_back(static_cast<double>(side));
  return {this_program(),
          {"rock",
           hash({p.velocity, p.density, p.epsilon, p.delta, p.tilt, p.azimuth, s.change, nodes,
                 p.grid.spacing, p.grid.first}),
           true},
          {"sources or receivers", hash({places}), true},
          {"record", hash({record}), true},
          {"data", hash({data}), true},
          {"wavelet", hash({p.source_series()}), true},
          {"boundaries", hash({sides}), true},
          {"layers", fmt::format("{} nodes, {}, {}, {} Hz", p.layers.points, p.layers.reflection,
                                 p.layers.power, p.layers.frequency)},
          {"kind of rock", fmt::format("{}", static_cast<int>(p.rock))},
          {"order", fmt::format("{}", p.order)},
          {"coefficients", fmt::format("{}", static_cast<int>(p.coefficients))},
          {"interpolation", fmt::format("{}", p.radius)},
          {"step", fmt::format("{} s", p.step)},
          {"end", fmt::format("{} s", p.end)},
          {"exact_time", p.exact_time ? "yes" : "no"},
          {"precision", s.twofold ? "double" : "single"},
          {"kind", fmt::format("{}", static_cast<int>(s.task))},
          {"wavefield", std::string(to_string(s.keeping))},
          {"lags", fmt::format("{}", s.lags)}};
}

ShotFiles::ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
                     int ranks)
    : checkpoint_(checkpoint),
      problem_(problem),
      settings_(settings),
      shots_a_rank_(static_cast<double>(problem.shots.size()) / ranks) {
  if (checkpoint.interval == CheckpointSettings::never) checkpoint_.file.clear();
}

std::filesystem::path ShotFiles::file_of(std::size_t shot) const {
  return file_in(parts_beside(checkpoint_.file), shot);
}

const Fingerprint& ShotFiles::of() {
  if (of_.empty()) of_ = fingerprint(problem_, settings_);
  return of_;
}

std::optional<ShotResult> ShotFiles::find(std::size_t shot) {
  if (checkpoint_.file.empty() || !checkpoint_.resume) return std::nullopt;
  try {
    auto in = CheckpointReader::open(file_of(shot));
    if (!in || in->parts() != shot + 1) return std::nullopt;
    in->expect(of());
    const std::size_t samples = problem_.steps() * problem_.traces(problem_.shots[shot]),
                      nodes = settings_.task == Task::migration ? problem_.velocity.size() : 0;
    return ShotResult{in->array<float>("gather", {samples}),
                      {in->array<double>("kernel", {nodes}), in->array<double>("correlation", {nodes}),
                       in->array<double>("illumination", {nodes}),
                       in->array<double>("at_lags", {settings_.images_at_lags() * nodes})},
                      true};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void ShotFiles::keep(std::size_t shot, const ShotResult& result, double seconds) {
  if (checkpoint_.file.empty() || seconds * shots_a_rank_ < checkpoint_.least_run) return;
  if (seconds < std::min(checkpoint_.round, checkpoint_.interval)) return;
  try {
    std::filesystem::create_directories(parts_beside(checkpoint_.file));
    CheckpointWriter writer(file_of(shot), of(), shot + 1);
    writer.list("gather", std::span<const float>(result.gather));
    const auto& images = result.images;
    writer.list("kernel", std::span<const double>(images.kernel));
    writer.list("correlation", std::span<const double>(images.correlation));
    writer.list("illumination", std::span<const double>(images.illumination));
    writer.list("at_lags", std::span<const double>(images.at_lags));
    writer.finish();
  } catch (const std::exception&) {  // a full disk must not cost what was computed; the checkpoint says why
    checkpoint_.file.clear();
  }
}

void ShotFiles::remove_before(const CheckpointSettings& checkpoint, std::size_t shot) {
  const auto folder = parts_beside(checkpoint.file);
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) return;
  for (std::size_t n = 0; n < shot; ++n) std::filesystem::remove(file_in(folder, n), failed);
}

}  // namespace terrane::acoustic
