#include "sys/agreed_secret.h"

#include <cerrno>
#include <fcntl.h>
#include <stdlib.h>
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

int place_secret(const std::string& path, std::string_view text, const SecretPlace& how) {
    const std::string folder = path.substr(0, path.rfind('/') + 1) + ".";
    std::string part = path + ".XXXXXX";
    int code = 0;
    auto attempt = [&](int result) {
        if (code == 0 && result != 0) code = errno;
    };
    {
        const Descriptor file(::mkostemp(part.data(), O_CLOEXEC));
        if (!file.good()) return errno;
        code = write_all(file.get(), text);
        struct stat above{};
        if (how.for_folder_owner && ::geteuid() == 0 && ::stat(folder.c_str(), &above) == 0) {
            attempt(::fchown(file.get(), above.st_uid, above.st_gid));
        }
        attempt(::fsync(file.get()));
    }
    if (code == 0) {
        attempt(how.replace ? ::rename(part.c_str(), path.c_str())
                            : ::link(part.c_str(), path.c_str()));
    }
    if (code != 0 || !how.replace) ::unlink(part.c_str());
    if (code != 0) return code;
    const Descriptor above(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (above.good()) ::fsync(above.get());
    return 0;
}

std::string agreed_secret(const std::string& path, const std::string& fresh) {
    if (fresh.empty()) return {};
    for (int tries = 0; tries < 2; ++tries) {
        const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (auto known = own_file(fd.get(), fresh.size()); known && known->size() == fresh.size())
            return *known;
        // Who was quicker has made it: then its one is read; what cannot be used is replaced.
        const int code = place_secret(path, fresh, {.replace = tries == 1});
        if (code == 0) return fresh;
        if (code != EEXIST) return {};
    }
    return {};
}

}  // namespace bunraku::sys
