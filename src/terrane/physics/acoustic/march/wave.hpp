// A wave field on one rank's part, what is put into it and what is read from it, step by step.
//
//   for n = 0, 1, …:   receivers read pⁿ;   p⁺ by the stencil, in place of p⁻;   sources are added;
//                      mirrored nodes beyond free surfaces;   halos
//
// All calls begin work on a stream; those marked so are collective. The number of the step stands in the
// memory of the device (Clock), so that a step can be recorded once and launched many times.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/partition/halo.hpp"
#include "terrane/parallel/partition/peer_fields.hpp"
#include "terrane/physics/acoustic/march/medium.hpp"
#include "terrane/physics/acoustic/march/passes.hpp"
#include "terrane/physics/acoustic/march/sources_and_receivers.hpp"
#include "terrane/physics/acoustic/march/steps.hpp"

namespace terrane::acoustic {

/// Whether steps on this device read G p and G q of a tilted axis from memory; tiles of a GPU make their own.
template <class T>
bool keeps_along(const Device& device, const Problem& problem);

template <class T>
class Wave {
 public:
  /// How values come to neighbours. `written`: GPUs of one machine that have slabs of the grid write them
  /// into each other's fields, by the kernels of steps where these can, and halos serve all others; `halos`
  /// alone.
  enum class Neighbours { written, halos };
  /// Collective, and so is its destruction, unless an exception does it.  At rest.
  Wave(Stream& stream, const Medium<T>& medium, Comm& comm, Neighbours neighbours = Neighbours::written);

  void rest(Stream& stream);
  /// Every step is rounded so that steps backwards have the bits of those forwards (image/random_walls.hpp);
  /// 0: not.
  void round_to(T c) { rounding_ = c; }
  const Buffer<T>& buffer(int field = 0) const { return of(now_, field); }
  /// Something added to p⁺ (arguments.next, next_q) beside sources.
  using Add = std::function<void(Stream&, Nodes, const StepArguments<T>& arguments)>;
  /// Collective: from pⁿ⁻¹, pⁿ to pⁿ, pⁿ⁺¹.
  void step(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& add = {});
  /// The same, while receivers read pⁿ: one launch less on a GPU.
  void step_and_read(Stream& stream, const Sources<T>& sources, Receivers<T>& receivers, const Clock& clock);
  /// What is done with nodes that have p⁺ of a step of a pass, on any thread; they lie in one plane.
  using After = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& next)>;
  /// Collective: `count` steps, each after the receivers have read, in one pass over memory; the clock is not
  /// moved. Of a wave that is on the CPU and is not rounded.
  /// receivers: or none.
  void pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
            Receivers<T>* receivers, const Clock& clock, const After& after = {});
  /// What is done with nodes of a plane at a step of a pass, on any thread: before it, while arguments.next
  /// has p⁻, or behind its stencil, when that has p⁺ without sources and images.
  using Touch = std::function<void(Index step, const StepArguments<T>& arguments, const IndexBox<3>& nodes)>;
  /// A wave of those that go together, and what comes with it; `back`: by step_back(), without its load.
  struct InPass {
    Wave* wave = nullptr;
    const Clock* clock = nullptr;
    const Sources<T>* sources = nullptr;  ///< or none
    Receivers<T>* receivers = nullptr;    ///< or none
    Touch before{}, behind{};             ///< the stencil
    After after{};                        ///< sources and images
    bool back = false;
  };
  /// Collective: the same of waves in one medium, each step of a wave behind that of the wave before it in
  /// the list: where something of its step is called with nodes, that wave has its p⁺ there.
  static void pass_together(Stream& stream, const Passes& passes, Index count, std::span<const InPass> waves);
  /// Collective: from pⁿ⁺¹ ("before"), pⁿ to pⁿ, pⁿ⁻¹ on the mesh's nodes; those beyond it, which layers
  /// reach, are what `load` puts there first.
  void step_back(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& load);
  /// Whether a Graph can record steps: where there are no other ranks, or direct messages between them.
  bool can_record() const noexcept { return peers_ || !halo_ || halo_->direct(); }
  /// What halos go by (Exchange::transport), and waiting with an eye on them.
  std::string transport() const;
  void wait(Stream& stream);

  /// pⁿ and pⁿ⁻¹ change places: the way back begins and ends so.
  void turn();

  /// field: 0 is p, 1 q of a medium with an axis
  View<const T, 3> now(int field = 0) const { return of(now_, field).view(medium_.box()); }
  View<const T, 3> before(int field = 0) const { return of(before_, field).view(medium_.box()); }
  /// What the next step is made of; with a tilted axis G p and G q, too.
  StepArguments<T> derived(Stream& stream);
  const T* zero_of_now() const { return zero(now_[0]); }
  const T* zero_of_now_q() const { return medium_.fields() == 2 ? zero(now_[1]) : nullptr; }
  const Medium<T>& medium() const noexcept { return medium_; }

  /// All that the next steps depend on, on the host.
  std::vector<T> state(Stream& stream) const;
  void restore(Stream& stream, std::span<const T> state);
  /// The same by work of the stream: the host must leave its memory, that of a PinnedBuffer, alone until it
  /// is done.  [state_size()]
  void begin_save(Stream& stream, std::span<T> to) const;
  void begin_restore(Stream& stream, std::span<const T> from);
  std::size_t state_size() const;
  /// Of all its arrays.
  double bytes() const;

 private:
  using Fields = std::array<Buffer<T>, 2>;  ///< p, and q of a medium with an axis

  static const Buffer<T>& of(const Fields& fields, int field) {
    return fields[static_cast<std::size_t>(field)];
  }
  T* zero(const Buffer<T>& field) const;
  /// Calls use(buffer) for all that the next steps depend on, in one order.
  template <class Self, class Use>
  static void each_array(Self& self, const Use& use);
  StepArguments<T> arguments();
  void meet_peers(Stream& stream, Comm& comm);
  void find_beside(StepArguments<T>& arguments) const;
  void advance_with_peers(Stream& stream, bool back, const Sources<T>* sources, const Clock& clock,
                          const Add& add, Receivers<T>* receivers);
  void hand_on_planes(Stream& stream, const StepArguments<T>& arguments);
  void begin_step(Stream& stream);
  void advance(Stream& stream, const Work& edges, const Work& inner, const Sources<T>* sources,
               const Clock& clock, const Add& add, Receivers<T>* receivers);
  void make_along(Stream& stream);
  void derive_along(Stream& stream, IndexBox<3> box);
  void mirror(Stream& stream, const View<T, 3>& field);
  /// What a step of a pass leaves of the part beside other ranks.
  struct Border {
    std::vector<IndexBox<3>> boxes;
    std::vector<Slab> slabs;
    Work work;
  };
  std::vector<View<T, 3>> views_of(Fields& fields) const;
  void make_borders(Index count, bool back);
  void put_between_and_mirror(const StepArguments<T>& g, const Moment& moment, const Sources<T>* sources,
                              const IndexBox<3>& box);
  struct Marching;

  const Medium<T>& medium_;
  std::unique_ptr<Stream> urgent_;
  Event ready_;
  std::optional<Halo<T, 3>> halo_;  // or peers_
  int neighbour_[2] = {-1, -1};     // of peers_, below and above
  IndexBox<3> beginning_[2];        // that of their fields
  bool turned_ = false;             // whether now_ and before_ have changed places
  T rounding_ = 0;
  Fields now_, before_, along_;
  std::unique_ptr<PeerFields<T>> peers_;  // goes before the fields that others have open
  std::array<std::array<Buffer<T>, 2>, 3> psi_, zeta_, eta_;
  Work edges_, inner_, mesh_edges_, mesh_inner_;
  Work all_, mesh_all_;                         ///< where there are peers
  std::array<std::vector<Border>, 2> borders_;  ///< of each step of a pass; of a pass back
};

}  // namespace terrane::acoustic
