// SPDX-License-Identifier: Apache-2.0
// The type selboolean: SELinux booleans (selinux_core 2.0.0).
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

constexpr std::string_view kGetsebool = "/usr/sbin/getsebool", kSetsebool = "/usr/sbin/setsebool";

bool getsetsebool_suitable(Context& context) {
    return has_command(context, kGetsebool) && has_command(context, kSetsebool);
}
constexpr ProviderClass kGetsetsebool{.name = "getsetsebool", .suitable = getsetsebool_suitable};
constexpr const ProviderClass* kSelbooleanProviders[] = {&kGetsetsebool};

class Selboolean final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kSelbooleanProviders;
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name != "value") return Resource::munge(a, v);
        const std::string text = plain(v);
        return Value::string(text == "on" || text == "true" ? "on" : "off");
    }
    Value default_for(const Attribute& a) override {
        return a.name == "persistent" ? Value::string("false") : Value::undef();
    }

    Value retrieve_property(const Param&) override {
        provider_debug(fmt::format("Retrieving value of selboolean {}", name()));
        const std::string output = execute(context_, {std::string(kGetsebool), name()}).output;
        for (std::string_view line : base::lines(output)) {
            if (line.ends_with(" off")) return Value::string("off");
            if (line.ends_with(" on")) return Value::string("on");
        }
        throw base::plain_error(
            fmt::format("Invalid response '{}' returned from getsebool", base::trim(output, "\n")));
    }

    void sync(Param& p) override {
        const bool lasting = text("persistent") == "true";
        if (lasting) provider_debug("Enabling persistence");
        std::vector<std::string> argv{std::string(kSetsebool)};
        if (lasting) argv.emplace_back("-P");
        argv.insert(argv.end(), {name(), plain(should(p))});
        const Executed done = execute(context_, argv, {.fail_on_error = false});
        if (done.status == 0) return;
        const auto error_lines = base::lines(done.output);
        throw base::plain_error(error_lines.empty()
                                    ? fmt::format("setsebool returned {}", done.status)
                                    : std::string(error_lines.front()));
    }
};

}  // namespace

std::unique_ptr<Resource> make_selboolean(Context& context, const TypeSpec& spec) {
    return std::make_unique<Selboolean>(context, spec);
}

}  // namespace bunraku::apply
