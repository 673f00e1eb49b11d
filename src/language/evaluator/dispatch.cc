// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/dispatch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "language/evaluator/closure.h"
#include "language/evaluator/evaluation.h"
#include "language/syntax/parser.h"
#include "language/types/factory.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

namespace {

/// Returns the end of a parameter: a comma outside brackets, quotes and regular expressions.
std::size_t parameter_end(std::string_view s) {
    int depth = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
        const char c = s[i];
        if (c == '\'' || c == '"' || (c == '/' && depth > 0)) {
            const std::size_t from = i++;
            while (i < s.size() && s[i] != s[from]) i += s[i] == '\\' ? 2 : 1;
        } else if (c == '[' || c == '{' || c == '(') {
            ++depth;
        } else if (c == ']' || c == '}' || c == ')') {
            --depth;
        } else if (c == ',' && depth == 0) {
            return i;
        }
    }
    return s.size();
}

struct Piece {
    std::string_view type, name;
    char mark = ' ';  // '*', '+', '&' or a blank
    bool optional = false;
};

/// Removes " >> Type" from the end of a signature and returns that type. Returns an empty view if
/// there is none.
std::string_view take_return_type(std::string_view& signature) {
    const std::size_t at = signature.rfind(">> ");
    if (at == std::string_view::npos) return {};
    const std::string_view type = base::trim(signature.substr(at + 3), " \n");
    signature = base::trim(signature.substr(0, at), " \n");
    return type;
}

/// Resolves a function's local types while its signatures are parsed.
struct LocalTypes final : types::Loader {
    std::vector<std::pair<std::string_view, const types::Type*>> all;
    const types::Type* find_type(std::string_view name) override {
        for (const auto& [n, t] : all)
            if (n == name) return t;
        return nullptr;
    }
    /// Reads lines of the form "Name = Type". A type may refer to itself and to the others, so the
    /// types resolve on first use.
    void read(types::Context& ctx, std::string_view lines) {
        while (!lines.empty()) {
            const std::size_t end = std::min(lines.find('\n'), lines.size());
            const std::string_view line = lines.substr(0, end);
            lines.remove_prefix(std::min(end + 1, lines.size()));
            const std::size_t equals = line.find('=');
            BUNRAKU_ASSERT(equals != std::string_view::npos);
            trees.push_back(
                syntax::parse("", std::string(base::trim(line.substr(equals + 1), " \n"))));
            types::TypeAliasType* alias = types::make_type_alias(
                ctx, base::trim(line.substr(0, equals), " \n"), trees.back()->program->body);
            alias->loader = this;
            all.push_back({alias->name, alias});
        }
    }
    std::vector<std::shared_ptr<const syntax::Tree>> trees;
};

std::vector<Piece> pieces_of(std::string_view signature) {
    std::vector<Piece> out;
    for (signature = base::trim(signature, " \n"); !signature.empty();) {
        const std::size_t end = parameter_end(signature);
        const std::string_view text = base::trim(signature.substr(0, end), " \n");
        signature = end < signature.size() ? base::trim(signature.substr(end + 1), " \n")
                                           : std::string_view();
        Piece piece;
        std::size_t cut = text.size();
        while (cut > 0 && (text[cut - 1] == '?' || text[cut - 1] == '_' ||
                           (text[cut - 1] >= 'a' && text[cut - 1] <= 'z') ||
                           (text[cut - 1] >= 'A' && text[cut - 1] <= 'Z') ||
                           (text[cut - 1] >= '0' && text[cut - 1] <= '9')))
            --cut;
        piece.name = text.substr(cut);
        if (piece.name.ends_with('?')) {
            piece.optional = true;
            piece.name.remove_suffix(1);
        }
        if (cut > 0 && (text[cut - 1] == '*' || text[cut - 1] == '+' || text[cut - 1] == '&'))
            piece.mark = text[--cut];
        piece.type = base::trim(text.substr(0, cut), " \n");
        out.push_back(piece);
    }
    return out;
}

ParsedOverload parse_overload(types::Context& ctx, const Overload& overload) {
    ParsedOverload out;
    out.overload = &overload;
    std::vector<std::string_view> names;
    std::vector<const types::Type*> all;
    std::vector<const types::Type*> plain;
    std::int64_t maximum = 0;
    std::string_view signature = overload.signature;
    const std::string_view returns = take_return_type(signature);
    for (const Piece& piece : pieces_of(signature)) {
        const types::Type* type = types::parse_type(ctx, piece.type.empty() ? "Any" : piece.type);
        if (piece.mark == '&') {
            out.block = type;
            out.block_optional = piece.optional;
            out.block_name = piece.name;
            if (const auto* callable = types::as<types::CallableType>(type)) {
                const bool open = !callable->returns && !callable->block;
                out.block_any = open && !callable->params;
                // Callable[n, n] does not restrict the types of its parameters.
                if (open && callable->params &&
                    std::all_of(callable->params->types.begin(), callable->params->types.end(),
                                [](const types::Type* t) { return t == types::defaults().unit; })) {
                    const types::Range size = callable->params->size_range();
                    if (size.min == size.max) out.block_arguments = static_cast<int>(size.min);
                }
            }
            continue;
        }
        names.push_back(piece.name);
        all.push_back(type);
        plain.push_back(type->kind == types::TypeKind::Any ? nullptr : type);
        if (piece.mark == '*' || piece.mark == '+') {
            if (piece.mark == '+') ++out.minimum;
            maximum = types::kMax;
        } else {
            if (!piece.optional) ++out.minimum;
            ++maximum;
        }
    }
    BUNRAKU_ASSERT(names.size() == plain.size() && out.minimum <= maximum);
    BUNRAKU_ASSERT(out.block || !out.block_optional);
    out.maximum = maximum == types::kMax ? -1 : static_cast<int>(maximum);
    out.names = ctx.arena.copy(names);
    out.types = ctx.arena.copy(plain);
    const types::TupleType* params =
        types::make_tuple_type(ctx, all, types::Range{out.minimum, maximum});
    const types::Type* block = out.block;
    if (block && out.block_optional) block = types::make_optional(ctx, block);
    const types::Type* result = returns.empty() ? nullptr : types::parse_type(ctx, returns);
    out.callable = types::make_callable(ctx, params, block, result);
    return out;
}

}  // namespace

bool accepts(Interpreter& in, const ParsedOverload& overload, std::span<const Value> args,
             const Callable* block) {
    if (args.size() < static_cast<std::size_t>(overload.minimum)) return false;
    if (overload.maximum >= 0 && args.size() > static_cast<std::size_t>(overload.maximum))
        return false;
    BUNRAKU_ASSERT(args.empty() || !overload.types.empty());
    for (std::size_t i = 0; i < args.size(); ++i) {
        const types::Type* type = overload.types[std::min(i, overload.types.size() - 1)];
        if (type && !types::is_instance(in.types(), type, args[i])) return false;
    }
    if (!block) return !overload.block || overload.block_optional;
    if (!overload.block) return false;
    BUNRAKU_ASSERT(!overload.block_any || overload.block_arguments < 0);
    if (overload.block_any) return true;
    if (overload.block_arguments >= 0) {
        const auto [required, maximum] = block->arity();
        return required <= overload.block_arguments &&
               (maximum < 0 || maximum >= overload.block_arguments);
    }
    return types::is_assignable(in.types(), overload.block, block->signature(in));
}

struct FunctionTable::Impl {
    struct Parsed {
        std::once_flag once;
        std::span<const ParsedOverload> overloads;
        std::unique_ptr<LocalTypes> local;
    };
    std::unordered_map<std::string_view, std::size_t> by_name;
    std::vector<const Builtin*> functions;  // sorted by name
    std::unordered_set<const Builtin*> replaceable;
    std::unique_ptr<Parsed[]> parsed;
    std::mutex arena_lock;
    base::Arena arena;
};

FunctionTable::FunctionTable(std::span<const Family> families, std::span<const Family> replaceable)
    : impl_(new Impl) {
    for (const Family family : families)
        for (const Builtin& builtin : family()) impl_->functions.push_back(&builtin);
    for (const Family family : replaceable) {
        for (const Builtin& builtin : family()) {
            impl_->functions.push_back(&builtin);
            impl_->replaceable.insert(&builtin);
        }
    }
    std::sort(impl_->functions.begin(), impl_->functions.end(),
              [](const Builtin* a, const Builtin* b) { return a->name < b->name; });
    impl_->by_name.reserve(impl_->functions.size());
    for (std::size_t i = 0; i < impl_->functions.size(); ++i)
        impl_->by_name.emplace(impl_->functions[i]->name, i);
    BUNRAKU_ASSERT(impl_->by_name.size() == impl_->functions.size());
    impl_->parsed = std::make_unique<Impl::Parsed[]>(impl_->functions.size());
}

FunctionTable::~FunctionTable() { delete impl_; }

const Builtin* FunctionTable::find(std::string_view name) const {
    const auto at = impl_->by_name.find(name);
    BUNRAKU_ASSERT(at == impl_->by_name.end() || impl_->functions[at->second]->name == name);
    return at == impl_->by_name.end() ? nullptr : impl_->functions[at->second];
}

bool FunctionTable::is_replaceable(const Builtin& function) const {
    return impl_->replaceable.contains(&function);
}

std::span<const Builtin* const> FunctionTable::all() const { return impl_->functions; }

std::span<const ParsedOverload> FunctionTable::overloads(const Builtin& function) const {
    Impl::Parsed& parsed = impl_->parsed[impl_->by_name.at(function.name)];
    std::call_once(parsed.once, [&] {
        const std::lock_guard lock(impl_->arena_lock);
        types::Context ctx{impl_->arena, nullptr};
        LocalTypes local;
        if (!function.local_types.empty()) {
            ctx.loader = &local;
            local.read(ctx, function.local_types);
        }
        std::vector<ParsedOverload> out;
        for (const Overload& overload : function.overloads)
            out.push_back(parse_overload(ctx, overload));
        parsed.overloads = impl_->arena.copy(out);
    });
    BUNRAKU_ASSERT(parsed.overloads.size() == function.overloads.size());
    return parsed.overloads;
}

}  // namespace bunraku::evaluator
