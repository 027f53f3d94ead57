// SPDX-License-Identifier: Apache-2.0
#include "ctl/archive.hpp"

#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed::ctl {

struct Archive::State {
    std::string path;
    int fd = -1;
    archive* writer = nullptr;
    std::string error;

    void check(int result) {
        if (result != ARCHIVE_OK && error.empty()) {
            const char* words = archive_error_string(writer);
            error = fmt::format("{}: {}", path, words == nullptr ? "cannot be written" : words);
        }
    }
};

Archive::Archive(const std::string& path) : state_(std::make_unique<State>()) {
    state_->path = path;
    state_->fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (state_->fd < 0) {
        state_->error = fmt::format("{}: {}", path, std::generic_category().message(errno));
        return;
    }
    state_->writer = archive_write_new();
    state_->check(archive_write_add_filter_gzip(state_->writer));
    state_->check(archive_write_set_format_pax_restricted(state_->writer));
    state_->check(archive_write_open_fd(state_->writer, state_->fd));
}

Archive::~Archive() {
    if (state_->writer != nullptr) {
        archive_write_free(state_->writer);
    }
    if (state_->fd >= 0) {
        ::close(state_->fd);
    }
}

void Archive::add(const std::string& name, std::string_view content) {
    if (!state_->error.empty()) {
        return;
    }
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_mtime(entry, std::time(nullptr), 0);
    state_->check(archive_write_header(state_->writer, entry));
    archive_entry_free(entry);
    if (state_->error.empty() &&
        std::cmp_not_equal(archive_write_data(state_->writer, content.data(), content.size()),
                           content.size())) {
        state_->check(ARCHIVE_FATAL);
    }
}

void Archive::close() {
    if (state_->writer != nullptr) {
        state_->check(archive_write_close(state_->writer));
    }
}

const std::string& Archive::error() const {
    return state_->error;
}

}  // namespace planed::ctl
