// SPDX-License-Identifier: Apache-2.0
// The function puppetdb_query. In Puppet it is part of PuppetDB's terminus.
#include <span>

#include "language/evaluator/host.h"
#include "language/function/support.h"

namespace bunraku::function {

namespace {

Value puppetdb_query(const Call& call) {
    auto* inputs = call.interpreter.hosts().inputs;
    if (!inputs) argument_error("Store queries are not supported in this context");
    auto answer = inputs->store_query(call.args[0], call.arena());
    if (!answer) argument_error("{}", answer.error().message);
    return *answer;
}

const Builtin kFunctions[] = {
    {"puppetdb_query",
     "Runs a query against the store, as PQL or as a syntax tree, and returns the rows.",
     {{"Variant[String[1], Array[Data, 1]] query", puppetdb_query}}},
};

}  // namespace

std::span<const Builtin> puppetdb_functions() { return kFunctions; }

}  // namespace bunraku::function
