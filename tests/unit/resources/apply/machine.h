// SPDX-License-Identifier: Apache-2.0
// A simulated machine to which tests apply catalogs.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "resources/apply/run.h"
#include "resources/catalog/agent_json.h"
#include "testing/fake.h"

namespace bunraku::apply {

using Lines = std::vector<std::string>;

/// A simulated machine, with the log of the last run without times.
struct Machine {
    sys::FakeSystem fake;
    base::MemorySink log;
    int exit_status = 0;
    std::string status;  ///< status in the report; "none" without a report
    Lines desired;       ///< the desired values in the events
    std::function<StopRequest()> stop;
    Options options;
    /// Used instead of the memory's files.
    sys::FileSystem* files = nullptr;
    Machine() { fake.files.put("/tmp/.keep", ""); }

    Lines run(const std::string& resources, bool noop = false) {
        std::string json =
            R"({"name":"n","version":1,"environment":"production","catalog_format":2,"classes":[],)"
            R"("tags":[],"resources":[{"type":"Stage","title":"main","tags":["stage"],)"
            R"("kind":"compilable_type"},{"type":"Class","title":"main","tags":["class"],)"
            R"("kind":"unknown"})";
        std::string edges = R"({"source":"Stage[main]","target":"Class[main]"})";
        auto catalog = catalog::read_agent_json(json + resources + R"(],"edges":[)" + edges + "]}");
        EXPECT_TRUE(catalog.has_value()) << (catalog ? "" : catalog.error().message);
        for (std::uint32_t i = 2; i < catalog->resources.size(); ++i) {
            catalog->edges.push_back({1, i});
        }
        log.records.clear();
        ReportSink sink(log, fake.clock);
        sys::System system{files ? *files : fake.files, fake.processes, fake.clock, fake.users};
        Context context{.system = system, .log = sink};
        context.options = options;
        context.options.noop = noop;
        context.stop = stop;
        status = "none";
        desired.clear();
        try {
            auto ral = RalCatalog::from(context, *catalog);
            ral->finalize();
            auto result = run_catalog(context, sink, *ral, {});
            exit_status = result.exit_status;
            status = result.report->status;
            for (const ResourceStatus* one : result.report->statuses())
                for (const Event& e : one->events) desired.push_back(plain(e.desired));
        } catch (const base::PuppetError& e) {
            return {error_text(e)};
        }
        Lines out;
        for (const auto& d : log.records) {
            if (d.level < base::Level::Notice || d.message.starts_with("Applied catalog")) continue;
            out.push_back(d.source == "Puppet" ? d.message : d.source + ": " + d.message);
        }
        return out;
    }
};

inline std::string resource(const std::string& type, const std::string& title,
                            const std::string& parameters) {
    return R"(,{"type":")" + type + R"(","title":")" + title +
           R"(","tags":[],"kind":"compilable_type","parameters":{)" + parameters + "}}";
}

}  // namespace bunraku::apply
