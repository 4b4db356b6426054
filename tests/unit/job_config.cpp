#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/files.hpp"
#include "terrane/job/config.hpp"

namespace terrane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

constexpr Key survey_keys[] = {
    {"region", "list of 4 lengths", "", "West, east, south, north."},
    {"height", "length", "\"100 m\"", "Up of the stations."},
    {"clearance", "length", "none", "Height above the ground."},
    {"shape", "2 counts", "", "Stations along easting and northing."},
};

Config survey(std::string_view text, const Config::Options& options = {}) {
  return Config::parse(text, "job.toml", {}, options).table("survey").describe({survey_keys});
}

TEST(Config, ReadsLengthsWithUnitsOrInMetres) {
  const auto table = survey("[survey]\nregion = [0, 22, \"500 m\", 22.5, \"km\"]\nheight = \"0.1 km\"\n");
  EXPECT_EQ(table.number("height", Quantity::length), 100.0);
  EXPECT_THAT(table.numbers("region", Quantity::length, 4), ElementsAre(0, 22e3, 500, 22.5e3));
}

TEST(Config, DoesNotTakeAProductOfUnitsForAnotherUnit) {
  // Without its blank "m m" would be a millimetre.
  for (const char* height : {"1 m m", "1 k m", "1 c m"})
    EXPECT_THAT(
        message([&] {
          survey(fmt::format("[survey]\nheight = \"{}\"\n", height)).number("height", Quantity::length);
        }),
        HasSubstr("is not a unit known here"))
        << height;
}

TEST(Config, RefusesKeysOfThousandsOfPartsBeforeAnybodyFollowsThem) {
  const auto dots = [](int parts) {
    std::string key = "a";
    for (int p = 1; p < parts; ++p) key += ".a";
    return key;
  };
  const auto refused = [](const std::string& text) {
    EXPECT_THAT(message([&] { Config::parse(text); }), HasSubstr("tables are nested more than 100 deep"))
        << text.substr(0, 60);
  };
  refused("\n" + dots(15000) + " = 1\n");
  refused("[" + dots(15000) + "]\nx = 1\n");
  refused("x = {" + dots(60) + " = {" + dots(60) + " = 1}}\n");
  refused("t = {x = \"\"\"a\"\"\"\", " + dots(200) + " = 1}\n");  // two texts of quotes only
  refused("x = \"#\"\ny = {z = '#', " + dots(200) + " = 1}\n");
  EXPECT_THAT(message([&] {
                Config::parse("", "job.toml", {}, {{dots(15000) + "=1"}, {}});
              }),
              HasSubstr("tables are nested more than 100 deep"));
  EXPECT_THAT(message([&] { Config::parse("\n\n" + dots(102) + " = 1"); }), HasSubstr("job.toml:3: tables"));

  // Dots of numbers, texts and comments do not count, nor do those of many keys.
  std::string many = "# " + dots(500) + "\nx = [", more;
  for (int n = 0; n < 500; ++n) many += "1.5, ", more += "k" + std::to_string(n) + ".a = 1\n";
  EXPECT_NO_THROW(Config::parse(many + "2.5]\nt = \"" + dots(500) + "\"\nl = \"\"\"\n" + dots(500) +
                                "\n\"\"\"\n" + more));
}

TEST(Config, RefusesZeroBytesInNamesOfFiles) {
  const auto table = survey("[survey]\nregion = [\"b.nc\", \"a\\u0000b.nc\"]\nheight = \"a\\u0000b\"\n");
  EXPECT_THAT(message([&] { table.texts("region"); }),
              HasSubstr("survey.region: entry 2: the text holds a zero byte"));
  EXPECT_THAT(message([&] { table.texts("height"); }),
              HasSubstr("survey.height: the text holds a zero byte"));
  EXPECT_THAT(message([&] { Config::parse(std::string_view("a = 1\nb\0", 8)); }),
              HasSubstr("job.toml:2: a zero byte"));
}

TEST(Config, IsNotReadFromWhatNeverEnds) {
  EXPECT_THAT(message([] { Config::read("/dev/zero"); }), HasSubstr("are too many for a job file"));
}

TEST(Config, GivesTheDefaultOfTheListAndKnowsWhatMayBeAbsent) {
  const auto table = survey("[survey]\n");
  EXPECT_EQ(table.number("height", Quantity::length), 100.0);
  EXPECT_FALSE(table.optional_number("clearance", Quantity::length));
}

TEST(Config, NamesLineAndNearestSpellingOfAnUnknownKey) {
  EXPECT_THAT(message([] { survey("[survey]\nshape = [1, 1]\nhieght = 5\n"); }),
              AllOf(HasSubstr("job.toml:3: survey.hieght"), HasSubstr("Did you mean \"height\"?"),
                    HasSubstr("Allowed in [survey]: region, height, clearance, shape")));
  const auto of_a_long_one =
      message([] { survey("[survey]\nshape = [1, 1]\n\"" + std::string(100'000, 'k') + "\" = 5\n"); });
  EXPECT_THAT(of_a_long_one, HasSubstr("job.toml:3: survey.kkkk"));
  EXPECT_LT(of_a_long_one.size(), 1000U);
}

TEST(Config, TakesTheFormerNameOfAKeyWithANoteAndBlamesItWhereItStands) {
  static constexpr Key keys[] = {{"equation", "text", "\"scalar\"", "Of waves.", {}, "rock"}};
  const auto read = [](const char* text) {
    return Config::parse(text, "job.toml").table("simulation").describe({keys});
  };
  const auto table = read("[simulation]\nrock = \"tilted\"\n");
  EXPECT_TRUE(table.has("equation"));
  EXPECT_EQ(table.text("equation"), "tilted");
  EXPECT_NO_THROW(table.finish());
  EXPECT_THAT(table.notes(), ElementsAre("job.toml:2: simulation.rock: this key is now called equation"));
  EXPECT_THAT(message([&] { table.choice("equation", {"scalar"}); }),
              HasSubstr("job.toml:2: simulation.rock"));
  EXPECT_THAT(message([&] { read("[simulation]\nrock = \"a\"\nequation = \"b\"\n"); }),
              AllOf(HasSubstr("job.toml:2"), HasSubstr("now called equation, which is there, too")));
  EXPECT_TRUE(read("[simulation]\nequation = \"b\"\n").notes().empty());
}

TEST(Config, SaysWhatAMissingKeyIsAndWhereItBelongs) {
  EXPECT_THAT(message([] { survey("\n[survey]\n").numbers("region", Quantity::length, 4); }),
              AllOf(HasSubstr("job.toml:2: survey.region: missing"), HasSubstr("West, east, south, north")));
}

TEST(Config, RefusesWrongTypesCountsAndNumbersWithTheirLine) {
  const auto table =
      survey("[survey]\nregion = [1, 2, 3]\nheight = \"tall\"\nshape = [0, 1.5]\nclearance = nan\n");
  EXPECT_THAT(message([&] { table.numbers("region", Quantity::length, 4); }),
              HasSubstr("job.toml:2: survey.region: 4 numbers are needed, 3 given"));
  EXPECT_THAT(message([&] { table.number("height", Quantity::length); }),
              AllOf(HasSubstr("job.toml:3: survey.height: \"tall\" is not a number"), HasSubstr("22 km")));
  EXPECT_THAT(message([&] { table.counts("shape", 2); }), HasSubstr("is not a whole number of at least 1"));
  EXPECT_THAT(message([&] { table.optional_number("clearance", Quantity::length); }),
              HasSubstr("nan is not a finite number"));
  EXPECT_THAT(message([] { survey("[survey]\nheight = \"5 mGal\"\n").number("height", Quantity::length); }),
              AllOf(HasSubstr("\"mGal\" is not a unit"), HasSubstr("Allowed: m, km")));
}

TEST(Config, ExpandsRunsOfEqualWidthsAndRefusesRunsThatWouldFillTheMemory) {
  const auto table = survey("[survey]\nregion = [\"2*20\", 5, \"1*1 km\"]\nshape = [\"1000000000000*1\"]");
  EXPECT_THAT(table.numbers("region", Quantity::length), ElementsAre(20, 20, 5, 1000));
  EXPECT_THAT(message([&] { table.numbers("shape"); }), HasSubstr("asks for more than"));
}

TEST(Config, TakesOneNumberWithoutBracketsAsAListOfOne) {
  EXPECT_THAT(survey("[survey]\nregion = \"2 km\"\n").numbers("region", Quantity::length), ElementsAre(2000));
  EXPECT_THAT(survey("[survey]\nregion = \"3*20\"\n").numbers("region", Quantity::length),
              ElementsAre(20, 20, 20));
  EXPECT_THAT(survey("[survey]\nshape = 5\n").counts("shape", 1), ElementsAre(5));
  EXPECT_THAT(message([] { survey("[survey]\nregion = 5\n").numbers("region", Quantity::length, 4); }),
              HasSubstr("4 numbers are needed, 1 given"));
  EXPECT_THAT(message([] { survey("[survey]\nregion = \"far\"\n").numbers("region", Quantity::length); }),
              HasSubstr("a list of numbers is needed here, not a text"));
}

TEST(Config, TakesOverridesFromTheCommandLine) {
  Config::Options options;
  options.sets = {"survey.height=\"2 km\"", "survey.shape=[4, 5]", "output.folder=maps"};
  const auto job = Config::parse("[survey]\nheight = 1\n", "job.toml", {}, options);
  EXPECT_EQ(job.table("survey").number("height", Quantity::length), 2000);
  EXPECT_EQ(job.table("output").text("folder"), "maps");
  EXPECT_THAT(job.source(), HasSubstr("# --set survey.shape=[4, 5]"));
  options.sets = {"survey.height.more=1"};
  EXPECT_THAT(message([&] { Config::parse("[survey]\nheight = 1\n", "job.toml", {}, options); }),
              HasSubstr("--set survey.height.more=1: nothing can stand below \"survey.height\""));
}

TEST(Config, OverridesReachIntoArraysOfTables) {
  Config::Options options;
  options.sets = {"body.1.density=7"};
  const auto bodies =
      Config::parse("[[body]]\ndensity = 1\n[[body]]\ndensity = 2\n", "job.toml", {}, options).tables("body");
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_EQ(bodies[0].number("density"), 1);
  EXPECT_EQ(bodies[1].number("density"), 7);
  options.sets = {"body.2.density=7"};
  EXPECT_THAT(message([&] { Config::parse("[[body]]\n[[body]]\n", "job.toml", {}, options); }),
              HasSubstr("from 0 to 1"));
}

TEST(Config, PutsArgumentsIntoTextsAndAsksForTheMissingOne) {
  Config::Options options;
  options.arguments["data"] = "/somewhere";
  EXPECT_EQ(Config::parse("file = \"${data}/a.csv\"", "job.toml", "folder", options).path("file"),
            "/somewhere/a.csv");
  EXPECT_THAT(message([] { Config::parse("[survey]\nfile = \"${data}/a.csv\""); }),
              AllOf(HasSubstr("job.toml:2: survey.file: the job needs the argument \"data\""),
                    HasSubstr("--data FOLDER")));
}

TEST(Config, PathsStartFromTheFolderOfTheJob) {
  const auto job = Config::parse("file = \"a.csv\"", "job.toml", "jobs/today");
  EXPECT_EQ(job.path("file"), "jobs/today/a.csv");
  EXPECT_THAT(message([&] { job.input_file("file"); }),
              HasSubstr("job.toml:1: file: the file \"jobs/today/a.csv\" does not exist"));
}

TEST(Config, FindsKeysThatNobodyRead) {
  const auto job = Config::parse("[mesh]\nkind = \"prisms\"\nshape = [1, 2]\n");
  job.table("mesh").text("kind");
  EXPECT_THAT(message([&] { job.finish(); }), HasSubstr("job.toml:3: mesh.shape: this key has no effect"));
}

TEST(Config, PointsAtTheLineThatIsNotToml) {
  EXPECT_THAT(message([] { Config::parse("[mesh]\nshape = [1, 2\nbox = 3\n"); }), HasSubstr("job.toml:3"));
  EXPECT_THAT(message([] { Config::parse("a = 1\na = 2\n"); }), HasSubstr("job.toml:2"));
}

TEST(Config, TakesWordsBeyondAsciiOnTheCommandLineWithoutQuotes) {
  Config::Options options;
  options.sets = {"title=gr\u00F6\u00DFe", "other=[1, 2]"};
  const auto job = Config::parse("", "job.toml", {}, options);
  EXPECT_EQ(job.text("title"), "gr\u00F6\u00DFe");
}

TEST(Config, RefusesWhatItsParserTakesForImpossible) {
  const auto said = [](std::string_view text) -> std::string {
    try {
      Config::parse(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(said("[## mesh\n"), testing::HasSubstr("job.toml:1: this is not TOML"));
  EXPECT_THAT(said("a = 1\n[mesh # here]\n"), testing::HasSubstr("job.toml:2: "));
  EXPECT_THAT(said("\xEF\xB3\xBF = 1\n"), testing::HasSubstr("this is not TOML"));
  for (const char* name :
       {"[.mesh]", "[ .mesh]", "[[.mesh]]", "[\n", "[[[a]]]", "[/a]", "[\xC2\xA0", "\xC2\xA0[#"})
    EXPECT_THAT(said(name), testing::HasSubstr("this is not TOML")) << name;
  EXPECT_THAT(said("a = [1]\n[]\n"), testing::HasSubstr("job.toml:2"));
  EXPECT_THAT(said("gr\u00F6\u00DFe = 1\n"), testing::HasSubstr("a letter beyond ASCII without quotes"));
  EXPECT_THAT(said("b = 1\na = " + std::string(400000, '"') + "\n"),
              testing::HasSubstr("job.toml:2: a row of more than 100 quotes"));
  for (const char* letters : {"\u039Bb", "\u00E9", "\u3001", "\uFF01"})
    for (const char* before : {"0", "06=", "2000-01-01T", "-"})
      EXPECT_THAT(said(std::string("b = 1\na = ") + before + "\"" + letters + "\"\n"),
                  testing::HasSubstr("job.toml:2: "));
  for (std::size_t count = 80; count < 140; ++count)  // a date that is looked back over
    EXPECT_THAT(said("a = 2000" + std::string(count, '_') + "-01-01 05:00:00\n"),
                testing::HasSubstr("job.toml:1: "));
  EXPECT_THAT(said("a = [1, }\n"), testing::HasSubstr("'}' closes nothing"));
  EXPECT_THAT(said("a = {b = 1]\n"), testing::HasSubstr("']' closes nothing"));
  // These are.
  EXPECT_EQ(said("a = [{b = [1, {c = 2}]}, {}]\n[[d]]\n"), "accepted");
  EXPECT_EQ(said("\uFEFFa = \"gr\u00F6\u00DFe\"  # gr\u00F6\u00DFe\n"), "accepted");
  EXPECT_EQ(said("[mesh] # here\n"), "accepted");
  EXPECT_EQ(said("a = \"" + std::string(1000, 'a') + "\"  # " + std::string(1000, '-') + "\n"), "accepted");
  EXPECT_EQ(said("a = [ # numbers\n  [ # more\n 1]]\n[[b]] # tables\nc = \"#[\"\n[\"d#e\"]\n"), "accepted");
}

TEST(Config, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(Config::read("no/such/job.toml"), FileError);
  EXPECT_THROW(Config::read("."), FileError);
}

}  // namespace
}  // namespace terrane
