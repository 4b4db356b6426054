// The wave field on one rank's part of the grid, advanced step by step with its sources and receivers.
//
//   for n = 0, 1, …:   receivers read pⁿ;   p⁺ by the stencil, in place of p⁻;   sources are added;
//                      mirrored nodes beyond free surfaces;   halos
//
// All functions begin work on a stream; those marked collective must be called by all ranks. The index of the
// step is stored in the device's memory (Clock), so that a step can be recorded once and launched many times.
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

/// Whether steps on this device read G p and G q, the derivatives along a tilted axis (problem.hpp), from
/// memory; the tiled kernels of a GPU compute them themselves.
template <class T>
bool keeps_along(const Device& device, const Problem& problem);

template <class T>
class Wave {
 public:
  /// How neighbouring ranks exchange values. `written`: GPUs of one machine whose parts are slabs of the grid
  /// write values into each other's fields, if possible within the kernels of steps; all other ranks exchange
  /// halos. `halos`: all ranks exchange halos.
  enum class Neighbours { written, halos };
  /// The wave is at rest at first. Construction is collective; so is destruction, except after an exception.
  Wave(Stream& stream, const Medium<T>& medium, Comm& comm, Neighbours neighbours = Neighbours::written);

  void rest(Stream& stream);  ///< all fields become zero
  /// c above zero: every step is rounded so that it can be reversed bit by bit (image/random_walls.hpp); 0:
  /// steps are not rounded.
  void round_to(T c) { rounding_ = c; }
  const Buffer<T>& buffer(int field = 0) const { return of(now_, field); }
  /// A function that adds to p⁺ and q⁺ (arguments.next, next_q) after the sources' terms.
  using Add = std::function<void(Stream&, Nodes, const StepArguments<T>& arguments)>;
  /// Collective: one step, from pⁿ⁻¹, pⁿ to pⁿ, pⁿ⁺¹.
  void step(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& add = {});
  /// Does step() while receivers read pⁿ: one launch less on a GPU.
  void step_and_read(Stream& stream, const Sources<T>& sources, Receivers<T>& receivers, const Clock& clock);
  /// Called, on any thread, for nodes of one plane as soon as p⁺ is complete there, in each step of a pass
  /// (passes.hpp).
  using After = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& next)>;
  /// Collective: `count` steps in one pass over memory, each after the receivers have read p; the clock is
  /// not changed. Only for a wave on the CPU whose steps are not rounded. receivers: may be null.
  void pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
            Receivers<T>* receivers, const Clock& clock, const After& after = {});
  /// Called, on any thread, for nodes of one plane at a step of a pass: either before the step, when
  /// arguments.next contains p⁻, or after its stencil, when it contains p⁺ without sources and images.
  using Touch = std::function<void(Index step, const StepArguments<T>& arguments, const IndexBox<3>& nodes)>;
  /// One of the waves of pass_together(), with its sources and receivers; `back`: whether it is
  /// computed backwards in time, as by step_back() without `load`.
  struct InPass {
    Wave* wave = nullptr;
    const Clock* clock = nullptr;
    const Sources<T>* sources = nullptr;  ///< may be null
    Receivers<T>* receivers = nullptr;    ///< may be null
    Touch before{}, behind{};             ///< functions called before and after the stencil
    After after{};                        ///< function called after sources and images
    bool back = false;
  };
  /// Collective: pass() of several waves in one medium. At each step and set of nodes the waves are computed
  /// in the order of the list: when functions of a wave are called for nodes, preceding waves have their p⁺
  /// there.
  static void pass_together(Stream& stream, const Passes& passes, Index count, std::span<const InPass> waves);
  /// Collective: one step back, from pⁿ⁺¹ (`before`), pⁿ to pⁿ, pⁿ⁻¹ on the mesh's nodes. First `load` sets
  /// the nodes around the mesh, because absorbing layers, which are not reversible, affect them.
  void step_back(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& load);
  /// Whether a Graph can record steps: if there are no other ranks, or if messages are direct.
  bool can_record() const noexcept { return peers_ || !halo_ || halo_->direct(); }
  /// How halos are sent (Exchange::transport).
  std::string transport() const;
  /// Waits for the stream, and checks the exchange with neighbours for errors while it waits.
  void wait(Stream& stream);

  /// Swaps pⁿ and pⁿ⁻¹: called before the first and after the last step back.
  void turn();

  /// Present and preceding field.  field: 0 is p, 1 is q in a VTI or TTI medium
  View<const T, 3> now(int field = 0) const { return of(now_, field).view(medium_.box()); }
  View<const T, 3> before(int field = 0) const { return of(before_, field).view(medium_.box()); }
  /// Arguments of the next step's kernels; with a tilted axis it first computes G p and G q (problem.hpp).
  StepArguments<T> derived(Stream& stream);
  const T* zero_of_now() const { return zero(now_[0]); }
  const T* zero_of_now_q() const { return medium_.fields() == 2 ? zero(now_[1]) : nullptr; }
  const Medium<T>& medium() const noexcept { return medium_; }

  /// All values that the next steps depend on, copied to the host.
  std::vector<T> state(Stream& stream) const;
  void restore(Stream& stream, std::span<const T> state);
  /// state() and restore() as asynchronous work of the stream: the host must not access `to` or `from`,
  /// memory of a PinnedBuffer, until the work is done.  to, from: [state_size()]
  void begin_save(Stream& stream, std::span<T> to) const;
  void begin_restore(Stream& stream, std::span<const T> from);
  std::size_t state_size() const;
  double bytes() const;  ///< bytes of all arrays

 private:
  using Fields = std::array<Buffer<T>, 2>;  ///< p, and q of a VTI or TTI medium

  static const Buffer<T>& of(const Fields& fields, int field) {
    return fields[static_cast<std::size_t>(field)];
  }
  T* zero(const Buffer<T>& field) const;
  /// Calls use(buffer) for all arrays that the next steps depend on, always in the same order.
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
  /// The nodes at borders with other ranks that tiles omit in a step of a pass; they are computed afterwards.
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
  std::optional<Halo<T, 3>> halo_;  // copies halos; empty if peers_ write values instead
  int neighbour_[2] = {-1, -1};     // indices in peers_ of the ranks below and above
  // Boxes whose first nodes are those of the fields of the ranks below and above.
  IndexBox<3> beginning_[2];
  bool turned_ = false;  // whether now_ and before_ are swapped
  T rounding_ = 0;
  Fields now_, before_, along_;
  std::unique_ptr<PeerFields<T>> peers_;  // destroyed before the fields, which other ranks have mapped
  std::array<std::array<Buffer<T>, 2>, 3> psi_, zeta_, eta_;
  Work edges_, inner_, mesh_edges_, mesh_inner_;
  Work all_, mesh_all_;                         ///< work for all nodes; used if peers_ exist
  std::array<std::vector<Border>, 2> borders_;  ///< [forwards in time, backwards][step of a pass]
};

}  // namespace terrane::acoustic
