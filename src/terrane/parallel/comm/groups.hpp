// Groups of ranks that divide solves among themselves: each group does one solve at a time, and its ranks
// share the unknowns of that solve.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <memory>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

class Groups {
 public:
  /// Collective: all ranks of comm pass the same numbers. The sizes of groups differ by at most one rank.
  /// Comm must outlive this object.  groups: 1 … number of ranks; 0: as many groups as ranks or solves,
  /// whichever is smaller
  Groups(Comm& comm, std::size_t solves, int groups);
  /// Like the other constructor, with a function `count` that checks and counts a rank's solves. This
  /// function is called in together(), so that its error is thrown on all ranks.
  template <class Count>
  requires std::invocable<const Count&> Groups(Comm& comm, const Count& solves, int groups)
      : Groups(comm, counted(comm, solves), groups) {}

  /// All ranks.
  Comm& comm() const { return comm_; }
  std::size_t count() const { return count_; }
  /// Number of the group that this rank belongs to. The group computes solves own(), own() + count(), …
  std::size_t own() const { return own_; }
  /// The ranks of this group; null if the group is this rank alone.
  Comm* sharing() const { return sharing_; }
  /// Whether this rank sends the results of its group to rank 0. Rank 0 is in group 0, and the ranks that
  /// send are in the order of their groups.
  bool hands_over() const { return sharing_ == nullptr || sharing_->rank() == 0; }

  /// Collective: runs `work` on each rank and shares errors among all ranks as together() does. If ranks
  /// share a solve, `work` sends messages among them, so an error there is OutOfStep.
  template <class Work>
  void in_step(const Work& work) const {
    if (sharing_ == nullptr || sharing_->size() == 1) return together(work);
    try {
      work();
    } catch (const std::exception& error) {
      throw OutOfStep(fmt::format("rank {}", comm_.rank()), error.what());
    }
    agreed_ = true;
    agree(comm_, nullptr);
    agreed_ = false;
  }
  /// Collective: terrane::together() of all ranks.
  template <class Work>
  void together(const Work& work) const {
    agreed_ = true;
    terrane::together(comm_, work);
    agreed_ = false;
  }
  /// Collective: runs `work`, in which ranks wait for each other. Errors of in_step() and together(), and
  /// Cancelled, are thrown on all ranks. Other ranks do not learn of any other error, so it becomes
  /// OutOfStep.
  template <class Work>
  auto run(const Work& work) const {
    agreed_ = false;
    try {
      return work();
    } catch (const Cancelled&) {
      throw;
    } catch (const OutOfStep&) {
      throw;
    } catch (const std::exception& error) {
      if (comm_.size() == 1 || agreed_) throw;
      throw OutOfStep(fmt::format("rank {}", comm_.rank()), error.what());
    }
  }

 private:
  template <class Count>
  static std::size_t counted(Comm& comm, const Count& solves) {
    std::size_t count = 0;
    terrane::together(comm, [&] { count = solves(); });
    return count;
  }

  mutable bool agreed_ = false;
  Comm& comm_;
  std::size_t count_, own_;
  std::unique_ptr<Comm> some_;
  Comm* sharing_;
};

}  // namespace terrane
