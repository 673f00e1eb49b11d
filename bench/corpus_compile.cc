// SPDX-License-Identifier: Apache-2.0
// Compiles many nodes repeatedly with one Site, as a server does.
//
//     corpus_compile [--times N] CASES              measures the cost and the size of traces
//     corpus_compile --threads N --rounds M CASES   N threads compile M catalogs each; every
//                                                   catalog must equal that of a single compile
//     corpus_compile --jobs N CASES                 compiles every case once, on N threads
//
// CASES contains one case per line, with fields separated by tabs: node, file of facts (JSON),
// modulepath, folder of the environment (or empty), hiera.yaml of the global layer (or empty),
// manifest (or empty), strict, strict_variables (tests/mutation/README.md). Times are medians of
// this process's CPU time, without the child processes that run Ruby. Plain and recorded compiles
// alternate. With --threads and --touch FILE, the program repeatedly rewrites FILE with the same
// content.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compile/site/site.h"
#include "core/base/number.h"
#include "resources/catalog/agent_json.h"

namespace bunraku {
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

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> out(1);
    for (const char c : text) {
        if (c == at) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

using Case = std::vector<std::string>;

site::NodeRequest request_of(const Case& c) {
    site::NodeRequest out;
    out.node = c[0];
    out.facts.kind = site::FactSource::Kind::File;
    out.facts.file = c[1];
    out.server_facts.kind = site::ServerFacts::Kind::Fixed;
    out.sources.modulepath = split(c[2], ':');
    out.sources.directory = c[3];
    if (!c[4].empty()) out.overlay.set("hiera_config", c[4]);
    out.sources.manifest = c[5];
    out.overlay.set("strict", c[6]);
    out.overlay.set("strict_variables", c[7]);
    out.classification = site::Unclassified();
    return out;
}

std::string text_of(const site::Compiled& compiled) {
    compiled.catalog->catalog_uuid.clear();
    compiled.catalog->version.clear();
    std::string out;
    catalog::AgentJsonOptions json;
    json.naming = compiled.naming.get();
    catalog::write_agent_json(out, *compiled.catalog, json);
    return out;
}

void measure_traces(site::Site& site, const std::vector<Case>& cases, int times) {
    base::NullSink sink;
    double all_plain = 0, all_recorded = 0;
    std::size_t bytes = 0, largest = 0;
    for (const auto& c : cases) {
        std::vector<double> plain, recorded;
        std::size_t size = 0, reads = 0;
        for (int i = 0; i <= times; ++i) {
            for (const bool record : {i % 2 == 0, i % 2 != 0}) {
                auto request = request_of(c);
                request.record.trace = record;
                const auto session = site.session(std::move(request), sink);
                const double start = cpu_ms();
                const auto compiled = session->compile();
                const double spent = cpu_ms() - start;
                if (i > 0) (record ? recorded : plain).push_back(spent);
                if (record && i == times) {
                    size = compiled.trace->pack().size();
                    reads = compiled.trace->items().size();
                }
            }
        }
        const double a = median(plain), b = median(recorded);
        all_plain += a;
        all_recorded += b;
        bytes += size;
        largest = std::max(largest, size);
        fmt::print("{}: {:.3f} ms, recorded {:.3f} ms ({:+.1f} %), {} reads in {} bytes\n", c[0], a,
                   b, 100 * (b - a) / a, reads, size);
        std::fflush(stdout);
    }
    fmt::print(
        "{} cases: {:.1f} ms, recorded {:.1f} ms ({:+.1f} %); {} bytes a trace, at most {}\n",
        cases.size(), all_plain, all_recorded, 100 * (all_recorded - all_plain) / all_plain,
        bytes / cases.size(), largest);
}

int compile_on_threads(site::Site& site, const std::vector<Case>& cases, int threads, int rounds,
                       const std::string& touched) {
    base::NullSink sink;
    std::vector<std::string> expected;
    for (const auto& c : cases) expected.push_back(text_of(site.compile(request_of(c), sink)));
    std::atomic<std::size_t> wrong{0}, done{0};
    std::atomic<bool> ended{false};
    std::thread writer([&] {
        if (touched.empty()) return;
        std::ostringstream text;
        text << std::ifstream(touched, std::ios::binary).rdbuf();
        while (!ended) {
            std::ofstream(touched + ".new", std::ios::binary) << text.str();
            std::filesystem::rename(touched + ".new", touched);
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
        }
    });
    std::vector<std::thread> working;
    for (int t = 0; t < threads; ++t) {
        working.emplace_back([&, t] {
            base::NullSink log;
            for (int i = 0; i < rounds; ++i) {
                const auto n = static_cast<std::size_t>(t * 31 + i) % cases.size();
                auto request = request_of(cases[n]);
                request.record.trace = i % 2 == 0;
                std::string text;
                try {
                    text = text_of(site.compile(std::move(request), log));
                } catch (const base::PuppetError& error) {
                    text = error.full_text();
                }
                if (text != expected[n]) {
                    ++wrong;
                    fmt::print("{}: the catalog differs: {}\n", cases[n][0], text.substr(0, 300));
                }
                ++done;
            }
        });
    }
    for (auto& thread : working) thread.join();
    ended = true;
    writer.join();
    fmt::print("{} compiles on {} threads: {} wrong\n", done.load(), threads, wrong.load());
    return wrong == 0 ? 0 : 1;
}

void compile_once(site::Site& site, const std::vector<Case>& cases) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::future<site::Compiled>> futures;
    for (const auto& c : cases)
        futures.push_back(site.submit(request_of(c), std::make_shared<base::NullSink>()));
    for (auto& future : futures) future.get();
    const auto wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
    fmt::print("{} catalogs in {:.2f} s, CPU {:.2f} s\n", cases.size(), wall.count(),
               cpu_ms() / 1e3);
}

int run(int argc, char** argv) {
    int times = 20, threads = 0, rounds = 200, jobs = 0;
    std::string path, touched;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        auto number = [&] {
            return base::parse_integer<int>(i + 1 < argc ? argv[++i] : "").value_or(1);
        };
        if (word == "--times") {
            times = number();
        } else if (word == "--threads") {
            threads = number();
        } else if (word == "--rounds") {
            rounds = number();
        } else if (word == "--jobs") {
            jobs = number();
        } else if (word == "--touch") {
            touched = i + 1 < argc ? argv[++i] : "";
        } else {
            path = word;
        }
    }
    std::vector<Case> cases;
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
        auto fields = split(line, '\t');
        if (fields.size() >= 8) cases.push_back(std::move(fields));
    }
    if (cases.empty()) {
        fmt::print(stderr, "corpus_compile: no cases\n");
        return 2;
    }
    site::Options options;
    if (threads > 0) options.environment_timeout = "0";
    if (jobs > 0) options.threads = static_cast<std::size_t>(jobs);
    site::Site site(config::Settings::defaults(), options);
    try {
        if (threads > 0) return compile_on_threads(site, cases, threads, rounds, touched);
        if (jobs > 0) {
            compile_once(site, cases);
        } else {
            measure_traces(site, cases, times);
        }
    } catch (const base::PuppetError& error) {
        fmt::print(stderr, "Error: {}\n", error.full_text());
        return 1;
    }
    return 0;
}

}  // namespace
}  // namespace bunraku

int main(int argc, char** argv) { return bunraku::run(argc, argv); }
