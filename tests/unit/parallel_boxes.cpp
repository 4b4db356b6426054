// Views with shapes, and kernels over boxes of them on threads.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/arrays/view.hpp"
#include "terrane/parallel/threads/for_each_box.hpp"

namespace terrane {
namespace {

TEST(IndexBox, KnowsItsPointsAndItsNeighbours) {
  const IndexBox<3> box{{1, 2, 3}, {4, 6, 8}};
  EXPECT_EQ(box.count(), 3 * 4 * 5);
  EXPECT_TRUE(box.contains(1, 2, 3));
  EXPECT_FALSE(box.contains(4, 2, 3));
  EXPECT_EQ(box.grown(1), (IndexBox<3>{{0, 1, 2}, {5, 7, 9}}));
  EXPECT_EQ(box.grown(2, 0, 4), (IndexBox<3>{{1, 2, 3}, {4, 6, 12}}));
  EXPECT_EQ(overlap(box, index_box(3, 3, 100)), (IndexBox<3>{{1, 2, 3}, {3, 3, 8}}));
  EXPECT_TRUE(overlap(box, index_box(1, 9, 9)).empty());
  EXPECT_TRUE(box.contains(overlap(box, index_box(1, 9, 9))));
  EXPECT_TRUE(box.grown(-2).empty());
}

TEST(View, HasTheLastIndexContiguous) {
  std::vector<int> numbers(2 * 3 * 4);
  std::iota(numbers.begin(), numbers.end(), 0);
  const View<int, 3> v(numbers.data(), index_box(2, 3, 4));
  EXPECT_EQ(v(0, 0, 3), 3);
  EXPECT_EQ(v(0, 2, 0), 8);
  EXPECT_EQ(v(1, 2, 3), 23);
  EXPECT_EQ(v.stride(0), 12);
  const View<const int, 3> looks = v;
  EXPECT_EQ(&looks(1, 0, 2), &v(1, 0, 2));
}

TEST(View, IsAskedWithTheIndicesOfTheWholeProblem) {
  std::vector<int> numbers(3 * 4 * 5);
  std::iota(numbers.begin(), numbers.end(), 0);
  const IndexBox<3> mine{{9, -1, 20}, {12, 3, 25}};
  const View<int, 3> v(numbers.data(), mine);
  EXPECT_EQ(v.first(), numbers.data());
  EXPECT_EQ(v(9, -1, 20), 0);
  EXPECT_EQ(v(11, 2, 24), 59);
  EXPECT_EQ(v.part(mine.grown(-1))(10, 0, 21), v(10, 0, 21));
  EXPECT_EQ(v.slice(10)(2, 24), v(10, 2, 24));
  EXPECT_EQ(v.slice(10).slice(0)(22), v(10, 0, 22));
  EXPECT_EQ(v.slice(10).slice(0)[2], v(10, 0, 22));
  EXPECT_EQ(v.renumbered({0, 0, 0})(2, 3, 4), 59);
  EXPECT_EQ(v.part(mine.grown(-1)).renumbered({0, 0, 0})(0, 0, 0), v(10, 0, 21));
}

TEST(Strides, AreThoseOfAViewWithoutAnArray) {
  std::vector<int> numbers(3 * 4 * 5);
  const IndexBox<3> mine{{9, -1, 20}, {12, 3, 25}};
  const View<int, 3> v(numbers.data(), mine);
  const auto apart = strides(mine);
  for (int a = 0; a < 3; ++a) EXPECT_EQ(apart[a], v.stride(a));
  const Index at[3] = {11, 0, 23};
  EXPECT_EQ(apart.to(at) - apart.to(mine.first), &v(11, 0, 23) - v.first());
  EXPECT_EQ(strides(index_box(7))[0], 1);
}

#ifndef NDEBUG
TEST(ViewDeathTest, AssertsInDebugBuildsThatAnIndexIsInItsBox) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<int> numbers(12);
  const View<int, 2> v(numbers.data(), index_box(3, 4));
  EXPECT_DEATH(v(1, 4) = 1, "contains");
  EXPECT_DEATH(v.part(index_box(2, 2))(2, 1) = 1, "contains");
}
#endif

template <int N>
struct Count {
  View<int, N> calls;
  template <class... At>
  TERRANE_FN void operator()(At... at) const {
    ++calls(at...);
  }
};

template <int N>
void expect_each_once(const IndexBox<N>& box) {
  const auto all = box.grown(2);
  for (const int threads : {1, 2, 3, 7}) {
    std::vector<int> calls(static_cast<std::size_t>(all.count()));
    for_each(box, threads, Count<N>{{calls.data(), all}});
    EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), box.count());
    const View<int, N> v(calls.data(), all);
    std::vector<int> wrong;
    for_each(box, 1, [&](auto... at) {
      if (v(at...) != 1) wrong.push_back(v(at...));
    });
    EXPECT_TRUE(wrong.empty()) << threads;
  }
}

TEST(ForEachOverABox, DoesEveryPointOnceOnAnyNumberOfThreads) {
  expect_each_once(IndexBox<1>{{3}, {4}});
  expect_each_once(IndexBox<1>{{-5}, {100'001}});
  expect_each_once(IndexBox<2>{{1, 2}, {1, 5}});
  expect_each_once(IndexBox<2>{{7, 0}, {8, 30'011}});
  expect_each_once(IndexBox<2>{{0, 7}, {30'011, 8}});
  expect_each_once(IndexBox<2>{{-3, 5}, {210, 333}});
  expect_each_once(IndexBox<3>{{5, 6, 7}, {6, 7, 8}});
  expect_each_once(IndexBox<3>{{0, 0, 0}, {67, 41, 53}});
  expect_each_once(IndexBox<3>{{0, 0, 0}, {2, 3, 20'000}});
  expect_each_once(IndexBox<3>{{0, 0, 0}, {20'000, 3, 2}});
  expect_each_once(IndexBox<3>{{9, 9, 9}, {12, 5'012, 11}});
}

/// Second differences in double, as a step of the heat equation has them.
struct Diffuse {
  View<const double, 3> now;
  View<double, 3> next;
  double rate;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    next(k, j, i) =
        now(k, j, i) + rate * (now(k - 1, j, i) + now(k + 1, j, i) + now(k, j - 1, i) + now(k, j + 1, i) +
                               now(k, j, i - 1) + now(k, j, i + 1) - 6 * now(k, j, i));
  }
};

TEST(ForEachOverABox, GivesAStencilTheSameBitsHoweverTheBoxIsCutAndShared) {
  const auto all = index_box(23, 31, 77);
  const auto inside = all.grown(-1);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> now(static_cast<std::size_t>(all.count())), truth(now.size());
  for (auto& value : now) value = uniform(random);
  const View<const double, 3> from(now.data(), all);
  const Diffuse slow{from, {truth.data(), all}, 0.125};
  for (Index k = 1; k < 22; ++k)
    for (Index j = 1; j < 30; ++j)
      for (Index i = 1; i < 76; ++i) slow(k, j, i);
  for (const int threads : {1, 3})
    for (int axis = 0; axis < 3; ++axis)
      for (Index cut = 1; cut < 12; cut += 5) {
        std::vector<double> next(now.size());
        const Diffuse step{from, {next.data(), all}, 0.125};
        for_each(inside.with(axis, 1, cut), threads, step);
        for_each(inside.with(axis, cut, inside.last[axis]), threads, step);
        EXPECT_EQ(next, truth) << "cut at " << cut << " on axis " << axis << ", " << threads << " threads";
      }
}

}  // namespace
}  // namespace terrane
