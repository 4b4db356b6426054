#include "terrane/solve/shared_grid.hpp"

#include <algorithm>

namespace terrane::solve {

namespace {

/// Calls use(number in a, number in b) for all points that are in both boxes.
template <class Use>
void for_common_points(const IndexBox<3>& a, const IndexBox<3>& b, const Use& use) {
  const auto common = overlap(a, b);
  const auto number = [](const IndexBox<3>& box, Index k, Index j, Index i) {
    return static_cast<std::size_t>(((k - box.first[0]) * box.size(1) + j - box.first[1]) * box.size(2) + i -
                                    box.first[2]);
  };
  for (Index k = common.first[0]; k < common.last[0]; ++k)
    for (Index j = common.first[1]; j < common.last[1]; ++j)
      for (Index i = common.first[2]; i < common.last[2]; ++i) use(number(a, k, j, i), number(b, k, j, i));
}

/// Fields of `numbers` numbers per point, real parts before imaginary ones, or in pairs, over one box become
/// such over another; zero where the first has no points.
struct Order {
  std::size_t points, numbers;
  bool pairs;
  std::size_t number(std::size_t point, std::size_t part) const {
    return pairs ? numbers * point + part : part * points + point;
  }
};
template <class T>
std::vector<T> moved(const std::vector<T>& values, const IndexBox<3>& from, const IndexBox<3>& to,
                     std::size_t numbers, bool from_pairs, bool to_pairs) {
  const Order here{static_cast<std::size_t>(from.count()), numbers, from_pairs},
      there{static_cast<std::size_t>(to.count()), numbers, to_pairs};
  std::vector<T> all(there.points * numbers);
  for_common_points(from, to, [&](std::size_t n, std::size_t m) {
    for (std::size_t part = 0; part < numbers; ++part)
      all[there.number(m, part)] = values[here.number(n, part)];
  });
  return all;
}

/// The same, where every value along a row is two numbers.
template <int N>
Cartesian<N> of_pairs(Cartesian<N> all) {
  const auto twice = [](const IndexBox<N>& box) {
    return box.with(N - 1, 2 * box.first[N - 1], 2 * box.last[N - 1]);
  };
  all.whole = twice(all.whole);
  for (auto& part : all.parts) part = twice(part);
  return all;
}

}  // namespace

template <class V>
void Field<V>::upload(Stream& stream, const std::vector<Real>& values, const IndexBox<3>& there) {
  values_->upload(stream, moved(values, there, memory_, numbers, false, has_pairs(device())), lead_);
}

template <class V>
auto Field<V>::download(Stream& stream, const IndexBox<3>& there) const -> std::vector<Real> {
  std::vector<Real> all(size() * numbers);
  values_->download(stream, all, lead_);
  return moved(all, memory_, there, numbers, has_pairs(device()), false);
}

template <class T>
SharedGrid<T>::SharedGrid(Stream& stream, Cartesian<3> partition, Comm& comm, bool corners)
    : partition_(std::move(partition)), comm_(&comm), corners_(corners) {
  if (comm.size() > 1)
    halo_ = std::make_unique<Halo<T, 3>>(stream, partition_,
                                         HaloSettings<3>{{1, 1, 1}, {1, 1, 1}, {}, corners}, 2, comm);
}

template <class T>
template <class V>
void SharedGrid<T>::bring(Stream& stream, Field<V>& field) const {
  if (!halo_) return;
  if (Field<V>::numbers == 2 && has_pairs(field.device())) {
    const auto pairs = field.pairs();
    return halo_of_pairs(stream).exchange(stream, std::span<const View<T, 3>>(&pairs, 1));
  }
  const auto parts = field.parts();
  halo_->exchange(stream, std::span<const View<T, 3>>(parts));
}

template <class T>
Halo<T, 3>& SharedGrid<T>::halo_of_pairs(Stream& stream) const {
  if (!pairs_)
    pairs_ = std::make_unique<Halo<T, 3>>(stream, of_pairs(partition_),
                                          HaloSettings<3>{{1, 1, 2}, {1, 1, 2}, {}, corners_}, 1, *comm_);
  return *pairs_;
}

template <class T>
template <class V>
std::vector<T> SharedGrid<T>::gather(Stream& stream, const Field<V>& field) const {
  auto mine = field.download(stream, part());
  if (comm_->size() == 1) return mine;
  constexpr auto numbers = static_cast<std::size_t>(Field<V>::numbers);
  Index most = 0;
  for (const auto& box : partition_.parts) most = std::max(most, box.count());
  const auto each = static_cast<std::size_t>(most) * numbers;
  mine.resize(each);
  std::vector<T> all(each * partition_.parts.size());
  comm_->gather_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));

  const auto points = static_cast<std::size_t>(whole().count());
  std::vector<T> values(points * numbers);
  for (std::size_t rank = 0; rank < partition_.parts.size(); ++rank) {
    const auto& box = partition_.parts[rank];
    const auto count = static_cast<std::size_t>(box.count());
    for_common_points(box, whole(), [&](std::size_t n, std::size_t m) {
      for (std::size_t a = 0; a < numbers; ++a) values[a * points + m] = all[rank * each + a * count + n];
    });
  }
  return values;
}

template class SharedGrid<float>;
template class Field<float>;
template class Field<Complex<float>>;
template void SharedGrid<float>::bring(Stream&, Field<float>&) const;
template void SharedGrid<float>::bring(Stream&, Field<Complex<float>>&) const;
template std::vector<float> SharedGrid<float>::gather(Stream&, const Field<float>&) const;
template std::vector<float> SharedGrid<float>::gather(Stream&, const Field<Complex<float>>&) const;

template class SharedGrid<double>;
template class Field<double>;
template class Field<Complex<double>>;
template void SharedGrid<double>::bring(Stream&, Field<double>&) const;
template void SharedGrid<double>::bring(Stream&, Field<Complex<double>>&) const;
template std::vector<double> SharedGrid<double>::gather(Stream&, const Field<double>&) const;
template std::vector<double> SharedGrid<double>::gather(Stream&, const Field<Complex<double>>&) const;

}  // namespace terrane::solve
