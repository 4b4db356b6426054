// What the next mesh of a run that refines is to be, and when it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "terrane/simulation/refining.hpp"

namespace terrane {
namespace {

using testing::HasSubstr;

double left(const ErrorShares& shares, const FinerWish& wish) {
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) sum += shares.cells[a] * wish.factor[a] * wish.factor[a];
  return sum;
}

TEST(FinerWishes, ShareWhatIsLeftAmongAxesAlike) {
  const ErrorShares shares{{0.04, 0.02, 0.01}, 0};
  const auto wish = finer_wish(shares, 0.07, 0.04);
  EXPECT_NEAR(left(shares, wish), 0.024, 1e-12);
  EXPECT_NEAR(0.04 * wish.factor[0] * wish.factor[0], 0.01 * wish.factor[2] * wish.factor[2], 1e-12);
  EXPECT_FALSE(wish.walls);
}

TEST(FinerWishes, LeaveCellsAloneThatAreFineEnough) {
  const ErrorShares shares{{0.03, 1e-4, 1e-5}, 0};
  const auto wish = finer_wish(shares, 0.03, 0.01);
  EXPECT_EQ(wish.factor[1], 1.15);
  EXPECT_EQ(wish.factor[2], 1.15);
  EXPECT_NEAR(left(shares, wish), 0.006, 1e-4);
}

TEST(FinerWishes, MoveWallsWhereTheseTakeAThirdOfTheAccuracy) {
  EXPECT_TRUE(finer_wish({{0.01, 0.01, 0.01}, 0.01}, 0.04, 0.01).walls);
  EXPECT_FALSE(finer_wish({{0.01, 0.01, 0.01}, 0.001}, 0.031, 0.01).walls);
}

TEST(FinerWishes, TakeNoMoreThanSixTimesTheCellsAtOnce) {
  const auto f = finer_wish({{1, 1, 1}, 0}, 3, 1e-3).factor;
  EXPECT_NEAR(1 / (f[0] * f[1] * f[2]), 6, 1e-9);
  EXPECT_EQ(finer_wish({{1, 1e-6, 1e-6}, 0}, 1, 1e-3).factor[0], 0.35);
}

TEST(FinerWishes, FitIntoTheCellsThatThereMayBeWhereThatIsWorthIt) {
  EXPECT_EQ(most_times(1000, 1'000'000), 6);
  EXPECT_NEAR(most_times(300'000, 1'000'000), 2.5, 1e-9);
  EXPECT_EQ(most_times(600'000, 1'000'000), 6);  // and the next mesh has too many
  const auto f = finer_wish({{0.1, 0.1, 0.1}, 0}, 0.3, 0.01, 2.5).factor;
  EXPECT_NEAR(1 / (f[0] * f[1] * f[2]), 2.5, 1e-9);
}

Round of(std::uint64_t cells, double error) { return {cells, error, 1.0, 1e8}; }

TEST(RoundsOfRefining, EndWhereTheAccuracyIsKeptAndSayWhatTheyDid) {
  Rounds rounds({0.01, Verify::refine});
  rounds.add(of(1000, 0.03));
  EXPECT_TRUE(rounds.goes_on());
  rounds.add(of(3000, 0.008));
  EXPECT_FALSE(rounds.goes_on());
  rounds.took(5);
  Result result;
  rounds.tell(result);
  EXPECT_THAT(
      result.report.text(),
      HasSubstr("1 % is kept: 3 % on 1,000 cells, 0.8 % on 3,000 cells; 5 s, 5 times the first solve"));
  EXPECT_TRUE(result.report.warnings.empty());
  EXPECT_EQ(result.attributes.at("error_kept"), "true");
}

TEST(RoundsOfRefining, SayByHowMuchItIsNotKeptAndWhatOneMoreTakes) {
  Rounds rounds({0.01, Verify::refine, 10'000});
  rounds.add(of(5000, 0.024));
  EXPECT_TRUE(rounds.goes_on());
  EXPECT_FALSE(rounds.takes(of(40'000, 0)));
  Result result;
  rounds.tell(result);
  ASSERT_EQ(result.report.warnings.size(), 1U);
  EXPECT_THAT(
      result.report.warnings[0],
      testing::AllOf(HasSubstr("asked 1 %, kept 2.4 % (95 % of data): the next mesh has 40,000 cells"),
                     HasSubstr("one more round would take about 4e+04 cells")));
}

/// Errors fall by half from mesh to mesh.
struct Mesh {
  std::uint64_t cells = 1000;
};
struct Datum {
  double value = 0, seconds = 1;
};
RoundsOf<Mesh, Datum> halving(std::size_t without_memory) {
  RoundsOf<Mesh, Datum> of;
  of.find = [=](Mesh& mesh, std::size_t round) {
    if (round == without_memory && round == 2) throw std::bad_alloc();
    if (round == without_memory) throw MemoryError("run", "would need 9 TB, 1 GB available");
    return Datum{static_cast<double>(mesh.cells), 1};
  };
  of.error = [](const Mesh& mesh, const Datum&) { return 40 / static_cast<double>(mesh.cells); };
  of.shares = [](Mesh&) { return ErrorShares{{0.01, 0.01, 0.01}, 0}; };
  of.finer = [](Mesh& mesh, const FinerWish&) { return std::make_unique<Mesh>(Mesh{2 * mesh.cells}); };
  of.size = [](const Mesh& mesh) { return Round{mesh.cells, 0, 1, 1e8}; };
  return of;
}

TEST(RoundsOfRefining, KeepTheDataOfTheRoundBeforeWhereMemoryRunsOut) {
  for (const std::size_t without : {1, 2}) {
    Mesh first;
    std::unique_ptr<Mesh> last;
    Rounds rounds({0.001, Verify::refine});
    const auto found = found_in_rounds(first, last, rounds, halving(without));
    EXPECT_EQ(found.value, without == 1 ? 1000 : 2000);
    EXPECT_EQ(last == nullptr, without == 1);
    Result result;
    rounds.tell(result);
    ASSERT_EQ(result.report.warnings.size(), 1U);
    EXPECT_THAT(result.report.warnings[0],
                HasSubstr(without == 1 ? "more memory than there is: would need 9 TB"
                                       : "no memory left for the solve"));
    EXPECT_EQ(result.attributes.at("error_kept"), "false");
  }
  Mesh first;
  std::unique_ptr<Mesh> last;
  Rounds rounds({0.001, Verify::refine});
  EXPECT_THROW(found_in_rounds(first, last, rounds, halving(0)), MemoryError);
}

TEST(RoundsOfRefining, EndWhereOneGainsNothingAndAfterThree) {
  Rounds rounds({0.01, Verify::refine});
  rounds.add(of(1000, 0.04));
  rounds.add(of(2000, 0.039));
  EXPECT_FALSE(rounds.goes_on());
  Rounds many({0.01, Verify::refine});
  for (const double e : {0.4, 0.2, 0.1}) {
    many.add(of(1000, e));
    EXPECT_TRUE(many.goes_on());
  }
  many.add(of(9000, 0.05));
  EXPECT_FALSE(many.goes_on());
}

}  // namespace
}  // namespace terrane
