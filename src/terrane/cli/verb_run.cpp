#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <iterator>

#include "terrane/base/progress.hpp"
#include "terrane/base/text.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/output.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::cli {

namespace {

std::string from_standard_input() {
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0;
       (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0 && text.size() <= Config::largest;)
    text.append(buffer, n);
  return text;
}

void print_report(const Result& result) {
  std::string names;
  for (const auto& field : result.fields)
    names += fmt::format("{}{} [{}]", names.empty() ? "" : ", ", field.name, field.unit);
  for (const auto& v : result.data.variables)
    names += fmt::format("{}{} [{}]", names.empty() ? "" : ", ", v.name, v.unit);
  fmt::print("  {:<10} {}\n{}", "computed", names, printable(result.report.text()));
}

/// What the files will not hold; throws for a file that would hold nothing.
std::vector<std::string> left_out(const Simulation& simulation, const Output& output) {
  std::vector<std::string> warnings;
  const auto outline = simulation.outline();
  for (const auto& path : output.files)
    if (const auto names = terrane::left_out(path.string(), outline); !names.empty())
      warnings.push_back(
          fmt::format("{}: this format leaves out {}", path.filename().string(), fmt::join(names, ", ")));
  return warnings;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) fmt::print(stderr, "terrane: warning: {}\n", printable(warning));
}

}  // namespace

Config read_job(const JobOptions& options) {
  Config::Options given;
  given.sets = options.sets;
  if (options.threads > 0) given.sets.push_back(fmt::format("simulation.threads={}", options.threads));
  if (!options.output.empty()) {
    // From where the command runs, not from the folder of the job.
    std::string quoted;
    for (const char c : std::filesystem::absolute(options.output).string()) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    given.sets.push_back(fmt::format("output.folder=\"{}\"", quoted));
  }
  if (!options.data.empty()) given.arguments["data"] = std::filesystem::absolute(options.data).string();
  for (const auto& argument : options.arguments) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--arg " + argument, "an argument reads name=value");
    given.arguments[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  if (options.job == "-") return Config::parse(from_standard_input(), "standard input", {}, given);
  return Config::read(options.job, given);
}

int run(const Registry& registry, const JobOptions& options, Comm& comm) {
  // Nothing is written while the input is read: Ctrl-C may end the process there and then.
  const auto [config, job] = InputPhase::within([&] {
    auto read = read_job(options);
    auto made = registry.make(read);
    return std::pair{std::move(read), std::move(made)};
  });
  const auto& output = job.output;
  const auto progress = terminal_progress();
  const auto stop_if_cancelled = [&] {
    if (progress->cancelled()) throw Cancelled();
  };

  print_warnings(left_out(*job.simulation, output));
  // A folder that cannot be made is found before hours of work, not after.
  for (const auto* files : {&output.files, &output.model, &output.plots})
    for (const auto& file : *files) {
      std::error_code failed;
      std::filesystem::create_directories(file.parent_path(), failed);
      if (failed)
        throw FileError(file.parent_path().string(), "the folder cannot be made: " + failed.message(),
                        "Name another with --output FOLDER.");
    }

  if (!options.quiet) fmt::print("{}\n", printable(config.name()));
  std::fflush(stdout);
  auto runtime = job.runtime;
  runtime.comm = &comm;
  runtime.progress = progress.get();
  runtime.checkpoint.resume = options.resume;
  if (!options.resume && std::filesystem::exists(runtime.checkpoint.file))
    print_warnings({fmt::format("{} is left from an interrupted run: --resume goes on from it",
                                runtime.checkpoint.file.string())});
  const auto result = job.simulation->run(runtime);
  if (!options.quiet) print_report(result);
  print_warnings(result.report.warnings);

  const auto wrote = [&](const std::filesystem::path& path) {
    if (!options.quiet)
      fmt::print("  {:<10} {}\n", "wrote",
                 path.lexically_proximate(std::filesystem::current_path()).string());
    std::fflush(stdout);
  };
  for (const auto& path : output.files) {
    stop_if_cancelled();
    write_result(path.string(), result);
    if (options.resume) io::remove_leftovers(path.string());  // of the run that this one goes on from
    wrote(path);
  }
  std::error_code not_there;
  std::filesystem::remove(runtime.checkpoint.file, not_there);
  io::remove_leftovers(runtime.checkpoint.file.string());
  for (const auto& path : output.model) {
    stop_if_cancelled();
    job.simulation->write_model(path.string());
    wrote(path);
  }
  if (!options.plots || output.plots.empty()) return 0;

  std::filesystem::path source;
  for (const auto& path : output.files)
    if (path.extension() == ".nc" || (source.empty() && path.extension() == ".csv")) source = path;
  if (source.empty())
    throw InputError(config.table("output").where("plots"), "plots are drawn from a result in .nc or .csv",
                     "Add one to output.files.");
  for (const auto& path : output.plots) {
    stop_if_cancelled();
    PlotOptions picture;
    picture.file = source.string();
    picture.out = path.string();
    picture.channels = output.plot_channels;
    if (const int failed = plot(picture)) return failed;
    wrote(path);
  }
  return 0;
}

int check(const Registry& registry, const JobOptions& options, Comm& comm) {
  const auto config = read_job(options);
  auto job = InputPhase::within([&] { return registry.make(config); });
  job.runtime.comm = &comm;
  job.runtime.checkpoint = {};
  print_warnings(left_out(*job.simulation, job.output));
  const auto plan = job.simulation->check(job.runtime);
  fmt::print("{}: the job is sound\n{}", printable(config.name()), printable(plan.text()));
  for (const auto* files : {&job.output.files, &job.output.model, &job.output.plots})
    for (const auto& path : *files) fmt::print("  {:<10} {}\n", "would write", path.string());
  return 0;
}

}  // namespace terrane::cli
