// SPDX-License-Identifier: Apache-2.0
// Reads PEM without a prompt on the terminal.
#pragma once

namespace bunraku::codec {

/// The callback for every PEM_read_bio_*. Without it, OpenSSL prompts for the pass phrase of
/// encrypted input on the terminal, which blocks a server.
inline int no_passphrase(char*, int, int, void*) { return -1; }

}  // namespace bunraku::codec
