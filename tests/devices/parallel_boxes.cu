// Kernels over boxes on devices, beside the same kernels on the threads of this process.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "devices/device.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"

namespace terrane {
namespace {

class BoxesOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(BoxesOn);

/// Counts its calls, and writes where it was.
template <int N>
struct Visit {
  View<double, N> where;
  template <class... At>
  TERRANE_FN void operator()(At... at) const {
    const double index[N] = {static_cast<double>(at)...};
    double& here = where(at...);
    here += 1;
    for (int a = 0; a < N; ++a) here += index[a] * (a == 0 ? 0x1p-20 : a == 1 ? 0x1p-30 : 0x1p-40);
  }
};

template <int N>
void expect_the_same_as_on_threads(Device device, const IndexBox<N>& box) {
  const auto all = box.grown(1);
  const auto count = static_cast<std::size_t>(all.count());
  Stream stream(device);
  Buffer<double> there(device, count);
  there.fill_zero(stream);
  for_each(stream, box, Visit<N>{there.view(all)});
  std::vector<double> here(count), back(count, -1);
  for_each(box, 2, Visit<N>{{here.data(), all}});
  there.download(stream, back);
  EXPECT_EQ(back, here);
}

TEST_P(BoxesOn, DoEveryPointOnce) {
  expect_the_same_as_on_threads(GetParam(), IndexBox<1>{{3}, {4}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<1>{{-5}, {100'001}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<2>{{-3, 5}, {210, 333}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<2>{{0, 7}, {300'011, 8}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<3>{{5, 6, 7}, {6, 7, 8}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<3>{{0, -9, 0}, {67, 41, 53}});
  expect_the_same_as_on_threads(GetParam(), IndexBox<3>{{0, 0, 0}, {67, 141, 3}});   // a face to the east
  expect_the_same_as_on_threads(GetParam(), IndexBox<3>{{0, 0, 0}, {67, 2, 150}});   // to the north
  expect_the_same_as_on_threads(GetParam(), IndexBox<3>{{0, 0, 0}, {2, 141, 150}});  // upwards
}

TEST_P(BoxesOn, OfNothingDoNothing) {
  Stream stream(GetParam());
  for_each(stream, IndexBox<3>{{0, 5, 0}, {9, 5, 9}}, Visit<3>{});
}

TEST_P(BoxesOn, RefuseAViewThatIsLargerThanItsBuffer) {
  Buffer<double> buffer(GetParam(), 59);
  EXPECT_THROW(buffer.view(index_box(3, 4, 5)), ShapeError);
  EXPECT_NO_THROW(buffer.view(index_box(3, 4, 4)));
}

TEST(LaunchShape, KeepsItsThreadsBusyOnThinBoxes) {
  for (const auto& box :
       {detail::Extents{{200, 200, 4}}, detail::Extents{{200, 4, 200}}, detail::Extents{{4, 200, 200}},
        detail::Extents{{1, 1, 1'000'000}}, detail::Extents{{1, 300, 300}}}) {
    const auto shape = detail::launch_shape(box);
    double threads = 1, points = 1;
    for (int a = 0; a < 3; ++a) {
      threads *= shape.threads[a] * shape.blocks[a];
      points *= static_cast<double>(box.size[a]);
    }
    EXPECT_EQ(shape.threads[0] * shape.threads[1] * shape.threads[2], detail::box_threads);
    EXPECT_LT(threads, 1.4 * points);
  }
}

}  // namespace
}  // namespace terrane
