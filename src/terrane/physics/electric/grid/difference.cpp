#include "terrane/physics/electric/grid/difference.hpp"

#include <algorithm>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/axes.hpp"

namespace terrane::electric {

namespace {

/// Computes (K − K₀) φ at one node after the other. The differences σ − σ₀ of the eight cells around the node
/// (σ₀: conductivity of the primary's medium) give the conductances to its six neighbours. Cells beyond the
/// mesh count with width 0.
class Difference {
 public:
  Difference(const TensorMesh& mesh, const std::array<const std::vector<double>*, 3>& conductivity,
             const PrimaryMedium& medium, const Boundaries& boundary, const Viewpoint& from,
             const std::vector<double>& phi)
      : axes_(mesh),
        sigma_{conductivity[2], conductivity[1], conductivity[0]},
        source_(medium.source),
        boundary_(boundary),
        from_(from),
        phi_(phi) {
    for (std::size_t a = 0; a < 3; ++a) {
      width_[a].push_back(0);
      for (Index cell = 0; cell + 1 < axes_.nodes(a); ++cell) width_[a].push_back(axes_.width(a, cell));
      width_[a].push_back(0);
      step_[a] = a == 2 ? 1 : a == 1 ? axes_.nodes(2) : axes_.nodes(1) * axes_.nodes(2);
      cells_step_[a] = a == 2 ? 1 : a == 1 ? axes_.nodes(2) - 1 : (axes_.nodes(1) - 1) * (axes_.nodes(2) - 1);
    }
    take(medium);
  }

  void plane(Index k, std::vector<double>& out) const {
    for (Index j = 0; j < axes_.nodes(1); ++j)
      for (Index i = 0; i < axes_.nodes(2); ++i) {
        const Index node[3] = {k, j, i};
        const auto number = static_cast<std::size_t>(k * step_[0] + j * step_[1] + i);
        double sum = 0;
        std::array<double, 8> more;
        for (std::size_t a = 0; a < 3; ++a) {
          if (a == 0 || sigma_[a] != sigma_[a - 1] || taken_[a] != taken_[a - 1])
            if (!gather(a, node, more) && sigma_[1] == sigma_[0] && sigma_[2] == sigma_[0]) break;
          sum += along(a, node, number, more);
        }
        for (std::size_t a = 0; a < 3; ++a)
          for (const bool high : {false, true})
            if (node[a] == (high ? axes_.nodes(a) - 1 : 0)) sum += wall(a, high, node) * phi_[number];
        out[number] = sum;
      }
  }

 private:
  /// Sets σ₀ for each cell along the axis on which the primary's medium varies.
  void take(const PrimaryMedium& medium) {
    const auto& contact = medium.primary.contact;
    if (contact && contact->axis == 1) across_ = 1;
    if (medium.primary.layered) across_ = 0;
    for (Index cell = 0; cell + 1 < axes_.nodes(across_); ++cell) {
      Index low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
      low[across_] = cell;
      high[across_] = cell + 1;
      const Point from = axes_.point(low), to = axes_.point(high);
      const auto& here =
          medium.primary.medium_at((from.e + to.e) / 2, (from.n + to.n) / 2, (from.u + to.u) / 2);
      const auto& sigma = medium.quadrature ? here.quadrature : here.along;
      for (std::size_t a = 0; a < 3; ++a) taken_[a].push_back(sigma[2 - a]);
    }
  }
  double taken(std::size_t a, Index cell) const { return taken_[a][static_cast<std::size_t>(cell)]; }

  /// Sets `more` to σ − σ₀ of the eight cells around a node, the first below, south and west of it. Returns
  /// whether any is nonzero.
  bool gather(std::size_t a, const Index (&node)[3], std::array<double, 8>& more) const {
    bool any = false;
    Index first[3], second[3];  // indices of cells, clamped to the mesh
    const double taken_of[2] = {taken(a, std::max<Index>(node[across_] - 1, 0)),
                                taken(a, std::min(node[across_], axes_.nodes(across_) - 2))};
    const std::size_t bit = across_ == 2 ? 1 : across_ == 1 ? 2 : 4;
    for (std::size_t x = 0; x < 3; ++x) {
      first[x] = std::max<Index>(node[x] - 1, 0) * cells_step_[x];
      second[x] = std::min(node[x], axes_.nodes(x) - 2) * cells_step_[x];
    }
    const double* const sigma = sigma_[a]->data();
    for (std::size_t c = 0; c < 8; ++c) {
      const Index cell =
          (c & 4 ? second : first)[0] + (c & 2 ? second : first)[1] + (c & 1 ? second : first)[2];
      more[c] = sigma[cell] - taken_of[c & bit ? 1 : 0];
      any = any || more[c] != 0;
    }
    return any;
  }
  /// The contribution of the two links of a node along an axis.
  double along(std::size_t a, const Index (&node)[3], std::size_t number,
               const std::array<double, 8>& more) const {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3, bit[3] = {4, 2, 1};
    double sum = 0;
    for (const bool above : {false, true}) {
      const double h = width(a, node[a] + above);
      if (h == 0) continue;
      double area = 0;
      for (std::size_t corner = 0; corner < 4; ++corner)
        area += more[(above ? bit[a] : 0) + (corner & 1 ? bit[b] : 0) + (corner & 2 ? bit[c] : 0)] *
                (width(b, node[b] + (corner & 1)) * width(c, node[c] + (corner >> 1)));
      const auto other =
          static_cast<std::size_t>(static_cast<Index>(number) + (above ? step_[a] : -step_[a]));
      sum += area / (4 * h) * (phi_[number] - phi_[other]);
    }
    return sum;
  }
  /// The contribution of the wall on which a node lies: the sum of (σ w − σ₀ w₀) A/4 over the faces of area A
  /// that meet there, with wall_weight() w of K and w₀ of K₀.
  double wall(std::size_t a, bool high, const Index (&node)[3]) const {
    const auto kind = boundary_(a, high);
    const bool top = a == 0 && high;
    if (top && kind == Boundary::insulated) return 0;
    const Index last = axes_.nodes(a) - 2;
    const double h = axes_.width(a, high ? last : 0);
    const Point p = axes_.point(node);
    const double own = wall_weight(kind, from_, p, a, high, h),
                 through = kind == Boundary::mixed ? own
                           : top                   ? 0  // no current flows through the half space's surface
                                                   : wall_weight(Boundary::mixed, source_, p, a, high, h);
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    Index cell[3];
    cell[a] = high ? last : 0;
    double sum = 0;
    for (std::size_t corner = 0; corner < 4; ++corner) {
      cell[b] = node[b] - 1 + static_cast<Index>(corner & 1);
      cell[c] = node[c] - 1 + static_cast<Index>(corner >> 1);
      const double quarter = width(b, cell[b] + 1) * width(c, cell[c] + 1) / 4;
      if (quarter == 0) continue;
      const Index number = cell[0] * cells_step_[0] + cell[1] * cells_step_[1] + cell[2] * cells_step_[2];
      const double sigma = (*sigma_[a])[static_cast<std::size_t>(number)], sigma_0 = taken(a, cell[across_]);
      sum += quarter * (kind == Boundary::mixed ? (sigma - sigma_0) * own : sigma * own - sigma_0 * through);
    }
    return sum;
  }
  /// The width of the cell below a node along an axis; the cell above it belongs to the next node.
  double width(std::size_t a, Index node) const { return width_[a][static_cast<std::size_t>(node)]; }

  Axes axes_;
  std::array<const std::vector<double>*, 3> sigma_;  // conductivities along up, north, east
  std::array<std::vector<double>, 3> taken_;
  std::size_t across_ = 2;  // the axis along which the primary's medium may vary
  const Viewpoint& source_;
  const Boundaries& boundary_;
  const Viewpoint& from_;
  const std::vector<double>& phi_;
  std::array<std::vector<double>, 3> width_;
  Index step_[3], cells_step_[3];
};

}  // namespace

std::vector<double> difference_times(const TensorMesh& mesh,
                                     const std::array<const std::vector<double>*, 3>& conductivity,
                                     const PrimaryMedium& medium, const Boundaries& boundary,
                                     const Viewpoint& from, const std::vector<double>& phi, int threads) {
  const Difference difference(mesh, conductivity, medium, boundary, from, phi);
  std::vector<double> out(phi.size());
  for_each(mesh.n_up() + 1, threads,
           [&](std::size_t plane) { difference.plane(static_cast<Index>(plane), out); });
  return out;
}

}  // namespace terrane::electric
