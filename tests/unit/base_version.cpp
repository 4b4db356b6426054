// What a result says about the program that made it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "terrane/base/version.hpp"

namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Version, SaysWhichReleaseAndCommitAndCompilerMadeAResult) {
  EXPECT_THAT(std::string(terrane::version()), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(std::string(terrane::commit()), MatchesRegex("unknown|[0-9a-f]+(-dirty)?"));
  EXPECT_THAT(terrane::version_line(), HasSubstr(std::string(terrane::compiler())));
  EXPECT_THAT(terrane::version_line(), HasSubstr("HDF5 1"));
}

}  // namespace
