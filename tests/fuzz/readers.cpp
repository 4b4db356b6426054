#include "fuzz/readers.hpp"

#include <array>

#include "terrane/base/error.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/esri.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/surfer.hpp"
#include "terrane/io/tomofast.hpp"
#include "terrane/io/ubc.hpp"

namespace terrane::fuzz {

namespace {

io::TextReader text(std::string bytes) { return {"input", std::move(bytes)}; }

void csv(std::string bytes) {
  auto in = text(std::move(bytes));
  const auto table = io::read_csv(in);
  (void)io::to_grid(table);
  if (io::holds_prisms(table)) (void)io::to_prisms(table, "m", "kg/m3");
  (void)io::to_survey(table, "m");
}

void esri(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_esri(in);
}

void npy(std::string bytes) { (void)io::read_npy("input", bytes); }

void surfer(std::string bytes) { (void)io::read_surfer("input", bytes); }

void tomofast_data(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_tomofast_data(in);
}

void tomofast_grid(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_tomofast_grid(in);
}

void ubc_gradient(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_ubc_gradient(in);
}

void ubc_gravity(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::to_survey(io::read_ubc_gravity(in));
}

void ubc_mesh(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_ubc_mesh(in);
}

void ubc_model(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_ubc_model(in, TensorMesh::regular({0, 2, 0, 3, -4, 0}, {2, 3, 4}));
}

constexpr std::array<Reader, 10> all{{{"csv", csv},
                                      {"esri", esri},
                                      {"npy", npy},
                                      {"surfer", surfer},
                                      {"tomofast_data", tomofast_data},
                                      {"tomofast_grid", tomofast_grid},
                                      {"ubc_gradient", ubc_gradient},
                                      {"ubc_gravity", ubc_gravity},
                                      {"ubc_mesh", ubc_mesh},
                                      {"ubc_model", ubc_model}}};

}  // namespace

std::span<const Reader> readers() { return all; }

}  // namespace terrane::fuzz
