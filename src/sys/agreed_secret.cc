#include "sys/agreed_secret.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/descriptor.h"

namespace bunraku::sys {

std::optional<std::string> own_file(int fd, std::uint64_t most) {
    struct stat status{};
    if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() || (status.st_mode & 077) != 0 ||
        static_cast<std::uint64_t>(status.st_size) > most)
        return std::nullopt;
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    if (read_all_at(fd, text, 0) != 0) return std::nullopt;
    return text;
}

std::string agreed_secret(const std::string& path, const std::string& fresh) {
    if (fresh.empty()) return {};
    for (int tries = 0; tries < 2; ++tries) {
        const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (auto known = own_file(fd.get(), fresh.size()); known && known->size() == fresh.size())
            return *known;
        const auto beside = fmt::format("{}.{}", path, ::getpid());
        {
            const Descriptor out(
                ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (!out.good() || write_all(out.get(), fresh) != 0) return {};
        }
        // Who was quicker has made it: then its one is read.
        const bool linked = ::link(beside.c_str(), path.c_str()) == 0;
        if (!linked && errno == EEXIST && tries == 1) {
            ::rename(beside.c_str(), path.c_str());
            return fresh;
        }
        ::unlink(beside.c_str());
        if (linked) return fresh;
        if (errno != EEXIST) return {};
    }
    return {};
}

}  // namespace bunraku::sys
