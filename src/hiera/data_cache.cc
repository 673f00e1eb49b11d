// Data files: read, parsed and kept until they change.
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include "codec/yaml.h"
#include "hiera/lookup.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::hiera {
namespace {

Value to_value(base::Arena& arena, const codec::YamlNode& n, bool key = false) {
    using Kind = codec::YamlNode::Kind;
    switch (n.kind) {
        case Kind::Null: return Value::undef();
        case Kind::Boolean: return Value::boolean(n.boolean);
        case Kind::Integer: return Value::integer(n.integer);
        case Kind::Float: return Value::floating(n.number);
        case Kind::String: {
            std::string_view text = n.text;  // symbols as keys become strings
            if (key && text.size() > 1 && text[0] == ':') text.remove_prefix(1);
            return value::make_string(arena, text);
        }
        case Kind::Sequence: {
            std::vector<Value> items;
            items.reserve(n.items.size());
            for (const auto& item : n.items) items.push_back(to_value(arena, item));
            return value::make_array(arena, items);
        }
        case Kind::Mapping: {
            value::HashBuilder hash(arena, n.entries.size());
            for (const auto& [k, v] : n.entries)
                hash.set(to_value(arena, k, true), to_value(arena, v));
            return hash.build();
        }
    }
    return Value::undef();
}

}  // namespace

std::shared_ptr<const DataCache::File> DataCache::load(const std::string& path, Format format,
                                                       bool keep_text) {
    struct stat st{};
    if (::stat(path.c_str(), &st) != 0 || S_ISDIR(st.st_mode)) return nullptr;
    const std::int64_t mtime =
        static_cast<std::int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec;
    {
        std::lock_guard lock(mutex_);
        if (auto it = slots_.find(path); it != slots_.end()) {
            const Slot& slot = it->second;
            if (slot.mtime_ns == mtime && slot.size == static_cast<std::uint64_t>(st.st_size) &&
                slot.inode == st.st_ino) {
                return slot.file;
            }
        }
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) return nullptr;
    std::ostringstream content;
    content << in.rdbuf();
    auto file = std::make_shared<File>();
    const std::string text = std::move(content).str();
    if (format == Format::Yaml) {
        if (auto node = codec::parse_yaml(text, path)) {
            file->data = to_value(file->arena, *node);
        } else {
            file->error = node.error().message;
        }
    } else if (auto data = value::parse_json(file->arena, text)) {
        file->data = *data;
    } else {
        file->error = data.error().message;
    }
    if (keep_text) file->text = text;
    std::lock_guard lock(mutex_);
    slots_[path] = Slot{mtime, static_cast<std::uint64_t>(st.st_size), st.st_ino, file};
    return file;
}

}  // namespace bunraku::hiera
