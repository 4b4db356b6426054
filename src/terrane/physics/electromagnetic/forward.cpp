#include "terrane/physics/electromagnetic/forward.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace terrane::electromagnetic {

namespace {

/// What a solve of one rank leaves for rank 0.
struct Found {
  std::uint64_t number;
  Solve solve;
};

/// Rank 0 takes what all ranks found in a round, in any order.
void collect(Comm& comm, const std::vector<Found>& found, const std::vector<std::complex<double>>& data,
             std::size_t each, Outcome& out) {
  const auto all_found = comm.gather(std::as_bytes(std::span(found)), 0);
  const auto all_data = comm.gather(std::as_bytes(std::span(data)), 0);
  for (std::size_t rank = 0; rank < all_found.size(); ++rank)
    for (std::size_t n = 0; n < all_found[rank].size() / sizeof(Found); ++n) {
      Found one;
      std::memcpy(&one, all_found[rank].data() + n * sizeof(Found), sizeof one);
      out.solves[one.number] = one.solve;
      std::memcpy(out.data.data() + one.number * each, all_data[rank].data() + n * each * sizeof(out.data[0]),
                  each * sizeof(out.data[0]));
    }
}

}  // namespace

Outcome forward(const Problem& problem, Stream& stream, Progress* progress, Comm* ranks) {
  Alone alone;
  Progress silent;
  Comm& comm = ranks ? *ranks : alone;
  Progress& told = progress ? *progress : silent;
  problem.check();
  const std::size_t solves = problem.solves(), each = problem.data_of_a_solve();
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::optional<Solves> own;
  together(comm, [&] {
    if (rank < solves) own.emplace(problem, stream);
  });
  std::vector<Found> found;
  std::vector<std::complex<double>> data, one;
  told.start("solving for fields", solves);
  for (std::size_t first = 0; first < solves; first += size) {
    if (comm.lowest(told.cancelled() ? 0 : 1) == 0) throw Cancelled();
    const std::size_t mine = first + rank;
    together(comm, [&] {
      if (mine >= solves) return;
      const auto done = own->solve(mine, one);
      found.push_back({mine, done});
      data.insert(data.end(), one.begin(), one.end());
    });
    told.advance(std::min(size, solves - first));
  }
  told.finish();
  Outcome out;
  if (rank == 0) {
    out.data.resize(solves * each);
    out.solves.resize(solves);
  }
  collect(comm, found, data, each, out);
  return out;
}

}  // namespace terrane::electromagnetic
