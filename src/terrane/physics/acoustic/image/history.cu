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

/// Number of steps between checkpoints, √(2n): then the states and the fields between two states need equal
/// memory.
Index spacing_of(Index steps) {
  return std::max<Index>(1, static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(steps)))));
}

/// Copies of a wave at several steps on the rank's part of the mesh: each slot has p, and in a VTI or TTI
/// medium q.
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

/// The records of the previous shot, if they have the same size and storage, else new records. Records in
/// memory are freed after their shot.
std::shared_ptr<Records> records_for(Stream& stream, RecordRoom& room, std::size_t bytes, Index count) {
  const RecordsWanted wanted{room.place, bytes, count, room.folder};
  room.states = {};
  if (room.records && room.last == wanted) return room.records;
  room.records.reset();
  std::shared_ptr<Records> made = make_records(stream, wanted);
  if (wanted.place != KeptIn::memory) room.records = made, room.last = wanted;
  return made;
}

template <class T>
std::size_t bytes_of_mesh(const Medium<T>& medium) {
  return sizeof(T) * static_cast<std::size_t>(medium.fields() * medium.mesh().count());
}

template <class T>
class Stored final : public History<T> {
 public:
  Stored(Stream& stream, const Wave<T>& wave, RecordRoom& room)
      : mesh_(wave.medium().mesh()),
        fields_(wave.medium().fields()),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        in_memory_(room.place != KeptIn::disk),
        zeros_(stream, wave.medium(), 1),
        records_(records_for(stream, room, bytes_of_mesh(wave.medium()), steps_)),
        lowest_(steps_) {
    zeros_.clear(stream);  // p⁻¹, before the first step, is zero
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    std::byte* const to = records_->room(stream, n);
    for (int field = 0; field < fields_; ++field)
      for_each(stream, mesh_, Copy<T>{wave.now(field), view_of(to, field)});
    records_->put(stream, n);
  }
  void prepare(Stream& stream, Index n) override {
    for (; lowest_ > std::max<Index>(0, n - 1); --lowest_)
      at_[slot(lowest_ - 1)] = records_->get(stream, lowest_ - 1);
  }
  Index steps_from(Index) const override { return in_memory_ ? steps_ : 1; }
  Index steps_down(Index) const override { return in_memory_ ? steps_ : 1; }
  typename History<T>::Take taking(Stream& stream, Index n, Index count) override {
    std::vector<View<T, 3>> rooms;
    for (Index step = 0; step < count; ++step) rooms.push_back(view_of(records_->room(stream, n + step), 0));
    return [rooms, this](Index step, const IndexBox<3>& nodes, const View<const T, 3>& p) {
      put_nodes(p, rooms[static_cast<std::size_t>(step)], overlap(nodes, mesh_));
    };
  }
  View<const T, 3> at(Index n, int field) const override {
    if (n < 0) return zeros_.at(0, field);
    return view_of(const_cast<std::byte*>(at_[slot(n)]), field);
  }

 private:
  static std::size_t slot(Index n) { return static_cast<std::size_t>(n % Records::in_use); }
  View<T, 3> view_of(std::byte* record, int field) const {
    return mesh_.empty() ? View<T, 3>()
                         : View<T, 3>(reinterpret_cast<T*>(record) + field * mesh_.count(), mesh_);
  }

  IndexBox<3> mesh_;
  int fields_;
  Index steps_;
  bool in_memory_;  // whether records are in memory, not on a disk, so that a pass on a CPU may store several
                    // steps
  mutable Slots<T> zeros_;
  std::shared_ptr<Records> records_;
  Index lowest_;  // lowest index of a record that was read
  const std::byte* at_[Records::in_use]{};
};

constexpr Index nodes_of_block = 32;  ///< nodes of a row that share a factor
constexpr T16 largest_number = 32767;

/// Compresses a block of a row to 16 bits: x ≈ factor · number.
template <class T>
struct Squeeze {
  View<const T, 3> from;
  IndexBox<3> mesh;
  View<T16, 3> numbers;  // [up, north, east], the mesh's nodes
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

template <class T>
void unfold(T factor, const T16* numbers, Index count, T* to) {
#if !defined(__CUDACC__)
#pragma omp simd
#endif
  for (Index i = 0; i < count; ++i) to[i] = factor * static_cast<T>(numbers[i]);
}

/// The memory layout of a box of nodes in 16 bits: first the numbers, then the factors. Rows, and so their
/// blocks, are never cut among ranks.
template <class T>
class Squeezed {
 public:
  explicit Squeezed(const IndexBox<3>& box)
      : box_(box), blocks_(box.with(2, 0, (box.size(2) + nodes_of_block - 1) / nodes_of_block)) {}
  std::size_t bytes() const {
    return bytes_of_numbers() + sizeof(T) * static_cast<std::size_t>(blocks_.count());
  }
  void put(Stream& stream, const View<const T, 3>& from, std::byte* to) const {
    if (!box_.empty()) for_each(stream, blocks_, Squeeze<T>{from, box_, numbers(to), factors(to)});
  }
  void get(Stream& stream, const std::byte* from, const View<T, 3>& to) const {
    auto* const kept = const_cast<std::byte*>(from);
    if (!box_.empty()) for_each(stream, box_, Unfold<T>{numbers(kept), factors(kept), to});
  }
  /// put() and get() for the whole rows of the box that `nodes` contains, on the calling thread of the CPU.
  void put_rows(const View<const T, 3>& from, std::byte* to, const IndexBox<3>& nodes) const {
    const auto some = overlap(nodes, box_);
    if (some.empty()) return;
    const Squeeze<T> squeeze{from, box_, numbers(to), factors(to)};
    for (Index k = some.first[0]; k < some.last[0]; ++k)
      for (Index j = some.first[1]; j < some.last[1]; ++j)
        for (Index block = 0; block < blocks_.last[2]; ++block) squeeze(k, j, block);
  }
  void get_rows(const std::byte* from, const View<T, 3>& to, const IndexBox<3>& nodes) const {
    const auto some = overlap(nodes, box_);
    if (some.empty()) return;
    auto* const kept = const_cast<std::byte*>(from);
    const auto number = numbers(kept);
    const auto factor = factors(kept);
    for (Index k = some.first[0]; k < some.last[0]; ++k)
      for (Index j = some.first[1]; j < some.last[1]; ++j)
        for (Index block = 0, i = box_.first[2]; i < box_.last[2]; ++block, i += nodes_of_block)
          unfold(factor(k, j, block), &number(k, j, i), std::min(nodes_of_block, box_.last[2] - i),
                 &to(k, j, i));
  }

 private:
  std::size_t bytes_of_numbers() const {
    constexpr std::size_t whole = 64;
    return (sizeof(T16) * static_cast<std::size_t>(box_.count()) + whole - 1) / whole * whole;
  }
  View<T16, 3> numbers(std::byte* at) const { return {reinterpret_cast<T16*>(at), box_}; }
  View<T, 3> factors(std::byte* at) const { return {reinterpret_cast<T*>(at + bytes_of_numbers()), blocks_}; }

  IndexBox<3> box_, blocks_;
};

/// Stores every step in 16 bits per node; three steps are decompressed at a time.
template <class T>
class Compressed final : public History<T> {
 public:
  Compressed(Stream& stream, const Wave<T>& wave, RecordRoom& room)
      : mesh_(wave.medium().mesh()),
        squeezed_(mesh_),
        fields_(wave.medium().fields()),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        in_memory_(room.place != KeptIn::disk),
        slots_(stream, wave.medium(), 3),
        records_(records_for(stream, room, static_cast<std::size_t>(fields_) * squeezed_.bytes(), steps_)),
        lowest_(steps_) {
    slots_.clear(stream);  // p⁻¹, before the first step, is zero
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    std::byte* const to = records_->room(stream, n);
    for (int field = 0; field < fields_; ++field) squeezed_.put(stream, wave.now(field), to + offset(field));
    records_->put(stream, n);
  }
  void prepare(Stream& stream, Index n) override {
    for (; lowest_ > n - 1; --lowest_) {
      const Index m = lowest_ - 1;
      const std::byte* const from = m >= 0 ? records_->get(stream, m) : nullptr;
      for (int field = 0; field < fields_; ++field) {
        const auto to = slots_.at(slot(m), field);
        if (m >= 0) squeezed_.get(stream, from + offset(field), to);
        else for_each(stream, mesh_, Silence<T>{to});
      }
    }
  }
  View<const T, 3> at(Index n, int field) const override { return slots_.at(slot(n), field); }

  Index steps_from(Index) const override { return in_memory_ ? steps_ : 1; }
  Index steps_down(Index) const override { return in_memory_ ? steps_ : 1; }
  typename History<T>::Take taking(Stream& stream, Index n, Index count) override {
    std::vector<std::byte*> rooms;
    for (Index step = 0; step < count; ++step) rooms.push_back(records_->room(stream, n + step));
    return [rooms, this](Index step, const IndexBox<3>& nodes, const View<const T, 3>& p) {
      squeezed_.put_rows(p, rooms[static_cast<std::size_t>(step)], nodes);
    };
  }
  /// Rows are decompressed just before use, three for each step, into a buffer that stays in the cache.
  void meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index n, Index count,
            const typename History<T>::Meet& use) override {
    std::vector<const std::byte*> records;  // records n + 1, n, … n − count
    for (Index m = n + 1; m >= n - count; --m) records.push_back(m >= 0 ? records_->get(stream, m) : nullptr);
    const auto unfold = [&](Index step, const IndexBox<3>& nodes, const View<const T, 3>& next) {
      const auto some = overlap(nodes, mesh_);
      if (some.empty()) return;
      static thread_local std::vector<T> rows;
      const auto width = static_cast<std::size_t>(some.size(2));
      rows.resize(3 * width);
      for (Index k = some.first[0]; k < some.last[0]; ++k)
        for (Index j = some.first[1]; j < some.last[1]; ++j) {
          const auto row = some.with(0, k, k + 1).with(1, j, j + 1);
          const auto sent = [&](std::size_t later) {
            const View<T, 3> to(rows.data() + later * width, row);
            const auto* const record = records[static_cast<std::size_t>(step) + later];
            if (record) squeezed_.get_rows(record, to, row);
            else std::fill_n(to.first(), width, T(0));  // p⁻¹ is zero
            return to;
          };
          use(row, {sent(0), sent(1), sent(2)}, next);
        }
    };
    back.wave.pass(stream, passes, count, back.senders, nullptr, back.clock, unfold);
    lowest_ = n - count + 2;
  }

 private:
  static Index slot(Index n) { return (n + 3) % 3; }
  std::size_t offset(int field) const { return static_cast<std::size_t>(field) * squeezed_.bytes(); }

  IndexBox<3> mesh_;
  Squeezed<T> squeezed_;
  int fields_;
  Index steps_;
  bool in_memory_;  // whether records are in memory, not on a disk, so that a pass on a CPU may store several
                    // steps
  mutable Slots<T> slots_;
  std::shared_ptr<Records> records_;
  Index lowest_;  // lowest index of a step in the slots
};

template <class T>
class Checkpoints final : public History<T> {
 public:
  Checkpoints(Stream& stream, Wave<T>& wave, const Sources<T>& sources, RecordRoom& room)
      : wave_(wave),
        sources_(sources),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        spacing_(spacing_of(steps_)),
        slots_(stream, wave.medium(), spacing_ + 2),
        clock_(stream, 0),
        first_(steps_),
        passes_(room.passes),
        states_(room.states) {
    room.records.reset(), room.last = {};
    const auto count = static_cast<std::size_t>((steps_ + spacing_ - 1) / spacing_);
    const std::size_t bytes = count * wave.state_size() * sizeof(T);
    if (states_.size() >= bytes) return;
    states_ = {};  // frees the memory before more is allocated
    states_ = PinnedBuffer<std::byte>(stream.device(), bytes);
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    if (n % spacing_ == 0) wave.begin_save(stream, state(n));
  }
  void prepare(Stream& stream, Index n) override {
    if (n >= first_) return;
    first_ = n / spacing_ * spacing_;
    wave_.begin_restore(stream, state(n));
    clock_.set(stream, first_);
    slots_.take_before(stream, 0, wave_);
    slots_.take(stream, 1, wave_);
    for (Index m = 1, count = 1; m <= spacing_ && first_ + m < steps_; m += count) {
      count = std::min({passes_.steps, spacing_ + 1 - m, steps_ - first_ - m});
      if (count > 1) {
        wave_.pass(stream, passes_, count, sources_, nullptr, clock_,
                   [this, m](Index step, const IndexBox<3>& nodes, const View<const T, 3>& next) {
                     put_nodes(next, slots_.at(m + 1 + step), overlap(nodes, wave_.medium().mesh()));
                   });
      } else {
        wave_.step(stream, &sources_, clock_);
        slots_.take(stream, m + 1, wave_);
      }
      clock_.tick(stream, count);
    }
  }
  Index steps_from(Index n) const override { return spacing_ - n % spacing_; }
  Index steps_down(Index n) const override { return n % spacing_ + 1; }
  View<const T, 3> at(Index n, int field) const override { return slots_.at(n - first_ + 1, field); }

 private:
  /// The memory of the last state at or before step n.
  std::span<T> state(Index n) {
    const std::size_t size = wave_.state_size();
    return {reinterpret_cast<T*>(states_.data()) + static_cast<std::size_t>(n / spacing_) * size, size};
  }

  Wave<T>& wave_;
  const Sources<T>& sources_;
  Index steps_, spacing_;
  mutable Slots<T> slots_;
  Clock clock_;
  Index first_;  // the step of the state from which the fields in the slots were computed
  Passes passes_;
  PinnedBuffer<std::byte>& states_;
};

/// A box of nodes beside the mesh, of one field.
struct Beside {
  int field;  ///< 0 is p, 1 q of a VTI or TTI medium
  IndexBox<3> box;
};

/// The nodes around the mesh that steps on the mesh read. Isotropic media: p beyond each side, as far as the
/// stencil reaches. Vertical axis: q below and above, p beyond the other sides. Tilted axis: p and q as far
/// as two nested differences reach, 2M along one axis or M along each of two.
std::vector<Beside> strips_of(const Problem& problem) {
  std::vector<Beside> strips;
  const auto mesh = problem.grid.box();
  const auto outside = [&](IndexBox<3> box, int axis, int side, Index nodes) {
    const Index from = side == 0 ? -nodes : mesh.last[axis];
    return box.with(axis, from, from + nodes);
  };
  const bool tilted = problem.equation == Equation::tti;
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side) {
      if (problem.margin(a, side) == 0) continue;
      const auto face = outside(mesh, a, side, problem.reach());
      if (tilted || problem.equation != Equation::vti || a != up) strips.push_back({0, face});
      if (tilted || (problem.equation == Equation::vti && a == up)) strips.push_back({1, face});
      for (int b = a + 1; b < 3 && tilted; ++b)
        for (int other = 0; other < 2; ++other) {
          if (problem.margin(b, other) == 0) continue;
          const Index points = problem.points();
          const auto edge = outside(outside(mesh, a, side, points), b, other, points);
          for (const int field : {0, 1}) strips.push_back({field, edge});
        }
    }
  return strips;
}

/// A strip of nodes beside the mesh, of one field, and its offset in a record.
template <class T>
struct Strip {
  int field;
  IndexBox<3> box;
  Squeezed<T> squeezed;
  std::size_t at;  ///< offset in a record, bytes
};

template <class T>
class Boundaries final : public History<T> {
 public:
  Boundaries(Stream& stream, Wave<T>& wave, const Sources<T>& sources, bool squeezed, RecordRoom& room)
      : wave_(wave),
        sources_(sources),
        steps_(static_cast<Index>(wave.medium().problem().steps())),
        in_memory_(room.place != KeptIn::disk),
        kept_(stream, wave.medium(), 1),
        clock_(stream, 0),
        squeezed_(squeezed),
        next_(steps_) {
    constexpr std::size_t whole = 64;
    std::size_t bytes = 0;
    for (const auto& [field, nodes] : strips_of(wave.medium().problem())) {
      const auto box = overlap(nodes, wave.medium().part());
      if (box.empty()) continue;
      strips_.push_back({field, box, Squeezed<T>(box), bytes});
      bytes += squeezed ? strips_.back().squeezed.bytes() : sizeof(T) * static_cast<std::size_t>(box.count());
      bytes = (bytes + whole - 1) / whole * whole;
    }
    records_ = records_for(stream, room, bytes, steps_);
  }
  void keep(Stream& stream, const Wave<T>& wave, Index n) override {
    std::byte* const to = records_->room(stream, n);
    for (const auto& strip : strips_) {
      const auto now = wave.now(strip.field);
      if (squeezed_) strip.squeezed.put(stream, now, to + strip.at);
      else for_each(stream, strip.box, Copy<T>{now, view_of(strip, to)});
    }
    records_->put(stream, n);
  }
  void prepare(Stream& stream, Index n) override {
    turn(stream);
    while (next_ >= n - 1) {
      kept_.take_before(stream, 0, wave_);
      wave_.step_back(stream, &sources_, clock_,
                      [&](Stream& on, Nodes, const StepArguments<T>& g) { load(on, g); });
      clock_.tick(stream, -1);
      --next_;
    }
  }
  View<const T, 3> at(Index n, int field) const override {
    if (n == next_ + 3) return kept_.at(0, field);
    return n == next_ + 2 ? wave_.before(field) : wave_.now(field);
  }

  Index steps_from(Index) const override { return in_memory_ ? steps_ : 1; }
  Index steps_down(Index) const override { return in_memory_ ? steps_ : 1; }
  typename History<T>::Take taking(Stream& stream, Index n, Index count) override {
    std::vector<std::byte*> rooms;
    for (Index step = 0; step < count; ++step) rooms.push_back(records_->room(stream, n + step));
    return [rooms, this](Index step, const IndexBox<3>& nodes, const View<const T, 3>& p) {
      std::byte* const to = rooms[static_cast<std::size_t>(step)];
      for (const auto& strip : strips_) {
        if (squeezed_) strip.squeezed.put_rows(p, to + strip.at, nodes);
        else put_nodes(p, view_of(strip, to), overlap(nodes, strip.box));
      }
    };
  }
  /// Both waves are computed in the same pass, so that images read the source's wave from the cache.
  void meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index /*n*/, Index count,
            const typename History<T>::Meet& use) override {
    turn(stream);
    std::vector<const std::byte*> records;
    for (Index step = 0; step < count; ++step)
      records.push_back(next_ >= step ? records_->get(stream, next_ - step) : nullptr);
    const auto mesh = wave_.medium().mesh();
    // pⁿ and pⁿ⁺¹ at even steps, swapped at odd steps.
    const std::array<View<const T, 3>, 2> p{wave_.now(), wave_.before()};
    const View<T, 3> kept = kept_.at(0);
    const auto around = [=](Index step) {
      const std::size_t odd = step % 2 == 0 ? 0 : 1;
      return Around<T>{kept, p[odd], p[1 - odd]};
    };
    typename Wave<T>::InPass of_source{&wave_, &clock_, &sources_};
    of_source.back = true;
    of_source.before = [&](Index step, const StepArguments<T>& g, const IndexBox<3>& nodes) {
      put_nodes(around(step).before, kept, overlap(nodes, mesh));  // `before` still has pⁿ⁺¹, which pⁿ⁻¹ will
                                                                   // overwrite
      if (const auto* const record = records[static_cast<std::size_t>(step)]) load_rows(record, g, nodes);
    };
    typename Wave<T>::InPass of_receivers{&back.wave, &back.clock, &back.senders};
    of_receivers.after = [&](Index step, const IndexBox<3>& nodes, const View<const T, 3>& next) {
      if (const auto some = overlap(nodes, mesh); !some.empty()) use(some, around(step), next);
    };
    const typename Wave<T>::InPass waves[] = {of_source, of_receivers};
    Wave<T>::pass_together(stream, passes, count, waves);
    clock_.tick(stream, -count);
    next_ -= count;
  }

 private:
  static View<T, 3> view_of(const Strip<T>& strip, std::byte* record) {
    return {reinterpret_cast<T*>(record + strip.at), strip.box};
  }
  View<T, 3> field_at(T* zero) const {
    const auto& box = wave_.medium().box();
    return {zero + strides(box).to(box.first), box};
  }
  /// Prepares the first step back: at that time the wave has p at steps − 1 and steps − 2.
  void turn(Stream& stream) {
    if (next_ < steps_) return;
    wave_.turn();
    clock_.set(stream, steps_ - 2);
    next_ = steps_ - 3;
  }
  /// Copies the stored values at these nodes from a record into the field that the step overwrites.
  void load_rows(const std::byte* from, const StepArguments<T>& g, const IndexBox<3>& nodes) const {
    for (const auto& strip : strips_) {
      const auto field = field_at(strip.field == 0 ? g.next : g.next_q);
      if (squeezed_) strip.squeezed.get_rows(from + strip.at, field, nodes);
      else put_nodes<T>(view_of(strip, const_cast<std::byte*>(from)), field, overlap(nodes, strip.box));
    }
  }
  /// Copies all stored values of the step that is computed next.
  void load(Stream& stream, const StepArguments<T>& g) {
    if (next_ < 0) return;  // p⁻¹ is zero around the mesh, and is not read
    const std::byte* const from = records_->get(stream, next_);
    for (const auto& strip : strips_) {
      const auto field = field_at(strip.field == 0 ? g.next : g.next_q);
      if (squeezed_) strip.squeezed.get(stream, from + strip.at, field);
      else for_each(stream, strip.box, Copy<T>{view_of(strip, const_cast<std::byte*>(from)), field});
    }
  }

  Wave<T>& wave_;
  const Sources<T>& sources_;
  Index steps_;
  bool in_memory_;         // whether records are in memory, not on a disk, so that a pass on a CPU may store
                           // several steps
  mutable Slots<T> kept_;  // copy of pⁿ⁺¹, which pⁿ⁻¹ overwrites
  Clock clock_;
  bool squeezed_;
  std::vector<Strip<T>> strips_;
  std::shared_ptr<Records> records_;
  Index next_;  // the step that is computed next
};

}  // namespace

template <class T>
void History<T>::meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index n, Index count,
                      const Meet& use) {
  std::vector<View<const T, 3>> sent;  // pⁿ⁺¹, pⁿ, … of the source's wave
  for (Index step = 0; step < count; ++step) {
    prepare(stream, n - step);
    if (step == 0) sent = {at(n + 1), at(n)};
    sent.push_back(at(n - step - 1));
  }
  const auto mesh = back.wave.medium().mesh();
  back.wave.pass(stream, passes, count, back.senders, nullptr, back.clock,
                 [&](Index step, const IndexBox<3>& nodes, const View<const T, 3>& next) {
                   const auto some = overlap(nodes, mesh);
                   const auto s = static_cast<std::size_t>(step);
                   if (!some.empty()) use(some, {sent[s], sent[s + 1], sent[s + 2]}, next);
                 });
}

namespace {

/// Adds the memory or disk space of records to the cost of a strategy.  bytes: size of one record
void add_records(KeepingCost& cost, double bytes, double steps, KeptIn place, const Device& device) {
  const double ring = static_cast<double>(Records::slots_of_ring) * bytes;
  if (place == KeptIn::host && !device.has_own_memory()) place = KeptIn::memory;
  if (place == KeptIn::memory) {
    cost.device_bytes += steps * bytes;
    return;
  }
  cost.bytes_per_step = bytes;
  cost.device_bytes += ring;
  (place == KeptIn::host ? cost.host_bytes : cost.disk_bytes) += steps * bytes;
  if (place == KeptIn::disk) cost.host_bytes += ring;
}

}  // namespace

template <class T>
KeepingCost cost_of(Keeping strategy, const Problem& problem, KeptIn place, const Device& device) {
  const auto steps = static_cast<double>(problem.steps());
  const auto mesh = problem.grid.box();
  const double nodes = static_cast<double>(mesh.count()) * problem.fields(), e = sizeof(T);
  const double in_16_bits = 2 + e / nodes_of_block;  // bytes per node
  KeepingCost cost;
  cost.strategy = strategy;
  cost.error = "exact";
  if (strategy == Keeping::store) {
    cost.device_bytes = nodes * e;
    add_records(cost, nodes * e, steps, place, device);
  } else if (strategy == Keeping::compressed) {
    cost.error = "image to 1e-5";
    cost.device_bytes = 3 * nodes * e;
    add_records(cost, nodes * in_16_bits, steps, place, device);
  } else if (strategy == Keeping::checkpoints) {
    const auto k = static_cast<double>(spacing_of(static_cast<Index>(steps)));
    cost.device_bytes = (k + 2) * nodes * e;
    cost.host_bytes = std::ceil(steps / k) * Medium<T>::bytes_of_wave(problem, false);
    cost.sweeps = 2;
  } else if (strategy == Keeping::random_walls) {
    auto walled = without_medium(problem);
    make_room_for_walls(walled);
    cost.device_bytes =
        Medium<T>::bytes_of_wave(walled, true) + Medium<T>::bytes_of_medium(walled) + 3 * nodes * e;
    double properties = 0;  // number of arrays over the mesh and its walls on the host
    for (const auto* values : {&problem.velocity, &problem.density, &problem.epsilon, &problem.delta,
                               &problem.tilt, &problem.azimuth})
      properties += values->empty() ? 0 : 1;
    cost.host_bytes = properties * sizeof(double) * static_cast<double>(walled.grid.box().count());
    cost.sweeps = 2;
    cost.error = "noise of some 4.5 % of the image of four shots";
  } else {
    const bool squeezed = strategy == Keeping::boundary_compressed;
    double strips = 0;
    for (const auto& [field, box] : strips_of(problem)) {
      const auto block = static_cast<double>(std::min(box.size(2), nodes_of_block));
      strips += static_cast<double>(box.count()) * (squeezed ? 2 + e / block : e);
    }
    cost.device_bytes = nodes * e;
    cost.sweeps = 2;
    cost.error = squeezed ? "image to 1e-5" : "rounding";
    add_records(cost, strips, steps, place, device);
  }
  return cost;
}

template <class T>
std::unique_ptr<History<T>> make_history(Keeping strategy, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources, RecordRoom& room) {
  if (strategy == Keeping::store) return std::make_unique<Stored<T>>(stream, wave, room);
  if (strategy == Keeping::compressed) return std::make_unique<Compressed<T>>(stream, wave, room);
  if (strategy == Keeping::checkpoints) return std::make_unique<Checkpoints<T>>(stream, wave, sources, room);
  return std::make_unique<Boundaries<T>>(stream, wave, sources, strategy == Keeping::boundary_compressed,
                                         room);
}

template class History<float>;
template class History<double>;
template KeepingCost cost_of<float>(Keeping, const Problem&, KeptIn, const Device&);
template KeepingCost cost_of<double>(Keeping, const Problem&, KeptIn, const Device&);
template std::unique_ptr<History<float>> make_history(Keeping, Stream&, Wave<float>&, const Sources<float>&,
                                                      RecordRoom&);
template std::unique_ptr<History<double>> make_history(Keeping, Stream&, Wave<double>&,
                                                       const Sources<double>&, RecordRoom&);

}  // namespace terrane::acoustic
