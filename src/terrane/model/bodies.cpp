#include "terrane/model/bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

// --- checks
// --------------------------------------------------------------------------------------------------

void require_finite(double value, const char* what, const std::string& where) {
  if (!std::isfinite(value))
    throw InputError(where, fmt::format("{} is {}", what, value), "Give a finite number.");
}

void require_positive(double value, const char* what, const std::string& where) {
  require_finite(value, what, where);
  if (!(value > 0))
    throw InputError(where, fmt::format("{} is {} m", what, value), "It must be greater than zero.");
}

void require_thickness(double low, double high, const char* low_name, const char* high_name,
                       const std::string& where) {
  require_finite(low, low_name, where);
  require_finite(high, high_name, where);
  if (!(low < high))
    throw InputError(where,
                     fmt::format("{} ({} m) does not lie below {} ({} m)", low_name, low, high_name, high),
                     "The body would have no volume; west < east, south < north, bottom < top.");
}

void check_shape(const Sphere& s, const std::string& where) {
  require_finite(s.easting, "the centre's easting", where);
  require_finite(s.northing, "the centre's northing", where);
  require_finite(s.up, "the centre's up", where);
  require_positive(s.radius, "the radius", where);
}

void check_shape(const Ellipsoid& e, const std::string& where) {
  require_finite(e.easting, "the centre's easting", where);
  require_finite(e.northing, "the centre's northing", where);
  require_finite(e.up, "the centre's up", where);
  for (double a : e.semi_axes) require_positive(a, "a semi-axis", where);
  require_finite(e.trend, "the trend", where);
  require_finite(e.plunge, "the plunge", where);
  require_finite(e.roll, "the roll", where);
}

void check_shape(const Box& b, const std::string& where) {
  require_thickness(b.west, b.east, "west", "east", where);
  require_thickness(b.south, b.north, "south", "north", where);
  require_thickness(b.bottom, b.top, "bottom", "top", where);
}

void check_shape(const Polygon& p, const std::string& where) {
  if (p.easting.size() != p.northing.size())
    throw ShapeError(
        where, fmt::format("{} eastings but {} northings of vertices", p.easting.size(), p.northing.size()),
        "Give one of each per vertex.");
  if (p.easting.size() < 3)
    throw InputError(where, fmt::format("the polygon has {} vertices", p.easting.size()),
                     "A polygon needs at least three.");
  for (std::size_t n = 0; n < p.easting.size(); ++n)
    if (!std::isfinite(p.easting[n]) || !std::isfinite(p.northing[n]))
      throw InputError(where, fmt::format("vertex {} is ({}, {})", n + 1, p.easting[n], p.northing[n]),
                       "Vertices are finite numbers in metres.");
  require_thickness(p.bottom, p.top, "bottom", "top", where);
}

void check_surface(const Surface& surface, const char* what, const std::string& where) {
  if (const auto* level = std::get_if<double>(&surface)) return require_finite(*level, what, where);
  const auto& grid = std::get<Grid>(surface);
  check(grid, fmt::format("{}: {}", where, what));
  if (grid.geographic)
    throw InputError(fmt::format("{}: {}", where, what), "the grid is in degrees of longitude and latitude",
                     "Project it first: bodies live in metres.");
}

void check_shape(const Layer& l, const std::string& where) {
  check_surface(l.bottom, "bottom", where);
  check_surface(l.top, "top", where);
  const auto *bottom = std::get_if<double>(&l.bottom), *top = std::get_if<double>(&l.top);
  if (bottom && top) require_thickness(*bottom, *top, "bottom", "top", where);
}

void check_body(const Body& body, const std::string& where) {
  if (body.values.empty())
    throw InputError(where, "the body has no property", "Give it a density, a conductivity, or another one.");
  for (const auto& [property, value] : body.values) check_value(property_kind(property, where), value, where);
  std::visit([&](const auto& shape) { check_shape(shape, where); }, body.shape);
}

// --- painting
// A painting is an ascending list of disjoint runs of consecutive cells with one value: its size depends on
// the cross-sections of the bodies, not on the size of the mesh.

struct Run {
  std::uint64_t begin, end;
  double value;
};
using Runs = std::vector<Run>;

void append(Runs& runs, const Run& run) {
  if (run.begin == run.end) return;
  if (!runs.empty() && runs.back().end == run.begin && runs.back().value == run.value)
    runs.back().end = run.end;
  else runs.push_back(run);
}

struct Range {
  std::size_t begin, end;
};

/// Indices of the centres c of an ascending list with from <= c < to.
Range within(const std::vector<double>& centres, double from, double to) {
  const auto first = std::lower_bound(centres.begin(), centres.end(), from);
  const auto last = std::lower_bound(first, centres.end(), to);
  return {static_cast<std::size_t>(first - centres.begin()),
          static_cast<std::size_t>(last - centres.begin())};
}

std::vector<double> centres_of(const std::vector<double>& faces) {
  std::vector<double> centres(faces.empty() ? 0 : faces.size() - 1);
  for (std::size_t i = 0; i < centres.size(); ++i) centres[i] = faces[i] + 0.5 * (faces[i + 1] - faces[i]);
  return centres;
}

class Painter {
 public:
  explicit Painter(const TensorMesh& mesh)
      : mesh_(mesh),
        east_(centres_of(mesh.easting())),
        north_(centres_of(mesh.northing())),
        up_(centres_of(mesh.up())) {}

  Runs runs(const Shape& shape, double value) const {
    Runs out;
    std::visit(
        [&](const auto& solid) {
          rows(solid, [&](Range planes, const auto& row_of) { out = in_planes(planes, value, row_of); });
        },
        shape);
    return out;
  }

 private:
  /// The runs of all cells in a range of horizontal planes, computed on all threads.  plane(k, add): calls
  /// add(i_begin, i_end, j) for the cells i_begin … i_end − 1 of row j of plane k, in ascending order.
  template <class Plane>
  Runs in_planes(Range planes, double value, const Plane& plane) const {
    if (planes.begin >= planes.end) return {};
    constexpr std::size_t some_cells = 1 << 16, most_pieces = 1024;
    const auto count = planes.end - planes.begin,
               pieces = std::min({count, count * east_.size() * north_.size() / some_cells + 1, most_pieces});
    std::vector<Runs> made(pieces);
    for_each(pieces, 0, [&](std::size_t piece) {
      for (auto k = planes.begin + piece * count / pieces; k < planes.begin + (piece + 1) * count / pieces;
           ++k)
        plane(k, [&](std::size_t i_begin, std::size_t i_end, std::size_t j) {
          if (i_begin < i_end)
            append(made[piece],
                   {mesh_.index(i_begin, j, k), mesh_.index(i_begin, j, k) + (i_end - i_begin), value});
        });
    });
    auto& out = made.front();
    for (std::size_t piece = 1; piece < pieces; ++piece)
      for (const auto& run : made[piece]) append(out, run);
    return std::move(out);
  }

  /// Rows of cells of a convex body: span(y, z) computes the interval of x with rounding errors; at its ends
  /// contains(x, y, z) decides.
  template <class Span, class Contains, class Use>
  void convex_rows(double north_reach, double up_reach, const std::array<double, 3>& centre, const Span& span,
                   const Contains& contains, const Use& use) const {
    // The range has one centre more on either side, because the half-widths are rounded and contains()
    // decides exactly.
    auto planes = within(up_, centre[2] - up_reach, centre[2] + up_reach),
         north = within(north_, centre[1] - north_reach, centre[1] + north_reach);
    planes.begin -= planes.begin > 0;
    planes.end += planes.end < up_.size();
    north.begin -= north.begin > 0;
    north.end += north.end < north_.size();
    use(planes, [&](std::size_t k, const auto& add) {
      for (std::size_t j = north.begin; j < north.end; ++j) {
        const double y = north_[j], z = up_[k];
        const auto [from, to] = span(y, z);
        auto [i, i_end] = within(east_, from, to);
        while (i > 0 && contains(east_[i - 1], y, z)) --i;
        while (i < i_end && !contains(east_[i], y, z)) ++i;
        i_end = std::max(i, i_end);
        while (i_end < east_.size() && contains(east_[i_end], y, z)) ++i_end;
        while (i_end > i && !contains(east_[i_end - 1], y, z)) --i_end;
        add(i, i_end, j);
      }
    });
  }

  template <class Use>
  void rows(const Sphere& s, const Use& use) const {
    const auto span = [&](double y, double z) {
      const double dy = y - s.northing, dz = z - s.up;
      const double half = std::sqrt(std::max(0.0, s.radius * s.radius - dy * dy - dz * dz));
      return std::array{s.easting - half, s.easting + half};
    };
    const auto contains = [&](double x, double y, double z) {
      const double dx = x - s.easting, dy = y - s.northing, dz = z - s.up;
      return dx * dx + dy * dy + dz * dz < s.radius * s.radius;
    };
    convex_rows(s.radius, s.radius, {s.easting, s.northing, s.up}, span, contains, use);
  }

  template <class Use>
  void rows(const Ellipsoid& e, const Use& use) const {
    using Vector = std::array<double, 3>;
    const auto [a, b, c] = axes_of(e);
    // In coordinates along the body's axes, each divided by its semi-axis, the ellipsoid is the unit sphere.
    std::array<Vector, 3> column;  // unit vectors east, north, up in the coordinates of the unit sphere
    Vector reach;                  // half-widths of the bounding box
    for (std::size_t q = 0; q < 3; ++q) {
      column[q] = {a[q] / e.semi_axes[0], b[q] / e.semi_axes[1], c[q] / e.semi_axes[2]};
      reach[q] = std::hypot(a[q] * e.semi_axes[0], b[q] * e.semi_axes[1], c[q] * e.semi_axes[2]);
    }
    const auto dot = [](const Vector& u, const Vector& v) { return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]; };
    const auto image = [&](double dx, double dy, double dz) {
      Vector v;
      for (std::size_t m = 0; m < 3; ++m) v[m] = column[0][m] * dx + column[1][m] * dy + column[2][m] * dz;
      return v;
    };
    const double xx = dot(column[0], column[0]);
    const auto span = [&](double y, double z) {
      const Vector w = image(0, y - e.northing, z - e.up);
      const double xw = dot(column[0], w);
      const double half = std::sqrt(std::max(0.0, xw * xw - xx * (dot(w, w) - 1))) / xx;
      return std::array{e.easting - xw / xx - half, e.easting - xw / xx + half};
    };
    const auto contains = [&](double x, double y, double z) {
      const Vector v = image(x - e.easting, y - e.northing, z - e.up);
      return dot(v, v) < 1;
    };
    convex_rows(reach[1], reach[2], {e.easting, e.northing, e.up}, span, contains, use);
  }

  template <class Use>
  void rows(const Box& b, const Use& use) const {
    const auto north = within(north_, b.south, b.north), east = within(east_, b.west, b.east);
    use(within(up_, b.bottom, b.top), [&](std::size_t, const auto& add) {
      for (std::size_t j = north.begin; j < north.end; ++j) add(east.begin, east.end, j);
    });
  }

  template <class Use>
  void rows(const Polygon& p, const Use& use) const {
    struct RowRange {
      std::size_t j;
      Range i;
    };
    std::vector<RowRange> plan;  // rows and their ranges of cells, the same in all planes
    const auto [south, north] = std::minmax_element(p.northing.begin(), p.northing.end());
    const auto [j_begin, j_end] = within(north_, *south, *north);
    std::vector<double> crossings;
    for (std::size_t j = j_begin; j < j_end; ++j) {
      const double y = north_[j];
      crossings.clear();
      for (std::size_t n = 0, m = p.easting.size() - 1; n < p.easting.size(); m = n++)
        if ((p.northing[n] > y) != (p.northing[m] > y)) {
          const double t = (y - p.northing[n]) / (p.northing[m] - p.northing[n]);
          crossings.push_back(p.easting[n] + t * (p.easting[m] - p.easting[n]));
        }
      std::sort(crossings.begin(), crossings.end());
      for (std::size_t n = 0; n + 1 < crossings.size(); n += 2)
        plan.push_back({j, within(east_, crossings[n], crossings[n + 1])});
    }
    use(within(up_, p.bottom, p.top), [&](std::size_t, const auto& add) {
      for (const auto& row : plan) add(row.i.begin, row.i.end, row.j);
    });
  }

  /// Elevation of a surface at every column of cells: one value if constant, otherwise [north, east].
  std::vector<double> sample(const Surface& surface) const {
    if (const auto* level = std::get_if<double>(&surface)) return {*level};
    const auto& grid = std::get<Grid>(surface);
    std::vector<double> values;
    values.reserve(east_.size() * north_.size());
    for (double y : north_)
      for (double x : east_) values.push_back(grid.interpolate(x, y));
    return values;
  }

  template <class Use>
  void rows(const Layer& l, const Use& use) const {
    const auto bottom = sample(l.bottom), top = sample(l.top);
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (double z : bottom) lowest = std::fmin(lowest, z);
    for (double z : top) highest = std::fmax(highest, z);
    const std::size_t bottom_step = bottom.size() > 1, top_step = top.size() > 1;
    const bool level = bottom_step == 0 && top_step == 0;
    use(within(up_, lowest, highest), [&](std::size_t k, const auto& add) {
      for (std::size_t j = 0; j < north_.size(); ++j) {
        if (level) {
          add(0, east_.size(), j);
          continue;
        }
        const double* low = bottom.data() + bottom_step * j * east_.size();
        const double* high = top.data() + top_step * j * east_.size();
        std::size_t begin = 0;  // first cell of the current run; begin == i: the run is empty
        for (std::size_t i = 0; i < east_.size(); ++i)
          if (!(low[bottom_step * i] <= up_[k] && up_[k] < high[top_step * i])) {
            add(begin, i, j);
            begin = i + 1;
          }
        add(begin, east_.size(), j);
      }
    });
  }

  const TensorMesh& mesh_;
  std::vector<double> east_, north_, up_;  // centres of cells along each axis, m
};

Runs overlay(const Runs& below, const Runs& above, OverlapRule rule) {
  Runs out;
  out.reserve(below.size() + above.size());
  auto a = below.begin(), b = above.begin();
  Run lower{}, upper{};
  const auto next_lower = [&] { return a != below.end() ? (lower = *a++, true) : false; };
  const auto next_upper = [&] { return b != above.end() ? (upper = *b++, true) : false; };
  bool has_lower = next_lower(), has_upper = next_upper();
  while (has_lower || has_upper) {
    if (!has_upper || (has_lower && lower.end <= upper.begin)) {
      append(out, lower);
      has_lower = next_lower();
    } else if (!has_lower || upper.end <= lower.begin) {
      append(out, upper);
      has_upper = next_upper();
    } else if (lower.begin < upper.begin) {
      append(out, {lower.begin, upper.begin, lower.value});
      lower.begin = upper.begin;
    } else if (upper.begin < lower.begin) {
      append(out, {upper.begin, lower.begin, upper.value});
      upper.begin = lower.begin;
    } else {
      const auto end = std::min(lower.end, upper.end);
      append(out, {lower.begin, end, rule == OverlapRule::add ? lower.value + upper.value : upper.value});
      lower.begin = upper.begin = end;
      if (lower.begin == lower.end) has_lower = next_lower();
      if (upper.begin == upper.end) has_upper = next_upper();
    }
  }
  return out;
}

/// A body with its value of one property.
struct Painted {
  std::size_t body;  ///< index of the body in the list of all
  const Shape* shape;
  double value;
};

/// Paints bodies in order. The two halves of the list are painted separately, and the second is laid over the
/// first, recursively: n small bodies cost O(n log n). cells [all bodies]: number of cells in each body.
Runs paint_range(const Painter& painter, std::span<const Painted> bodies, OverlapRule rule,
                 std::vector<std::size_t>& cells) {
  if (bodies.empty()) return {};
  if (bodies.size() == 1) {
    const auto& one = bodies.front();
    auto runs = painter.runs(*one.shape, one.value);
    cells[one.body] = 0;
    for (const auto& run : runs) cells[one.body] += run.end - run.begin;
    return runs;
  }
  const auto half = bodies.size() / 2;
  const auto below = paint_range(painter, bodies.first(half), rule, cells);
  const auto above = paint_range(painter, bodies.subspan(half), rule, cells);
  return overlay(below, above, rule);
}

/// The properties that the bodies name, in the order of their first occurrence.
std::vector<std::string> names_of(std::span<const Body> bodies) {
  std::vector<std::string> names;
  for (const auto& body : bodies)
    for (const auto& [property, value] : body.values)
      if (std::find(names.begin(), names.end(), property) == names.end()) names.push_back(property);
  return names;
}

/// The value that a body gives to a property of its cells: its own value; NaN if the body gives the quantity
/// by another property (supersedes()); empty if the body does not change the property.
std::optional<double> made_by(const Body& body, std::string_view property, OverlapRule rule) {
  bool loses = false;
  for (const auto& given : body.values) {
    if (given.property == property) return given.value;
    loses = loses || supersedes(given.property, property);
  }
  if (!loses || rule == OverlapRule::add) return std::nullopt;
  return std::numeric_limits<double>::quiet_NaN();
}

/// Calls use(n, run, first, last) for the cells first … last − 1 of a run; n is the position of cell `first`
/// in the list of all cells of all runs. Runs are divided into pieces, processed by all threads.
template <class Use>
void in_pieces(const Runs& runs, const Use& use) {
  constexpr std::uint64_t piece = 1 << 18;
  std::vector<std::uint64_t> before{0};  // number of cells in all runs before each run, then of all runs
  for (const auto& run : runs) before.push_back(before.back() + (run.end - run.begin));
  const auto all = before.back();
  for_each(static_cast<std::size_t>((all + piece - 1) / piece), 0, [&](std::size_t n) {
    auto at = n * piece;
    const auto end = std::min(at + piece, all);
    auto r =
        static_cast<std::size_t>(std::upper_bound(before.begin(), before.end(), at) - before.begin()) - 1;
    for (; at < end; ++r) {
      const auto last = std::min(end, before[r + 1]);
      use(static_cast<std::size_t>(at), runs[r], runs[r].begin + (at - before[r]),
          runs[r].begin + (last - before[r]));
      at = last;
    }
  });
}

/// The runs of the cells that are in any of several lists of runs; their values mean nothing.
Runs united(const std::vector<Runs>& painted) {
  Runs all;
  for (const auto& runs : painted) {
    Runs more;
    for (const auto& run : runs) append(more, {run.begin, run.end, 0});
    all = all.empty() ? std::move(more) : overlay(all, more, OverlapRule::replace);
  }
  return all;
}

/// The cells in any of several lists of runs.
CellNumbers cells_of(const std::vector<Runs>& painted) {
  const auto runs = united(painted);
  if (runs.size() == 1 && runs.front().begin == 0) return CellNumbers::up_to(runs.front().end);
  std::size_t count = 0;
  for (const auto& run : runs) count += run.end - run.begin;
  UnsetList<std::size_t> cells(count);
  in_pieces(runs, [&](std::size_t n, const Run&, std::uint64_t first, std::uint64_t last) {
    std::iota(cells.begin() + static_cast<std::ptrdiff_t>(n),
              cells.begin() + static_cast<std::ptrdiff_t>(n + (last - first)),
              static_cast<std::size_t>(first));
  });
  return CellNumbers(std::move(cells));
}

// --- random blocks
// -------------------------------------------------------------------------------------------

/// SplitMix64 (Steele, Lea & Flood 2014) with a uniform distribution of its own: the distributions of the C++
/// standard give different numbers in different libraries.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  double uniform(double from, double to) {
    // An explicit fma gives the same bits whether or not the compiler contracts products and sums.
    return std::fma(static_cast<double>(next() >> 11) * 0x1p-53, to - from, from);
  }
  void skip(std::uint64_t numbers) { state_ += numbers * step; }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += step);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

Prism bounds_of(const Sphere& s) {
  return {s.easting - s.radius,  s.easting + s.radius, s.northing - s.radius,
          s.northing + s.radius, s.up - s.radius,      s.up + s.radius};
}

Prism bounds_of(const Ellipsoid& e) {
  const auto axes = axes_of(e);
  std::array<double, 3> reach{};
  for (std::size_t q = 0; q < 3; ++q)
    reach[q] =
        std::hypot(axes[0][q] * e.semi_axes[0], axes[1][q] * e.semi_axes[1], axes[2][q] * e.semi_axes[2]);
  return {e.easting - reach[0],  e.easting + reach[0], e.northing - reach[1],
          e.northing + reach[1], e.up - reach[2],      e.up + reach[2]};
}

Prism bounds_of(const Box& b) { return b; }

Prism bounds_of(const Polygon& p) {
  const auto [west, east] = std::minmax_element(p.easting.begin(), p.easting.end());
  const auto [south, north] = std::minmax_element(p.northing.begin(), p.northing.end());
  return {*west, *east, *south, *north, p.bottom, p.top};
}

Prism bounds_of(const Layer& l) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Prism box{-infinite, infinite, -infinite, infinite, infinite, -infinite};
  for (const auto* surface : {&l.bottom, &l.top}) {
    if (const auto* level = std::get_if<double>(surface)) {
      box.bottom = std::fmin(box.bottom, *level);
      box.top = std::fmax(box.top, *level);
      continue;
    }
    const auto& grid = std::get<Grid>(*surface);
    box.west = std::max(box.west, grid.easting.front());
    box.east = std::min(box.east, grid.easting.back());
    box.south = std::max(box.south, grid.northing.front());
    box.north = std::min(box.north, grid.northing.back());
    for (const double z : grid.values) {  // NaN values are gaps
      box.bottom = std::fmin(box.bottom, z);
      box.top = std::fmax(box.top, z);
    }
  }
  return box;
}

Interval vertical(const Sphere& s, double x, double y) {
  const double dx = x - s.easting, dy = y - s.northing;
  const double half = std::sqrt(std::max(0.0, s.radius * s.radius - dx * dx - dy * dy));
  return {s.up - half, s.up + half};
}

Interval vertical(const Ellipsoid& e, double x, double y) {
  // In coordinates along its axes, each divided by its semi-axis, the ellipsoid is the unit sphere. There
  // the vertical line is w + z c, with z the height above the centre, w the point of the line at z = 0 and c
  // the unit vector up; a point of the line is inside if |w + z c| < 1.
  const auto axes = axes_of(e);
  double cc = 0, cw = 0, ww = 0;
  for (std::size_t m = 0; m < 3; ++m) {
    const double w = (axes[m][0] * (x - e.easting) + axes[m][1] * (y - e.northing)) / e.semi_axes[m];
    const double c = axes[m][2] / e.semi_axes[m];
    cc += c * c, cw += c * w, ww += w * w;
  }
  const double half = std::sqrt(std::max(0.0, cw * cw - cc * (ww - 1))) / cc, middle = e.up - cw / cc;
  return {middle - half, middle + half};
}

Interval vertical(const Box& b, double x, double y) {
  const bool inside = b.west <= x && x < b.east && b.south <= y && y < b.north;
  return inside ? Interval{b.bottom, b.top} : Interval{};
}

Interval vertical(const Polygon& p, double x, double y) {
  bool inside = false;
  for (std::size_t n = 0, m = p.easting.size() - 1; n < p.easting.size(); m = n++)
    if ((p.northing[n] > y) != (p.northing[m] > y)) {
      const double t = (y - p.northing[n]) / (p.northing[m] - p.northing[n]);
      inside ^= x >= p.easting[n] + t * (p.easting[m] - p.easting[n]);
    }
  return inside ? Interval{p.bottom, p.top} : Interval{};
}

Interval vertical(const Layer& l, double x, double y) {
  const auto elevation = [&](const Surface& surface) {
    const auto* level = std::get_if<double>(&surface);
    return level ? *level : std::get<Grid>(surface).interpolate(x, y);
  };
  return {elevation(l.bottom), elevation(l.top)};  // the interval is empty if one of both heights is NaN
}

}  // namespace

std::array<std::array<double, 3>, 3> axes_of(const Ellipsoid& e) {
  const double t = e.trend * (pi / 180), p = e.plunge * (pi / 180), r = e.roll * (pi / 180);
  using Vector = std::array<double, 3>;
  const Vector a{std::sin(t) * std::cos(p), std::cos(t) * std::cos(p), -std::sin(p)};
  const Vector b0{-std::cos(t), std::sin(t), 0};
  const Vector c0{a[1] * b0[2] - a[2] * b0[1], a[2] * b0[0] - a[0] * b0[2], a[0] * b0[1] - a[1] * b0[0]};
  Vector b, c;
  for (std::size_t q = 0; q < 3; ++q) {
    b[q] = std::cos(r) * b0[q] + std::sin(r) * c0[q];
    c[q] = std::cos(r) * c0[q] - std::sin(r) * b0[q];
  }
  return {a, b, c};
}

Interval along_vertical(const Shape& shape, double easting, double northing) {
  return std::visit([&](const auto& solid) { return vertical(solid, easting, northing); }, shape);
}

Prism bounds(const Shape& shape) {
  return std::visit([](const auto& solid) { return bounds_of(solid); }, shape);
}

void check(const Body& body) { check_body(body, body.name.empty() ? "body" : "body \"" + body.name + "\""); }

EarthModel paint(const TensorMesh& mesh, std::span<const Body> bodies, OverlapRule rule,
                 PaintReport* report) {
  for (std::size_t n = 0; n < bodies.size(); ++n)
    check_body(bodies[n], bodies[n].name.empty() ? fmt::format("body {}", n + 1)
                                                 : fmt::format("body {} (\"{}\")", n + 1, bodies[n].name));
  std::vector<std::size_t> cells(bodies.size());
  const Painter painter(mesh);
  const auto names = names_of(bodies);
  std::vector<Runs> painted;  // [properties] runs of cells, without those whose value is `absent`
  for (const auto& name : names) {
    std::vector<Painted> own;
    for (std::size_t n = 0; n < bodies.size(); ++n)
      if (const auto value = made_by(bodies[n], name, rule)) own.push_back({n, &bodies[n].shape, *value});
    painted.push_back(paint_range(painter, own, rule, cells));
    std::erase_if(painted.back(), [absent = property_kind(name).absent](const Run& run) {
      return run.value == absent || std::isnan(run.value);
    });
  }
  EarthModel model;
  auto held = cells_of(painted);
  for (std::size_t p = 0; p < names.size(); ++p) {
    Property property{names[p], filled(held.size(), property_kind(names[p]).absent)};
    in_pieces(painted[p], [&](std::size_t, const Run& run, std::uint64_t first, std::uint64_t last) {
      std::fill_n(property.values.begin() + static_cast<std::ptrdiff_t>(held.place_of(first)), last - first,
                  run.value);
    });
    model.properties.push_back(std::move(property));
  }
  model.geometry = MeshCells{mesh, std::move(held)};
  if (report) report->cells = std::move(cells);
  return model;
}

EarthModel random_blocks(const RandomBlocks& blocks) {
  const std::string where = "random blocks";
  for (auto n : blocks.shape)
    if (n == 0) throw InputError(where, "a count of zero cells", "Every axis needs at least one cell.");
  require_positive(blocks.width_min, "the smallest width", where);
  require_finite(blocks.width_max, "the largest width", where);
  require_finite(blocks.density_min, "the smallest density", where);
  require_finite(blocks.density_max, "the largest density", where);
  for (double x : {blocks.west, blocks.south, blocks.top}) require_finite(x, "the corner", where);
  if (blocks.width_max < blocks.width_min || blocks.density_max < blocks.density_min)
    throw InputError(where,
                     fmt::format("widths {} … {} m, densities {} … {} kg/m³", blocks.width_min,
                                 blocks.width_max, blocks.density_min, blocks.density_max),
                     "Give the smaller number first.");
  SplitMix64 random(blocks.seed);
  std::array<std::vector<double>, 3> faces;
  const std::array<double, 3> start{blocks.west, blocks.south, blocks.top};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double direction = axis == 2 ? -1 : 1;
    faces[axis].push_back(start[axis]);
    for (std::size_t n = 0; n < blocks.shape[axis]; ++n)
      faces[axis].push_back(faces[axis].back() +
                            direction * random.uniform(blocks.width_min, blocks.width_max));
  }
  std::reverse(faces[2].begin(), faces[2].end());
  TensorMesh mesh(std::move(faces[0]), std::move(faces[1]), std::move(faces[2]));
  std::vector<Property> properties(1, {"density", filled(mesh.size(), 0.0)});
  auto& density = properties.front().values;
  for_each_stretch(density.size(), 0, [&](std::size_t first, std::size_t last) {
    auto own = random;
    own.skip(first);
    for (std::size_t n = first; n < last; ++n)
      density[n] = own.uniform(blocks.density_min, blocks.density_max);
  });
  return from_dense(std::move(mesh), std::move(properties));
}

}  // namespace terrane
