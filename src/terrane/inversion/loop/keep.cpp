#include "terrane/inversion/loop/keep.hpp"

#include <fmt/format.h>

#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane::inversion {

namespace {

constexpr std::string_view words_name = "words", names_name = "names";

/// Words one after the other, each ended by 0.
std::vector<unsigned char> joined_bytes(const std::vector<std::string>& words) {
  std::vector<unsigned char> bytes;
  for (const auto& word : words) {
    bytes.insert(bytes.end(), word.begin(), word.end());
    bytes.push_back(0);
  }
  return bytes;
}

std::vector<std::string> words_of(const std::vector<unsigned char>& bytes) {
  std::vector<std::string> words;
  std::string word;
  for (const auto byte : bytes) {
    if (byte != 0) {
      word.push_back(static_cast<char>(byte));
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  return words;
}

}  // namespace

Keeper::Keeper(CheckpointSettings settings, Fingerprint of)
    : settings_(std::move(settings)),
      of_(std::move(of)),
      keeps_(!settings_.file.empty() &&
             (settings_.resume || settings_.interval < CheckpointSettings::never)) {}

std::optional<Standing> Keeper::begin() {
  begin_ = last_ = Clock::now();
  if (!keeps_ || !settings_.resume) return std::nullopt;
  auto in = CheckpointReader::open(settings_.file);
  if (!in) {
    warnings.push_back(
        fmt::format("there is no checkpoint {}: the run starts afresh", settings_.file.string()));
    return std::nullopt;
  }
  in->expect(of_);
  Standing standing;
  standing.steps = in->parts();
  const auto bytes = [&](std::string_view name) {
    return words_of(in->array<unsigned char>(name, {in->size(name)}));
  };
  standing.words = bytes(words_name);
  for (const auto& name : bytes(names_name)) standing.lists[name] = in->array<double>(name, {in->size(name)});
  notes.push_back(fmt::format("resumed from {}, after {} steps", settings_.file.string(), standing.steps));
  return standing;
}

Keeper::~Keeper() { work_to_keep = false; }

bool Keeper::due() const {
  work_to_keep = keeps_ && settings_.interval < CheckpointSettings::never;
  return keeps_ && seconds_since(last_) >= settings_.interval;
}

void Keeper::keep_last(const Standing& standing) {
  if (settings_.interval == CheckpointSettings::never) return;
  if (settings_.resume || settings_.least_run == 0 || seconds_since(begin_) >= worth_keeping(settings_))
    write(standing);
}

void Keeper::write(const Standing& standing) {
  if (!keeps_) return;
  try {
    CheckpointWriter out(settings_.file, of_, standing.steps);
    std::vector<std::string> names;
    for (const auto& [name, values] : standing.lists) {
      names.push_back(name);
      out.list<double>(name, values);
    }
    out.list<unsigned char>(words_name, joined_bytes(standing.words));
    out.list<unsigned char>(names_name, joined_bytes(names));
    out.finish();
  } catch (const std::exception& error) {  // a full disk must not cost the hours it was to save
    warnings.push_back(fmt::format("no checkpoint was kept: {}", error.what()));
    keeps_ = false;
  }
  last_ = Clock::now();
}

}  // namespace terrane::inversion
