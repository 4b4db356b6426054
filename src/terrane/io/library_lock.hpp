// Lets one thread at a time into the NetCDF and HDF5 libraries: both have state for the whole process and
// no locks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace terrane::io {

/// Held by every public function of netcdf.hpp, netcdf_sink.hpp and hdf5.hpp while it is in the libraries;
/// not recursive. A fork waits until the lock is free, so that the child finds the libraries in a
/// consistent state. While the lock is held, HDF5 prints no error stack of this thread: Terrane's errors
/// say what matters.
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

/// The lock of another user of the same libraries in this process: it is taken before LibraryLock and
/// released after it, on the thread that reads or writes. Neither may throw.
struct LibraryGate {
  std::function<void()> enter, leave;
};

/// Sets it for all locks that are taken from now on.
void set_library_gate(LibraryGate gate);

}  // namespace terrane::io
