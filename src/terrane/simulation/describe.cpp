#include "terrane/simulation/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

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
  if (result.data.variables.empty()) return;  // fields at stations
  for (const auto& [name, text] : result.attributes) result.data.attributes.push_back({name, text});
}

void add_words(Result& result, const std::vector<io::TextColumn>& words, RunFacts& facts) {
  const bool at_stations = result.data.variables.empty();
  const auto& data = result.data;
  const auto receivers = std::find_if(data.dimensions.begin(), data.dimensions.end(),
                                      [](const Dimension& one) { return one.name == "receiver"; });
  const auto is_taken = [&](const std::string& name) {
    if (!at_stations) return data.find(name) != nullptr;
    return result.survey.find(name) != nullptr ||
           std::any_of(result.fields.begin(), result.fields.end(),
                       [&](const Column& one) { return one.name == name; });
  };
  std::string left_out;
  for (const auto& column : words) {
    const bool fits = at_stations
                          ? !result.survey.grid && column.values.size() == result.survey.size()
                          : receivers != data.dimensions.end() && column.values.size() == receivers->size;
    if (at_stations && is_taken(column.name)) continue;  // numbers, which are columns of the survey
    if (!fits || is_taken(column.name)) left_out += (left_out.empty() ? "" : ", ") + column.name;
    else if (at_stations) result.words.push_back(column);
    else result.data.coordinates.push_back({column.name, "", column.name, {"receiver"}, column.values, {}});
  }
  if (!left_out.empty())
    facts.notes.push_back("survey: columns of words stay out of the results: " + left_out);
}

}  // namespace terrane
