#include "terrane/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "terrane/base/text.hpp"
#include "terrane/base/version.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/cli/watch.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::cli {

namespace {

void add_job_options(CLI::App& verb, JobOptions& options) {
  verb.add_option("job", options.job, "The job file (TOML); - reads it from standard input.")
      ->required()
      ->type_name("JOB");
  verb.add_option("--data", options.data, "Folder that stands for ${data} in the job.")->type_name("FOLDER");
  verb.add_option("--arg", options.arguments, "What stands for ${NAME} in the job; may be repeated.")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option("--set", options.sets, "Set a key of the job; may be repeated.")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option("--only", options.only, "Of several simulations, run only this one; may be repeated.")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  verb.add_option("--threads", options.threads, "How many threads; as simulation.threads.")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  verb.add_flag("--json", options.json,
                "For programs: a JSON object for each simulation, one a line, in place of the report.");
}

/// The parsed command line: the arguments of the verbs, and the exit status that they set.
struct CommandLine {
  CLI::App app{
      "Terrane computes the fields of an earth model.\n\n"
      "  terrane new gravity -o job.toml    a commented job to start from\n"
      "  terrane check job.toml             what it would do, and what that costs\n"
      "  terrane run job.toml               do it\n"
      "  terrane plot output/fields.nc      maps\n",
      "terrane"};
  const Registry& registry;
  Comm& comm;
  const std::string& mpi;
  int status = 0;

  JobOptions job;
  NewOptions fresh;
  std::vector<std::string> files;
  std::string info_mesh;
  bool info_json = false;
  ConvertOptions conversion;
  bool formats = false;
  PlotOptions picture;

  CommandLine(const Registry& all, Comm& ranks, const std::string& library)
      : registry(all), comm(ranks), mpi(library) {}
};

// One function for each verb: it defines the verb's options, its help, and the function of verbs.hpp to call.

void add_run(CommandLine& line) {
  auto* verb = line.app.add_subcommand("run", "Run a job and write its files.");
  add_job_options(*verb, line.job);
  verb->add_option("-o,--output", line.job.output, "Folder for the files, in place of output.folder.")
      ->type_name("FOLDER");
  verb->add_flag("--resume", line.job.resume, "Go on from the checkpoint of an interrupted run.");
  verb->add_flag("-q,--quiet", line.job.quiet, "Print warnings and errors only.");
  verb->add_flag_callback(
      "--no-plots", [&line] { line.job.plots = false; }, "Leave out the pictures of output.plots.");
  verb->footer(
      "Examples:\n"
      "  terrane run job.toml\n"
      "  terrane run job.toml --set survey.height=500 --set 'simulation.channels=[\"all\"]'\n"
      "  terrane run examples/04_southern_africa/job.toml --data ~/data/gravity\n"
      "  mpirun -n 4 terrane run job.toml\n"
      "  terrane run tour.toml --only gravity        of several simulations this one\n"
      "Files appear complete or not at all. Ctrl-C stops the run within a second (status 130).");
  verb->callback([&line] { line.status = run(line.registry, line.job, line.comm); });
}

void add_invert(CommandLine& line) {
  auto* verb = line.app.add_subcommand("invert", "Find the model that explains the data of a job.");
  add_job_options(*verb, line.job);
  verb->add_option("-o,--output", line.job.output, "Folder for the files, in place of output.folder.")
      ->type_name("FOLDER");
  verb->add_option("--with", line.job.with,
                   "Another job, whose model is to share the structure of the first; may be repeated.")
      ->type_name("JOB")
      ->expected(1)
      ->take_all();
  verb->add_option(
          "--coupling", line.job.coupling,
          "How strongly the models' structures are coupled, in place of joint.coupling; 0: not at all.")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--resume", line.job.resume, "Go on from the checkpoint of an interrupted inversion.");
  verb->add_flag("-q,--quiet", line.job.quiet, "Print warnings and errors only.");
  verb->add_flag_callback(
      "--no-plots", [&line] { line.job.plots = false; }, "Leave out the pictures of output.plots.");
  verb->footer(
      "Examples:\n"
      "  terrane new inversion -o job.toml\n"
      "  terrane check job.toml\n"
      "  mpirun -n 4 terrane invert job.toml\n"
      "  terrane invert gravity.toml --with magnetics.toml --with resistivity.toml\n"
      "  terrane invert job.toml --set inversion.lower=0 --set inversion.upper=400");
  verb->callback([&line] { line.status = run(physics::inversions().registry(), line.job, line.comm); });
}

void add_check(CommandLine& line) {
  auto* verb =
      line.app.add_subcommand("check", "Do everything except compute, and say what a run would cost.");
  add_job_options(*verb, line.job);
  verb->add_flag_callback(
      "--no-plots", [&line] { line.job.plots = false; }, "As a run without the pictures of output.plots.");
  verb->footer("Example:\n  terrane check job.toml");
  verb->callback([&line] { line.status = check(line.registry, line.job, line.comm); });
}

void add_new(CommandLine& line) {
  auto* verb = line.app.add_subcommand("new", "Write a commented job file that runs.");
  verb->add_option("physics", line.fresh.physics, "Which physics.")
      ->type_name("PHYSICS")
      ->capture_default_str();
  verb->add_option("-o,--output", line.fresh.file, "File to write; otherwise to the terminal.")
      ->type_name("FILE");
  verb->add_option("--mesh", line.fresh.mesh, "Kind of mesh to show.")
      ->type_name("KIND")
      ->capture_default_str();
  verb->add_option("--survey", line.fresh.survey, "Kind of survey to show.")
      ->type_name("KIND")
      ->capture_default_str();
  verb->add_option("--from", line.fresh.from,
                   "Control files of UBC's inversions: of the sensitivities, then of the inversion.")
      ->type_name("FILE")
      ->expected(2);
  verb->add_flag("--short", line.fresh.brief, "The shortest job that runs, without comments.");
  verb->add_option(
          "--of", line.fresh.of,
          "Which inversion: gravity, magnetic, electric, electromagnetic, magnetotelluric, acoustic, "
          "traveltime, joint. With -o its data are computed beside it.")
      ->type_name("NAME");
  verb->add_flag("--reference", line.fresh.reference, "Write the reference of all keys, in Markdown.");
  verb->footer(
      "Examples:\n  terrane new gravity -o job.toml\n  terrane new electric --short -o job.toml\n"
      "  terrane new gravity --mesh terrain --survey list\n  terrane new inversion --of electric -o "
      "job.toml\n"
      "  terrane new inversion --from gzsen3d.inp gzinv3d.inp -o job.toml");
  verb->callback([&line] { line.status = new_job(line.registry, line.fresh, line.comm); });
}

void add_info(CommandLine& line) {
  auto* verb = line.app.add_subcommand("info", "Say what files hold: shape, units, range, frame.");
  verb->add_option("files", line.files, "Files of any known format.")->required()->type_name("FILE");
  verb->add_option("--mesh", line.info_mesh, "Mesh of files of cell values (UBC .den, .npy).")
      ->type_name("FILE");
  verb->footer(
      "Examples:\n  terrane info output/fields.nc stations.csv\n  terrane info model.den --mesh mesh.msh");
  verb->add_flag("--json", line.info_json, "For programs: a JSON object for each file, one a line.");
  verb->callback([&line] { line.status = info(line.files, line.info_mesh, line.info_json); });
}

void add_convert(CommandLine& line) {
  auto* verb = line.app.add_subcommand("convert", "Turn a file into another format.");
  auto* files = verb->add_option("files", line.conversion.files,
                                 "File to read, and file to write; its extension names the format. Several "
                                 "EDI files, a folder or a pattern of them become one survey.")
                    ->type_name("IN... OUT");
  verb->add_option("--mesh", line.conversion.mesh, "Mesh of a file of cell values (UBC .den, .npy).")
      ->type_name("FILE");
  verb->add_option("--field", line.conversion.field, "Only this field.")->type_name("NAME");
  verb->add_option("--property", line.conversion.property,
                   "What values without a name are: conductivity, ...")
      ->type_name("NAME");
  verb->add_option("--unit", line.conversion.unit, "Unit of the values, where the file gives none.")
      ->type_name("UNIT");
  verb->add_option("--length-unit", line.conversion.length_unit,
                   "Unit of the coordinates, where none is given.")
      ->type_name("UNIT");
  verb->add_option("--frame", line.conversion.frame,
                   "Names, axes and signs to write: enu, harmonica, simpeg, ubc, tomofast.")
      ->type_name("FRAME");
  verb->add_option("--from-frame", line.conversion.from_frame, "Frame of the file, where it does not say.")
      ->type_name("FRAME");
  verb->add_option("--units", line.conversion.units, "Units to write with --frame: geo or si.")
      ->type_name("SYSTEM");
  verb->add_option("--from", line.conversion.from_format, "Format to read, when the name does not tell.")
      ->type_name("FORMAT");
  verb->add_option("--to", line.conversion.to_format, "Format to write, when the name does not tell.")
      ->type_name("FORMAT");
  verb->add_flag("--formats", line.formats, "List the formats.");
  verb->footer(
      "Examples:\n"
      "  terrane convert model.den model.vtr --mesh mesh.msh\n"
      "  terrane convert fields.nc fields.csv --frame harmonica\n"
      "  terrane convert a.edi b.edi survey.modem\n"
      "  terrane convert --formats");
  verb->callback([&line, files] {
    if (line.formats) {
      line.status = list_formats();
      return;
    }
    if (files->empty()) throw CLI::RequiredError("convert: IN");
    if (line.conversion.files.size() < 2) throw CLI::RequiredError("convert: OUT");
    line.conversion.from = line.conversion.files.front();
    line.conversion.to = line.conversion.files.back();
    line.status = convert(line.registry, line.conversion);
  });
}

void add_plot(CommandLine& line) {
  auto* verb =
      line.app.add_subcommand("plot", "Draw a result, a model or traces, as its field is used to see it.");
  verb->add_option("file", line.picture.file,
                   "Result, model or traces of shots (.nc, .h5, .csv; .segy, .su, .rsf).")
      ->required()
      ->type_name("FILE");
  verb->add_option("-o,--out", line.picture.out,
                   "Picture: .png, .svg or .pdf; otherwise FILE.png. Of snapshots also a film: .gif, .mp4.")
      ->type_name("FILE");
  verb->add_option("-c,--channels", line.picture.channels, "What to draw; otherwise everything.")
      ->type_name("NAME")
      ->delimiter(',');
  verb->add_option("--title", line.picture.title, "Line above the maps.")->type_name("TEXT");
  verb->add_option("--slice", line.picture.slice,
                   "Where to cut a model or snapshots: up=-4000, northing=11000, easting=0; or at which "
                   "frequency, period or time to map "
                   "fields at receivers: frequency=1, period=10, time=3600 (Hz, s).")
      ->type_name("AXIS=METRES");
  verb->add_option("--region", line.picture.region,
                   "West, east, south, north of what is shown, m; of models also bottom and top.")
      ->type_name("W,E,S,N[,B,T]");
  verb->add_option("--limits", line.picture.limits, "Values at both ends of the colours.")
      ->type_name("LOW,HIGH");
  verb->add_option("--scale", line.picture.scale,
                   "Of colours: log or linear; otherwise log of resistivities and wide amplitudes.")
      ->type_name("SCALE")
      ->check(CLI::IsMember({"log", "linear"}));
  verb->add_option("--cmap", line.picture.colours, "Colour map of matplotlib.")->type_name("NAME");
  verb->add_flag("--wiggle", line.picture.wiggle, "Traces of shots as lines; otherwise grey.");
  verb->add_option("--dpi", line.picture.dpi, "Resolution of a .png.")
      ->type_name("N")
      ->check(CLI::Range(30, 1200));
  verb->footer(
      "Examples:\n"
      "  terrane plot output/fields.nc\n"
      "  terrane plot output/fields.nc --channels g_u,g_uu --out maps.svg\n"
      "  terrane plot output/model.h5 --slice up=-4000\n"
      "  terrane plot output/model.nc --region 0,400,-50,50,-80,0 --limits 10,1000\n"
      "  terrane plot line.segy --wiggle\n"
      "Drawing needs Python with matplotlib, numpy and netCDF4; TERRANE_PYTHON names another Python.");
  verb->callback([&line] {
    line.status = plot(line.picture);
    if (line.status == 0 && !line.picture.out.empty()) say("wrote {}\n", printable(line.picture.out));
  });
}

void add_devices(CommandLine& line) {
  auto* verb = line.app.add_subcommand("devices", "List the devices and features of this machine and build.");
  verb->callback([&line] { line.status = devices(line.mpi); });
}

struct Verb {
  std::string_view name;
  void (*add)(CommandLine& line);
};
constexpr Verb verbs[] = {{"run", add_run},   {"invert", add_invert},  {"check", add_check},
                          {"new", add_new},   {"info", add_info},      {"convert", add_convert},
                          {"plot", add_plot}, {"devices", add_devices}};

/// Reports an unknown verb and suggests the nearest one, which the message of CLI11 does not do.
void check_verb(std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const auto& verb : verbs) names.push_back(verb.name);
  if (std::ranges::find(names, wanted) == names.end())
    throw InputError(std::string(wanted), "there is no such verb." + did_you_mean(wanted, names),
                     "Allowed: " + joined(names) + ". `terrane --help` tells what they do.");
}

/// The text of an error that occurred on one of several ranks.
std::string told_of_rank(const std::exception& error, const Comm& comm) {
  const std::string_view no_memory = std::bad_alloc().what();
  const auto* known = dynamic_cast<const Error*>(&error);
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                      (known != nullptr && known->problem() == no_memory);
  if (!memory) return error.what();
  return fmt::format("{}: out of memory\n         Start fewer ranks on each node, with more threads each.",
                     known != nullptr ? known->where() : fmt::format("rank {}", comm.rank()));
}

/// Prints an error and returns the exit status: 2 for bad input, 130 if interrupted, else 1.
int status_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    complain("out of memory\n         `terrane check JOB` tells how much a run needs.");
    return 1;
  }
  if (dynamic_cast<const Error*>(&error) == nullptr) {
    complain(
        fmt::format("internal error: {}\n         This is a fault of the program: please report it with the"
                    " command that you gave.",
                    error.what()));
    return 1;
  }
  complain(error.what());
  if (dynamic_cast<const Cancelled*>(&error) != nullptr) return 130;
  const bool input = dynamic_cast<const InputError*>(&error) != nullptr ||
                     dynamic_cast<const ShapeError*>(&error) != nullptr ||
                     dynamic_cast<const UnsupportedError*>(&error) != nullptr;
  return input ? 2 : 1;
}

/// Adds the verbs, parses the command line and runs the verb; every exception becomes an exit status.
int command_of_rank_0(int argc, const char* const* argv, const Registry& registry, Comm& comm,
                      const std::string& mpi) {
  CommandLine line(registry, comm, mpi);
  auto& app = line.app;
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("terrane: {}\n         `terrane --help` tells what there is.\n", error.what());
  });
  for (const auto& verb : verbs) verb.add(line);
  try {
    if (argc > 1 && argv[1][0] != '-') check_verb(argv[1]);
    app.parse(argc, argv);
    // Text that could not be printed is an error, except for `run`, whose results are files.
    if (const int lost = lost_output(); lost != 0 && line.status == 0 && !app.got_subcommand("run")) {
      complain(fmt::format("standard output: cannot be written: {}", std::strerror(lost)));
      return 1;
    }
    return line.status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const OutOfStep& error) {
    complain(told_of_rank(error, comm));
    comm.abort(1);
    return 1;
  } catch (const std::exception& error) {
    return status_of(error);
  }
}

}  // namespace

int command(int argc, const char* const* argv, Comm& comm, const std::string& mpi) {
  const Registry registry = physics::all();
  if (comm.rank() == 0) {
    const int status = command_of_rank_0(argc, argv, registry, comm, mpi);
    dismiss(comm);
    return status;
  }
  leave_signals_to_rank_0();
  Registry served = registry;
  served.add(physics::inversions().job());
  try {
    serve(served, comm);
  } catch (const std::exception& error) {
    complain(told_of_rank(error, comm));
    comm.abort(1);
    return 1;
  }
  return 0;
}

}  // namespace terrane::cli
