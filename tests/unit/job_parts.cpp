// Several simulations over one earth: what each of them reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/job/config.hpp"

namespace terrane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

constexpr std::string_view tour = R"(title = "two fields"
[mesh.coarse]
shape = [2, 2, 2]
[mesh.fine]
shape = [8, 8, 8]
[model]
overlap = "add"
[[model.body]]
density = 1
[survey]
height = 1
count = 3
[survey.waves]
height = 2
[source]
at = 7
[[simulation]]
physics = "pull"
mesh = "coarse"
[[simulation]]
name = "waves"
physics = "wave"
mesh = "fine"
threads = 1
)";

/// "pull" reads no sources.
std::vector<Config::Part> parts(std::string_view text, const Config::Options& options = {}) {
  return Config::parse(text, "tour.toml", {}, options).parts([](const Config& simulation) {
    std::vector<std::string> tables{"mesh", "model", "survey", "simulation", "output"};
    if (simulation.text("physics") == "wave") tables.push_back("source");
    return tables;
  });
}

std::string with(std::string_view old_text, std::string_view new_text) {
  std::string text(tour);
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

TEST(Parts, AreJobsOfOneSimulationEach) {
  const auto all = parts(tour);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "pull");
  EXPECT_EQ(all[1].name, "waves");
  EXPECT_THAT(all[0].job.table("mesh").counts("shape", 3), ElementsAre(2, 2, 2));
  EXPECT_THAT(all[1].job.table("mesh").counts("shape", 3), ElementsAre(8, 8, 8));
  for (const auto& [name, job] : all) {
    EXPECT_EQ(job.table("model").tables("body").size(), 1u);
    EXPECT_EQ(job.table("model").text("overlap"), "add");
    EXPECT_FALSE(job.has_parts());
  }
  EXPECT_FALSE(all[0].job.has("source"));
  EXPECT_EQ(all[1].job.table("source").number("at"), 7);
  EXPECT_THAT(all[1].job.source(), HasSubstr("# simulation: waves"));
}

TEST(Parts, TakeTheTableOfTheirNameAndWhatStandsOutsideOfIt) {
  const auto all = parts(tour);
  EXPECT_EQ(all[0].job.table("survey").number("height"), 1);
  EXPECT_FALSE(all[0].job.table("survey").has("waves"));
  EXPECT_EQ(all[1].job.table("survey").number("height"), 2);
  EXPECT_EQ(all[1].job.table("survey").number("count"), 3);
}

TEST(Parts, KnowTheLinesOfTheFile) {
  const auto all = parts(tour);
  EXPECT_THAT(message([&] { all[1].job.table("survey").text("height"); }),
              HasSubstr("tour.toml:14: survey.height"));
}

TEST(Parts, RememberByThemselvesWhatWasRead) {
  const auto all = parts(tour);
  for (const auto* key : {"mesh", "model", "survey"}) all[0].job.table(key);
  EXPECT_THAT(message([&] { all[0].job.finish(); }), HasSubstr("this key has no effect"));
}

TEST(Parts, SayWhatIsNotThere) {
  EXPECT_THAT(message([] { parts(with("mesh = \"fine\"", "mesh = \"fien\"")); }),
              HasSubstr("tour.toml:23: simulation[1].mesh: there is no [mesh.fien]. Did you mean"));
  EXPECT_THAT(message([] { parts(with("mesh = \"fine\"\n", "")); }),
              HasSubstr("no simulation takes this table"));
  EXPECT_THAT(message([] { parts(with("name = \"waves\"", "name = \"pull\"")); }),
              HasSubstr("two simulations \"pull\""));
  EXPECT_THAT(message([] { parts(with("name = \"waves\"", "name = \"../x\"")); }),
              HasSubstr("is no name for files"));
  EXPECT_THAT(message([] { parts(with("[source]", "[sauce]")); }),
              HasSubstr("no simulation of this job reads"));
}

TEST(Parts, TakeSurveysByName) {
  constexpr std::string_view surveys = R"([[survey]]
name = "map"
height = 100
[[survey]]
name = "line"
height = 1
[[simulation]]
name = "one"
physics = "pull"
survey = "map"
[[simulation]]
name = "line"
physics = "pull"
)";
  const auto all = parts(surveys);
  EXPECT_EQ(all[0].job.table("survey").number("height"), 100);
  EXPECT_EQ(all[1].job.table("survey").number("height"), 1) << "of its own name";
  EXPECT_FALSE(all[0].job.has("mesh")) << "its physics plans one";
  const auto refusal = [&](std::string_view old_text, std::string_view new_text) {
    std::string text(surveys);
    text.replace(text.find(old_text), old_text.size(), new_text);
    return message([&] { parts(text); });
  };
  EXPECT_THAT(refusal("survey = \"map\"", "survey = \"mop\""), HasSubstr("Did you mean \"map\"?"));
  EXPECT_THAT(refusal("name = \"line\"\nheight", "height"),
              HasSubstr("tour.toml:4: survey: several of them"));
  EXPECT_THAT(refusal("name = \"line\"\nheight", "name = \"map\"\nheight"), HasSubstr("two named \"map\""));
  EXPECT_THAT(refusal("survey = \"map\"", ""), HasSubstr("does not say which of [survey.line]"));
}

TEST(Parts, AreSetOnTheCommandLineByNameOrAllAtOnce) {
  Config::Options options;
  options.sets = {"simulation.waves.threads=2", "simulation.memory=5", "mesh.fine.shape=[1, 1, 1]"};
  const auto all = parts(tour, options);
  EXPECT_EQ(all[1].job.table("simulation").count("threads"), 2u);
  EXPECT_FALSE(all[0].job.table("simulation").has("threads"));
  for (const auto& part : all) EXPECT_EQ(part.job.table("simulation").count("memory"), 5u);
  EXPECT_THAT(all[1].job.table("mesh").counts("shape", 3), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace terrane
