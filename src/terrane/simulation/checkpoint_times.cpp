#include "terrane/simulation/checkpoint_times.hpp"

#include <charconv>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace terrane {

void forget_later_runs(const CheckpointSettings& one) {
  if (!one.takes_away) return;
  const auto number_of = [](const std::filesystem::path& file) {  // the number in a file's name, 2 for "2"
                                                                  // and "2.parts"; 0 for other names
    unsigned long number = 0;
    const auto name = file.stem().string();
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    return wrong == std::errc() && end == name.data() + name.size() ? number : 0;
  };
  std::error_code failed;
  std::vector<std::filesystem::path> later;
  for (const auto& entry : std::filesystem::directory_iterator(one.file.parent_path(), failed))
    if (number_of(entry.path()) > number_of(one.file)) later.push_back(entry.path());
  for (const auto& path : later) std::filesystem::remove_all(path, failed);
}

CheckpointTimes::CheckpointTimes(CheckpointSettings settings, std::size_t first, std::size_t all,
                                 std::vector<std::string>& warnings)
    : settings_(std::move(settings)), first_(first), all_(all), warnings_(warnings) {}

bool CheckpointTimes::due(std::size_t done) const {
  work_to_keep = due_last(done);
  if (settings_.file.empty() || done <= kept_) return false;
  const bool whole = done >= all_ && settings_.also_whole && settings_.interval < CheckpointSettings::never;
  if (!whole && (done >= all_ || seconds_since(last_) < settings_.interval)) return false;
  return seconds() * static_cast<double>(all_ - first_) >=
         settings_.least_run * static_cast<double>(done - first_);
}

bool CheckpointTimes::due_last(std::size_t done) const {
  return !settings_.file.empty() && settings_.interval < CheckpointSettings::never && done > kept_ &&
         seconds_since(last_) >= worth_keeping(settings_);
}

void CheckpointTimes::keep(std::size_t done, const std::function<void(const CheckpointSettings&)>& write) {
  try {
    write(settings_);
    forget_later_runs(settings_);
    kept_ = done;
  } catch (const std::exception& error) {  // a full disk must not end a long run
    warnings_.push_back(std::string("no checkpoint was kept: ") + error.what());
    settings_.file.clear();
  }
  last_ = Clock::now();
  work_to_keep = false;
}

}  // namespace terrane
