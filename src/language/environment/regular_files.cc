// SPDX-License-Identifier: Apache-2.0
#include "language/environment/regular_files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diagnostic.h"
#include "core/sys/descriptor.h"

namespace bunraku::environment {

namespace {

/// Returns the error for a file that is not read; 0 for others.
int refusal(const struct stat& st) {
    if (S_ISDIR(st.st_mode)) return EISDIR;
    if (!S_ISREG(st.st_mode)) return ENXIO;
    return static_cast<std::uint64_t>(st.st_size) > kMaxRegularFile ? EFBIG : 0;
}

/// Reads a regular file. Returns 0 or the error number.
int read_regular(const std::string& path, std::string& text) {
    struct stat st{};
    // Opening a device may have effects, so its kind is checked before.
    if (::stat(path.c_str(), &st) != 0) return errno;
    if (const int error = refusal(st); error != 0) return error;
    const sys::Descriptor file(sys::retrying(
        [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
    if (!file.good() || ::fstat(file.get(), &st) != 0) return errno;
    if (const int error = refusal(st); error != 0) return error;
    // One byte more than the size, so that the read that detects the end needs no second buffer.
    text.resize(static_cast<std::size_t>(st.st_size) + 1);
    std::size_t used = 0;
    while (true) {
        const auto n = sys::retrying(
            [&] { return ::read(file.get(), text.data() + used, text.size() - used); });
        if (n < 0) return errno;
        if (n == 0) break;
        used += static_cast<std::size_t>(n);
        if (used > kMaxRegularFile) return EFBIG;  // its size is unknown, or it grows
        if (used == text.size()) text.resize(text.size() * 2);
    }
    text.resize(used);
    return 0;
}

class RegularFiles final : public Files {
public:
    explicit RegularFiles(Unreadable unreadable) : unreadable_(unreadable) {}

    base::Result<std::string> read(const std::string& path) const override {
        std::string text;
        if (const int error = read_regular(path, text); error != 0)
            return std::unexpected(
                base::Error{std::string(std::strerror(error)) + " @ rb_sysopen - " + path, error});
        return text;
    }
    Stamp stat(const std::string& path) const override {
        return tolerant([&] { return disk_files()->stat(path); });
    }
    bool is_real_folder(const std::string& path) const override {
        return tolerant([&] { return disk_files()->is_real_folder(path); });
    }
    std::vector<std::string> list(const std::string& path) const override {
        return tolerant([&] { return disk_files()->list(path); });
    }
    std::optional<std::string> link(const std::string& path) const override {
        return disk_files()->link(path);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        return disk_files()->glob(pattern);
    }

private:
    /// Returns what a path looks like that does not exist if it cannot be examined.
    template <class Look>
    auto tolerant(const Look& look) const -> decltype(look()) {
        if (unreadable_ == Unreadable::Error) return look();
        try {
            return look();
        } catch (const base::PuppetError&) {
            return {};
        }
    }

    Unreadable unreadable_;
};

}  // namespace

std::shared_ptr<const Files> regular_files(Unreadable unreadable) {
    return std::make_shared<RegularFiles>(unreadable);
}

}  // namespace bunraku::environment
