// The [survey] table of a job, and the stations that it describes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/io/content.hpp"
#include "terrane/job/config.hpp"
#include "terrane/survey/observed.hpp"
#include "terrane/survey/projection.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

struct Stations {
  /// Stations with the columns of the file, and "observed" (SI), "geoid_height", "ellipsoidal_height" (m).
  Survey survey;
  std::optional<Projection> projection;  ///< map projection of the whole job
  std::vector<std::string> sites;  ///< name of the magnetotelluric site, for each station; empty: no sites
  /// Text columns of the file and numeric columns that identify stations (ID), with a value for each station.
  std::vector<io::TextColumn> words;
  std::vector<std::string> notes, warnings;
};

/// Table [survey] and its kinds, in the order of the reference.
std::span<const Section> survey_sections();

/// The stations of the job. Throws InputError, FileError, or MemoryError before large arrays are allocated.
Stations build_survey(const Config& job, const MemoryBudget& memory = {});

/// Throws InputError at survey.file if the columns with these observed data contain numbers that programs
/// write for missing values, such as -9999.
void expect_values(const Config& job, const Survey& survey, const std::vector<ObservedColumn>& observed);

}  // namespace terrane
