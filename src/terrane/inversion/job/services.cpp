#include "terrane/inversion/job/services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "terrane/base/error.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::inversion {

namespace {

// the name with which rank 0 calls the other ranks into serve()
constexpr const char* called = "inversion";
// this service runs all other services in any order, for joint inversions
constexpr const char* workers_service = "workers";

const Service& named(const std::vector<Service>& services, const std::string& name) {
  const auto found =
      std::find_if(services.begin(), services.end(), [&](const Service& s) { return s.name == name; });
  if (found == services.end()) throw Error("ranks", fmt::format("there is no service \"{}\"", name));
  return *found;
}

/// Computes this rank's shares of products until rank 0 ends this work. first: the first operator; null for
/// workers, which may also run commands.
void serve_operators(const std::vector<Service>& services, std::shared_ptr<const solve::PartedOperator> first,
                     Comm& comm) {
  std::map<std::string, Service::Work> commands;
  Packet packet;
  const auto next = [&]() -> const Service& {
    packet = {};
    packet.broadcast(comm);
    return named(services, packet.get<std::string>());
  };
  solve::serve_products(
      comm, std::move(first),
      [&] {
        const auto& service = next();
        return service.share(std::move(packet), comm);
      },
      [&] {
        const auto& service = next();
        auto& work = commands[service.name];
        if (!work) work = service.commands ? service.commands() : service.work;
        work(std::move(packet), comm);
      });
}

}  // namespace

void serve(const std::vector<Service>& services, Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto name = packet.get<std::string>();
  if (name == workers_service) return serve_operators(services, nullptr, comm);
  const auto& service = named(services, name);
  if (!service.share) return service.work(std::move(packet), comm);
  if (auto first = service.share(std::move(packet), comm)) serve_operators(services, std::move(first), comm);
}

void call_for_work(Comm& comm, const std::shared_ptr<solve::Workers>& workers) {
  if (workers && workers->serves()) workers->send_command();
  else call(comm, called);
}

void call_for_shares(Comm& comm, std::shared_ptr<solve::Workers>& workers, Packet packet) {
  if (!workers) workers = std::make_shared<solve::Workers>(comm);
  if (workers->serves()) workers->ask_for_another();
  else call(comm, called);
  packet.broadcast(comm);
}

std::shared_ptr<solve::Workers> call_workers(Comm& comm) {
  auto workers = std::make_shared<solve::Workers>(comm);
  if (comm.size() == 1) return workers;
  call(comm, called);
  Packet packet;
  packet.put(std::string(workers_service));
  packet.broadcast(comm);
  workers->stay();
  return workers;
}

}  // namespace terrane::inversion
