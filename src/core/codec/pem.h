// Reading PEM without a terminal.
#pragma once

namespace bunraku::codec {

/// For every PEM_read_bio_*: without it OpenSSL asks for the pass phrase of what is encrypted at
/// the terminal, and a program that serves others stands still.
inline int no_passphrase(char*, int, int, void*) { return -1; }

}  // namespace bunraku::codec
