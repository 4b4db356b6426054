#include <gtest/gtest.h>

#include <csignal>

#include "terrane/base/progress.hpp"

namespace terrane {
namespace {

TEST(TerminalProgress, InterruptCancelsAndTheHandlerGoesWithTheObject) {
  const auto before = std::signal(SIGINT, SIG_DFL);
  {
    const auto progress = terminal_progress();
    progress->start("fields", 10);
    EXPECT_FALSE(progress->cancelled());
    std::raise(SIGINT);
    EXPECT_TRUE(progress->cancelled());
    progress->finish();
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_DFL);
  EXPECT_FALSE(terminal_progress()->cancelled());
}

TEST(TerminalProgress, AnInterruptThatWasIgnoredFromTheBeginningStaysIgnored) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const auto progress = terminal_progress();
    std::raise(SIGINT);
    EXPECT_FALSE(progress->cancelled());
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

TEST(TerminalProgress, SecondInterruptEndsTheProcessWithStatus130) {
  EXPECT_EXIT(
      {
        const auto progress = terminal_progress();
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace terrane
