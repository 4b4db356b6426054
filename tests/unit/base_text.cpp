// What stands in a file reaches a terminal without control characters.
#include <gtest/gtest.h>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {
namespace {

TEST(PrintableText, HasNoControlCharacters) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m\a\b\r"), "?[31mred?[0m???");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a?b?");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "?2J");  // CSI in one character
  EXPECT_EQ(printable("\xC2"), "\xC2");
}

TEST(PrintableText, KeepsLinesTabsAndEveryLetter) {
  const std::string text = "Eötvös\t10 µGal\n\u65e5\u672c \u00a0";
  EXPECT_EQ(printable(text), text);
}

TEST(Errors, ShowNoControlCharactersOfAFile) {
  const InputError error("a\x1b]0;title\a.csv", "column \"\x1b[2J\" is unknown", "next\x1b[A");
  EXPECT_EQ(std::string(error.what()).find_first_of("\x1b\a"), std::string::npos);
  EXPECT_EQ(error.where(), "a?]0;title?.csv");
  EXPECT_EQ(error.problem(), "column \"?[2J\" is unknown");
  EXPECT_EQ(error.next(), "next?[A");
}

}  // namespace
}  // namespace terrane
