#include "agent/ssl.h"

namespace bunraku::agent {

void SslFiles::use(http::ClientOptions& options) const {
    options.ca_file = ca_file;
    options.crl_file = crl_file;
    options.crl_leaf_only = crl_leaf_only;
    options.certificate_file = certificate_file;
    options.private_key_file = private_key_file;
    options.verify = true;
}

}  // namespace bunraku::agent
