// SPDX-License-Identifier: Apache-2.0
// The eight log functions and `fail`.
#include "language/function/support.h"

namespace bunraku::function {
namespace {

/// Returns the source that Puppet shows for a message logged from a scope, such as
/// "Scope(Class[main])".
std::string scope_source(const Call& call) {
    auto* host = call.interpreter.hosts().catalog;
    return host ? host->scope_label(call.scope) : "Scope(Class[main])";
}

template <base::Level L>
Value log_at(const Call& call) {
    auto& log = call.interpreter.log();
    if (log.enabled(L)) {
        std::string message;
        for (const Value& v : call.args) {
            if (&v != call.args.data()) message += ' ';
            value::print(message, v);
        }
        log.log(base::Diagnostic{.level = L,
                                 .message = std::move(message),
                                 .source = scope_source(call),
                                 .authored = true});
    }
    return Value::undef();
}

Value fail(const Call& call) {
    std::string message;
    for (const Value& v : call.args) {
        if (&v != call.args.data()) message += ' ';
        message += ruby_to_s(v);
    }
    base::PuppetError error(std::move(message));
    error.authored = true;
    throw error;
}

#define BUNRAKU_LOG(NAME, LEVEL)                             \
    {NAME,                                                   \
     "Logs a message on the server at level " NAME ".",      \
     {{"Any *values >> Undef", log_at<base::Level::LEVEL>}}, \
     true}

const Builtin kFunctions[] = {
    BUNRAKU_LOG("debug", Debug),
    BUNRAKU_LOG("info", Info),
    BUNRAKU_LOG("notice", Notice),
    BUNRAKU_LOG("warning", Warning),
    BUNRAKU_LOG("err", Err),
    BUNRAKU_LOG("alert", Alert),
    BUNRAKU_LOG("emerg", Emerg),
    BUNRAKU_LOG("crit", Crit),
    {"fail", "Ends the compile with a message.", {{"", fail}}, true, -1},
};

}  // namespace

std::span<const Builtin> logging_functions() { return kFunctions; }

}  // namespace bunraku::function
