#include "terrane/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
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
  verb.add_option("--threads", options.threads, "How many threads; as simulation.threads.")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
}

int command_of_rank_0(int argc, const char* const* argv, const Registry& registry, Comm& comm,
                      const std::string& mpi) {
  CLI::App app(
      "Terrane computes the fields of an earth model.\n\n"
      "  terrane new gravity -o job.toml    a commented job to start from\n"
      "  terrane check job.toml             what it would do, and what that costs\n"
      "  terrane run job.toml               do it\n"
      "  terrane plot output/fields.nc      maps\n",
      "terrane");
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("terrane: {}\n         `terrane --help` tells what there is.\n", error.what());
  });
  int status = 0;

  JobOptions job;
  auto* run_verb = app.add_subcommand("run", "Run a job and write its files.");
  add_job_options(*run_verb, job);
  run_verb->add_option("-o,--output", job.output, "Folder for the files, in place of output.folder.")
      ->type_name("FOLDER");
  run_verb->add_flag("--resume", job.resume, "Go on from the checkpoint of an interrupted run.");
  run_verb->add_flag("-q,--quiet", job.quiet, "Print warnings and errors only.");
  run_verb->add_flag_callback(
      "--no-plots", [&] { job.plots = false; }, "Leave out the pictures of output.plots.");
  run_verb->footer(
      "Examples:\n"
      "  terrane run job.toml\n"
      "  terrane run job.toml --set survey.height=500 --set 'simulation.channels=[\"all\"]'\n"
      "  terrane run examples/04_southern_africa/job.toml --data ~/data/gravity\n"
      "  mpirun -n 4 terrane run job.toml\n"
      "Files appear complete or not at all. Ctrl-C stops the run within a second (status 130).");
  run_verb->callback([&] { status = run(registry, job, comm); });

  auto* check_verb =
      app.add_subcommand("check", "Do everything except compute, and say what a run would cost.");
  add_job_options(*check_verb, job);
  check_verb->footer("Example:\n  terrane check job.toml");
  check_verb->callback([&] { status = check(registry, job, comm); });

  NewOptions fresh;
  auto* new_verb = app.add_subcommand("new", "Write a commented job file that runs.");
  new_verb->add_option("physics", fresh.physics, "Which physics.")
      ->type_name("PHYSICS")
      ->capture_default_str();
  new_verb->add_option("-o,--output", fresh.file, "File to write; otherwise to the terminal.")
      ->type_name("FILE");
  new_verb->add_option("--mesh", fresh.mesh, "Kind of mesh to show.")
      ->type_name("KIND")
      ->capture_default_str();
  new_verb->add_option("--survey", fresh.survey, "Kind of survey to show.")
      ->type_name("KIND")
      ->capture_default_str();
  new_verb->add_flag("--reference", fresh.reference, "Write the reference of all keys, in Markdown.");
  new_verb->footer(
      "Examples:\n  terrane new gravity -o job.toml\n  terrane new gravity --mesh terrain --survey list");
  new_verb->callback([&] { status = new_job(registry, fresh); });

  std::vector<std::string> files;
  std::string info_mesh;
  auto* info_verb = app.add_subcommand("info", "Tell what files hold: shape, units, range, frame.");
  info_verb->add_option("files", files, "Files of any known format.")->required()->type_name("FILE");
  info_verb->add_option("--mesh", info_mesh, "Mesh of files of cell values (UBC .den, .npy).")
      ->type_name("FILE");
  info_verb->footer(
      "Examples:\n  terrane info output/fields.nc stations.csv\n  terrane info model.den --mesh mesh.msh");
  info_verb->callback([&] { status = info(files, info_mesh); });

  ConvertOptions conversion;
  bool formats = false;
  auto* convert_verb = app.add_subcommand("convert", "Turn a file into another format.");
  auto* from = convert_verb->add_option("in", conversion.from, "File to read.")->type_name("IN");
  auto* to = convert_verb->add_option("out", conversion.to, "File to write; its extension names the format.")
                 ->type_name("OUT");
  convert_verb->add_option("--mesh", conversion.mesh, "Mesh of a file of cell values (UBC .den, .npy).")
      ->type_name("FILE");
  convert_verb->add_option("--field", conversion.field, "Only this field.")->type_name("NAME");
  convert_verb
      ->add_option("--property", conversion.property, "What values without a name are: conductivity, ...")
      ->type_name("NAME");
  convert_verb->add_option("--unit", conversion.unit, "Unit of the values, where the file gives none.")
      ->type_name("UNIT");
  convert_verb
      ->add_option("--length-unit", conversion.length_unit, "Unit of the coordinates, where none is given.")
      ->type_name("UNIT");
  convert_verb
      ->add_option("--frame", conversion.frame,
                   "Names, axes and signs to write: enu, harmonica, simpeg, ubc, tomofast.")
      ->type_name("FRAME");
  convert_verb->add_option("--from-frame", conversion.from_frame, "Frame of the file, where it does not say.")
      ->type_name("FRAME");
  convert_verb->add_option("--units", conversion.units, "Units to write with --frame: geo or si.")
      ->type_name("SYSTEM");
  convert_verb->add_option("--from", conversion.from_format, "Format to read, when the name does not tell.")
      ->type_name("FORMAT");
  convert_verb->add_option("--to", conversion.to_format, "Format to write, when the name does not tell.")
      ->type_name("FORMAT");
  convert_verb->add_flag("--formats", formats, "List the formats.");
  convert_verb->footer(
      "Examples:\n"
      "  terrane convert model.den model.vtr --mesh mesh.msh\n"
      "  terrane convert fields.nc fields.csv --frame harmonica\n"
      "  terrane convert --formats");
  convert_verb->callback([&] {
    if (formats) {
      status = list_formats();
      return;
    }
    if (from->empty()) throw CLI::RequiredError("convert: IN");
    if (to->empty()) throw CLI::RequiredError("convert: OUT");
    status = convert(conversion);
  });

  PlotOptions picture;
  auto* plot_verb = app.add_subcommand("plot", "Draw maps of a result, or a slice of a model.");
  plot_verb->add_option("file", picture.file, "Result or model (.nc, .h5, .csv).")
      ->required()
      ->type_name("FILE");
  plot_verb->add_option("-o,--out", picture.out, "Picture: .png, .svg or .pdf; otherwise FILE.png.")
      ->type_name("FILE");
  plot_verb->add_option("-c,--channels", picture.channels, "What to draw; otherwise everything.")
      ->type_name("NAME")
      ->delimiter(',');
  plot_verb->add_option("--title", picture.title, "Line above the maps.")->type_name("TEXT");
  plot_verb
      ->add_option("--slice", picture.slice, "Where to cut a model: up=-4000, northing=11000, easting=0.")
      ->type_name("AXIS=METRES");
  plot_verb->add_option("--dpi", picture.dpi, "Resolution of a .png.")
      ->type_name("N")
      ->check(CLI::Range(30, 1200));
  plot_verb->footer(
      "Examples:\n"
      "  terrane plot output/fields.nc\n"
      "  terrane plot output/fields.nc --channels g_u,g_uu --out maps.svg\n"
      "  terrane plot output/model.h5 --slice up=-4000\n"
      "Drawing needs Python with matplotlib, numpy and netCDF4; TERRANE_PYTHON names another Python.");
  plot_verb->callback([&] { status = plot(picture); });

  auto* devices_verb = app.add_subcommand("devices", "Tell what this machine offers.");
  devices_verb->callback([&] { status = devices(mpi); });

  try {
    if (argc > 1 && argv[1][0] != '-') {
      static constexpr std::string_view verbs[] = {"run",     "check", "new",    "info",
                                                   "convert", "plot",  "devices"};
      const std::string_view verb = argv[1];
      if (std::find(std::begin(verbs), std::end(verbs), verb) == std::end(verbs))
        throw InputError(std::string(verb), "there is no such verb." + did_you_mean(verb, verbs),
                         "Allowed: " + joined(verbs) + ". `terrane --help` tells what they do.");
    }
    app.parse(argc, argv);
    // What `run` says is a courtesy; of the other verbs the text is what was asked for.
    if (const int lost = lost_output(); lost != 0 && status == 0 && !run_verb->parsed()) {
      complain(fmt::format("standard output: cannot be written: {}", std::strerror(lost)));
      return 1;
    }
    return status;
  } catch (const OutOfStep& error) {
    complain(error.what());
    comm.abort(1);
    return 1;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Cancelled& error) {
    complain(error.what());
    return 130;
  } catch (const InputError& error) {
    complain(error.what());
    return 2;
  } catch (const ShapeError& error) {
    complain(error.what());
    return 2;
  } catch (const UnsupportedError& error) {
    complain(error.what());
    return 2;
  } catch (const Error& error) {
    complain(error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    complain("out of memory\n         `terrane check JOB` tells how much a run needs.");
    return 1;
  } catch (const std::exception& error) {
    complain(
        fmt::format("internal error: {}\n         This is a fault of the program: please report it with the"
                    " command that you gave.",
                    error.what()));
    return 1;
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
  try {
    serve(registry, comm);
  } catch (const std::exception& error) {
    complain(error.what());
    comm.abort(1);
    return 1;
  }
  return 0;
}

}  // namespace terrane::cli
