#include "terrane/physics/gravity/sensitivity/steps.hpp"

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

void run_together(const std::vector<Steps>& blocks, int threads) {
  std::size_t most = 0;
  for (const auto& steps : blocks) most = std::max(most, steps.size());
  for (std::size_t step = 0; step < most; ++step) {
    std::vector<std::size_t> first(1, 0);  // first task of each block
    for (const auto& steps : blocks)
      first.push_back(first.back() + (step < steps.size() ? steps[step].count : 0));
    for_each(first.back(), threads, [&](std::size_t task) {
      const auto block =
          static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), task) - first.begin()) - 1;
      blocks[block][step].run(task - first[block]);
    });
  }
}

std::shared_ptr<double[]> Scratch::take(std::size_t numbers) {
  std::unique_ptr<double[]> array;
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(free_.begin(), free_.end(), [&](const Free& f) { return f.numbers == numbers; });
    if (found != free_.end()) {
      array = std::move(found->array);
      free_.erase(found);
    }
  }
  if (!array) {
    array = std::make_unique_for_overwrite<double[]>(numbers);
    const std::lock_guard lock(mutex_);
    free_.reserve(arrays_ + 1);  // memory is reserved here, because returning an array must not throw
    ++arrays_;
  }
  return {array.release(), [this, numbers](double* used) {
            std::unique_ptr<double[]> back(used);
            const std::lock_guard lock(mutex_);
            free_.push_back({numbers, std::move(back)});
          }};
}

}  // namespace terrane::gravity
