// An inversion of electromagnetic fields from a job file: the tables [mesh], [model], [[source]], [survey]
// and [simulation], as for computing the fields, and [inversion] with the measured data.
#include "terrane/physics/electromagnetic/inverse/inverse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/magnetotellurics.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/physics/electromagnetic/errors.hpp"
#include "terrane/physics/electromagnetic/inverse/examples.hpp"
#include "terrane/physics/electromagnetic/inverse/field_models.hpp"
#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/inverse/first_model.hpp"
#include "terrane/physics/electromagnetic/physics.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::electromagnetic::inverse {

namespace {

using Z = std::complex<double>;

constexpr std::array<std::string_view, 2> parts_names{"amplitude_phase", "real_imaginary"};
constexpr double most_conductive_air = 1e-6;  // S/m
constexpr double weighs_nothing = 1e15;       // uncertainty by which ModEM's lists mark missing data

const char* unit_of(const Component& component) { return component.magnetic ? "A/m" : "V/m"; }

/// A table of measured fields, with the solve and the receiver that each row belongs to.
class FieldTable {
 public:
  FieldTable(const Config& table, const electromagnetic::Problem& problem)
      : problem_(problem), data_(rows_of(table)) {
    const auto source = numbers("source", problem.sources.size()),
               receiver = numbers("receiver", problem.receivers.size());
    const auto hertz = data_.si("frequency", Quantity::frequency, "Hz");
    for (std::size_t row = 0; row < data_.rows(); ++row)
      place_.push_back((source[row] * problem.frequencies.size() + frequency(hertz[row], row)) *
                           problem.data_of_a_solve() +
                       receiver[row]);
    std::set<std::size_t> seen;
    for (std::size_t row = 0; row < place_.size(); ++row)
      if (!seen.insert(place_[row]).second)
        throw InputError(data_.where(row), "this source, frequency and receiver were there before");
  }

  const std::vector<std::size_t>& place() const { return place_; }
  std::string where(std::size_t row) const { return data_.where(row); }
  bool has(const std::string& name) const { return data_.find(name) != nullptr; }
  /// Throws InputError at inversion.observed: the column contains numbers that stand for "no value".
  void expect_values(const Config& table, const std::string& name) const {
    if (const auto* column = data_.find(name)) refuse_written_for_none(table, "observed", *column);
  }
  std::vector<double> values(const std::string& name, const Component& component) const {
    return data_.si(name, component.magnetic ? Quantity::magnetic_field : Quantity::electric_field,
                    unit_of(component), true);
  }

 private:
  static io::Table rows_of(const Config& table) {
    const io::Content content = is_given(table, "observed")
                                    ? read_content(table, "observed", {}, no_column)
                                    : io::Content(io::read_csv(table.input_file("observed").string()));
    tell_notes(table, "observed", content);
    if (const auto* rows = std::get_if<io::Table>(&content)) return *rows;
    throw table.wrong("observed", "it is no table", "Give columns: source, frequency, receiver, e_e_real, …");
  }
  /// The source or receiver of each row: counted from 1 in the file and from 0 here; all 0 if there is only
  /// one.
  std::vector<std::size_t> numbers(const char* name, std::size_t count) const {
    std::vector<std::size_t> all(data_.rows());
    if (count == 1 && data_.find(name) == nullptr) return all;
    const auto given = data_.si(name, Quantity::dimensionless, "1");
    for (std::size_t row = 0; row < given.size(); ++row) {
      const double number = given[row] - 1;
      if (!(number >= 0 && number < static_cast<double>(count)) || number != std::floor(number))
        throw InputError(data_.where(row),
                         fmt::format("{} {:g} is none of the {} of the job", name, given[row], count),
                         "They are counted from 1.");
      all[row] = static_cast<std::size_t>(number);
    }
    return all;
  }
  std::size_t frequency(double hertz, std::size_t row) const {
    for (std::size_t f = 0; f < problem_.frequencies.size(); ++f)
      if (std::fabs(hertz - problem_.frequencies[f]) <= 1e-6 * problem_.frequencies[f]) return f;
    throw InputError(data_.where(row), fmt::format("{:g} Hz is none of simulation.frequencies", hertz));
  }

  const electromagnetic::Problem& problem_;
  io::Table data_;
  std::vector<std::size_t> place_;
};

/// Complex values of one component from its real and imaginary columns; NaN if a value is missing. column:
/// receives the amplitudes.
std::vector<Z> read_component(const FieldTable& data, const Component& component, ObservedColumn& column) {
  const auto name = electromagnetic::name(component);
  const auto re = data.values(name + "_real", component), im = data.values(name + "_imag", component);
  std::vector<Z> values;
  column.field = name;
  column.observed = {name + "_observed", unit_of(component), "", {}};
  for (std::size_t row = 0; row < re.size(); ++row) {
    values.emplace_back(re[row], im[row]);
    column.observed.values.push_back(std::hypot(re[row], im[row]));
    if (values.back() == 0.0)
      throw InputError(data.where(row), name + " is zero: it has no phase", "Leave the entry empty.");
  }
  if (data.has(name + "_uncertainty"))
    column.uncertainty =
        Column{name + "_uncertainty", unit_of(component), "", data.values(name + "_uncertainty", component)};
  return values;
}

/// The measured data, component by component, with their indices in the problem's data.
MeasuredFields read_measured(const Config& table, const electromagnetic::Problem& problem,
                             std::vector<inversion::DataSet>& sets, std::vector<std::string>& notes) {
  if (!table.has("observed"))
    throw table.wrong(
        "observed", "missing",
        "Name the table of what was measured: source, frequency, receiver, e_e_real, e_e_imag, …");
  const FieldTable data(table, problem);
  std::vector<ObservedColumn> amplitudes;
  std::vector<std::vector<Z>> values;
  std::vector<std::size_t> which;
  for (std::size_t c = 0; c < problem.components.size(); ++c) {
    const auto name = electromagnetic::name(problem.components[c]);
    if (!data.has(name + "_real") && !data.has(name + "_imag")) continue;
    for (const char* end : {"_real", "_imag", "_uncertainty"}) data.expect_values(table, name + end);
    values.push_back(read_component(data, problem.components[c], amplitudes.emplace_back()));
    which.push_back(c);
  }
  if (which.empty())
    throw table.wrong("observed", "it has no measured component of simulation.components",
                      "Name its columns e_e_real and e_e_imag, h_n_real and h_n_imag, …");
  inversion::read_uncertainties(table, amplitudes, notes, table.where("observed"));
  MeasuredFields measured;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const auto& column = amplitudes[k];
    const std::size_t first = 2 * measured.size();
    for (std::size_t row = 0; row < values[k].size(); ++row) {
      if (std::isnan(column.observed.values[row])) continue;
      const double sigma = column.uncertainty->values[row];
      if (!(sigma > 0) || !std::isfinite(sigma))
        throw InputError(data.where(row), fmt::format("the uncertainty of {} is {:g}", column.field, sigma),
                         "It must be above zero.");
      measured.place.push_back(data.place()[row] + which[k] * problem.receivers.size());
      measured.value.push_back(values[k][row]);
      measured.sigma.push_back(sigma);
    }
    sets.push_back({column.field, column.observed.unit, first, 2 * measured.size() - first});
  }
  return measured;
}

/// For each row of a survey's file, the index of its frequency and site in the job; −1 if the job does not
/// have the frequency.
std::vector<long> sites_of_rows(const Config& job, const electromagnetic::Problem& problem,
                                const Survey& survey, std::vector<std::string>& notes) {
  const auto table = job.table("survey");
  const auto* frequency = survey.find("frequency");
  if (frequency == nullptr)
    throw InputError(
        table.where("file"), "it has no frequencies",
        "Sites and what was measured at them are one file: EDI, a ModEM list, or a table with the columns "
        "easting, northing, up, frequency, z_ne_real, z_ne_imag, …");
  std::map<Vector3, std::size_t> receiver;
  for (std::size_t n = 0; n < problem.receivers.size(); ++n) receiver[problem.receivers[n]] = n;
  std::vector<long> sites;
  std::vector<char> seen(problem.frequencies.size() * problem.receivers.size());
  std::size_t others = 0;
  for (std::size_t row = 0; row < survey.size(); ++row) {
    const double hertz = frequency->values[row];
    std::size_t f = 0;
    while (f < problem.frequencies.size() &&
           std::fabs(hertz - problem.frequencies[f]) > 1e-4 * problem.frequencies[f])
      ++f;
    sites.push_back(-1);
    if (f == problem.frequencies.size()) {
      ++others;
      continue;
    }
    const std::size_t site = f * problem.receivers.size() +
                             receiver.at({survey.easting[row], survey.northing[row], survey.up[row]});
    if (seen[site]++)
      throw InputError(
          table.where("file"),
          fmt::format("row {}: its place and frequency, {:g} Hz, were there before", row + 1, hertz));
    sites.back() = static_cast<long>(site);
  }
  if (others == survey.size())
    throw InputError(job.table("simulation").where("frequencies"), "the file of the survey has none of them",
                     fmt::format("Its first is {:.8g} Hz.", frequency->values.front()));
  if (others > 0)
    notes.push_back(fmt::format("{} of {} rows of the survey's file are of other frequencies, and left out",
                                others, survey.size()));
  return sites;
}

/// The values of a transfer function that inversion.elements names, in the order given there, which is also
/// that of `floor` and `percent`; all values if it names none.
std::vector<std::size_t> wanted_elements(const Config& table) {
  const std::span known(io::magnetotelluric::elements);
  std::vector<std::size_t> wanted;
  for (const auto& one : table.texts("elements")) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& element) { return one == element.name; });
    if (found == known.end())
      throw table.wrong("elements", fmt::format("\"{}\" is no number of a transfer function", one),
                        "Allowed: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n.");
    const auto which = static_cast<std::size_t>(found - known.begin());
    if (std::find(wanted.begin(), wanted.end(), which) != wanted.end())
      throw table.wrong("elements", fmt::format("\"{}\" stands there twice", one), "Name each once.");
    wanted.push_back(which);
  }
  for (std::size_t which = 0; table.texts("elements").empty() && which < numbers_of_a_function; ++which)
    wanted.push_back(which);
  return wanted;
}

const Column* column_of(const Survey& survey, std::size_t which, const char* end) {
  return survey.find(std::string(io::magnetotelluric::elements[which].name) + end);
}

/// Whether a value of a transfer function is z_en or z_ne, which are not zero over a layered earth.
bool off_diagonal(std::size_t which) { return which == 1 || which == 2; }

/// The amplitudes to which percentages of uncertainty refer: for z_ee and z_nn, which may be zero, the
/// geometric mean of |z_en| and |z_ne|; for others their own.
ObservedColumn amplitudes_of(const Survey& survey, std::size_t which) {
  ObservedColumn one;
  one.field = io::magnetotelluric::elements[which].name;
  one.observed = {one.field + "_observed", which < 4 ? "ohm" : "1", "", {}};
  const auto *re = column_of(survey, which, "_real"), *im = column_of(survey, which, "_imag"),
             *en = column_of(survey, 1, "_real"), *en_i = column_of(survey, 1, "_imag"),
             *ne = column_of(survey, 2, "_real"), *ne_i = column_of(survey, 2, "_imag");
  const bool diagonal = (which == 0 || which == 3) && en && en_i && ne && ne_i;
  for (std::size_t row = 0; row < survey.size(); ++row)
    one.observed.values.push_back(diagonal ? std::sqrt(std::hypot(en->values[row], en_i->values[row]) *
                                                       std::hypot(ne->values[row], ne_i->values[row]))
                                           : std::hypot(re->values[row], im->values[row]));
  if (const auto* sigma = column_of(survey, which, "_uncertainty")) one.uncertainty = *sigma;
  return one;
}

/// Adds the measured data of one value of the transfer function, at the sites and frequencies of the job.
/// where: the survey's file in the job
void add_measured(MeasuredFields& measured, const Survey& survey, const std::vector<long>& sites,
                  std::size_t which, std::size_t all_sites, const ObservedColumn& one,
                  const std::string& file) {
  const auto *re = column_of(survey, which, "_real"), *im = column_of(survey, which, "_imag");
  for (std::size_t row = 0; row < survey.size(); ++row) {
    const Z value(re->values[row], im->values[row]);
    const double sigma = one.uncertainty->values[row];
    if (sites[row] < 0 || std::isnan(value.real()) || std::isnan(value.imag()) || sigma >= weighs_nothing)
      continue;
    const auto where = fmt::format("{}: row {}", file, row + 1);
    if (!(sigma > 0))
      throw InputError(where, fmt::format("the uncertainty of {} is {:g}", one.field, sigma),
                       "It must be above zero.");
    if (off_diagonal(which) && value == 0.0)
      throw InputError(where, one.field + " is zero: it has no phase", "Leave the entry empty.");
    measured.place.push_back(which * all_sites + static_cast<std::size_t>(sites[row]));
    measured.value.push_back(value);
    measured.sigma.push_back(sigma);
    measured.straight.push_back(!off_diagonal(which));
  }
}

/// Throws InputError: values that are not marked as missing contain numbers that programs write for "no
/// value".
void expect_values(const Config& job, const Survey& survey, std::size_t which) {
  const auto* sigma = column_of(survey, which, "_uncertainty");
  for (const char* end : {"_real", "_imag"}) {
    auto part = *column_of(survey, which, end);
    for (std::size_t row = 0; sigma != nullptr && row < survey.size(); ++row)
      if (sigma->values[row] >= weighs_nothing) part.values[row] = std::nan("");
    refuse_written_for_none(job.table("survey"), "file", part);
  }
}

/// Reads measured impedances and tippers from the survey's file, element by element.
MeasuredFields read_functions(const Config& job, const electromagnetic::Problem& problem,
                              const MemoryBudget& memory, std::vector<inversion::DataSet>& sets,
                              std::vector<std::string>& notes) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  const auto file = job.table("survey").where("file");
  const auto survey = build_survey(job, memory).survey;
  const auto sites = sites_of_rows(job, problem, survey, notes);
  std::vector<ObservedColumn> amplitudes;
  std::vector<std::size_t> taken;
  for (const std::size_t which : wanted_elements(table)) {
    if (column_of(survey, which, "_real") && column_of(survey, which, "_imag")) {
      expect_values(job, survey, which);
      taken.push_back(which);
      amplitudes.push_back(amplitudes_of(survey, which));
    } else if (!table.texts("elements").empty()) {
      throw table.wrong("elements", fmt::format("the file of the survey has no {}",
                                                io::magnetotelluric::elements[which].name));
    }
  }
  if (taken.empty())
    throw InputError(file, "it has neither impedances nor tippers",
                     "Name its columns z_en_real, z_en_imag, z_ne_real, … (ohm), tipper_e_real, …");
  inversion::read_uncertainties(table, amplitudes, notes, file);
  MeasuredFields measured;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    const auto& one = amplitudes[k];
    const std::size_t first = 2 * measured.size();
    add_measured(measured, survey, sites, taken[k], problem.frequencies.size() * problem.receivers.size(),
                 one, file);
    sets.push_back({one.field, one.observed.unit, first, 2 * measured.size() - first});
  }
  if (measured.size() == 0)
    throw InputError(file, "none of its data has a value and an uncertainty below 1e15");
  return measured;
}

/// Active cells: those that are not air, below inversion.topography or listed in inversion.active_file.
std::vector<std::uint32_t> active_cells(const Config& table, const electromagnetic::Problem& problem,
                                        const MemoryBudget& memory) {
  auto given = inversion::read_active(table, problem.mesh, {}, std::nullopt, memory);
  if (given.empty())
    for (std::size_t c = 0; c < problem.mesh.size(); ++c) given.push_back(static_cast<std::uint32_t>(c));
  std::erase_if(given, [&](std::uint32_t c) { return problem.conductivity[0][c] <= most_conductive_air; });
  if (given.empty()) throw InputError(table.where(), "no cell is active", "All of them are air.");
  return given.size() == problem.mesh.size() ? std::vector<std::uint32_t>{} : given;
}

/// Throws InputError for problems whose fields can be computed but not inverted.
void refuse(const Config& job, const electromagnetic::Problem& problem) {
  const auto table = job.table("simulation");
  if (is_magnetotelluric(problem) && table.has("responses"))
    throw table.wrong("responses", "an inversion takes impedances and tippers",
                      "Name those that are inverted as inversion.elements, or leave both out for all.");
  if (!problem.conductivity[1].empty())
    throw InputError(job.where("model"), "the conductivity differs by axis, and one resistivity is found",
                     "Give conductivity or resistivity.");
  if (problem.volume_of_a_solve() > 0)
    throw table.wrong("volume", "an inversion writes fields at receivers", "Leave the key out.");
}

// ---- completing jobs of magnetotelluric data ----

/// Whether [model] defines a medium.
bool has_medium(const Config& job) {
  const auto model = job.table("model");
  constexpr const char* keys[] = {"background", "body", "file", "unit"};
  return std::any_of(std::begin(keys), std::end(keys), [&](const char* key) { return model.has(key); });
}

constexpr double resistivity_of_air = 1e8;  // Ω·m; used if a job defines a ground but nothing above it

/// Whether the data are fields of sources, and the job names no first model.
bool needs_ground(const Config& job) {
  const auto sources = job.tables("source");
  if (has_medium(job) || sources.empty() || !job.table("inversion").has("observed")) return false;
  if (sources.front().is_text("kind") && sources.front().text("kind") == "plane_wave") return false;
  return !job.table("mesh").has("file");  // the file of a mesh may contain a medium
}

/// Selects at most `most` of the values, evenly spaced on a logarithmic scale, including the lowest and the
/// highest.
std::vector<double> thinned(const std::vector<double>& ascending, std::size_t most) {
  if (ascending.size() <= most) return ascending;
  std::vector<double> kept;
  const double low = std::log(ascending.front()), high = std::log(ascending.back());
  for (std::size_t n = 0; n < most; ++n) {
    const double wanted = low + (high - low) * static_cast<double>(n) / static_cast<double>(most - 1);
    const auto nearest = *std::min_element(ascending.begin(), ascending.end(), [&](double a, double b) {
      return std::abs(std::log(a) - wanted) < std::abs(std::log(b) - wanted);
    });
    if (kept.empty() || kept.back() != nearest) kept.push_back(nearest);
  }
  return kept;
}

/// The median of |Z|²/(ω μ₀) over both off-diagonal impedances; NaN if there are none.
double median_resistivity(const Survey& survey, const std::vector<double>& frequencies) {
  constexpr double mu = 4e-7 * std::numbers::pi;
  const auto* frequency = survey.find("frequency");
  std::vector<double> all;
  for (const char* name : {"z_en", "z_ne"}) {
    const auto *re = survey.find(std::string(name) + "_real"), *im = survey.find(std::string(name) + "_imag");
    if (re == nullptr || im == nullptr) continue;
    for (std::size_t row = 0; row < survey.size(); ++row) {
      const double hertz = frequency->values[row], z = std::hypot(re->values[row], im->values[row]);
      const bool wanted = std::any_of(frequencies.begin(), frequencies.end(),
                                      [&](double f) { return std::abs(hertz - f) <= 1e-4 * f; });
      if (wanted && z > 0 && std::isfinite(z)) all.push_back(z * z / (2 * std::numbers::pi * hertz * mu));
    }
  }
  if (all.empty()) return NAN;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

/// The relative uncertainty of off-diagonal impedances: the least that the job names, else the median of
/// those in the file; NaN if neither has any.
double error_of_impedances(const Config& job, const Survey& survey) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  double error = INFINITY;
  for (const double percent : table.numbers("percent"))
    if (percent > 0) error = std::min(error, percent / 100);
  std::vector<double> all;
  for (const std::string name : {"z_en", "z_ne"}) {
    const auto *re = survey.find(name + "_real"), *im = survey.find(name + "_imag"),
               *sigma = survey.find(name + "_uncertainty");
    if (re == nullptr || im == nullptr || sigma == nullptr || std::isfinite(error)) continue;
    for (std::size_t row = 0; row < survey.size(); ++row) {
      const double part = sigma->values[row] / std::hypot(re->values[row], im->values[row]);
      // Other rows have no impedance, or an error larger than the impedance.
      if (part > 0 && part < 1) all.push_back(part);
    }
  }
  if (!all.empty()) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    error = *middle;
  }
  return std::isfinite(error) ? std::hypot(error, table.number("model_error") / 100) : std::nan("");
}

/// Settings for [simulation] of a planned mesh, if the job has none: cells for which the largest
/// discretisation error of impedances is at most 0.8 of the data's uncertainty, and the mean error a fifth of
/// the uncertainty. With n cells per skin depth vertically, errors of impedances over layers are at most
/// 0.4/n² (earth_widths.hpp). fewest, most: limits of the number of cells per skin depth horizontally; wide,
/// narrow: growth of cells below the upper limit, and at it.
std::string cells_for_errors(const Config& job, const Survey& survey, std::vector<std::string>& notes) {
  constexpr double share = 0.8, upright_per_across = 1.6, fewest = 2, most = 4, wide = 1.5, narrow = 1.3;
  const auto simulation = job.table("simulation");
  if (!plans_mesh(job) || job.table("mesh").has("cell") || simulation.has("min_width_pps")) return {};
  const double error = error_of_impedances(job, survey);
  if (std::isnan(error)) return {};
  const double per_skin_depth =
      std::clamp(std::sqrt(0.4 / (share * error)) / upright_per_across, fewest, most);
  const double growth = per_skin_depth < most ? wide : narrow;
  auto text = fmt::format("min_width_pps = {:.3g}\n", per_skin_depth);
  if (!simulation.has("stretching")) text += fmt::format("stretching = {}\n", growth);
  notes.push_back(fmt::format(
      "mesh: cells for impedances that are uncertain by {:.2g} %: {:.3g} in a skin depth; "
      "simulation.min_width_pps and stretching say others, and verify = \"estimate\" counts their errors",
      100 * error, per_skin_depth));
  return text;
}

/// Throws InputError if a mesh would be planned for flat ground, but the sites have different heights.
void expect_one_height(const Config& job, const Survey& survey) {
  if (!plans_mesh(job) || has_medium(job) || job.table("model").has("topography")) return;
  const auto [low, high] = std::minmax_element(survey.up.begin(), survey.up.end());
  if (*high - *low < 1e-6) return;
  double mean = 0;
  for (const double up : survey.up) mean += up / static_cast<double>(survey.size());
  throw job.table("survey").wrong(
      "file", fmt::format("its sites stand from {:.6g} to {:.6g} m, and no ground is named", *low, *high),
      fmt::format(
          "Name model.topography, an elevation grid; or take flat ground, with all sites at one height: "
          "survey.height = {:.6g}.",
          mean));
}

/// The job, with missing keys derived from its file of sites: plane waves, frequencies, a projection, and a
/// homogeneous medium. notes: receives what was derived.
Config with_what_the_sites_say(const Config& job, const MemoryBudget& memory,
                               std::vector<std::string>& notes) {
  const auto sources = job.tables("source");
  const bool plane = sources.empty()
                         ? !job.table("inversion").has("observed")
                         : sources.front().is_text("kind") && sources.front().text("kind") == "plane_wave";
  const auto file = job.table("survey");
  if (!plane || !file.has("file")) return job;
  constexpr const char* name = "what the sites say";
  std::string text;
  if (sources.empty()) {
    text += "[source]\nkind = \"plane_wave\"\n";
    notes.push_back("source: none is named, so the data are of plane waves");
  }
  const auto content = read_content(file, "file", {}, no_column);
  const auto* rows = std::get_if<io::Table>(&content);
  if (rows != nullptr && rows->find("longitude") != nullptr && rows->find("easting") == nullptr &&
      !job.table("mesh").has("projection")) {
    text += "[mesh]\nprojection = \"utm\"\n";
    notes.push_back("mesh.projection: none is named, so it is that of the sites' UTM zone");
  }
  const auto survey = build_survey(job.supposing(text, name), memory).survey;
  const auto* frequency = survey.find("frequency");
  if (frequency == nullptr) return job.supposing(text, name);
  expect_one_height(job, survey);
  const auto simulation = job.table("simulation");
  std::vector<double> frequencies;
  auto said = cells_for_errors(job, survey, notes);
  if (simulation.has("frequencies")) {
    frequencies = simulation.numbers("frequencies", Quantity::frequency);
  } else {
    constexpr std::size_t most = 8;
    auto all = frequency->values;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end(), [](double a, double b) { return b - a < 1e-4 * a; }),
              all.end());
    frequencies = thinned(all, most);
    said += fmt::format("frequencies = [{}]\n", fmt::join(frequencies, ", "));
    notes.push_back(
        fmt::format("frequencies: none are named, so {} of the file's {} are taken, from {:.4g} to {:.4g} Hz",
                    frequencies.size(), all.size(), frequencies.front(), frequencies.back()));
  }
  if (!said.empty()) text += "[simulation]\n" + said;
  if (job.table("model").has("topography") && !job.table("model").has("air")) {
    text += fmt::format("[model.air]\nresistivity = {}\n", resistivity_of_air);
    notes.push_back("air: the model says nothing of it, so above the topography are 1e-8 S/m");
  }
  if (!has_medium(job)) {
    const double resistivity = median_resistivity(survey, frequencies);
    if (std::isfinite(resistivity)) {
      text += fmt::format("[model.background]\nresistivity = {}\n", resistivity);
      notes.push_back(fmt::format(
          "first model and reference: {:.4g} ohm m, the median of the apparent resistivities", resistivity));
    }
  }
  return job.supposing(text, name);
}

class FieldData final : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  static std::unique_ptr<FieldData> made_of(const Config& job, const Runtime& runtime,
                                            const TensorMesh* instead = nullptr);
  static Config with_even_ground(const Config& job, const Runtime& runtime, std::vector<std::string>& notes);
  std::string title() const override { return "inversion of electromagnetic fields"; }
  std::string property() const override { return "resistivity"; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return inversion::exponentials_of(model);
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  std::string computed() const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  double expected_seconds(const Runtime& runtime) override;
  void release(const Runtime& runtime) override { make_forward(runtime); }
  Fingerprint fingerprint(const Runtime& runtime) const override;
  std::vector<double> data_on(const std::vector<double>& model, const std::array<double, 3>& factor,
                              bool moves_walls, const Runtime& runtime) const override;
  std::vector<double> errors_by(const std::vector<double>& data,
                                const std::vector<double>& difference) const override;
  std::vector<double> scale_of_errors(const std::vector<double>& data) const override;
  std::unique_ptr<Dependence> on_finer(const std::vector<double>& model, const FinerWish& wish,
                                       const Runtime& runtime) const override;

  const electromagnetic::Problem& earth() const { return fields_->problem(); }
  bool plane_waves() const;
  void make_forward(const Runtime& runtime);
  Dataset dataset() const;

  std::unique_ptr<Simulation> fields_;  ///< computes fields of the job's model, the reference
  Plan foreseen_;                       ///< plan of fields_, made by choose()
  MeasuredFields measured_;
  Parts parts_ = Parts::amplitude_phase;
  bool in_memory_ = true;      ///< whether the entries of J are stored
  std::optional<Config> job_;  ///< the job, from which simulations on finer meshes are made
};

// ---- from the job ----

std::unique_ptr<terrane::Simulation> FieldData::from_job(const Config& given, const Runtime& runtime) {
  std::vector<std::string> supposed;
  auto job = with_what_the_sites_say(given, memory_budget(runtime), supposed);
  if (needs_ground(job)) job = with_even_ground(job, runtime, supposed);
  auto made = made_of(job, runtime);
  made->notes_.insert(made->notes_.begin(), supposed.begin(), supposed.end());
  given.take_reading_of(job);
  return std::make_unique<inversion::InversionJob>(std::move(made));
}

/// The job with air above its sources and receivers, and below them the half-space that fits the data best.
Config FieldData::with_even_ground(const Config& job, const Runtime& runtime,
                                   std::vector<std::string>& notes) {
  constexpr const char* name = "what the fields say";
  constexpr double any = 100;
  // Sources and receivers are read together with a mesh, and planning a mesh needs some medium.
  const auto trial =
      made_of(job.supposing(fmt::format("[model.background]\nresistivity = {}\n", any), name), runtime);
  const auto ground = common_height(trial->earth());
  const double resistivity =
      ground ? nearest_half_space(trial->earth(), trial->measured_, *ground) : std::nan("");
  if (!std::isfinite(resistivity))
    throw InputError(
        job.table("model").where(),
        ground ? "there is no earth model to begin with, and these sources tell of none"
               : "there is no earth model to begin with: sources and receivers differ in height",
        "Describe the first model: [model.background] resistivity = \"100 ohm m\" for the ground, and "
        "layers ([[model.body]]) for the sea and the air.");
  notes.push_back(fmt::format(
      "first model and reference: {:.4g} ohm m, the even ground whose amplitudes are nearest", resistivity));
  notes.push_back(
      fmt::format("the ground is taken to be at {:g} m, as sources and receivers are; name [model] "
                  "where it is not",
                  *ground));
  return job.supposing(fmt::format("[model]\ntopography = {}\n[model.air]\nresistivity = {}\n"
                                   "[model.background]\nresistivity = {}\n",
                                   *ground, resistivity_of_air, resistivity),
                       name);
}

std::unique_ptr<FieldData> FieldData::made_of(const Config& job, const Runtime& runtime,
                                              const TensorMesh* instead) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  auto made = std::make_unique<FieldData>();
  made->job_ = job;
  made->accuracy_ = errors_counted(job.table("simulation"), true, plans_mesh(job));
  made->fields_ = Simulation::from_job_on(
      job, runtime, true, instead == nullptr ? std::vector<TensorMesh>{} : std::vector{*instead});
  made->fields_->state_no_errors();
  made->memory_ = memory_budget(runtime);
  if (!made->fields_->meshes().empty())
    throw job.table("simulation")
        .wrong("gridding", "an inversion has one mesh, whose cells are what it finds",
               "Allowed: same, single.");
  const auto& earth = made->earth();
  refuse(job, earth);
  auto& p = made->problem_;
  p.mesh = earth.mesh;
  p.active = active_cells(table, earth, made->memory_);
  p.whole_cells = true;
  if (!made->plane_waves()) {
    if (table.has("elements"))
      throw table.wrong("elements", "these are of plane waves", "Take simulation.components.");
    made->measured_ = read_measured(table, earth, p.sets, made->notes_);
  } else {
    if (table.has("observed"))
      throw table.wrong("observed", "what was measured of plane waves is in survey.file",
                        "Leave the key out.");
    made->measured_ = read_functions(job, earth, made->memory_, p.sets, made->notes_);
  }
  made->parts_ = table.has("datum") ? chosen<Parts>(table, "datum", parts_names) : Parts::amplitude_phase;
  made->measured_.as(made->parts_, p.data, p.sigma);
  made->settings_ = inversion::read_steps(table, {p.mesh});
  made->settings_.jacobian_in_memory = false;  // false, because ElectromagneticFields stores J itself
  const auto octree = inversion::octree_file_of(job);
  const auto cells = [&](const char* key) {
    return inversion::read_logarithms(table, key, "resistivity", p.mesh, octree, p.active);
  };
  const std::size_t count = p.active.empty() ? p.mesh.size() : p.active.size();
  p.reference = cells("reference");
  for (std::size_t c = 0; p.reference.size() < count; ++c)
    p.reference.push_back(-std::log(earth.conductivity[0][p.active.empty() ? c : p.active[c]]));
  p.start = cells("start");
  p.bounds = {cells("lower"), cells("upper")};
  p.weights = inversion::read_weights(table, p.mesh, octree);
  inversion::complete(p.bounds, count);
  made->make_forward(runtime);
  made->joint_ = inversion::read_joint(job);
  made->rocks_ = inversion::read_rocks_of_logarithms(table, "resistivity");
  made->origin_ = made->fields_->origin();
  return made;
}

// ---- memory and time ----

/// Stores the entries of J if four copies of them need at most a quarter of the memory: so many exist while a
/// step is searched and while rows of the next model are sorted.
void FieldData::make_forward(const Runtime& runtime) {
  const double cells =
      static_cast<double>(problem_.active.empty() ? problem_.mesh.size() : problem_.active.size());
  in_memory_ = 2 * 32 * static_cast<double>(measured_.size()) * cells <
               0.25 * static_cast<double>(budget(runtime).bytes);
  problem_.forward = std::make_shared<inversion::LogarithmForward>(
      std::make_shared<ElectromagneticFields>(earth(), problem_.active, measured_, parts_, in_memory_,
                                              runtime.device, runtime.threads, runtime.comm, workers_));
}

void FieldData::choose(const Runtime& runtime) {
  make_forward(runtime);
  foreseen_ = fields_->check(runtime);
}

/// Memory on this machine. Each rank has a solver, which may be on a GPU, and the fields of all sources.
/// While a step is searched, the solver and the fields of the previous model remain too, unless the entries
/// of J replace them.
double FieldData::memory_needed(const Runtime& runtime) const {
  const double cells = static_cast<double>(earth().mesh.size()),
               solves = static_cast<double>(earth().solves()),
               entries = static_cast<double>(problem_.rows()) * static_cast<double>(problem_.columns());
  const double here = runtime.comm ? runtime.comm->on_node().count : 1, models = in_memory_ ? 1 : 2;
  const double solver = free_of_gpu(runtime) > 0 ? 0 : earth().field_memory(false);
  // of_products: the right-hand side and the field of a receiver, rows of J while they are computed, and
  // copies of the model; tables: weights of receivers. Measured by tests/cli/memory.py.
  constexpr double of_products = 250, tables = 5e6;
  return models * here * (solver + 48 * cells * solves) + earth().host_memory(here) +
         (in_memory_ ? 32 * entries : 0) + static_cast<double>(problem_.columns()) * 8 * 20 +
         static_cast<double>(problem_.rows()) * 8 * 86 + of_products * cells + tables;
}

double FieldData::bytes_on_device(const Runtime& runtime) const {
  return free_of_gpu(runtime) > 0 ? (in_memory_ ? 1 : 2) * earth().field_memory(true) : 0;
}

bool FieldData::plane_waves() const { return is_magnetotelluric(earth()); }

/// Expected time: seven models, each with the solves of all sources; and one solve for each receiver and
/// component or, if J does not fit into memory, the solves of sixty products with J and Jᵀ.
double FieldData::expected_seconds(const Runtime& runtime) {
  std::set<std::pair<std::size_t, std::size_t>> sent;  // pairs of a frequency and [component, receiver]
  const auto& e = earth();
  const std::size_t each = e.data_of_a_solve(), receivers = e.receivers.size(),
                    frequencies = e.frequencies.size();
  for (const auto place : measured_.place) {
    if (!plane_waves()) {
      sent.insert({place / each % frequencies, place % each});
      continue;
    }
    const std::size_t row = place / (frequencies * receivers) / 2, f = place / receivers % frequencies;
    // The component of this row, H_e and H_n.
    for (const std::size_t component : {row == 2 ? 4 : row, std::size_t{2}, std::size_t{3}})
      sent.insert({f, component * receivers + place % receivers});
  }
  const double solves = static_cast<double>(earth().solves()),
               more = in_memory_ ? static_cast<double>(sent.size()) : 60 * solves;
  const double ranks = runtime.comm ? runtime.comm->size() : 1;
  return 7 * foreseen_.seconds / solves * (solves + more) / ranks;
}

void FieldData::describe_into(RunFacts& facts, const Runtime& runtime) const {
  std::string names;
  for (const auto& set : problem_.sets) names += (names.empty() ? "" : ", ") + set.name;
  facts.problem =
      fmt::format("resistivity of {} of {} cells from {} complex data: {}", grouped(problem_.columns()),
                  grouped(problem_.mesh.size()), grouped(measured_.size()), names);
  facts.method = "gauss-newton";
  facts.reason = fmt::format("{} as data, sensitivities {}",
                             parts_ == Parts::real_imaginary ? "real and imaginary parts"
                             : plane_waves()                 ? "apparent resistivities and phases"
                                                             : "amplitudes and phases",
                             in_memory_ ? "in memory" : "by solves for every product");
  facts.device = device_text(runtime);
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
  facts.add("cells", std::uint64_t{problem_.columns()}, "", "cells");
  facts.add("data", std::uint64_t{problem_.rows()}, "", "data");
  facts.add("sources", std::uint64_t{earth().sources.size()}, "", "sources");
  facts.add("frequencies", std::uint64_t{earth().frequencies.size()}, "", "frequencies");
  facts.add("receivers", std::uint64_t{earth().receivers.size()}, "", "receivers");
  facts.notes = foreseen_.notes;
  facts.notes.insert(facts.notes.end(), notes_.begin(), notes_.end());
  facts.warnings = foreseen_.warnings;
}

Fingerprint FieldData::fingerprint(const Runtime& runtime) const {
  Fingerprint all;
  const auto& e = earth();
  std::vector<double> sent, recorded;
  for (const auto& s : e.sources) {
    sent.push_back(static_cast<double>(s.kind));
    for (const auto& point : s.points) sent.insert(sent.end(), point.begin(), point.end());
    sent.insert(sent.end(), s.moment.begin(), s.moment.end());
    sent.push_back(s.current);
  }
  for (const auto& r : e.receivers) recorded.insert(recorded.end(), r.begin(), r.end());
  for (const auto place : measured_.place) recorded.push_back(static_cast<double>(place));
  all.push_back({"mesh", hash({e.mesh.easting(), e.mesh.northing(), e.mesh.up()}), true});
  all.push_back({"model", hash({e.conductivity[0]}), true});
  all.push_back({"charges of the medium", hash({e.chargeability, e.charge_time, e.charge_exponent}), true});
  all.push_back({"sources or frequencies", hash({sent, e.frequencies}), true});
  all.push_back({"receivers or which of them measured", hash({recorded}), true});
  all.push_back({"datum", std::string(parts_names[static_cast<std::size_t>(parts_)])});
  add_determinants(all, "simulation.", e.parameters);
  all.push_back({"sensitivities in memory", fmt::format("{}", in_memory_)});
  all.push_back({"kind of device", fmt::format("{}", static_cast<int>(resolve(runtime.device).kind))});
  return all;
}

// ---- the run ----

std::vector<double> FieldData::data_on(const std::vector<double>& model, const std::array<double, 3>& factor,
                                       bool moves_walls, const Runtime& runtime) const {
  auto problem = earth();
  for (std::size_t c = 0; c < model.size(); ++c)
    problem.conductivity[0][problem_.active.empty() ? c : problem_.active[c]] = std::exp(-model[c]);
  const auto wish = wish_of(problem);
  auto other = problem_on(
      problem, finer_mesh_of(problem, moves_walls ? wish : wish.with_its_walls(), factor, KeptFaces::all));
  std::vector<std::uint32_t> active;
  std::vector<double> rho;
  for (std::size_t c = 0; c < other.mesh.size(); ++c) {
    if (other.conductivity[0][c] <= most_conductive_air) continue;
    active.push_back(static_cast<std::uint32_t>(c));
    rho.push_back(1 / other.conductivity[0][c]);
  }
  if (active.size() == other.mesh.size()) active.clear();
  const ElectromagneticFields fields(std::move(other), active, measured_, parts_, false, runtime.device,
                                     runtime.threads);
  return fields.at(rho).data;
}

std::vector<double> FieldData::scale_of_errors(const std::vector<double>& data) const {
  std::vector<double> scale(data.size(), 1.0);
  for (std::size_t n = 0; n < data.size(); ++n)
    if (measured_.parts(n / 2, parts_) == Parts::real_imaginary)
      scale[n] = std::max(std::abs(measured_.value[n / 2]), 1e-300);
  return scale;
}

/// The error is second-order: halving the cells removes three quarters of it, so it is 4/3 of `difference`.
/// The two real data of a complex one get the error of their vector; phases that differ by 2π are equal.
std::vector<double> FieldData::errors_by(const std::vector<double>& data,
                                         const std::vector<double>& difference) const {
  constexpr double of_second_order = 4.0 / 3;
  JudgedData judged{
      "datum", {}, scale_of_errors(data), {}, [](std::size_t n) { return std::to_string(n + 1); }};
  const std::size_t receivers = earth().receivers.size();
  for (std::size_t n = 0; n < measured_.size(); ++n) {
    const double turned = measured_.parts(n, parts_) == Parts::real_imaginary
                              ? difference[2 * n + 1]
                              : std::remainder(difference[2 * n + 1], 2 * std::numbers::pi);
    for (int part = 0; part < 2; ++part) {
      judged.difference.push_back(of_second_order * std::hypot(difference[2 * n], turned));
      judged.source.push_back(measured_.place[n] / receivers);
    }
  }
  return StatedErrors{Accuracy{}}.of(judged);
}

std::unique_ptr<inversion::Dependence> FieldData::on_finer(const std::vector<double>& model,
                                                           const FinerWish& wish,
                                                           const Runtime& runtime) const {
  auto keeps = wish_of(earth());
  if (!wish.walls) keeps = keeps.with_its_walls();
  const auto cells = finer_mesh_of(earth(), keeps, wish.factor, KeptFaces::every_second);
  auto next = made_of(*job_, runtime, &cells);
  next->problem_.start = inversion::model_on(next->problem_, problem_, model);
  return next;
}

std::string FieldData::computed() const {
  return fmt::format("fields and sensitivities of {} models", outcome_.forwards);
}

void FieldData::fill(Result& result) const {
  result.attributes["time_dependence"] = "exp(+i omega t)";
  result.data = dataset();
}

/// Variables of the result: for each measured component the computed and the observed value, their difference
/// and its uncertainty, [source, frequency, receiver]; for plane waves the same for each element of the
/// transfer functions, [frequency, receiver].
Dataset FieldData::dataset() const {
  auto data = fields_->outline().data;
  data.variables.clear();
  const auto& e = earth();
  const std::size_t each = e.data_of_a_solve(), receivers = e.receivers.size(),
                    count = (plane_waves() ? e.frequencies.size() : e.solves()) * receivers;
  const Z none(NAN, NAN);
  for (const auto& set : problem_.sets) {
    std::vector<Z> observed(count, none), computed(count, none), residual(count, none);
    std::vector<double> uncertainty(count, NAN), trust(count, NAN);
    for (std::size_t n = set.first / 2; n < (set.first + set.count) / 2; ++n) {
      const std::size_t place = measured_.place[n],
                        at = plane_waves() ? place % count : place / each * receivers + place % receivers;
      observed[at] = measured_.value[n];
      uncertainty[at] = measured_.sigma[n];
      if (outcome_.predicted.empty()) continue;
      const double* two = outcome_.predicted.data() + 2 * n;
      computed[at] = measured_.parts(n, parts_) == Parts::real_imaginary
                         ? Z(two[0], two[1])
                         : std::polar(std::exp(two[0]), two[1]);
      residual[at] = observed[at] - computed[at];
      if (!outcome_.trust.empty()) trust[at] = std::min(outcome_.trust[2 * n], outcome_.trust[2 * n + 1]);
    }
    std::vector<std::string> on{"frequency", "receiver"};
    if (!plane_waves()) on.insert(on.begin(), "source");
    const auto add = [&](const char* role, const std::string& unit, const char* what, Values values) {
      data.variables.push_back({set.name + role, unit, set.name + ", " + what, on, std::move(values), {}});
    };
    add("", set.unit, "computed", std::move(computed));
    add("_observed", set.unit, "observed", std::move(observed));
    add("_residual", set.unit, "observed - computed", std::move(residual));
    add("_uncertainty", set.unit, "standard deviation of each part", std::move(uncertainty));
    if (settings_.huber > 0) add("_trust", "1", "below 1 where an outlier counts less", std::move(trust));
  }
  return data;
}

void FieldData::complete_cells(std::vector<Column>& columns) const {
  auto& found = columns.front().values;  // values of all cells; those of inactive cells are kept
  for (std::size_t c = 0, n = 0; c < found.size() && !problem_.active.empty(); ++c)
    if (n < problem_.active.size() && problem_.active[n] == c) ++n;
    else found[c] = 1 / earth().conductivity[0][c];
}

}  // namespace

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = physics();
  made.job.summary = "Resistivities from electromagnetic fields.";
  made.job.sections.insert(made.job.sections.end() - 1,
                           {inversion::inversion_section(), inversion::joint_section()});
  made.job.make = FieldData::from_job;
  made.data = "electromagnetic fields";
  made.examples = {example, magnetotelluric_example};
  made.on_page = {
      {"simulation", "",
       "With physics = \"electromagnetic\", beside `[model]`, `[[source]]` and `[survey]` of [such "
       "jobs](job_electromagnetic.md):",
       sections().back().keys, false}};
  made.services = {service_of_fields()};
  return made;
}

}  // namespace terrane::electromagnetic::inverse
