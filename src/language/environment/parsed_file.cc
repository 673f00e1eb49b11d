// SPDX-License-Identifier: Apache-2.0
// Parses files, validates them like Puppet, and caches the results.
#include "core/base/assert.h"
#include "language/environment/environment.h"

namespace bunraku::environment {

const syntax::Tree& ParsedFile::check(base::LogSink& log) const {
    BUNRAKU_ASSERT((tree != nullptr) == !error);
    if (error) throw *error;
    for (const auto& warning : tree->warnings) log.log(warning);
    syntax::report_issues(findings, log);
    return *tree;
}

std::shared_ptr<const ParsedFile> Environment::parse_text(std::string file, std::string text,
                                                          bool epp) const {
    auto parsed = std::make_shared<ParsedFile>();
    try {
        syntax::ParseOptions options;
        options.epp = epp;
        options.tasks = spec_.tasks;
        parsed->tree = syntax::parse(std::move(file), std::move(text), options);
        syntax::ValidateOptions validate;
        validate.strict = spec_.strict;
        validate.tasks = spec_.tasks;
        validate.modulepath = modulepath_;
        validate.manifest = manifest_;
        parsed->findings = syntax::validate(*parsed->tree, validate);
    } catch (const base::PuppetError& error) {
        parsed->tree = nullptr;
        parsed->error = error;
    }
    BUNRAKU_ASSERT((parsed->tree != nullptr) == !parsed->error);
    BUNRAKU_ASSERT(parsed->tree || parsed->findings.empty());
    return parsed;
}

std::shared_ptr<const ParsedFile> Environment::parse_remembered(const std::string& path,
                                                                bool epp) const {
    // A file may be parsed as a manifest and as a template.
    const std::string key = epp ? "\2" + path : path;
    {
        std::shared_lock lock(mutex_);
        if (auto it = parsed_.find(key); it != parsed_.end()) return it->second.file;
    }
    const Stamp stamp = fingerprints_.record(path);
    std::shared_ptr<const ParsedFile> parsed;
    if (auto it = carried_.find(key); it != carried_.end() && it->second.stamp.same(stamp)) {
        parsed = it->second.file;
    } else {
        auto text = files().read(path);
        if (!text) return nullptr;
        parsed = parse_text(path, std::move(*text), epp);
    }
    BUNRAKU_ASSERT(parsed);
    std::unique_lock lock(mutex_);
    return parsed_.emplace(key, CachedFile{std::move(parsed), stamp}).first->second.file;
}

std::shared_ptr<const ParsedFile> Environment::parse_file(const std::string& path) const {
    note(Read::File, path);
    return parse_remembered(path, false);
}

std::shared_ptr<const ParsedFile> Environment::parse_manifest(const std::string& path) const {
    note(Read::Names, path);
    return parse_remembered(path, false);
}

void Environment::note_definition(const syntax::Node& definition) const {
    const auto* source = definition.source;
    // Code without a file is part of the request, so it is not a read.
    if (!source || source->file().empty()) return;
    note(Read::Definition, source->file(), definition_name(definition));
}

std::shared_ptr<const ParsedFile> Environment::parse_template(const std::string& path) const {
    note(Read::File, path);
    return parse_remembered(path, true);
}

}  // namespace bunraku::environment
