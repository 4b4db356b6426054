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

}  // namespace

template <class T>
void Wave<T>::pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
                   Receivers<T>& receivers, const Clock& clock) {
  receivers.prepare(count);
  auto even = arguments();
  auto odd = even;
  odd.now = even.next, odd.next = const_cast<T*>(even.now);
  odd.now_q = even.next_q, odd.next_q = const_cast<T*>(even.now_q);
  stream.do_on_host([this, even, odd, passes, count, &sources, &receivers, moment = clock.now(),
                     threads = stream.threads()] {
    const auto& kernels = host_kernels<T>(medium_.kernel());
    const auto& problem = medium_.problem();
    walk(medium_.part(), passes, count, medium_.kernel().points, threads,
         [&](Index step, const Stretch& stretch) {
           const StepArguments<T>& g = step % 2 == 0 ? even : odd;
           const auto& box = stretch.nodes;
           const Moment now{moment.clock, moment.ahead + step};
           const auto begin = box.first[0] * g.stride[0] + box.first[2];
           const Index from = begin + box.first[1] * g.stride[1], to = begin + box.last[1] * g.stride[1];
           if (!box.empty()) receivers.read_between(g.now, g.now_q, step, from, to);
           for (const auto& slab : medium_.slabs()) {
             const auto& nodes = slab.axis < 2 ? stretch.ahead[static_cast<std::size_t>(slab.axis)] : box;
             if (const auto some = overlap(slab.layer, nodes); !some.empty())
               kernels.psi(g, slab.axis, slab.side, some);
           }
           if (box.empty()) return;
           static thread_local std::vector<Climb<T>> climbs;  // of the tile that the thread walks up
           if (std::ssize(climbs) <= step) climbs.resize(static_cast<std::size_t>(step) + 1);
           auto& climb = climbs[static_cast<std::size_t>(step)];
           climb.first_plane = medium_.part().first[0];
           climb.tile = box;
           for (Region region : inner_.in_rows()) {
             region.box = overlap(region.box, box);
             if (!region.box.empty()) kernels.step(g, region, &climb);
           }
           sources.put_between(g, now, from, to);
           put_images(problem, medium_.reach(), g, g.next, box);
           if (g.next_q != nullptr) put_images(problem, medium_.reach(), g, g.next_q, box);
         });
    for (Index step = 0; step < count; ++step)
      receivers.add_up(step, {moment.clock, moment.ahead + step}, threads);
  });
  if (count % 2 == 1) std::swap(now_, before_);
}

template void Wave<float>::pass(Stream&, const Passes&, Index, const Sources<float>&, Receivers<float>&,
                                const Clock&);
template void Wave<double>::pass(Stream&, const Passes&, Index, const Sources<double>&, Receivers<double>&,
                                 const Clock&);

}  // namespace terrane::acoustic
