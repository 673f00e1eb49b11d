// SPDX-License-Identifier: Apache-2.0
// The type zone: only its validation. Zones exist only on Solaris, so no provider is suitable.
#include <arpa/inet.h>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/file_system.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr ProviderClass kSolaris{.name = "solaris"};
constexpr const ProviderClass* kZoneProviders[] = {&kSolaris};

bool is_address(const std::string& text) {
    in6_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

class Zone final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kZoneProviders;
    }

    void validate_value(const Attribute& a, const Value& v) override {
        const bool full = plain(v).starts_with('/');
        if (a.name == "path" && !full) {
            throw PuppetError("The zone base must be fully qualified");
        }
        if (a.name == "inherit" && !full) {
            throw PuppetError("Inherited filesystems must be fully qualified");
        }
        if (a.name == "dataset" && full) {
            throw PuppetError("Datasets must be the name of a zfs filesystem");
        }
        Resource::validate_value(a, v);
    }
    Value munge(const Attribute& a, const Value& v) override {
        if (a.name != "path") return Resource::munge(a, v);
        std::string out = plain(v);
        if (const auto at = out.find("%s"); at != std::string::npos) out.replace(at, 2, name());
        return context_.string(out);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("running");
        if (a.name == "iptype") return Value::string("shared");
        if (a.name == "autoboot") return Value::string("true");
        return Value::undef();
    }

    void validate() override {
        const Param* ip = find("ip");
        if (!ip) return;
        for (const Value& v : ip->should) check(base::split(plain(v), ':'));
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (const std::string path = text("path"); !path.empty()) {
            out.push_back({Relation::Require, "file", path});
            out.push_back({Relation::Require, "file", std::string(sys::directory_name(path))});
        }
        if (const Param* sets = find("dataset"))
            for (const Value& v : sets->should) out.push_back({Relation::Require, "zfs", plain(v)});
    }

private:
    // Checks INTERFACE:ADDRESS[:ROUTER]. With an exclusive stack, only the interface is permitted.
    void check(const std::vector<std::string_view>& parts) const {
        const std::string interface(parts[0]);
        const std::string address(parts.size() > 1 ? parts[1] : "");
        if (text("iptype") != "shared") {
            if (parts.size() < 2) return;
            fail(fmt::format("only interface may be specified when using exclusive IP stack: {}:{}",
                             interface, address));
        }
        if (parts.size() < 2)
            fail("ip must contain interface name and ip address separated by a \":\"");
        if (!is_address(address)) fail(fmt::format("'{}' is an invalid IP address", address));
    }
};

}  // namespace

std::unique_ptr<Resource> make_zone(Context& context, const TypeSpec& spec) {
    return std::make_unique<Zone>(context, spec);
}

}  // namespace bunraku::apply
