#include <algorithm>
#include <functional>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/debug_memory.hpp"
#include "terrane/parallel/fft/device_fft.hpp"
#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"

#if defined(__CUDACC__)
#include <cufft.h>

#include "terrane/parallel/device/cuda.hpp"
#endif

namespace terrane {

namespace {

constexpr std::size_t busy = std::size_t{1} << 22;  // number of doubles in one call that keeps a GPU busy

#if defined(__CUDACC__)
void check(cufftResult status, const char* call) {
  if (status == CUFFT_SUCCESS) return;
  if (status == CUFFT_ALLOC_FAILED)
    throw MemoryError(std::string("cufft: ") + call, "there is too little memory on the GPU for its tables",
                      "Use more GPUs with mpirun, another device, or device = \"cpu\".");
  throw Error(std::string("cufft: ") + call, "failed with status " + std::to_string(static_cast<int>(status)),
              "Run the same job with device = \"cpu\" to see whether the GPU is at fault.");
}

class CufftPlan {
 public:
  CufftPlan() { check(cufftCreate(&handle_), "cufftCreate"); }
  ~CufftPlan() { cufftDestroy(handle_); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  cufftHandle handle() const { return handle_; }

 private:
  cufftHandle handle_{};
};
#endif

}  // namespace

struct DeviceFft::Plans {
  Stream& stream;
  std::size_t columns, rows, reals, at_once;
  int threads;
  std::unique_ptr<HostFft> host;  // transforms on the debug device
#if defined(__CUDACC__)
  std::unique_ptr<CufftPlan> forward, inverse;  // transforms on a GPU
  Buffer<char> work;

  /// Makes a plan; returns the bytes of its work space.
  std::size_t make(std::unique_ptr<CufftPlan>& plan, cufftType type) {
    plan = std::make_unique<CufftPlan>();
    check(cufftSetAutoAllocation(plan->handle(), 0), "cufftSetAutoAllocation");
    check(cufftSetStream(plan->handle(), static_cast<cudaStream_t>(stream.handle())), "cufftSetStream");
    const auto integer = [](std::size_t n) { return static_cast<long long>(n); };
    const long long row = integer(columns / 2 + 1);
    long long n[2] = {integer(rows), integer(columns)}, real[2] = {n[0], 2 * row}, complex[2] = {n[0], row};
    const bool forwards = type == CUFFT_D2Z;
    const long long real_distance = integer(reals), complex_distance = integer(reals / 2);
    std::size_t bytes = 0;
    check(cufftMakePlanMany64(plan->handle(), 2, n, forwards ? real : complex, 1,
                              forwards ? real_distance : complex_distance, forwards ? complex : real, 1,
                              forwards ? complex_distance : real_distance, type, integer(at_once), &bytes),
          "cufftMakePlanMany64");
    return bytes;
  }
#endif

  Plans(Stream& s, std::size_t c, std::size_t r, int t)
      : stream(s),
        columns(c),
        rows(r),
        reals(2 * (c / 2 + 1) * r),
        at_once(DeviceFft::at_once(c, r)),
        threads(t) {
    if (columns % 2 != 0)
      throw ShapeError("transforms on devices", std::to_string(columns) + " columns", "Take an even number.");
#if defined(__CUDACC__)
    if (stream.device().kind == Device::Kind::cuda) {
      detail::cuda::use(stream.device().index);
      const std::size_t bytes = std::max(make(forward, CUFFT_D2Z), make(inverse, CUFFT_Z2D));
      work = Buffer<char>(stream.device(), bytes);
      for (const auto& plan : {std::cref(forward), std::cref(inverse)})
        check(cufftSetWorkArea(plan.get()->handle(), work.view().data), "cufftSetWorkArea");
      return;
    }
#endif
    host = std::make_unique<HostFft>(columns, rows);
  }
};

DeviceFft::DeviceFft(Stream& stream, std::size_t columns, std::size_t rows, int threads)
    : plans_(std::make_unique<Plans>(stream, columns, rows, threads)) {}
DeviceFft::~DeviceFft() = default;

std::size_t DeviceFft::at_once(std::size_t columns, std::size_t rows) {
  return std::clamp<std::size_t>(busy / (2 * (columns / 2 + 1) * rows), 1, 64);
}

std::size_t DeviceFft::rounded(std::size_t count) const {
  return (count + plans_->at_once - 1) / plans_->at_once * plans_->at_once;
}

void DeviceFft::forward(View<double> arrays, std::size_t count) {
#if defined(__CUDACC__)
  if (plans_->forward) {
    detail::cuda::use(plans_->stream.device().index);
    for (std::size_t a = 0; a < count; a += plans_->at_once) {
      double* const first = arrays.data + a * plans_->reals;
      check(cufftExecD2Z(plans_->forward->handle(), first, reinterpret_cast<cufftDoubleComplex*>(first)),
            "cufftExecD2Z");
    }
    return;
  }
#endif
  const detail::DebugAccess access;
  for_each(count, plans_->threads,
           [&](std::size_t a) { plans_->host->forward(arrays.data + a * plans_->reals); });
}

void DeviceFft::inverse(View<double> arrays, std::size_t count) {
#if defined(__CUDACC__)
  if (plans_->inverse) {
    detail::cuda::use(plans_->stream.device().index);
    for (std::size_t a = 0; a < count; a += plans_->at_once) {
      double* const first = arrays.data + a * plans_->reals;
      check(cufftExecZ2D(plans_->inverse->handle(), reinterpret_cast<cufftDoubleComplex*>(first), first),
            "cufftExecZ2D");
    }
    return;
  }
#endif
  const detail::DebugAccess access;
  for_each(count, plans_->threads,
           [&](std::size_t a) { plans_->host->inverse(arrays.data + a * plans_->reals); });
}

}  // namespace terrane
