// The order of work on devices: events, asynchronous copies, graphs.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "devices/device.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/device/pinned.hpp"

namespace terrane {
namespace {

class OrderOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(OrderOn);

struct Twice {
  View<double> values;
  TERRANE_FN void operator()(Index i) const { values(i) = 2 * values(i) + 1; }
};

TEST_P(OrderOn, CopiesFromPinnedMemoryAndBackInTheOrderOfTheStream) {
  const auto device = GetParam();
  Stream stream(device, true);
  constexpr std::size_t count = 100'000;
  PinnedBuffer<double> out(device, count), in(device, count);
  std::iota(out.span().begin(), out.span().end(), 0.0);
  Buffer<double> buffer(device, count), other(device, count);
  buffer.upload_async(stream, out.span());
  for_each(stream, IndexBox<1>{{0}, {count}}, Twice{buffer.view()});
  other.copy_from(stream, buffer, 0, count);
  other.download_async(stream, in.span());
  Event done(device);
  done.record(stream);
  done.wait();
  EXPECT_TRUE(done.done());
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < count; ++n) wrong += in[n] != 2.0 * static_cast<double>(n) + 1;
  EXPECT_EQ(wrong, 0U);
}

TEST_P(OrderOn, MakesAStreamWaitForAnotherByAnEvent) {
  const auto device = GetParam();
  Stream first(device), second(device, true);
  constexpr Index count = 1'000'000;
  Buffer<double> buffer(device, count);
  buffer.fill_zero(first);
  Event there(device, true), done(device, true);
  for (int n = 0; n < 20; ++n) for_each(first, IndexBox<1>{{0}, {count}}, Twice{buffer.view()});
  there.record(first);
  second.wait_for(there);
  for_each(second, IndexBox<1>{{0}, {count}}, Twice{buffer.view()});
  done.record(second);
  std::vector<double> back(count);
  buffer.download(second, back);
  EXPECT_EQ(back.back(), (1 << 21) - 1);
  EXPECT_GE(done.seconds_since(there), 0);
  EXPECT_LT(done.seconds_since(there), 10);
}

TEST_P(OrderOn, RecordsAGraphOfTwoStreamsAndLaunchesItManyTimes) {
  const auto device = GetParam();
  Stream main(device), beside(device, true);
  PinnedBuffer<double> out(device, 8), in(device, 8);
  Buffer<double> a(device, 8), b(device, 8);
  a.fill_zero(main);
  Event forked(device), joined(device);
  int recorded = 0;
  Graph graph(main, [&] {
    ++recorded;
    for_each(main, IndexBox<1>{{0}, {8}}, Twice{a.view()});
    forked.record(main);
    beside.wait_for(forked);
    b.upload_async(beside, out.span());
    for_each(beside, IndexBox<1>{{0}, {8}}, Twice{b.view()});
    joined.record(beside);
    for_each(main, IndexBox<1>{{0}, {4}}, Twice{a.view()});
    main.wait_for(joined);
    b.download_async(main, in.span());
  });
  std::vector<double> back(8, -1);
  a.download(main, back);
  EXPECT_EQ(back, std::vector<double>(8)) << "recording does none of the work";
  for (int step = 1; step <= 5; ++step) {
    out[7] = step;
    graph.launch(main);
    main.wait();
    EXPECT_EQ(in[7], 2 * step + 1);
  }
  a.download(main, back);
  EXPECT_EQ(back[7], (1 << 5) - 1);
  EXPECT_EQ(back[0], (1 << 10) - 1);
  EXPECT_EQ(recorded, 1);
  for_each(beside, IndexBox<1>{{0}, {8}}, Twice{a.view()});  // no longer recorded
  a.download(beside, back);
  EXPECT_EQ(back[7], (1 << 6) - 1);
}

TEST_P(OrderOn, FollowsNoEventIntoARecordingThatHasEnded) {
  const auto device = GetParam();
  if (device.kind == Device::Kind::cuda) GTEST_SKIP() << "CUDA refuses to wait for an event of a graph";
  Stream recorded(device), later(device);
  Buffer<double> a(device, 8);
  a.fill_zero(later);
  Event inside(device);
  {
    const Graph graph(recorded, [&] { inside.record(recorded); });
  }
  later.wait_for(inside);
  for_each(later, IndexBox<1>{{0}, {8}}, Twice{a.view()});
  std::vector<double> back(8);
  a.download(later, back);
  EXPECT_EQ(back[0], 1) << "it was recorded, and not done";
}

TEST_P(OrderOn, ForgetsARecordingThatFailed) {
  const auto device = GetParam();
  Stream stream(device);
  Buffer<double> a(device, 8);
  a.fill_zero(stream);
  EXPECT_THROW(Graph(stream,
                     [&] {
                       for_each(stream, IndexBox<1>{{0}, {8}}, Twice{a.view()});
                       throw Error("step", "is not ready");
                     }),
               Error);
  for_each(stream, IndexBox<1>{{0}, {8}}, Twice{a.view()});
  std::vector<double> back(8);
  a.download(stream, back);
  EXPECT_EQ(back[0], 1);
}

TEST(Peers, ReachEachOtherOnOneKindOfDevice) {
  const Device cpu{Device::Kind::cpu, -1}, debug{Device::Kind::debug, -1};
  EXPECT_TRUE(reach_peers(debug, debug));
  EXPECT_FALSE(reach_peers(cpu, debug));
  if (gpu_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const Device one{Device::Kind::cuda, 0}, two{Device::Kind::cuda, 1};
  const bool reach = reach_peers(one, two);
  EXPECT_EQ(reach_peers(one, two), reach) << "the second time, too";
  Stream first(one), second(two);
  std::vector<double> numbers(1000, 3.5), back(1000);
  const Buffer<double> from(first, numbers);
  Buffer<double> to(two, 1000);
  to.copy_from(first, from, 0, 1000);
  first.wait();
  to.download(second, back);
  EXPECT_EQ(back, numbers);
}

}  // namespace
}  // namespace terrane
