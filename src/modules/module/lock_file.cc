// SPDX-License-Identifier: Apache-2.0
// Reads and writes PUPPETFILE.lock.json.
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"
#include "modules/module/sources.h"

namespace bunraku::module {

std::string request_of(const PuppetfileModule& m) {
    using Kind = PuppetfileModule::Kind;
    switch (m.kind) {
        case Kind::Git: return fmt::format("git {} {}", m.source, m.ref);
        case Kind::Svn: return fmt::format("svn {} {}", m.source, m.ref);
        case Kind::Tarball: return fmt::format("tarball {} {}", m.source, m.checksum);
        case Kind::Forge: return "forge " + m.version;
        case Kind::Local: break;
    }
    return "local";
}

LockFile read_lock_file(const std::string& text) {
    LockFile out;
    base::Arena arena;
    auto json = value::parse_json(arena, text);
    const value::Value* modules =
        json && json->is_hash() ? json->as_hash().find("modules") : nullptr;
    if (!modules || !modules->is_hash()) return out;
    for (const value::Entry& e : modules->as_hash()) {
        if (!e.key.is_string() || !e.value.is_hash()) continue;
        Locked l;
        l.requested = text_at(e.value, "wish");
        l.version = text_at(e.value, "version");
        l.sha256 = text_at(e.value, "sha256");
        l.git = text_at(e.value, "git");
        l.commit = text_at(e.value, "commit");
        // These values become arguments and file names, so invalid ones are rejected.
        if (!l.version.empty() && !base::SemVer::parse(l.version)) continue;
        if (l.commit.starts_with('-') || l.sha256.find('/') != std::string::npos) continue;
        out[std::string(e.key.as_string())] = std::move(l);
    }
    return out;
}

std::string lock_file_text(const LockFile& lock) {
    std::string out = "{\n  \"modules\": {";
    bool first = true;
    for (const auto& [name, l] : lock) {
        out += fmt::format("{}\n    {}: {{\n      \"wish\": {}", first ? "" : ",",
                           codec::json_string(name), codec::json_string(l.requested));
        first = false;
        const auto field = [&](std::string_view key, const std::string& value) {
            if (!value.empty())
                out += fmt::format(",\n      \"{}\": {}", key, codec::json_string(value));
        };
        field("version", l.version);
        field("sha256", l.sha256);
        field("git", l.git);
        field("commit", l.commit);
        out += "\n    }";
    }
    return out + (first ? "}\n}\n" : "\n  }\n}\n");
}

}  // namespace bunraku::module
