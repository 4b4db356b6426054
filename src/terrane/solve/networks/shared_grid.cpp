#include "terrane/solve/networks/shared_grid.hpp"

#include <algorithm>

#include "terrane/parallel/partition/lost_peers.hpp"

namespace terrane::solve {

namespace {

/// Calls use(index in a, index in b) for all points that are in both boxes.
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

/// Order in memory of a field with `numbers` real numbers per point: all real parts before all imaginary
/// ones, or in pairs.
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

/// The same partition for arrays in which every value along a row is two numbers.
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
  const auto all = moved(values, there, rows_, numbers, false, has_pairs(device()));
  memory_->upload(stream, std::as_bytes(std::span(all)), lead_ * sizeof(Real));
}

template <class V>
auto Field<V>::download(Stream& stream, const IndexBox<3>& there) const -> std::vector<Real> {
  std::vector<Real> all(size() * numbers);
  memory_->download(stream, std::as_writable_bytes(std::span(all)), lead_ * sizeof(Real));
  return moved(all, rows_, there, numbers, has_pairs(device()), false);
}

template <class T>
Halo<T, 3>& SharedGrid<T>::halo(Stream& stream, bool pairs, int fields) const {
  auto& there = halos_[fields - 1];
  if (there) return *there;
  HaloSettings<3> settings;
  for (int a = 0; a < 3; ++a)
    settings.below[a] = settings.above[a] = around_.points * (pairs && a == 2 ? 2 : 1);
  settings.corners = around_.corners;
  settings.whole = around_.all;
  settings.at_once = true;
  there = std::make_unique<Halo<T, 3>>(stream, pairs ? of_pairs(partition_) : partition_, settings,
                                       pairs ? 1 : fields, *comm_);
  return *there;
}

template <class T>
void SharedGrid<T>::keep_memory(Stream& stream) const {
  if (!memory_) memory_ = keep_peer_memory(stream, *comm_);
}

template <class T>
template <class V>
void SharedGrid<T>::prepare(Stream& stream) const {
  if (comm_->size() > 1)
    halo(stream, Field<V>::numbers == 2 && has_pairs(stream.device()), Field<V>::numbers);
}

template <class T>
template <class V>
void SharedGrid<T>::bring(Stream& stream, Field<V>& field, bool early) const {
  if (comm_->size() == 1) return;
  const bool pairs = Field<V>::numbers == 2 && has_pairs(stream.device());
  auto& all = halo(stream, pairs, Field<V>::numbers);
  if (pairs) {
    const auto both = field.pairs();
    return all.exchange(stream, std::span<const View<T, 3>>(&both, 1), early);
  }
  const auto parts = field.parts();
  all.exchange(stream, std::span<const View<T, 3>>(parts), early);
}

template <class T>
auto SharedGrid<T>::any() const -> Transport {
  for (const auto& one : halos_)
    if (one) return {one->direct(), one->by_peers()};
  return {};
}

template <class T>
void SharedGrid<T>::watch(Stream& stream) const {
  for (const auto& one : halos_)
    if (one) one->wait(stream);
  check_peers(*comm_, stream.device());
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
template void SharedGrid<float>::prepare<float>(Stream&) const;
template void SharedGrid<float>::bring(Stream&, Field<float>&, bool) const;
template void SharedGrid<float>::prepare<Complex<float>>(Stream&) const;
template void SharedGrid<float>::bring(Stream&, Field<Complex<float>>&, bool) const;
template std::vector<float> SharedGrid<float>::gather(Stream&, const Field<float>&) const;
template std::vector<float> SharedGrid<float>::gather(Stream&, const Field<Complex<float>>&) const;

template class SharedGrid<double>;
template class Field<double>;
template class Field<Complex<double>>;
template void SharedGrid<double>::prepare<double>(Stream&) const;
template void SharedGrid<double>::bring(Stream&, Field<double>&, bool) const;
template void SharedGrid<double>::prepare<Complex<double>>(Stream&) const;
template void SharedGrid<double>::bring(Stream&, Field<Complex<double>>&, bool) const;
template std::vector<double> SharedGrid<double>::gather(Stream&, const Field<double>&) const;
template std::vector<double> SharedGrid<double>::gather(Stream&, const Field<Complex<double>>&) const;

}  // namespace terrane::solve
