// SPDX-License-Identifier: Apache-2.0
// The type notify: logs its message as a change in every run.
#include "core/base/redacted.h"
#include "core/value/text.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

class Notify final : public Resource {
public:
    using Resource::Resource;

    Value default_for(const Attribute& a) override {
        if (a.name == "message") return context_.string(name());
        if (a.name == "withpath") return Value::string("false");
        return Value::undef();
    }
    Value retrieve_property(const Param&) override { return Value::string("absent"); }
    bool insync(Param&, const Value&) override { return false; }
    bool idempotent(const Param&) const override { return false; }
    void sync(Param& p) override {
        std::string text = p.sensitive ? std::string(base::kSensitiveText) : plain(should(p));
        if (should(p).is_hash() && !p.sensitive) {
            text.clear();
            value::print_inspect(text, should(p));
        }
        if (flag("withpath")) {
            log(loglevel(), text, &p);
        } else {
            context_.message(loglevel(), text);
        }
    }
};

}  // namespace

std::unique_ptr<Resource> make_notify(Context& context, const TypeSpec& spec) {
    return std::make_unique<Notify>(context, spec);
}

}  // namespace bunraku::apply
