// One decision for all kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/simd/built_sets.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"

namespace terrane {
namespace {

TEST(InstructionSet, IsOneThatThisBuildHasAndThoseThatAreNotSayWhatThereIs) {
  const auto chosen = instruction_set();
  EXPECT_THAT(built_instruction_sets, testing::Contains(chosen));
  EXPECT_EQ(instruction_set(chosen), chosen);
  try {
    instruction_set("abacus");
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("\"abacus\" is not an instruction set"));
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("Available: "), testing::HasSubstr(std::string(chosen))));
  }
}

}  // namespace
}  // namespace terrane
