// SPDX-License-Identifier: Apache-2.0
// Determines which release of a type's module a run uses.
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/codec/digest.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/ruby_types.h"

namespace bunraku::apply {

const ModuleType* find_module_type_releases(std::string_view name) {
    const auto all = module_types();
    BUNRAKU_ASSERT([&] {
        static const bool sorted = std::ranges::is_sorted(all, {}, &ModuleType::name);
        return sorted;
    }());
    const auto it = std::ranges::lower_bound(all, name, {}, &ModuleType::name);
    return it != all.end() && it->name == name ? &*it : nullptr;
}

std::optional<int> module_level(Context& context, const ModuleType& type) {
    BUNRAKU_ASSERT(!type.files.empty() &&
                   std::ranges::is_sorted(type.releases, {}, &ModuleRelease::digest));
    RubyTypes* ruby = context.ruby_types;
    if (!ruby) return type.newest;
    const auto file = ruby->type_file(type.name);
    if (!file || !file->ends_with(type.files.front())) return type.newest;
    const std::string lib = file->substr(0, file->size() - type.files.front().size());
    for (const std::string& provider : ruby->provider_files(type.name)) {
        if (std::ranges::none_of(type.files, [&](auto known) { return provider.ends_with(known); }))
            return std::nullopt;
    }
    codec::Digest digest(codec::DigestKind::Sha256);
    constexpr std::string_view kEnd("\0", 1);
    for (const std::string_view relative : type.files) {
        const std::string path = lib + std::string(relative);
        const auto content = context.system.files.read(path);
        ruby->add_read_file(path);
        if (!content && !sys::is_absence(content.error().code)) return std::nullopt;
        if (!content) continue;
        digest.update(relative);
        digest.update(kEnd);
        digest.update(*content);
        digest.update(kEnd);
    }
    const auto number = base::parse_integer<std::uint64_t>(digest.hex().substr(0, 16), 16);
    const auto it =
        std::ranges::lower_bound(type.releases, number.value_or(0), {}, &ModuleRelease::digest);
    if (it == type.releases.end() || it->digest != number) return std::nullopt;
    BUNRAKU_ASSERT(it->level >= 0 && it->level <= type.newest);
    return it->level;
}

int module_level(Context& context, std::string_view type) {
    const ModuleType* known = find_module_type_releases(type);
    if (!known) return 0;
    return (context.ruby_types ? context.ruby_types->level(*known) : known->newest)
        .value_or(known->newest);
}

}  // namespace bunraku::apply
