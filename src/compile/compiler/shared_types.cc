// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/shared_types.h"

#include <algorithm>

#include "core/base/text.h"
#include "language/evaluator/interpreter.h"
#include "language/function/table.h"
#include "language/types/kinds.h"
#include "language/types/object.h"
#include "language/types/settle.h"

namespace bunraku::compiler {

using base::PuppetError;

int ParameterTable::find(std::string_view name) const {
    if (!index_.empty()) {
        const auto it = index_.find(name);
        return it == index_.end() ? -1 : it->second;
    }
    for (std::size_t i = 0; i < checks.size(); ++i)
        if (checks[i].name == name) return static_cast<int>(i);
    return -1;
}

void ParameterTable::add(const syntax::Parameter& parameter, const types::Type* type) {
    symbols.push_back(parameter.symbol ? parameter.symbol : base::Symbol::intern(parameter.name));
    types::NamedParameter check;
    check.name = parameter.name;
    check.required = parameter.value == nullptr;
    check.type = type;
    checks.push_back(check);
}

void ParameterTable::finish() {
    if (checks.size() < kMany) return;
    index_.reserve(checks.size());
    for (std::size_t i = 0; i < checks.size(); ++i)
        index_.emplace(checks[i].name, static_cast<int>(i));
}

namespace {

/// Reports whether a type expression consists only of names and literals.
bool is_plain(const syntax::Node* node) {
    using enum syntax::NodeKind;
    const auto all = [](const auto& nodes) { return std::ranges::all_of(nodes, is_plain); };
    switch (node->kind) {
        case QualifiedReference:
        case QualifiedName:
        case LiteralString:
        case LiteralInteger:
        case LiteralFloat:
        case LiteralBoolean:
        case LiteralUndef:
        case LiteralDefault:
        case LiteralRegularExpression: return true;
        case UnaryMinusExpression:
            return is_plain(syntax::to<syntax::UnaryMinusExpression>(node).expr);
        case LiteralList: return all(syntax::to<syntax::LiteralList>(node).values);
        case LiteralHash:
            return std::ranges::all_of(
                syntax::to<syntax::LiteralHash>(node).entries,
                [](const auto* entry) { return is_plain(entry->key) && is_plain(entry->value); });
        case AccessExpression: {
            const auto& access = syntax::to<syntax::AccessExpression>(node);
            return access.left->kind == QualifiedReference && all(access.keys);
        }
        default: return false;
    }
}

void add_names(std::vector<std::string>& names, const std::vector<std::string>& more) {
    for (const auto& name : more)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Adds each read once.
void add_reads(environment::DependencyRecorder& to, std::vector<environment::ReadId> reads) {
    std::ranges::sort(reads);
    const auto rest = std::ranges::unique(reads);
    for (auto it = reads.begin(); it != rest.begin(); ++it) to.add(*it);
}

}  // namespace

/// Makes types outside of a compile. A name is an alias from the environment's files, or unknown.
class SharedTypes::Maker final : public evaluator::DefinitionHost {
public:
    explicit Maker(SharedTypes& shared)
        : shared_(shared),
          in_(shared.arena_, sink_, function::builtin_functions(), {.definitions = this}, {}) {}

    const evaluator::Callable* find_function(evaluator::Interpreter&, std::string_view) override {
        own_ = true;
        return nullptr;
    }
    const types::Type* find_type(evaluator::Interpreter&, std::string_view name) override {
        if (name.starts_with("::")) name.remove_prefix(2);
        const Alias& found = alias(base::lower(name));
        if (!found.type) {
            own_ = true;
            return nullptr;
        }
        add_names(names_, found.names);
        found.reads.note();
        return found.type;
    }

    /// Runs `make` and returns its type, or null if the type cannot be shared. Stores the reads and
    /// names in `answer`.
    template <class Make>
    const types::Type* attempt(Answer& answer, Make&& make) {
        const bool own = std::exchange(own_, false);
        std::vector<std::string> names = std::exchange(names_, {});
        const types::Type* made = nullptr;
        {
            const environment::DependencyRecorder::Collecting collecting(answer.reads);
            try {
                made = make();
                if (made && !types::settle(in_.types(), made)) made = nullptr;
            } catch (const PuppetError&) {
                made = nullptr;  // each compile that evaluates the type reports the error
            }
            if (own_) made = nullptr;
        }
        answer.names = std::exchange(names_, std::move(names));
        own_ = own;
        return made;
    }
    const types::Type* evaluate(const syntax::Node* expr) {
        return is_plain(expr) ? in_.evaluate_type(expr, in_.top_scope()) : nullptr;
    }
    const Alias& alias(const std::string& key);

private:
    const types::Type* define(const std::string& key);

    SharedTypes& shared_;
    base::NullSink sink_;
    evaluator::Interpreter in_;
    bool own_ = false;  ///< True if each compile must make the current type itself.
    std::vector<std::string> names_;
};

// Accepts only a file that loads without errors or warnings. Autoloader reports problems of other
// files.
const types::Type* SharedTypes::Maker::define(const std::string& key) {
    const auto& environment = *shared_.environment_;
    const auto path = environment.type_file(key);
    if (!path) return nullptr;
    auto file = environment.parse_file(*path);
    if (!file || file->error || !file->findings.empty() || !file->tree->warnings.empty())
        return nullptr;
    const auto& program = *file->tree->program;
    if (program.definitions.size() != 1) return nullptr;
    const syntax::Node* node = program.definitions[0];
    const auto* alias = syntax::as<syntax::TypeAlias>(node);
    if (!alias || base::lower(alias->name) != key || !is_plain(alias->type_expr) ||
        (program.body && program.body != node))
        return nullptr;
    shared_.files_.push_back(std::move(file));
    return types::make_type_definition(in_.types(), alias->name, alias->type_expr);
}

const SharedTypes::Alias& SharedTypes::Maker::alias(const std::string& key) {
    {
        const std::shared_lock lock(shared_.mutex_);
        if (const auto it = shared_.aliases_.find(key); it != shared_.aliases_.end())
            return *it->second;
    }
    // The incomplete alias is already in the table, so a recursive one does not find itself and is
    // not shared.
    Alias* made = nullptr;
    {
        const std::unique_lock lock(shared_.mutex_);
        made = shared_.aliases_.emplace(key, std::make_unique<Alias>()).first->second.get();
    }
    Answer answer;
    Answer tried;
    const auto* type = attempt(tried, [&] { return define(key); });
    answer.names = std::move(tried.names);
    if (type) add_names(answer.names, {key});
    add_reads(answer.reads, {tried.reads.ids().begin(), tried.reads.ids().end()});
    const std::unique_lock lock(shared_.mutex_);
    static_cast<Answer&>(*made) = std::move(answer);
    made->type = type;
    made->done = true;
    return *made;
}

std::shared_ptr<SharedTypes> SharedTypes::of(const environment::Environment& environment) {
    return environment.attached<SharedTypes>(
        [&] { return std::shared_ptr<SharedTypes>(new SharedTypes(environment)); });
}

const SharedTypes::Parameters* SharedTypes::parameters(
    const syntax::Node& definition, syntax::ParameterList list, const syntax::Node* returns,
    const std::shared_ptr<const environment::ParsedFile>& file) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto it = parameters_.find(&definition); it != parameters_.end())
            return it->second.get();
    }
    const std::lock_guard making(making_);
    {
        const std::shared_lock lock(mutex_);
        if (const auto it = parameters_.find(&definition); it != parameters_.end())
            return it->second.get();
    }
    // Attempts are not part of the current trace; a compile records the reads of the answers that
    // it uses.
    const environment::Trace::Recording unseen(nullptr);
    auto made = std::make_unique<Parameters>();
    Maker maker(*this);
    bool shared = true;
    std::vector<environment::ReadId> reads;
    const auto evaluate = [&](const syntax::Node* expr) -> const types::Type* {
        if (!expr || !shared) return nullptr;
        Answer answer;
        const auto* type = maker.attempt(answer, [&] { return maker.evaluate(expr); });
        if (!type) shared = false;
        add_names(made->names, answer.names);
        reads.insert(reads.end(), answer.reads.ids().begin(), answer.reads.ids().end());
        return type;
    };
    for (const auto* p : list) made->table.add(*p, evaluate(p->type_expr));
    made->returns = evaluate(returns);
    made->table.finish();
    add_reads(made->reads, std::move(reads));
    if (shared) {
        files_.push_back(file);
    } else {
        made = nullptr;
    }
    const std::unique_lock lock(mutex_);
    return parameters_.emplace(&definition, std::move(made)).first->second.get();
}

const SharedTypes::Alias* SharedTypes::alias(std::string_view key) {
    const std::string name(key);
    const auto answer = [](const Alias& found) { return found.type ? &found : nullptr; };
    {
        const std::shared_lock lock(mutex_);
        if (const auto it = aliases_.find(name); it != aliases_.end() && it->second->done)
            return answer(*it->second);
    }
    const std::lock_guard making(making_);
    const environment::Trace::Recording unseen(nullptr);
    Maker maker(*this);
    return answer(maker.alias(name));
}

}  // namespace bunraku::compiler
