// What rank 0 asks of the other ranks of an inversion: call(comm, "inversion"), then a packet that begins
// with one of these.
#pragma once

#include "terrane/parallel/comm/comm.hpp"

namespace terrane::inversion {

enum class Service { products, currents, fields };

/// The other ranks.
void serve(Comm& comm);

/// Each of them, with the rest of the packet.
void serve_products(Packet packet, Comm& comm);  // operators.cpp
void serve_currents(Packet packet, Comm& comm);  // direct_current.cpp
void serve_fields(Packet packet, Comm& comm);    // field_models.cpp

}  // namespace terrane::inversion
