// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for digests, passwords and seeded random numbers.
#include <algorithm>
#include <array>
#include <crypt.h>
#include <memory>
#include <openssl/evp.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/base64.h"
#include "core/codec/digest.h"
#include "language/environment/trace.h"
#include "language/function/mersenne.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"

namespace bunraku::function {
namespace {

using codec::DigestKind;
using value::Kind;

std::string to_hex(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}
const Value& bare(const Value& v) { return v.is(Kind::Sensitive) ? v.unwrap() : v; }

Value base64(const Call& call) {
    if (call.size() < 2)
        argument_error("base64(): Wrong number of arguments ({}; must be >= 2)", call.size());
    const std::string action = call[0].is_string() ? std::string(call[0].as_string()) : "";
    if (action != "encode" && action != "decode")
        argument_error("base64(): the first argument must be one of 'encode' or 'decode'");
    if (!call[1].is_string())
        argument_error("base64(): the second argument must be a string to base64");
    const std::string method = call.size() <= 2 ? "default" : ruby_to_s(call[2]);
    if (method != "default" && method != "strict" && method != "urlsafe")
        argument_error(
            "base64(): the third argument must be one of 'default', 'strict', or 'urlsafe'");
    const auto form = method == "default"  ? codec::Base64::Lines
                      : method == "strict" ? codec::Base64::Strict
                                           : codec::Base64::UrlSafe;
    if (action == "encode") return text(call, codec::base64_encode(call[1].as_string(), form));
    const auto decoded = codec::base64_decode(call[1].as_string(), form);
    if (!decoded) argument_error("{}", decoded.error().message);
    return text(call, *decoded).in_encoding(true);
}

/// Calls crypt(3) with the schemes that libcrypt supports.
Value pw_hash(const Call& call) {
    const Value password = bare(call[0]), kind = bare(call[1]), salt = bare(call[2]);
    if (!password.is_string() && !password.is_undef())
        argument_error("pw_hash(): first argument must be a string");
    if (!kind.is_string()) argument_error("pw_hash(): second argument must be a string");
    std::string name(kind.as_string());
    base::make_lower(name);
    struct Scheme {
        std::string_view name, prefix;
    };
    constexpr Scheme kSchemes[] = {{"md5", "1"},      {"sha-256", "5"},   {"sha-512", "6"},
                                   {"bcrypt", "2b"},  {"bcrypt-a", "2a"}, {"bcrypt-x", "2x"},
                                   {"bcrypt-y", "2y"}};
    const auto* scheme = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                      [&](const Scheme& s) { return s.name == name; });
    if (scheme == std::end(kSchemes))
        argument_error("pw_hash(): {} is not a valid hash type", kind.as_string());
    if (!salt.is_string()) argument_error("pw_hash(): third argument must be a string");
    if (salt.as_string().empty()) argument_error("pw_hash(): third argument must not be empty");
    const bool bcrypt = name.starts_with("bcrypt");
    if (!regex_match(
            bcrypt ? "^(0[4-9]|[12][0-9]|3[01])\\$[./A-Za-z0-9]{22}" : "\\A[a-zA-Z0-9./]+\\z",
            salt.as_string())) {
        argument_error("pw_hash(): characters in salt must {}",
                       bcrypt ? "match (?-mix:^(0[4-9]|[12][0-9]|3[01])\\$[.\\/A-Za-z0-9]{22})"
                              : "be in the set [a-zA-Z0-9./]");
    }
    if (password.is_undef() || password.as_string().empty()) return Value::undef();
    const std::string setting = fmt::format("${}${}", scheme->prefix, salt.as_string());
    const auto data = std::make_unique<crypt_data>();
    const char* hashed =
        crypt_r(std::string(password.as_string()).c_str(), setting.c_str(), data.get());
    if (!hashed || hashed[0] == '*') argument_error("Invalid argument - crypt");
    // Ruby's String#crypt returns a binary string.
    return text(call, hashed).in_encoding(true);
}

std::string random_bytes(const Call& call, std::size_t n) {
    auto& inputs = require_inputs(call);
    std::string out;
    while (out.size() < n) out += static_cast<char>(inputs.random_bits() & 0xFF);
    return out;
}
std::string digest_bytes(DigestKind kind, std::string_view data) {
    const std::string hex = codec::hex_digest(kind, data);
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        out += static_cast<char>(
            base::parse_integer<std::uint8_t>(std::string_view(hex).substr(i, 2), 16).value_or(0));
    }
    return out;
}

Value str2saltedsha512(const Call& call) {
    if (call.size() != 1)
        argument_error("str2saltedsha512(): Wrong number of arguments passed ({} but we require 1)",
                       call.size());
    if (!call[0].is_string())
        argument_error("str2saltedsha512(): Requires a String argument, you passed: {}",
                       ruby_class(call[0]));
    const std::string salt = random_bytes(call, 4);
    return text(call, to_hex(salt) + codec::hex_digest(DigestKind::Sha512,
                                                       salt + std::string(call[0].as_string())));
}

Value str2saltedpbkdf2(const Call& call) {
    constexpr std::string_view kName = "str2saltedpbkdf2()";
    if (call.size() != 3)
        argument_error("{}: wrong number of arguments ({} for 3)", kName, call.size());
    const Value password = bare(call[0]), salt = bare(call[1]), rounds = bare(call[2]);
    if (!password.is_string()) argument_error("{}: first argument must be a string", kName);
    if (!salt.is_string()) argument_error("{}: second argument must be a string", kName);
    if (salt.as_string().size() < 8)
        argument_error("{}: second argument must be at least 8 bytes long", kName);
    if (!rounds.is_integer()) argument_error("{}: third argument must be an integer", kName);
    const std::int64_t n = rounds.as_integer();
    if (n <= 40'000 || n >= 70'000)
        argument_error("{}: third argument must be between 40,000 and 70,000", kName);
    std::array<unsigned char, 128> key{};
    const std::string_view p = password.as_string(), s = salt.as_string();
    PKCS5_PBKDF2_HMAC(p.data(), static_cast<int>(p.size()),
                      reinterpret_cast<const unsigned char*>(s.data()), static_cast<int>(s.size()),
                      static_cast<int>(n), EVP_sha512(), static_cast<int>(key.size()), key.data());
    value::HashBuilder out(call.arena());
    out.set("password_hex",
            text(call, to_hex({reinterpret_cast<const char*>(key.data()), key.size()})));
    out.set("salt_hex", text(call, to_hex(s)));
    out.set("iterations", rounds);
    return out.build();
}

// --- numbers and strings that are constant for a seed ---

std::string join_seeds(std::span<const Value> seeds) {
    std::vector<Value> flat;
    flatten_into(flat, seeds);
    std::string out;
    for (const Value& v : flat) out += (&v == flat.data() ? "" : ":") + ruby_to_s(v);
    return out;
}

Value rotate(const Call& call, std::span<const Value> seeds, const std::string& fqdn) {
    const Value& input = call[0];
    const auto parts =
        input.is_string() ? split_characters(input.as_string()) : std::vector<std::string_view>();
    const std::size_t size = input.is_string() ? parts.size() : input.as_array().size();
    if (size <= 1) return input;
    const std::string seed = codec::hex_digest(DigestKind::Md5, fqdn + ":" + join_seeds(seeds));
    const auto offset =
        static_cast<std::size_t>(seeded_random_hex(seed, static_cast<std::int64_t>(size)));
    if (input.is_string()) {
        std::string out;
        for (std::size_t i = 0; i < size; ++i) out += parts[(i + offset) % size];
        return text(call, out);
    }
    std::vector<Value> out(input.as_array().begin(), input.as_array().end());
    std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(offset), out.end());
    return list(call, out);
}
Value fqdn_rotate(const Call& call) {
    if (call.size() == 0)
        argument_error("fqdn_rotate(): Wrong number of arguments given (0 for 1)");
    if (!call[0].is_array() && !call[0].is_string())
        argument_error("fqdn_rotate(): Requires either array or string to work with");
    return rotate(call, call.args.subspan(1), fqdn_of(call));
}
Value fqdn_rotate_modern(const Call& call) {
    return rotate(call, call.args.subspan(1), ruby_to_s(fact_value(call, {"networking", "fqdn"})));
}

Value rand_string(const Call& call, std::int64_t length, const Value& characters_,
                  std::span<const Value> seeds) {
    std::string_view set = characters_.is_string() ? characters_.as_string() : "";
    if (set.empty()) set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const auto charset = split_characters(set);
    const std::string front = join_seeds(seeds);
    std::string out;
    for (std::int64_t i = 1; i <= length; ++i) {
        const std::string seed = (seeds.empty() ? "" : front + ":") + std::to_string(i);
        const Value args[] = {Value::integer(static_cast<std::int64_t>(charset.size())),
                              text(call, seed)};
        const Value at = call.interpreter.call_function("fqdn_rand", args, call.scope);
        out += charset[static_cast<std::size_t>(to_integer(at))];
    }
    return text(call, out);
}
Value fqdn_rand_string(const Call& call) {
    const auto length =
        call[0].is_integer() || call[0].is_string() ? strict_integer(call[0]) : std::nullopt;
    if (!length || *length <= 0)
        argument_error("fqdn_rand_string(): first argument must be a positive integer");
    if (!call.at(1).is_undef() && !call[1].is_string())
        argument_error("fqdn_rand_string(): second argument must be undef or a string");
    return rand_string(call, *length, call.at(1),
                       call.args.subspan(std::min<std::size_t>(2, call.size())));
}
Value fqdn_rand_string_modern(const Call& call) {
    return rand_string(call, call[0].as_integer(), call.at(1),
                       call.args.subspan(std::min<std::size_t>(2, call.size())));
}

Value seeded_rand(const Call& call) {
    const auto max =
        call[0].is_integer() || call[0].is_string() ? strict_integer(call[0]) : std::nullopt;
    if (!max || *max <= 0)
        argument_error("seeded_rand(): first argument must be a positive integer");
    if (!call[1].is_string()) argument_error("seeded_rand(): second argument must be a string");
    return Value::integer(
        seeded_random_hex(codec::hex_digest(DigestKind::Md5, call[1].as_string()), *max));
}
Value seeded_rand_string(const Call& call) {
    const std::string_view set =
        call.size() > 2 ? call[2].as_string()
                        : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const auto charset = split_characters(set);
    SeededRandom random(codec::hex_digest(DigestKind::Sha256, call[1].as_string()));
    std::string out;
    for (std::int64_t i = 0; i < call[0].as_integer(); ++i)
        out += charset[static_cast<std::size_t>(
            random.below(static_cast<std::int64_t>(charset.size())))];
    return text(call, out);
}

/// Returns a name-based UUID (version 5) in the DNS name space.
Value fqdn_uuid(const Call& call) {
    if (call.size() == 0) argument_error("fqdn_uuid: No arguments given");
    if (call.size() > 1) argument_error("fqdn_uuid: Too many arguments given ({})", call.size());
    if (!call[0].is_string())
        argument_error("no implicit conversion of {} into String", ruby_class(call[0]));
    constexpr unsigned char kDns[] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
                                      0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    std::string bytes =
        digest_bytes(DigestKind::Sha1, std::string(reinterpret_cast<const char*>(kDns), 16) +
                                           std::string(call[0].as_string()));
    bytes.resize(16);
    bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x50);
    bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
    const std::string hex = to_hex(bytes);
    return text(call, fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4),
                                  hex.substr(12, 4), hex.substr(16, 4), hex.substr(20)));
}

std::string content_of(const Value& v) {
    const Value& inner = bare(v);
    if (inner.is(Kind::Binary)) return codec::base64_encode(inner.as_string());
    return ruby_to_s(inner);
}
Value sha256(const Call& call) {
    return text(call, codec::hex_digest(DigestKind::Sha256, content_of(call[0])));
}
Value crc32(const Call& call) {
    std::uint32_t crc = 0xffffffffU;
    for (const char c : content_of(call[0])) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) ? 0xedb88320U : 0U);
    }
    return text(call, fmt::format("{:x}", ~crc));
}

constexpr std::string_view kDigestData =
    "Variant[ScalarData, Sensitive[ScalarData], Binary, Sensitive[Binary]] my_data >> String";

const Builtin kFunctions[] = {
    {"base64", "Encodes or decodes Base64.", {{"", base64}}, false, -1},
    {"pw_hash", "Hashes a password with crypt(3).", {{"", pw_hash}}, false, 3},
    {"str2saltedsha512", "A salted SHA-512 of a password.", {{"", str2saltedsha512}}, false, -1},
    {"str2saltedpbkdf2", "A PBKDF2 hash of a password.", {{"", str2saltedpbkdf2}}, false, -1},
    {"fqdn_rotate",
     "Rotates an array or string by a random number that is constant for a node.",
     {{"", fqdn_rotate}},
     false,
     -1,
     {},
     usual::data},
    {"stdlib::fqdn_rotate",
     "Rotates an array or string by a random number that is constant for a node.",
     {{"String input, Variant[Integer,String] *seeds >> String", fqdn_rotate_modern},
      {"Array input, Variant[Integer,String] *seeds >> Array", fqdn_rotate_modern}}},
    {"fqdn_rand_string",
     "A random string that is constant for a node.",
     {{"", fqdn_rand_string}},
     false,
     -2},
    {"stdlib::fqdn_rand_string",
     "A random string that is constant for a node.",
     {{"Integer[1] length, Optional[String] charset?, Any *seed", fqdn_rand_string_modern}}},
    {"fqdn_uuid", "The UUID of a domain name.", {{"", fqdn_uuid}}, false, -1, {}, usual::texts},
    {"seeded_rand", "A random number that is constant for a seed.", {{"", seeded_rand}}, false, 2},
    {"stdlib::seeded_rand",
     "A random number that is constant for a seed.",
     {{"Integer[1] max, String seed", seeded_rand}}},
    {"seeded_rand_string",
     "A random string that is constant for a seed.",
     {{"Integer[1] length, String seed, String[2] charset?", seeded_rand_string}}},
    {"stdlib::seeded_rand_string",
     "A random string that is constant for a seed.",
     {{"Integer[1] length, String seed, String[2] charset?", seeded_rand_string}}},
    {"stdlib::sha256", "The SHA-256 digest of any scalar.", {{kDigestData, sha256}}},
    {"stdlib::crc32", "The CRC-32 checksum of any scalar.", {{kDigestData, crc32}}},
};

}  // namespace

std::span<const Builtin> stdlib_crypto_functions() { return kFunctions; }

}  // namespace bunraku::function
