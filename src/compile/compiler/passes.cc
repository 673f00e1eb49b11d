// SPDX-License-Identifier: Apache-2.0
// The passes of a compile in order, each with its postcondition. Debug builds check the
// postconditions.
#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "compile/compiler/compilation.h"

namespace bunraku::compiler {

using base::Symbol;

struct Compilation::Step {
    std::string_view name;
    void (Compilation::*pass)();
    bool (*holds)(Compilation& self);  ///< may be null
};

const Compilation::Step Compilation::kSteps[] = {
    // The environment may be compiled, and its version is known.
    {"check_environment", &Compilation::check_environment, nullptr},
    // The top scope contains the facts, trusted data and the classifier's variables.
    {"set_node_parameters", &Compilation::set_node_parameters,
     [](Compilation& self) { return self.check_node_parameters(); }},
    // Class[Settings] exists, Stage[main] contains it, and it has nothing to evaluate.
    {"create_settings", &Compilation::create_settings,
     [](Compilation& self) { return self.check_settings(); }},
    // Class[main] is first in the compiler's list, and the code of all manifests has been
    // evaluated.
    {"evaluate_main", &Compilation::evaluate_main,
     [](Compilation& self) { return self.check_main(); }},
    // If manifests have node definitions, the matching one has been evaluated and its scope is
    // known.
    {"evaluate_node", &Compilation::evaluate_node,
     [](Compilation& self) { return self.check_node(); }},
    // The catalog contains every class of the classifier. Their evaluation may be pending until
    // evaluate_generators.
    {"evaluate_node_classes", &Compilation::evaluate_node_classes,
     [](Compilation& self) { return self.check_node_classes(); }},
    // Collectors and definitions produce nothing new, and every realized resource has been
    // evaluated.
    {"evaluate_generators", &Compilation::evaluate_generators,
     [](Compilation& self) { return self.check_generators(); }},
    // Chains have become parameters, overrides are merged, and parameters fit their types. Tags and
    // metaparameters have been inherited from the containers.
    {"finish", &Compilation::finish, [](Compilation& self) { return self.check_finished(); }},
    // No override and no `realize` waits for a missing resource.
    {"fail_on_unevaluated", &Compilation::fail_on_unevaluated,
     [](Compilation& self) { return self.check_nothing_waits(); }},
    // The relationships of realized resources refer to resources of the catalog.
    {"validate", &Compilation::validate,
     [](Compilation& self) { return self.table_.consistent(); }},
};

void Compilation::run() {
    auto since = std::chrono::steady_clock::now();
    for (const auto& step : kSteps) {
        (this->*step.pass)();
        const auto now = std::chrono::steady_clock::now();
        passes_.push_back({step.name, (now - since).count()});
        since = now;
#ifndef NDEBUG
        if (step.holds && !step.holds(*this))
            throw std::logic_error("the pass " + std::string(step.name) + " broke its word");
#endif
    }
}

bool Compilation::check_node_parameters() const {
    const Scope& top = interpreter_->top_scope();
    return top.given &&
           std::ranges::all_of(
               std::to_array<std::string_view>({"environment", "facts", "trusted", "server_facts"}),
               [&](std::string_view name) { return top.find_local(Symbol::intern(name)); });
}

bool Compilation::check_settings() const {
    const Resource* settings = Scopes::resource(settings_scope_);
    return settings && settings->evaluated && settings->contained_in.size() == 1 &&
           settings->contained_in[0]->is_stage();
}

bool Compilation::check_main() const {
    return main_resource_ && main_resource_->evaluated && main_resource_->title_is_main &&
           !resources_.empty() && resources_.front() == main_resource_;
}

bool Compilation::check_node() const {
    if (!definitions_.has_nodes()) return node_scope_ == nullptr;
    const Resource* node = Scopes::resource(node_scope_);
    return node && node->evaluated && interpreter_->node_scope == node_scope_;
}

bool Compilation::check_node_classes() {
    return std::ranges::all_of(request_.node.classes, [&](const NodeClass& given) {
        const auto* definition = definitions_.find_class(arena().copy(given.name));
        return definition && table_.find("Class", definition->name);
    });
}

bool Compilation::check_generators() const {
    return std::ranges::all_of(instances_,
                               [](const Resource* r) { return r->evaluated || r->virtual_; });
}

bool Compilation::check_finished() const {
    return table_.consistent() &&
           std::ranges::all_of(resources_, [](const Resource* r) { return r->finished; });
}

bool Compilation::check_nothing_waits() const {
    return overrides_.waiting().empty() &&
           std::ranges::all_of(collectors_.active(),
                               [](const Collector* c) { return c->wanted.empty(); });
}

}  // namespace bunraku::compiler
