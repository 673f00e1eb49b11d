// SPDX-License-Identifier: Apache-2.0
// The check for variables that are used without a namespace but not defined in the class.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"
#include "language/lint/checks/names.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Variables that every scope has, and the metaparameters of defined types.
constexpr std::string_view kScopeVariables[] = {
    "name",          "title",      "module_name", "environment",   "clientcert",
    "clientversion", "servername", "serverip",    "serverversion", "caller_module_name",
    "alias",         "audit",      "before",      "loglevel",      "noop",
    "notify",        "require",    "schedule",    "stage",         "subscribe",
    "tag",           "facts",      "trusted",     "server_facts",
};

using Names = std::set<std::string_view>;

/// The variables of the definitions of a file. Like in puppet-lint, a variable that one definition
/// sets is known in the definitions after it.
class ScopeCheck {
public:
    ScopeCheck(const Manifest& manifest, Report& report)
        : manifest_(manifest),
          report_(report),
          known_(std::begin(kScopeVariables), std::end(kScopeVariables)) {}

    void check(const Definition& definition) {
        for (const Token* token : definition.parameters) {
            if (token->is(T::Variable) &&
                is_a(token->next_code, T::Comma, T::Equals, T::RightParen))
                known_.insert(token->value);
        }
        used_.clear();
        lambdas_.clear();
        std::vector<std::vector<std::string_view>> open;
        bool in_lambda_parameters = false;
        for (Token* token : manifest_.tokens(definition.range)) {
            if (token->is(T::Equals)) {
                assigned(*token);
            } else if (token->is(T::Variable)) {
                if (in_lambda_parameters)
                    open.back().push_back(token->value);
                else
                    used_.push_back(token);
            } else if (token->is(T::Pipe)) {
                in_lambda_parameters = !in_lambda_parameters;
                if (in_lambda_parameters) {
                    open.emplace_back();
                } else {
                    add_lambda(*token, open.back());
                    open.pop_back();
                }
            }
        }
        report_unknown();
    }

private:
    /// Adds the variables to the left of an equals sign: `$a =` or `[$a, $b] =`.
    void assigned(const Token& equals) {
        const Token* at = equals.previous_code;
        if (is_a(at, T::Variable)) {
            known_.insert(at->value);
        } else if (is_a(at, T::RightBracket)) {
            int depth = 0;
            for (; at; at = at->previous_code) {
                if (at->is(T::Variable)) {
                    known_.insert(at->value);
                } else if (at->is(T::RightBracket)) {
                    ++depth;
                } else if (at->is(T::LeftBracket)) {
                    if (--depth == 0) return;
                } else if (!at->is(T::Comma)) {
                    return;
                }
            }
        }
    }

    /// Adds the parameters of a lambda to all lines of its body. `pipe` ends its parameters.
    void add_lambda(const Token& pipe, const std::vector<std::string_view>& parameters) {
        const auto end = manifest_.block_ends().after(pipe.index);
        if (!end) return;
        for (const std::string_view parameter : parameters)
            lambdas_[parameter].push_back({pipe.line, manifest_.tokens()[*end]->line});
    }

    /// Orders the lambdas of each parameter by their first line. A lambda then extends to the last
    /// line of all lambdas before it.
    void order_lambdas() {
        for (auto& [parameter, lambdas] : lambdas_) {
            std::ranges::sort(lambdas, {}, &Lines::first);
            int last = 0;
            for (Lines& lines : lambdas) lines.last = last = std::max(last, lines.last);
        }
    }

    bool is_lambda_parameter(std::string_view name, int line) const {
        const auto found = lambdas_.find(name);
        if (found == lambdas_.end()) return false;
        const auto after = std::ranges::upper_bound(found->second, line, {}, &Lines::first);
        return after != found->second.begin() && (after - 1)->last >= line;
    }

    void report_unknown() {
        order_lambdas();
        for (Token* token : used_) {
            const std::string_view name = without_index(token->value);
            if (is_lambda_parameter(name, token->line)) continue;
            if (token->value.contains("::") || known_.contains(name)) continue;
            if (std::ranges::all_of(token->value, is_digit)) continue;
            report_.warning(token, "top-scope variable being used without an explicit namespace");
        }
    }

    const Manifest& manifest_;
    Report& report_;
    Names known_;
    std::vector<Token*> used_;
    struct Lines {
        int first, last;
    };
    std::map<std::string_view, std::vector<Lines>> lambdas_;  ///< by parameter
};

}  // namespace

const Check check_variable_scope{
    .name = "variable_scope",
    .description = "Variables of other scopes are used with their namespace.",
    .run = [](const Manifest& manifest, Report& report) {
        ScopeCheck scope(manifest, report);
        for (const Definition* definition : manifest.definitions()) scope.check(*definition);
    }};

}  // namespace bunraku::lint
