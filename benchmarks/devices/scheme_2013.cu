// The scheme of Couder-Castañeda, Ortiz-Alemán, Orozco-del-Castillo & Nava-Flores (2013), J. Appl. Math.
// 437357, on today's hardware, beside its own rivals and Terrane's sum, on one problem in one run: the seven
// spheres of examples/02_seven_spheres.
//
//   private grids   threads share the prisms; each of T = blocks × threads has an observation grid of its
//   own; p = ⌈M/T⌉
//                   kernel calls, in call n thread t takes prism T (n − 1) + t; then the T grids are added
//   a launch each   one kernel call a prism, a thread a station
//   by stations     a thread a station, over all prisms
//   OpenMP          over prisms with private grids, and over stations, on the processors of the same machine
//   cards           private grids on several GPUs, each with a balanced range of prisms and a host thread
//
// The formula is the textbook's, corner by corner, a component at a time: 8 square roots, and 16 logarithms
// and 8 arctangents for a component of gravity, 8 of either for one of the tensor. Axes: easting, northing,
// up.
//
//   devices_scheme_2013 [--parts LIST] [--gpus N] [--job FILE] [--quick]     JSON to standard output, a table
//   to standard error LIST: schemes,sweeps,blocks,launches,host,cards,terrane
#include <cuda_runtime.h>
#include <omp.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/forward.hpp"

namespace {

// ---- small things ---------------------------------------------------------------------------------------

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text(const char* format, ...) {
  char buffer[2048];
  va_list values;
  va_start(values, format);
  std::vsnprintf(buffer, sizeof buffer, format, values);
  va_end(values);
  return buffer;
}

void check(cudaError_t status, int line) {
  if (status != cudaSuccess)
    throw std::runtime_error(
        text("CUDA, line %d: %s: %s", line, cudaGetErrorName(status), cudaGetErrorString(status)));
}
#define CHECK(call) check(call, __LINE__)

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(size, 1) * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    CHECK(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  void clear() const { CHECK(cudaMemsetAsync(data_, 0, size_ * sizeof(T))); }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    CHECK(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t size_;
  T* data_ = nullptr;
};

class Event {
 public:
  Event() { CHECK(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record() { CHECK(cudaEventRecord(event_)); }
  double milliseconds_since(const Event& start) const {
    CHECK(cudaEventSynchronize(event_));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
    return static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_{};
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string json_text(const std::string& plain) {
  std::string out = "\"";
  for (const char c : plain) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string list(const std::vector<std::string>& entries, const char* between = ",\n  ") {
  std::string out;
  for (const auto& entry : entries) out += (out.empty() ? "" : between) + entry;
  return "[" + out + "]";
}

// ---- the formula ----------------------------------------------------------------------------------------

// In the order of terrane::Channel after the potential.
enum Component { gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, components };
constexpr const char* component_names[components] = {"Gx",  "Gy",  "Gz",  "Gxx", "Gyy",
                                                     "Gzz", "Gxy", "Gxz", "Gyz"};
constexpr bool is_tensor(int c) { return c >= gxx; }
/// To mGal and E.
constexpr double unit(int c) { return is_tensor(c) ? 1e9 : 1e5; }

template <class T>
struct Box {
  T x[2], y[2], z[2], weight;  ///< faces, m; G times density
};

/// One component of one prism at one station, SI.
template <int C, class T>
__host__ __device__ __forceinline__ T pair(const Box<T>& box, T px, T py, T pz) {
  using std::atan, std::log, std::sqrt;
  T sum = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        // z is depth, as in the paper: upward, z + r would lose all digits above a body.
        const T x = box.x[i] - px, y = box.y[j] - py, z = pz - box.z[1 - k];
        const T r = sqrt(x * x + y * y + z * z);
        T term;
        if constexpr (C == gx) term = x * atan(y * z / (x * r)) - y * log(z + r) - z * log(y + r);
        if constexpr (C == gy) term = y * atan(x * z / (y * r)) - x * log(z + r) - z * log(x + r);
        if constexpr (C == gz) term = z * atan(x * y / (z * r)) - x * log(y + r) - y * log(x + r);
        if constexpr (C == gxx) term = -atan(y * z / (x * r));
        if constexpr (C == gyy) term = -atan(x * z / (y * r));
        if constexpr (C == gzz) term = -atan(x * y / (z * r));
        if constexpr (C == gxy) term = log(z + r);
        if constexpr (C == gxz) term = log(y + r);
        if constexpr (C == gyz) term = log(x + r);
        sum += (i + j + k) % 2 == 0 ? -term : term;
      }
  constexpr bool turns = C == gz || C == gxz || C == gyz;  // back to up
  return box.weight * (turns ? -sum : sum);
}

/// f(std::integral_constant<int, c>).
template <class F>
void with_component(int c, const F& f) {
  const auto one = [&]<int... I>(std::integer_sequence<int, I...>) {
    ((I == c ? f(std::integral_constant<int, I>{}) : void()), ...);
  };
  one(std::make_integer_sequence<int, components>{});
}

// ---- kernels --------------------------------------------------------------------------------------------

constexpr int most_threads = 512;  // of a block

/// grids [stations][T] when interleaved, so that neighbouring threads write neighbouring numbers; else
/// [T][stations].
template <int C, bool interleaved, class T>
__global__ void __launch_bounds__(most_threads)
    share_prisms(const Box<T>* prisms, int first, int end, const T* __restrict__ x, const T* __restrict__ y,
                 const T* __restrict__ z, int stations, T* grids, int grid_count) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first + t >= end) return;
  const Box<T> box = prisms[first + t];
  for (int i = 0; i < stations; ++i) {
    const std::size_t at = interleaved ? static_cast<std::size_t>(i) * grid_count + t
                                       : static_cast<std::size_t>(t) * stations + i;
    grids[at] += pair<C>(box, x[i], y[i], z[i]);
  }
}

/// A block a station.
template <class T>
__global__ void add_interleaved(const T* grids, int grid_count, T* out) {
  __shared__ T partial[256];
  const T* mine = grids + static_cast<std::size_t>(blockIdx.x) * grid_count;
  T sum = 0;
  for (int t = static_cast<int>(threadIdx.x); t < grid_count; t += 256) sum += mine[t];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

/// A thread a station.
template <class T>
__global__ void add_whole(const T* grids, int grid_count, int stations, T* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= stations) return;
  T sum = 0;
  for (int t = 0; t < grid_count; ++t) sum += grids[static_cast<std::size_t>(t) * stations + i];
  out[i] = sum;
}

template <int C, class T>
__global__ void one_prism(const Box<T>* prisms, int which, const T* __restrict__ x, const T* __restrict__ y,
                          const T* __restrict__ z, int stations, T* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < stations) out[i] += pair<C>(prisms[which], x[i], y[i], z[i]);
}

template <int C, class T>
__global__ void by_stations(const Box<T>* __restrict__ prisms, int count, const T* __restrict__ x,
                            const T* __restrict__ y, const T* __restrict__ z, int stations, T* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= stations) return;
  const T px = x[i], py = y[i], pz = z[i];
  T sum = 0;
  for (int p = 0; p < count; ++p) sum += pair<C>(prisms[p], px, py, pz);
  out[i] = sum;
}

// ---- the problem ----------------------------------------------------------------------------------------

template <class T>
struct Numbers {
  std::vector<Box<T>> prisms;
  std::vector<T> x, y, z;
};

struct Problem {
  terrane::PrismValues model;
  terrane::Survey survey;
  Numbers<double> in_double;
  Numbers<float> in_single;
  std::vector<std::vector<double>> truth;  ///< [components][stations], mGal and E
  std::string reference;                   ///< JSON: how the truth came about

  int prisms() const { return static_cast<int>(in_double.prisms.size()); }
  int stations() const { return static_cast<int>(survey.size()); }
  double pairs() const { return static_cast<double>(prisms()) * stations(); }
  template <class T>
  const Numbers<T>& numbers() const {
    if constexpr (std::is_same_v<T, double>) return in_double;
    else return in_single;
  }
  terrane::gravity::Prisms prism_views() const {
    const auto& p = model.prisms;
    return {p.west, p.east, p.south, p.north, p.bottom, p.top, model.values};
  }
  terrane::gravity::Stations station_views() const { return {survey.easting, survey.northing, survey.up}; }
};

template <class T>
Numbers<T> numbers_of(const Problem& problem) {
  Numbers<T> n;
  const auto t = [](double v) { return static_cast<T>(v); };
  for (std::size_t i = 0; i < problem.model.prisms.size(); ++i) {
    const auto p = problem.model.prisms[i];
    n.prisms.push_back({{t(p.west), t(p.east)},
                        {t(p.south), t(p.north)},
                        {t(p.bottom), t(p.top)},
                        t(terrane::default_gravitational_constant * problem.model.values[i])});
  }
  n.x.assign(problem.survey.easting.begin(), problem.survey.easting.end());
  n.y.assign(problem.survey.northing.begin(), problem.survey.northing.end());
  n.z.assign(problem.survey.up.begin(), problem.survey.up.end());
  return n;
}

/// Where the engine chooses between devices, this one.
template <class Parameters>
constexpr bool chooses_devices = requires(Parameters p) {
  p.device;
};
template <class Parameters>
void compute_on(Parameters& parameters, terrane::Device device) {
  if constexpr (chooses_devices<Parameters>) parameters.device = device;
}

struct Computed {
  std::vector<std::vector<double>> fields;  ///< [components][stations], mGal and E
  terrane::gravity::Report report;
  double seconds;  ///< of the whole call, which computes the potential as well
};

Computed by_terrane(const Problem& problem, terrane::gravity::Parameters parameters) {
  parameters.channels = terrane::gravity::ChannelSet::all();
  Computed done;
  done.fields.assign(terrane::gravity::channel_count, std::vector<double>(problem.survey.size()));
  const terrane::gravity::Fields out{parameters.channels, {done.fields.begin(), done.fields.end()}, {}};
  done.seconds = seconds_of([&] {
    done.report = terrane::gravity::forward(problem.prism_views(), problem.station_views(), parameters, out);
  });
  done.fields.erase(done.fields.begin());  // the potential, which the paper does not compute
  for (int c = 0; c < components; ++c)
    for (auto& value : done.fields[static_cast<std::size_t>(c)]) value *= unit(c);
  return done;
}

std::string json_of(const Computed& done) {
  return text(
      "\"method\": %s, \"reason\": %s, \"device\": %s, \"seconds\": %.6g, \"seconds_of_sum\": %.6g, "
      "\"verified_stations\": %zu, \"verified_by\": %s, \"verified_error\": %.3g",
      json_text(done.report.method).c_str(), json_text(done.report.reason).c_str(),
      json_text(done.report.device).c_str(), done.seconds, done.report.seconds, done.report.verified_stations,
      json_text(done.report.verified_by).c_str(), done.report.verified_error);
}

Problem read_problem(const std::string& job_file, bool quick) {
  terrane::Config::Options options;
  if (quick) options.sets = {"mesh.shape=[70,70,25]", "survey.shape=[30,20]"};
  const auto job = terrane::Config::read(job_file, options);
  Problem problem;
  auto stations = terrane::build_survey(job);
  problem.model = terrane::sources(terrane::build_earth(job, stations.projection).model, "density");
  problem.survey = std::move(stations.survey);
  problem.in_double = numbers_of<double>(problem);
  problem.in_single = numbers_of<float>(problem);
  terrane::gravity::Parameters best;
  best.accuracy = terrane::gravity::best_accuracy;
  best.verify = 8;
  compute_on(best, {terrane::Device::Kind::cpu});
  const auto done = by_terrane(problem, best);
  problem.truth = done.fields;
  problem.reference = "{\"accuracy\": \"best\", " + json_of(done) + "}";
  std::fprintf(stderr, "%d prisms, %d stations, %.4g pairs; reference: %s, %.2f s, within %.1e of %s\n",
               problem.prisms(), problem.stations(), problem.pairs(), done.report.method.c_str(),
               done.seconds, done.report.verified_error, done.report.verified_by.c_str());
  return problem;
}

/// {"component": "Gz", "unit": "mGal", "rms": …, "max": …, "largest": …} against the reference.
std::string error_of(const Problem& problem, int c, const std::vector<double>& field) {
  const auto& truth = problem.truth[static_cast<std::size_t>(c)];
  double squares = 0, most = 0, largest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = field[i] - truth[i];
    squares += error * error;
    most = std::isnan(error) ? INFINITY : std::max(most, std::abs(error));
    largest = std::max(largest, std::abs(truth[i]));
  }
  if (!std::isfinite(most))
    throw std::runtime_error(text("%s has values that are not numbers", component_names[c]));
  return text("{\"component\": \"%s\", \"unit\": \"%s\", \"rms\": %.4e, \"max\": %.4e, \"largest\": %.6g}",
              component_names[c], is_tensor(c) ? "E" : "mGal",
              std::sqrt(squares / static_cast<double>(truth.size())), most, largest);
}

template <class T>
constexpr const char* precision_name = sizeof(T) == 8 ? "double" : "single";

std::string json_of_components(const std::vector<int>& wanted) {
  std::vector<std::string> names;
  for (const int c : wanted) names.push_back(json_text(component_names[c]));
  return list(names, ", ");
}

// ---- on one GPU -----------------------------------------------------------------------------------------

template <class T>
struct OnDevice {
  DeviceArray<Box<T>> prisms;
  DeviceArray<T> x, y, z, out;
  int stations;

  explicit OnDevice(const Numbers<T>& n)
      : prisms(n.prisms), x(n.x), y(n.y), z(n.z), out(n.x.size()), stations(static_cast<int>(n.x.size())) {}
  std::vector<double> field(int c) const {
    const auto values = out.read();
    std::vector<double> field(values.begin(), values.end());
    for (auto& value : field) value *= unit(c);
    return field;
  }
};

constexpr int blocks_for(int work, int threads) { return (work + threads - 1) / threads; }

/// Private grids, from prism `first` to before `end`; the sum is in on.out. middle: recorded before the
/// addition.
template <class T>
void private_grids(const OnDevice<T>& on, const DeviceArray<T>& grids, int c, int first, int end, int blocks,
                   int threads, bool interleaved, Event* middle = nullptr) {
  const int grid_count = blocks * threads;
  grids.clear();
  with_component(c, [&](auto component) {
    constexpr int C = component;
    for (int n = first; n < end; n += grid_count) {
      if (interleaved)
        share_prisms<C, true><<<blocks, threads>>>(on.prisms.data(), n, end, on.x.data(), on.y.data(),
                                                   on.z.data(), on.stations, grids.data(), grid_count);
      else
        share_prisms<C, false><<<blocks, threads>>>(on.prisms.data(), n, end, on.x.data(), on.y.data(),
                                                    on.z.data(), on.stations, grids.data(), grid_count);
      CHECK(cudaGetLastError());
    }
  });
  if (middle) middle->record();
  if (interleaved) add_interleaved<<<on.stations, 256>>>(grids.data(), grid_count, on.out.data());
  else add_whole<<<blocks_for(on.stations, 128), 128>>>(grids.data(), grid_count, on.stations, on.out.data());
  CHECK(cudaGetLastError());
}

struct Times {
  std::vector<double> all, adding;  ///< ms, median of the repeats; [components asked for]
  int repeats = 0;
};

std::string json_of(const Times& times) {
  double all = 0, adding = 0;
  std::vector<std::string> each;
  for (const double ms : times.all) {
    all += ms;
    each.push_back(text("%.4g", ms));
  }
  for (const double ms : times.adding) adding += ms;
  return text("\"milliseconds\": %.5g, \"adding_milliseconds\": %.4g, \"repeats\": %d, \"each\": ", all,
              adding, times.repeats) +
         list(each, ", ");
}

std::string line_of(const Problem& problem, const char* scheme, const char* precision, const std::string& how,
                    const std::vector<int>& wanted, const Times& times) {
  double all = 0;
  for (const double ms : times.all) all += ms;
  const double pairs = problem.pairs() * static_cast<double>(wanted.size());
  std::fprintf(stderr, "%-14s %-6s %-26s %d components %10.2f ms %8.2f Gpairs/s\n", scheme, precision,
               how.c_str(), static_cast<int>(wanted.size()), all, pairs / all / 1e6);
  return text("\"scheme\": \"%s\", \"precision\": \"%s\", \"components\": ", scheme, precision) +
         json_of_components(wanted) + ", " + json_of(times);
}

/// f(c, middle) once to warm up where it is repeated, then `repeats` times, for each component; after: with
/// the result.
Times time_components(const std::vector<int>& wanted, int repeats, const std::function<void(int, Event&)>& f,
                      const std::function<void(int)>& after) {
  Times times;
  times.repeats = repeats;
  Event start, middle, end;
  for (const int c : wanted) {
    std::vector<double> all, adding;
    for (int n = repeats > 1 ? -1 : 0; n < repeats; ++n) {
      start.record();
      middle.record();
      f(c, middle);
      end.record();
      const double ms = end.milliseconds_since(start);
      if (n < 0) continue;
      all.push_back(ms);
      adding.push_back(end.milliseconds_since(middle));
    }
    times.all.push_back(median(all));
    times.adding.push_back(median(adding));
    if (after) after(c);
  }
  return times;
}

const std::vector<int> vector_and_tensor{gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz};
const std::vector<int> tensor{gxx, gyy, gzz, gxy, gxz, gyz};
const std::vector<int> gz_and_tensor{gz, gxx, gyy, gzz, gxy, gxz, gyz};
const std::vector<int> one_of_each_kind{gz, gzz, gxz};

struct Results {
  std::vector<std::string> runs, host, cards, terrane;
  std::vector<std::vector<double>> gz_of_scheme;  ///< double, single
  std::vector<double> gz_of_terrane_single;
};

template <class T>
void run_private(const Problem& problem, const OnDevice<T>& on, const std::vector<int>& wanted, int blocks,
                 int threads, bool interleaved, int repeats, bool with_errors, Results& results) {
  const std::size_t bytes =
      static_cast<std::size_t>(blocks) * threads * static_cast<std::size_t>(problem.stations()) * sizeof(T);
  const std::string how = text("%d x %d%s", blocks, threads, interleaved ? "" : ", whole grids");
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  if (bytes > free / 10 * 9) {
    std::fprintf(stderr, "private grids  %-6s %s: left out, %.1f GB of grids\n", precision_name<T>,
                 how.c_str(), static_cast<double>(bytes) * 1e-9);
    return;
  }
  const DeviceArray<T> grids(bytes / sizeof(T));
  std::vector<std::string> errors;
  const auto times = time_components(
      wanted, repeats,
      [&](int c, Event& middle) {
        private_grids(on, grids, c, 0, problem.prisms(), blocks, threads, interleaved, &middle);
      },
      [&](int c) {
        if (!with_errors) return;
        const auto field = on.field(c);
        errors.push_back(error_of(problem, c, field));
        if (c == gz && interleaved) results.gz_of_scheme.push_back(field);
      });
  results.runs.push_back("{" + line_of(problem, "private grids", precision_name<T>, how, wanted, times) +
                         text(", \"layout\": \"%s\", \"blocks\": %d, \"threads\": %d, \"grids\": %d, "
                              "\"grid_bytes\": %zu, \"calls\": %d",
                              interleaved ? "station by station" : "grid by grid", blocks, threads,
                              blocks * threads, bytes, blocks_for(problem.prisms(), blocks * threads)) +
                         (with_errors ? ", \"errors\": " + list(errors) : "") + "}");
}

template <class T>
void schemes(const Problem& problem, int multiprocessors, bool quick, Results& results) {
  const OnDevice<T> on(problem.numbers<T>());
  const int repeats = quick ? 1 : 2;
  run_private(problem, on, vector_and_tensor, multiprocessors, most_threads, true, repeats, true, results);
  if (!quick) run_private(problem, on, {gz}, multiprocessors, most_threads, false, 1, true, results);
  // As many as the paper's card had multiprocessors.
  run_private(problem, on, gz_and_tensor, 14, most_threads, true, 1, false, results);

  constexpr int threads = 128;
  std::vector<std::string> errors;
  const auto times = time_components(
      vector_and_tensor, 1,
      [&](int c, Event& end) {
        with_component(c, [&](auto component) {
          by_stations<component><<<blocks_for(on.stations, threads), threads>>>(
              on.prisms.data(), problem.prisms(), on.x.data(), on.y.data(), on.z.data(), on.stations,
              on.out.data());
          CHECK(cudaGetLastError());
        });
        end.record();
      },
      [&](int c) { errors.push_back(error_of(problem, c, on.field(c))); });
  results.runs.push_back("{" +
                         line_of(problem, "by stations", precision_name<T>, text("threads of %d", threads),
                                 vector_and_tensor, times) +
                         text(", \"threads\": %d, \"errors\": ", threads) + list(errors) + "}");
}

template <class T>
void sweeps(const Problem& problem, int multiprocessors, bool quick, Results& results) {
  const OnDevice<T> on(problem.numbers<T>());
  // 14 blocks, and one for each multiprocessor, of 512 threads are among the schemes.
  for (int threads = 32; threads < most_threads; threads += quick ? 160 : 32)
    run_private(problem, on, one_of_each_kind, multiprocessors, threads, true, 1, false, results);
  if (quick) return;
  for (const int blocks : {33, 66, 2 * multiprocessors, 4 * multiprocessors})
    run_private(problem, on, one_of_each_kind, blocks, most_threads, true, 1, false, results);
}

/// The paper's figures 9 and 10: 14 to 224 blocks of 32 threads, in steps of 14, for one component.
template <class T>
void small_blocks(const Problem& problem, bool quick, Results& results) {
  const OnDevice<T> on(problem.numbers<T>());
  const std::vector<int> only_gzz{one_of_each_kind[1]};
  for (int blocks = 14; blocks <= 224; blocks += quick ? 70 : 14)
    run_private(problem, on, only_gzz, blocks, 32, true, 1, false, results);
}

template <class T>
void launches(const Problem& problem, Results& results) {
  const OnDevice<T> on(problem.numbers<T>());
  constexpr int threads = 128;
  std::vector<std::string> errors;
  const auto times = time_components(
      one_of_each_kind, 1,
      [&](int c, Event& end) {
        on.out.clear();
        with_component(c, [&](auto component) {
          for (int p = 0; p < problem.prisms(); ++p) {
            one_prism<component><<<blocks_for(on.stations, threads), threads>>>(
                on.prisms.data(), p, on.x.data(), on.y.data(), on.z.data(), on.stations, on.out.data());
            CHECK(cudaGetLastError());
          }
        });
        end.record();
      },
      [&](int c) { errors.push_back(error_of(problem, c, on.field(c))); });
  results.runs.push_back("{" +
                         line_of(problem, "a launch each", precision_name<T>, text("threads of %d", threads),
                                 one_of_each_kind, times) +
                         text(", \"threads\": %d, \"calls\": %d, \"errors\": ", threads, problem.prisms()) +
                         list(errors) + "}");
}

// ---- on the processors ----------------------------------------------------------------------------------

template <class T>
T tensor_sum(const Box<T>& box, T x, T y, T z, T* six) {
  six[0] += pair<gxx>(box, x, y, z);
  six[1] += pair<gyy>(box, x, y, z);
  six[2] += pair<gzz>(box, x, y, z);
  six[3] += pair<gxy>(box, x, y, z);
  six[4] += pair<gxz>(box, x, y, z);
  six[5] += pair<gyz>(box, x, y, z);
  return six[0];
}

/// The tensor of every `step`-th prism at every station. Seconds of the sum and of adding the private grids.
template <class T>
std::pair<double, double> openmp_over_prisms(const Numbers<T>& n, std::size_t step, int threads) {
  const std::size_t stations = n.x.size(), prisms = (n.prisms.size() + step - 1) / step;
  std::vector<std::vector<T>> grids(static_cast<std::size_t>(threads));
  std::vector<T> out(6 * stations);
  const double summing = seconds_of([&] {
#pragma omp parallel num_threads(threads)
    {
      auto& grid = grids[static_cast<std::size_t>(omp_get_thread_num())];
      grid.assign(6 * stations, T(0));
#pragma omp for schedule(static)
      for (std::size_t p = 0; p < prisms; ++p)
        for (std::size_t i = 0; i < stations; ++i)
          tensor_sum(n.prisms[p * step], n.x[i], n.y[i], n.z[i], grid.data() + 6 * i);
    }
  });
  const double adding = seconds_of([&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < out.size(); ++i)
      for (const auto& grid : grids) out[i] += grid.empty() ? T(0) : grid[i];
  });
  if (!std::isfinite(static_cast<double>(out[out.size() / 2])))
    throw std::runtime_error("OpenMP over prisms: not a number");
  return {summing, adding};
}

/// The tensor of every prism at every `step`-th station.
template <class T>
double openmp_over_stations(const Numbers<T>& n, std::size_t step, int threads) {
  const std::size_t stations = (n.x.size() + step - 1) / step;
  std::vector<T> out(6 * stations);
  const double seconds = seconds_of([&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t s = 0; s < stations; ++s) {
      const std::size_t i = s * step;
      T six[6]{};
      for (const auto& box : n.prisms) tensor_sum(box, n.x[i], n.y[i], n.z[i], six);
      std::copy(six, six + 6, out.data() + 6 * s);
    }
  });
  if (!std::isfinite(static_cast<double>(out[out.size() / 2])))
    throw std::runtime_error("OpenMP over stations: not a number");
  return seconds;
}

/// On a share of the prisms or stations that takes about `target` seconds, scaled to all.
template <class T>
void host(const Problem& problem, double target, Results& results) {
  const auto& n = problem.numbers<T>();
  // What a pair costs, from a small share.
  const std::size_t few = std::max<std::size_t>(1, n.x.size() / 2);
  const double a_pair = openmp_over_stations(n, few, 1) / (2.0 * static_cast<double>(n.prisms.size()));
  std::vector<int> counts{1, 4, omp_get_num_procs()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const int threads : counts) {
    if (threads > omp_get_num_procs()) continue;
    const double wanted = target * threads / a_pair;  // pairs
    const auto record = [&](const char* over, double measured, double seconds, double adding) {
      const double whole = seconds * problem.pairs() / measured + adding;
      std::fprintf(stderr,
                   "OpenMP         %-6s over %-8s %3d threads   6 components %10.2f s  (%.3g of the pairs in "
                   "%.2f s)\n",
                   precision_name<T>, over, threads, whole, measured / problem.pairs(), seconds);
      results.host.push_back(text(
          "{\"over\": \"%s\", \"precision\": \"%s\", \"threads\": %d, \"components\": %s, \"seconds\": %.5g, "
          "\"measured\": \"on a share, scaled\", \"share\": %.4g, \"seconds_of_share\": %.4g, "
          "\"adding_seconds\": %.4g}",
          over, precision_name<T>, threads, json_of_components(tensor).c_str(), whole,
          measured / problem.pairs(), seconds, adding));
    };
    // As many for every thread as for any other.
    const auto step_for = [&](std::size_t there, double per_item) {
      const auto items =
          static_cast<std::size_t>(std::max(1.0, std::round(wanted / per_item / threads))) * threads;
      return std::max<std::size_t>(1, there / std::min(items, there));
    };
    const std::size_t prism_step = step_for(n.prisms.size(), static_cast<double>(n.x.size()));
    const auto [summing, adding] = openmp_over_prisms(n, prism_step, threads);
    record("prisms",
           static_cast<double>((n.prisms.size() + prism_step - 1) / prism_step) * problem.stations(), summing,
           adding);
    const std::size_t station_step = step_for(n.x.size(), static_cast<double>(n.prisms.size()));
    const double seconds = openmp_over_stations(n, station_step, threads);
    record("stations", static_cast<double>((n.x.size() + station_step - 1) / station_step) * problem.prisms(),
           seconds, 0);
  }
}

// ---- on several GPUs ------------------------------------------------------------------------------------

/// The paper's range of card q, from 0: s or s + 1 prisms, the longer ones first.
std::pair<int, int> range_of(int prisms, int cards, int q) {
  const int s = prisms / cards, r = prisms % cards;
  const int first = q * s + std::min(q, r);
  return {first, first + s + (q < r ? 1 : 0)};
}

/// The tensor by `cards` GPUs; each has a host thread and sends its grids to the host, which adds them.
template <class T>
void on_cards(const Problem& problem, int cards, int blocks, Results& results) {
  const std::size_t stations = problem.survey.size();
  std::vector<std::vector<std::vector<double>>> parts(static_cast<std::size_t>(cards));
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(cards));
  std::vector<std::vector<double>> sums(tensor.size(), std::vector<double>(stations));
  std::barrier together(cards + 1);
  std::vector<std::thread> hosts;
  for (int q = 0; q < cards; ++q)
    hosts.emplace_back([&, q] {
      auto& part = parts[static_cast<std::size_t>(q)];
      std::unique_ptr<OnDevice<T>> on;
      std::unique_ptr<DeviceArray<T>> grids;
      const auto [first, end] = range_of(problem.prisms(), cards, q);
      const auto compute = [&](int last) {
        part.clear();
        for (const int c : tensor) {
          private_grids(*on, *grids, c, first, last, blocks, most_threads, true);
          part.push_back(on->field(c));
        }
      };
      const auto guarded = [&](const auto& work) {
        if (failed[static_cast<std::size_t>(q)]) return;
        try {
          work();
        } catch (...) {
          failed[static_cast<std::size_t>(q)] = std::current_exception();
        }
      };
      guarded([&] {
        CHECK(cudaSetDevice(q));
        on = std::make_unique<OnDevice<T>>(problem.numbers<T>());
        grids = std::make_unique<DeviceArray<T>>(static_cast<std::size_t>(blocks) * most_threads * stations);
        compute(std::min(end, first + 1));
      });
      together.arrive_and_wait();
      guarded([&] { compute(end); });
      together.arrive_and_wait();
      on.reset();
      grids.reset();
    });
  together.arrive_and_wait();
  const double seconds = seconds_of([&] {
    together.arrive_and_wait();
    for (const auto& part : parts)
      for (std::size_t c = 0; c < part.size(); ++c)
        for (std::size_t i = 0; i < stations; ++i) sums[c][i] += part[c][i];
  });
  for (auto& thread : hosts) thread.join();
  for (const auto& failure : failed)
    if (failure) std::rethrow_exception(failure);
  std::vector<std::string> errors;
  for (std::size_t c = 0; c < tensor.size(); ++c) errors.push_back(error_of(problem, tensor[c], sums[c]));
  const auto [first, end] = range_of(problem.prisms(), cards, 0);
  const int calls = blocks_for(end - first, blocks * most_threads);
  std::fprintf(stderr, "cards          %-6s %d, %d x %d: %d calls     6 components %10.2f ms\n",
               precision_name<T>, cards, blocks, most_threads, calls, seconds * 1e3);
  results.cards.push_back(
      text("{\"cards\": %d, \"precision\": \"%s\", \"blocks\": %d, \"threads\": %d, \"calls\": %d, "
           "\"components\": %s, \"seconds\": %.6g, \"errors\": ",
           cards, precision_name<T>, blocks, most_threads, calls, json_of_components(tensor).c_str(),
           seconds) +
      list(errors) + "}");
}

// ---- Terrane --------------------------------------------------------------------------------------------

/// The errors of all components, and the line of the table.
std::string errors_of_terrane(const Problem& problem, const char* what, double accuracy,
                              const Computed& done) {
  std::fprintf(stderr, "Terrane        %-20s %.0e %-8s %-24s 10 channels %9.2f ms\n", what, accuracy,
               done.report.method.c_str(), done.report.device.c_str(), done.seconds * 1e3);
  std::vector<std::string> errors;
  for (const int c : vector_and_tensor)
    errors.push_back(error_of(problem, c, done.fields[static_cast<std::size_t>(c)]));
  return list(errors);
}

/// forward() as the command calls it: planning, sum and all.
void whole_calls(const Problem& problem, int repeats, Results& results) {
  using terrane::Device;
  using terrane::gravity::Parameters;
  std::vector<Device> devices{{Device::Kind::cpu}};
  if (chooses_devices<Parameters>) devices.push_back({Device::Kind::cuda, 0});
  for (const auto device : devices)
    for (const double accuracy : {1e-12, 1e-9, 1e-6}) {
      Parameters parameters;
      parameters.accuracy = accuracy;
      compute_on(parameters, device);
      std::vector<double> seconds;
      Computed done;
      for (int n = 0; n <= repeats; ++n) {
        done = by_terrane(problem, parameters);
        if (n > 0) seconds.push_back(done.seconds);
      }
      done.seconds = median(seconds);
      results.terrane.push_back(
          text("{\"what\": \"whole call\", \"accuracy\": %g, \"precision\": \"double\", \"repeats\": %d, ",
               accuracy, repeats) +
          json_of(done) + ", \"errors\": " + errors_of_terrane(problem, "whole call", accuracy, done) + "}");
    }
}

/// Every prism at every station on the GPU, nothing merged, once the prisms are there.
void direct_sums(const Problem& problem, int repeats, Results& results) {
  using terrane::gravity::Precision;
  for (const auto precision : {Precision::double_precision, Precision::single_precision}) {
    const bool single = precision == Precision::single_precision;
    const double accuracy = single ? 1e-6 : 1e-12;
    const terrane::Device device{terrane::Device::Kind::cuda, 0};
    std::unique_ptr<terrane::gravity::Summation> engine;
    const double preparing = seconds_of([&] {
      terrane::gravity::Parameters parameters;
      parameters.channels = terrane::gravity::ChannelSet::all();
      parameters.accuracy = accuracy;
      parameters.precision = precision;
      engine = terrane::gravity::direct_sum_on_device(device, problem.prism_views(), problem.station_views(),
                                                      parameters);
    });
    Computed done;
    done.fields.assign(components, std::vector<double>(problem.survey.size()));
    done.report.method = "direct";
    done.report.device = terrane::device_name(device);
    terrane::Progress silent;
    const auto take = [&](std::size_t p, terrane::gravity::PartSums&& sums) {
      const auto part = engine->part(p);
      const auto channels = part.channels.list();
      for (std::size_t n = 0; n < channels.size(); ++n) {
        const int c = static_cast<int>(channels[n]) - 1;
        if (c < 0) continue;
        for (std::size_t i = 0; i < part.stations.size(); ++i)
          done.fields[static_cast<std::size_t>(c)][part.stations[i]] =
              sums.values[n][i] * terrane::default_gravitational_constant * unit(c);
      }
    };
    std::vector<double> seconds;
    for (int n = 0; n <= repeats; ++n) {
      const double taken = seconds_of([&] { engine->sum(0, engine->parts(), take, silent); });
      if (n > 0) seconds.push_back(taken);
    }
    done.seconds = median(seconds);
    if (single) results.gz_of_terrane_single = done.fields[gz];
    results.terrane.push_back(
        text("{\"what\": \"after the upload\", \"accuracy\": %g, \"precision\": \"%s\", \"method\": "
             "\"direct\", "
             "\"device\": %s, \"repeats\": %d, \"seconds\": %.6g, \"preparing_seconds\": %.4g, \"errors\": ",
             accuracy, single ? "single" : "double", json_text(done.report.device).c_str(), repeats,
             done.seconds, preparing) +
        errors_of_terrane(problem, single ? "after upload, single" : "after upload, double", accuracy, done) +
        "}");
  }
}

// ---- everything -----------------------------------------------------------------------------------------

/// Gz in a window of the grid, for the picture of roughness: reference, and the errors of the scheme, mGal.
std::string window_of(const Problem& problem, const Results& results) {
  if (!problem.survey.grid || results.gz_of_scheme.size() != 2) return "null";
  const std::size_t wide = problem.survey.grid->easting.size(), high = problem.survey.grid->northing.size();
  const std::size_t i0 = wide / 4, i1 = wide / 4 + std::min<std::size_t>(wide / 2, 48), j0 = high / 4,
                    j1 = high / 4 + std::min<std::size_t>(high / 2, 32);
  std::vector<std::string> truth, in_double, in_single, of_terrane, x, y;
  for (std::size_t i = i0; i < i1; ++i) x.push_back(text("%.2f", problem.survey.grid->easting[i]));
  for (std::size_t j = j0; j < j1; ++j) y.push_back(text("%.2f", problem.survey.grid->northing[j]));
  for (std::size_t j = j0; j < j1; ++j)
    for (std::size_t i = i0; i < i1; ++i) {
      const std::size_t at = i + wide * j;
      const double value = problem.truth[gz][at];
      truth.push_back(text("%.6f", value));
      in_double.push_back(text("%.2e", results.gz_of_scheme[0][at] - value));
      in_single.push_back(text("%.3e", results.gz_of_scheme[1][at] - value));
      if (!results.gz_of_terrane_single.empty())
        of_terrane.push_back(text("%.3e", results.gz_of_terrane_single[at] - value));
    }
  return "{\"component\": \"Gz\", \"unit\": \"mGal\", \"easting\": " + list(x, ", ") +
         ",\n \"northing\": " + list(y, ", ") + ",\n \"reference\": " + list(truth, ", ") +
         ",\n \"error_double\": " + list(in_double, ", ") + ",\n \"error_single\": " + list(in_single, ", ") +
         (of_terrane.empty() ? "" : ",\n \"error_terrane_single\": " + list(of_terrane, ", ")) + "}";
}

int run(int count, char** arguments) {
  std::string parts = "schemes,sweeps,blocks,launches,host,cards,terrane";
  std::string job;
  bool quick = false;
  int gpus = 0;
  for (int n = 1; n < count; ++n) {
    const std::string option = arguments[n];
    if (option == "--quick") {
      quick = true;
    } else if (n + 1 < count && option == "--parts") {
      parts = arguments[++n];
    } else if (n + 1 < count && option == "--job") {
      job = arguments[++n];
    } else if (n + 1 < count && option == "--gpus") {
      gpus = std::atoi(arguments[++n]);
    } else {
      std::fprintf(stderr, "usage: devices_scheme_2013 [--parts LIST] [--gpus N] [--job FILE] [--quick]\n");
      return 2;
    }
  }
  const auto wanted = [&](const char* part) {
    return ("," + parts + ",").find(text(",%s,", part)) != std::string::npos;
  };

  int there = 0;
  CHECK(cudaGetDeviceCount(&there));
  gpus = gpus > 0 ? std::min(gpus, there) : there;
  std::vector<std::string> devices;
  cudaDeviceProp first{};
  for (int d = 0; d < gpus; ++d) {
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, d));
    if (d == 0) first = properties;
    devices.push_back(text("{\"name\": %s, \"multiprocessors\": %d, \"memory_bytes\": %zu}",
                           json_text(properties.name).c_str(), properties.multiProcessorCount,
                           properties.totalGlobalMem));
  }
  CHECK(cudaSetDevice(0));
  const int multiprocessors = first.multiProcessorCount;
  std::fprintf(stderr, "%d GPU, %s, %d multiprocessors; %d processors\n", gpus, first.name, multiprocessors,
               omp_get_num_procs());

  Results results;
  double seconds = 0;
  Problem problem;
  seconds += seconds_of([&] {
    problem =
        read_problem(job.empty() ? TERRANE_SOURCE_DIR "/examples/02_seven_spheres/job.toml" : job, quick);
    if (job.empty()) job = "examples/02_seven_spheres/job.toml";
  });
  seconds += seconds_of([&] {
    if (wanted("terrane")) {
      whole_calls(problem, quick ? 1 : 3, results);
      direct_sums(problem, quick ? 1 : 5, results);
    }
    if (wanted("schemes")) {
      schemes<double>(problem, multiprocessors, quick, results);
      schemes<float>(problem, multiprocessors, quick, results);
    }
    if (wanted("sweeps")) {
      sweeps<double>(problem, multiprocessors, quick, results);
      sweeps<float>(problem, multiprocessors, quick, results);
    }
    if (wanted("blocks")) {
      small_blocks<double>(problem, quick, results);
      small_blocks<float>(problem, quick, results);
    }
    if (wanted("launches")) {
      launches<double>(problem, results);
      launches<float>(problem, results);
    }
    if (wanted("cards"))
      for (const int cards : {1, 2, 3, 4}) {
        if (cards > gpus) continue;
        on_cards<double>(problem, cards, multiprocessors, results);
        on_cards<float>(problem, cards, multiprocessors, results);
        if (gpus > 1) on_cards<double>(problem, cards, 14, results);
      }
    if (wanted("host")) {
      host<double>(problem, quick ? 0.05 : 0.8, results);
      host<float>(problem, quick ? 0.05 : 0.8, results);
    }
  });
  std::printf(
      "{\"program\": \"scheme_2013\", \"job\": %s, \"quick\": %s,\n"
      " \"prisms\": %d, \"stations\": %d, \"pairs\": %.0f, \"seconds\": %.2f, \"processors\": %d,\n"
      " \"devices\": %s,\n \"reference\": %s,\n \"runs\": %s,\n \"cards\": %s,\n \"host\": %s,\n"
      " \"terrane\": %s,\n \"window\": %s}\n",
      json_text(job).c_str(), quick ? "true" : "false", problem.prisms(), problem.stations(), problem.pairs(),
      seconds, omp_get_num_procs(), list(devices, ", ").c_str(), problem.reference.c_str(),
      list(results.runs).c_str(), list(results.cards).c_str(), list(results.host).c_str(),
      list(results.terrane).c_str(), window_of(problem, results).c_str());
  std::fprintf(stderr, "%.1f s in all\n", seconds);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "devices_scheme_2013: %s\n", error.what());
    return 1;
  }
}
