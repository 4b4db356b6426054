// A build without CUDA: there is no GPU, and the other functions of this file are never called.
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
void copy(int, void*, int, const void*, int, void*, std::size_t) { none(); }
void* allocate_pinned(int, std::size_t) { none(); }
void release_pinned(int, void*) noexcept {}
bool enable_peers(int, int) { none(); }
void* make_event(int, bool) { none(); }
void drop_event(int, void*) noexcept {}
void record_event(int, void*, void*) { none(); }
bool event_done(int, void*) { none(); }
void wait_for_event(int, void*) { none(); }
void stream_waits(int, void*, void*) { none(); }
double seconds_between(void*, void*) { none(); }
void begin_capture(int, void*) { none(); }
void drop_capture(int, void*) noexcept {}
void* end_capture(int, void*) { none(); }
void launch_graph(int, void*, void*) { none(); }
void drop_graph(int, void*) noexcept {}
void use(int) { none(); }
void check(int, const char*) { none(); }

}  // namespace terrane::detail::cuda
