#include "terrane/mesh/overlaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

struct Extents {
  std::array<double, 3> low, high;

  bool meets(const Extents& other) const noexcept {
    return low[0] < other.high[0] && other.low[0] < high[0] && low[1] < other.high[1] &&
           other.low[1] < high[1] && low[2] < other.high[2] && other.low[2] < high[2];
  }
};

struct Item {
  Extents box;
  std::size_t index;
};

struct Node {
  Extents box;
  std::size_t begin, end;
  std::size_t right = 0;  ///< index of the right child (the left child follows its parent); 0: a leaf
};

constexpr std::size_t leaf_size = 8;
/// Maximum number of node pairs tested per prism before the search stops. Prisms that tile a volume need
/// about 20.
constexpr std::uint64_t work_per_prism = 2000;
/// Overlaps thinner than this fraction of the prism's thickness are ignored.
constexpr double tolerance = 1e-9;

/// Moves both faces of a prism along an axis inward by half of the largest overlap that is ignored.
bool shrink(double& low, double& high) {
  const double rounding =
      2 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(low), std::fabs(high));
  const double margin = 0.5 * tolerance * (high - low) + rounding;
  low += margin;
  high -= margin;
  return low < high;  // false for NaN, too
}

class Search {
 public:
  Search(const PrismSet& prisms, const OverlapLimits& limits) : limits_(limits) {
    items_.reserve(prisms.size());
    for (std::size_t n = 0; n < prisms.size(); ++n) {
      Item item{{{prisms.west[n], prisms.south[n], prisms.bottom[n]},
                 {prisms.east[n], prisms.north[n], prisms.top[n]}},
                n};
      bool solid = true;
      for (std::size_t q = 0; q < 3; ++q) solid = shrink(item.box.low[q], item.box.high[q]) && solid;
      if (solid) items_.push_back(item);
    }
    budget_ = work_per_prism * (items_.size() + 1000);
    if (!items_.empty()) build(0, items_.size());
  }

  Overlaps run() {
    if (!nodes_.empty()) within(0);
    std::sort(result_.pairs.begin(), result_.pairs.end());
    return std::move(result_);
  }

 private:
  std::size_t build(std::size_t begin, std::size_t end) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t id = nodes_.size();
    Extents box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}}, centres = box;
    std::array<double, 3> thickness{};
    for (std::size_t n = begin; n < end; ++n)
      for (std::size_t q = 0; q < 3; ++q) {
        const double low = items_[n].box.low[q], high = items_[n].box.high[q];
        box.low[q] = std::min(box.low[q], low);
        box.high[q] = std::max(box.high[q], high);
        centres.low[q] = std::min(centres.low[q], low + high);
        centres.high[q] = std::max(centres.high[q], low + high);
        thickness[q] += high - low;
      }
    nodes_.push_back({box, begin, end});
    if (end - begin <= leaf_size) return id;
    // Divides across the axis along which most prisms lie side by side (extent of the centres over
    // thickness), so that flat and long prisms are separated, too.
    std::size_t axis = 0;
    const auto spread = [&](std::size_t q) { return (centres.high[q] - centres.low[q]) / thickness[q]; };
    for (std::size_t q = 1; q < 3; ++q)
      if (spread(q) > spread(axis)) axis = q;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t n) { return items_.begin() + static_cast<std::ptrdiff_t>(n); };
    std::nth_element(at(begin), at(middle), at(end), [axis](const Item& a, const Item& b) {
      return a.box.low[axis] + a.box.high[axis] < b.box.low[axis] + b.box.high[axis];
    });
    build(begin, middle);
    const std::size_t right = build(middle, end);
    nodes_[id].right = right;
    return id;
  }

  void within(std::size_t id) {
    if (!result_.complete) return;
    const Node& node = nodes_[id];
    if (node.right == 0) {
      for (std::size_t a = node.begin; a < node.end; ++a)
        for (std::size_t b = a + 1; b < node.end; ++b) compare(items_[a], items_[b]);
      return;
    }
    within(id + 1);
    within(node.right);
    between(id + 1, node.right);
  }

  void between(std::size_t first, std::size_t second) {
    if (!result_.complete) return;
    if (budget_-- == 0) {
      budget_ = 0;
      result_.complete = false;
      return;
    }
    const Node &a = nodes_[first], &b = nodes_[second];
    if (!a.box.meets(b.box)) return;
    if (a.right == 0 && b.right == 0) {
      for (std::size_t n = a.begin; n < a.end; ++n)
        if (items_[n].box.meets(b.box))
          for (std::size_t m = b.begin; m < b.end; ++m) compare(items_[n], items_[m]);
    } else if (b.right == 0 || (a.right != 0 && a.end - a.begin >= b.end - b.begin)) {
      between(first + 1, second);
      between(a.right, second);
    } else {
      between(first, second + 1);
      between(first, b.right);
    }
  }

  void compare(const Item& a, const Item& b) {
    if (!result_.complete || !a.box.meets(b.box)) return;
    if (result_.count == limits_.count) {
      result_.complete = false;
      return;
    }
    ++result_.count;
    const std::array<std::size_t, 2> pair{std::min(a.index, b.index), std::max(a.index, b.index)};
    auto& heap = result_.pairs;  // max-heap: the pair with the largest indices first
    if (heap.size() == limits_.listed) {
      if (heap.empty() || !(pair < heap.front())) return;
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = pair;
    } else {
      heap.push_back(pair);
    }
    std::push_heap(heap.begin(), heap.end());
  }

  OverlapLimits limits_;
  std::vector<Item> items_;
  std::vector<Node> nodes_;
  std::uint64_t budget_ = 0;
  Overlaps result_;
};

}  // namespace

std::string Overlaps::message() const {
  if (count == 0)
    return complete ? "" : "the search for overlapping prisms was given up: too many candidates";
  return fmt::format(
      "{}{} {}{}", complete ? "" : "at least ", count,
      count == 1 ? "pair of prisms overlaps" : "pairs of prisms overlap",
      pairs.empty() ? "" : fmt::format(" (first: prisms {} and {})", pairs[0][0] + 1, pairs[0][1] + 1));
}

Overlaps overlaps(const PrismSet& prisms, const OverlapLimits& limits) {
  const std::size_t n = prisms.size();
  for (const auto* face : {&prisms.east, &prisms.south, &prisms.north, &prisms.bottom, &prisms.top})
    if (face->size() != n)
      throw ShapeError("prisms", fmt::format("{} west faces but {} of another side", n, face->size()),
                       "Give all six faces for every prism.");
  return Search(prisms, limits).run();
}

}  // namespace terrane
