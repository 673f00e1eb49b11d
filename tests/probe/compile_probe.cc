// SPDX-License-Identifier: Apache-2.0
// Compiles small manifests for tools/stdlib_releases. Reads one JSON object per line from stdin:
// {"id": .., "code": .., "strict": .., "facts": {..}, "modulepath": ..}. Writes one line per object
// to stdout, with the catalog and the logs, or with the error. If the object has "usual", a call
// with unusual arguments is an error. With --functions, prints which native functions replace
// functions of modules.
#include <cstdio>
#include <iostream>
#include <string>

#include "compile/compiler/compile.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/function/table.h"
#include "resources/catalog/agent_json.h"

using namespace bunraku;
using value::Value;

namespace {

Value text(base::Arena& arena, std::string_view s) { return value::make_string(arena, s); }

Value list(base::Arena& arena, const std::vector<Value>& items) {
    return value::make_array(arena, items);
}

void compile_one(const Value& asked, std::shared_ptr<base::Arena> arena,
                 value::HashBuilder& answer) {
    base::MemorySink log;
    environment::Spec spec;
    spec.code = std::string(asked.as_hash().find("code")->as_string());
    spec.modulepath = {std::string(asked.as_hash().find("modulepath")->as_string())};
    spec.modulepath_given = true;
    compiler::Request request;
    const std::string strict(asked.as_hash().find("strict")->as_string());
    compiler::SystemInputs inputs("production", "vm.example.com", [&](std::string_view name) {
        return name == "strict" ? std::optional(strict) : std::nullopt;
    });
    request.arena = arena;
    request.log = &log;
    request.inputs = &inputs;
    request.node.name = "vm.example.com";
    request.node.facts = *asked.as_hash().find("facts");
    request.options.strict =
        strict == "error" ? evaluator::Strict::Error : evaluator::Strict::Warning;
    request.options.only_usual = asked.as_hash().find("usual") != nullptr;
    try {
        request.environment = *environment::Environment::open(spec, log);
        const auto catalog = compiler::compile(request).catalog;
        answer.set("catalog", text(*arena, catalog::to_agent_json(*catalog)));
    } catch (const base::PuppetError& error) {
        answer.set("error", text(*arena, error.full_text()));
    }
    std::vector<Value> logs;
    for (const auto& entry : log.records)
        logs.push_back(list(
            *arena, {text(*arena, base::level_name(entry.level)), text(*arena, entry.message)}));
    answer.set("logs", list(*arena, logs));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--functions") {
        const auto& table = function::builtin_functions();
        for (const auto* f : table.all()) {
            if (!table.is_replaceable(*f)) continue;
            std::printf("%s\t%s\n", std::string(f->name).c_str(),
                        f->statement ? "statement" : "value");
        }
        return 0;
    }
    std::string line;
    while (std::getline(std::cin, line)) {
        auto arena = std::make_shared<base::Arena>();
        auto asked = value::parse_json(*arena, line);
        if (!asked || !asked->is_hash()) return 1;
        value::HashBuilder answer(*arena);
        answer.set("id", *asked->as_hash().find("id"));
        compile_one(*asked, arena, answer);
        std::string out;
        value::write_json(out, answer.build());
        out += '\n';
        std::fwrite(out.data(), 1, out.size(), stdout);
    }
    return 0;
}
