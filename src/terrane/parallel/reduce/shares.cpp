#include <fmt/format.h>

#include "terrane/parallel/reduce/reduce.hpp"

namespace terrane::detail {

namespace {

template <int N>
std::string text(const IndexBox<N>& box) {
  std::string all;
  for (int a = 0; a < N; ++a) all += fmt::format("{}{}…{}", a ? " × " : "", box.first[a], box.last[a]);
  return all;
}

template <int N>
std::string block_text() {
  std::string all;
  for (int a = 0; a < N; ++a) all += fmt::format("{}{}", a ? " × " : "", block_extent<N>(a));
  return all;
}

template <int N>
void check(const IndexBox<N>& whole, const std::vector<IndexBox<N>>& parts) {
  for (int a = 0; a < N; ++a)
    if (!whole.empty() && whole.first[a] < 0)
      throw ShapeError("reduce", fmt::format("the box {} has negative indices", text(whole)));
  Index points = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    points += parts[r].count();
    if (!whole.contains(parts[r]) || !closed(parts[r], whole, 0))
      throw ShapeError("reduce",
                       fmt::format("the part of rank {}, {} of {}, is not cut at blocks of {} points", r,
                                   text(parts[r]), text(whole), block_text<N>()),
                       "Cut it where indices of the whole are multiples of these.");
    for (std::size_t other = 0; other < r; ++other)
      if (!overlap(parts[r], parts[other]).empty())
        throw ShapeError("reduce", fmt::format("ranks {} and {} have points in common", other, r));
  }
  if (points != whole.count())
    throw ShapeError("reduce",
                     fmt::format("the ranks have {} points, the whole has {}", points, whole.count()));
}

}  // namespace

template <int N>
Shares<N>::Shares(const IndexBox<N>& whole_box, const IndexBox<N>& mine, Comm& comm)
    : whole(whole_box), parts(static_cast<std::size_t>(comm.size())) {
  comm.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(parts)));
  check(whole, parts);  // throws on all ranks or on none
  const auto all_closed = [&](int at) {
    return std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return closed(part, whole, at); });
  };
  // The host joins the last few levels: on a GPU, each level would be a kernel that waits for the previous
  // one.
  for (auto cells = blocks_of(whole); cells.count() > fan_in && all_closed(level + 1); cells = joined(cells))
    ++level;
}

template struct Shares<1>;
template struct Shares<2>;
template struct Shares<3>;

}  // namespace terrane::detail
