// SPDX-License-Identifier: Apache-2.0
#include "io/sysctl.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed::io {

std::optional<std::uint32_t> read_sysctl(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return std::nullopt;
    }
    std::array<char, 32> text{};
    const ssize_t count = ::read(fd, text.data(), text.size());
    (void)::close(fd);
    std::uint32_t value = 0;
    const char* end = text.data() + (count > 0 ? count : 0);
    const auto parsed = std::from_chars(text.data(), end, value);
    return parsed.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

Result<void> write_sysctl(const std::string& path, std::uint32_t value) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(errno, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    }
    const std::string text = fmt::format("{}", value);
    const ssize_t count = ::write(fd, text.data(), text.size());
    const int number = errno;
    (void)::close(fd);
    if (count != static_cast<ssize_t>(text.size())) {
        return fail_errno(
            number, fmt::format("cannot write {} to {}: {}", value, path, std::strerror(number)));
    }
    return {};
}

}  // namespace planed::io
