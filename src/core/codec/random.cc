// SPDX-License-Identifier: Apache-2.0
#include "core/codec/random.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <vector>

namespace bunraku::codec {

base::Result<std::string> random_hex(std::size_t bytes) {
    std::vector<unsigned char> random(bytes);
    if (RAND_bytes(random.data(), static_cast<int>(bytes)) != 1)
        return base::failure("the system returned no random bytes");
    std::string out;
    for (const unsigned char c : random) out += fmt::format("{:02x}", c);
    return out;
}

}  // namespace bunraku::codec
