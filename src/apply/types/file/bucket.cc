#include "apply/types/file/bucket.h"

#include <fmt/format.h>

#include "apply/types/file/checksum.h"

namespace bunraku::apply {

using base::PuppetError;

// Eight folders of one digit each, so that no folder grows large.
std::string Bucket::folder_of(std::string_view digest) const {
    std::string out = directory_;
    for (std::size_t i = 0; i < 8 && i < digest.size(); ++i) {
        out += '/';
        out += digest[i];
    }
    return out + "/" + std::string(digest);
}

std::string Bucket::backup(const std::string& path) {
    sys::FileSystem& files = context_.system.files;
    if (!files.exists(path)) throw PuppetError(fmt::format("File {} does not exist", path));
    try {
        context_.message(Level::Info, fmt::format("Computing checksum on file {}", path));
        auto kind = codec::digest_kind(context_.options.digest_algorithm)
                        .value_or(codec::DigestKind::Sha256);
        const std::string name(codec::digest_name(kind));
        const std::string digest = checksum_data(checksum_of_file(context_, name, path));
        std::string folder = folder_of(digest);
        unwrap(files.make_directories(folder, 0770));
        std::string contents = folder + "/contents";
        bool there = files.exists(contents);
        if (there && checksum_data(checksum_of_file(context_, name, contents)) != digest) {
            context_.message(Level::Warning,
                             fmt::format("Existing backup does not match its expected sum, "
                                         "{{{}}}{}. Overwriting corrupted backup.",
                                         name, digest));
            there = false;
        }
        if (!there) unwrap(files.copy(path, contents, {.mode = 0440}));
        std::string paths = files.read(folder + "/paths").value_or("");
        std::string line = path + "\n";
        if (("\n" + paths).find("\n" + line) == std::string::npos) {
            unwrap(files.append(folder + "/paths", line, 0640));
        }
        return digest;
    } catch (const PuppetError& e) {
        std::string text = fmt::format("Could not back up {}: {}", path, e.message());
        context_.message(Level::Err, text);
        throw PuppetError(text);
    }
}

std::string Bucket::get(std::string_view digest) {
    if (digest.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
        throw PuppetError("File not found");
    }
    auto content = context_.system.files.read(folder_of(digest) + "/contents");
    if (!content) throw PuppetError("File not found");
    context_.message(Level::Info, fmt::format("FileBucket read {}", digest));
    return std::move(*content);
}

}  // namespace bunraku::apply
