#include "terrane/model/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

// --- the medium along a vertical line
// ------------------------------------------------------------------------------

/// Numbers the media. The cell and the bodies that contain a point determine its medium, which has values of
/// all properties.
class Kinds {
 public:
  Kinds(const Description& earth, std::vector<std::string> names) : earth_(earth), names_(std::move(names)) {
    for (const auto& name : names_) absent_.push_back(property_kind(name).absent);
    for (const auto& name : names_) {
      other_.push_back(place(in_other_words(name)));
      taken_.emplace_back();
      for (std::size_t q = 0; q < names_.size(); ++q)
        if (earth.rule == OverlapRule::add ? q == other_.back() : supersedes(name, names_[q]))
          taken_.back().push_back(q);
    }
    for (const auto& body : earth.bodies) bodies_.push_back(columns_of(body.values));
    air_ = columns_of(earth.air);
    background_ = columns_of(earth.background);
    for (const auto& law : earth.laws)
      if (const auto from = place(law.from), to = place(law.to); from < names_.size() && to < names_.size())
        laws_.push_back({from, to, &law});
    if (!earth.cells) return;
    for (const auto& property : earth.cells->properties) cells_.push_back(place(property.name));
  }

  static constexpr std::uint64_t no_cell = ~std::uint64_t{0}, is_air = ~std::uint64_t{1};

  /// The number of the medium of a point. cover: the index of the cell of `cells` at the point (or no_cell),
  /// then the bodies that contain the point in the order of painting, or is_air.
  std::uint32_t of(const std::vector<std::uint64_t>& cover) {
    if (const auto known = known_.find(cover); known != known_.end()) return known->second;
    auto values = values_of(cover);
    std::vector<std::uint64_t> bits;
    for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    const bool air = cover.back() == is_air;
    bits.push_back(air ? 1 : 0);
    const auto [at, is_new] = by_values_.emplace(bits, static_cast<std::uint32_t>(media_.size()));
    if (is_new) media_.push_back({std::move(values), cover.size() > 1 ? cover.back() + 1 : 0, air});
    known_.emplace(cover, at->second);
    return at->second;
  }

  struct Kind {
    std::vector<double> values;  ///< [properties]
    std::uint64_t layer;         ///< order of painting: a medium with a larger number was painted later
    bool air;
  };
  const Kind& operator[](std::uint32_t kind) const { return media_[kind]; }

 private:
  using Columns = std::vector<std::pair<std::size_t, double>>;

  std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  Columns columns_of(const std::vector<PropertyValue>& values) const {
    Columns columns;
    for (const auto& [name, value] : values) columns.emplace_back(place(name), value);
    return columns;
  }

  Columns cell_values(std::uint64_t cell) const {
    Columns columns;
    for (std::size_t n = 0; n < cells_.size(); ++n)
      if (const double value = earth_.cells->properties[n].values[cell]; !std::isnan(value))
        columns.emplace_back(cells_[n], value);
    return columns;
  }
  /// Removes the values of properties that a new value of property p replaces.
  void take_away(std::vector<double>& values, std::size_t p) const {
    for (const auto q : taken_[p]) values[q] = nothing;
  }
  void lay_over(std::vector<double>& values, const Columns& columns) const {
    for (const auto& given : columns) take_away(values, given.first);
    for (const auto& [p, value] : columns) values[p] = value;
  }

  /// The Q of the bulk modulus of a medium with the Q of P waves, property p.
  double of_bulk(const std::vector<double>& values, std::size_t p) const {
    const auto value = [&](std::string_view name) {
      const auto at = place(name);
      return at < names_.size() && values[at] > 0 ? values[at] : nothing;
    };
    double mu = value("quality_mu");
    if (std::isnan(mu)) mu = value("quality_s");
    const double shear = value("velocity_s");
    return quality_of_bulk(values[p], std::isnan(mu) ? endless : mu, value("velocity_p"),
                           std::isnan(shear) ? 0 : shear);
  }

  /// Property p of a medium in terms of property q, which states the same; not above zero if cells have no
  /// common mean of the two.
  double in_terms_of(const std::vector<double>& values, std::size_t p, std::size_t q) const {
    const auto& name = names_[p];
    if (name.starts_with("conductivity")) return 1 / values[q];
    if (name == "quality_mu") return values[q];
    if (name == "quality_kappa") return of_bulk(values, q);
    const auto density = place("density");
    return name == "heat_capacity" && density < names_.size() ? values[density] * values[q] : nothing;
  }

  /// If the earth gives a quantity by two properties, such as conductivity and resistivity, converts the
  /// medium's value to the one property that is averaged over cells. Two values that contradict each other
  /// remain, for the physics to refuse.
  void put_in_one_word(std::vector<double>& values) const {
    for (std::size_t p = 0; p < names_.size(); ++p) {
      const auto q = other_[p];
      if (q == names_.size() || !(values[q] > 0)) continue;
      const double value = in_terms_of(values, p, q);
      const bool free = std::isnan(values[p]), conducts = names_[p].starts_with("conductivity");
      if (!(value > 0) || !(free || conducts || std::fabs(values[p] - value) <= 0.01 * values[p])) continue;
      if (free) values[p] = value;
      values[q] = nothing;
    }
  }

  std::vector<double> values_of(const std::vector<std::uint64_t>& cover) const {
    std::vector<double> values = absent_;
    if (cover.back() == is_air) {
      for (const auto& [p, value] : air_) values[p] = value;
      put_in_one_word(values);
      return values;
    }
    std::vector<bool> painted(values.size());
    for (const auto& [p, value] : background_) {
      values[p] = value;
      painted[p] = true;
    }
    if (cover.front() != no_cell) lay_over(values, cell_values(cover.front()));
    for (std::size_t n = 1; n < cover.size(); ++n) {
      for (const auto& given : bodies_[cover[n]]) take_away(values, given.first);
      for (const auto& [p, value] : bodies_[cover[n]]) {
        values[p] = earth_.rule == OverlapRule::add && painted[p] ? values[p] + value : value;
        painted[p] = true;
      }
    }
    for (const auto& [from, to, law] : laws_) {
      const auto other = other_[to];
      const bool free = (std::isnan(values[to]) || values[to] == absent_[to]) &&
                        (other == names_.size() || other == from || std::isnan(values[other]));
      if (free && !std::isnan(values[from])) values[to] = law->value(values[from]);
    }
    put_in_one_word(values);
    if (const auto p = place("density"); p < values.size() && values[p] != 0)
      values[p] -= earth_.reference_density;
    return values;
  }

  const Description& earth_;
  std::vector<std::string> names_;
  std::vector<double> absent_;
  std::vector<std::size_t>
      other_;  // the property that gives the same quantity, such as resistivity; names_.size(): none
  std::vector<std::vector<std::size_t>> taken_;  // the properties that a new value of this property replaces
  std::vector<Columns> bodies_;
  Columns air_, background_;
  struct Applied {
    std::size_t from, to;
    const Law* law;
  };
  std::vector<Applied> laws_;
  std::vector<std::size_t> cells_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_, by_values_;
  std::vector<Kind> media_;
};

/// A piece of constant medium of a vertical line, from bottom to top, m. (a, b): indices of the line in its
/// column of cells along easting and northing; kind: number of the medium.
struct Piece {
  std::uint32_t a, b, kind;
  double bottom, top;
};

class Lines {
 public:
  Lines(const Description& earth, bool above_ground) : earth_(earth), above_ground_(above_ground) {
    for (const auto& body : earth.bodies) bounds_.push_back(bounds(body.shape));
    if (!earth.cells) return;
    const auto& cells = std::get<MeshCells>(earth.cells->geometry);
    held_ = filled_by_threads(cells.mesh.size(), Kinds::no_cell, 0);
    for_each_stretch(cells.cell.size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) held_[cells.cell[n]] = n;
    });
  }

  /// The bodies whose bounding boxes overlap a column of cells.
  std::vector<std::uint32_t> near(double west, double east, double south, double north) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t n = 0; n < bounds_.size(); ++n)
      if (const auto& b = bounds_[n]; b.west < east && b.east > west && b.south < north && b.north > south)
        found.push_back(n);
    return found;
  }

  /// Calls take(bottom, top, kind, cover) for each medium of the line at (x, y) from `bottom` to `top`,
  /// upwards; kind, cover: as for Kinds::of().
  template <class Take>
  void walk(double x, double y, double bottom, double top, const std::vector<std::uint32_t>& bodies,
            Kinds& kinds, const Take& take) const {
    std::vector<std::pair<std::uint32_t, Interval>> held;
    std::vector<double> ends{bottom, top};
    const auto end = [&](double z) {
      if (z > bottom && z < top) ends.push_back(z);
    };
    for (const auto n : bodies)
      if (const auto part = along_vertical(earth_.bodies[n].shape, x, y); !part.empty()) {
        held.emplace_back(n, part);
        end(part.bottom);
        end(part.top);
      }
    const double ground = earth_.ground(x, y);
    const double just_below = ground - 1e-6 * std::max(1.0, std::fabs(ground));
    end(ground);
    const TensorMesh* mesh = nullptr;
    std::size_t i = 0, j = 0;
    if (earth_.cells) {
      const auto& all = std::get<MeshCells>(earth_.cells->geometry).mesh;
      if (holds(all.easting(), x, i) && holds(all.northing(), y, j)) mesh = &all;
      if (mesh != nullptr) std::for_each(mesh->up().begin(), mesh->up().end(), end);
    }
    std::sort(ends.begin(), ends.end());
    std::vector<std::uint64_t> cover;
    for (std::size_t n = 0; n + 1 < ends.size(); ++n) {
      if (!(ends[n] < ends[n + 1])) continue;
      const double middle = ends[n] + 0.5 * (ends[n + 1] - ends[n]);
      const bool air = middle > ground && !above_ground_;
      const double z = middle > ground ? just_below : middle;  // the medium at the ground continues upwards
      std::size_t k = 0;
      cover.assign(1,
                   mesh != nullptr && holds(mesh->up(), z, k) ? held_[mesh->index(i, j, k)] : Kinds::no_cell);
      if (air) cover.push_back(Kinds::is_air);
      else
        for (const auto& [body, part] : held)
          if (part.bottom <= z && z < part.top) cover.push_back(body);
      take(ends[n], ends[n + 1], kinds.of(cover), cover);
    }
  }

 private:
  /// Whether the mesh of `cells`, or its continuation, contains a coordinate along an axis; sets the index of
  /// the cell.
  bool holds(const std::vector<double>& faces, double x, std::size_t& cell) const {
    if (!earth_.cells_go_on && (!(x >= faces.front()) || !(x < faces.back()))) return false;
    cell =
        static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin() - 1);
    return true;
  }

  const Description& earth_;
  bool above_ground_;
  std::vector<Prism> bounds_;
  UnsetList<std::uint64_t> held_;  // for each cell of the mesh, its index among the stored cells
};

// --- parts of cells
// ------------------------------------------------------------------------------------------

/// Coordinates along easting and northing at which parts of cells end. Between them surfaces are bilinear:
/// the height of a surface at the middle of a part is its mean over the part.
std::array<std::vector<double>, 2> edges_of(const Description& earth) {
  std::array<std::vector<double>, 2> edges;
  const auto add = [&](const std::vector<double>& easting, const std::vector<double>& northing) {
    edges[0].insert(edges[0].end(), easting.begin(), easting.end());
    edges[1].insert(edges[1].end(), northing.begin(), northing.end());
  };
  const auto add_surface = [&](const Surface& surface) {
    if (const auto* grid = std::get_if<Grid>(&surface)) add(grid->easting, grid->northing);
  };
  for (const auto& body : earth.bodies) {
    if (const auto* box = std::get_if<Box>(&body.shape))
      add({box->west, box->east}, {box->south, box->north});
    if (const auto* layer = std::get_if<Layer>(&body.shape)) {
      add_surface(layer->bottom);
      add_surface(layer->top);
    }
  }
  if (earth.topography) add_surface(*earth.topography);
  if (earth.cells) {
    const auto& mesh = std::get<MeshCells>(earth.cells->geometry).mesh;
    add(mesh.easting(), mesh.northing());
  }
  for (auto& axis : edges) {
    std::sort(axis.begin(), axis.end());
    axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
  }
  return edges;
}

/// A part of a cell along one axis; a vertical line goes through its middle.
struct Part {
  double middle, share;  ///< middle: m; share: fraction of the cell's width
};

std::vector<Part> parts_between(double low, double high, std::size_t count,
                                const std::vector<double>& edges) {
  std::vector<double> ends;
  for (std::size_t n = 0; n <= count; ++n)
    ends.push_back(n == count ? high
                              : low + (high - low) * static_cast<double>(n) / static_cast<double>(count));
  for (auto edge = std::upper_bound(edges.begin(), edges.end(), low); edge != edges.end() && *edge < high;
       ++edge)
    ends.push_back(*edge);
  std::sort(ends.begin(), ends.end());
  std::vector<Part> parts;
  for (std::size_t n = 0; n + 1 < ends.size(); ++n)
    if (ends[n] < ends[n + 1])
      parts.push_back({ends[n] + 0.5 * (ends[n + 1] - ends[n]), (ends[n + 1] - ends[n]) / (high - low)});
  return parts;
}

// --- means
// ---------------------------------------------------------------------------------------------------

enum class Mean { volume, reciprocal, compliance, currents, largest };

Mean mean_of(const PropertyKind& kind) {
  switch (kind.quantity) {
    case Quantity::conductivity:
    case Quantity::resistivity:
    case Quantity::thermal_conductivity:
      return Mean::currents;
    case Quantity::velocity:
      return Mean::compliance;
    case Quantity::angle:
      return Mean::largest;
    default:
      break;
  }
  if (kind.name.starts_with("quality_")) return Mean::reciprocal;
  if (kind.name.starts_with("cole_cole_")) return Mean::largest;
  return Mean::volume;
}

/// A cell that contains more than one medium.
struct Mixed {
  const std::vector<Part>&east, &north;
  double bottom, top;
  std::span<const Piece> pieces;
  const Kinds& kinds;
  std::vector<std::pair<std::uint32_t, double>>
      shares;  ///< (medium, fraction of the volume), in the order of painting

  Mixed(const std::vector<Part>& east_parts, const std::vector<Part>& north_parts, double from, double to,
        std::span<const Piece> all, const Kinds& all_kinds)
      : east(east_parts), north(north_parts), bottom(from), top(to), pieces(all), kinds(all_kinds) {
    for (const auto& piece : pieces) {
      const double share =
          east[piece.a].share * north[piece.b].share * (piece.top - piece.bottom) / (top - bottom);
      const auto known =
          std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.first == piece.kind; });
      if (known == shares.end()) shares.emplace_back(piece.kind, share);
      else known->second += share;
    }
    std::sort(shares.begin(), shares.end(), [&](const auto& a, const auto& b) {
      return std::pair(kinds[a.first].layer, a.first) < std::pair(kinds[b.first].layer, b.first);
    });
  }

  double value(std::uint32_t kind, std::size_t p) const { return kinds[kind].values[p]; }

  /// The mean of f(kind) over the fractions of the cell whose medium has a value; NaN if these fractions
  /// together are less than half of the cell.
  template <class F>
  double sum(std::size_t p, const F& f) const {
    double total = 0, valued = 0, all = 0;
    for (const auto& [kind, share] : shares) {
      all += share;
      if (std::isnan(value(kind, p))) continue;
      valued += share;
      total += share * f(kind);
    }
    return 2 * valued < all ? nothing : total / (valued < all ? valued : 1);
  }

  double volume(std::size_t p) const {
    return sum(p, [&](std::uint32_t kind) { return value(kind, p); });
  }
  double reciprocal(std::size_t p) const {
    return 1 / sum(p, [&](std::uint32_t kind) { return 1 / value(kind, p); });
  }
  double largest(std::size_t p) const {
    return value(std::max_element(shares.begin(), shares.end(),
                                  [](const auto& a, const auto& b) { return a.second < b.second; })
                     ->first,
                 p);
  }

  double compliance(std::size_t p, std::size_t density) const {
    const double still = sum(p, [&](std::uint32_t kind) { return value(kind, p) == 0 ? 1.0 : 0.0; });
    if (still >= 0.5) return 0;  // v_s = 0 in at least half of the cell: a fluid
    if (still > 0) {
      double total = 0, moving = 0;
      for (const auto& [kind, share] : shares)
        if (const double v = value(kind, p); v > 0) total += share / (v * v), moving += share;
      return std::sqrt(moving / total);
    }
    const bool dense = density < kinds[shares.front().first].values.size() &&
                       std::all_of(shares.begin(), shares.end(), [&](const auto& s) {
                         return std::isnan(value(s.first, p)) || value(s.first, density) > 0;
                       });
    const auto rho = [&](std::uint32_t kind) { return dense ? value(kind, density) : 1.0; };
    const double soft = sum(p, [&](std::uint32_t kind) {
      const double v = value(kind, p);
      return 1 / (rho(kind) * v * v);
    });
    return std::sqrt(1 / (soft * sum(p, rho)));
  }

  /// The mean conductivity for currents in any direction, by the rule in description.hpp. conducts(value):
  /// the conductivity from a value.
  template <class F>
  double conductance(std::size_t p, const F& conducts) const {
    double sigma = nothing, filled = 0, all = 0;
    for (const auto& [kind, share] : shares) {
      all += share;
      if (std::isnan(value(kind, p))) continue;
      const double own = conducts(value(kind, p));
      filled += share;
      const double part = share / filled;
      if (part == 1) sigma = own;
      else if (own <= sigma) sigma += part * (own - sigma);
      else sigma = 1 / ((1 - part) / sigma + part / own);
    }
    return 2 * filled < all ? nothing : sigma;
  }

  /// The mean conductivity along up: pieces of a line in series, lines in parallel.
  template <class F>
  double upwards(const F& conducts) const {
    std::vector<double> resistance(east.size() * north.size());
    for (const auto& piece : pieces)
      resistance[piece.a + east.size() * piece.b] += (piece.top - piece.bottom) / conducts(piece.kind);
    double sigma = 0;
    for (std::size_t b = 0; b < north.size(); ++b)
      for (std::size_t a = 0; a < east.size(); ++a)
        sigma += east[a].share * north[b].share * (top - bottom) / resistance[a + east.size() * b];
    return sigma;
  }

  /// The mean conductivity along easting (or northing): the cell is divided into horizontal slabs; in each
  /// slab, the parts of a row along the axis are in series, and rows are in parallel.
  template <class F>
  double sideways(bool to_north, std::size_t slabs, const F& conducts) const {
    double sigma = 0;
    const auto& along = to_north ? north : east;
    const auto& across = to_north ? east : north;
    const double high = (top - bottom) / static_cast<double>(slabs);
    std::vector<double> mean(along.size() * across.size());
    for (std::size_t c = 0; c < slabs; ++c) {
      const double from = bottom + static_cast<double>(c) * high, to = c + 1 == slabs ? top : from + high;
      std::fill(mean.begin(), mean.end(), 0.0);
      for (const auto& piece : pieces)
        if (const double part = std::min(piece.top, to) - std::max(piece.bottom, from); part > 0)
          mean[(to_north ? piece.b : piece.a) + along.size() * (to_north ? piece.a : piece.b)] +=
              part / (to - from) * conducts(piece.kind);
      for (std::size_t s = 0; s < across.size(); ++s) {
        double resistance = 0;
        for (std::size_t r = 0; r < along.size(); ++r)
          resistance += along[r].share / mean[r + along.size() * s];
        sigma += across[s].share / static_cast<double>(slabs) / resistance;
      }
    }
    return sigma;
  }

  /// Whether all vertical lines pass the same media in the same order.
  bool is_layered() const {
    const auto same_line = [](const Piece& p, const Piece& q) { return p.a == q.a && p.b == q.b; };
    std::size_t of_line = 1;
    while (of_line < pieces.size() && same_line(pieces[0], pieces[of_line])) ++of_line;
    if (of_line == 1 || pieces.size() != of_line * east.size() * north.size()) return false;
    for (std::size_t n = of_line; n < pieces.size(); ++n)
      if (pieces[n].kind != pieces[n % of_line].kind || !same_line(pieces[n], pieces[n - n % of_line]))
        return false;
    return true;
  }

  bool has_air() const {
    return std::any_of(shares.begin(), shares.end(), [&](const auto& s) { return kinds[s.first].air; });
  }
};

/// The columns of a table of averages: the properties of the earth, then the added conductivities along axes.
struct Columns {
  std::vector<std::string> names;
  std::vector<Mean> means;
  std::size_t density, isotropic;  ///< indices of the columns of density and of the conductivity (or
                                   ///< resistivity) for all axes; names.size() if there is none
  std::size_t added;               ///< index of the first added column
  bool resistive;                  ///< whether `isotropic` is a resistivity

  Columns(const std::vector<std::string>& of_earth, bool along_axes) : names(of_earth) {
    const auto place = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find(of_earth.begin(), of_earth.end(), name) - of_earth.begin());
    };
    for (const auto& name : names) means.push_back(mean_of(property_kind(name)));
    density = place("density");
    resistive = place("conductivity") == names.size();
    isotropic = place(resistive ? "resistivity" : "conductivity");
    added = names.size();
    const bool own = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("conductivity_") || name.starts_with("resistivity_");
    });
    if (along_axes && !own && isotropic < added)
      for (const auto axis : axis_names) names.push_back(fmt::format("conductivity_{}", axis));
  }
};

bool resists(std::string_view name) { return name.starts_with("resistivity"); }

/// The average of one property of a mixed cell.
double mean(const Mixed& cell, const Columns& columns, std::size_t p, std::size_t slabs) {
  const auto& name = columns.names[p];
  switch (columns.means[p]) {
    case Mean::volume:
      return cell.volume(p);
    case Mean::reciprocal:
      return cell.reciprocal(p);
    case Mean::largest:
      return cell.largest(p);
    case Mean::compliance:
      return cell.compliance(p, columns.density);
    case Mean::currents:
      break;
  }
  const bool inverse = resists(name);
  const auto conducts = [&](double value) { return inverse ? 1 / value : value; };
  double sigma = nothing;
  const auto of_kind = [&](std::uint32_t kind) { return conducts(cell.value(kind, p)); };
  const bool whole = std::none_of(cell.shares.begin(), cell.shares.end(),
                                  [&](const auto& s) { return std::isnan(cell.value(s.first, p)); });
  if (!whole || cell.has_air() || name.find('_') == name.npos || name.starts_with("thermal"))
    sigma = cell.conductance(p, conducts);
  else if (name.ends_with("_up")) sigma = cell.upwards(of_kind);
  else sigma = cell.sideways(name.ends_with("_north"), slabs, of_kind);
  return conducts(sigma);
}

}  // namespace

// --- the description
// -----------------------------------------------------------------------------------------

double Description::ground(double easting, double northing) const {
  if (!topography) return endless;
  if (const auto* level = std::get_if<double>(&*topography)) return *level;
  const auto& grid = std::get<Grid>(*topography);
  return grid.interpolate(std::clamp(easting, grid.easting.front(), grid.easting.back()),
                          std::clamp(northing, grid.northing.front(), grid.northing.back()));
}

std::vector<std::string> Description::properties() const {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const auto& value : background) add(value.property);
  if (cells)
    for (const auto& property : cells->properties) add(property.name);
  for (const auto& body : bodies)
    for (const auto& value : body.values) add(value.property);
  for (const auto& law : laws)
    if (std::find(names.begin(), names.end(), law.from) != names.end()) add(law.to);
  for (const auto& value : air) add(value.property);
  return names;
}

double Description::at(std::string_view property, double easting, double northing, double up) const {
  const auto names = properties();
  const auto p = static_cast<std::size_t>(std::find(names.begin(), names.end(), property) - names.begin());
  if (p == names.size()) return nothing;
  Kinds kinds(*this, names);
  const Lines lines(*this, false);
  double found = nothing;
  const double reach = 1e-6 * std::max(1.0, std::fabs(up));
  lines.walk(easting, northing, up, up + reach, lines.near(-endless, endless, -endless, endless), kinds,
             [&](double bottom, double, std::uint32_t kind, const auto&) {
               if (bottom == up) found = kinds[kind].values[p];
             });
  return found;
}

std::vector<double> Description::values(std::string_view property) const {
  std::vector<double> found;
  const auto add_all = [&](std::vector<PropertyValue> all) {
    const auto of = [&](std::string_view name) {
      return std::find_if(all.begin(), all.end(), [&](const PropertyValue& v) { return v.property == name; });
    };
    for (const auto& law : laws)
      if (of(law.to) == all.end() && of(law.from) != all.end())
        all.push_back({std::string(law.to), law.value(of(law.from)->value)});
    if (const auto value = of(property); value != all.end()) found.push_back(value->value);
  };
  add_all(background);
  for (const auto& body : bodies) add_all(body.values);
  if (cells)
    for (std::size_t n = 0; n < cells->size(); ++n) {
      std::vector<PropertyValue> held;
      for (const auto& p : cells->properties)
        if (!std::isnan(p.values[n])) held.push_back({p.name, p.values[n]});
      add_all(std::move(held));
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Prism Description::bounds() const {
  Prism box{endless, -endless, endless, -endless, endless, -endless};
  const auto add = [&](const Prism& b) {
    const auto widen = [](double low, double high, double& least, double& most) {
      if (std::isfinite(low)) least = std::min(least, low);
      if (std::isfinite(high)) most = std::max(most, high);
    };
    widen(b.west, b.east, box.west, box.east);
    widen(b.south, b.north, box.south, box.north);
    widen(b.bottom, b.top, box.bottom, box.top);
  };
  for (const auto& body : bodies) {
    const auto* layer = std::get_if<Layer>(&body.shape);
    if (layer == nullptr) {
      add(terrane::bounds(body.shape));
      continue;
    }
    for (const auto* surface : {&layer->bottom, &layer->top})  // a constant elevation has no edge
      if (surface->index() == 1) add(terrane::bounds(Layer{*surface, *surface}));
  }
  if (cells) add(std::get<MeshCells>(cells->geometry).mesh.bounds());
  return box;
}

void check(const Description& earth) {
  if (earth.cells && std::holds_alternative<PrismSet>(earth.cells->geometry))
    throw InputError("model", "a list of prisms is no description of all of the earth",
                     "Take a mesh of cells.");
  for (const auto& body : earth.bodies) check(body);
  if (earth.topography)
    if (const auto* grid = std::get_if<Grid>(&*earth.topography)) {
      check(*grid, "model.topography");
      if (grid->geographic)
        throw InputError("model.topography", "the grid is in degrees of longitude and latitude");
      if (std::any_of(grid->values.begin(), grid->values.end(), [](double z) { return std::isnan(z); }))
        throw InputError("model.topography", "the grid has gaps",
                         "Fill them: the ground is somewhere everywhere.");
    }
}

namespace {

void complete_axes(EarthModel& cells) {
  const auto& held = std::get<MeshCells>(cells.geometry).cell;
  for (const auto axis : axis_names) {
    auto all = conductivity_along(cells, axis);
    if (all.empty()) return;
    auto own = values_at(held, std::move(all));
    const auto name = conducts_along(axis).front().property;
    const auto there = std::find_if(cells.properties.begin(), cells.properties.end(),
                                    [&](const Property& p) { return p.name == name; });
    if (there != cells.properties.end()) there->values = std::move(own);
    else cells.properties.push_back({name, std::move(own)});
  }
}

/// A grid extended to the sides of a mesh by the values at its edge.
Surface continued(const Surface& surface, const Prism& box) {
  const auto* given = std::get_if<Grid>(&surface);
  if (given == nullptr) return surface;
  Grid wide = *given;
  const auto widen = [](std::vector<double>& axis, double low, double high) {
    axis.insert(axis.begin(), std::min(low, axis.front()) - 1);
    axis.push_back(std::max(high, axis.back()) + 1);
  };
  widen(wide.easting, box.west, box.east);
  widen(wide.northing, box.south, box.north);
  wide.values.clear();
  for (std::size_t j = 0; j < wide.n_north(); ++j)
    for (std::size_t i = 0; i < wide.n_east(); ++i)
      wide.values.push_back(given->at(std::clamp<std::size_t>(i, 1, given->n_east()) - 1,
                                      std::clamp<std::size_t>(j, 1, given->n_north()) - 1));
  return wide;
}

}  // namespace

void complete_axes(Description& earth) {
  if (earth.rule == OverlapRule::add || !conduct_by_axis(earth.properties())) return;
  const auto complete = [](std::vector<PropertyValue>& values) {
    const auto find = [&](const std::string& name) {
      return std::find_if(values.begin(), values.end(),
                          [&](const auto& one) { return one.property == name; });
    };
    for (const auto axis : axis_names)
      for (const auto& source : conducts_along(axis)) {
        const auto found = find(source.property);
        if (found == values.end() || !(found->value > 0)) continue;
        const auto own = conducts_along(axis).front().property;
        if (found->property != own) values.push_back({own, source.conductivity(found->value)});
        break;
      }
  };
  complete(earth.background);
  complete(earth.air);
  for (auto& body : earth.bodies) complete(body.values);
  if (earth.cells) complete_axes(*earth.cells);
}

EarthModel paint(const TensorMesh& mesh, const Description& earth, PaintReport* report) {
  check(earth);
  auto bodies = earth.bodies;
  const bool first = !earth.background.empty();
  if (first) bodies.insert(bodies.begin(), {mesh.bounds(), earth.background, "background"});
  if (earth.topography && !earth.air.empty()) {  // a layer of air, whose cells are then stored
    const auto* level = std::get_if<double>(&*earth.topography);
    const double top = std::max(mesh.up().back(), level ? *level : -endless) + 1;
    bodies.push_back({Layer{continued(*earth.topography, mesh.bounds()), top}, earth.air, "air"});
  }
  auto model = paint(mesh, bodies, earth.rule, report);
  if (report) {
    report->cells.resize(earth.bodies.size() + (first ? 1 : 0));
    if (first) report->cells.erase(report->cells.begin());
  }
  if (!earth.topography) return model;
  const auto above =
      above_ground(model, [&](double easting, double northing) { return earth.ground(easting, northing); });
  for (auto& property : model.properties) {
    double air = property_kind(property.name).absent;
    for (const auto& value : earth.air)
      if (value.property == property.name) air = value.value;
    for_each_stretch(above.size(), 0, [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n)
        if (above[n]) property.values[n] = air;
    });
  }
  return model;
}

std::vector<bool> above_ground(const EarthModel& model, const Ground& ground) {
  const auto& mesh = std::get<MeshCells>(model.geometry).mesh;
  const auto& cells = std::get<MeshCells>(model.geometry).cell;
  std::vector<bool> above(cells.size());
  static_assert(stretch_length % 64 == 0);  // so that no two threads write bits of one word
  for_each_stretch(cells.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const auto box = mesh.prism(cells[n]);
      above[n] = (box.bottom + box.top) / 2 >= ground((box.west + box.east) / 2, (box.south + box.north) / 2);
    }
  });
  return above;
}

namespace {

/// Averages of a description over the cells of a mesh, row after row, from vertical lines through each column
/// of cells.
class CellAverages {
 public:
  CellAverages(const TensorMesh& mesh, const Description& earth, const AverageOptions& options)
      : mesh_(mesh),
        earth_(earth),
        options_(options),
        known_(earth.properties()),
        columns_(known_, options.along_axes),
        lines_(earth, options.above_ground),
        held(earth.bodies.size()) {
    const auto edges = edges_of(earth);
    for (std::size_t i = 0; i < mesh.n_east(); ++i)
      east_.push_back(parts_between(mesh.easting()[i], mesh.easting()[i + 1], options.parts, edges[0]));
    for (std::size_t j = 0; j < mesh.n_north(); ++j)
      north_.push_back(parts_between(mesh.northing()[j], mesh.northing()[j + 1], options.parts, edges[1]));
    for (const auto& name : columns_.names)
      values.push_back({name, filled(mesh.size(), property_kind(name).absent)});
  }

  void compute() {
    for_each(mesh_.n_north(), options_.threads, [&](std::size_t j) {
      Kinds kinds(earth_, known_);
      std::vector<std::vector<Piece>> pieces(mesh_.n_up());
      std::vector<std::size_t> own(earth_.bodies.size());
      for (std::size_t i = 0; i < mesh_.n_east(); ++i) {
        cut(i, j, kinds, pieces, own);
        for (std::size_t k = 0; k < mesh_.n_up(); ++k) put(i, j, k, pieces[k], kinds);
      }
      const std::lock_guard lock(counting_);
      for (std::size_t n = 0; n < own.size(); ++n) held[n] += own[n];
    });
  }

 private:
  /// Divides the vertical lines of column (i, j) at cell faces into pieces of one medium: pieces [up]. Counts
  /// in `own` [bodies] the cells of the column that contain a part of the body.
  void cut(std::size_t i, std::size_t j, Kinds& kinds, std::vector<std::vector<Piece>>& pieces,
           std::vector<std::size_t>& own) const {
    const auto &east = east_[i], &north = north_[j];
    const auto& up = mesh_.up();
    const auto bodies =
        lines_.near(mesh_.easting()[i], mesh_.easting()[i + 1], mesh_.northing()[j], mesh_.northing()[j + 1]);
    for (auto& of_cell : pieces) of_cell.clear();
    std::vector<std::pair<std::size_t, std::size_t>>
        touched;  // pairs of a body and a cell that contains a part of it
    for (std::uint32_t b = 0; b < north.size(); ++b)
      for (std::uint32_t a = 0; a < east.size(); ++a) {
        std::size_t k = 0;
        lines_.walk(east[a].middle, north[b].middle, up.front(), up.back(), bodies, kinds,
                    [&](double from, double to, std::uint32_t kind, const std::vector<std::uint64_t>& cover) {
                      while (k + 1 < mesh_.n_up() && up[k + 1] <= from) ++k;
                      for (auto n = k; n < mesh_.n_up() && up[n] < to; ++n) {
                        pieces[n].push_back({a, b, kind, std::max(from, up[n]), std::min(to, up[n + 1])});
                        for (std::size_t c = 1; c < cover.size(); ++c)
                          if (cover[c] != Kinds::is_air) touched.emplace_back(cover[c], n);
                      }
                    });
      }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const auto& body_and_cell : touched) ++own[body_and_cell.first];
  }

  void put(std::size_t i, std::size_t j, std::size_t k, const std::vector<Piece>& pieces,
           const Kinds& kinds) {
    const auto cell = mesh_.index(i, j, k);
    const auto first = pieces.front().kind;
    const bool one =
        std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.kind == first; });
    std::optional<Mixed> mixed;
    if (!one) mixed.emplace(east_[i], north_[j], mesh_.up()[k], mesh_.up()[k + 1], pieces, kinds);
    for (std::size_t p = 0; p < columns_.added; ++p)
      values[p].values[cell] = one ? kinds[first].values[p] : mean(*mixed, columns_, p, options_.parts);
    if (columns_.names.size() == columns_.added) return;
    const auto sigma = columns_.isotropic;
    const auto conducts = [&](double value) { return columns_.resistive ? 1 / value : value; };
    const auto of_kind = [&](std::uint32_t kind) { return conducts(kinds[kind].values[sigma]); };
    const double isotropic = conducts(values[sigma].values[cell]);
    const bool by_axes = !one && !mixed->has_air() && (!options_.of_layers_alone || mixed->is_layered()) &&
                         std::none_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
                           return std::isnan(kinds[p.kind].values[sigma]);
                         });
    for (std::size_t axis = 0; axis < 3; ++axis)
      values[columns_.added + axis].values[cell] = !by_axes ? isotropic
                                                   : axis == 2
                                                       ? mixed->upwards(of_kind)
                                                       : mixed->sideways(axis == 1, options_.parts, of_kind);
  }

  const TensorMesh& mesh_;
  const Description& earth_;
  const AverageOptions& options_;
  std::vector<std::string> known_;
  Columns columns_;
  Lines lines_;
  std::vector<std::vector<Part>> east_, north_;  ///< [cells along the axis] the parts of each cell
  std::mutex counting_;

 public:
  std::vector<Property> values;   ///< [columns] values of all cells of the mesh
  std::vector<std::size_t> held;  ///< [bodies]: number of cells that contain a part of the body
};

}  // namespace

EarthModel average(const TensorMesh& mesh, const Description& described, const AverageOptions& options,
                   PaintReport* report) {
  check(described);
  Description earth = described;
  const auto known = earth.properties();
  std::erase_if(earth.laws, [&](const Law& law) {
    return std::find(known.begin(), known.end(), law.from) == known.end();
  });
  CellAverages averages(mesh, earth, options);
  averages.compute();
  if (report) report->cells = std::move(averages.held);
  return from_dense(mesh, std::move(averages.values));
}

}  // namespace terrane
