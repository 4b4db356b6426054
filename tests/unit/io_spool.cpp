#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/spool.hpp"

namespace terrane::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

TEST(Spool, GivesBackFramesInAnyOrderAndHasNoName) {
  const TemporaryFolder folder;
  Spool spool(folder / "film", 3, 2 * sizeof(float));
  EXPECT_EQ(folder.entries(), 0u);
  for (const std::size_t n : {2u, 0u, 1u}) {
    const std::vector<float> frame{static_cast<float>(n), 0.5f};
    spool.put(n, std::as_bytes(std::span(frame)));
  }
  std::vector<float> frame(2);
  for (const std::size_t n : {1u, 2u, 0u}) {
    spool.get(n, std::as_writable_bytes(std::span(frame)));
    EXPECT_THAT(frame, ElementsAre(static_cast<float>(n), 0.5f));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Spool, SaysBeforeTheFirstFrameThatThereIsNoFolderOrNoRoom) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { Spool(folder / "none/film", 1, 1); }),
              testing::AllOf(HasSubstr("none/film"), HasSubstr("folder")));
  constexpr std::size_t exabyte = std::size_t{1} << 60;
  EXPECT_THAT(message([&] {
                Spool(folder / "film", exabyte / 1024, 1024, {"films", "Make shorter ones."});
              }),
              testing::AllOf(HasSubstr("film"), HasSubstr("films take 1153 PB"), HasSubstr("are free"),
                             HasSubstr("Make shorter ones")));
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace terrane::io
