// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/share.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/sys/disk.h"

namespace bunraku::ruby {

using base::Result;

namespace {

using Texts = std::vector<std::pair<Library::Part, std::string_view>>;

Result<std::shared_ptr<const Library>> in_memory(Texts texts) {
    const auto failed = [] {
        return base::failure(
            fmt::format("Could not allocate memory for share/ruby: {}", std::strerror(errno)),
            errno);
    };
    const std::shared_ptr<Library> out(new Library{
        .parts = {},
        .text = sys::Descriptor(::memfd_create("bunraku-ruby", MFD_CLOEXEC | MFD_ALLOW_SEALING))});
    if (!out->text.good()) return failed();
    std::ranges::stable_partition(
        texts, [](const auto& part) { return part.first.name == "bunraku/boot.rb"; });
    std::size_t offset = 0;
    for (const auto& [part, text] : texts) {
        out->parts.push_back(part);
        out->parts.back().offset = offset;
        out->parts.back().size = text.size();
        if (sys::write_all(out->text.get(), text) != 0) return failed();
        offset += text.size();
    }
    BUNRAKU_ASSERT(out->parts.size() == texts.size());
    // Sealed, because module code can access the descriptor, and a change would affect other
    // children.
    if (::fcntl(out->text.get(), F_ADD_SEALS,
                F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return failed();
    return out;
}

Result<std::shared_ptr<const Library>> built_in() {
    Texts texts;
    for (const auto& file : embedded_files()) {
        texts.emplace_back(Library::Part{.name = "bunraku/" + std::string(file.name),
                                         .digest = std::string(file.digest)},
                           file.text);
    }
    return in_memory(texts);
}

}  // namespace

Result<std::shared_ptr<const Library>> share_files(const std::string& folder) {
    if (folder.empty()) {
        static std::mutex mutex;
        static std::shared_ptr<const Library> made;
        const std::lock_guard lock(mutex);
        if (!made) made = BUNRAKU_TRY(built_in());
        return made;
    }
    std::map<std::string, std::string> texts;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".rb") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        texts["bunraku/" + entry.path().filename().string()] = text.str();
    }
    Texts all;
    for (const auto& [name, text] : texts) all.emplace_back(Library::Part{.name = name}, text);
    return in_memory(all);
}

std::string compiled_folder(const std::string& wanted) {
    if (wanted.empty()) return {};
    (void)sys::disk().make_directories(wanted, 0700);
    const auto status = sys::disk().lstat(wanted);
    const bool ours = status && status->kind == sys::FileKind::Directory &&
                      status->uid == ::geteuid() && (status->mode & 022) == 0;
    return ours ? wanted : std::string();
}

}  // namespace bunraku::ruby
