// The [output] table of a job: which files are written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/job/config.hpp"

namespace terrane {

struct Output {
  std::vector<std::filesystem::path> files;  ///< of the result, format by extension
  std::vector<std::filesystem::path> model;  ///< of the model
  std::vector<std::filesystem::path> plots;  ///< maps of the result
  std::vector<std::string> plot_channels;    ///< empty: all
  CheckpointSettings checkpoint;             ///< beside the first of the files, with its name

  /// Throws InputError: a file without a format that can be written, the same name twice.
  static Output read(const Config& job);
  static const Section& section();
};

}  // namespace terrane
