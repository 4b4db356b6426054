#include <cmath>
#include <cstdint>

#include "terrane/base/error.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/acoustic/image/random_walls.hpp"

namespace terrane::acoustic {

namespace {

template <class T>
struct Copy {
  View<const T, 3> from;
  View<T, 3> to;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { to(k, j, i) = from(k, j, i); }
};

template <class T>
struct Silence {
  View<T, 3> field;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { field(k, j, i) = 0; }
};

using T16 = std::int16_t;

/// √(2n): the stretches and the states between them then take the same memory.
Index spacing_of(Index steps) {
  return std::max<Index>(1, static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(steps)))));
}

/// Waves on the rank's part of the mesh, in slots: p, and q of rock with an axis.
template <class T>
class Slots {
 public:
  Slots(Stream& stream, const Medium<T>& medium, Index slots)
      : box_(medium.mesh()),
        fields_(medium.fields()),
        memory_(stream.device(), static_cast<std::size_t>(slots * fields_ * box_.count())) {}
  View<T, 3> at(Index slot, int field = 0) {
    return box_.empty() ? View<T, 3>()
                        : View<T, 3>(memory_.view().data + (slot * fields_ + field) * box_.count(), box_);
  }
  void take(Stream& stream, Index slot, const Wave<T>& wave) {
    for (int n = 0; n < fields_; ++n) for_each(stream, box_, Copy<T>{wave.now(n), at(slot, n)});
  }
  void take_before(Stream& stream, Index slot, const Wave<T>& wave) {
    for (int n = 0; n < fields_; ++n) for_each(stream, box_, Copy<T>{wave.before(n), at(slot, n)});
  }
  void clear(Stream& stream) { memory_.fill_zero(stream); }

 private:
  IndexBox<3> box_;
  int fields_;
  Buffer<T> memory_;
};

template <class T>
class Stored final : public History<T> {
 public:
  Stored(Stream& stream, const Wave<T>& wave)
      : slots_(stream, wave.medium(), static_cast<Index>(wave.medium().problem().steps()) + 1) {
    slots_.clear(stream);
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override { slots_.take(stream, n + 1, wave); }
  void prepare(Stream&, Index) override {}
  View<const T, 3> at(Index n, int field) const override { return slots_.at(n + 1, field); }

 private:
  mutable Slots<T> slots_;
};

constexpr Index nodes_of_block = 32;  ///< of a row, with one factor
constexpr T16 largest_number = 32767;

/// A block of a row to 16 bits: x ≈ factor · number.
template <class T>
struct Squeeze {
  View<const T, 3> from;
  IndexBox<3> mesh;
  View<T16, 3> numbers;  // as the mesh
  View<T, 3> factors;    // [up, north, block]
  TERRANE_FN void operator()(Index k, Index j, Index block) const {
    const Index first = mesh.first[2] + block * nodes_of_block,
                last = first + nodes_of_block < mesh.last[2] ? first + nodes_of_block : mesh.last[2];
    T most = 0;
    for (Index i = first; i < last; ++i) {
      const T size = from(k, j, i) < 0 ? -from(k, j, i) : from(k, j, i);
      most = size > most ? size : most;
    }
    factors(k, j, block) = most / largest_number;
    const T by = most > 0 ? largest_number / most : T(0);
    for (Index i = first; i < last; ++i) {
      const T x = from(k, j, i) * by;
      numbers(k, j, i) = static_cast<T16>(x < 0 ? x - T(0.5) : x + T(0.5));
    }
  }
};

template <class T>
struct Unfold {
  View<const T16, 3> numbers;
  View<const T, 3> factors;
  View<T, 3> to;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    to(k, j, i) =
        factors(k, j, (i - numbers.box().first[2]) / nodes_of_block) * static_cast<T>(numbers(k, j, i));
  }
};

/// Every step in 16 bits; three are unfolded at a time. Rows are never cut among ranks, nor are their blocks.
template <class T>
class Compressed final : public History<T> {
 public:
  Compressed(Stream& stream, const Wave<T>& wave)
      : mesh_(wave.medium().mesh()),
        blocks_(mesh_.with(2, 0, (mesh_.size(2) + nodes_of_block - 1) / nodes_of_block)),
        fields_(wave.medium().fields()),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        slots_(stream, wave.medium(), 3),
        numbers_(stream.device(), static_cast<std::size_t>(steps_ * fields_ * mesh_.count())),
        factors_(stream.device(), static_cast<std::size_t>(steps_ * fields_ * blocks_.count())),
        lowest_(steps_) {
    slots_.clear(stream);  // p⁻¹ is zero
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    for (int field = 0; field < fields_ && !mesh_.empty(); ++field)
      for_each(stream, blocks_,
               Squeeze<T>{wave.now(field), mesh_, numbers_of(n, field), factors_of(n, field)});
  }
  void prepare(Stream& stream, Index n) override {
    for (; lowest_ > n - 1; --lowest_) {
      const Index m = lowest_ - 1;
      for (int field = 0; field < fields_ && !mesh_.empty(); ++field) {
        const auto to = slots_.at(slot(m), field);
        if (m >= 0) for_each(stream, mesh_, Unfold<T>{numbers_of(m, field), factors_of(m, field), to});
        else for_each(stream, mesh_, Silence<T>{to});
      }
    }
  }
  View<const T, 3> at(Index n, int field) const override { return slots_.at(slot(n), field); }

 private:
  static Index slot(Index n) { return (n + 3) % 3; }
  View<T16, 3> numbers_of(Index n, int field) const {
    return {const_cast<T16*>(numbers_.view().data) + (n * fields_ + field) * mesh_.count(), mesh_};
  }
  View<T, 3> factors_of(Index n, int field) const {
    return {const_cast<T*>(factors_.view().data) + (n * fields_ + field) * blocks_.count(), blocks_};
  }

  IndexBox<3> mesh_, blocks_;
  int fields_;
  Index steps_;
  mutable Slots<T> slots_;
  Buffer<T16> numbers_;
  Buffer<T> factors_;
  Index lowest_;  // of the steps that the slots have
};

template <class T>
class Checkpoints final : public History<T> {
 public:
  Checkpoints(Stream& stream, Wave<T>& wave, const Sources<T>& sources)
      : wave_(wave),
        sources_(sources),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        spacing_(spacing_of(steps_)),
        slots_(stream, wave.medium(), spacing_ + 2),
        clock_(stream, 0),
        first_(steps_) {}
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    if (n % spacing_ == 0) states_.push_back(wave.state(stream));
  }
  void prepare(Stream& stream, Index n) override {
    if (n >= first_) return;
    first_ = n / spacing_ * spacing_;
    wave_.restore(stream, states_[static_cast<std::size_t>(n / spacing_)]);
    clock_.set(stream, first_);
    slots_.take_before(stream, 0, wave_);
    slots_.take(stream, 1, wave_);
    for (Index m = 1; m <= spacing_ && first_ + m < steps_; ++m) {
      wave_.step(stream, &sources_, clock_);
      clock_.tick(stream, 1);
      slots_.take(stream, m + 1, wave_);
    }
  }
  View<const T, 3> at(Index n, int field) const override { return slots_.at(n - first_ + 1, field); }

 private:
  Wave<T>& wave_;
  const Sources<T>& sources_;
  Index steps_, spacing_;
  mutable Slots<T> slots_;
  Clock clock_;
  Index first_;  // of the stretch that the slots have
  std::vector<std::vector<T>> states_;
};

/// The nodes around the mesh, up to M away along one axis, that are in this rank's part.
template <class T>
std::vector<IndexBox<3>> strips_of(const Medium<T>& medium) {
  std::vector<IndexBox<3>> strips;
  const auto mesh = medium.mesh();
  const auto& problem = medium.problem();
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side) {
      if (problem.margin(a, side) == 0) continue;
      const auto box = problem.grid.box();
      const Index from = side == 0 ? -medium.reach() : box.last[a];
      const auto strip = overlap(mesh.with(a, from, from + medium.reach()), medium.part());
      if (!strip.empty()) strips.push_back(strip);
    }
  return strips;
}

template <class T>
class Boundaries final : public History<T> {
 public:
  Boundaries(Stream& stream, Wave<T>& wave, const Sources<T>& sources)
      : wave_(wave),
        sources_(sources),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        slots_(stream, wave.medium(), 3),
        clock_(stream, 0),
        strips_(strips_of(wave.medium())),
        next_(steps_) {
    for (const auto& strip : strips_) points_ += strip.count();
    kept_ = Buffer<T>(stream.device(), static_cast<std::size_t>(points_ * steps_));
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    each_strip(n, [&](const IndexBox<3>& strip, View<T, 3> kept) {
      for_each(stream, strip, Copy<T>{wave.now(), kept});
    });
  }
  void prepare(Stream& stream, Index n) override {
    if (next_ == steps_) {  // the wave has p at steps − 1 and steps − 2
      slots_.take(stream, slot(steps_ - 1), wave_);
      slots_.take_before(stream, slot(steps_ - 2), wave_);
      wave_.turn();
      clock_.set(stream, steps_ - 2);
      next_ = steps_ - 3;
    }
    while (next_ >= n - 1) {
      wave_.step_back(stream, &sources_, clock_,
                      [&](Stream& on, Nodes, const StepArguments<T>& g) { load(on, g.next); });
      clock_.tick(stream, -1);
      slots_.take(stream, slot(next_), wave_);
      --next_;
    }
  }
  View<const T, 3> at(Index n, int field) const override { return slots_.at(slot(n), field); }

 private:
  static Index slot(Index n) { return (n + 3) % 3; }
  template <class Use>
  void each_strip(Index n, const Use& use) {
    T* at = kept_.view().data + n * points_;
    for (const auto& strip : strips_) {
      use(strip, View<T, 3>(at, strip));
      at += strip.count();
    }
  }
  /// What was kept of the step that is about to be computed.
  void load(Stream& stream, T* zero) {
    if (next_ < 0) return;  // p⁻¹ is zero there; nothing reads it
    const auto box = wave_.medium().box();
    const View<T, 3> field(zero + strides(box).to(box.first), box);
    each_strip(next_, [&](const IndexBox<3>& strip, View<T, 3> kept) {
      for_each(stream, strip, Copy<T>{kept, field});
    });
  }

  Wave<T>& wave_;
  const Sources<T>& sources_;
  Index steps_;
  mutable Slots<T> slots_;
  Clock clock_;
  std::vector<IndexBox<3>> strips_;
  Index points_ = 0, next_;
  Buffer<T> kept_;
};

}  // namespace

std::string_view to_string(Keeping way) {
  constexpr std::string_view names[] = {"auto",     "store",        "checkpoints",
                                        "boundary", "random_walls", "compressed"};
  return names[static_cast<std::size_t>(way)];
}

template <class T>
KeepingCost cost_of(Keeping way, const Problem& problem) {
  const auto steps = static_cast<double>(problem.steps());
  const auto mesh = problem.grid.box();
  const double nodes = static_cast<double>(mesh.count()) * problem.fields(), e = sizeof(T);
  if (way == Keeping::compressed)
    return {way, steps * nodes * (2 + e / nodes_of_block) + 3 * nodes * e, 0, 1};
  if (way == Keeping::store) return {way, (steps + 1) * nodes * e, 0, 1};
  if (way == Keeping::checkpoints) {
    const auto k = static_cast<double>(spacing_of(static_cast<Index>(steps)));
    return {way, (k + 2) * nodes * e, std::ceil(steps / k) * Medium<T>::bytes_of_wave(problem, false), 2};
  }
  if (way == Keeping::random_walls) {
    Problem walled;  // its grid alone
    walled.grid = problem.grid;
    walled.sides = problem.sides;
    walled.order = problem.order;
    walled.radius = problem.radius;
    make_room_for_walls(walled);
    return {way, Medium<T>::bytes_of_wave(walled, false) + Medium<T>::bytes_of_rock(walled) + 3 * nodes * e,
            0, 2};
  }
  double strips = 0;
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side)
      if (problem.margin(a, side) > 0)
        strips += static_cast<double>(mesh.with(a, 0, problem.reach()).count());
  return {Keeping::boundary, strips * steps * e + 3 * nodes * e, 0, 2};
}

template <class T>
std::unique_ptr<History<T>> make_history(Keeping way, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources) {
  if (way == Keeping::store) return std::make_unique<Stored<T>>(stream, wave);
  if (way == Keeping::compressed) return std::make_unique<Compressed<T>>(stream, wave);
  if (way == Keeping::checkpoints) return std::make_unique<Checkpoints<T>>(stream, wave, sources);
  if (wave.medium().fields() == 2)
    throw InputError("acoustic: wavefield", "rock with an axis of symmetry has no way back from its boundary",
                     "Take wavefield = \"store\" or \"checkpoints\".");
  return std::make_unique<Boundaries<T>>(stream, wave, sources);
}

template KeepingCost cost_of<float>(Keeping, const Problem&);
template KeepingCost cost_of<double>(Keeping, const Problem&);
template std::unique_ptr<History<float>> make_history(Keeping, Stream&, Wave<float>&, const Sources<float>&);
template std::unique_ptr<History<double>> make_history(Keeping, Stream&, Wave<double>&,
                                                       const Sources<double>&);

}  // namespace terrane::acoustic
