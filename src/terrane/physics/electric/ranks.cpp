#include "terrane/physics/electric/ranks.hpp"

#include <algorithm>
#include <optional>

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
        &rock.conductivity_up, &rock.quadrature_north, &rock.quadrature_up, &rock.slopes})
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

}  // namespace

double Load::memory(double fields, double ranks) const {
  return fields * bytes_needed(nodes, complex) +
         std::max(0.0, ranks - fields) * bytes_of_helper(nodes, complex) + ranks * bytes_of_rank;
}

double Load::part_of_gpu(int fields, int ranks) const {
  const int share_it = ranks / fields;
  if (share_it == 1) return bytes_needed(nodes, complex, true);
  // A seventh more for points around its part and levels that it has whole; and memory that others have open.
  return 1.15 * bytes_needed(nodes / share_it, complex, true) + 40.0 * (1 << 21);
}

SolvesToShare solves_of(const Load& load, double at_rank_0) {
  // A rank by itself hands nothing over.
  const auto of_machine = [load](int fields, const RanksOfRun& ranks) {
    const double here = ranks.on_node, of_these = fields * here / ranks.all;
    return load.memory(ranks.on_gpus() ? 0 : of_these, here) +
           (ranks.all > 1 ? load.handed_over(of_these) : 0);
  };
  return {
      .count = load.solves,
      .ranks_per_field = load.ranks_per_field,
      .unknowns = load.nodes,
      .worth_sharing = worth_sharing,
      .at_rank_0 = at_rank_0,
      .of_machine = of_machine,
      .of_gpu = [load](int fields, const RanksOfRun& ranks) { return load.part_of_gpu(fields, ranks.all); }};
}

DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Rock& rock,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of_rank(runtime.device, comm);
  if (comm.size() > 1)
    call(comm, "electric",
         packed(mesh, rock, electrodes, parameters, device_for_ranks(runtime.device, comm), runtime.threads,
                at_once));
  std::optional<Stream> stream;
  together(comm, [&] { stream.emplace(device, false, runtime.threads); });
  return direct_current(mesh, rock, electrodes, parameters, *stream, &report, runtime.progress, &comm,
                        at_once);
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  serve_in_step(comm, [&] {
    std::optional<Stream> stream;
    std::optional<TensorMesh> mesh;
    Rock rock;
    Electrodes electrodes;
    Parameters parameters;
    int at_once = 0;
    together(comm, [&] {
      const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
                 up = packet.get_vector<double>();
      mesh.emplace(easting, northing, up);
      for (auto* values :
           {&rock.conductivity, &rock.quadrature, &rock.chargeability, &rock.ground, &rock.conductivity_north,
            &rock.conductivity_up, &rock.quadrature_north, &rock.quadrature_up, &rock.slopes})
        *values = packet.get_vector<double>();
      electrodes.place = packet.get_vector<Point>();
      electrodes.arrays = packet.get_vector<Array>();
      parameters = packet.get<Parameters>();
      const auto device = device_of_rank(packet.get<Device>(), comm);
      stream.emplace(device, false, packet.get<int>());
      at_once = packet.get<int>();
    });
    direct_current(*mesh, rock, electrodes, parameters, *stream, nullptr, nullptr, &comm, at_once);
  });
}

}  // namespace terrane::electric
