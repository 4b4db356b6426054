#include "terrane/parallel/threads/for_each.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>

namespace terrane {

int thread_count(int wanted) {
  // The OpenMP runtime ends the process when the system refuses it a thread.
  const int most = std::min(omp_get_thread_limit(), 16 * omp_get_num_procs());
  return wanted > 0 ? std::min(wanted, most) : omp_get_max_threads();
}

void share_processors(int processes) {
  if (processes < 2 || std::getenv("OMP_NUM_THREADS")) return;
  if (omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN))
    return;  // bound: what is left is this process's own
  omp_set_num_threads(std::max(1, omp_get_num_procs() / processes));
}

void for_each(std::size_t count, int threads, const std::function<void(std::size_t)>& task) {
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  // No more threads than tasks: waking a team for one task takes longer than a small task itself.
  const int team =
      static_cast<int>(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(thread_count(threads))));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (std::size_t index = 0; index < count; ++index) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      task(index);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace terrane
