#include "terrane/simulation/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane {

namespace fs = std::filesystem;

namespace {

struct Named {
  const char* key;  ///< key of [output]
  const std::vector<fs::path>* paths;
};

std::array<Named, 3> all_of(const Output& output, bool plots) {
  static const std::vector<fs::path> none;
  return {{{"files", &output.files}, {"model", &output.model}, {"plots", plots ? &output.plots : &none}}};
}

/// Whether two paths name the same file.
bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::equivalent(a, b, failed) && !failed) return true;
  const auto one = fs::weakly_canonical(a, failed);
  if (failed) return a == b;
  const auto other = fs::weakly_canonical(b, failed);
  return failed ? a == b : one == other;
}

void refuse_input(const Config& job, const char* key, const fs::path& path) {
  for (const auto& input : job.inputs())
    if (same_file(path, input))
      throw job.table("output").wrong(
          key,
          fmt::format("\"{}\" would overwrite {}, which this job reads", path.filename().string(),
                      input.lexically_normal().string()),
          "Name another file, or another output.folder.");
}

/// Throws InputError if two outputs have the same file, or an output is a file that the job reads.
void check_names(const Config& job, const Output& output, bool plots) {
  const auto table = job.table("output");
  std::vector<fs::path> taken;
  for (const auto& [key, paths] : all_of(output, plots))
    for (const auto& path : *paths) {
      const auto shown = path.filename().string();
      refuse_input(job, key, path);
      for (const auto& other : taken)
        if (same_file(path, other))
          throw table.wrong(key, fmt::format("\"{}\" is the same file as \"{}\"", shown, other.string()),
                            "Each file is written once.");
      if (path == output.checkpoint.file)
        throw table.wrong(key, fmt::format("\"{}\" is the name of the run's checkpoint", shown),
                          "Name another file.");
      taken.push_back(path);
    }
}

/// Checks that a folder can be written into or, if it does not exist, created in its nearest existing parent.
void check_folder(const fs::path& wanted) {
  std::error_code failed;
  auto folder = wanted.empty() ? fs::path(".") : wanted;
  const auto cannot = [&](const std::string& why) {
    return FileError(wanted.string(), "the folder cannot be made or written into: " + why,
                     "Name another with --output FOLDER.");
  };
  while (!fs::exists(folder, failed)) {
    if (failed && failed != std::errc::no_such_file_or_directory) throw cannot(failed.message());
    const auto above = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    if (above == folder) throw cannot(std::strerror(ENOENT));
    folder = above;
  }
  if (!fs::is_directory(folder, failed)) throw cannot(folder.string() + " is not a folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw cannot(fmt::format("{}: {}", folder.string(), std::strerror(errno)));
}

void check_places(const Output& output, bool plots) {
  for (const auto& [key, paths] : all_of(output, plots))
    for (const auto& path : *paths) {
      check_folder(path.parent_path());
      std::error_code failed;
      if (fs::is_directory(path, failed))
        throw FileError(path.string(), "is a folder", "Give the name of a file in it.");
      constexpr std::size_t longest = 255;  // longest file name on usual file systems, bytes
      if (path.filename().string().size() > longest)
        throw FileError(path.string(), fmt::format("its name has more than {} bytes", longest));
    }
}

/// Calls a function that may throw because of one file; adds the line of the job to its errors.
template <class Function>
auto of_file(const Config& job, const char* key, const fs::path& path, Function&& function) {
  const auto told = [&](const Error& error) {
    return fmt::format("\"{}\": {}", path.filename().string(), error.problem());
  };
  const auto table = job.table("output");
  try {
    return function();
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(table.where(key), told(error), error.next());
  } catch (const InputError& error) {
    throw table.wrong(key, told(error), error.next());
  }
}

void check_plots(const Config& job, const Output& output, const Result& outline) {
  if (output.plots.empty()) return;
  const auto table = job.table("output");
  if (std::none_of(output.files.begin(), output.files.end(), [](const fs::path& path) {
        return path.extension() == ".nc" || path.extension() == ".csv";
      }))
    throw table.wrong("plots", "plots are drawn from a result in .nc or .csv", "Add one to output.files.");
  std::vector<std::string_view> names;
  for (const auto& variable : outline.data.variables) names.emplace_back(variable.name);
  for (const auto& wanted : output.plot_channels)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw table.wrong("plot_channels",
                        fmt::format("there will be no \"{}\".{}", wanted, did_you_mean(wanted, names)),
                        fmt::format("Allowed: {}.", joined(names)));
}

}  // namespace

std::vector<std::string> check_files(const Config& job, const Simulation& simulation, const Output& output,
                                     bool plots) {
  const auto outline = simulation.outline();
  auto made = output;  // copy of `output` with all files that the run will write
  made.files.clear();
  for (const auto& path : output.files)
    for (auto& file : of_file(job, "files", path, [&] { return written_files(path.string(), outline); }))
      made.files.emplace_back(std::move(file));
  check_names(job, made, plots);
  check_places(made, plots);
  std::vector<std::string> warnings;
  for (const auto& path : output.files) {
    const auto names = of_file(job, "files", path, [&] { return left_out(path.string(), outline); });
    if (!names.empty())
      warnings.push_back(
          fmt::format("{}: this format leaves out {}", path.filename().string(), fmt::join(names, ", ")));
  }
  for (const auto& path : output.model)
    of_file(job, "model", path, [&] { simulation.check_model(path.string()); });
  if (plots) check_plots(job, output, outline);
  return warnings;
}

void check_shared_files(std::span<const NamedOutput> outputs) {
  std::map<fs::path, std::string> writers;
  for (const auto& [name, output] : outputs)
    for (const auto* files : {&output.files, &output.model, &output.plots})
      for (const auto& path : *files)
        if (const auto [it, fresh] = writers.emplace(path, name); !fresh)
          throw InputError(
              "output",
              fmt::format("the simulations {} and {} both write {}", it->second, name, path.string()),
              fmt::format("Name files of their own: [output.{}], files = [\"{}.nc\"].", name, name));
}

void make_folders(const Output& output, bool plots) {
  for (const auto& [key, paths] : all_of(output, plots))
    for (const auto& path : *paths) {
      const auto folder = path.parent_path();
      std::error_code failed;
      if (!folder.empty()) fs::create_directories(folder, failed);
      if (failed)
        throw FileError(folder.string(), "the folder cannot be made: " + failed.message(),
                        "Name another with --output FOLDER.");
      if (fs::is_regular_file(fs::symlink_status(path, failed)) || !fs::exists(path, failed))
        io::PendingPath(path.string());  // tries to create a file in that folder, and removes it
    }
}

}  // namespace terrane
