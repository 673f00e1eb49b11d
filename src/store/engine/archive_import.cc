// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <fmt/format.h>
#include <map>

#include "core/base/text_view.h"
#include "core/base/uninitialized.h"
#include "core/codec/json_cursor.h"
#include "core/codec/libarchive.h"
#include "store/engine/archive.h"
#include "store/engine/store.h"

namespace bunraku::store {

namespace {

using codec::libarchive;

constexpr std::size_t kMaxMember = 512U << 20;

struct FilePlace {
    std::string_view folder, command;
    bool hash;  ///< "-" and 40 hexadecimal digits follow the certname
};
constexpr FilePlace kPlaces[] = {
    {"catalogs", "replace_catalog", true},
    {"reports", "store_report", true},
    {"facts", "replace_facts", false},
    {"configure_expiration", "configure_expiration", true},
    {"catalog_inputs", "replace_catalog_inputs", true},
    {"deactivate_node", "deactivate_node", true},
};

struct Reader {
    struct archive* raw = libarchive().read_new();
    ~Reader() { libarchive().read_free(raw); }
};

base::Error wrong(std::string_view why) {
    return {fmt::format("The archive cannot be read: {}", why), 0};
}

Result<std::string> member(struct archive* raw) {
    std::string out;
    char buffer[65536] BUNRAKU_UNINITIALIZED;
    for (;;) {
        la_ssize_t n = libarchive().read_data(raw, buffer, sizeof buffer);
        if (n < 0) return std::unexpected(wrong(libarchive().error_string(raw)));
        if (n == 0) return out;
        out.append(buffer, static_cast<std::size_t>(n));
        if (out.size() > kMaxMember) return std::unexpected(wrong("a member is too large"));
    }
}

Result<std::map<std::string, int>> versions_of(const std::string& metadata) {
    std::map<std::string, int> out;
    try {
        std::string bad = codec::check_utf8(metadata);
        if (!bad.empty()) return std::unexpected(wrong(bad));
        codec::JsonCursor json(metadata);
        json.enter_object();
        std::string_view key;
        while (json.next_key(&key)) {
            if (key != "command_versions") {
                json.skip();
                continue;
            }
            json.enter_object();
            while (json.next_key(&key)) {
                std::string name(key);
                out[name] = static_cast<int>(json.integer());
            }
        }
    } catch (const codec::JsonError& e) {
        return std::unexpected(wrong(e.message));
    }
    return out;
}

/// Returns the certname from "certname.json" or "certname-<sha1>.json". Returns an empty string for
/// other names.
std::string_view certname_of(base::TextView file BUNRAKU_LIFETIMEBOUND, bool hash) {
    if (!file.ends_with(".json")) return {};
    file.remove_suffix(5);
    if (!hash) return file;
    if (file.size() < 42 || file[file.size() - 41] != '-') return {};
    return file.substr(0, file.size() - 41);
}

Result<ImportFigures> import(
    struct archive* raw,
    const std::function<Result<void>(const CommandHeader&, std::string body)>& submit) {
    ImportFigures out;
    std::map<std::string, int> versions;
    bool has_metadata = false;
    struct archive_entry* entry = nullptr;
    for (;;) {
        int rc = libarchive().read_next_header(raw, &entry);
        if (rc == ARCHIVE_EOF) break;
        if (rc < ARCHIVE_WARN) return std::unexpected(wrong(libarchive().error_string(raw)));
        const char* name = libarchive().entry_pathname_utf8(entry);
        if (!name) name = libarchive().entry_pathname(entry);
        std::string_view path = name ? name : "";
        while (path.starts_with("./")) path.remove_prefix(2);
        if (!path.starts_with("puppetdb-bak/")) continue;
        path.remove_prefix(13);
        if (path == "export-metadata.json") {
            const auto metadata = BUNRAKU_TRY(member(raw));
            versions = BUNRAKU_TRY(versions_of(metadata));
            has_metadata = true;
            continue;
        }
        std::size_t slash = path.find('/');
        if (slash == std::string_view::npos) continue;
        for (const FilePlace& place : kPlaces) {
            if (place.folder != path.substr(0, slash)) continue;
            std::string_view certname = certname_of(path.substr(slash + 1), place.hash);
            if (certname.empty()) continue;
            if (!has_metadata) {
                return std::unexpected(
                    wrong("Unable to find export metadata file "
                          "'puppetdb-bak/export-metadata.json' in archive"));
            }
            CommandHeader header;
            std::string command(place.command);
            auto version = versions.find(command);
            for (char& c : command) {
                if (c == '_') c = ' ';
            }
            header.kind = *command_from_name(command);
            header.version =
                version != versions.end() ? version->second : newest_version(header.kind);
            header.certname = certname;
            header.received = now_ms();
            std::string body = BUNRAKU_TRY(member(raw));
            BUNRAKU_TRY_VOID(submit(header, std::move(body)));
            ++out.of(header.kind);
        }
    }
    if (!has_metadata) {
        return std::unexpected(
            wrong("Unable to find export metadata file "
                  "'puppetdb-bak/export-metadata.json' in archive"));
    }
    return out;
}

}  // namespace

Result<ImportFigures> import_archive(
    std::string_view bytes,
    const std::function<Result<void>(const CommandHeader&, std::string body)>& submit) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    Reader reader;
    libarchive().read_support_filter_gzip(reader.raw);
    libarchive().read_support_format_tar(reader.raw);
    if (libarchive().read_open_memory(reader.raw, bytes.data(), bytes.size()) != ARCHIVE_OK) {
        return std::unexpected(wrong(libarchive().error_string(reader.raw)));
    }
    return import(reader.raw, submit);
}

Result<ImportFigures> import_archive_file(
    const std::string& path,
    const std::function<Result<void>(const CommandHeader&, std::string body)>& submit) {
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    Reader reader;
    libarchive().read_support_filter_gzip(reader.raw);
    libarchive().read_support_format_tar(reader.raw);
    if (libarchive().read_open_filename(reader.raw, path.c_str(), 65536) != ARCHIVE_OK) {
        return std::unexpected(wrong(libarchive().error_string(reader.raw)));
    }
    return import(reader.raw, submit);
}

}  // namespace bunraku::store
