// SPDX-License-Identifier: Apache-2.0
// The queue's file format, version 1. A segment is a header followed by records; numbers are
// little-endian.
//
//   segment   "BUNRAKUQ" u32 version u32 zero
//   record    u32 magic, u8 type, u8 command, u16 version, u32 length of the certname,
//             u32 length of the body, u64 id, i64 received, i64 producer timestamp,
//             u32 CRC-32C of the body, u32 CRC-32C of everything before and of the certname;
//             then certname and body
//   type 1    a command; type 2: commands that are done, the body is their ids (u64)
//
// Zeros after the last record are unused space.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::store::queue_format {

inline constexpr std::string_view kSegmentMagic = "BUNRAKUQ";
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kSegmentHeader = 16;
inline constexpr std::uint32_t kRecordMagic = 0x31525142;  // "BQR1"
inline constexpr std::size_t kRecordHeader = 48;
inline constexpr std::uint32_t kMaxCertname = 4096;
inline constexpr std::uint32_t kMaxBody = 1U << 30;

/// The context under which command bodies are encrypted; see Secrets::seal().
inline constexpr std::string_view kCommandSealContext = "command";

enum class RecordType : std::uint8_t { Command = 1, Done = 2 };

struct Record {
    RecordType type = RecordType::Command;
    std::uint8_t command = 0;
    std::uint16_t version = 0;
    std::uint32_t certname_size = 0, body_size = 0;
    std::uint64_t id = 0;
    std::int64_t received = 0, producer_timestamp = 0;
    std::uint32_t body_crc = 0;
};

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);
std::string segment_header();
/// Encodes header and certname. The body follows them.
std::string encode(const Record& record, std::string_view certname);
/// Decodes a record. `bytes` contains the header and the certname. Returns false if they are not a
/// valid record.
bool decode(std::string_view bytes, Record* record);
/// Returns the length of the certname from the header alone. Returns more than kMaxCertname if the
/// header is invalid.
std::uint32_t certname_size(std::string_view header);

}  // namespace bunraku::store::queue_format
