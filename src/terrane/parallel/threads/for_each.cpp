#include "terrane/parallel/threads/for_each.hpp"

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/interruptible.hpp"

namespace terrane {

namespace {

thread_local bool within_a_task = false;

}  // namespace

int thread_count(int wanted) {
  // libgomp stores the number of cores in an unprotected variable, so tasks must not call it concurrently.
  if (within_a_task) return 1;
  // The OpenMP runtime ends the process when the system refuses it a thread. It asks the system for the
  // number of CPU cores at each call, which takes longer than a small task.
  static const int most = std::min(omp_get_thread_limit(), 16 * omp_get_num_procs());
  return wanted > 0 ? std::min(wanted, most) : omp_get_max_threads();
}

void share_cores(int processes) {
  if (processes < 2 || std::getenv("OMP_NUM_THREADS")) return;
  if (omp_get_num_procs() < sysconf(_SC_NPROCESSORS_ONLN))
    return;  // the process is bound to some of the cores, which are its share
  omp_set_num_threads(std::max(1, omp_get_num_procs() / processes));
}

namespace {

/// One call of for_each; any free thread executes the next task.
struct Work {
  const std::function<void(std::size_t)>& task;
  std::size_t count;
  int wanted;                        // number of helpers that may still join; guarded by the mutex of Helpers
  std::atomic<int> inside{0};        // number of helpers that have joined and not left
  std::atomic<std::size_t> next{0};  // index of the next task
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  Work(const std::function<void(std::size_t)>& one, std::size_t tasks, int helpers)
      : task(one), count(tasks), wanted(helpers) {}

  void do_one(std::size_t index) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      task(index);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  /// Runs tasks on the thread that called for_each, and checks whether the user wants to stop.
  void lead() {
    for (std::size_t index = 0; !failed.load(std::memory_order_relaxed);) {
      if (Interruptible::ends_now() && !failed.exchange(true)) error = std::make_exception_ptr(Cancelled());
      if (failed.load(std::memory_order_relaxed)) return;
      index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      do_one(index);
    }
  }
  void run() {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      do_one(index);
    }
  }
};

/// Polls ready() for a short while before the thread sleeps, because waking up takes longer than a small
/// task.
template <class Ready>
void spin(const Ready& ready) {
  constexpr int looks = 4000;  // number of polls: a few microseconds, which do not matter on a busy machine
  for (int i = 0; i < looks && !ready(); ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// The threads that execute tasks besides the thread that calls for_each. They sleep while there is no work.
/// The caller never waits for a helper that has not begun, but executes the remaining tasks itself. So on a
/// machine that is busy with other programs a small piece of work takes no longer than alone, however many
/// threads it may use; the barriers of OpenMP wait for every thread of the team, and those that wait keep
/// others from running.
class Helpers {
 public:
  void run(Work& work) {
    post(work);
    within_a_task = true;
    work.lead();
    within_a_task = false;
    withdraw(work);
  }

  /// The object is never destroyed: threads that sleep when the process ends still use it.
  static Helpers& all() {
    static const bool once = [] {
      current() = new Helpers;
      // A forked process does not have the threads of its parent, so it gets Helpers of its own.
      pthread_atfork(nullptr, nullptr, [] { current() = new Helpers; });
      return true;
    }();
    static_cast<void>(once);
    return *current();
  }

 private:
  static Helpers*& current() {
    static Helpers* helpers = nullptr;
    return helpers;
  }

  void post(Work& work) {
    const std::lock_guard lock(mutex_);
    for (; threads_ < work.wanted; ++threads_) try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {  // the system refuses more threads; continue with those that exist
        break;
      }
    open_.push_back(&work);
    posted_.fetch_add(1, std::memory_order_release);
    wake_some();
  }

  void withdraw(Work& work) {
    std::unique_lock lock(mutex_);
    std::erase(open_, &work);
    lock.unlock();
    const auto done = [&] { return work.inside.load(std::memory_order_acquire) == 0; };
    spin(done);
    if (done()) return;
    lock.lock();
    left_.wait(lock, done);
  }

  void help() {
    within_a_task = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found =
          std::find_if(open_.begin(), open_.end(), [](const Work* work) { return work->wanted > 0; });
      if (found == open_.end()) {
        const auto seen = posted_.load(std::memory_order_relaxed);
        const auto something = [&] { return posted_.load(std::memory_order_acquire) != seen; };
        lock.unlock();
        spin(something);
        lock.lock();
        ++asleep_;
        posts_.wait(lock, something);
        --asleep_;
        continue;
      }
      Work& work = **found;
      --work.wanted;
      work.inside.fetch_add(1, std::memory_order_relaxed);
      if (work.wanted > 0) wake_some();
      lock.unlock();
      work.run();
      lock.lock();
      if (work.inside.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
    }
  }

  /// Wakes two helpers, each of which wakes two more: waking all of them would take the caller long.
  void wake_some() {
    for (int n = 0; n < std::min(asleep_, 2); ++n) posts_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable posts_, left_;
  std::vector<Work*> open_;
  std::atomic<unsigned> posted_{0};
  int threads_ = 0, asleep_ = 0;
};

/// Whether this process was forked from one that computed on OpenMP's threads: GNU's OpenMP would wait for
/// ever for these threads, which exist only in the parent.
bool team_stayed_behind() {
  static std::atomic<pid_t> owner{0};
  const pid_t here = getpid();
  pid_t known = 0;
  return !owner.compare_exchange_strong(known, here) && known != here;
}

}  // namespace

void for_each(std::size_t count, int threads, const std::function<void(std::size_t)>& task) {
  // There are no more threads than tasks: waking one takes longer than a small task itself.
  const int team = static_cast<int>(std::clamp<std::size_t>(
      count, 1, static_cast<std::size_t>(std::min(thread_count(threads), omp_get_thread_limit()))));
  Work work(task, count, team - 1);
  if (team == 1 || omp_in_parallel()) {
    work.lead();
  } else if (omp_get_proc_bind() != omp_proc_bind_false && !team_stayed_behind()) {
    // The user has bound threads to cores, and only OpenMP applies such a binding.
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
    for (std::size_t index = 0; index < count; ++index) work.do_one(index);
  } else {
    Helpers::all().run(work);
  }
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace terrane
