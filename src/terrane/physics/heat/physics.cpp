#include "terrane/physics/heat/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/heat/simulation.hpp"

namespace terrane::heat {

namespace {

/// Keys of a general table, with another example for one of them in the template.
std::vector<Key> with_example(std::span<const Key> keys, std::string_view name, std::string_view example) {
  std::vector<Key> all(keys.begin(), keys.end());
  for (auto& key : all)
    if (key.name == name) key.example = example;
  return all;
}

}  // namespace

Physics physics() {
  Physics heat;
  heat.name = "heat";
  heat.summary = "Conduction of heat in a box of rock.";
  for (const auto& all : {mesh_sections(), survey_sections(), sections()})
    heat.sections.insert(heat.sections.end(), all.begin(), all.end());
  for (auto& section : heat.sections)
    if (section.path == "survey" && section.kind.empty()) {
      static const auto keys = with_example(section.keys, "height", "");  // above the box
      section.keys = keys;
    } else if (section.kind == "list") {
      static const auto keys =
          with_example(section.keys, "stations", "[[11000, 11000, -3000], [11000, 11000, -1000]]");
      section.keys = keys;
    }
  heat.sections.push_back(Runtime::section());
  static const auto output = with_example(Output::section().keys, "files", "[\"temperature.nc\"]");
  heat.sections.push_back(Output::section());
  heat.sections.back().keys = output;
  heat.kinds = {{"mesh", "regular"}, {"survey", "list"}};
  heat.make = Simulation::from_job;
  heat.serve = serve;
  return heat;
}

}  // namespace terrane::heat
