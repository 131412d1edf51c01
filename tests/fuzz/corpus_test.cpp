// The entry point of the fuzzer on its corpus, on every beginning of it, and on mutations that are
// the same in every run: bytes changed, lines lost, doubled, swapped, texts put into one another.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fabricast::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 1000;
using std::string_view_literals::operator""sv;
constexpr std::string_view kBytes = "\0\n\r\t ,.:;#{}[]\"-+0159eENn/\x1b\xff"sv;

void run(const std::string& text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's signature
  EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
            0);
}

std::vector<std::string> corpus() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(FABRICAST_FUZZ_CORPUS))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Mutations {
 public:
  explicit Mutations(const std::vector<std::string>& texts) : texts_(texts) {}

  std::string of(std::string text) {
    for (std::size_t i = 0, n = 1 + below(4); i < n; ++i) text = one(std::move(text));
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  std::string one(std::string text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t size = below(40);
    switch (below(6)) {
      case 0:
        return text.insert(at, 1, kBytes[below(kBytes.size())]);
      case 1:
        return text.erase(at, size);
      case 2:
        return text.insert(at, text.substr(below(text.size() + 1), 200));
      case 3:
        return text.insert(at, size, '9');
      case 4: {
        const std::string& other = texts_[below(texts_.size())];
        return text.substr(0, at) + other.substr(below(other.size() + 1));
      }
      default:
        if (at < text.size()) text[at] = kBytes[below(kBytes.size())];
        return text;
    }
  }

  const std::vector<std::string>& texts_;
  std::mt19937 random_{20260131};  // NOLINT(cert-msc51-cpp): the same in every run
};

TEST(ReadLogFuzz, the_corpus_and_every_beginning_of_it) {
  const auto texts = corpus();
  ASSERT_GT(texts.size(), 10U);
  for (const std::string& text : texts) {
    run(text);
    for (std::size_t size = 0; size < text.size(); size += 7) run(text.substr(0, size));
  }
}

TEST(ReadLogFuzz, mutations_of_the_corpus) {
  const auto texts = corpus();
  Mutations mutations(texts);
  for (const std::string& text : texts) {
    for (int i = 0; i < kMutations; ++i) run(mutations.of(text));
  }
}

TEST(ReadLogFuzz, long_inputs_of_one_kind_take_no_longer_than_their_length) {
  for (const std::string& unit :
       {std::string("{\n"), std::string("{}\n"),
        std::string("[SUM] 0-1 sec 1 GBytes 1 Gbits/sec sender\n"),
        std::string("# Using devices\n#  Rank 0 Group 0 Pid 1 on a device 0 [0] b\n"),
        std::string("size,time_us\n"), std::string("sockperf: ---> percentile 50 = 1\n"),
        std::string("h:1:2 [0] NCCL INFO a -> b via x/y\n"), std::string("# [ pairs: 2 ]\n"),
        std::string("\x1b["), std::string("\r"), std::string(",")}) {
    std::string text;
    while (text.size() < (std::size_t{1} << 19)) text += unit;
    run(text);
  }
}

}  // namespace
}  // namespace fabricast::calibrate
