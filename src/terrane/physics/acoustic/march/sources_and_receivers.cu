#include <algorithm>
#include <cstring>

#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/march/sources_and_receivers.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

struct Tick {
  Index* clock;
  Index by;
  TERRANE_FN void operator()(std::size_t) const { *clock += by; }
};

/// Sums of the sources' terms at one node: of pressure sources, and of sources of p or q alone.
template <class T>
struct Sent {
  T pressure, p, q;
};

/// Contributions of sources to nodes, sorted by node: each is the weight of one source at one node. to(n)
/// sums the contributions to the n-th node at the present step.
template <class T>
struct Contributions {
  View<const Index> offset, first;  ///< [nodes] offset in fields; index of the first contribution
  View<const int> source;           ///< [contributions] column of the source in `series`
  View<const Part> part;            ///< [contributions]; empty: all are pressures
  View<const T> weight, series;     ///< [contributions]; [steps, columns]
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

/// Adds v²Δt² f to p⁺ at a node with source terms; in a VTI or TTI medium C (2/3, 1/3) f Δt² to
/// (p⁺, q⁺), with the matrix C of problem.hpp, or, for terms of p or q alone, C (1, 0) f Δt² or C (0, 1) f
/// Δt².
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

/// kernel −= v² (2p + q)/3 f at a node of the mesh; for terms of p or q alone v² p f or v² q f.
template <class T>
struct InjectIntoKernel {
  Contributions<T> sources;
  const T* squared;
  View<const T, 3> p, q;
  View<T, 3> kernel;
  Index stride[2], corner, lowest[3];  ///< strides of fields; offset and indices of their first node
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

/// Computes the sample of one tap (a component recorded at a position): the sum over its rows of nodes, plane
/// by plane.
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
    constexpr int at_once = 8;  // number of nodes whose values are loaded together
    const ReceiverRow row = rows[static_cast<std::size_t>(r)];
    T sum = 0;
    for (Index begin = 0; begin < row.count; begin += at_once) {
      T weight[at_once], value[at_once];
      unrolled<at_once>([&](auto n) {
        const bool has = begin + n < row.count;
        const Index i = has ? begin + n : begin;
        weight[n] = weights[row.weights + static_cast<std::size_t>(i)];
        value[n] = recorded(row.part, row.offset + i);
      });
      unrolled<at_once>([&](auto n) {
        if (begin + n < row.count) sum = fused(weight[n], value[n], sum);
      });
    }
    return sum;
  }
  /// Whether row r is the last one in its plane.  last: one past the tap's last row
  TERRANE_FN bool ends_plane(Index r, Index last) const {
    return r + 1 == last ||
           rows[static_cast<std::size_t>(r + 1)].plane != rows[static_cast<std::size_t>(r)].plane;
  }
  TERRANE_FN void put(std::size_t tap, T total) const {
    samples[moment.step() * taps + static_cast<Index>(tap)] = total;
  }
  TERRANE_FN T recorded(Part part, Index n) const {
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

/// Reads taps (components recorded at a position) with eight threads per tap: each sums one row at a time,
/// and row sums are added in the same order. A single thread would wait for memory 64 times for a tap of 64
/// rows.
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

/// Adds the sources of a step to p⁺ and reads the receivers' taps from p in one launch, which is possible
/// because sources change p⁺ only, and taps read p only.
template <class T>
__global__ void __launch_bounds__(block_of_taps)
    put_and_read(const __grid_constant__ Inject<T> inject, unsigned sources, unsigned blocks_of_sources,
                 const __grid_constant__ ReadTap<T> read) {
  if (blockIdx.x >= blocks_of_sources) return read_tap(read, blockIdx.x - blocks_of_sources);
  const unsigned n = blockIdx.x * block_of_taps + threadIdx.x;
  if (n < sources) inject(n);
}
#endif

}  // namespace

void Clock::tick(Stream& stream, Index by) {
  ahead_ = 0;
  for_each(stream, std::size_t{1}, Tick{value_.view().data, by});
}

template <class T>
Sources<T>::Sources(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps,
                    std::span<const double> scales, const IndexBox<3>& within)
    : medium_(medium), places_(taps.size()) {
  const auto nodes = nodes_of_sources(medium, taps, scales, within, stream.threads());
  for (const std::size_t which : {0, 1}) {
    const auto& [offset, first, source, part, weight] = nodes[which];
    auto& list = lists_[which];
    list.nodes = offset.size();
    list.offset = Buffer<Index>(stream, std::span<const Index>(offset));
    list.first = Buffer<Index>(stream, std::span<const Index>(first));
    list.source = Buffer<int>(stream, std::span<const int>(source));
    if (!part.empty()) list.part = Buffer<Part>(stream, std::span<const Part>(part));
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
    : medium_(medium), places_(taps.size()), steps_(steps) {
  auto taken = rows_of_receivers(medium, taps, stream.threads());
  owner_ = std::move(taken.owner);
  planes_ = std::move(taken.planes);
  taps_ = taken.first.size() - 1;
  rows_ = Buffer<ReceiverRow>(stream, std::span<const ReceiverRow>(taken.rows));
  first_ = Buffer<Index>(stream, std::span<const Index>(taken.first));
  weights_ = Buffer<T>(stream, std::span<const T>(taken.weights));
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
  auto mine = filled(taps_ * steps_, T(0));
  samples_.download(stream, mine);
  std::vector<std::vector<T>> all;
  if (comm.size() == 1) {
    all.push_back(std::move(mine));
  } else {
    const auto bytes = comm.gather(std::as_bytes(std::span<const T>(mine)), 0);
    if (comm.rank() != 0) return {};
    for (const auto& theirs : bytes) {
      std::vector<T> values(theirs.size() / sizeof(T));
      if (!values.empty()) std::memcpy(values.data(), theirs.data(), theirs.size());
      all.push_back(std::move(values));
    }
  }
  std::vector<std::size_t> taps(all.size()), next(all.size(), 0);
  for (std::size_t r = 0; r < all.size(); ++r) taps[r] = all[r].size() / steps_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> rows(
      places_);  // [taps][row sums] the rank that has the sum, and the index in that rank's list
  for (std::size_t place = 0; place < places_; ++place)
    for (const int rank : owner_[place]) {
      const auto r = static_cast<std::size_t>(rank);
      rows[place].emplace_back(r, next[r]++);
    }
  auto traces = filled(steps_ * places_, 0.0);
  const auto add_up = [&](std::size_t n, std::size_t place) {
    const auto& parts = rows[place];
    T total = 0, plane = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      plane += all[parts[p].first][n * taps[parts[p].first] + parts[p].second];
      if (parts.size() == 1 || p + 1 == parts.size() || planes_[place][p + 1] != planes_[place][p]) {
        total += plane;
        plane = 0;
      }
    }
    traces[n * places_ + place] = static_cast<double>(total);
  };
  for_each(steps_, stream.threads(), [&](std::size_t n) {
    for (std::size_t place = 0; place < places_; ++place) add_up(n, place);
  });
  return traces;
}

template class Sources<float>;
template class Sources<double>;
template class Receivers<float>;
template class Receivers<double>;

}  // namespace terrane::acoustic
