// SPDX-License-Identifier: Apache-2.0
// stdlib's is_* and validate_* functions, as in module version 8.5.0. Those that version 9 removed
// remain available. They first call `deprecation`. With the setting strict at its default "error",
// most of them are therefore errors, as in the module.
#include <cmath>
#include <cstdio>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "core/codec/pem.h"
#include "core/regex/regex.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"
#include "language/syntax/ast.h"
#include "language/types/mismatch.h"

namespace bunraku::function {

void deprecation(const Call& call, std::string_view key, std::string_view message) {
    std::string full(message);
    if (call.site) {
        auto location_text = [](const syntax::Node* site) {
            const auto where = site->where();
            const bool whole = site->kind == syntax::NodeKind::Program;
            const std::string file = where.file.empty() ? "unknown" : where.file;
            return fmt::format("[{}, {}]", inspect_string(file), whole ? 0 : where.line);
        };
        // The next frame is the call of the enclosing function, or the manifest itself for code at
        // the top level.
        const auto* frame = call.interpreter.frames();
        while (frame && frame->site == call.site) frame = frame->outer;
        full += fmt::format(" at {}:{}", location_text(call.site),
                            frame ? location_text(frame->site) : "");
    }
    switch (call.interpreter.options().strict) {
        case evaluator::Strict::Off: return;
        case evaluator::Strict::Error: argument_error("deprecation. {}. {}", key, full);
        case evaluator::Strict::Warning: warn_deprecated(call, full, key);
    }
}

namespace {

using value::Kind;
using Args = std::span<const Value>;

void expect_one(Args args, std::string_view name, bool parentheses) {
    if (args.size() == 1) return;
    if (parentheses)
        argument_error("{}(): Wrong number of arguments given ({} for 1)", name, args.size());
    argument_error("{}(): Wrong number of arguments given {} for 1", name, args.size());
}
void expect_some(Args args, std::string_view name) {
    if (args.empty()) argument_error("{}(): wrong number of arguments (0; must be > 0)", name);
}

// --- is_* ---

bool is_array(Args args) {
    if (args.empty()) expect_one(args, "is_array", true);
    return args[0].is_array();
}
bool is_hash(Args args) {
    expect_one(args, "is_hash", true);
    return args[0].is_hash();
}
bool is_bool(Args args) {
    expect_one(args, "is_bool", true);
    return args[0].is(Kind::Boolean);
}
bool is_float(Args args) {
    expect_one(args, "is_float", false);
    const Value& v = args[0];
    return v.is_float() ||
           (v.is_string() && v.as_string() == value::format_float(leading_float(v.as_string())));
}
bool is_integer(Args args) {
    expect_one(args, "is_integer", false);
    return args[0].is_integer() ||
           (args[0].is_string() && regex_match("^-?(?:(?:[1-9]\\d*)|0)$", args[0].as_string()));
}
bool is_numeric(Args args) {
    expect_one(args, "is_numeric", false);
    return args[0].is_numeric() ||
           (args[0].is_string() &&
            regex_match("^-?(?:(?:[1-9]\\d*)|0)(?:\\.\\d+)?(?:[eE]-?\\d+)?$", args[0].as_string()));
}
bool is_string(Args args) {
    if (args.empty()) expect_one(args, "is_string", true);
    const Value& v = args[0];
    if (v.is_undef()) return true;
    return v.is_string() && v.as_string() != value::format_float(leading_float(v.as_string())) &&
           v.as_string() != std::to_string(to_integer(v));
}
bool is_absolute_path(Args args) {
    expect_one(args, "is_absolute_path", true);
    if (!args[0].is_string()) return false;
    const std::string_view s = args[0].as_string();
    return regex_match("^/", s) ||
           regex_match(
               "^(?:(?:[A-Z]:[\\\\/])|(?:[\\\\/][\\\\/][^\\\\/]+[\\\\/][^\\\\/]+)|"
               "(?:[\\\\/][\\\\/]\\?[\\\\/][^\\\\/]+))",
               s, regex::kIgnoreCase);
}
std::optional<IpAddress> ip_argument(Args args) {
    return args[0].is_string() ? parse_ip(args[0].as_string()) : std::nullopt;
}
bool is_ip_address(Args args) {
    expect_one(args, "is_ip_address", false);
    return ip_argument(args).has_value();
}
bool is_ipv4_address(Args args) {
    expect_one(args, "is_ipv4_address", false);
    const auto ip = ip_argument(args);
    return ip && !ip->v6;
}
bool is_ipv6_address(Args args) {
    expect_one(args, "is_ipv6_address", false);
    const auto ip = ip_argument(args);
    return ip && ip->v6;
}
bool is_mac_address(Args args) {
    expect_one(args, "is_mac_address", false);
    if (!args[0].is_string()) return false;
    const std::string_view s = args[0].as_string();
    return regex_match("^[a-f0-9]{1,2}(:[a-f0-9]{1,2}){5}$", s, regex::kIgnoreCase) ||
           regex_match("^[a-f0-9]{1,2}(:[a-f0-9]{1,2}){19}$", s, regex::kIgnoreCase);
}
bool is_domain_name(Args args) {
    expect_one(args, "is_domain_name", false);
    if (!args[0].is_string()) return false;
    std::string_view s = args[0].as_string();
    if (s == ".") return true;
    if (s.ends_with('.')) s.remove_suffix(1);
    if (s.empty() || characters(s) > 255) return false;
    if (s.find('.') != s.npos && !regex_match("\\.[A-Za-z]+$", s)) return false;
    while (s.ends_with('.')) s.remove_suffix(1);
    for (std::size_t at = 0; at <= s.size();) {
        const std::size_t end = std::min(s.find('.', at), s.size());
        const std::string_view label = s.substr(at, end - at);
        if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-') ||
            !regex_match("^[a-z\\d-]+$", label, regex::kIgnoreCase))
            return false;
        at = end + 1;
    }
    return true;
}
bool is_email_address(Args args) {
    expect_one(args, "is_email_address", false);
    return args[0].is_string() &&
           regex_match("\\A([\\w+\\-].?)+@[a-z\\d\\-]+(\\.[a-z]+)*\\.[a-z]+\\z",
                       args[0].as_string());
}

// --- validate_* ---

template <bool (*F)(Args)>
void each_is(Args args, std::string_view name, std::string_view what) {
    expect_some(args, name);
    for (const Value& v : args) {
        if (!F(Args(&v, 1)))
            argument_error("{} is not {}.  It looks to be a {}", inspect(v), what, ruby_class(v));
    }
}
void validate_array(const Call&, Args args) {
    each_is<is_array>(args, "validate_array", "an Array");
}
void validate_hash(const Call&, Args args) { each_is<is_hash>(args, "validate_hash", "a Hash"); }
void validate_bool(const Call&, Args args) { each_is<is_bool>(args, "validate_bool", "a boolean"); }
bool string_or_undef(Args args) { return args[0].is_string() || args[0].is_undef(); }
void validate_string(const Call&, Args args) {
    each_is<string_or_undef>(args, "validate_string", "a string");
}
void validate_absolute_path(const Call&, Args args) {
    expect_some(args, "validate_absolute_path");
    for (const Value& v : args) {
        for (const Value& path : v.is_array() ? v.as_array() : Args(&v, 1)) {
            if (!is_absolute_path(Args(&path, 1)))
                argument_error("{} is not an absolute path.", inspect(path));
        }
    }
}
template <bool (*F)(Args)>
void each_string_is(Args args, std::string_view name, std::string_view what) {
    expect_some(args, name);
    for (const Value& v : args) {
        if (!v.is_string()) argument_error("{} is not a string.", inspect(v));
        if (!F(Args(&v, 1))) argument_error("{} is not a {}", inspect(v), what);
    }
}
void validate_ip_address(const Call&, Args args) {
    each_string_is<is_ip_address>(args, "validate_ip_address", "valid IP address.");
}
void validate_ipv4_address(const Call&, Args args) {
    each_string_is<is_ipv4_address>(args, "validate_ipv4_address", "valid IPv4 address.");
}
void validate_ipv6_address(const Call&, Args args) {
    each_string_is<is_ipv6_address>(args, "validate_ipv6_address", "valid IPv6 address.");
}
void validate_domain_name(const Call&, Args args) {
    each_string_is<is_domain_name>(args, "validate_domain_name",
                                   "syntactically correct domain name");
}
void validate_email_address(const Call&, Args args) {
    each_string_is<is_email_address>(args, "validate_email_address", "valid email address");
}
void validate_re(const Call& call, Args args) {
    if (args.size() < 2 || args.size() > 3)
        argument_error("validate_re(): wrong number of arguments ({}; must be 2 or 3)",
                       args.size());
    if (!args[0].is_string())
        argument_error("validate_re(): input needs to be a String, not a {}", ruby_class(args[0]));
    std::vector<Value> patterns;
    flatten_into(patterns, args.subspan(1, 1));
    for (const Value& p : patterns)
        if (pattern_of(call, p).matches(args[0].as_string())) return;
    if (args.size() > 2 && args[2].truthy()) argument_error("{}", ruby_to_s(args[2]));
    argument_error("validate_re(): {} does not match {}", inspect(args[0]), inspect(args[1]));
}
void validate_slength(const Call&, Args args) {
    constexpr std::string_view kName = "validate_slength()";
    if (args.size() != 2 && args.size() != 3)
        argument_error("{}: Wrong number of arguments ({}; must be 2 or 3)", kName, args.size());
    auto number = [](const Value& v) {
        return v.is_float()                      ? std::optional(to_integer(v))
               : v.is_integer() || v.is_string() ? strict_integer(v)
                                                 : std::nullopt;
    };
    const auto most = number(args[1]);
    if (!most || *most <= 0)
        argument_error("{}: Expected second argument to be a positive Numeric, got {}:{}", kName,
                       ruby_to_s(args[1]), ruby_class(args[1]));
    std::int64_t least = 0;
    if (args.size() > 2 && args[2].truthy()) {
        const auto given = number(args[2]);
        if (!given || *given < 0)
            argument_error(
                "{}: Expected third argument to be unset or a positive Numeric, got {}:{}", kName,
                ruby_to_s(args[2]), ruby_class(args[2]));
        least = *given;
    }
    if (*most < least)
        argument_error("{}: Expected second argument to be equal to or larger than third argument",
                       kName);
    const std::size_t size = args[0].is_array()    ? args[0].as_array().size()
                             : args[0].is_string() ? characters(args[0].as_string())
                                                   : 0;
    auto check = [&](const Value& v) {
        const auto n = static_cast<std::int64_t>(characters(v.as_string()));
        if (n > *most || n < least)
            argument_error("{}: Expected length of {} to be between {} and {}, was {}", kName,
                           inspect(args[0]), least, *most, size);
    };
    if (args[0].is_string()) return check(args[0]);
    if (!args[0].is_array())
        argument_error("{}: Expected first argument to be a String or Array, got {}", kName,
                       ruby_class(args[0]));
    for (std::size_t i = 0; i < size; ++i) {
        const Value& v = args[0].as_array()[i];
        if (!v.is_string())
            argument_error("{}: Expected element at array position {} to be a String, got {}",
                           kName, i, ruby_class(v));
        check(v);
    }
}

/// validate_integer and validate_numeric differ only in the conversion and in one word of the
/// message.
template <class N>
void validate_number(Args args, std::string_view name, std::string_view word) {
    const std::string_view a = std::is_integral_v<N> ? "an" : "a";
    auto convert = [](const Value& v) -> std::optional<N> {
        if constexpr (std::is_integral_v<N>)
            return strict_integer(ruby_to_s(v));
        else
            return strict_float(ruby_to_s(v));
    };
    auto shown = [](N n) {
        return std::is_integral_v<N> ? std::to_string(static_cast<std::int64_t>(n))
                                     : value::format_float(static_cast<double>(n));
    };
    if (args.empty() || args.size() > 3)
        argument_error("{}(): Wrong number of arguments; must be 1, 2 or 3, got {}", name,
                       args.size());
    std::optional<N> most, least;
    if (args.size() > 1) {
        const std::string given = ruby_to_s(args[1]);
        if (!(args.size() > 2 && given.empty())) {
            most = convert(args[1]);
            if (!most)
                argument_error("{}(): Expected second argument to be unset or {} {}, got {}:String",
                               name, a, word, given);
        }
    }
    if (args.size() > 2) {
        least = convert(args[2]);
        if (!least)
            argument_error("{}(): Expected third argument to be unset or {} {}, got {}:{}", name, a,
                           word, ruby_to_s(args[2]), ruby_class(args[2]));
    }
    if (least && most && *least > *most)
        argument_error(
            "{}(): Expected second argument to be larger than third argument, got {} < {}", name,
            shown(*most), shown(*least));
    auto check = [&](N n, const std::string& input) {
        if (most && n > *most)
            argument_error("{0}(): Expected {1} to be smaller or equal to {2}, got {1}.", name,
                           input, shown(*most));
        if (least && n < *least)
            argument_error("{0}(): Expected {1} to be greater or equal to {2}, got {1}.", name,
                           input, shown(*least));
    };
    const Value& input = args[0];
    if (input.is_array()) {
        for (std::size_t i = 0; i < input.as_array().size(); ++i) {
            const Value& v = input.as_array()[i];
            const auto n = v.is_hash() ? std::nullopt : convert(v);
            if (!n)
                argument_error("{}(): Expected element at array position {} to be {} {}, got {}",
                               name, i, a, word, ruby_class(v));
            check(*n, inspect(input));
        }
        return;
    }
    if (input.is_hash())
        argument_error("validate_integer(): Expected first argument to be {} {} or Array, got Hash",
                       a, word);
    const auto n = convert(input);
    if (!n)
        argument_error("{}(): Expected first argument to be {} {} or Array, got {}", name, a, word,
                       ruby_class(input));
    check(*n, shown(*n));
}
void validate_integer(const Call&, Args args) {
    validate_number<std::int64_t>(args, "validate_integer", "Integer");
}
void validate_numeric(const Call&, Args args) {
    validate_number<double>(args, "validate_numeric", "Numeric");
}

/// Writes the content to a temporary file and runs the command on it (% is replaced by the path of
/// the file).
void validate_cmd(const Call& call, Args args) {
    if (args.size() < 2 || args.size() > 3)
        argument_error("validate_cmd(): wrong number of arguments ({}; must be 2 or 3)",
                       args.size());
    std::string message =
        args.size() > 2 && args[2].truthy()
            ? ruby_to_s(args[2])
            : fmt::format("validate_cmd(): failed to validate content with command {}",
                          inspect(args[1]));
    auto& inputs = require_inputs(call);
    // the command line that is executed, for the message
    std::string command;
    const auto result = inputs.run_command_on(
        ruby_to_s(args[0]),
        [&](const std::string& path) -> std::vector<std::string> {
            command = ruby_to_s(args[1]);
            command = regex_match("\\s%(\\s|$)", command) ? replace_all(command, "%", path)
                                                          : command + " " + path;
            return {"/bin/sh", "-c", command};
        },
        "/");
    if (!result) argument_error("{}\n{}", message, result.error().message);
    if (result->status != 0)
        argument_error("{}\n{}", message,
                       failed_execution(command, result->status, result->output));
}
void validate_augeas(const Call&, Args) {
    argument_error(
        "validate_augeas(): this function requires the augeas feature. See "
        "http://docs.puppetlabs.com/guides/augeas.html#pre-requisites for how to activate it.");
}

void validate_x509_rsa_key_pair(const Call&, Args args) {
    if (args.size() != 2)
        argument_error("validate_x509_rsa_key_pair(): wrong number of arguments ({}; must be 2)",
                       args.size());
    for (const Value& v : args)
        if (!v.is_string()) argument_error("{} is not a string.", inspect(v));
    auto memory = [](const Value& v) {
        return BIO_new_mem_buf(v.as_string().data(), static_cast<int>(v.as_string().size()));
    };
    BIO* certificate_text = memory(args[0]);
    X509* certificate = PEM_read_bio_X509(certificate_text, nullptr, codec::no_passphrase, nullptr);
    BIO_free(certificate_text);
    if (!certificate)
        argument_error("Not a valid x509 certificate: PEM_read_bio_X509: no start line");
    BIO* key_text = memory(args[1]);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text, nullptr, codec::no_passphrase, nullptr);
    BIO_free(key_text);
    const bool rsa = key && EVP_PKEY_base_id(key) == EVP_PKEY_RSA;
    const bool fits = rsa && X509_verify(certificate, key) == 1;
    EVP_PKEY_free(key);
    X509_free(certificate);
    if (!rsa) argument_error("Not a valid RSA key: Neither PUB key nor PRIV key");
    if (!fits) argument_error("Certificate signature does not match supplied key");
}

// --- the functions that use them ---

struct Check {
    std::string_view name;
    void (*run)(const Call&, Args);
};
constexpr Check kChecks[] = {
    {"validate_absolute_path", validate_absolute_path},
    {"validate_array", validate_array},
    {"validate_augeas", validate_augeas},
    {"validate_bool", validate_bool},
    {"validate_cmd", validate_cmd},
    {"validate_domain_name", validate_domain_name},
    {"validate_email_address", validate_email_address},
    {"validate_hash", validate_hash},
    {"validate_integer", validate_integer},
    {"validate_ip_address", validate_ip_address},
    {"validate_ipv4_address", validate_ipv4_address},
    {"validate_ipv6_address", validate_ipv6_address},
    {"validate_numeric", validate_numeric},
    {"validate_re", validate_re},
    {"validate_slength", validate_slength},
    {"validate_string", validate_string},
    {"validate_x509_rsa_key_pair", validate_x509_rsa_key_pair},
};

/// Runs an old validation function. Returns false if it fails.
bool passes(const Call& call, std::string_view name, Args args) {
    for (const Check& check : kChecks) {
        if (check.name != name) continue;
        try {
            check.run(call, args);
            return true;
        } catch (const base::PuppetError&) {
            return false;
        }
    }
    try {
        call.interpreter.call_function(name, args, call.scope, nullptr, call.site);
        return true;
    } catch (const base::PuppetError&) {
        if (!call.interpreter.function_exists(name)) throw;
        return false;
    }
}

Value validate_against(const Call& call, const types::Type* type) {
    const std::string_view name = call[1].as_string();
    const bool passed = passes(call, name, call.args.subspan(2));
    auto& ctx = call.interpreter.types();
    if (types::is_instance(ctx, type, call[2])) {
        if (passed) return Value::undef();
        const std::string message_text = fmt::format(
            "Accepting previously invalid value for target type '{}'", type->to_string());
        call.interpreter.log().log(base::Level::Notice, message_text);
        return function::text(call, message_text);
    }
    const std::string text =
        types::describe_mismatch(ctx, fmt::format("validate_legacy({})", name), type, call[2]);
    if (!passed) throw base::PuppetError(text);
    deprecation(call, "validate_legacy", text);
    return Value::undef();
}
Value validate_legacy(const Call& call) { return validate_against(call, call[0].as_type()); }
Value validate_legacy_text(const Call& call) {
    return validate_against(call, types::parse_type(call.interpreter.types(), call[0].as_string()));
}

template <bool (*F)(Args)>
Value plain_check(const Call& call) {
    return Value::boolean(F(call.args));
}

struct Deprecated {
    std::string_view key, type;
};
template <bool (*F)(Args), Deprecated const& D>
Value deprecated_check(const Call& call) {
    deprecation(call, D.key,
                fmt::format("This method is deprecated, please use match expressions with "
                            "Stdlib::Compat::{} instead. They are described at "
                            "https://docs.puppet.com/puppet/latest/reference/"
                            "lang_data_type.html#match-expressions.",
                            D.type));
    return Value::boolean(F(call.args));
}
template <void (*F)(const Call&, Args), Deprecated const& D>
Value deprecated_validation(const Call& call) {
    deprecation(call, D.key,
                fmt::format("This method is deprecated, please use the stdlib validate_legacy "
                            "function,\n                    with {}. There is further "
                            "documentation for validate_legacy function in the README.",
                            D.type));
    F(call, call.args);
    return Value::undef();
}
template <void (*F)(const Call&, Args)>
Value validation(const Call& call) {
    F(call, call.args);
    return Value::undef();
}

constexpr Deprecated kIsAbsolutePath{"is_absolute_path", "Absolute_Path"},
    kIsArray{"is_array", "Array"}, kIsBool{"is_bool", "Bool"}, kIsFloat{"is_float", "Float"},
    kIsIp{"is_ip_address", "Ip_address"}, kIsIpv4{"is_ipv4_address", "Ipv4"},
    kIsIpv6{"is_ipv4_address", "Ipv6"}, kIsNumeric{"is_numeric", "Numeric"},
    kIsString{"is_string", "String"},
    kAbsolutePath{"validate_absolute_path", "Stdlib::Compat::Absolute_Path"},
    kArray{"validate_array", "Stdlib::Compat::Array"},
    kBool{"validate_bool", "Stdlib::Compat::Bool"}, kHash{"validate_hash", "Stdlib::Compat::Hash"},
    kInteger{"validate_integer", "Stdlib::Compat::Integer"},
    kIp{"validate_ip_address", "Stdlib::Compat::Ip_Address"},
    kIpv4{"validate_ipv4_address", "Stdlib::Compat::Ipv4_Address"},
    kIpv6{"validate_ipv6_address", "Stdlib::Compat::Ipv6_address"},
    kNumeric{"validate_numeric", "Stdlib::Compat::Numeric"}, kRe{"validate_re", "Pattern[]"},
    kSlength{"validate_slength", "String[]"}, kString{"validate_string", "Stdlib::Compat::String"};

/// The namespaced functions of version 9 check against the types of the module.
void check_type(const Call& call, std::string_view name, std::string_view type_text) {
    if (call.size() == 0) argument_error("{}(): Wrong number of arguments need at least one", name);
    auto& ctx = call.interpreter.types();
    const types::Type* type = types::parse_type(ctx, type_text);
    for (const Value& v : call.args) {
        if (!types::is_instance(ctx, type, v))
            throw base::PuppetError(types::describe_mismatch(
                ctx, fmt::format("'{}' parameter 'values'", name), type, v));
    }
}
Value check_domain_name(const Call& call) {
    check_type(call, "stdlib::validate_domain_name", "Variant[Stdlib::Fqdn, Stdlib::Dns::Zone]");
    return Value::undef();
}
Value check_email_address(const Call& call) {
    check_type(call, "stdlib::validate_email_address", "Stdlib::Email");
    return Value::undef();
}

#define BUNRAKU_CHECK(NAME, DOC, CODE) \
    {NAME, DOC, {{"Any *args", CODE}}, false, evaluator::kTyped, {}, usual::data}
#define BUNRAKU_IS(NAME, F, D) \
    BUNRAKU_CHECK(NAME, "Deprecated: use a match with a type.", (deprecated_check<F, D>))
#define BUNRAKU_VALIDATE(NAME, F, D) \
    BUNRAKU_CHECK(NAME, "Deprecated: use a typed parameter.", (deprecated_validation<F, D>))

const Builtin kFunctions[] = {
    {"is_absolute_path",
     "Deprecated: use a match with a type.",
     {{"Any *args", deprecated_check<is_absolute_path, kIsAbsolutePath>}},
     false,
     evaluator::kTyped,
     {},
     usual::texts},
    BUNRAKU_IS("is_array", is_array, kIsArray),
    BUNRAKU_IS("is_bool", is_bool, kIsBool),
    BUNRAKU_IS("is_float", is_float, kIsFloat),
    BUNRAKU_IS("is_ip_address", is_ip_address, kIsIp),
    BUNRAKU_IS("is_ipv4_address", is_ipv4_address, kIsIpv4),
    BUNRAKU_IS("is_ipv6_address", is_ipv6_address, kIsIpv6),
    BUNRAKU_IS("is_numeric", is_numeric, kIsNumeric),
    BUNRAKU_IS("is_string", is_string, kIsString),
    {"is_integer",
     "True for integers, also in strings.",
     {{"", plain_check<is_integer>}},
     false,
     -1},
    {"is_hash", "True for hashes.", {{"", plain_check<is_hash>}}, false, -1},
    {"is_mac_address", "True for MAC addresses.", {{"", plain_check<is_mac_address>}}, false, -1},
    {"is_domain_name", "True for domain names.", {{"", plain_check<is_domain_name>}}, false, -1},
    {"is_email_address",
     "True for email addresses.",
     {{"", plain_check<is_email_address>}},
     false,
     -1},
    {"validate_absolute_path",
     "Deprecated: use a typed parameter.",
     {{"Any *args", deprecated_validation<validate_absolute_path, kAbsolutePath>}},
     false,
     evaluator::kTyped,
     {},
     usual::texts},
    BUNRAKU_VALIDATE("validate_array", validate_array, kArray),
    BUNRAKU_VALIDATE("validate_bool", validate_bool, kBool),
    BUNRAKU_VALIDATE("validate_hash", validate_hash, kHash),
    BUNRAKU_VALIDATE("validate_integer", validate_integer, kInteger),
    BUNRAKU_VALIDATE("validate_ip_address", validate_ip_address, kIp),
    BUNRAKU_VALIDATE("validate_ipv4_address", validate_ipv4_address, kIpv4),
    BUNRAKU_VALIDATE("validate_ipv6_address", validate_ipv6_address, kIpv6),
    BUNRAKU_VALIDATE("validate_numeric", validate_numeric, kNumeric),
    BUNRAKU_VALIDATE("validate_re", validate_re, kRe),
    BUNRAKU_VALIDATE("validate_slength", validate_slength, kSlength),
    BUNRAKU_VALIDATE("validate_string", validate_string, kString),
    {"validate_augeas",
     "Fails unless an Augeas lens can parse the content.",
     {{"", validation<validate_augeas>}},
     true,
     -1},
    {"validate_cmd",
     "Fails unless a command accepts the content.",
     {{"", validation<validate_cmd>}},
     true,
     -1},
    {"validate_domain_name",
     "Fails if a value is not a domain name.",
     {{"", validation<validate_domain_name>}},
     true,
     -1},
    {"validate_email_address",
     "Fails if a value is not an email address.",
     {{"", validation<validate_email_address>}},
     true,
     -1},
    {"validate_x509_rsa_key_pair",
     "Fails unless a key belongs to a certificate.",
     {{"", validation<validate_x509_rsa_key_pair>}},
     true,
     -1},
    {"stdlib::validate_domain_name",
     "Fails if a value is not a domain name.",
     {{"Any *values", check_domain_name}}},
    {"stdlib::validate_email_address",
     "Fails if a value is not an email address.",
     {{"Any *values", check_email_address}}},
    {"validate_legacy",
     "Checks a value against a type and an old validation function.",
     {{"Type target_type, String function_name, Any value, Any *args", validate_legacy},
      {"String type_string, String function_name, Any value, Any *args", validate_legacy_text}},
     false,
     evaluator::kTyped,
     {},
     usual::validate_legacy},
    {"deprecation",
     "Reports a deprecation according to the setting strict.",
     {{"String key, String message, Boolean use_strict_setting?",
       [](const Call& call) {
           if (call.size() > 2 && !call[2].as_boolean())
               warn_deprecated(call, call[1].as_string(), call[0].as_string());
           else
               deprecation(call, call[0].as_string(), call[1].as_string());
           return Value::undef();
       }}},
     false,
     evaluator::kTyped,
     {},
     usual::deprecation},
};

}  // namespace

std::span<const Builtin> stdlib_validate_functions() { return kFunctions; }

}  // namespace bunraku::function
