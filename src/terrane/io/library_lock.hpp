// One thread at a time in the NetCDF and HDF5 libraries: both keep state for the whole process and lock
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace terrane::io {

/// Held by every public function of netcdf.hpp, netcdf_sink.hpp and hdf5.hpp while it is in the libraries;
/// not recursive. A fork waits until it is free, so that a child finds the libraries whole. Meanwhile HDF5
/// prints no error stack of this thread: Terrane's errors say what matters.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  std::shared_ptr<const struct LibraryGate> gate_;
  int (*print_)(std::int64_t, void*) = nullptr;  ///< HDF5's printer of errors and its data
  void* print_data_ = nullptr;
};

/// Another user of the same libraries in this process with a lock of its own: entered before LibraryLock is
/// taken and left after it is given back, on the thread that reads or writes. Neither may throw.
struct LibraryGate {
  std::function<void()> enter, leave;
};

/// For all locks taken from now on.
void set_library_gate(LibraryGate gate);

}  // namespace terrane::io
