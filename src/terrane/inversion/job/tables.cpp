#include "terrane/inversion/job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job/cell_files.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/ubc_octree.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/described.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/mesh/ground_below.hpp"
#include "terrane/model/properties.hpp"

namespace terrane::inversion {

namespace {

constexpr std::array<std::string_view, 4> choices{"discrepancy", "fixed", "gcv", "l_curve"};
constexpr std::array<std::string_view, 2> solvers{"data_space", "model_space"};

constexpr Key keys_of_inversion[] = {
    {"floor", "list of numbers", "[]",
     "Smallest uncertainty of the data, in their unit, one for each channel. If floor or percent is given it "
     "replaces uncertainties of the survey; 0 in both keeps a channel's own. One number applies to all "
     "channels, if they have one unit. Of waves for each recorded component, Pa or m/s.",
     "[0.01]"},
    {"percent", "list of numbers", "[]",
     "Percentage of each datum that is added to the floor, one for each channel or one for all; of waves, of "
     "the root mean square of each trace."},
    {"model_error", "number", "0",
     "Errors of mesh and physics, as a percentage of each datum, added in quadrature to the uncertainties of "
     "the job or the survey. Not for waves."},
    {"trend", "text", "\"none\"",
     "A regional field found together with the model, for each channel: none, constant, plane or "
     "quadratic."},
    {"huber", "number", "0",
     "Outliers: residual in standard deviations beyond which data get less weight, such as 1.5; 0: squares "
     "for all data."},
    {"chi", "number", "1", "Target of φ_d, as a multiple of the number of data."},
    {"choice", "text", "\"discrepancy\"",
     "How β is chosen: discrepancy (so that φ_d = chi N), gcv, l_curve, or fixed."},
    {"beta", "number", "0", "β of choice = \"fixed\"."},
    {"length_scale", "list of 3 lengths", "none",
     "Lengths over which a model is smooth along easting, northing and up; without it, three times the "
     "median width of the cells."},
    {"alpha_s", "number", "none",
     "Weight of smallness, with alpha_x, alpha_y, alpha_z in place of length_scale."},
    {"alpha_x", "number", "none", "Weight of flatness along easting."},
    {"alpha_y", "number", "none", "Weight of flatness along northing."},
    {"alpha_z", "number", "none", "Weight of flatness along up."},
    {"weighting", "text", "\"depth\"",
     "Weights that counteract the decay with depth: depth, distance, sensitivity, none; for resistivities "
     "none, unless sensitivity is requested; for chargeabilities sensitivity, or none; for velocities none."},
    {"weighting_file", "path", "none",
     "The weight w of each cell, in place of weighting: a model file of numbers above zero, such as UBC's "
     "distance_weight.txt. Of gravity and magnetics."},
    {"exponent", "number", "none",
     "Exponent of depth and distance weights; by default 2 for gravity, 3 for gradients and magnetic "
     "fields."},
    {"z0", "length", "0", "z0 of depth weights; 0 fits it to the decay below the middle station."},
    {"weights_in_gradients", "true or false", "true",
     "Differences of weighted cells, as UBC; false: weighted differences, as SimPEG, and as compact norms "
     "have "
     "it unless true stands here."},
    {"weights_file", "path", "none",
     "Factors of the summands of the model norm, in the format of UBC's weights: cells (W.S), faces across "
     "easting, northing and up (W.E, W.N, W.Z)."},
    {"reference", "property or path", "0",
     "Reference model: a number, or a file of the property. By default for direct current the median of the "
     "apparent resistivities, for chargeabilities 0, for electromagnetic fields and waves [model]. For a "
     "least-squares migration it is the change of velocity."},
    {"start", "property or path", "none",
     "Starting model of resistivities and velocities, if it is not the reference; with amplitudes of "
     "magnetic fields "
     "of the susceptibilities, if it is not the uniform one that fits best."},
    {"observed", "path", "none",
     "Of electromagnetic fields: what was measured, a table as a run writes it, with the columns source, "
     "frequency, receiver and of each component e_e_real, e_e_imag and, where they are known, "
     "e_e_uncertainty (of each part). Of plane waves survey.file holds it: EDI, a ModEM list, or a table "
     "with frequency, z_ne_real, z_ne_imag, z_ne_uncertainty, … Of waves: gathers, SEG-Y, SU, RSF or NetCDF "
     "with traces of all shots and receivers, or .npy [shot, time, receiver] at the time steps of the run; "
     "of "
     "a least-squares migration without what comes straight from the source."},
    {"elements", "list of texts", "[]",
     "For plane waves, the elements to invert: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n; nothing named: "
     "all "
     "that the file has.",
     ""},
    {"datum", "text", "\"log_apparent_resistivity\"",
     "What is fitted. Of direct current: log_apparent_resistivity, apparent_resistivity or resistance; or "
     "chargeability, in rock whose resistivity is known. Of electromagnetic fields: amplitude_phase (the "
     "default there; of impedances the apparent resistivity and "
     "the phase, but real and imaginary parts of ee, nn and tippers) or real_imaginary."},
    {"leave_out", "list of texts", "[]",
     "Data that are left out, by their numbers, counted from 1, such as \"7\" or \"12-20\": for direct "
     "current arrays, for gravity and magnetics stations. For direct current also \"unusable\": all arrays "
     "without a "
     "datum, without a geometric factor below 1e6 m, or whose apparent "
     "resistivity is not "
     "above zero where its logarithm is fitted. A note names them.",
     ""},
    {"resistivity", "property or path", "none",
     "For datum = \"chargeability\": resistivity of the rock, a number or a model written by an inversion of "
     "the resistances.",
     ""},
    {"most_steps", "count", "30",
     "For resistivities, velocities and amplitudes of magnetic fields: largest number of Gauss-Newton steps; "
     "5 to 10 "
     "are usual."},
    {"most_products", "count", "none",
     "For waves: largest number of products with J and its transpose in a least-squares migration, or in "
     "each descent of a Gauss-Newton step, which has one descent, and up to three with bounds or near its "
     "end; by default 20. Each product models and migrates all shots."},
    {"reference_in_gradients", "true or false", "true",
     "Flatness of the difference from the reference (SMOOTH_MOD_DIF); false: of the model (SMOOTH_MOD)."},
    {"lower", "property or path", "none",
     "Lower bound of every cell: a number, or a file of the property. By default for chargeabilities 0, for "
     "velocities the lowest that the cells resolve."},
    {"upper", "property or path", "none",
     "Upper bound; of magnetizations of their strength, whatever the direction. By default for "
     "chargeabilities 0.99, for velocities the largest for which the time step is stable, 1.37 times the "
     "largest of the starting model."},
    {"norms", "list of 4 numbers", "[2, 2, 2, 2]",
     "p of smallness and of flatness along easting, northing and up, from 0 to 2; below 2 bodies become "
     "compact. Of magnetizations the norms are of lengths, whatever the direction."},
    {"epsilon", "number", "0.02",
     "ε of compact norms, as a fraction of the largest value of the smooth model."},
    {"topography", "path or length", "none",
     "Elevation grid, or one height; cells whose centres lie above it are left out."},
    {"active_file", "path", "none",
     "A file of 1 and 0 for each cell: cells with 0, or none, are not changed. They keep the values of a "
     "file "
     "named by reference, whose field is part of gravity and magnetic data; otherwise they are empty."},
    {"storage", "text", "\"auto\"",
     "Storage of sensitivities: lattice (by FFT), tree (clusters of cells), fmm (clusters of cells at "
     "boxes "
     "of stations, by fast multipoles on the CPU), single (memory, single precision), dense (double), disk, "
     "none (computed again for each product)."},
    {"storage_file", "path", "none", "File of storage = \"disk\"; reused by later runs of the same problem."},
    {"accuracy", "number", "1e-9", "Relative error allowed in every sensitivity."},
    {"tree_accuracy", "number", "1e-6",
     "Accuracy of products by storage = \"tree\" and \"fmm\", relative to the largest value for equal cells; "
     "1e-7 at best."},
    {"solver", "text", "\"data_space\"",
     "data_space: all β at once by Lanczos; model_space: β lowered step by step, for comparison."},
    {"tolerance", "number", "1e-3",
     "Tolerance of the solver: relative change of φ_d and β below which it is converged. By default for "
     "chargeabilities 1e-5."},
    {"misfit_tolerance", "number", "0.02", "Relative error of φ_d if β is found by trial, within bounds."},
    {"posterior", "true or false", "false",
     "Adds the standard deviation and the resolution of every cell; for up to 2000 data."},
    {"rocks", "list of 2 properties", "none",
     "For joint.rocks: the property in the one rock and in the other, as differences from a part that does "
     "not affect the data, such as a reference density.",
     ""},
};
constexpr Section table_of_inversion{"inversion", "", "Settings of the inversion.", keys_of_inversion};

constexpr Key keys_of_joint[] = {
    {"coupling", "number", "1",
     "Weight of the cross-gradients, which favour a common structure of the models; 0: none.", ""},
    {"rocks", "number", "0",
     "Weight of the term that favours mixtures of two rocks, whose properties are inversion.rocks.", ""},
    {"most_rounds", "count", "12",
     "Largest number of rounds; in a round every model is computed again with the others fixed.", ""},
    {"tolerance", "number", "0.02",
     "Change of the models in a round, relative to their largest value, below which the rounds end.", ""},
};
constexpr Section table_of_joint{
    "joint", "",
    "Joint inversion over one mesh; keys of [inversion] for one simulation are in [inversion.NAME].",
    keys_of_joint, false};

constexpr Key keys_of_ground[] = {
    {"topography", "length or path", "none",
     "The ground, of all simulations: an elevation grid, a level, or the name of a [[model.surface]]. Cells "
     "that contain any ground are unknowns, weighted by their fraction of ground; electromagnetic fields use "
     "whole cells only. In place of inversion.topography and simulation.topography.",
     ""},
    {"surface", "tables", "none", "[[model.surface]]: surfaces by name.", ""},
};
constexpr Section table_of_ground{"model", "",
                                  "If this table describes an earth, an inversion uses its ground; `terrane "
                                  "run` computes fields of its rock.",
                                  keys_of_ground, false};

constexpr std::array<std::string_view, 4> trends{"none", "constant", "plane", "quadratic"};
double median_width(const std::vector<double>& faces) {
  std::vector<double> widths;
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) widths.push_back(faces[i + 1] - faces[i]);
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2),
                   widths.end());
  return widths[widths.size() / 2];
}

Alphas read_alphas(const Config& table, const MeshOfJob& of) {
  const auto& mesh = of.mesh;
  const bool by_alpha =
      table.has("alpha_s") || table.has("alpha_x") || table.has("alpha_y") || table.has("alpha_z");
  if (by_alpha && table.has("length_scale"))
    throw table.wrong("length_scale", "alpha_s … alpha_z are there already", "Keep one of the two.");
  Alphas alphas;
  if (!by_alpha) {
    std::array<double, 3> length{3 * median_width(mesh.easting()), 3 * median_width(mesh.northing()),
                                 3 * median_width(mesh.up())};
    if (of.smooth[0] > 0) length = of.smooth;
    if (table.has("length_scale")) {
      const auto given = table.numbers("length_scale", Quantity::length, 3);
      std::copy(given.begin(), given.end(), length.begin());
    }
    for (const double l : length)
      if (!(l >= 0)) throw table.wrong("length_scale", "a length is below zero");
    return Alphas::from_lengths(length);
  }
  alphas.smallness = table.optional_number("alpha_s").value_or(1);
  const char* names[] = {"alpha_x", "alpha_y", "alpha_z"};
  for (std::size_t a = 0; a < 3; ++a) {
    alphas.flatness[a] = table.optional_number(names[a]).value_or(0);
    if (!(alphas.flatness[a] >= 0)) throw table.wrong(names[a], "it is below zero");
  }
  if (!(alphas.smallness > 0))
    throw table.wrong(
        "alpha_s", "it is not above zero",
        "Without smallness a constant model costs nothing; 1e-4 of alpha_x per square metre is little.");
  return alphas;
}

}  // namespace

const Section& inversion_section() { return table_of_inversion; }
const Section& joint_section() { return table_of_joint; }
const Section& ground_section() { return table_of_ground; }

JointSettings read_joint(const Config& job) {
  const auto table = job.table("joint").describe({keys_of_joint});
  JointSettings joint;
  joint.coupling = table.number("coupling");
  joint.rocks = table.number("rocks");
  for (const char* key : {"coupling", "rocks"})
    if (!(table.number(key) >= 0)) throw table.wrong(key, "it is below zero");
  joint.most_rounds = static_cast<int>(table.count("most_rounds", 1, 10'000));
  joint.tolerance = table.positive("tolerance");
  return joint;
}

std::optional<TwoRocks> read_rocks(const Config& table, const std::string& property) {
  if (!table.has("rocks")) return std::nullopt;
  const auto given = table.numbers("rocks", property_kind(property).quantity, 2);
  if (given[0] == given[1]) throw table.wrong("rocks", "the two rocks are alike");
  return TwoRocks{given[0], given[1]};
}

std::optional<TwoRocks> read_rocks_of_logarithms(const Config& table, const std::string& property) {
  const auto rocks = read_rocks(table, property);
  if (!rocks) return rocks;
  if (!(rocks->first > 0 && rocks->second > 0))
    throw table.wrong("rocks", fmt::format("a {} is not above zero", property));
  return TwoRocks{std::log(rocks->first), std::log(rocks->second)};
}

Settings read_common_settings(const Config& table, const MeshOfJob& mesh) {
  Settings s;
  s.alphas = read_alphas(table, mesh);
  s.weights_in_gradients = table.flag("weights_in_gradients");
  s.reference_in_gradients = table.flag("reference_in_gradients");
  s.choice = chosen<Choice>(table, "choice", choices);
  s.chi = table.positive("chi");
  s.huber = table.number("huber");
  s.beta = table.number("beta");
  s.tolerance = table.positive("tolerance");
  s.misfit_tolerance = table.positive("misfit_tolerance");
  return s;
}

namespace {

/// Reads the weighting of cells for data without stations.
Weighting read_weighting(const Config& table, Weighting otherwise) {
  if (!table.has("weighting")) return otherwise;
  const auto given = table.text("weighting");
  if (given != "none" && given != "sensitivity")
    throw table.wrong("weighting", fmt::format("\"{}\" is of fields that decay from a body", given),
                      "Take none or sensitivity.");
  return given == "none" ? Weighting::none : Weighting::sensitivity;
}

/// Reads the settings that only linear inversions have.
void read_linear_settings(const Config& table, Settings& s) {
  const auto norms = table.numbers("norms", Quantity::dimensionless, 4);
  std::copy(norms.begin(), norms.end(), s.norms.p.begin());
  if (!table.has("weights_in_gradients")) s.weights_in_gradients = s.norms.square();
  s.epsilon = table.positive("epsilon");
  s.solver = chosen<Solver>(table, "solver", solvers);
  s.posterior = table.flag("posterior");
}

}  // namespace

Settings read_linear(const Config& table, const MeshOfJob& mesh, Weighting weighting) {
  Settings s = read_common_settings(table, mesh);
  s.weighting = read_weighting(table, weighting);
  read_linear_settings(table, s);
  return s;
}

Settings read_steps(const Config& table, const MeshOfJob& mesh) {
  Settings s = read_common_settings(table, mesh);
  s.weighting = read_weighting(table, Weighting::none);
  s.most_steps = static_cast<int>(table.count("most_steps", 1, 10'000));
  return s;
}

Settings read_at_stations(const Config& table, double exponent, const MeshOfJob& mesh) {
  Settings s = read_common_settings(table, mesh);
  s.weighting = chosen<Weighting>(table, "weighting", weighting_names);
  s.exponent = table.optional_number("exponent").value_or(exponent);
  s.z0 = table.number("z0", Quantity::length);
  if (s.z0 < 0) throw table.wrong("z0", "it is below zero");
  s.trend = chosen<Trend>(table, "trend", trends);
  read_linear_settings(table, s);
  return s;
}

std::string octree_file_of(const Config& job) {
  const auto mesh = job.table("mesh");
  if (!mesh.has("file") || is_given(mesh, "file")) return {};  // a mesh passed in memory is no octree
  const auto file = mesh.input_file("file").string();
  return is_octree(file) ? file : std::string();
}

std::optional<Factors> read_weights(const Config& table, const TensorMesh& mesh,
                                    const std::string& mesh_file) {
  if (!table.has("weights_file")) return {};
  if (is_octree(mesh_file))
    throw table.wrong(
        "weights_file",
        fmt::format("the mesh is an octree, read as {} x {} x {} cells of a tensor mesh: weights "
                    "of octree cells and of faces between them have no place there",
                    mesh.n_east(), mesh.n_north(), mesh.n_up()),
        "Write the mesh as a tensor mesh (`terrane convert`), and weights of its cells and "
        "faces; or, in gravity and magnetics, weighting_file, one number for each octree cell.");
  return io::read_ubc_weights(table.input_file("weights_file").string(), mesh);
}

std::vector<double> read_own_weight(const Config& table, const Problem& problem,
                                    const std::string& mesh_file) {
  if (!table.has("weighting_file")) return {};
  if (table.has("weighting"))
    throw table.wrong("weighting_file", "inversion.weighting is there already", "Keep one of the two.");
  const auto whole = marks_of_file(table, "weighting_file", problem.mesh, mesh_file);
  const auto& active = problem.active;
  std::vector<double> weight(active.empty() ? whole.size() : active.size());
  for (std::size_t c = 0; c < weight.size(); ++c) {
    weight[c] = whole[active.empty() ? c : active[c]];
    if (!(weight[c] > 0) || !std::isfinite(weight[c]))
      throw table.wrong(
          "weighting_file",
          fmt::format("the weight of cell {} is {:g}", active.empty() ? c : active[c], weight[c]),
          "They are above zero.");
  }
  return weight;
}

void complete(Bounds& bounds, std::size_t cells) {
  if (bounds.lower.empty() == bounds.upper.empty()) return;
  auto& missing = bounds.lower.empty() ? bounds.lower : bounds.upper;
  missing.assign(cells, bounds.lower.empty() ? -1e30 : 1e30);
}

namespace {

MeshOfJob planned(const Config& job, const MemoryBudget& memory,
                  const std::function<CellsPlan(const MeshWish& wish)>& plan) {
  const auto table = job.table("mesh");
  const auto wish = read_wish(job);
  try {
    auto made = plan(wish);
    memory.require(table.where(), fmt::format("{} cells", made.mesh.size()),
                   static_cast<double>(made.mesh.size()) * 16);
    for (auto& reason : made.reasons) reason = "mesh: " + reason;
    return {std::move(made.mesh), {}, made.smooth, std::move(made.reasons)};
  } catch (const InputError& error) {
    if (error.where() != "mesh") throw;
    throw InputError(table.where(), error.problem(), error.next());
  }
}

/// Throws InputError at inversion.active_file: a mark is neither 1 nor 0 nor NaN (no value), such as -9999.
void expect_marks(const Config& table, const std::vector<double>& marks) {
  const auto is_none = [](double v) { return v != 0 && v != 1 && !std::isnan(v); };
  const auto none = std::find_if(marks.begin(), marks.end(), is_none);
  if (none == marks.end()) return;
  const auto count = std::count_if(marks.begin(), marks.end(), is_none);
  if (*none == -1 && std::count(marks.begin(), marks.end(), -1.0) == count)
    throw table.wrong("active_file", "it marks cells -1: fixed, but part of the model norm",
                      "Mark them 1, and set both of their bounds to the reference.");
  throw table.wrong("active_file",
                    fmt::format("it marks {} of {} cells neither 1 nor 0: {:g} (value {})", count,
                                marks.size(), *none, none - marks.begin() + 1),
                    "Allowed: 1, the cell is changed; 0 or no value (NaN), it is not.");
}

}  // namespace

MeshOfJob read_mesh(const Config& job, const MemoryBudget& memory,
                    const std::function<CellsPlan(const MeshWish& wish)>& plan) {
  if (plans_mesh(job)) return planned(job, memory, plan);
  const auto table = job.table("mesh");
  if (kind_of_mesh(table) != "file") return {build_mesh(job)};
  const auto sections = earth_sections();
  const auto of_file = std::find_if(sections.begin(), sections.end(),
                                    [](const Section& s) { return s.path == "mesh" && s.kind == "file"; });
  const auto described = table.describe({sections.front().keys, of_file->keys});
  auto file = is_given(described, "file") ? std::string() : described.input_file("file").string();
  io::ReadOptions options;
  options.format = described.optional_text("format").value_or("");
  const auto content = read_content(described, "file", options, no_column);
  tell_notes(described, "file", content);
  const auto* data = std::get_if<io::MeshData>(&content);
  if (data == nullptr)
    throw described.wrong("file", fmt::format("\"{}\" holds no tensor mesh", described.text("file")),
                          "`terrane info FILE` tells what a file holds.");
  require_widths(described, *data);
  return {data->mesh, std::move(file)};
}

std::vector<std::uint32_t> read_active(const Config& table, const TensorMesh& mesh,
                                       const std::string& mesh_file,
                                       const std::optional<Projection>& projection,
                                       const MemoryBudget& memory) {
  if (table.has("topography") && table.has("active_file"))
    throw table.wrong("active_file", "inversion.topography is there already", "Keep one of the two.");
  std::vector<std::uint32_t> active;
  if (table.has("active_file")) {
    const auto values = marks_of_file(table, "active_file", mesh, mesh_file);
    expect_marks(table, values);
    for (std::size_t c = 0; c < mesh.size(); ++c)
      if (values[c] == 1) active.push_back(static_cast<std::uint32_t>(c));
  } else if (table.has("topography")) {
    const std::size_t columns = mesh.n_east() * mesh.n_north();
    std::vector<double> height(columns);
    const bool even = !table.is_text("topography");
    if (even) std::fill(height.begin(), height.end(), table.number("topography", Quantity::length));
    const auto ground = even ? Grid{} : read_elevation(table, "topography", projection, memory);
    for (std::size_t c = 0; c < columns && !even; ++c) {
      const auto p = mesh.prism(c);
      height[c] = ground.interpolate(0.5 * (p.west + p.east), 0.5 * (p.south + p.north));
      if (std::isnan(height[c]))
        throw table.wrong("topography",
                          fmt::format("the grid does not reach to ({:g}, {:g}), a column of the mesh",
                                      0.5 * (p.west + p.east), 0.5 * (p.south + p.north)));
    }
    for (std::size_t c = 0; c < mesh.size(); ++c) {
      const auto p = mesh.prism(c);
      if (0.5 * (p.bottom + p.top) <= height[c % columns]) active.push_back(static_cast<std::uint32_t>(c));
    }
  } else {
    return active;
  }
  if (active.empty())
    throw InputError(table.where(), "no cell is active",
                     "The whole mesh lies above the topography, or is marked 0.");
  if (active.size() == mesh.size()) active.clear();
  return active;
}

void put_ground(const Ground& height, std::string where, Problem& problem) {
  auto& ground = problem.ground;
  ground = ground_below(problem.mesh, height);
  for (double& share : ground)  // removes rounding errors of fractions 0 and 1
    share = share < 1e-9 ? 0 : share > 1 - 1e-9 ? 1 : share;
  if (std::all_of(ground.begin(), ground.end(), [](double share) { return share == 1; }))
    return ground.clear();
  for (std::size_t c = 0; c < ground.size(); ++c)
    if (ground[c] > 0) problem.active.push_back(static_cast<std::uint32_t>(c));
  if (problem.active.empty()) throw InputError(where, "the whole mesh lies above the ground");
  problem.ground_key = std::move(where);
}

Ground take_ground(const Config& job, const Config& other, const char* key,
                   const std::optional<Projection>& projection, const MemoryBudget& memory,
                   Problem& problem) {
  auto height = build_ground(job, projection, memory);
  if (!height) return height;
  const auto where = job.table("model").where("topography");
  if (other.has(key))
    throw other.wrong(key, fmt::format("a second ground, beside that of {}", where),
                      "Keep model.topography, from which all simulations take it.");
  put_ground(height, where, problem);
  return height;
}

bool names_file(const Config& table, const char* key) {
  if (!table.has(key) || !table.is_text(key)) return false;
  const auto text = table.text(key);
  return std::filesystem::path(text).has_extension() && std::filesystem::path(text).stem() != "" &&
         !std::isdigit(static_cast<unsigned char>(text.front())) && text.front() != '-';
}

std::vector<double> read_cells(const Config& table, const char* key, const std::string& property,
                               const TensorMesh& mesh, const std::string& mesh_file,
                               std::span<const std::uint32_t> active) {
  const std::size_t cells = active.empty() ? mesh.size() : active.size();
  if (table.is_text(key) && table.text(key) == "none") return {};
  if (names_file(table, key)) {
    const auto whole = values_of_file(table, key, property, mesh, mesh_file);
    std::vector<double> values(cells);
    for (std::size_t c = 0; c < cells; ++c) values[c] = whole[active.empty() ? c : active[c]];
    return values;
  }
  const auto number = table.optional_number(key, kind_of_values(property).quantity);
  return number ? std::vector<double>(cells, *number) : std::vector<double>{};
}

std::vector<double> read_logarithms(const Config& table, const char* key, const std::string& property,
                                    const TensorMesh& mesh, const std::string& mesh_file,
                                    std::span<const std::uint32_t> active) {
  if (!table.has(key)) return {};
  auto values = read_cells(table, key, property, mesh, mesh_file, active);
  for (double& value : values) {
    if (!(value > 0) || !std::isfinite(value))
      throw table.wrong(
          key, fmt::format("{:g} {} is not above zero", value, si_unit(property_kind(property).quantity)),
          "The inversion finds logarithms.");
    value = std::log(value);
  }
  return values;
}

std::vector<double> exponentials_of(std::vector<double> logarithms) {
  for (double& value : logarithms) value = std::exp(value);
  return logarithms;
}

namespace {

/// Throws InputError if a datum is so large that its square may overflow; NaN means a missing datum.
void expect_measurable(const Column& column, const std::string& data) {
  constexpr double most = 1e30;  // larger than any datum in the unit of any instrument
  for (std::size_t n = 0; n < column.values.size(); ++n)
    if (std::fabs(column.values[n]) > most)
      throw InputError(data,
                       fmt::format("row {}: {} is {:g} {}, which nobody measured", n + 1, column.name,
                                   column.values[n], column.unit),
                       "Leave entries without a datum empty.");
}

/// Adds a relative model error: σ² = σ_d² + (part · d)², as errors of mesh and physics are independent of
/// noise. no_datum: the σ from which on a datum counts as missing
void add_model_error(double part, ObservedColumn& column, double no_datum, std::vector<std::string>& notes) {
  if (part == 0) return;
  auto& sigma = column.uncertainty->values;
  for (std::size_t n = 0; n < sigma.size(); ++n)
    if (sigma[n] < no_datum) sigma[n] = std::hypot(sigma[n], part * column.observed.values[n]);
  notes.push_back(fmt::format("uncertainties of {} have a model error of {:g} percent in quadrature",
                              column.field, 100 * part));
}

}  // namespace

void read_uncertainties(const Config& table, std::vector<ObservedColumn>& observed,
                        std::vector<std::string>& notes, const std::string& data) {
  for (const auto& column : observed) expect_measurable(column.observed, data);
  constexpr double no_datum = 1e15;  // the uncertainty by which files mark missing data
  auto floor = table.numbers("floor"), percent = table.numbers("percent");
  // A single percentage applies to all channels; a single floor only if all have the same unit.
  if (percent.size() == 1) percent.assign(observed.size(), percent[0]);
  const bool one_unit = std::all_of(observed.begin(), observed.end(), [&](const ObservedColumn& column) {
    return column.observed.unit == observed.front().observed.unit;
  });
  if (floor.size() == 1 && one_unit) floor.assign(observed.size(), floor[0]);
  const double model_error = table.number("model_error") / 100;
  if (!(model_error >= 0)) throw table.wrong("model_error", "it is below zero");
  for (const auto& [key, list] : {std::pair{"floor", &floor}, {"percent", &percent}}) {
    if (!list->empty() && list->size() != observed.size())
      throw table.wrong(key,
                        fmt::format("{} numbers for {} observed channels", list->size(), observed.size()));
    for (const double value : *list)
      if (!(value >= 0)) throw table.wrong(key, fmt::format("{} is below zero", value));
  }
  for (std::size_t k = 0; k < observed.size(); ++k) {
    auto& column = observed[k];
    const double least = floor.empty() ? 0 : floor[k], part = percent.empty() ? 0 : percent[k] / 100;
    if (column.uncertainty && least == 0 && part == 0) {
      add_model_error(model_error, column, no_datum, notes);
      continue;
    }
    if (floor.empty() && percent.empty())
      throw table.wrong("floor", "missing",
                        fmt::format("{} has no uncertainties: give inversion.floor, their least value in {}, "
                                    "inversion.percent, or a column {}_uncertainty.",
                                    column.field, column.observed.unit, column.field));
    if (floor.empty() && !(part > 0) && !column.uncertainty)
      throw table.wrong("percent", "data without an error would be sure",
                        "Give a percentage above zero, or a floor.");
    if (!floor.empty() && !(least > 0) && !column.uncertainty)
      throw table.wrong("floor", fmt::format("{} is not above zero", least));
    Column sigma{column.field + "_uncertainty", column.observed.unit, "standard deviation", {}};
    for (const double d : column.observed.values) sigma.values.push_back(least + part * std::fabs(d));
    if (column.uncertainty) {
      const auto& of_file = column.uncertainty->values;
      for (std::size_t n = 0; n < std::min(of_file.size(), sigma.values.size()); ++n)
        if (of_file[n] >= no_datum) sigma.values[n] = of_file[n];
      notes.push_back(fmt::format(
          "uncertainties of {} are those of the job, {}{}{}: the survey's own are not used", column.field,
          floor.empty() ? "" : fmt::format("floor {:g} {}", least, column.observed.unit),
          floor.empty() || percent.empty() ? "" : " and ",
          percent.empty() ? "" : fmt::format("{:g} percent", percent[k])));
    }
    column.uncertainty = std::move(sigma);
    add_model_error(model_error, column, no_datum, notes);
  }
}

}  // namespace terrane::inversion
