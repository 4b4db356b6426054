#include "terrane/physics/elastic/specfem/specfem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::elastic {

namespace {

// Half duration of SPECFEM3D's triangle, divided by τ of the Gaussian that replaces it.
constexpr double of_triangle = 1.628;

/// Converts the sources of a file, and counts cases that need a note.
class Solution {
 public:
  Solution(std::string file, const SourceRules& rules) : file_(std::move(file)), rules_(rules) {}

  SpecfemSource source(const io::SpecfemSource& given) {
    SpecfemSource s;
    s.latitude = given.latitude, s.longitude = given.longitude;
    s.depth = rules_.heights ? given.depth : 1000 * given.depth;
    s.where = given.where({"latitude", "latorutm"});
    s.source = given.is_force ? force(given) : moment(given);
    s.source.course.delay = given.time_shift;
    s.in_fluid = given.is_force ? force_in_fluid(s.source, given.factor) : moment_in_fluid(s.source);
    return s;
  }

  void say(double first_shift, std::vector<std::string>& notes) const {
    if (first_shift != 0)
      notes.push_back(fmt::format("{}: times count from the first source, whose time shift is {:g} s", file_,
                                  first_shift));
    if (lengthened_ > 0)
      notes.push_back(fmt::format("{}: {} half durations below five steps count as {:g} s", file_,
                                  lengthened_, 5 * rules_.step));
  }

 private:
  Course ricker(const io::SpecfemSource& given) const {
    if (!(given.duration > 0))
      throw InputError(
          given.where(duration_keys(given)), "a Ricker needs its peak frequency, Hz",
          rules_.ricker ? "USE_RICKER_TIME_FUNCTION of the Par_file makes one of this source." : "");
    return {Pulse::ricker, given.duration, 0, {}};
  }
  static std::initializer_list<const char*> duration_keys(const io::SpecfemSource& given) {
    static constexpr std::initializer_list<const char*> force{"hdurorf0", "f0"}, moment{"half duration"};
    return given.is_force ? force : moment;
  }
  double half_duration(const io::SpecfemSource& given) {
    if (rules_.step > 0 && given.duration < 5 * rules_.step) {
      ++lengthened_;
      return 5 * rules_.step;
    }
    if (!(given.duration > 0))
      throw InputError(given.where(duration_keys(given)),
                       fmt::format("a half duration of {:g} s", given.duration),
                       "SPECFEM3D takes five time steps then; write the half duration that is meant, s.");
    return given.duration;
  }

  Source moment(const io::SpecfemSource& given) {
    Source s;
    s.is_moment = true;
    const auto& m = given.moment;  // rr, tt, pp, rt, rp, tp, dyne cm; r up, t south, p east
    s.strength = {m[2], m[1], m[0], -m[3], m[4], -m[5]};
    for (auto& one : s.strength) one *= 1e-7;
    if (std::all_of(m.begin(), m.end(), [](double one) { return one == 0; }))
      throw InputError(given.where({"mrr"}), "all six moments are zero: nothing would move");
    s.course = rules_.ricker ? ricker(given) : Course{Pulse::step, half_duration(given) / of_triangle, 0, {}};
    return s;
  }

  Source force(const io::SpecfemSource& given) {
    const double length = norm(given.direction);
    if (!(length > 0))
      throw InputError(given.where({"component dir vect source e"}),
                       "the force has no direction: all components are zero");
    if (given.factor == 0)
      throw InputError(given.where({"factor force source"}), "a force of zero: nothing would move");
    Source s;
    for (std::size_t d = 0; d < 3; ++d) s.strength[d] = given.factor * given.direction[d] / length;
    s.course = course_of_force(given);
    return s;
  }

  Course course_of_force(const io::SpecfemSource& given) {
    if (rules_.ricker) return ricker(given);
    if (!given.function) {  // older files: a Ricker whose peak frequency is f0
      if (given.lines.count("f0") > 0) return ricker(given);
      throw InputError(given.where({}), "this source has no line \"source time function:\"",
                       "0 is a Gaussian, 1 a Ricker, 2 a step.");
    }
    if (*given.function == 0) return {Pulse::gaussian, half_duration(given) / of_triangle, 0, {}};
    if (*given.function == 1) return ricker(given);
    if (*given.function == 2) return {Pulse::step, half_duration(given) / of_triangle, 0, {}};
    if (*given.function == 4) return {Pulse::gaussian, half_duration(given) / std::numbers::pi, 0, {}};
    throw InputError(
        given.where({"source time function"}),
        fmt::format("time function {:g} is not offered", *given.function),
        "Offered are 0 (Gaussian), 1 (Ricker), 2 (step) and 4 (Gaussian of Meschede and others); others "
        "can be given as samples in the job file.");
  }

  /// The moment tensor's form in a fluid: a step becomes a Gaussian; implosions become explosions, unless
  /// keeps_sign is set. Other moment tensors in a fluid are refused later, by Problem::settle().
  Source moment_in_fluid(const Source& in_solid) const {
    auto s = in_solid;
    if (s.course.pulse == Pulse::step) s.course.pulse = Pulse::gaussian;
    for (std::size_t d = 0; d < 3 && !rules_.keeps_sign && s.is_explosion(); ++d)
      s.strength[d] = std::fabs(s.strength[d]);
    return s;
  }
  static Source force_in_fluid(const Source& in_solid, double factor) {
    auto s = in_solid;
    s.is_moment = true;
    s.strength = {factor, factor, factor, 0, 0, 0};
    return s;
  }

  std::string file_;
  SourceRules rules_;
  std::size_t lengthened_ = 0;
};

}  // namespace

std::vector<io::SpecfemStation> read_stations(const std::filesystem::path& file) {
  return io::read_specfem_stations(file.string(), io::read_bytes(file.string()));
}

std::vector<SpecfemSource> read_solution(const std::filesystem::path& file, const SourceRules& rules,
                                         std::vector<std::string>& notes) {
  return read_solution(file.string(), io::read_bytes(file.string()), rules, notes);
}
std::vector<SpecfemSource> read_solution(const std::string& file, const std::string& text,
                                         const SourceRules& rules, std::vector<std::string>& notes) {
  Solution solution(file, rules);
  std::vector<SpecfemSource> sources;
  for (const auto& given : io::read_specfem_sources(file, text)) sources.push_back(solution.source(given));
  double first = INFINITY;
  for (const auto& s : sources) first = std::min(first, s.source.course.delay);
  for (auto& s : sources) s.source.course.delay -= first, s.in_fluid.course.delay = s.source.course.delay;
  solution.say(first, notes);
  return sources;
}

}  // namespace terrane::elastic
