#include "terrane/inversion/services.hpp"

namespace terrane::inversion {

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  switch (packet.get<Service>()) {
    case Service::products:
      return serve_products(std::move(packet), comm);
    case Service::currents:
      return serve_currents(std::move(packet), comm);
    case Service::fields:
      return serve_fields(std::move(packet), comm);
    case Service::crew:
      return serve_crew(comm);
  }
}

}  // namespace terrane::inversion
