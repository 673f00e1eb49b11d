// SPDX-License-Identifier: Apache-2.0
// The type service: its attributes. The init systems are implemented in providers/service/.
#include <fmt/format.h>

#include "resources/apply/registry.h"
#include "resources/apply/types/service/service_provider.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

class Service final : public Resource {
public:
    using Resource::Resource;

    std::string_view foreign_providers() const override {
        return "bsd daemontools freebsd launchd openbsd openwrt pacemaker rcng runit service smf "
               "src swiftinit upstart windows";
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "logonpassword" && v.is_string() &&
            v.as_string().find(':') != std::string_view::npos) {
            throw PuppetError("Passwords cannot include ':'");
        }
        Resource::validate_value(a, v);
        if (a.name != "enable") return;
        std::string want = plain(v);
        std::string_view feature = want == "mask"      ? "maskable"
                                   : want == "manual"  ? "manual_startable"
                                   : want == "delayed" ? "delayed_startable"
                                                       : "";
        if (!feature.empty() && !has_feature(feature)) {
            throw PuppetError(
                fmt::format("Provider {} must have features '{}' to set 'enable' to '{}'",
                            provider_name(), feature, want));
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "path") {
            std::vector<Value> out;
            auto add = [&](std::string_view rest) {
                while (true) {
                    std::size_t colon = rest.find(':');
                    out.push_back(context_.string(rest.substr(0, colon)));
                    if (colon == std::string_view::npos) return;
                    rest.remove_prefix(colon + 1);
                }
            };
            if (v.is_array()) {
                for (const Value& one : v.as_array()) add(plain(one));
            } else {
                add(plain(v));
            }
            return Value::array(context_.arena.copy(out));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "hasstatus") return Value::string("true");
        if (a.name == "pattern") {
            Value binary = get("binary");
            return binary.is_undef() ? context_.string(name()) : binary;
        }
        if (a.name == "path" && provider_ && provider_->suitable &&
            !init_system(*provider_)->default_path.empty()) {
            return context_.string(init_system(*provider_)->default_path);
        }
        return Value::undef();
    }

    bool needs_ensure_retrieved() const override { return false; }
    bool present(const CurrentValues&) const override { return true; }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure")
            return Value::string(service().running() ? "running" : "stopped");
        if (p.spec->name == "enable") return context_.string(service().enabled());
        return Value::string("absent");
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "enable") return !service().can_enable() || same(is, should(p));
        return Resource::insync(p, is);
    }

    std::string event_name(const Param& p) const override {
        std::string want = plain(should(p));
        if (p.spec->name == "ensure") {
            return want == "running" ? "service_started" : "service_stopped";
        }
        if (p.spec->name == "enable") {
            if (want == "true") return "service_enabled";
            if (want == "manual") return "service_manual_start";
            if (want == "delayed") return "service_delayed_start";
            return "service_disabled";
        }
        return Resource::event_name(p);
    }
    bool invalidates_refreshes(const Param& p) const override {
        return p.spec->name == "ensure" && is_word(should(p), "running");
    }

    void sync(Param& p) override {
        if (p.spec->name == "enable") {
            service().enable(plain(should(p)));
            return;
        }
        if (p.spec->name != "ensure") return Resource::sync(p);
        if (is_word(should(p), "running")) {
            service().start();
        } else {
            service().stop();
        }
        if (Param* enable = find("enable"); enable && enable->has_should) {
            if (!insync(*enable, retrieve_property(*enable))) sync(*enable);
        }
    }

    bool refreshable() const override { return true; }
    void refresh() override {
        watch("ensure");
        if (service().running()) {
            service().restart();
        } else {
            debug("Skipping restart; service is not running");
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        const ProviderClass* d = default_provider();
        if (!d || !init_system(*d)->list) return out;
        for (const std::string& n : init_system(*d)->list(context_)) {
            auto r = make_sibling();
            ResourceData data;
            data.title = n;
            data.parameters = {{"name", context_.string(n)}};
            r->initialize(std::move(data));
            r->watch("ensure");
            r->watch("enable");
            out.push_back(std::move(r));
        }
        return out;
    }

private:
    static const ServiceProviderClass* init_system(const ProviderClass& c) {
        return static_cast<const ServiceProviderClass*>(&c);
    }
    ServiceProvider& service() {
        if (!service_) service_ = init_system(*provider_)->make(*this);
        return *service_;
    }

    std::unique_ptr<ServiceProvider> service_;
};

}  // namespace

std::unique_ptr<Resource> make_service(Context& context, const TypeSpec& spec) {
    return std::make_unique<Service>(context, spec);
}

}  // namespace bunraku::apply
