// Memory that a list no longer needs.
#include <gtest/gtest.h>

#include <vector>

#include "terrane/base/free_memory.hpp"

namespace terrane {
namespace {

TEST(FreeMemory, LeavesNoneToAList) {
  std::vector<double> kept(1000, 1.0), freed(1000, 1.0);
  kept = {};
  EXPECT_GT(kept.capacity(), 0u) << "why free_memory() is there";
  free_memory(freed);
  EXPECT_EQ(freed.capacity(), 0u);
}

}  // namespace
}  // namespace terrane
