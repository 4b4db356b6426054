#include "terrane/io/gathers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane::io {

namespace {

using AxisWords = std::array<const char*, 3>;
constexpr AxisWords axis_words{"easting", "northing", "up"}, earth_words{"longitude", "latitude", "up"};
constexpr AxisWords earth_units{"degrees_east", "degrees_north", "m"};
/// SEG-Y's codes of traces with the vertical, cross-line and in-line components of motion, and their axes.
constexpr std::array<std::pair<std::int16_t, std::string_view>, 3> axes_of_kinds{
    {{12, "_up"}, {13, "_north"}, {14, "_east"}}};
constexpr std::int16_t kind_of_pressure = 11;
/// Units of samples by their codes in SEG-Y, and the quantities that they are units of.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> units_of_codes{
    {{"", ""},
     {"Pa", "pressure"},
     {"V", "signal"},
     {"mV", "signal"},
     {"A", "signal"},
     {"m", "displacement"},
     {"m/s", "velocity"},
     {"m/s2", "acceleration"},
     {"N", "force"},
     {"W", "power"}}};

/// The code of a quantity with this name; 0 if SEG-Y has none.
std::int16_t kind_of(std::string_view name) {
  if (name == "pressure") return kind_of_pressure;
  for (const auto& [kind, axis] : axes_of_kinds)
    for (const std::string_view what : {"velocity", "displacement", "acceleration", "signal"})
      if (name.starts_with(what) && name.substr(what.size()) == axis) return kind;
  return 0;
}

const Variable& wanted_variable(const std::string& path, const Dataset& data, const std::string& field) {
  const Variable* found = nullptr;
  for (const auto& v : data.variables) {
    const bool of_time = std::find(v.dimensions.begin(), v.dimensions.end(), "time") != v.dimensions.end();
    if (field.empty() ? !of_time : v.name != field) continue;
    if (found != nullptr)
      throw InputError(path, fmt::format("\"{}\" and \"{}\" are both series of time", found->name, v.name),
                       "Say which one to take.");
    found = &v;
  }
  if (found == nullptr)
    throw InputError(path,
                     field.empty() ? "there is no variable on the dimension \"time\""
                                   : fmt::format("there is no variable \"{}\"", field),
                     "Gathers are on time and on shot and receiver, or on trace.");
  if (!std::holds_alternative<std::vector<float>>(found->values) &&
      !std::holds_alternative<std::vector<double>>(found->values))
    throw InputError(path, fmt::format("\"{}\" does not hold real numbers", found->name));
  return *found;
}

/// Indices along some dimensions, advanced with the last one fastest.
class Indices {
 public:
  Indices(const Dataset& data, std::vector<std::string> names)
      : names_(std::move(names)), at_(names_.size(), 0) {
    for (const auto& name : names_) sizes_.push_back(data.dimension(name)->size);
  }
  std::size_t count() const {
    std::size_t n = 1;
    for (const auto size : sizes_) n *= size;
    return n;
  }
  void advance() {
    for (std::size_t d = at_.size(); d-- > 0;) {
      if (++at_[d] < sizes_[d]) return;
      at_[d] = 0;
    }
  }
  /// The index of the current entry in a variable that has only some of the dimensions; a dimension that is
  /// not traversed has index 0.
  std::size_t place_in(const Dataset& data, const Variable& v) const {
    std::size_t place = 0;
    for (const auto& name : v.dimensions) {
      const auto found = std::find(names_.begin(), names_.end(), name);
      const auto index = found == names_.end() ? 0 : at_[static_cast<std::size_t>(found - names_.begin())];
      place = place * data.dimension(name)->size + index;
    }
    return place;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> sizes_, at_;
};

/// The factor from a coordinate's unit to metres or seconds.
double factor_of(const std::string& path, const Variable& v, Quantity quantity) {
  if (v.unit.empty() || v.unit.starts_with("deg")) return 1;
  double factor = 1;
  try {
    factor = si_factor(quantity, v.unit);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, v.name), error.problem(), error.next());
  }
  for (const auto& a : v.attributes)
    if (const auto* word = std::get_if<std::string>(&a.value);
        word != nullptr && a.name == "positive" && lower(*word) == "down")
      factor = -factor;
  return factor;
}

double number_at(const std::string& path, const Variable& v, std::size_t n) {
  if (const auto* list = std::get_if<std::vector<double>>(&v.values)) return list->at(n);
  if (const auto* list = std::get_if<std::vector<float>>(&v.values)) return static_cast<double>(list->at(n));
  if (const auto* list = std::get_if<std::vector<std::int32_t>>(&v.values)) return list->at(n);
  throw InputError(path, fmt::format("\"{}\" does not hold real numbers", v.name));
}

void take_times(const std::string& path, const Dataset& data, Gathers& g) {
  const auto* time = data.find("time");
  if (time == nullptr || size(time->values) != g.samples || g.samples == 0)
    throw InputError(path, "there are no times", "Gathers have a coordinate time, s.");
  const double factor = factor_of(path, *time, Quantity::time);
  const auto at = [&](std::size_t n) { return factor * number_at(path, *time, n); };
  g.first = at(0);
  g.step = g.samples > 1 ? (at(g.samples - 1) - g.first) / static_cast<double>(g.samples - 1) : 0;
  for (std::size_t n = 0; n < g.samples; ++n)
    if (!(std::abs(at(n) - g.first - static_cast<double>(n) * g.step) <= 1e-5 * g.step))
      throw InputError(path, fmt::format("the times are not even: sample {} is at {:.9g} s", n + 1, at(n)));
}

/// Reads the positions of sources and receivers, and the shot numbers, of all traces along these dimensions.
void take_gather_places(const std::string& path, const Dataset& data, const std::vector<std::string>& along,
                        Gathers& g) {
  const auto coordinate = [&](const std::string& name) -> const Variable& {
    const auto* c = data.find(name);
    if (c == nullptr)
      throw InputError(path, fmt::format("there is no {}", name),
                       "Gathers have coordinates source_ and receiver_ easting, northing and up, m.");
    return *c;
  };
  g.geographic = data.find("source_easting") == nullptr && data.find("source_longitude") != nullptr;
  const auto& words = g.geographic ? earth_words : axis_words;
  struct Axis {
    const Variable *source, *receiver;
    double of_source, of_receiver;  // factors from the units of source and receiver positions to metres
  };
  std::vector<Axis> axes;
  for (const auto* word : words) {
    const auto &source = coordinate(fmt::format("source_{}", word)),
               &receiver = coordinate(fmt::format("receiver_{}", word));
    axes.push_back({&source, &receiver, factor_of(path, source, Quantity::length),
                    factor_of(path, receiver, Quantity::length)});
  }
  const auto* numbers = data.find("shot");
  Indices at(data, along);
  const auto traces = at.count();
  for (std::size_t n = 0; n < traces; ++n, at.advance()) {
    Gathers::Place source{}, receiver{};
    for (std::size_t a = 0; a < 3; ++a) {
      source[a] = axes[a].of_source * number_at(path, *axes[a].source, at.place_in(data, *axes[a].source));
      receiver[a] =
          axes[a].of_receiver * number_at(path, *axes[a].receiver, at.place_in(data, *axes[a].receiver));
    }
    g.source.push_back(source);
    g.receiver.push_back(receiver);
    if (numbers != nullptr) {
      g.shot.push_back(static_cast<std::int32_t>(
          std::clamp(number_at(path, *numbers, at.place_in(data, *numbers)), -2e9, 2e9)));
    } else {
      const bool next = n > 0 && source != g.source[n - 1];
      g.shot.push_back(n == 0 ? 1 : g.shot.back() + (next ? 1 : 0));
    }
  }
}

}  // namespace

std::string unit_of_code(std::int16_t code) {
  return code > 0 && static_cast<std::size_t>(code) < units_of_codes.size()
             ? std::string(units_of_codes[static_cast<std::size_t>(code)].first)
             : std::string();
}

std::int16_t code_of_unit(std::string_view unit) {
  for (std::size_t n = 1; n < units_of_codes.size(); ++n)
    if (units_of_codes[n].first == unit) return static_cast<std::int16_t>(n);
  return 0;
}

std::string name_of_kind(std::int16_t kind, std::string_view unit) {
  if (kind == kind_of_pressure) return "pressure";
  const auto quantity = units_of_codes[static_cast<std::size_t>(code_of_unit(unit))].second;
  for (const auto& [code, axis] : axes_of_kinds)
    if (code == kind) {
      const bool moves = quantity == "displacement" || quantity == "acceleration" || quantity == "signal";
      return fmt::format("{}{}", moves ? quantity : "velocity", axis);
    }
  return quantity.empty() ? "pressure" : std::string(quantity);
}

Gathers to_gathers(const std::string& path, const Dataset& data, const std::string& field) {
  check(data, true);
  const auto& v = wanted_variable(path, data, field);
  Gathers g;
  g.name = v.name;
  g.unit = v.unit;
  for (const auto& a : data.attributes)
    if (const auto* words = std::get_if<std::string>(&a.value)) g.attributes[a.name] = *words;
  g.samples = data.dimension("time")->size;
  take_times(path, data, g);
  auto others = v.dimensions;
  std::erase(others, "time");
  for (const auto& name : others)
    if (name != "shot" && name != "receiver" && name != "trace")
      throw InputError(path, fmt::format("\"{}\" is on the dimension \"{}\" as well", v.name, name),
                       "Gathers are on time and on shot and receiver, or on trace.");
  take_gather_places(path, data, others, g);
  if (size(v.values) == 0) return g;
  others.push_back("time");
  Indices each(data, others);
  g.values.reserve(each.count());
  for (std::size_t n = each.count(); n-- > 0; each.advance())
    g.values.push_back(static_cast<float>(number_at(path, v, each.place_in(data, v))));
  return g;
}

Gathers to_gathers_of_kinds(const std::string& path, const Dataset& data, const std::string& field) {
  std::vector<Gathers> parts;
  for (const auto& v : data.variables)
    if (field.empty() ? kind_of(v.name) != 0 : v.name == field)
      parts.push_back(to_gathers(path, data, v.name));
  if (parts.empty()) return to_gathers(path, data, field);
  const bool pressure = parts.size() == 1 && parts.front().name == "pressure";
  if (pressure || kind_of(parts.front().name) == 0) return std::move(parts.front());
  Gathers all = parts.front();
  all.source.clear(), all.receiver.clear(), all.shot.clear(), all.values.clear();
  const auto& first = parts.front();
  for (std::size_t begin = 0, end = 0; begin < first.traces(); begin = end) {
    while (end < first.traces() && first.shot[end] == first.shot[begin]) ++end;
    for (const auto& part : parts)
      for (std::size_t n = begin; n < end; ++n) {
        all.source.push_back(part.source[n]);
        all.receiver.push_back(part.receiver[n]);
        all.shot.push_back(part.shot[n]);
        all.kind.push_back(kind_of(part.name));
        all.unit_code.push_back(code_of_unit(part.unit));
        if (part.values.empty()) continue;
        const auto from = part.values.begin() + static_cast<std::ptrdiff_t>(n * part.samples);
        all.values.insert(all.values.end(), from, from + static_cast<std::ptrdiff_t>(part.samples));
      }
  }
  for (std::size_t n = 1; n < parts.size(); ++n) {
    all.name += ", " + parts[n].name;
    if (parts[n].unit != all.unit) all.unit.clear();
  }
  return all;
}

namespace {

/// Separate gathers for each recorded quantity and unit, in the order of first occurrence; empty if their
/// positions differ.
std::vector<Gathers> apart(const Gathers& g) {
  std::vector<Gathers> parts;
  std::vector<std::pair<std::int16_t, std::int16_t>> order;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    const std::pair what{g.kind.empty() ? std::int16_t{1} : g.kind[n],
                         g.unit_code.empty() ? code_of_unit(g.unit) : g.unit_code[n]};
    const auto found = std::find(order.begin(), order.end(), what);
    const auto at = static_cast<std::size_t>(found - order.begin());
    if (found == order.end()) {
      order.push_back(what);
      Gathers part;
      part.step = g.step, part.first = g.first, part.samples = g.samples;
      part.geographic = g.geographic;
      part.unit = g.unit_code.empty() ? g.unit : unit_of_code(what.second);
      part.name = name_of_kind(what.first, part.unit);
      part.attributes = g.attributes;
      parts.push_back(std::move(part));
    }
    parts[at].source.push_back(g.source[n]);
    parts[at].receiver.push_back(g.receiver[n]);
    parts[at].shot.push_back(g.shot[n]);
    if (g.values.empty()) continue;
    const auto from = g.values.begin() + static_cast<std::ptrdiff_t>(n * g.samples);
    parts[at].values.insert(parts[at].values.end(), from, from + static_cast<std::ptrdiff_t>(g.samples));
  }
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const auto& a = parts.front();
    const auto& b = parts[n];
    if (a.source != b.source || a.receiver != b.receiver || a.shot != b.shot) return {};
    for (std::size_t m = 0; m < n; ++m)
      if (parts[m].name == b.name) return {};  // codes 1 and 11 are both pressure
  }
  return parts;
}

/// The number of traces of each shot.
std::vector<std::size_t> counts_of(const Gathers& g) {
  std::vector<std::size_t> counts;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    if (n == 0 || g.shot[n] != g.shot[n - 1] || g.source[n] != g.source[n - 1]) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

/// The dimensions of traces in a data set: shot and receiver if all shots have the same number of receivers,
/// otherwise trace.
struct GatherLayout {
  explicit GatherLayout(const Gathers& g) {
    const auto counts = counts_of(g);
    even = !counts.empty() &&
           std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
    if (even) shots = counts.size(), each = counts.front();
    fixed = even;
    for (std::size_t n = each; n < g.traces() && fixed; ++n) fixed = g.receiver[n] == g.receiver[n - each];
  }
  std::size_t stride() const {
    return even ? each : 1;
  }  ///< traces per entry of the outer dimension, shot or trace

  bool even, fixed;  ///< even: all shots have the same number of receivers; fixed: all shots have the same
                     ///< receivers
  std::size_t shots = 0, each = 0;
};

void add_gather_coordinates(Dataset& data, const Gathers& g, const GatherLayout& layout) {
  const std::vector<std::string> of_shot{layout.even ? "shot" : "trace"};
  auto of_receiver = layout.even ? std::vector<std::string>{"shot", "receiver"} : of_shot;
  if (layout.fixed) of_receiver = {"receiver"};
  const std::size_t stride = layout.stride();
  std::vector<double> time;
  for (std::size_t n = 0; n < g.samples; ++n) time.push_back(g.first + static_cast<double>(n) * g.step);
  data.coordinates.push_back({"time", "s", "time", {"time"}, std::move(time), {}});
  std::vector<std::int32_t> numbers;
  for (std::size_t n = 0; n < g.traces(); n += stride) numbers.push_back(g.shot[n]);
  data.coordinates.push_back({"shot", "", "number of the shot", of_shot, std::move(numbers), {}});
  for (std::size_t a = 0; a < 3; ++a) {
    const auto* axis = (g.geographic ? earth_words : axis_words)[a];
    const auto* unit = g.geographic ? earth_units[a] : "m";
    const auto add = [&](const char* whose, const std::vector<std::string>& along,
                         const std::vector<Gathers::Place>& places, std::size_t apart_by, std::size_t count) {
      std::vector<double> out;
      for (std::size_t n = 0; n < count; ++n) out.push_back(places[n * apart_by][a]);
      data.coordinates.push_back({fmt::format("{}_{}", whose, axis),
                                  unit,
                                  fmt::format("{} of the {}", axis, whose),
                                  along,
                                  std::move(out),
                                  {}});
    };
    add("source", of_shot, g.source, stride, g.traces() / stride);
    add("receiver", of_receiver, g.receiver, 1, layout.fixed ? layout.each : g.traces());
  }
}

/// Values reordered from [trace, time] to [shot, time, receiver].
std::vector<float> by_shots(const Gathers& g, const GatherLayout& layout) {
  std::vector<float> turned(g.values.size());
  for (std::size_t s = 0; s < layout.shots; ++s)
    for (std::size_t r = 0; r < layout.each; ++r)
      for (std::size_t t = 0; t < g.samples; ++t)
        turned[(s * g.samples + t) * layout.each + r] = g.values[(s * layout.each + r) * g.samples + t];
  return turned;
}

/// A data set with one variable per recorded quantity. If the quantities were recorded at different
/// positions, there is one variable "signal" for all, and the coordinate "kind" gives the quantity of each
/// trace.
Dataset dataset_of_kinds(Gathers g) {
  auto parts = apart(g);
  const auto kinds_of_traces = std::exchange(g.kind, {});
  const bool mixed = std::adjacent_find(kinds_of_traces.begin(), kinds_of_traces.end(),
                                        std::not_equal_to<>()) != kinds_of_traces.end();
  if (mixed || !g.unit_code.empty()) g.name = "signal";
  g.unit_code.clear();
  auto data = to_dataset(parts.empty() ? std::move(g) : std::move(parts.front()));
  for (std::size_t n = 1; n < parts.size(); ++n)
    data.variables.push_back(std::move(to_dataset(std::move(parts[n])).variables.front()));
  if (parts.empty() && !kinds_of_traces.empty() && data.dimensions.front().name == "trace")
    data.coordinates.push_back({"kind",
                                "",
                                "what a trace holds, as SEG-Y counts",
                                {"trace"},
                                std::vector<std::int32_t>(kinds_of_traces.begin(), kinds_of_traces.end()),
                                {}});
  return data;
}

}  // namespace

Dataset to_dataset(Gathers g) {
  if (!g.kind.empty() || !g.unit_code.empty()) return dataset_of_kinds(std::move(g));
  const GatherLayout layout(g);
  Dataset data;
  if (layout.even) data.dimensions = {{"shot", layout.shots}, {"time", g.samples}, {"receiver", layout.each}};
  else data.dimensions = {{"trace", g.traces()}, {"time", g.samples}};
  add_gather_coordinates(data, g, layout);
  std::vector<std::string> dimensions;
  for (const auto& d : data.dimensions) dimensions.push_back(d.name);
  if (layout.even && !g.values.empty()) g.values = by_shots(g, layout);
  data.variables.push_back({g.name, g.unit, g.name, std::move(dimensions), std::move(g.values), {}});
  for (const auto& [name, text] : g.attributes) data.attributes.push_back({name, text});
  return data;
}

}  // namespace terrane::io
