// Allows only one thread at a time to use the NetCDF and HDF5 libraries: both have global state and no locks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace terrane::io {

/// Every public function of netcdf.hpp, netcdf_sink.hpp and hdf5.hpp holds this lock while it uses the
/// libraries; it is not recursive. A fork waits until the lock is free, so that the child finds the libraries
/// in a consistent state. While the lock is held, HDF5 prints no error stack on this thread: Terrane's errors
/// say what matters.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  std::shared_ptr<const struct LibraryGate> gate_;
  int (*print_)(std::int64_t, void*) = nullptr;  ///< HDF5's function that prints errors, and its argument
  void* print_data_ = nullptr;
};

/// A lock by which another user of the same libraries in this process, such as h5py, excludes Terrane.
/// `enter` is called before LibraryLock is acquired, `leave` after it is released, on the thread that reads
/// or writes. Neither may throw.
struct LibraryGate {
  std::function<void()> enter, leave;
};

/// Sets the gate for all locks that are acquired from now on.
void set_library_gate(LibraryGate gate);

}  // namespace terrane::io
