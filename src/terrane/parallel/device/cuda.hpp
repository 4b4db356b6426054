// The calls to the CUDA runtime that the rest of parallel/ needs. device_cuda.cpp implements them in a build
// with CUDA, device_no_cuda.cpp in one without.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/parallel/device/device.hpp"

namespace terrane::detail::cuda {

/// Number of usable GPUs; if 0, `why` gets the reason.
int count(std::string& why);
Gpu describe(int index);
/// The oldest compute capability that this build has code for, times ten.
int least_capability();
DeviceMemory memory(int index);
void* make_stream(int index, bool urgent);
void drop_stream(int index, void* stream) noexcept;
void wait(int index, void* stream);
void* allocate(int index, std::size_t bytes);  ///< returns nullptr if there is too little memory
void release(int index, void* memory) noexcept;
/// If the host's memory is pinned, upload() and download() return before the copy is done.
void upload(int index, void* stream, const void* from, void* to, std::size_t bytes);
void download(int index, void* stream, const void* from, void* to, std::size_t bytes);
void copy(int index, void* stream, int source, const void* from, int target, void* to, std::size_t bytes);
void* allocate_pinned(int index, std::size_t bytes);  ///< returns nullptr if there is too little memory
void release_pinned(int index, void* memory) noexcept;
/// Lets `index` access the memory of `peer`; false: it cannot.
bool enable_peers(int index, int peer);
void* make_event(int index, bool timed);
void drop_event(int index, void* event) noexcept;
void record_event(int index, void* event, void* stream);
bool event_done(int index, void* event);
void wait_for_event(int index, void* event);
void stream_waits(int index, void* stream, void* event);
double seconds_between(void* earlier, void* later);
void begin_capture(int index, void* stream);
void drop_capture(int index, void* stream) noexcept;
void* end_capture(int index, void* stream);
void launch_graph(int index, void* graph, void* stream);
void drop_graph(int index, void* graph) noexcept;
void fill_zero(int index, void* stream, void* memory, std::size_t bytes);

/// Makes this GPU the current one of the calling thread (cudaSetDevice).
void use(int index);
/// Throws an Error that names the call if `status`, a cudaError_t, is not success.
void check(int status, const char* call);

}  // namespace terrane::detail::cuda
