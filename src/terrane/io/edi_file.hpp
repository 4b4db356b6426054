// What an EDI file says, section by section (SEG MT/EMAP Data Interchange Standard, Wight 1987), before any
// of it is interpreted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "terrane/io/file.hpp"

namespace terrane::io::edi {

/// KEY=value pairs of lines; keys in small letters.
struct Option {
  std::string value;
  std::size_t line = 0;
  bool twice = false;  ///< a later line has another value, which is ignored
};
using Options = std::map<std::string, Option>;

/// A block of numbers, ">ZXYR ROT=ZROT //20".
struct Block {
  Options options;
  std::vector<double> values;  ///< NaN: a word of stars
  std::size_t line = 0,
              counted = 0;  ///< counted: number of values that its first line states; 0: it states none
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
  std::vector<std::string> order;       ///< names of the channels of spectra
  std::map<std::string, Block> blocks;  ///< "freq", "zxyr", "zxy.var"
  std::vector<Block> spectra;
};

/// Throws InputError: no section, no number in a block, a block that stands twice, several sections of data,
/// a section of EMAP.
File read(TextReader& in);

/// The value of a key as a number; nothing where the key is absent or has the value for "none". Throws
/// InputError: it is no number.
std::optional<double> number_in(const TextReader& in, const Options& options, const char* key);
/// "-26:30:15.2", "00:00: 0.00", "26.504 S": degrees.
std::optional<double> angle_in(const TextReader& in, const Options& options, const char* key, double most);
/// The words of a key, without values that mean "none"; empty where there are none.
std::string text_in(const Options& options, const char* key);

}  // namespace terrane::io::edi
