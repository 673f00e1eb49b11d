// SPDX-License-Identifier: Apache-2.0
// The provider base: uses the resource's commands and the process table.
#include "resources/apply/types/service/service_provider.h"

namespace bunraku::apply {
namespace {

class Base final : public ServiceProvider {
public:
    using ServiceProvider::ServiceProvider;

protected:
    std::vector<std::string> own_command(std::string_view what) override {
        if (what != "start") return {};
        const std::string binary = resource_.text("binary");
        if (binary.empty()) {
            throw base::PuppetError("Services must specify a start command or a binary");
        }
        return {binary};
    }
};

}  // namespace

const ProviderClass& provider_service_base() {
    static constexpr ServiceProviderClass kClass{
        {.name = "base",
         .suitable = [](Context& c) { return has_command(c, "kill"); },
         .features = "refreshable",
         .depth = 5},
        make_service_provider<Base>};
    return kClass;
}

}  // namespace bunraku::apply
