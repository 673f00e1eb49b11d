// SPDX-License-Identifier: Apache-2.0
#include "core/sys/service_manager.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bunraku::sys {

void notify_service_manager(std::string_view state) {
    const char* path = std::getenv("NOTIFY_SOCKET");
    if (!path || (path[0] != '/' && path[0] != '@')) return;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof to.sun_path) return;
    std::memcpy(to.sun_path, path, length);
    // An abstract socket name.
    if (path[0] == '@') to.sun_path[0] = '\0';
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&to),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
    ::close(fd);
}

}  // namespace bunraku::sys
