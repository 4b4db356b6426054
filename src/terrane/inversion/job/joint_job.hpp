// Jobs whose models are found together (joint.hpp): the first of their simulations that runs computes all of
// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// One of the jobs, as inversions() makes them.
struct Member {
  std::string name;   ///< name of its simulation, or of its job file
  std::string where;  ///< "job.toml:20: simulation"
  Job* job = nullptr;
};

/// The bytes that models hold on one device at the same time.
struct DeviceLoad {
  Device device;
  double bytes = 0;
  int models = 0;
};
/// Adds a model that holds bytes on a device. One GPU is one load, whether it was named ("cuda:0") or found
/// by each rank ("cuda"); of the numbers of processes that share it, the larger one counts.
void add_load(std::vector<DeviceLoad>& loads, const Device& device, double bytes);

/// Whether the simulations of a job are inverted jointly: it has a table [joint]. Throws InputError where it
/// has but one simulation.
bool asks_for_joint(const Config& job);

/// Gives each job, in place of its simulation, one that is found together with the others. Each keeps to its
/// own device and threads; there is one checkpoint, that of the first job. Settings are those of the first
/// job. coupling: in place of joint.coupling. Throws InputError: a job is no inversion, their cells differ,
/// what is of one model alone, rocks that are missing. They run in one process.
void join(const std::vector<Member>& members, std::optional<double> coupling = std::nullopt);

/// The inversion behind a simulation, single or joint; null: it is none.
const InversionJob* inversion_of(const Simulation& simulation);

}  // namespace terrane::inversion
