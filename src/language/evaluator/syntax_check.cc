#include "language/evaluator/syntax_check.h"

#include "core/base/diagnostic.h"
#include "language/syntax/parser.h"

namespace bunraku::evaluator {

void check_external_syntax(const value::Value& text, std::string_view syntax,
                           const syntax::Node* site) {
    if (syntax.empty() || !text.is_string()) return;
    // The checks are those of literal heredocs; here the error belongs to evaluation, not to
    // parsing.
    if (const auto found = syntax::check_text_syntax(text.as_string(), syntax, site->where())) {
        base::PuppetError error(found->message(), found->issue_code(),
                                base::PuppetError::Class::Plain);
        throw error.at(found->where());
    }
}

}  // namespace bunraku::evaluator
