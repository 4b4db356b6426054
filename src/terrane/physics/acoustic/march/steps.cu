#include <algorithm>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/acoustic/march/nodes.hpp"
#include "terrane/physics/acoustic/march/steps.hpp"

namespace terrane::acoustic {

namespace {

/// The step of one node, which one thread computes.
template <Equation equation, int M, class T>
struct StepNode {
  StepArguments<T> g;
  Region region;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { step_node<equation, M>(g, region, k, j, i); }
};
template <Equation equation, int M, class T>
struct PsiNode {
  StepArguments<T> g;
  int axis, side;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    update_psi<equation, M>(g, axis, side, k, j, i);
  }
};
template <int M, class T>
struct AlongNode {
  StepArguments<T> g;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { derive_along<M>(g, k, j, i); }
};

/// An equation and M as compile-time constants.
template <Equation which, int points>
struct Known {
  static constexpr Equation equation = which;
  static constexpr int M = points;
};

template <Equation equation, class Use>
void with_points_of(Index points, const Use& use) {
  if (points == 4) use(Known<equation, 4>{});
  else use(Known<equation, 8>{});
}

/// Calls use(Known<equation, M>) for a kernel.
template <class Use>
void with_kernel(const Kernel& kernel, const Use& use) {
  constexpr auto plain = Equation::constant_density;
  if (kernel.equation == Equation::variable_density)
    with_points_of<Equation::variable_density>(kernel.points, use);
  else if (kernel.equation == Equation::vti) with_points_of<Equation::vti>(kernel.points, use);
  else if (kernel.equation == Equation::tti) with_points_of<Equation::tti>(kernel.points, use);
  else if (kernel.points == 2) use(Known<plain, 2>{});
  else if (kernel.points == 6) use(Known<plain, 6>{});
  else with_points_of<plain>(kernel.points, use);
}

constexpr Index nodes_of_tile = 1 << 16, rows_of_tile = 32;

/// The boxes of the regions; boxes that share a whole face are merged, along easting first.
std::vector<IndexBox<3>> united(const std::vector<Region>& regions) {
  std::vector<IndexBox<3>> boxes;
  for (const auto& region : regions) boxes.push_back(region.box);
  for (int axis = 2; axis >= 0; --axis) {
    std::sort(boxes.begin(), boxes.end(),
              [&](const auto& a, const auto& b) { return a.first[axis] < b.first[axis]; });
    std::vector<IndexBox<3>> merged;
    for (const auto& box : boxes) {
      const auto below = std::find_if(merged.begin(), merged.end(), [&](const auto& other) {
        return other.last[axis] == box.first[axis] && other.with(axis, 0, 0) == box.with(axis, 0, 0);
      });
      if (below == merged.end()) merged.push_back(box);
      else below->last[axis] = box.last[axis];
    }
    boxes = merged;
  }
  return boxes;
}

/// Merges adjacent regions along easting: rows as short as an absorbing layer is thick are inefficient on a
/// CPU.
std::vector<Region> in_whole_rows(const std::vector<Region>& regions) {
  std::vector<Region> merged;
  for (const auto& region : regions) {
    auto whole = region;
    const auto beside = [&](const Region& other) {
      return !whole.sponge && !other.sponge && whole.side[0] == other.side[0] &&
             whole.side[1] == other.side[1] && whole.box.with(2, 0, 0) == other.box.with(2, 0, 0) &&
             (whole.box.last[2] == other.box.first[2] || whole.box.first[2] == other.box.last[2]);
    };
    // A merged region may be adjacent to a third region: so the search is repeated until no region is
    // adjacent.
    for (auto found = std::find_if(merged.begin(), merged.end(), beside); found != merged.end();
         found = std::find_if(merged.begin(), merged.end(), beside)) {
      whole.box = whole.box.with(2, std::min(whole.box.first[2], found->box.first[2]),
                                 std::max(whole.box.last[2], found->box.last[2]));
      whole.side[2] = Region::both;
      merged.erase(found);
    }
    merged.push_back(whole);
  }
  return merged;
}

}  // namespace

/// Tiles have whole rows, because cut rows are prefetched at less than half the speed by a CPU. A tile has 32
/// rows, and so many planes that it matters little that the planes below and above it are read twice.
Work::Work(const std::vector<Region>& regions)
    : regions_(regions), rows_(in_whole_rows(regions)), boxes_(united(regions)) {
  for (const auto& region : rows_) {
    const auto& box = region.box;
    const Index rows = std::min(rows_of_tile, box.size(1));
    const Index planes = std::clamp<Index>(nodes_of_tile / (rows * box.size(2)), 4, 64);
    for (Index k = box.first[0]; k < box.last[0]; k += planes)
      for (Index j = box.first[1]; j < box.last[1]; j += rows) {
        Region tile = region;
        tile.box =
            box.with(0, k, std::min(k + planes, box.last[0])).with(1, j, std::min(j + rows, box.last[1]));
        tiles_.push_back(tile);
      }
  }
}

#if defined(__CUDACC__)
}  // namespace terrane::acoustic
#include "terrane/physics/acoustic/march/gpu_steps.cuh"
namespace terrane::acoustic {
#endif

template <class T>
void begin_psi(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
               const std::vector<Slab>& slabs) {
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda)
    return with_kernel(kernel, [&](auto known) {
      using K = decltype(known);
      gpu::psi<K::equation, K::M>(stream, arguments, slabs);
    });
#endif
  stream.do_on_host([arguments, kernel, &slabs, threads = stream.threads()] {
    const auto& kernels = host_kernels<T>(kernel);
    // A task is a few planes of one absorbing layer.
    constexpr Index planes = 8;
    std::size_t tasks = 0;
    const auto pieces = [](const Slab& slab) { return (slab.layer.size(0) + planes - 1) / planes; };
    for (const auto& slab : slabs) tasks += static_cast<std::size_t>(pieces(slab));
    for_each(tasks, threads, [&](std::size_t task) {
      auto n = static_cast<Index>(task);
      for (const auto& slab : slabs) {
        if (n < pieces(slab)) {
          const Index k = slab.layer.first[0] + n * planes;
          kernels.psi(arguments, slab.axis, slab.side,
                      slab.layer.with(0, k, std::min(k + planes, slab.layer.last[0])));
          return;
        }
        n -= pieces(slab);
      }
    });
  });
}

template <class T>
void begin_plain_psi(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                     const std::vector<Slab>& slabs) {
  with_kernel(kernel, [&](auto known) {
    using K = decltype(known);
    for (const auto& slab : slabs)
      for_each(stream, slab.layer, PsiNode<K::equation, K::M, T>{arguments, slab.axis, slab.side});
  });
}

template <class T>
void begin_plain_along(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                       const IndexBox<3>& box) {
  if (kernel.points == 4) for_each(stream, box, AlongNode<4, T>{arguments});
  else for_each(stream, box, AlongNode<8, T>{arguments});
}

template <class T>
void begin_along(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                 const IndexBox<3>& box) {
  if (stream.device().kind == Device::Kind::cuda) return begin_plain_along(stream, kernel, arguments, box);
  stream.do_on_host([arguments, kernel, box, threads = stream.threads()] {
    const auto& kernels = host_kernels<T>(kernel);
    constexpr Index planes = 4;
    for_each(static_cast<std::size_t>((box.size(0) + planes - 1) / planes), threads, [&](std::size_t n) {
      const Index k = box.first[0] + static_cast<Index>(n) * planes;
      kernels.along(arguments, box.with(0, k, std::min(k + planes, box.last[0])));
    });
  });
}

template <class T>
void begin_steps(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments, const Work& work) {
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda)
    return with_kernel(kernel, [&](auto known) {
      using K = decltype(known);
      gpu::steps<K::equation, K::M>(stream, arguments, work);
    });
#endif
  stream.do_on_host([arguments, kernel, &work, threads = stream.threads()] {
    const auto& kernels = host_kernels<T>(kernel);
    for_each(work.tiles().size(), threads,
             [&](std::size_t n) { kernels.step(arguments, work.tiles()[n], nullptr); });
  });
}

template <class T>
bool by_tiles([[maybe_unused]] const Device& device, [[maybe_unused]] const Kernel& kernel,
              [[maybe_unused]] const StepArguments<T>& arguments) {
  bool found = false;
#if defined(__CUDACC__)
  if (device.kind != Device::Kind::cuda) return false;
  detail::cuda::use(device.index);
  with_kernel(kernel, [&](auto known) {
    using K = decltype(known);
    found = gpu::by_tiles<K::equation, K::M>(arguments);
  });
#endif
  return found;
}

template <class T>
bool steps_hand_on([[maybe_unused]] const Device& device, [[maybe_unused]] const Kernel& kernel,
                   [[maybe_unused]] const StepArguments<T>& arguments, [[maybe_unused]] const Work& work) {
  bool found = false;
#if defined(__CUDACC__)
  if (device.kind != Device::Kind::cuda) return false;
  detail::cuda::use(device.index);
  with_kernel(kernel, [&](auto known) {
    using K = decltype(known);
    found = gpu::steps_hand_on<K::equation, K::M>(arguments, work);
  });
#endif
  return found;
}

template <class T>
void begin_plain_steps(Stream& stream, const Kernel& kernel, const StepArguments<T>& arguments,
                       const Work& work) {
  with_kernel(kernel, [&](auto known) {
    using K = decltype(known);
    for (const auto& region : work.regions())
      for_each(stream, region.box, StepNode<K::equation, K::M, T>{arguments, region});
  });
}

template void begin_psi(Stream&, const Kernel&, const StepArguments<float>&, const std::vector<Slab>&);
template void begin_psi(Stream&, const Kernel&, const StepArguments<double>&, const std::vector<Slab>&);
template void begin_plain_psi(Stream&, const Kernel&, const StepArguments<float>&, const std::vector<Slab>&);
template void begin_plain_psi(Stream&, const Kernel&, const StepArguments<double>&, const std::vector<Slab>&);
template void begin_along(Stream&, const Kernel&, const StepArguments<float>&, const IndexBox<3>&);
template void begin_along(Stream&, const Kernel&, const StepArguments<double>&, const IndexBox<3>&);
template void begin_plain_along(Stream&, const Kernel&, const StepArguments<float>&, const IndexBox<3>&);
template void begin_plain_along(Stream&, const Kernel&, const StepArguments<double>&, const IndexBox<3>&);
template void begin_steps(Stream&, const Kernel&, const StepArguments<float>&, const Work&);
template void begin_steps(Stream&, const Kernel&, const StepArguments<double>&, const Work&);
template bool by_tiles(const Device&, const Kernel&, const StepArguments<float>&);
template bool by_tiles(const Device&, const Kernel&, const StepArguments<double>&);
template bool steps_hand_on(const Device&, const Kernel&, const StepArguments<float>&, const Work&);
template bool steps_hand_on(const Device&, const Kernel&, const StepArguments<double>&, const Work&);
template void begin_plain_steps(Stream&, const Kernel&, const StepArguments<float>&, const Work&);
template void begin_plain_steps(Stream&, const Kernel&, const StepArguments<double>&, const Work&);

}  // namespace terrane::acoustic
