#include "terrane/mesh/prism.hpp"

namespace terrane {

void PrismSet::reserve(std::size_t n) {
  for (auto* face : {&west, &east, &south, &north, &bottom, &top}) face->reserve(n);
}

void PrismSet::push_back(const Prism& p) {
  west.push_back(p.west);
  east.push_back(p.east);
  south.push_back(p.south);
  north.push_back(p.north);
  bottom.push_back(p.bottom);
  top.push_back(p.top);
}

}  // namespace terrane
