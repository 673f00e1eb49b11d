// SPDX-License-Identifier: Apache-2.0
// No function that reads PEM prompts for a pass phrase on the terminal.
#include "core/codec/pem.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/codec/pkcs7.h"

namespace bunraku::codec {
namespace {

// OpenSSL decides by the header alone whether it must decrypt.
std::string encrypted(const std::string& what) {
    return "-----BEGIN " + what +
           "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,"
           "00112233445566778899AABBCCDDEEFF\n\nAAAAAAAAAAAAAAAAAAAAAA==\n-----END " +
           what + "-----\n";
}

/// Runs `task` with a new terminal on which no input arrives. Returns the output on the terminal,
/// or "waited" if the task had to be stopped.
template <class F>
std::string run_on_terminal(F task) {
    int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(terminal, 0);
    ::grantpt(terminal);
    ::unlockpt(terminal);
    const std::string name = ::ptsname(terminal);
    pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        int own = ::open(name.c_str(), O_RDWR);
        ::ioctl(own, TIOCSCTTY, 0);
        ::dup2(own, 0);
        task();
        ::_exit(0);
    }
    // The parent stops the child: OpenSSL treats an alarm as an interruption and prompts again.
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 300 && ended == 0; i++) {
        ended = ::waitpid(child, &status, WNOHANG);
        if (ended == 0) ::usleep(10'000);
    }
    if (ended == 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }
    char buffer[200];
    auto n = ::read(terminal, buffer, sizeof buffer);
    ::close(terminal);
    std::string shown = n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : "";
    return WIFEXITED(status) ? shown : "waited " + shown;
}

TEST(Pem, DoesNotPromptForPassPhrase) {
    for (const char* key : {"RSA PRIVATE KEY", "PRIVATE KEY", "PUBLIC KEY", "EC PRIVATE KEY"}) {
        for (const char* certificate : {"CERTIFICATE", "X509 CERTIFICATE"}) {
            EXPECT_EQ(run_on_terminal([&] {
                          (void)pkcs7_decrypt(encrypted("PKCS7"), encrypted(key),
                                              encrypted(certificate));
                      }),
                      "")
                << key;
        }
    }
    // Verifies the test itself: OpenSSL does prompt on this terminal.
    EXPECT_EQ(run_on_terminal([] {
                  const std::string text = encrypted("RSA PRIVATE KEY");
                  BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
                  EVP_PKEY_free(PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr));
              }),
              "waited Enter PEM pass phrase:");
}

}  // namespace
}  // namespace bunraku::codec
