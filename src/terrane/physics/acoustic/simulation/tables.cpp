#include "terrane/physics/acoustic/simulation/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "terrane/job/blame.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::acoustic {

namespace {

/// The numbers in a file. unit: set to the unit of its column
std::vector<double> numbers_of(const Config& table, std::string_view key, std::string& unit) {
  auto content = read_content(table, key);
  tell_notes(table, key, content);
  if (auto* array = std::get_if<io::Array>(&content)) return std::move(array->values);
  if (auto* rows = std::get_if<io::Table>(&content))
    if (rows->columns.size() == 1) {
      auto& column = rows->columns.front();
      if (column.unit != "1") unit = column.unit;
      return std::move(column.values);
    }
  throw table.wrong(key, "holds neither an array nor a table of one column",
                    "Of a table with times keep the values alone: sample_step says how far apart they are.");
}

std::vector<Component> read_record(const Config& table) {
  std::vector<Component> record;
  try {
    for (const auto& name : table.texts("record")) record.push_back(component_of(name));
  } catch (const InputError& error) {
    throw table.wrong("record", error.problem(), error.next());
  }
  return record;
}

/// The position of a cell for messages: "at easting 75 m, northing 0 m, up -965 m".
std::string place_of_cell(const TensorMesh& mesh, std::size_t cell) {
  const std::size_t east = mesh.easting().size() - 1, north = mesh.northing().size() - 1;
  const auto middle = [](const std::vector<double>& faces, std::size_t n) {
    return (faces[n] + faces[n + 1]) / 2;
  };
  return fmt::format("at easting {:.6g} m, northing {:.6g} m, up {:.6g} m",
                     middle(mesh.easting(), cell % east), middle(mesh.northing(), cell / east % north),
                     middle(mesh.up(), cell / east / north));
}

}  // namespace

std::span<const Key> source_keys() {
  return keys_of<Wavelet>({{"at", "list of 3 lengths each", "none",
                            "Easting, northing and up of each shot: [[1000, 0, -15]].", "[[1000, 0, -15]]"},
                           {"first", "list of 3 lengths", "none",
                            "First of several evenly spaced shots on a line, in place of at."},
                           {"last", "list of 3 lengths", "none", "Last shot of the line."},
                           {"count", "count", "none", "Number of shots on the line."}});
}
std::span<const Key> boundary_keys() {
  return keys_of<Layers>(
      {{"top", "text", "\"free_surface\"", "cpml (absorbs), sponge (absorbs less), free_surface, or wall."},
       {"bottom", "text", "\"cpml\"", "The same for the bottom."},
       {"west", "text", "\"cpml\"", "The same for the west side."},
       {"east", "text", "\"cpml\"", "The same for the east side."},
       {"south", "text", "\"cpml\"",
        "The same for the south side; no effect if the mesh is one cell wide from south to north."},
       {"north", "text", "\"cpml\"", "The same for the north side."}});
}
std::span<const Key> simulation_keys() {
  return keys_of<Problem, Settings, AccuracyOfTraces>(
      {{"physics", "text", "", "What is computed.", "\"acoustic\""}},
      {{"smoothing", "length", "none",
        "For born and migration: standard deviation of the Gaussian that smooths the model.", ""},
       {"observed", "path", "none",
        "For migration: file of the gathers to migrate. SEG-Y, SU, RSF and NetCDF contain traces of all "
        "shots and receivers, .npy an array [shot, time, receiver] at the time steps of the run. By default "
        "gathers are computed from the model."},
       {"sample", "time", "none",
        "Time between the samples of the written gathers, such as \"4 ms\". The time step is chosen such "
        "that this is a whole number of steps. By default every step is written."}});
}

Wavelet read_wavelet(const Config& table, std::string* unit) {
  Wavelet w;
  read_fields(table, w);
  if (w.kind == WaveletKind::ricker || w.kind == WaveletKind::gabor) {
    if (!table.has("frequency"))
      throw table.wrong("frequency", "missing", "Of the peak: frequency = \"20 Hz\".");
    w.frequency = table.positive("frequency", Quantity::frequency);
  } else if (w.kind == WaveletKind::ormsby) {
    if (!table.has("corners")) throw table.wrong("corners", "missing", "Such as corners = [5, 10, 40, 60].");
    const auto corners = table.numbers("corners", Quantity::dimensionless, 4);
    std::copy(corners.begin(), corners.end(), w.corners.begin());
  } else {
    if (!table.has("file")) throw table.wrong("file", "missing", "A table with one column, or .npy.");
    std::string of_file;
    w.samples = numbers_of(table, "file", of_file);
    if (unit != nullptr) *unit = of_file;
    if (!table.has("sample_step"))
      throw table.wrong("sample_step", "missing", "Such as sample_step = \"1 ms\".");
    w.sample_step = table.positive("sample_step", Quantity::time);
  }
  return w;
}

void expect_wavelet_unit(const Config& table, const std::string& unit, const TensorMesh& mesh) {
  const bool plane = mesh.n_east() == 1 || mesh.n_north() == 1 || mesh.n_up() == 1;
  const char* wanted = plane ? "Pa" : "Pa m";
  auto said = unit;  // a file of one column has "Pa.m", as a blank would begin another column
  std::replace_if(
      said.begin(), said.end(), [](char c) { return c == '.' || c == '*'; }, ' ');
  if (said.empty() || said == wanted) return;
  throw table.wrong("file", fmt::format("its values are in {}, and a wavelet is in {} here", unit, wanted),
                    fmt::format("Write them in {}: \"pressure [{}]\".", wanted, plane ? "Pa" : "Pa.m"));
}

std::vector<Place> read_shots(const Config& table) {
  if (table.has("at")) return read_positions(table, "at");
  for (const auto* key : {"first", "last", "count"})
    if (!table.has(key))
      throw table.wrong(key, "missing", "Give at, a list of places, or first, last and count of a line.");
  const auto first = read_position(table, "first"), last = read_position(table, "last");
  const auto count = table.count("count", 1, 1'000'000);
  std::vector<Place> all;
  for (std::uint64_t n = 0; n < count; ++n) {
    const double t = count == 1 ? 0 : static_cast<double>(n) / static_cast<double>(count - 1);
    Place at{};
    for (std::size_t a = 0; a < 3; ++a) at[a] = first[a] + t * (last[a] - first[a]);
    all.push_back(at);
  }
  return all;
}

void read_boundary(const Config& table, Problem& p) {
  const auto side = [&](std::string_view key) { return chosen<Boundary>(table, key, boundary_names); };
  p.sides = {{{side("bottom"), side("top")}, {side("south"), side("north")}, {side("west"), side("east")}}};
  read_fields(table, p.layers);
}

void read_simulation(const Config& table, Problem& p, Settings& s, bool inverts) {
  table.text("physics");
  read_fields(table, p);
  read_fields(table, s);
  p.record = read_record(table);
  if (table.has("density") && p.equation == Equation::variable_density)
    throw table.wrong("density", "equation = \"variable_density\" does not take it",
                      "Take it away; the density is that of the model.");
  if (table.has("scratch")) s.scratch = table.path("scratch").string();
  if (s.kept_in != KeptIn::automatic && s.keeping != Keeping::automatic && !keeps_records(s.keeping))
    throw table.wrong("kept_in", fmt::format("wavefield = \"{}\" keeps nothing there", to_string(s.keeping)),
                      "Take it away, or wavefield = \"store\", \"boundary\" or a compressed one.");
  for (const auto& [key, given] :
       {std::pair{"wavefield", s.keeping != Keeping::automatic}, std::pair{"lags", s.lags > 0},
        std::pair{"kept_in", s.kept_in != KeptIn::automatic}, std::pair{"scratch", !s.scratch.empty()}})
    if (given && s.task != Task::migration && !inverts)
      throw table.wrong(key, "is of migration", "Take it away, or kind = \"migration\".");
}

AccuracyOfTraces read_accuracy(const Config& table, const Settings& s, bool inverts) {
  if (inverts || s.task != Task::modelling)
    refuse_errors_of_waves(table,
                           "Leave the key out. A job of the same shots with kind = \"modelling\" states the "
                           "errors of gathers.");
  AccuracyOfTraces accuracy;
  read_fields(table, accuracy);
  return accuracy;
}

Snapshots read_snapshots(const Config& job, const Settings& s, bool inverts) {
  Snapshots snapshots;
  if (!job.has("snapshots")) return snapshots;
  if (inverts || s.task == Task::migration)
    throw InputError(job.where("snapshots"),
                     inverts ? "an inversion takes no snapshots" : "a migration takes no snapshots",
                     "Take the table away; kind = \"modelling\" of the same shots has them.");
  const auto table = job.table("snapshots").describe({keys_of<Snapshots>()});
  read_fields(table, snapshots);
  snapshots.shot = static_cast<std::size_t>(table.count("shot", 1, 1'000'000) - 1);
  if (table.has("box")) {
    const auto box = table.numbers("box", Quantity::length, 6);
    std::copy(box.begin(), box.end(), snapshots.box.begin());
  }
  return snapshots;
}

void refuse_to_invert(const Config& table, const Settings& s) {
  if (s.task == Task::born)
    throw table.wrong("kind", "an inversion explains all waves, or those that were scattered once",
                      "Take kind = \"modelling\" and find velocities, or kind = \"migration\" and find their "
                      "change by least squares.");
  if (table.has("observed"))
    throw table.wrong("observed", "what an inversion explains is inversion.observed", "Write it there.");
  if (s.lags > 0)
    throw table.wrong("lags", "an inversion finds one model, not an image at each lag", "Take it away.");
  if (s.keeping == Keeping::compressed || s.keeping == Keeping::boundary_compressed)
    throw table.wrong("wavefield", "16 bits per node make no exact adjoint",
                      "Take auto, store, checkpoints or boundary.");
  if (s.keeping == Keeping::random_walls)
    throw table.wrong("wavefield", "random walls add noise to what must be an exact adjoint",
                      "Take auto, store, checkpoints or boundary.");
}

namespace {

/// Moves a property of all cells out of the model, without a copy if the model has one value per cell.
std::vector<double> values_taken_from(EarthModel& model, std::string_view name) {
  const auto& cells = std::get<MeshCells>(model.geometry);
  if (cells.cell.size() < cells.mesh.size()) return model.dense(name);
  const auto own = std::ranges::find(model.properties, name, &Property::name);
  return std::exchange(own->values, {});
}

}  // namespace

std::vector<double> velocity_of(EarthModel& model, const Config& job) {
  mesh_of_cells(model, job, "waves need", "Take mesh.kind = \"regular\".");
  const auto table = job.table("model");
  if (!model.has("velocity_p"))
    throw InputError(table.where(), "the model has no velocity_p",
                     "Give [model] or its bodies velocity_p = \"2000 m/s\", the whole mesh included.");
  auto values = values_taken_from(model, "velocity_p");
  const auto lacks = [&](std::size_t n) { return !(values[n] > 0); };
  if (const auto first = first_where(values.size(), 0, lacks); first < values.size()) {
    const auto missing = all_where(values.size(), 0, lacks).size();
    throw InputError(
        table.where(),
        fmt::format("{} of {} cells have no velocity_p, or zero: the first is {}", missing, values.size(),
                    place_of_cell(std::get<MeshCells>(model.geometry).mesh, first)),
        "Begin with a body that fills the mesh, such as kind = \"layer\", and paint others over it; files "
        "have a velocity for water and air, too.");
  }
  return values;
}

void read_medium(EarthModel& model, const Config& job, Problem& p) {
  const auto cells = p.velocity.size();
  const auto values_of = [&](std::string_view name) {
    return model.has(name) ? values_taken_from(model, name) : filled(cells, 0.0);
  };
  if (p.equation == Equation::variable_density) {
    if (!model.has("density"))
      throw InputError(
          job.table("model").where(), "the model has no density",
          "Give bodies density = \"2000 kg/m3\", or simulation.equation = \"constant_density\".");
    p.density = values_taken_from(model, "density");
  }
  if (p.fields() == 1) return;
  p.epsilon = values_of("epsilon");
  p.delta = values_of("delta");
  if (p.equation == Equation::vti) return;
  p.tilt = values_of("tilt");
  p.azimuth = values_of("tilt_azimuth");
  for (auto* angles : {&p.tilt, &p.azimuth})
    for_each_stretch(angles->size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) (*angles)[n] *= std::numbers::pi / 180;
    });
}

std::size_t read_sample(const Config& table, Problem& p) {
  const auto sample = table.has("sample") ? table.positive("sample", Quantity::time) : 0.0;
  if (sample == 0) return 1;
  const double highest = p.wavelet.highest_frequency();
  if (2 * sample * highest > 1)
    throw table.wrong("sample",
                      fmt::format("{:.4g} s is too long for waves of up to {:.4g} Hz", sample, highest),
                      fmt::format("Half a period of them is {:.4g} s.", 0.5 / highest));
  const double step = p.step > 0 ? p.step : 0.9 * p.longest_step();
  const double parts = std::ceil(sample / step - 1e-9);
  p.step = sample / parts;
  return static_cast<std::size_t>(parts);
}

void at_key(const InputError& error, const Config& job) {
  constexpr std::string_view prefix = "acoustic: ";
  if (!std::string_view(error.where()).starts_with(prefix)) throw;
  const auto where = std::string_view(error.where()).substr(prefix.size());
  if (where == "snapshots") throw InputError(job.where("snapshots"), error.problem(), error.next());
  if (where == "grid") throw InputError(job.where("mesh"), error.problem(), error.next());
  const auto source = job.table("source");
  if (where.starts_with("source of "))  // for example "source of shot 3"
    throw source.wrong(source.has("at")                                    ? "at"
                       : where != "source of shot 1" && source.has("last") ? "last"
                                                                           : "first",
                       fmt::format("{}: {}", where.substr(10), error.problem()), error.next());
  if (where.starts_with("shots")) throw source.wrong("at", error.problem(), error.next());
  if (where.starts_with("receiver"))
    throw InputError(place_of_stations(job, error.problem()), fmt::format("{} {}", where, error.problem()),
                     error.next());
  for (const auto* property : {"density", "epsilon", "delta", "tilt"})
    if (where.starts_with(property))
      throw InputError(job.table("model").where(), fmt::format("{} {}", where, error.problem()),
                       error.next());
  throw_at_its_key<Problem, Settings>(error, "acoustic", job);
}

std::optional<double> read_smoothing(const Config& table, const Grid& grid) {
  const auto length = table.optional_number("smoothing", Quantity::length);
  if (!length) return length;
  double width = 0;
  for (std::size_t a = 0; a < 3; ++a)
    width = std::max(width, static_cast<double>(grid.nodes[a]) * grid.spacing[a]);
  if (!(*length >= 0 && *length <= width))
    throw table.wrong("smoothing", fmt::format("a Gaussian of {:.4g} m", *length),
                      fmt::format("Allowed: 0 to {:.6g} m, the width of the mesh.", width));
  return length;
}

std::span<const Section> sections() {
  static const std::array all{
      Section{"source", "", "Shots and their wavelet.", source_keys()},
      Section{"boundary", "", "Boundary conditions at the sides of the mesh.", boundary_keys()},
      Section{"snapshots", "",
              "Snapshots of one shot, for films: the pressure at all nodes, in the .nc files of "
              "output.files. For modelling and born.",
              keys_of<Snapshots>(), false},
      Section{"simulation", "", "What is computed, and how.", simulation_keys()},
  };
  return all;
}

std::vector<std::string_view> properties_read(Equation equation) {
  std::vector<std::string_view> read{"velocity_p"};
  if (equation == Equation::variable_density) read.emplace_back("density");
  if (equation == Equation::vti || equation == Equation::tti) read.insert(read.end(), {"epsilon", "delta"});
  if (equation == Equation::tti) read.insert(read.end(), {"tilt", "tilt_azimuth"});
  return read;
}

}  // namespace terrane::acoustic
