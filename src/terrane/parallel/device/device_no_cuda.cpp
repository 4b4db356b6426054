// A build without CUDA: there is no GPU, and nothing below is ever called.
#include "terrane/base/error.hpp"
#include "terrane/parallel/device/cuda.hpp"

namespace terrane::detail::cuda {

namespace {

[[noreturn]] void none() {
  throw UnsupportedError("cuda", "this build has no CUDA",
                         "Build where nvcc is found, or with -DTERRANE_CUDA=ON.");
}

}  // namespace

int count(std::string& why) {
  why = "this build has no CUDA";
  return 0;
}
Gpu describe(int) { none(); }
int least_capability() { none(); }
DeviceMemory memory(int) { none(); }
void* make_stream(int, bool) { none(); }
void drop_stream(int, void*) noexcept {}
void wait(int, void*) { none(); }
void* allocate(int, std::size_t) { none(); }
void release(int, void*) noexcept {}
void upload(int, void*, const void*, void*, std::size_t) { none(); }
void download(int, void*, const void*, void*, std::size_t) { none(); }
void fill_zero(int, void*, void*, std::size_t) { none(); }
void use(int) { none(); }
void check(int, const char*) { none(); }

}  // namespace terrane::detail::cuda
