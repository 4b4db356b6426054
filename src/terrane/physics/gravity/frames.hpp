// Names, axes, signs and units of the ten channels in other programs; data are converted on input and output.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/physics/gravity/channels.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane::gravity {

/// A frame is a choice of axes and names. Inside Terrane everything is enu.
///
///   frame      axes                        vector             tensor
///   enu        east, north, up             g_e g_n g_u        g_ee g_nn g_uu g_en g_eu g_nu
///   harmonica  east, north, z down         g_e g_n g_z        g_ee g_nn g_zz g_en g_ez g_nz
///   simpeg     x east, y north, z up       gx gy gz           gxx gyy gzz gxy gxz gyz
///   ubc        x north, y east, z down     gx gy gz           xx yy zz xy xz yz
///   tomofast   x east, y north, z down     gx gy gz           gxx gyy gzz gxy gxz gyz
///
/// A component changes its sign for every "down" among its axes. Above a dense body gz is positive in
/// harmonica (g_z), ubc and tomofast, negative in simpeg and enu.
enum class Frame { enu, harmonica, simpeg, ubc, tomofast };

inline constexpr std::array<std::string_view, 2> unit_system_names{"si", "geo"};
inline constexpr std::array<std::string_view, 5> frame_names{"enu", "harmonica", "simpeg", "ubc", "tomofast"};

/// All frames, for the code that all physics share; units si: m2/s2, m/s2, 1/s2, geo: J/kg, mGal, E.
const Conventions& conventions();
const Convention& convention(Frame frame);

constexpr std::string_view name(Frame frame) { return frame_names[static_cast<std::size_t>(frame)]; }
/// Throws InputError that lists the frames and the nearest one.
Frame frame_from_name(std::string_view name);
/// The units in which a frame's own program reads and writes: geo for harmonica, simpeg and ubc, si for enu
/// and tomofast.
UnitSystem usual_units(Frame frame);

/// One channel in one frame: value in the frame = sign · value in enu, converted to the unit.
struct FrameChannel {
  Channel channel = Channel::potential;
  std::string_view name;    ///< "g_z", "gxx"
  int sign = 1;             ///< +1 or -1
  std::string_view unit;    ///< "mGal"
  std::string description;  ///< "gravity, downward component"
};
FrameChannel in_frame(Channel channel, Frame frame, UnitSystem units);

/// The channel that a name means in a frame: ("xz", ubc) → {g_nu, -1}. Names of ubc may have a leading g
/// ("gxx"). Throws InputError that lists the frame's names and the nearest one.
FrameChannel channel_from_frame(std::string_view name, Frame frame, UnitSystem units);

/// Converts values [n] from enu and SI to the column that programs of the frame expect.
Column to_frame(Channel channel, std::span<const double> values, Frame frame, UnitSystem units);

/// The inverse of to_frame(), for observed data.  column.name is a name of the frame, column.unit its unit
/// (empty: the unit that `units` implies); values [n] are converted to enu and SI. Throws InputError (unknown
/// name or unit).
struct Observed {
  Channel channel = Channel::potential;
  std::vector<double> values;  ///< enu, SI
};
Observed from_frame(const Column& column, Frame frame, UnitSystem units);

}  // namespace terrane::gravity
