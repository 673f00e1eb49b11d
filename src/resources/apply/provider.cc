// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/provider.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "resources/apply/context.h"
#include "resources/facts/os.h"

namespace bunraku::apply {

bool ProviderClass::has_feature(std::string_view feature) const {
    for (auto at = features.find(feature); at != features.npos;
         at = features.find(feature, at + 1)) {
        const std::size_t end = at + feature.size();
        BUNRAKU_ASSERT(end <= features.size());
        if ((at == 0 || features[at - 1] == ' ') &&
            (end == features.size() || features[end] == ' '))
            return true;
    }
    return false;
}

namespace {

const ProviderClass* find_default(Context& context, std::string_view type,
                                  std::span<const ProviderClass* const> classes) {
    std::vector<const ProviderClass*> best;
    int best_score = -1;
    for (const ProviderClass* c : classes) {
        if (!c->suitable || !c->suitable(context)) continue;
        const int facts = c->default_for ? c->default_for(context) : 0;
        BUNRAKU_ASSERT(facts >= 0 && c->depth >= 0 && c->depth < 100);
        // One matching fact outweighs the depth in any class hierarchy. Without a fact only the
        // depth counts.
        const int score = facts * 100 + c->depth;
        if (score > best_score) best.clear();
        if (score >= best_score) best.push_back(c);
        best_score = std::max(best_score, score);
    }
    BUNRAKU_ASSERT(best.empty() == (best_score < 0) && best.size() <= classes.size());
    if (best.empty()) return nullptr;
    if (best.size() > 1) {
        std::string names;
        for (const ProviderClass* c : best)
            names += (names.empty() ? "" : ", ") + std::string(c->name);
        std::string text = fmt::format("Found multiple default providers for {}: {}; using {}",
                                       type, names, best.front()->name);
        if (context.warned_once.insert(text).second)
            context.message(Level::Warning, std::move(text));
    }
    return best.front();
}

}  // namespace

const ProviderClass* default_provider(Context& context, std::string_view type,
                                      std::span<const ProviderClass* const> classes) {
    auto at = context.default_providers.find(type);
    if (at != context.default_providers.end() && at->second.actions == context.actions)
        return at->second.provider;
    BUNRAKU_ASSERT(at == context.default_providers.end() || at->second.actions < context.actions);
    const ProviderClass* found = find_default(context, type, classes);
    context.default_providers.insert_or_assign(std::string(type),
                                               Context::KnownProvider{found, context.actions});
    return found;
}

bool Platform::named(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), name) != names.end();
}

const Platform& platform(Context& context) {
    if (!context.platform) {
        const facts::OsInfo os = facts::read_os(context.system.files);
        context.platform = Platform{base::lower(os.name), base::lower(os.family), os.release.major};
    }
    return *context.platform;
}

}  // namespace bunraku::apply
