// Observed data: recognised among a survey's columns, and converted to the frame of the computed fields.
//
// A column with just the name of a channel, such as "g_z", holds the field itself (in results, the computed
// one). Suffixes mark related columns: "g_z_observed", "g_z_uncertainty" (one standard deviation, never
// negative) and "g_z_residual" (observed - computed). All are in the same frame and unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/survey/convention.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

enum class Role { field, observed, uncertainty, residual };

/// The channel that a column belongs to, and its role for this channel.
struct ChannelColumn {
  std::string_view channel;  ///< Terrane's own name: "g_u"
  Role role = Role::field;
};

/// "g_z_observed" → {g_u, observed}; empty if the frame has no such name.
std::optional<ChannelColumn> channel_column(std::string_view name, const Convention& frame);
/// {g_u, observed} → "g_z_observed" in the frame harmonica; empty if the frame has no such channel.
std::string column_name(const ChannelColumn& column, const Convention& frame);

/// The column with the name, sign and unit of frame `to`; an uncertainty has no sign. A column without a unit
/// is taken to be in `unit_system`. Empty if frame `from` has no such name, `to` has no such channel, or the
/// unit is of another quantity.
std::optional<Column> in_other_frame(const Column& column, const Convention& from, const Convention& to,
                                     UnitSystem units, UnitSystem unit_system = UnitSystem::geo);

/// The observed data of one channel, in the frame and units of a result.
struct ObservedColumn {
  std::string field;                      ///< name of the channel in the frame of the result
  Column observed;                        ///< name: field + "_observed"
  std::optional<Column> uncertainty;      ///< name: field + "_uncertainty"
  std::vector<std::string> sources = {};  ///< names of the survey columns of `observed` and `uncertainty`
};

/// The survey's columns, divided into observed data and other columns.
struct ObservedColumns {
  std::vector<ObservedColumn> observed;
  /// Columns unchanged, but "_survey" is appended to names that are those of channels.
  std::vector<Column> others;
  std::vector<std::string> warnings;  ///< columns that look like observations and cannot be used as such
};

/// known: the frames of the physics; frame: the one of these in which results are asked for.
///
/// A column is an observation if its unit fits a channel, and its name is that of the channel, with or
/// without "_observed". Names are looked up in the frame that the survey states; if it states none, in the
/// frame asked for, then in Terrane's own. If both names occur, "_observed" is the observation, and the other
/// column is a field computed earlier.
ObservedColumns observed_columns(const Survey& survey, const Conventions& known, const Convention& frame,
                                 UnitSystem units);

}  // namespace terrane
