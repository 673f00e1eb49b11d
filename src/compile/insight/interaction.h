// What two changes of one state do to each other (docs/design/0191-two-changes.md).
#pragma once

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// The files of a request's environment: of its commit, those that were given, or the disk's.
/// Throws base::PuppetError.
std::shared_ptr<const environment::Files> files_of(const site::NodeRequest& request);

/// A state with what `to` and `with` change in `from`. What cannot be put together is as in `to`
/// and named in `clashes`, a path each. Throws base::PuppetError.
State put_together(const State& from, const State& to, const State& with,
                   std::vector<std::string>& clashes);

/// Judges `comparison`, and then what `with`, another change of the same state, does beside it: as
/// groups of Kind::Conflict where the outcome of both is not that of each. Nodes that neither
/// touches are compiled no more often than by `impact`.
Impact impact_of_both(site::Site& site, const Comparison& comparison, const State& with,
                      std::span<const site::FleetNode> nodes);

}  // namespace bunraku::insight
