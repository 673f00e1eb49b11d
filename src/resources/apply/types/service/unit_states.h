// What systemd says of the units of a catalog's services: one question for all of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// Answers hold until the run does anything to the machine, or for some seconds.
class UnitStates {
public:
    /// Those of this run.
    static UnitStates& of(Context& context);

    /// Whether the unit of the service runs; nullopt: only a question about it alone can tell.
    std::optional<bool> active(const Resource& service);
    /// What `is-enabled` says of it: "enabled", "static", ..; nullopt as above.
    std::optional<std::string> enabled(const Resource& service);

private:
    struct Answers {
        std::map<std::string, std::string, std::less<>> by_name;
        std::uint64_t actions = 0;
        std::int64_t asked_ns = 0;
        bool fresh = false;
    };
    std::optional<std::string> answer(const Resource& service, std::string_view verb,
                                      std::string_view attribute, Answers& kept);

    Answers active_, enabled_;
};

}  // namespace bunraku::apply
