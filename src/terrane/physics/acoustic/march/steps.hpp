// Begins the work of a step on a stream: rows of tiles on the threads of the CPU, or kernels of a GPU.
#pragma once

#include <vector>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"
#include "terrane/physics/acoustic/march/medium.hpp"

namespace terrane::acoustic {

/// How the nodes of some regions are shared out; made once, used in every step.
class Work {
 public:
  Work() = default;
  explicit Work(const std::vector<Region>& regions);
  const std::vector<Region>& regions() const noexcept { return regions_; }
  const std::vector<IndexBox<3>>& boxes() const noexcept { return boxes_; }  ///< the same nodes in few boxes
  const std::vector<Region>& in_rows() const noexcept { return rows_; }      ///< of whole rows
  const std::vector<Region>& tiles() const noexcept { return tiles_; }       ///< of the CPU: those, cut

 private:
  std::vector<Region> regions_, rows_, tiles_;
  std::vector<IndexBox<3>> boxes_;
};

/// ψ ← bψ + aDp in these layers. The arguments are copied; `slabs` and `work` must outlive what a
/// Graph records.
template <class T>
void begin_psi(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
               const std::vector<Slab>& slabs);

/// G p and G q of a tilted axis in a box; after ψ, before the steps. Tiles of a GPU make their own.
template <class T>
void begin_along(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                 const IndexBox<3>& box);

/// p⁺ of these regions, and q⁺.
template <class T>
void begin_steps(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments, const Work& work);

/// Whether the tiles of a GPU take these steps; of variable density those of the nodes that no layer and no
/// sponge reaches.
template <class T>
bool by_tiles(const Device& device, const Kernel& kernel, const StepArguments<T>& arguments);

/// Whether these steps give neighbours p⁺ where arguments.beside says so.
template <class T>
bool steps_hand_on(const Device& device, const Kernel& kernel, const StepArguments<T>& arguments,
                   const Work& work);

/// The same by the functions of nodes.hpp alone, one node at a time: what the others are tested against, ψ
/// and steps together. Tiles of a GPU make ψ with the steps.
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
