// Where a definition may stand: the name of what an autoloaded file of a module defines follows
// from its path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::syntax {

class LocationCheck {
public:
    LocationCheck(const std::string& file, const std::vector<std::string>& modulepath,
                  const std::string& manifest);
    /// False for what is no file of a module, where everything may be defined.
    bool applies() const { return kind_ != Kind::Free; }
    /// Whether `name` may be defined in this file.
    bool allows(std::string_view name) const;

private:
    enum class Kind { Free, Namespace, Misplaced } kind_ = Kind::Free;
    std::string namespace_;
};

/// Hexadecimal digits of a positive decimal number of any size.
std::string decimal_to_hex(std::string_view digits);

}  // namespace bunraku::syntax
