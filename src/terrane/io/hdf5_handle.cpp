#include "terrane/io/hdf5_handle.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

/// Forbidden content found in a walk over all objects of a file.
struct Found {
  hid_t file = -1;
  std::string what, next;

  herr_t stop(std::string why, std::string then) {
    what = std::move(why), next = std::move(then);
    return 1;
  }
};

/// Checks a data set: its values must exist, and be stored in this file.
herr_t see_dataset(Found& found, const char* name) {
  const Hdf5Handle data(H5Dopen2(found.file, name, H5P_DEFAULT), H5Dclose);
  if (!data.valid()) return 0;
  const Hdf5Handle made(H5Dget_create_plist(data), H5Pclose), space(H5Dget_space(data), H5Sclose),
      type(H5Dget_type(data), H5Tclose);
  if (H5Pget_layout(made) == H5D_VIRTUAL)
    return found.stop(fmt::format("\"{}\" is made of parts of other data sets (a virtual data set)", name),
                      "Copy its numbers into the file first: h5repack does.");
  if (H5Pget_external_count(made) > 0)
    return found.stop(fmt::format("the numbers of \"{}\" are in other files (external storage)", name),
                      "Copy its numbers into the file first: h5repack does.");
  constexpr hssize_t much = 1 << 20;
  const auto count = H5Sget_simple_extent_npoints(space);
  const auto width = static_cast<hssize_t>(H5Tget_size(type));
  if (count > 0 && (count > much || width > much / count) && H5Dget_storage_size(data) == 0)
    return found.stop(fmt::format("\"{}\" says that it has {} entries, and none was written", name, count),
                      "It may be damaged.");
  return 0;
}

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info2_t;
#else
using ObjectInfo = H5O_info_t;
#endif

herr_t see_object(hid_t, const char* name, const ObjectInfo* info, void* to) {
  auto& found = *static_cast<Found*>(to);
  try {
    // The library searches each group from the root, so time grows with the square of the depth of groups.
    constexpr std::ptrdiff_t deepest = 100;
    const std::string_view path(name);
    if (std::count(path.begin(), path.end(), '/') >= deepest)
      return found.stop(fmt::format("its groups are nested deeper than {}", deepest),
                        "Write it with fewer levels.");
    if (info->type == H5O_TYPE_GROUP && info->rc > 1)
      return found.stop(fmt::format("its group \"{}\" has {} names", name, info->rc),
                        "Write it with one name for each group.");
    return info->type == H5O_TYPE_DATASET ? see_dataset(found, name) : 0;
  } catch (...) {
    return -1;  // exceptions must not pass through the C library
  }
}

herr_t see_link(hid_t, const char* name, const H5L_info_t* info, void* to) {
  auto& found = *static_cast<Found*>(to);
  try {
    if (info->type == H5L_TYPE_EXTERNAL)
      return found.stop(fmt::format("\"{}\" is in another file (an external link)", name),
                        "Copy it into the file first: h5copy does.");
    return 0;
  } catch (...) {
    return -1;
  }
}

}  // namespace

hid_t open_hdf5(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw FileError(path, "cannot be opened: No such file or directory",
                    "Check the name; relative names start from the current folder.");
  if (!std::filesystem::is_regular_file(path))
    throw FileError(path, "is not an ordinary file", "HDF5 and NetCDF are read from files on a disk.");
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0)
    throw FileError(path, "cannot be opened as HDF5", "It may be truncated, damaged, or of another kind.");
  return file;
}

void check_self_contained(hid_t file, const std::string& path) {
  Found found;
  found.file = file;
#if H5_VERSION_GE(1, 12, 0)
  const auto objects = H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, see_object, &found, H5O_INFO_BASIC);
#else
  const auto objects = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, see_object, &found, H5O_INFO_BASIC);
#endif
  if (objects == 0) H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, see_link, &found);
  if (!found.what.empty()) throw InputError(path, found.what, found.next);
}

}  // namespace terrane::io
