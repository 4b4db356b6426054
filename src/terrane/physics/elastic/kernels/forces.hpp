// Forces of elements on devices: chooses the kernel for each kind of elements. The kernels are compiled in
// separate files, inner_single.cu, inner_double.cu and margins.cu, which take a minute each.
#pragma once

#include "terrane/physics/elastic/kernels/device_kernels.hpp"

namespace terrane::elastic {

/// Elements of one kind, and all data that their kernel needs.
template <class T>
struct GroupForcesWork {
  int degree;
  Shape shape;
  Rheology rheology;
  std::size_t count;
  DeviceTables<T> tables;
  const DeviceTables<T>* spread;
  ElementsOfDevice<T> all;
};

/// Begins to compute forces on the stream: of elements outside matched layers, and of elements in them. T:
/// float or double.
template <class T>
void begin_inner_forces(Stream& on, const GroupForcesWork<T>& work);
template <class T>
void begin_margin_forces(Stream& on, const GroupForcesWork<T>& work);
template <class T>
void begin_forces(Stream& on, const GroupForcesWork<T>& work) {
  if (work.rheology == Rheology::matched) begin_margin_forces(on, work);
  else begin_inner_forces(on, work);
}

}  // namespace terrane::elastic
