// Finds the key of a job to which an error belongs that was detected only in the model or the stations built
// from that job.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "terrane/job/config.hpp"

namespace terrane {

/// Throws InputError at the key of a body, a kind of rock or the background that gives one of these
/// properties a value that is not above zero.  needs: "waves need", "heat conduction needs"
void expect_above_zero(const Config& job, std::initializer_list<std::string_view> properties,
                       std::string_view needs);

/// The key of [survey] that gives the station coordinate named in `problem` ("up 7 m lies outside the mesh"),
/// with file and line; if [survey] has no such key, the table itself.
std::string place_of_stations(const Config& job, std::string_view problem);

}  // namespace terrane
