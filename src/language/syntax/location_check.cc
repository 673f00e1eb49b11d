// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/location_check.h"

#include <algorithm>
#include <filesystem>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::syntax {

namespace {

/// Returns the path in absolute form, without "." and "..", and without a trailing slash.
std::string clean(const std::string& path) {
    std::error_code error;
    std::filesystem::path absolute = std::filesystem::absolute(path, error);
    std::string text = (error ? std::filesystem::path(path) : absolute).lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

}  // namespace

LocationCheck::LocationCheck(const std::string& file, const std::vector<std::string>& modulepath,
                             const std::string& manifest) {
    if (modulepath.empty() || !file.ends_with(".pp") || file.size() == 3 || file.ends_with("/.pp"))
        return;
    const std::string path = clean(file);
    if (!manifest.empty() && path.starts_with(manifest)) return;
    std::string relative;
    for (const std::string& directory : modulepath) {
        const std::string parent = clean(directory) + "/";
        if (!path.starts_with(parent)) continue;
        relative = base::lower(std::string_view(path).substr(parent.size()));
        break;
    }
    if (relative.empty()) return;

    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= relative.size();) {
        const std::size_t slash = std::min(relative.find('/', from), relative.size());
        parts.push_back(relative.substr(from, slash - from));
        from = slash + 1;
    }
    kind_ = Kind::Misplaced;
    if (parts.size() < 2) return;
    const std::string& kind = parts[1];
    if (kind != "manifests" && kind != "functions" && kind != "types" && kind != "plans") return;
    BUNRAKU_ASSERT(kind_ == Kind::Misplaced);
    kind_ = Kind::Namespace;
    // The module, the folders below the folder of the kind, and the file name. The file name is
    // omitted for the module's own init.pp.
    namespace_ = parts[0];
    for (std::size_t i = 2; i + 1 < parts.size(); ++i) namespace_ += "::" + parts[i];
    const std::string& name = parts.back();
    if (parts.size() != 3 || name != "init.pp")
        namespace_ += "::" + name.substr(0, name.size() - 3);
}

bool LocationCheck::allows(std::string_view name) const {
    if (kind_ == Kind::Free) return true;
    return kind_ == Kind::Namespace && base::lower(name).starts_with(namespace_);
}

std::string decimal_to_hex(std::string_view digits) {
    std::string number(digits);
    std::string hex;
    while (!number.empty()) {
        int remainder = 0;
        std::string quotient;
        for (char c : number) {
            const int value = remainder * 10 + (c - '0');
            if (!quotient.empty() || value / 16 > 0)
                quotient += static_cast<char>('0' + value / 16);
            remainder = value % 16;
        }
        BUNRAKU_ASSERT(remainder >= 0 && remainder < 16 && quotient.size() <= number.size());
        hex += "0123456789abcdef"[remainder];
        number = std::move(quotient);
    }
    std::reverse(hex.begin(), hex.end());
    return hex.empty() ? "0" : hex;
}

}  // namespace bunraku::syntax
