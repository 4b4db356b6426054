#include "terrane/physics/acoustic/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/physics/acoustic/image/engine.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/physics/acoustic/traces.hpp"

namespace terrane::acoustic {

struct Operators::Held {
  Held(Problem given, bool double_precision, Device device, int threads, std::size_t memory)
      : problem(std::move(given)),
        budget(memory > 0 ? MemoryBudget{memory} : MemoryBudget{}),
        stream(resolve(device), false, threads),
        series(problem.source_series()) {
    const auto resolved = resolve(device);
    Settings settings;
    settings.double_precision = double_precision;
    expect_memory(settings, resolved);
    if (double_precision) engine = std::make_unique<Engine<double>>(problem, stream, alone);
    else engine = std::make_unique<Engine<float>>(problem, stream, alone);
    const auto all = static_cast<double>(budget.bytes);
    const double there = resolved.has_own_memory() ? static_cast<double>(device_memory(resolved).free) : all;
    choose_keeping(settings, problem, resolved, {there, all, 0});
    keeping = settings.keeping;
    std::visit([&](auto& made) { made->keep_in(settings.kept_in, {}); }, engine);
  }

  /// Throws MemoryError if there is too little memory for modelling a shot and for two copies of all gathers.
  void expect_memory(const Settings& settings, const Device& on) const {
    double samples = 0;
    for (const auto& shot : problem.shots) samples += static_cast<double>(samples_of(shot));
    budget.require("acoustic",
                   fmt::format("{:.3g} samples of gathers over {} nodes", samples, problem.whole().count()),
                   2 * sizeof(double) * samples + bytes_of_waves(settings, on));
  }
  /// Memory on the host for modelling a shot.
  double bytes_of_waves(const Settings& settings, const Device& on) const {
    return on.has_own_memory() ? 0 : bytes_of_shot(problem, settings, on);
  }
  std::size_t samples_of(const Shot& shot) const { return problem.steps() * problem.traces(shot); }
  const std::vector<double>& series_of(std::size_t shot) const { return sent.empty() ? series : sent[shot]; }
  /// Gathers of all shots, computed one after the other by of_shot(engine, shot, series).
  template <class OfShot>
  std::vector<double> gathers(const OfShot& of_shot) {
    std::vector<double> all;
    for (std::size_t n = 0; n < problem.shots.size(); ++n) {
      auto one = std::visit([&](auto& e) { return of_shot(*e, problem.shots[n], series_of(n)); }, engine);
      to_gather(problem, one, stream.threads());
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  Problem problem;
  MemoryBudget budget;
  Alone alone;
  Stream stream;
  std::vector<double> series;             ///< the wavelet at the time steps
  std::vector<std::vector<double>> sent;  ///< [shots] series that replace the wavelet; empty if not given
  std::variant<std::unique_ptr<Engine<double>>, std::unique_ptr<Engine<float>>> engine;
  Keeping keeping = Keeping::store;
};

Operators::Operators(Problem problem, bool double_precision, Device device, int threads, std::size_t memory)
    : held_(std::make_unique<Held>(std::move(problem), double_precision, device, threads, memory)) {}

Operators::~Operators() = default;

const Problem& Operators::problem() const noexcept { return held_->problem; }

std::size_t Operators::samples() const {
  std::size_t n = 0;
  for (const auto& shot : held_->problem.shots) n += held_->samples_of(shot);
  return n;
}

void Operators::send(std::vector<std::vector<double>> series) {
  const auto& shots = held_->problem.shots;
  const std::size_t steps = held_->problem.steps();
  if (series.size() != shots.size())
    throw ShapeError("acoustic: series", fmt::format("{} for {} shots", series.size(), shots.size()));
  for (std::size_t n = 0; n < shots.size(); ++n)
    if (series[n].size() != steps && series[n].size() != steps * shots[n].sources.size())
      throw ShapeError("acoustic: series",
                       fmt::format("{} samples of shot {}, which has {} steps and {} sources",
                                   series[n].size(), n + 1, steps, shots[n].sources.size()));
  held_->sent = std::move(series);
}

std::vector<double> Operators::model(Progress* progress) {
  return held_->gathers([&](auto& engine, const Shot& shot, const std::vector<double>& series) {
    return engine.model(shot, series, progress);
  });
}

std::vector<float> Operators::snapshots(const Snapshots& wanted, Progress* progress, bool at_rest) {
  auto uncorrected = held_->problem;
  uncorrected.exact_time = false;
  const auto nodes = static_cast<std::size_t>(wanted.nodes(uncorrected.grid).box().count());
  const auto count = wanted.count(uncorrected);
  Settings settings;
  settings.double_precision = std::holds_alternative<std::unique_ptr<Engine<double>>>(held_->engine);
  held_->budget.require(
      "acoustic",
      fmt::format("{} snapshots of {} nodes, beside waves of {}", count, nodes, uncorrected.whole().count()),
      wanted.bytes(uncorrected) + held_->bytes_of_waves(settings, held_->stream.device()));
  const std::size_t before = at_rest ? 1 : 0;
  std::vector<float> all((before + count) * nodes);
  const Watch taking{wanted, [&](std::size_t n, std::span<const float> values) {
                       std::copy(values.begin(), values.end(),
                                 all.begin() + static_cast<std::ptrdiff_t>((before + n) * nodes));
                     }};
  const auto series = held_->sent.empty() ? uncorrected.source_series() : held_->sent[wanted.shot];
  std::visit([&](auto& e) { e->model(uncorrected.shots[wanted.shot], series, progress, &taking); },
             held_->engine);
  return all;
}

std::vector<double> Operators::born(const std::vector<double>& change, Progress* progress) {
  return held_->gathers([&](auto& engine, const Shot& shot, const std::vector<double>& series) {
    return engine.born(shot, series, change, progress);
  });
}

std::vector<double> Operators::adjoint(const std::vector<double>& gathers, Progress* progress) {
  if (gathers.size() != samples())
    throw ShapeError("acoustic: gathers", fmt::format("{} samples for {}", gathers.size(), samples()));
  std::vector<double> sum(held_->problem.velocity.size(), 0.0);
  auto next = gathers.begin();
  for (std::size_t s = 0; s < held_->problem.shots.size(); ++s) {
    const auto& shot = held_->problem.shots[s];
    const auto last = next + static_cast<std::ptrdiff_t>(held_->samples_of(shot));
    std::vector<double> data(next, last);
    next = last;
    to_gather_transposed(held_->problem, data, held_->stream.threads());
    const auto images = std::visit(
        [&](auto& engine) {
          return engine->adjoint(shot, held_->series_of(s), data, held_->keeping, progress);
        },
        held_->engine);
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += images.kernel[n];
  }
  return sum;
}

Misfit Operators::misfit(const std::vector<double>& observed, Progress* progress) {
  if (observed.size() != samples())
    throw ShapeError("acoustic: gathers", fmt::format("{} samples for {}", observed.size(), samples()));
  auto residual = model(progress);
  Misfit out;
  for (std::size_t n = 0; n < residual.size(); ++n) {
    residual[n] -= observed[n];
    out.value += 0.5 * residual[n] * residual[n];
  }
  out.gradient = adjoint(residual, progress);
  return out;
}

}  // namespace terrane::acoustic
