#include "terrane/simulation/describe.hpp"

#include <fmt/format.h>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/simulation/provenance.hpp"

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

Result outline_of(std::string_view physics, const std::string& job, Dataset data) {
  Result result;
  result.attributes = provenance(physics, job);
  result.data = std::move(data);
  return result;
}

void conclude(Result& result, std::string_view physics, const std::string& job, Dataset data) {
  result.attributes.merge(provenance(physics, job));
  result.attributes["device"] = result.report.device;
  result.attributes["method"] = result.report.method;
  result.data = std::move(data);
  for (const auto& [name, text] : result.attributes) result.data.attributes.push_back({name, text});
}

}  // namespace terrane
