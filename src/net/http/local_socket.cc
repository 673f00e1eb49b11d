// SPDX-License-Identifier: Apache-2.0
#include "net/http/local_socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/sys/descriptor.h"

namespace bunraku::http {

using base::failure;
using base::Result;

namespace {

constexpr int kBacklog = 256;
constexpr int kTries = 500;

/// A socket and the address for a path. The address refers to the folder through a descriptor,
/// because a socket address holds at most 107 bytes.
struct LocalSocket {
    explicit LocalSocket(const std::string& path)
        : folder(::open(folder_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
          socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        address.sun_family = AF_UNIX;
        const std::string name = fmt::format("/proc/self/fd/{}/{}", folder.get(), name_of(path));
        if (name.size() < sizeof address.sun_path)
            std::memcpy(address.sun_path, name.data(), name.size());
    }
    bool good() const { return folder.good() && socket.good() && address.sun_path[0] != '\0'; }
    const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&address); }

    static std::string folder_of(const std::string& path) {
        const auto slash = path.rfind('/');
        return slash == std::string::npos ? "." : path.substr(0, slash + 1);
    }
    static std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

    sys::Descriptor folder, socket;
    sockaddr_un address{};
};

}  // namespace

Result<int> listen_local(const std::string& path) {
    LocalSocket local(path);
    const auto fail = [&](int code) {
        return failure(fmt::format("Could not listen on {}: {}", path, std::strerror(code)), code);
    };
    if (!local.good()) return fail(errno);
    ::unlink(path.c_str());
    // The file gets the mode of the descriptor, so that no other user can connect in between.
    if (::fchmod(local.socket.get(), 0600) != 0 ||
        ::bind(local.socket.get(), local.raw(), sizeof local.address) != 0 ||
        ::listen(local.socket.get(), kBacklog) != 0) {
        return fail(errno);
    }
    return local.socket.release();
}

Result<int> connect_local(const std::string& path) {
    LocalSocket local(path);
    const auto fail = [&](int code) {
        return failure(fmt::format("{}: {}", path, std::strerror(code)), code);
    };
    if (!local.good()) return fail(errno);
    // EAGAIN means that the server's queue of pending connections is full.
    for (int tries = 0;; ++tries) {
        if (::connect(local.socket.get(), local.raw(), sizeof local.address) == 0)
            return local.socket.release();
        if (errno != EAGAIN || tries == kTries) return fail(errno);
        ::usleep(20'000);
    }
}

}  // namespace bunraku::http
