// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/data_cache.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/codec/hocon.h"
#include "core/codec/ruby_json.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/rich_data.h"
#include "language/hiera/key.h"

namespace bunraku::hiera {
namespace {

using codec::YamlNode;
using Kind = YamlNode::Kind;

Value to_value(base::Arena& arena, const YamlNode& node, bool key = false) {
    auto text_of = [&](const YamlNode& n, bool is_key) {
        std::string_view text = n.text;
        if (n.symbol) {  // A symbol used as a key becomes text.
            if (!is_key && text == ":default") return Value::default_value();
            if (is_key && text.starts_with(':')) text.remove_prefix(1);
        }
        return value::make_string(arena, text);
    };
    return value::from_yaml(arena, node, text_of, key);
}

/// Puppet's RichDataKey accepts texts and numbers only.
bool supported_key(const YamlNode& n) {
    return (n.kind == Kind::String && !n.large) || n.kind == Kind::Integer || n.kind == Kind::Float;
}

bool unsupported(const YamlNode& n) {
    // Puppet allows integers of any size in data; a Value holds 64 bits only.
    if (n.kind == Kind::String) return n.large || (n.symbol && n.text != ":default");
    for (const auto& item : n.items) {
        if (unsupported(item)) return true;
    }
    for (const auto& [k, v] : n.entries) {
        if (!supported_key(k) || unsupported(v)) return true;
    }
    return false;
}

/// Returns the type that Puppet infers and generalises, as far as messages about unsupported values
/// need it.
std::string type_text(const YamlNode& n, bool key = false) {
    auto common = [](const auto& list, auto&& text_of) {
        std::vector<std::string> kinds;
        for (const auto& item : list) {
            std::string t = text_of(item);
            if (std::find(kinds.begin(), kinds.end(), t) == kinds.end())
                kinds.push_back(std::move(t));
        }
        if (kinds.size() == 1) return kinds[0];
        return std::string("Any");
    };
    switch (n.kind) {
        case Kind::Null: return "Undef";
        case Kind::Boolean: return "Boolean";
        case Kind::Integer: return fmt::format("Integer[{0}, {0}]", n.integer);
        case Kind::Float: return "Float";
        case Kind::String:
            if (n.large) return fmt::format("Integer[{0}, {0}]", n.text);
            return n.symbol && !key ? "Runtime[ruby, 'Symbol']" : "String";
        case Kind::Sequence:
            return fmt::format("Array[{}, {}, {}]",
                               common(n.items, [](const YamlNode& i) { return type_text(i); }),
                               n.items.size(), n.items.size());
        case Kind::Mapping:
            return fmt::format(
                "Hash[{}, {}, {}, {}]",
                common(n.entries, [](const auto& e) { return type_text(e.first, true); }),
                common(n.entries, [](const auto& e) { return type_text(e.second); }),
                n.entries.size(), n.entries.size());
    }
    return "Any";
}

bool mentions_interpolation(const Value& v) {
    base::step();
    if (v.is_string()) return v.as_string().find("%{") != std::string_view::npos;
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            if (mentions_interpolation(item)) return true;
        }
    } else if (v.is_hash()) {
        for (const auto& e : v.as_hash()) {
            if (mentions_interpolation(e.key) || mentions_interpolation(e.value)) return true;
        }
    }
    return false;
}

void parse(DataCache::File& file, DataCache::Format format, const environment::Files& files,
           const std::string& path, std::string_view text) {
    switch (format) {
        case DataCache::Format::Yaml: {
            auto node = codec::parse_yaml(text, path, codec::YamlDates::Refuse);
            if (!node) {
                file.error = node.error().message;
                return;
            }
            file.data = to_value(file.arena, *node);
            if (node->kind != Kind::Mapping) return;
            for (const auto& [k, v] : node->entries) {
                if (!unsupported(v)) continue;
                const Value key = to_value(file.arena, k, true);
                std::uint32_t at = 0;
                for (const auto& e : file.data.as_hash()) {
                    if (value::equal(e.key, key))
                        file.unsupported_values.emplace_back(at, type_text(v));
                    ++at;
                }
            }
            return;
        }
        case DataCache::Format::Json:
            if (auto data = value::parse_json(file.arena, text)) {
                file.data = *data;
            } else {
                file.error = codec::json_error(text, "");
                if (!file.error.empty()) return;
                auto again = value::parse_json(file.arena, codec::without_json_comments(text));
                if (again)
                    file.data = *again;
                else
                    file.error = again.error().message;
            }
            return;
        case DataCache::Format::Hocon: {
            codec::HoconContext around;
            around.read = [&](const std::string& name) -> std::optional<std::string> {
                file.further_reads.emplace_back(environment::Read::File, name);
                file.included.emplace_back(name, files.stat(name));
                auto included = files.read(name);
                return included ? std::optional(std::move(*included)) : std::nullopt;
            };
            around.variable = [&](const std::string& name) -> std::optional<std::string> {
                file.further_reads.emplace_back(environment::Read::Variable, name);
                return files.variable(name);
            };
            auto node = codec::parse_hocon(text, around);
            if (!node) {
                file.error = node.error().message;
            } else {
                file.data = to_value(file.arena, *node);
            }
            return;
        }
    }
}

}  // namespace

bool DataCache::File::includes_unchanged(const environment::Files& files) const {
    return std::ranges::all_of(
        included, [&](const auto& each) { return each.second.same(files.stat(each.first)); });
}

int DataCache::File::find(std::string_view key, std::uint64_t hash) const {
    if (slots_.empty()) return -1;
    const std::size_t mask = slots_.size() - 1;
    BUNRAKU_ASSERT((slots_.size() & mask) == 0 && entries_.size() * 2 <= slots_.size());
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        const IndexSlot& slot = slots_[i];
        if (slot.entry == 0) return -1;
        BUNRAKU_ASSERT(slot.entry <= entries_.size());
        if (slot.hash == static_cast<std::uint32_t>(hash >> 32) &&
            entries_[slot.entry - 1].key.as_string() == key)
            return static_cast<int>(slot.entry) - 1;
    }
}

const std::string* DataCache::File::unsupported(int i) const {
    for (const auto& [at, type] : unsupported_values) {
        if (static_cast<int>(at) == i) return &type;
    }
    return nullptr;
}

void DataCache::File::index() {
    if (!data.is_hash() || data.as_hash().empty()) return;
    entries_ = data.as_hash().entries;
    std::size_t size = 4;
    while (size < entries_.size() * 2) size *= 2;
    BUNRAKU_ASSERT((size & (size - 1)) == 0 && entries_.size() < size);
    slots_.assign(size, IndexSlot{});
    flags_.assign(entries_.size(), 0);
    for (std::size_t n = 0; n < entries_.size(); ++n) {
        flags_[n] = mentions_interpolation(entries_[n].value) ? 1 : 0;
        if (!entries_[n].key.is_string()) continue;
        const std::uint64_t hash = hash_text(entries_[n].key.as_string());
        std::size_t i = hash & (size - 1);
        while (slots_[i].entry != 0) i = (i + 1) & (size - 1);
        slots_[i] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(n + 1)};
    }
}

std::shared_ptr<const Config> DataCache::File::config(Layer layer,
                                                      const std::function<Config()>& make) const {
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(static_cast<std::size_t>(layer) < std::size(configs_));
    auto& slot = configs_[static_cast<std::size_t>(layer)];
    if (!slot) slot = std::make_shared<const Config>(make());
    return slot;
}

DataCache::Loaded DataCache::load(const environment::Files& files, const std::string& path,
                                  Format format, bool keep_text) {
    std::string name = path;
    name += format == Format::Yaml   ? (keep_text ? "\1c" : "\1y")
            : format == Format::Json ? "\1j"
                                     : "\1h";
    const auto stamp = files.stat(path);
    if (!stamp.exists) return forget(name, ENOENT);
    const auto now = Clock::now();
    {
        std::shared_lock lock(mutex_);
        if (auto it = slots_.find(name); it != slots_.end() && it->second.stamp.same(stamp) &&
                                         it->second.file->includes_unchanged(files)) {
            it->second.used.store(now.time_since_epoch().count(), std::memory_order_relaxed);
            return {it->second.file, 0};
        }
    }
    auto text = files.read(path);
    if (!text) return forget(name, text.error().code);
    auto file = std::make_shared<File>();
    parse(*file, format, files, path, *text);
    file->index();
    if (keep_text) file->text = std::move(*text);
    std::unique_lock lock(mutex_);
    drop_unused(now);
    Slot& slot = slots_[name];
    slot.stamp = stamp;
    slot.file = file;
    slot.used.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    return {file, 0};
}

DataCache::Loaded DataCache::forget(const std::string& name, int error) {
    {
        std::shared_lock lock(mutex_);
        if (!slots_.contains(name)) return {nullptr, error};
    }
    std::unique_lock lock(mutex_);
    slots_.erase(name);
    return {nullptr, error};
}

void DataCache::drop_unused(Clock::time_point now) {
    if (now - swept_ < keep_) return;
    swept_ = now;
    const auto oldest = (now - keep_).time_since_epoch().count();
    std::erase_if(slots_, [&](const auto& each) { return each.second.used.load() <= oldest; });
}

std::size_t DataCache::size() {
    std::shared_lock lock(mutex_);
    return slots_.size();
}

bool DataCache::find_decrypted(const std::string& cipher, std::string& plain) {
    std::shared_lock lock(mutex_);
    auto it = decrypted_.find(cipher);
    if (it == decrypted_.end()) return false;
    plain = it->second;
    return true;
}

void DataCache::store_decrypted(const std::string& cipher, const std::string& plain) {
    constexpr std::size_t kMost = 20000;
    std::unique_lock lock(mutex_);
    if (decrypted_.size() >= kMost) decrypted_.clear();
    decrypted_[cipher] = plain;
    BUNRAKU_ASSERT(decrypted_.size() <= kMost);
}

}  // namespace bunraku::hiera
