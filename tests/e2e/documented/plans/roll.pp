# @summary Rolls over the fleet.
# @param nodes which
plan web::roll(TargetSpec $nodes, Integer $batch = 3) { }
