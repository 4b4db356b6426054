#include "fuzz/readers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/array_file_seal.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/units.hpp"
#include "terrane/io/airborne.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/electrodes.hpp"
#include "terrane/io/emg3d.hpp"
#include "terrane/io/ert_protocols.hpp"
#include "terrane/io/ert_tables.hpp"
#include "terrane/io/esri.hpp"
#include "terrane/io/geotiff.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/io/magnetotellurics.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/rsf.hpp"
#include "terrane/io/segy.hpp"
#include "terrane/io/surfer.hpp"
#include "terrane/io/tomofast.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/ubc_octree.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/medium/tomography.hpp"
#include "terrane/physics/elastic/mesh/mesh_files.hpp"
#include "terrane/physics/elastic/specfem/par_file.hpp"
#include "terrane/physics/elastic/specfem/specfem.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::fuzz {

namespace {

io::TextReader text(std::string bytes) { return {"input", std::move(bytes)}; }

constexpr std::size_t little_memory = 256 << 20;

/// A file for libraries that open files themselves. It has a name in a folder: HDF5 refuses a memfd, of which
/// there is no real path.
class NamedFile {
 public:
  explicit NamedFile(std::string_view bytes) {
    const std::filesystem::path shared = "/dev/shm";  // in memory
    const auto folder = ::access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
    path_ = folder / "terrane-fuzz-XXXXXX";
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("no temporary file can be made in " + folder.string());
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    ::close(descriptor);
    if (written != static_cast<ssize_t>(bytes.size())) {
      ::unlink(path_.c_str());
      throw std::runtime_error(path_ + " cannot be written");
    }
  }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;
  ~NamedFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void hdf5(std::string bytes) { (void)io::read_hdf5(NamedFile(bytes).path(), little_memory); }

void emg3d(std::string bytes) {
  (void)io::parse_emg3d("input", bytes, little_memory);
  (void)io::parse_emg3d_survey("input", bytes, little_memory);
}

void netcdf(std::string bytes) { (void)io::read_netcdf(NamedFile(bytes).path(), {}, little_memory); }

/// Everything in it, asked for as a physics asks: by name, type and shape.
void read_all(const std::string& bytes) {
  auto in = CheckpointReader::from_bytes("input", bytes);
  for (const auto* name : {"field", "wave", "stations on prisms"})
    if (in.holds(name)) (void)in.array<double>(name, {in.size(name)});
  in.expect({{"accuracy", "1e-12"}, {"prisms", "0123456789abcdef", true}});
  in.expect_parts(7);
}

void checkpoint(std::string bytes) {
  try {
    read_all(bytes);
  } catch (const Error&) {
  }
  // Past the checksums, as a forger would come.
  read_all(testing_support::sealed(std::move(bytes)));
}

void toml(std::string bytes) {
  const auto job = Config::parse(bytes);
  for (const auto& key : job.keys()) {
    try {
      (void)job.numbers(key, Quantity::length);
    } catch (const Error&) {
      (void)job.table(key).keys();
    }
  }
  job.finish();
}

void units(std::string bytes) {
  const auto tried = [](auto&& call) {
    try {
      (void)call();
    } catch (const Error&) {
    }
  };
  for (const auto quantity :
       {Quantity::length, Quantity::density, Quantity::acceleration, Quantity::conductivity})
    tried([&] { return si_factor(quantity, bytes); });
  tried([&] { return bytes_from_text(bytes); });
  double number = 0;
  std::int64_t whole = 0;
  (void)io::parse_number(bytes, number);
  (void)io::parse_integer(bytes, whole);
  (void)io::shown(bytes);
}

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

void geotiff(std::string bytes) {
  if (io::reads_geotiff()) (void)io::read_geotiff("input", bytes, little_memory);
}

void edi(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_edi(in);
}

void modem_data(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_modem_data(in);
}

void modem_model(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_modem_model(in);
}

void npy(std::string bytes) { (void)io::read_npy("input", bytes); }

void bert(std::string bytes) {
  auto in = text(std::move(bytes));
  io::read_bert(in).electrodes.check();
}

void ubc_dcip(std::string bytes) {
  auto in = text(std::move(bytes));
  io::read_ubc_dcip(in).electrodes.check();
}

void res2dinv(std::string bytes) {
  auto in = text(std::move(bytes));
  io::read_res2dinv(in).electrodes.check();
}

void syscal(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::to_table(io::read_syscal(in));
}

void sting(std::string bytes) {
  auto in = text(std::move(bytes));
  io::read_sting(in).electrodes.check();
}

void protocol(std::string bytes) {
  auto places = text("0 0\n5 0\n10 1\n15 2\n20 0\n");
  (void)io::begins_protocol(bytes);
  auto in = text(std::move(bytes));
  (void)io::to_table(io::read_protocol(in, places));
}

void geosoft(std::string bytes) {
  (void)io::begins_geosoft_xyz(bytes);
  auto in = text(std::move(bytes));
  (void)io::read_geosoft(in);
}

/// The definition, then a line of "==", then the data.
void aseg(std::string bytes) {
  const auto end = std::min(bytes.find("\n==\n"), bytes.size());
  auto definition = text(bytes.substr(0, end));
  auto in = text(bytes.substr(std::min(end + 4, bytes.size())));
  (void)io::read_aseg(in, definition);
}

void segy(std::string bytes) { (void)io::to_dataset(io::read_segy("input", bytes, little_memory)); }

void su(std::string bytes) { (void)io::to_dataset(io::read_su("input", bytes, little_memory)); }

void rsf(std::string bytes) {
  auto held = io::read_rsf(
      "input", bytes, [](const std::string&) { return std::string("12345678"); }, {}, little_memory);
  if (auto* gathers = std::get_if<io::Gathers>(&held)) (void)io::to_dataset(std::move(*gathers));
}

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

void ubc_magnetic(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::to_survey(io::read_ubc_magnetic(in));
}

void ubc_mesh(std::string bytes) {
  io::TextReader in("input", std::move(bytes), little_memory);
  if (io::is_ubc_octree(in)) (void)io::read_ubc_octree(in);
  else (void)io::read_ubc_mesh(in);
}

void ubc_model(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_ubc_model(in, TensorMesh::regular({0, 2, 0, 3, -4, 0}, {2, 3, 4}));
}

void ubc_weights(std::string bytes) {
  auto in = text(std::move(bytes));
  (void)io::read_ubc_weights(in, TensorMesh::regular({0, 2, 0, 3, -4, 0}, {2, 3, 4}));
}

void gmsh(std::string bytes) {
  const auto mesh = elastic::read_gmsh("input", std::move(bytes));
  (void)elastic::mesh_of(mesh, mesh.sides);
}

/// The small files, and a mesh: several files in one, each behind a line "== NAME".
void specfem(std::string bytes) {
  const auto tried = [](auto&& call) {
    try {
      (void)call();
    } catch (const Error&) {
    }
  };
  std::vector<std::string> notes;
  tried([&] { return io::read_specfem_stations("input", bytes); });
  tried([&] { return elastic::read_solution("input", bytes, {}, notes); });
  tried([&] { return elastic::read_par_file("input", bytes); });
  tried([&] { return elastic::Tomography::read("input", bytes).at({1, 2, 3}); });
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t at = bytes.find("== "); at != std::string::npos;) {
    const auto line = std::min(bytes.find('\n', at), bytes.size()), next = bytes.find("\n== ", line);
    files.push_back({bytes.substr(at + 3, line - at - 3),
                     bytes.substr(line, next == std::string::npos ? next : next + 1 - line)});
    at = next == std::string::npos ? next : next + 1;
  }
  const auto mesh = elastic::read_specfem_mesh("input", files);
  (void)elastic::mesh_of(mesh, mesh.sides);
}

constexpr std::array<Reader, 35> all{{{"csv", csv},
                                      {"geotiff", geotiff},
                                      {"aseg", aseg},
                                      {"geosoft", geosoft},
                                      {"res2dinv", res2dinv},
                                      {"syscal", syscal},
                                      {"sting", sting},
                                      {"protocol", protocol},
                                      {"emg3d", emg3d},
                                      {"gmsh", gmsh},
                                      {"specfem", specfem},
                                      {"bert", bert},
                                      {"checkpoint", checkpoint},
                                      {"toml", toml},
                                      {"units", units},
                                      {"hdf5", hdf5, true},
                                      {"netcdf", netcdf, true},
                                      {"edi", edi},
                                      {"esri", esri},
                                      {"modem_data", modem_data},
                                      {"modem_model", modem_model},
                                      {"npy", npy},
                                      {"segy", segy},
                                      {"su", su},
                                      {"rsf", rsf},
                                      {"surfer", surfer},
                                      {"tomofast_data", tomofast_data},
                                      {"tomofast_grid", tomofast_grid},
                                      {"ubc_dcip", ubc_dcip},
                                      {"ubc_gradient", ubc_gradient},
                                      {"ubc_gravity", ubc_gravity},
                                      {"ubc_magnetic", ubc_magnetic},
                                      {"ubc_mesh", ubc_mesh},
                                      {"ubc_model", ubc_model},
                                      {"ubc_weights", ubc_weights}}};

}  // namespace

std::span<const Reader> readers() { return all; }

}  // namespace terrane::fuzz
