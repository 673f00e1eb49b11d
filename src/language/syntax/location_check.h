// SPDX-License-Identifier: Apache-2.0
// Checks the location of definitions: the path of an autoloaded file of a module determines which
// names the file may define.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::syntax {

class LocationCheck {
public:
    LocationCheck(const std::string& file, const std::vector<std::string>& modulepath,
                  const std::string& manifest);
    /// Returns false for a file that does not belong to a module, where any name may be defined.
    bool applies() const { return kind_ != Kind::Free; }
    /// Reports whether `name` may be defined in this file.
    bool allows(std::string_view name) const;

private:
    enum class Kind { Free, Namespace, Misplaced } kind_ = Kind::Free;
    std::string namespace_;
};

/// Returns the hexadecimal digits of a positive decimal number of any size.
std::string decimal_to_hex(std::string_view digits);

}  // namespace bunraku::syntax
