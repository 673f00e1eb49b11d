// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/file/bucket.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "resources/apply/types/file/checksum.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

/// Creates folders that the group can access, whatever the umask is.
void make_folders(sys::FileSystem& files, const std::string& path) {
    if (files.is_directory(path)) return;
    make_folders(files, std::string(sys::directory_name(path)));
    unwrap(files.make_directories(path, 0770));
    unwrap(files.set_mode(path, 0770));
}

}  // namespace

// Uses eight nested folders of one digit each, so that no folder becomes large.
std::string Bucket::folder_of(std::string_view digest) const {
    BUNRAKU_ASSERT(!remote_);
    std::string out = directory_;
    for (std::size_t i = 0; i < 8 && i < digest.size(); ++i) {
        out += '/';
        out += digest[i];
    }
    return out + "/" + std::string(digest);
}

BucketServer& Bucket::server() {
    if (!context_.bucket_server)
        throw PuppetError("No filebucket server is available to store the file");
    return *context_.bucket_server;
}

std::string Bucket::backup(const std::string& path) {
    if (!unwrap(context_.system.files.there(path)))
        throw PuppetError(fmt::format("File {} does not exist", path));
    try {
        context_.message(Level::Info, fmt::format("Computing checksum on file {}", path));
        return store(path);
    } catch (const PuppetError& e) {
        std::string text = fmt::format("Could not back up {}: {}", path, e.message());
        context_.message(Level::Err, text);
        throw PuppetError(text);
    }
}

std::string Bucket::store(const std::string& path) {
    sys::FileSystem& files = context_.system.files;
    auto kind =
        codec::digest_kind(context_.options.digest_algorithm).value_or(codec::DigestKind::Sha256);
    const std::string name(codec::digest_name(kind));
    if (remote_) {
        // Compute the digest of the content that is sent, because the file may change before it is
        // read again.
        const std::string content = unwrap(files.read(path));
        const std::string digest = codec::hex_digest(kind, content);
        if (!unwrap(server().has(key(name, digest))))
            unwrap(server().save(key(name, digest), path, content));
        return digest;
    }
    const std::string digest = checksum_data(checksum_of_file(context_, name, path));
    BUNRAKU_ALWAYS_ASSERT(valid_checksum(name, digest));
    std::string folder = folder_of(digest);
    make_folders(files, folder);
    std::string contents = folder + "/contents";
    bool there = unwrap(files.there(contents));
    if (there && checksum_data(checksum_of_file(context_, name, contents)) != digest) {
        context_.message(Level::Warning, fmt::format("Existing backup does not match its expected "
                                                     "sum, {{{}}}{}. Overwriting corrupted backup.",
                                                     name, digest));
        there = false;
    }
    if (!there) unwrap(files.copy(path, contents, {.mode = 0440}));
    const std::string paths = unwrap(files.read_if_there(folder + "/paths")).value_or("");
    std::string line = path + "\n";
    if (("\n" + paths).find("\n" + line) == std::string::npos) {
        unwrap(files.append(folder + "/paths", line, 0640));
    }
    return digest;
}

std::string Bucket::get(std::string_view digest) {
    if (digest.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
        throw PuppetError("File not found");
    }
    std::optional<std::string> content;
    if (remote_) {
        // The length of the digest determines its kind, as in Puppet's FileBucket::Dipper.
        const char* kind = digest.size() == 32    ? "md5"
                           : digest.size() == 40  ? "sha1"
                           : digest.size() == 56  ? "sha224"
                           : digest.size() == 96  ? "sha384"
                           : digest.size() == 128 ? "sha512"
                                                  : "sha256";
        content = unwrap(server().content(key(kind, digest)));
        const auto known = codec::digest_kind(kind);
        if (content && codec::hex_digest(*known, *content) != digest)
            throw PuppetError(fmt::format("The server's content is not that of {}", digest));
    } else {
        content = unwrap(context_.system.files.read_if_there(folder_of(digest) + "/contents"));
    }
    if (!content) throw PuppetError("File not found");
    context_.message(Level::Info, fmt::format("FileBucket read {}", digest));
    return std::move(*content);
}

}  // namespace bunraku::apply
