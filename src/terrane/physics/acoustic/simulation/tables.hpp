// The tables of an acoustic job file: their keys, and functions that read them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/job/config.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/physics/acoustic/problem.hpp"
#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/trace_accuracy.hpp"

namespace terrane::acoustic {

/// The tables [source], [boundary], [snapshots] and [simulation].
std::span<const Section> sections();
std::span<const Key> source_keys();
std::span<const Key> boundary_keys();
std::span<const Key> simulation_keys();

// All functions below throw InputError that names the wrong key.

/// unit: set to the unit of a wavelet in a file; empty if the file names none
Wavelet read_wavelet(const Config& source, std::string* unit = nullptr);
/// Throws InputError unless the unit of a wavelet's file is Pa m, or Pa if the mesh has two dimensions.
void expect_wavelet_unit(const Config& source, const std::string& unit, const TensorMesh& mesh);
std::vector<Place> read_shots(const Config& source);
void read_boundary(const Config& boundary, Problem& p);
void read_simulation(const Config& simulation, Problem& p, Settings& s, bool inverts);
/// The accuracy settings of modelling. Throws InputError if a job of another kind has any.
AccuracyOfTraces read_accuracy(const Config& simulation, const Settings& s, bool inverts);
/// The snapshots of a job, before Snapshots::settle(); none if the job has no table [snapshots].
Snapshots read_snapshots(const Config& job, const Settings& s, bool inverts);
/// Throws InputError if the job has settings that an inversion does not allow.
void refuse_to_invert(const Config& simulation, const Settings& s);
/// The properties of a medium that an equation reads.
std::vector<std::string_view> properties_read(Equation equation);
/// The velocity of every cell, m/s.
std::vector<double> velocity_of(EarthModel& model, const Config& job);
/// Reads the properties of the medium other than its velocity.
void read_medium(EarthModel& model, const Config& job, Problem& p);
/// Returns the number of time steps between two written samples, and makes simulation.sample a whole number
/// of time steps.
std::size_t read_sample(const Config& simulation, Problem& p);
/// The standard deviation of the smoothing Gaussian, m. Throws InputError if it is negative or wider than the
/// mesh.
std::optional<double> read_smoothing(const Config& simulation, const Grid& grid);
/// Throws an error of the problem again, naming the key of the job file that caused it.
[[noreturn]] void at_key(const InputError& error, const Config& job);

}  // namespace terrane::acoustic
