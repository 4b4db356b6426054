#include <map>
#include <span>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/electromagnetic/survey/sampling.hpp"

namespace terrane::electromagnetic {

namespace {

/// The three components with their halos, each as one row of values.
struct Components {
  solve::ComplexView<const double> of[3];
  TERRANE_FN Number at(Index axis, Index offset) const { return of[axis](0, 0, offset); }
};

Components rows_of(const EdgeVector& x) { return {{x.e[0].row(), x.e[1].row(), x.e[2].row()}}; }

/// The value of sum n over edges. first: [sum] index of its first term; axis, offset, weight: [term] the edge
/// and its weight; values: [sum] real and imaginary part.
struct Sample {
  Components from;
  View<const Index> first, axis, offset;
  View<const double> weight;
  View<double> values;
  TERRANE_FN void operator()(std::size_t n) const {
    Number sum{};
    for (auto t = static_cast<std::size_t>(first[n]); t < static_cast<std::size_t>(first[n + 1]); ++t)
      sum += weight[t] * from.at(axis[t], offset[t]);
    values[2 * n] = sum.re;
    values[2 * n + 1] = sum.im;
  }
};

/// Adds the terms of edge n in order. edges: five numbers for each edge: axis, three indices, and the index
/// of its first term. amount: [term] real and imaginary part.
struct AddTo {
  solve::ComplexView<double> to[3];
  View<const Index> edges;
  View<const double> amount;
  TERRANE_FN void operator()(std::size_t n) const {
    const Index *const at = &edges[5 * n], axis = at[0];
    auto sum = to[axis](at[1], at[2], at[3]);
    for (auto t = static_cast<std::size_t>(at[4]); t < static_cast<std::size_t>(at[9]); ++t)
      sum += Number{amount[2 * t], amount[2 * t + 1]};
    to[axis].put(at[1], at[2], at[3], sum);
  }
};

/// Copies the value of edge n. axis, offset: [edge]; values: [edge] real and imaginary part.
struct Take {
  Components from;
  View<const Index> axis, offset;
  View<double> values;
  TERRANE_FN void operator()(std::size_t n) const {
    const auto value = from.at(axis[n], offset[n]);
    values[2 * n] = value.re;
    values[2 * n + 1] = value.im;
  }
};

std::array<Index, 3> place_of(const IndexBox<3>& points, std::size_t edge) {
  const auto n = static_cast<Index>(edge);
  return {n / (points.size(2) * points.size(1)), n / points.size(2) % points.size(1), n % points.size(2)};
}
Index offset_of(const IndexBox<3>& box, const std::array<Index, 3>& at) {
  return ((at[0] - box.first[0]) * box.size(1) + at[1] - box.first[1]) * box.size(2) + at[2] - box.first[2];
}

template <class T>
Buffer<T> list_on_device(Stream& stream, const std::vector<T>& list) {
  return Buffer<T>(stream, std::span<const T>(list.data(), list.size()));
}

}  // namespace

/// Only the edges of the sum are transferred; the terms of one edge are added in the order of the sum.
void add(Stream& stream, const Metric& metric, const EdgeSum& sum, std::complex<double> amount,
         EdgeVector& b) {
  std::map<std::pair<int, std::array<Index, 3>>, std::vector<double>> added;
  for (const auto& term : sum) {
    const auto at = place_of(metric.edges(term.axis), term.edge);
    if (!b.e[static_cast<std::size_t>(term.axis)].box().contains(at[0], at[1], at[2])) continue;
    auto& terms = added[{term.axis, at}];
    terms.push_back(amount.real() * term.weight);
    terms.push_back(amount.imag() * term.weight);
  }
  if (added.empty()) return;
  std::vector<Index> edges;
  std::vector<double> amounts;
  for (const auto& [place, terms] : added) {
    const auto& [axis, at] = place;
    edges.insert(edges.end(), {axis, at[0], at[1], at[2], static_cast<Index>(amounts.size() / 2)});
    amounts.insert(amounts.end(), terms.begin(), terms.end());
  }
  // The last entry holds the end of the last edge's terms.
  edges.insert(edges.end(), {0, 0, 0, 0, static_cast<Index>(amounts.size() / 2)});
  const auto places = list_on_device(stream, edges);
  const auto terms = list_on_device(stream, amounts);
  AddTo kernel;
  for (std::size_t a = 0; a < 3; ++a) kernel.to[a] = b.e[a].view();
  kernel.edges = places.view();
  kernel.amount = terms.view();
  for_each(stream, added.size(), kernel);
  stream.wait();
}

Sampler::Sampler(Stream& stream, const Metric& metric, const EdgeVector& x, std::span<const EdgeSum> sums,
                 Comm* comm)
    : count_(sums.size()),
      values_(stream.device(), 2 * sums.size()),
      comm_(comm != nullptr && comm->size() > 1 ? comm : nullptr) {
  std::vector<Index> first{0}, axis, offset, own_axis, own_offset;
  std::vector<double> weight;
  std::map<std::pair<int, std::size_t>, Index> taken;
  for (const auto& sum : sums) {
    for (const auto& term : sum) {
      const auto& field = x.e[static_cast<std::size_t>(term.axis)];
      const auto at = place_of(metric.edges(term.axis), term.edge);
      weight.push_back(term.weight);
      if (comm_ == nullptr) {
        axis.push_back(term.axis);
        offset.push_back(offset_of(field.memory_box(), at));
        continue;
      }
      const auto number = static_cast<Index>(taken.size());
      const auto found = taken.try_emplace({term.axis, term.edge}, number);
      axis.push_back(0);
      offset.push_back(found.first->second);
      if (!found.second || !field.points().contains(at[0], at[1], at[2])) continue;
      own_place_.push_back(static_cast<std::size_t>(number));
      own_axis.push_back(term.axis);
      own_offset.push_back(offset_of(field.memory_box(), at));
    }
    first.push_back(static_cast<Index>(weight.size()));
  }
  first_ = list_on_device(stream, first);
  axis_ = list_on_device(stream, axis);
  offset_ = list_on_device(stream, offset);
  weight_ = list_on_device(stream, weight);
  if (comm_ == nullptr) return;
  taken_ = taken.size();
  taken_values_ = Buffer<double>(stream.device(), 2 * taken_);
  if (own_place_.empty()) return;
  own_axis_ = list_on_device(stream, own_axis);
  own_offset_ = list_on_device(stream, own_offset);
  own_values_ = Buffer<double>(stream.device(), 2 * own_place_.size());
}

/// Every rank passes the values of its own edges and zero for all others: so the sum over ranks is exact.
void Sampler::bring(Stream& stream, const EdgeVector& x) {
  std::vector<double> own(2 * own_place_.size()), all(2 * taken_);
  if (!own.empty()) {
    Take kernel;
    kernel.from = rows_of(x);
    kernel.axis = std::as_const(own_axis_).view();
    kernel.offset = std::as_const(own_offset_).view();
    kernel.values = own_values_.view();
    for_each(stream, own_place_.size(), kernel);
    own_values_.download(stream, std::span<double>(own.data(), own.size()));
  }
  for (std::size_t n = 0; n < own_place_.size(); ++n) {
    const bool pairs = solve::has_pairs(stream.device());
    const std::size_t place = own_place_[n];
    all[pairs ? 2 * place : place] = own[2 * n];
    all[pairs ? 2 * place + 1 : taken_ + place] = own[2 * n + 1];
  }
  comm_->sum(all);
  taken_values_.upload(stream, std::span<const double>(all.data(), all.size()));
}

std::vector<std::complex<double>> Sampler::of(Stream& stream, const EdgeVector& x) {
  Sample kernel;
  if (comm_ == nullptr) {
    kernel.from = rows_of(x);
  } else {
    bring(stream, x);
    const auto count = static_cast<Index>(taken_);
    kernel.from.of[0] = {
        View<const double, 3>(std::as_const(taken_values_).view().data, index_box(1, 1, count)),
        stream.device(), count};
  }
  kernel.first = std::as_const(first_).view();
  kernel.axis = std::as_const(axis_).view();
  kernel.offset = std::as_const(offset_).view();
  kernel.weight = std::as_const(weight_).view();
  kernel.values = values_.view();
  for_each(stream, count_, kernel);
  std::vector<double> values(2 * count_);
  values_.download(stream, std::span<double>(values.data(), values.size()));
  std::vector<std::complex<double>> all(count_);
  for (std::size_t n = 0; n < count_; ++n) all[n] = {values[2 * n], values[2 * n + 1]};
  return all;
}

}  // namespace terrane::electromagnetic
