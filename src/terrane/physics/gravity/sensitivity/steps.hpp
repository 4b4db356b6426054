// A product as a list of steps with many small tasks each, so that several blocks of cells share all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace terrane::gravity {

/// Tasks that may run in any order, or at once.
struct Tasks {
  std::size_t count;
  std::function<void(std::size_t)> run;
};
/// Sets of tasks that run one after the other.
using Steps = std::vector<Tasks>;

/// Runs the steps of all blocks together: the first of each, then the second, and so on.
void run_together(const std::vector<Steps>& blocks, int threads);

/// Arrays that a product needs, kept for the next product: allocating new ones would take a fifth of its
/// time.
class Scratch {
 public:
  /// An array, not initialised. The array returns to this object when its last owner releases it; this object
  /// must outlive the array.
  std::shared_ptr<double[]> take(std::size_t numbers);

 private:
  struct Free {
    std::size_t numbers;
    std::unique_ptr<double[]> array;
  };
  std::mutex mutex_;
  std::vector<Free> free_;
  std::size_t arrays_ = 0;  ///< arrays allocated so far; free_ has capacity for all
};

/// Tasks that call body(i) for i = 0 .. count − 1; each task calls it for `a_task` successive i.
template <class Body>
Tasks in_tasks(std::size_t count, std::size_t a_task, const Body& body) {
  return {(count + a_task - 1) / a_task, [=](std::size_t task) {
            for (std::size_t i = task * a_task; i < std::min((task + 1) * a_task, count); ++i) body(i);
          }};
}
/// Tasks that call body(i) for all i of a task.  first: the first i of each task, then the end of the last
/// task
template <class Body>
Tasks in_tasks(const std::vector<std::size_t>& first, const Body& body) {
  return {first.size() - 1, [&first, body](std::size_t task) {
            for (std::size_t i = first[task]; i < first[task + 1]; ++i) body(i);
          }};
}

/// Cuts 0 .. count − 1 into runs of about 1e6 operations each, some 0.1 ms. Returns the first index of each
/// run, then `count`.
template <class Cost>
std::vector<std::size_t> cut_by_cost(std::size_t count, const Cost& cost) {
  constexpr double operations_per_task = 1e6;
  std::vector<std::size_t> first(1, 0);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += cost(i);
    if (sum < operations_per_task && i + 1 < count) continue;
    first.push_back(i + 1);
    sum = 0;
  }
  return first;
}

}  // namespace terrane::gravity
