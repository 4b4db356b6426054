// Assembled matrices, as the rivals of 2010 have them: conjugate gradients with the diagonal as
// preconditioner over rows in ELLPACK's format and over compressed rows, of the problems of krylov.cpp, on a
// GPU and on CPUs.
//
//   devices_matrix_rows gpu | cpu THREADS SOLVER:CELLS:ITERATIONS ...    prints JSON; THREADS 0: all
//   devices_matrix_rows check      the same equations as Terrane's operators? Fields of both to 1e-9
//
// SOLVER: cg_ell, cg_rows (direct current, 7 entries a row); cocg_ell, cocg_rows (fields of edges, 13).
//
//   ELL               column[slot][row], value[slot][row]: a thread a row, neighbours read neighbours
//   compressed rows   first[row], column[], value[]: 8 threads a row (16 of 13 entries), added by shuffles;
//   on
//                     CPUs a thread takes rows in order
//
// The loop is that of krylov.hpp, and as thrifty: sums are added as their terms are computed, in a fixed
// order, z is never stored, and α and β stay on the GPU. Bytes per unknown and iteration: A p reads 7 entries
// of 12 bytes (13 of 20) and p and writes q; x and r read 5 numbers and write 2; p reads 3 and writes 1. CG
// 84 + 16 + 56 + 32 = 188, COCG 260 + 32 + 112 + 64 = 468; compressed rows 4 more.
#include <cuda_runtime.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/land.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/solve/conjugate_gradients.hpp"

namespace {

using namespace terrane;
using Z = solve::Complex<double>;
using Clock = std::chrono::steady_clock;

void check(cudaError_t status, int line) {
  if (status != cudaSuccess)
    throw std::runtime_error("CUDA, line " + std::to_string(line) + ": " + cudaGetErrorString(status));
}
#define CHECK(call) check(call, __LINE__)

// ---- numbers, real or complex
// ------------------------------------------------------------------------------

TERRANE_FN double square(double a) { return a * a; }
TERRANE_FN double square(Z a) { return a.re * a.re + a.im * a.im; }
__device__ double shuffle(double a, int by) { return __shfl_down_sync(~0u, a, by); }
__device__ Z shuffle(Z a, int by) { return {shuffle(a.re, by), shuffle(a.im, by)}; }
double inverse(double a) { return 1 / a; }
Z inverse(Z a) { return Z{1, 0} / a; }

// ---- matrices
// ----------------------------------------------------------------------------------------------

/// Rows as they are assembled: `width` slots a row, those without an entry have the value 0 and the row's own
/// column.
template <class T>
struct Rows {
  int count = 0, width = 0;
  std::vector<int> column;  ///< [row][slot]
  std::vector<T> value, diagonal;

  Rows(std::size_t rows, int slots)
      : count(static_cast<int>(rows)),
        width(slots),
        column(rows * static_cast<std::size_t>(slots)),
        value(column.size()),
        diagonal(rows) {}
  std::size_t place(std::size_t row, int slot) const {
    return row * static_cast<std::size_t>(width) + static_cast<std::size_t>(slot);
  }
};

/// The grounded box of krylov.cpp: nodes, [up, north, east].
Rows<double> of_nodes(const test::Land& earth) {
  const auto* sigma = &earth.sigma;
  const auto host = electric::assemble(earth.mesh, {{sigma, sigma, sigma}}, electric::Boundary::grounded, {});
  Rows<double> rows(static_cast<std::size_t>(host.nodes.count()), 7);
  std::array<View<const double, 3>, 3> link;
  for (std::size_t x = 0; x < 3; ++x) link[x] = {host.link[x].data(), host.nodes.grown(1)};
  const Index n[3] = {host.nodes.size(0), host.nodes.size(1), host.nodes.size(2)};
  const Index step[3] = {n[1] * n[2], n[2], 1};
#pragma omp parallel for
  for (Index k = 0; k < n[0]; ++k)
    for (Index j = 0; j < n[1]; ++j)
      for (Index i = 0; i < n[2]; ++i) {
        const Index at[3] = {k, j, i}, row = k * step[0] + j * step[1] + i;
        int slot = 0;
        const auto add = [&](Index column, double value) {
          const auto to = rows.place(static_cast<std::size_t>(row), slot++);
          rows.column[to] = static_cast<int>(column);
          rows.value[to] = value;
        };
        double sum = 0;
        for (int x = 0; x < 3; ++x) {
          const auto& c = link[static_cast<std::size_t>(x)];
          const double low = c(k, j, i), high = c(k + (x == 0), j + (x == 1), i + (x == 2));
          sum += low + high;
          add(at[x] > 0 ? row - step[x] : row, at[x] > 0 ? -low : 0);
          add(at[x] + 1 < n[x] ? row + step[x] : row, at[x] + 1 < n[x] ? -high : 0);
        }
        add(row, sum);
        rows.diagonal[static_cast<std::size_t>(row)] = sum;
      }
  return rows;
}

/// Interior edges along up, north and east, one axis after the other; those in walls are zero.
struct Edges {
  std::array<Index, 3> cells;
  std::array<std::vector<double>, 3> width, between;  ///< of cells; of centres beside nodes 1 …

  explicit Edges(const TensorMesh& mesh) {
    const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
    for (std::size_t x = 0; x < 3; ++x) {
      cells[x] = static_cast<Index>(faces[x]->size()) - 1;
      for (std::size_t n = 1; n < faces[x]->size(); ++n)
        width[x].push_back((*faces[x])[n] - (*faces[x])[n - 1]);
      for (std::size_t n = 1; n < width[x].size(); ++n)
        between[x].push_back((width[x][n - 1] + width[x][n]) / 2);
    }
  }
  /// Of the edge along an axis at a place in cells along the axis and nodes across it.
  Index number(int axis, std::array<Index, 3> at) const {
    Index before = 0;
    for (int x = 0; x < axis; ++x) before += count(x);
    return before + (first(axis, 0, at) * size(axis, 1) + first(axis, 1, at)) * size(axis, 2) +
           first(axis, 2, at);
  }
  Index size(int axis, int x) const { return cells[static_cast<std::size_t>(x)] - (x != axis); }
  Index count(int axis) const { return size(axis, 0) * size(axis, 1) * size(axis, 2); }
  Index count() const { return count(0) + count(1) + count(2); }
  bool inside(int axis, std::array<Index, 3> at) const {
    for (int x = 0; x < 3; ++x)
      if (first(axis, x, at) < 0 || first(axis, x, at) >= size(axis, x)) return false;
    return true;
  }

 private:
  static Index first(int axis, int x, std::array<Index, 3> at) {
    return at[static_cast<std::size_t>(x)] - (x != axis);
  }
};

/// Cᵀ M C + iωμ₀ S of the voltages of edges. C sums voltages around faces; M: length of the dual edge over
/// the area of the face; S: conductance of a quarter of each cell beside the edge.
Rows<Z> of_edges(const test::Land& earth, double hertz) {
  const Edges edges(earth.mesh);
  Rows<Z> rows(static_cast<std::size_t>(edges.count()), 13);
  const View<const double, 3> sigma(earth.sigma.data(),
                                    IndexBox<3>{{0, 0, 0}, {edges.cells[0], edges.cells[1], edges.cells[2]}});
  const double rate = 2 * std::numbers::pi * hertz * 4e-7 * std::numbers::pi;
  for (int a = 0; a < 3; ++a)
#pragma omp parallel for
    for (Index k = a != 0; k < edges.cells[0]; ++k)
      for (Index j = a != 1; j < edges.cells[1]; ++j)
        for (Index i = a != 2; i < edges.cells[2]; ++i) {
          const std::array<Index, 3> at{k, j, i};
          const auto row = static_cast<std::size_t>(edges.number(a, at));
          const double length = edges.width[static_cast<std::size_t>(a)]
                                           [static_cast<std::size_t>(at[static_cast<std::size_t>(a)])];
          int slot = 0;
          const auto add = [&](int axis, const std::array<Index, 3>& there, double value) {
            const bool inside = edges.inside(axis, there);
            const auto to = rows.place(row, slot++);
            rows.column[to] = static_cast<int>(inside ? edges.number(axis, there) : static_cast<Index>(row));
            rows.value[to] = {inside ? value : 0, 0};
          };
          Z diagonal;
          for (int turn = 1; turn <= 2;
               ++turn) {  // faces that an edge along b closes, beside the edge along b
            const int b = (a + turn) % 3, c = 3 - a - b;
            const auto ub = static_cast<std::size_t>(b), uc = static_cast<std::size_t>(c);
            const double dual = edges.between[uc][static_cast<std::size_t>(at[uc]) - 1];
            for (int side = 0; side < 2; ++side) {
              auto low = at;  // the corner of the face with the least indices
              low[ub] -= 1 - side;
              const double m = dual / (length * edges.width[ub][static_cast<std::size_t>(low[ub])]);
              auto other = at;
              other[ub] += side == 0 ? -1 : 1;
              add(a, other, -m);
              auto far = low;
              far[static_cast<std::size_t>(a)] += 1;  // edges along b, at both ends of ours
              add(b, low, side == 0 ? m : -m);
              add(b, far, side == 0 ? -m : m);
              diagonal.re += m;
              for (int s = 0; s < 2; ++s) {  // quarters beside: half of (b, side) and of (c, s)
                auto cell = low;
                cell[uc] -= 1 - s;
                if (turn == 1)
                  diagonal.im += rate * sigma(cell[0], cell[1], cell[2]) *
                                 edges.width[ub][static_cast<std::size_t>(cell[ub])] *
                                 edges.width[uc][static_cast<std::size_t>(cell[uc])] / (4 * length);
              }
            }
          }
          const auto to = rows.place(row, slot);
          rows.column[to] = static_cast<int>(row);
          rows.value[to] = rows.diagonal[row] = diagonal;
        }
  return rows;
}

// ---- the loop on a GPU
// -------------------------------------------------------------------------------------

constexpr int block_threads = 256, most_blocks = 2048;

template <class T>
struct Array {
  T* data = nullptr;
  explicit Array(std::size_t size) { CHECK(cudaMalloc(reinterpret_cast<void**>(&data), size * sizeof(T))); }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    CHECK(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data); }
};

/// What kernels hand on.
template <class T>
struct Scalars {
  T curvature, rho, before;
  double square;  ///< ‖r‖²
};

/// The sum over a thread block, at thread 0.
template <class T>
__device__ T over_block(T sum) {
  __shared__ T of_warp[block_threads / 32];
  for (int by = 16; by > 0; by /= 2) sum += shuffle(sum, by);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < block_threads / 32; ++w) sum += of_warp[w];
  return sum;
}

/// q = A p, and pᵀq of each thread block. `column` and `value` of slot s of a row are `count` apart.
template <class T>
__global__ void multiply_ell(int count, int width, const int* column, const T* value, const T* p, T* q,
                             T* sums) {
  T sum{};
  for (int row = blockIdx.x * block_threads + threadIdx.x; row < count; row += gridDim.x * block_threads) {
    T product{};
    for (int s = 0; s < width; ++s) {
      const auto at =
          static_cast<std::size_t>(s) * static_cast<std::size_t>(count) + static_cast<std::size_t>(row);
      product += value[at] * p[column[at]];
    }
    q[row] = product;
    sum += p[row] * product;
  }
  sum = over_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// The same of compressed rows; `Lanes` threads a row.
template <int Lanes, class T>
__global__ void multiply_rows(int count, const int* first, const int* column, const T* value, const T* p,
                              T* q, T* sums) {
  T sum{};
  const int lane = static_cast<int>(threadIdx.x) % Lanes, each = block_threads / Lanes;
  const int begin = blockIdx.x * each, step = gridDim.x * each;
  for (int base = begin; base < count; base += step) {  // the same for all threads of a warp
    const int row = base + static_cast<int>(threadIdx.x) / Lanes;
    T product{};
    if (row < count)
      for (int at = first[row] + lane; at < first[row + 1]; at += Lanes) product += value[at] * p[column[at]];
    for (int by = Lanes / 2; by > 0; by /= 2) product += shuffle(product, by);
    if (row < count && lane == 0) {
      q[row] = product;
      sum += p[row] * product;
    }
  }
  sum = over_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// One block: the sums of all blocks, in a fixed order.
template <class T>
__global__ void gather_curvature(int blocks, const T* sums, Scalars<T>* scalars) {
  T sum{};
  for (int n = threadIdx.x; n < blocks; n += block_threads) sum += sums[n];
  sum = over_block(sum);
  if (threadIdx.x == 0) scalars->curvature = sum;
}
template <class T>
__global__ void gather_rho(int blocks, const T* sums, const double* squares, Scalars<T>* scalars) {
  T sum{};
  double square_sum = 0;
  for (int n = threadIdx.x; n < blocks; n += block_threads) {
    sum += sums[n];
    square_sum += squares[n];
  }
  sum = over_block(sum);
  square_sum = over_block(square_sum);
  if (threadIdx.x != 0) return;
  scalars->before = scalars->rho;
  scalars->rho = sum;
  scalars->square = square_sum;
}

/// x += α p, r −= α q, ‖r‖² and rᵀ D⁻¹ r, α = ρ/pᵀq
template <class T>
__global__ void advance(int count, const Scalars<T>* scalars, const T* p, const T* q, const T* inverse, T* x,
                        T* r, T* sums, double* squares) {
  const T alpha = scalars->rho / scalars->curvature;
  T sum{};
  double square_sum = 0;
  for (int n = blockIdx.x * block_threads + threadIdx.x; n < count; n += gridDim.x * block_threads) {
    x[n] = x[n] + alpha * p[n];
    const T residual = r[n] - alpha * q[n];
    r[n] = residual;
    sum += residual * (inverse[n] * residual);
    square_sum += square(residual);
  }
  sum = over_block(sum);
  square_sum = over_block(square_sum);
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = sum;
  squares[blockIdx.x] = square_sum;
}

/// p = D⁻¹ r + β p, β = ρ/ρ before
template <class T>
__global__ void turn(int count, const Scalars<T>* scalars, const T* r, const T* inverse, T* p, bool first) {
  const T beta = first ? T{} : scalars->rho / scalars->before;
  for (int n = blockIdx.x * block_threads + threadIdx.x; n < count; n += gridDim.x * block_threads)
    p[n] = first ? inverse[n] * r[n] : inverse[n] * r[n] + beta * p[n];
}

/// What a run of iterations leaves.
template <class T>
struct Outcome {
  std::vector<T> x;
  double seconds = 0, residual = 0;
};

template <class T>
class OnGpu {
 public:
  OnGpu(const Rows<T>& rows, bool compressed)
      : count_(rows.count),
        width_(rows.width),
        compressed_(compressed),
        inverse_(size()),
        x_(size()),
        r_(size()),
        p_(size()),
        q_(size()),
        sums_(most_blocks),
        squares_(most_blocks),
        scalars_(1) {
    std::vector<T> inverses(size());
    std::transform(rows.diagonal.begin(), rows.diagonal.end(), inverses.begin(),
                   [](T d) { return inverse(d); });
    CHECK(cudaMemcpy(inverse_.data, inverses.data(), size() * sizeof(T), cudaMemcpyHostToDevice));
    if (compressed) put_rows(rows);
    else put_ell(rows);
  }

  Outcome<T> solve(const std::vector<T>& b, int iterations, double tolerance) {
    CHECK(cudaMemcpy(r_.data, b.data(), size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(x_.data, 0, size() * sizeof(T)));
    CHECK(cudaMemset(q_.data, 0, size() * sizeof(T)));
    CHECK(cudaMemset(p_.data, 0, size() * sizeof(T)));
    Scalars<T> now{T{}, T{}, T{}, 0};
    now.curvature = one();
    CHECK(cudaMemcpy(scalars_.data, &now, sizeof now, cudaMemcpyHostToDevice));
    advance_and_gather();  // with p = q = 0: ρ and ‖b‖
    const double norm = read().square;
    const auto start = Clock::now();
    for (int n = 0; n < iterations; ++n) {
      turn<<<blocks(count_), block_threads>>>(count_, scalars_.data, r_.data, inverse_.data, p_.data, n == 0);
      multiply();
      advance_and_gather();
      if (tolerance > 0 && std::sqrt(read().square / norm) <= tolerance) break;
    }
    Outcome<T> outcome;
    outcome.residual = std::sqrt(read().square / norm);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    outcome.x.resize(size());
    CHECK(cudaMemcpy(outcome.x.data(), x_.data, size() * sizeof(T), cudaMemcpyDeviceToHost));
    return outcome;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  static T one() {
    if constexpr (std::is_same_v<T, double>) return 1;
    else return {1, 0};
  }
  static int blocks(std::size_t threads) {
    return static_cast<int>(
        std::min<std::size_t>((threads + block_threads - 1) / block_threads, most_blocks));
  }
  static int blocks(int threads) { return blocks(static_cast<std::size_t>(threads)); }
  Scalars<T> read() const {
    Scalars<T> scalars;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&scalars, scalars_.data, sizeof scalars, cudaMemcpyDeviceToHost));
    return scalars;
  }
  void multiply() {
    int used = blocks(count_);
    if (!compressed_) {
      multiply_ell<<<used, block_threads>>>(count_, width_, column_->data, value_->data, p_.data, q_.data,
                                            sums_.data);
    } else if (width_ <= 8) {
      used = blocks(8 * size());
      multiply_rows<8><<<used, block_threads>>>(count_, first_->data, column_->data, value_->data, p_.data,
                                                q_.data, sums_.data);
    } else {
      used = blocks(16 * size());
      multiply_rows<16><<<used, block_threads>>>(count_, first_->data, column_->data, value_->data, p_.data,
                                                 q_.data, sums_.data);
    }
    gather_curvature<<<1, block_threads>>>(used, sums_.data, scalars_.data);
  }
  void advance_and_gather() {
    const int used = blocks(count_);
    advance<<<used, block_threads>>>(count_, scalars_.data, p_.data, q_.data, inverse_.data, x_.data, r_.data,
                                     sums_.data, squares_.data);
    gather_rho<<<1, block_threads>>>(used, sums_.data, squares_.data, scalars_.data);
  }
  void put_ell(const Rows<T>& rows) {
    std::vector<int> column(rows.column.size());
    std::vector<T> value(rows.value.size());
#pragma omp parallel for
    for (int row = 0; row < count_; ++row)
      for (int s = 0; s < width_; ++s) {
        const auto to = static_cast<std::size_t>(s) * size() + static_cast<std::size_t>(row);
        column[to] = rows.column[rows.place(static_cast<std::size_t>(row), s)];
        value[to] = rows.value[rows.place(static_cast<std::size_t>(row), s)];
      }
    column_ = std::make_unique<Array<int>>(column);
    value_ = std::make_unique<Array<T>>(value);
  }
  void put_rows(const Rows<T>& rows) {
    std::vector<int> first{0}, column;
    std::vector<T> value;
    for (std::size_t row = 0; row < size(); ++row) {
      for (int s = 0; s < width_; ++s)
        if (const T entry = rows.value[rows.place(row, s)]; square(entry) > 0) {
          column.push_back(rows.column[rows.place(row, s)]);
          value.push_back(entry);
        }
      first.push_back(static_cast<int>(column.size()));
    }
    first_ = std::make_unique<Array<int>>(first);
    column_ = std::make_unique<Array<int>>(column);
    value_ = std::make_unique<Array<T>>(value);
  }

  int count_, width_;
  bool compressed_;
  std::unique_ptr<Array<int>> first_, column_;
  std::unique_ptr<Array<T>> value_;
  Array<T> inverse_, x_, r_, p_, q_, sums_;
  Array<double> squares_;
  Array<Scalars<T>> scalars_;
};

// ---- the loop on CPUs
// --------------------------------------------------------------------------------------

/// An array whose pages lie where the threads that use them first write.
template <class T>
std::unique_ptr<T[]> made(int count, const T* from) {
  std::unique_ptr<T[]> array(static_cast<T*>(::operator new[](static_cast<std::size_t>(count) * sizeof(T))));
#pragma omp parallel for schedule(static)
  for (int n = 0; n < count; ++n) array[static_cast<std::size_t>(n)] = from ? from[n] : T{};
  return array;
}

#pragma omp declare reduction(+ : Z : omp_out += omp_in) initializer(omp_priv = Z{})

template <class T>
class OnCpu {
 public:
  OnCpu(const Rows<T>& rows, bool compressed) : rows_(rows), compressed_(compressed) {
    const auto n = static_cast<std::size_t>(rows.count);
    if (!compressed) {
      column_.resize(rows.column.size());
      value_.resize(rows.value.size());
    }
    inverse_.resize(n);
    for (std::size_t row = 0; row < n; ++row) {
      inverse_[row] = inverse(rows.diagonal[row]);
      for (int s = 0; s < rows.width && !compressed; ++s) {
        column_[static_cast<std::size_t>(s) * n + row] = rows.column[rows.place(row, s)];
        value_[static_cast<std::size_t>(s) * n + row] = rows.value[rows.place(row, s)];
      }
    }
    if (compressed) {
      first_.push_back(0);
      for (std::size_t row = 0; row < n; ++row) {
        for (int s = 0; s < rows.width; ++s)
          if (const T entry = rows.value[rows.place(row, s)]; square(entry) > 0) {
            column_.push_back(rows.column[rows.place(row, s)]);
            value_.push_back(entry);
          }
        first_.push_back(static_cast<int>(column_.size()));
      }
    }
  }

  Outcome<T> solve(const std::vector<T>& b, int iterations, double tolerance) {
    const int count = rows_.count;
    const auto d = made<T>(count, inverse_.data());
    auto x = made<T>(count, nullptr), r = made<T>(count, b.data()), p = made<T>(count, nullptr),
         q = made<T>(count, nullptr);
    T rho{};
    double norm = 0;
    for (int n = 0; n < count; ++n) {
      rho += r[n] * (d[n] * r[n]);
      norm += square(r[n]);
      p[n] = d[n] * r[n];
    }
    Outcome<T> outcome;
    const auto start = Clock::now();
    for (int iteration = 0; iteration < iterations; ++iteration) {
      const T alpha = rho / multiply(p.get(), q.get());
      T next{};
      double squares = 0;
#pragma omp parallel for schedule(static) reduction(+ : next, squares)
      for (int n = 0; n < count; ++n) {
        x[n] = x[n] + alpha * p[n];
        r[n] = r[n] - alpha * q[n];
        next += r[n] * (d[n] * r[n]);
        squares += square(r[n]);
      }
      const T beta = next / rho;
#pragma omp parallel for schedule(static)
      for (int n = 0; n < count; ++n) p[n] = d[n] * r[n] + beta * p[n];
      rho = next;
      outcome.residual = std::sqrt(squares / norm);
      if (outcome.residual <= tolerance) break;
    }
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    outcome.x.assign(x.get(), x.get() + count);
    return outcome;
  }

 private:
  /// q = A p, and pᵀq
  T multiply(const T* p, T* q) const {
    const int count = rows_.count, width = rows_.width;
    const auto size = static_cast<std::size_t>(count);
    T sum{};
    if (compressed_) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (int row = 0; row < count; ++row) {
        T product{};
        for (int at = first_[static_cast<std::size_t>(row)]; at < first_[static_cast<std::size_t>(row) + 1];
             ++at)
          product += value_[static_cast<std::size_t>(at)] * p[column_[static_cast<std::size_t>(at)]];
        q[row] = product;
        sum += p[row] * product;
      }
      return sum;
    }
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int row = 0; row < count; ++row) {
      T product{};
      for (int s = 0; s < width; ++s) {
        const auto at = static_cast<std::size_t>(s) * size + static_cast<std::size_t>(row);
        product += value_[at] * p[column_[at]];
      }
      q[row] = product;
      sum += p[row] * product;
    }
    return sum;
  }

  const Rows<T>& rows_;
  bool compressed_;
  std::vector<int> first_, column_;
  std::vector<T> value_, inverse_;
};

// ---- cases
// -------------------------------------------------------------------------------------------------

struct Case {
  std::string solver;
  int cells = 0, iterations = 0;
  bool complex() const { return solver.starts_with("cocg"); }
  bool compressed() const { return solver.ends_with("rows"); }
};

/// Two poles under the ground, as krylov.cpp has them; an east edge of the same place.
std::vector<double> source(const Rows<double>& rows, int cells) {
  std::vector<double> b(static_cast<std::size_t>(rows.count));
  const Index side = cells + 1;  // a node at each corner: walls lie half a cell beyond
  const View<double, 3> at(b.data(), IndexBox<3>{{0, 0, 0}, {side, side, side}});
  at(cells / 2 - 2, cells / 2, cells / 2 - 4) = 1;
  at(cells / 2 - 2, cells / 2, cells / 2 + 4) = -1;
  return b;
}
std::vector<Z> source(const Rows<Z>& rows, const Edges& edges, int cells) {
  std::vector<Z> b(static_cast<std::size_t>(rows.count));
  b[static_cast<std::size_t>(edges.number(2, {cells / 2 - 1, cells / 2, cells / 2}))] = {0, -1};
  return b;
}

template <class T>
Outcome<T> solved(const Rows<T>& rows, const std::vector<T>& b, bool gpu, bool compressed, int iterations,
                  double tolerance) {
  Outcome<T> best;
  best.seconds = 1e300;
  const auto keep = [&](auto&& solver) {
    for (int n = 0; n < (tolerance > 0 ? 1 : 3); ++n)
      if (auto one = solver.solve(b, iterations, tolerance); one.seconds < best.seconds)
        best = std::move(one);
  };
  if (gpu) keep(OnGpu<T>(rows, compressed));
  else keep(OnCpu<T>(rows, compressed));
  return best;
}

void print(const Case& wanted, const std::string& device, int threads, int unknowns, double seconds,
           double residual, bool first) {
  const int bytes = (wanted.complex() ? 468 : 188) + 4 * wanted.compressed();
  const double each = seconds / wanted.iterations;
  std::printf(
      "%s  {\"solver\": \"%s\", \"device\": \"%s\", \"threads\": %d, \"cells\": %d, \"unknowns\": %d, "
      "\"iterations\": %d, \"reason\": \"most_iterations\", \"residual\": %.2g, \"seconds\": %.5g, "
      "\"s_per_1000\": %.5g, \"bytes_per_unknown\": %d, \"GB_per_s\": %.5g}",
      first ? "" : ",\n", wanted.solver.c_str(), device.c_str(), threads, wanted.cells, unknowns,
      wanted.iterations, residual, seconds, 1000 * each, bytes, 1e-9 * bytes * unknowns / each);
  std::fflush(stdout);
}

void run(const Case& wanted, bool gpu, const std::string& device, bool first) {
  const auto earth = test::land(wanted.cells, 1.3);
  const auto report = [&](const auto& rows, const auto& b) {
    const auto outcome = solved(rows, b, gpu, wanted.compressed(), wanted.iterations, 0);
    print(wanted, device, omp_get_max_threads(), rows.count, outcome.seconds, outcome.residual, first);
  };
  if (wanted.complex()) {
    const auto rows = of_edges(earth, 1);
    report(rows, source(rows, Edges(earth.mesh), wanted.cells));
  } else {
    const auto rows = of_nodes(earth);
    report(rows, source(rows, wanted.cells));
  }
}

/// Fields of the rows and of Terrane's own operators, both to 1e-11: the largest difference over the largest
/// value.
double difference_of_nodes(int cells, bool gpu, bool compressed) {
  const auto earth = test::land(cells, 1.3);
  const auto rows = of_nodes(earth);
  const auto b = source(rows, cells);
  const auto ours = solved(rows, b, gpu, compressed, 20'000, 1e-11).x;
  Stream stream(resolve(Device{}), false, 0);
  const auto* sigma = &earth.sigma;
  const auto host = electric::assemble(earth.mesh, {{sigma, sigma, sigma}}, electric::Boundary::grounded, {});
  const auto network = host.on(stream, host.nodes);
  solve::Field<double> right(stream, host.nodes), x(stream, host.nodes);
  right.upload(stream, b);
  const auto diagonal = solve::jacobi(stream, network);
  solve::conjugate_gradients(stream, network, right, x, diagonal,
                             {.relative = 1e-11, .most_iterations = 20'000, .patience = 20'000});
  const auto theirs = x.download(stream);
  double largest = 0, apart = 0;
  for (std::size_t n = 0; n < ours.size(); ++n) {
    largest = std::max(largest, std::abs(theirs[n]));
    apart = std::max(apart, std::abs(theirs[n] - ours[n]));
  }
  return apart / largest;
}

double difference_of_edges(int cells, bool gpu, bool compressed) {
  // Air that conducts: charges in air of 1e-8 S/m take far more iterations with the diagonal.
  const auto earth = test::land(cells, 1.1, test::Earth::land, 1e-3);
  const Edges edges(earth.mesh);
  const auto rows = of_edges(earth, 1);
  const auto ours = solved(rows, source(rows, edges, cells), gpu, compressed, 40'000, 1e-11).x;
  Stream stream(resolve(Device{}), false, 0);
  const auto* sigma = &earth.sigma;
  electromagnetic::MaxwellSolver<float> solver(stream, earth.mesh, {sigma, sigma, sigma});
  solver.set_frequency(1);
  auto b = solver.vector(), x = solver.vector();
  const auto points = b.e[2].points();
  const auto count = static_cast<std::size_t>(points.count());
  std::vector<double> values(2 * count);
  const View<double, 3> imaginary(values.data() + count, points);
  imaginary(cells / 2 - 2, cells / 2 - 1, cells / 2) = -1;
  b.e[2].upload(stream, values);
  solver.complete(b);
  solver.solve(b, x, {.relative = 1e-11, .most_iterations = 200});
  double largest = 0, apart = 0;
  Z ratio;  // Terrane's right-hand side has another scale: one number for all edges
  for (int pass = 0; pass < 2; ++pass)
    for (int axis = 2; axis >= 0; --axis) {
      const auto field = solver.gather(x, axis);
      const auto half = field.size() / 2;
      std::size_t n = 0;
      for (Index k = 0; k < edges.size(axis, 0); ++k)
        for (Index j = 0; j < edges.size(axis, 1); ++j)
          for (Index i = 0; i < edges.size(axis, 2); ++i, ++n) {
            const std::array<Index, 3> at{k + (axis != 0), j + (axis != 1), i + (axis != 2)};
            const auto row = static_cast<std::size_t>(edges.number(axis, at));
            const auto a = static_cast<std::size_t>(axis);
            const double length = edges.width[a][static_cast<std::size_t>(at[a])];
            const Z theirs{field[n], field[half + n]}, mine = (1 / length) * ours[row];
            if (pass == 0) {
              if (square(theirs) > largest * largest) {
                largest = std::sqrt(square(theirs));
                ratio = theirs / mine;
              }
            } else {
              apart = std::max(apart, std::sqrt(square(theirs - ratio * mine)));
            }
          }
    }
  return apart / largest;
}

int check_all() {
  int devices = 0;
  const bool gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  bool good = true;
  for (int where = 0; where <= gpu; ++where)
    for (const bool compressed : {false, true}) {
      const double nodes = difference_of_nodes(16, where, compressed);
      const double edges = difference_of_edges(12, where, compressed);
      std::printf(
          "%s, %s: nodes differ by %.1e of the largest potential, edges by %.1e of the largest field\n",
          where ? "GPU" : "CPU", compressed ? "compressed rows" : "ELL", nodes, edges);
      good = good && nodes < 1e-8 && edges < 1e-8;
    }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string place = argc > 1 ? argv[1] : "";
  if (place == "check") return check_all();
  if ((place != "gpu" && place != "cpu") || argc < 4) {
    std::fprintf(stderr, "devices_matrix_rows gpu|cpu THREADS SOLVER:CELLS:ITERATIONS ..., or check\n");
    return 1;
  }
  const bool gpu = place == "gpu";
  if (const int threads = std::atoi(argv[2]); threads > 0) omp_set_num_threads(threads);
  std::string device = "cpu";
  if (gpu) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    device = properties.name;
  }
  std::printf("[\n");
  for (int n = 3; n < argc; ++n) {
    const std::string word = argv[n];
    const auto one = word.find(':'), two = word.find(':', one + 1);
    if (two == std::string::npos) {
      std::fprintf(stderr, "%s: write SOLVER:CELLS:ITERATIONS\n", word.c_str());
      return 1;
    }
    run({word.substr(0, one), std::atoi(word.c_str() + one + 1), std::atoi(word.c_str() + two + 1)}, gpu,
        device, n == 3);
  }
  std::printf("\n]\n");
}
