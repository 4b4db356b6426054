// The [survey] table of a job, and the stations that it describes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/io/content.hpp"
#include "terrane/job/config.hpp"
#include "terrane/survey/projection.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

struct Stations {
  Survey survey;  ///< columns: those of the file; "observed" (SI), "geoid_height", "ellipsoidal_height" (m)
  std::optional<Projection> projection;  ///< of the whole job
  std::vector<std::string> sites;        ///< names of magnetotelluric sites, of each station; empty: none
  /// Columns of words of the file, and numbers that are names (ID), of each station.
  std::vector<io::TextColumn> words;
  std::vector<std::string> notes, warnings;
};

/// Table [survey] and its kinds, in the order of the reference.
std::span<const Section> survey_sections();

/// Throws InputError, FileError, MemoryError (before anything large is made).
Stations build_survey(const Config& job, const MemoryBudget& memory = {});

}  // namespace terrane
