// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/syntax_check.h"

#include "core/base/diagnostic.h"
#include "language/syntax/parser.h"

namespace bunraku::evaluator {

void check_external_syntax(const value::Value& text, std::string_view syntax,
                           const syntax::Node* site) {
    if (syntax.empty() || !text.is_string()) return;
    // The checks are the same as for literal heredocs, but the error is an evaluation error and not
    // a parse error.
    if (const auto found = syntax::check_text_syntax(text.as_string(), syntax, site->where())) {
        base::PuppetError error(found->message(), found->issue_code(),
                                base::PuppetError::Class::Plain);
        throw error.at(found->where());
    }
}

}  // namespace bunraku::evaluator
