#include <gtest/gtest.h>

#include "terrane/simulation/early_gpu.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane {
namespace {

/// A rank of two on one machine, of which there is no other.
class OneOfTwo final : public Comm {
 public:
  explicit OneOfTwo(int rank) : rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return 2; }
  Place on_node() const noexcept override { return {rank_, 2}; }
  void broadcast(std::span<std::byte>, int) override {}
  int lowest(int value) override { return value; }
  void send(std::span<const std::byte>, int) override {}
  void receive(std::span<std::byte>, int) override {}
  void abort(int) override {}

 private:
  int rank_;
};

/// The device of rank 1 where rank 0 was asked for `wanted`.
Device of_the_other(Device wanted) {
  return device_of_rank(device_for_ranks(wanted, OneOfTwo(0)), OneOfTwo(1));
}

TEST(Serve, RanksComputeOnTheDeviceThatTheJobNamesWithItsNumber) {
  EXPECT_EQ(of_the_other({Device::Kind::debug, -1}), (Device{Device::Kind::debug, -1}));
  EXPECT_EQ(of_the_other({Device::Kind::debug, 1}), (Device{Device::Kind::debug, 1}));
  EXPECT_EQ(of_the_other({Device::Kind::cpu, -1}).kind, Device::Kind::cpu);
  for (int n = 0; n < gpu_count(); ++n)  // both of them, and each with its half of the memory
    EXPECT_EQ(of_the_other({Device::Kind::cuda, n}), (Device{Device::Kind::cuda, n, 2}));
}

TEST(Serve, RanksOfAnAutomaticDeviceTakeTheKindOfTheFirstAndANumberOfTheirOwn) {
  const Device told = device_for_ranks({}, OneOfTwo(0));
  EXPECT_EQ(told.kind, resolve({}).kind);
  EXPECT_EQ(told.index, -1);
  if (gpu_count() > 1) {
    EXPECT_EQ(of_the_other({}).index, 1);
  }
}

TEST(Serve, AGpuThatAJobNamesBeginsAsideAndNobodyMindsOneThatIsNotThere) {
  Alone alone;
  auto named = begin_with_gpu_aside({Device::Kind::cuda, 1000}, false, alone);
  ASSERT_TRUE(named.valid());
  EXPECT_NO_THROW(named.get());
  for (const bool takes_any : {false, true})
    for (const auto kind : {Device::Kind::cpu, Device::Kind::debug})
      EXPECT_FALSE(begin_with_gpu_aside({kind, -1}, takes_any, alone).valid());
}

TEST(Serve, AnAutomaticGpuBeginsAsideForAPhysicsThatTakesAnyAndNotForOneThatCompares) {
  Alone alone;
  auto taken = begin_with_gpu_aside({}, true, alone);
  ASSERT_TRUE(taken.valid());
  EXPECT_NO_THROW(taken.get());
  EXPECT_FALSE(begin_with_gpu_aside({}, false, alone).valid());
}

}  // namespace
}  // namespace terrane
