#include <utility>
#include <vector>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

/// Sets nodes beyond free surfaces whose images lie in `box`: p(−1 − n) = −p(n).
template <class T>
void put_images(const Problem& problem, Index reach, const StepArguments<T>& g, T* next,
                const IndexBox<3>& box) {
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  const auto put = [&](int axis, Index to) {
    const auto [from, odd] = image_of(problem, axis, to);
    if (from < box.first[axis] || from >= box.last[axis]) return;
    const auto images = box.with(axis, from, from + 1);
    const Index apart = (to - from) * stride[axis];
    const T sign = odd ? T(-1) : T(1);
    for (Index k = images.first[0]; k < images.last[0]; ++k)
      for (Index j = images.first[1]; j < images.last[1]; ++j) {
        T* const row = next + k * stride[0] + j * stride[1];
        for (Index i = images.first[2]; i < images.last[2]; ++i) row[i + apart] = sign * row[i];
      }
  };
  for (int axis = 0; axis < 3; ++axis) {
    const Index nodes = problem.grid.nodes[static_cast<std::size_t>(axis)];
    for (Index n = 0; n < reach; ++n) {
      if (side_of(problem, axis, 0) == Boundary::free_surface) put(axis, -1 - n);
      if (side_of(problem, axis, 1) == Boundary::free_surface) put(axis, nodes + n);
    }
  }
}

/// Offsets of the first node of a plane's first row, and of the row after its last.
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

/// Finds the nodes at borders with other ranks that the tiles of a pass omit at each step; once for all
/// passes.
template <class T>
void Wave<T>::make_borders(Index count, bool back) {
  auto& borders = borders_[back ? 1 : 0];
  for (Index step = std::ssize(borders); step < count; ++step) {
    Border border;
    border.boxes = without(medium_.part(), taken_in_pass(medium_.problem(), medium_.part(), step));
    std::vector<Region> regions;
    for (const auto& box : border.boxes) {
      for (const auto* work : {back ? &mesh_edges_ : &edges_, back ? &mesh_inner_ : &inner_})
        for (Region region : work->regions()) {
          region.box = overlap(region.box, box);
          if (!region.box.empty()) regions.push_back(region);
        }
      if (back) continue;
      for (Slab slab : medium_.slabs()) {
        slab.layer = overlap(slab.layer, box);
        if (!slab.layer.empty()) border.slabs.push_back(slab);
      }
    }
    border.work = Work(regions);
    borders.push_back(std::move(border));
  }
}

/// In one plane: adds sources, then sets mirrored nodes beyond free surfaces.
template <class T>
void Wave<T>::put_between_and_mirror(const StepArguments<T>& g, const Moment& moment,
                                     const Sources<T>* sources, const IndexBox<3>& plane) {
  const auto [from, to] = rows_of(g, plane);
  if (sources) sources->put_between(g, moment, from, to);
  put_images(medium_.problem(), medium_.reach(), g, g.next, plane);
  if (g.next_q != nullptr) put_images(medium_.problem(), medium_.reach(), g, g.next_q, plane);
}

/// One wave of a pass, with the arguments of its even and odd steps, which swap the fields p and p⁻.
template <class T>
struct Wave<T>::Marching : InPass {
  using InPass::after, InPass::back, InPass::before, InPass::behind, InPass::receivers, InPass::sources,
      InPass::wave;
  Moment first;
  StepArguments<T> even, odd;

  explicit Marching(const InPass& one)
      : InPass(one), first(one.clock->now()), even(one.wave->arguments()), odd(even) {
    odd.now = even.next, odd.next = const_cast<T*>(even.now);
    odd.now_q = even.next_q, odd.next_q = const_cast<T*>(even.now_q);
  }
  const StepArguments<T>& at(Index step) const { return step % 2 == 0 ? even : odd; }
  Moment moment(Index step) const { return {first.clock, first.ahead + (back ? -step : step)}; }
  void read(Index step, const IndexBox<3>& plane) const {
    if (!receivers || plane.empty()) return;
    const auto [from, to] = rows_of(at(step), plane);
    receivers->read_between(at(step).now, at(step).now_q, step, from, to);
  }
  /// Completes a step at some nodes of a plane: adds sources, sets mirrored nodes, and calls the caller's
  /// functions of p⁺.
  void finish(Index step, const IndexBox<3>& plane) const {
    const StepArguments<T>& g = at(step);
    if (behind) behind(step, g, plane);
    wave->put_between_and_mirror(g, moment(step), sources, plane);
    if (!after) return;
    const auto& box = wave->medium_.box();
    after(step, plane, View<const T, 3>(g.next + strides(box).to(box.first), box));
  }
  /// Tilted axis: the nodes at which G p and G q are computed before the step of `nodes`. They lie M nodes
  /// further up and north than `nodes`; nodes outside the part are added to its first or last nodes. At all
  /// these nodes images beyond free surfaces have been set, and the preceding step no longer reads the values
  /// that are overwritten.
  IndexBox<3> ahead_of_both(const IndexBox<3>& nodes) const {
    if (nodes.empty()) return nodes;
    const auto& medium = wave->medium_;
    const Index points = medium.kernel().points;
    auto box = nodes;
    for (const int axis : {up, north}) {
      const bool begins = nodes.first[axis] == medium.part().first[axis];
      box = box.grown(axis, begins ? points : -points, points);
    }
    return medium.problem().grid.there(east) ? box.grown(east, points, points) : box;
  }
  /// Computes one step of a pass at the nodes of a tile in one plane.
  void take(Index step, const Stretch& stretch, Climb<T>& climb) const {
    const StepArguments<T>& g = at(step);
    const auto& box = stretch.nodes;
    const auto& kernels = host_kernels<T>(wave->medium_.kernel());
    read(step, box);
    const bool tilted = wave->medium_.problem().equation == Equation::tti;
    const auto along = tilted ? ahead_of_both(box) : IndexBox<3>{};
    for (const auto& slab : wave->medium_.slabs()) {
      const auto& nodes = tilted && slab.axis == 0 ? along
                          : slab.axis < 2          ? stretch.ahead[static_cast<std::size_t>(slab.axis)]
                                                   : box;
      if (const auto some = overlap(slab.layer, nodes); !back && !some.empty())
        kernels.psi(g, slab.axis, slab.side, some);
    }
    if (box.empty()) return;
    if (tilted) kernels.along(g, along);
    if (before) before(step, g, box);
    climb.tile = box;
    for (const auto* work :
         {back ? &wave->mesh_edges_ : &wave->edges_, back ? &wave->mesh_inner_ : &wave->inner_})
      for (Region region : work->in_rows()) {
        region.box = overlap(region.box, box);
        if (!region.box.empty()) kernels.step(g, region, &climb);
      }
    finish(step, box);
  }
  /// Computes one step of a pass at those nodes next to other ranks that the tiles omitted, then exchanges
  /// halos.
  void take_border(Stream& stream, Index step) const {
    const auto& border = wave->borders_[back ? 1 : 0][static_cast<std::size_t>(step)];
    const StepArguments<T>& g = at(step);
    stream.do_on_host([*this, step, &border] {
      each_plane(border.boxes, [&](const IndexBox<3>& plane) {
        read(step, plane);
        if (before) before(step, at(step), plane);
      });
    });
    begin_psi(stream, wave->medium_.kernel(), g, border.slabs);
    begin_steps(stream, wave->medium_.kernel(), g, border.work);
    stream.do_on_host([*this, step, &border] {
      each_plane(border.boxes, [&](const IndexBox<3>& plane) { finish(step, plane); });
    });
    const auto next = wave->views_of(step % 2 == 0 ? wave->before_ : wave->now_);
    wave->halo_->begin(stream, next);
    wave->halo_->end(stream, next);
  }
};

template <class T>
void Wave<T>::pass_together(Stream& stream, const Passes& passes, Index count,
                            std::span<const InPass> together) {
  std::vector<Marching> waves;
  for (const auto& one : together) {
    if (one.receivers) one.receivers->prepare(count);
    one.wave->make_borders(count, one.back);
    waves.emplace_back(one);
  }
  const auto& medium = waves.front().wave->medium_;
  const Index first_of_mesh = medium.mesh().first[0];
  std::vector<IndexBox<3>> boxes;
  for (Index step = 0; step < count; ++step)
    boxes.push_back(taken_in_pass(medium.problem(), medium.part(), step));
  stream.do_on_host([passes, boxes, waves, &medium, first_of_mesh, threads = stream.threads()] {
    walk(boxes, passes, medium.kernel().points, threads, [&](Index step, const Stretch& stretch) {
      static thread_local std::vector<Climb<T>> climbs;  // [steps][waves] state of the thread's present tile
      const auto s = static_cast<std::size_t>(step);
      if (climbs.size() < (s + 1) * waves.size()) climbs.resize((s + 1) * waves.size());
      for (std::size_t w = 0; w < waves.size(); ++w) {
        auto& climb = climbs[s * waves.size() + w];
        climb.first_plane = boxes[s].first[0];
        if (waves[w].back) climb.first_plane = std::max(climb.first_plane, first_of_mesh);
        waves[w].take(step, stretch, climb);
      }
    });
  });
  for (Index step = 0; step < count; ++step)
    for (const auto& one : waves)
      if (one.wave->halo_) one.take_border(stream, step);
  stream.do_on_host([count, waves, threads = stream.threads()] {
    for (const auto& one : waves)
      for (Index step = 0; step < count && one.receivers; ++step)
        one.receivers->add_up(step, one.moment(step), threads);
  });
  for (const auto& one : waves)
    if (count % 2 == 1) one.wave->turn();
}

template <class T>
void Wave<T>::pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
                   Receivers<T>* receivers, const Clock& clock, const After& after) {
  InPass alone{this, &clock, &sources, receivers};
  alone.after = after;
  pass_together(stream, passes, count, std::span<const InPass>(&alone, 1));
}

template void Wave<float>::pass(Stream&, const Passes&, Index, const Sources<float>&, Receivers<float>*,
                                const Clock&, const After&);
template void Wave<double>::pass(Stream&, const Passes&, Index, const Sources<double>&, Receivers<double>*,
                                 const Clock&, const After&);
template void Wave<float>::pass_together(Stream&, const Passes&, Index, std::span<const InPass>);
template void Wave<double>::pass_together(Stream&, const Passes&, Index, std::span<const InPass>);

}  // namespace terrane::acoustic
