// SPDX-License-Identifier: Apache-2.0
// The function eyaml_lookup_key: a YAML file whose texts may contain "ENC[PKCS7,...]" (Puppet 8.11
// with hiera-eyaml 3.3).
#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/codec/base64.h"
#include "core/codec/pkcs7.h"
#include "language/hiera/impl.h"

namespace bunraku::hiera {
namespace {

/// A decryption failure before the key and file are added to its message.
struct DecryptionError {
    std::string message;
};

/// Reports whether /ENC\[.*?\]/ matches within one line.
bool encrypted(std::string_view s) {
    for (auto at = s.find("ENC["); at != std::string_view::npos; at = s.find("ENC[", at + 4)) {
        const auto end = s.find_first_of("]\n", at + 4);
        if (end != std::string_view::npos && s[end] == ']') return true;
    }
    return false;
}

/// Matches ENC\[(\w+,)?([a-zA-Z0-9+/ =\n]+?)\] at `at`. Returns the length of the match; 0 if there
/// is none.
std::size_t token(std::string_view s, std::size_t at, std::string& scheme, std::string& cipher) {
    if (!s.substr(at).starts_with("ENC[")) return 0;
    std::size_t i = at + 4;
    const std::size_t word = i;
    while (i < s.size() && (std::isalnum(static_cast<unsigned char>(s[i])) || s[i] == '_')) ++i;
    scheme.clear();
    if (i > word && i < s.size() && s[i] == ',') {
        scheme = s.substr(word, i - word);
        ++i;
    } else {
        i = word;
    }
    const std::size_t start = i;
    while (i < s.size() && (std::isalnum(static_cast<unsigned char>(s[i])) ||
                            std::string_view("+/ =\n").find(s[i]) != std::string_view::npos))
        ++i;
    if (i == start || i >= s.size() || s[i] != ']') return 0;
    cipher.clear();
    for (char c : s.substr(start, i - start)) {
        if (c != ' ' && c != '\n') cipher += c;
    }
    return i + 1 - at;
}

std::string option(const value::HashRep& options, std::string_view name) {
    const Value* v = options.find(name);
    return v && v->truthy() ? value::to_text(*v) : std::string();
}

std::string file_mark(const environment::Environment& environment, const std::string& path) {
    if (path.empty()) return path;
    environment.note(environment::Read::File, path);
    const auto stamp = environment.files().stat(path);
    if (!stamp.exists) return path;
    return fmt::format("{}:{}:{}:{}", path, stamp.inode, stamp.mtime_ns, stamp.size);
}

std::string read_key(const environment::Environment& environment, const std::string& path) {
    auto text = environment.read(path);
    if (!text) {
        const auto there = environment.stat(path);
        throw DecryptionError{fmt::format("{} @ {} - {}",
                                          !there.exists     ? "No such file or directory"
                                          : there.directory ? "Is a directory"
                                                            : "Permission denied",
                                          there.directory ? "io_fread" : "rb_sysopen", path)};
    }
    return std::move(*text);
}

}  // namespace

std::string Lookup::Impl::decrypt_text(std::string_view text, const value::HashRep& given) {
    auto environment_value = [&](const std::string& name) -> std::optional<std::string> {
        return name.empty() ? std::nullopt : environment->variable(name);
    };
    const std::string public_key = option(given, "pkcs7_public_key");
    const std::string private_key = option(given, "pkcs7_private_key");
    const std::string public_variable = option(given, "pkcs7_public_key_env_var");
    const std::string private_variable = option(given, "pkcs7_private_key_env_var");
    const auto public_given = environment_value(public_variable);
    const auto private_given = environment_value(private_variable);
    std::string mark, out, scheme, cipher;
    std::optional<std::string> private_pem, public_pem;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = token(text, at, scheme, cipher);
        if (size == 0) {
            const auto next = text.find("ENC[", at + 1);
            const auto end = next == std::string_view::npos ? text.size() : next;
            out += text.substr(at, end - at);
            at = end;
            continue;
        }
        at += size;
        const std::string lower = scheme.empty() ? "pkcs7" : base::lower(scheme);
        if (lower != "pkcs7") {
            throw DecryptionError{
                fmt::format("cannot load such file -- hiera/backend/eyaml/encryptors/{}", lower)};
        }
        if (public_key.empty() && public_variable.empty())
            throw DecryptionError{"pkcs7_public_key is not defined"};
        if (private_key.empty() && private_variable.empty())
            throw DecryptionError{"pkcs7_private_key is not defined"};
        // Keys from environment variables take precedence. A key file is identified by its stat.
        if (mark.empty()) {
            mark = (private_given ? "=" + *private_given : file_mark(*environment, private_key)) +
                   "\n" +
                   (public_given ? "=" + *public_given : file_mark(*environment, public_key)) +
                   "\n";
        }
        std::string plain;
        if (cache->find_decrypted(mark + cipher, plain)) {
            out += plain;
            continue;
        }
        if (!private_pem)
            private_pem = private_given ? *private_given : read_key(*environment, private_key);
        if (!public_pem)
            public_pem = public_given ? *public_given : read_key(*environment, public_key);
        const auto encrypted = codec::base64_decode(cipher, codec::Base64::Lines);
        auto decrypted =
            codec::pkcs7_decrypt(encrypted ? *encrypted : std::string(), *private_pem, *public_pem);
        if (!decrypted) throw DecryptionError{decrypted.error().message};
        cache->store_decrypted(mark + cipher, *decrypted);
        out += *decrypted;
    }
    // Same as Ruby's chomp.
    if (out.ends_with("\r\n")) {
        out.resize(out.size() - 2);
    } else if (out.ends_with('\n') || out.ends_with('\r')) {
        out.pop_back();
    }
    return out;
}

Value Lookup::Impl::decrypted(const Value& v, std::string_view key, const value::HashRep& given,
                              const std::string& path, Invocation& inv) {
    base::step();
    if (v.is_string()) {
        if (!encrypted(v.as_string())) return interpolate(v, inv, true);
        deciphered = true;
        try {
            const Value plain = value::make_string(inv.arena(), decrypt_text(v.as_string(), given));
            return interpolate(plain, inv, true);
        } catch (const DecryptionError& error) {
            throw LookupError(fmt::format(
                "hiera-eyaml backend error decrypting {} when looking up {} in {}. Error was {}",
                v.as_string(), key, path, error.message));
        }
    }
    if (v.is_array()) {
        std::vector<Value> out;
        out.reserve(v.as_array().size());
        for (const Value& item : v.as_array())
            out.push_back(decrypted(item, key, given, path, inv));
        return value::make_array(inv.arena(), out);
    }
    if (v.is_hash()) {
        value::HashBuilder out(inv.arena(), v.as_hash().size());
        for (const auto& [k, item] : v.as_hash()) {
            const Value name = interpolate(k, inv, true);
            out.set(name, decrypted(item, key, given, path, inv));
        }
        return out.build();
    }
    return v;
}

Found Lookup::Impl::eyaml(const value::HashRep& given, std::string_view key, ContextState& state,
                          Invocation& inv) {
    const Value name = value::make_string(inv.arena(), key);
    for (const auto& e : state.cache) {
        if (value::equal(e.first, name)) return e.second;
    }
    const Value* path = given.find("path");
    if (!path) {
        throw ArgumentError(
            "'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be "
            "declared in hiera.yaml when using this lookup_key function");
    }
    const std::string where = value::to_text(*path);
    if (!state.hash) state.hash = file_data("yaml_data", where, inv);
    const Value* v = state.hash->as_hash().find(key);
    if (!v) return std::nullopt;
    const Value out = decrypted(*v, key, given, where, inv);
    state.cache.emplace_back(name, out);
    return out;
}

}  // namespace bunraku::hiera
