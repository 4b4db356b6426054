#include "terrane/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/number.hpp"

namespace terrane {

namespace {

/// Stands for "no limit": more bytes than any machine has, but small enough that sums with it do not
/// overflow.
constexpr auto unlimited = std::numeric_limits<std::size_t>::max() / 2;

/// The first number in a file of the Linux kernel such as memory.max; `unlimited` if the file has none
/// ("max").
std::size_t number_in(const std::string& file) {
  std::ifstream stream(file);
  std::size_t number = unlimited;
  return stream >> number ? number : unlimited;
}

std::size_t left_in_group() {
  // Control groups, version 2: the limits of the group and of all its parents apply; a process in a container
  // sees only those of the container.
  std::ifstream groups("/proc/self/cgroup");
  std::string line, path;
  while (std::getline(groups, line))
    if (line.starts_with("0::")) path = line.substr(3);
  std::size_t left = unlimited;
  const auto add = [&](const std::string& limit_file, const std::string& use_file) {
    const auto limit = number_in(limit_file), use = number_in(use_file);
    // Version 1 of control groups writes "no limit" as a number near 2^63.
    if (limit < (std::size_t{1} << 60) && use != unlimited)
      left = std::min(left, limit > use ? limit - use : std::size_t{0});
  };
  for (;;) {
    const std::string folder = "/sys/fs/cgroup" + path;
    add(folder + "/memory.max", folder + "/memory.current");
    const auto slash = path.rfind('/');
    if (path.empty() || slash == path.npos) break;
    path.resize(slash);
  }
  add("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes");
  return left;
}

/// The memory that a limit on address space (`ulimit -v`) leaves: 0.9 times what remains of the limit after
/// the addresses reserved so far and the stacks of later threads. The factor 0.9 is used because a run
/// reserves more addresses than it uses memory: some allocated blocks are never fully used, and some freed
/// memory is not returned.
std::size_t left_of_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  constexpr double touched = 0.9;
  double taken = 0;
  std::size_t threads = 1;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    std::size_t number = 0;
    if (!(words >> name >> number)) continue;
    if (name == "VmSize:") taken = 1024 * static_cast<double>(number);
    if (name == "Threads:") threads = number;
  }
  rlimit stack{};
  const bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const std::size_t all = std::max(std::thread::hardware_concurrency(), 1U);
  taken += static_cast<double>(all > threads ? all - threads : 0) *
           (known ? static_cast<double>(stack.rlim_cur) : 0x1p23);
  return static_cast<std::size_t>(std::max(0.0, touched * (static_cast<double>(limit.rlim_cur) - taken)));
}

}  // namespace

std::size_t available_memory() {
  std::size_t available = unlimited;
  std::ifstream info("/proc/meminfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with("MemAvailable:")) continue;
    std::istringstream words(line.substr(13));
    std::size_t kilobytes = 0;
    if (words >> kilobytes) available = kilobytes * 1024;
  }
  available = std::min(available, left_in_group());
  return std::min(available, left_of_addresses());
}

std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> units{"bytes", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 || bytes >= 10 ? fmt::format("{:.0f} {}", bytes, units[unit])
                                  : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::size_t bytes_from_text(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"", 1},
                                                                      {"B", 1},
                                                                      {"bytes", 1},
                                                                      {"kB", 1e3},
                                                                      {"MB", 1e6},
                                                                      {"GB", 1e9},
                                                                      {"TB", 1e12},
                                                                      {"MiB", 0x1p20},
                                                                      {"GiB", 0x1p30}}};
  double number = 0;
  const auto [end, error] = read_number(text, number);
  if (error == std::errc{} && number > 0 && number < 1e18) {
    auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const auto& [name, factor] : units)
      if (name == unit && number * factor < 0x1p62) return static_cast<std::size_t>(number * factor);
  }
  throw InputError("memory", fmt::format("\"{}\" is not an amount of memory", text),
                   "Write for example \"2 GB\"; units: B, kB, MB, GB, TB, MiB, GiB.");
}

void MemoryBudget::require(const std::string& where, const std::string& what, double needed) const {
  if (needed <= static_cast<double>(bytes)) return;
  throw MemoryError(where,
                    fmt::format("would need {} for {}, {} available", bytes_text(needed), what,
                                bytes_text(static_cast<double>(bytes))),
                    "Make the model or the survey smaller, or run on a machine with more memory.");
}

}  // namespace terrane
