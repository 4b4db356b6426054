#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

TextReader reader(std::string text) { return {"file.txt", std::move(text)}; }

TEST(AtomicFile, AppearsOnlyWhenItIsComplete) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  }
  EXPECT_EQ(folder.entries(), 0U);
  AtomicFile file(folder / "a.txt");
  file.write("whole");
  file.commit();
  EXPECT_EQ(bytes_of(folder / "a.txt"), "whole");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, KeepsTheOldFileUntilTheNewOneIsComplete) {
  const TemporaryFolder folder;
  folder.put("a.txt", "old");
  { AtomicFile(folder / "a.txt").write("new"); }
  EXPECT_EQ(bytes_of(folder / "a.txt"), "old");
}

TEST(AtomicFile, WritesThroughALink) {
  const TemporaryFolder folder;
  folder.put("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  AtomicFile file(folder / "link");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of(folder / "target"), "new");
}

TEST(AtomicFile, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_THAT(message([] {
                AtomicFile file("/dev/full");
                file.write("x");
                file.commit();
              }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left"), HasSubstr("Free some space")));
}

TEST(AtomicFile, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { AtomicFile file(folder / "no/such/a.txt"); }),
              AllOf(HasSubstr("no/such/a.txt"), HasSubstr("Create the folder first")));
  EXPECT_THAT(message([&] { AtomicFile file(folder / "."); }), HasSubstr("is a folder"));
}

TEST(RemoveLeftovers, TakesWhatAKilledWriterLeftAndNothingElse) {
  const TemporaryFolder folder;
  // No system counts processes so far; this one is there.
  const std::string gone = "99999999", here = std::to_string(::getpid());
  const std::vector<std::string> left{".a.h5." + gone + ".0.tmp", ".a.h5." + gone + ".12.tmp"};
  const std::vector<std::string> others{"a.h5",
                                        ".a.h5." + here + ".0.tmp",
                                        ".b.h5." + gone + ".0.tmp",
                                        "aa.h5",
                                        "a.h5.tmp",
                                        ".a.h5.notes.tmp",
                                        ".a.h5..0.tmp",
                                        ".a.h5." + gone + ".tmp",
                                        ".a.h5.1e3.0.tmp"};
  for (const auto* names : {&left, &others})
    for (const auto& name : *names) folder.put(name, "");
  remove_leftovers(folder / "a.h5");
  for (const auto& name : left) EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
  for (const auto& name : others) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  remove_leftovers(folder / "not there");
  remove_leftovers(folder / "no/such/folder");
  EXPECT_EQ(folder.entries(), others.size());
  folder.put(left[0], "");
  AtomicFile file(folder / "a.h5");
  file.write("whole");
  file.commit();
  EXPECT_EQ(folder.entries(), others.size()) << "whoever writes the file anew tidies up";
}

TEST(AtomicFile, HasNamesAsLongAsTheFileSystemAllows) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  AtomicFile file(folder / name);
  file.write("whole");
  file.commit();
  EXPECT_EQ(bytes_of(folder / name), "whole");
}

TEST(ReadBytes, SaysWhichFileIsMissing) {
  EXPECT_THAT(message([] { read_bytes("/nowhere/a.txt"); }),
              AllOf(HasSubstr("/nowhere/a.txt"), HasSubstr("No such file")));
  EXPECT_THAT(message([] { read_bytes("/tmp"); }), HasSubstr("is a folder"));
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(text.size() + 1000, '\0');
  std::size_t size = 0;
  const auto status = lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, nullptr,
                                              reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                              reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(status, LZMA_OK);
  out.resize(size);
  return out;
}

TEST(ReadBytes, ReadsWhereNobodySaysHowMuchMemoryThereIs) {  // as without /proc
  const TemporaryFolder folder;
  EXPECT_EQ(read_bytes(folder.put("a.csv", "one\n"), std::numeric_limits<std::size_t>::max()), "one\n");
}

TEST(ReadBytes, UnpacksGzipAndXzWhateverTheName) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + '\n';
  EXPECT_EQ(read_bytes(folder.put("a.gz", gzip(text))), text);
  EXPECT_EQ(read_bytes(folder.put("a.csv", xz(text))), text);
  EXPECT_EQ(read_bytes(folder.put("two.gz", gzip("one ") + gzip("two"))), "one two");
  EXPECT_EQ(read_head(folder / "a.gz", 4), "0\n1\n");
}

TEST(ReadBytes, SaysThatAFileIsPackedTwiceAndThatAPipeIsReadOnce) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { read_bytes(folder.put("a.csv.gz", gzip(gzip("one")))); }),
              HasSubstr("packed twice"));
  EXPECT_THAT(message([&] { read_bytes(folder.put("a.csv.gz", gzip(xz("one")))); }),
              HasSubstr("packed twice"));
  mkfifo((folder / "pipe").c_str(), 0600);
  EXPECT_THAT(message([&] { read_head(folder / "pipe", 4); }), HasSubstr("cannot be read twice"));
  EXPECT_THAT(message([] { TextReader("a.csv", std::string("a,b\0c", 6)); }), HasSubstr("byte 4 is zero"));
}

TEST(ReadBytes, SaysThatAPackedFileIsTruncatedOrDamaged) {
  const TemporaryFolder folder;
  const std::string text(10'000, 'x');
  const auto g = gzip(text), x = xz(text);
  EXPECT_THAT(message([&] { read_bytes(folder.put("a.gz", g.substr(0, g.size() - 5))); }),
              HasSubstr("a truncated gzip file"));
  EXPECT_THAT(message([&] { read_bytes(folder.put("a.xz", x.substr(0, x.size() / 2))); }),
              HasSubstr("a truncated xz file"));
  auto bad = g;
  bad[g.size() - 6] = static_cast<char>(~bad[g.size() - 6]);
  EXPECT_THAT(message([&] { read_bytes(folder.put("b.gz", bad)); }), HasSubstr("a damaged gzip file"));
}

TEST(ParseNumber, TakesWhatFortranAndCPrint) {
  double v = 0;
  EXPECT_TRUE(parse_number("1.5D+03", v));
  EXPECT_EQ(v, 1500);
  EXPECT_TRUE(parse_number("+7", v));
  EXPECT_EQ(v, 7);
  EXPECT_TRUE(parse_number(".5", v));
  EXPECT_EQ(v, 0.5);
  EXPECT_TRUE(parse_number("9.4505000000000001E-004", v));
  EXPECT_EQ(v, 9.4505e-4);
  EXPECT_TRUE(parse_number("1e-999", v));
  EXPECT_EQ(v, 0);
  EXPECT_TRUE(parse_number("NaN", v));
  EXPECT_TRUE(std::isnan(v));
  for (const auto* bad : {"", "+", "+-1", "1,5", "12a", "1e999", "--1", "0x10", "D", "1 "})
    EXPECT_FALSE(parse_number(bad, v)) << bad;
}

TEST(TextReader, CountsLinesWhateverTheirEnds) {
  auto in = reader(
      "\xEF\xBB\xBF"
      "a\r\nb\rc\n\nlast");
  std::string_view line;
  std::vector<std::string> lines;
  while (in.line(line)) lines.emplace_back(line);
  EXPECT_THAT(lines, ElementsAre("a", "b", "c", "", "last"));
  EXPECT_EQ(in.line_number(), 5U);
}

TEST(TextReader, GivesTheLineOfEveryTokenAndSkipsComments) {
  auto in = reader("1 ! one\r\n! nothing\r\n\r\n 2");
  in.set_comment('!');
  EXPECT_EQ(in.number("x"), 1);
  EXPECT_EQ(in.line_number(), 1U);
  EXPECT_EQ(in.number("x"), 2);
  EXPECT_EQ(in.where(), "file.txt:4");
  EXPECT_THAT(message([&] { in.number("the width"); }),
              AllOf(HasSubstr("file.txt:4"), HasSubstr("ends where the width belongs")));
}

TEST(TextReader, TakesLatin1ForWhatIsNotUtf8) {
  auto in = reader(
      "12\xB0"
      "40'E");
  std::string_view word;
  in.token(word);
  EXPECT_EQ(word,
            "12\xC2\xB0"
            "40'E");
  EXPECT_THAT(message([] {
                reader(
                    std::string("\xFF\xFE"
                                "1\0",
                                4));
              }),
              HasSubstr("UTF-16"));
}

TEST(TextReader, UnrollsRunLengthsButNotBombs) {
  EXPECT_THAT(reader("2*20 5 1*7").numbers(4, "widths", true), ElementsAre(20, 20, 5, 7));
  EXPECT_THAT(message([] { reader("1 1000000000*1").numbers(4, "widths", true); }),
              AllOf(HasSubstr("file.txt:1"), HasSubstr("1000000000*1"), HasSubstr("beyond the 4 values")));
  EXPECT_THAT(message([] { reader("99999999999999999999*1").numbers(4, "widths", true); }),
              HasSubstr("not a run of equal values"));
  EXPECT_THAT(message([] { reader("-3*1").numbers(4, "widths", true); }),
              HasSubstr("not a run of equal values"));
  EXPECT_THAT(message([] { reader("2*x").numbers(4, "widths", true); }),
              HasSubstr("\"x\" stands where widths belongs"));
}

TEST(TextReader, DoesNotAllocateWhatOnlyACountClaims) {
  EXPECT_THAT(message([] { reader("1 2 3").numbers(std::size_t{1} << 60, "values"); }),
              HasSubstr("ends after 3 of"));
}

TEST(TextReader, RefusesWhatIsNoFiniteNumber) {
  EXPECT_THAT(message([] { reader("\n\nnan").number("the top"); }),
              AllOf(HasSubstr("file.txt:3"), HasSubstr("\"nan\" stands where the top belongs")));
  EXPECT_THAT(message([] { reader("inf").number("the top", true); }), HasSubstr("finite"));
  EXPECT_THAT(message([] { reader("1,5").number("the top"); }), HasSubstr("decimal point"));
  EXPECT_THAT(message([] { reader("2.5").integer("the count"); }), HasSubstr("whole number"));
  EXPECT_THAT(message([] { reader("0").integer("the count", 1, 10); }),
              AllOf(HasSubstr("the count is 0"), HasSubstr("1 to 10")));
  EXPECT_EQ(reader("8.0000000e+00").integer("the count"), 8);
}

TEST(CheckedProduct, RefusesSizesThatOverflow) {
  EXPECT_EQ(checked_product("x", std::array<std::int64_t, 3>{2, 3, 4}), 24U);
  EXPECT_EQ(checked_product("x", std::array<std::int64_t, 2>{0, 4}), 0U);
  EXPECT_THAT(
      message([] {
        checked_product("mesh.msh:1", std::array<std::int64_t, 3>{10'000'000, 10'000'000, 10'000'000});
      }),
      AllOf(HasSubstr("mesh.msh:1"), HasSubstr("10000000 x 10000000 x 10000000")));
}

TEST(Names, WithAZeroByteAreRefusedAndNotCut) {
  const TemporaryFolder folder;
  const std::string name = folder / std::string("a\0b.nc", 6);
  EXPECT_NE(message([&] { AtomicFile file(name); }).find("has a zero byte in its name"), std::string::npos);
  EXPECT_NE(message([&] { PendingPath file(name); }).find("has a zero byte in its name"), std::string::npos);
  EXPECT_NE(message([&] { read_bytes(name); }).find("has a zero byte in its name"), std::string::npos);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(ReadBytes, DoesNotReadADeviceThatNeverEnds) {
  EXPECT_NE(message([] { read_bytes("/dev/zero"); }).find("/dev/zero: is a device"), std::string::npos);
}

TEST(ReadBytes, UnpacksNoMoreThanItMayTake) {
  const TemporaryFolder folder;
  std::string packed(1 << 20, '\0');
  uLongf size = packed.size();
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  const std::string zeros(100 << 20, '0');  // 100 MiB in 100 kB
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(size);
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const auto path = folder.put("bomb.csv.gz", packed);
  EXPECT_NE(message([&] { read_bytes(path, 10'000'000); }).find("bomb.csv.gz: unpacks to more than 10 MB"),
            std::string::npos);
  EXPECT_NE(message([&] { read_bytes(path, 10'000); }).find("bomb.csv.gz: is more than 10 kB"),
            std::string::npos);
  EXPECT_EQ(read_bytes(path, 200'000'000).size(), zeros.size());
}

}  // namespace
}  // namespace terrane::io
