// SPDX-License-Identifier: Apache-2.0
#include "language/template/host.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/template/epp.h"

namespace bunraku::templates {

using evaluator::Interpreter;
using evaluator::Scope;

namespace {

/// Extends the lifetime of a parsed text to that of the compile, because values and closures refer
/// to it.
const syntax::Tree& keep(Interpreter& in, std::shared_ptr<const environment::ParsedFile> file) {
    using Kept = std::shared_ptr<const environment::ParsedFile>;
    return *(*in.arena().own(std::make_unique<Kept>(std::move(file))))->tree;
}

}  // namespace

std::optional<std::string> Templates::find_file(std::string_view reference,
                                                std::string_view folder) {
    if (reference.starts_with('/')) return std::string(reference);
    const auto slash = reference.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto* module = environment_->module(reference.substr(0, slash));
    if (!module) return std::nullopt;
    return fmt::format("{}/{}/{}", module->path, folder, reference.substr(slash + 1));
}

std::optional<std::string> Templates::module_directory(std::string_view module) {
    const auto* found = environment_->module(module);
    return found ? std::optional(found->path) : std::nullopt;
}

evaluator::Value Templates::epp(Interpreter& in, Scope&, std::string_view reference,
                                const evaluator::Value* parameters) {
    std::string name(reference);
    auto& inputs = *in.hosts().inputs;
    if (!inputs.file_exists(name) && !name.ends_with(".epp")) name += ".epp";
    in.log().log(base::Level::Debug, fmt::format("Retrieving epp template {}", name));
    const auto path = find_file(name, "templates");
    if (!path || !inputs.file_exists(*path)) {
        throw base::PuppetError(fmt::format("Could not find template '{}'", name));
    }
    auto parsed = environment_->parse_template(*path);
    if (!parsed) throw base::PuppetError(fmt::format("Could not find template '{}'", name));
    try {
        parsed->check(in.log());
    } catch (const base::PuppetError& error) {
        throw base::PuppetError(fmt::format("epp(): Invalid EPP: {}", error.full_text()));
    }
    // A template in a file sees top scope and its parameters, but no variables of its caller.
    return render_epp(in, in.top_scope(), "epp", *keep(in, std::move(parsed)).program, parameters);
}

evaluator::Value Templates::inline_epp(Interpreter& in, Scope& scope, std::string_view text,
                                       const evaluator::Value* parameters) {
    auto parsed = environment_->parse_text("inlined-epp-text", std::string(text), true);
    try {
        parsed->check(in.log());
    } catch (const base::PuppetError& error) {
        throw base::PuppetError(fmt::format("inline_epp(): Invalid EPP: {}", error.full_text()));
    }
    return render_epp(in, scope, "inline_epp", *keep(in, std::move(parsed)).program, parameters);
}

}  // namespace bunraku::templates
