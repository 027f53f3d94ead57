// SPDX-License-Identifier: Apache-2.0
#include "bench/planed.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed::bench {
namespace {

constexpr const char* kConfig = R"(node: {{name: bench}}
state_dir: {0}/state
on_exit: {2}
routes: {{max_withdraw: {{share: 100%}}}}
interfaces:
  - name: br0
    max_hosts: 131072
frr: {{socket: {1}}}
learning: {{refresh: {3}}}
)";

}  // namespace

Planed::Planed(const PlanedOptions& options) : options_(options) {
    const std::string config = options.folder + "/planed.yaml";
    std::filesystem::remove_all(options.folder + "/state");
    std::ofstream(config) << fmt::format(kConfig,
                                         options.folder,
                                         options.zserv,
                                         options.withdraw_on_exit ? "withdraw" : "keep",
                                         options.refresh);
    const std::string log = options.folder + "/planed.log";
    pid_ = ::fork();
    if (pid_ < 0) {
        die("no child process");
    }
    if (pid_ > 0) {
        return;
    }
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    (void)::dup2(fd, STDOUT_FILENO);
    (void)::dup2(fd, STDERR_FILENO);
    (void)::execl(options.binary.c_str(),
                  options.binary.c_str(),
                  "--config",
                  config.c_str(),
                  static_cast<char*>(nullptr));
    die(options.binary.c_str());
}

Planed::~Planed() {
    if (pid_ > 0) {
        (void)::kill(pid_, SIGKILL);
        (void)::waitpid(pid_, nullptr, 0);
    }
}

void Planed::stop() {
    (void)::kill(pid_, SIGTERM);
    int status = 0;
    (void)::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fmt::print(stderr, "{}", log());
        die("planed did not end well");
    }
}

Nanoseconds Planed::cpu_time() const {
    // The first number of schedstat is the time on a core, in ns (Documentation/scheduler).
    Nanoseconds total = 0;
    const std::string tasks = fmt::format("/proc/{}/task", pid_);
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        Nanoseconds on_core = 0;
        std::ifstream(task.path() / "schedstat") >> on_core;
        total += on_core;
    }
    return total;
}

std::uint64_t Planed::resident_bytes() const {
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    std::ifstream(fmt::format("/proc/{}/statm", pid_)) >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool Planed::has_said(const std::string& text) const {
    return log().find(text) != std::string::npos;
}

std::string Planed::log() const {
    std::ifstream file(options_.folder + "/planed.log");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace planed::bench
