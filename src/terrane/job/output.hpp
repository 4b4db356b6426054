// The [output] table of a job: which files are written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/job/config.hpp"

namespace terrane {

struct Output {
  std::vector<std::filesystem::path> files;  ///< files of the result; the extension selects the format
  std::vector<std::filesystem::path> model;  ///< files of the model
  std::vector<std::filesystem::path> plots;  ///< maps of the result
  std::vector<std::string> plot_channels;    ///< channels drawn in the plots; empty: all
  /// The checkpoint file is named after the first result file, with ".checkpoint" added.
  CheckpointSettings checkpoint;

  /// Throws InputError: a file without a format that can be written, the same name twice.
  static Output read(const Config& job);
  static const Section& section();
};

}  // namespace terrane
