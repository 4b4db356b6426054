#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "terrane/physics/all.hpp"

namespace terrane {
namespace {

namespace fs = std::filesystem;

TEST(AllPhysics, AreTheFoldersThatHaveAPhysicsHeader) {
  std::set<std::string> folders, names;
  for (const auto& entry : fs::directory_iterator(fs::path(TERRANE_SOURCE_DIR) / "src/terrane/physics"))
    if (fs::exists(entry.path() / "physics.hpp")) folders.insert(entry.path().filename());
  const auto registry = physics::all();
  for (const auto& physics : registry.all()) names.emplace(physics.name);
  EXPECT_EQ(names, folders);
  EXPECT_EQ(names.size(), registry.all().size());
}

TEST(AllInversions, AreTheFoldersThatHaveAnInverse) {
  std::set<std::string> folders, names;
  for (const auto& entry : fs::directory_iterator(fs::path(TERRANE_SOURCE_DIR) / "src/terrane/physics"))
    if (fs::exists(entry.path() / "inverse/inverse.hpp")) folders.insert(entry.path().filename());
  for (const auto& physics : physics::inversions().registry().all()) names.emplace(physics.name);
  EXPECT_EQ(names, folders);
  const auto page = physics::inversions().job();
  EXPECT_TRUE(page.serve);
  EXPECT_THAT(page.summary, ::testing::HasSubstr("gravity and its gradients, magnetic fields"));
}

TEST(AllInversions, OfAProgramWithoutAnySaySo) {
  inversion::Inverses none;
  none.leave_out("gravity");
  EXPECT_TRUE(none.job().sections.empty());
  try {
    none.registry().find("gravity");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem(), "this program was built without \"gravity\"");
    EXPECT_EQ(error.next(), "Build all physics (make build).");
  }
}

TEST(AllPhysics, ThatAProgramWasBuiltWithoutAreNamedAsSuch) {
  Registry registry;
  registry.leave_out("acoustic");
  EXPECT_THAT([&] { registry.find("acoustic"); }, ::testing::ThrowsMessage<InputError>(::testing::AllOf(
                                                      ::testing::HasSubstr("was built without \"acoustic\""),
                                                      ::testing::HasSubstr("make build"))));
  EXPECT_THAT([&] { registry.find("acoustics"); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("not known")));
}

TEST(AllPhysics, CanBeMadeSummedUpAndServed) {
  const auto registry = physics::all();
  for (const auto& physics : registry.all()) {
    EXPECT_FALSE(physics.summary.empty()) << physics.name;
    EXPECT_FALSE(physics.sections.empty()) << physics.name;
    EXPECT_TRUE(physics.make) << physics.name;
    EXPECT_TRUE(physics.serve) << physics.name;
  }
}

}  // namespace
}  // namespace terrane
