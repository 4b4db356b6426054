// What neighbours cost: steps of acoustic and elastic waves on one device and on several, each with as many
// points or elements as the one (weak scaling) or all together as many (strong scaling, words with
// "strong_"), with messages behind the inner part, blocking and left out, and direct or through the host; and
// halos by themselves. Prints JSON; the slowest rank counts, the best repeat.
//
//     mpirun -n 2 ranks_halos [device] [WORD=SIZE]...
//
// Words: acoustic, density (variable), tilted (an axis that leans) with the nodes a side; elastic with the
// elements a side.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/elastic_meshes.hpp"
#include "terrane/parallel/comm/comm_gpu.hpp"
#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace terrane {
namespace {

using Time = std::chrono::steady_clock;

/// The ranks of another Comm with this link between their devices; null: none.
class WithLink final : public Comm {
 public:
  WithLink(Comm& below, std::shared_ptr<DirectLink> link) : below_(below), link_(std::move(link)) {}
  int rank() const noexcept override { return below_.rank(); }
  int size() const noexcept override { return below_.size(); }
  Place on_node() const noexcept override { return below_.on_node(); }
  void broadcast(std::span<std::byte> bytes, int root) override { below_.broadcast(bytes, root); }
  int lowest(int value) override { return below_.lowest(value); }
  void send(std::span<const std::byte> bytes, int to) override { below_.send(bytes, to); }
  void receive(std::span<std::byte> bytes, int from) override { below_.receive(bytes, from); }
  Message isend(std::span<const std::byte> bytes, int to, int tag) override {
    return below_.isend(bytes, to, tag);
  }
  Message irecv(std::span<std::byte> bytes, int from, int tag) override {
    return below_.irecv(bytes, from, tag);
  }
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    below_.gather_all(mine, all);
  }
  std::unique_ptr<Comm> split(int colour, int key) override { return below_.split(colour, key); }
  Direct direct(Device) override { return {link_, {}}; }
  void abort(int status) override { below_.abort(status); }

 private:
  Comm& below_;
  std::shared_ptr<DirectLink> link_;
};

/// Another link, whose messages are waited for at once, or never sent.
class Hampered final : public DirectLink {
 public:
  Hampered(std::shared_ptr<DirectLink> link, bool sends) : link_(std::move(link)), sends_(sends) {}
  std::string name() const override { return link_->name(); }
  GpuId gpu() const override { return link_->gpu(); }
  GroupId make_group() override { return link_->make_group(); }
  void join(const GroupId&, int, int) override {}
  void exchange(Stream& stream, std::span<const Piece> out, std::span<const Piece> in) override {
    if (!sends_) return;
    link_->exchange(stream, out, in);
    stream.wait();
  }

 private:
  std::shared_ptr<DirectLink> link_;
  bool sends_;
};

/// A way for messages, and whether steps are recorded. written: acoustic steps write into the fields of
/// neighbours, and kernels bring points that elastic elements share, without messages.
struct Way {
  std::string name;
  Comm* comm;
  bool graphs, written = false;
};

/// Seconds of one of `count` pieces of work, on the slowest rank; the best of five.
template <class Work, class Wait>
double seconds_of(Comm& all, int count, const Work& work, const Wait& wait) {
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    work();
    wait();
    all.lowest(0);
    const auto begin = Time::now();
    for (int n = 0; n < count; ++n) work();
    wait();
    best = std::min(best, all.highest(std::chrono::duration<double>(Time::now() - begin).count() / count));
  }
  return best;
}

/// Rows of the record, printed as they come.
class Rows {
 public:
  explicit Rows(Comm& all) : all_(all) {}
  void add(const std::string& row) {
    if (all_.rank() == 0) fmt::print("{}\n    {{{}}}", any_ ? "," : "", row);
    std::fflush(stdout);
    any_ = true;
  }
  /// Steps of so many points or elements on all ranks: those of one rank alone come first.
  void step(const std::string& what, const Way& way, double all, double seconds) {
    const int ranks = way.comm->size();
    if (ranks == 1) alone_ = all / seconds;
    add(
        fmt::format("\"what\": \"{}\", \"each\": {}, \"ranks\": {}, \"messages\": \"{}\", \"graphs\": {}, "
                    "\"microseconds\": {:.2f}, \"per_second\": {:.4g}, \"times_one\": {:.4f}",
                    what, all / ranks, ranks, way.name, way.graphs, seconds * 1e6, all / seconds,
                    all / seconds / alone_));
  }

 private:
  Comm& all_;
  bool any_ = false;
  double alone_ = 0;  // per second
};

acoustic::Problem box(Index length, Index side, acoustic::Equation equation) {
  acoustic::Problem p;
  p.equation = equation;
  p.grid = {{length, side, side}, {10, 10, 10}, {0, 0, 0}};
  for (auto& axis : p.sides) axis = {acoustic::Boundary::wall, acoustic::Boundary::wall};
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), 2000.0);
  if (equation == acoustic::Equation::variable_density) p.density.assign(p.velocity.size(), 2000.0);
  if (equation == acoustic::Equation::tti) {
    p.epsilon.assign(p.velocity.size(), 0.2);
    p.delta.assign(p.velocity.size(), 0.1);
    p.tilt.assign(p.velocity.size(), 0.5);
    p.azimuth.assign(p.velocity.size(), 0.3);
  }
  p.wavelet.frequency = 20;
  p.end = 1;
  const double middle = 10.0 * static_cast<double>(side / 2);
  p.shots = {{{{middle + 3, middle + 4, middle + 2}}, {}}};
  p.settle();
  return p;
}

/// A halo by itself: packed, sent and unpacked.
void acoustic_halo(Comm& all, const acoustic::Medium<float>& medium, Stream& stream, const Way& way,
                   Rows& rows) {
  const Index reach = medium.reach();
  Halo<float, 3> halo(stream, medium.cut(), {{reach, reach, 0}, {reach, reach, 0}, {}, false}, 1, *way.comm);
  Buffer<float> field(stream.device(), static_cast<std::size_t>(halo.box().count()));
  field.fill_zero(stream);
  const std::vector<View<float, 3>> views{field.view(halo.box())};
  const double seconds = seconds_of(
      all, 20, [&] { halo.exchange(stream, views); }, [&] { halo.wait(stream); });
  rows.add(
      fmt::format("\"what\": \"acoustic halo\", \"messages\": \"{}\", \"bytes\": {}, "
                  "\"microseconds\": {:.2f}, \"bytes_per_second\": {:.4g}",
                  way.name, halo.bytes(), seconds * 1e6, static_cast<double>(halo.bytes()) / seconds));
}

/// strong: the whole box has the side, else each rank's part.
void acoustic_steps(Comm& all, Device device, acoustic::Equation equation, Index side, bool strong,
                    const std::vector<Way>& ways, Rows& rows) {
  const std::string name = equation == acoustic::Equation::tti                ? "tilted"
                           : equation == acoustic::Equation::variable_density ? "density"
                                                                              : "acoustic";
  Stream stream(device);
  std::optional<acoustic::Problem> p;
  std::optional<acoustic::Medium<float>> medium;
  for (const auto& way : ways) {
    const int ranks = way.comm->size();
    if (!medium || medium->cut().ranks() != ranks) {
      medium.reset();
      p = box(strong ? side : side * ranks, side, equation);
      medium.emplace(*p, stream, cut_grid(*p, ranks), way.comm->rank());
    }
    using Wave = acoustic::Wave<float>;
    Wave wave(stream, *medium, *way.comm, way.written ? Wave::Neighbours::written : Wave::Neighbours::halos);
    acoustic::Sources<float> sources(stream, *medium, p->shots[0].sources, 1 / p->grid.volume());
    sources.send(stream, p->steps(), p->source_series());
    acoustic::Clock clock(stream, 0);
    const auto pair = [&] {
      for (int n = 0; n < 2; ++n) wave.step(stream, &sources, clock);
    };
    pair();
    wave.wait(stream);
    std::optional<Graph> graph;
    if (way.graphs && wave.can_record()) graph.emplace(stream, pair);
    const auto points = static_cast<double>(p->grid.box().count());
    const int count = device.kind == Device::Kind::cuda
                          ? std::max(8, static_cast<int>(std::min(200.0, 5e9 * ranks / points)))
                          : 2;
    const double seconds = seconds_of(
        all, count, [&] { graph ? graph->launch(stream) : pair(); }, [&] { wave.wait(stream); });
    rows.step(name + (strong ? ", strong" : ""), way, points, seconds / 2);
    if (ranks > 1 && !way.graphs && (way.name == "behind" || way.name == "through the host"))
      acoustic_halo(all, *medium, stream, way, rows);
  }
}

void elastic_steps(Comm& all, Device device, std::size_t side, bool strong, const std::vector<Way>& ways,
                   Rows& rows) {
  elastic::Problem p;
  std::optional<elastic::Part> part;
  int parts = 0;
  for (const auto& way : ways) {
    const int ranks = way.comm->size();
    if (!part || parts != ranks) {
      const std::size_t length = strong ? side : side * static_cast<std::size_t>(ranks);
      p.mesh = test::cubes({length, side, side}, 100, test::granite());
      p.precision = elastic::Precision::single_precision;
      p.sums = elastic::Sums::fixed;
      p.step = 1e-3;
      p.end = 1;
      part = elastic::make_part(p, way.comm->rank(), ranks);
      parts = ranks;
    }
    constexpr std::size_t most = 20;
    const auto field = make_field(p, *part, {device, 0, most, false, way.graphs, way.written}, *way.comm);
    if (way.written && !field->transport().ends_with("by kernels")) continue;
    auto shown = way;
    if (way.written) shown.name = "by kernels";
    const auto steps = [&] {
      field->load_courses({});
      field->steps(most);
    };
    steps();
    const auto elements = static_cast<double>(p.mesh.elements.size());
    const int count = device.kind == Device::Kind::cuda
                          ? std::max(4, static_cast<int>(std::min(50.0, 1e6 * ranks / elements)))
                          : 1;
    const double seconds = seconds_of(all, count, steps, [&] { field->wait(); });
    rows.step(strong ? "elastic, strong" : "elastic", shown, elements, seconds / most);
  }
}

std::shared_ptr<DirectLink> link_between(Comm& ranks, Device device, GpuComm& through_gpus) {
  const auto direct = through_gpus.direct(device);
  if (!direct.link && ranks.rank() == 0)
    std::fprintf(stderr, "no direct messages: %s\n", direct.why_not.c_str());
  return direct.link;
}

void run(Comm& ranks, Device device, const std::vector<std::string>& what) {
#ifdef TERRANE_HAS_NCCL
  GpuComm through_gpus(ranks, nccl_link, GpuLinkUse::always, nccl_direct_link);
#else
  GpuComm through_gpus(ranks, {}, GpuLinkUse::always);
#endif
  Alone alone;
  WithLink host(ranks, nullptr);
  std::vector<Way> ways{{"none", &alone, true}};
  const auto free = device_memory(device).free;
  const auto link = ranks.size() > 1 ? link_between(ranks, device, through_gpus) : nullptr;
  std::optional<WithLink> direct, blocking, off;
  if (link) {
    direct.emplace(ranks, link);
    blocking.emplace(ranks, std::make_shared<Hampered>(link, true));
    off.emplace(ranks, std::make_shared<Hampered>(link, false));
    ways.push_back({"written by steps", &*direct, true, true});
    ways.push_back({"written by steps", &*direct, false, true});
    ways.push_back({"behind", &*direct, true});
    ways.push_back({"behind", &*direct, false});
    ways.push_back({"blocking", &*blocking, false});
    ways.push_back({"left out", &*off, true});
  }
  if (ranks.size() > 1) ways.push_back({"through the host", &host, false});
  if (ranks.rank() == 0)
    fmt::print(
        "{{\"what\": \"steps with neighbours\", \"device\": \"{}\", \"direct\": \"{}\", "
        "\"bytes_of_link\": {}, \"rows\": [",
        device_name(device), link ? link->name() : "none", free - device_memory(device).free);
  Rows rows(ranks);
  for (const auto& word : what) {
    const auto size = std::atoi(word.substr(word.find('=') + 1).c_str());
    const bool strong = word.starts_with("strong_");
    const auto name = word.substr(strong ? 7 : 0, word.find('=') - (strong ? 7 : 0));
    if (name == "elastic") elastic_steps(ranks, device, static_cast<std::size_t>(size), strong, ways, rows);
    else
      acoustic_steps(ranks, device,
                     name == "tilted"    ? acoustic::Equation::tti
                     : name == "density" ? acoustic::Equation::variable_density
                                         : acoustic::Equation::constant_density,
                     size, strong, ways, rows);
  }
  if (ranks.rank() == 0) fmt::print("\n]}}\n");
}

}  // namespace
}  // namespace terrane

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    using namespace terrane;
    const auto comm = mpi_comm(MPI_COMM_WORLD);
    share_cores(comm->on_node().count);
    const auto device = resolve(device_from_text(argc > 1 ? argv[1] : "debug"), comm->on_node().index);
    std::vector<std::string> what(argv + std::min(argc, 2), argv + argc);
    if (what.empty()) what = {"acoustic=64", "elastic=6"};
    run(*comm, device, what);
  }
  MPI_Finalize();
}
