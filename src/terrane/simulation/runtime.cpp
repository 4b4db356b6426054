#include "terrane/simulation/runtime.hpp"

#include "terrane/base/memory.hpp"

namespace terrane {

namespace {

constexpr Key keys[] = {
    {"device", "text", "\"auto\"",
     "auto takes a GPU where there is one and the run is worth it; cpu; cuda, or cuda:1 for the second "
     "GPU; debug runs GPU code on the CPU, to find faults."},
    {"threads", "count", "0", "Number of threads; 0: all that the machine has."},
    {"memory", "text", "none",
     "Most memory the run may take, \"2 GB\"; otherwise what the machine has left."},
};
constexpr Section description{"simulation", "", "Where it is computed.", keys};

}  // namespace

const Section& Runtime::section() { return description; }

Runtime Runtime::read(const Config& table) {
  Runtime runtime;
  try {
    runtime.device = device_from_text(table.text("device"));
  } catch (const InputError& error) {
    throw table.wrong("device", error.problem(), error.next());
  }
  runtime.threads = static_cast<int>(table.count("threads", 0, 65536));
  if (const auto limit = table.optional_text("memory")) {
    try {
      runtime.memory = bytes_from_text(*limit);
    } catch (const InputError& error) {
      throw table.wrong("memory", error.problem(), error.next());
    }
  }
  return runtime;
}

}  // namespace terrane
