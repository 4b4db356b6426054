// A run goes on from its own checkpoint, and from no other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "support/array_file_seal.hpp"
#include "support/files.hpp"
#include "support/same_bits.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane {
namespace {

using namespace testing_support;
using testing::HasSubstr;

const std::vector<double> field{0.5, -1.5, 2.25};
const Fingerprint ours{this_program(), {"accuracy", "1e-12"}, {"prisms", hash({field}), true}};

class Checkpoints : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::filesystem::path file() const { return folder / "run.checkpoint"; }

  void write(const Fingerprint& of = ours, std::size_t parts = 3,
             std::span<const double> values = field) const {
    CheckpointWriter out(file(), of, parts);
    out.list("field", values);
    out.define<float>("wave", {2, 2});
    out.piece<float>("wave", std::vector<float>{1, 2});
    out.piece<float>("wave", std::vector<float>{3, 4});
    out.finish();
  }
  std::string refused(const std::function<void(CheckpointReader&)>& read) const {
    auto in = CheckpointReader::open(file());
    EXPECT_TRUE(in);
    return message([&] { read(*in); });
  }
};

TEST_F(Checkpoints, ComeBackWithEveryBit) {
  EXPECT_FALSE(CheckpointReader::open(file()));
  write();
  auto in = CheckpointReader::open(file());
  ASSERT_TRUE(in);
  EXPECT_NO_THROW(in->expect(ours));
  EXPECT_EQ(in->parts(), 3U);
  EXPECT_NO_THROW(in->expect_parts(3));
  EXPECT_EQ(in->array<double>("field", {3}), field);
  EXPECT_EQ(in->array<float>("wave", {2, 2}), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(in->holds("wave"));
  EXPECT_FALSE(in->holds("wind"));
}

TEST_F(Checkpoints, OfAnotherProblemAreRefusedWithWhatDiffers) {
  write();
  const auto difference = [&](std::size_t n, const char* value) {
    auto other = ours;
    other[n].value = value;
    return refused([&](auto& in) { in.expect(other); });
  };
  EXPECT_THAT(difference(1, "1e-9"),
              HasSubstr("run.checkpoint was made with accuracy 1e-12; this run has 1e-9"));
  EXPECT_THAT(difference(2, "0"), HasSubstr("run.checkpoint was made for other prisms"));
  EXPECT_THAT(difference(0, "0.2"), HasSubstr(fmt::format("was made with version {}", version())));
  EXPECT_THAT(difference(0, "0.2"), HasSubstr("run without --resume to start afresh"));
  auto more = ours;
  more.push_back({"device", "cpu"});
  EXPECT_THAT(refused([&](auto& in) { in.expect(more); }), HasSubstr("it does not tell the device"));
}

TEST_F(Checkpoints, WithAnyBitChangedAreRefusedByNameWithWhatToDo) {
  write();
  const auto good = bytes_of(file().string());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto said = message([&] { CheckpointReader::from_bytes("run.checkpoint", bad); });
    EXPECT_THAT(said, testing::StartsWith("run.checkpoint: is ")) << "bit " << bit;
    EXPECT_THAT(said, HasSubstr("Remove it, and run without --resume.")) << "bit " << bit;
  }
}

TEST_F(Checkpoints, HoldWhatIsAskedForOrAreRefused) {
  write();
  EXPECT_THAT(refused([](auto& in) { in.template array<double>("field", {4}); }),
              HasSubstr("run.checkpoint: is damaged: \"field\" has the shape [3], not [4]"));
  EXPECT_THAT(refused([](auto& in) { in.template array<float>("wave", {4}); }),
              HasSubstr("\"wave\" has the shape [2, 2], not [4]"));
  EXPECT_THAT(refused([](auto& in) { in.template array<float>("field", {3}); }),
              HasSubstr("\"field\" is of type float64, not float32"));
  EXPECT_THAT(refused([](auto& in) { in.template array<double>("wind", {3}); }),
              HasSubstr("it holds no \"wind\""));
  EXPECT_THAT(refused([](auto& in) { in.expect_parts(2); }), HasSubstr("3 of 2 parts are done"));
}

TEST_F(Checkpoints, HoldNaNAndInfinitiesThatTheRunHad) {
  const std::vector<double> odd{0.5, std::nan("7"), INFINITY, -INFINITY};
  write(ours, 3, odd);
  auto in = CheckpointReader::open(file());
  EXPECT_TRUE(test::same_bits({in->array<double>("field", {4})}, {odd}));
  EXPECT_EQ(in->array<float>("wave", {2, 2}), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Checkpoints, WithNumbersThatAreNoneAreRefusedUnlessTheRunTellsOfThem) {
  for (const double odd : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    write();
    auto bytes = bytes_of(file().string());
    const auto* first = reinterpret_cast<const char*>(&field[1]);
    const auto at = bytes.find(std::string(first, sizeof(double)));
    ASSERT_NE(at, bytes.npos);
    std::memcpy(bytes.data() + at, &odd, sizeof odd);
    auto in = CheckpointReader::from_bytes("run.checkpoint", sealed(bytes));
    EXPECT_THAT(message([&] { in.array<double>("field", {3}); }),
                HasSubstr("run.checkpoint: is damaged: \"field\"[1] is"));
  }
}

TEST_F(Checkpoints, WithForgedPartsAreRefused) {
  write(ours, static_cast<std::size_t>(-2));
  EXPECT_THAT(message([&] { CheckpointReader::open(file()); }), HasSubstr("-2 parts are done"));
  // The count as text, as files before this format had it.
  io::ArrayFileWriter out(file().string());
  out.note("parts done", "1e3");
  out.finish();
  EXPECT_THAT(message([&] { CheckpointReader::open(file()); }), HasSubstr("it holds no \"parts done\""));
}

TEST_F(Checkpoints, ThatAreFoldersOrOtherFilesAreSaidSo) {
  EXPECT_THAT(message([&] { CheckpointReader::open(folder.put("x", "not a checkpoint")); }),
              HasSubstr("is no checkpoint"));
  std::filesystem::create_directory(file());
  EXPECT_THAT(message([&] { CheckpointReader::open(file()); }), HasSubstr("is not an ordinary file"));
}

TEST(Fingerprints, DifferForEveryBitOfTheData) {
  const std::vector<double> a{1, 2, 3}, b{4};
  const auto whole = hash({a, b});
  EXPECT_NE(whole, hash({b, a}));
  EXPECT_NE(hash({std::span(a).first(2), std::span(a).last(1)}), hash({a}));
  for (std::size_t bit = 0; bit < 64 * 3; ++bit) {
    auto other = a;
    auto* bytes = reinterpret_cast<unsigned char*>(other.data());
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << bit % 8));
    EXPECT_NE(hash({other, b}), whole);
  }
}

struct SettingsOfSolves {
  double tolerance = 1e-8;
  int ranks = 0;
  template <class Self, class Field>
  static void fields(Self& s, Field& list) {
    list("tolerance", s.tolerance, number(positive), "Residual over right-hand side.");
    list("ranks", s.ranks, count(0, 10).same_bits(), "That share a solve.");
  }
};

TEST(Fingerprints, OfAnInversionHaveEverySettingOfItsSolvesThatDecidesBits) {
  const auto of = [](const SettingsOfSolves& solves) {
    Fingerprint all{this_program(), {"tolerance", "0.02"}};
    add_determinants(all, "simulation.", solves);
    return all;
  };
  const auto all = of({});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].what, "simulation.tolerance");
  EXPECT_NE(of({1e-9, 0})[2].value, all[2].value);
}

}  // namespace
}  // namespace terrane
