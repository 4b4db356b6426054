// Runs independent tasks on the threads of this process.
#pragma once

#include <cstddef>
#include <functional>

namespace terrane {

/// Number of threads that a run uses: `wanted` or, if that is 0, the default of OpenMP (OMP_NUM_THREADS, else
/// one per core); at most sixteen per core. Within a task of for_each the result is 1.
int thread_count(int wanted);

/// Limits this process to its share of the cores, as one of `processes` on the machine, unless
/// OMP_NUM_THREADS or a binding to cores sets another number.
void share_cores(int processes);

/// Calls task(index) once for every index below count, on up to `threads` threads, in no particular order;
/// what a task computes must not depend on that order. The first exception ends the loop early and is
/// rethrown here. The caller is one of the threads. It waits only for tasks that have begun, not for threads
/// that have not woken up, so on a busy machine small work takes no longer on many threads than on one. A
/// loop within a task runs on the task's thread alone. After fork() the child has its own threads. If
/// OMP_PROC_BIND binds threads, threads of OpenMP are used.
void for_each(std::size_t count, int threads, const std::function<void(std::size_t)>& task);

}  // namespace terrane
