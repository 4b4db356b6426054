#include "terrane/physics/acoustic/observed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

double distance(const Place& a, const Place& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

std::string text_of(const Place& at) { return fmt::format("{:.9g}, {:.9g}, {:.9g}", at[0], at[1], at[2]); }

/// Assigns a file's traces to the receivers of each shot. If several shots or receivers have the same
/// position, traces are assigned to them in order, which must be that of the file.
class Places {
 public:
  Places(const Problem& p, double far) : far_(far) {
    for (const auto& shot : p.shots) {
      shots.push_back(shot.sources.front());
      receivers_.push_back(&shot.receivers);
      found.emplace_back(shot.receivers.size(), nowhere);
    }
  }
  /// What happened to a trace. good: it was assigned to the first shot and receiver at its positions that had
  /// no trace yet; again: all of these have a trace, the first of them the trace `taken`; none: no shot and
  /// receiver have these positions.
  enum class Fit { good, again, none };
  Fit take(std::size_t trace, const Place& source, const Place& receiver) {
    auto fit = Fit::none;
    for (std::size_t n = 0; n < shots.size(); ++n) {
      const auto s = (shot_ + n) % shots.size();
      if (distance(shots[s], source) >= far_) continue;
      const auto& list = *receivers_[s];
      for (std::size_t m = 0; m < list.size(); ++m) {
        const auto r = ((s == shot_ ? next_ : 0) + m) % list.size();
        if (distance(list[r], receiver) >= far_) continue;
        if (found[s][r] == nowhere) {
          found[s][r] = trace;
          shot_ = s, next_ = r + 1;
          return Fit::good;
        }
        fit = Fit::again, taken = found[s][r];
      }
    }
    return fit;
  }
  bool any_twice() const {
    return twice(shots) ||
           std::any_of(receivers_.begin(), receivers_.end(), [&](const auto* list) { return twice(*list); });
  }

  std::vector<Place> shots;
  std::vector<std::vector<std::size_t>> found;  ///< [shots][receivers] index of the assigned trace
  std::size_t taken = nowhere;

 private:
  static bool twice(std::vector<Place> list) {
    std::sort(list.begin(), list.end());
    return std::adjacent_find(list.begin(), list.end()) != list.end();
  }
  double far_;
  std::vector<const std::vector<Place>*> receivers_;
  std::size_t shot_ = 0, next_ = 0;  ///< shot and receiver that are tried first for the next trace
};

/// The index of the trace in the file for each shot and receiver of the problem: [shots][receivers].
std::vector<std::vector<std::size_t>> traces_of(const std::string& path, const io::Gathers& g,
                                                const Problem& p, std::vector<std::string>& notes) {
  double least = std::numeric_limits<double>::infinity();
  for (int a = 0; a < 3; ++a)
    if (p.grid.there(a)) least = std::min(least, p.grid.spacing[static_cast<std::size_t>(a)]);
  Places places(p, 0.01 * least);
  std::size_t passed = 0;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    const auto fit = places.take(n, g.source[n], g.receiver[n]);
    if (fit == Places::Fit::again)
      throw InputError(
          path, fmt::format("traces {} and {} have the same source and receiver", places.taken + 1, n + 1),
          "Stack them, keep one, or give [survey] as many receivers at that place.");
    passed += fit == Places::Fit::none ? 1 : 0;
  }
  auto& found = places.found;
  const auto& shots = places.shots;
  for (std::size_t s = 0; s < found.size(); ++s)
    for (std::size_t r = 0; r < found[s].size(); ++r) {
      if (found[s][r] != nowhere) continue;
      const auto& receiver = p.shots[s].receivers[r];
      std::size_t nearest = 0;
      const auto off = [&](std::size_t n) {
        return distance(g.source[n], shots[s]) + distance(g.receiver[n], receiver);
      };
      for (std::size_t n = 1; n < g.traces(); ++n)
        if (off(n) < off(nearest)) nearest = n;
      throw InputError(path,
                       fmt::format("it has no trace of shot {} at {} m and receiver {} at {} m", s + 1,
                                   text_of(shots[s]), r + 1, text_of(receiver)),
                       fmt::format("The nearest is trace {}: source {}, receiver {} m.", nearest + 1,
                                   text_of(g.source[nearest]), text_of(g.receiver[nearest])));
    }
  if (places.any_twice())
    notes.push_back(
        fmt::format("{}: shots or receivers at one place take its traces in the order of the file", path));
  if (passed > 0)
    notes.push_back(fmt::format("{}: {} traces of other shots or receivers are not used", path, passed));
  return std::move(found);
}

double bessel_0(double x) {  // the modified Bessel function of the first kind
  double sum = 1, term = 1;
  for (int n = 1; n < 60 && term > 1e-17 * sum; ++n) {
    term *= x * x / (4.0 * n * n);
    sum += term;
  }
  return sum;
}

/// The weights of the recorded samples `first`, first + 1, … from which a time step is interpolated.
struct Between {
  std::size_t first;
  std::vector<double> weights;
};

std::vector<Between> between(const io::Gathers& g, const Problem& p) {
  constexpr double radius = 20, shape = 9;
  std::vector<Between> all;
  for (std::size_t n = 0; n < p.steps(); ++n) {
    const double at = (static_cast<double>(n) * p.step - g.first) / g.step,
                 last = static_cast<double>(g.samples) - 1;
    if (std::abs(at - std::round(at)) < 1e-6) {
      const auto here = std::clamp(std::round(at), 0.0, last);
      all.push_back({static_cast<std::size_t>(here), {std::round(at) <= last ? 1.0 : 0.0}});
      continue;
    }
    const double low = std::clamp(std::ceil(at - radius), 0.0, last),
                 high = std::clamp(std::floor(at + radius), low, last);
    Between one{static_cast<std::size_t>(low), {}};
    for (double m = low; m <= high; ++m) {
      const double x = at - m, part = x / radius, pi = std::numbers::pi;
      one.weights.push_back(std::abs(part) >= 1
                                ? 0.0
                                : std::sin(pi * x) / (pi * x) * bessel_0(shape * std::sqrt(1 - part * part)) /
                                      bessel_0(shape));
    }
    all.push_back(std::move(one));
  }
  return all;
}

bool may_be(double value, Gaps gaps) {
  return std::isfinite(value) || (gaps == Gaps::kept && std::isnan(value));
}

const char* next_of(Gaps gaps) {
  return gaps == Gaps::kept
             ? "Gaps are NaN; zeros say that nothing arrived."
             : "Gaps are not known here: leave out their shots. Zeros say that nothing arrived.";
}

}  // namespace

std::vector<std::vector<double>> fitted(const std::string& path, const io::Gathers& g, const Problem& p,
                                        std::vector<std::string>& notes, Gaps gaps) {
  for (std::size_t n = 0; n < g.values.size(); ++n)
    if (!may_be(g.values[n], gaps))
      throw InputError(
          path, fmt::format("sample {} of trace {} is {}", n % g.samples + 1, n / g.samples + 1, g.values[n]),
          next_of(gaps));
  const double last = g.first + static_cast<double>(g.samples - 1) * g.step,
               end = static_cast<double>(p.steps() - 1) * p.step;
  if (g.first > 0.5 * p.step)
    throw InputError(path, fmt::format("its traces begin at {:.6g} s, the run at 0", g.first),
                     "Pad them with zeros.");
  if (last < end - g.step)
    throw InputError(path, fmt::format("its traces end at {:.6g} s, the run at {:.6g} s", last, end),
                     fmt::format("Take simulation.end = \"{:.6g} s\".", last));
  const auto traces = traces_of(path, g, p, notes);
  const auto steps = between(g, p);
  std::vector<std::vector<double>> all;
  for (const auto& of_shot : traces) {
    auto& out = all.emplace_back(steps.size() * of_shot.size(), 0.0);
    for (std::size_t r = 0; r < of_shot.size(); ++r) {
      const float* const trace = &g.values[of_shot[r] * g.samples];
      for (std::size_t n = 0; n < steps.size(); ++n)
        for (std::size_t m = 0; m < steps[n].weights.size(); ++m)
          out[n * of_shot.size() + r] += steps[n].weights[m] * static_cast<double>(trace[steps[n].first + m]);
    }
  }
  return all;
}

namespace {

std::string_view unit_of(std::string_view component) {
  return component == component_names[0] ? "Pa" : "m/s";
}

/// Whether a series has the default name, pressure, and no unit: its file, like most SEG-Y files, does not
/// say what it contains.
bool is_unknown(const io::Gathers& series) {
  return series.name == component_names[0] && series.unit.empty();
}

/// Throws InputError if the file declares the series to be another quantity than `wanted`.
void check_meaning(const std::string& path, const io::Gathers& series, std::string_view wanted) {
  const auto unit = unit_of(wanted);
  const bool other = series.name != wanted && !is_unknown(series) &&
                     std::find(std::begin(component_names), std::end(component_names), series.name) !=
                         std::end(component_names);
  if (!other && (series.unit.empty() || series.unit == unit)) return;
  throw InputError(path,
                   fmt::format("it holds {}{}; simulation.record asks for {}, {}", series.name,
                               series.unit.empty() ? "" : " in " + series.unit, wanted, unit),
                   "Set simulation.record to what the file holds, or give a file of what it asks for.");
}

/// Finds the series of a component in a data set: the one with its name, or the only series.
io::Gathers series_of(const std::string& path, const Dataset& data, const Problem& p, Component component,
                      bool alone, std::vector<std::string>& notes) {
  const std::string name(component_names[static_cast<std::size_t>(component)]);
  const bool named = std::any_of(data.variables.begin(), data.variables.end(),
                                 [&](const auto& v) { return v.name == name; });
  auto only = io::to_gathers(path, data, named || !alone ? name : "");
  if (only.geographic)
    throw InputError(path, "its places are longitudes and latitudes",
                     "Give eastings and northings, m, in the coordinates of the job.");
  if (const auto note = only.attributes.find("note");
      note != only.attributes.end() && component == p.record[0])
    notes.push_back(fmt::format("{}: {}", path, note->second));
  check_meaning(path, only, name);
  if (alone && is_unknown(only))
    notes.push_back(fmt::format(
        "{} does not say what its traces hold: they are taken for {}, {}, which simulation.record asks for",
        path, name, unit_of(name)));
  else if (alone && !named)
    notes.push_back(fmt::format("{}: its only series, \"{}\", is taken for {}", path, only.name, name));
  return only;
}

std::vector<std::vector<double>> of_components(const std::string& path, const Dataset& data, const Problem& p,
                                               std::vector<std::string>& notes, Gaps gaps) {
  const std::size_t components = p.record.size(), receivers = p.shots.front().receivers.size();
  std::vector<std::vector<double>> all(p.shots.size());
  for (auto& gather : all) gather.resize(p.steps() * components * receivers);
  for (std::size_t c = 0; c < components; ++c) {
    const auto one =
        fitted(path, series_of(path, data, p, p.record[c], components == 1, notes), p, notes, gaps);
    for (std::size_t s = 0; s < all.size(); ++s)
      for (std::size_t n = 0; n < p.steps(); ++n)
        std::copy_n(one[s].begin() + static_cast<std::ptrdiff_t>(n * receivers), receivers,
                    all[s].begin() + static_cast<std::ptrdiff_t>((n * components + c) * receivers));
  }
  return all;
}

/// Throws InputError unless an array is one-dimensional, or has the problem's shape [shot, time, receiver]
/// (several components: [shot, time, component, receiver]), apart from dimensions of length one.
void check_shape(const std::string& path, const io::Array& array, const Problem& p) {
  const std::size_t shots = p.shots.size(), steps = p.steps(), components = p.record.size(),
                    receivers = p.shots.front().receivers.size();
  const auto without_ones = [](std::vector<std::size_t> shape) {
    std::erase(shape, 1U);
    return shape;
  };
  const std::vector<std::size_t> wanted{shots, steps, components, receivers};
  const auto found = without_ones({array.shape.begin(), array.shape.end()});
  const bool fits = array.values.size() == shots * steps * components * receivers;
  if (fits && (found.size() <= 1 || found == without_ones(wanted) ||
               found == without_ones({shots, steps, components * receivers})))
    return;
  throw InputError(
      path,
      fmt::format("has the shape [{}]; the run has {} {}, {} steps and {} {}", fmt::join(array.shape, ", "),
                  shots, shots == 1 ? "shot" : "shots", steps, components * receivers,
                  components == 1 ? "receivers" : "traces of each shot"),
      fmt::format("Give [shot, time, {}receiver], at steps of {:.9g} s; simulation.step and simulation.end "
                  "set them.",
                  components == 1 ? "" : "component, ", p.step));
}

}  // namespace

std::vector<std::vector<double>> observed_of(const std::string& path, const io::Content& content,
                                             const Problem& p, std::vector<std::string>& notes, Gaps gaps) {
  if (const auto* data = std::get_if<Dataset>(&content)) return of_components(path, *data, p, notes, gaps);
  const auto* array = std::get_if<io::Array>(&content);
  if (array == nullptr)
    throw InputError(path, "it holds no gathers",
                     "Give SEG-Y, SU, RSF, NetCDF, or .npy [shot, time, receiver].");
  const std::size_t each = p.steps() * p.traces(p.shots.front());
  check_shape(path, *array, p);
  for (std::size_t n = 0; n < array->values.size(); ++n)
    if (!may_be(array->values[n], gaps))
      throw InputError(
          path,
          fmt::format("{} in shot {}, step {}, trace {}", array->values[n], n / each + 1,
                      n % each / p.traces(p.shots.front()) + 1, n % p.traces(p.shots.front()) + 1),
          next_of(gaps));
  std::vector<std::vector<double>> all;
  for (std::size_t n = 0; n < p.shots.size(); ++n)
    all.emplace_back(array->values.begin() + static_cast<std::ptrdiff_t>(n * each),
                     array->values.begin() + static_cast<std::ptrdiff_t>((n + 1) * each));
  return all;
}

}  // namespace terrane::acoustic
