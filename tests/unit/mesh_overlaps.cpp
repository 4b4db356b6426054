#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/mesh/overlaps.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {
namespace {

PrismSet prisms_of(const TensorMesh& mesh) {
  PrismSet prisms;
  prisms.reserve(mesh.size());
  for (std::size_t c = 0; c < mesh.size(); ++c) prisms.push_back(mesh.prism(c));
  return prisms;
}

/// Small, repeatable numbers from 0 to 1.
class Numbers {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  unsigned long long state_ = 7;
};

PrismSet random_prisms(std::size_t n, double size) {
  Numbers next;
  PrismSet prisms;
  for (std::size_t m = 0; m < n; ++m) {
    const double x = next(), y = next(), z = next();
    prisms.push_back({x, x + size * next(), y, y + size * next(), z, z + size * next()});
  }
  return prisms;
}

std::size_t counted_one_by_one(const PrismSet& p) {
  std::size_t count = 0;
  for (std::size_t a = 0; a < p.size(); ++a)
    for (std::size_t b = a + 1; b < p.size(); ++b)
      count += std::min(p.east[a], p.east[b]) - std::max(p.west[a], p.west[b]) > 1e-12 &&
               std::min(p.north[a], p.north[b]) - std::max(p.south[a], p.south[b]) > 1e-12 &&
               std::min(p.top[a], p.top[b]) - std::max(p.bottom[a], p.bottom[b]) > 1e-12;
  return count;
}

TEST(Overlaps, PrismsThatOnlyTouchDoNotOverlap) {
  const auto mesh = TensorMesh::regular({500000, 500700, 7000000, 7000900, -1100, 0}, {7, 9, 11});
  const auto found = overlaps(prisms_of(mesh));
  EXPECT_EQ(found.count, 0U);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.message(), "");
}

TEST(Overlaps, FacesThatMissEachOtherByRoundingDoNotOverlap) {
  PrismSet prisms;
  prisms.push_back({0, 0.1 + 0.2, 0, 1, 0, 1});
  prisms.push_back({0.3, 1, 0, 1, 0, 1});
  ASSERT_GT(prisms.east[0], prisms.west[1]);
  EXPECT_EQ(overlaps(prisms).count, 0U);
}

TEST(Overlaps, AreFoundAsComparingEveryPairFindsThem) {
  for (std::size_t n : {1U, 2U, 8U, 9U, 17U, 100U, 1500U}) {
    const auto prisms = random_prisms(n, 0.2);
    const auto found = overlaps(prisms);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.count, counted_one_by_one(prisms)) << n << " prisms";
  }
}

TEST(Overlaps, OnePrismInsideAnotherIsOneOverlapNamedFromOne) {
  auto prisms = prisms_of(TensorMesh::regular({0, 4, 0, 4, 0, 4}, {4, 4, 4}));
  prisms.push_back({0.25, 0.5, 0.25, 0.5, 0.25, 0.5});
  const auto found = overlaps(prisms);
  EXPECT_EQ(found.count, 1U);
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0], (std::array<std::size_t, 2>{0, 64}));
  EXPECT_EQ(found.message(), "1 pair of prisms overlaps (first: prisms 1 and 65)");
}

TEST(Overlaps, ListsTheFirstPairsInOrder) {
  const auto found = overlaps(random_prisms(500, 0.3), {.count = 1000000, .listed = 5});
  ASSERT_EQ(found.pairs.size(), 5U);
  EXPECT_TRUE(std::is_sorted(found.pairs.begin(), found.pairs.end()));
  const auto more = overlaps(random_prisms(500, 0.3), {.count = 1000000, .listed = 50});
  EXPECT_TRUE(std::equal(found.pairs.begin(), found.pairs.end(), more.pairs.begin()));
}

TEST(Overlaps, AMillionPrismsInOnePlaceStopTheCount) {
  PrismSet prisms;
  for (int n = 0; n < 1000000; ++n) prisms.push_back({0, 1, 0, 1, 0, 1});
  const auto found = overlaps(prisms, {.count = 5000, .listed = 2});
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.count, 5000U);
  EXPECT_THAT(found.message(), testing::StartsWith("at least 5000 pairs of prisms overlap (first: "));
}

TEST(Overlaps, RodsWovenInThreeDirectionsWithoutTouchingAreCleared) {
  // Every rod's box crosses the boxes of whole bundles of the others: hard for a tree of boxes.
  PrismSet prisms;
  const int n = 60;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double a = 2 * i, b = 2 * j;
      prisms.push_back({0, 2 * n, a, a + 1, b, b + 1});
      prisms.push_back({a, a + 1, 0, 2 * n, b + 1, b + 2});
      prisms.push_back({a + 1, a + 2, b + 1, b + 2, 0, 2 * n});
    }
  EXPECT_EQ(overlaps(prisms).count, 0U);
  EXPECT_TRUE(overlaps(prisms).complete);
  prisms.push_back({0.5, 1.5, 0.5, 1.5, 0.5, 1.5});  // meets one rod of each direction
  EXPECT_EQ(overlaps(prisms).count, 3U);
}

TEST(Overlaps, PrismsWithoutThicknessOrWithNaNOverlapNothing) {
  PrismSet prisms;
  prisms.push_back({0, 1, 0, 1, 0, 1});
  prisms.push_back({0, 1, 0, 1, 0.5, 0.5});
  prisms.push_back({0, 1, 0, 1, 0.7, 0.2});
  prisms.push_back({0, std::numeric_limits<double>::quiet_NaN(), 0, 1, 0, 1});
  EXPECT_EQ(overlaps(prisms).count, 0U);
  EXPECT_EQ(overlaps(PrismSet{}).count, 0U);
}

TEST(Overlaps, FacesOfUnequalCountAreRefused) {
  PrismSet prisms;
  prisms.push_back({0, 1, 0, 1, 0, 1});
  prisms.top.clear();
  EXPECT_THROW(overlaps(prisms), ShapeError);
}

TEST(Overlaps, AMillionPrismsThatTileAreCleared) {
  const auto prisms = prisms_of(TensorMesh::regular({0, 22000, 0, 22000, -8000, 0}, {100, 100, 100}));
  const auto begin = std::chrono::steady_clock::now();
  const auto found = overlaps(prisms);
  RecordProperty(
      "seconds",
      std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
  EXPECT_EQ(found.count, 0U);
  EXPECT_TRUE(found.complete);
}

}  // namespace
}  // namespace terrane
