// What the next mesh of a run that refines is to be, and when it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "terrane/simulation/refined_simulation.hpp"

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

TEST(FinerWishes, MakeAllAxesFinerAlikeWhereACompanionDidNotConverge) {
  const auto wish = finer_wish({{0.01, std::nan(""), 0.01}, std::nan("")}, 0.04, 0.01);
  EXPECT_FALSE(wish.walls);
  for (const double factor : wish.factor) EXPECT_NEAR(factor, std::pow(6, -1.0 / 3), 1e-9);
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

/// Every mesh has twice the cells of the one before, and half of its error; one of them may have no memory.
class Halving final : public RefinedSimulation<Halving, double> {
 public:
  explicit Halving(double without_memory, double accuracy = 0.001, double cells = 1000)
      : RefinedSimulation("halving", {}), without_memory_(without_memory), cells_(cells) {
    accuracy_ = {accuracy, Verify::refine};
    notes_ = {"one"};
    warnings_ = {fmt::format("{} cells", cells)};
  }
  static constexpr double companion_fails_at = 3000;
  inline static std::vector<std::string> files;  // checkpoints of solves
  using RefinedSimulation::make_companion;
  Result outline() const override { return {}; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override { return memory_budget(runtime); }
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime&) const override {
    facts.problem = fmt::format("{} cells", cells_);
    facts.memory_bytes = 1000;
  }
  void foresee(Plan& plan, const MemoryBudget&, const Runtime&) const override { foresee_errors(plan); }
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override {
    Rounds rounds(accuracy_);
    const auto solved = solved_in_rounds(result, runtime, rounds);
    StatedErrors stated(accuracy_, solved.why);
    Dataset data;
    data.dimensions = {{"datum", 1}};
    data.variables = {{"value", "1", "a value", {"datum"}, std::vector<double>{solved.mine}, {}},
                      {"value_error", "1", "its error", {"datum"}, errors_of(solved, stated), {}}};
    tell(result, solved, stated, rounds);
    return data;
  }
  io::Content model(bool) const override { return Dataset{}; }

  friend RefinedSimulation<Halving, double>;
  static constexpr auto errors_beside = ErrorsBeside::walls;
  static bool converged(double value) { return value > 0; }
  std::uint64_t cells_of_run() const { return static_cast<std::uint64_t>(cells_); }
  double solved(const Runtime& runtime) const {
    if (!runtime.checkpoint.file.empty()) files.push_back(runtime.checkpoint.file.string());
    if (cells_ == without_memory_ && cells_ == 4000) throw std::bad_alloc();
    if (cells_ == without_memory_) throw MemoryError("run", "would need 9 TB, 1 GB available");
    return cells_;
  }
  std::unique_ptr<Halving> on_companion(std::array<bool, 3> coarser, bool) const {
    if (cells_ == companion_fails_at) throw InputError("mesh", "it has one cell");
    return std::make_unique<Halving>(0, 0.01, coarser[1] ? 500 : 400);
  }
  std::unique_ptr<Halving> finer(const FinerWish&, const Runtime&) const {
    return continued_by(std::make_unique<Halving>(without_memory_, 1, 2 * cells_));
  }
  std::vector<double> errors_of(const Solved& solved, StatedErrors& stated) const {
    JudgedData judged{"value", {solved.why.empty() ? 40 / solved.mine : std::nan("")}, {1.0}, {0}, {}};
    judged.place = [](std::size_t) { return "1"; };
    return stated.of(judged);
  }

  double without_memory_, cells_;
};

TEST(RoundsOfRefining, KeepTheDataOfTheRoundBeforeWhereMemoryRunsOut) {
  for (const double without : {2000, 4000}) {
    Halving first(without);
    first.make_companion();
    const auto result = first.run();
    const double kept = without / 2;
    EXPECT_EQ(result.data.real("value")[0], kept);
    EXPECT_EQ(result.data.real("value_error")[0], 40 / kept);
    EXPECT_EQ(result.report.problem, fmt::format("{} cells", kept));
    EXPECT_THAT(result.report.notes, testing::Contains("one"));
    EXPECT_THAT(result.report.warnings,
                testing::Contains(HasSubstr(without == 2000 ? "more memory than there is: would need 9 TB"
                                                            : "no memory left for the solve")));
    EXPECT_EQ(result.attributes.at("error_kept"), "false");
  }
  EXPECT_THROW(Halving(1000).run(), MemoryError);
}

TEST(RoundsOfRefining, ArePartsOfTheCheckpoint) {
  const testing_support::TemporaryFolder folder;
  Runtime runtime;
  runtime.checkpoint.file = folder / "run.checkpoint";
  runtime.checkpoint.resume = true;
  Halving::files.clear();
  Halving first(0);
  first.make_companion();
  const auto result = first.run(runtime);
  const auto part = [&](int n) {
    return (parts_beside(runtime.checkpoint.file) / std::to_string(n)).string();
  };
  EXPECT_THAT(Halving::files, testing::ElementsAre(part(1), part(2), part(3), part(4)));
  EXPECT_THAT(result.report.warnings, testing::Contains(HasSubstr("there is no checkpoint")));
}

TEST(RoundsOfRefining, SayThatNoErrorIsStatedWhereThereIsNoCompanion) {
  Halving first(0, 0.001, Halving::companion_fails_at);
  first.make_companion();
  EXPECT_THAT(first.check().text(), HasSubstr("no error will be stated: on cells twice as wide, mesh"));
  const auto result = first.run();
  EXPECT_TRUE(std::isnan(result.data.real("value_error")[0]));
  EXPECT_EQ(result.attributes.at("error_from"), "not resolved");
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
