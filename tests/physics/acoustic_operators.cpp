// Modelling as a function of the rock, and recorded gathers at the places of a problem.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/operators.hpp"
#include "terrane/physics/acoustic/physics.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

namespace terrane::acoustic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

const Device one_processor{Device::Kind::cpu, -1};

Problem two_flat_shots() {
  auto p = test::rough_box({27, 1, 30}, 0.25);
  p.shots.push_back(p.shots[0]);
  p.shots[1].sources[0][0] += 60;
  p.settle();
  return p;
}

/// None at the sides of the mesh: layers are made of the rock there, which is no unknown.
std::vector<double> small_change(const Problem& p) {
  auto change = test::Chance(5).list(p.velocity.size());
  const auto box = p.grid.box();
  for (Index k = 0, n = 0; k < box.last[0]; ++k)
    for (Index i = 0; i < box.last[2]; ++i, ++n) {
      const bool inside = k > 0 && k + 1 < box.last[0] && i > 0 && i + 1 < box.last[2];
      change[static_cast<std::size_t>(n)] *= inside ? 1e-8 : 0;
    }
  return change;
}

Problem changed(Problem p, const std::vector<double>& change, double times) {
  for (std::size_t n = 0; n < change.size(); ++n)
    p.velocity[n] = 1 / std::sqrt(1 / (p.velocity[n] * p.velocity[n]) + times * change[n]);
  return p;
}

// With the corrections of time dispersion, whose transposes are part of it.
TEST(AcousticOperators, TheAdjointOfBornModellingIsExactOverAllShots) {
  for (const bool exact : {false, true}) {
    auto p = two_flat_shots();
    p.exact_time = exact;
    Operators at(p, true, one_processor);
    const auto change = small_change(p), data = test::Chance(6).list(at.samples());
    EXPECT_NEAR(test::dot(at.born(change), data) / test::dot(change, at.adjoint(data)), 1, 1e-12) << exact;
  }
}

// Φ(m + h δm) = Φ + h ⟨g, δm⟩ + O(h²): with half of h a quarter of what is left.
TEST(AcousticOperators, TheGradientOfTheMisfitIsItsSlope) {
  const auto p = two_flat_shots();
  const auto change = small_change(p);
  const auto observed =
      Operators(changed(p, test::Chance(9).list(p.velocity.size()), 2e-8), true, one_processor).model();
  const auto here = Operators(p, true, one_processor).misfit(observed);
  const double slope = test::dot(here.gradient, change);
  const auto left = [&](double h) {
    return std::abs(Operators(changed(p, change, h), true, one_processor).misfit(observed).value -
                    here.value - h * slope);
  };
  const double far = left(0.02), near = left(0.01);
  EXPECT_NEAR(std::log2(far / near), 2, 0.05);
}

TEST(AcousticOperators, SayWhatMemoryTheyWantBeforeTheyTakeIt) {
  EXPECT_THAT(message([] { Operators(two_flat_shots(), true, one_processor, 1, 10'000); }),
              AllOf(HasSubstr("samples of gathers over"), HasSubstr("10 kB")));
}

TEST(AcousticOperators, DataOfAnotherSizeAreRefused) {
  Operators at(two_flat_shots(), false, one_processor);
  EXPECT_THROW(at.adjoint(std::vector<double>(7)), ShapeError);
  EXPECT_THROW(at.born(std::vector<double>(7)), ShapeError);
  EXPECT_THROW(at.send({std::vector<double>(7)}), ShapeError);
  EXPECT_THROW(at.send({std::vector<double>(7), std::vector<double>(7)}), ShapeError);
}

/// What was recorded of a pulse, every 4 ms, at receivers in another order.
io::Gathers recorded(const Problem& p, double step = 0.004) {
  io::Gathers g;
  g.step = step;
  g.samples = static_cast<std::size_t>(p.end / g.step) + 2;
  for (std::size_t s = p.shots.size(); s-- > 0;)
    for (const auto& receiver : p.shots[s].receivers) {
      g.source.push_back(p.shots[s].sources[0]);
      g.receiver.push_back(receiver);
      g.shot.push_back(static_cast<std::int32_t>(s));
      for (std::size_t n = 0; n < g.samples; ++n) {
        const double t = static_cast<double>(n) * g.step - 0.12, x = 40 * t;
        g.values.push_back(static_cast<float>((receiver[0] + static_cast<double>(s)) * std::exp(-x * x)));
      }
    }
  return g;
}

TEST(AcousticObserved, GathersOfAnyOrderAndStepFitThePlacesAndStepsOfAProblem) {
  const auto p = two_flat_shots();
  std::vector<std::string> notes;
  auto g = recorded(p);
  g.source.push_back({-1000, 0, 0});  // a shot that the problem does not have
  g.receiver.push_back({0, 0, 0});
  g.shot.push_back(9);
  g.values.resize(g.values.size() + g.samples);
  const auto data = fitted("a.sgy", g, p, notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("1 traces of other shots"));
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t n = 0; n < p.steps(); ++n) {
        const double t = static_cast<double>(n) * p.step - 0.12, x = 40 * t;
        const double scale = p.shots[s].receivers[r][0] + static_cast<double>(s);
        EXPECT_NEAR(data[s][n * 3 + r], scale * std::exp(-x * x), 1e-4 * scale) << s << " " << r << " " << n;
      }
}

TEST(AcousticObserved, ReceiversAndShotsAtOnePlaceTakeTheirTracesInTheOrderOfTheFile) {
  auto p = two_flat_shots();
  for (auto& shot : p.shots) shot.receivers.push_back(shot.receivers[0]);
  p.shots.push_back(p.shots[0]);
  std::vector<std::string> notes;
  io::Gathers g;
  g.step = p.step;
  g.samples = p.steps() + 1;
  for (const auto& shot : p.shots)
    for (const auto& receiver : shot.receivers) {
      g.source.push_back(shot.sources[0]);
      g.receiver.push_back(receiver);
      g.values.resize(g.values.size() + g.samples, static_cast<float>(g.source.size()));
    }
  const auto data = fitted("a.sgy", g, p, notes);
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(data[s][r], static_cast<double>(4 * s + r + 1));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("at one place take its traces in the order of the file"));
}

TEST(AcousticObserved, AGapIsOneAsFarAsASincReaches) {
  const auto p = two_flat_shots();
  std::vector<std::string> notes;
  auto g = recorded(p);
  const auto whole = fitted("a.sgy", g, p, notes);
  constexpr std::size_t lost = 10;
  g.values[g.samples + lost] = NAN;
  const auto some = fitted("a.sgy", g, p, notes, Gaps::kept);
  std::size_t gaps = 0;
  for (std::size_t s = 0; s < whole.size(); ++s)
    for (std::size_t n = 0; n < whole[s].size(); ++n) {
      if (!std::isnan(some[s][n])) {
        EXPECT_EQ(some[s][n], whole[s][n]);
        continue;
      }
      ++gaps;
      const double t = static_cast<double>(n / 3) * p.step / g.step;
      EXPECT_LE(std::abs(t - static_cast<double>(lost)), 20);
    }
  EXPECT_GT(gaps, 5U);
}

TEST(AcousticObserved, GeometryThatDoesNotFitIsAnErrorThatSaysWhere) {
  const auto p = two_flat_shots();
  std::vector<std::string> notes;
  const auto refused = [&](auto&& spoil) {
    auto g = recorded(p);
    spoil(g);
    return message([&] { fitted("a.sgy", g, p, notes); });
  };
  EXPECT_THAT(refused([](auto& g) { g.receiver[4][0] += 3; }),
              AllOf(HasSubstr("a.sgy"),
                    HasSubstr("no trace of shot 1 at 83.1, 0, 112.7 m and receiver 2 at 40, 0, 120 m"),
                    HasSubstr("The nearest is trace 5"), HasSubstr("receiver 43, 0, 120 m")));
  EXPECT_THAT(refused([](auto& g) { g.receiver[1] = g.receiver[0]; }),
              HasSubstr("traces 1 and 2 have the same source"));
  EXPECT_THAT(refused([](auto& g) { g.values[g.samples + 2] = NAN; }),
              HasSubstr("sample 3 of trace 2 is nan"));
  EXPECT_THAT(refused([](auto& g) { g.first = 0.1; }), HasSubstr("begin at 0.1 s"));
  EXPECT_THAT(refused([](auto& g) { g.step /= 2; }),
              AllOf(HasSubstr("traces end at"), HasSubstr("simulation.end")));
}

const char* const small_job = R"(
[mesh]
box = [0, 400, -5, 5, -300, 0]
shape = [40, 1, 30]
[[model.body]]
kind = "layer"
bottom = -300
top = 0
velocity_p = 2000
[[model.body]]
kind = "layer"
bottom = -300
top = -150
velocity_p = 2600
[survey]
kind = "lines"
start = [50, 0]
end = [350, 0]
spacing = 50
height = -10
[source]
at = [[100, 0, -10], [300, 0, -10]]
frequency = "18 Hz"
[simulation]
physics = "acoustic"
end = "0.4 s"
device = "cpu"
)";

Job made(const std::string& more) {
  Registry registry;
  registry.add(physics());
  return registry.make(Config::parse(small_job + more));
}

// Written every 4 ms and read back between them: the image of the gathers themselves, to what a sinc leaves.
TEST(AcousticObserved, GathersOfAJobInSegyAreMigratedLikeThoseOfEveryStep) {
  const testing_support::TemporaryFolder folder;
  const auto simulation = made("sample = \"4 ms\"").simulation;
  const double step = simulation->check().number("step");
  const auto gathers = simulation->run();
  EXPECT_DOUBLE_EQ(gathers.data.real("time").at(1), 0.004);
  ASSERT_EQ(std::get<std::vector<float>>(gathers.data.find("pressure")->values).size(), 2U * 101 * 7);
  io::write(folder / "a.sgy", io::Content(gathers.data));
  const auto every = made(fmt::format("step = {:.17g}", step)).simulation->run();
  const auto& all = std::get<std::vector<float>>(every.data.find("pressure")->values);
  ASSERT_GT(all.size(), 2U * 101 * 7);
  io::write(folder / "all.npy", io::Array{{all.size()}, {all.begin(), all.end()}, {}});
  const auto image = [&](const char* file) {
    return made(fmt::format("kind = \"migration\"\nsmoothing = \"50 m\"\nobserved = \"{}\"\nstep = {:.17g}",
                            folder / file, step))
        .simulation->run();
  };
  EXPECT_LT(test::apart(image("a.sgy").data.real("image"), image("all.npy").data.real("image")), 1e-3);
}

TEST(AcousticObserved, AJobSaysWhichSamplesAndGathersCannotBe) {
  EXPECT_THAT(message([&] { made("sample = \"20 ms\""); }),
              AllOf(HasSubstr("sample"), HasSubstr("too long for waves of up to 45 Hz")));
  const testing_support::TemporaryFolder folder;
  const auto path = folder.put("a.csv", "a\n1\n");
  EXPECT_THAT(message([&] { made("kind = \"migration\"\nobserved = \"" + path + "\""); }),
              AllOf(HasSubstr("observed"), HasSubstr("it holds no gathers")));
  const auto steps = static_cast<std::size_t>(made("").simulation->check().number("steps"));
  const auto refused = [&](const std::vector<std::size_t>& shape, double value) {
    std::vector<double> values(shape[0] * shape[1] * shape[2], value);
    io::write(folder / "a.npy", io::Array{{shape.begin(), shape.end()}, values, {}});
    return message(
        [&] { made("kind = \"migration\"\nsmoothing = 50\nobserved = \"" + (folder / "a.npy") + "\""); });
  };
  EXPECT_THAT(refused({2, steps, 6}, 0),
              AllOf(HasSubstr(fmt::format("has the shape [2, {}, 6]", steps)), HasSubstr("7 receivers")));
  EXPECT_THAT(refused({steps, 2, 7}, 0), HasSubstr("Give [shot, time, receiver]"));
  EXPECT_THAT(refused({2, steps, 7}, NAN), HasSubstr("nan in shot 1, step 1, trace 1"));
}

}  // namespace
}  // namespace terrane::acoustic
