#include "terrane/mesh/triangulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"

namespace terrane {

namespace {

__extension__ using Wide = __int128;  // the test whether a point is in a circle needs 112 bits

struct PointOnGrid {
  std::int64_t x = 0, y = 0;
  bool operator==(const PointOnGrid&) const = default;
};

/// Positive if a, b, c are counterclockwise.
std::int64_t turn(const PointOnGrid& a, const PointOnGrid& b, const PointOnGrid& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// Whether d lies inside the circle through a, b, c, which are counterclockwise.
bool in_circle(const PointOnGrid& a, const PointOnGrid& b, const PointOnGrid& c, const PointOnGrid& d) {
  const auto ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
  const Wide of_a = Wide{ax * ax + ay * ay} * (bx * cy - cx * by);
  const Wide of_b = Wide{bx * bx + by * by} * (cx * ay - ax * cy);
  const Wide of_c = Wide{cx * cx + cy * cy} * (ax * by - bx * ay);
  return of_a + of_b + of_c > 0;
}

/// The quad-edge structure: edges with the cyclic order of edges around their ends and faces. Edge e has its
/// reverse e ^ 2; the other two of each group of four, e + 1 and e + 3, are the edges of the dual graph.
class Edges {
 public:
  using Edge = std::uint32_t;

  static Edge rot(Edge e) { return (e & ~3U) | ((e + 1) & 3U); }
  static Edge back(Edge e) { return e ^ 2U; }
  static Edge unrot(Edge e) { return (e & ~3U) | ((e + 3) & 3U); }
  /// Next edge counterclockwise around the edge's origin; next clockwise; next around the face on the edge's
  /// left; next around that on its right.
  Edge next(Edge e) const { return next_[e]; }
  Edge previous(Edge e) const { return rot(next_[rot(e)]); }
  Edge along_left(Edge e) const { return rot(next_[unrot(e)]); }
  Edge along_right(Edge e) const { return next_[back(e)]; }
  std::uint32_t from(Edge e) const { return from_[e]; }
  std::uint32_t to(Edge e) const { return from_[back(e)]; }
  Edge size() const { return static_cast<Edge>(next_.size()); }
  bool alive(Edge e) const { return from_[e] != gone; }

  Edge make(std::uint32_t a, std::uint32_t b) {
    const Edge e = size();
    next_.insert(next_.end(), {e, e + 3, e + 2, e + 1});
    from_.insert(from_.end(), {a, 0, b, 0});
    return e;
  }
  void splice(Edge a, Edge b) {
    const Edge alpha = rot(next_[a]), beta = rot(next_[b]);
    std::swap(next_[a], next_[b]);
    std::swap(next_[alpha], next_[beta]);
  }
  /// Adds an edge from the end of a to the origin of b, so that all three have the same face on the left.
  Edge connect(Edge a, Edge b) {
    const Edge e = make(to(a), from(b));
    splice(e, along_left(a));
    splice(back(e), b);
    return e;
  }
  void remove(Edge e) {
    splice(e, previous(e));
    splice(back(e), previous(back(e)));
    from_[e] = from_[back(e)] = gone;
  }

 private:
  static constexpr std::uint32_t gone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Edge> next_;
  std::vector<std::uint32_t> from_;
};

class Delaunay {
 public:
  /// points: sorted by x, then by y; no point occurs twice.
  explicit Delaunay(std::vector<PointOnGrid> points) : points_(std::move(points)) {
    if (points_.size() > 1) divide(0, static_cast<std::uint32_t>(points_.size()));
  }

  std::vector<std::array<std::uint32_t, 3>> triangles() const {
    std::vector<std::array<std::uint32_t, 3>> all;
    for (Edge e = 0; e < edges_.size(); e += 2) {  // every edge, in both directions
      if (!edges_.alive(e)) continue;
      const Edge second = edges_.along_left(e), third = edges_.along_left(second);
      if (edges_.along_left(third) != e) continue;
      const auto a = edges_.from(e), b = edges_.from(second), c = edges_.from(third);
      if (a < b && a < c && turn(points_[a], points_[b], points_[c]) > 0) all.push_back({a, b, c});
    }
    return all;
  }

 private:
  using Edge = Edges::Edge;

  bool right_of(std::uint32_t p, Edge e) const {
    return turn(points_[p], points_[edges_.to(e)], points_[edges_.from(e)]) > 0;
  }
  bool left_of(std::uint32_t p, Edge e) const {
    return turn(points_[p], points_[edges_.from(e)], points_[edges_.to(e)]) > 0;
  }
  bool in_circle_of(Edge base, std::uint32_t c, std::uint32_t d) const {
    return in_circle(points_[edges_.to(base)], points_[edges_.from(base)], points_[c], points_[d]);
  }

  /// Triangulates two or three points. Returns the hull's counterclockwise edge out of the first point, and
  /// its clockwise edge out of the last.
  std::pair<Edge, Edge> few(std::uint32_t first, std::uint32_t count) {
    const Edge a = edges_.make(first, first + 1);
    if (count == 2) return {a, Edges::back(a)};
    const Edge b = edges_.make(first + 1, first + 2);
    edges_.splice(Edges::back(a), b);
    const auto side = turn(points_[first], points_[first + 1], points_[first + 2]);
    if (side == 0) return {a, Edges::back(b)};
    const Edge c = edges_.connect(b, a);
    return side > 0 ? std::pair{a, Edges::back(b)} : std::pair{Edges::back(c), c};
  }

  std::pair<Edge, Edge> divide(std::uint32_t first, std::uint32_t last) {
    const auto count = last - first;
    if (count <= 3) return few(first, count);
    auto [outer_left, inner_left] = divide(first, first + count / 2);
    auto [inner_right, outer_right] = divide(first + count / 2, last);
    for (;;) {  // finds the lower common tangent of both halves
      if (left_of(edges_.from(inner_right), inner_left)) inner_left = edges_.along_left(inner_left);
      else if (right_of(edges_.from(inner_left), inner_right)) inner_right = edges_.along_right(inner_right);
      else break;
    }
    const Edge base = edges_.connect(Edges::back(inner_right), inner_left);
    if (edges_.from(inner_left) == edges_.from(outer_left)) outer_left = Edges::back(base);
    if (edges_.from(inner_right) == edges_.from(outer_right)) outer_right = base;
    merge(base);
    return {outer_left, outer_right};
  }

  bool valid(Edge e, Edge base) const { return right_of(edges_.to(e), base); }

  /// Joins both halves by edges, upwards from their lower common tangent.
  void merge(Edge base) {
    for (;;) {
      Edge left = edges_.next(Edges::back(base));
      if (valid(left, base))
        while (valid(edges_.next(left), base) &&
               in_circle_of(base, edges_.to(left), edges_.to(edges_.next(left)))) {
          const Edge after = edges_.next(left);
          edges_.remove(left);
          left = after;
        }
      Edge right = edges_.previous(base);
      if (valid(right, base))
        while (valid(edges_.previous(right), base) &&
               in_circle_of(base, edges_.to(right), edges_.to(edges_.previous(right)))) {
          const Edge after = edges_.previous(right);
          edges_.remove(right);
          right = after;
        }
      const bool from_left = valid(left, base), from_right = valid(right, base);
      if (!from_left && !from_right) return;
      if (!from_left || (from_right && in_circle(points_[edges_.to(left)], points_[edges_.from(left)],
                                                 points_[edges_.from(right)], points_[edges_.to(right)])))
        base = edges_.connect(right, Edges::back(base));
      else base = edges_.connect(Edges::back(base), Edges::back(left));
    }
  }

  std::vector<PointOnGrid> points_;
  Edges edges_;
};

/// The distinct values, ascending.
std::vector<double> once(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

constexpr std::size_t nodes_per_point = 4;

std::vector<double> even(double low, double high, double spacing) {
  const auto n = static_cast<std::size_t>(std::ceil((high - low) / spacing)) + 1;
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i)
    axis[i] = i + 1 == n ? high : low + (high - low) * static_cast<double>(i) / static_cast<double>(n - 1);
  return axis;
}

/// Chooses the axes of a grid for these points.
void lay_axes(Grid& grid, std::span<const double> x, std::span<const double> y) {
  grid.easting = once(x);
  grid.northing = once(y);
  const std::size_t most = nodes_per_point * x.size();
  if (grid.easting.size() <= most / grid.northing.size()) return;  // the points are nodes of this grid
  const double width = grid.easting.back() - grid.easting.front(),
               height = grid.northing.back() - grid.northing.front();
  const double spacing = std::sqrt(width * height / static_cast<double>(most));
  grid.easting = even(grid.easting.front(), grid.easting.back(),
                      std::max(spacing, 2 * width / static_cast<double>(most)));
  grid.northing = even(grid.northing.front(), grid.northing.back(),
                       std::max(spacing, 2 * height / static_cast<double>(most)));
}

/// A corner of a triangle.
struct Corner {
  double x, y, z;
};
void fill_triangle(Grid& grid, const std::array<Corner, 3>& t) {
  const auto between = [](const std::vector<double>& axis, double low, double high) {
    return std::pair{std::lower_bound(axis.begin(), axis.end(), low) - axis.begin(),
                     std::upper_bound(axis.begin(), axis.end(), high) - axis.begin()};
  };
  const auto [west, east] =
      between(grid.easting, std::min({t[0].x, t[1].x, t[2].x}), std::max({t[0].x, t[1].x, t[2].x}));
  const auto [south, north] =
      between(grid.northing, std::min({t[0].y, t[1].y, t[2].y}), std::max({t[0].y, t[1].y, t[2].y}));
  const auto area = [](double ax, double ay, double bx, double by) { return ax * by - ay * bx; };
  const double whole = area(t[1].x - t[0].x, t[1].y - t[0].y, t[2].x - t[0].x, t[2].y - t[0].y);
  if (!(whole > 0)) return;  // the triangle's points were collinear before rounding
  constexpr double rounding = 1e-9;
  for (auto j = south; j < north; ++j)
    for (auto i = west; i < east; ++i) {
      const double x = grid.easting[static_cast<std::size_t>(i)],
                   y = grid.northing[static_cast<std::size_t>(j)];
      const double b = area(x - t[0].x, y - t[0].y, t[2].x - t[0].x, t[2].y - t[0].y) / whole;
      const double c = area(t[1].x - t[0].x, t[1].y - t[0].y, x - t[0].x, y - t[0].y) / whole;
      if (b < -rounding || c < -rounding || b + c > 1 + rounding) continue;
      grid.values[static_cast<std::size_t>(j) * grid.n_east() + static_cast<std::size_t>(i)] =
          t[0].z + b * (t[1].z - t[0].z) + c * (t[2].z - t[0].z);
    }
}

/// Gives each node without a value that of the nearest node with a value, counted in steps along the axes.
void fill_outside(Grid& grid) {
  const std::size_t columns = grid.n_east(), rows = grid.n_north();
  std::vector<std::size_t> front;
  for (std::size_t n = 0; n < grid.values.size(); ++n)
    if (!std::isnan(grid.values[n])) front.push_back(n);
  for (std::size_t at = 0; at < front.size(); ++at) {
    const std::size_t n = front[at], i = n % columns, j = n / columns;
    const auto give = [&](std::size_t to) {
      if (!std::isnan(grid.values[to])) return;
      grid.values[to] = grid.values[n];
      front.push_back(to);
    };
    if (i > 0) give(n - 1);
    if (i + 1 < columns) give(n + 1);
    if (j > 0) give(n - columns);
    if (j + 1 < rows) give(n + columns);
  }
}

void check_points(std::span<const double> x, std::span<const double> y, std::span<const double> z) {
  if (x.size() != y.size() || x.size() != z.size())
    throw ShapeError("points",
                     fmt::format("{} eastings, {} northings, {} heights", x.size(), y.size(), z.size()));
  for (std::size_t n = 0; n < x.size(); ++n)
    if (!std::isfinite(x[n]) || !std::isfinite(y[n]) || !std::isfinite(z[n]))
      throw InputError("points", fmt::format("point {} has a place or height that is no number", n + 1));
  if (x.size() < 3) throw InputError("points", "a surface needs three points and more");
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair{x[a], y[a]} < std::pair{x[b], y[b]};
  });
  for (std::size_t n = 1; n < order.size(); ++n)
    if (const auto a = order[n - 1], b = order[n]; x[a] == x[b] && y[a] == y[b] && z[a] != z[b])
      throw InputError("points", fmt::format("two heights, {} and {}, at ({}, {})", z[a], z[b], x[a], y[a]),
                       "Keep one of them.");
}

}  // namespace

std::vector<std::array<std::uint32_t, 3>> triangulate(std::span<const double> x, std::span<const double> y) {
  if (x.empty()) return {};
  const auto [west, east] = std::minmax_element(x.begin(), x.end());
  const auto [south, north] = std::minmax_element(y.begin(), y.end());
  const double extent = std::max(*east - *west, *north - *south);
  if (!(extent > 0) || x.size() > std::numeric_limits<std::uint32_t>::max() / 16) return {};
  constexpr double steps = 1 << 26;
  std::vector<std::pair<PointOnGrid, std::uint32_t>> sorted(x.size());
  for (std::size_t n = 0; n < x.size(); ++n)
    sorted[n] = {
        {std::llround((x[n] - *west) / extent * steps), std::llround((y[n] - *south) / extent * steps)},
        static_cast<std::uint32_t>(n)};
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple{a.first.x, a.first.y, a.second} < std::tuple{b.first.x, b.first.y, b.second};
  });
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; }),
               sorted.end());
  std::vector<PointOnGrid> places;
  places.reserve(sorted.size());
  for (const auto& [place, n] : sorted) places.push_back(place);
  auto triangles = Delaunay(std::move(places)).triangles();
  for (auto& t : triangles)
    for (auto& corner : t) corner = sorted[corner].second;
  return triangles;
}

Grid grid_of_points(std::span<const double> x, std::span<const double> y, std::span<const double> z) {
  check_points(x, y, z);
  const auto triangles = triangulate(x, y);
  if (triangles.empty()) throw InputError("points", "they lie on one line, and a surface needs more");
  Grid grid;
  lay_axes(grid, x, y);
  grid.values.assign(grid.n_east() * grid.n_north(), nan);
  for (const auto& t : triangles) {
    const auto corner = [&](std::uint32_t n) { return Corner{x[n], y[n], z[n]}; };
    fill_triangle(grid, {corner(t[0]), corner(t[1]), corner(t[2])});
  }
  fill_outside(grid);
  return grid;
}

namespace {

/// A line through points: its ends are the two points that are farthest apart (nearly), s and across are the
/// coordinates of a place along it and beside it, m.
class LineOfPoints {
 public:
  LineOfPoints(std::span<const double> x, std::span<const double> y) {
    const auto farthest = [&](double ex, double ey) {
      std::size_t best = 0;
      for (std::size_t n = 1; n < x.size(); ++n)
        if (std::hypot(x[n] - ex, y[n] - ey) > std::hypot(x[best] - ex, y[best] - ey)) best = n;
      return best;
    };
    const auto one = farthest(x[0], y[0]), other = farthest(x[one], y[one]);
    const auto [first, last] = std::pair{x[one], y[one]} < std::pair{x[other], y[other]}
                                   ? std::pair{one, other}
                                   : std::pair{other, one};
    x_ = x[first], y_ = y[first];
    length_ = std::hypot(x[last] - x_, y[last] - y_);
    if (length_ > 0) east_ = (x[last] - x_) / length_, north_ = (y[last] - y_) / length_;
    for (std::size_t n = 0; n < x.size(); ++n) widest_ = std::max(widest_, std::abs(across(x[n], y[n])));
  }
  double length() const { return length_; }
  double widest() const { return widest_; }  ///< largest distance of a point from the line
  double east() const { return east_; }
  double north() const { return north_; }
  double along(double x, double y) const { return (x - x_) * east_ + (y - y_) * north_; }
  double across(double x, double y) const { return (y - y_) * east_ - (x - x_) * north_; }

 private:
  double x_ = 0, y_ = 0, east_ = 0, north_ = 0, length_ = 0, widest_ = 0;
};

/// Heights over the distance along a line.
struct Profile {
  std::vector<double> s, z;

  double at(double where) const {
    if (where <= s.front()) return z.front();
    if (where >= s.back()) return z.back();
    const auto i = static_cast<std::size_t>(std::upper_bound(s.begin(), s.end(), where) - s.begin()) - 1;
    return z[i] + (where - s[i]) / (s[i + 1] - s[i]) * (z[i + 1] - z[i]);
  }
};

/// place [n]: the coordinate along the line.
Profile profile_of(const std::vector<double>& place, std::span<const double> x, std::span<const double> y,
                   std::span<const double> z) {
  std::vector<std::size_t> order(place.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  Profile profile;
  for (const auto n : order) {
    if (!profile.s.empty() && profile.s.back() == place[n]) {
      if (profile.z.back() != z[n])
        throw InputError(
            "points", fmt::format("two heights, {} and {}, at ({}, {})", profile.z.back(), z[n], x[n], y[n]),
            "Keep one of them.");
      continue;
    }
    profile.s.push_back(place[n]);
    profile.z.push_back(z[n]);
  }
  return profile;
}

}  // namespace

Grid grid_along_line(std::span<const double> x, std::span<const double> y, std::span<const double> z) {
  Grid grid;
  if (x.size() < 2) return grid;
  const LineOfPoints line(x, y);
  const double tolerance = 0.5 * line.length() / static_cast<double>(x.size() - 1);
  if (!(line.length() > 0) || line.widest() > tolerance) return grid;
  const auto along_axis = [&](double other) { return std::abs(other) * line.length() <= tolerance; };
  if (along_axis(line.north()) || along_axis(line.east())) {
    const bool east = along_axis(line.north());
    const auto along = east ? x : y, other = east ? y : x;
    auto profile = profile_of({along.begin(), along.end()}, x, y, z);
    std::vector<double> sides{other[0] - line.length(), other[0] + line.length()};
    grid.easting = east ? profile.s : sides;
    grid.northing = east ? std::move(sides) : profile.s;
    for (std::size_t j = 0; j < grid.n_north(); ++j)
      for (std::size_t i = 0; i < grid.n_east(); ++i) grid.values.push_back(profile.z[east ? i : j]);
    return grid;
  }
  std::vector<double> place;
  for (std::size_t n = 0; n < x.size(); ++n) place.push_back(line.along(x[n], y[n]));
  const auto profile = profile_of(place, x, y, z);
  constexpr std::size_t fewest = 33, most = 1001, per_point = 12;
  const auto nodes = std::clamp(per_point * profile.s.size() + 1, fewest, most);
  const auto axis = [&](std::span<const double> of) {
    const auto [low, high] = std::minmax_element(of.begin(), of.end());
    const double middle = 0.5 * (*low + *high), half = 1.5 * line.length();
    return even(middle - half, middle + half, 2 * half / static_cast<double>(nodes - 1));
  };
  grid.easting = axis(x);
  grid.northing = axis(y);
  for (const double n : grid.northing)
    for (const double e : grid.easting) grid.values.push_back(profile.at(line.along(e, n)));
  return grid;
}

namespace {

/// Calls visit(m) for each of the up to four neighbours m of node n.
template <class Visit>
void for_neighbours(const Grid& grid, std::size_t n, const Visit& visit) {
  const std::size_t columns = grid.n_east(), i = n % columns;
  if (i > 0) visit(n - 1);
  if (i + 1 < columns) visit(n + 1);
  if (n >= columns) visit(n - columns);
  if (n + columns < grid.values.size()) visit(n + columns);
}

/// Whether each node is a gap that reaches the grid's edge through gaps.
std::vector<bool> gaps_at_the_edge(const Grid& grid) {
  const std::size_t columns = grid.n_east(), rows = grid.n_north();
  std::vector<bool> reached(grid.values.size());
  std::vector<std::size_t> front;
  const auto reach = [&](std::size_t n) {
    if (reached[n] || !std::isnan(grid.values[n])) return;
    reached[n] = true;
    front.push_back(n);
  };
  for (std::size_t n = 0; n < grid.values.size(); ++n)
    if (const auto i = n % columns, j = n / columns; i == 0 || i + 1 == columns || j == 0 || j + 1 == rows)
      reach(n);
  for (std::size_t at = 0; at < front.size(); ++at) for_neighbours(grid, front[at], reach);
  return reached;
}

}  // namespace

std::size_t fill_margins(Grid& grid) {
  const auto margin = gaps_at_the_edge(grid);
  std::vector<std::size_t> front;
  for (std::size_t n = 0; n < grid.values.size(); ++n)
    if (!std::isnan(grid.values[n])) front.push_back(n);
  const std::size_t given = front.size();
  for (std::size_t at = 0; at < front.size(); ++at)
    for_neighbours(grid, front[at], [&](std::size_t to) {
      if (!margin[to] || !std::isnan(grid.values[to])) return;
      grid.values[to] = grid.values[front[at]];
      front.push_back(to);
    });
  return front.size() - given;
}

}  // namespace terrane
