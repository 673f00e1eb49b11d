// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/store_files.h"

#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "modules/forge/record.h"

namespace bunraku::forge {

namespace {

/// Returns the header and index of a record file, without its fragments.
std::optional<std::string> read_head(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string head(4096, '\0');
    const ssize_t n = ::pread(fd, head.data(), head.size(), 0);
    ::close(fd);
    if (n <= 0) return std::nullopt;
    head.resize(static_cast<std::size_t>(n));
    return head;
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string out(text.substr(0, 2000));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return out;
}

std::string md5_of(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Md5, bytes);
}

std::string sha256_of(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Sha256, bytes);
}

bool is_remote_record(const std::string& path) {
    auto head = read_head(path);
    if (!head) return false;
    const auto fields = base::split(std::string_view(*head).substr(0, head->find('\n')), '\t');
    return fields.size() > 9 && (std::atoi(std::string(fields[8]).c_str()) & kRemote) != 0;
}

std::string no_repository(std::string_view repo) {
    return module::valid_identifier(repo) ? fmt::format("there is no repository '{}'", repo)
                                          : "invalid repository ID";
}

}  // namespace bunraku::forge
