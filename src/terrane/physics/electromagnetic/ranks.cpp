#include "terrane/physics/electromagnetic/ranks.hpp"

#include "terrane/simulation/serve.hpp"

namespace terrane::electromagnetic {

namespace {

Device device_of(const Device& wanted, const Comm& comm) {
  return resolve(shared_device(wanted, comm), comm.on_node().index);
}

void put(Packet& packet, const Problem& problem) {
  for (const auto* faces : {&problem.mesh.easting(), &problem.mesh.northing(), &problem.mesh.up()})
    packet.put(*faces);
  for (const auto& sigma : problem.conductivity) packet.put(sigma);
  packet.put(problem.sources.size());
  for (const auto& source : problem.sources) {
    packet.put(source.kind);
    packet.put(source.points);
    packet.put(source.moment);
    packet.put(source.current);
  }
  packet.put(problem.frequencies);
  packet.put(problem.receivers);
  packet.put(problem.components);
  packet.put(problem.electric_volume);
  packet.put(problem.magnetic_volume);
  packet.put(problem.parameters);
}

Problem get_problem(Packet& packet) {
  Problem problem;
  const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
             up = packet.get_vector<double>();
  problem.mesh = TensorMesh(easting, northing, up);
  for (auto& sigma : problem.conductivity) sigma = packet.get_vector<double>();
  problem.sources.resize(packet.get<std::size_t>());
  for (auto& source : problem.sources) {
    source.kind = packet.get<Source::Kind>();
    source.points = packet.get_vector<Vector3>();
    source.moment = packet.get<Vector3>();
    source.current = packet.get<double>();
  }
  problem.frequencies = packet.get_vector<double>();
  problem.receivers = packet.get_vector<Vector3>();
  problem.components = packet.get_vector<Component>();
  problem.electric_volume = packet.get<bool>();
  problem.magnetic_volume = packet.get<bool>();
  problem.parameters = packet.get<Parameters>();
  return problem;
}

}  // namespace

Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of(runtime.device, comm);
  problem.check();
  try {
    if (comm.size() > 1) {
      call(comm, "electromagnetic");
      Packet packet;
      put(packet, problem);
      packet.put(device.kind);
      packet.put(runtime.threads);
      packet.broadcast(comm);
    }
    Stream stream(device, false, runtime.threads);
    return forward(problem, stream, runtime.progress, &comm);
  } catch (const Cancelled&) {
    throw;
  } catch (const MemoryError&) {  // all ranks have agreed on it
    throw;
  } catch (const std::exception& error) {
    if (comm.size() == 1) throw;
    throw OutOfStep("rank 0", error.what());
  }
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto problem = get_problem(packet);
  const auto kind = packet.get<Device::Kind>();
  Stream stream(device_of({kind, -1}, comm), false, packet.get<int>());
  try {
    forward(problem, stream, nullptr, &comm);
  } catch (const Cancelled&) {
  } catch (const MemoryError&) {  // rank 0 tells the user
  } catch (const std::exception& error) {
    throw OutOfStep("rank " + std::to_string(comm.rank()), error.what());
  }
}

}  // namespace terrane::electromagnetic
