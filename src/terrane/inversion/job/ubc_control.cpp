#include "terrane/inversion/job/ubc_control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::inversion {

namespace {

/// Reads the lines of a control file, without comments and empty lines.
class Control {
 public:
  explicit Control(const std::string& path)
      : in_(io::TextReader::open(path)), folder_(std::filesystem::path(path).parent_path()) {}

  /// The words of the next line, without the comment after "!". Throws if there is no further line.
  std::vector<std::string> words(std::string_view what) {
    std::vector<std::string> found;
    std::string_view line;
    while (found.empty()) {
      if (!in_.line(line)) in_.fail(fmt::format("the file ends before {}", what));
      line = line.substr(0, line.find('!'));
      constexpr std::string_view blanks = " \t\r\v\f,";
      for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
        const auto end = std::min(line.find_first_of(blanks, begin), line.size());
        found.emplace_back(line.substr(begin, end - begin));
        begin = line.find_first_not_of(blanks, end);
      }
    }
    return found;
  }

  /// The words from index `first` on, converted to numbers. Throws unless there are between `least` and
  /// `most` of them.
  std::vector<double> numbers(const std::vector<std::string>& words, std::size_t first, std::size_t least,
                              std::size_t most, std::string_view what) {
    std::vector<double> values;
    for (std::size_t w = first; w < words.size() && values.size() < most; ++w) {
      double value = 0;
      if (!io::parse_number(words[w], value)) break;
      values.push_back(value);
    }
    if (values.size() < least)
      in_.fail(fmt::format("\"{}\" stands where {} belongs", fmt::join(words, " "), what));
    return values;
  }

  std::string path(const std::string& word) const { return (folder_ / word).string(); }
  [[noreturn]] void fail(const std::string& problem, const std::string& next) const {
    in_.fail(problem, next);
  }

 private:
  io::TextReader in_;
  std::filesystem::path folder_;
};

bool is_none(const std::vector<std::string>& words) { return lower(words.front()) == "null"; }

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

struct Writer {
  std::filesystem::path folder;  ///< folder of the job
  bool magnetic = false;
  std::string mesh, data, inversion, output;

  std::string relative(const std::string& path) const {
    const auto from = std::filesystem::absolute(folder.empty() ? "." : folder).lexically_normal();
    const auto made = std::filesystem::absolute(path).lexically_normal().lexically_proximate(from);
    return quoted(made.generic_string());
  }

  /// Reads "VALUE x" or a file of the property into `key`; does nothing if the word is null.
  void cells(Control& control, const char* key, std::string_view what) {
    const auto words = control.words(what);
    if (is_none(words)) return;
    if (lower(words.front()) != "value") {
      inversion += fmt::format("{} = {}\n", key, relative(control.path(words.front())));
      return;
    }
    const auto value = control.numbers(words, 1, 1, 1, what).front();
    inversion +=
        magnetic ? fmt::format("{} = {}\n", key, value) : fmt::format("{} = \"{} g/cm3\"\n", key, value);
  }
};

/// The lines of the file are: mesh / data / topography / 1 depth, 2 distance / exponent z0 / wavelet … :
/// Terrane computes G in its own way, so wavelet settings are ignored. From version 6 on, a file of cell
/// weights may replace the kind and its numbers.
void read_sensitivities(Control& control, Writer& job) {
  job.mesh = control.path(control.words("the mesh").front());
  job.data = control.path(control.words("the file of data").front());
  if (const auto topography = control.words("the topography"); !is_none(topography))
    job.inversion += fmt::format(
        "topography = {}  # cells whose centres lie below it; UBC's programs take only whole cells\n",
        job.relative(control.path(topography.front())));
  const auto weighting = control.words("the kind of weighting, or a file of weights");
  if (is_none(weighting)) {
    job.inversion += "weighting = \"none\"\n";
    return;
  }
  if (weighting.front().find_first_not_of("0123456789+-.eE") != std::string::npos) {
    job.inversion += fmt::format("weighting_file = {}\n", job.relative(control.path(weighting.front())));
    return;
  }
  const auto kind = control.numbers(weighting, 0, 1, 1, "1 (depth) or 2 (distance)").front();
  if (kind != 1 && kind != 2) control.fail("weighting is neither 1 (depth) nor 2 (distance)", {});
  if (kind == 2) job.inversion += "weighting = \"distance\"\n";
  const auto words = control.words("exponent and z0 of the weighting");
  if (is_none(words)) return;
  const auto numbers = control.numbers(words, 0, 2, 2, "exponent and z0 of the weighting");
  job.inversion += fmt::format("exponent = {}\n", numbers[0]);
  if (kind == 1) job.inversion += fmt::format("z0 = {}\n", numbers[1]);
}

void read_choice(Control& control, Writer& job) {
  const auto mode = control.numbers(control.words("the mode"), 0, 1, 1, "the mode: 1, 2 or 3").front();
  const auto par = control.numbers(control.words("par and tolc"), 0, 1, 2, "par and tolc");
  if (mode == 1) job.inversion += fmt::format("chi = {}\n", par[0]);
  else if (mode == 2)  // φ_m is in (g/cm³)² in UBC's programs, in (kg/m³)² here
    job.inversion += fmt::format("choice = \"fixed\"\nbeta = {}\n", par[0] * (job.magnetic ? 1 : 1e-6));
  else if (mode == 3) job.inversion += "choice = \"gcv\"\n";
  else control.fail(fmt::format("mode {} is not 1 (misfit), 2 (fixed) or 3 (GCV)", mode), {});
  if (par.size() > 1 && par[1] > 0) job.inversion += fmt::format("misfit_tolerance = {}\n", par[1]);
}

void read_norm(Control& control, Writer& job) {
  const auto alphas = control.words("the alphas");
  const auto values = is_none(alphas) ? std::vector<double>{1e-4, 1, 1, 1}
                                      : control.numbers(alphas, 0, 3, 4, "four alphas or three lengths");
  if (values.size() == 3)
    job.inversion += fmt::format("length_scale = [{}, {}, {}]\n", values[0], values[1], values[2]);
  else
    job.inversion += fmt::format("alpha_s = {}\nalpha_x = {}\nalpha_y = {}\nalpha_z = {}\n", values[0],
                                 values[1], values[2], values[3]);
  const auto smooth = control.words("SMOOTH_MOD or SMOOTH_MOD_DIF").front();
  if (lower(smooth) == "smooth_mod") job.inversion += "reference_in_gradients = false\n";
  else if (lower(smooth) != "smooth_mod_dif")
    control.fail(fmt::format("\"{}\" is neither SMOOTH_MOD nor SMOOTH_MOD_DIF", printable(smooth)), {});
  if (const auto weights = control.words("the weights"); !is_none(weights))
    job.inversion += fmt::format("weights_file = {}\n", job.relative(control.path(weights.front())));
  const auto norms = control.words("the norms");
  if (is_none(norms)) return;
  if (lower(norms.front()) != "value")
    control.fail("norms that differ from cell to cell are not offered", "Write VALUE ps px py pz.");
  const auto p = control.numbers(norms, 1, 4, 4, "four norms");
  job.inversion += fmt::format("norms = [{}, {}, {}, {}]\n", p[0], p[1], p[2], p[3]);
}

/// The lines of the file are: mode / par tolc / data / sensitivities / initial / reference / active / lower /
/// upper / alphas / SMOOTH_MOD / weights / norms / …
void read_inversion(Control& control, Writer& job) {
  read_choice(control, job);
  job.data = control.path(control.words("the file of data").front());
  control.words("the file of sensitivities");
  control.words("the initial model");  // this line is not used: models for all β are computed at once
  job.cells(control, "reference", "the reference model");
  if (const auto active = control.words("the active cells"); !is_none(active))
    job.inversion += fmt::format("active_file = {}\n", job.relative(control.path(active.front())));
  job.cells(control, "lower", "the lower bounds");
  job.cells(control, "upper", "the upper bounds");
  read_norm(control, job);
}

}  // namespace

std::string job_of_ubc_control(const std::vector<std::string>& controls,
                               const std::filesystem::path& folder) {
  if (controls.size() != 2)
    throw InputError(
        "--from", fmt::format("{} files", controls.size()),
        "Name two: that of the sensitivities (gzsen3d.inp), then that of the inversion (gzinv3d.inp).");
  Control sensitivities(controls[0]), inversion(controls[1]);
  Writer job;
  job.folder = folder;
  read_sensitivities(sensitivities, job);
  const auto content = io::read(job.data, {});
  const auto* table = std::get_if<io::Table>(&content);
  if (table == nullptr) sensitivities.fail(fmt::format("\"{}\" holds no observations", job.data), {});
  job.magnetic = table->find("tmi") != nullptr;
  read_inversion(inversion, job);
  const std::string model = job.magnetic ? "maginv3d.sus" : "gzinv3d.den";
  return fmt::format(
      "# Made of {} and {}.\n\n[mesh]\nkind = \"file\"\nfile = {}\n\n[survey]\nkind = \"list\"\nfile = {}\n\n"
      "[simulation]\nphysics = \"{}\"\n\n[inversion]\n{}\n[output]\nfiles = [\"fit.nc\", \"fit.csv\"]\n"
      "model = [\"{}\", \"model.nc\"]\n",
      std::filesystem::path(controls[0]).filename().string(),
      std::filesystem::path(controls[1]).filename().string(), job.relative(job.mesh), job.relative(job.data),
      job.magnetic ? "magnetic" : "gravity", job.inversion, model);
}

}  // namespace terrane::inversion
