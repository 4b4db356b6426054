#include <algorithm>
#include <cstring>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

/// Sets a node beyond a free surface to the value of its mirror image, with the sign changed.
template <class T>
struct Mirror {
  View<T, 3> field;
  int axis;
  Index nodes;        ///< number of nodes of the mesh on the axis
  bool below, above;  ///< whether the lower and the upper side of the axis are free surfaces
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const auto [node, odd] = image_of(axis == 0 ? k : axis == 1 ? j : i, nodes, below, above);
    const T value = axis == 0 ? field(node, j, i) : axis == 1 ? field(k, node, i) : field(k, j, node);
    field(k, j, i) = odd ? -value : value;
  }
};

/// Writes p⁺ and q⁺ of a node into a neighbour's fields.
template <class T>
struct HandOn {
  const T* from[2];  ///< this rank's p⁺ and q⁺: addresses of node [0, 0, 0]
  T* to[2];          ///< the neighbour's p⁺ and q⁺, likewise; to[1] is null if there is no q
  Index stride[2];
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Index here = k * stride[0] + j * stride[1] + i;
    to[0][here] = from[0][here];
    if (to[1] != nullptr) to[1][here] = from[1][here];
  }
};

std::vector<Region> within(const std::vector<Region>& regions, const IndexBox<3>& box) {
  std::vector<Region> found;
  for (const auto& region : regions) {
    Region part;
    part.box = overlap(region.box, box);
    if (!part.box.empty()) found.push_back(part);
  }
  return found;
}

/// Whether neighbouring ranks may write into each other's fields: GPUs whose parts are slabs of the grid, one
/// above the other.
template <class T>
bool can_be_written(const Device& device, const Medium<T>& medium) {
  const auto& pieces = medium.cut().pieces;
  return device.kind == Device::Kind::cuda && medium.problem().grid.there(0) && pieces[1] == 1 &&
         pieces[2] == 1;
}

}  // namespace

template <class T>
Wave<T>::Wave(Stream& stream, const Medium<T>& medium, Comm& comm, Neighbours neighbours)
    : medium_(medium),
      urgent_(std::make_unique<Stream>(stream.device(), true, stream.threads())),
      ready_(stream.device()),
      edges_(medium.edges()),
      inner_(medium.inner()),
      mesh_edges_(within(medium.edges(), medium.problem().grid.box())),
      mesh_inner_(within(medium.inner(), medium.problem().grid.box())) {
  const bool tilted = medium.problem().equation == Equation::tti, shared = comm.size() > 1,
             written = shared && neighbours == Neighbours::written && can_be_written(stream.device(), medium);
  const auto size = written ? PeerFields<T>::whole_pieces(medium.size()) : medium.size();
  for (std::size_t n = 0; n < static_cast<std::size_t>(medium.fields()); ++n) {
    now_[n] = Buffer<T>(stream.device(), size);
    before_[n] = Buffer<T>(stream.device(), size);
  }
  if (keeps_along<T>(stream.device(), medium.problem())) make_along(stream);
  if (written) meet_peers(stream, comm);
  if (shared && !peers_) {
    HaloSettings<3> settings;
    for (int a = 0; a < 2; ++a)
      if (medium.problem().grid.there(a)) settings.below[a] = settings.above[a] = medium.reach();
    settings.corners = tilted;  // halos beside edges, which nested differences on two axes read
    halo_.emplace(stream, medium.cut(), settings, medium.fields(), comm);
  }
  for (const auto& slab : medium.slabs()) {
    const auto of_layer = static_cast<std::size_t>(slab.arrays.count());
    const auto axis = static_cast<std::size_t>(slab.axis), side = static_cast<std::size_t>(slab.side);
    psi_[axis][side] = Buffer<T>(stream.device(), of_layer);
    zeta_[axis][side] = Buffer<T>(stream.device(), of_layer);
    if (tilted && slab.axis == 0) eta_[axis][side] = Buffer<T>(stream.device(), of_layer);
  }
  rest(stream);
}

/// Makes the fields of the ranks below and above writable for this rank.
template <class T>
void Wave<T>::meet_peers(Stream& stream, Comm& comm) {
  const auto& cut = medium_.cut();
  std::vector<int> ranks;
  for (int rank = 0; rank < cut.ranks(); ++rank)
    for (int side = 0; side < 2; ++side) {
      const auto &here = medium_.part(), &there = cut.part(rank);
      if (side == 0 ? there.last[0] != here.first[0] : there.first[0] != here.last[0]) continue;
      neighbour_[side] = static_cast<int>(ranks.size());
      ranks.push_back(rank);
      // The neighbour's fields have the same strides of rows and planes as this rank's; only the index of the
      // first plane differs.
      beginning_[side] = medium_.box();
      beginning_[side].first[0] = there.first[0] - medium_.reach();
    }
  std::vector<Buffer<T>*> fields;
  for (auto* place : {&now_, &before_})
    for (std::size_t n = 0; n < static_cast<std::size_t>(medium_.fields()); ++n)
      fields.push_back(&(*place)[n]);
  peers_ = PeerFields<T>::make(stream, fields, ranks, comm);
  if (!peers_) return;
  all_ = Work(medium_.all());
  mesh_all_ = Work(within(medium_.all(), medium_.problem().grid.box()));
}

/// Finds the planes of this rank that neighbouring ranks read, and the addresses in those ranks' fields.
template <class T>
void Wave<T>::find_beside(StepArguments<T>& g) const {
  const auto& part = medium_.part();
  for (const int side : {0, 1}) {
    if (neighbour_[side] < 0) continue;
    auto& beside = g.beside[side];
    beside.first = side == 0 ? part.first[0] : part.last[0] - medium_.reach();
    beside.last = beside.first + medium_.reach();
    const auto& first = beginning_[side].first;
    const auto fields = static_cast<std::size_t>(medium_.fields());
    for (std::size_t n = 0; n < fields; ++n)
      beside.next[n] = peers_->of(static_cast<std::size_t>(neighbour_[side]), (turned_ ? 0 : fields) + n) -
                       (first[0] * g.stride[0] + first[1] * g.stride[1] + first[2]);
  }
}

/// Writes p⁺ and q⁺ of the planes that neighbouring ranks read (g.beside) into their fields, if the kernels
/// of steps have not done so.
template <class T>
void Wave<T>::hand_on_planes(Stream& stream, const StepArguments<T>& g) {
  for (const auto& beside : g.beside)
    if (beside.first != beside.last)
      for_each(stream, medium_.part().with(0, beside.first, beside.last),
               HandOn<T>{{g.next, g.next_q}, {beside.next[0], beside.next[1]}, {g.stride[0], g.stride[1]}});
}

template <class T>
void Wave<T>::turn() {
  std::swap(now_, before_);
  turned_ = !turned_;
}

template <class T>
std::string Wave<T>::transport() const {
  if (peers_) return "go from device to device by stores of kernels";
  return halo_ ? halo_->transport() : std::string();
}

template <class T>
void Wave<T>::wait(Stream& stream) {
  if (halo_) return halo_->wait(stream);
  stream.wait();
  if (peers_) peers_->check();
}

template <class T>
template <class Self, class Use>
void Wave<T>::each_array(Self& self, const Use& use) {
  for (auto* fields : {&self.now_, &self.before_})
    for (auto& field : *fields)
      if (field.size() > 0) use(field);
  for (auto* fields : {&self.psi_, &self.zeta_, &self.eta_})
    for (auto& axis : *fields)
      for (auto& field : axis)
        if (field.size() > 0) use(field);
}

template <class T>
void Wave<T>::rest(Stream& stream) {
  each_array(*this, [&](Buffer<T>& field) { field.fill_zero(stream); });
  if (peers_) peers_->meet(stream);  // no GPU may write into a peer's halo before that is set to zero
}

template <class T>
T* Wave<T>::zero(const Buffer<T>& field) const {
  const View<const T, 3> view = field.view(medium_.box());
  const auto& first = view.box().first;
  return const_cast<T*>(view.first() - first[0] * view.stride(0) - first[1] * view.stride(1) - first[2]);
}

template <class T>
StepArguments<T> Wave<T>::arguments() {
  auto g = medium_.arguments();
  g.rounding = rounding_;
  g.now = zero(now_[0]);
  g.next = zero(before_[0]);
  if (medium_.fields() == 2) g.now_q = zero(now_[1]), g.next_q = zero(before_[1]);
  if (along_[0].size() > 0) g.along_p = zero(along_[0]), g.along_q = zero(along_[1]);
  for (const auto& slab : medium_.slabs()) {
    auto& layer = g.layers[slab.axis][slab.side];
    const auto axis = static_cast<std::size_t>(slab.axis), side = static_cast<std::size_t>(slab.side);
    const Index to_zero = slab.arrays.first[0] * layer.stride[0] + slab.arrays.first[1] * layer.stride[1] +
                          slab.arrays.first[2] * layer.stride[2];
    layer.psi = psi_[axis][side].view().data - to_zero;
    layer.zeta = zeta_[axis][side].view().data - to_zero;
    if (eta_[axis][side].size() > 0) layer.eta = eta_[axis][side].view().data - to_zero;
  }
  return g;
}

template <class T>
void Wave<T>::mirror(Stream& stream, const View<T, 3>& field) {
  const auto& problem = medium_.problem();
  const auto& whole = medium_.cut().whole;
  auto part = medium_.part();
  // The nested differences V = −GᵀG also read mirrored nodes outside the part.
  if (problem.equation == Equation::tti)
    for (int axis = 0; axis < 3; ++axis)
      if (problem.grid.there(axis)) part = part.grown(axis, medium_.reach(), medium_.reach());
  for (int axis = 0; axis < 3; ++axis) {
    const Index nodes = problem.grid.nodes[static_cast<std::size_t>(axis)], reach = medium_.reach();
    const bool below = side_of(problem, axis, 0) == Boundary::free_surface,
               above = side_of(problem, axis, 1) == Boundary::free_surface;
    const Mirror<T> images{field, axis, nodes, below, above};
    if (below && medium_.part().first[axis] == whole.first[axis])
      for_each(stream, part.with(axis, -reach, 0), images);
    if (above && medium_.part().last[axis] == whole.last[axis])
      for_each(stream, part.with(axis, nodes, nodes + reach), images);
  }
}

template <class T>
std::vector<View<T, 3>> Wave<T>::views_of(Fields& fields) const {
  std::vector<View<T, 3>> views;
  for (int n = 0; n < medium_.fields(); ++n)
    views.push_back(fields[static_cast<std::size_t>(n)].view(medium_.box()));
  return views;
}

template <class T>
void Wave<T>::advance(Stream& stream, const Work& edges, const Work& inner, const Sources<T>* sources,
                      const Clock& clock, const Add& add, Receivers<T>* receivers) {
  if (peers_) return advance_with_peers(stream, &edges == &mesh_edges_, sources, clock, add, receivers);
  const auto g = arguments();
  const auto next = views_of(before_);
  const auto put = [&](Stream& on, Nodes nodes) {
    if (sources) sources->put(on, nodes, g, clock);
    if (add) add(on, nodes, g);
  };
  if (halo_) {
    ready_.record(stream);
    urgent_->wait_for(ready_);
    begin_steps(*urgent_, medium_.kernel(), g, edges);
    put(*urgent_, Nodes::edges);
    halo_->begin(*urgent_, next);
  }
  begin_steps(stream, medium_.kernel(), g, inner);
  if (receivers && sources) sources->put_and_read(stream, g, *receivers, clock);
  else put(stream, Nodes::inner);
  if (halo_) halo_->end(stream, next);
  turn();
  for (const auto& field : next) mirror(stream, field);
}

/// Like advance(), for ranks that write into neighbours' fields: one launch for all nodes; values are
/// transferred to the neighbours while other nodes are computed. A rank begins the next step only after its
/// neighbours have finished this one, so that no rank still reads the p⁻ that is overwritten.
template <class T>
void Wave<T>::advance_with_peers(Stream& stream, bool back, const Sources<T>* sources, const Clock& clock,
                                 const Add& add, Receivers<T>* receivers) {
  auto g = arguments();
  const auto next = views_of(before_);
  const bool by_steps = !back && !add && steps_hand_on(stream.device(), medium_.kernel(), g, all_);
  if (by_steps) find_beside(g);
  begin_steps(stream, medium_.kernel(), g, back ? mesh_all_ : all_);
  if (sources) sources->put(stream, Nodes::edges, g, clock);
  if (add) add(stream, Nodes::edges, g);
  if (receivers && sources) sources->put_and_read(stream, g, *receivers, clock);
  else if (sources) sources->put(stream, Nodes::inner, g, clock);
  if (add) add(stream, Nodes::inner, g);
  if (!by_steps) {
    find_beside(g);
    hand_on_planes(stream, g);
  }
  peers_->meet(stream);
  turn();
  for (const auto& field : next) mirror(stream, field);
}

template <class T>
bool keeps_along(const Device& device, const Problem& problem) {
  if (problem.equation != Equation::tti) return false;
  StepArguments<T> shape;
  for (int axis = 0; axis < 3; ++axis) shape.stride[axis] = problem.grid.there(axis) ? 1 : 0;
  return !by_tiles(device, {problem.equation, problem.points()}, shape);
}

template <class T>
void Wave<T>::make_along(Stream& stream) {
  for (auto& field : along_) field = Buffer<T>(stream.device(), medium_.size());
}

template <class T>
StepArguments<T> Wave<T>::derived(Stream& stream) {
  derive_along(stream, medium_.part());
  return arguments();
}

/// Computes G p and G q, the derivatives along the tilted axis (problem.hpp), at the nodes of a box and at
/// the M nodes beside it on each axis, which the operator V = −GᵀG reads.
template <class T>
void Wave<T>::derive_along(Stream& stream, IndexBox<3> box) {
  if (medium_.problem().equation != Equation::tti || box.empty()) return;
  // Allocated only now, because tiles of a GPU do not need G p and G q in memory.
  if (along_[0].size() == 0) make_along(stream);
  const Index points = medium_.kernel().points;
  for (int axis = 0; axis < 3; ++axis)
    if (medium_.problem().grid.there(axis)) box = box.grown(axis, points, points);
  begin_along(stream, medium_.kernel(), arguments(), box);
}

template <class T>
void Wave<T>::step(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& add) {
  begin_step(stream);
  advance(stream, edges_, inner_, sources, clock, add, nullptr);
}

template <class T>
void Wave<T>::step_and_read(Stream& stream, const Sources<T>& sources, Receivers<T>& receivers,
                            const Clock& clock) {
  begin_step(stream);
  advance(stream, edges_, inner_, &sources, clock, {}, &receivers);
}

/// Computes the values that steps read in addition to p and q: ψ of absorbing layers, and G p and G q, the
/// derivatives along a tilted axis.
template <class T>
void Wave<T>::begin_step(Stream& stream) {
  begin_psi(stream, medium_.kernel(), arguments(), medium_.slabs());
  if (!by_tiles(stream.device(), medium_.kernel(), arguments()))
    derive_along(stream, medium_.part());  // tiles of a GPU compute G p and G q during the step
}

template <class T>
void Wave<T>::step_back(Stream& stream, const Sources<T>* sources, const Clock& clock, const Add& load) {
  if (load) load(stream, Nodes::inner, arguments());
  if (!by_tiles(stream.device(), medium_.kernel(), arguments())) derive_along(stream, medium_.mesh());
  advance(stream, mesh_edges_, mesh_inner_, sources, clock, {}, nullptr);
}

template <class T>
std::size_t Wave<T>::state_size() const {
  std::size_t size = 0;
  each_array(*this, [&](const Buffer<T>& field) { size += field.size(); });
  return size;
}

template <class T>
double Wave<T>::bytes() const {
  return static_cast<double>((state_size() + along_[0].size() + along_[1].size()) * sizeof(T));
}

template <class T>
std::vector<T> Wave<T>::state(Stream& stream) const {
  std::vector<T> all(state_size());
  begin_save(stream, all);
  stream.wait();
  return all;
}

template <class T>
void Wave<T>::restore(Stream& stream, std::span<const T> state) {
  begin_restore(stream, state);
  stream.wait();
}

template <class T>
void Wave<T>::begin_save(Stream& stream, std::span<T> to) const {
  each_array(*this, [&](const Buffer<T>& field) {
    field.download_async(stream, to.first(field.size()));
    to = to.subspan(field.size());
  });
}

template <class T>
void Wave<T>::begin_restore(Stream& stream, std::span<const T> from) {
  each_array(*this, [&](Buffer<T>& field) {
    field.upload_async(stream, from.first(field.size()));
    from = from.subspan(field.size());
  });
  if (peers_) peers_->meet(stream);
}

template bool keeps_along<float>(const Device&, const Problem&);
template bool keeps_along<double>(const Device&, const Problem&);
template class Wave<float>;
template class Wave<double>;

}  // namespace terrane::acoustic
