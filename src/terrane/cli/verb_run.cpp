#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <new>
#include <optional>

#include "terrane/base/progress.hpp"
#include "terrane/base/text.hpp"
#include "terrane/cli/json.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/cli/watch.hpp"
#include "terrane/inversion/job/joint_job.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/early_gpu.hpp"
#include "terrane/simulation/files.hpp"
#include "terrane/simulation/serve.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::cli {

namespace {

std::string from_standard_input() {
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) text.append(buffer, n);
  return text;
}

void print_report(const Result& result) {
  std::string names;
  for (const auto& v : result.data.variables)
    if (v.role == VariableRole::computed)
      names += fmt::format("{}{} [{}]", names.empty() ? "" : ", ", v.name, v.unit);
  say("  {:<10} {}\n{}", "computed", names, printable(result.report.text()));
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) warn(warning);
}

std::filesystem::path absolute(const std::string& given, const char* option) {
  std::error_code failed;
  auto path = std::filesystem::absolute(given, failed);
  if (failed)
    throw InputError(
        option,
        fmt::format("\"{}\" starts from the current folder, which is not there: {}", given, failed.message()),
        "Name a folder that starts with /.");
  return path;
}

/// The path relative to the current folder; unchanged if that folder is unknown or the relative path would
/// begin with "../../".
std::string shown(const std::filesystem::path& path) {
  std::error_code failed;
  const auto here = std::filesystem::current_path(failed);
  const auto near = failed ? path.string() : path.lexically_proximate(here).string();
  return near.starts_with("../../") ? path.string() : near;
}

/// The result file from which plots are drawn; check_files() has checked that there is one.
std::filesystem::path plot_source(const Output& output) {
  std::filesystem::path source;
  for (const auto& path : output.files)
    if (path.extension() == ".nc" || (source.empty() && path.extension() == ".csv")) source = path;
  return source;
}

/// Writes files and collects errors, so that a failure of one file does not prevent the others.
class Writing {
 public:
  explicit Writing(const Progress& progress) : progress_(progress) {}

  template <class Write>
  void file(const std::filesystem::path& path, Write&& write) {
    files(path, [&] {
      write();
      return std::vector<std::string>{path.string()};
    });
  }
  /// write: writes the files and returns their names
  template <class Write>
  void files(const std::filesystem::path& path, Write&& write) {
    if (progress_.cancelled()) throw Cancelled();
    try {
      const std::vector<std::string> names = write();
      written_.insert(written_.end(), names.begin(), names.end());
      constexpr std::size_t most = 4;
      if (names.size() > most)
        told_.push_back(fmt::format("{} to {}: {} files", shown(names.front()),
                                    std::filesystem::path(names.back()).filename().string(), names.size()));
      else
        for (const auto& name : names) told_.push_back(shown(name));
    } catch (const Cancelled&) {
      throw;
    } catch (const std::bad_alloc&) {
      failures_.push_back(
          fmt::format("{}: out of memory\n         This file is not written.", path.string()));
    } catch (const std::exception& error) {
      failures_.emplace_back(error.what());
    }
  }

  const std::vector<std::filesystem::path>& written() const { return written_; }
  /// The names of written files, as lines for the user.
  const std::vector<std::string>& told() const { return told_; }
  const std::vector<std::string>& failures() const { return failures_; }
  bool has(const std::filesystem::path& path) const {
    return std::find(written_.begin(), written_.end(), path) != written_.end();
  }

 private:
  const Progress& progress_;
  std::vector<std::filesystem::path> written_;
  std::vector<std::string> told_, failures_;
};

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.string());
  return names;
}

std::string verb_of(const Config& job) { return inversion::asks_for_inversion(job) ? "invert" : "run"; }

/// Writes all files of a finished run.
void write_files(Writing& writing, const Result& result, const Simulation& simulation, const Output& output) {
  for (const auto& path : output.files)
    writing.files(path, [&] {
      write_result(path.string(), result);
      return written_files(path.string(), result);
    });
  for (const auto& path : output.model) writing.file(path, [&] { simulation.write_model(path.string()); });
}

}  // namespace

Config read_job(const JobOptions& options) {
  Config::Options given;
  given.sets = options.sets;
  if (options.threads > 0) given.sets.push_back(fmt::format("simulation.threads={}", options.threads));
  if (!options.output.empty()) {
    // Paths are printed relative to the current folder, not to the folder of the job.
    std::string quoted;
    for (const char c : absolute(options.output, "--output").string()) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    given.sets.push_back(fmt::format("output.folder=\"{}\"", quoted));
  }
  if (!options.data.empty()) given.arguments["data"] = absolute(options.data, "--data").string();
  for (const auto& argument : options.arguments) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--arg " + argument, "an argument reads name=value");
    given.arguments[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  if (options.job == "-") return Config::parse(from_standard_input(), "standard input", {}, given);
  return Config::read(options.job, given);
}

namespace {

/// Checks that all output files can be written, before hours of computing, and creates their folders.
void prepare_files(const Config::Part& part, const Job& job, const JobOptions& options) {
  const bool plots = options.plots && !job.output.plots.empty();
  const auto left = check_files(part.job, *job.simulation, job.output, plots);
  if (options.tells_what_formats_leave_out) print_warnings(left);
  if (plots) check_drawing(plot_source(job.output).string());
  make_folders(job.output, plots);
}

void warn_of_leftover(const JobOptions& options, const std::filesystem::path& checkpoint) {
  if (options.resume || !is_left(checkpoint)) return;
  print_warnings({fmt::format("{} is left from an interrupted run: --resume goes on from it",
                              left_of(checkpoint).string())});
}

void remove_checkpoint(const std::filesystem::path& checkpoint) {
  std::error_code not_there;
  std::filesystem::remove(checkpoint, not_there);
  std::filesystem::remove_all(parts_beside(checkpoint), not_there);
  io::remove_leftovers(checkpoint.string());
}

/// Prints how long an inversion is expected to take, if that is a minute or more.
void say_expected_time(const Config& config, const Job& job, const Runtime& runtime) {
  if (!inversion::asks_for_inversion(config)) return;
  const double seconds = job.check(runtime).seconds;
  if (seconds < 60) return;
  say("  {:<10} about {}; `terrane check` says of what\n", "time", duration_text(seconds));
}

/// Runs a simulation and writes its files; returns the exit status. finished: the checkpoint to remove after
/// all files have been written; empty: none. Throws Cancelled.
int compute_and_write(const Config::Part& part, const Job& job, const JobOptions& options,
                      const Runtime& runtime, const std::filesystem::path& finished) {
  const auto& config = part.job;
  const auto& output = job.output;
  auto& simulation = *job.simulation;
  auto& progress = *runtime.progress;
  const bool plots = options.plots && !output.plots.empty(), talks = !options.quiet && !options.json;

  if (talks) {
    say("{}{}\n", printable(config.name()), part.name.empty() ? "" : fmt::format(": {}", part.name));
    say_expected_time(config, job, runtime);
  }
  const auto result = job.run(runtime);

  // Files are written before text is printed, because the reader of the text may be slow or have closed the
  // pipe.
  Writing writing(progress);
  try {
    make_folders(output, plots);  // folders may have been removed since the run began
  } catch (const FileError&) {    // an error is ignored here, because writing each file will report it
  }
  write_files(writing, result, simulation, output);
  if (writing.failures().empty() && !finished.empty()) remove_checkpoint(finished);
  if (talks) {
    print_report(result);
    for (const auto& files : writing.told()) say("  {:<10} {}\n", "wrote", files);
  }
  if (options.json)
    say("{}\n",
        to_json(result.report, {verb_of(config), config.name(), part.name, names_of(writing.written())}));
  print_warnings(result.report.warnings);
  for (const auto& failure : writing.failures()) complain(failure);
  int status = writing.failures().empty() ? 0 : 1;
  if (!plots) return status;

  const auto source = plot_source(output);
  if (!writing.has(source)) return status;
  for (const auto& path : output.plots) {
    if (progress.cancelled()) throw Cancelled();
    PlotOptions picture;
    picture.file = source.string();
    picture.out = path.string();
    picture.channels = output.plot_channels;
    if (const int refused = plot(picture)) status = refused;
    else if (talks) say("  {:<10} {}\n", "wrote", shown(path));
  }
  return status;
}

/// The message of an interrupted run: how to resume it, if there is a checkpoint. On several ranks the signal
/// may have been sent by a launcher that ends all ranks after one has failed.
std::string interrupted(const JobOptions& options, const std::filesystem::path& checkpoint,
                        std::string_view verb, const Comm& comm) {
  const auto* who = comm.size() > 1 ? ", by you or since a rank has ended" : "";
  if (!is_left(checkpoint)) return fmt::format("{}: interrupted{}; nothing was written", verb, who);
  return fmt::format(
      "{}: interrupted{}; {} keeps what is done\n         `terrane {} {} --resume` goes on from it.", verb,
      who, shown(left_of(checkpoint)), verb, options.job);
}

/// One job of a joint inversion, which computes several models together.
struct ReadJob {
  Config::Part part;
  Job job;
};

/// The registry with the physics of the job. Throws InputError if the job is for another verb.
const Registry& wanted(const Config& job, const Registry& registry, const JobOptions& options) {
  if (!inversion::asks_for_inversion(job) || &registry == &physics::inversions().registry()) return registry;
  throw InputError(job.table("inversion").where(), "this job asks for an inversion",
                   fmt::format("`terrane invert {}` runs it.", options.job));
}

/// The jobs of a joint inversion: this job and those of --with, or the job's simulations if it has [joint].
/// Empty: each model is computed separately.
std::vector<Config::Part> joined_parts(const Registry& registry, const Config& read,
                                       const JobOptions& options) {
  std::vector<Config::Part> all;
  for (const auto& name : options.with) {
    if (all.empty()) all.push_back({"", read});
    auto another = options;
    another.job = name;
    all.push_back({"", read_job(another)});
  }
  if (!all.empty() || &registry != &physics::inversions().registry() || !inversion::asks_for_joint(read))
    return all;
  all = registry.parts(read, options.only);
  if (all.size() == 1) all.clear();
  return all;
}

/// Reads, checks and couples the jobs of a joint inversion. Also throws InputError if two of them write the
/// same file.
std::vector<ReadJob> read_joined(const Registry& registry, const std::vector<Config::Part>& parts,
                                 const JobOptions& options) {
  std::vector<ReadJob> all;
  std::vector<inversion::Member> members;
  std::vector<NamedOutput> outputs;
  for (const auto& part : parts) {
    all.push_back({part, registry.make(part.job)});
    outputs.push_back({part.name.empty() ? part.job.name() : part.name, all.back().job.output});
  }
  check_shared_files(outputs);
  for (std::size_t n = 0; n < all.size(); ++n)
    members.push_back({outputs[n].name, all[n].part.job.table("simulation").where(), &all[n].job});
  inversion::join(members, options.coupling);
  return all;
}

/// Runs a joint inversion: the run of the first job computes all models, and each job writes its files. The
/// checkpoint is removed once all files are complete.
int run_joined(const Registry& registry, const std::vector<Config::Part>& parts, const JobOptions& options,
               Comm& comm, Progress& progress) {
  using namespace std::chrono_literals;
  std::filesystem::path checkpoint;
  const auto last_words = [&] {
    progress.finish();
    complain(interrupted(options, checkpoint, "invert", comm));
  };
  std::optional<Watch> watch;
  watch.emplace(progress, "", 0ms, last_words);
  const auto all = InputPhase::within([&] { return read_joined(registry, parts, options); });
  auto keeping = all.front().job.output.checkpoint;
  keeping.resume = options.resume;
  checkpoint = keeping.file;
  watch.reset();
  watch.emplace(progress, checkpoint, 700ms, last_words);
  try {
    for (const auto& [part, job] : all) prepare_files(part, job, options);
    warn_of_leftover(options, checkpoint);
    int status = 0;
    for (const auto& [part, job] : all) {
      auto runtime = job.runtime;
      runtime.comm = &comm;
      runtime.progress = &progress;
      runtime.checkpoint = keeping;
      const int own = compute_and_write(part, job, options, runtime, {});
      if (own != 0) status = own;
    }
    if (status == 0) remove_checkpoint(checkpoint);
    return status;
  } catch (const Cancelled&) {
    watch.reset();
    last_words();
    return 130;
  }
}

/// A simulation of a job that has been read and checked.
struct Sound {
  Config::Part part;
  std::vector<std::filesystem::path> files;
  std::filesystem::path checkpoint;
  std::filesystem::path done;  ///< a file that marks the simulation as done while others are still to run
};

/// Reads and checks every simulation as `check` does, before the first one runs, so that errors in any of
/// them are found at once. One simulation is in memory at a time. each(part, job, alone): called for each
/// simulation; alone: it is the only one. ahead: see Registry::make()
template <class Each>
std::vector<Sound> read_all(const Registry& registry, const Config& job, const JobOptions& options,
                            Each&& each, const Ahead& ahead = {}) {
  std::vector<Sound> all;
  std::vector<NamedOutput> outputs;
  auto parts = registry.parts(job, options.only);
  for (auto& part : parts) {
    auto made = InputPhase::within([&] { return registry.make(part.job, ahead); });
    outputs.push_back({part.name, made.output});
    const auto checkpoint = made.output.checkpoint.file;
    auto done = checkpoint;
    if (!part.name.empty()) done.replace_filename("." + part.name + ".done");
    auto files = made.output.files;
    files.insert(files.end(), made.output.model.begin(), made.output.model.end());
    each(part, made, parts.size() == 1);
    all.push_back({std::move(part), std::move(files), checkpoint, std::move(done)});
  }
  check_shared_files(outputs);
  return all;
}

/// Whether an earlier run of the same job has written the simulation's files: they exist and are newer than
/// all its input.
bool is_done(const Sound& simulation) {
  namespace fs = std::filesystem;
  std::ifstream mark(simulation.done, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(mark)), {});
  if (text != simulation.part.job.source()) return false;
  std::error_code failed;
  const auto written = fs::last_write_time(simulation.done, failed);
  const auto is_there = [&](const fs::path& file) { return fs::exists(file, failed); };
  const auto is_older = [&](const fs::path& input) { return fs::last_write_time(input, failed) <= written; };
  return std::all_of(simulation.files.begin(), simulation.files.end(), is_there) &&
         std::all_of(simulation.part.job.inputs().begin(), simulation.part.job.inputs().end(), is_older) &&
         !failed;
}

/// Whether to skip a simulation with --resume because an earlier run has finished it; if so, prints a line.
bool left_out(const Sound& simulation, const JobOptions& options) {
  if (!options.resume || !is_done(simulation)) return false;
  if (!options.quiet && !options.json)
    say("{}: {} is done\n\n", printable(simulation.part.job.name()), simulation.part.name);
  return true;
}

Runtime runtime_of(const Job& job, Comm& comm, Progress& progress, bool resumes) {
  auto runtime = job.runtime;
  runtime.comm = &comm;
  runtime.progress = &progress;
  runtime.checkpoint.resume = resumes;
  return runtime;
}

std::string_view verb_of(const Registry& registry) {
  return &registry == &physics::inversions().registry() ? "invert" : "run";
}

/// A function that tells other ranks the device of a job before its model is built, and starts initialising
/// the GPU of this rank.
Ahead begin_devices(Comm& comm, std::future<void>& gpu) {
  return [&](const Runtime& runtime, const Physics& physics) {
    foretell(comm, runtime.device);
    if (!gpu.valid()) gpu = begin_with_gpu_aside(runtime.device, physics.takes_any_gpu, comm);
  };
}

}  // namespace

int run(const Registry& registry, const JobOptions& options, Comm& comm) {
  using namespace std::chrono_literals;
  const auto progress = terminal_progress();
  std::filesystem::path checkpoint;
  const auto last_words = [&] {
    progress->finish();  // removes the progress bar
    complain(interrupted(options, checkpoint, verb_of(registry), comm));
  };
  std::optional<Watch> watch;
  const auto begin_reading = [&] {
    // No file is written while the input is read: Ctrl-C may end the process at once.
    watch.reset();
    watch.emplace(*progress, "", 0ms, last_words);
  };
  begin_reading();
  std::optional<Job> only;
  std::future<void> gpu;  // initialises the GPU while the model is built
  const auto read = InputPhase::within([&] { return read_job(options); });
  const auto& offered = wanted(read, registry, options);
  if (const auto joined = InputPhase::within([&] { return joined_parts(offered, read, options); });
      !joined.empty()) {
    watch.reset();
    return run_joined(offered, joined, options, comm, *progress);
  }
  const auto simulations = read_all(
      offered, read, options,
      [&](const auto& part, Job& job, bool alone) {
        if (alone) only = std::move(job);
        else check_files(part.job, *job.simulation, job.output, options.plots && !job.output.plots.empty());
      },
      begin_devices(comm, gpu));
  const bool several = simulations.size() > 1;
  int status = 0;
  for (const auto& simulation : simulations) {
    if (several && left_out(simulation, options)) continue;
    begin_reading();
    const auto job =
        only ? std::move(*only) : InputPhase::within([&] { return registry.make(simulation.part.job); });
    const auto runtime =
        runtime_of(job, comm, *progress, options.resume && (!several || is_left(simulation.checkpoint)));
    watch.reset();
    checkpoint = simulation.checkpoint;
    // Time for a computation to check cancelled() after an interrupt; MPI launchers kill all ranks after 1 s.
    watch.emplace(*progress, checkpoint, comm.size() == 1 ? 700ms : 400ms, last_words);
    try {
      prepare_files(simulation.part, job, options);
      warn_of_leftover(options, checkpoint);
      const int own = compute_and_write(simulation.part, job, options, runtime, checkpoint);
      if (own != 0) status = own;
      else if (several) std::ofstream(simulation.done, std::ios::binary) << simulation.part.job.source();
    } catch (const Cancelled&) {
      watch.reset();
      last_words();
      return 130;
    }
  }
  if (status == 0 && several)
    for (const auto& simulation : simulations) std::filesystem::remove(simulation.done);
  return status;
}

namespace {

/// Prints the plan of one job and the files that it would write.
void say_plan(const Config::Part& part, const Job& job, const Plan& plan, const JobOptions& options) {
  const auto plots = options.plots ? job.output.plots : decltype(job.output.plots){};
  const auto warnings = check_files(part.job, *job.simulation, job.output, !plots.empty());
  print_warnings(warnings);
  if (!plots.empty()) check_drawing(plot_source(job.output).string());
  if (options.json) {
    std::vector<std::filesystem::path> files;
    for (const auto* more : {&job.output.files, &job.output.model, &plots})
      files.insert(files.end(), more->begin(), more->end());
    return say("{}\n", to_json(plan, {"check", part.job.name(), part.name, names_of(files), warnings}));
  }
  say("{}: {} is sound\n{}", printable(part.job.name()), part.name.empty() ? "the job" : part.name,
      printable(plan.text()));
  for (const auto* files : {&job.output.files, &job.output.model, &plots})
    for (const auto& path : *files) say("  {:<10} {}\n", "would write", path.string());
}

/// Checks the jobs of a joint inversion. Their models are in memory at the same time, so their memory is
/// added.
int check_joined(const Registry& registry, const std::vector<Config::Part>& parts, const JobOptions& options,
                 Comm& comm) {
  double seconds = 0, bytes = 0;
  for (const auto& [part, job] : read_joined(registry, parts, options)) {
    auto runtime = job.runtime;
    runtime.comm = &comm;
    const auto plan = job.check(runtime);
    seconds += plan.seconds;
    bytes += static_cast<double>(plan.memory_bytes);
    say_plan(part, job, plan, options);
  }
  if (options.json) return 0;
  say("\nin all: {} models found together, about {:.2g} s of computing, {:.2g} GB\n", parts.size(), seconds,
      bytes / 1e9);
  return 0;
}

}  // namespace

int check(const Registry& registry, const JobOptions& options, Comm& comm) {
  const auto config = read_job(options);
  const auto& wanted = inversion::asks_for_inversion(config) ? physics::inversions().registry() : registry;
  if (const auto joined = joined_parts(wanted, config, options); !joined.empty())
    return check_joined(wanted, joined, options, comm);
  double seconds = 0;
  std::size_t memory = 0;
  const auto simulations = read_all(wanted, config, options, [&](const Config::Part& part, Job& job, bool) {
    job.runtime.comm = &comm;
    const auto plan = job.check(job.runtime);
    seconds += plan.seconds;
    memory = std::max(memory, plan.memory_bytes);
    say_plan(part, job, plan, options);
  });
  if (simulations.size() > 1 && !options.json)
    say("\nin all: {} simulations, one after the other, about {:.2g} s of computing, {:.2g} GB at most\n",
        simulations.size(), seconds, static_cast<double>(memory) / 1e9);
  return 0;
}

}  // namespace terrane::cli
