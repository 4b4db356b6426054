// Observed data: found among a survey's columns, and converted to the frame of the computed fields.
//
// A channel's name alone means the field itself, which in a result is the computed one. Names of related
// columns end with what they are: "g_z_observed", "g_z_uncertainty" (one standard deviation, never negative)
// and "g_z_residual" (observed - computed). All are in one frame and in one unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/survey/convention.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

enum class Role { field, observed, uncertainty, residual };

/// Which channel a column belongs to, and what it holds of it.
struct ChannelColumn {
  std::string_view channel;  ///< Terrane's own name: "g_u"
  Role role = Role::field;
};

/// "g_z_observed" → {g_u, observed}; empty when the frame has no such name.
std::optional<ChannelColumn> channel_column(std::string_view name, const Convention& frame);
/// {g_u, observed} → "g_z_observed" in the frame harmonica; empty when the frame has no such channel.
std::string column_name(const ChannelColumn& column, const Convention& frame);

/// The column with the name, sign and unit of another frame; an uncertainty has no sign. A column without a
/// unit is in `unit_system`. Empty when frame `from` has no such name, `to` no such channel, or the unit is
/// of another quantity.
std::optional<Column> in_other_frame(const Column& column, const Convention& from, const Convention& to,
                                     UnitSystem units, UnitSystem unit_system = UnitSystem::geo);

/// The observed data of one channel, in the frame and units of a result.
struct ObservedColumn {
  std::string field;                  ///< name of the channel in that frame
  Column observed;                    ///< name: field + "_observed"
  std::optional<Column> uncertainty;  ///< name: field + "_uncertainty"
};

/// The survey's columns, divided into observed data and others.
struct ObservedColumns {
  std::vector<ObservedColumn> observed;
  std::vector<Column> others;         ///< unchanged; those that have names of channels end with "_survey"
  std::vector<std::string> warnings;  ///< columns that look like observations and cannot be used as such
};

/// `known`: the frames of the physics; `frame`: the one asked for, of them.
/// A column is an observation when it has a unit of a channel's quantity, and the name of that channel, alone
/// or with "_observed", in the survey's frame; where that is not stated, in the frame asked for, or in
/// Terrane's own.
/// "_observed" takes precedence over the name alone, which is then a field computed earlier.
ObservedColumns observed_columns(const Survey& survey, const Conventions& known, const Convention& frame,
                                 UnitSystem units);

}  // namespace terrane
