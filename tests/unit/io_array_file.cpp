// What a run keeps for itself comes back bit for bit, or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "support/array_file_seal.hpp"
#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/array_file.hpp"

namespace terrane::io {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// A small file with everything in it.
std::string small_file(const TemporaryFolder& folder) {
  const std::vector<double> odd{0.1, -0.0, 1e-320, INFINITY, 1 / 3.0};
  const std::vector<std::int64_t> whole{-7};
  const std::vector<float> wave{1, 2, 3, 4, 5, 6};
  const std::size_t shape[] = {3, 2};
  ArrayFileWriter out(folder / "a");
  out.note("accuracy", "1e-12");
  out.list<double>("odd", odd);
  out.list<std::int64_t>("whole", whole);
  out.list<unsigned char>("nothing", {});
  out.define<float>("wave", shape);
  out.piece<float>("wave", std::span(wave).first(4));
  out.piece<float>("wave", std::span(wave).subspan(4));
  out.finish();
  return bytes_of(folder / "a");
}

TEST(ArrayFile, ComesBackWithEveryBit) {
  const TemporaryFolder folder;
  small_file(folder);
  ArrayFileReader in(folder / "a");
  EXPECT_EQ(in.notes(), (Attributes{{"accuracy", "1e-12"}}));
  ASSERT_EQ(in.arrays().size(), 4U);
  EXPECT_EQ(in.arrays().at("wave").shape, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(in.arrays().at("wave").type, ArrayType::float32);
  EXPECT_EQ(in.arrays().at("nothing").size, 0U);
  std::vector<double> odd(5);
  in.read("odd", 0, std::span(odd));
  EXPECT_EQ(odd, (std::vector<double>{0.1, -0.0, 1e-320, INFINITY, 1 / 3.0}));
  EXPECT_TRUE(std::signbit(odd[1]));
  std::vector<float> some(3);  // across the border of two pieces
  in.read("wave", 2, std::span(some));
  EXPECT_EQ(some, (std::vector<float>{3, 4, 5}));
  std::vector<std::int64_t> whole(1);
  in.read("whole", 0, std::span(whole));
  EXPECT_EQ(whole[0], -7);
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(ArrayFile, OfManyBlocksAndPiecesComesBackWhereverOneReads) {
  const TemporaryFolder folder;
  constexpr std::size_t size = 700001;
  std::vector<double> values(size);
  for (std::size_t n = 0; n < size; ++n) values[n] = std::sin(static_cast<double>(n));
  ArrayFileWriter out(folder / "a");
  out.define<double>("field", std::span(&size, 1));
  for (std::size_t n = 0; n < size; n += 300000)
    out.piece<double>("field", std::span(values).subspan(n, std::min<std::size_t>(300000, size - n)));
  out.finish();
  ArrayFileReader in(folder / "a");
  for (const auto& [first, count] :
       {std::pair<std::size_t, std::size_t>{0, size}, {299999, 2}, {131071, 200000}}) {
    std::vector<double> part(count);
    in.read("field", first, std::span(part));
    EXPECT_EQ(std::memcmp(part.data(), values.data() + first, count * sizeof(double)), 0) << first;
  }
}

TEST(ArrayFile, WithAnyBitChangedIsRefused) {
  const TemporaryFolder folder;
  const auto good = small_file(folder);
  EXPECT_NO_THROW(ArrayFileReader("a", good));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(ArrayFileReader("a", bad), Error) << "bit " << bit;
  }
}

TEST(ArrayFile, ThatIsTooShortOrTooLongIsRefused) {
  const TemporaryFolder folder;
  const auto good = small_file(folder);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(ArrayFileReader("a", good.substr(0, size)), Error) << size;
  EXPECT_THAT(message([&] { ArrayFileReader("a", good + '\0'); }), HasSubstr("a: is damaged: something is"));
  EXPECT_THAT(message([&] { ArrayFileReader("a", good + good.substr(24)); }), HasSubstr("is damaged"));
}

TEST(ArrayFile, WithARecordLostDoubledOrMovedIsRefused) {
  const TemporaryFolder folder;
  const auto good = small_file(folder);
  const auto records = record_places(good);
  ASSERT_EQ(records.size(), 10U);
  for (std::size_t r = 0; r + 1 < records.size(); ++r) {
    const auto record = good.substr(records[r], records[r + 1] - records[r]);
    EXPECT_THROW(ArrayFileReader("a", good.substr(0, records[r]) + good.substr(records[r + 1])), Error);
    EXPECT_THROW(ArrayFileReader("a", good.substr(0, records[r]) + record + good.substr(records[r])), Error);
    EXPECT_THROW(ArrayFileReader("a", good.substr(0, records[r]) + good.substr(records[r + 1]) + record),
                 Error);
  }
}

TEST(ArrayFile, ThatLiesUnderGoodChecksumsTakesNoMemoryForIt) {
  const TemporaryFolder folder;
  const auto good = small_file(folder);
  EXPECT_EQ(sealed(good), good);
  const auto odd = record_places(good)[1];  // kind 4, name 4, body 8, "odd" 3, type 4, rank 4, size 8
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t width) {
    auto bad = good;
    std::memcpy(bad.data() + odd + at, &value, width);
    return message([&] { ArrayFileReader("a", sealed(bad)); });
  };
  EXPECT_THAT(with(27, std::uint64_t{1} << 60, 8), HasSubstr("\"odd\" is larger than the file"));
  EXPECT_THAT(with(27, ~std::uint64_t{0}, 8), HasSubstr("\"odd\" is larger than the file"));
  EXPECT_THAT(with(27, 4, 8), HasSubstr("\"odd\" has too many values"));
  EXPECT_THAT(with(27, 6, 8), HasSubstr("\"odd\" is not whole"));
  EXPECT_THAT(with(19, 9, 4), HasSubstr("\"odd\" has no shape"));
  EXPECT_THAT(with(23, 9, 4), HasSubstr("\"odd\" has no shape"));
  EXPECT_THAT(with(8, ~std::uint64_t{0}, 8), HasSubstr("a record is larger than the file"));
  EXPECT_THAT(with(0, 77, 4), HasSubstr("unknown kind 77"));
}

TEST(ArrayFile, OfAnotherKindOrMissingIsSaidSo) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { ArrayFileReader(folder.put("x", "easting,northing\n")); }),
              HasSubstr("is no file of Terrane's own arrays"));
  EXPECT_THAT(message([&] { ArrayFileReader(folder / "none"); }),
              HasSubstr("cannot be opened: No such file"));
  EXPECT_THAT(message([&] { ArrayFileReader(std::string("/dev/zero")); }),
              HasSubstr("is not an ordinary file"));
}

TEST(ArrayFile, ThatChangesWhileItIsReadIsRefused) {
  const TemporaryFolder folder;
  auto bytes = small_file(folder);
  ArrayFileReader in(folder / "a");
  bytes[bytes.find(std::string("\x00\x00\x40\x40", 4))] ^= 1;  // 3.0f
  folder.put("a", bytes);
  std::vector<float> wave(6);
  EXPECT_THAT(message([&] { in.read("wave", 0, std::span(wave)); }), HasSubstr("changed while it was read"));
}

TEST(ArrayFile, OnAFullDiskIsAnErrorAndNoFile) {
  const std::vector<double> many(1000000, 1.5);
  const auto write = [&] {
    ArrayFileWriter out("/dev/full");
    out.list<double>("many", many);
    out.finish();
  };
  EXPECT_THAT(message(write), HasSubstr("/dev/full: cannot be written: No space left"));
}

TEST(ArrayFile, ChecksumIsTheOneOfXz) {
  // CRC-64/XZ of "123456789" in the catalogue of parametrised CRC algorithms.
  EXPECT_EQ(checksum(std::as_bytes(std::span("123456789", 9))), 0x995dc9bbdf1939faU);
}

}  // namespace
}  // namespace terrane::io
