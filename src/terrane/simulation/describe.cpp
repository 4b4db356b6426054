#include "terrane/simulation/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/io/dataset.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

void copy_attributes(Result& result) {
  for (const auto& [name, text] : result.attributes) {
    auto& all = result.data.attributes;
    const auto there =
        std::find_if(all.begin(), all.end(), [&name = name](const Attribute& a) { return a.name == name; });
    if (there != all.end()) there->value = text;
    else all.push_back({name, text});
  }
}

}  // namespace

MemoryBudget memory_budget(const Runtime& runtime) {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : MemoryBudget{};
}

std::string device_text(const Runtime& runtime) {
  const auto device = resolve(runtime.device);
  const auto each = device.kind == Device::Kind::cuda
                        ? device_name(device)
                        : fmt::format("{}, {} threads", to_string(device), thread_count(runtime.threads));
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  return ranks == 1 ? each : fmt::format("{} ranks, each {}", ranks, each);
}

Result outline_of(std::string_view physics, const JobOrigin& job, Dataset data) {
  Result result;
  result.attributes = provenance(physics, job);
  result.data = std::move(data);
  copy_attributes(result);
  return result;
}

std::vector<std::string> add_cell_axes(Dataset& data, const TensorMesh& mesh) {
  std::vector<std::string> on;
  const std::pair<const char*, const std::vector<double>*> axes[3] = {
      {"up", &mesh.up()}, {"northing", &mesh.northing()}, {"easting", &mesh.easting()}};
  for (const auto& [name, faces] : axes) {
    std::vector<double> centres;
    for (std::size_t n = 0; n + 1 < faces->size(); ++n)
      centres.push_back(((*faces)[n] + (*faces)[n + 1]) / 2);
    const auto dimension = fmt::format("cell_{}", name), face = fmt::format("face_{}", name);
    on.push_back(dimension);
    data.dimensions.push_back({dimension, centres.size()});
    data.coordinates.push_back({dimension,
                                "m",
                                fmt::format("{} of the centre of a cell", name),
                                {dimension},
                                std::move(centres),
                                {}});
    data.dimensions.push_back({face, faces->size()});
    data.coordinates.push_back(
        {face, "m", fmt::format("{} of the faces of cells", name), {face}, *faces, {}});
  }
  return on;
}

void begin_with(RunFacts& facts, const std::vector<std::string>& notes,
                const std::vector<std::string>& warnings) {
  facts.notes.insert(facts.notes.begin(), notes.begin(), notes.end());
  facts.warnings.insert(facts.warnings.begin(), warnings.begin(), warnings.end());
}

void conclude(Result& result, std::string_view physics, const JobOrigin& job, Dataset data) {
  result.attributes.merge(provenance(physics, job));
  result.attributes["device"] = result.report.device;
  result.attributes["method"] = result.report.method;
  result.data = std::move(data);
  copy_attributes(result);
}

void add_words(Result& result, const std::vector<io::TextColumn>& words, RunFacts& facts) {
  auto& data = result.data;
  const auto place = std::find_if(data.dimensions.begin(), data.dimensions.end(), [](const Dimension& one) {
    return one.name == "receiver" || one.name == "station";
  });
  std::vector<std::string> on;
  std::size_t stations = 0;
  if (place != data.dimensions.end()) {
    on = {place->name};
    stations = place->size;
  } else if (io::has_stations(data)) {  // the stations are nodes of a grid
    on = {"northing", "easting"};
    stations = data.dimension(on[0])->size * data.dimension(on[1])->size;
  }
  std::string left_out;
  for (const auto& column : words) {
    const auto* taken = data.find(column.name);
    if (taken != nullptr && taken->role == VariableRole::given)
      continue;  // the data set has this survey column already, as numbers
    if (taken != nullptr || on.empty() || column.values.size() != stations)
      left_out += (left_out.empty() ? "" : ", ") + column.name;
    else data.coordinates.push_back({column.name, "", column.name, on, column.values, {}});
  }
  if (!left_out.empty())
    facts.notes.push_back("survey: columns of words stay out of the results: " + left_out);
}

}  // namespace terrane
