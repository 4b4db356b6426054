// Gravity on several ranks: the same bits however many there are, by whatever partition and method.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "parallel/ranks.hpp"
#include "support/files.hpp"
#include "support/prism_field.hpp"
#include "support/same_bits.hpp"
#include "terrane/base/error.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif
#include "terrane/physics/all.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::same_bits;
using test::StationList;

struct Outcome {
  FieldTable values;
  std::vector<unsigned char> singular;
  Report report;
};

Outcome compute(const PrismList& prisms, const StationList& stations, const Parameters& parameters,
                const Runtime& runtime = {}, Progress* progress = nullptr) {
  Outcome out;
  out.values.assign(parameters.channels.size(), std::vector<double>(stations.size()));
  out.singular.resize(stations.size());
  Fields fields{parameters.channels, {out.values.begin(), out.values.end()}, out.singular};
  out.report = forward(prisms.view(), stations.view(), parameters, fields, progress, runtime);
  return out;
}

/// Rank 0 does `work`; the others serve it. Ends the tests of all ranks alike.
template <class Work>
void on_all(Comm& comm, const Work& work) {
  if (comm.rank() == 0) {
    work();
    dismiss(comm);
    return;
  }
  const Registry registry = physics::all();
  serve(registry, comm);
}

PrismList cells(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(-400, 900);
  return test::mesh_block({-150, 150, -150, 150, -300, 0}, {n, n, n},
                          [&](int, int, int) { return density(random); });
}

StationList scattered(std::size_t count) {
  std::mt19937 random(71);
  auto stations = test::random_stations({-400, 400, -400, 400, -280, 200}, count, random);
  for (int i = -7; i <= 7; ++i) stations.add(10 + 20 * i, 10 * i, -100);  // on faces and edges of some
  return stations;
}

Parameters parameters(Method method, Partition partition) {
  Parameters p;
  p.channels = ChannelSet::all();
  p.method = method;
  p.partition = partition;
  p.singular = SingularPolicy::mean;
  p.accuracy = method == Method::tree || method == Method::fmm ? 1e-8 : 1e-12;
  p.threads = 2;
  return p;
}

/// One process alone, and these ranks in any order, give the same bits.
void expect_same_bits(const PrismList& prisms, const StationList& stations, const Parameters& p) {
  for (const auto order : {test::Order::as_started, test::Order::reversed, test::Order::odd_ones_first}) {
    const auto comm = test::ranks(order);
    on_all(*comm, [&] {
      const auto alone = compute(prisms, stations, p);
      auto fewer_threads = p;
      fewer_threads.threads = 1;
      const auto shared = compute(prisms, stations, fewer_threads, {comm.get(), {}});
      EXPECT_TRUE(same_bits(alone.values, shared.values)) << comm->size() << " ranks";
      EXPECT_EQ(alone.singular, shared.singular);
      EXPECT_EQ(alone.report.singular_stations, shared.report.singular_stations);
      EXPECT_EQ(alone.report.inside_stations, shared.report.inside_stations);
      EXPECT_EQ(alone.report.method, shared.report.method);
    });
  }
}

TEST(GravityOnRanks, HasTheSameBitsByStations) {
  expect_same_bits(cells(13, 1), scattered(3001), parameters(Method::direct, Partition::stations));
}

TEST(GravityOnRanks, HasTheSameBitsByPrisms) {
  expect_same_bits(cells(13, 2), scattered(1501), parameters(Method::direct, Partition::prisms));
  auto one_channel = parameters(Method::direct, Partition::prisms);
  one_channel.channels = {Channel::g_en};
  expect_same_bits(cells(11, 3), scattered(300), one_channel);
}

TEST(GravityOnRanks, HasTheSameBitsByTheTree) {
  expect_same_bits(cells(17, 4), scattered(2100), parameters(Method::tree, Partition::stations));
}

TEST(GravityOnRanks, HasTheSameBitsByFastMultipoles) {
  expect_same_bits(cells(17, 4), scattered(2100), parameters(Method::fmm, Partition::stations));
}

TEST(GravityOnRanks, HasTheSameBitsByTheLattice) {
  StationList grid;
  for (const double up : {-100.0, 30.0, 60.0})
    for (int j = 0; j < 15; ++j)
      for (int i = 0; i < 13; ++i) grid.add(-140 + 20 * i, -140 + 20 * j, up);
  expect_same_bits(cells(15, 5), grid, parameters(Method::lattice, Partition::stations));
}

TEST(GravityOnRanks, HasTheSameBitsOnMoreRanksThanPrismsOrStations) {
  const auto two_bodies = [] {
    PrismList list;
    list.add({-30, 30, -20, 20, -90, -40}, 500);
    list.add({50, 80, -20, 20, -90, -50}, -300);
    return list;
  }();
  for (const auto partition : {Partition::stations, Partition::prisms}) {
    expect_same_bits(two_bodies, scattered(700), parameters(Method::direct, partition));
    StationList three;
    for (int i = 0; i < 3; ++i) three.add(10 * i, 5, 20);
    expect_same_bits(cells(12, 6), three, parameters(Method::direct, partition));
    expect_same_bits(PrismList{}, three, parameters(Method::direct, partition));
    expect_same_bits(two_bodies, StationList{}, parameters(Method::direct, partition));
  }
}

TEST(GravityOnRanks, SharesBarsWhenPrismsMerge) {
  const auto uniform = test::mesh_block({-150, 150, -150, 150, -300, 0}, {24, 24, 24},
                                        [](int i, int j, int) { return i < 12 || j < 5 ? 300.0 : 450.0; });
  for (const auto partition : {Partition::stations, Partition::prisms})
    expect_same_bits(uniform, scattered(2000), parameters(Method::direct, partition));
}

/// The debug device everywhere, and GPUs where there are any: then each rank takes one.
std::vector<Device> devices_of_gravity() {
  std::vector<Device> all{{Device::Kind::debug, -1}};
  if (gpu_count() > 0) all.push_back({Device::Kind::cuda, -1});
  return all;
}

TEST(GravityOnRanks, HasTheSameBitsOnDevices) {
  for (const auto device : devices_of_gravity()) {
    for (const auto partition : {Partition::stations, Partition::prisms}) {
      auto direct = parameters(Method::direct, partition);
      direct.device = device;
      expect_same_bits(cells(7, 12), scattered(1300), direct);
    }
    auto tree = parameters(Method::tree, Partition::stations);
    tree.device = device;
    expect_same_bits(cells(12, 13), scattered(1500), tree);
    auto fmm = parameters(Method::fmm, Partition::stations);
    fmm.device = device;
    expect_same_bits(cells(12, 13), scattered(1500), fmm);
    StationList grid;
    for (int j = 0; j < 15; ++j)
      for (int i = 0; i < 13; ++i) grid.add(-140 + 20 * i, -140 + 20 * j, 30);
    auto lattice = parameters(Method::lattice, Partition::stations);
    lattice.device = device;
    expect_same_bits(cells(15, 14), grid, lattice);
  }
}

TEST(GravityOnRanks, HasTheSameBitsHoweverManyChunksADeviceHolds) {
  const auto comm = test::ranks();
  testing_support::TemporaryFolder folder;
  on_all(*comm, [&] {
    auto p = parameters(Method::direct, Partition::prisms);
    p.device = {Device::Kind::debug, -1};
    const auto prisms = cells(8, 16);
    const auto stations = scattered(2100);
    const auto all = compute(prisms, stations, p);
    // After every part, so that there are rounds in which chunks are there already.
    const Runtime in_rounds{comm.get(), {folder / "checkpoint", 0, 0, false}};
    EXPECT_TRUE(same_bits(compute(prisms, stations, p, in_rounds).values, all.values));
  });
}

TEST(GravityOnRanks, HasTheSameBitsWhereADeviceHoldsFewChunks) {
  // Of all ranks, before they begin.
  setenv("TERRANE_DEBUG_MEMORY", "2000000", 1);
  const auto comm = test::ranks();
  testing_support::TemporaryFolder folder;
  on_all(*comm, [&] {
    auto p = parameters(Method::direct, Partition::prisms);
    p.device = {Device::Kind::debug, -1};
    const auto prisms = cells(8, 16);
    const auto stations = scattered(2100);
    const Runtime in_rounds{comm.get(), {folder / "checkpoint", 0, 0, false}};
    const auto few = compute(prisms, stations, p, in_rounds);
    setenv("TERRANE_DEBUG_MEMORY", "1000000000", 1);
    EXPECT_TRUE(same_bits(few.values, compute(prisms, stations, p).values));
  });
  unsetenv("TERRANE_DEBUG_MEMORY");
}

#ifdef TERRANE_HAS_NCCL
TEST(GravityOnRanks, HasTheSameBitsWhenNcclBringsThePrisms) {
  const auto below = test::ranks();
  if (below->size() == 1 || gpu_count() < below->size())
    GTEST_SKIP() << "needs several ranks with a GPU each; there are " << gpu_count() << " GPUs";
  GpuComm comm(*below, nccl_link, GpuLinkUse::always);
  on_all(comm, [&] {
    auto p = parameters(Method::direct, Partition::stations);
    p.device = {Device::Kind::cuda, -1};
    const auto prisms = cells(52, 15);  // columns of more than a megabyte
    const auto alone = compute(prisms, scattered(1000), p);
    const auto shared = compute(prisms, scattered(1000), p, {&comm, {}});
    EXPECT_TRUE(same_bits(alone.values, shared.values));
    ASSERT_FALSE(shared.report.notes.empty());
    EXPECT_NE(shared.report.notes.front().find("by NCCL"), std::string::npos) << shared.report.notes.front();
  });
}
#endif

/// Sees to it that the others wait for rank 0 asleep, which they do for small messages, and that what was
/// prepared is released before they compute.
class Watched final : public Comm {
 public:
  explicit Watched(Comm& below) : below_(below) {}
  int rank() const noexcept override { return below_.rank(); }
  int size() const noexcept override { return below_.size(); }
  Place on_node() const noexcept override { return below_.on_node(); }
  std::string prepare(Device device, std::size_t bytes, int threads) override {
    prepared_ = true;
    ++times_prepared;
    return below_.prepare(device, bytes, threads);
  }
  void release() override {
    prepared_ = false;
    below_.release();
  }
  void broadcast(std::span<std::byte> bytes, int root) override {
    turn_ = nobody;
    below_.broadcast(bytes, root);
  }
  int lowest(int value) override {
    EXPECT_FALSE(prepared_) << "ranks set to work";
    turn_ = nobody;
    return below_.lowest(value);
  }
  void send(std::span<const std::byte> bytes, int to) override {
    if (rank() == 0 && bytes.size() == 1) turn_ = to;
    else expect_turn(to);
    below_.send(bytes, to);
  }
  void receive(std::span<std::byte> bytes, int from) override {
    if (rank() > 0 && bytes.size() == 1) turn_ = from;
    else expect_turn(from);
    below_.receive(bytes, from);
  }
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    below_.gather_all(mine, all);
  }
  void abort(int status) override { below_.abort(status); }

  int times_prepared = 0, messages = 0;

 private:
  static constexpr int nobody = -1;
  void expect_turn(int other) {
    ++messages;
    EXPECT_EQ(turn_, other) << "a message nobody was told of, on rank " << rank();
  }

  Comm& below_;
  int turn_ = nobody;
  bool prepared_ = false;
};

TEST(GravityOnRanks, TheirTurnIsToldAndTheFastWayGivenBack) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  Watched comm(*below);
  testing_support::TemporaryFolder folder;
  on_all(comm, [&] {
    for (const auto partition : {Partition::stations, Partition::prisms}) {
      const auto p = parameters(Method::direct, partition);
      const Runtime in_rounds{&comm, {folder / "checkpoint", 0, 0, false}};
      compute(cells(13, 17), scattered(700), p, in_rounds);
    }
  });
  EXPECT_EQ(comm.times_prepared, 2);
  EXPECT_GE(comm.messages, 7 + 2);  // a part of each column, and results
}

TEST(GravityOnRanks, PartitionsAgreeToRounding) {
  const auto comm = test::ranks();
  on_all(*comm, [&] {
    const auto prisms = cells(13, 7);
    std::mt19937 random(72);
    const auto above = test::random_stations({-400, 400, -400, 400, 10, 200}, 500, random);
    const auto a = compute(prisms, above, parameters(Method::direct, Partition::stations), {comm.get(), {}});
    const auto b = compute(prisms, above, parameters(Method::direct, Partition::prisms), {comm.get(), {}});
    EXPECT_LT(test::largest_error(a.values, b.values), 1e-12);
  });
}

TEST(GravityOnRanks, GoesByPrismsWhenTheyDoNotFitOnceForEachRank) {
  const auto comm = test::ranks();
  on_all(*comm, [&] {
    auto p = parameters(Method::direct, Partition::automatic);
    const auto prisms = cells(20, 8);
    const auto stations = scattered(400);
    const auto roomy = compute(prisms, stations, p, {comm.get(), {}});
    const std::size_t once =
        roomy.report.memory_bytes + prisms.size() * 7 * sizeof(double) + 3 * 8 * stations.size();
    p.memory = once + once / 2;
    const auto tight = compute(prisms, stations, p, {comm.get(), {}});
    if (comm->size() == 1) {
      EXPECT_EQ(tight.report.device, roomy.report.device);
    } else {
      EXPECT_NE(roomy.report.device.find("by stations"), std::string::npos) << roomy.report.device;
      EXPECT_NE(tight.report.device.find("by prisms"), std::string::npos) << tight.report.device;
    }
  });
}

TEST(GravityOnRanks, CancelledOnRank0EndsOnAll) {
  class Impatient final : public Progress {
   public:
    void start(std::string_view, std::uint64_t) override { started_ = true; }
    bool cancelled() const override { return started_; }

   private:
    bool started_ = false;
  };
  const auto comm = test::ranks();
  on_all(*comm, [&] {
    for (const auto partition : {Partition::stations, Partition::prisms}) {
      Impatient user;
      EXPECT_THROW(compute(cells(8, 9), scattered(100), parameters(Method::direct, partition),
                           {comm.get(), {}}, &user),
                   Cancelled);
    }
    // And the ranks are ready for the next.
    EXPECT_NO_THROW(compute(cells(8, 9), scattered(100), parameters(Method::direct, Partition::stations),
                            {comm.get(), {}}));
  });
}

}  // namespace
}  // namespace terrane::gravity
