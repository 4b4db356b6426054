#include <algorithm>
#include <cmath>
#include <cstring>

#include "terrane/base/error.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/acoustic/image/engine.hpp"
#include "terrane/physics/acoustic/image/random_walls.hpp"
#include "terrane/physics/acoustic/march/nodes.hpp"

namespace terrane::acoustic {

namespace {

constexpr Index between_looks = 32;  ///< steps between two checks of cancellation and of the wave's values
constexpr Index recorded = 8;  ///< steps of a CUDA graph; even, so that p and p⁻ are swapped back at its end

/// Copies p⁻ of the source's wave before p⁺ overwrites it.
template <class T>
struct Keep {
  View<const T, 3> from;
  View<T, 3> to;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { to(k, j, i) = from(k, j, i); }
};

/// Adds the source of the scattered wave, v²Δt² (−δm a) = −v² δm (p⁺ − 2p + p⁻), to δp⁺.
template <class T>
struct Scatter {
  View<const T, 3> after, now, before, squared, change;  // change: δm / Δt²
  View<T, 3> scattered;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const T bend = after(k, j, i) - 2 * now(k, j, i) + before(k, j, i);
    scattered(k, j, i) -= squared(k, j, i) * change(k, j, i) * bend;
  }
};

/// The pressure (2p + q)/3 in a VTI or TTI medium.
template <class T>
TERRANE_FN T mean_of(T p, T q) {
  return fused(T(2) / 3, p, T(1) / 3 * q);
}

/// Adds the terms of one node and time step to the images.  after, p, before: the source's wave at the next,
/// this and the preceding step; q: the receivers' wave, not the second field; per_square: 1/Δt²
template <class T>
TERRANE_FN void correlate(T after, T p, T before, T q, T per_square, T& kernel, T& correlation,
                          T& illumination) {
  kernel -= q * ((after - 2 * p + before) * per_square);
  correlation += p * q;
  illumination += p * p;
}

template <class T>
struct Correlate {
  View<const T, 3> after, now, before, adjoint;
  View<T, 3> kernel, correlation, illumination;
  T per_square;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    correlate(after(k, j, i), now(k, j, i), before(k, j, i), adjoint(k, j, i), per_square, kernel(k, j, i),
              correlation(k, j, i), illumination(k, j, i));
  }
  /// correlate() for the nodes of a row, on the calling thread of the CPU.
  void row(Index k, Index j, Index first, Index last) const {
    const T *const p_after = &after(k, j, first), *const p = &now(k, j, first),
                   *const p_before = &before(k, j, first), *const q = &adjoint(k, j, first);
    T *const of = &kernel(k, j, first), *const meets = &correlation(k, j, first),
             *const shines = &illumination(k, j, first);
    const T seconds = per_square;
#if !defined(__CUDACC__)
#pragma omp simd
#endif
    for (Index i = 0; i < last - first; ++i)
      correlate(p_after[i], p[i], p_before[i], q[i], seconds, of[i], meets[i], shines[i]);
  }
};

/// The images in a VTI or TTI medium. There the matrix C (problem.hpp) has no inverse for ε = δ, so
/// v² C⁻¹a of the adjoint wave (a: its second time difference) is computed from its wave equation: as
/// v² (H p̃, V q̃) on the mesh, which absorbing layers do not affect. The terms of the adjoint wave's sources
/// are added by Sources::put_into_kernel().
template <class T>
struct CorrelateWithAxis {
  View<const T, 3> p, q;  // fields of the source's wave
  StepArguments<T> g;     // fields and medium of the adjoint wave
  View<T, 3> kernel, correlation, illumination;
  T per_square;
  int points;
  bool tilted;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Index here = k * g.stride[0] + j * g.stride[1] + i;
    T h_p, v_q;
    if (points == 4) operators<4>(here, h_p, v_q);
    else operators<8>(here, h_p, v_q);
    const T p_here = p(k, j, i), q_here = q(k, j, i);
    kernel(k, j, i) -= g.squared[here] * per_square * (h_p * p_here + v_q * q_here);
    const T sent = mean_of(p_here, q_here), back = mean_of(g.now[here], g.now_q[here]);
    correlation(k, j, i) += sent * back;
    illumination(k, j, i) += sent * sent;
  }
  template <int M>
  TERRANE_FN void operators(Index here, T& h_p, T& v_q) const {
    h_p = level_difference<M>(g.stencil, g.now + here, g.stride);
    if (!tilted) {
      v_q = second_difference<M>(g.stencil.second[0], g.stencil.centre_of[0], g.now_q + here, g.stride[0]);
      return;
    }
    v_q = derivative_back<M>(g.stencil, g.normal, here, g.along_q + here, g.stride);
    h_p += second_difference<M>(g.stencil.second[0], g.stencil.centre_of[0], g.now + here, g.stride[0]) -
           derivative_back<M>(g.stencil, g.normal, here, g.along_p + here, g.stride);
  }
};

/// Correlates the source's wave `lag` nodes to the west of each node with the receivers' wave `lag` nodes to
/// the east.
template <class T>
struct CorrelateApart {
  View<const T, 3> sent, sent_q, back, back_q;  // sent_q, back_q: second fields of a VTI or TTI medium
  View<T, 3> image;
  Index lag;
  bool axis;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Index west = i - lag, east = i + lag;
    T from = sent(k, j, west), to = back(k, j, east);
    if (axis) {
      from = mean_of(from, sent_q(k, j, west));
      to = mean_of(to, back_q(k, j, east));
    }
    image(k, j, i) += from * to;
  }
};

/// Copies the pressure at the nodes that a snapshot contains.  q: second field of a VTI or TTI medium
template <class T>
struct Show {
  View<const T, 3> p, q;
  View<T, 3> to;
  Index first[3], stride;
  bool axis;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Index up = first[0] + k * stride, north = first[1] + j * stride, east = first[2] + i * stride;
    to(k, j, i) = axis ? mean_of(p(up, north, east), q(up, north, east)) : p(up, north, east);
  }
};

/// Collective: assembles the values of a box on rank 0 from the ranks' parts.  part_of(rank): part of a rank
template <class To, class From, class PartOf>
std::vector<To> gathered(Comm& comm, const std::vector<From>& mine, const IndexBox<3>& all,
                         const PartOf& part_of) {
  auto values = filled(comm.rank() == 0 ? static_cast<std::size_t>(all.count()) : 0, To(0));
  const auto put = [&](const IndexBox<3>& part, const From* from) {
    const auto rows = part.count() == 0 ? 0 : static_cast<std::size_t>(part.size(0) * part.size(1));
    for_each(rows, 0, [&](std::size_t row) {
      const auto n = static_cast<Index>(row);
      const Index k = part.first[0] + n / part.size(1), j = part.first[1] + n % part.size(1);
      const From* const begin = from + n * part.size(2);
      std::copy(begin, begin + part.size(2),
                values.begin() + (k * all.size(1) + j) * all.size(2) + part.first[2]);
    });
  };
  if (comm.size() == 1) {
    put(part_of(0), mine.data());
    return values;
  }
  const auto bytes = comm.gather(std::as_bytes(std::span<const From>(mine)), 0);
  for (int rank = 0; rank < static_cast<int>(bytes.size()); ++rank)
    put(part_of(rank), reinterpret_cast<const From*>(bytes[static_cast<std::size_t>(rank)].data()));
  return values;
}

template <class T>
struct Magnitude {
  const T* p;
  TERRANE_FN double operator()(Index n) const { return std::fabs(static_cast<double>(p[n])); }
};

/// The number of steps after which a series [steps, sources] is negligible (FieldWatch::quiet_after).
std::size_t quiet_after(const std::vector<double>& series, Index steps) {
  double most = 0;
  for (const double value : series) most = std::max(most, std::fabs(value));
  const std::size_t each = series.size() / std::max<std::size_t>(1, static_cast<std::size_t>(steps));
  std::size_t first = series.size(), last = 0;
  for (std::size_t n = 0; n < series.size(); ++n)
    if (std::fabs(series[n]) > 1e-3 * most) first = std::min(first, n), last = n + 1;
  return each == 0 ? FieldWatch::never : FieldWatch::quiet_after(first / each, (last + each - 1) / each);
}

template <class Use>
void each_row(const IndexBox<3>& nodes, const Use& use) {
  for (Index k = nodes.first[0]; k < nodes.last[0]; ++k)
    for (Index j = nodes.first[1]; j < nodes.last[1]; ++j) use(k, j);
}

/// Images at lags from −most to most. Each step reads both waves once per lag, and reads and writes the lag's
/// image: four numbers per node and lag. Grids are not cut along easting: all shifted nodes are on this rank.
template <class T>
class ImagesAtLags {
 public:
  ImagesAtLags(Stream& stream, const IndexBox<3>& mesh, Index most) : mesh_(mesh), most_(most) {
    if (most == 0) return;
    for (Index lag = -most; lag <= most; ++lag) {
      images_.emplace_back(stream.device(), static_cast<std::size_t>(mesh.count()));
      if (!mesh.empty()) images_.back().fill_zero(stream);
    }
  }
  void add(Stream& stream, const History<T>& history, Index n, const Wave<T>& back, bool axis) {
    const int q = axis ? 1 : 0;
    for (std::size_t l = 0; l < images_.size(); ++l) {
      const Index lag = static_cast<Index>(l) - most_, reach = std::abs(lag);
      const auto pairs = mesh_.grown(east, -reach, -reach);
      if (!pairs.empty())
        for_each(stream, pairs,
                 CorrelateApart<T>{history.at(n, 0), history.at(n, q), back.now(), back.now(q),
                                   images_[l].view(mesh_), lag, axis});
    }
  }
  /// Adds to the images at a row of nodes, on the calling thread of the CPU, in an isotropic medium.
  void add_row(Index k, Index j, const View<const T, 3>& sent, const View<const T, 3>& back) {
    for (std::size_t l = 0; l < images_.size(); ++l) {
      const Index lag = static_cast<Index>(l) - most_, reach = std::abs(lag);
      const Index first = mesh_.first[2] + reach, last = mesh_.last[2] - reach;
      if (first >= last) continue;
      const T *const from = &sent(k, j, first - lag), *const to = &back(k, j, first + lag);
      T* const image = &images_[l].view(mesh_)(k, j, first);
#if !defined(__CUDACC__)
#pragma omp simd
#endif
      for (Index i = 0; i < last - first; ++i) image[i] += from[i] * to[i];
    }
  }
  const std::vector<Buffer<T>>& images() const { return images_; }

 private:
  IndexBox<3> mesh_;
  Index most_;
  std::vector<Buffer<T>> images_;
};

}  // namespace

template <class T>
Engine<T>::Engine(const Problem& problem, Stream& stream, Comm& comm, Dealt dealt)
    : problem_(problem),
      stream_(stream),
      comm_(comm),
      medium_(problem, stream, cut_grid(problem, comm.size()), comm.rank(),
              dealt == Dealt::yes ? &comm : nullptr),
      wave_(stream, medium_, comm),
      clock_(stream, 0),
      steps_(static_cast<Index>(problem.steps())),
      passes_(agreed(passes_for(problem, stream.device(), stream.threads(), medium_.cut()), comm)) {}

template <class T>
std::vector<double> Engine<T>::shared(const std::vector<double>& on_rank_0) {
  if (comm_.size() == 1) return on_rank_0;
  Packet packet;
  if (comm_.rank() == 0) packet.put(on_rank_0);
  packet.broadcast(comm_);
  return packet.get_vector<double>();
}

/// The factors of the sources: one over the volume of a cell, with variable density also over ρ at the
/// source, which rank 0 has for the whole mesh.
template <class T>
std::vector<double> Engine<T>::scales_of(const std::vector<Place>& sources) {
  std::vector<double> scales;
  if (comm_.rank() == 0)
    for (const auto& at : sources) scales.push_back(problem_.source_factor(at) / problem_.grid.volume());
  return shared(scales);
}

/// On rank 0: with variable density divides values of all nodes by ρ. The coefficient of p_tt is m/ρ: its
/// change is δm/ρ, and the derivative with respect to m is that with respect to m/ρ, divided by ρ.
template <class T>
void Engine<T>::by_density(std::vector<double>& values) const {
  if (problem_.equation == Equation::variable_density)
    for_each_stretch(values.size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) values[n] /= problem_.density[n];
    });
}

template <class T>
bool Engine<T>::goes_on(Progress* progress, std::uint64_t steps) {
  wave_.wait(stream_);
  if (progress) progress->advance(steps);
  return comm_.lowest(progress && progress->cancelled() ? 0 : 1) != 0;
}

/// Collective, after goes_on(): throws InputError on all ranks if the wave is not finite or too large
/// (FieldWatch).
template <class T>
void Engine<T>::look_at(FieldWatch& watch, const Wave<T>& wave, Index done, double time) {
  const auto steps = static_cast<std::size_t>(done);
  if (!watch.due(steps) && done < steps_) return;
  const auto& p = wave.buffer();
  double mine = 0;
  if (p.size() > 0) {
    const auto all = index_box(p.size());
    if (!looks_) looks_.emplace(stream_, all, all, alone_);
    mine = looks_->highest(Magnitude<T>{p.view().data});
  }
  if (!watch.lost(steps, comm_.highest(mine))) return;
  const auto place = largest_of(comm_, largest_place(wave));
  together(comm_, [&] {
    throw lost_field("acoustic: step", "pressures", "Pa", steps, time, place,
                     "Take a shorter step; beside an anisotropic medium sponges in place of cpml sides.");
  });
}

template <class T>
FieldPlace Engine<T>::largest_place(const Wave<T>& wave) {
  FieldPlace most{-1, {}};
  std::vector<T> p(wave.buffer().size());
  if (p.empty()) return most;
  wave.buffer().download(stream_, p);
  const View<const T, 3> at(p.data(), medium_.box());
  const auto& part = medium_.part();
  for (Index k = part.first[0]; k < part.last[0]; ++k)
    for (Index j = part.first[1]; j < part.last[1]; ++j)
      for (Index i = part.first[2]; i < part.last[2]; ++i)
        if (const double value = std::fabs(static_cast<double>(at(k, j, i))); !(value < most.value)) {
          const auto& g = problem_.grid;
          const FieldPlace one{value,
                               {g.first[2] + static_cast<double>(i) * g.spacing[2],
                                g.first[1] + static_cast<double>(j) * g.spacing[1],
                                g.first[0] + static_cast<double>(k) * g.spacing[0]}};
          if (one.comes_before(most)) most = one;
        }
  return most;
}

template <class T>
std::vector<double> Engine<T>::model(const Shot& shot, const std::vector<double>& series, Progress* progress,
                                     const Watch* watch) {
  Sources<T> sources(stream_, medium_, pressure_at(shot.sources), scales_of(shot.sources));
  const auto wavelet = shared(series);
  sources.send(stream_, static_cast<std::size_t>(steps_), wavelet);
  FieldWatch field(0, quiet_after(wavelet, steps_));
  Receivers<T> receivers(stream_, medium_, problem_.taps(shot), static_cast<std::size_t>(steps_));
  wave_.rest(stream_);
  clock_.set(stream_, 0);
  const auto begin_steps = [&](Index count) {
    for (Index n = 0; n < count; ++n) {
      clock_.look_ahead(n);
      wave_.step_and_read(stream_, sources, receivers, clock_);
    }
    clock_.tick(stream_, count);
  };
  const bool passing = passes_.steps > 1;
  std::optional<Graph> graph;
  if (!passing && graphs_ && wave_.can_record() && steps_ >= 2 * recorded)
    graph.emplace(stream_, [&] { begin_steps(recorded); });
  for (Index n = 0, looked = 0; n < steps_;) {
    const Index left = look(watch, wave_, n);
    if (passing) {
      const Index count = std::min(passes_.steps, left);
      wave_.pass(stream_, passes_, count, sources, &receivers, clock_);
      clock_.tick(stream_, count);
      n += count;
    } else if (graph && n % 2 == 0 && recorded <= left) {  // the graph was recorded at an even step
      graph->launch(stream_);
      n += recorded;
    } else {
      begin_steps(1);
      ++n;
    }
    if (n - looked < between_looks && n < steps_) continue;
    if (!goes_on(progress, static_cast<std::uint64_t>(n - looked))) throw Cancelled();
    look_at(field, wave_, n, static_cast<double>(n) * problem_.step);
    looked = n;
  }
  return receivers.gather(stream_, comm_);
}

template <class T>
Buffer<T> Engine<T>::of_mesh(const std::vector<double>& values) {
  const auto all = problem_.grid.box(), mine = medium_.mesh();
  if (values.size() != static_cast<std::size_t>(all.count()))
    throw ShapeError("acoustic: model",
                     std::to_string(values.size()) + " values for " + std::to_string(all.count()) + " nodes");
  std::vector<T> here;
  here.reserve(static_cast<std::size_t>(mine.count()));
  for (Index k = mine.first[0]; k < mine.last[0]; ++k)
    for (Index j = mine.first[1]; j < mine.last[1]; ++j)
      for (Index i = mine.first[2]; i < mine.last[2]; ++i)
        here.push_back(
            static_cast<T>(values[static_cast<std::size_t>((k * all.size(1) + j) * all.size(2) + i)]));
  return Buffer<T>(stream_, std::span<const T>(here));
}

/// Collective: δm/Δt² at the nodes of this rank, with variable density divided by ρ. Arrays of the whole mesh
/// are freed before the steps.
template <class T>
Buffer<T> Engine<T>::over_step_squared(const std::vector<double>& change) {
  std::vector<double> scaled;
  if (comm_.rank() == 0) {
    scaled = change;
    for (double& value : scaled) value /= problem_.step * problem_.step;
    by_density(scaled);
  }
  return of_mesh(comm_.size() == 1 ? scaled : shared(scaled));
}

template <class T>
std::vector<double> Engine<T>::born(const Shot& shot, const std::vector<double>& series,
                                    const std::vector<double>& change, Progress* progress,
                                    const Watch* watch) {
  const auto mesh = medium_.mesh();
  const Buffer<T> change_here = over_step_squared(change);
  std::vector<Buffer<T>> before;
  for (int n = 0; n < problem_.fields(); ++n) before.emplace_back(stream_.device(), change_here.size());
  Wave<T> scattered(stream_, medium_, comm_);
  Sources<T> sources(stream_, medium_, pressure_at(shot.sources), scales_of(shot.sources));
  const auto wavelet = shared(series);
  sources.send(stream_, static_cast<std::size_t>(steps_), wavelet);
  FieldWatch field(0, quiet_after(wavelet, steps_)), of_scattered;
  Receivers<T> receivers(stream_, medium_, problem_.taps(shot), static_cast<std::size_t>(steps_));
  wave_.rest(stream_);
  clock_.set(stream_, 0);
  const auto begin_pass = [&](Index count) {
    scatter_in_pass(scattered, count, sources, receivers, before, change_here);
  };
  // Adds the scattered wave's sources, at edge nodes before their values are sent to neighbouring ranks.
  const auto box = medium_.box();
  const Index to_first = strides(box).to(box.first);
  const auto scatter = [&](Stream& on, Nodes nodes, const StepArguments<T>& g) {
    for (int n = 0; n < problem_.fields(); ++n) {
      const View<T, 3> next((n == 0 ? g.next : g.next_q) + to_first, box);
      const auto& kept = std::as_const(before[static_cast<std::size_t>(n)]);
      for (const auto& region : nodes == Nodes::edges ? medium_.edges() : medium_.inner())
        if (const auto some = overlap(region.box, mesh); !some.empty())
          for_each(on, some,
                   Scatter<T>{wave_.now(n), wave_.before(n), kept.view(mesh), medium_.squared(),
                              change_here.view(mesh), next});
    }
  };
  const auto begin_step = [&] {
    receivers.read(stream_, scattered.zero_of_now(), clock_, scattered.zero_of_now_q());
    if (!mesh.empty())
      for (int m = 0; m < problem_.fields(); ++m)
        for_each(stream_, mesh, Keep<T>{wave_.before(m), before[static_cast<std::size_t>(m)].view(mesh)});
    wave_.step(stream_, &sources, clock_);
    scattered.step(stream_, nullptr, clock_, scatter);
  };
  Index looked = 0;
  for (Index n = 0, count = 1; n < steps_; n += count) {
    count = std::min(passes_.steps, look(watch, scattered, n));
    passes_.steps > 1 ? begin_pass(count) : begin_step();
    clock_.tick(stream_, count);
    if (n < looked) continue;
    if (!goes_on(progress, between_looks)) throw Cancelled();
    look_at(field, wave_, n + count, static_cast<double>(n + count) * problem_.step);
    look_at(of_scattered, scattered, n + count, static_cast<double>(n + count) * problem_.step);
    looked += between_looks;
  }
  scattered.wait(stream_);  // throws if a neighbouring rank was lost
  look_at(of_scattered, scattered, steps_, static_cast<double>(steps_) * problem_.step);
  return receivers.gather(stream_, comm_);
}

/// Computes `count` steps of a source's wave and of its scattered wave in one pass.  before: copy of p⁻ of
/// the source's wave, which p⁺ overwrites
template <class T>
void Engine<T>::scatter_in_pass(Wave<T>& scattered, Index count, const Sources<T>& sources,
                                Receivers<T>& receivers, std::vector<Buffer<T>>& before,
                                const Buffer<T>& change) {
  const auto mesh = medium_.mesh(), box = medium_.box();
  const Index to_first = strides(box).to(box.first);
  const auto fields = static_cast<std::size_t>(problem_.fields());
  std::array<std::array<View<const T, 3>, 2>, 2> sent;  // [p, q][pⁿ, pⁿ⁺¹ at even steps; odd: swapped]
  std::array<View<T, 3>, 2> kept;
  for (std::size_t f = 0; f < fields; ++f) {
    sent[f] = {wave_.now(static_cast<int>(f)), wave_.before(static_cast<int>(f))};
    kept[f] = before[f].view(mesh);
  }
  const auto each_node = [mesh](const IndexBox<3>& nodes, const auto& use) {
    const auto some = overlap(nodes, mesh);
    if (some.empty()) return;
    for (Index k = some.first[0]; k < some.last[0]; ++k)
      for (Index j = some.first[1]; j < some.last[1]; ++j)
        for (Index i = some.first[2]; i < some.last[2]; ++i) use(k, j, i);
  };
  const auto keep = [=](Index step, const StepArguments<T>&, const IndexBox<3>& nodes) {
    for (std::size_t f = 0; f < fields; ++f)
      each_node(nodes, Keep<T>{sent[f][step % 2 == 0 ? 1 : 0], kept[f]});
  };
  const auto scatter = [=, squared = medium_.squared(), of = change.view(mesh)](
                           Index step, const StepArguments<T>& g, const IndexBox<3>& nodes) {
    const std::size_t even = step % 2 == 0 ? 1 : 0;
    for (std::size_t f = 0; f < fields; ++f) {
      const View<T, 3> next((f == 0 ? g.next : g.next_q) + to_first, box);
      each_node(nodes, Scatter<T>{sent[f][even], sent[f][1 - even], kept[f], squared, of, next});
    }
  };
  typename Wave<T>::InPass of_source{&wave_, &clock_, &sources}, of_change{&scattered, &clock_};
  of_source.before = keep;
  of_change.receivers = &receivers, of_change.behind = scatter;
  const typename Wave<T>::InPass waves[] = {of_source, of_change};
  Wave<T>::pass_together(stream_, passes_, count, waves);
}

template <class T>
std::vector<double> Engine<T>::gather_mesh(const Buffer<T>& field) {
  auto mine = filled(field.size(), T(0));
  if (field.size() > 0) field.download(stream_, mine);
  const auto all = problem_.grid.box();
  return gathered<double>(comm_, mine, all, [&](int rank) { return overlap(medium_.cut().part(rank), all); });
}

/// Collective, before step n: computes the snapshot if one is due. Returns the number of steps until the next
/// snapshot, or the end.
template <class T>
Index Engine<T>::look(const Watch* watch, const Wave<T>& wave, Index n) {
  if (watch == nullptr || !watch->snapshots.any()) return steps_ - n;
  const auto every = static_cast<Index>(watch->snapshots.every);
  if (n > 0 && n % every == 0) {
    const auto shown = watch->snapshots.nodes(problem_.grid);
    const auto here = shown.within(medium_.mesh());
    Buffer<T> values(stream_.device(), static_cast<std::size_t>(here.count()));
    std::vector<float> mine;
    if (!here.empty()) {
      const bool axis = problem_.fields() == 2;
      for_each(stream_, here,
               Show<T>{wave.now(),
                       wave.now(axis ? 1 : 0),
                       values.view(here),
                       {shown.first[0], shown.first[1], shown.first[2]},
                       shown.stride,
                       axis});
      std::vector<T> seen(values.size());
      values.download(stream_, seen);
      mine.assign(seen.begin(), seen.end());
    }
    const auto all = gathered<float>(comm_, mine, shown.box(), [&](int rank) {
      return shown.within(overlap(medium_.cut().part(rank), problem_.grid.box()));
    });
    if (comm_.rank() == 0) watch->take(static_cast<std::size_t>(n / every - 1), all);
  }
  return std::min(steps_ - n, every - n % every);
}

/// Computes `count` steps of the source's wave from step n on in one pass over memory, and stores
/// those of its values that the computation backwards in time needs.
template <class T>
void Engine<T>::keep_in_pass(History<T>& history, Index n, Index count, const Sources<T>& sources) {
  const auto take = history.taking(stream_, n + 1, count - 1);
  typename Wave<T>::After after;
  if (take)
    after = [&](Index step, const IndexBox<3>& nodes, const View<const T, 3>& next) {
      if (step + 1 < count) take(step, nodes, next);
    };
  wave_.pass(stream_, room_.passes, count, sources, nullptr, clock_, after);
}

namespace {

/// Reverses traces [steps, traces] in time.
std::vector<double> reversed_in_time(std::vector<double> traces, std::size_t steps, std::size_t places) {
  if (traces.size() != steps * places)
    throw ShapeError("acoustic: data", std::to_string(traces.size()) + " samples for " +
                                           std::to_string(places) + " traces and " + std::to_string(steps) +
                                           " steps");
  for (std::size_t n = 0; n < steps / 2; ++n)
    std::swap_ranges(traces.begin() + static_cast<std::ptrdiff_t>(n * places),
                     traces.begin() + static_cast<std::ptrdiff_t>((n + 1) * places),
                     traces.begin() + static_cast<std::ptrdiff_t>((steps - 1 - n) * places));
  return traces;
}

}  // namespace

/// Computes all steps of the source's wave, and stores what the history needs of them.
template <class T>
void Engine<T>::keep_source_wave(History<T>& history, const Sources<T>& sources, FieldWatch field,
                                 Progress* progress) {
  Index looked = 0;
  for (Index n = 0, count = 1; n < steps_; n += count) {
    history.keep(stream_, wave_, n);
    count = std::max<Index>(1, std::min({room_.passes.steps, history.steps_from(n), steps_ - 1 - n}));
    if (count > 1) keep_in_pass(history, n, count, sources);
    else if (n + 1 < steps_) wave_.step(stream_, &sources, clock_);
    clock_.tick(stream_, count);
    if (n < looked) continue;
    if (!goes_on(progress, between_looks)) throw Cancelled();
    look_at(field, wave_, n + count, static_cast<double>(n + count) * problem_.step);
    looked += between_looks;
  }
}

/// The wave of the receivers, which send their traces reversed in time, and its images with the source's
/// wave.
template <class T>
struct Engine<T>::Backward {
  Backward(Engine& engine, const Shot& shot, const std::vector<double>& reversed, Index lags)
      : wave(engine.stream_, engine.medium_, engine.comm_),
        senders(engine.stream_, engine.medium_, engine.problem_.taps(shot),
                std::vector<double>(engine.problem_.traces(shot), 1.0)),
        mesh(engine.medium_.mesh()),
        kernel(engine.stream_.device(), static_cast<std::size_t>(mesh.count())),
        correlation(engine.stream_.device(), kernel.size()),
        illumination(engine.stream_.device(), kernel.size()),
        apart(engine.stream_, mesh, lags),
        per_square(static_cast<T>(1 / (engine.problem_.step * engine.problem_.step))) {
    senders.send(engine.stream_, static_cast<std::size_t>(engine.steps_), reversed);
    for (auto* image : {&kernel, &correlation, &illumination})
      if (image->size() > 0) image->fill_zero(engine.stream_);
  }
  Wave<T> wave;
  Sources<T> senders;
  IndexBox<3> mesh;
  Buffer<T> kernel, correlation, illumination;
  ImagesAtLags<T> apart;
  T per_square;  // 1/Δt²
  FieldWatch watch;
};

/// Adds the images of one step in a VTI or TTI medium: step n of the source's wave, N − 1 − n of the
/// receivers' wave.
template <class T>
void Engine<T>::image_with_axis(Backward& back, History<T>& history, Index n) {
  history.prepare(stream_, std::min(n, steps_ - 2));
  if (!back.mesh.empty()) {
    const auto p = history.at(n, 0), q = history.at(n, 1);
    for_each(stream_, back.mesh,
             CorrelateWithAxis<T>{p, q, back.wave.derived(stream_), back.kernel.view(back.mesh),
                                  back.correlation.view(back.mesh), back.illumination.view(back.mesh),
                                  back.per_square, static_cast<int>(medium_.kernel().points),
                                  problem_.equation == Equation::tti});
    back.senders.put_into_kernel(stream_, p, q, back.kernel.view(back.mesh), back.per_square, clock_);
    back.apart.add(stream_, history, n, back.wave, true);
  }
  back.wave.step(stream_, &back.senders, clock_);
}

/// Adds the images of one step in an isotropic medium, as image_with_axis() does in a VTI or TTI medium.
template <class T>
void Engine<T>::image(Backward& back, History<T>& history, Index n) {
  back.wave.step(stream_, &back.senders, clock_);
  history.prepare(stream_, n);
  if (back.mesh.empty()) return;
  for_each(stream_, back.mesh,
           Correlate<T>{history.at(n + 1), history.at(n), history.at(n - 1), back.wave.now(),
                        back.kernel.view(back.mesh), back.correlation.view(back.mesh),
                        back.illumination.view(back.mesh), back.per_square});
  back.apart.add(stream_, history, n, back.wave, false);
}

/// Does for `count` steps from n downward, in one pass over memory, what image() does for one step. Images
/// are summed row by row; images at lags need only nodes of the same row.
template <class T>
void Engine<T>::image_in_pass(Backward& back, History<T>& history, Index n, Index count) {
  const auto rows_of = [&, of = back.kernel.view(back.mesh), meets = back.correlation.view(back.mesh),
                        shines = back.illumination.view(back.mesh)](
                           const IndexBox<3>& nodes, const Around<T>& sent, const View<const T, 3>& back_p) {
    const Correlate<T> rows{sent.after, sent.now, sent.before, back_p, of, meets, shines, back.per_square};
    each_row(nodes, [&](Index k, Index j) {
      rows.row(k, j, nodes.first[2], nodes.last[2]);
      back.apart.add_row(k, j, sent.now, back_p);
    });
  };
  history.meet(stream_, {back.wave, back.senders, clock_}, room_.passes, n, count, rows_of);
}

/// Computes all steps of the receivers' wave and all images; the history provides the source's wave from the
/// last step to the first.
template <class T>
void Engine<T>::image_all(Backward& back, History<T>& history, Progress* progress) {
  const bool axis = problem_.fields() == 2;
  const auto look_back = [&](Index n) {
    look_at(back.watch, back.wave, steps_ - n, static_cast<double>(n) * problem_.step);
  };
  for (Index n = steps_ - 1; axis && n >= 1; --n) {
    image_with_axis(back, history, n);
    clock_.tick(stream_, 1);
    if (n % between_looks != 0) continue;
    if (!goes_on(progress, between_looks)) throw Cancelled();
    look_back(n);
  }
  Index looked = steps_ - 2;
  for (Index n = steps_ - 2, count = 1; !axis && n >= 0; n -= count) {
    count = std::min({room_.passes.steps, history.steps_down(n), n + 1});
    if (count > 1) image_in_pass(back, history, n, count);
    else image(back, history, n);
    clock_.tick(stream_, count);
    if (n > looked) continue;
    if (!goes_on(progress, between_looks)) throw Cancelled();
    look_back(n);
    looked -= between_looks;
  }
  back.wave.wait(stream_);  // throws if a neighbouring rank was lost
  look_back(0);
}

template <class T>
Images Engine<T>::adjoint(const Shot& shot, const std::vector<double>& series,
                          const std::vector<double>& data, Keeping strategy, Progress* progress, Index lags) {
  const auto samples = static_cast<std::size_t>(steps_);
  const auto reversed = reversed_in_time(shared(data), samples, problem_.traces(shot));
  Sources<T> sources(stream_, medium_, pressure_at(shot.sources), scales_of(shot.sources));
  const auto wavelet = shared(series);
  sources.send(stream_, samples, wavelet);
  wave_.rest(stream_);
  room_.passes = images_in_passes(problem_, strategy, room_.place) ? passes_ : Passes{};
  const bool walls = strategy == Keeping::random_walls;
  std::optional<Sources<T>> on_mesh;
  if (keeps_boundary(strategy)) {
    on_mesh.emplace(stream_, medium_, pressure_at(shot.sources), scales_of(shot.sources), medium_.mesh());
    on_mesh->send(stream_, samples, shared(series));
  }
  const auto history =
      walls ? make_random_walls<T>(stream_, comm_, problem_, medium_.cut(), shot, shared(series))
            : make_history<T>(strategy, stream_, wave_, on_mesh ? *on_mesh : sources, room_);
  clock_.set(stream_, 0);
  if (!walls) keep_source_wave(*history, sources, FieldWatch(0, quiet_after(wavelet, steps_)), progress);

  Backward back(*this, shot, reversed, lags);
  clock_.set(stream_, 0);
  image_all(back, *history, progress);
  Images images{gather_mesh(back.kernel), gather_mesh(back.correlation), gather_mesh(back.illumination), {}};
  for (const auto& image : back.apart.images()) {
    const auto one = gather_mesh(image);
    images.at_lags.insert(images.at_lags.end(), one.begin(), one.end());
  }
  if (comm_.rank() == 0) by_density(images.kernel);
  return images;
}

template class Engine<float>;
template class Engine<double>;

}  // namespace terrane::acoustic
