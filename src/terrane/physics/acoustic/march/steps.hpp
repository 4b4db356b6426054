// Begins the work of a step on a stream: rows of tiles on the threads of the CPU, or kernels of a GPU.
#pragma once

#include <vector>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"
#include "terrane/physics/acoustic/march/medium.hpp"

namespace terrane::acoustic {

/// The nodes of some regions, divided into tiles and rows for the device; made once, used in every step.
class Work {
 public:
  Work() = default;
  explicit Work(const std::vector<Region>& regions);
  const std::vector<Region>& regions() const noexcept { return regions_; }
  const std::vector<IndexBox<3>>& boxes() const noexcept { return boxes_; }  ///< nodes of all regions
  const std::vector<Region>& in_rows() const noexcept { return rows_; }      ///< regions merged to whole rows
  const std::vector<Region>& tiles() const noexcept { return tiles_; }       ///< in_rows(), cut for threads

 private:
  std::vector<Region> regions_, rows_, tiles_;
  std::vector<IndexBox<3>> boxes_;
};

/// Updates ψ ← bψ + aDp in these absorbing layers. The arguments are copied; `slabs`, and `work` of
/// begin_steps(), must outlive a Graph that records these calls.
template <class T>
void begin_psi(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
               const std::vector<Slab>& slabs);

/// Computes G p and G q, the derivatives along a tilted axis (problem.hpp), in a box; after begin_psi(),
/// before begin_steps(). Tiles of a GPU do not need it: they compute G p and G q themselves.
template <class T>
void begin_along(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                 const IndexBox<3>& box);

/// Computes p⁺ and q⁺ of the regions of `work`.
template <class T>
void begin_steps(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments, const Work& work);

/// Whether the tiled kernels of a GPU compute steps with `arguments`; with variable density, at least at the
/// nodes that no absorbing layer or sponge affects.
template <class T>
bool by_tiles(const Device& device, const Kernel& kernel, const StepArguments<T>& arguments);

/// Whether the kernels of steps with `arguments` also write p⁺ to the neighbours in arguments.beside.
template <class T>
bool steps_hand_on(const Device& device, const Kernel& kernel, const StepArguments<T>& arguments,
                   const Work& work);

/// Does the work of begin_psi(), begin_along() and begin_steps() by the functions of nodes.hpp, one node at a
/// time: the reference with which tests compare all other kernels. Tests compare ψ and step together, because
/// tiles of a GPU update ψ within the step.
template <class T>
void begin_plain_psi(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                     const std::vector<Slab>& slabs);
template <class T>
void begin_plain_along(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                       const IndexBox<3>& box);
template <class T>
void begin_plain_steps(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                       const Work& work);

}  // namespace terrane::acoustic
