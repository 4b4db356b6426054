// Rows that kernels of GPUs bring each other. CI has no GPU: tools/gpu_check --gpus N runs these, with three
// or more for several neighbours, or TERRANE_TEST_SHARED_GPUS=1 and mpirun -n 4 where there are fewer.
#include "terrane/parallel/partition/peer_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include "ranks.hpp"

namespace terrane {
namespace {

/// How many rows go from a rank to another: unlike numbers, and none from or to the last of three or more.
Index count(int from, int to, int ranks) {
  const bool left_out = ranks > 2 && std::max(from, to) == ranks - 1;
  return from == to || left_out ? 0 : 37 * (from + 1) * (to + 2) + 5000 * from;
}
/// Which row of `from` is the n-th that `to` gets, and number c of it.
std::uint32_t row(int from, int to, Index n, int ranks) {
  return static_cast<std::uint32_t>((7919 * n + 13 * to) % (2 * count(from, to, ranks)));
}
template <class T>
T number(int from, std::uint32_t row, int c, int message) {
  return static_cast<T>((from * 40000 + static_cast<int>(row)) * 4 + c) + static_cast<T>(message) / 4;
}

struct Rows {
  std::vector<std::uint32_t> send;
  std::vector<PeerRows<double>::Parcel> out, in;
  Index received = 0, held = 0;

  Rows(int rank, int ranks) {
    for (int other = 0; other < ranks; ++other) {
      const auto leaving = count(rank, other, ranks), arriving = count(other, rank, ranks);
      if (leaving == 0) continue;
      out.push_back({other, static_cast<Index>(send.size()), leaving});
      in.push_back({other, received, arriving});
      for (Index n = 0; n < leaving; ++n) send.push_back(row(rank, other, n, ranks));
      received += arriving;
      held = std::max(held, 2 * leaving);
    }
  }
  template <class T>
  std::unique_ptr<PeerRows<T>> made(Stream& stream, Comm& comm) const {
    using Parcel = typename PeerRows<T>::Parcel;
    const auto of = [](const auto& all) {
      std::vector<Parcel> parcels;
      for (const auto& p : all) parcels.push_back({p.rank, p.first, p.count});
      return parcels;
    };
    return PeerRows<T>::make(stream, send, of(out), of(in), comm);
  }
};

template <class T>
void expect_rows(Stream& stream, Comm& comm) {
  const int ranks = comm.size();
  const Rows rows(comm.rank(), ranks);
  const auto peers = rows.made<T>(stream, comm);
  if (!peers) GTEST_SKIP() << "GPUs do not reach each other's memory";
  Buffer<T> from(stream.device(), static_cast<std::size_t>(4 * std::max<Index>(rows.held, 1))),
      to(stream.device(), static_cast<std::size_t>(4 * std::max<Index>(rows.received, 1)));
  for (int message = 0; message < 5; ++message) {
    std::vector<T> mine;
    for (std::uint32_t r = 0; mine.size() < from.size(); ++r)
      for (int c = 0; c < 4; ++c) mine.push_back(number<T>(comm.rank(), r, c, message));
    from.upload(stream, mine);
    peers->bring(stream, from.view().data, to.view().data);
    std::vector<T> got(to.size());
    to.download(stream, got);
    EXPECT_NO_THROW(peers->check());
    Index wrong = 0;
    for (const auto& parcel : rows.in)
      for (Index n = 0; n < parcel.count; ++n)
        for (int c = 0; c < 4; ++c)
          wrong += got[static_cast<std::size_t>(4 * (parcel.first + n) + c)] !=
                   number<T>(parcel.rank, row(parcel.rank, comm.rank(), n, ranks), c, message);
    EXPECT_EQ(wrong, 0) << "message " << message;
  }
}

TEST(PeerRows, ComeInTheirOrderFromAllNeighbours) {
  const auto comm = test::ranks();
  if (!test::has_gpus_for(*comm)) GTEST_SKIP() << "needs a GPU for each of several ranks";
  Stream stream(resolve({Device::Kind::cuda, -1}, comm->on_node().index));
  expect_rows<float>(stream, *comm);
  expect_rows<double>(stream, *comm);
}

TEST(PeerRows, ThatAreLeftByAnExceptionWaitForNobody) {
  const auto comm = test::ranks();
  if (!test::has_gpus_for(*comm)) GTEST_SKIP() << "needs a GPU for each of several ranks";
  Stream stream(resolve({Device::Kind::cuda, -1}, comm->on_node().index));
  const Rows rows(comm->rank(), comm->size());
  const auto begin = std::chrono::steady_clock::now();
  bool there = false;
  // Memory is freed when kernels have ended, so it goes after what they wait in.
  Buffer<double> from(stream.device(), static_cast<std::size_t>(4 * std::max<Index>(rows.held, 1))),
      to(stream.device(), static_cast<std::size_t>(4 * std::max<Index>(rows.received, 1)));
  from.fill_zero(stream);
  try {
    const auto peers = rows.made<double>(stream, *comm);
    there = peers != nullptr;
    if (there && comm->rank() == 0) peers->bring(stream, from.view().data, to.view().data);
    throw std::runtime_error("something else");
  } catch (const std::runtime_error&) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  comm->lowest(0);
  if (!there) GTEST_SKIP() << "GPUs do not reach each other's memory";
}

}  // namespace
}  // namespace terrane
