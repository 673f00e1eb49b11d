// What the commands that look at a fleet have in common: which nodes, with which facts, and which
// state of the control repository.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/insight/impact.h"
#include "compile/insight/report.h"
#include "compile/site/fleet_facts.h"
#include "compile/site/site.h"
#include "core/base/arena.h"

namespace bunraku::cli {

/// The nodes that a command is about.
struct Fleet {
    std::vector<site::FleetNode> nodes;
    /// Those that cannot be looked at, and why.
    std::vector<std::pair<std::string, std::string>> unjudged;
    std::vector<std::string> notes;
};

/// The fields are the options' names.
class FleetOptions {
public:
    void add_to(OptionParser& parser);

    /// Throws base::PuppetError, also where there is no node at all. With `keep`, a folder of
    /// caches, nodes of a folder of fact files may come without facts (site::with_facts).
    Fleet fleet(site::Site& site, base::Arena& arena, base::LogSink& log,
                const std::string& keep = {}) const;
    /// A commit or a branch, a folder, or an environment ("git:..", "env:.." say which); empty: the
    /// working tree. `shown_at`: the folder that it is to stand in for, so that two states have the
    /// same paths; empty: its own. Throws.
    insight::State state(const std::string& name, const config::Settings& settings,
                         const std::string& shown_at) const;
    /// The control repository's folder, absolute and without links. Throws where there is none.
    std::string control() const;
    /// How a state's name is read.
    enum class StateKind : std::uint8_t { WorkingTree, Revision, Folder, Environment };
    StateKind meaning(const std::string& name) const;
    /// Where the environment of that name is; throws.
    std::string environment_folder(const std::string& name, const config::Settings& settings) const;
    std::size_t threads() const;

    NodeOptions compile;
    std::string path, facts_from, facts_dir, nodes, sample, jobs, manifest;
    std::vector<std::string> node;
};

/// How people are shown the result: in colour where --color or the terminal says so.
insight::TextOptions text_options(const OptionParser& parser, bool whole);

/// Where what nodes read is kept between runs; empty: this user has no place for caches.
std::string kept_folder();

/// `text` fits a pattern in which `*` stands for any text.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace bunraku::cli
