#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/electrodes.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::cli {

namespace fs = std::filesystem;

namespace {

/// Folders in which the plotting script is searched: that of the command and all above it.
std::vector<fs::path> folders_above_command() {
  std::vector<fs::path> folders;
  std::error_code failed;
  auto folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (int level = 0; level < 4 && !folder.empty(); ++level) {
    folders.push_back(folder);
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

fs::path plotting_script() {
  if (const char* named = std::getenv("TERRANE_PLOTTING")) {
    if (is_file(named)) return named;
    throw InputError("TERRANE_PLOTTING", fmt::format("there is no file \"{}\"", named));
  }
  for (const auto& folder : folders_above_command())
    for (const auto* place : {"share/terrane/plotting/__main__.py", "python/terrane/plotting/__main__.py"})
      if (is_file(folder / place)) return folder / place;
  throw FileError("plot", "the script plotting/__main__.py is not beside the command",
                  "Install Terrane whole, or name the script with TERRANE_PLOTTING.");
}

std::string python() {
  if (const char* named = std::getenv("TERRANE_PYTHON"); named && *named) return named;
  for (const auto& folder : folders_above_command())
    if (is_file(folder / ".venv/bin/python") || fs::is_symlink(folder / ".venv/bin/python"))
      return (folder / ".venv/bin/python").string();
  return "python3";
}

/// The signal, SIGINT or SIGTERM, that was received while an InterruptsWait exists; 0: none.
volatile std::sig_atomic_t caught = 0;
volatile pid_t drawing = 0;  ///< process id of the plotting script while the script runs

/// Delays SIGINT and SIGTERM until temporary files are removed. A terminal sends SIGINT to the script as
/// well; SIGTERM is passed on to the script.
class InterruptsWait {
  using Action = struct sigaction;

 public:
  InterruptsWait() {
    Action wait{};
    wait.sa_handler = [](int signal) {
      caught = signal;
      if (signal == SIGTERM && drawing > 0) kill(drawing, signal);
    };
    sigaction(SIGINT, &wait, &interrupt_);
    sigaction(SIGTERM, &wait, &terminate_);
  }
  ~InterruptsWait() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  InterruptsWait(const InterruptsWait&) = delete;
  InterruptsWait& operator=(const InterruptsWait&) = delete;

 private:
  Action interrupt_{}, terminate_{};
};

/// Runs Python with these arguments; returns its exit status. Throws Cancelled, and UnsupportedError if there
/// is no Python.
int run_python(std::vector<std::string> words, bool speaks) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  if (caught != 0) throw Cancelled();
  const pid_t child = fork();
  if (child < 0) throw FileError("plot", fmt::format("Python cannot be started: {}", std::strerror(errno)));
  if (child == 0) {
    if (const int nowhere = speaks ? -1 : open("/dev/null", O_WRONLY); nowhere >= 0) {
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
    }
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  drawing = child;
  if (caught != 0) kill(child, SIGTERM);  // the signal was received before `drawing` was set
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  drawing = 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (caught != 0 || code == 130 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)) throw Cancelled();
  if (code == 127)
    throw UnsupportedError("plot", fmt::format("Python is not there as \"{}\"", words[0]),
                           "Install Python 3, or name it with TERRANE_PYTHON.");
  return code;
}

/// Whether the plotting script can read a file of this format itself.
bool is_for_script(const fs::path& file) {
  const auto extension = file.extension();
  return extension == ".nc" || extension == ".h5" || extension == ".hdf5" || extension == ".csv";
}

/// A folder that is removed with this object, also when the user interrupts.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const auto parent = fs::temp_directory_path(failed);
    auto name = (parent / "terrane-plot-XXXXXX").string();
    if (!failed && mkdtemp(name.data()) == nullptr) failed = {errno, std::generic_category()};
    const char* named = std::getenv("TMPDIR");
    const auto where = !parent.empty() ? parent.string() : named ? named : "the folder of temporary files";
    if (failed)
      throw FileError("plot", fmt::format("no folder can be made in {}: {}", where, failed.message()),
                      "Name another with TMPDIR.");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code failed;
    fs::remove_all(path_, failed);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  InterruptsWait wait_;
  fs::path path_;
};

/// The content of a file. Instrument files of electrode arrays that io::read() refuses are read by
/// io::read_arrays().
io::Content content_of(const std::string& file) {
  try {
    return io::read(file);
  } catch (const Error&) {
    try {
      auto in = io::TextReader::open(file);
      return io::to_table(io::read_arrays(in));
    } catch (const Error&) {  // the file is not one of electrode arrays: the error of io::read() says more
    }
    throw;
  }
}

/// The name of the picture of a file: the file's name with .png; if another result has the same name, with
/// its format, too.
std::string picture_beside(const fs::path& file) {
  constexpr std::array<std::string_view, 9> no_results{".png",  ".svg", ".pdf", ".gif", ".mp4",
                                                       ".toml", ".log", ".md",  ".py"};
  const auto own = file.extension().string();
  const auto folder = file.parent_path();
  std::error_code failed;
  for (const auto& other : fs::directory_iterator(folder.empty() ? "." : folder, failed)) {
    const auto extension = other.path().extension().string();
    const bool is_result = std::find(no_results.begin(), no_results.end(), extension) == no_results.end();
    if (own.size() > 1 && extension != own && is_result && other.path().stem() == file.stem())
      return (folder / fmt::format("{}_{}.png", file.stem().string(), own.substr(1))).string();
  }
  return fs::path(file).replace_extension(".png").string();
}

/// Writes the content of a file as NetCDF, which the script can read.
void convert(const std::string& file, const io::Content& content, const std::string& netcdf) {
  try {
    io::write(netcdf, content);
  } catch (const UnsupportedError&) {  // the error names the temporary file, which the user does not know
    throw InputError(
        file, "what it holds cannot be drawn",
        "Allowed: traces, data on axes, grids, tables and models, such as .sgy, .su, .rsf, .nc, .h5, .csv.");
  }
}

}  // namespace

int plot(const PlotOptions& asked) {
  auto options = asked;
  while (options.file.size() > 1 && options.file.ends_with('/')) options.file.pop_back();
  std::error_code failed;
  const bool folder = fs::is_directory(options.file, failed);  // a folder of EDI files is read as one survey
  if (folder && fs::path(options.file).filename().string().find_first_not_of('.') == std::string::npos)
    options.file = fs::canonical(options.file).string();  // the picture is named after the folder
  if (!folder && !is_file(options.file))
    throw InputError(options.file, "there is no such file", "`terrane run JOB` writes results to draw.");
  std::optional<TemporaryFolder> converted;
  std::string source = options.file;
  if (folder || !is_for_script(options.file)) {
    const auto content = InputPhase::within([&] { return content_of(options.file); });
    converted.emplace();
    source = (converted->path() / fs::path(options.file).filename()).replace_extension(".nc").string();
    convert(options.file, content, source);
  }
  std::vector<std::string> words{python(), plotting_script().string(), source};
  const auto add = [&](const std::string& word, const std::string& value) {
    if (value.empty()) return;
    words.push_back(word);
    words.push_back(value);
  };
  if (converted) add("--source", options.file);
  const auto picture = converted ? picture_beside(options.file) : std::string();
  add("--out", converted && options.out.empty() ? picture : options.out);
  add("--title", options.title);
  // Passes an option as one argument "--option=value", because the value of a region may begin with a minus.
  const auto join = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.push_back(option + "=" + value);
  };
  join("--slice", options.slice);
  join("--region", options.region);
  join("--limits", options.limits);
  join("--cmap", options.colours);
  if (!options.scale.empty()) words.emplace_back(options.scale == "log" ? "--log" : "--no-log");
  if (options.dpi) add("--dpi", fmt::format("{}", options.dpi));
  if (options.wiggle) words.emplace_back("--wiggle");
  std::string channels;
  for (const auto& channel : options.channels) channels += (channels.empty() ? "" : ",") + channel;
  add("--channels", channels);

  const int status = run_python(words, true);  // the script prints its own errors
  if (converted && options.out.empty() && status == 0) say("wrote {}\n", picture);
  return status;
}

void check_drawing(const std::string& source) {
  const bool netcdf = source.ends_with(".nc");
  if (run_python({python(), "-c", netcdf ? "import matplotlib, numpy, netCDF4" : "import matplotlib, numpy"},
                 false) == 0)
    return;
  throw UnsupportedError(
      "output.plots",
      fmt::format("Python (\"{}\") lacks {}", python(),
                  netcdf ? "matplotlib, numpy or netCDF4" : "matplotlib or numpy"),
      "Install them, name another Python with TERRANE_PYTHON, or leave plots out: --no-plots.");
}

}  // namespace terrane::cli
