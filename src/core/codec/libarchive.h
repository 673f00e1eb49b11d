// SPDX-License-Identifier: Apache-2.0
// Bindings for libarchive (tar and gzip), which is opened on first use. The functions have
// libarchive's names without "archive_"; see its headers.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "core/base/result.h"

namespace bunraku::codec {

#define BUNRAKU_LIBARCHIVE(X)          \
    X(error_string)                    \
    X(entry_clear)                     \
    X(entry_filetype)                  \
    X(entry_free)                      \
    X(entry_hardlink)                  \
    X(entry_new)                       \
    X(entry_pathname)                  \
    X(entry_pathname_utf8)             \
    X(entry_perm)                      \
    X(entry_set_filetype)              \
    X(entry_set_mtime)                 \
    X(entry_set_pathname)              \
    X(entry_set_perm)                  \
    X(entry_set_size)                  \
    X(entry_size)                      \
    X(entry_symlink)                   \
    X(read_data)                       \
    X(read_data_block)                 \
    X(read_free)                       \
    X(read_new)                        \
    X(read_next_header)                \
    X(read_open_filename)              \
    X(read_open_memory)                \
    X(read_set_options)                \
    X(read_support_filter_gzip)        \
    X(read_support_format_gnutar)      \
    X(read_support_format_tar)         \
    X(write_add_filter_gzip)           \
    X(write_close)                     \
    X(write_data)                      \
    X(write_free)                      \
    X(write_header)                    \
    X(write_new)                       \
    X(write_open)                      \
    X(write_open2)                     \
    X(write_set_bytes_in_last_block)   \
    X(write_set_filter_option)         \
    X(write_set_format_pax_restricted) \
    X(write_set_options)

struct LibArchive {
#define BUNRAKU_MEMBER(name) decltype(&::archive_##name) name = nullptr;
    BUNRAKU_LIBARCHIVE(BUNRAKU_MEMBER)
#undef BUNRAKU_MEMBER
};

/// Opens the library once. Fails if it is not installed: "Reading and writing tar archives needs
/// the library libarchive.so.13: ...". Callers of libarchive() must call this first.
base::Result<void> load_libarchive();

/// Returns the library's functions. Requires that load_libarchive() succeeded.
const LibArchive& libarchive();

/// Makes libarchive treat this thread's file names as UTF-8 during the lifetime of this object.
/// libarchive follows the locale. Bunraku runs in the "C" locale, in which libarchive cannot write
/// names that are not ASCII.
class Utf8Names {
public:
    Utf8Names();
    ~Utf8Names();
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    locale_t made_, before_;
};

}  // namespace bunraku::codec
