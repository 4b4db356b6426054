#include "terrane/physics/acoustic/shot_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/physics/acoustic/image/records.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::acoustic {

namespace {

std::filesystem::path file_in(const std::filesystem::path& folder, std::size_t shot) {
  return folder / fmt::format("shot-{}", shot + 1);
}

/// The shots that have files in the folder, in order; none without a folder.
std::vector<std::size_t> shots_in(const std::filesystem::path& folder) {
  constexpr std::string_view begin = "shot-";
  std::vector<std::size_t> shots;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto name = entry->path().filename().string();
    if (name.rfind(begin, 0) != 0) continue;
    std::size_t number = 0;
    const auto* const last = name.data() + name.size();
    const auto read = std::from_chars(name.data() + begin.size(), last, number);
    if (read.ec == std::errc() && read.ptr == last && number > 0) shots.push_back(number - 1);
  }
  std::sort(shots.begin(), shots.end());
  return shots;
}

double bytes_of(const ShotResult& result) {
  const auto& images = result.images;
  const auto values =
      images.kernel.size() + images.correlation.size() + images.illumination.size() + images.at_lags.size();
  return 4.0 * static_cast<double>(result.gather.size()) + 8.0 * static_cast<double>(values);
}

/// A rank writes at most this many bytes per second of computing, because disks are shared by many ranks.
constexpr double bytes_per_second = 5e6;
constexpr double small_file = 1e6;

bool wanted(const CheckpointSettings& checkpoint, int ranks) {
  return ranks > 1 && !checkpoint.file.empty() && checkpoint.interval != CheckpointSettings::never;
}

double size_of(const std::filesystem::path& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  return failed ? 0 : static_cast<double>(size);
}

/// Bytes of `use` that existing files of this run already occupy: an old checkpoint, and files of shots.
double there_already(const CheckpointSettings& checkpoint, const DiskUse& use) {
  const auto folder = parts_beside(checkpoint.file);
  double shots = 0;
  for (const std::size_t shot : shots_in(folder)) shots += size_of(file_in(folder, shot));
  return std::min(size_of(checkpoint.file), use.checkpoint) + std::min(shots, use.shots * use.shot);
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& file) {
  std::error_code failed;
  auto folder = std::filesystem::absolute(file, failed).parent_path();
  while (!std::filesystem::is_directory(folder, failed) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

Fingerprint fingerprint(const Problem& p, const Settings& s) { return fingerprint_of(p, s); }

/// A rank writes a file after each shot; every `interval` seconds, after a round, a checkpoint replaces these
/// files. No checkpoint contains the last shot of the run, and there is none if all shots fit into one round.
DiskUse disk_use(const Problem& problem, const Settings& settings, const CheckpointSettings& checkpoint,
                 int ranks, double seconds) {
  DiskUse use;
  const auto shots = problem.shots.size(), all = static_cast<std::size_t>(ranks);
  if (checkpoint.file.empty() || checkpoint.interval == CheckpointSettings::never || shots <= 1) return use;
  const auto nodes = static_cast<double>(problem.velocity.size());
  const double images =
      settings.task == Task::migration ? 8 * nodes * static_cast<double>(3 + settings.images_at_lags()) : 0;
  double gathers = 0, largest = 0, gather = 0;
  for (const auto& shot : problem.shots) {
    gather = 4.0 * static_cast<double>(problem.steps() * problem.traces(shot));
    gathers += gather;
    largest = std::max(largest, gather);
  }
  const bool apart = settings.shots_of_their_own(shots, ranks);
  if (!apart || shots != all) use.checkpoint = gathers - gather + images + settings.snapshots.bytes(problem);
  if (!wanted(checkpoint, ranks) || !apart) return use;
  use.shot = largest + images;
  use.seconds = std::max(std::min(checkpoint.round, checkpoint.interval),
                         use.shot > small_file ? use.shot / bytes_per_second : 0);
  if (seconds == 0) seconds = use.seconds;
  const double between = seconds > 0 ? std::floor(checkpoint.interval / seconds) + 1 : 1;
  use.shots = std::min(between * ranks, static_cast<double>(shots));
  return use;
}

bool has_room(const CheckpointSettings& checkpoint, const DiskUse& use) {
  return use.bytes() < free_on_disk(folder_of(checkpoint.file).string()) + there_already(checkpoint, use);
}

void expect_room(const CheckpointSettings& checkpoint, const DiskUse& use) {
  if (has_room(checkpoint, use)) return;
  const auto folder = folder_of(checkpoint.file).string();
  const double there = free_on_disk(folder);
  std::string what = fmt::format("{} for the checkpoint and its successor", bytes_text(2 * use.checkpoint));
  if (const double kept = there_already(checkpoint, use); kept > 0)
    what += fmt::format(" ({} lie there)", bytes_text(kept));
  if (use.shots > 0)
    what += fmt::format(", and {} for {:.0f} finished shots of {}", bytes_text(use.shots * use.shot),
                        use.shots, bytes_text(use.shot));
  if (use.film > 0) what += fmt::format(", and {} for snapshots", bytes_text(use.film));
  throw FileError(folder, fmt::format("{} are free on this disk; the run wants {}", bytes_text(there), what),
                  use.film > 0 ? "Write output to a larger disk, take fewer snapshots, or take "
                                 "output.checkpoint = \"never\"."
                               : "Write output to a larger disk, or take output.checkpoint = \"never\".");
}

ShotFiles::ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
                     int ranks)
    : checkpoint_(checkpoint),
      problem_(problem),
      settings_(settings),
      ranks_(ranks),
      keeps_(wanted(checkpoint, ranks)) {}

void ShotFiles::make_folder(const CheckpointSettings& checkpoint, int ranks) {
  std::error_code failed;  // ignored, because keep() reports a folder that is missing
  if (wanted(checkpoint, ranks)) std::filesystem::create_directories(parts_beside(checkpoint.file), failed);
}

void ShotFiles::remove_empty_folder(const CheckpointSettings& checkpoint) {
  std::error_code failed;
  const auto folder = parts_beside(checkpoint.file);
  if (!checkpoint.file.empty() && std::filesystem::is_directory(folder, failed))
    std::filesystem::remove(folder, failed);  // does nothing if the folder is not empty
}

std::filesystem::path ShotFiles::file_of(std::size_t shot) const {
  return file_in(parts_beside(checkpoint_.file), shot);
}

const Fingerprint& ShotFiles::of() {
  if (of_.empty()) of_ = fingerprint(problem_, settings_);
  return of_;
}

std::optional<ShotResult> ShotFiles::read(std::size_t shot) {
  auto in = CheckpointReader::open(file_of(shot));
  if (!in || in->parts() != shot + 1) return std::nullopt;
  in->expect(of());
  const std::size_t samples = problem_.steps() * problem_.traces(problem_.shots[shot]),
                    nodes = settings_.task == Task::migration ? problem_.velocity.size() : 0;
  return ShotResult{in->array<float>("gather", {samples}),
                    {in->array<double>("kernel", {nodes}), in->array<double>("correlation", {nodes}),
                     in->array<double>("illumination", {nodes}),
                     in->array<double>("at_lags", {settings_.images_at_lags() * nodes})},
                    true,
                    {}};
}

std::optional<ShotResult> ShotFiles::find(std::size_t shot) {
  if (checkpoint_.file.empty() || !checkpoint_.resume) return std::nullopt;
  try {
    return read(shot);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string ShotFiles::misfit() {
  const auto folder = parts_beside(checkpoint_.file);
  const auto shots = shots_in(folder);
  if (shots.empty()) return {};
  std::string why = "there are fewer shots now";
  if (shots.front() < problem_.shots.size()) try {
      read(shots.front());
      return {};
    } catch (const Error& error) {
      why = error.problem();
    }
  return fmt::format("{} holds shots that do not fit ({}): such are computed again", folder.string(), why);
}

std::string ShotFiles::keep(std::size_t shot, const ShotResult& result, double seconds) {
  const double shots_per_rank = static_cast<double>(problem_.shots.size()) / ranks_;
  if (!keeps_ || seconds * shots_per_rank < checkpoint_.least_run) return {};
  if (seconds < std::min(checkpoint_.round, checkpoint_.interval)) return {};
  const double bytes = bytes_of(result);
  if (bytes > std::max(small_file, bytes_per_second * seconds)) return {};
  try {
    if (const auto folder = parts_beside(checkpoint_.file); !std::filesystem::is_directory(folder))
      throw FileError(folder.string(), "is no folder of all machines of this run",
                      "Write output to a disk that all machines share.");
    expect_room(checkpoint_, disk_use(problem_, settings_, checkpoint_, ranks_, seconds));
    write(shot, result);
    written_.push_back(file_of(shot));
    return {};
  } catch (const std::exception& error) {  // a full disk must not stop the run
    keeps_ = false;
    std::error_code failed;
    for (const auto& file : written_) std::filesystem::remove(file, failed);
    return error.what();
  }
}

void ShotFiles::write(std::size_t shot, const ShotResult& result) {
  CheckpointWriter writer(file_of(shot), of(), shot + 1);
  writer.list("gather", std::span<const float>(result.gather));
  const auto& images = result.images;
  writer.list("kernel", std::span<const double>(images.kernel));
  writer.list("correlation", std::span<const double>(images.correlation));
  writer.list("illumination", std::span<const double>(images.illumination));
  writer.list("at_lags", std::span<const double>(images.at_lags));
  writer.finish();
}

void ShotFiles::remove_before(const CheckpointSettings& checkpoint, std::size_t shot) {
  const auto folder = parts_beside(checkpoint.file);
  std::error_code failed;
  for (const std::size_t n : shots_in(folder))
    if (n < shot) std::filesystem::remove(file_in(folder, n), failed);
}

}  // namespace terrane::acoustic
