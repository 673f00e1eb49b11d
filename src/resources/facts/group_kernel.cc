// SPDX-License-Identifier: Apache-2.0
// The facts kernel, kernelrelease, kernelversion, kernelmajversion and fips_enabled.
#include <sys/utsname.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

std::string kernel_release() {
    utsname names{};
    ::uname(&names);
    return names.release;
}

/// Returns the version part of the release: "6.1.0" for "6.1.0-37-amd64".
std::string kernel_version() {
    std::string release = kernel_release();
    return release.substr(0, release.find_first_not_of("0123456789."));
}

}  // namespace

Value resolve_kernel(Context& context) {
    utsname names{};
    ::uname(&names);
    return context.text(names.sysname);
}
Value resolve_kernelrelease(Context& context) { return context.text(kernel_release()); }
Value resolve_kernelversion(Context& context) { return context.text(kernel_version()); }
Value resolve_kernelmajversion(Context& context) {
    std::string version = kernel_version();
    std::size_t first = version.find('.');
    std::size_t second = first == std::string::npos ? first : version.find('.', first + 1);
    return context.text(version.substr(0, second));
}
Value resolve_fips(Context& context) {
    return Value::boolean(context.read_word("/proc/sys/crypto/fips_enabled") == "1");
}

}  // namespace bunraku::facts
