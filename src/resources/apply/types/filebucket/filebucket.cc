// SPDX-License-Identifier: Apache-2.0
// The type filebucket: storage for replaced file contents.
#include "resources/apply/types/filebucket/filebucket.h"

#include <fmt/format.h>

#include "core/base/number.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

class Filebucket final : public Resource {
public:
    using Resource::Resource;
    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "path") {
            if (v.is_array()) {
                throw base::PuppetError("You can only have one filebucket path");
            }
            if (v.is_string() && !v.as_string().starts_with('/')) {
                throw base::PuppetError(fmt::format("Filebucket paths must be absolute", plain(v)));
            }
        }
        Resource::validate_value(a, v);
    }
};

}  // namespace

std::unique_ptr<Bucket> bucket_of(const Resource& filebucket, const std::string& name) {
    Context& context = filebucket.context();
    const Value path = filebucket.get("path");
    if (path.is(value::Kind::Boolean) && !path.as_boolean()) {
        const Value server = filebucket.get("server"), port = filebucket.get("port");
        return std::make_unique<Bucket>(
            context, name, server.is_undef() ? "" : plain(server),
            port.is_undef() ? 0 : base::parse_integer<int>(plain(port)).value_or(0));
    }
    return std::make_unique<Bucket>(
        context, name, path.is_string() ? plain(path) : context.options.clientbucketdir);
}

std::unique_ptr<Resource> make_filebucket(Context& context, const TypeSpec& spec) {
    return std::make_unique<Filebucket>(context, spec);
}

}  // namespace bunraku::apply
