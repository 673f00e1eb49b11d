// SPDX-License-Identifier: Apache-2.0
// The fact ssh: public host keys and their SSHFP fingerprints (RFC 4255, 6594, 7479).
#include <fmt/format.h>

#include "core/codec/base64.h"
#include "core/codec/digest.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

Value resolve_ssh(Context& context) {
    struct Kind {
        const char* name;
        const char* file;
        int algorithm;
    };
    constexpr Kind kKinds[] = {{"dsa", "ssh_host_dsa_key.pub", 2},
                               {"ecdsa", "ssh_host_ecdsa_key.pub", 3},
                               {"ed25519", "ssh_host_ed25519_key.pub", 4},
                               {"rsa", "ssh_host_rsa_key.pub", 1}};
    constexpr const char* kFolders[] = {"/etc/ssh", "/usr/local/etc/ssh", "/etc", "/usr/local/etc",
                                        "/etc/opt/ssh"};
    Fields all(context);
    for (const Kind& kind : kKinds) {
        for (const char* folder : kFolders) {
            auto content = context.try_read(fmt::format("{}/{}", folder, kind.file));
            if (!content) continue;
            auto words = split_words(*content);
            if (words.size() < 2) continue;
            auto blob = codec::base64_decode(words[1], codec::Base64::Lines);
            if (!blob) continue;
            auto print = [&](int type, codec::DigestKind digest) {
                return context.text(fmt::format("SSHFP {} {} {}", kind.algorithm, type,
                                                codec::hex_digest(digest, *blob)));
            };
            Value prints = Fields(context)
                               .add("sha1", print(1, codec::DigestKind::Sha1))
                               .add("sha256", print(2, codec::DigestKind::Sha256))
                               .build();
            all.add(kind.name, Fields(context)
                                   .add("fingerprints", prints)
                                   .add("key", context.text(words[1]))
                                   .add("type", context.text(words[0]))
                                   .build());
            break;
        }
    }
    return all.build_or_undef();
}

}  // namespace bunraku::facts
