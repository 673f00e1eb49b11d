// SPDX-License-Identifier: Apache-2.0
#include "language/function/table.h"

namespace bunraku::function {

using evaluator::Builtin;

std::span<const Builtin> annotate_functions();
std::span<const Builtin> collection_functions();
std::span<const Builtin> control_functions();
std::span<const Builtin> digest_functions();
std::span<const Builtin> file_functions();
std::span<const Builtin> iteration_functions();
std::span<const Builtin> logging_functions();
std::span<const Builtin> lookup_functions();
std::span<const Builtin> match_functions();
std::span<const Builtin> numeric_functions();
std::span<const Builtin> puppetdb_functions();
std::span<const Builtin> resource_functions();
std::span<const Builtin> stdlib_array_functions();
std::span<const Builtin> stdlib_crypto_functions();
std::span<const Builtin> stdlib_data_functions();
std::span<const Builtin> stdlib_hash_functions();
std::span<const Builtin> stdlib_misc_functions();
std::span<const Builtin> stdlib_network_functions();
std::span<const Builtin> stdlib_resource_functions();
std::span<const Builtin> stdlib_string_functions();
std::span<const Builtin> stdlib_validate_functions();
std::span<const Builtin> text_functions();
std::span<const Builtin> typing_functions();

const evaluator::FunctionTable& builtin_functions() {
    static constexpr evaluator::Family kFamilies[] = {
        annotate_functions, collection_functions, control_functions,  digest_functions,
        file_functions,     iteration_functions,  logging_functions,  lookup_functions,
        match_functions,    numeric_functions,    puppetdb_functions, resource_functions,
        text_functions,     typing_functions,
    };
    static constexpr evaluator::Family kStdlib[] = {
        stdlib_array_functions,    stdlib_crypto_functions, stdlib_data_functions,
        stdlib_hash_functions,     stdlib_misc_functions,   stdlib_network_functions,
        stdlib_resource_functions, stdlib_string_functions, stdlib_validate_functions,
    };
    static const auto* const table = new evaluator::FunctionTable(kFamilies, kStdlib);
    return *table;
}

}  // namespace bunraku::function
