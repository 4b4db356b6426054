#include "terrane/physics/electromagnetic/survey/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/model/conductivity.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr int up = 0;

/// A mesh with its axes in the order of arrays: up, north, east.
struct Axes {
  std::array<const std::vector<double>*, 3> faces;
  explicit Axes(const TensorMesh& mesh) : faces{&mesh.up(), &mesh.northing(), &mesh.easting()} {}

  Index cells(int a) const { return static_cast<Index>(faces[static_cast<std::size_t>(a)]->size()) - 1; }
  double face(int a, Index n) const {
    return (*faces[static_cast<std::size_t>(a)])[static_cast<std::size_t>(n)];
  }
  double width(int a, Index n) const { return face(a, n + 1) - face(a, n); }
  double centre(int a, Index n) const { return (face(a, n) + face(a, n + 1)) / 2; }
  /// The cell that contains a coordinate; on a face, the cell above.
  Index cell(int a, double x) const {
    const auto& f = *faces[static_cast<std::size_t>(a)];
    return std::upper_bound(f.begin() + 1, f.end() - 1, x) - f.begin() - 1;
  }
  Index cell_number(const std::array<Index, 3>& c) const {
    return (c[0] * cells(1) + c[1]) * cells(2) + c[2];
  }
  /// Index of an edge among interior edges, or −1 if it lies on a wall. place: index of the cell along the
  /// axis, and of nodes across, counted from the wall.
  Index edge(int axis, const std::array<Index, 3>& place) const {
    Index number = 0;
    for (int a = 0; a < 3; ++a) {
      const Index q = place[static_cast<std::size_t>(a)] - (a == axis ? 0 : 1);
      const Index size = cells(a) - (a == axis ? 0 : 1);
      if (q < 0 || q >= size) return -1;
      number = number * size + q;
    }
    return number;
  }
};

std::array<double, 3> turned_over(const Vector3& v) { return {v[2], v[1], v[0]}; }

std::array<double, 3> inside(const Axes& axes, const Vector3& place, const std::string& what) {
  static constexpr const char* names[3] = {"up", "northing", "easting"};
  const auto x = turned_over(place);
  for (int a = 0; a < 3; ++a) {
    const double at = x[static_cast<std::size_t>(a)], low = axes.face(a, 0),
                 high = axes.face(a, axes.cells(a));
    if (!(at >= low && at <= high))
      throw InputError(what,
                       fmt::format("{} {} m lies outside of the mesh, {} to {} m", names[a], at, low, high),
                       "Move it, or make the mesh larger.");
  }
  return x;
}

void add_term(const Axes& axes, EdgeSum& sum, int axis, const std::array<Index, 3>& place, double weight) {
  const Index edge = axes.edge(axis, place);
  if (edge >= 0 && weight != 0) sum.push_back({axis, static_cast<std::size_t>(edge), weight});
}

/// Adds a circular current around a face normal to an axis, counter-clockwise seen from its positive side:
/// amount/area times the length of each edge. The same weights, applied to E, give the curl on the face.
void add_face(const Axes& axes, int axis, const std::array<Index, 3>& face, double amount, EdgeSum& sum) {
  const int b = (axis + 1) % 3, e = (axis + 2) % 3;  // left-handed axes: e × b points along `axis`
  const auto nb = static_cast<std::size_t>(b), ne = static_cast<std::size_t>(e);
  const double hb = axes.width(b, face[nb]), he = axes.width(e, face[ne]), per_area = amount / (hb * he);
  auto place = face;
  add_term(axes, sum, e, place, per_area * he);
  add_term(axes, sum, b, place, -per_area * hb);
  place[nb] += 1;
  add_term(axes, sum, e, place, -per_area * he);
  place = face;
  place[ne] += 1;
  add_term(axes, sum, b, place, per_area * hb);
}

/// Weights of the points first, first + 1, … in an interpolation.
struct Stencil {
  Index first = 0;
  std::vector<double> weight;
};

/// Weights of Lagrange interpolation for the value at x, or for the derivative there.
template <class Place>
Stencil stencil(Index first, Index last, double x, const Place& place, bool slope = false) {
  if (last - first < 1) return {};
  if (last - first == 1) return {first, {slope ? 0.0 : 1.0}};
  Index low = first;
  while (low + 2 < last && place(low + 1) <= x) ++low;
  const bool cubic = low > first && low + 2 < last;
  const Index from = cubic ? low - 1 : low, count = cubic ? 4 : 2;
  Stencil made{from, {}};
  // The Lagrange polynomial of point n is the product of (x − m)/(n − m) over the other points m.
  for (Index n = 0; n < count; ++n) {
    double value = 1, derivative = 0;
    for (Index m = 0; m < count; ++m) {
      if (m == n) continue;
      const double over = 1 / (place(from + n) - place(from + m)), factor = (x - place(from + m)) * over;
      derivative = derivative * factor + value * over;
      value *= factor;
    }
    made.weight.push_back(slope ? derivative : value);
  }
  return made;
}

/// Shape functions of the nodes and edges of one axis at a coordinate in one of the cells. Nodes: N_i(x), 1
/// at node i and 0 at the others. Edges: M_j = −h_j Σ_{i≤j} dN_i/dx, h_j the width of cell j; M_j is 1 if N
/// is linear. So a current from x to x' adds N_i(x') − N_i(x) to each node.
struct Shape {
  Stencil nodes, edges;
};
Shape shape(const Axes& axes, int a, Index cell, double x, bool cubic) {
  const Index first = cubic ? cell - 1 : cell, last = cubic ? cell + 3 : cell + 2;
  const auto place = [&](Index p) { return axes.face(a, p); };
  Shape made{stencil(first, last, x, place), {first, {}}};
  const auto slopes = stencil(first, last, x, place, true);
  double sum = 0;
  for (std::size_t n = 0; n + 1 < slopes.weight.size(); ++n) {
    sum -= slopes.weight[n];
    made.edges.weight.push_back(sum * axes.width(a, first + static_cast<Index>(n)));
  }
  return made;
}

/// The axes along which node functions are cubic instead of linear.
struct Cubic {
  bool upright = false, across = false;
  bool along(std::size_t axis) const { return axis == up ? upright : across; }
};

std::array<Shape, 3> shapes_at(const Axes& axes, const std::array<Index, 3>& cell,
                               const std::array<double, 3>& x, const Cubic& cubic) {
  return {shape(axes, 0, cell[0], x[0], cubic.upright), shape(axes, 1, cell[1], x[1], cubic.across),
          shape(axes, 2, cell[2], x[2], cubic.across)};
}

/// Adds amount[a] · w to the edges along each axis a, w the product of the shape functions.
void add_point(const Axes& axes, const std::array<Shape, 3>& shapes, const std::array<double, 3>& amount,
               EdgeSum& sum) {
  for (std::size_t a = 0; a < 3; ++a) {
    const auto of = [&](std::size_t axis) -> const Stencil& {
      return axis == a ? shapes[axis].edges : shapes[axis].nodes;
    };
    for (std::size_t k = 0; k < of(0).weight.size(); ++k)
      for (std::size_t j = 0; j < of(1).weight.size(); ++j)
        for (std::size_t i = 0; i < of(2).weight.size(); ++i)
          add_term(axes, sum, static_cast<int>(a),
                   {of(0).first + static_cast<Index>(k), of(1).first + static_cast<Index>(j),
                    of(2).first + static_cast<Index>(i)},
                   amount[a] * of(0).weight[k] * of(1).weight[j] * of(2).weight[i]);
  }
}

/// A piece of a wire that lies in one cell.
struct Piece {
  std::array<Index, 3> cell;
  std::array<double, 3> from, to;
};
std::vector<Piece> pieces(const Axes& axes, const std::array<double, 3>& from,
                          const std::array<double, 3>& to) {
  std::vector<double> cuts{0, 1};
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (from[n] == to[n]) continue;
    for (const double face : *axes.faces[n]) {
      const double t = (face - from[n]) / (to[n] - from[n]);
      if (t > 0 && t < 1) cuts.push_back(t);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  const auto at = [&](double t) {
    std::array<double, 3> x;
    for (std::size_t a = 0; a < 3; ++a) x[a] = from[a] + t * (to[a] - from[a]);
    return x;
  };
  std::vector<Piece> all;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    if (!(cuts[c + 1] > cuts[c])) continue;
    const auto middle = at((cuts[c] + cuts[c + 1]) / 2);
    all.push_back({{axes.cell(0, middle[0]), axes.cell(1, middle[1]), axes.cell(2, middle[2])},
                   at(cuts[c]),
                   at(cuts[c + 1])});
  }
  return all;
}

/// Adds ∫ w along a piece, w the shape functions of edges. Cubic functions have degree 8 along the piece, for
/// which five Gauss points are exact; linear ones have degree 2, for which two points are exact.
void add_piece(const Axes& axes, const Piece& piece, double current, const Cubic& cubic, EdgeSum& sum) {
  static constexpr double x5[5] = {-0.906179845938664, -0.5384693101056831, 0, 0.5384693101056831,
                                   0.906179845938664},
                          w5[5] = {0.23692688505618908, 0.47862867049936647, 0.5688888888888889,
                                   0.47862867049936647, 0.23692688505618908};
  static constexpr double x2[2] = {-0.5773502691896258, 0.5773502691896258}, w2[2] = {1, 1};
  const auto x = cubic.across ? std::span<const double>(x5) : std::span<const double>(x2),
             w = cubic.across ? std::span<const double>(w5) : std::span<const double>(w2);
  for (std::size_t g = 0; g < x.size(); ++g) {
    std::array<double, 3> at, amount;
    for (std::size_t a = 0; a < 3; ++a) {
      const double length = piece.to[a] - piece.from[a];
      at[a] = piece.from[a] + (1 + x[g]) / 2 * length;
      amount[a] = current * w[g] / 2 * length;
    }
    add_point(axes, shapes_at(axes, piece.cell, at, cubic), amount, sum);
  }
}

/// Whether two cells have the same conductivity along each axis, within 20 %.
bool conduct_alike(const Axes& axes, const Conductivity& conductivity, const std::array<Index, 3>& one,
                   const std::array<Index, 3>& other) {
  const auto m = static_cast<std::size_t>(axes.cell_number(one)),
             n = static_cast<std::size_t>(axes.cell_number(other));
  return std::all_of(conductivity.begin(), conductivity.end(), [&](const std::vector<double>* sigma) {
    return std::max((*sigma)[m], (*sigma)[n]) <= 1.2 * std::min((*sigma)[m], (*sigma)[n]);
  });
}

/// Whether all 26 neighbours of a cell exist and have its conductivity (cubic along all axes); or whether in
/// its own level, and in those above and below, the neighbours have the conductivity of that level's middle
/// cell (cubic across only).
Cubic uniform_around(const Axes& axes, const Conductivity& conductivity, const std::array<Index, 3>& cell) {
  for (int a = 1; a < 3; ++a)
    if (cell[static_cast<std::size_t>(a)] < 1 || cell[static_cast<std::size_t>(a)] + 1 >= axes.cells(a))
      return {};
  Cubic cubic{true, true};
  for (Index k = cell[0] - 1; k <= cell[0] + 1; ++k) {
    if (k < 0 || k >= axes.cells(up)) {
      cubic.upright = false;
      continue;
    }
    const std::array<Index, 3> middle{k, cell[1], cell[2]};
    cubic.upright = cubic.upright && conduct_alike(axes, conductivity, cell, middle);
    for (Index n = 0; n < 9; ++n)
      if (!conduct_alike(axes, conductivity, middle, {k, cell[1] + n / 3 - 1, cell[2] + n % 3 - 1}))
        return {};
  }
  return cubic;
}

/// The cells along an axis, around the receiver's own, that have its conductivity: first … last − 1.
std::pair<Index, Index> like(const Axes& axes, const Conductivity& conductivity,
                             const std::array<Index, 3>& own, int axis) {
  const auto alike = [&](Index n, Index m) {
    auto one = own, other = own;
    one[static_cast<std::size_t>(axis)] = n;
    other[static_cast<std::size_t>(axis)] = m;
    return conduct_alike(axes, conductivity, one, other);
  };
  Index low = own[static_cast<std::size_t>(axis)], high = low + 1;
  while (low > 0 && alike(low, low - 1)) --low;
  while (high < axes.cells(axis) && alike(high - 1, high)) ++high;
  return {low, high};
}

/// Whether a height lies above or below the centres of all cells that have the conductivity of the receiver's
/// cell.
bool beyond_its_side(const Axes& axes, const Conductivity& conductivity, const std::array<Index, 3>& cell,
                     double height) {
  const auto [low, high] = like(axes, conductivity, cell, up);
  return height < axes.centre(up, low) || height > axes.centre(up, high - 1);
}

/// An edge or a face, and its weight in a sum.
struct Point {
  std::array<Index, 3> place;
  double weight;
};

std::vector<Point> products(const std::array<Stencil, 3>& s) {
  std::vector<Point> made;
  for (std::size_t k = 0; k < s[0].weight.size(); ++k)
    for (std::size_t j = 0; j < s[1].weight.size(); ++j)
      for (std::size_t i = 0; i < s[2].weight.size(); ++i)
        made.push_back({{s[0].first + static_cast<Index>(k), s[1].first + static_cast<Index>(j),
                         s[2].first + static_cast<Index>(i)},
                        s[0].weight[k] * s[1].weight[j] * s[2].weight[i]});
  return made;
}

/// The edges or faces and their weights, for a component of E or H at x in a cell; or for its derivative
/// there along an axis.
std::vector<Point> points_around(const Axes& axes, const Conductivity& conductivity,
                                 const std::array<Index, 3>& cell, const std::array<double, 3>& x,
                                 const Component& component, int slope_along = -1) {
  // For a point on the ground, horizontal contrasts in the level below limit interpolation, because E there
  // is that of the ground.
  auto beside = cell;
  if (cell[up] > 0 && x[up] == axes.face(up, cell[up])) {
    auto below = cell;
    below[up] -= 1;
    const auto& sigma = *conductivity[2];
    if (sigma[static_cast<std::size_t>(axes.cell_number(below))] >
        sigma[static_cast<std::size_t>(axes.cell_number(cell))])
      beside = below;
  }
  std::array<Stencil, 3> s;
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const auto [low, high] = like(axes, conductivity, a == up ? cell : beside, a);
    // Edges are at centres of cells along their axis and at nodes across it, faces the other way round.
    const bool centres = (a == component.axis) != component.magnetic, slope = a == slope_along;
    if (centres)
      s[n] = stencil(
          low, high, x[n], [&](Index p) { return axes.centre(a, p); }, slope);
    else
      s[n] = stencil(
          std::max<Index>(low, 1), std::min(high + 1, axes.cells(a)), x[n],
          [&](Index p) { return axes.face(a, p); }, slope);
  }
  return products(s);
}

/// The sum over edges for curl E on the given faces normal to an axis.
EdgeSum curl_of(const Axes& axes, int axis, const std::vector<Point>& faces, double factor = 1) {
  EdgeSum sum;
  for (const auto& face : faces) add_face(axes, axis, face.place, factor * face.weight, sum);
  return sum;
}

/// Calls visit(cell, V) for each of the four cells around an edge that lies on no wall.
template <class Visit>
void for_cells_around(const Axes& axes, int axis, const std::array<Index, 3>& edge, const Visit& visit) {
  const auto b = static_cast<std::size_t>((axis + 1) % 3), e = static_cast<std::size_t>((axis + 2) % 3);
  for (Index corner = 0; corner < 4; ++corner) {
    auto cell = edge;
    cell[b] -= corner & 1;
    cell[e] -= corner >> 1;
    visit(static_cast<std::size_t>(axes.cell_number(cell)),
          axes.width(0, cell[0]) * axes.width(1, cell[1]) * axes.width(2, cell[2]));
  }
}

/// σ of an edge: the mean over its four cells, weighted by volume.
std::complex<double> mean_around(const Axes& axes, const Sigma& sigma, int axis,
                                 const std::array<Index, 3>& edge) {
  std::complex<double> sum = 0;
  double volume = 0;
  for_cells_around(axes, axis, edge, [&](std::size_t cell, double part) {
    sum += sigma(static_cast<std::size_t>(axis), cell) * part;
    volume += part;
  });
  return sum / volume;
}

/// The edge beside `edge`, on the same line, whose cell along the axis is the receiver's.
std::array<Index, 3> own_beside(int axis, const std::array<Index, 3>& edge,
                                const std::array<Index, 3>& cell) {
  auto own = edge;
  own[static_cast<std::size_t>(axis)] = cell[static_cast<std::size_t>(axis)];
  return own;
}

/// The edges and weights for a receiver, before weights are multiplied by ratios of conductivities.
struct Taken {
  std::array<Index, 3> cell{};  // cell that contains the receiver
  int axis = 0;                 // axis of the edges in `edges`
  std::vector<Point> edges;
  // Not 0: the weights are multiplied by this number and by σ of `cell` along `axis` (Ampère's law).
  double of_own = 0;
  EdgeSum curl;
};

/// The ground in a column of cells near a receiver. The conductivity of a cell that is partly rock and partly
/// air is that of the rock below, times the fraction of rock in the cell.
struct Column {
  Index whole = 0;    ///< the highest cell that is entirely rock
  double height = 0;  ///< mean height of the ground in the column, m
  Index top = 0;      ///< the highest cell that is not air
  double of_top = 0;  ///< conductivity of cell `top`
};
std::optional<Column> column_of(const Axes& axes, const std::vector<double>& sigma,
                                const std::array<Index, 3>& cell) {
  constexpr Index reach = 8, cut_at_once = 3;
  constexpr double as_good_as_whole = 0.8;  // neighbouring rocks may differ by this ratio
  const auto at = [&](Index k) {
    return sigma[static_cast<std::size_t>(axes.cell_number({k, cell[1], cell[2]}))];
  };
  const auto is_air = [&](Index k) { return at(k) <= conductivity_of_air; };
  Index k = std::min(cell[up] + reach, axes.cells(up) - 1);
  if (!is_air(k)) return {};
  const Index lowest = std::max<Index>(cell[up] - reach, 1);
  while (k >= lowest && is_air(k)) --k;
  if (k < lowest) return {};
  Column made{k, axes.face(up, k + 1), k, at(k)};
  const auto rock_below = [&](Index n) { return std::max(at(n - 1), at(std::max<Index>(n - 2, 0))); };
  while (made.whole > lowest && k - made.whole < cut_at_once &&
         at(made.whole) < as_good_as_whole * rock_below(made.whole))
    --made.whole;
  for (Index cut = made.whole + 1; cut <= k; ++cut)
    made.height -= axes.width(up, cut) * (1 - std::min(1.0, at(cut) / at(made.whole)));
  return made;
}

/// Whether the highest cell that is not air differs between columns within eight cells. If it does not, the
/// ground is even, and only the rock varies.
bool ground_rises(const Axes& axes, const std::vector<double>& sigma, const std::array<Index, 3>& cell) {
  constexpr Index around = 8;
  const auto own = column_of(axes, sigma, cell);
  for (Index n = 0; own && n < 9; ++n)
    for (Index step = 1; step <= around; ++step) {
      auto at = cell;
      at[1] = std::clamp<Index>(cell[1] + step * (n / 3 - 1), 0, axes.cells(1) - 1);
      at[2] = std::clamp<Index>(cell[2] + step * (n % 3 - 1), 0, axes.cells(2) - 1);
      const auto one = column_of(axes, sigma, at);
      if (!one || one->top != own->top) return true;
    }
  return false;
}

/// For a receiver on or in uneven ground, near cells that the surface cuts: the level from which downwards
/// all cells around it are entirely rock. Empty for other receivers.
std::optional<Index> whole_ground(const Axes& axes, const Conductivity& conductivity,
                                  const std::array<Index, 3>& cell, double height) {
  constexpr double even = 0.2, of_a_cell = 0.25;
  constexpr double alike = 1.2;
  constexpr Index reach = 3;  // cells over which cubic functions extend, down a slope
  Column first;
  bool flat = true;  // whether the ground is even; also if a cover is more conductive than the rock
  double low = INFINITY, high = -INFINITY;
  Index whole = axes.cells(up);
  for (Index n = 0; n < 9; ++n) {
    const auto aside = [&](std::size_t a, Index step) {
      return std::clamp<Index>(cell[a] + step, 0, axes.cells(static_cast<int>(a)) - 1);
    };
    const auto column =
        column_of(axes, *conductivity[2], {cell[up], aside(1, n / 3 - 1), aside(2, n % 3 - 1)});
    if (!column) return {};
    low = std::min(low, column->height), high = std::max(high, column->height);
    if (n == 0) first = *column;
    flat = flat && column->top == first.top &&
           std::max(column->of_top, first.of_top) <= alike * std::min(column->of_top, first.of_top);
    whole = std::min(whole, column->whole);
  }
  const double thick = axes.width(up, cell[up]);
  if (flat || high - low <= even * thick || height > high + of_a_cell * thick)
    return {};  // the ground is even, or the point is in the air
  if (!ground_rises(axes, *conductivity[2], cell)) return {};
  if (cell[up] < whole - reach || whole < 1) return {};
  return std::min(whole, cell[up] + 1);
}

/// Like points_around(), but for E in ground that is entirely rock: uses two levels, that of the cell and the
/// one below, and reaches no farther across than cells are rock on all sides.
std::vector<Point> points_in_ground(const Axes& axes, const Conductivity& conductivity,
                                    const std::array<Index, 3>& cell, const std::array<double, 3>& x,
                                    int along) {
  std::array<Stencil, 3> s;
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const Index own = cell[n];
    if (a == along) {
      const auto [low, high] = like(axes, conductivity, cell, a);
      s[n] = stencil(std::max(low, own - 1), std::min(high, a == up ? own + 1 : own + 2), x[n],
                     [&](Index p) { return axes.centre(a, p); });
    } else
      s[n] = stencil(std::max<Index>(a == up ? own - 1 : own, 1),
                     std::min(a == up ? own + 1 : own + 2, axes.cells(a)), x[n],
                     [&](Index p) { return axes.face(a, p); });
  }
  return products(s);
}

/// Whether a point on the lower face of its cell lies on the ground: the cell is air, and the one below is
/// not.
bool lies_on_ground(const Axes& axes, const std::vector<double>& sigma, std::array<Index, 3> cell,
                    double height) {
  if (cell[up] == 0 || height != axes.face(up, cell[up])) return false;
  const bool air = sigma[static_cast<std::size_t>(axes.cell_number(cell))] <= conductivity_of_air;
  cell[up] -= 1;
  return air && sigma[static_cast<std::size_t>(axes.cell_number(cell))] > conductivity_of_air;
}

Taken taken_by(const Axes& axes, const Conductivity& sides, std::array<double, 3> x,
               const Component& component) {
  Taken made;
  made.cell = {axes.cell(0, x[0]), axes.cell(1, x[1]), axes.cell(2, x[2])};
  made.axis = component.axis;
  if (!component.magnetic) {
    if (lies_on_ground(axes, *sides[2], made.cell, x[up])) made.cell[up] -= 1;
    if (const auto level = whole_ground(axes, sides, made.cell, x[up])) {
      // Vertical E must be on the point's own side of a contrast.
      made.cell[up] = component.axis == up ? std::min(*level, made.cell[up]) : *level;
      made.edges = points_in_ground(axes, sides, made.cell, x, component.axis);
    } else made.edges = points_around(axes, sides, made.cell, x, component);
    return made;
  }
  const double height = x[0] - axes.centre(0, made.cell[0]);
  if (component.axis == up || !beyond_its_side(axes, sides, made.cell, x[0])) {
    made.curl = curl_of(axes, component.axis, points_around(axes, sides, made.cell, x, component));
    return made;
  }
  // H(z) = H(z_c) + (z − z_c) ∂_u H; ∂_u H follows from the slope of H_u along the component and from the
  // current across it.
  const bool east = component.axis == 2;
  made.axis = east ? 1 : 2;
  made.edges = points_around(axes, sides, made.cell, x, {false, made.axis});
  made.of_own = east ? height : -height;
  const auto slope =
      curl_of(axes, up, points_around(axes, sides, made.cell, x, {true, up}, component.axis), height);
  x[0] -= height;
  made.curl = curl_of(axes, component.axis, points_around(axes, sides, made.cell, x, component));
  made.curl.insert(made.curl.end(), slope.begin(), slope.end());
  return made;
}

/// The factor of an edge's weight due to conductivities: σ_t/σ_o (sampling.hpp); for a term of Ampère's law
/// this times σ of the receiver's cell.
std::complex<double> turn_of(const Axes& axes, const Sigma& sigma, const Taken& taken,
                             const std::array<Index, 3>& edge) {
  std::complex<double> turn = 1;
  const auto own = own_beside(taken.axis, edge, taken.cell);
  if (own != edge)
    turn = mean_around(axes, sigma, taken.axis, edge) / mean_around(axes, sigma, taken.axis, own);
  if (taken.of_own != 0)
    turn *= taken.of_own * sigma(static_cast<std::size_t>(taken.axis),
                                 static_cast<std::size_t>(axes.cell_number(taken.cell)));
  return turn;
}

void add_wire(const Axes& axes, const Source& source, const std::string& what,
              const Conductivity* conductivity, EdgeSum& sum) {
  if (source.points.size() < 2) throw InputError(what, "a wire has two points or more");
  std::vector<Piece> all;
  for (std::size_t n = 0; n + 1 < source.points.size(); ++n) {
    const auto more =
        pieces(axes, inside(axes, source.points[n], what), inside(axes, source.points[n + 1], what));
    all.insert(all.end(), more.begin(), more.end());
  }
  // Shape functions have the same degree along the whole wire: where cubic functions changed to linear ones,
  // a charge would remain.
  Cubic cubic{conductivity != nullptr, conductivity != nullptr};
  for (std::size_t n = 0; n < all.size() && cubic.across; ++n) {
    const auto here = uniform_around(axes, *conductivity, all[n].cell);
    cubic = {cubic.upright && here.upright, cubic.across && here.across};
  }
  for (const auto& piece : all) add_piece(axes, piece, source.current, cubic, sum);
}

/// x: position; m: moment, A m
void add_electric_dipole(const Axes& axes, const std::array<double, 3>& x, const std::array<double, 3>& m,
                         const Conductivity* conductivity, EdgeSum& sum) {
  const std::array<Index, 3> cell{axes.cell(0, x[0]), axes.cell(1, x[1]), axes.cell(2, x[2])};
  const auto cubic = conductivity ? uniform_around(axes, *conductivity, cell) : Cubic{};
  auto shapes = shapes_at(axes, cell, x, cubic);
  // Linear functions along a dipole do not depend on the dipole's position within the cell. Therefore the two
  // nearest edges are interpolated.
  for (std::size_t a = 0; a < 3 && conductivity; ++a) {
    if (cubic.along(a)) continue;
    const int axis = static_cast<int>(a);
    auto next = cell;
    next[a] += x[a] < axes.centre(axis, cell[a]) ? -1 : 1;
    if (next[a] < 0 || next[a] >= axes.cells(axis) || !conduct_alike(axes, *conductivity, cell, next))
      continue;
    const Index low = std::min(cell[a], next[a]);
    shapes[a].edges = stencil(low, low + 2, x[a], [&](Index p) { return axes.centre(axis, p); });
  }
  add_point(axes, shapes, m, sum);
}

/// Trilinear interpolation among the faces normal to each axis: between nodes along the axis, between centres
/// of cells across it.
/// x: position; m: moment, A m²
void add_magnetic_dipole(const Axes& axes, const std::array<double, 3>& x, const std::array<double, 3>& m,
                         EdgeSum& sum) {
  for (int a = 0; a < 3; ++a) {
    std::array<Stencil, 3> s;
    for (int d = 0; d < 3; ++d) {
      const auto n = static_cast<std::size_t>(d);
      const Index cell = axes.cell(d, x[n]);
      if (d == a) s[n] = stencil(cell, cell + 2, x[n], [&](Index p) { return axes.face(d, p); });
      else {
        const Index low =
            std::clamp<Index>(x[n] < axes.centre(d, cell) ? cell - 1 : cell, 0, axes.cells(d) - 2);
        s[n] = stencil(low, low + 2, x[n], [&](Index p) { return axes.centre(d, p); });
      }
    }
    for (std::size_t k = 0; k < s[0].weight.size(); ++k)
      for (std::size_t j = 0; j < s[1].weight.size(); ++j)
        for (std::size_t i = 0; i < s[2].weight.size(); ++i)
          add_face(axes, a,
                   {s[0].first + static_cast<Index>(k), s[1].first + static_cast<Index>(j),
                    s[2].first + static_cast<Index>(i)},
                   m[static_cast<std::size_t>(a)] * s[0].weight[k] * s[1].weight[j] * s[2].weight[i], sum);
  }
}

}  // namespace

double height_on_its_side(const TensorMesh& mesh, const std::vector<double>& conductivity,
                          const Vector3& place) {
  const Axes axes(mesh);
  const auto x = turned_over(place);
  const bool below =
      lies_on_ground(axes, conductivity, {axes.cell(0, x[0]), axes.cell(1, x[1]), axes.cell(2, x[2])}, x[up]);
  return below ? std::nextafter(x[up], axes.face(up, 0)) : x[up];
}

double above_whole_ground(const TensorMesh& mesh, const Conductivity& conductivity, const Vector3& place) {
  const Axes axes(mesh);
  const auto x = turned_over(place);
  const std::array<Index, 3> cell{axes.cell(0, x[0]), axes.cell(1, x[1]), axes.cell(2, x[2])};
  const auto level = whole_ground(axes, conductivity, cell, x[up]);
  return level ? std::max(0.0, x[up] - axes.face(up, *level)) : 0;
}

bool flows_upright(const Source& source) {
  constexpr double some = 0.05;
  const double across = std::hypot(source.moment[0], source.moment[1]), up = std::abs(source.moment[2]);
  switch (source.kind) {
    case Source::Kind::electric_dipole:
      return up > some * std::hypot(across, up);
    case Source::Kind::magnetic_dipole:
      return across > some * std::hypot(across, up);
    default:
      return std::any_of(source.points.begin(), source.points.end(),
                         [&](const Vector3& p) { return p[2] != source.points.front()[2]; });
  }
}

EdgeSum moments(const TensorMesh& mesh, const Source& source, const std::string& what,
                const Conductivity* conductivity) {
  const Axes axes(mesh);
  EdgeSum sum;
  if (source.kind == Source::Kind::wire) {
    add_wire(axes, source, what, conductivity, sum);
    return sum;
  }
  if (source.points.size() != 1) throw InputError(what, "a dipole has one place");
  const auto x = inside(axes, source.points.front(), what), m = turned_over(source.moment);
  if (source.kind == Source::Kind::electric_dipole) add_electric_dipole(axes, x, m, conductivity, sum);
  else add_magnetic_dipole(axes, x, m, sum);
  return sum;
}

Reception receiver(const TensorMesh& mesh, const Sigma& sigma, const Conductivity& sides,
                   const Vector3& place, const Component& component, const std::string& what) {
  const Axes axes(mesh);
  auto taken = taken_by(axes, sides, inside(axes, place, what), component);
  Reception made;
  made.curl = std::move(taken.curl);
  for (const auto& [edge, weight] : taken.edges) {
    const auto turned = weight * turn_of(axes, sigma, taken, edge);
    add_term(axes, made.electric, taken.axis, edge, turned.real());
    add_term(axes, made.quadrature, taken.axis, edge, turned.imag());
  }
  return made;
}

std::vector<WeightChange> weight_changes(const TensorMesh& mesh, const Sigma& sigma,
                                         const Conductivity& sides, const Vector3& place,
                                         const Component& component) {
  const Axes axes(mesh);
  const auto taken = taken_by(axes, sides, inside(axes, place, ""), component);
  std::vector<WeightChange> changes;
  for (const auto& [edge, weight] : taken.edges) {
    const Index number = axes.edge(taken.axis, edge);
    if (number < 0 || weight == 0) continue;
    const auto turned = weight * turn_of(axes, sigma, taken, edge);
    const auto add = [&](std::size_t cell, std::complex<double> part) {
      changes.push_back({cell, taken.axis, static_cast<std::size_t>(number), turned * part});
    };
    if (taken.of_own != 0) add(static_cast<std::size_t>(axes.cell_number(taken.cell)), 1);
    const auto own = own_beside(taken.axis, edge, taken.cell);
    if (own == edge) continue;
    for (const auto& [of, sign] : {std::pair{edge, 1.0}, std::pair{own, -1.0}}) {
      std::complex<double> sum = 0;
      const auto along = static_cast<std::size_t>(taken.axis);
      for_cells_around(axes, taken.axis, of,
                       [&](std::size_t cell, double part) { sum += sigma(along, cell) * part; });
      for_cells_around(axes, taken.axis, of, [&, sign = sign](std::size_t cell, double part) {
        add(cell, sign * sigma(along, cell) * part / sum);
      });
    }
  }
  return changes;
}

}  // namespace terrane::electromagnetic
