// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/package/outside_package.h"

#include "core/base/plain_error.h"

namespace bunraku::apply {
namespace {

std::optional<PackageState> state_of(const OutsideRecord& r) {
    PackageState out{.name = r.get("name").value_or("")};
    const auto ensure = r.get("ensure");
    if (out.name.empty() || ensure == "absent" || ensure == "purged") return std::nullopt;
    out.versions = r.all("version");
    if (out.versions.empty()) out.versions = {"present"};
    out.held = r.get("held") == "true";
    return out;
}

class OutsidePackage final : public PackageProvider {
public:
    explicit OutsidePackage(Resource& resource)
        : PackageProvider(resource),
          program_(*static_cast<const PackageProviderClass*>(resource.provider())->outside) {}

    std::optional<PackageState> query() override {
        return state_of(program_.ask("query", request()));
    }
    void install() override { change("ensure"); }
    void uninstall() override { change("ensure"); }
    void hold(bool on) override {
        OutsideRecord r = request();
        r.add("change", "mark");
        r.add("held", on ? "true" : "false");
        program_.ask("change", r);
    }
    std::string latest() override {
        OutsideRecord r = request();
        r.add("want", "latest");
        const auto latest_version = program_.ask("query", r).get("latest");
        if (!latest_version) throw base::plain_error(name() + " has no latest version");
        return *latest_version;
    }

private:
    OutsideRecord request() const { return outside_request(resource_); }
    void change(const char* what) {
        OutsideRecord r = request();
        r.add("change", what);
        program_.ask("change", r);
    }

    OutsideProgram& program_;
};

}  // namespace

PackageProviderClass* outside_package_class(Context& context, OutsideProgram& program) {
    auto* made = context.arena.make<PackageProviderClass>();
    made->make = make_package_provider<OutsidePackage>;
    made->outside = &program;
    return made;
}

std::vector<PackageState> outside_packages(OutsideProgram& program) {
    std::vector<PackageState> out;
    for (const OutsideRecord& r : program.list())
        if (auto state = state_of(r)) out.push_back(std::move(*state));
    return out;
}

}  // namespace bunraku::apply
