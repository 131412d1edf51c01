#include "program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabricast::golden {

namespace {

/// Removed, with all that is in it, at the end of the test program.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fabricast-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// A name that no earlier call has given.
  std::filesystem::path fresh(const std::string& name) {
    const auto folder = path_ / std::to_string(count_++);
    std::filesystem::create_directory(folder);
    return folder / name;
  }

 private:
  std::filesystem::path path_;
  int count_ = 0;
};

Folder& folder() {
  static Folder only;
  return only;
}

/// Of the child: `stream` becomes the file `path`; exit code 127 when it cannot.
void redirect(int stream, const char* path, int flags) {
  constexpr int kReadable = 0600;
  const int file = open(path, flags | O_CLOEXEC, kReadable);
  if (file < 0 || dup2(file, stream) < 0) _exit(127);
}

/// Of the child: standard streams to files, then the program.
[[noreturn]] void become(std::vector<std::string> command, const std::filesystem::path& out,
                         const std::filesystem::path& err, const std::string& store) {
  setenv("FABRICAST_STORE", store.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a child alone
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT);
  redirect(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT);
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (chdir(out.parent_path().c_str()) == 0) execvp(argv[0], argv.data());
  _exit(127);
}

pid_t start(const std::vector<std::string>& command, const std::filesystem::path& out,
            const std::filesystem::path& err, const std::string& store) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become(command, out, err, store);
  return child;
}

std::vector<std::string> command_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {FABRICAST_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

Execution run(const std::vector<std::string>& command, const std::string& store) {
  const auto out = folder().fresh("out");
  const auto err = folder().fresh("err");
  const pid_t child = start(command, out, err, store);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read(out.string()),
          read(err.string())};
}

Execution fabricast(const std::vector<std::string>& arguments, const std::string& store) {
  return run(command_of(arguments), store.empty() ? fresh_path("results.sqlite") : store);
}

pid_t start(const std::vector<std::string>& command, const std::string& store) {
  return start(command, folder().fresh("out"), folder().fresh("err"), store);
}

pid_t start_fabricast(const std::vector<std::string>& arguments, const std::string& store) {
  return start(command_of(arguments), store);
}

std::string fresh_path(const std::string& name) {
  return folder().fresh(name).string();
}

std::string file_with(const std::string& text, const std::string& name) {
  const auto path = folder().fresh(name);
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace fabricast::golden
