// Plans the resources of a run of acoustic waves: memory, disks, steps, and the strategy of keeping waves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "terrane/base/memory.hpp"
#include "terrane/physics/acoustic/host_memory.hpp"
#include "terrane/physics/acoustic/image/history.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::acoustic {

ShotsAtOnce Simulation::shots_at_once(const Runtime& runtime) const {
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  if (ranks == 1 || !settings_.shots_of_their_own(problem_.shots.size(), ranks)) return {};
  return {ranks, runtime.comm->on_node().count};
}

/// Memory and disk that one rank may use: they are divided among the ranks that each store the waves of a
/// shot.
Room Simulation::room_of(const Choice& choice) const {
  const auto& settings = choice.settings;
  const double beside = bytes_of_models(problem_, settings) + bytes_of_gathers(problem_, settings, every_),
               all = static_cast<double>(choice.memory.bytes) / choice.shots.on_machine,
               memory = std::max(0.0, all - beside);
  const auto& device = choice.device;
  Room room{device.has_own_memory() ? static_cast<double>(device_memory(device).free) : memory, memory, 0,
            choice.share, choice.share_of_machine()};
  if (settings.kept_in == KeptIn::disk || !settings.scratch.empty())
    room.disk = free_on_disk(scratch_folder(settings.scratch)) / choice.shots.on_disk_of(settings_);
  return room;
}

Choice Simulation::choose(const Runtime& runtime) const {
  Choice choice;
  choice.settings = settings_;
  choice.memory = memory_budget(runtime);
  choice.on = device_text(runtime);
  choice.threads = runtime.threads;
  choice.ranks = runtime.comm ? runtime.comm->size() : 1;
  choice.shots = shots_at_once(runtime);
  choice.checkpoint = runtime.checkpoint;
  choice.ranks_on_machine = runtime.comm ? runtime.comm->on_node().count : 1;
  choice.together = choice.shots.all == 1 ? choice.ranks : 1;
  // The device of this rank; ranks of a machine share its devices.
  choice.device = runtime.comm ? device_of_rank(runtime.device, *runtime.comm) : resolve(runtime.device);
  if (choice.together > 1) {
    cut_of(problem_, settings_, choice.ranks);  // throws if there are too many ranks
    choice.share = choice.device.has_own_memory()
                       ? largest_share(problem_, choice.ranks)
                       : static_cast<double>(choice.ranks_on_machine) / choice.ranks;
  }
  if (settings_.task == Task::migration)
    choice.strategies = choose_keeping(choice.settings, problem_, choice.device, room_of(choice));
  choice.dealt = dealt_among(problem_, choice.settings, choice.ranks);
  return choice;
}

/// Lists every strategy of keeping the source's waves with its memory and computation, and marks the chosen
/// one.
void Simulation::describe_keeping(RunFacts& facts, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto text_of = [&](const KeepingChoice& c) {
    const auto& cost = c.cost;
    std::string text(to_string(cost.strategy));
    if (keeps_records(cost.strategy) && c.place != KeptIn::memory)
      text += fmt::format(" on {}", to_string(c.place));
    text += fmt::format(": {}", bytes_text(cost.device_bytes));
    if (cost.host_bytes > 0) text += fmt::format(", host {}", bytes_text(cost.host_bytes));
    if (cost.disk_bytes > 0) text += fmt::format(", disk {}", bytes_text(cost.disk_bytes));
    return text +
           fmt::format("; source field computed {}; {}", cost.sweeps == 1 ? "once" : "twice", cost.error);
  };
  for (const auto& c : choice.strategies) {
    const bool taken = c.cost.strategy == settings.keeping && c.place == settings.kept_in;
    const auto name = fmt::format("{}_{}", to_string(c.cost.strategy), to_string(c.place));
    const bool no_disk =
        c.place == KeptIn::disk && settings.kept_in != KeptIn::disk && settings.scratch.empty();
    if (taken) facts.add("wavefield", std::string(to_string(settings.keeping)), "", "wavefield", text_of(c));
    facts.add("wavefield_" + name, c.fits, "", taken ? "" : "otherwise",
              text_of(c) + (c.fits    ? ""
                            : no_disk ? "; where simulation.scratch has room"
                                      : "; no room"));
  }
  facts.add("wavefield_in", std::string(to_string(settings.kept_in)));
}

namespace {

/// Memory on the host of rank 0 in addition to the waves that are being computed. share: fraction of the
/// shot's nodes whose waves this host stores
double bytes_beside_waves(const Problem& problem, const Choice& choice, std::size_t every, double share) {
  const auto& settings = choice.settings;
  return bytes_on_host(problem, settings, choice.device, share) + bytes_of_models(problem, settings) +
         bytes_of_gathers(problem, settings, every) + bytes_of_snapshots(problem, settings, choice.on_disk());
}

/// Memory on the host of another rank that computes each shot together with rank 0: for its part of the
/// medium.
double bytes_of_other_rank(const Problem& problem, const Choice& choice) {
  const auto& settings = choice.settings;
  const bool walled = settings.runs_back() && settings.keeping == Keeping::random_walls;
  double bytes =
      choice.dealt == Dealt::yes ? bytes_of_planes(problem, settings) : bytes_of_models(problem, settings);
  // Every rank makes the whole medium with its random walls.
  if (walled) bytes += cost_of<double>(Keeping::random_walls, problem).host_bytes;
  // All ranks receive the whole change of the model, as a packet and unpacked; and all observed data.
  if (settings.task == Task::born) bytes += 2 * sizeof(double) * static_cast<double>(problem.velocity.size());
  for (const auto& gather : *settings.data) bytes += sizeof(double) * static_cast<double>(gather.size());
  return bytes;
}

/// Describes the memory on the hosts of ranks that compute each shot together.
void describe_hosts(RunFacts& facts, const Problem& p, const Choice& choice, std::size_t every) {
  if (choice.together == 1) return;
  const double beside = bytes_beside_waves(p, choice, every, choice.share_of_rank()),
               kept = bytes_on_host(p, choice.settings, choice.device, choice.share_of_rank()) -
                      bytes_on_host(p, choice.settings, choice.device, 0);
  const bool own = choice.device.has_own_memory();
  const double waves =
      own ? 0 : bytes_of_shot(p, choice.settings, choice.device, largest_share(p, choice.ranks));
  const double first = waves + beside, other = waves + kept + bytes_of_other_rank(p, choice);
  facts.add("host_bytes_rank_0", first, "B", "hosts",
            fmt::format("rank 0 takes {}, each other rank {}", bytes_text(first), bytes_text(other)));
  facts.add("host_bytes_other_ranks", other, "B");
}

/// The number of sweeps over all time steps that a shot takes.
double sweeps_of(const Settings& settings) {
  if (settings.task == Task::modelling) return 1;
  if (settings.task == Task::born) return 2;
  const bool once = settings.keeping == Keeping::store || settings.keeping == Keeping::compressed;
  return (settings.data->empty() ? 4 : 2) + (once ? 0 : 1);
}

/// Describes the number of steps in each pass over memory on a CPU, or the reason why each pass computes a
/// single step.
void describe_passes(RunFacts& facts, const Passes& passes, const Problem& problem, const Settings& settings,
                     bool others) {
  const bool images_one_by_one =
      settings.task == Task::migration && !images_in_passes(problem, settings.keeping, settings.kept_in);
  const bool models = settings.task != Task::migration || settings.data->empty();
  const auto steps = images_one_by_one && !models ? 1 : passes.steps;
  std::string text = fmt::format("{} steps in each pass over memory", steps);
  if (passes.steps == 1) text = fmt::format("one step in each pass over memory: {}", passes.why);
  else if (images_one_by_one) {
    text = models ? text + ", of modelling alone: " : "one step in each pass over memory: ";
    text += problem.fields() == 1 ? "a migration takes more with all that it keeps in memory, and not "
                                    "between random walls"
                                  : "a migration takes more in isotropic media alone";
  }
  if (steps > 1 && others) text += "; one where another rank has too many threads for that";
  facts.add("steps_at_once", static_cast<std::uint64_t>(steps), "", "passes", text);
}

}  // namespace

/// Memory on the host of rank 0 that the companion takes while the run's own gathers exist: its medium, and
/// its gathers. Its waves take less than those of the run, which are no longer there.
double Simulation::bytes_of_companion() const {
  const auto& other = companion_.problem;
  return other ? bytes_of_models(*other, {}) + bytes_of_gathers(*other, {}, every_) : 0;
}

void Simulation::describe_sizes(RunFacts& facts) const {
  const auto& p = problem_;
  const auto whole = p.whole();
  facts.add(
      "nodes", static_cast<std::uint64_t>(whole.count()), "", "nodes",
      fmt::format("{} × {} × {} with layers (up, north, east)", whole.size(0), whole.size(1), whole.size(2)));
  facts.add("shots", std::uint64_t{p.shots.size()}, "", "shots");
  facts.add("receivers", std::uint64_t{p.shots.front().receivers.size()}, "", "receivers");
  facts.add("steps", std::uint64_t{p.steps()}, "", "steps");
  facts.add("step", p.step, "s");
  facts.add("longest_step", longest_step_, "s");
  facts.add("courant", p.step / longest_step_);
  const double cells = p.points_per_wavelength(slowest_);
  facts.add("points_per_wavelength", cells, "", "wavelength",
            fmt::format(
                "the shortest ({:.4g} Hz at {:.4g} m/s) has {:.3g} cells; its velocity is right to {:.2g} %",
                p.wavelet.highest_frequency(), slowest_, cells, 100 * p.group_error(slowest_)));
}

void Simulation::describe(RunFacts& facts, const Choice& choice, const Runtime&) const {
  const auto& p = problem_;
  const auto& settings = choice.settings;
  const auto& device = choice.device;
  const auto nodes = static_cast<std::uint64_t>(p.whole().count());
  facts.problem = fmt::format("{} {}, {} nodes over {} steps", grouped(p.shots.size()),
                              p.shots.size() == 1 ? "shot" : "shots", grouped(nodes), grouped(p.steps()));
  facts.method = std::string(task_names[static_cast<std::size_t>(settings.task)]);
  facts.reason =
      fmt::format("{}, order {} in space; steps of {:.4g} s, stable up to {:.4g} s",
                  equation_names[static_cast<std::size_t>(p.equation)], p.order, p.step, longest_step_);
  facts.device = choice.on;
  facts.work =
      static_cast<double>(nodes) * static_cast<double>(p.steps() * p.shots.size()) * sweeps_of(settings);
  facts.work_unit = "node steps";
  const double on_host =
      device.has_own_memory() ? 0 : bytes_beside_waves(p, choice, every_, choice.share_of_machine());
  facts.memory_bytes = static_cast<std::size_t>(bytes_of_shot(p, settings, device, choice.share) + on_host +
                                                (device.has_own_memory() ? 0 : bytes_of_companion()));
  describe_sizes(facts);
  describe_errors(facts);
  describe_hosts(facts, p, choice, every_);
  const bool together = !settings.shots_of_their_own(p.shots.size(), choice.ranks);
  auto passes = passes_for(p, device, choice.threads, cut_of(p, settings, choice.ranks));
  if (const auto& shown = settings.snapshots; shown.any()) {
    const auto count = shown.nodes(p.grid).count;
    facts.add("snapshots", std::uint64_t{shown.count(p)}, "", "snapshots",
              fmt::format("{} of {} × {} × {} nodes (up, north, east), {:.3g} GB in a file", shown.count(p),
                          count[0], count[1], count[2], 1e-9 * shown.bytes(p)));
    passes.steps = std::min(passes.steps, static_cast<Index>(shown.every));
    if (passes.steps == 1 && passes.why.empty()) passes.why = "a snapshot of each";
  }
  if (device.kind == Device::Kind::cpu) describe_passes(facts, passes, p, settings, together);
  if (settings.task == Task::migration) {
    describe_keeping(facts, choice);
    if (const auto images = settings.images_at_lags(); images > 0)
      facts.add("lags", std::uint64_t{images}, "", "lags",
                fmt::format("{} images with waves up to {:.4g} m to either side", images,
                            static_cast<double>(settings.lags) * p.grid.spacing[east]));
  }
  if (settings.task == Task::migration && settings.kept_in == KeptIn::disk)
    if (auto warning = disk_in_memory(settings); !warning.empty())
      facts.warnings.push_back(std::move(warning));
}

std::string disk_in_memory(const Settings& settings) {
  const auto folder = scratch_folder(settings.scratch);
  if (!lies_in_memory(folder)) return {};
  return fmt::format(
      "{} lies in memory (tmpfs), and so would the waves that are to be kept on a disk; give "
      "simulation.scratch a folder on a disk",
      folder);
}

/// Bytes of snapshots on the disk of the results: in a temporary file, and in a file of results.
double Simulation::bytes_of_film(const Settings& settings) const {
  return settings.snapshots.any() ? 2 * settings.snapshots.bytes(problem_) : 0;
}

/// Throws FileError if the disks have too little free space for snapshots and stored waves.
void Simulation::check_disk(const Choice& choice) const {
  const auto& settings = choice.settings;
  if (const auto& file = choice.checkpoint.file; settings.snapshots.any() && !file.empty()) {
    const double wanted = bytes_of_film(settings);
    const auto folder = folder_of(file).string();
    if (const double there = free_on_disk(folder); wanted > there)
      throw FileError(folder,
                      fmt::format("snapshots want {} on this disk, on their way and in a file; {} are free",
                                  bytes_text(wanted), bytes_text(there)),
                      "Take snapshots.every longer, a stride or a box, or write output to a larger disk.");
  }
  if (settings.task != Task::migration || settings.kept_in != KeptIn::disk) return;
  const auto cost = settings.double_precision ? cost_of<double>(settings.keeping, problem_, KeptIn::disk)
                                              : cost_of<float>(settings.keeping, problem_, KeptIn::disk);
  const int shots = choice.shots.on_disk_of(settings_);
  expect_on_disk(settings, cost.disk_bytes * shots,
                 shots == 1 ? "a shot" : fmt::format("{} shots, one of each rank,", shots));
}

/// Checks the free space for checkpoints and files of shots on the disk of the results. Throws FileError if
/// it is too small for the checkpoint. If it is too small for files of shots, none are written.
void Simulation::check_checkpoints(Plan& plan, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto& checkpoint = choice.checkpoint;
  const int ranks = choice.ranks;
  auto use = disk_use(problem_, settings, checkpoint, ranks);
  // The estimated time may be ten times too short.
  const double seconds_of_shot = plan.seconds * ranks / static_cast<double>(problem_.shots.size());
  if (10 * seconds_of_shot < use.seconds) use.shots = 0;
  if (use.bytes() == 0 || plan.seconds < checkpoint.least_run) return;
  const auto shots =
      fmt::format("up to {} for {:.0f} finished shots", bytes_text(use.shots * use.shot), use.shots);
  std::string text;
  if (use.checkpoint > 0) {
    text = fmt::format("{} for a checkpoint", bytes_text(use.checkpoint));
    if (use.shots > 0) text += fmt::format(", {} that it has not yet", shots);
    plan.add("checkpoint_bytes", use.checkpoint, "B", "on disk", text);
  }
  if (use.shots > 0) {
    plan.add("shot_file_bytes", use.shot, "B", text.empty() ? "on disk" : "", text.empty() ? shots : "");
    plan.add("shot_files", static_cast<std::uint64_t>(use.shots));
  }
  use.film = bytes_of_film(settings);
  if (use.checkpoint > 0) expect_room(checkpoint, {0, 0, 0, use.checkpoint, use.film});
  if (use.shots > 0 && !has_room(checkpoint, use))
    plan.warnings.push_back(
        fmt::format("the disk of {} has no room for {}: where they take {:.3g} s and more each, a rank keeps "
                    "none by itself, and an interrupted run goes on from the checkpoint alone",
                    checkpoint.file.string(), shots, use.seconds));
}

namespace {

/// The advice in the message of a MemoryError.
std::string less_memory(const Problem& problem, const Settings& settings) {
  if (settings.task != Task::migration)
    return fmt::format(
        "Take larger cells, {}or more ranks per shot.",
        settings.snapshots.any() ? "fewer snapshots (every, stride, box) or a file for them, " : "");
  return fmt::format(
      "Take larger cells, {}wavefield = \"checkpoints\" without kept_in, kept_in = \"disk\", or more ranks "
      "per "
      "shot.",
      problem.fields() == 1 ? "wavefield = \"boundary_compressed\", " : "");
}

}  // namespace

/// Bytes that all ranks of this machine need on its host. Throws MemoryError if these are too many.
double Simulation::check_host(const Plan& plan, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto& device = choice.device;
  const int shots = choice.shots.on_machine;
  std::string what = plan.problem;
  if (shots > 1) what += fmt::format(", {} shots at once", shots);
  if (settings.kept_in == KeptIn::host) what += ", with waves kept on the host";
  const double needed =
      device.has_own_memory()
          ? bytes_beside_waves(problem_, choice, every_, choice.share_of_machine()) + bytes_of_companion()
          : static_cast<double>(plan.memory_bytes);
  // Only one rank collects gathers.
  const double gathers = bytes_of_gathers(problem_, settings, every_);
  const double others =
      choice.together > 1 ? (choice.ranks_on_machine - 1) * bytes_of_other_rank(problem_, choice) : 0;
  const double all = needed * shots - gathers * (shots - 1) + others;
  try {
    choice.memory.require("run", what, all);
  } catch (const MemoryError& error) {
    throw MemoryError(error.where(), error.problem(), less_memory(problem_, settings));
  }
  return all;
}

void Simulation::foresee(Plan& plan, const Choice& choice, const Runtime&) const {
  check_disk(choice);
  const auto& device = choice.device;
  // Estimated from memory traffic: 16 bytes per node and step (32 in double precision), at half the bandwidth
  // of a GPU or of a core's share.
  const double rate =
      device.kind == Device::Kind::cuda ? 1e11 : 2e8 * std::min(thread_count(choice.threads), 8);
  const double per_second = (choice.settings.double_precision ? rate / 2 : rate) * choice.ranks;
  plan.seconds = plan.work / per_second;
  check_checkpoints(plan, choice);
  if (const auto& other = companion_.problem)
    plan.seconds += static_cast<double>(other->whole().count()) *
                    static_cast<double>(other->steps() * other->shots.size()) / per_second;
  if (device.has_own_memory()) {
    const auto free = device_memory(device).free;
    if (static_cast<double>(plan.memory_bytes) > static_cast<double>(free))
      throw MemoryError("run",
                        fmt::format("would need {} on {} for {}, {} are free",
                                    bytes_text(static_cast<double>(plan.memory_bytes)), to_string(device),
                                    plan.problem, bytes_text(static_cast<double>(free))),
                        less_memory(problem_, choice.settings));
  }
  const double on_host = check_host(plan, choice);
  if (!device.has_own_memory()) plan.memory_bytes = static_cast<std::size_t>(on_host);
}

}  // namespace terrane::acoustic
