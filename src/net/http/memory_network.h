// A network in memory, for simulations: clients and servers of one process, in virtual time, with
// the faults that a seed draws. Requests, limits and time-outs above it are those of production.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/sys/simulation.h"
#include "net/http/network.h"

namespace bunraku::http {

/// How bad the network is. Shares are of a million.
struct Faults {
    sys::Duration least_delay = std::chrono::microseconds(50);  ///< of each piece that is sent
    sys::Duration most_delay = std::chrono::microseconds(500);
    std::uint32_t short_reads = 0, short_writes = 0;  ///< fewer bytes than there are
    std::uint32_t resets = 0;                         ///< at a piece; what is under way is lost
    std::uint32_t refusals = 0;                       ///< of new connections
};

/// A certificate as the network's one authority would have signed it.
std::shared_ptr<const ClientCertificate> identity_of(std::string_view certname);

class MemoryNetwork {
public:
    explicit MemoryNetwork(sys::Simulation& world);
    ~MemoryNetwork();

    /// The network as one of its machines sees it: "https://NAME:PORT" reaches what listens there.
    /// Servers see `certificate` (null: none) of those that come from here over TLS.
    Network& host(const std::string& name,
                  std::shared_ptr<const ClientCertificate> certificate = nullptr);

    Faults faults;
    /// Nothing gets through between the two, in either direction, until they are joined again;
    /// then all that was sent meanwhile does.
    void part(const std::string& one, const std::string& other);
    void join(const std::string& one, const std::string& other);
    /// The machine is gone: its connections break, and nothing listens on it until somebody does
    /// again.
    void cut(const std::string& host);

    /// Connections over TLS begin with a handshake by OpenSSL, with the files that both sides name;
    /// what is said afterwards travels in the clear. Else everybody is who the test says.
    bool handshakes = false;

    struct Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
