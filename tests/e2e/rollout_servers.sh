#!/bin/bash
# A rollout on two servers that share one PostgreSQL. Agents reach either server behind a TCP
# balancer, also within one run. Servers are killed during the rollout. Without PostgreSQL, the test
# is skipped. If Puppet is installed, one of the agents is Puppet's.
. "${0%/*}/lib.sh"
chmod 755 "$scratch"
SCRATCH=$scratch python3 "${0%/*}/rollout_servers.py" || failures=$((failures + 1))
finish
