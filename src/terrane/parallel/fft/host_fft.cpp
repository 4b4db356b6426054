#include "terrane/parallel/fft/host_fft.hpp"

#include <fftw3.h>

#include <memory>
#include <mutex>
#include <new>

namespace terrane {

namespace {

/// The mutex for making and destroying plans of FFTW, which only one thread of the process may do at a time.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

fftw_plan plan(void* p) { return static_cast<fftw_plan>(p); }
fftw_complex* complex(double* p) { return reinterpret_cast<fftw_complex*>(p); }

}  // namespace

HostFft::HostFft(std::size_t columns, std::size_t rows) {
  const int n[2] = {static_cast<int>(rows), static_cast<int>(columns)};
  const std::unique_ptr<double, void (*)(double*)> array(fftw_alloc_real(2 * (columns / 2 + 1) * rows),
                                                         [](double* p) { fftw_free(p); });
  if (!array) throw std::bad_alloc();
  const std::lock_guard lock(planning());
  // FFTW's measured plans would vary with the load of the machine, and so would the last bits.
  forward_ = fftw_plan_dft_r2c(2, n, array.get(), complex(array.get()), FFTW_ESTIMATE);
  inverse_ = fftw_plan_dft_c2r(2, n, complex(array.get()), array.get(), FFTW_ESTIMATE);
}

HostFft::~HostFft() {
  const std::lock_guard lock(planning());
  fftw_destroy_plan(plan(forward_));
  fftw_destroy_plan(plan(inverse_));
}

void HostFft::forward(double* array) const { fftw_execute_dft_r2c(plan(forward_), array, complex(array)); }
void HostFft::inverse(double* array) const { fftw_execute_dft_c2r(plan(inverse_), complex(array), array); }

}  // namespace terrane
