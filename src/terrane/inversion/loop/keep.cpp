#include "terrane/inversion/loop/keep.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane::inversion {

namespace {

constexpr std::string_view names_of_lists = "names of lists", names_of_texts = "names of texts";

/// Texts one after the other, each ended by 0.
std::vector<unsigned char> joined_bytes(const std::vector<std::string>& texts) {
  std::vector<unsigned char> bytes;
  for (const auto& text : texts) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back(0);
  }
  return bytes;
}

std::vector<std::string> texts_of(const std::vector<unsigned char>& bytes) {
  std::vector<std::string> texts;
  std::string text;
  for (const auto byte : bytes) {
    if (byte != 0) {
      text.push_back(static_cast<char>(byte));
      continue;
    }
    texts.push_back(std::move(text));
    text.clear();
  }
  return texts;
}

}  // namespace

void refuse_checkpoint() {
  throw InputError("--resume", "the checkpoint does not hold what this inversion keeps",
                   "Run without --resume to start afresh.");
}

Keeper::Keeper(CheckpointSettings settings, Fingerprint of)
    : settings_(std::move(settings)),
      of_(std::move(of)),
      keeps_(!settings_.file.empty() &&
             (settings_.resume || settings_.interval < CheckpointSettings::never)) {}

std::optional<State> Keeper::begin() {
  begin_ = last_ = Clock::now();
  if (!keeps_ || !settings_.resume) return std::nullopt;
  auto in = CheckpointReader::open(settings_.file);
  if (!in) {
    warnings.push_back(no_checkpoint(settings_.file));
    return std::nullopt;
  }
  in->expect(of_);
  State state;
  state.steps = in->parts();
  const auto texts = [&](std::string_view name) {
    return texts_of(in->array<unsigned char>(name, {in->size(name)}));
  };
  for (const auto& name : texts(names_of_lists))
    state.lists[name] = in->array<double>(name, {in->size(name)});
  for (const auto& name : texts(names_of_texts)) state.texts[name] = texts(name);
  notes.push_back(fmt::format("resumed from {}, after {} steps", settings_.file.string(), state.steps));
  return state;
}

Keeper::~Keeper() { work_to_keep = false; }

bool Keeper::due() const {
  work_to_keep = keeps_ && settings_.interval < CheckpointSettings::never;
  return keeps_ && seconds_since(last_) >= settings_.interval;
}

void Keeper::keep_last(const State& state) {
  if (settings_.interval == CheckpointSettings::never) return;
  if (settings_.resume || settings_.least_run == 0 || seconds_since(begin_) >= worth_keeping(settings_))
    write(state);
}

void Keeper::write(const State& state) {
  if (!keeps_) return;
  try {
    CheckpointWriter out(settings_.file, of_, state.steps);
    std::vector<std::string> lists, texts;
    for (const auto& [name, values] : state.lists) {
      lists.push_back(name);
      out.list<double>(name, values);
    }
    for (const auto& [name, values] : state.texts) {
      texts.push_back(name);
      out.list<unsigned char>(name, joined_bytes(values));
    }
    out.list<unsigned char>(names_of_lists, joined_bytes(lists));
    out.list<unsigned char>(names_of_texts, joined_bytes(texts));
    out.finish();
  } catch (const std::exception& error) {  // a full disk must not end a long run
    warnings.push_back(fmt::format("no checkpoint was kept: {}", error.what()));
    keeps_ = false;
  }
  last_ = Clock::now();
}

}  // namespace terrane::inversion
