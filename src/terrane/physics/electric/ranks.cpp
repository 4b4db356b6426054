#include "terrane/physics/electric/ranks.hpp"

#include "terrane/simulation/serve.hpp"

namespace terrane::electric {

namespace {

/// What the other ranks must know.
Packet packed(const TensorMesh& mesh, const Rock& rock, const Electrodes& electrodes,
              const Parameters& parameters, Device device, int threads) {
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
  return packet;
}

}  // namespace

DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Rock& rock,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report,
                                          Device& device) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of_rank(runtime.device, comm);
  try {
    if (comm.size() > 1) {
      call(comm, "electric");
      const auto theirs = device_for_ranks(runtime.device, comm);
      packed(mesh, rock, electrodes, parameters, theirs, runtime.threads).broadcast(comm);
    }
    Stream stream(device, false, runtime.threads);
    return direct_current(mesh, rock, electrodes, parameters, stream, &report, runtime.progress, &comm);
  } catch (const Cancelled&) {
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
  try {
    direct_current(TensorMesh(easting, northing, up), rock, electrodes, parameters, stream, nullptr, nullptr,
                   &comm);
  } catch (const Cancelled&) {
    return;
  } catch (const std::exception& error) {
    throw OutOfStep("rank " + std::to_string(comm.rank()), error.what());
  }
}

}  // namespace terrane::electric
