// What the tables of an acoustic job say: their keys, and how they are read.
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

namespace terrane::acoustic {

/// The tables [source], [boundary], [snapshots] and [simulation].
std::span<const Section> sections();
std::span<const Key> source_keys();
std::span<const Key> boundary_keys();
std::span<const Key> simulation_keys();

// All throw InputError at the key that is wrong.

Wavelet read_wavelet(const Config& source);
std::vector<Place> read_shots(const Config& source);
void read_boundary(const Config& boundary, Problem& p);
void read_simulation(const Config& simulation, Problem& p, Settings& s, bool inverts);
/// Not settled; without the table none.
Snapshots read_snapshots(const Config& job, const Settings& s, bool inverts);
/// What an inversion does not take.
void refuse_to_invert(const Config& simulation, const Settings& s);
/// The properties of a medium that an equation reads.
std::vector<std::string_view> properties_read(Equation equation);
/// Of every cell.
std::vector<double> velocity_of(EarthModel& model, const Config& job);
/// What the medium has beside its velocity.
void read_medium(EarthModel& model, const Config& job, Problem& p);
/// How many steps there are from one written sample to the next; the step becomes a whole part of
/// simulation.sample.
std::size_t read_sample(const Config& simulation, Problem& p);
/// Of a Gaussian, m: neither below zero, nor so wide that hardly the mesh has a say in the mean.
std::optional<double> read_smoothing(const Config& simulation, const Grid& grid);
/// Turns an error of the problem into one at the key that it is about.
[[noreturn]] void at_key(const InputError& error, const Config& job);

}  // namespace terrane::acoustic
