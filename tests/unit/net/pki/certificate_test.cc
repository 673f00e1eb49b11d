// SPDX-License-Identifier: Apache-2.0
#include "net/pki/certificate.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "net/pki/authority.h"

namespace bunraku::pki {
namespace {

struct Folder {
    std::string path;
    Folder() {
        char name[] = "/tmp/bunraku-pki-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::system(("rm -rf " + path).c_str()); }
    std::string put(const std::string& name, const std::string& text) {
        std::ofstream(path + "/" + name) << text;
        return path + "/" + name;
    }
};

TEST(Certificate, ReadsIssuedCertificates) {
    Folder folder;
    auto ca = Authority::create("Test CA").value();
    auto one = ca.issue({"node.example.com", {"DNS:node.example.com", "IP:127.0.0.1"}}).value();
    auto other = ca.issue({"other"}).value();
    auto path = folder.put("both.pem", one.certificate.pem() + ca.certificate().pem());
    auto read = read_certificates(path).value();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].common_name(), "node.example.com");
    EXPECT_EQ(read[0].subject(), "/CN=node.example.com");
    EXPECT_EQ(read[0].issuer(), "/CN=Test CA");
    EXPECT_EQ(read[0].fingerprint().size(), 95u);
    EXPECT_EQ(read[0].fingerprint(), one.certificate.fingerprint());
    EXPECT_EQ(read[0].alternative_names(),
              (std::vector<std::string>{"DNS:node.example.com", "IP:127.0.0.1"}));
    EXPECT_LT(read[0].not_before(), read[0].not_after());
    auto key = read_private_key(folder.put("key.pem", one.key.pem())).value();
    EXPECT_TRUE(key.belongs_to(read[0]));
    EXPECT_FALSE(key.belongs_to(other.certificate));
    ca.revoke(one.certificate);
    EXPECT_EQ(read_crls(folder.put("crl.pem", ca.crl_pem().value())).value().size(), 1u);
}

TEST(Certificate, ErrorsNameTheFile) {
    Folder folder;
    EXPECT_EQ(read_certificates(folder.path + "/none").error().message,
              "Could not read the certificate " + folder.path + "/none: No such file or directory");
    auto empty = folder.put("empty.pem", "nothing\n");
    for (const auto& message :
         {read_certificates(empty).error().message, read_private_key(empty).error().message,
          read_crls(empty).error().message}) {
        EXPECT_NE(message.find(empty + " contains no"), std::string::npos) << message;
    }
    auto self = make_self_signed({"x"}).value();
    auto cut = self.certificate.pem();
    auto broken = folder.put("broken.pem", cut + cut.substr(0, cut.size() / 2));
    EXPECT_FALSE(read_certificates(broken));
}

}  // namespace
}  // namespace bunraku::pki
