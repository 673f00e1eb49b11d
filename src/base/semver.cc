#include "base/semver.h"
