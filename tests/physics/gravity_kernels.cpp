// The packed kernels of every instruction set against one another and against the scalar form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/tiles.hpp"

namespace terrane::gravity {
namespace {

TEST(KernelTarget, EachInstructionSetTakesAsManyStationsAsItsRegistersHold) {
  for (auto [name, lanes] : {std::pair{"avx512", 8}, {"avx2", 4}, {"plain", 2}}) {
    try {
      for (const auto& kernels : kernel_target(name).kernels) EXPECT_EQ(kernels.lanes, lanes) << name;
    } catch (const UnsupportedError&) {
      EXPECT_STRNE(name, "plain");
    }
  }
}

TEST(KernelTarget, AnUnknownInstructionSetIsAnsweredWithThoseToBeHad) {
  try {
    kernel_target("sse9");
    FAIL();
  } catch (const UnsupportedError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("\"sse9\" is not an instruction set"));
    EXPECT_THAT(e.what(), testing::HasSubstr("plain"));
  }
}

}  // namespace
}  // namespace terrane::gravity
