#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/solve/device_gradients.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::solve {

namespace {

using SplitView = NetworkView<double, detail::JoinedLinks>;

/// q = A p
template <class A>
struct Apply {
  A a;
  View<const double, 3> p;
  View<double, 3> q;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { q(k, j, i) = a.apply(p, k, j, i); }
};

/// q = A p; returns the point's p q, of which pᵀq is the sum.
template <class A>
struct ApplyAndProduct {
  A a;
  GridView<const double> p;
  GridView<double> q;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    const double value = a.apply(p, k, j, i);
    q(k, j, i) = value;
    return p(k, j, i) * value;
  }
  /// Computes a row on a CPU (reduce.hpp): whether the network has storage is tested before the loop.
  template <int Columns>
  void row(Index k, Index j, Index first, Index last, double (&values)[1][Columns]) const {
    auto still = a;
    still.shift = 0;
    if (a.shift == 0) row_of(still, k, j, first, last, values[0]);
    else row_of(a, k, j, first, last, values[0]);
  }

 private:
  void row_of(const A net, Index k, Index j, Index first, Index last, double* values) const {
    const GridView<const double> from = p;
    const GridView<double> to = q;
#if !defined(__CUDACC__)
#pragma omp simd
#endif
    for (Index i = first; i < last; ++i) {
      const double value = net.apply(from, k, j, i);
      to(k, j, i) = value;
      values[i - first] = from(k, j, i) * value;
    }
  }
};

/// α or β: a number, or the address of one that earlier kernels have computed on the device.
struct Scalar {
  double value = 0;
  const double* there = nullptr;
  TERRANE_FN double get() const { return there == nullptr ? value : *there; }
};
/// A step of conjugate gradients (krylov.hpp), x += α p,  r −= α q; returns the point's r². step: α.
struct Advance {
  Scalar step;
  GridView<const double> p, q;
  GridView<double> x, r;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    const double left = next(k, j, i);
    return left * left;
  }
  /// Computes a row on a CPU (reduce.hpp).
  template <int Columns>
  void row(Index k, Index j, Index first, Index last, double (&values)[1][Columns]) const {
    const double alpha = step.get();
    const GridView<const double> from_p = p, from_q = q;
    const GridView<double> to_x = x, to_r = r;
#if !defined(__CUDACC__)
#pragma omp simd
#endif
    for (Index i = first; i < last; ++i) {
      const double ahead = to_x(k, j, i) + alpha * from_p(k, j, i),
                   left = to_r(k, j, i) - alpha * from_q(k, j, i);
      to_x(k, j, i) = ahead;
      to_r(k, j, i) = left;
      values[0][i - first] = left * left;
    }
  }
  TERRANE_FN double next(Index k, Index j, Index i) const {
    const double alpha = step.get();
    const double ahead = x(k, j, i) + alpha * p(k, j, i), left = r(k, j, i) - alpha * q(k, j, i);
    x(k, j, i) = ahead;
    r(k, j, i) = left;
    return left;
  }
};

/// p = z + β p
struct NewDirection {
  double beta;
  GridView<const double> z;
  GridView<double> p;
  // The branch that all points take; evaluated before the loop (sweep.hpp).
  bool choice() const { return beta == 0; }
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    p(k, j, i) = beta == 0 ? z(k, j, i) : z(k, j, i) + beta * p(k, j, i);
  }
};

/// r = b − q
struct Subtract {
  GridView<const double> b, q;
  GridView<double> r;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { r(k, j, i) = b(k, j, i) - q(k, j, i); }
};

/// 1/diag(A); 0 at a point without conductance and storage.
struct InverseDiagonal {
  NetworkView<double> a;
  View<double, 3> out;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    out(k, j, i) = a.over_diagonal(1.0, k, j, i);
  }
};

/// z = d r, with d = 1/diag(A).
struct Multiply {
  View<const double, 3> d, r;
  View<double, 3> z;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { z(k, j, i) = d(k, j, i) * r(k, j, i); }
};

/// a b, rounded as if it were stored: nvcc would otherwise fuse the product with a sum.
TERRANE_FN double stored_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// r z, where z = d r and d = 1/diag(A).
struct WeightedSquare {
  GridView<const double> d, r;
  TERRANE_FN double operator()(Index k, Index j, Index i) const {
    const double left = r(k, j, i);
    return left * stored_product(d(k, j, i), left);
  }
};
/// Like Advance, but returns the point's r² and r z, where z = d r and d = 1/diag(A).
struct AdvanceWeighted {
  Advance advance;
  GridView<const double> d;
  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    const double weight = d(k, j, i), left = advance.next(k, j, i);
    return {{left * left, left * stored_product(weight, left)}};
  }
};
/// p = z + β p, where z = d r and d = 1/diag(A).
struct NewWeightedDirection {
  Scalar kept;
  View<const double, 3> d, r;
  View<double, 3> p;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const double z = stored_product(d(k, j, i), r(k, j, i)), beta = kept.get();
    p(k, j, i) = beta == 0 ? z : z + beta * p(k, j, i);
  }
};

/// The Space of krylov.hpp for real fields on the points of a network.
class PointSpace {
 public:
  using Vector = Field<double>;
  using Number = double;

  PointSpace(Stream& stream, const IndexBox<3>& part, const SharedGrid<double>* grid,
             SharedMemory* scratch = nullptr)
      : stream_(stream),
        grid_(grid),
        scratch_(scratch),
        part_(part),
        sums_(stream, grid ? grid->whole() : part, part, grid ? grid->comm() : alone_, 2) {}

  Vector vector() { return {stream_, part_}; }
  Vector image() { return vector(); }
  Vector scratch() { return scratch_ ? Vector(stream_, part_, *scratch_, 0) : image(); }
  double dot(const Vector& u, const Vector& v) { return sum(Product<3>{u.view(), v.view()}); }
  double norm(const Vector& u) { return std::sqrt(dot(u, u)); }
  void subtract(const Vector& b, const Vector& q, Vector& r) {
    sweep(stream_, part_, Subtract{b.view(), q.view(), r.view()}, After::events);
    product_ = std::nullopt;
  }
  /// v = u + β v: CG uses no other factor of u.
  void blend(double, const Vector& u, double beta, Vector& v) {
    sweep(stream_, part_, NewDirection{beta, u.view(), v.view()}, After::events);
  }
  double advance_and_norm(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    const Advance kernel{{alpha}, p.view(), q.view(), x.view(), r.view()};
    if (!inverse_) return std::sqrt(sum(kernel));
    const auto sums = this->sums<2>(AdvanceWeighted{kernel, inverse_->view()});
    product_ = sums[1];
    return std::sqrt(sums[0]);
  }
  double apply_and_product(const Network<double>& a, const Vector& p, Vector& q) {
    return sum(ApplyAndProduct<NetworkView<double>>{NetworkView<double>(a), p.view(), q.view()});
  }
  double apply_and_product(const SplitNetwork& a, const Vector& p, Vector& q) {
    return sum(ApplyAndProduct<SplitView>{SplitView(a), p.view(), q.view()});
  }

  /// From here on z = d r, d = 1/diag(A), is not stored: rᵀz is added up while r is computed.
  void leave_out_z(const Field<double>& d) {
    inverse_ = &d;
    gradients_.emplace(stream_.device());
  }
  double product_with_z(const Vector& r) {
    return product_ ? *product_ : sum(WeightedSquare{inverse_->view(), r.view()});
  }
  /// Computes an iteration as one graph, for the vectors of one solve; none with several ranks.
  std::optional<StepDone<double>> whole_step(const Network<double>& a, RoomOfGradients<PointSpace>& room,
                                             Vector& x, bool fresh) {
    if (!sums_.alone()) return std::nullopt;
    return gradients_->iterate(Kernels{*this, a, room.r, room.p, room.q, x}, fresh);
  }
  void new_direction(const Vector& r, double beta, Vector& p) {
    for_each(stream_, part_, NewWeightedDirection{{beta}, inverse_->view(), r.view(), p.view()});
  }

 private:
  /// The kernels that device_gradients.hpp calls. rᵀz is added up while r is computed, and initially by
  /// begin().
  struct Kernels {
    using Numbers = StepNumbers<double>;
    PointSpace& own;
    const Network<double>& a;
    Vector &r, &p, &q, &x;

    Stream& stream() const { return own.stream_; }
    void wait() const { own.stream_.wait(); }
    template <class Kernel>
    void one(const Kernel& kernel) const {
      for_each(own.stream_, std::size_t{1}, kernel);
    }
    void begin(Numbers* n) const {
      own.sums_.template sums_to<1>(&n->next, WeightedSquare{own.inverse_->view(), std::as_const(r).view()});
    }
    void precondition(Numbers*) const {}
    void direction(Numbers* n) const {
      for_each(own.stream_, own.part_,
               NewWeightedDirection{{0, &n->beta}, own.inverse_->view(), std::as_const(r).view(), p.view()});
    }
    void product(Numbers* n) const {
      own.sums_.template sums_to<1>(
          &n->curvature, ApplyAndProduct<NetworkView<double>>{NetworkView<double>(a), p.view(), q.view()});
    }
    void advance(Numbers* n) const {
      const Advance step{{0, &n->alpha}, p.view(), q.view(), x.view(), r.view()};
      own.sums_.template sums_to<2>(&n->square, AdvanceWeighted{step, own.inverse_->view()});
    }
  };

  /// Sums over all ranks; while the host waits, it checks whether messages are lost.
  template <int M, class Kernel>
  std::array<double, M> sums(const Kernel& kernel) {
    sums_.template begin_sums<M>(kernel);
    if (grid_) grid_->watch(stream_);
    return sums_.template end_sums<M>();
  }
  template <class Kernel>
  double sum(const Kernel& kernel) {
    return sums<1>(kernel)[0];
  }

  Stream& stream_;
  const SharedGrid<double>* grid_;
  SharedMemory* scratch_;
  Alone alone_;
  IndexBox<3> part_;
  Reduction<3> sums_;
  const Field<double>* inverse_ = nullptr;  // inverse diagonal d = 1/diag(A), used if z is not stored
  std::optional<double> product_;           // product rᵀz for the latest r
  std::optional<DeviceGradients<double>> gradients_;
};

/// Preconditioning by the diagonal without storing z.
struct DiagonalAlone {
  PointSpace& space;
  const Network<double>& network;
  double operator()(const Field<double>& r, Field<double>&, double) const { return space.product_with_z(r); }
  void new_direction(const Field<double>& r, double beta, Field<double>& p) const {
    space.new_direction(r, beta, p);
  }
  auto whole_step(RoomOfGradients<PointSpace>& room, Field<double>& x, double, bool fresh) const {
    return space.whole_step(network, room, x, fresh);
  }
};

}  // namespace

Jacobi::Jacobi(Stream& stream, const Network<double>& network) {
  auto inverse = std::make_shared<Field<double>>(stream, network.points());
  for_each(stream, network.points(), InverseDiagonal{NetworkView<double>(network), inverse->view()});
  inverse_ = std::move(inverse);
}
void Jacobi::operator()(Stream& stream, const Field<double>& r, Field<double>& z, double) const {
  for_each(stream, r.points(), Multiply{inverse_->view(), r.view(), z.view()});
}

void apply(Stream& stream, const Network<double>& network, const Field<double>& p, Field<double>& q) {
  for_each(stream, network.points(),
           Apply<NetworkView<double>>{NetworkView<double>(network), p.view(), q.view()});
}
void apply(Stream& stream, const SplitNetwork& network, const Field<double>& p, Field<double>& q) {
  for_each(stream, network.points(), Apply<SplitView>{SplitView(network), p.view(), q.view()});
}

namespace {

template <class A, class Precondition>
SolveReport solve(Stream& stream, PointSpace& space, const A& network, const Field<double>& b,
                  Field<double>& x, const Precondition& precondition, const Stopping& stopping,
                  const SharedGrid<double>* grid) {
  RoomOfGradients<PointSpace> room(space);
  const auto apply = [&](Field<double>& p, Field<double>& q) {
    if (grid) grid->bring(stream, p);
    return space.apply_and_product(network, p, q);
  };
  return conjugate_gradients(space, apply, precondition, b, x, stopping, room);
}
/// A: type of the network.
template <class A>
SolveReport solve(Stream& stream, const A& network, const Field<double>& b, Field<double>& x,
                  const Preconditioner& precondition, const Stopping& stopping,
                  const SharedGrid<double>* grid, SharedMemory* scratch) {
  PointSpace space(stream, network.points(), grid, scratch);
  const auto any = [&](const Field<double>& r, Field<double>& z, double scale) {
    precondition(stream, r, z, scale);
  };
  return solve(stream, space, network, b, x, any, stopping, grid);
}

}  // namespace

SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping, const SharedGrid<double>* grid,
                                SharedMemory* scratch) {
  return solve(stream, network, b, x, precondition, stopping, grid, scratch);
}
SolveReport conjugate_gradients(Stream& stream, const SplitNetwork& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping, const SharedGrid<double>* grid,
                                SharedMemory* scratch) {
  return solve(stream, network, b, x, precondition, stopping, grid, scratch);
}
SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Jacobi& precondition, const Stopping& stopping,
                                const SharedGrid<double>* grid) {
  if (stream.device().kind == Device::Kind::cpu)
    return conjugate_gradients(stream, network, b, x, Preconditioner(precondition), stopping, grid);
  PointSpace space(stream, network.points(), grid);
  space.leave_out_z(precondition.inverse());
  return solve(stream, space, network, b, x, DiagonalAlone{space, network}, stopping, grid);
}

}  // namespace terrane::solve
