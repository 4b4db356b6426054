#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/version.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"

namespace terrane::cli {

namespace {

struct Processor {
  std::string model = "unknown";
  std::size_t cores = 0;
};

Processor processor() {
  Processor found;
  std::ifstream info("/proc/cpuinfo");
  std::string line, socket;
  std::set<std::string> cores;
  while (std::getline(info, line)) {
    const auto colon = line.find(": ");
    if (colon == line.npos) continue;
    if (line.starts_with("model name")) found.model = line.substr(colon + 2);
    if (line.starts_with("physical id")) socket = line.substr(colon + 2);
    if (line.starts_with("core id")) cores.insert(socket + ":" + line.substr(colon + 2));
  }
  found.cores = cores.size();
  return found;
}

/// The instruction set that kernels use, or the reason why none can be used.
std::string vectors() {
  try {
    return instruction_set_title(instruction_set());
  } catch (const UnsupportedError& error) {
    return error.problem();
  }
}

}  // namespace

int devices(const std::string& mpi) {
  const auto cpu = processor();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int usable =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : omp_get_num_procs();
  say("cpu\n  {:<10} {}\n", "model", cpu.model);
  if (cpu.cores) say("  {:<10} {}\n", "cores", cpu.cores);
  say("  {:<10} {} of {} logical CPUs usable, {} threads by default\n", "threads", usable,
      omp_get_num_procs(), omp_get_max_threads());
  say("  {:<10} {}\n", "vectors", vectors());
  say("  {:<10} {} available\n", "memory", bytes_text(static_cast<double>(available_memory())));
  const auto found = gpus();
  for (const auto& gpu : found) {
    say("cuda:{}\n  {:<10} {}\n", gpu.index, "GPU", gpu.name);
    say("  {:<10} {} of {} free\n", "memory", bytes_text(static_cast<double>(gpu.memory.free)),
        bytes_text(static_cast<double>(gpu.memory.total)));
    say("  {:<10} compute capability {}.{}, {} multiprocessors, {:.3g} multiply-adds in double precision per "
        "second\n",
        "processor", gpu.capability[0], gpu.capability[1], gpu.multiprocessors, gpu.fp64_per_second);
  }
  if (found.empty()) say("cuda\n  {}\n", why_no_gpu());
  say("mpi\n  {}\n{}\n", mpi.empty() ? "not in this build" : mpi, version_line());
  return 0;
}

}  // namespace terrane::cli
