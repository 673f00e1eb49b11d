// The interaction of two changes of one state (docs/design/0191).
#pragma once

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// Returns the files of a request's environment: those of its commit, those in the request, or
/// those of the disk. Throws base::PuppetError.
std::shared_ptr<const environment::Files> files_of(const site::NodeRequest& request);

/// Returns a state with the changes of `to` and `with` relative to `from`. A file that cannot be
/// merged is as in `to`, and `clashes` contains its path. Throws base::PuppetError.
State put_together(const State& from, const State& to, const State& with,
                   std::vector<std::string>& clashes);

/// Judges `comparison`, and then `with`, another change of the same state. Adds groups of
/// Kind::Conflict if the effect of both changes differs from their separate effects. Nodes that
/// neither change touches are compiled as rarely as by `impact`.
Impact impact_of_both(site::Site& site, const Comparison& comparison, const State& with,
                      std::span<const site::FleetNode> nodes);

}  // namespace bunraku::insight
