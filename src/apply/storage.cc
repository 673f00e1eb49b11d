#include "apply/storage.h"

#include <fmt/format.h>

#include "base/civil_time.h"
#include "base/lifetime.h"
#include "base/plain_error.h"
#include "codec/yaml.h"

namespace bunraku::apply {
namespace {

// "2026-11-21 00:58:11.740126721 +00:00" or "...Z"; 0: not a time.
std::int64_t parse_time(std::string_view text) {
    const auto time = base::parse_iso_time(text, base::kZoneOptional | base::kBlankBeforeZone);
    return time ? time->seconds() * 1'000'000'000 + time->nanosecond : 0;
}

/// As yaml_time: times of the same second differ in nine digits alone.
class YamlTimes {
public:
    std::string_view text(std::int64_t ns) BUNRAKU_LIFETIMEBOUND {
        constexpr std::int64_t kSecond = 1'000'000'000;
        constexpr std::size_t kFraction = std::string_view("2026-01-31 10:20:30.").size();
        if (text_.empty() || ns < second_ || ns >= second_ + kSecond) {
            text_ = yaml_time(ns);
            second_ = ns - (ns % kSecond + kSecond) % kSecond;
        } else {
            fmt::format_to_n(text_.data() + kFraction, 9, "{:09}", ns - second_);
        }
        return text_;
    }

private:
    std::int64_t second_ = 0;
    std::string text_;
};

// A key of the top level in any of Psych's spellings.
std::string decode_scalar(std::string_view text) {
    if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
        auto node = codec::parse_yaml(text, "state.yaml");
        return node ? node->text : std::string(text);
    }
    return std::string(text);
}

// "  :checked: VALUE" -> key and value; nothing where the line is no entry.
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
    return true;
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
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty() || line == "---" || line == "--- {}") continue;
        std::string joined;
        if (line.starts_with("? ")) {
            current = &entry(decode_scalar(line.substr(2)));
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
                    current = &entry(decode_scalar(line.substr(0, line.size() - 4)));
                    continue;
                }
                return false;
            }
            current = &entry(decode_scalar(line.substr(0, line.size() - 1)));
            value = nullptr;
            long_key = false;
            continue;
        }
        if (!current) return false;
        if (line.size() > 2 && line[1] == ' ' && line[2] != ' ' && line[2] != '-') {
            std::string_view key, rest;
            if (!split_entry(line, &key, &rest)) return false;
            if (key == ":checked" || key == ":synced") {
                (key == ":checked" ? current->checked_ns : current->synced_ns) = parse_time(rest);
                value = nullptr;
            } else {
                current->others.emplace_back(std::string(key), std::string(rest));
                value = &current->others.back().second;
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
    index_.reserve(text->size() / 80 + 16);
    if (parse(*text)) {
        context_.message(Level::Debug, "Loaded state in 0.00 seconds");
        return;
    }
    index_.clear();
    entries_.clear();
    context_.message(Level::Err, fmt::format("Checksumfile {} is corrupt (not a mapping of "
                                             "resources); replacing",
                                             file));
    if (!context_.system.files.rename(file, file + ".bad")) {
        throw base::plain_error(fmt::format("Could not rename corrupt {}; remove manually", file));
    }
}

void Storage::store() {
    const std::string& file = context_.options.statefile;
    if (file.empty()) return;
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
    for (const auto& [ref, e] : entries_) size += ref.size() + 112 + e.others.size() * 40;
    out.reserve(size);
    YamlTimes checked, synced;
    bool any = false;
    for (const auto& [ref, e] : entries_) {
        if (e.checked_ns && e.checked_ns < cutoff) continue;
        std::string key = yaml_scalar(ref);
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
            out += lengthy ? "? " + key + "\n: {}\n" : key + ": {}\n";
            continue;
        }
        out += lengthy ? "? " + key + "\n" : key + ":\n";
        if (e.checked_ns) line(":checked", checked.text(e.checked_ns));
        if (e.synced_ns) line(":synced", synced.text(e.synced_ns));
        for (const auto& [name, text] : e.others) line(name, text);
    }
    if (!any) out += " {}\n";
    auto folder = std::string(sys::directory_name(file));
    (void)context_.system.files.make_directories(folder, 0755);
    if (auto r = context_.system.files.replace(file, out, {.mode = 0640}); !r) {
        context_.message(Level::Err,
                         fmt::format("Could not write {}: {}", file, r.error().message));
        return;
    }
    context_.message(Level::Debug, "Stored state in 0.00 seconds");
}

const StateEntry* Storage::find(std::string_view ref) const {
    auto it = index_.find(ref);
    return it == index_.end() ? nullptr : it->second;
}

StateEntry& Storage::entry(const std::string& ref) {
    if (auto it = index_.find(ref); it != index_.end()) return *it->second;
    auto& [key, entry] = entries_.emplace_back(ref, StateEntry{});
    index_.emplace(key, &entry);
    return entry;
}

Value Storage::recorded(const StateEntry& entry, std::string_view property) const {
    const std::string* text = entry.find(property);
    if (!text) return Value::undef();
    if (text->starts_with(":")) return context_.string(std::string_view(*text).substr(1));
    auto node = codec::parse_yaml(*text, "state.yaml");
    if (!node) return context_.string(*text);
    auto convert = [&](auto&& self, const codec::YamlNode& n) -> Value {
        using K = codec::YamlNode::Kind;
        switch (n.kind) {
            case K::Integer: return Value::integer(n.integer);
            case K::Float: return Value::floating(n.number);
            case K::Boolean: return Value::boolean(n.boolean);
            case K::String: return context_.string(n.text);
            case K::Sequence: {
                std::vector<Value> items;
                for (const auto& item : n.items) items.push_back(self(self, item));
                return Value::array(context_.arena.copy(items));
            }
            default: return Value::undef();
        }
    };
    return convert(convert, *node);
}

void Storage::record(StateEntry& entry, std::string_view property, const Value& v, bool symbol) {
    std::string text;
    if (is_absent(v)) {
        text = ":absent";
    } else if (symbol) {
        text = ":" + plain(v);
    } else if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            text += "\n  - " + (item.is_string() ? yaml_scalar(item.as_string()) : plain(item));
        }
        if (text.empty()) text = "[]";
    } else if (v.is_string()) {
        text = yaml_scalar(v.as_string());
    } else if (!v.is_undef()) {
        text = plain(v);
    }
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
