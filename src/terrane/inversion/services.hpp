// What rank 0 asks of the other ranks of an inversion: call(comm, "inversion"), then a packet that begins
// with one of these.
#pragma once

#include <memory>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/solve/parted.hpp"

namespace terrane::inversion {

enum class Service { products, currents, unit_currents, fields, crew };

/// The other ranks.
void serve(Comm& comm);

/// Each of them, with the rest of the packet.
/// product: of which of them the first operator is
void serve_products(Service product, Packet packet, Comm& comm);  // operators.cpp
void serve_unit_currents(Packet packet, Comm& comm);              // direct_current.cpp
void serve_fields(Packet packet, Comm& comm);                     // field_models.cpp
/// This rank's share of an operator; nothing when a rank fails, which rank 0 throws.
std::shared_ptr<const solve::PartedOperator> share_of_currents(Packet packet, Comm& comm);
/// All of them in any order, for models that are found together, until rank 0's crew is gone.
void serve_crew(Comm& comm);  // operators.cpp

/// Rank 0: the others are to serve next, and then read a packet that begins with one of these.  crew: null,
/// or that which may be there already
void call_for_service(Comm& comm, const std::shared_ptr<solve::Crew>& crew);  // operators.cpp
/// Rank 0: a crew of the ranks that stays until it is gone.
std::shared_ptr<solve::Crew> call_crew(Comm& comm);  // operators.cpp

}  // namespace terrane::inversion
