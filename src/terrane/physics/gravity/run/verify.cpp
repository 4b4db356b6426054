#include "terrane/physics/gravity/run/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/math/quad.hpp"
#include "terrane/math/sample.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"
#include "terrane/physics/gravity/sum/kinds.hpp"

namespace terrane::gravity {

namespace {

constexpr double seconds_per_quadruple_pair = 40e-6, most_seconds = 20;
constexpr std::size_t chunk = 256;  // prisms per task

/// The ten quantities of one prism of density 1, G = 1.
Quantities<Quad> reference(const Prism& prism, double x, double y, double z) {
  const auto p = relative_to<Quad>(prism, x, y, z);
  const Quad xc = (p.x[0] + p.x[1]) / 2, yc = (p.y[0] + p.y[1]) / 2, zc = (p.z[0] + p.z[1]) / 2;
  const Quad longest = maximum(p.lx, maximum(p.ly, p.lz));
  // At a distance R from a prism of length L the textbook form is (R/L)⁴ times less accurate than its 34
  // digits; from R = 30 L on the stable form is used.
  if (xc * xc + yc * yc + zc * zc > Quad(900) * longest * longest) return stable<AnyDistance, false>(p);
  return naive(
      p, [](const Quad& v) { return natural_log(v); }, [](const Quad& v) { return arctangent(v, Quad(1)); });
}

/// The stations that are verified.
struct StationSample {
  std::vector<std::size_t> which;
  std::vector<double> easting, northing, up;

  StationSample(const Stations& stations, std::size_t count) : which(evenly_spread(count, stations.size())) {
    for (const auto n : which) {
      easting.push_back(stations.easting[n]);
      northing.push_back(stations.northing[n]);
      up.push_back(stations.up[n]);
    }
  }
  std::size_t size() const { return which.size(); }
  Stations view() const { return {easting, northing, up}; }
};

using Columns = std::vector<std::vector<double>>;  // [channels][stations of the sample], SI

Columns in_quadruple_precision(const Prisms& bars, const StationSample& sample,
                               const std::vector<Channel>& channels, const Parameters& parameters,
                               Progress& progress) {
  const std::size_t chunks = std::max<std::size_t>(1, (bars.size() + chunk - 1) / chunk);
  progress.start("verifying", bars.size() * sample.size());
  std::vector<std::array<Quad, 10>> partial(sample.size() * chunks);
  for_each(partial.size(), parameters.threads, [&](std::size_t task) {
    if (progress.cancelled()) throw Cancelled();
    const std::size_t s = task / chunks, first = task % chunks * chunk,
                      last = std::min(first + chunk, bars.size());
    std::array<Quad, 10> sum{};
    for (std::size_t n = first; n < last; ++n) {
      const auto q =
          reference({bars.west[n], bars.east[n], bars.south[n], bars.north[n], bars.bottom[n], bars.top[n]},
                    sample.easting[s], sample.northing[s], sample.up[s]);
      const Quad values[10] = {q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
      for (std::size_t c = 0; c < 10; ++c) sum[c] += Quad(bars.density[n]) * values[c];
    }
    partial[task] = sum;
    progress.advance(last - first);
  });
  Columns truth(channels.size(), std::vector<double>(sample.size()));
  for (std::size_t s = 0; s < sample.size(); ++s)
    for (std::size_t c = 0; c < channels.size(); ++c) {
      Quad sum = 0;
      for (std::size_t k = 0; k < chunks; ++k)
        sum += partial[s * chunks + k][static_cast<std::size_t>(channels[c])];
      truth[c][s] = static_cast<double>(Quad(parameters.gravitational_constant) * sum);
    }
  progress.finish();
  return truth;
}

Columns by_the_best_direct_sum(const Prisms& bars, const StationSample& sample, ChannelSet channels,
                               const Parameters& parameters, Progress& progress) {
  auto truth = direct_sum(bars, sample.view(), channels, best_accuracy, parameters.threads, progress).values;
  for (auto& channel : truth)
    for (auto& value : channel) value *= parameters.gravitational_constant;
  return truth;
}

/// The norm-wise error of one kind of channels, relative to its largest value over the survey; 0 if that is
/// 0. skipped: stations at which this kind has no value
double largest_error(int kind, const Fields& result, const Columns& truth, const StationSample& sample,
                     const std::vector<bool>& skipped) {
  const auto channels = result.channels.list();
  // Magnitude of all channels of a kind; value(channel) returns a channel's value.
  const auto square = [&](const auto& value) {
    double sum = 0;
    for (std::size_t c = 0; c < channels.size(); ++c)
      if (kind_of(channels[c]) == kind) {
        const double v = value(c);
        sum += weight_of(channels[c]) * v * v;
      }
    return sum;
  };
  double largest = 0, error = 0;
  for (std::size_t n = 0; n < skipped.size(); ++n) {
    const double v = square([&](std::size_t c) { return result.values[c][n]; });
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  for (std::size_t s = 0; s < sample.size(); ++s) {
    const std::size_t n = sample.which[s];
    if (skipped[n]) continue;
    const double e = square([&](std::size_t c) { return result.values[c][n] - truth[c][s]; });
    error = std::isfinite(e) ? std::max(error, e) : std::numeric_limits<double>::infinity();
  }
  return largest > 0 ? std::sqrt(error / largest) : 0;
}

}  // namespace

Verification verify(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                    std::size_t count, const Fields& result, std::span<const Contact> contacts,
                    Progress& progress) {
  Verification verification;
  const StationSample sample(stations, count);
  verification.stations = sample.size();
  if (sample.size() == 0) return verification;

  const MergedPrisms merged =
      share_that_merges(prisms) > 0 ? merge(prisms, parameters.threads, &progress) : MergedPrisms{};
  const Prisms bars = merged.size() > 0 ? merged.view() : prisms;
  const double pairs = static_cast<double>(bars.size()) * static_cast<double>(sample.size());
  verification.quadruple =
      pairs * seconds_per_quadruple_pair <= most_seconds * thread_count(parameters.threads);
  const auto truth = verification.quadruple
                         ? in_quadruple_precision(bars, sample, result.channels.list(), parameters, progress)
                         : by_the_best_direct_sum(bars, sample, result.channels, parameters, progress);

  const std::vector<bool> nowhere(stations.size());
  auto on_surface = nowhere;  // whether the tensor jumps at each station
  for (const auto& contact : contacts)
    if (!contact.inside()) on_surface[contact.station] = true;
  for (int kind = 0; kind < kind_count; ++kind)
    verification.error = std::max(
        verification.error, largest_error(kind, result, truth, sample, kind == 2 ? on_surface : nowhere));
  return verification;
}

}  // namespace terrane::gravity
