#include "terrane/inversion/services.hpp"

namespace terrane::inversion {

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto service = packet.get<Service>();
  switch (service) {
    case Service::products:
    case Service::currents:
      return serve_products(service, std::move(packet), comm);
    case Service::unit_currents:
      return serve_unit_currents(std::move(packet), comm);
    case Service::fields:
      return serve_fields(std::move(packet), comm);
    case Service::crew:
      return serve_crew(comm);
  }
}

}  // namespace terrane::inversion
