// puppetdb_query, which Puppet gets from PuppetDB's terminus.
#include <span>

#include "language/evaluator/host.h"
#include "language/function/support.h"

namespace bunraku::function {

namespace {

Value puppetdb_query(const Call& call) {
    auto* inputs = call.interpreter.hosts().inputs;
    if (!inputs) argument_error("no store can be asked here");
    auto answer = inputs->store_query(call.args[0], call.arena());
    if (!answer) argument_error("{}", answer.error().message);
    return *answer;
}

const Builtin kFunctions[] = {
    {"puppetdb_query",
     "Asks the store a question, in PQL or as a syntax tree, and gives the rows.",
     {{"Variant[String[1], Array[Data, 1]] query", puppetdb_query}}},
};

}  // namespace

std::span<const Builtin> puppetdb_functions() { return kFunctions; }

}  // namespace bunraku::function
