// SPDX-License-Identifier: Apache-2.0
// Evaluates any text or refuses it. Calls, memory and nesting are limited. Files, processes and a
// store are not available.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "compile/compiler/compile.h"
#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"
#include "language/types/type.h"
#include "resources/catalog/agent_json.h"

using namespace bunraku;

namespace {

/// Inputs of an empty machine: no file exists, no program runs, and the clock does not advance.
class NoInputs final : public evaluator::Inputs {
public:
    std::optional<std::string> read_file(std::string_view) override { return std::nullopt; }
    bool file_exists(std::string_view) override { return false; }
    std::int64_t now_ns() override { return 1'700'000'000'000'000'000; }
    std::uint32_t random_bits() override { return 0; }
    std::optional<std::string> setting(std::string_view) override { return std::nullopt; }
    std::string_view environment_name() override { return "production"; }
    std::string_view node_name() override { return "n"; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 16 * 1024) return 0;
    base::NullSink log;
    environment::Spec spec;
    spec.code = std::string(reinterpret_cast<const char*>(data), size);
    spec.modulepath_given = true;
    auto environment = environment::Environment::open(spec, log);
    if (!environment) return 0;
    constexpr std::size_t kMemory = 64 << 20;
    NoInputs inputs;
    compiler::Request request;
    request.environment = *environment;
    request.arena = std::make_shared<base::Arena>(16 * 1024, kMemory);
    request.log = &log;
    request.inputs = &inputs;
    request.node.name = "n";
    request.options.strict = evaluator::Strict::Warning;
    request.options.max_calls = 300'000;
    try {
        const auto result = compiler::compile(request);
        std::string out;
        catalog::write_agent_json(out, *result.catalog, {});
        base::Arena again(16 * 1024, kMemory);
        if (!value::parse_json(again, out)) {
            // If values are deeply nested, the written document may be too deep to read. All other
            // documents must be readable.
            for (const auto& r : result.catalog->resources)
                for (const auto& p : r.parameters)
                    if (p.value.depth() > value::kMaxDepth / 4) return 0;
            __builtin_trap();
        }
    } catch (const base::PuppetError&) {
    } catch (const std::bad_alloc&) {
    }
    return 0;
}
