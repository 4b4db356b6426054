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

#include "support/matrix_rows.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace {

using namespace terrane;
using benchmarks::Edges, benchmarks::of_edges, benchmarks::of_nodes, benchmarks::Rows, benchmarks::Z;
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
    report(rows, benchmarks::source_of_edges(Edges(earth.mesh), wanted.cells));
  } else {
    const auto rows = of_nodes(earth);
    report(rows, benchmarks::source_of_nodes(wanted.cells));
  }
}

/// Fields of the rows and of Terrane's own operators, both to 1e-11: the largest difference over the largest
/// value.
double difference_of_nodes(int cells, bool gpu, bool compressed) {
  const auto earth = test::land(cells, 1.3);
  const auto b = benchmarks::source_of_nodes(cells);
  return benchmarks::difference_from_terrane(earth, cells,
                                             solved(of_nodes(earth), b, gpu, compressed, 20'000, 1e-11).x);
}

double difference_of_edges(int cells, bool gpu, bool compressed) {
  // Air that conducts: charges in air of 1e-8 S/m take far more iterations with the diagonal.
  const auto earth = test::land(cells, 1.1, test::Earth::land, 1e-3);
  const auto b = benchmarks::source_of_edges(Edges(earth.mesh), cells);
  return benchmarks::difference_from_terrane(earth, cells,
                                             solved(of_edges(earth, 1), b, gpu, compressed, 40'000, 1e-11).x);
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
