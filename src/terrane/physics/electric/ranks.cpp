#include "terrane/physics/electric/ranks.hpp"

#include <algorithm>

#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electric {

namespace {

/// What the other ranks must know.
Packet packed(const TensorMesh& mesh, const Rock& rock, const Electrodes& electrodes,
              const Parameters& parameters, Device device, int threads, int at_once) {
  Packet packet;
  for (const auto* faces : {&mesh.easting(), &mesh.northing(), &mesh.up()}) packet.put(*faces);
  for (const auto* values :
       {&rock.conductivity, &rock.quadrature, &rock.chargeability, &rock.ground, &rock.conductivity_north,
        &rock.conductivity_up, &rock.quadrature_north, &rock.quadrature_up})
    packet.put(*values);
  packet.put(electrodes.place);
  packet.put(electrodes.arrays);
  packet.put(parameters);
  packet.put(device);
  packet.put(threads);
  packet.put(at_once);
  return packet;
}

/// Two H200 are 1.3 times as fast as one with 16 million nodes, and as fast with two (benchmarks/records,
/// ranks_solves_cuts).
constexpr double worth_sharing = 8e6;

int ranks_of(const Runtime& runtime) { return runtime.comm ? runtime.comm->size() : 1; }
int ranks_here(const Runtime& runtime) { return runtime.comm ? runtime.comm->on_node().count : 1; }

}  // namespace

double Load::memory(double fields, double ranks) const {
  return fields * bytes_needed(nodes, complex) +
         std::max(0.0, ranks - fields) * bytes_of_helper(nodes, complex) + ranks * bytes_of_rank;
}

double Load::part_of_gpu(int fields, int ranks) const {
  const int share_it = ranks / fields;
  if (share_it == 1) return bytes_needed(nodes, complex);
  // A seventh more for points around its part and levels that it has whole; and memory that others have open.
  return 1.15 * bytes_needed(nodes / share_it, complex) + 40.0 * (1 << 21);
}

namespace {

/// Of the host, with `here` of the ranks on it. A rank by itself hands nothing over.
double bytes_of_host(const Load& load, double fields, double ranks, double here, bool on_gpus) {
  const double of_these = fields * here / ranks;
  return load.memory(on_gpus ? 0 : of_these, here) + (ranks > 1 ? load.handed_over(of_these) : 0);
}

}  // namespace

Sharing share_ranks(const Load& load, int ranks, int on_node, double bytes, double device_bytes) {
  const bool on_gpus = device_bytes > 0;
  const auto fits = [&](int fields) {
    if (on_gpus && load.part_of_gpu(fields, ranks) > device_bytes) return false;
    return bytes_of_host(load, fields, ranks, on_node, on_gpus) <= bytes;
  };
  return terrane::share_ranks({.count = load.solves,
                               .ranks = ranks,
                               .ranks_per_field = load.ranks_per_field,
                               .on_gpus = on_gpus,
                               .unknowns = load.nodes,
                               .worth_sharing = worth_sharing,
                               .fits = fits});
}

Sharing share_ranks(const Load& load, const Runtime& runtime, double at_rank_0) {
  return share_ranks(load, ranks_of(runtime), ranks_here(runtime),
                     static_cast<double>(memory_budget(runtime).bytes) - at_rank_0, free_of_gpu(runtime));
}

double memory_needed(const Load& load, const Runtime& runtime, double at_rank_0) {
  return bytes_of_host(load, share_ranks(load, runtime, at_rank_0).fields_at_once, ranks_of(runtime),
                       ranks_here(runtime), free_of_gpu(runtime) > 0) +
         at_rank_0;
}

void require_memory(const Load& load, const Runtime& runtime, double at_rank_0, const std::string& what) {
  memory_budget(runtime).require("run", what, memory_needed(load, runtime, at_rank_0));
  if (const double gpu = free_of_gpu(runtime); gpu > 0)
    MemoryBudget{static_cast<std::size_t>(gpu)}.require(
        "run", what + " on the GPU of a rank",
        load.part_of_gpu(share_ranks(load, runtime, at_rank_0).fields_at_once, ranks_of(runtime)));
}

DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Rock& rock,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of_rank(runtime.device, comm);
  try {
    Stream stream(device, false, runtime.threads);  // before others wait
    if (comm.size() > 1) {
      call(comm, "electric");
      const auto theirs = device_for_ranks(runtime.device, comm);
      packed(mesh, rock, electrodes, parameters, theirs, runtime.threads, at_once).broadcast(comm);
    }
    return direct_current(mesh, rock, electrodes, parameters, stream, &report, runtime.progress, &comm,
                          at_once);
  } catch (const Error&) {  // all ranks have agreed on it, or it is OutOfStep
    throw;
  } catch (const std::exception& error) {
    if (comm.size() == 1) throw;
    throw OutOfStep("rank 0", error.what());
  }
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
             up = packet.get_vector<double>();
  Rock rock;
  for (auto* values :
       {&rock.conductivity, &rock.quadrature, &rock.chargeability, &rock.ground, &rock.conductivity_north,
        &rock.conductivity_up, &rock.quadrature_north, &rock.quadrature_up})
    *values = packet.get_vector<double>();
  Electrodes electrodes;
  electrodes.place = packet.get_vector<Point>();
  electrodes.arrays = packet.get_vector<Array>();
  const auto parameters = packet.get<Parameters>();
  const auto device = device_of_rank(packet.get<Device>(), comm);
  Stream stream(device, false, packet.get<int>());
  const int at_once = packet.get<int>();
  try {
    direct_current(TensorMesh(easting, northing, up), rock, electrodes, parameters, stream, nullptr, nullptr,
                   &comm, at_once);
  } catch (const OutOfStep&) {
    throw;
  } catch (const Error&) {  // rank 0 tells the user
  } catch (const std::exception& error) {
    throw OutOfStep("rank " + std::to_string(comm.rank()), error.what());
  }
}

}  // namespace terrane::electric
