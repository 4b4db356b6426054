#include "terrane/io/geotiff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <optional>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/geotiff_place.hpp"
#include "terrane/io/memory.hpp"

namespace terrane::io {

bool reads_geotiff() noexcept { return true; }

namespace {

constexpr const char* netcdf_by_gdal = "`gdal_translate -of netCDF IN OUT.nc` makes NetCDF of it.";

enum Tag : std::uint32_t {
  pixel_scale = 33550,
  tie_points = 33922,
  transformation = 34264,
  key_directory = 34735,
  key_numbers = 34736,
  key_words = 34737,
  gdal_metadata = 42112,
  gdal_nodata = 42113,
};

/// A file in memory, accessed by libtiff through these functions.
class TiffBytes {
 public:
  explicit TiffBytes(std::string_view bytes) : bytes_(bytes) {}

  static tmsize_t read(thandle_t self, void* to, tmsize_t count) {
    auto& b = *static_cast<TiffBytes*>(self);
    if (count < 0 || b.at_ > b.bytes_.size()) return 0;
    const auto n = std::min(static_cast<std::size_t>(count), b.bytes_.size() - b.at_);
    std::memcpy(to, b.bytes_.data() + b.at_, n);
    b.at_ += n;
    return static_cast<tmsize_t>(n);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t self, toff_t to, int from) {
    auto& b = *static_cast<TiffBytes*>(self);
    b.at_ = static_cast<std::size_t>(to) + (from == SEEK_CUR   ? b.at_
                                            : from == SEEK_END ? b.bytes_.size()
                                                               : 0);
    return b.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t self) { return static_cast<TiffBytes*>(self)->bytes_.size(); }
  /// There is no memory mapping: libtiff then uses read(), which checks the size of the file.
  static int map(thandle_t, void**, toff_t*) { return 0; }
  static void unmap(thandle_t, void*, toff_t) {}

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Keeps the first error message of libtiff.
int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& message = *static_cast<std::string*>(user);
  if (!message.empty()) return 1;
  std::array<char, 300> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  message = text.data();
  return 1;
}
int no_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

/// How the current image is stored.
struct Image {
  std::uint32_t columns = 0, rows = 0;
  std::uint16_t bands = 1, bits = 1, format = SAMPLEFORMAT_UINT, planes = PLANARCONFIG_CONTIG,
                photometric = PHOTOMETRIC_MINISBLACK;
  bool tiled = false;
  std::uint32_t block_columns = 0, block_rows = 0;

  std::size_t nodes() const { return std::size_t{columns} * rows; }
  bool apart() const { return planes == PLANARCONFIG_SEPARATE && bands > 1; }
};

class Tiff {
 public:
  Tiff(const std::string& name, std::string_view bytes, std::size_t memory)
      : name_(name), size_(bytes.size()), bytes_(bytes), budget_(memory) {
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &error_);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), no_warning, nullptr);
    constexpr std::size_t most = std::size_t{1} << 40;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(std::min(budget_.left(), most)));
    tiff_.reset(TIFFClientOpenExt(name.c_str(), "rm", &bytes_, TiffBytes::read, TiffBytes::write,
                                  TiffBytes::seek, TiffBytes::close, TiffBytes::size, TiffBytes::map,
                                  TiffBytes::unmap, options.get()));
    if (!tiff_) fail("cannot be read as a TIFF");
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(name_, error_.empty() ? problem : fmt::format("{}: {}", problem, shown(error_, 200)),
                     "It may be truncated or damaged: fetch or copy it again.");
  }
  [[noreturn]] void refuse(const std::string& problem, const std::string& next = netcdf_by_gdal) const {
    throw InputError(name_, problem, next);
  }

  /// The numbers of a tag that libtiff has no definition of.
  template <class T>
  std::vector<T> numbers(Tag tag, TIFFDataType type) const {
    const void* data = nullptr;
    const auto count = any(tag, type, data);
    const auto* from = static_cast<const T*>(data);
    return {from, from + count};
  }
  std::string words(Tag tag) const {
    const void* data = nullptr;
    const auto count = any(tag, TIFF_ASCII, data);
    std::string text(static_cast<const char*>(data), count);
    return text.substr(0, text.find('\0'));
  }

  template <class T>
  T value(std::uint32_t tag, T otherwise) const {
    T found = otherwise;
    return TIFFGetFieldDefaulted(tiff_.get(), tag, &found) == 1 ? found : otherwise;
  }
  /// Index, from 0, of the sample with the transparency; empty if there is none.
  std::optional<std::uint16_t> alpha() const {
    std::uint16_t count = 0;
    const std::uint16_t* kinds = nullptr;
    if (TIFFGetField(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) != 1 || kinds == nullptr) return {};
    const auto bands = value<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
    for (std::uint16_t n = 0; n < count && count <= bands; ++n)
      if (kinds[n] == EXTRASAMPLE_UNASSALPHA || kinds[n] == EXTRASAMPLE_ASSOCALPHA)
        return static_cast<std::uint16_t>(bands - count + n);
    return {};
  }

  Image layout() const;
  /// Values of all bands, [band][row][column] in the order of the file; NaN in blocks that the file does not
  /// contain.
  std::vector<std::vector<double>> values(const Image& of);

  bool next_image() { return TIFFReadDirectory(tiff_.get()) == 1; }
  TIFF* get() const { return tiff_.get(); }

 private:
  std::size_t any(Tag tag, TIFFDataType type, const void*& data) const {
    const auto* field = TIFFFindField(tiff_.get(), tag, type);
    std::uint32_t count = 0;
    if (field == nullptr || TIFFFieldDataType(field) != type || TIFFFieldPassCount(field) == 0) return 0;
    if (TIFFGetField(tiff_.get(), tag, &count, &data) != 1 || data == nullptr) return 0;
    return count;
  }
  void put_block(const Image& of, const std::vector<unsigned char>& block, std::size_t got,
                 std::array<std::size_t, 3> at, std::vector<std::vector<double>>& out) const;

  const std::string& name_;
  std::size_t size_;
  TiffBytes bytes_;
  ReadBudget budget_;
  std::string error_;
  std::unique_ptr<TIFF, CloseTiff> tiff_;
};

std::string compression_name(std::uint16_t scheme) {
  switch (scheme) {
    case COMPRESSION_WEBP:
      return "WebP";
    case COMPRESSION_LERC:
      return "LERC";
    case COMPRESSION_ZSTD:
      return "ZSTD";
    default:
      return fmt::format("scheme {}", scheme);
  }
}

Image Tiff::layout() const {
  Image l;
  l.columns = value<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  l.rows = value<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  l.bands = value<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  l.bits = value<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  l.format = value<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  l.planes = value<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  l.photometric = value<std::uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  l.tiled = TIFFIsTiled(get()) != 0;
  if (l.tiled) {
    l.block_columns = value<std::uint32_t>(TIFFTAG_TILEWIDTH, 0);
    l.block_rows = value<std::uint32_t>(TIFFTAG_TILELENGTH, 0);
  } else {
    l.block_columns = l.columns;
    l.block_rows = std::min(value<std::uint32_t>(TIFFTAG_ROWSPERSTRIP, l.rows), l.rows);
  }
  if (l.columns == 0 || l.rows == 0 || l.bands == 0 || l.block_columns == 0 || l.block_rows == 0)
    fail("says nothing of its size");
  if (const auto turned = value<std::uint16_t>(TIFFTAG_ORIENTATION, 1); turned != ORIENTATION_TOPLEFT)
    refuse(fmt::format("its rows begin in another corner (orientation {})", turned));
  const auto scheme = value<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(scheme) == 0)
    refuse(fmt::format("is compressed by {}, which the libtiff of this machine does not read",
                       compression_name(scheme)),
           "`gdal_translate -co COMPRESS=DEFLATE IN OUT.tif` writes it anew.");
  return l;
}

/// The sample with this index in a block, converted from its stored type.
double sample_at(const Image& of, const unsigned char* block, std::size_t index) {
  const auto as = [&](auto kind) {
    std::memcpy(&kind, block + index * sizeof kind, sizeof kind);
    return static_cast<double>(kind);
  };
  if (of.bits == 1) return (block[index / 8] >> (7 - index % 8)) & 1;
  if (of.format == SAMPLEFORMAT_IEEEFP) return of.bits == 32 ? as(float{}) : as(double{});
  const bool sign = of.format == SAMPLEFORMAT_INT;
  switch (of.bits) {
    case 8:
      return sign ? as(std::int8_t{}) : as(std::uint8_t{});
    case 16:
      return sign ? as(std::int16_t{}) : as(std::uint16_t{});
    case 32:
      return sign ? as(std::int32_t{}) : as(std::uint32_t{});
    default:
      return sign ? as(std::int64_t{}) : as(std::uint64_t{});
  }
}

/// Copies a block of the image into the bands. at: first row and column of the block, and its band if bands
/// are stored separately.
void Tiff::put_block(const Image& of, const std::vector<unsigned char>& block, std::size_t got,
                     std::array<std::size_t, 3> at, std::vector<std::vector<double>>& out) const {
  const std::size_t together = of.apart() ? 1 : of.bands;
  const std::size_t row_samples = of.block_columns * together;
  const std::size_t row_bytes = (row_samples * of.bits + 7) / 8;
  const auto rows = std::min<std::size_t>(of.block_rows, of.rows - at[0]);
  const auto columns = std::min<std::size_t>(of.block_columns, of.columns - at[1]);
  if (got < rows * row_bytes) fail("ends inside its rows");
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t b = 0; b < together; ++b)
        out[at[2] + b][(at[0] + j) * of.columns + at[1] + i] =
            sample_at(of, block.data() + j * row_bytes, i * together + b);
}

std::vector<std::vector<double>> Tiff::values(const Image& of) {
  const std::size_t planes = of.apart() ? of.bands : 1;
  const auto block_bytes =
      static_cast<std::size_t>(of.tiled ? TIFFTileSize64(get()) : TIFFVStripSize64(get(), of.block_rows));
  // No compression reduces the size by more than a factor of about a thousand.
  constexpr std::size_t most_packing = 1100;
  if (of.nodes() / most_packing > size_ + 1024)
    refuse(fmt::format("says that it holds {} x {} nodes, and has {} bytes", of.columns, of.rows, size_),
           "It may be truncated, or nothing was written into it.");
  budget_.take(name_, of.nodes(), of.bands * sizeof(double));
  budget_.take(name_, block_bytes, 1);
  std::vector<std::vector<double>> out(of.bands);
  for (auto& band : out) band.assign(of.nodes(), nan);
  std::vector<unsigned char> block(block_bytes);
  const std::size_t across = (of.columns - 1) / of.block_columns + 1,
                    down = (of.rows - 1) / of.block_rows + 1;
  for (std::size_t n = 0; n < planes * down * across; ++n) {
    const auto number = static_cast<std::uint32_t>(n);
    if (TIFFGetStrileByteCount(get(), number) == 0) continue;
    const auto want = static_cast<tmsize_t>(block_bytes);
    const auto got = of.tiled ? TIFFReadEncodedTile(get(), number, block.data(), want)
                              : TIFFReadEncodedStrip(get(), number, block.data(), want);
    if (got < 0) fail("cannot be unpacked");
    const std::size_t within = n % (down * across);
    put_block(of, block, static_cast<std::size_t>(got),
              {within / across * of.block_rows, within % across * of.block_columns, n / (down * across)},
              out);
  }
  return out;
}

void expect_numbers(const Tiff& tiff, const Image& of) {
  constexpr std::array colours{PHOTOMETRIC_RGB,   PHOTOMETRIC_PALETTE, PHOTOMETRIC_SEPARATED,
                               PHOTOMETRIC_YCBCR, PHOTOMETRIC_CIELAB,  PHOTOMETRIC_ICCLAB};
  if (std::find(colours.begin(), colours.end(), of.photometric) != colours.end())
    tiff.refuse("is a picture: it holds colours, not heights", "Give the elevations themselves.");
  const bool whole = of.format == SAMPLEFORMAT_UINT || of.format == SAMPLEFORMAT_INT;
  const bool known = whole ? of.bits == 8 || of.bits == 16 || of.bits == 32 || of.bits == 64
                           : of.format == SAMPLEFORMAT_IEEEFP && (of.bits == 32 || of.bits == 64);
  if (!known)
    tiff.refuse(fmt::format("its numbers have {} bits of a kind ({}) that is not read", of.bits, of.format),
                "`gdal_translate -ot Float32 IN OUT.tif` makes ordinary numbers of them.");
}

/// The text of the <Item> in GDAL_METADATA for a band (counted from 0) and a role such as "scale".
std::string band_item(const std::string& xml, std::size_t band, std::string_view role) {
  const auto attribute = [](std::string_view head, std::string_view key) -> std::string_view {
    const auto at = head.find(fmt::format(" {}=\"", key));
    if (at == head.npos) return {};
    const auto begin = at + key.size() + 3;
    return head.substr(begin, std::min(head.find('"', begin), head.size()) - begin);
  };
  for (auto at = xml.find("<Item"); at != std::string::npos; at = xml.find("<Item", at + 1)) {
    const auto open = xml.find('>', at), close = xml.find("</Item>", at);
    if (open == std::string::npos || close == std::string::npos || close < open) break;
    const auto head = std::string_view(xml).substr(at, open - at);
    if (attribute(head, "role") == role && attribute(head, "sample") == std::to_string(band))
      return xml.substr(open + 1, close - open - 1);
  }
  return {};
}

/// Reads scale, offset and unit of a band from GDAL's metadata.
void take_metadata(const Tiff& tiff, const std::string& xml, std::size_t band, GeotiffHeights& heights) {
  const auto number = [&](std::string_view role, double otherwise) {
    const auto text = band_item(xml, band, role);
    double value = otherwise;
    if (!text.empty() && !parse_number(text, value))
      tiff.refuse(fmt::format("the {} of band {} is \"{}\"", role, band + 1, shown(text)));
    return value;
  };
  heights.scale *= number("scale", 1);
  heights.offset += number("offset", 0);
  auto unit = band_item(xml, band, "unittype");
  if (unit.empty()) return;
  const auto word = lower(unit);
  heights.metres = 1;
  if (word == "us survey foot" || word == "us_survey_foot" || word == "ftus" || word == "us-ft")
    unit = "m", heights.metres = 1200.0 / 3937.0;
  else if (word == "foot" || word == "feet" || word == "ft") unit = "ft";
  else if (word == "metre" || word == "meter" || word == "metres" || word == "meters" || word == "m")
    unit = "m";
  heights.unit = unit;
}

struct Gaps {
  std::optional<double> said;
  std::string text;
};

Gaps gaps_of(const Tiff& tiff) {
  Gaps gaps;
  gaps.text = tiff.words(gdal_nodata);
  while (!gaps.text.empty() && (gaps.text.back() == ' ' || gaps.text.back() == '\n')) gaps.text.pop_back();
  double value = 0;
  if (gaps.text.empty()) return gaps;
  const auto begin = std::min(gaps.text.find_first_not_of(' '), gaps.text.size());
  if (!parse_number(std::string_view(gaps.text).substr(begin), value))
    tiff.refuse(fmt::format("its value for gaps is \"{}\"", shown(gaps.text)));
  gaps.said = value;
  return gaps;
}

/// Replaces values that mark gaps by NaN, before scaling.
void open_gaps(std::vector<double>& values, const Gaps& gaps, std::vector<std::string>& notes) {
  if (gaps.said) {
    make_gaps(values, *gaps.said);
  } else {
    for (const double usual : {-32768.0, -9999.0, -3.4028234663852886e38})
      if (const auto n = make_gaps(values, usual); n > 0)
        notes.push_back(fmt::format("{} values of {:g} are gaps, though no tag says so", n, usual));
  }
  std::size_t endless = 0;
  for (double& v : values)
    if (std::isinf(v)) v = nan, ++endless;
  if (endless > 0) notes.push_back(fmt::format("{} values are infinite: they are gaps", endless));
}

/// Reorders values so that rows run from south to north and columns from west to east.
void turn_rows(std::vector<double>& values, std::size_t columns, std::size_t rows,
               const GeotiffPlace& place) {
  const auto row = [&](std::size_t j) { return values.begin() + static_cast<std::ptrdiff_t>(j * columns); };
  if (!place.rows_go_north)
    for (std::size_t j = 0; j < rows / 2; ++j) std::swap_ranges(row(j), row(j + 1), row(rows - 1 - j));
  if (place.columns_go_west)
    for (std::size_t j = 0; j < rows; ++j) std::reverse(row(j), row(j + 1));
}

GeotiffTags tags_of(const Tiff& tiff) {
  return {tiff.numbers<double>(pixel_scale, TIFF_DOUBLE),
          tiff.numbers<double>(tie_points, TIFF_DOUBLE),
          tiff.numbers<double>(transformation, TIFF_DOUBLE),
          tiff.numbers<std::uint16_t>(key_directory, TIFF_SHORT),
          tiff.numbers<double>(key_numbers, TIFF_DOUBLE),
          tiff.words(key_words)};
}

/// Reads further images: nodes outside a mask become gaps; other images are counted in a note.
void take_further_images(Tiff& tiff, const Image& first, std::vector<std::vector<double>>& bands,
                         std::vector<std::string>& notes) {
  std::size_t others = 0;
  constexpr std::size_t most = 1000;
  for (std::size_t n = 0; n < most && tiff.next_image(); ++n) {
    const auto kind = tiff.value<std::uint32_t>(TIFFTAG_SUBFILETYPE, 0);
    if ((kind & FILETYPE_REDUCEDIMAGE) != 0) continue;
    if ((kind & FILETYPE_MASK) == 0) {
      ++others;
      continue;
    }
    const auto mask = tiff.layout();
    if (mask.columns != first.columns || mask.rows != first.rows || mask.bands != 1 ||
        (mask.bits != 1 && mask.bits != 8) || mask.format != SAMPLEFORMAT_UINT)
      tiff.refuse("its mask of valid nodes has another shape");
    const auto valid = tiff.values(mask).front();
    for (auto& band : bands)
      for (std::size_t i = 0; i < band.size(); ++i)
        if (!(valid[i] > 0)) band[i] = nan;
  }
  if (others > 0) notes.push_back(fmt::format("the first of {} images is read", others + 1));
}

}  // namespace

GridData read_geotiff(const std::string& name, std::string_view bytes, std::size_t memory) {
  Tiff tiff(name, bytes, memory);
  const auto layout = tiff.layout();
  expect_numbers(tiff, layout);
  GridData grid;
  std::vector<std::string> notes;
  const auto place = place_geotiff(name, tags_of(tiff), layout.columns, layout.rows, grid, notes);
  const auto gaps = gaps_of(tiff);
  const auto xml = tiff.words(gdal_metadata);
  const auto alpha = tiff.alpha();
  auto bands = tiff.values(layout);
  take_further_images(tiff, layout, bands, notes);
  const std::size_t count = bands.size() - (alpha ? 1 : 0);
  for (std::size_t b = 0; b < bands.size(); ++b) {
    if (alpha && b == *alpha) continue;
    auto& values = bands[b];
    open_gaps(values, gaps, notes);
    if (alpha)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (bands[*alpha][i] == 0) values[i] = nan;
    auto heights = place.heights;
    take_metadata(tiff, xml, b, heights);
    for (double& v : values) v = (heights.offset + heights.scale * v) * heights.metres;
    turn_rows(values, layout.columns, layout.rows, place);
    if (heights.unit.empty() && !place.map_in_metres)
      notes.emplace_back(
          "its map is not in metres, and its heights, which have no unit, are taken for metres");
    auto title = band_item(xml, b, "description");
    if (count == 1 || title.empty()) title = count == 1 ? stem(name, "z") : fmt::format("band_{}", b + 1);
    grid.fields.push_back({std::move(title), heights.unit, "", std::move(values)});
  }
  if (grid.fields.empty()) tiff.refuse("has no band beside its transparency");
  if (!notes.empty()) grid.attributes["note"] = fmt::format("{}", fmt::join(notes, "; "));
  return grid;
}

}  // namespace terrane::io
