// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a warm compile: compiles one node repeatedly in one process, as a server
// does.
//
//     warm_compile [--times N] <the options and manifest of `bunraku compile`>
//
// Prints one JSON object: the number of resources, and the CPU milliseconds of the first compile
// and of the median warm compile. It also prints the times of the steps before the compile
// (converting facts and settings to values) and after it (writing the catalog as JSON).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "cli/node_options.h"
#include "resources/catalog/agent_json.h"

namespace {

double cpu_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    using namespace bunraku;
    std::vector<std::string> args(argv + 1, argv + argc);
    int times = 20;
    if (args.size() > 1 && args[0] == "--times") {
        times = std::max(1, std::atoi(args[1].c_str()));
        args.erase(args.begin(), args.begin() + 2);
    }
    std::vector<double> prepares, compiles, writes;
    double first = 0;
    std::size_t resources = 0, bytes = 0;
    base::NullSink sink;
    cli::Invocation invocation;
    invocation.args = args;
    invocation.settings = config::Settings::defaults();
    cli::OptionParser options(invocation);
    cli::NodeOptions node;
    node.add_to(options);
    std::string format;
    options.value("format", &format);
    std::vector<std::string> positional;
    if (!options.parse(&positional)) return 2;
    site::Site site(invocation.settings, cli::site_options(sink));
    for (int i = 0; i <= times; ++i) {
        try {
            const double start = cpu_ms();
            auto request = node.request();
            if (!positional.empty()) request.sources.manifest = positional[0];
            const auto session = site.session(std::move(request), sink);
            const double prepared = cpu_ms();
            const auto result = session->compile();
            const double compiled = cpu_ms();
            std::string out;
            catalog::AgentJsonOptions json;
            json.naming = result.naming.get();
            catalog::write_agent_json(out, *result.catalog, json);
            const double written = cpu_ms();
            resources = result.catalog->resources.size();
            bytes = out.size();
            if (i == 0) {
                first = compiled - start;
            } else {
                prepares.push_back(prepared - start);
                compiles.push_back(compiled - prepared);
                writes.push_back(written - compiled);
            }
        } catch (const base::PuppetError& error) {
            fmt::print(stderr, "Error: {}\n", error.full_text());
            return 1;
        }
    }
    fmt::print(
        "{{\"resources\": {}, \"bytes\": {}, \"first_ms\": {:.3f}, \"warm_ms\": {:.3f}, "
        "\"prepare_ms\": {:.3f}, \"write_ms\": {:.3f}}}\n",
        resources, bytes, first, median(compiles), median(prepares), median(writes));
    return 0;
}
