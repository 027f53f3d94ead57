// SPDX-License-Identifier: Apache-2.0
// Feeds every file of a corpus folder to a fuzz target, without libFuzzer: what a fuzzer once found
// stays found with any compiler. An absent or empty folder is an error, not a pass.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<char> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
        (void)std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    unsigned count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        const std::vector<char> bytes = read_file(entry.path());
        const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
        (void)LLVMFuzzerTestOneInput(input.data(), input.size());
        ++count;
    }
    std::printf("%u inputs replayed\n", count);
    return count == 0 ? 1 : 0;
}
