#include "terrane/physics/gravity/run/verify.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/math/quad.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"

namespace terrane::gravity {

namespace {

constexpr double seconds_a_pair = 40e-6, most_seconds = 20;
constexpr std::size_t chunk = 256;  // prisms a task

/// The ten quantities of one prism of density 1, G = 1.
Quantities<Quad> reference(const Prism& prism, double x, double y, double z) {
  const auto p = relative_to<Quad>(prism, x, y, z);
  const Quad xc = (p.x[0] + p.x[1]) / 2, yc = (p.y[0] + p.y[1]) / 2, zc = (p.z[0] + p.z[1]) / 2;
  const Quad longest = maximum(p.lx, maximum(p.ly, p.lz));
  // The textbook form loses (R/L)⁴ of 34 digits.
  if (xc * xc + yc * yc + zc * zc > Quad(900) * longest * longest) return stable<AnyDistance, false>(p);
  return naive(
      p, [](const Quad& v) { return natural_log(v); }, [](const Quad& v) { return arctangent(v, Quad(1)); });
}

}  // namespace

Verification verify(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                    std::size_t count, const Fields& result, std::span<const Contact> contacts,
                    Progress& progress) {
  Verification verification;
  count = std::min(count, stations.size());
  verification.stations = count;
  if (count == 0) return verification;
  std::vector<std::size_t> sample(count);
  std::vector<double> easting(count), northing(count), up(count);
  for (std::size_t i = 0; i < count; ++i) {
    sample[i] = static_cast<std::size_t>((static_cast<double>(i) + 0.5) *
                                         static_cast<double>(stations.size()) / static_cast<double>(count));
    easting[i] = stations.easting[sample[i]];
    northing[i] = stations.northing[sample[i]];
    up[i] = stations.up[sample[i]];
  }
  const auto channels = result.channels.list();
  std::vector<std::vector<double>> truth(channels.size(), std::vector<double>(count));

  const MergedPrisms merged =
      share_that_merges(prisms) > 0 ? merge(prisms, parameters.threads, &progress) : MergedPrisms{};
  const Prisms bars = merged.size() > 0 ? merged.view() : prisms;
  const double pairs = static_cast<double>(bars.size()) * static_cast<double>(count);
  verification.quadruple = pairs * seconds_a_pair <= most_seconds * thread_count(parameters.threads);
  if (verification.quadruple) {
    progress.start("verifying", static_cast<std::uint64_t>(pairs));
    const std::size_t chunks = std::max<std::size_t>(1, (bars.size() + chunk - 1) / chunk);
    std::vector<std::array<Quad, 10>> partial(count * chunks);
    for_each(partial.size(), parameters.threads, [&](std::size_t task) {
      if (progress.cancelled()) throw Cancelled();
      const std::size_t s = task / chunks, first = task % chunks * chunk,
                        last = std::min(first + chunk, bars.size());
      std::array<Quad, 10> sum{};
      for (std::size_t n = first; n < last; ++n) {
        const auto q =
            reference({bars.west[n], bars.east[n], bars.south[n], bars.north[n], bars.bottom[n], bars.top[n]},
                      easting[s], northing[s], up[s]);
        const Quad values[10] = {q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
        for (std::size_t c = 0; c < 10; ++c) sum[c] += Quad(bars.density[n]) * values[c];
      }
      partial[task] = sum;
      progress.advance(last - first);
    });
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t c = 0; c < channels.size(); ++c) {
        Quad sum = 0;
        for (std::size_t k = 0; k < chunks; ++k)
          sum += partial[s * chunks + k][static_cast<std::size_t>(channels[c])];
        truth[c][s] = static_cast<double>(Quad(parameters.gravitational_constant) * sum);
      }
    progress.finish();
  } else {
    truth = direct_sum(bars, {easting, northing, up}, result.channels, best_accuracy, parameters.threads,
                       progress)
                .values;
    for (auto& channel : truth)
      for (auto& value : channel) value *= parameters.gravitational_constant;
  }

  std::vector<bool> on_surface(stations.size());
  for (const auto& contact : contacts)
    if (!contact.inside()) on_surface[contact.station] = true;
  for (const auto kind :
       {Quantity::gravity_potential, Quantity::acceleration, Quantity::acceleration_gradient}) {
    const auto square = [&](const auto& value) {  // of the whole kind; value(channel)
      double sum = 0;
      for (std::size_t c = 0; c < channels.size(); ++c)
        if (quantity(channels[c]) == kind) {
          const double v = value(c);
          sum += (channels[c] >= Channel::g_en ? 2 : 1) * v * v;
        }
      return sum;
    };
    double largest = 0, error = 0;
    for (std::size_t n = 0; n < stations.size(); ++n) {
      const double v = square([&](std::size_t c) { return result.values[c][n]; });
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    for (std::size_t s = 0; s < count; ++s) {
      if (kind == Quantity::acceleration_gradient && on_surface[sample[s]]) continue;
      const double e = square([&](std::size_t c) { return result.values[c][sample[s]] - truth[c][s]; });
      error = std::isfinite(e) ? std::max(error, e) : std::numeric_limits<double>::infinity();
    }
    if (largest > 0) verification.error = std::max(verification.error, std::sqrt(error / largest));
  }
  return verification;
}

}  // namespace terrane::gravity
