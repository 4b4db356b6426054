// Chooses the kernel for each kind of shape and medium, outside matched layers.
#pragma once

#include <type_traits>

#include "terrane/physics/elastic/kernels/forces.hpp"
#include "terrane/physics/elastic/kernels/pencils.hpp"

namespace terrane::elastic {

template <class T>
void begin_inner_forces(Stream& on, const GroupForcesWork<T>& work) {
  const auto run = [&](auto shape, auto rheology) {
    constexpr Shape kind = decltype(shape)::value;
    constexpr Rheology medium = decltype(rheology)::value;
    if (work.degree == 4)
      for_each_group(on, work.count, PencilForces<T, kind, medium>{work.tables, work.spread, work.all});
    else for_each_group(on, work.count, GroupForces<T, kind, medium>{work.tables, work.spread, work.all});
  };
  const auto with_shape = [&](auto rheology) {
    if (work.shape == Shape::trilinear) run(std::integral_constant<Shape, Shape::trilinear>{}, rheology);
    else if (work.shape == Shape::curved) run(std::integral_constant<Shape, Shape::curved>{}, rheology);
    else run(std::integral_constant<Shape, Shape::parallel>{}, rheology);
  };
  switch (work.rheology) {
    case Rheology::isotropic:
      return with_shape(std::integral_constant<Rheology, Rheology::isotropic>{});
    case Rheology::anisotropic:
      return with_shape(std::integral_constant<Rheology, Rheology::anisotropic>{});
    case Rheology::attenuating:
      return with_shape(std::integral_constant<Rheology, Rheology::attenuating>{});
    case Rheology::lossy:
      return with_shape(std::integral_constant<Rheology, Rheology::lossy>{});
    case Rheology::fluid:
      return with_shape(std::integral_constant<Rheology, Rheology::fluid>{});
    case Rheology::varying:
      return with_shape(std::integral_constant<Rheology, Rheology::varying>{});
    case Rheology::varying_attenuating:
      return with_shape(std::integral_constant<Rheology, Rheology::varying_attenuating>{});
    case Rheology::varying_fluid:
      return with_shape(std::integral_constant<Rheology, Rheology::varying_fluid>{});
    case Rheology::matched:
      return;  // forces in matched layers are computed by begin_margin_forces()
  }
}

}  // namespace terrane::elastic
