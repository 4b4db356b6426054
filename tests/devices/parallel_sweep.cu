// Rows of sweeps for registers of any width, and kernels that choose before the row.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "terrane/parallel/device/sweep.hpp"

namespace terrane {
namespace {

class SweepsOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(SweepsOn);

/// A product and a sum that a CPU could fuse, a quotient, and a branch that is the same for all points.
struct Mix {
  View<const float, 3> a, b;
  float weight;
  View<float, 3> out;

  bool choice() const { return weight == 0; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const float here = a(k, j, i), beside = a(k, j, i + 1), other = b(k, j, i);
    const float share = here / other, sum = here * beside + other;
    out(k, j, i) = weight == 0 ? (other > 1 ? share : sum) : sum + weight * b(k, j, i + 1);
  }
};

struct Arrays {
  IndexBox<3> points, all;
  std::vector<float> a, b;
  explicit Arrays(const IndexBox<3>& box) : points(box), all(box.grown(1)) {
    for (Index n = 0; n < all.count(); ++n) {
      a.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(n))));
      b.push_back(static_cast<float>(1 + std::cos(0.11 * static_cast<double>(n)) / 3));
    }
  }
  /// What `call` does with the kernel, on the host.
  template <class Call>
  std::vector<float> written(float weight, const Call& call) const {
    std::vector<float> out(a.size());
    call(Mix{{a.data(), all}, {b.data(), all}, weight, {out.data(), all}});
    return out;
  }
};

TEST(Sweeps, HaveTheSameBitsInRowsOfAnyWidth) {
  for (const IndexBox<3>& box : {IndexBox<3>{{0, 0, 0}, {1, 1, 1}}, IndexBox<3>{{2, -3, 5}, {4, 8, 12}},
                                 IndexBox<3>{{0, 0, 0}, {7, 9, 67}}, IndexBox<3>{{-1, 0, 3}, {33, 35, 41}}}) {
    const Arrays arrays(box);
    for (const float weight : {0.0F, 0.3F}) {
      const auto one_by_one = arrays.written(weight, [&](const Mix& kernel) {
        for (Index k = box.first[0]; k < box.last[0]; ++k)
          for (Index j = box.first[1]; j < box.last[1]; ++j)
            for (Index i = box.first[2]; i < box.last[2]; ++i) kernel(k, j, i);
      });
      using Tiles = detail::SweepOfTiles<Mix>;
      for (const auto run : {Tiles::run, detail::has_wide_rows() ? Tiles::run_wide : Tiles::run})
        EXPECT_EQ(arrays.written(weight,
                                 [&](const Mix& kernel) {
                                   const Tiles work{kernel, box, detail::tiles_of(detail::extents(box), 1)};
                                   const auto& count = work.tiles.count;
                                   for (Index n = 0; n < count[0] * count[1] * count[2]; ++n) run(&work, n);
                                 }),
                  one_by_one);
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(
            arrays.written(weight, [&](const Mix& kernel) { detail::sweep_on_host(box, threads, kernel); }),
            one_by_one);
    }
  }
}

TEST_P(SweepsOn, DoEveryPointOfABox) {
  const IndexBox<3> box{{2, -3, 5}, {21, 18, 50}};
  const Arrays arrays(box);
  Stream stream(GetParam());
  const auto count = arrays.a.size();
  Buffer<float> a(stream, std::span<const float>(arrays.a)), b(stream, std::span<const float>(arrays.b)),
      out(GetParam(), count);
  out.fill_zero(stream);
  sweep(stream, box,
        Mix{{std::as_const(a).view().data, arrays.all},
            {std::as_const(b).view().data, arrays.all},
            0.5F,
            {out.view().data, arrays.all}});
  std::vector<float> back(count);
  out.download(stream, back);
  const auto here = arrays.written(0.5F, [&](const Mix& kernel) { detail::sweep_on_host(box, 2, kernel); });
  for (std::size_t n = 0; n < count; ++n) ASSERT_NEAR(back[n], here[n], 1e-6);
}

/// out = before / 2 + a: a is asked for early, before comes from the kernel ahead.
struct Chained {
  View<const float, 3> a, before;
  View<float, 3> out;
  TERRANE_FN float ahead(Index k, Index j, Index i) const { return a(k, j, i); }
  TERRANE_FN void operator()(Index k, Index j, Index i) const { (*this)(k, j, i, ahead(k, j, i)); }
  TERRANE_FN void operator()(Index k, Index j, Index i, float early) const {
    out(k, j, i) = before(k, j, i) / 2 + early;  // rounded once, with or without a fused product
  }
};

// Kernels that did not wait for those ahead of them would read what these have not written yet.
TEST_P(SweepsOn, MayAskEarlyForWhatTheyReadAndStillWaitForTheKernelAhead) {
  for (const IndexBox<3>& box :
       {IndexBox<3>{{2, -3, 5}, {21, 18, 50}}, IndexBox<3>{{0, 0, 0}, {83, 81, 90}}}) {
    const Arrays arrays(box);
    Stream stream(GetParam());
    const auto count = arrays.a.size();
    Buffer<float> a(stream, std::span<const float>(arrays.a)), one(GetParam(), count), two(GetParam(), count);
    one.fill_zero(stream), two.fill_zero(stream);
    const View<const float, 3> early{std::as_const(a).view().data, arrays.all};
    std::vector<float> back(count), first(count), second(count);
    for (int n = 0; n < 10; ++n) {
      sweep(stream, box,
            Chained{early, {std::as_const(one).view().data, arrays.all}, {two.view().data, arrays.all}});
      sweep(stream, box,
            Chained{early, {std::as_const(two).view().data, arrays.all}, {one.view().data, arrays.all}});
      for (auto [from, to] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
        const Chained kernel{
            {arrays.a.data(), arrays.all}, {from->data(), arrays.all}, {to->data(), arrays.all}};
        for_each(box, 1, [&](Index k, Index j, Index i) { kernel(k, j, i); });
      }
    }
    one.download(stream, back);
    EXPECT_EQ(back, first);
  }
}

}  // namespace
}  // namespace terrane
