#include "terrane/model/listed_prisms.hpp"

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

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

}  // namespace terrane
