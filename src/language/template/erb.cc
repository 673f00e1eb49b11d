// SPDX-License-Identifier: Apache-2.0
#include "language/template/erb.h"

#include <algorithm>

#include "language/erb/ast.h"

namespace bunraku::templates {

namespace {

bool word_char(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns every @name in the text, whatever its context. Superfluous names do no harm.
std::vector<base::Symbol> variable_names(std::string_view text) {
    std::vector<base::Symbol> out;
    for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at)) {
        std::size_t end = ++at;
        while (end < text.size() && word_char(text[end])) ++end;
        if (end == at) continue;
        const auto name = base::Symbol::intern(text.substr(at, end - at));
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
        at = end;
    }
    return out;
}

}  // namespace

std::shared_ptr<const ErbTemplate> make_erb_template(std::string path, std::string source) {
    auto out = std::make_shared<ErbTemplate>();
    out->path = std::move(path);
    out->source = std::move(source);
    out->program = erb::parse(out->source, out->reason);
    out->names = variable_names(out->source);
    for (const std::string_view word : {"instance_variable", "binding", "eval"})
        if (out->source.find(word) != std::string::npos) out->all_names = true;
    return out;
}

std::shared_ptr<const ErbTemplate> ErbCache::file(const std::string& path,
                                                  const environment::Environment& environment) {
    {
        std::shared_lock lock(mutex_);
        if (auto it = files_.find(path); it != files_.end()) {
            environment.note(environment::Read::File, path);
            return it->second;
        }
    }
    environment.depends_on(path);
    auto source = environment.read(path);
    if (!source) return nullptr;
    auto made = make_erb_template(path, std::move(*source));
    std::unique_lock lock(mutex_);
    return files_.emplace(path, std::move(made)).first->second;
}

std::shared_ptr<const ErbTemplate> ErbCache::text(std::string_view text) {
    {
        std::shared_lock lock(mutex_);
        if (auto it = texts_.find(text); it != texts_.end()) return it->second;
    }
    auto made = make_erb_template({}, std::string(text));
    // Texts that are composed for each resource would fill the cache without being used again.
    if (text.size() > 64 * 1024) return made;
    std::unique_lock lock(mutex_);
    if (texts_.size() >= 1000) texts_.clear();
    return texts_.emplace(std::string(text), std::move(made)).first->second;
}

}  // namespace bunraku::templates
