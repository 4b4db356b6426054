// An HDF5 identifier that closes itself, and checks of a file before it is read.
#pragma once

#include <hdf5.h>

#include <string>

namespace terrane::io {

class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: implicit, as functions of the C library take it
  bool valid() const { return id_ >= 0; }
  /// Closes the identifier now; returns whether that succeeded.
  bool close() {
    const bool good = close_(id_) >= 0;
    id_ = -1;
    return good;
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Opens a file for reading. Throws FileError.
hid_t open_hdf5(const std::string& path);

/// Throws InputError for content with which reading would not end, would take much more memory than the file
/// is long, or would read other files: virtual data sets, external storage, external links, groups with
/// several names, large data sets without written values.
void check_self_contained(hid_t file, const std::string& path);

}  // namespace terrane::io
