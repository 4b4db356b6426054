#include "terrane/physics/acoustic/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/copied.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/physics/acoustic/traces.hpp"
#include "terrane/simulation/checkpoint_times.hpp"
#include "terrane/simulation/on_ranks.hpp"
#include "terrane/simulation/rounds.hpp"

namespace terrane::acoustic {

namespace {

using SteadyClock = std::chrono::steady_clock;
double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

std::vector<float> rounded(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// Visitor that writes every member into a packet, like PutFields, except members that are declared apart().
struct PutBareFields {
  Packet& packet;
  template <class T, class Rule>
  void operator()(std::string_view name, const T& value, const Rule& rule, std::string_view = {},
                  std::string_view = {}) const {
    if constexpr (std::is_same_v<Rule, ApartField>) packet.put(std::size_t{0});
    else PutFields{packet}(name, value, rule);
  }
};

/// A copy of the problem without the values at its nodes.
Problem bare(const Problem& problem) {
  Packet packet;
  const PutBareFields put{packet};
  Problem::fields(problem, put);
  return get_fields<Problem>(packet);
}

/// Computes shots, one after the other, on the ranks of a Comm.
template <class T>
class Shots {
 public:
  Shots(const Problem& problem, const Settings& settings, Device device, int threads, Comm& comm, Dealt dealt)
      : problem_(problem),
        settings_(settings),
        comm_(comm),
        stream_(device, false, threads),
        series_(problem.source_series()),
        engine_(problem_, stream_, comm, dealt) {
    if (settings.kept_in != KeptIn::automatic) engine_.keep_in(settings.kept_in, settings.scratch);
    if (settings.task != Task::migration || !settings.data->empty()) return;
    true_ = bare(problem);
    for (const auto of :
         {&Problem::density, &Problem::epsilon, &Problem::delta, &Problem::tilt, &Problem::azimuth})
      true_.*of = copied(problem.*of);
    true_.velocity = copied(*settings.change);
    for_each_stretch(true_.velocity.size(), threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n)
        true_.velocity[n] =
            1 / std::sqrt(1 / (problem.velocity[n] * problem.velocity[n]) + true_.velocity[n]);
    });
    true_engine_.emplace(true_, stream_, comm, dealt);
  }

  std::string transport() const { return engine_.transport(); }
  const Passes& passes() const { return engine_.passes(); }
  /// Collective: computes shot n; the result is valid on rank 0.
  /// pictures: on rank 0 the snapshots, if they are of shot n; else null.
  ShotResult operator()(std::size_t n, Progress* progress, Pictures* pictures) {
    const Shot& shot = problem_.shots[n];
    const Watch watching{settings_.snapshots, [&](std::size_t at, std::span<const float> values) {
                           if (pictures) pictures->put(at, values);
                         }};
    const Watch* const watch = n == settings_.snapshots.shot ? &watching : nullptr;
    if (settings_.task == Task::modelling)
      return {rounded(exact(engine_.model(shot, series_, progress, watch))), {}, false, {}};
    if (settings_.task == Task::born)
      return {rounded(exact(engine_.born(shot, series_, *settings_.change, progress, watch))), {}, false, {}};
    if (settings_.task == Task::adjoint) {
      auto data = comm_.rank() == 0 ? (*settings_.data)[n] : std::vector<double>();
      if (comm_.rank() == 0) to_gather_transposed(problem_, data, stream_.threads());
      auto images = engine_.adjoint(shot, series_, data, settings_.keeping, progress);
      return {{}, {std::move(images.kernel), {}, {}, {}}, false, {}};
    }
    // The grid's time dispersion is applied to the wavelet and to the data: then reflectors are imaged at
    // their true positions.
    std::vector<double> data;
    std::vector<float> gather;
    if (!settings_.data->empty()) {
      gather = rounded((*settings_.data)[n]);
      data = comm_.rank() == 0 ? (*settings_.data)[n] : std::vector<double>();
      if (comm_.rank() == 0) to_senders(problem_, data, stream_.threads());
    } else {
      data = true_engine_->model(shot, series_, progress);
      const auto smooth = engine_.model(shot, series_, progress);
      for (std::size_t m = 0; m < data.size(); ++m) data[m] -= smooth[m];
      gather = rounded(exact(data));
      if (comm_.rank() == 0) to_senders_of_engine(problem_, data);
    }
    auto images = engine_.adjoint(shot, series_, data, settings_.keeping, progress, settings_.lags);
    return {std::move(gather), std::move(images), false, {}};
  }

 private:
  std::vector<double> exact(std::vector<double> traces) const {
    if (comm_.rank() == 0) to_gather(problem_, traces, stream_.threads());
    return traces;
  }

  const Problem& problem_;
  const Settings& settings_;
  Problem true_;
  Comm& comm_;
  Stream stream_;
  std::vector<double> series_;
  Engine<T> engine_;
  std::optional<Engine<T>> true_engine_;
};

void add(std::vector<double>& sum, std::vector<double>&& more) {
  if (sum.empty()) {
    sum = std::move(more);
    return;
  }
  for_each_stretch(more.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) sum[n] += more[n];
  });
}

void take_into(Outcome& out, std::size_t shot, ShotResult&& result) {
  out.shots_kept += result.kept ? 1 : 0;
  if (out.why_not_kept.empty()) out.why_not_kept = std::move(result.why_not_kept);
  out.gathers[shot] = std::move(result.gather);
  add(out.images.kernel, std::move(result.images.kernel));
  add(out.images.correlation, std::move(result.images.correlation));
  add(out.images.illumination, std::move(result.images.illumination));
  add(out.images.at_lags, std::move(result.images.at_lags));
}

/// Progress of one shot within the run's progress, in which every shot counts as steps_per_part steps,
/// whatever its number of time steps and of sweeps over them.
class ShotProgress final : public Progress {
 public:
  ShotProgress(Progress& all, std::uint64_t steps) : all_(all), steps_(std::max<std::uint64_t>(steps, 1)) {}
  void advance(std::uint64_t steps) override {
    done_ = std::min(done_ + steps, steps_);
    const auto part = RoundWork::steps_per_part * done_ / steps_;
    if (part > told_) all_.advance(part - told_);
    told_ = part;
  }
  bool cancelled() const override { return all_.cancelled(); }
  void end() { advance(steps_); }

 private:
  Progress& all_;
  std::uint64_t steps_, done_ = 0, told_ = 0;
};

/// Rounds of shots that are shared among ranks: each shot is computed by one rank.
template <class T>
class ShotRounds final : public RoundWork {
 public:
  ShotRounds(const Problem& problem, const Settings& settings, const RankPlace& place,
             const CheckpointSettings& checkpoint, Outcome* out)
      : problem_(problem),
        settings_(settings),
        device_(place.device),
        threads_(place.threads),
        comm_(place.comm),
        files_(checkpoint, problem, settings, comm_.size()),
        out_(out) {}
  std::size_t parts() const override { return problem_.shots.size(); }
  void compute(const Range& round, Progress& progress) override {
    done_.clear();
    kept_before_ = out_ ? out_->shots_kept : 0;
    const auto mine = share(round, comm_.rank());
    for (std::size_t n = mine.first; n < mine.last; ++n) {
      const std::uint64_t sweeps = !settings_.runs_back() ? 1 : settings_.data->empty() ? 4 : 2;
      ShotProgress part(progress, sweeps * problem_.steps());
      if (auto kept = files_.find(n)) done_.push_back(std::move(*kept));
      else done_.push_back(made(n, part));
      part.end();
    }
  }
  /// Whether the time of this round shows the ranks' speed: not if shots were read from files, which takes no
  /// time.
  bool tells_pace() const override { return out_->shots_kept == kept_before_; }
  void hand_over(Comm& comm, const Range&) override {
    wait_for_turn(comm);
    for (const auto& result : done_) {
      Packet packet;
      put_fields(result, packet);
      packet.send(comm, 0);
    }
  }
  void take_own(const Range& round) override {
    auto n = share(round, 0).first;
    for (auto& result : done_) take_into(*out_, n++, std::move(result));
  }
  void take(Comm& comm, int rank, const Range& round) override {
    const auto theirs = share(round, rank);
    for (std::size_t n = theirs.first; n < theirs.last; ++n) {
      auto packet = Packet::receive(comm, rank);
      take_into(*out_, n, get_fields<ShotResult>(packet));
    }
  }
  void finish(const Range&) override {}
  std::size_t done_in_order() const override { return done_.size(); }

 private:
  ShotResult made(std::size_t n, Progress& progress) {
    const auto begin = SteadyClock::now();
    if (!shots_) shots_.emplace(problem_, settings_, device_, threads_, alone_, Dealt::no);
    auto result = (*shots_)(n, &progress, out_ ? &out_->pictures : nullptr);
    result.why_not_kept = files_.keep(n, result, seconds_since(begin));
    return result;
  }
  Range share(const Range& round, int rank) const {
    const auto range =
        balanced_range(round.size(), static_cast<std::size_t>(comm_.size()), static_cast<std::size_t>(rank));
    return {round.first + range.first, round.first + range.last};
  }

  const Problem& problem_;
  const Settings& settings_;
  Device device_;
  int threads_;
  Comm& comm_;
  ShotFiles files_;
  Outcome* out_;
  Alone alone_;
  std::optional<Shots<T>> shots_;
  std::vector<ShotResult> done_;
  std::size_t kept_before_ = 0;
};

/// Writes the results of the first `done` shots.  shown: the shot of the snapshots
void write_checkpoint(const std::filesystem::path& file, const Fingerprint& of, std::size_t done,
                      std::size_t shown, const Outcome& out) {
  CheckpointWriter writer(file, of, done);
  std::vector<float> gathers;
  for (std::size_t n = 0; n < done; ++n)
    gathers.insert(gathers.end(), out.gathers[n].begin(), out.gathers[n].end());
  writer.list("gathers", std::span<const float>(gathers));
  writer.list("kernel", std::span<const double>(out.images.kernel));
  writer.list("correlation", std::span<const double>(out.images.correlation));
  writer.list("illumination", std::span<const double>(out.images.illumination));
  writer.list("at_lags", std::span<const double>(out.images.at_lags));
  if (const auto taken = out.pictures.count(); taken > 0 && done > shown) {
    std::vector<float> picture(out.pictures.numbers());
    writer.define<float>("pictures", {taken, picture.size()});
    for (std::size_t n = 0; n < taken; ++n) {
      out.pictures.get(n, picture);
      writer.piece("pictures", std::span<const float>(picture));
    }
  }
  writer.finish();
}

std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& p, const Settings& s,
                            Outcome& out) {
  auto in = CheckpointReader::open(file);
  if (!in) {
    if (!is_left(file)) out.warnings.push_back(no_checkpoint(file));
    else if (const auto misfit = ShotFiles({file}, p, s, 1).misfit(); !misfit.empty())
      out.warnings.push_back(misfit);
    return 0;
  }
  in->expect(fingerprint(p, s));
  in->expect_parts(p.shots.size());
  std::size_t samples = 0;
  for (std::size_t n = 0; n < in->parts(); ++n) samples += p.steps() * p.traces(p.shots[n]);
  const auto gathers = in->array<float>("gathers", {samples});
  auto next = gathers.begin();
  for (std::size_t n = 0; n < in->parts(); ++n) {
    const auto size = static_cast<std::ptrdiff_t>(p.steps() * p.traces(p.shots[n]));
    out.gathers[n].assign(next, next + size);
    next += size;
  }
  const std::size_t nodes = s.task == Task::migration ? p.velocity.size() : 0;
  out.images = {in->array<double>("kernel", {nodes}), in->array<double>("correlation", {nodes}),
                in->array<double>("illumination", {nodes}),
                in->array<double>("at_lags", {s.images_at_lags() * nodes})};
  if (const auto taken = out.pictures.count(); taken > 0 && in->parts() > s.snapshots.shot) {
    std::vector<float> picture(out.pictures.numbers());
    for (std::size_t n = 0; n < taken; ++n) {
      in->read<float>("pictures", {taken, picture.size()}, n * picture.size(), picture);
      out.pictures.put(n, picture);
    }
  }
  out.notes.push_back(
      fmt::format("resumed from {}, with {} of {} shots done", file.string(), in->parts(), p.shots.size()));
  return in->parts();
}

/// Writes checkpoints of finished shots, if the user asked for them and the run is long enough.
class Keeper {
 public:
  Keeper(const CheckpointSettings& settings, const Problem& problem, const Settings& what, Outcome& out)
      : times_(settings, out.first_shot, problem.shots.size(), out.warnings),
        problem_(problem),
        what_(what),
        out_(out) {}
  /// Writes a checkpoint after `done` shots, if one is due.  last: whether the user has stopped the run
  void operator()(std::size_t done, bool last = false) {
    if (!(last ? times_.due_last(done) : times_.due(done))) return;
    times_.keep(done, [&](const CheckpointSettings& settings) {
      write_checkpoint(settings.file, fingerprint(problem_, what_), done, what_.snapshots.shot, out_);
      ShotFiles::remove_before(settings, done);
    });
  }

 private:
  CheckpointTimes times_;
  const Problem& problem_;
  const Settings& what_;
  Outcome& out_;
};

/// All ranks compute each shot together. Returns on all ranks whether the user stopped the run: if GPUs have
/// mapped each other's memory, all ranks must destroy their waves together, and none may leave by an
/// exception.
template <class T>
bool do_shots_together(const Problem& problem, const Settings& settings, const RankPlace& place,
                       std::size_t first, Progress& progress, Outcome* out, Keeper* keep) {
  Comm& comm = place.comm;
  Shots<T> shots(problem, settings, place.device, place.threads, comm,
                 dealt_among(problem, settings, comm.size()));
  if (const auto transport = shots.transport(); out && !transport.empty())
    out->notes.push_back("halos " + transport);
  if (out && shots.passes().why == another_rank)
    out->notes.push_back(fmt::format("steps went one by one on all ranks: {}", another_rank));
  if (out) progress.start("acoustic", problem.shots.size());
  for (std::size_t n = first; n < problem.shots.size(); ++n) {
    auto result = shots(n, nullptr, out ? &out->pictures : nullptr);
    if (out) {
      take_into(*out, n, std::move(result));
      progress.advance(1);
      (*keep)(n + 1, progress.cancelled());
    }
    if (comm.lowest(out && progress.cancelled() ? 0 : 1) == 0) return true;
  }
  if (out) progress.finish();
  return false;
}

/// Called on every rank: computes all shots from `first` on. out: the results on rank 0, null on others.
template <class T>
void do_shots(const Problem& problem, const Settings& settings, const RankPlace& place, std::size_t first,
              const CheckpointSettings& checkpoint, Progress& progress, Outcome* out) {
  Comm& comm = place.comm;
  std::optional<Keeper> keep;
  if (out) keep.emplace(checkpoint, problem, settings, *out);
  if (settings.shots_of_their_own(problem.shots.size(), comm.size())) {
    InStep::run(comm, [&](InStep& ranks) {
      ShotRounds<T> work(problem, settings, place, checkpoint, out);
      if (!out) return follow_rounds(ranks, work);
      RoundSettings rounds{"acoustic",          first,           static_cast<std::size_t>(comm.size()), 0,
                           checkpoint.interval, checkpoint.round};
      rounds.expected_seconds = INFINITY;  // one shot per rank and round, until a round has been timed
      lead_rounds(
          ranks, work, rounds, progress, [&](std::size_t done) { (*keep)(done); },
          [&](std::size_t done) { (*keep)(done, true); });
    });
    return;
  }
  const bool stopped =
      do_shots_together<T>(problem, settings, place, first, progress, out, keep ? &*keep : nullptr);
  if (stopped && out) throw Cancelled();
}

/// Sends the settings that other ranks need for the files of their shots.
void put_into(Packet& packet, const CheckpointSettings& settings) {
  packet.put(settings.file.string());
  packet.put(std::array{settings.interval, settings.least_run, settings.round});
  packet.put(settings.resume);
}

CheckpointSettings checkpoint_from(Packet& packet) {
  CheckpointSettings settings;
  settings.file = packet.get<std::string>();
  const auto seconds = packet.get<std::array<double, 3>>();
  settings.interval = seconds[0], settings.least_run = seconds[1], settings.round = seconds[2];
  settings.resume = packet.get<bool>();
  return settings;
}

template <class... Arguments>
void in_precision(bool double_precision, Arguments&&... arguments) {
  if (double_precision) do_shots<double>(std::forward<Arguments>(arguments)...);
  else do_shots<float>(std::forward<Arguments>(arguments)...);
}

KeepingCost cost_of(const Settings& s, const Problem& problem, const Device& device) {
  const auto place = s.kept_in == KeptIn::automatic ? KeptIn::memory : s.kept_in;
  return s.double_precision ? acoustic::cost_of<double>(s.keeping, problem, place, device)
                            : acoustic::cost_of<float>(s.keeping, problem, place, device);
}

/// The greatest numbers of rows and weights of a tap: a sinc on each axis; for a velocity also differences on
/// its axis, or, with a tilted axis of symmetry, differences of p and q on all axes.
std::pair<double, double> size_of_tap(const Problem& problem, Component component) {
  const bool velocity = component != Component::pressure,
             tilted = velocity && problem.equation == Equation::tti;
  double width[3], more[3];  // numbers of nodes that the sinc reads, and that a difference reads in addition
  for (int axis = 0; axis < 3; ++axis) {
    const bool there = problem.grid.there(axis), slopes = velocity && (tilted || axis == axis_of(component));
    width[axis] = there ? 2 * problem.radius : 1;
    more[axis] = there && slopes ? problem.order - 1 : 0;
  }
  const double straight = width[up] * width[north],
               beside = more[up] * width[north] + width[up] * more[north], fields = tilted ? 2 : 1;
  return {fields * (straight + beside),
          fields * (straight * (width[east] + more[east]) + beside * width[east])};
}

/// Upper limit of the bytes of a shot's receivers (samples, weights, rows) and of the sources that send their
/// data back.
double bytes_of_receivers(const Problem& problem, const Settings& settings, const Device& device) {
  const double e = settings.double_precision ? 8 : 4, steps = static_cast<double>(problem.steps());
  double traces = 0, rows = 0, weights = 0;  // the largest numbers of any shot
  std::size_t receivers = 0;
  for (const auto& shot : problem.shots) receivers = std::max(receivers, shot.receivers.size());
  for (const auto component : problem.record) {
    const auto [rows_of_one, weights_of_one] = size_of_tap(problem, component);
    traces += static_cast<double>(receivers);
    rows += static_cast<double>(receivers) * rows_of_one;
    weights += static_cast<double>(receivers) * weights_of_one;
  }
  double bytes = traces * steps * e + weights * e + rows * sizeof(ReceiverRow);
  // With passes over several steps, the sums of each receiver's rows are stored, too.
  const double at_once =
      device.kind == Device::Kind::cpu ? static_cast<double>(most_steps_at_once(problem)) : 1;
  if (at_once > 1) bytes += rows * (at_once * e + 2 * sizeof(Index));
  // For receivers that send data back: a series each, and for each weight its source and at most one node.
  if (settings.runs_back())
    bytes += traces * steps * e + weights * (e + sizeof(int) + sizeof(Part) + 2 * sizeof(Index));
  return bytes;
}

}  // namespace

double largest_share(const Problem& problem, int ranks) {
  if (ranks == 1) return 1;
  const auto cut = cut_grid(problem, ranks);
  const auto with_halo = [&](IndexBox<3> box) {
    for (int a = 0; a < 2; ++a)
      if (problem.grid.there(a)) box = box.grown(a, problem.reach(), problem.reach());
    return static_cast<double>(box.count());
  };
  double most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, with_halo(cut.part(rank)));
  return most / with_halo(cut.whole);
}

double bytes_of_shot(const Problem& problem, const Settings& settings, const Device& device, double share) {
  const bool double_precision = settings.double_precision;
  const auto bytes_of_wave = [&](bool along) {
    return double_precision ? Medium<double>::bytes_of_wave(problem, along)
                            : Medium<float>::bytes_of_wave(problem, along);
  };
  const double wave = bytes_of_wave(double_precision ? keeps_along<double>(device, problem)
                                                     : keeps_along<float>(device, problem));
  const double e = double_precision ? 8 : 4, nodes = static_cast<double>(problem.velocity.size());
  const double medium =
      double_precision ? Medium<double>::bytes_of_medium(problem) : Medium<float>::bytes_of_medium(problem);
  double bytes = wave + medium;
  // Born modelling also stores the scattered wave, the change of the model, and copies of p⁻ (and q⁻) of the
  // source's wave.
  if (settings.task == Task::born) bytes += wave + (1 + static_cast<double>(problem.fields())) * nodes * e;
  if (settings.runs_back()) {
    bytes += bytes_of_wave(true) + (3 + static_cast<double>(settings.images_at_lags())) * nodes * e;
    if (settings.data->empty() && settings.task == Task::migration) bytes += wave + medium;
    bytes += cost_of(settings, problem, device).device_bytes;
  }
  return share * bytes + bytes_of_receivers(problem, settings, device);
}

double bytes_of_snapshots(const Problem& problem, const Settings& settings, bool on_disk) {
  const auto& shown = settings.snapshots;
  if (!shown.any()) return 0;
  const auto nodes = static_cast<double>(shown.nodes(problem.grid).box().count());
  // A snapshot is stored as it is computed, and in single precision as it is written.
  return nodes * ((settings.double_precision ? 16 : 8) + sizeof(float)) +
         (on_disk ? 0 : 2 * shown.bytes(problem));
}

namespace {

/// Bytes of a shot's waves on a host that stores them for this fraction of the nodes; with random walls the
/// host stores the whole medium instead.
double waves_on_host(const KeepingCost& cost, double share) {
  return cost.host_bytes * (cost.strategy == Keeping::random_walls ? 1 : share);
}

}  // namespace

double bytes_on_host(const Problem& problem, const Settings& settings, const Device& device, double share) {
  if (!settings.runs_back()) return 0;
  const auto images = static_cast<double>(3 + settings.images_at_lags());
  return 2 * images * sizeof(double) * static_cast<double>(problem.velocity.size()) +
         waves_on_host(cost_of(settings, problem, device), share);
}

std::vector<KeepingChoice> keeping_choices(Settings settings, const Problem& problem, const Device& device,
                                           const Room& room) {
  // Bytes per second of an H200 or of a few CPU cores: in the memory during a step; to and from the host;
  // when pinning memory, once for all shots; to and from a disk.
  const bool gpu = device.kind == Device::Kind::cuda;
  const double memory = gpu ? 3e12 : 2e10, host = 3e10, pinned = 2.5e9, disk = 2e9;
  const double e = settings.double_precision ? 8 : 4;
  const double step = 4 * e * problem.fields() * static_cast<double>(problem.whole().count()) / memory;
  settings.task = Task::migration;
  std::vector<KeepingChoice> all;
  for (const auto strategy : {Keeping::store, Keeping::compressed, Keeping::checkpoints, Keeping::boundary,
                              Keeping::boundary_compressed, Keeping::random_walls})
    for (const auto place : {KeptIn::memory, KeptIn::host, KeptIn::disk}) {
      if (!keeps_records(strategy) && place != KeptIn::memory) continue;
      if (place == KeptIn::host && !device.has_own_memory()) continue;
      settings.keeping = strategy;
      settings.kept_in = place;
      KeepingChoice one{cost_of(settings, problem, device), place};
      const double moved = one.cost.bytes_per_step / (place == KeptIn::disk ? disk : host);
      one.seconds = static_cast<double>(problem.steps()) *
                    (std::max(step, moved) + std::max((one.cost.sweeps + 1) * step, moved));
      if (gpu && strategy == Keeping::checkpoints) one.seconds += 2 * one.cost.host_bytes / host;
      if (gpu && (place == KeptIn::host || strategy == Keeping::checkpoints))
        one.seconds += one.cost.host_bytes / pinned / static_cast<double>(problem.shots.size());
      const double here = bytes_of_shot(problem, settings, device, room.share);
      const bool shared = !device.has_own_memory();
      const double on_host = waves_on_host(one.cost, room.share_of_host);
      one.fits = (shared ? here + on_host : here) < 0.9 * room.device && on_host <= 0.9 * room.host &&
                 one.cost.disk_bytes <= 0.9 * room.disk;
      all.push_back(one);
    }
  return all;
}

std::vector<KeepingChoice> choose_keeping(Settings& settings, const Problem& problem, const Device& device,
                                          const Room& room) {
  const struct {
    Keeping keeping;
    KeptIn kept_in;
  } wish{settings.keeping, settings.kept_in};
  const auto allowed = [&](const KeepingChoice& c) {
    if (wish.keeping != Keeping::automatic && wish.keeping != c.cost.strategy) return false;
    if (wish.kept_in == KeptIn::automatic) return c.place != KeptIn::disk;
    // On a device without memory of its own, `host` means `memory`.
    const bool memory = wish.kept_in == KeptIn::host && !device.has_own_memory();
    return c.place == (memory ? KeptIn::memory : wish.kept_in) && keeps_records(c.cost.strategy);
  };
  const KeepingChoice* best = nullptr;
  auto choices = keeping_choices(settings, problem, device, room);
  for (const auto& c : choices)
    if (allowed(c) && c.fits && (c.cost.error == "exact" || wish.keeping != Keeping::automatic) &&
        (best == nullptr || c.seconds < best->seconds))
      best = &c;
  for (const auto& c : choices)  // if no exact strategy fits, `boundary` is used, which differs by rounding
    if (best == nullptr && allowed(c) && c.fits && c.cost.strategy == Keeping::boundary) best = &c;
  if (best != nullptr) {
    settings.keeping = best->cost.strategy;
    settings.kept_in = best->place;
    return choices;
  }
  // No strategy fits into memory or disk: the plan reports how much memory is missing for this one.
  if (wish.keeping == Keeping::automatic)
    settings.keeping = wish.kept_in == KeptIn::automatic ? Keeping::checkpoints : Keeping::boundary;
  const bool host = wish.kept_in == KeptIn::host && device.has_own_memory();
  if (wish.kept_in != KeptIn::disk && !host) settings.kept_in = KeptIn::memory;
  return choices;
}

void expect_on_disk(const Settings& settings, double bytes, const std::string& whose) {
  const auto folder = scratch_folder(settings.scratch);
  const double there = free_on_disk(folder);
  if (bytes < there) return;
  throw FileError(folder,
                  fmt::format("the waves of {} would take {} on this disk, {} are free", whose,
                              bytes_text(bytes), bytes_text(there)),
                  "Give simulation.scratch a folder on a larger disk, or take wavefield = "
                  "\"boundary_compressed\", or \"checkpoints\" without kept_in.");
}

namespace {

/// Collective: checks that the disk of every machine has enough free space for its ranks' waves. Throws
/// FileError on all ranks if a disk has too little.
void ask_disks(const Problem& problem, const Settings& settings, const Device& device, Comm& comm) {
  together(comm, [&] {
    const auto here = comm.on_node();
    if (!settings.runs_back() || settings.kept_in != KeptIn::disk || here.index > 0) return;
    const double parts = settings.shots_of_their_own(problem.shots.size(), comm.size()) ? 1 : comm.size();
    expect_on_disk(settings, here.count * cost_of(settings, problem, device).disk_bytes / parts,
                   fmt::format("{} ranks of a machine", here.count));
  });
}

template <class Action>
struct OnExit {
  explicit OnExit(Action at_exit) : action(std::move(at_exit)) {}
  ~OnExit() { action(); }
  OnExit(const OnExit&) = delete;
  OnExit& operator=(const OnExit&) = delete;
  Action action;
};

}  // namespace

Cartesian<3> cut_of(const Problem& problem, const Settings& settings, int ranks) {
  const bool apart = settings.shots_of_their_own(problem.shots.size(), ranks);
  try {
    return cut_grid(problem, apart ? 1 : ranks);
  } catch (const InputError& error) {
    if (!settings.snapshots.any()) throw;
    throw InputError(
        error.where(), error.problem(),
        "With [snapshots] all ranks take each shot together: take fewer ranks, or leave it out.");
  }
}

Dealt dealt_among(const Problem& problem, const Settings& settings, int ranks) {
  if (settings.shots_of_their_own(problem.shots.size(), ranks)) return Dealt::no;
  // Random walls need the whole medium; the weights of velocity receivers need the medium at any node.
  const bool walls = settings.runs_back() && settings.keeping == Keeping::random_walls;
  const bool weighed = problem.hears_velocities() &&
                       (problem.equation == Equation::variable_density || problem.equation == Equation::tti);
  return walls || weighed ? Dealt::no : Dealt::yes;
}

Outcome run_shots(const Problem& problem, const Settings& settings, const Runtime& runtime) {
  Progress silent;
  Progress& progress = runtime.progress ? *runtime.progress : silent;
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  Outcome out;
  out.gathers.resize(problem.shots.size());
  const auto& checkpoint = runtime.checkpoint;
  if (settings.snapshots.any())
    out.pictures = Pictures(settings.snapshots.count(problem),
                            static_cast<std::size_t>(settings.snapshots.nodes(problem.grid).box().count()),
                            checkpoint.file);
  if (checkpoint.resume && !checkpoint.file.empty())
    out.first_shot = read_checkpoint(checkpoint.file, problem, settings, out);
  const OnExit tidy([&] { ShotFiles::remove_empty_folder(checkpoint); });
  cut_of(problem, settings, ranks);  // throws errors of the partition now, before other ranks are called
  const auto put = [&](Packet& packet) {
    const bool dealt = dealt_among(problem, settings, ranks) == Dealt::yes;
    const PutBareFields put_bare{packet};
    if (dealt) {
      Problem::fields(problem, put_bare);
      Settings::fields(settings, put_bare);
    } else {
      put_fields(problem, packet);
      put_fields(settings, packet);
    }
    packet.put(out.first_shot);
    put_into(packet, checkpoint);
    if (settings.shots_of_their_own(problem.shots.size(), ranks)) ShotFiles::make_folder(checkpoint, ranks);
  };
  lead_ranks("acoustic", runtime, put, [&](const RankPlace& place) {
    if (ranks > 1 && dealt_among(problem, settings, ranks) == Dealt::no) {
      send_apart(problem, place.comm);
      send_apart(settings, place.comm);
    }
    if (ranks > 1) ask_disks(problem, settings, place.device, place.comm);
    in_precision(settings.double_precision, problem, settings, place, out.first_shot, checkpoint, progress,
                 &out);
  });
  if (out.shots_kept > 0)
    out.notes.push_back(
        fmt::format("{} kept by the run that was interrupted",
                    out.shots_kept == 1 ? "1 shot was" : fmt::format("{} shots were", out.shots_kept)));
  if (!out.why_not_kept.empty())
    out.notes.push_back("shots are no longer kept one by one: " + out.why_not_kept);
  return out;
}

void serve(Comm& comm) {
  struct Sent {
    Problem problem;
    Settings settings;
    std::size_t first;
    CheckpointSettings checkpoint;
  };
  const auto take = [](Packet& packet) {  // reads the packet in the order of `put` in run_shots()
    return Sent{get_fields<Problem>(packet), get_fields<Settings>(packet), packet.get<std::size_t>(),
                checkpoint_from(packet)};
  };
  follow_ranks(comm, take, [](Sent& task, const RankPlace& place) {
    if (dealt_among(task.problem, task.settings, place.comm.size()) == Dealt::no) {
      receive_apart(task.problem, place.comm);
      receive_apart(task.settings, place.comm);
    }
    ask_disks(task.problem, task.settings, place.device, place.comm);
    Progress silent;
    in_precision(task.settings.double_precision, task.problem, task.settings, place, task.first,
                 task.checkpoint, silent, static_cast<Outcome*>(nullptr));
  });
}

}  // namespace terrane::acoustic
