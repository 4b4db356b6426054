// The wave field on one rank's part of the grid, advanced step by step with its sources and receivers.
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
  /// How neighbouring ranks get values. `written`: GPUs of one machine whose parts are slabs of the grid
  /// write them into each other's fields, in the kernels of steps where possible, and all other ranks
  /// exchange halos; `halos`: all ranks exchange halos.
  enum class Neighbours { written, halos };
  /// The wave begins at rest. Collective, and so is its destruction, unless by an exception.
  Wave(Stream& stream, const Medium<T>& medium, Comm& comm, Neighbours neighbours = Neighbours::written);

  void rest(Stream& stream);  ///< all fields become zero
  /// c: every step is rounded so that a step backwards restores the bits (image/random_walls.hpp); 0: it is
  /// not.
  void round_to(T c) { rounding_ = c; }
  const Buffer<T>& buffer(int field = 0) const { return of(now_, field); }
  /// A function that adds to p⁺ and q⁺ (arguments.next, next_q) after the sources' terms.
  using Add = std::function<void(Stream&, Nodes, const StepArguments<T>& arguments)>;
  /// Collective: from pⁿ⁻¹, pⁿ to pⁿ, pⁿ⁺¹.
  void step(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& add = {});
  /// step(), while receivers read pⁿ: one launch less on a GPU.
  void step_and_read(Stream& stream, const Sources<T>& sources, Receivers<T>& receivers, const Clock& clock);
  /// Called, on any thread, for nodes of one plane whose p⁺ of a step of a pass is complete.
  using After = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& next)>;
  /// Collective: `count` steps, each after the receivers have read, in one pass over memory; the clock is not
  /// moved. Only for a wave on the CPU that is not rounded.
  /// receivers: may be null.
  void pass(Stream& stream, const Passes& passes, Index count, const Sources<T>& sources,
            Receivers<T>* receivers, const Clock& clock, const After& after = {});
  /// Called, on any thread, for nodes of one plane at a step of a pass: either before the step, while
  /// arguments.next holds p⁻, or after its stencil, when that holds p⁺ without sources and images.
  using Touch = std::function<void(Index step, const StepArguments<T>& arguments, const IndexBox<3>& nodes)>;
  /// One of the waves of pass_together(), with its sources and receivers; `back`: it takes steps of
  /// step_back() without a load.
  struct InPass {
    Wave* wave = nullptr;
    const Clock* clock = nullptr;
    const Sources<T>* sources = nullptr;  ///< or none
    Receivers<T>* receivers = nullptr;    ///< or none
    Touch before{}, behind{};             ///< called before and after the stencil
    After after{};                        ///< called after sources and images
    bool back = false;
  };
  /// Collective: pass() of several waves in one medium. Each wave takes a step of some nodes after the wave
  /// before it in the list did: when its functions are called with nodes, that wave has its p⁺ there.
  static void pass_together(Stream& stream, const Passes& passes, Index count, std::span<const InPass> waves);
  /// Collective: from pⁿ⁺¹ ("before"), pⁿ to pⁿ, pⁿ⁻¹ on the mesh's nodes. `load` first sets the nodes around
  /// the mesh, which depend on layers.
  void step_back(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& load);
  /// Whether a Graph can record steps: where there are no other ranks, or direct messages between them.
  bool can_record() const noexcept { return peers_ || !halo_ || halo_->direct(); }
  /// How halos are sent (Exchange::transport).
  std::string transport() const;
  /// Waits for the stream, and meanwhile checks the exchange with neighbours for errors.
  void wait(Stream& stream);

  /// Swaps pⁿ and pⁿ⁻¹: done before the first and after the last step back.
  void turn();

  /// field: 0 is p, 1 q of a medium with an axis
  View<const T, 3> now(int field = 0) const { return of(now_, field).view(medium_.box()); }
  View<const T, 3> before(int field = 0) const { return of(before_, field).view(medium_.box()); }
  /// Arguments of the next step's kernels; with a tilted axis first computes G p and G q.
  StepArguments<T> derived(Stream& stream);
  const T* zero_of_now() const { return zero(now_[0]); }
  const T* zero_of_now_q() const { return medium_.fields() == 2 ? zero(now_[1]) : nullptr; }
  const Medium<T>& medium() const noexcept { return medium_; }

  /// All values that the next steps depend on, copied to the host.
  std::vector<T> state(Stream& stream) const;
  void restore(Stream& stream, std::span<const T> state);
  /// state() and restore() as asynchronous work of the stream: the host must not touch its memory, which is
  /// that of a PinnedBuffer, until the work is done.  [state_size()]
  void begin_save(Stream& stream, std::span<T> to) const;
  void begin_restore(Stream& stream, std::span<const T> from);
  std::size_t state_size() const;
  double bytes() const;  ///< of all its arrays

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
  /// The nodes beside other ranks that a step of a pass leaves out, to be computed after the tiles.
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
  std::optional<Halo<T, 3>> halo_;  // copies halos; empty where peers_ do so
  int neighbour_[2] = {-1, -1};     // numbers in peers_ of the ranks below and above
  IndexBox<3> beginning_[2];        // boxes whose first node is that of these ranks' fields
  bool turned_ = false;             // whether now_ and before_ have changed places
  T rounding_ = 0;
  Fields now_, before_, along_;
  std::unique_ptr<PeerFields<T>> peers_;  // destroyed before the fields that other ranks have open
  std::array<std::array<Buffer<T>, 2>, 3> psi_, zeta_, eta_;
  Work edges_, inner_, mesh_edges_, mesh_inner_;
  Work all_, mesh_all_;                         ///< used with peers_
  std::array<std::vector<Border>, 2> borders_;  ///< of each step of a pass, forwards in time and back
};

}  // namespace terrane::acoustic
