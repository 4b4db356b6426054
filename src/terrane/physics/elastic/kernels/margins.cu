#include "terrane/physics/elastic/kernels/forces.hpp"
#include "terrane/physics/elastic/kernels/pencils.hpp"

namespace terrane::elastic {

namespace {

/// The memory variables of a point are loaded before they are used; a block with more elements at once hides
/// this latency.
template <class T, unsigned axes>
struct MarginForces : PencilForces<T, Shape::trilinear, Rheology::matched, axes> {
  static constexpr int groups_at_once = sizeof(T) == 8 ? 8 : 16;
};

}  // namespace

template <class T>
void begin_margin_forces(Stream& on, const GroupForcesWork<T>& work) {
  constexpr auto kind = Shape::trilinear;
  constexpr auto medium = Rheology::matched;
  if (work.degree != 4)
    return for_each_group(on, work.count, GroupForces<T, kind, medium>{work.tables, work.spread, work.all});
  unrolled<7>([&](auto n) {
    constexpr unsigned axes = decltype(n)::value + 1;
    if (work.all.axes == axes)
      for_each_group(on, work.count, MarginForces<T, axes>{{work.tables, work.spread, work.all}});
  });
}
template void begin_margin_forces(Stream&, const GroupForcesWork<float>&);
template void begin_margin_forces(Stream&, const GroupForcesWork<double>&);

}  // namespace terrane::elastic
