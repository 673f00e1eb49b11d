// SPDX-License-Identifier: Apache-2.0
// A network in memory, for simulations: clients and servers of one process, in virtual time, with
// faults that a seed determines. The code above it for requests, limits and timeouts is the
// production code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/network.h"
#include "testing/simulation.h"

namespace bunraku::http {

/// Fault rates of the network, in millionths.
struct Faults {
    sys::Duration least_delay = std::chrono::microseconds(50);  ///< for each piece sent
    sys::Duration most_delay = std::chrono::microseconds(500);
    std::uint32_t short_reads = 0, short_writes = 0;  ///< transfers of fewer bytes than available
    std::uint32_t resets = 0;                         ///< per piece; data in transit is lost
    std::uint32_t refusals = 0;                       ///< per new connection
};

/// Returns a certificate as if the network's only authority had signed it.
std::shared_ptr<const ClientCertificate> identity_of(std::string_view certname);

class MemoryNetwork {
public:
    explicit MemoryNetwork(sys::Simulation& world);
    ~MemoryNetwork();

    /// Returns the network as seen by one machine. "https://NAME:PORT" reaches the server that
    /// listens there. Servers see `certificate` for this machine's TLS connections; it may be null.
    Network& host(const std::string& name,
                  std::shared_ptr<const ClientCertificate> certificate = nullptr);

    Faults faults;
    /// Blocks all traffic between the two hosts, in both directions, until they are connected
    /// again. Then the data sent meanwhile is delivered.
    void part(const std::string& one, const std::string& other);
    void join(const std::string& one, const std::string& other);
    /// Takes the machine down: its connections break, and nothing listens on it until a server
    /// listens again.
    void cut(const std::string& host);

    /// If true, TLS connections begin with an OpenSSL handshake that uses the files of both sides.
    /// The data after it is not encrypted. If false, the test assigns all identities.
    bool handshakes = false;

    struct Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
