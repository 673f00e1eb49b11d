// The type filebucket: a place for old contents. Only local ones are served here.
#include "apply/types/filebucket/filebucket.h"

#include <fmt/format.h>

#include "apply/registry.h"

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

std::string filebucket_path(const Resource& filebucket) {
    Value v = filebucket.get("path");
    return v.is_string() ? plain(v) : filebucket.context().options.clientbucketdir;
}

std::unique_ptr<Resource> make_filebucket(Context& context, const TypeSpec& spec) {
    return std::make_unique<Filebucket>(context, spec);
}

}  // namespace bunraku::apply
