#include "terrane/simulation/runtime.hpp"

#include "terrane/base/memory.hpp"

namespace terrane {

namespace {

constexpr Key keys[] = {
    {"device", "text", "\"auto\"",
     "auto: a GPU if there is one and the run is long enough; cpu; cuda, or cuda:1 for the second "
     "GPU; debug runs GPU code on the CPU, to find faults."},
    {"threads", "count", "0", "Number of threads; 0: all that the machine has."},
    {"memory", "text", "none",
     "Largest memory that the run may use, \"2 GB\"; by default the free memory of the machine."},
};
constexpr Section description{"simulation", "", "Device, threads and memory.", keys};

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
