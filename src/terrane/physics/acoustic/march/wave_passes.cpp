#include <utility>
#include <vector>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"

namespace terrane::acoustic {

namespace {

/// The images of these nodes beyond free surfaces: p(−1 − n) = −p(n).
template <class T>
void put_images(const Problem& problem, Index reach, const StepArguments<T>& g, T* next,
                const IndexBox<3>& box) {
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const auto a = static_cast<std::size_t>(axis);
      if (!problem.grid.there(axis) ||
          problem.sides[a][static_cast<std::size_t>(side)] != Boundary::free_surface)
        continue;
      const Index nodes = problem.grid.nodes[a], sum = side == 0 ? -1 : 2 * nodes - 1;
      const auto near = overlap(
          box, box.with(axis, side == 0 ? 0 : nodes - reach, side == 0 ? std::min(reach, nodes) : nodes));
      for (Index k = near.first[0]; k < near.last[0]; ++k)
        for (Index j = near.first[1]; j < near.last[1]; ++j) {
          T* const row = next + k * stride[0] + j * stride[1];
          const Index to = axis == 0 ? (sum - 2 * k) * stride[0] : (sum - 2 * j) * stride[1];
          if (axis < 2)
            for (Index i = near.first[2]; i < near.last[2]; ++i) row[to + i] = -row[i];
          else
            for (Index i = near.first[2]; i < near.last[2]; ++i) row[sum - i] = -row[i];
        }
    }
}

/// Offsets of the first nodes of a plane's rows: of the first row, and beyond the last.
template <class T>
std::pair<Index, Index> rows_of(const StepArguments<T>& g, const IndexBox<3>& plane) {
  const Index begin = plane.first[0] * g.stride[0] + plane.first[2];
  return {begin + plane.first[1] * g.stride[1], begin + plane.last[1] * g.stride[1]};
}

template <class Use>
void each_plane(const std::vector<IndexBox<3>>& boxes, const Use& use) {
  for (const auto& box : boxes)
    for (Index k = box.first[0]; k < box.last[0]; ++k) use(box.with(0, k, k + 1));
}

}  // namespace

/// What a step of a pass leaves beside other ranks, once and for all passes.
template <class T>
void Wave<T>::make_borders(Index count) {
  for (Index step = std::ssize(borders_); step < count; ++step) {
    Border border;
    border.boxes = without(medium_.part(), taken_in_pass(medium_.problem(), medium_.part(), step));
    std::vector<Region> regions;
    for (const auto& box : border.boxes) {
      for (const auto* work : {&edges_, &inner_})
        for (Region region : work->regions()) {
          region.box = overlap(region.box, box);
          if (!region.box.empty()) regions.push_back(region);
        }
      for (Slab slab : medium_.slabs()) {
        slab.layer = overlap(slab.layer, box);
        if (!slab.layer.empty()) border.slabs.push_back(slab);
      }
    }
    border.work = Work(regions);
    borders_.push_back(std::move(border));
  }
}

/// In one plane: sources, then the images of what they reach.
template <class T>
void Wave<T>::put_between_and_mirror(const StepArguments<T>& g, const Moment& moment,
                                     const Sources<T>& sources, const IndexBox<3>& plane) {
  const auto [from, to] = rows_of(g, plane);
  sources.put_between(g, moment, from, to);
  put_images(medium_.problem(), medium_.reach(), g, g.next, plane);
  if (g.next_q != nullptr) put_images(medium_.problem(), medium_.reach(), g, g.next_q, plane);
}

template <class T>
void Wave<T>::pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
                   Receivers<T>* receivers, const Clock& clock, const After& after) {
  if (receivers) receivers->prepare(count);
  make_borders(count);
  const auto even = arguments();
  auto odd = even;
  odd.now = even.next, odd.next = const_cast<T*>(even.now);
  odd.now_q = even.next_q, odd.next_q = const_cast<T*>(even.now_q);
  const auto moment_of = [moment = clock.now()](Index step) {
    return Moment{moment.clock, moment.ahead + step};
  };
  std::vector<IndexBox<3>> boxes;
  for (Index step = 0; step < count; ++step)
    boxes.push_back(taken_in_pass(medium_.problem(), medium_.part(), step));
  // The end of a step of some nodes in a plane: sources, images, and what the caller does with p⁺.
  const auto finish = [this, &sources, after, moment_of, box = medium_.box()](
                          Index step, const StepArguments<T>& g, const IndexBox<3>& nodes) {
    put_between_and_mirror(g, moment_of(step), sources, nodes);
    if (after) after(step, nodes, View<const T, 3>(g.next + strides(box).to(box.first), box));
  };
  stream.do_on_host([this, even, odd, passes, boxes, receivers, finish, threads = stream.threads()] {
    const auto& kernels = host_kernels<T>(medium_.kernel());
    walk(boxes, passes, medium_.kernel().points, threads, [&](Index step, const Stretch& stretch) {
      const StepArguments<T>& g = step % 2 == 0 ? even : odd;
      const auto& box = stretch.nodes;
      if (receivers && !box.empty()) {
        const auto [from, to] = rows_of(g, box);
        receivers->read_between(g.now, g.now_q, step, from, to);
      }
      for (const auto& slab : medium_.slabs()) {
        const auto& nodes = slab.axis < 2 ? stretch.ahead[static_cast<std::size_t>(slab.axis)] : box;
        if (const auto some = overlap(slab.layer, nodes); !some.empty())
          kernels.psi(g, slab.axis, slab.side, some);
      }
      if (box.empty()) return;
      static thread_local std::vector<Climb<T>> climbs;  // of the tile that the thread walks up
      if (std::ssize(climbs) <= step) climbs.resize(static_cast<std::size_t>(step) + 1);
      auto& climb = climbs[static_cast<std::size_t>(step)];
      climb.first_plane = boxes[static_cast<std::size_t>(step)].first[0];
      climb.tile = box;
      for (const auto* work : {&edges_, &inner_})
        for (Region region : work->in_rows()) {
          region.box = overlap(region.box, box);
          if (!region.box.empty()) kernels.step(g, region, &climb);
        }
      finish(step, g, box);
    });
  });
  for (Index step = 0; step < count && halo_; ++step) {
    const StepArguments<T>& g = step % 2 == 0 ? even : odd;
    const auto& border = borders_[static_cast<std::size_t>(step)];
    if (receivers)
      stream.do_on_host([g, step, &border, receivers] {
        each_plane(border.boxes, [&](const IndexBox<3>& plane) {
          const auto [from, to] = rows_of(g, plane);
          receivers->read_between(g.now, g.now_q, step, from, to);
        });
      });
    begin_psi(stream, medium_.kernel(), g, border.slabs);
    begin_steps(stream, medium_.kernel(), g, border.work);
    stream.do_on_host([g, step, &border, finish] {
      each_plane(border.boxes, [&](const IndexBox<3>& plane) { finish(step, g, plane); });
    });
    const auto next = views_of(step % 2 == 0 ? before_ : now_);
    halo_->begin(stream, next);
    halo_->end(stream, next);
  }
  if (receivers)
    stream.do_on_host([count, receivers, moment_of, threads = stream.threads()] {
      for (Index step = 0; step < count; ++step) receivers->add_up(step, moment_of(step), threads);
    });
  if (count % 2 == 1) std::swap(now_, before_);
}

template void Wave<float>::pass(Stream&, const Passes&, Index, const Sources<float>&, Receivers<float>*,
                                const Clock&, const After&);
template void Wave<double>::pass(Stream&, const Passes&, Index, const Sources<double>&, Receivers<double>*,
                                 const Clock&, const After&);

}  // namespace terrane::acoustic
