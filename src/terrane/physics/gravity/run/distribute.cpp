#include "terrane/physics/gravity/run/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/version.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/run/checkpoint.hpp"
#include "terrane/physics/gravity/sum/chunk_tree.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/physics/gravity/tiles/tiling.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_chunks = 256;  // of prisms; ranks beyond have nothing to do
constexpr std::uint64_t steps_a_part = 1024;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Prisms that own their arrays.
struct OwnedPrisms {
  std::vector<double> column[7];

  Prisms view(Range range) const {
    const auto of = [&](int c) {
      return std::span<const double>(column[c]).subspan(range.first, range.size());
    };
    return {of(0), of(1), of(2), of(3), of(4), of(5), of(6)};
  }
  Prisms view() const { return view({0, column[0].size()}); }
};

std::size_t chunk_count(std::size_t prisms) {
  return std::clamp<std::size_t>((prisms + tile_size - 1) / tile_size, 1, most_chunks);
}

/// The prisms that lie in the chunks of a rank.
Range prisms_of(std::size_t prisms, const Range& chunks) {
  const std::size_t count = chunk_count(prisms);
  if (chunks.size() == 0) return {};
  return {balanced_range(prisms, count, chunks.first).first,
          balanced_range(prisms, count, chunks.last - 1).last};
}

/// What all ranks must know before they get prisms and stations.
struct Task {
  std::string version, instruction_set, gpu;
  Parameters parameters;
  std::size_t prisms = 0, stations = 0;

  void put_into(Packet& packet) const {
    packet.put(version);
    packet.put(instruction_set);
    packet.put(gpu);
    packet.put(parameters.channels.bits());
    packet.put(parameters.accuracy);
    packet.put(parameters.method);
    packet.put(parameters.partition);
    packet.put(parameters.precision);
    packet.put(parameters.device);
    packet.put(parameters.threads);
    packet.put(prisms);
    packet.put(stations);
  }
  static Task from(Packet& packet) {
    Task task;
    task.version = packet.get<std::string>();
    task.instruction_set = packet.get<std::string>();
    task.gpu = packet.get<std::string>();
    task.parameters.channels = ChannelSet::from_bits(packet.get<unsigned>());
    task.parameters.accuracy = packet.get<double>();
    task.parameters.method = packet.get<Method>();
    task.parameters.partition = packet.get<Partition>();
    task.parameters.precision = packet.get<Precision>();
    task.parameters.device = packet.get<Device>();
    task.parameters.threads = packet.get<int>();
    task.prisms = packet.get<std::size_t>();
    task.stations = packet.get<std::size_t>();
    return task;
  }
};

/// Ranks whose last bits could differ must not add to one sum.
void check_same_program(const Task& task) {
  if (task.version != version_line())
    throw UnsupportedError("run", fmt::format("this is {}; rank 0 is {}", version_line(), task.version),
                           "Start the same program on every node.");
  if (task.instruction_set != kernel_target().name)
    throw UnsupportedError(
        "run",
        fmt::format("the processor runs {}; that of rank 0 {}", kernel_target().name, task.instruction_set),
        "Choose what all have: mpirun -x TERRANE_SIMD=avx2 ...");
}

/// This rank's device of the kind that rank 0 chose. Throws UnsupportedError.
Device own_device(const Task& task, const Comm& comm) {
  const Device device = resolve(shared_device(task.parameters.device, comm), comm.on_node().index);
  if (device.kind == Device::Kind::cuda && device_name(device) != task.gpu)
    throw UnsupportedError("run",
                           fmt::format("the GPU is {}; that of rank 0 {}", device_name(device), task.gpu),
                           "Start ranks on GPUs of one kind, or write device = \"cpu\".");
  return device;
}

/// What one rank does in a round: of the parts of `round`, the sums over its chunks of prisms.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual std::size_t parts() const = 0;
  virtual Summation::Part part(std::size_t index) const = 0;
  /// Chunks of prisms there are in all: how many leaves the trees of a part have.
  virtual std::size_t chunks() const = 0;
  /// Does a round begin with work that its parts do not share with those of the last? Known after the first.
  virtual bool slow_to_begin() const { return false; }
  /// trees [parts of the round]
  virtual void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) = 0;
};

/// Enough for a GPU, or for every thread of the processors.
std::size_t parts_at_once(const Parameters& parameters) {
  return parameters.device.has_own_memory() ? 16
                                            : 4 * static_cast<std::size_t>(thread_count(parameters.threads));
}

class ByStations final : public Worker {
 public:
  /// at_once: parts that the summation does together well.
  ByStations(std::shared_ptr<Summation> summation, std::size_t at_once, int rank, int ranks)
      : summation_(std::move(summation)),
        at_once_(at_once),
        rank_(static_cast<std::size_t>(rank)),
        ranks_(static_cast<std::size_t>(ranks)) {}
  std::size_t parts() const override { return summation_->parts(); }
  Summation::Part part(std::size_t index) const override { return summation_->part(index); }
  std::size_t chunks() const override { return 1; }
  void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) override {
    // Neighbouring parts take about as long as each other, distant ones need not: every rank takes some of
    // each region.
    const std::size_t regions = std::clamp<std::size_t>(round.size() / (ranks_ * at_once_), 1, 16);
    std::vector<Range> shares;
    for (std::size_t region = 0; region < regions; ++region) {
      const auto share = balanced_range(round.size(), regions * ranks_, region * ranks_ + rank_);
      if (share.size() > 0) shares.push_back({round.first + share.first, round.first + share.last});
    }
    ShareOfProgress mine(progress, static_cast<double>(round.size() * steps_a_part));
    summation_->sum_ranges(
        shares,
        [&](std::size_t part, PartSums&& sums) {
          trees[part - round.first].add({0, 0}, std::move(sums));
        },
        mine);
  }

 private:
  std::shared_ptr<Summation> summation_;
  std::size_t at_once_, rank_, ranks_;
};

class ByPrisms final : public Worker {
 public:
  /// prisms: of the chunks `mine`, in compact order, of `all` prisms there are. parameters.device is this
  /// rank's.
  ByPrisms(std::shared_ptr<const OwnedPrisms> prisms, std::size_t all, const Range& mine,
           const Stations& stations, const Parameters& parameters)
      : prisms_(std::move(prisms)),
        all_(all),
        chunks_(chunk_count(all)),
        mine_(mine),
        stations_(stations),
        parameters_(parameters),
        free_at_first_(device_memory(parameters.device).free) {
    if (mine.size() > 0) kept_.push_back(chunk(mine.first));
  }
  std::size_t parts() const override { return kept_.front()->parts(); }
  Summation::Part part(std::size_t index) const override { return kept_.front()->part(index); }
  std::size_t chunks() const override { return chunks_; }
  bool slow_to_begin() const override { return kept_.size() < mine_.size(); }
  void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) override {
    const bool on_device = parameters_.device.has_own_memory();
    // What is kept on a device keeps the memory of its last sum, too: so not too much at once.
    const std::size_t at_once = on_device ? parts_at_once(parameters_) : round.size();
    for (std::size_t i = 0; i < mine_.size(); ++i) {
      std::unique_ptr<Summation> made;
      if (i >= kept_.size()) made = chunk(mine_.first + i);
      auto& summation = made ? *made : *kept_[i];
      for (std::size_t first = round.first; first < round.last; first += at_once) {
        const std::size_t last = std::min(first + at_once, round.last);
        ShareOfProgress mine(
            progress, static_cast<double>((last - first) * steps_a_part) / static_cast<double>(mine_.size()));
        summation.sum(
            first, last,
            [&](std::size_t part, PartSums&& sums) {
              trees[part - round.first].add({0, static_cast<std::uint32_t>(mine_.first + i)},
                                            std::move(sums));
            },
            mine);
      }
      // A device need not hold all chunks: others come one after the other, in each round anew.
      if (made && i == kept_.size() &&
          (!on_device || device_memory(parameters_.device).free >= free_at_first_ / 2))
        kept_.push_back(std::move(made));
    }
  }

 private:
  std::unique_ptr<Summation> chunk(std::size_t c) const {
    const auto range = balanced_range(all_, chunks_, c);
    const std::size_t first = prisms_of(all_, mine_).first;
    const auto view = prisms_->view({range.first - first, range.last - first});
    if (parameters_.device.has_own_memory())
      return direct_sum_on_device(parameters_.device, view, stations_, parameters_, true,
                                  kept_.empty() ? nullptr : kept_.front().get());
    if (!kept_.empty())
      return std::make_unique<DirectSummation>(view, dynamic_cast<const DirectSummation&>(*kept_.front()));
    return std::make_unique<DirectSummation>(view, stations_, parameters_.channels, parameters_.accuracy,
                                             parameters_.threads);
  }

  std::shared_ptr<const OwnedPrisms> prisms_;
  std::size_t all_, chunks_;
  Range mine_;
  Stations stations_;
  Parameters parameters_;
  std::size_t free_at_first_;                     // of the device
  std::vector<std::unique_ptr<Summation>> kept_;  // of the first chunks; the parts are the same for all
};

/// Puts sums of the parts of a round where they belong among all.
class RoundSums {
 public:
  RoundSums(const Worker& worker, const Range& round, ChannelSet channels, int threads, PartSums& all)
      : worker_(worker),
        round_(round),
        channels_(channels),
        threads_(threads),
        all_(all),
        contacts_(round.size()),
        done_(round.size(), 0) {}

  /// Every tree that is whole.
  void take(std::vector<ChunkTree>& trees) {
    for_each(trees.size(), threads_, [&](std::size_t p) { take(p, trees[p]); });
  }
  /// What another rank sends of some parts, joined with the trees that are not whole.
  void take(const TreePacket& packet, const Range& some, std::vector<ChunkTree>& trees) {
    if (packet.parts() != some.size()) throw std::logic_error("a rank did another round");
    for_each(some.size(), threads_, [&](std::size_t n) {
      const std::size_t p = some.first + n;
      packet.read(n, [&](const TreePacket::Sums& sums) {
        if (trees[p].whole(sums.node)) return put(p, sums.values, sums.contacts);
        PartSums own;
        for (const auto& values : sums.values) own.values.emplace_back(values.begin(), values.end());
        own.contacts.assign(sums.contacts.begin(), sums.contacts.end());
        trees[p].add(sums.node, std::move(own));
      });
      take(p, trees[p]);
    });
  }
  /// After all ranks.
  void finish() {
    for (std::size_t p = 0; p < done_.size(); ++p) {
      if (!done_[p]) throw std::logic_error("a part is not whole after its round");
      all_.contacts.insert(all_.contacts.end(), contacts_[p].begin(), contacts_[p].end());
    }
  }

 private:
  void take(std::size_t p, ChunkTree& tree) {
    if (!tree.whole()) return;
    const auto sums = tree.take();
    put(p, std::vector<std::span<const double>>(sums.values.begin(), sums.values.end()), sums.contacts);
  }
  /// From several threads: parts have no station and channel in common.
  void put(std::size_t p, std::span<const std::span<const double>> values,
           std::span<const Contact> contacts) {
    scatter_values(worker_.part(round_.first + p), values, channels_, all_);
    contacts_[p].assign(contacts.begin(), contacts.end());
    done_[p] = 1;
  }

  const Worker& worker_;
  Range round_;
  ChannelSet channels_;
  int threads_;
  PartSums& all_;
  std::vector<std::vector<Contact>> contacts_;  // of each part
  std::vector<char> done_;
};

/// Parts of a round, from 0, in the portions that go in one message each: some 10 MB, for which the same
/// memory serves again and again. More at once would take longer, for memory that is touched for the first
/// time.
template <class Use>
void for_each_message(const Range& round, const Use& use) {
  constexpr std::size_t parts_a_message = 128;
  for (std::size_t first = 0; first < round.size(); first += parts_a_message)
    use(Range{first, std::min(first + parts_a_message, round.size())});
}

/// Memory is touched for the first time by as many threads as there are columns.
void make_columns(std::span<std::vector<double>> columns, std::size_t size, int threads) {
  for_each(columns.size(), threads, [&](std::size_t c) { columns[c].resize(size); });
}

void broadcast(Comm& comm, std::span<double> values) { comm.broadcast(std::as_writable_bytes(values), 0); }

/// Rank 0 deals with one rank after the other. For a large message the next would wait without pause, and
/// sleep through the message once its turn has come; for this small one it sleeps.
void give_turn(Comm& comm, int rank) {
  const std::byte turn{};
  comm.send({&turn, 1}, rank);
}
void wait_for_turn(Comm& comm) {
  std::byte turn{};
  comm.receive({&turn, 1}, 0);
}

/// What every rank gets from rank 0 before they begin.
std::size_t bytes_for_all(std::size_t prisms, std::size_t stations, bool by_prisms) {
  return (3 * stations + (by_prisms ? 0 : 7 * prisms)) * sizeof(double);
}

Range chunks_of(const Comm& comm, std::size_t prisms, int rank) {
  return balanced_range(chunk_count(prisms), static_cast<std::size_t>(comm.size()),
                        static_cast<std::size_t>(rank));
}

/// The prisms range of `order`, gathered.
OwnedPrisms gathered(const Prisms& prisms, std::span<const std::uint32_t> order, int threads) {
  OwnedPrisms own;
  const std::span<const double> from[7] = {prisms.west,   prisms.east, prisms.south,  prisms.north,
                                           prisms.bottom, prisms.top,  prisms.density};
  for_each(7, threads, [&](std::size_t c) {
    own.column[c].reserve(order.size());
    for (const auto n : order) own.column[c].push_back(from[c][n]);
  });
  return own;
}

/// The order in which prisms are cut into chunks.
std::vector<std::uint32_t> order_of_chunks(const Prisms& prisms, int threads) {
  std::vector<double> centre[3];
  const std::span<const double> faces[6] = {prisms.west,  prisms.east,   prisms.south,
                                            prisms.north, prisms.bottom, prisms.top};
  for (int a = 0; a < 3; ++a) {
    centre[a].resize(prisms.size());
    for (std::size_t n = 0; n < prisms.size(); ++n)
      centre[a][n] = 0.5 * (faces[2 * a][n] + faces[2 * a + 1][n]);
  }
  return compact_order(centre[0], centre[1], centre[2], tile_size, threads);
}

/// Rank 0 hands out the prisms of each rank's chunks; returns its own.
std::shared_ptr<const OwnedPrisms> hand_out(Comm& comm, const Prisms& prisms,
                                            std::span<const std::uint32_t> order, int threads) {
  const auto part = [&](int rank) {
    const auto range = prisms_of(prisms.size(), chunks_of(comm, prisms.size(), rank));
    return gathered(prisms, order.subspan(range.first, range.size()), threads);
  };
  for (int rank = 1; rank < comm.size(); ++rank) {
    const auto own = part(rank);
    give_turn(comm, rank);
    for (const auto& column : own.column) comm.send(std::as_bytes(std::span(column)), rank);
  }
  return std::make_shared<const OwnedPrisms>(part(0));
}

/// How many parts the next round takes, from what the last ones took.
class Rounds {
 public:
  Rounds(std::size_t parts, std::size_t least, double expected_seconds, double wanted_seconds)
      : least_(static_cast<double>(least)) {
    next_ = expected_seconds <= 2 * wanted_seconds
                ? static_cast<double>(parts)
                : static_cast<double>(parts) * wanted_seconds / expected_seconds;
  }
  Range next(std::size_t done, std::size_t parts) const {
    return {done, std::min(parts, done + static_cast<std::size_t>(std::max(least_, next_)))};
  }
  /// wanted_seconds: that the next should take
  void took(const Range& round, double seconds, double wanted_seconds) {
    const double count = static_cast<double>(round.size());
    next_ = std::clamp(count * wanted_seconds / std::max(seconds, 1e-6), count / 4, count * 4);
  }

 private:
  double least_, next_;
};

}  // namespace

Partition choose_partition(const MethodPlan& plan, const Runtime& runtime, std::size_t memory) {
  const auto& parameters = plan.parameters;
  if (parameters.partition != Partition::automatic) return parameters.partition;
  // What does not fit a device goes there chunk by chunk.
  if (plan.device.has_own_memory() && plan.method == Method::direct &&
      plan.device_bytes > 0.8 * static_cast<double>(device_memory(plan.device).free))
    return Partition::prisms;
  const int ranks = runtime.comm ? runtime.comm->on_node().count : 1;
  if (ranks == 1) return Partition::stations;
  const double each = static_cast<double>(plan.memory_bytes) +
                      static_cast<double>(plan.summed.size()) * 7 * sizeof(double) +
                      static_cast<double>(plan.stations.size()) * 3 * sizeof(double);
  if (each * ranks <= static_cast<double>(memory)) return Partition::stations;
  if (plan.method == Method::direct) return Partition::prisms;
  throw MemoryError(
      "run",
      fmt::format("{} ranks of a node would need {} each by the {} method, and {} are available", ranks,
                  bytes_text(each), name(plan.method), bytes_text(static_cast<double>(memory))),
      "Start fewer ranks on each node, with more threads each, or write partition = \"prisms\".");
}

std::string describe(const std::string& device, Partition partition, const Runtime& runtime) {
  if (!runtime.comm || runtime.comm->size() == 1) return device;
  return fmt::format("{} ranks by {}, each {}", runtime.comm->size(),
                     partition == Partition::prisms ? "prisms" : "stations", device);
}

Distributed distribute(const MethodPlan& plan, const Runtime& runtime, Progress& progress) {
  const auto& parameters = plan.parameters;
  const auto& stations = plan.stations;
  const auto& summed = plan.summed;
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  const bool by_prisms = parameters.partition == Partition::prisms;
  const double expected = plan.seconds / comm.size();
  const auto& settings = runtime.checkpoint;
  bool keeps = !settings.file.empty() && (settings.resume || expected >= settings.least_run);
  if (comm.size() == 1 && !by_prisms && !keeps)
    return {sum_all(*plan.summation(progress), parameters.channels, stations.size(), progress), {}, {}};

  Distributed out;
  Fingerprint print;
  Checkpoint state;
  if (keeps) {
    print = fingerprint(summed, stations, parameters, plan.method, plan.device, parameters.partition);
    if (settings.resume) {
      auto found = read_checkpoint(settings.file, print, parameters.channels, stations.size());
      if (found) state = std::move(*found);
      else
        out.warnings.push_back(
            fmt::format("there is no checkpoint {}: the run starts afresh", settings.file.string()));
    }
  }
  state.sums.values.resize(parameters.channels.size());
  make_columns(state.sums.values, stations.size(), parameters.threads);

  // From here on the other ranks follow. What goes wrong between agreements leaves them waiting, so it ends
  // all.
  bool agreed = false;
  const auto all_ranks = [&](const auto& work) {
    agreed = true;
    together(comm, work);
    agreed = false;
  };
  try {
    std::unique_ptr<Worker> worker;
    std::vector<std::uint32_t> order;
    if (comm.size() > 1) {
      call(comm, "gravity");
      Task task{version_line(),
                kernel_target().name,
                plan.device.kind == Device::Kind::cuda ? device_name(plan.device) : "",
                parameters,
                summed.size(),
                stations.size()};
      task.parameters.method = plan.method;
      Packet packet;
      task.put_into(packet);
      packet.broadcast(comm);
    }
    // Before the others wait for prisms.
    all_ranks([&] {
      if (by_prisms) order = order_of_chunks(summed, parameters.threads);
    });
    if (const auto note = comm.prepare(plan.device, bytes_for_all(summed.size(), stations.size(), by_prisms),
                                       parameters.threads);
        !note.empty())
      out.notes.push_back(note);
    if (comm.size() > 1)
      for (const auto& column : {stations.easting, stations.northing, stations.up})
        broadcast(comm, {const_cast<double*>(column.data()), column.size()});  // the root's are only read
    if (comm.size() > 1 && !by_prisms)
      for (const auto& column :
           {summed.west, summed.east, summed.south, summed.north, summed.bottom, summed.top, summed.density})
        broadcast(comm, {const_cast<double*>(column.data()), column.size()});
    comm.release();
    std::shared_ptr<const OwnedPrisms> own;
    if (by_prisms) own = hand_out(comm, summed, order, parameters.threads);
    all_ranks([&] {
      auto here = parameters;
      here.device = plan.device;
      if (by_prisms)
        worker =
            std::make_unique<ByPrisms>(own, summed.size(), chunks_of(comm, summed.size(), 0), stations, here);
      else
        worker = std::make_unique<ByStations>(plan.summation(progress), parts_at_once(here), 0, comm.size());
    });

    const std::size_t parts = worker->parts(), ranks = static_cast<std::size_t>(comm.size());
    if (state.parts > parts)
      throw FileError(settings.file.string(),
                      fmt::format("is damaged: {} of {} parts are done", state.parts, parts),
                      "Remove it, and run without --resume.");
    if (state.parts > 0)
      out.notes.push_back(fmt::format("resumed from {}, with {:.0f} % done", settings.file.string(),
                                      100 * static_cast<double>(state.parts) / static_cast<double>(parts)));
    // Errors and progress of other ranks are known a round late.
    const double interval = keeps ? settings.interval : CheckpointSettings::never;
    // The lattice does the transforms of the densities in each round anew, and chunks that a device does not
    // hold come to it anew.
    const auto wanted_seconds = [&] {
      return plan.method == Method::lattice || worker->slow_to_begin() ? interval
                                                                       : std::min(interval, settings.round);
    };
    const std::size_t least = by_prisms ? 1
                              : plan.method == Method::tree
                                  ? 2 * ranks * static_cast<std::size_t>(thread_count(parameters.threads))
                                  : ranks;
    Rounds rounds(parts, least, expected,
                  plan.method == Method::lattice ? interval : std::min(interval, settings.round));
    auto last_written = Clock::now();
    std::size_t kept = state.parts;  // parts that the file has
    const auto keep = [&] {
      try {
        write_checkpoint(settings.file, print, parameters.channels, state);
        kept = state.parts;
      } catch (const std::exception& error) {  // a full disk must not cost the hours it was to save
        out.warnings.push_back(fmt::format("no checkpoint was kept: {}", error.what()));
        keeps = false;
      }
      last_written = Clock::now();
    };
    TreePacket others;
    progress.start("gravity", parts * steps_a_part);
    progress.advance(state.parts * steps_a_part);
    while (state.parts < parts) {
      const auto begin = Clock::now();
      const auto round = rounds.next(state.parts, parts);
      if (comm.size() > 1) {
        Packet packet;
        packet.put(round);
        packet.broadcast(comm);
      }
      std::vector<ChunkTree> trees(round.size(), ChunkTree(worker->chunks()));
      try {
        all_ranks([&] {
          worker->sum(round, trees, progress);
          if (progress.cancelled()) throw Cancelled();
        });
      } catch (const Cancelled&) {  // every rank has agreed: what is done so far is worth keeping
        if (keeps && interval < CheckpointSettings::never && state.parts > kept) keep();
        throw;
      }
      RoundSums sums(*worker, round, parameters.channels, parameters.threads, state.sums);
      sums.take(trees);
      for (int rank = 1; rank < comm.size(); ++rank) {
        give_turn(comm, rank);
        for_each_message(round, [&](const Range& some) {
          others.receive(comm, rank);
          sums.take(others, some, trees);
        });
      }
      sums.finish();
      state.parts = round.last;
      rounds.took(round, seconds_since(begin), wanted_seconds());
      if (keeps && state.parts < parts && seconds_since(last_written) >= interval) keep();
    }
    if (comm.size() > 1) {
      Packet packet;
      packet.put(Range{parts, parts});
      packet.broadcast(comm);
    }
  } catch (const std::exception& error) {
    if (comm.size() == 1 || agreed) throw;
    throw OutOfStep("rank 0", error.what());
  }
  progress.finish();
  sort_contacts(state.sums.contacts);
  out.sums = std::move(state.sums);
  return out;
}

void serve(Comm& comm) {
  bool agreed = false;
  const auto all_ranks = [&](const auto& work) {
    agreed = true;
    together(comm, work);
    agreed = false;
  };
  try {
    Packet packet;
    packet.broadcast(comm);
    const auto task = Task::from(packet);
    auto parameters = task.parameters;
    const bool by_prisms = parameters.partition == Partition::prisms;
    const auto chunks = chunks_of(comm, task.prisms, comm.rank());
    std::vector<double> station[3];
    auto prisms = std::make_shared<OwnedPrisms>();
    all_ranks([&] {
      check_same_program(task);
      parameters.device = own_device(task, comm);
      make_columns(station, task.stations, parameters.threads);
      make_columns(prisms->column, by_prisms ? prisms_of(task.prisms, chunks).size() : task.prisms,
                   parameters.threads);
    });
    comm.prepare(parameters.device, bytes_for_all(task.prisms, task.stations, by_prisms), parameters.threads);
    for (auto& column : station) broadcast(comm, column);
    if (!by_prisms)
      for (auto& column : prisms->column) broadcast(comm, column);
    comm.release();
    if (by_prisms) {
      wait_for_turn(comm);
      for (auto& column : prisms->column) comm.receive(std::as_writable_bytes(std::span(column)), 0);
    }
    const Stations stations{station[0], station[1], station[2]};
    std::unique_ptr<Worker> worker;
    all_ranks([&] {
      if (by_prisms) {
        worker = std::make_unique<ByPrisms>(prisms, task.prisms, chunks, stations, parameters);
      } else {
        Progress silent;
        worker = std::make_unique<ByStations>(summation({prisms->view(), stations, parameters}, silent),
                                              parts_at_once(parameters), comm.rank(), comm.size());
      }
    });
    TreePacket results;
    for (;;) {
      Packet next;
      next.broadcast(comm);
      const auto round = next.get<Range>();
      if (round.size() == 0) return;
      std::vector<ChunkTree> trees(round.size(), ChunkTree(worker->chunks()));
      all_ranks([&] {
        Progress silent;
        worker->sum(round, trees, silent);
      });
      for_each_message(round, [&](const Range& some) {
        results.pack(std::span(trees).subspan(some.first, some.size()), parameters.threads);
        if (some.first == 0) wait_for_turn(comm);
        results.send(comm, 0);
      });
    }
  } catch (const std::exception& error) {
    if (!agreed)
      throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());  // else rank 0 tells the user
  }
}

}  // namespace terrane::gravity
