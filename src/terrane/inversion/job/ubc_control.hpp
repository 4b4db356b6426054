// Control files of UBC's inversion programs (GRAV3D, GG3D and MAG3D, version 6) as a job.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace terrane::inversion {

/// The text of a job equivalent to two control files, in this order: that of the sensitivities (gzsen3d.inp,
/// magsen3d.inp: mesh, data, topography, weighting) and that of the inversion (gzinv3d.inp, maginv3d.inp).
/// folder: the job's folder, to which its paths are relative. Throws InputError, FileError.
std::string job_of_ubc_control(const std::vector<std::string>& controls, const std::filesystem::path& folder);

}  // namespace terrane::inversion
