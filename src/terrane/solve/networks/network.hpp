// A network of conductances on a grid of points: the 7-point operator of resistivity, heat and pressure.
//
//   (A u)_P = Σ_a [ c_a(P) (u_P − u_{P−e_a}) + c_a(P+e_a) (u_P − u_{P+e_a}) ] + s S_P u_P
//
// c_a(P) ≥ 0 is the conductance between the points P−e_a and P, which are neighbours on axis a. Points beyond
// the grid are grounded (u = 0): a wall with conductance is a Dirichlet or Robin boundary, a wall of
// conductance 0 a natural (Neumann) boundary. S ≥ 0 is storage or leakage per point, s ≥ 0 a scalar. So A is
// a symmetric M-matrix, and positive definite if any link or S grounds the network. If u is complex, the last
// term is i s S_P u_P.
//
// Axes are numbered as in arrays: 0 up, 1 north, 2 east. A field has a layer of points around it, zero beyond
// the grid; with several ranks this layer is the halo.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/solve/values.hpp"

namespace terrane::solve {

inline constexpr int up = 0, north = 1, east = 2;

/// Distances along one axis: spacing[p] is the distance from point p−1 to point p, p = 0 … n; the first and
/// the last are distances to the walls. At a natural end (Neumann) the distance to the wall is not used.
struct AxisSpacing {
  std::vector<double> spacing;  ///< [n + 1] distances, in any unit that is the same on all axes
  bool natural_low = false, natural_high = false;

  Index points() const { return static_cast<Index>(spacing.size()) - 1; }
};

/// The smallest spacing of all axes, except those at natural ends. Throws InputError if a spacing is not a
/// positive length.
double smallest_spacing(const std::array<AxisSpacing, 3>& axes);

namespace detail {

/// Checks that 32-bit integers can number the points of a field, as GridViews on a GPU do. Throws ShapeError.
void check_numbers(Device device, const IndexBox<3>& box);

/// Memory layout of a box that includes the layer around the points. On a GPU, rows are padded and `lead`
/// unused values precede the first one, so that the second value of every row (the first of a point) begins a
/// cache line; or a fraction of a line, if padding to whole lines would lengthen rows by more than 5 %.
struct Rows {
  IndexBox<3> box;
  std::size_t lead = 0;
};
Rows rows_of(Device device, const IndexBox<3>& box, std::size_t bytes_of_a_value);

}  // namespace detail

/// Memory for fields that are never needed at the same time: fields with the same place share it.
class SharedMemory {
 public:
  /// The memory of place `number`, at least `bytes` bytes; its contents are lost if it grows. Throws
  /// MemoryError.
  std::shared_ptr<Buffer<std::byte>> place(Stream& stream, std::size_t number, std::size_t bytes) {
    // Rounded up to whole cache lines: memory that ends at a guard page, as on the debug device, then also
    // begins at a cache line, so that it can contain fields of any type.
    bytes = (bytes + 127) / 128 * 128;
    if (places_.size() <= number) places_.resize(number + 1);
    auto& there = places_[number];
    if (!there) there = std::make_shared<Buffer<std::byte>>();
    if (there->size() < bytes) {
      *there = {};  // frees the memory before more is allocated
      *there = Buffer<std::byte>(stream.device(), bytes);
      there->fill_zero(stream);
    }
    return there;
  }
  /// The current size of a place, bytes.
  std::size_t size(std::size_t number) const {
    return number < places_.size() && places_[number] ? places_[number]->size() : 0;
  }

 private:
  std::vector<std::shared_ptr<Buffer<std::byte>>> places_;
};

/// A field on points of a grid, with a layer of points around them: zero beyond the grid, elsewhere copies of
/// values of other ranks (shared_grid.hpp). V: a real or Complex type.
template <class V>
class Field {
 public:
  using Real = RealOf<V>;
  static constexpr int numbers = Values<V>::numbers;  ///< number of real numbers per point

  Field() = default;
  /// A field of zeros. above: width of the layer at the upper end of each axis, points.  Throws MemoryError;
  /// ShapeError if 32-bit integers cannot number the points on a GPU.
  Field(Stream& stream, const IndexBox<3>& points, Index above = 1) : Field(stream.device(), points, above) {
    memory_ = std::make_shared<Buffer<std::byte>>(stream.device(), end());
    memory_->fill_zero(stream);
  }
  /// A field in memory that is used for other data, too, from byte `from` (a multiple of 128) of the place
  /// on. Before the field is read, all its points must be written and its layer set to zero.
  Field(Stream& stream, const IndexBox<3>& points, SharedMemory& memory, std::size_t place,
        std::size_t from = 0)
      : Field(stream.device(), points, 1) {
    lead_ += from / sizeof(Real);
    memory_ = memory.place(stream, place, end());
  }
  /// A field in the memory of a larger field, at the points with the same indices. It has no layer of its
  /// own.
  Field(const Field& larger, const IndexBox<3>& points)
      : points_(points), box_(points), rows_(larger.rows_), lead_(larger.lead_), memory_(larger.memory_) {
    if (!(overlap(points, larger.points_) == points))
      throw ShapeError("field", "the points are not among those of the larger field");
  }
  /// Another object for this field, in the same memory.
  Field shared() const {
    Field other;
    other.points_ = points_;
    other.box_ = box_;
    other.rows_ = rows_;
    other.lead_ = lead_;
    other.memory_ = memory_;
    return other;
  }
  /// Number of bytes that a field on these points needs in a place of a SharedMemory, from its beginning.
  static std::size_t bytes(Device device, const IndexBox<3>& points) {
    return Field(device, points, 1).end();
  }
  /// Number of bytes from the beginning of the field's memory up to the last value.
  std::size_t end() const { return (lead_ + numbers * size()) * sizeof(Real); }
  Field(Field&&) noexcept = default;
  Field& operator=(Field&&) noexcept = default;

  const IndexBox<3>& points() const { return points_; }
  const IndexBox<3>& box() const { return box_; }  ///< box of the points and the layer around them
  /// The box including the padding of rows on a GPU, which makes the first point of each row begin a cache
  /// line.
  const IndexBox<3>& memory_box() const { return rows_; }
  Device device() const { return memory_ ? memory_->device() : Device{Device::Kind::cpu, -1}; }
  const void* memory() const { return first(); }  ///< address of the first value in memory
  /// A View of a real field, or a ComplexView of a complex one.
  auto view() {
    if constexpr (numbers == 1) return View<Real, 3>(first(), rows_).part(box_);
    else return complex_view<Real>(first(), rows_);
  }
  auto view() const {
    if constexpr (numbers == 1) return View<const Real, 3>(first(), rows_).part(box_);
    else return complex_view<const Real>(first(), rows_);
  }
  /// All values of a complex field in the order of memory, as one row with indices (0, 0, n).
  auto row() const { return complex_view<const Real>(first(), index_box(1, 1, static_cast<Index>(size()))); }
  /// The field as real arrays, for messages. parts(): an array of real parts and one of imaginary parts;
  /// pairs(): one array, in which index i of the last axis becomes 2i (real part) and 2i + 1 (imaginary
  /// part).
  std::array<View<Real, 3>, numbers> parts() {
    std::array<View<Real, 3>, numbers> all;
    for (std::size_t n = 0; n < all.size(); ++n)
      all[n] = View<Real, 3>(first() + n * size(), rows_).part(box_);
    return all;
  }
  View<Real, 3> pairs() { return View<Real, 3>(first(), twice(rows_)).part(twice(box_)); }
  /// Zeroes the field's memory, including other fields there.
  void fill_zero(Stream& stream) { memory_->fill_zero(stream); }

  /// values [points], in row-major order; for a complex field all real parts, then all imaginary parts.
  void upload(Stream& stream, const std::vector<Real>& values) { upload(stream, values, points_); }
  std::vector<Real> download(Stream& stream) const { return download(stream, points_); }
  /// values [points and a layer of one point]: for conductances, which are also given at the walls.
  void upload_with_layer(Stream& stream, const std::vector<Real>& values) {
    upload(stream, values, points_.grown(1));
  }
  /// Uploads values, given on the box `there`, to those of its points that this field has; zero at the
  /// field's other points.
  void upload(Stream& stream, const std::vector<Real>& values, const IndexBox<3>& there);
  std::vector<Real> download(Stream& stream, const IndexBox<3>& there) const;

 private:
  Field(Device device, const IndexBox<3>& points, Index above) : points_(points), box_(points.grown(1)) {
    for (int a = 0; a < 3; ++a) box_ = box_.grown(a, 0, above - 1);
    const auto rows = detail::rows_of(device, box_, numbers * sizeof(Real));
    rows_ = rows.box;
    lead_ = rows.lead * numbers;
    detail::check_numbers(device, rows_);
  }
  std::size_t size() const { return static_cast<std::size_t>(rows_.count()); }
  Real* first() { return memory_ ? reinterpret_cast<Real*>(memory_->view().data) + lead_ : nullptr; }
  const Real* first() const {
    return memory_ ? reinterpret_cast<const Real*>(std::as_const(*memory_).view().data) + lead_ : nullptr;
  }
  template <class T>
  ComplexView<T> complex_view(T* first, const IndexBox<3>& box) const {
    return {View<T, 3>(first, box), device(), static_cast<std::ptrdiff_t>(size())};
  }
  static IndexBox<3> twice(const IndexBox<3>& box) { return box.with(2, 2 * box.first[2], 2 * box.last[2]); }
  IndexBox<3> points_, box_, rows_;
  std::size_t lead_ = 0;  // number of values in memory before the first value
  std::shared_ptr<Buffer<std::byte>> memory_;
};

/// The coefficients of A on one device, at the points that a rank has; links are made by link_field().
template <class T>
struct Network {
  /// Conductance c_a, stored at the upper point of the link; index n: link to the high wall.
  std::array<Field<T>, 3> link;
  Field<T> storage;  ///< S, or empty
  double shift = 0;  ///< s

  const IndexBox<3>& points() const { return link[0].points(); }
};

/// A field for links, with a layer that is two points wider at the upper end of each axis, as multigrid with
/// several ranks needs.
template <class T>
Field<T> link_field(Stream& stream, const IndexBox<3>& points) {
  return Field<T>(stream, points, 3);
}

/// A Network<double> without S. It stores c_a rounded to float, as a multigrid in single precision does
/// anyway, and the number of representable doubles between the rounded value and c_a. Both together give c_a
/// to the last bit if c_a is 0 or within the range of float; if c_a is below that range, it is rounded.
struct SplitNetwork {
  std::array<Field<float>, 3> rounded;  ///< shared with the finest level of a Multigrid
  /// Number of doubles from the rounded value to c_a, at the points and at one point beyond the last along
  /// the axis.
  std::array<Field<std::int32_t>, 3> steps;

  const IndexBox<3>& points() const { return steps[0].points(); }
};

namespace detail {

TERRANE_FN std::int64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
  return __double_as_longlong(value);
#else
  return std::bit_cast<std::int64_t>(value);
#endif
}
/// The double that is `steps` representable numbers farther from zero than `rounded`.
TERRANE_FN double joined(float rounded, std::int32_t steps) {
  const std::int64_t bits = bits_of(static_cast<double>(rounded)) + steps;
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(bits);
#else
  return std::bit_cast<double>(bits);
#endif
}
/// The number of representable doubles from `rounded` to `value`; 0 if that exceeds 32 bits, which happens
/// below the range of float.
TERRANE_FN std::int32_t steps_between(float rounded, double value) {
  const std::int64_t steps = bits_of(value) - bits_of(static_cast<double>(rounded));
  const auto few = static_cast<std::int32_t>(steps);
  return few == steps ? few : 0;
}

/// A view of c_a of a SplitNetwork, for kernels.
struct JoinedLinks {
  GridView<const float> rounded;
  GridView<const std::int32_t> steps;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    return joined(rounded(k, j, i), steps(k, j, i));
  }
};

}  // namespace detail

/// A view of a network, for kernels.
template <class T, class Links = GridView<const T>>
struct NetworkView {
  Links c[3];
  GridView<const T> storage;
  T shift = 0;  // 0 if there is no storage

  NetworkView() = default;
  explicit NetworkView(const Network<T>& network) requires std::is_same_v<Links, GridView<const T>>
      : c{network.link[0].view(), network.link[1].view(), network.link[2].view()},
        shift(static_cast<T>(network.shift)) {
    if (network.shift != 0) storage = network.storage.view();
  }
  explicit NetworkView(const SplitNetwork& network) requires std::is_same_v<Links, detail::JoinedLinks> {
    for (std::size_t a = 0; a < 3; ++a) c[a] = {network.rounded[a].view(), network.steps[a].view()};
  }

  /// D⁻¹ value, with D the diagonal of A; 0 if D is 0.
  template <class V>
  TERRANE_FN V over_diagonal(V value, Index k, Index j, Index i) const {
    const T sum = c[up](k, j, i) + c[up](k + 1, j, i) + (c[north](k, j, i) + c[north](k, j + 1, i)) +
                  (c[east](k, j, i) + c[east](k, j, i + 1));
    return Values<V>::divided(value, sum, shift == T(0) ? T(0) : shift * storage(k, j, i));
  }
  /// All coefficients of A at a point: six conductances, and s S.
  struct Coefficients {
    T below, above, south, to_north, west, to_east, held;
  };
  TERRANE_FN Coefficients coefficients(Index k, Index j, Index i) const {
    return {c[up](k, j, i),
            c[up](k + 1, j, i),
            c[north](k, j, i),
            c[north](k, j + 1, i),
            c[east](k, j, i),
            c[east](k, j, i + 1),
            shift == T(0) ? T(0) : shift * storage(k, j, i)};
  }
  /// D⁻¹ (b − A u)_P, where `here` is u_P.
  template <class U, class V>
  TERRANE_FN V residual_over_diagonal(const Coefficients& at, const V& b, const U& u, const V& here, Index k,
                                      Index j, Index i) const {
    const T diagonal = at.below + at.above + (at.south + at.to_north) + (at.west + at.to_east);
    return Values<V>::divided(b - times(at, u, here, k, j, i), diagonal, at.held);
  }
  /// (A u)_P. U: a view of real or complex values; if u is complex, the storage term is i s S u.
  template <class U>
  TERRANE_FN auto applied(const Coefficients& at, const U& u, Index k, Index j, Index i) const {
    const auto here = u(k, j, i);
    return times(at, u, here, k, j, i);
  }
  template <class U>
  TERRANE_FN auto apply(const U& u, Index k, Index j, Index i) const {
    return applied(coefficients(k, j, i), u, k, j, i);
  }

 private:
  template <class U, class V>
  TERRANE_FN V times(const Coefficients& at, const U& u, const V& here, Index k, Index j, Index i) const {
    const V sum = at.below * (here - u(k - 1, j, i)) + at.above * (here - u(k + 1, j, i)) +
                  (at.south * (here - u(k, j - 1, i)) + at.to_north * (here - u(k, j + 1, i))) +
                  (at.west * (here - u(k, j, i - 1)) + at.to_east * (here - u(k, j, i + 1)));
    return shift == T(0) ? sum : sum + Values<V>::stored(at.held, here);
  }
};

}  // namespace terrane::solve
