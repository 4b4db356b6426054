#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "terrane/base/text.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/inversion/job/ubc_control.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/document.hpp"
#include "terrane/physics/all.hpp"

namespace terrane::cli {

namespace {

/// The kind of each table to show: the choice of the physics, unless the user asked for another.
std::map<std::string, std::string> kinds_to_show(const Physics& physics, const NewOptions& options) {
  auto kinds = physics.kinds;
  for (const auto& [table, kind] : {std::pair{"mesh", options.mesh}, std::pair{"survey", options.survey}}) {
    if (kind.empty()) continue;
    std::vector<std::string_view> known;
    for (const auto& section : physics.sections)
      if (section.path == table && !section.kind.empty()) known.push_back(section.kind);
    if (known.empty())
      throw InputError(fmt::format("--{}", table),
                       fmt::format("jobs of {} have no kinds of [{}]", physics.name, table),
                       fmt::format("Leave --{} out.", table));
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw InputError(fmt::format("--{}", table),
                       fmt::format("\"{}\" is not known.{}", kind, did_you_mean(kind, known)),
                       fmt::format("Allowed: {}.", joined(known)));
    kinds[table] = kind;
  }
  return kinds;
}

std::string commented_job(const Physics& physics, const NewOptions& options) {
  auto kinds = kinds_to_show(physics, options);
  const bool kinds_are_own = kinds == physics.kinds;  // the examples of the physics are valid only for the
                                                      // kinds of tables that the physics chooses
  // With some kinds of mesh, [model] has keys of its own instead of those of bodies.
  const bool own_model = std::any_of(physics.sections.begin(), physics.sections.end(), [&](const Section& s) {
    return s.path == "model" && s.kind == kinds["mesh"];
  });
  kinds["model"] = kinds["mesh"];
  std::vector<Section> shown;
  for (const auto& section : physics.sections)
    if (!own_model || !section.path.starts_with("model") || section.kind == kinds["mesh"])
      shown.push_back(section);
  return job_template(shown, kinds,
                      fmt::format("A job of {}. `terrane check` tells what it costs, `terrane {}` runs it,"
                                  " `terrane plot` draws it. Keys that stand behind # show their defaults.",
                                  physics.name, physics.name == "inversion" ? "invert" : "run"),
                      kinds_are_own ? physics.examples : std::map<std::string, std::string>{});
}

/// The example inversion that --of names. Throws InputError.
const inversion::ExampleJob& example_of(const NewOptions& options) {
  if (options.physics != "inversion")
    throw InputError("--of", "chooses among inversions", "terrane new inversion --of electric");
  const auto examples = physics::inversions().examples();
  const std::string wanted = options.of.empty() ? "gravity" : options.of;
  for (const auto& example : examples)
    if (example.name == wanted) return example;
  std::vector<std::string_view> known;
  for (const auto& example : examples) known.push_back(example.name);
  throw InputError("--of", fmt::format("\"{}\" is not known.{}", wanted, did_you_mean(wanted, known)),
                   fmt::format("Allowed: {}.", joined(known)));
}

/// Whether the job is one of the example inversions, whose data are computed from an example earth.
bool is_example(const NewOptions& options) {
  return options.physics == "inversion" && options.from.empty() && !options.reference &&
         (options.brief || !options.of.empty());
}

/// A job without its comments. No string in these jobs contains a #.
std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool had = line.find('#') != line.npos;
    line = line.substr(0, line.find('#'));
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty() || !had) out += std::string(line) + '\n';
  }
  return out;
}

std::string brief_job(const Physics& physics, const NewOptions& options) {
  if (!options.mesh.empty() || !options.survey.empty())
    throw InputError("--short", "its job has a mesh and a survey of its own",
                     "Leave --mesh and --survey out, or --short.");
  if (physics.shortest.empty())
    throw InputError("--short", fmt::format("there is none of {}", physics.name),
                     fmt::format("terrane new {}", physics.name));
  return std::string(physics.shortest);
}

/// The tables that at least four physics share, in the order of a job.
std::vector<Section> general_tables(const Registry& registry) {
  std::vector<Section> found;
  const auto shared = [&](const Section& section) {
    const auto all = registry.all();
    return std::count_if(all.begin(), all.end(),
                         [&](const Physics& p) { return has_section(p.sections, section); }) >= 4;
  };
  for (const auto& physics : registry.all())
    for (const auto& section : physics.sections)
      if (shared(section) && !has_section(found, section)) found.push_back(section);
  return found;
}

std::string text_of_job(const Registry& registry, const Physics& physics, const NewOptions& options) {
  if (options.reference)
    return job_reference(physics.name, physics.summary, physics.sections, general_tables(registry));
  if (is_example(options)) {
    const auto& example = example_of(options);
    return options.brief ? without_comments(example.job) : std::string(example.job);
  }
  if (!options.of.empty()) example_of(options);  // throws InputError: there is no such example
  if (options.brief) return brief_job(physics, options);
  if (options.from.empty()) return commented_job(physics, options);
  if (physics.name != "inversion")
    throw InputError("--from", "control files are of inversions", "terrane new inversion --from FILE FILE");
  return inversion::job_of_ubc_control(options.from, std::filesystem::path(options.file).parent_path());
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// The files that a job writes: those of [output], and of its tables [output.PHYSICS].
std::vector<std::string> files_written(const Config& output) {
  std::vector<std::string> files;
  for (const auto& key : output.keys()) {
    if (key == "folder") continue;
    const auto some = key == "files" ? output.texts(key) : files_written(output.table(key));
    files.insert(files.end(), some.begin(), some.end());
  }
  return files;
}

/// Computes the data that a new inversion needs, unless its file exists, and writes them to the folder of the
/// job, together with the job of the example earth (truth.toml).
void write_data(const Registry& registry, const NewOptions& options, const inversion::ExampleJob& example,
                Comm& comm) {
  const auto folder = std::filesystem::path(options.file).parent_path();
  const auto data = folder / example.data, truth = folder / "truth.toml";
  if (std::filesystem::exists(data)) return;
  auto files = files_written(Config::parse(example.truth).table("output"));
  files.push_back(truth.filename().string());
  for (const auto& name : files)
    if (std::filesystem::exists(folder / name))
      throw InputError((folder / name).string(), "the file is there already",
                       "Remove it, or take another folder.");
  write_whole(truth, std::string(example.truth));
  JobOptions run_it;
  run_it.job = truth.string();
  run_it.quiet = true;
  run_it.tells_what_formats_leave_out = false;
  if (run(registry, run_it, comm) != 0)
    throw FileError(data.string(), "the data of this job could not be computed");
  say("wrote {}, and of this earth {}: put your data in its place\n", truth.string(), data.string());
}

}  // namespace

int new_job(const Registry& registry, const NewOptions& options, Comm& comm) {
  if (options.physics == "tables" && options.reference) {
    say("{}", general_reference(general_tables(registry)));
    return 0;
  }
  Registry all = registry;
  all.add(physics::inversions().job());
  const auto& physics = all.find(options.physics);
  if (physics.sections.empty())
    throw UnsupportedError("physics", fmt::format("this program was built without {}", physics.name),
                           "Build all physics (make build).");
  const auto text = text_of_job(registry, physics, options);
  if (options.file.empty()) {
    say("{}", text);
    return 0;
  }
  if (std::filesystem::exists(options.file))
    throw InputError(options.file, "the file is there already", "Remove it, or choose another name.");
  if (options.physics == "inversion" && options.from.empty() && !options.reference)
    if (const auto& example = example_of(options); text.find(example.data) != text.npos)
      write_data(registry, options, example, comm);
  write_whole(options.file, text);
  say("wrote {0}; next: terrane {1} {0}\n", options.file, options.physics == "inversion" ? "invert" : "run");
  return 0;
}

}  // namespace terrane::cli
