// Runs independent tasks on the threads of this process.
#pragma once

#include <cstddef>
#include <functional>

namespace terrane {

/// Number of threads that a run would use: `wanted`, or when that is 0 what OpenMP gives (OMP_NUM_THREADS,
/// else one per core); never more than sixteen per core. Within a task of for_each, 1.
int thread_count(int wanted);

/// From now on this process uses its share of the cores, as one of several processes on the machine, unless
/// OMP_NUM_THREADS or a binding to cores says otherwise.
void share_cores(int processes);

/// Calls task(index) once for every index below count, on up to `threads` threads, in no particular order;
/// what a task computes must not depend on that order. The first exception ends the loop early and is thrown
/// here. The caller is one of the threads and waits for tasks that have begun, never for threads that have
/// not; others sleep, so on a busy machine small work takes no longer on many threads than on one. Called
/// within a task: on the thread of that task alone. After fork() the child has threads of its own. Where
/// OMP_PROC_BIND binds threads, they are those of OpenMP.
void for_each(std::size_t count, int threads, const std::function<void(std::size_t)>& task);

}  // namespace terrane
