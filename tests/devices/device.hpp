// The devices that tests of device code run on: the debug device everywhere, and a GPU where there is one.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "terrane/parallel/device/device.hpp"

namespace terrane::test {

inline std::vector<Device> devices_here() {
  std::vector<Device> all{{Device::Kind::debug, -1}};
  if (gpu_count() > 0) all.push_back({Device::Kind::cuda, 0});
  return all;
}

/// While it lives, the debug device has this many bytes of memory.
struct DebugMemory {
  explicit DebugMemory(std::size_t bytes) {
    setenv("TERRANE_DEBUG_MEMORY", std::to_string(bytes).c_str(), 1);
  }
  ~DebugMemory() { unsetenv("TERRANE_DEBUG_MEMORY"); }
};

class OnDevice : public testing::TestWithParam<Device> {};

inline std::string name_of_device(const testing::TestParamInfo<Device>& info) {
  return info.param.kind == Device::Kind::cuda ? "gpu" : "debug";
}

#define TERRANE_ON_EVERY_DEVICE(suite) \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::ValuesIn(test::devices_here()), test::name_of_device)

}  // namespace terrane::test
