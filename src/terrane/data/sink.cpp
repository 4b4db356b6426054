#include "terrane/data/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

/// A copy of a data set with empty values of the same types.
Dataset without_values(const Dataset& data) {
  Dataset out{data.dimensions, {}, {}, data.attributes};
  const auto bare = [](const Variable& v) {
    return Variable{
        v.name,
        v.unit,
        v.long_name,
        v.dimensions,
        std::visit([](const auto& list) -> Values { return std::decay_t<decltype(list)>{}; }, v.values),
        v.attributes};
  };
  std::transform(data.coordinates.begin(), data.coordinates.end(), std::back_inserter(out.coordinates), bare);
  std::transform(data.variables.begin(), data.variables.end(), std::back_inserter(out.variables), bare);
  return out;
}

std::size_t count_of(const std::vector<std::size_t>& sizes) {
  std::size_t n = 1;
  for (const auto size : sizes) n *= size;
  return n;
}

std::size_t size(const ValueSpan& values) {
  return std::visit([](const auto& span) { return span.size(); }, values);
}

/// Copies `values` into a box of the array `whole`, one contiguous run after the other.
template <class T>
void copy_box(std::vector<T>& whole, const std::vector<std::size_t>& shape, const Slab& slab,
              std::span<const T> values) {
  if (values.empty()) return;
  const std::size_t n = shape.size(), run = n == 0 ? 1 : slab.count[n - 1];
  std::vector<std::size_t> index(n, 0);
  for (std::size_t done = 0; done < values.size(); done += run) {
    std::size_t at = 0;
    for (std::size_t d = 0; d < n; ++d) at = at * shape[d] + slab.start[d] + index[d];
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(done), run,
                whole.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t d = n; d-- > 1;) {
      if (++index[d - 1] < slab.count[d - 1]) break;
      index[d - 1] = 0;
    }
  }
}

}  // namespace

ValueSpan span_of(const Values& values) {
  return std::visit(
      [](const auto& list) -> ValueSpan {
        return std::span<const typename std::decay_t<decltype(list)>::value_type>(list);
      },
      values);
}

void Sink::define(const Dataset& header) {
  check(header, true);
  header_ = without_values(header);
  missing_.clear();
  for (const auto* list : {&header_.coordinates, &header_.variables})
    for (const auto& variable : *list) missing_[variable.name] = count_of(header_.shape(variable));
  do_define(header_);
  for (const auto* list : {&header.coordinates, &header.variables})
    for (const auto& variable : *list)
      if (terrane::size(variable.values) > 0) put(variable.name, span_of(variable.values));
}

void Sink::put(std::string_view name, const Slab& slab, ValueSpan values) {
  const auto where = fmt::format("data set: variable \"{}\"", name);
  const Variable* variable = header_.find(name);
  if (variable == nullptr) throw InputError(where, "it was not defined");
  const auto shape = header_.shape(*variable);
  if (values.index() != variable->values.index())
    throw ShapeError(where, "these values have another type than was defined");
  if (slab.start.size() != shape.size() || slab.count.size() != shape.size())
    throw ShapeError(where, fmt::format("a box of {} dimensions for {}", slab.count.size(), shape.size()));
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (slab.start[d] > shape[d] || slab.count[d] > shape[d] - slab.start[d])
      throw ShapeError(where, fmt::format("entries {} to {} of {}, which has {}", slab.start[d],
                                          slab.start[d] + slab.count[d], variable->dimensions[d], shape[d]));
  if (size(values) != count_of(slab.count))
    throw ShapeError(where, fmt::format("{} values for a box of {}", size(values), count_of(slab.count)));
  do_put(*variable, slab, values);
  auto& missing = missing_.find(name)->second;
  missing -= std::min(missing, size(values));
}

void Sink::put(std::string_view name, ValueSpan values) {
  const Variable* variable = header_.find(name);
  Slab slab;
  if (variable != nullptr) slab.count = header_.shape(*variable);
  slab.start.assign(slab.count.size(), 0);
  put(name, slab, values);
}

void Sink::finish() {
  for (const auto& [name, missing] : missing_)
    if (missing > 0)
      throw ShapeError(fmt::format("data set: variable \"{}\"", name),
                       fmt::format("{} of its {} values were not put", missing,
                                   count_of(header_.shape(*header_.find(name)))));
  do_finish();
}

void MemorySink::do_define(const Dataset& header) {
  data_ = header;
  for (auto* list : {&data_.coordinates, &data_.variables})
    for (auto& variable : *list) {
      const auto n = count_of(data_.shape(variable));
      std::visit([&](auto& values) { values.resize(n); }, variable.values);
    }
}

void MemorySink::do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) {
  auto& whole = *data_.find(variable.name);
  const auto shape = data_.shape(whole);
  std::visit(
      [&](auto& list) {
        using T = typename std::decay_t<decltype(list)>::value_type;
        copy_box<T>(list, shape, slab, std::get<std::span<const T>>(values));
      },
      whole.values);
}

void write(const Dataset& data, Sink& sink) {
  check(data);
  sink.define(data);
  sink.finish();
}

}  // namespace terrane
