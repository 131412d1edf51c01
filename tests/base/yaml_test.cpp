#include "base/yaml.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabricast::base::yaml {
namespace {

/// The message that reading `text` as "a.yaml" ends with; "accepted" when it does not.
std::string refusal(const std::string& text) {
  try {
    parse(text, "a.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

std::string file_refusal(const std::string& path) {
  try {
    parse_file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

/// A file that is gone when the test is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(testing::TempDir() + "fabricast_yaml_" + std::to_string(getpid()) + ".yaml") {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Yaml, keeps_the_order_of_a_file) {
  const Node root = parse("b: 1\na: [x, y]\n", "a.yaml");
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].first, "b");
  EXPECT_EQ(root.find("a")->items[1].scalar, "y");
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(Yaml, every_node_knows_where_it_stands) {
  const Node root = parse("top:\n  list:\n    - one\n    - key: two\n", "a.yaml");
  const Node& two = *root.find("top")->find("list")->items[1].find("key");
  EXPECT_EQ(two.where.text(), "a.yaml:4:12: top.list[1].key");
}

TEST(Yaml, columns_count_characters) {
  const Node root = parse("{名字: x}\n", "a.yaml");
  EXPECT_EQ(root.find("名字")->where.column, 6);
}

TEST(Yaml, a_value_that_was_left_out_stands_at_its_key) {
  const Node root = parse("a:\n  gpus:\n\n\nb: 1\n", "a.yaml");
  EXPECT_EQ(root.find("a")->find("gpus")->kind, Node::Kind::kNull);
  EXPECT_EQ(root.find("a")->find("gpus")->where.text(), "a.yaml:2:3: a.gpus");
}

TEST(Yaml, reads_json) {
  const Node root = parse(R"({"layers": 80, "names": ["a", null]})", "config.json");
  EXPECT_EQ(root.find("layers")->scalar, "80");
  EXPECT_TRUE(root.find("names")->items[0].quoted);
  EXPECT_EQ(root.find("names")->items[1].kind, Node::Kind::kNull);
}

TEST(Yaml, skips_a_byte_order_mark) {
  const Node root = parse(
      "\xef\xbb\xbf"
      "a: 1\n",
      "a.yaml");
  EXPECT_EQ(root.entries[0].first, "a");
  EXPECT_EQ(root.find("a")->where.column, 4);
}

TEST(Yaml, copies_aliases_to_the_place_where_they_are_used) {
  const Node root = parse("a: &x {k: 1}\nb: [*x]\n", "a.yaml");
  EXPECT_EQ(root.find("b")->items[0].find("k")->scalar, "1");
  EXPECT_EQ(root.find("b")->items[0].find("k")->where.key, "b[0].k");
}

// Columns are counted from the start of a block and not of the line; both sides of a boundary.
TEST(Yaml, columns_of_a_long_line_count_characters_too) {
  std::string line = "[";
  for (int i = 0; i < 500; ++i) line += "网,";
  const Node root = parse(line + "x]\n", "a.yaml");
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    EXPECT_EQ(root.items[i].where.column, 2 + 2 * static_cast<int>(i));
  }
}

// 100,000 nodes in one line of 2 MB: with a count from the start of the line for each node, 10^11
// bytes would be looked at, and the test would run into its time limit.
TEST(Yaml, reads_a_line_of_megabytes) {
  std::string line = "[";
  for (int i = 0; i < 100'000; ++i) line += "abcdefghijklmnopqr, ";
  const Node root = parse(line + "x]\n", "a.yaml");
  EXPECT_EQ(root.items.size(), 100'001U);
  EXPECT_EQ(root.items.back().where.column, 2'000'002);
}

TEST(YamlRefusal, of_an_empty_file) {
  EXPECT_EQ(refusal(""), "a.yaml: found nothing (the file is empty); allowed a YAML mapping");
  EXPECT_EQ(refusal("# only a comment\n"),
            "a.yaml: found nothing (the file is empty); allowed a YAML mapping");
}

TEST(YamlRefusal, of_duplicate_keys_names_both_lines) {
  EXPECT_EQ(refusal("cluster:\n  gpus: 8\n  gpu: a10\n  gpus: 16\n"),
            "a.yaml:4:3: cluster.gpus: found a second value for this key (the first is in line "
            "2); allowed each key once");
}

TEST(YamlRefusal, of_invalid_utf8_names_the_byte_and_its_place) {
  EXPECT_EQ(refusal("name: ok\nnote: caf\xe9 x\n"),
            "a.yaml:2:10: found the byte 0xe9, which is not UTF-8; allowed text in UTF-8");
}

TEST(YamlRefusal, of_control_characters) {
  EXPECT_EQ(refusal(std::string("a: 1\nb: \0\n", 10)),
            "a.yaml:2:4: found the control character 0x00; allowed printable text");
  // The parser underneath takes this one for the end of the file and would drop what follows.
  EXPECT_EQ(refusal("a: 1\n\x04"
                    "b: 2\n"),
            "a.yaml:2:1: found the control character 0x04; allowed printable text");
}

TEST(YamlRefusal, of_a_merge_key_names_it) {
  EXPECT_EQ(refusal("a: &a {k: 1}\nb:\n  <<: *a\n"),
            "a.yaml:3:3: b: found the merge key `<<`; allowed keys written out; `<<` is not read");
  EXPECT_EQ(refusal("a: {\"<<\": 1}\n"), "accepted");
}

TEST(YamlRefusal, shows_no_control_character_that_an_escape_smuggles_in) {
  EXPECT_EQ(refusal("\"\\e[31m\": 1\n\"\\e[31m\": 2\n"),
            "a.yaml:1:1: found the key `\\x1b[31m`; allowed keys without control characters");
  EXPECT_EQ(refusal("a: !<\x7f> 1\n"),
            "a.yaml:1:6: found the control character 0x7f; allowed printable text");
  EXPECT_NE(refusal("a: \"\\\xe2\x80\xae\"\n").find("\\xe2"), std::string::npos);
}

TEST(YamlRefusal, of_broken_syntax_has_a_place) {
  EXPECT_EQ(refusal("a: [1, 2\nb: 3\n").substr(0, 9), "a.yaml:2:");
  EXPECT_NE(refusal("a: [1, 2\nb: 3\n").find("found text that is not YAML"), std::string::npos);
  EXPECT_NE(refusal("a: *nowhere\n").find("a.yaml:1:4: found text that is not YAML"),
            std::string::npos);
}

TEST(YamlRefusal, of_a_second_document) {
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"),
            "a.yaml:3:1: found a second document; allowed one document in a file");
}

TEST(YamlRefusal, of_a_key_that_is_no_text) {
  EXPECT_EQ(refusal("[1, 2]: x\n"), "a.yaml:1:1: found a list as a key; allowed text as a key");
  EXPECT_EQ(refusal("~: x\n"), "a.yaml:1:1: found nothing as a key; allowed text as a key");
}

TEST(YamlRefusal, of_foreign_tags) {
  EXPECT_EQ(refusal("a: !python/object x\n"),
            "a.yaml:1:4: a: found the tag `!python/object`; allowed values without tags of their "
            "own");
}

TEST(YamlRefusal, of_an_alias_bomb_comes_before_it_explodes) {
  // Nine levels of nine aliases: 9^9 = 387 million nodes from 400 bytes.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (char level = '1'; level < '9'; ++level) {
    std::string alias = "*a_ ,";
    alias[2] = static_cast<char>(level - 1);
    std::string name = "a_: &a_ [";
    name[1] = name[6] = level;
    bomb += name;
    for (int i = 0; i < 9; ++i) bomb += alias;
    bomb += "]\n";
  }
  EXPECT_NE(refusal(bomb).find("found more than 200000 nodes, aliases expanded; allowed at most "
                               "200000"),
            std::string::npos);
}

TEST(YamlRefusal, of_an_alias_to_its_own_parent) {
  EXPECT_EQ(refusal("a: &a [*a]\n"),
            "a.yaml:1:8: a[0]: found an alias to a node that contains it; allowed an alias to an "
            "earlier node");
}

TEST(YamlRefusal, of_nesting_begins_at_65_levels) {
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "accepted");
  EXPECT_NE(refusal(std::string(65, '[') + std::string(65, ']')).find("nesting deeper than 64"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(100'000, '[')).find("allowed"), std::string::npos);
}

TEST(YamlRefusal, of_endless_keys) {
  const std::string key(2000, 'k');
  EXPECT_EQ(refusal("a:\n  ? " + key + "\n  : 1\n"),
            "a.yaml:2:5: a: found a key too long to be meant; allowed paths of at most 1024 bytes");
}

TEST(YamlFile, is_read_and_named_in_locations) {
  const TemporaryFile file("a: 1\n");
  EXPECT_EQ(parse_file(file.path()).find("a")->where.text(), file.path() + ":1:4: a");
}

TEST(YamlFile, that_is_absent_is_refused_with_the_reason) {
  EXPECT_EQ(file_refusal("/nonexistent/a.yaml"),
            "/nonexistent/a.yaml: found a path that cannot be read (No such file or directory); "
            "allowed the path of a readable file");
}

TEST(YamlFile, that_may_not_be_read_is_refused_with_the_reason) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
  const TemporaryFile file("a: 1\n");
  chmod(file.path().c_str(), 0);
  EXPECT_EQ(file_refusal(file.path()), file.path() +
                                           ": found a path that cannot be read (Permission "
                                           "denied); allowed the path of a readable file");
}

TEST(YamlFile, that_fails_while_it_is_read_is_refused_with_the_reason) {
  // Address 0 of a process is never mapped, so that the first read ends in EIO.
  EXPECT_EQ(file_refusal("/proc/self/mem"),
            "/proc/self/mem: found a path that cannot be read (Input/output error); allowed the "
            "path of a readable file");
}

TEST(YamlFile, that_is_a_directory_is_refused) {
  EXPECT_EQ(file_refusal("/tmp"), "/tmp: found a directory; allowed a file");
}

TEST(YamlFile, can_be_a_pipe) {
  const std::string path = testing::TempDir() + "fabricast_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "a: 1\n"; });
  EXPECT_EQ(parse_file(path).find("a")->scalar, "1");
  writer.join();
  EXPECT_EQ(file_refusal(path),
            path + ": found a pipe that nobody writes to; allowed a file, or a pipe with a writer");
  std::filesystem::remove(path);
}

TEST(YamlFile, beyond_16_mebibytes_is_refused) {
  const TemporaryFile file("# " + std::string(16U << 20, 'x'));
  EXPECT_EQ(file_refusal(file.path()),
            file.path() + ": found more than 16 MiB; allowed a file of at most 16 MiB");
}

}  // namespace
}  // namespace fabricast::base::yaml
