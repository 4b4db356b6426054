#include "terrane/physics/electromagnetic/inverse/field_models.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electromagnetic::inverse {

namespace {

using Z = std::complex<double>;
constexpr const char* fields_service = "electromagnetic: fields";

std::vector<FieldDatum> data_of(const Problem& problem, const Outcome& outcome,
                                const std::vector<std::size_t>& places) {
  const std::size_t receivers = problem.receivers.size(), sites = problem.frequencies.size() * receivers;
  std::vector<TransferFunction> functions;
  if (is_magnetotelluric(problem)) functions = transfer_functions(problem, outcome);
  std::vector<FieldDatum> all;
  for (const auto place : places) {
    if (functions.empty()) {
      const std::size_t f = place / problem.data_of_a_solve() % problem.frequencies.size();
      all.push_back({outcome.data[place], {{place, 1.0}}, f * receivers + place % receivers});
      continue;
    }
    const std::size_t which = place / sites, site = place % sites;
    all.push_back({number(functions[site], which),
                   change_of(problem, outcome, site / receivers, site % receivers, functions[site], which),
                   site});
  }
  return all;
}

/// The values of all ranks, [rank], on rank 0.
template <class T>
std::vector<std::vector<T>> gathered(Comm& comm, const std::vector<T>& mine) {
  std::vector<std::vector<T>> all;
  for (const auto& bytes : comm.gather(std::as_bytes(std::span(mine)), 0)) {
    all.emplace_back(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(all.back().data()), bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace

// ---- a model, on every rank ----

FieldModel::FieldModel(const Problem& problem, const std::vector<std::size_t>& places, Device device,
                       int threads, Progress* progress, Comm* comm)
    : stream_(device, false, threads),
      sensitivity_(problem, stream_, progress, comm),
      data_(data_of(problem, sensitivity_.outcome(), places)),
      comm_(comm) {}

FieldModel::~FieldModel() {
  if (ranks_) ranks_->gone_.push_back(number_);
}

std::vector<Z> FieldModel::own_times(std::span<const double> v) {
  const auto fields = sensitivity_.times(v);
  std::vector<Z> changes;
  if (fields.empty()) return changes;  // `fields` is empty on ranks other than 0
  for (const auto& datum : data_) {
    Z sum = 0;
    for (const auto& [place, factor] : datum.change) sum += factor * fields[place];
    changes.push_back(sum);
  }
  return changes;
}

std::vector<Z> FieldModel::own_transposed_times(std::span<const Z> w) {
  std::vector<Z> of_fields(sensitivity_.data());
  for (std::size_t n = 0; n < data_.size(); ++n)
    for (const auto& [place, factor] : data_[n].change) of_fields[place] += factor * w[n];
  return sensitivity_.transposed_times(of_fields);
}

void FieldModel::make(Site& site, Progress* progress) {
  std::set<std::size_t> places;
  for (const auto n : site.numbers)
    for (const auto& [place, factor] : data_[n].change) places.insert(place);
  const std::vector<std::size_t> fields(places.begin(), places.end());
  site.rows.assign(site.numbers.size() * cells(), 0.0);
  site.solves = sensitivity_.rows(
      fields,
      [&](std::size_t field, std::span<const Z> row) {
        for (std::size_t k = 0; k < site.numbers.size(); ++k)
          for (const auto& [place, factor] : data_[site.numbers[k]].change)
            if (place == fields[field])
              for (std::size_t c = 0; c < row.size(); ++c) site.rows[k * cells() + c] += factor * row[c];
      },
      progress);
}

std::vector<Solve> FieldModel::own_rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                                        Progress* progress) {
  std::map<std::size_t, std::vector<std::size_t>> of_site;
  for (const auto n : wanted) of_site[data_[n].site].push_back(n);
  std::vector<Site> sites;
  for (auto& [site, numbers] : of_site) sites.push_back({std::move(numbers), {}, {}});
  Alone alone;
  Comm& comm = comm_ ? *comm_ : alone;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<Solve> solves;
  for (std::size_t first = 0; first < sites.size(); first += ranks) {
    if (comm.lowest(progress != nullptr && progress->cancelled() ? 0 : 1) == 0) throw Cancelled();
    Site none;
    const std::size_t own = first + static_cast<std::size_t>(comm.rank());
    Site& mine = own < sites.size() ? sites[own] : none;
    together(comm, [&] {
      if (own < sites.size()) make(mine, ranks == 1 ? progress : nullptr);
    });
    if (ranks > 1) {
      auto rows = gathered(comm, mine.rows);
      auto done = gathered(comm, mine.solves);
      mine.rows = {};
      for (std::size_t rank = 0; rank < rows.size() && first + rank < sites.size(); ++rank) {
        sites[first + rank].rows = std::move(rows[rank]);
        sites[first + rank].solves = std::move(done[rank]);
      }
    }
    if (comm.rank() > 0) continue;
    for (std::size_t n = first; n < std::min(first + ranks, sites.size()); ++n) {
      for (std::size_t k = 0; k < sites[n].numbers.size(); ++k)
        take(sites[n].numbers[k], std::span(sites[n].rows).subspan(k * cells(), cells()));
      solves.insert(solves.end(), sites[n].solves.begin(), sites[n].solves.end());
      sites[n].rows = {};
    }
  }
  return solves;
}

// ---- rank 0 ----

FieldRanks::FieldRanks(Comm& comm, const Problem& problem, const std::vector<std::size_t>& places,
                       Device device, int threads, std::shared_ptr<solve::Workers> workers)
    : comm_(comm),
      places_(places),
      device_(device_for_ranks(device, comm)),
      threads_(threads),
      workers_(workers && workers->serves() ? std::move(workers) : nullptr) {
  Packet packet;  // made before other ranks are called: if rank 0 had no memory for the packet, they would
                  // wait for ever
  packet.put(std::string(fields_service));
  packet.put(reinterpret_cast<std::uint64_t>(this));  // the number by which workers recognise this object
  packet.put(true);
  put(packet, problem);
  packet.put(places_);
  packet.put(device_);
  packet.put(threads_);
  inversion::call_for_work(comm_, workers_);
  packet.broadcast(comm_);
}

FieldRanks::~FieldRanks() {
  if (!parted_ && (!workers_ || workers_->serves())) send(Wanted::nothing, 0, std::vector<double>{});
}

template <class Values>
void FieldRanks::ask(Wanted wanted, std::uint64_t number, const Values& values) {
  if (parted_)
    throw Error("ranks", "a computation of these fields failed before, and the other ranks wait no more",
                "Compute the fields of the model again.");
  send(wanted, number, values);
}

template <class Values>
void FieldRanks::send(Wanted wanted, std::uint64_t number, const Values& values) {
  Packet packet;
  if (workers_) {
    packet.put(std::string(fields_service));
    packet.put(reinterpret_cast<std::uint64_t>(this));
    packet.put(false);
  }
  packet.put(gone_);
  packet.put(wanted);
  packet.put(number);
  packet.put(values);
  if (workers_) workers_->send_command();
  packet.broadcast(comm_);
  gone_.clear();
}

/// Runs `work` on this rank. If it fails on any rank, all ranks throw, and the other ranks stop waiting.
template <class Work>
auto FieldRanks::in_step(const Work& work) {
  parted_ = true;
  decltype(work()) made;
  keep_in_step(comm_, [&] { made = work(); });
  parted_ = false;
  return made;
}

std::shared_ptr<FieldModel> FieldRanks::model(const Problem& problem, Progress* progress) {
  ask(Wanted::model, ++made_, problem.conductivity[0]);
  auto made = in_step([&] {
    return std::make_shared<FieldModel>(problem, places_, device_of_rank(device_, comm_), threads_, progress,
                                        &comm_);
  });
  made->ranks_ = shared_from_this();
  made->number_ = made_;
  return made;
}

std::vector<Z> FieldModel::times(std::span<const double> v) {
  if (!ranks_) return own_times(v);
  ranks_->ask(FieldRanks::Wanted::times, number_, std::vector<double>(v.begin(), v.end()));
  return ranks_->in_step([&] { return own_times(v); });
}

std::vector<Z> FieldModel::transposed_times(std::span<const Z> w) {
  if (!ranks_) return own_transposed_times(w);
  ranks_->ask(FieldRanks::Wanted::transposed_times, number_, std::vector<Z>(w.begin(), w.end()));
  return ranks_->in_step([&] { return own_transposed_times(w); });
}

std::vector<Solve> FieldModel::rows(const std::vector<std::size_t>& wanted, const TakeRow& take,
                                    Progress* progress) {
  if (!ranks_) return own_rows(wanted, take, progress);
  ranks_->ask(FieldRanks::Wanted::rows, number_, wanted);
  return ranks_->in_step([&] { return own_rows(wanted, take, progress); });
}

// ---- the other ranks ----

FieldServer::FieldServer(Packet& packet, Comm& comm)
    : comm_(comm), problem_(get_problem(packet)), places_(packet.get_vector<std::size_t>()) {
  device_ = device_of_rank(packet.get<Device>(), comm);
  threads_ = packet.get<int>();
}

bool FieldServer::serve(Packet& asked) {
  using Wanted = FieldRanks::Wanted;
  for (const auto gone : asked.get_vector<std::uint64_t>()) models_.erase(gone);
  const auto wanted = asked.get<Wanted>();
  const auto number = asked.get<std::uint64_t>();
  if (wanted == Wanted::nothing) return false;
  return serve_in_step(comm_, [&] {
    if (wanted == Wanted::model) {
      problem_.conductivity[0] = asked.get_vector<double>();
      models_[number] = std::make_shared<FieldModel>(problem_, places_, device_, threads_, nullptr, &comm_);
    } else if (wanted == Wanted::times) {
      models_.at(number)->own_times(asked.get_vector<double>());
    } else if (wanted == Wanted::transposed_times) {
      models_.at(number)->own_transposed_times(asked.get_vector<Z>());
    } else {
      models_.at(number)->own_rows(asked.get_vector<std::size_t>(), {}, nullptr);
    }
  });
}

namespace {

/// Serves one FieldRanks, until it asks for nothing more.
void serve_alone(Packet packet, Comm& comm) {
  packet.get<std::uint64_t>();
  packet.get<bool>();
  FieldServer server(packet, comm);
  for (bool more = true; more;) {
    Packet asked;
    asked.broadcast(comm);
    more = server.serve(asked);
  }
}

/// Serves any number of FieldRanks; each command begins with the number of its FieldRanks.
inversion::Service::Work commands() {
  return
      [servers = std::map<std::uint64_t, std::shared_ptr<FieldServer>>()](Packet packet, Comm& comm) mutable {
        const auto number = packet.get<std::uint64_t>();
        if (packet.get<bool>()) servers[number] = std::make_shared<FieldServer>(packet, comm);
        else if (!servers.at(number)->serve(packet)) servers.erase(number);
      };
}

}  // namespace

inversion::Service service_of_fields() { return {fields_service, {}, serve_alone, commands}; }

}  // namespace terrane::electromagnetic::inverse
