// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/storage.h"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/lifetime.h"
#include "core/base/plain_error.h"
#include "core/base/text_view.h"
#include "core/codec/yaml.h"
#include "core/value/from_yaml.h"

namespace bunraku::apply {
namespace {

// Parses "2026-11-21 00:58:11.740126721 +00:00" or "...Z". Returns 0 if the text is not a time.
std::int64_t parse_time(std::string_view text) {
    const auto time = base::parse_iso_time(text, base::kZoneOptional | base::kBlankBeforeZone);
    std::int64_t ns = 0;
    if (!time || __builtin_mul_overflow(time->seconds(), std::int64_t{1'000'000'000}, &ns) ||
        __builtin_add_overflow(ns, std::int64_t{time->nanosecond}, &ns))
        return 0;
    return ns;
}

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kFraction = std::string_view("2026-01-31 10:20:30.").size();
constexpr std::size_t kDigits = 9;

/// Reads times that yaml_time wrote. Times in the same second differ only in nine digits, so the
/// rest is cached.
class TimesRead {
public:
    std::int64_t of(std::string_view text) {
        std::int64_t fraction = 0;
        const bool shaped = text.size() >= kFraction + kDigits && nine(text, fraction);
        BUNRAKU_ASSERT(fraction >= 0 && (!shaped || fraction < kSecond));
        if (shaped && text.substr(0, kFraction) == begin_ &&
            text.substr(kFraction + kDigits) == end_)
            return second_ + fraction;
        const std::int64_t ns = parse_time(text);
        if (shaped && ns != 0) {
            begin_ = text.substr(0, kFraction);
            end_ = text.substr(kFraction + kDigits);
            second_ = ns - fraction;
        }
        return ns;
    }

private:
    static bool nine(std::string_view text, std::int64_t& out) {
        for (std::size_t i = kFraction; i < kFraction + kDigits; ++i) {
            if (text[i] < '0' || text[i] > '9') return false;
            out = out * 10 + (text[i] - '0');
        }
        return true;
    }
    std::string begin_, end_;
    std::int64_t second_ = 0;
};

/// Writes times with the same cache.
class TimesWritten {
public:
    std::string_view text(std::int64_t ns) BUNRAKU_LIFETIMEBOUND {
        if (text_.empty() || ns < second_ || ns >= second_ + kSecond) {
            text_ = yaml_time(ns);
            BUNRAKU_ASSERT(text_.size() >= kFraction + kDigits);
            second_ = ns - (ns % kSecond + kSecond) % kSecond;
        } else {
            std::int64_t rest = ns - second_;
            BUNRAKU_ASSERT(rest >= 0 && rest < kSecond);
            for (std::size_t i = kFraction + kDigits; i-- > kFraction; rest /= 10)
                text_[i] = static_cast<char>('0' + rest % 10);
        }
        return text_;
    }

private:
    std::int64_t second_ = 0;
    std::string text_;
};

// Decodes a key of the top level in any of Psych's spellings.
std::string_view decode_scalar(Context& context, base::TextView text BUNRAKU_LIFETIMEBOUND) {
    if (text.empty() || (text[0] != '"' && text[0] != '\'')) return text;
    auto node = codec::parse_yaml(text, "state.yaml");
    return node ? context.arena.copy(node->text) : std::string_view(text);
}

// Splits "  :checked: VALUE" into key and value. Returns false if the line is not an entry.
bool split_entry(std::string_view line, std::string_view* key, std::string_view* rest) {
    std::size_t colon = line.find(": ", 3);
    if (colon == std::string_view::npos) {
        if (line.size() < 4 || line.back() != ':') return false;
        *key = line.substr(2, line.size() - 3);
        *rest = {};
        return true;
    }
    *key = line.substr(2, colon - 2);
    *rest = line.substr(colon + 2);
    BUNRAKU_ASSERT(!key->empty());
    return true;
}

// Returns the YAML that Psych writes after a key at `indent`. Hashes are indented further, arrays
// are not.
std::string recorded_text(const Value& v, std::size_t indent) {
    if (is_absent(v)) return ":absent";
    if (v.is_undef()) return {};
    if (v.is_string()) return yaml_scalar(v.as_string());
    std::string out;
    if (v.is_array()) {
        for (const Value& item : v.as_array())
            out += fmt::format("\n{:{}}- {}", "", indent,
                               item.is_hash() ? plain(item) : recorded_text(item, indent + 2));
        return out.empty() ? "[]" : out;
    }
    if (!v.is_hash()) return plain(v);
    for (const auto& e : v.as_hash()) {
        const std::string below = recorded_text(e.value, indent + 2);
        out += fmt::format("\n{:{}}{}:{}{}", "", indent + 2, yaml_scalar(plain(e.key)),
                           below.empty() || below.starts_with('\n') ? "" : " ", below);
    }
    return out.empty() ? "{}" : out;
}

}  // namespace

const std::string* StateEntry::find(std::string_view key) const {
    for (const auto& [k, v] : others) {
        if (k.size() == key.size() + 1 && k[0] == ':' && std::string_view(k).substr(1) == key) {
            return &v;
        }
    }
    return nullptr;
}

bool Storage::parse(std::string_view text) {
    StateEntry* current = nullptr;
    std::string* value = nullptr;
    bool long_key = false;
    TimesRead checked, synced;  // the entries of one run have similar times of both kinds
    const auto known = [&](std::string_view written) {
        return &add(decode_scalar(context_, written), written);
    };
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty() || line == "---" || line == "--- {}") continue;
        std::string joined;
        if (line.starts_with("? ")) {
            current = known(line.substr(2));
            value = nullptr;
            long_key = true;
            continue;
        }
        if (line.starts_with(": ") && long_key) {
            joined = "  " + std::string(line.substr(2));
            line = joined;
        }
        if (line[0] != ' ') {
            if (line.back() != ':') {
                if (line.ends_with(": {}")) {
                    current = known(line.substr(0, line.size() - 4));
                    continue;
                }
                return false;
            }
            current = known(line.substr(0, line.size() - 1));
            value = nullptr;
            long_key = false;
            continue;
        }
        if (!current) return false;
        if (line.size() > 2 && line[1] == ' ' && line[2] != ' ' && line[2] != '-') {
            std::string_view key, rest;
            if (!split_entry(line, &key, &rest)) return false;
            if (key == ":checked" || key == ":synced") {
                if (key == ":checked") {
                    current->checked_ns = checked.of(rest);
                } else {
                    current->synced_ns = synced.of(rest);
                }
                value = nullptr;
            } else {
                current->others.emplace_back(std::string(key), std::string(rest));
                value = &current->others.back().second;
                BUNRAKU_ASSERT(current == &entries_.back().state);
            }
            continue;
        }
        if (!value) return false;
        *value += '\n';
        *value += line;
    }
    return true;
}

void Storage::load() {
    const std::string& file = context_.options.statefile;
    if (file.empty()) return;
    const auto found = context_.system.files.look(file, true);
    if (!found) context_.message(Level::Err, found.error().message);
    if (!found || !*found) return;
    if (const auto& status = *found; status->kind != sys::FileKind::File) {
        context_.message(Level::Warning,
                         fmt::format("Checksumfile {} is not a file, ignoring", file));
        return;
    }
    auto text = context_.system.files.read(file);
    if (!text) {
        context_.message(Level::Err, text.error().message);
        return;
    }
    BUNRAKU_ASSERT(entries_.empty() && !indexed_ && next_ == 0);
    text_ = std::move(*text);
    if (parse(text_)) {
        context_.message(Level::Debug, "Loaded state in 0.00 seconds");
        return;
    }
    forget();
    context_.message(Level::Err, fmt::format("Checksumfile {} is corrupt (not a mapping of "
                                             "resources); replacing",
                                             file));
    if (!context_.system.files.rename(file, file + ".bad")) {
        throw base::plain_error(fmt::format("Could not rename corrupt {}; remove manually", file));
    }
}

base::Result<void> Storage::store() {
    const std::string& file = context_.options.statefile;
    if (file.empty()) return {};
    context_.message(Level::Debug, "Storing state");
    if (!context_.system.files.exists(file)) {
        context_.message(Level::Info, fmt::format("Creating state file {}", file));
    }
    std::int64_t cutoff = 0;
    if (context_.options.statettl > 0) {
        cutoff = context_.system.clock.now_ns() - context_.options.statettl * 1'000'000'000;
        context_.message(Level::Debug, "Pruned old state cache entries in 0.00 seconds");
    } else {
        context_.message(Level::Debug, "Not pruning old state cache entries");
    }
    std::string out = "---";
    std::size_t size = 16;
    for (const auto& [ref, written, e] : entries_) size += ref.size() + 112 + e.others.size() * 40;
    out.reserve(size);
    TimesWritten checked, synced;
    bool any = false;
    std::string made;
    for (const auto& [ref, written, e] : entries_) {
        if (e.checked_ns && e.checked_ns < cutoff) continue;
        if (written.empty()) made = yaml_scalar(ref);
        const std::string_view key = written.empty() ? std::string_view(made) : written;
        bool lengthy = key.size() > 128;
        bool first = true;
        auto line = [&](std::string_view name, std::string_view text) {
            out += lengthy && first ? ": " : "  ";
            first = false;
            out += name;
            out += ':';
            if (!text.empty() && text[0] != '\n') out += ' ';
            out += text;
            out += '\n';
        };
        if (!any) out += '\n';
        any = true;
        if (!e.checked_ns && !e.synced_ns && e.others.empty()) {
            if (lengthy) out += "? ";
            out += key;
            out += lengthy ? "\n: {}\n" : ": {}\n";
            continue;
        }
        if (lengthy) out += "? ";
        out += key;
        out += lengthy ? "\n" : ":\n";
        if (e.checked_ns) line(":checked", checked.text(e.checked_ns));
        if (e.synced_ns) line(":synced", synced.text(e.synced_ns));
        for (const auto& [name, text] : e.others) line(name, text);
    }
    if (!any) out += " {}\n";
    auto folder = std::string(sys::directory_name(file));
    (void)context_.system.files.make_directories(folder, 0755);
    BUNRAKU_TRY_VOID(context_.system.files.replace(file, out, {.mode = 0640}));
    context_.message(Level::Debug, "Stored state in 0.00 seconds");
    return {};
}

void Storage::forget() {
    entries_.clear();
    index_.clear();
    indexed_ = false;
    next_ = 0;
}

StateEntry& Storage::add(std::string_view ref, std::string_view written) {
    if (indexed_) index_.emplace(ref, entries_.size());
    BUNRAKU_ASSERT(indexed_ || index_.empty());
    BUNRAKU_ASSERT(index_.size() <= entries_.size() + 1);
    return entries_.emplace_back(ref, written, StateEntry{}).state;
}

StateEntry& Storage::entry(std::string_view ref) {
    BUNRAKU_ASSERT(next_ <= entries_.size());
    if (next_ < entries_.size() && entries_[next_].ref == ref) return entries_[next_++].state;
    // The same entry may be requested twice in a row.
    if (next_ > 0 && entries_[next_ - 1].ref == ref) return entries_[next_ - 1].state;
    // A few requests out of order do not justify an index.
    constexpr std::size_t kFew = 16;
    if (!indexed_ && ++out_of_turn_ <= kFew) {
        const auto at = std::ranges::find(entries_ | std::views::reverse, ref, &StoredEntry::ref);
        if (at == entries_.rend()) return add(context_.arena.copy(ref), {});
        next_ = static_cast<std::size_t>(entries_.rend() - at);
        BUNRAKU_ASSERT(next_ > 0 && entries_[next_ - 1].ref == ref);
        return at->state;
    }
    if (!indexed_) {
        indexed_ = true;
        index_.reserve(entries_.size());
        // If a key occurs twice, the last entry counts, as in YAML parsers.
        for (std::size_t i = 0; i < entries_.size(); ++i) index_[entries_[i].ref] = i;
        BUNRAKU_ASSERT(index_.size() <= entries_.size());
    }
    if (const auto at = index_.find(ref); at != index_.end()) {
        BUNRAKU_ASSERT(at->second < entries_.size() && entries_[at->second].ref == ref);
        next_ = at->second + 1;
        return entries_[at->second].state;
    }
    return add(context_.arena.copy(ref), {});
}

Value Storage::recorded(const StateEntry& entry, std::string_view property) const {
    const std::string* text = entry.find(property);
    if (!text) return Value::undef();
    if (text->starts_with(":")) return context_.string(std::string_view(*text).substr(1));
    auto node = codec::parse_yaml(*text, "state.yaml");
    if (!node) return context_.string(*text);
    return value::from_yaml(context_.arena, *node, [&](const codec::YamlNode& n, bool) {
        return context_.string(n.text);
    });
}

void Storage::record(StateEntry& entry, std::string_view property, const Value& v, bool symbol) {
    std::string text = symbol && !is_absent(v) ? ":" + plain(v) : recorded_text(v, 2);
    std::string key = ":" + std::string(property);
    for (auto& [k, old] : entry.others) {
        if (k == key) {
            old = std::move(text);
            return;
        }
    }
    entry.others.emplace_back(std::move(key), std::move(text));
}

}  // namespace bunraku::apply
