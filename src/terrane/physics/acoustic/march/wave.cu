#include <algorithm>
#include <cstring>
#include <map>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

struct Tick {
  Index* clock;
  Index by;
  TERRANE_FN void operator()(std::size_t) const { *clock += by; }
};

/// What sources send to a node, as pressures, and to p and q alone.
template <class T>
struct Sent {
  T pressure, p, q;
};

/// What sources send, node by node.
template <class T>
struct Contributions {
  View<const Index> offset, first;  ///< of a node in fields; of its contributions
  View<const int> source;
  View<const Part> part;  ///< none: all are pressures
  View<const T> weight, series;
  Index columns;
  Moment moment;
  TERRANE_FN Sent<T> to(std::size_t n) const {
    const T* const now = series.data + moment.step() * columns;
    Sent<T> sent{};
    for (Index c = first[n]; c < first[n + 1]; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const Part of = part.data == nullptr ? Part::pressure : part[at];
      T& sum = of == Part::pressure ? sent.pressure : of == Part::p ? sent.p : sent.q;
      sum = fused(weight[at], now[source[at]], sum);
    }
    return sent;
  }
};

/// v²Δt² f at a node that sources reach; of a medium with an axis C (2/3, 1/3) f Δt², of p or q alone C (1,
/// 0) f Δt² or C (0, 1) f Δt².
template <class T>
struct Inject {
  Contributions<T> sources;
  StepArguments<T> g;
  TERRANE_FN void operator()(std::size_t n) const {
    const auto sent = sources.to(n);
    const T sum = sent.pressure;
    const Index here = sources.offset[n];
    if (g.now_q == nullptr) {
      add(g.next[here], g.squared[here], sum);
    } else {
      const T across = fused(T(2) / 3, sum, sent.p), along = fused(T(1) / 3, sum, sent.q),
              mixed = g.mixed[here];
      add(g.next[here], g.squared[here], fused(g.wide[here], across, mixed * along));
      add(g.next_q[here], g.squared[here], fused(mixed, across, along));
    }
    g.hand_on(here);
  }
  TERRANE_FN void add(T& next, T squared, T value) const {
    if (g.rounding > 0) next += rounded_to_grains(squared * value, g.rounding);
    else next = fused(squared, value, next);
  }
};

template <class T, class List>
Contributions<T> contributions_of(const List& list, const Buffer<T>& series, Index columns,
                                  const Moment& moment) {
  return {list.offset.view(),
          list.first.view(),
          list.source.view(),
          list.part.view(),
          list.weight.view(),
          series.view(),
          columns,
          moment};
}

/// kernel −= v² (2p + q)/3 f at a node of the mesh, or v² p f, v² q f.
template <class T>
struct InjectIntoKernel {
  Contributions<T> sources;
  const T* squared;
  View<const T, 3> p, q;
  View<T, 3> kernel;
  Index stride[2], corner, lowest[3];  ///< of fields: strides, offset and indices of the first node
  T per_square;
  TERRANE_FN void operator()(std::size_t n) const {
    Index rest = sources.offset[n] - corner;
    const Index k = lowest[0] + rest / stride[0];
    rest %= stride[0];
    const Index j = lowest[1] + rest / stride[1], i = lowest[2] + rest % stride[1];
    if (!kernel.box().contains(k, j, i)) return;
    const auto sent = sources.to(n);
    const T pressure = fused(T(2) / 3, p(k, j, i), T(1) / 3 * q(k, j, i));
    const T work = fused(p(k, j, i), sent.p, fused(q(k, j, i), sent.q, pressure * sent.pressure));
    kernel(k, j, i) -= squared[sources.offset[n]] * per_square * work;
  }
};

}  // namespace

/// One tap: the sum of its rows, plane by plane.
template <class T>
struct ReadTap {
  View<const ReceiverRow> rows;
  View<const Index> first;
  View<const T> weights;
  const T *now, *now_q;
  Moment moment;
  T* samples;
  Index taps;
  TERRANE_FN void operator()(std::size_t tap) const {
    add_up(tap, [this](Index r) { return sum_of_row(r); });
  }
  template <class SumOfRow>
  TERRANE_FN void add_up(std::size_t tap, const SumOfRow& sum_of) const {
    T total = 0, plane = 0;
    for (Index r = first[tap]; r < first[tap + 1]; ++r) {
      plane += sum_of(r);
      if (ends_plane(r, first[tap + 1])) {
        total += plane;
        plane = 0;
      }
    }
    put(tap, total);
  }
  TERRANE_FN T sum_of_row(Index r) const {
    constexpr int at_once = 8;  // nodes that wait for memory together
    const ReceiverRow row = rows[static_cast<std::size_t>(r)];
    T sum = 0;
    for (Index begin = 0; begin < row.count; begin += at_once) {
      T weight[at_once], value[at_once];
      unrolled<at_once>([&](auto n) {
        const bool has = begin + n < row.count;
        const Index i = has ? begin + n : begin;
        weight[n] = weights[row.weights + static_cast<std::size_t>(i)];
        value[n] = heard(row.part, row.offset + i);
      });
      unrolled<at_once>([&](auto n) {
        if (begin + n < row.count) sum = fused(weight[n], value[n], sum);
      });
    }
    return sum;
  }
  /// last: of the tap's rows, one beyond
  TERRANE_FN bool ends_plane(Index r, Index last) const {
    return r + 1 == last ||
           rows[static_cast<std::size_t>(r + 1)].plane != rows[static_cast<std::size_t>(r)].plane;
  }
  TERRANE_FN void put(std::size_t tap, T total) const {
    samples[moment.step() * taps + static_cast<Index>(tap)] = total;
  }
  TERRANE_FN T heard(Part part, Index n) const {
    if (now_q == nullptr || part == Part::p) return now[n];
    return part == Part::q ? now_q[n] : fused(T(2) / 3, now[n], T(1) / 3 * now_q[n]);
  }
};

namespace {

#if defined(__CUDACC__)
constexpr unsigned block_of_taps = 128, threads_of_tap = 8;
unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + block_of_taps - 1) / block_of_taps);
}

/// The same by eight threads per tap, which take a row each and add in the same order: a tap of 64 rows by
/// one thread would wait for memory 64 times.
template <class T>
__device__ __forceinline__ void read_tap(const ReadTap<T>& read, unsigned in_block) {
  constexpr unsigned threads = threads_of_tap;
  const std::size_t tap = (in_block * std::size_t{blockDim.x} + threadIdx.x) / threads;
  const unsigned lane = threadIdx.x % threads, group = 0xffU << (threadIdx.x % 32 - lane);
  if (tap >= static_cast<std::size_t>(read.taps)) return;
  const Index last = read.first[tap + 1];
  T total = 0, plane = 0;
  for (Index r = read.first[tap]; r < last; r += threads) {
    const Index mine = r + lane;
    const T sum = mine < last ? read.sum_of_row(mine) : 0;
    const bool ends = mine < last && read.ends_plane(mine, last);
    for (unsigned n = 0; n < threads; ++n) {
      const T next = __shfl_sync(group, sum, n, threads);
      const bool next_ends = __shfl_sync(group, ends, n, threads);
      if (r + n >= last) continue;
      plane += next;
      if (next_ends) {
        total += plane;
        plane = 0;
      }
    }
  }
  if (lane == 0) read.put(tap, total);
}
template <class T>
__global__ void __launch_bounds__(block_of_taps) read_taps(const __grid_constant__ ReadTap<T> read) {
  read_tap(read, blockIdx.x);
}

/// The sources of a step and the taps of the wave it began from, in one launch: they touch different waves.
template <class T>
__global__ void __launch_bounds__(block_of_taps)
    put_and_read(const __grid_constant__ Inject<T> inject, unsigned sources, unsigned blocks_of_sources,
                 const __grid_constant__ ReadTap<T> read) {
  if (blockIdx.x >= blocks_of_sources) return read_tap(read, blockIdx.x - blocks_of_sources);
  const unsigned n = blockIdx.x * block_of_taps + threadIdx.x;
  if (n < sources) inject(n);
}
#endif

/// A node beyond a free surface has the value of its image.
template <class T>
struct Mirror {
  View<T, 3> field;
  int axis;
  Index nodes;        ///< of the mesh on the axis
  bool below, above;  ///< which of its sides are free surfaces
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const auto [node, odd] = image_of(axis == 0 ? k : axis == 1 ? j : i, nodes, below, above);
    const T value = axis == 0 ? field(node, j, i) : axis == 1 ? field(k, node, i) : field(k, j, node);
    field(k, j, i) = odd ? -value : value;
  }
};

/// Gives a neighbour p⁺ and q⁺ of a node.
template <class T>
struct HandOn {
  const T* from[2];
  T* to[2];  ///< where the node 0, 0, 0 is, as of `from`; q: none
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

int rank_of(const Cartesian<3>& cut, const std::array<Index, 3>& node) {
  for (int rank = 0; rank < cut.ranks(); ++rank)
    if (cut.part(rank).contains(node[0], node[1], node[2])) return rank;
  return -1;
}

/// A row of weights: the nodes of a receiver with one index up and one north.
struct WeightRow {
  std::array<Index, 3> node;  ///< the first
  Part part;
  std::vector<double> weights;
};

/// In the order of nodes; where one between has the weight zero, it is there with that.
std::vector<WeightRow> rows_of(const std::vector<Weight>& weights) {
  std::vector<WeightRow> rows;
  for (const auto& [node, weight, part] : weights) {
    if (rows.empty() || rows.back().part != part || rows.back().node[0] != node[0] ||
        rows.back().node[1] != node[1])
      rows.push_back({node, part, {}});
    auto& row = rows.back();
    row.weights.resize(static_cast<std::size_t>(node[2] - row.node[2]) + 1, 0.0);
    row.weights.back() = weight;
  }
  return rows;
}

}  // namespace

void Clock::tick(Stream& stream, Index by) {
  ahead_ = 0;
  for_each(stream, std::size_t{1}, Tick{value_.view().data, by});
}

template <class T>
Sources<T>::Sources(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps,
                    std::span<const double> scales, const IndexBox<3>& within)
    : medium_(medium), places_(taps.size()) {
  const auto here = overlap(within, medium.part());
  struct Contribution {
    int source;
    Part part;
    double weight;
  };
  std::map<Index, std::vector<Contribution>> nodes[2];  // by their place in memory
  const auto apart = strides(medium.box());
  bool alike = true;
  each_of_weights(medium.problem(), taps, stream.threads(), [&](std::size_t n, const auto& weights) {
    for (const auto& [node, weight, part] : weights) {
      if (!here.contains(node[0], node[1], node[2])) continue;
      nodes[medium.on_edge(node) ? 0 : 1][apart.to(node)].push_back(
          {static_cast<int>(n), part, weight * scales[n]});
      alike = alike && part == Part::pressure;
    }
  });
  for (int which = 0; which < 2; ++which) {
    std::vector<Index> offset, first{0};
    std::vector<int> source;
    std::vector<Part> parts;
    std::vector<T> weight;
    for (const auto& [place, contributions] : nodes[which]) {
      offset.push_back(place);
      for (const auto& [from, part, value] : contributions) {
        source.push_back(from);
        parts.push_back(part);
        weight.push_back(static_cast<T>(value));
      }
      first.push_back(static_cast<Index>(source.size()));
    }
    auto& list = lists_[which];
    list.nodes = offset.size();
    list.offset = Buffer<Index>(stream, std::span<const Index>(offset));
    list.first = Buffer<Index>(stream, std::span<const Index>(first));
    list.source = Buffer<int>(stream, std::span<const int>(source));
    if (!alike) list.part = Buffer<Part>(stream, std::span<const Part>(parts));
    list.weight = Buffer<T>(stream, std::span<const T>(weight));
  }
}

template <class T>
void Sources<T>::send(Stream& stream, std::size_t steps, const std::vector<double>& series) {
  const std::vector<T> values(series.begin(), series.end());
  series_ = Buffer<T>(stream, std::span<const T>(values));
  columns_ = series.size() == steps ? 0 : static_cast<Index>(series.size() / steps);
  if (columns_ == 0) {
    // One series for all: every source reads column 0.
    columns_ = 1;
    for (auto& list : lists_) {
      const std::vector<int> zeros(list.source.size(), 0);
      list.source.upload(stream, std::span<const int>(zeros));
    }
  }
}

template <class T>
double Sources<T>::bytes() const {
  double bytes = static_cast<double>(series_.size() * sizeof(T));
  for (const auto& list : lists_)
    bytes += static_cast<double>((list.offset.size() + list.first.size()) * sizeof(Index) +
                                 list.source.size() * sizeof(int) + list.part.size() * sizeof(Part) +
                                 list.weight.size() * sizeof(T));
  return bytes;
}

template <class T>
void Sources<T>::put(Stream& stream, Nodes nodes, const StepArguments<T>& arguments,
                     const Clock& clock) const {
  const auto& list = lists_[nodes == Nodes::edges ? 0 : 1];
  for_each(stream, list.nodes,
           Inject<T>{contributions_of<T>(list, series_, columns_, clock.now()), arguments});
}

template <class T>
void Sources<T>::put_and_read(Stream& stream, const StepArguments<T>& arguments, Receivers<T>& receivers,
                              const Clock& clock) const {
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda && receivers.taps_ > 0) {
    const auto& list = lists_[1];
    const unsigned blocks_of_sources = blocks_for(list.nodes);
    detail::cuda::use(stream.device().index);
    acoustic::put_and_read<<<blocks_of_sources + blocks_for(receivers.taps_ * threads_of_tap), block_of_taps,
                             0, static_cast<cudaStream_t>(stream.handle())>>>(
        Inject<T>{contributions_of<T>(list, series_, columns_, clock.now()), arguments},
        static_cast<unsigned>(list.nodes), blocks_of_sources,
        receivers.reading(arguments.now, clock, arguments.now_q));
    return detail::cuda::check(cudaGetLastError(), "put_and_read");
  }
#endif
  put(stream, Nodes::inner, arguments, clock);
  receivers.read(stream, arguments.now, clock, arguments.now_q);
}

template <class T>
void Sources<T>::put_between(const StepArguments<T>& arguments, const Moment& moment, Index from,
                             Index to) const {
  for (const auto& list : lists_) {
    const Index* const offset = list.offset.view().data;
    const Inject<T> inject{contributions_of<T>(list, series_, columns_, moment), arguments};
    const auto last = std::lower_bound(offset, offset + list.nodes, to) - offset;
    for (auto n = std::lower_bound(offset, offset + list.nodes, from) - offset; n < last; ++n)
      inject(static_cast<std::size_t>(n));
  }
}

template <class T>
void Sources<T>::put_into_kernel(Stream& stream, View<const T, 3> p, View<const T, 3> q, View<T, 3> kernel,
                                 T per_square, const Clock& clock) const {
  const auto box = medium_.box();
  const auto apart = strides(box);
  for (const auto& list : lists_)
    for_each(stream, list.nodes,
             InjectIntoKernel<T>{contributions_of<T>(list, series_, columns_, clock.now()),
                                 medium_.arguments().squared,
                                 p,
                                 q,
                                 kernel,
                                 {box.size(1) * box.size(2), box.size(2)},
                                 apart.to(box.first),
                                 {box.first[0], box.first[1], box.first[2]},
                                 per_square});
}

template <class T>
Receivers<T>::Receivers(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps, std::size_t steps)
    : medium_(medium), places_(taps.size()), steps_(steps), owner_(taps.size()), planes_(taps.size()) {
  std::vector<ReceiverRow> rows;
  std::vector<Index> first{0};
  std::vector<T> weights;
  const auto apart = strides(medium.box());
  each_of_weights(medium.problem(), taps, stream.threads(), [&](std::size_t n, const auto& found) {
    const auto all = rows_of(found);
    for (const auto& row : all) {
      owner_[n].push_back(rank_of(medium.cut(), row.node));
      planes_[n].push_back(row.node[0]);
    }
    const bool whole =
        std::all_of(owner_[n].begin(), owner_[n].end(), [&](int rank) { return rank == owner_[n].front(); });
    if (whole && !owner_[n].empty()) owner_[n].resize(1);
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (owner_[n][whole ? 0 : r] != medium.rank()) continue;
      const auto& at = all[r].node;
      rows.push_back({static_cast<std::int32_t>(at[0]), all[r].part, apart.to(at),
                      static_cast<Index>(all[r].weights.size()), weights.size()});
      for (const double w : all[r].weights) weights.push_back(static_cast<T>(w));
      if (!whole) first.push_back(static_cast<Index>(rows.size()));
    }
    if (whole && !owner_[n].empty() && owner_[n].front() == medium.rank())
      first.push_back(static_cast<Index>(rows.size()));
  });
  taps_ = first.size() - 1;
  rows_ = Buffer<ReceiverRow>(stream, std::span<const ReceiverRow>(rows));
  first_ = Buffer<Index>(stream, std::span<const Index>(first));
  weights_ = Buffer<T>(stream, std::span<const T>(weights));
  samples_ = Buffer<T>(stream.device(), taps_ * steps);
  samples_.fill_zero(stream);
}

template <class T>
double Receivers<T>::bytes() const {
  return static_cast<double>(rows_.size() * sizeof(ReceiverRow) + first_.size() * sizeof(Index) +
                             (weights_.size() + samples_.size()) * sizeof(T));
}

template <class T>
ReadTap<T> Receivers<T>::reading(const T* now, const Clock& clock, const T* now_q) {
  const Buffer<ReceiverRow>& rows = rows_;
  const Buffer<Index>& first = first_;
  const Buffer<T>& weights = weights_;
  return {rows.view(), first.view(), weights.view(),       now,
          now_q,       clock.now(),  samples_.view().data, static_cast<Index>(taps_)};
}

template <class T>
void Receivers<T>::read(Stream& stream, const T* now, const Clock& clock, const T* now_q) {
  const auto read = reading(now, clock, now_q);
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    if (taps_ == 0) return;
    detail::cuda::use(stream.device().index);
    read_taps<<<blocks_for(taps_ * threads_of_tap), block_of_taps, 0,
                static_cast<cudaStream_t>(stream.handle())>>>(read);
    return detail::cuda::check(cudaGetLastError(), "read_taps");
  }
#endif
  for_each(stream, taps_, read);
}

template <class T>
void Receivers<T>::prepare(Index steps) {
  const ReceiverRow* const rows = std::as_const(rows_).view().data;
  sums_.resize(rows_.size() * static_cast<std::size_t>(steps));
  if (in_memory_.size() == rows_.size()) return;
  for (std::size_t r = 0; r < rows_.size(); ++r)
    in_memory_.emplace_back(rows[r].offset, static_cast<Index>(r));
  std::sort(in_memory_.begin(), in_memory_.end());
}

template <class T>
void Receivers<T>::read_between(const T* now, const T* now_q, Index step, Index from, Index to) {
  const ReadTap<T> read{
      std::as_const(rows_).view(), {}, std::as_const(weights_).view(), now, now_q, {}, nullptr, 0};
  T* const sums = sums_.data() + static_cast<std::size_t>(step) * rows_.size();
  auto row = std::lower_bound(in_memory_.begin(), in_memory_.end(), std::pair{from, Index{0}});
  for (; row != in_memory_.end() && row->first < to; ++row) sums[row->second] = read.sum_of_row(row->second);
}

template <class T>
void Receivers<T>::add_up(Index step, const Moment& moment, int threads) {
  const T* const sums = sums_.data() + static_cast<std::size_t>(step) * rows_.size();
  const ReadTap<T> read{
      std::as_const(rows_).view(), std::as_const(first_).view(), {}, nullptr, nullptr, moment,
      samples_.view().data,        static_cast<Index>(taps_)};
  for_each(IndexBox<1>{{0}, {static_cast<Index>(taps_)}}, threads,
           [=](Index tap) { read.add_up(static_cast<std::size_t>(tap), [=](Index r) { return sums[r]; }); });
}

template <class T>
std::vector<double> Receivers<T>::gather(Stream& stream, Comm& comm) const {
  std::vector<T> mine(taps_ * steps_);
  samples_.download(stream, mine);
  const auto bytes = comm.gather(std::as_bytes(std::span<const T>(mine)), 0);
  if (comm.rank() != 0) return {};
  std::vector<std::vector<T>> all;
  for (const auto& theirs : bytes) {
    std::vector<T> values(theirs.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), theirs.data(), theirs.size());
    all.push_back(std::move(values));
  }
  std::vector<std::size_t> taps(all.size()), next(all.size(), 0);
  for (std::size_t r = 0; r < all.size(); ++r) taps[r] = all[r].size() / steps_;
  std::vector<double> traces(steps_ * places_);
  for (std::size_t place = 0; place < places_; ++place) {
    std::vector<std::pair<std::size_t, std::size_t>> parts;  // rank and tap of each row
    for (const int rank : owner_[place]) {
      const auto r = static_cast<std::size_t>(rank);
      parts.emplace_back(r, next[r]++);
    }
    for (std::size_t n = 0; n < steps_; ++n) {
      T total = 0, plane = 0;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        plane += all[parts[p].first][n * taps[parts[p].first] + parts[p].second];
        if (parts.size() == 1 || p + 1 == parts.size() || planes_[place][p + 1] != planes_[place][p]) {
          total += plane;
          plane = 0;
        }
      }
      traces[n * places_ + place] = static_cast<double>(total);
    }
  }
  return traces;
}

namespace {

/// Where neighbours might: GPUs with slabs of the grid, which lie above each other.
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
    settings.corners = tilted;  // nested differences on two axes meet there
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

/// Opens the fields of the ranks below and above.
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
      // The same rows and planes, so where the node 0, 0, 0 would be is as far from its first.
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

/// Where neighbours read p⁺ and q⁺ of this rank.
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

/// What steps have not written there themselves.
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
std::string Wave<T>::way() const {
  if (peers_) return "go from device to device by stores of kernels";
  return halo_ ? halo_->way() : std::string();
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
  if (peers_) peers_->meet(stream);  // nobody steps into fields that are not at rest yet
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
  // Nested differences read images beside the part, too.
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

/// The same where neighbours' fields are written: one launch for all nodes, whose stores are on their way to
/// the neighbours while others are computed. Nobody steps on before the neighbours have come as far: then
/// none still reads the p⁻ that is overwritten.
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

/// G p and G q of these nodes and of what their differences read around them.
template <class T>
void Wave<T>::derive_along(Stream& stream, IndexBox<3> box) {
  if (medium_.problem().equation != Equation::tti || box.empty()) return;
  if (along_[0].size() == 0) make_along(stream);  // tiles made their own until now
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

/// What steps of the part read beside p.
template <class T>
void Wave<T>::begin_step(Stream& stream) {
  begin_psi(stream, medium_.kernel(), arguments(), medium_.slabs());
  if (!by_tiles(stream.device(), medium_.kernel(), arguments()))
    derive_along(stream, medium_.part());  // tiles make their own
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

template class Sources<float>;
template class Sources<double>;
template class Receivers<float>;
template class Receivers<double>;
template bool keeps_along<float>(const Device&, const Problem&);
template bool keeps_along<double>(const Device&, const Problem&);
template class Wave<float>;
template class Wave<double>;

}  // namespace terrane::acoustic
