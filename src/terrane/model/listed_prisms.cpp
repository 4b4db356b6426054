#include "terrane/model/listed_prisms.hpp"

#include <cmath>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

bool is_source(double value) { return value != 0 && !std::isnan(value); }

}  // namespace

PrismSet listed_prisms(const EarthModel& model, std::span<const std::size_t> numbers) {
  const auto* cells = std::get_if<MeshCells>(&model.geometry);
  const auto* prisms = std::get_if<PrismSet>(&model.geometry);
  PrismSet out;
  for (auto* face : {&out.west, &out.east, &out.south, &out.north, &out.bottom, &out.top})
    *face = filled(numbers.size(), 0.0);
  for_each_stretch(numbers.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const auto p = cells != nullptr ? cells->mesh.prism(cells->cell[numbers[n]]) : (*prisms)[numbers[n]];
      out.west[n] = p.west;
      out.east[n] = p.east;
      out.south[n] = p.south;
      out.north[n] = p.north;
      out.bottom[n] = p.bottom;
      out.top[n] = p.top;
    }
  });
  return out;
}

PrismSet prisms_of(const EarthModel& model) {
  if (const auto* set = std::get_if<PrismSet>(&model.geometry)) return *set;
  return listed_prisms(model, all_where(model.size(), 0, [](std::size_t) { return true; }));
}

PrismValues sources(const EarthModel& model, std::string_view property) {
  const auto& values = model.property(property);
  const auto which = all_where(values.size(), 0, [&](std::size_t n) { return is_source(values[n]); });
  PrismValues out{listed_prisms(model, which), filled(which.size(), 0.0)};
  for_each_stretch(which.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) out.values[n] = values[which[n]];
  });
  return out;
}

std::size_t source_count(const EarthModel& model, std::string_view property) {
  const auto& values = model.property(property);
  return sums_before_stretches(values.size(), 0, [&](std::size_t n) { return is_source(values[n]); }).back();
}

}  // namespace terrane
