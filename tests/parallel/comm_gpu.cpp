// Large arrays go through GPUs where they can, and arrive all the same where not.
#include "terrane/parallel/comm/comm_gpu.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "parallel/ranks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/device/buffer.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace terrane {
namespace {

constexpr Device debug{Device::Kind::debug, -1};
constexpr std::size_t piece_bytes = 1'000'000, megabyte = 1'000'000;

/// A link over ranks of its own that holds what it is given in its slots, as a GPU does.
class SlotLink final : public GpuLink {
 public:
  struct Wrong {
    bool gpu_fails = false, joining = false, same_gpu = false;
  };
  SlotLink(int& pieces, Wrong wrong, std::shared_ptr<void> token = {})
      : pieces_(pieces), wrong_(wrong), token_(std::move(token)), comm_(test::ranks()) {}

  std::string name() const override { return "slots"; }
  GpuId gpu() const override {
    if (wrong_.gpu_fails && comm_->rank() == comm_->size() - 1) throw Error("link", "the GPU has no name");
    return {static_cast<std::byte>(wrong_.same_gpu ? 7 : comm_->rank())};
  }
  GroupId make_group() override { return {std::byte{1}, std::byte{2}}; }
  void join(const GroupId& group, int rank, int ranks) override {
    EXPECT_EQ(group, (GroupId{std::byte{1}, std::byte{2}}));
    EXPECT_EQ(rank, comm_->rank());
    EXPECT_EQ(ranks, comm_->size());
    if (wrong_.joining && rank == ranks - 1) throw Error("link", "the cable is out");
  }
  std::size_t piece() const override { return piece_bytes; }
  void begin(int slot, std::span<std::byte> bytes, int root) override {
    auto& held = held_[slot];
    EXPECT_TRUE(held.empty()) << "the slot is in use";
    EXPECT_LE(bytes.size(), piece_bytes);
    held.assign(bytes.begin(), bytes.end());
    comm_->broadcast(held, root);
    ++pieces_;
  }
  void finish(int slot, std::span<std::byte> bytes, int root) override {
    ASSERT_EQ(held_[slot].size(), bytes.size());
    if (comm_->rank() != root) std::memcpy(bytes.data(), held_[slot].data(), bytes.size());
    held_[slot].clear();
  }

 private:
  int& pieces_;
  Wrong wrong_;
  std::shared_ptr<void> token_;  // of whoever wants to know whether this is still there
  std::unique_ptr<Comm> comm_;
  std::vector<std::byte> held_[slots];
};

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

void expect_broadcast(Comm& comm, std::size_t count, int root) {
  const auto wanted = random_bytes(count, static_cast<unsigned>(count));
  auto bytes = comm.rank() == root ? wanted : std::vector<std::byte>(count);
  comm.broadcast(bytes, root);
  EXPECT_TRUE(bytes == wanted) << count << " bytes from " << root << " on rank " << comm.rank();
}

TEST(GpuComm, BroadcastsLargeArraysInPiecesAndLeavesTheRest) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  int pieces = 0;
  GpuComm comm(
      *below, [&](Device, int) { return std::make_unique<SlotLink>(pieces, SlotLink::Wrong{}); },
      GpuLinkUse::always);
  expect_broadcast(comm, 3 * megabyte, 0);
  EXPECT_EQ(pieces, 0) << "nobody has prepared it";
  EXPECT_THAT(comm.prepare(debug, megabyte, 2),
              testing::HasSubstr("through the GPUs by slots, which was ready in"));
  for (const int root : {0, comm.size() - 1}) {
    for (const std::size_t count :
         {1 * megabyte, 1 * megabyte + 1, 2 * megabyte, 3 * megabyte - 7, 5 * megabyte}) {
      pieces = 0;
      expect_broadcast(comm, count, root);
      EXPECT_EQ(static_cast<std::size_t>(pieces), (count + piece_bytes - 1) / piece_bytes);
    }
    pieces = 0;
    for (const std::size_t count : {std::size_t{0}, std::size_t{9}, megabyte - 1})
      expect_broadcast(comm, count, root);
    EXPECT_EQ(pieces, 0);
  }
  EXPECT_EQ(comm.prepare({Device::Kind::cpu, -1}, 100 * megabyte, 2), "");
  expect_broadcast(comm, 3 * megabyte, 0);
  EXPECT_EQ(pieces, 0) << "a run on the CPU";
}

TEST(GpuComm, LetsGoOfItsLinkWhenReleasedAndCanHaveAnother) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  int pieces = 0;
  const auto token = std::make_shared<int>();
  GpuComm comm(
      *below,
      [&](Device, int threads) {
        EXPECT_EQ(threads, 3);
        return std::make_unique<SlotLink>(pieces, SlotLink::Wrong{}, token);
      },
      GpuLinkUse::always);
  for (int run = 0; run < 2; ++run) {
    comm.prepare(debug, 100 * megabyte, 3);
    EXPECT_EQ(token.use_count(), 2);
    expect_broadcast(comm, 2 * megabyte, 0);
    EXPECT_EQ(pieces, 2);
    comm.release();
    EXPECT_EQ(token.use_count(), 1);
    expect_broadcast(comm, 2 * megabyte, 0);
    EXPECT_EQ(pieces, 2) << "it went by the link that is gone";
    pieces = 0;
  }
}

TEST(GpuComm, StartsOnlyWhenItIsWorthIt) {
  const auto below = test::ranks();
  int made = 0;
  const auto make = [&](Device, int) -> std::unique_ptr<GpuLink> {
    ++made;
    throw Error("link", "is not to be had");
  };
  for (const auto& [use, bytes] :
       {std::pair{GpuLinkUse::never, 1'000'000 * megabyte},
        std::pair{GpuLinkUse::when_worth_it, 100 * megabyte}, std::pair{GpuLinkUse::always, megabyte - 1}}) {
    GpuComm comm(*below, make, use);
    EXPECT_EQ(comm.prepare(debug, bytes, 2), "");
  }
  EXPECT_EQ(made, 0);
  // Rank 0 decides.
  GpuComm comm(*below, make, below->rank() == 0 ? GpuLinkUse::when_worth_it : GpuLinkUse::never);
  comm.prepare(debug, 100'000 * megabyte, 2);
  EXPECT_EQ(made, below->size() > 1 ? 1 : 0);
}

TEST(GpuComm, GoesOnWithoutALinkWhenARankCannotHaveIt) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const int last = below->size() - 1;
  int pieces = 0;
  const auto expect = [&](const GpuComm::MakeLink& make, const std::string& why) {
    GpuComm comm(*below, make, GpuLinkUse::always);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(comm.prepare(debug, 100 * megabyte, 2),
                "stations and prisms did not go through the GPUs: " + why);
      expect_broadcast(comm, 3 * megabyte, last);
    }
    EXPECT_EQ(pieces, 0);
  };
  expect(
      [&](Device, int) -> std::unique_ptr<GpuLink> {
        // Every rank: making the stand-in is collective.
        auto link = std::make_unique<SlotLink>(pieces, SlotLink::Wrong{});
        if (below->rank() == last) throw MemoryError("cuda:1", "there is too little");
        return link;
      },
      fmt::format("rank {}: cuda:1: there is too little", last));
  const auto wrong = [&](SlotLink::Wrong how) {
    return [&pieces, how](Device, int) { return std::make_unique<SlotLink>(pieces, how); };
  };
  expect(wrong({.gpu_fails = true}), fmt::format("rank {}: link: the GPU has no name", last));
  expect(wrong({.joining = true}), fmt::format("rank {}: link: the cable is out", last));
  expect(wrong({.same_gpu = true}), "ranks: some share a GPU");
}

TEST(GpuComm, IsToldWhetherToUseTheLink) {
  EXPECT_EQ(gpu_link_use_from_text(nullptr, "TERRANE_NCCL"), GpuLinkUse::when_worth_it);
  EXPECT_EQ(gpu_link_use_from_text("", "TERRANE_NCCL"), GpuLinkUse::when_worth_it);
  EXPECT_EQ(gpu_link_use_from_text("0", "TERRANE_NCCL"), GpuLinkUse::never);
  EXPECT_EQ(gpu_link_use_from_text("1", "TERRANE_NCCL"), GpuLinkUse::always);
  try {
    gpu_link_use_from_text("yes", "TERRANE_NCCL");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("TERRANE_NCCL: \"yes\" is not possible"));
    EXPECT_THAT(error.what(), testing::HasSubstr("Allowed: 0 (never), 1"));
  }
}

/// A link that cannot be had on the last rank, in one way or another.
class NoDirectLink final : public DirectLink {
 public:
  enum class Wrong { joining, same_gpu };
  NoDirectLink(int rank, int ranks, Wrong wrong) : rank_(rank), ranks_(ranks), wrong_(wrong) {}
  std::string name() const override { return "no link"; }
  GpuId gpu() const override { return {static_cast<std::byte>(wrong_ == Wrong::same_gpu ? 7 : rank_)}; }
  GroupId make_group() override { return {}; }
  void join(const GroupId&, int, int) override {
    if (rank_ == ranks_ - 1) throw Error("link", "the cable is out");
  }
  void exchange(Stream&, std::span<const Piece>, std::span<const Piece>) override { ADD_FAILURE(); }

 private:
  int rank_, ranks_;
  Wrong wrong_;
};

TEST(DirectMessages, AreOnAllRanksOrOnNoneAndTheReasonIsKnownToAll) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const int rank = below->rank(), ranks = below->size();
  const Device gpu{Device::Kind::cuda, 0};
  const auto why_not = [&](const GpuComm::MakeDirect& make, GpuLinkUse use = GpuLinkUse::when_worth_it) {
    GpuComm comm(*below, {}, use, make);
    for (int again = 0; again < 2; ++again) EXPECT_FALSE(comm.direct(gpu).link);
    return comm.direct(gpu).why_not;
  };
  using Wrong = NoDirectLink::Wrong;
  const auto wrong = [&](Wrong how) {
    return [=](Device) { return std::make_unique<NoDirectLink>(rank, ranks, how); };
  };
  EXPECT_EQ(why_not({}), "this build has no NCCL");
  EXPECT_EQ(why_not(wrong(Wrong::same_gpu)), "ranks: some share a GPU");
  EXPECT_EQ(why_not(wrong(Wrong::joining)), fmt::format("rank {}: link: the cable is out", ranks - 1));
  EXPECT_EQ(why_not([&](Device) -> std::unique_ptr<DirectLink> {
              if (rank == 0) throw MemoryError("cuda:0", "there is too little");
              return std::make_unique<NoDirectLink>(rank, ranks, Wrong::joining);
            }),
            "rank 0: cuda:0: there is too little");
  // Rank 0 decides.
  EXPECT_EQ(why_not(wrong(Wrong::joining), rank == 0 ? GpuLinkUse::never : GpuLinkUse::always),
            "TERRANE_NCCL is 0");
}

TEST(DirectMessages, HaveOneLinkThatStays) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = test::with_direct_messages(*below);
  EXPECT_FALSE(comm->direct({Device::Kind::cpu, -1}).link);
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    const auto link = comm->direct(device).link;
    ASSERT_TRUE(link) << comm->direct(device).why_not;
    EXPECT_EQ(comm->direct(device).link, link);
    EXPECT_NO_THROW(link->check());
  }
}

TEST(DirectMessages, BetweenTwoRanksArriveInTheOrderOfTheLists) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = test::with_direct_messages(*below);
  const int ranks = comm->size(), next = (comm->rank() + 1) % ranks,
            before = (comm->rank() + ranks - 1) % ranks;
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    const auto link = comm->direct(device).link;
    ASSERT_TRUE(link);
    Stream stream(device);
    std::vector<int> sent(1000);
    for (int n = 0; n < 1000; ++n) sent[static_cast<std::size_t>(n)] = 1000 * comm->rank() + n;
    Buffer<int> out(stream, std::span<const int>(sent)), in(device, 1000);
    const auto bytes = [](Buffer<int>& buffer, int first) {
      return reinterpret_cast<std::byte*>(buffer.view().data + first);
    };
    constexpr std::size_t each = sizeof(int);
    const DirectLink::Piece leaving[] = {{next, bytes(out, 0), 300 * each},
                                         {next, bytes(out, 300), 700 * each}},
                            arriving[] = {{before, bytes(in, 700), 300 * each},
                                          {before, bytes(in, 0), 700 * each}};
    link->exchange(stream, leaving, arriving);
    std::vector<int> got(1000);
    in.download(stream, got);
    for (int n = 0; n < 1000; ++n)
      EXPECT_EQ(got[static_cast<std::size_t>(n)], 1000 * before + (n + 300) % 1000) << to_string(device);
  }
}

TEST(Nccl, BringsTheSameBytesAsMpi) {
#ifdef TERRANE_HAS_NCCL
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  if (gpu_count() < below->size())
    GTEST_SKIP() << "needs a GPU for each of " << below->size() << " ranks, there are " << gpu_count();
  const auto device = resolve({Device::Kind::cuda, -1}, below->on_node().index);
  GpuComm comm(*below, nccl_link, GpuLinkUse::always);
  ASSERT_THAT(comm.prepare(device, 100 * megabyte, 2), testing::HasSubstr("through the GPUs by NCCL"));
  for (const int root : {0, comm.size() - 1})
    for (const std::size_t count : {megabyte, (std::size_t{64} << 20) + 1, (std::size_t{200} << 20) - 5})
      expect_broadcast(comm, count, root);
  comm.release();
  expect_broadcast(comm, 3 * megabyte, 0);
#else
  GTEST_SKIP() << "this build has no NCCL";
#endif
}

TEST(Nccl, IsMetWithWordsWhereRanksShareAGpu) {
#ifdef TERRANE_HAS_NCCL
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU";
  GpuComm comm(*below, nccl_link, GpuLinkUse::always);
  EXPECT_THAT(comm.prepare({Device::Kind::cuda, 0}, 100 * megabyte, 2),
              testing::HasSubstr("some share a GPU"));
  expect_broadcast(comm, 3 * megabyte, 0);
#else
  GTEST_SKIP() << "this build has no NCCL";
#endif
}

}  // namespace
}  // namespace terrane
