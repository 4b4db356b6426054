// The content of an EDI file, section by section (SEG MT/EMAP Data Interchange Standard, Wight 1987), without
// interpretation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "terrane/io/file.hpp"

namespace terrane::io::edi {

/// The KEY=value pairs of a section; keys in small letters.
struct Option {
  std::string value;
  std::size_t line = 0;
  bool twice = false;  ///< whether a later line, which is ignored, gives another value for the key
};
using Options = std::map<std::string, Option>;

/// A block of numbers, ">ZXYR ROT=ZROT //20".
struct Block {
  Options options;
  std::vector<double> values;  ///< NaN if the file has stars instead of a number
  std::size_t line = 0,
              counted = 0;  ///< counted: number of values according to the first line; 0: not stated
};

/// A channel, ">HMEAS ID=11.001 CHTYPE=HX X=0 Y=0 AZM=0".
struct Channel {
  std::string id, type;  ///< type: "hx"
  Options options;
};

struct File {
  Options head, measured, section;  ///< options of >HEAD, of >=DEFINEMEAS, and of >=MTSECT or >=SPECTRASECT
  std::string info;                 ///< lines of >INFO, in small letters
  std::vector<Channel> channels;
  std::vector<std::string> order;       ///< names of the channels of spectra, in order
  std::map<std::string, Block> blocks;  ///< blocks by name: "freq", "zxyr", "zxy.var"
  std::vector<Block> spectra;
};

/// Throws InputError: no data section, a word in a block that is no number, a block that occurs twice,
/// several data sections, an EMAP section.
File read(TextReader& in);

/// The value of a key as a number; empty if the key is absent or its value is "none". Throws InputError if it
/// is no number.
std::optional<double> number_in(const TextReader& in, const Options& options, const char* key);
/// The value of a key as a length in metres.  unit: length in metres of the unit of numbers without a unit; a
/// number may have one, as in "410 ft".  Throws InputError: another word behind the number
std::optional<double> length_in(const TextReader& in, const Options& options, const char* key, double unit);
/// The value of a key as an angle in degrees; formats "-26:30:15.2", "00:00: 0.00", "26 30 15 S", "S26.504".
/// most: largest allowed magnitude; 90: a latitude. Throws InputError if it is no angle, or is larger.
std::optional<double> angle_in(const TextReader& in, const Options& options, const char* key, double most);
/// The text of a key; empty if the key is absent or its value is "none".
std::string text_in(const Options& options, const char* key);

}  // namespace terrane::io::edi
