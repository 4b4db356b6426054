#include "terrane/simulation/checkpoint_times.hpp"

#include <exception>
#include <utility>

namespace terrane {

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
    kept_ = done;
  } catch (const std::exception& error) {  // a full disk must not cost the hours it was to save
    warnings_.push_back(std::string("no checkpoint was kept: ") + error.what());
    settings_.file.clear();
  }
  last_ = Clock::now();
  work_to_keep = false;
}

}  // namespace terrane
