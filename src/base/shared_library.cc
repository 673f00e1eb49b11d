#include "base/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace bunraku::base {

SharedLibrary::SharedLibrary(const char* file, const char* purpose)
    : file_(file), purpose_(purpose), handle_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) error_ = ::dlerror();
}

void* SharedLibrary::find(const char* name) {
    if (!error_.empty()) return nullptr;
    void* found = ::dlsym(handle_, name);
    if (!found) error_ = fmt::format("it has no function {}", name);
    return found;
}

Result<void> SharedLibrary::loaded() const {
    if (error_.empty()) return {};
    return failure(fmt::format("{} needs the library {}: {}", purpose_, file_, error_));
}

}  // namespace bunraku::base
