// SPDX-License-Identifier: Apache-2.0
#include "io/service_notifier.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr ServiceReport kStarting{};
const ServiceReport kReady{.phase = ServicePhase::Ready, .status = "Ready"};

/// Where the service manager would read: it reads when the test says so.
class Manager {
public:
    explicit Manager(const std::string& name, bool is_abstract = false) {
        fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_un address = address_of(name);
        auto length = static_cast<socklen_t>(sizeof address);
        if (is_abstract) {
            address.sun_path[0] = '\0';
            length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        }
        if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
            throw std::runtime_error("cannot bind " + name);
        }
    }
    ~Manager() { (void)::close(fd_); }
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;
    Manager(Manager&&) = delete;
    Manager& operator=(Manager&&) = delete;

    std::vector<std::string> read() const {
        std::vector<std::string> messages;
        std::array<char, 4096> buffer{};
        for (;;) {
            const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
            if (count < 0) {
                return messages;
            }
            messages.emplace_back(buffer.data(), static_cast<std::size_t>(count));
        }
    }

private:
    int fd_ = -1;
};

class ServiceNotifierTest : public testing::Test {
protected:
    [[nodiscard]] ServiceEnvironment environment(std::string watchdog_usec = "") const {
        return {.notify_socket = path_, .watchdog_usec = std::move(watchdog_usec)};
    }
    /// Messages that a manager which never reads has no room for.
    static void fill(ServiceNotifier& notifier) {
        for (int i = 0; i < 2000; ++i) {
            notifier.tell({.phase = ServicePhase::Ready, .status = std::to_string(i)});
        }
    }

    TempFolder folder_;
    std::string path_ = folder_.path() + "/notify";
    boost::asio::io_context loop_;
};

// The environment ---------------------------------------------------------------------------------

TEST(WatchdogPeriod, IsWhatTheEnvironmentSays) {
    EXPECT_EQ(watchdog_period({.watchdog_usec = "15000000"}, 7), Duration(15s));
    EXPECT_EQ(watchdog_period({.watchdog_usec = "15000000", .watchdog_pid = "7"}, 7),
              Duration(15s));
}

TEST(WatchdogPeriod, IsNoneWhereNobodyWatchesThisProcess) {
    EXPECT_EQ(watchdog_period({}, 7), std::nullopt);
    EXPECT_EQ(watchdog_period({.watchdog_usec = "15000000", .watchdog_pid = "8"}, 7), std::nullopt);
}

TEST(WatchdogPeriod, IsNoneWhereTheNumberIsNone) {
    for (const char* wrong :
         {"0", "-1", "15s", " 1", "99999999999999999999", "9223372036854775807"}) {
        EXPECT_EQ(watchdog_period({.watchdog_usec = wrong}, 7), std::nullopt) << wrong;
    }
}

TEST_F(ServiceNotifierTest, HasNoManagerWhereTheEnvironmentNamesNone) {
    const std::string too_long = "/" + std::string(200, 'x');
    for (const std::string& name :
         {std::string(), std::string("/"), std::string("vsock:2:1"), too_long}) {
        ServiceNotifier notifier(loop_, {.notify_socket = name, .watchdog_usec = "3000"});
        notifier.start([] { FAIL() << "nobody listens"; });
        notifier.tell(kReady);

        EXPECT_FALSE(notifier.has_manager()) << name;
        EXPECT_EQ(loop_.run(), 0U) << "no timer either";
        loop_.restart();
    }
}

// Words -------------------------------------------------------------------------------------------

TEST(Notification, SaysReadyAndStatus) {
    EXPECT_EQ(notification(kStarting, kReady, TimePoint{}), "READY=1\nSTATUS=Ready\n");
}

TEST(Notification, SaysWhenTheReloadBeganByTheMonotonicClock) {
    const ServiceReport reloading{.phase = ServicePhase::Reloading, .status = "Ready"};

    EXPECT_EQ(notification(kReady, reloading, TimePoint(1500ms)),
              "RELOADING=1\nMONOTONIC_USEC=1500000\n");
    EXPECT_EQ(notification(reloading, kReady, TimePoint(2s)), "READY=1\n");
}

TEST(Notification, SaysThatItStops) {
    const ServiceReport stopping{.phase = ServicePhase::Stopping, .status = "Ready"};

    EXPECT_EQ(notification(kReady, stopping, TimePoint{}), "STOPPING=1\n");
}

TEST(Notification, SaysNothingTwice) {
    EXPECT_EQ(notification(kReady, kReady, TimePoint{}), "");
}

TEST(Notification, KeepsTheStatusOnOneLineOfBoundedLength) {
    const ServiceReport forged{.status = "one\nREADY=1\ttwo"};
    const ServiceReport endless{.status = std::string(100'000, 'x')};

    EXPECT_EQ(notification(kStarting, forged, TimePoint{}), "STATUS=one READY=1 two\n");
    EXPECT_THAT(notification(kStarting, endless, TimePoint{}), SizeIs(508));
}

// The socket --------------------------------------------------------------------------------------

TEST_F(ServiceNotifierTest, TellsAtOnceAndOnce) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment());

    notifier.tell(kReady);
    notifier.tell(kReady);

    EXPECT_THAT(manager.read(), ElementsAre("READY=1\nSTATUS=Ready\n"));
}

TEST_F(ServiceNotifierTest, FindsAnAbstractSocket) {
    const std::string name = "@planed-test-" + std::to_string(::getpid());
    const Manager manager(name, true);
    ServiceNotifier notifier(loop_, {.notify_socket = name});

    notifier.tell(kReady);

    EXPECT_THAT(manager.read(), SizeIs(1));
}

TEST_F(ServiceNotifierTest, FeedsTheWatchdogWithEachTickOfAnIdleLoop) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment("3000"));  // Ticks of 1 ms.
    notifier.tell(kReady);
    int ticks = 0;
    notifier.start([&ticks] { ++ticks; });

    while (ticks < 4) {
        loop_.run_one();
    }

    EXPECT_THAT(manager.read(),
                ElementsAre("READY=1\nSTATUS=Ready\n",
                            "WATCHDOG=1\n",
                            "WATCHDOG=1\n",
                            "WATCHDOG=1\n",
                            "WATCHDOG=1\n"));
}

TEST_F(ServiceNotifierTest, FeedsNoWatchdogThatIsNotAskedFor) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment());

    notifier.start([] {});
    notifier.tell(kReady);

    EXPECT_THAT(manager.read(), Each(Not(HasSubstr("WATCHDOG"))));
}

TEST_F(ServiceNotifierTest, AsksForMoreTimeWhileItStarts) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment("3000"));

    notifier.start([] {});

    EXPECT_THAT(manager.read(), ElementsAre("WATCHDOG=1\nEXTEND_TIMEOUT_USEC=3000\n"));
}

TEST_F(ServiceNotifierTest, LeavesTheLastWordToAManagerThatWasBusy) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment());
    fill(notifier);  // Returns, though nobody reads.
    const std::vector<std::string> early = manager.read();
    const ServiceReport stopping{.phase = ServicePhase::Stopping, .status = "Stopping"};

    notifier.tell(stopping);
    loop_.run_one();  // The retry.

    EXPECT_THAT(early, AllOf(Contains(HasSubstr("READY=1")), Not(Contains(HasSubstr("=1999")))));
    EXPECT_THAT(manager.read(), ElementsAre("STOPPING=1\nSTATUS=Stopping\n"));
}

TEST_F(ServiceNotifierTest, FindsAManagerThatComesLater) {
    ServiceNotifier notifier(loop_, environment());
    notifier.tell(kReady);  // ENOENT.
    const Manager manager(path_);

    loop_.run_one();

    EXPECT_THAT(manager.read(), ElementsAre("READY=1\nSTATUS=Ready\n"));
}

TEST_F(ServiceNotifierTest, SkipsAReloadThatNobodyCouldHearOf) {
    const Manager manager(path_);
    ServiceNotifier notifier(loop_, environment());
    fill(notifier);
    (void)manager.read();

    notifier.tell({.phase = ServicePhase::Reloading, .status = "Reloading"});
    notifier.tell(kReady);
    loop_.run_one();

    EXPECT_THAT(manager.read(), ElementsAre("STATUS=Ready\n"));
}

}  // namespace
}  // namespace planed::io
