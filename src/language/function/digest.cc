// SPDX-License-Identifier: Apache-2.0
// Digests and per-node random numbers.
#include "core/codec/digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/base/text.h"
#include "language/function/mersenne.h"
#include "language/function/support.h"

namespace bunraku::function {
namespace {

/// Returns the bytes of a String. Ruby's Digest accepts no other type.
std::string_view bytes_of(const Value& v) {
    if (!v.is_string())
        argument_error("no implicit conversion of {} into String",
                       v.is_undef() ? "nil" : ruby_class(v));
    return v.as_string();
}

template <codec::DigestKind K>
Value hex_digest(const Call& call) {
    return text(call, codec::hex_digest(K, bytes_of(call[0])));
}

Value digest(const Call& call) {
    auto* inputs = call.interpreter.hosts().inputs;
    const std::string algorithm =
        inputs ? inputs->setting("digest_algorithm").value_or("sha256") : "sha256";
    std::string_view content = bytes_of(call[0]);
    std::string name = algorithm;
    if (name.ends_with("lite")) {  // only the first 512 bytes are hashed
        name.resize(name.size() - 4);
        content = content.substr(0, 512);
    }
    const auto kind = codec::digest_kind(name);
    if (!kind) argument_error("unknown digest algorithm '{}'", algorithm);
    return text(call, codec::hex_digest(*kind, content));
}

std::int64_t seed_limit(double d) {
    if (!std::isfinite(d)) argument_error("{}", value::format_float(d));
    if (d >= 9223372036854775808.0) argument_error("fqdn_rand(): the limit is beyond 64 bits");
    return static_cast<std::int64_t>(std::max(d, -1.0));
}

std::int64_t seed_limit(const std::string& text) {
    errno = 0;
    const long long n = std::strtoll(text.c_str(), nullptr, 10);
    if (errno == ERANGE) argument_error("fqdn_rand(): the limit is beyond 64 bits");
    return n;
}

Value fqdn_rand(const Call& call) {
    const Value& limit = call[0];
    std::int64_t max = 0;
    if (limit.is_integer())
        max = limit.as_integer();
    else if (limit.is_float())
        max = seed_limit(limit.as_float());
    else if (limit.is_string())
        max = seed_limit(std::string(limit.as_string()));
    std::string fqdn;
    if (const auto facts = call.interpreter.lookup_variable(call.interpreter.top_scope(), "facts",
                                                            "networking.fqdn");
        facts && facts->is_hash()) {
        if (const Value* networking = facts->as_hash().find("networking");
            networking && networking->is_hash()) {
            if (const Value* name = networking->as_hash().find("fqdn")) fqdn = ruby_to_s(*name);
        }
    }
    if (call.at(2).truthy()) {
        base::make_lower(fqdn);
    }
    // Hashes [fqdn, max, seed].join(':') with MD5 and seeds Ruby's Mersenne Twister with those 128
    // bits.
    std::string seed = fqdn + ":" + std::to_string(max) + ":";
    if (call.at(1).is_array()) {
        std::vector<Value> flat;
        flatten_into(flat, call.at(1).as_array());
        for (const Value& v : flat) seed += (&v == flat.data() ? "" : ":") + ruby_to_s(v);
    } else {
        seed += ruby_to_s(call.at(1));
    }
    if (max <= 0) argument_error("invalid argument - {}", max);
    return Value::integer(seeded_random_hex(codec::hex_digest(codec::DigestKind::Md5, seed), max));
}

const Builtin kFunctions[] = {
    {"md5",
     "The MD5 digest of a string, in hexadecimal.",
     {{"", hex_digest<codec::DigestKind::Md5>}},
     false,
     1},
    {"sha1",
     "The SHA-1 digest of a string, in hexadecimal.",
     {{"", hex_digest<codec::DigestKind::Sha1>}},
     false,
     1},
    {"sha256",
     "The SHA-256 digest of a string, in hexadecimal.",
     {{"", hex_digest<codec::DigestKind::Sha256>}},
     false,
     1},
    {"digest",
     "A digest of a string with the algorithm of the setting digest_algorithm.",
     {{"", digest}},
     false,
     1},
    {"fqdn_rand",
     "A random integer below MAX that is constant for a node and a seed.",
     {{"", fqdn_rand}},
     false,
     -2},
};

}  // namespace

std::span<const Builtin> digest_functions() { return kFunctions; }

}  // namespace bunraku::function
