// Jobs that are inverted jointly (joint.hpp): the first of their simulations to run computes all models.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// One of the jobs of a joint inversion.
struct Member {
  std::string name;   ///< name of its simulation, or of its job file
  std::string where;  ///< "job.toml:20: simulation"
  Job* job = nullptr;
};

/// The number of bytes that models occupy on one device at the same time.
struct DeviceLoad {
  Device device;
  double bytes = 0;
  int models = 0;
};
/// Adds the memory of a model to the load of its device. "cuda:0" and "cuda" (a GPU that each rank finds) may
/// mean the same GPU, for which there is one entry; the number of ranks that share it is the larger of the
/// two.
void add_load(std::vector<DeviceLoad>& loads, const Device& device, double bytes);

/// Whether the simulations of a job are inverted jointly: it has a table [joint]. Throws InputError if the
/// job has only one simulation.
bool asks_for_joint(const Config& job);

/// Replaces each job's simulation by one that is inverted jointly with the others, in one process. Each uses
/// its own device and threads. The first job gives the joint settings and the checkpoint. coupling: replaces
/// joint.coupling. Throws InputError if a job is no inversion, cells differ, a setting is for single models
/// only, or rocks are missing.
void join(const std::vector<Member>& members, std::optional<double> coupling = std::nullopt);

/// The inversion that a simulation runs, single or joint; null if it is no inversion.
const InversionJob* inversion_of(const Simulation& simulation);

}  // namespace terrane::inversion
