#include "terrane/io/hdf5_image.hpp"

#include <algorithm>

#include "terrane/io/hdf5_handle.hpp"

namespace terrane::io {

namespace {

void* same(void* image) { return image; }
herr_t keep(void*) { return 0; }

}  // namespace

// When the library closes the file and would free the buffer that holds it, this object keeps the buffer.
// H5Fget_file_image is not used, because it damages the checksum of the first block.
Hdf5InMemory::Hdf5InMemory(const std::string& path, std::string_view begun) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t least_growth = 1 << 20;
  H5Pset_fapl_core(access, std::max(least_growth, begun.size()), 0);
  H5FD_file_image_callbacks_t callbacks{nullptr, nullptr, nullptr, take, same, keep, this};
  H5Pset_file_image_callbacks(access, &callbacks);
  if (begun.empty()) {
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  } else {
    H5Pset_file_image(access, const_cast<char*>(begun.data()), begun.size());  // the library copies these
                                                                               // bytes and does not change
                                                                               // them
    // If a file of this name exists on disk, the library accepts no image for it; a path below a file cannot
    // exist.
    file_ = H5Fopen((path + "/in memory").c_str(), H5F_ACC_RDWR, access);
  }
}

Hdf5InMemory::~Hdf5InMemory() {
  if (file_ >= 0) H5Fclose(file_);
  if (memory_ != nullptr) H5free_memory(memory_);
}

std::string_view Hdf5InMemory::close() {
  hsize_t bytes = 0;
  if (H5Fflush(file_, H5F_SCOPE_LOCAL) < 0 || H5Fget_filesize(file_, &bytes) < 0) return {};
  size_ = static_cast<std::size_t>(bytes);
  const bool good = H5Fclose(file_) >= 0;
  file_ = -1;
  return good && memory_ != nullptr ? hdf5_image(memory_, size_) : std::string_view();
}

herr_t Hdf5InMemory::take(void* memory, H5FD_file_image_op_t when, void* self) {
  auto& file = *static_cast<Hdf5InMemory*>(self);
  if (when != H5FD_FILE_IMAGE_OP_FILE_CLOSE || file.size_ == 0) return H5free_memory(memory);
  file.memory_ = memory;
  return 0;
}

}  // namespace terrane::io
