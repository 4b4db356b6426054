// Ranks bring each other what lies next to their parts.
#include "terrane/parallel/partition/halo.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "parallel/ranks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/partition/lost_peers.hpp"

namespace terrane {
namespace {

constexpr double untouched = -1;

/// What field f has at a point of the whole.
template <class T, int N>
T value_at(const std::array<Index, N>& at, int field) {
  double value = field;
  for (const Index index : at) value = 200 * value + static_cast<double>(index);
  return static_cast<T>(value);
}

/// Calls use(indices, number) for every point of a box.
template <int N, class Use>
void for_each_point(const IndexBox<N>& box, const Use& use) {
  for (Index n = 0; n < box.count(); ++n) {
    std::array<Index, N> at{};
    Index rest = n;
    for (int a = N - 1; a >= 0; --a) {
      at[static_cast<std::size_t>(a)] = box.first[a] + rest % box.size(a);
      rest /= box.size(a);
    }
    use(at, static_cast<std::size_t>(n));
  }
}

/// What the halo must hold at a point: the value where it comes from, or nothing.
template <class T, int N>
T wanted(std::array<Index, N> at, const IndexBox<N>& part, const Cartesian<N>& partition,
         const HaloSettings<N>& settings, int field) {
  int outside = 0;
  for (int a = 0; a < N; ++a) {
    auto& index = at[static_cast<std::size_t>(a)];
    outside += index < part.first[a] || index >= part.last[a];
    const Index first = partition.whole.first[a], size = partition.whole.size(a);
    if (settings.periodic[a]) index = first + (index - first + size) % size;
    else if (index < first || index >= first + size) return static_cast<T>(untouched);
  }
  if (outside > 1 && !settings.corners && !settings.whole) return static_cast<T>(untouched);
  return value_at<T, N>(at, field);
}

template <class T, int N>
void expect_halo(const Cartesian<N>& partition, const HaloSettings<N>& settings, Device device, Comm& comm,
                 bool in_graph = false) {
  const int fields = settings.at_once ? 1 : 2;
  Stream stream(device);
  Halo<T, N> halo(stream, partition, settings, fields, comm);
  const auto part = partition.part(comm.rank());
  const auto box = halo.box();
  std::vector<Buffer<T>> buffers;
  std::vector<View<T, N>> views;
  for (int f = 0; f < fields; ++f) {
    std::vector<T> values(static_cast<std::size_t>(box.count()), static_cast<T>(untouched));
    for_each_point(box, [&](const auto& at, std::size_t n) {
      bool own = true;
      for (int a = 0; a < N; ++a) {
        const Index index = at[static_cast<std::size_t>(a)];
        own = own && index >= part.first[a] && index < part.last[a];
      }
      if (own) values[n] = value_at<T, N>(at, f);
    });
    buffers.emplace_back(stream, std::span<const T>(values));
    views.push_back(buffers.back().view(box));
  }
  if (in_graph) {
    ASSERT_TRUE(halo.direct());
    Graph graph(stream, [&] { halo.exchange(stream, views); });
    graph.launch(stream);
    halo.exchange(stream, views);
    graph.launch(stream);
    halo.wait(stream);
  } else {
    for (int again = 0; again < 2; ++again) halo.exchange(stream, views);
  }
  for (int f = 0; f < fields; ++f) {
    std::vector<T> values(static_cast<std::size_t>(box.count()));
    buffers[static_cast<std::size_t>(f)].download(stream, values);
    std::size_t wrong = 0;
    for_each_point(box, [&](const auto& at, std::size_t n) {
      wrong += values[n] != wanted<T, N>(at, part, partition, settings, f);
    });
    EXPECT_EQ(wrong, 0U) << to_string(device) << ", rank " << comm.rank() << ", field " << f;
  }
}

template <class T, int N>
void expect_halos(const IndexBox<N>& whole, const CartesianSettings<N>& cuts, HaloSettings<N> settings) {
  const auto comm = test::ranks();
  const auto partition = cut(whole, comm->size(), cuts);
  for (const auto device : test::devices_here())
    for (const bool periodic : {false, true})
      for (const bool corners : {true, false}) {
        SCOPED_TRACE(fmt::format("periodic {}, corners {}", periodic, corners));
        for (bool& p : settings.periodic) p = periodic;
        settings.corners = corners;
        expect_halo<T, N>(partition, settings, device, *comm);
      }
}

TEST(Halo, BringsTheNeighboursPointsInOneTwoAndThreeDimensions) {
  expect_halos<double, 1>(index_box(50), {{1}, {}}, {{2}, {1}});
  expect_halos<float, 2>(index_box(23, 31), {{1, 1}, {}}, {{1, 2}, {2, 0}});
  expect_halos<double, 3>(index_box(17, 18, 40), {{1, 1, 8}, {}}, {{1, 1, 1}, {1, 1, 1}});
  expect_halos<float, 3>({{3, 4, 5}, {20, 23, 29}}, {{1, 1, 1}, {}}, {{4, 0, 2}, {3, 4, 0}});
}

TEST(Halo, GoesFromDeviceToDeviceAndIsRecordedInAGraph) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = test::with_direct_messages(*below);
  for (const auto device : test::devices_with_direct_messages(*comm))
    for (const bool in_graph : {false, true})
      for (const bool periodic : {false, true}) {
        HaloSettings<3> box{{1, 2, 1}, {2, 1, 0}, {periodic, periodic, periodic}};
        expect_halo<double, 3>(cut(index_box(17, 18, 40), comm->size(), CartesianSettings<3>{{1, 1, 8}, {}}),
                               box, device, *comm, in_graph);
        expect_halo<float, 1>(cut(index_box(50), comm->size(), CartesianSettings<1>{{1}, {}}),
                              {{2}, {1}, {periodic}}, device, *comm, in_graph);
        // Some ranks have no points.
        expect_halo<float, 3>(cut(index_box(8, 4, 32), comm->size(), CartesianSettings<3>{{4, 4, 32}, {}}),
                              {{1, 1, 1}, {1, 1, 1}}, device, *comm, in_graph);
      }
}

TEST(Halo, ThatIsAtOnceBringsWidePartsOrAllPoints) {
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  auto devices = test::devices_here();
  for (const auto device : test::devices_with_direct_messages(*comm)) devices.push_back(device);
  for (const auto device : devices)
    for (const bool whole : {false, true}) {
      HaloSettings<3> wide{{3, 3, 3}, {4, 4, 4}};
      wide.at_once = true;
      wide.whole = whole;
      expect_halo<float, 3>(cut(index_box(23, 18, 40), comm->size(), CartesianSettings<3>{{1, 1, 8}, {}}),
                            wide, device, *comm);
      // Some ranks have no points, but need those of others where all do.
      expect_halo<double, 3>(cut(index_box(8, 4, 32), comm->size(), CartesianSettings<3>{{4, 4, 32}, {}}),
                             wide, device, *comm);
    }
}

TEST(Halo, ThatWaitsInVainEndsTheWaitingOfAllOthers) {
  const auto comm = test::ranks();
  if (!test::has_gpus_for(*comm)) GTEST_SKIP() << "needs a GPU for each of several ranks";
  Stream stream(resolve({Device::Kind::cuda, -1}, comm->on_node().index));
  HaloSettings<3> settings{{1, 1, 1}, {1, 1, 1}};
  settings.at_once = true;
  const auto partition = cut(index_box(16, 16, 64), comm->size(), CartesianSettings<3>{{4, 4, 32}, {}});
  Halo<double, 3> silent(stream, partition, settings, 1, *comm),
      watched(stream, partition, settings, 1, *comm);
  if (!silent.by_peers()) GTEST_SKIP() << "GPUs do not reach each other's memory";
  const auto points = static_cast<std::size_t>(silent.box().count());
  Buffer<double> memory(stream.device(), points);
  const std::vector<View<double, 3>> field{{memory.view().data, silent.box()}};
  watched.exchange(stream, field);
  EXPECT_NO_THROW(watched.wait(stream));
  comm->lowest(0);
  set_patience_with_peers(0.3);
  if (comm->rank() == 0) {
    const auto begin = std::chrono::steady_clock::now();
    silent.exchange(stream, field);                                // nobody answers this one
    for (int n = 0; n < 20; ++n) watched.exchange(stream, field);  // nor these: but nobody waits any more
    EXPECT_THROW(watched.wait(stream), Error);
    EXPECT_THROW(check_peers(*comm, stream.device()), Error);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  }
  set_patience_with_peers(60);
  comm->lowest(0);
  if (comm->rank() > 0) {
    EXPECT_NO_THROW(check_peers(*comm, stream.device()));
  }
}

TEST(Halo, SaysWhichWayItGoes) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto partition = cut(index_box(50), below->size(), CartesianSettings<1>{{1}, {}});
  const auto way = [&](Comm& comm, Device::Kind kind) {
    Stream stream({kind, -1});
    const Halo<double, 1> halo(stream, partition, {{1}, {1}}, 1, comm);
    EXPECT_EQ(halo.direct(), halo.transport().starts_with("go from device to device"));
    return halo.transport();
  };
  EXPECT_EQ(way(*below, Device::Kind::cpu), "");
  EXPECT_EQ(way(*below, Device::Kind::debug), "");
  EXPECT_EQ(way(*test::with_direct_messages(*below), Device::Kind::cpu), "");
  EXPECT_EQ(way(*test::with_direct_messages(*below), Device::Kind::debug),
            "go from device to device by the debug device's stand-in");
  GpuComm never(*below, {}, GpuLinkUse::never);
  EXPECT_EQ(way(never, Device::Kind::debug), "go through the host: TERRANE_NCCL is 0");
}

TEST(Halo, ReachesBeyondNeighboursWhoHaveFewerPointsThanItIsWide) {
  expect_halos<double, 1>(index_box(7), {{1}, {}}, {{4}, {4}});
  expect_halos<double, 2>(index_box(5, 30), {{1, 1}, {test::ranks()->size(), 1}}, {{3, 1}, {3, 1}});
}

TEST(Halo, LeavesRanksAloneThatHaveNoPoints) {
  expect_halos<double, 3>(index_box(8, 4, 32), {{4, 4, 32}, {}}, {{1, 1, 1}, {1, 1, 1}});
}

TEST(Halo, KnowsThePointsThatNeedNone) {
  const auto comm = test::ranks();
  const auto partition =
      cut(index_box(40, 20, 20), comm->size(), CartesianSettings<3>{{4, 4, 4}, {comm->size(), 1, 1}});
  Stream stream({Device::Kind::cpu, -1});
  const Halo<double, 3> halo(stream, partition, {{2, 2, 2}, {2, 2, 2}}, 1, *comm);
  auto inside = partition.part(comm->rank());
  if (comm->rank() > 0) inside.first[0] += 2;
  if (comm->rank() + 1 < comm->size()) inside.last[0] -= 2;
  if (inside.empty()) {  // of six and more ranks some have four planes, which all need others
    EXPECT_TRUE(halo.inside().empty());
  } else {
    EXPECT_EQ(halo.inside(), inside);
  }
}

TEST(Halo, IsNotMixedUpWithOtherMessagesOfTheSameRanks) {
  const auto comm = test::ranks();
  const auto partition = cut(index_box(50), comm->size(), CartesianSettings<1>{{1}, {}});
  const int next = (comm->rank() + 1) % comm->size(),
            before = (comm->rank() + comm->size() - 1) % comm->size();
  constexpr int tags = 27;
  double out[tags], in[tags] = {};
  std::vector<Message> messages;
  for (int tag = 0; tag < tags; ++tag) {
    out[tag] = 100 * comm->rank() + tag;
    messages.push_back(comm->isend(std::as_bytes(std::span(&out[tag], 1)), next, tag));
  }
  expect_halo<double, 1>(partition, {{1}, {1}, {true}}, {Device::Kind::cpu, -1}, *comm);
  for (int tag = 0; tag < tags; ++tag)
    messages.push_back(comm->irecv(std::as_writable_bytes(std::span(&in[tag], 1)), before, tag));
  wait_all(messages);
  for (int tag = 0; tag < tags; ++tag) EXPECT_EQ(in[tag], 100 * before + tag);
}

TEST(Halo, RefusesFieldsThatDoNotHaveItsPoints) {
  const auto comm = test::ranks();
  const auto partition = cut(index_box(40, 20), comm->size(), CartesianSettings<2>{{1, 1}, {}});
  Stream stream({Device::Kind::cpu, -1});
  Halo<double, 2> halo(stream, partition, {{1, 1}, {1, 1}}, 1, *comm);
  std::vector<double> values(1000);
  const std::vector<View<double, 2>> fields{{values.data(), partition.part(comm->rank())}};
  EXPECT_THROW(halo.begin(stream, fields), ShapeError);
  EXPECT_THROW((Halo<double, 2>(stream, partition, {{1, 1}, {-1, 1}}, 1, *comm)), ShapeError);
}

}  // namespace
}  // namespace terrane
