#include "terrane/physics/electric/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/free_memory.hpp"

namespace terrane::electric {

namespace {

/// The report of a group of ranks to rank 0 about a solve.
struct Told {
  bool solved;
  bool secondary;
  solve::Reason reason;
  int iterations;
  double residual;
};

}  // namespace

Turns::Turns(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& places,
             const Parameters& parameters, Stream& stream, std::vector<std::size_t> electrodes,
             const Groups& groups)
    : electrodes_(std::move(electrodes)), groups_(groups) {
  // Each rank checks medium and survey by itself, before ranks of a group wait for each other.
  groups.together([&] { check(mesh, conductivity, places); });
  groups.in_step([&] {
    if (groups.own() < std::max<std::size_t>(electrodes_.size(), 1))
      solver_.emplace(mesh, conductivity, places, parameters, stream,
                      groups.sharing() ? *groups.sharing() : alone_);
  });
}

void Turns::solve(Progress& progress, const Find& find, const Take& take, const Deal& deal) {
  progress.start("solving for electrodes", electrodes_.size());
  for (std::size_t first = 0; first < electrodes_.size(); first += groups_.count()) {
    if (groups_.comm().lowest(progress.cancelled() ? 0 : 1) == 0) throw Cancelled();
    Solved solved;
    std::vector<double> found;
    groups_.in_step([&] {
      const std::size_t turn = first + groups_.own();
      if (turn < electrodes_.size()) found = find(*solver_, electrodes_[turn], solved);
    });
    hand_over(first, solved, std::move(found), take);
    if (deal) deal_out(first, deal);
    progress.advance(std::min(groups_.count(), electrodes_.size() - first));
  }
  progress.finish();
}

/// Rank 0 receives the results of the groups, each for one of the electrodes first, first + 1, …. If the
/// memory of a rank does not suffice for the messages, it throws OutOfStep.
void Turns::hand_over(std::size_t first, const Solved& solved, std::vector<double> found,
                      const Take& take) const {
  Comm& comm = groups_.comm();
  if (comm.size() == 1) return take(electrodes_[first], solved, std::move(found));
  const auto& report = solved.report;
  const bool mine = groups_.hands_over() && first + groups_.own() < electrodes_.size();
  const Told told{mine, solved.secondary, report.reason, report.iterations, report.residual};
  if (!mine) free_memory(found);
  try {
    const auto all_told = comm.gather(std::as_bytes(std::span(&told, 1)), 0);
    auto all_found = comm.gather(std::as_bytes(std::span(found)), 0);
    free_memory(found);
    std::size_t turn = first;
    for (std::size_t rank = 0; rank < all_found.size(); ++rank) {
      Told one;
      std::memcpy(&one, all_told[rank].data(), sizeof one);
      if (!one.solved) continue;
      std::vector<double> values(all_found[rank].size() / sizeof(double));
      if (!values.empty()) std::memcpy(values.data(), all_found[rank].data(), all_found[rank].size());
      all_found[rank] = {};
      take(electrodes_[turn++], {{one.reason, one.iterations, one.residual, {}}, one.secondary},
           std::move(values));
    }
  } catch (const std::bad_alloc& error) {
    throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());
  }
}

/// A failure here concerns this rank alone, while the others wait for it: so it throws OutOfStep.
void Turns::deal_out(std::size_t first, const Deal& deal) const {
  Comm& comm = groups_.comm();
  if (comm.size() == 1) return deal(electrodes_[first], 0);
  try {
    const std::byte mine{groups_.hands_over()};
    std::vector<std::byte> all(static_cast<std::size_t>(comm.size()));
    comm.gather_all(std::span(&mine, 1), all);
    std::size_t turn = first;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (all[rank] == std::byte{true} && turn < electrodes_.size())
        deal(electrodes_[turn++], static_cast<int>(rank));
  } catch (const std::exception& error) {
    throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());
  }
}

}  // namespace terrane::electric
