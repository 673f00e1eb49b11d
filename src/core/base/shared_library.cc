// SPDX-License-Identifier: Apache-2.0
#include "core/base/shared_library.h"

#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>

namespace bunraku::base {

SharedLibrary::SharedLibrary(const char* file, const char* purpose)
    : file_(file), purpose_(purpose), handle_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) return;
    // "libx.so.1: cannot open shared object file: ..."
    error_ = ::dlerror();
    if (error_.starts_with(fmt::format("{}: ", file))) error_.erase(0, std::strlen(file) + 2);
}

void* SharedLibrary::find(const char* name) {
    if (!error_.empty()) return nullptr;
    void* found = ::dlsym(handle_, name);
    if (!found) error_ = fmt::format("it does not contain the function {}", name);
    return found;
}

void* SharedLibrary::find_optional(const char* name) {
    return handle_ ? ::dlsym(handle_, name) : nullptr;
}

Result<void> SharedLibrary::loaded() const {
    if (error_.empty()) return {};
    return failure(fmt::format("{} needs the library {}: {}", purpose_, file_, error_));
}

}  // namespace bunraku::base
