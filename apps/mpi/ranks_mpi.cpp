// The one file that sees MPI: messages of bytes between the ranks of a job.

#include <chrono>
#include <thread>
#include <vector>

#include <mpi.h>

#include "ranks.h"

namespace fabricast::apps {
namespace {

// Points take seconds, and MPI's own waiting keeps a core busy.
constexpr std::chrono::microseconds kBreath{200};

/// Errors end the job: MPI's default.
class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, const std::string& bytes) override {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, to, 0, MPI_COMM_WORLD);
  }

  std::pair<int, std::string> receive() override {
    MPI_Status status;
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    while (there == 0) {
      std::this_thread::sleep_for(kBreath);
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    }
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    MPI_Recv(bytes.data(), size, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, &status);
    return {status.MPI_SOURCE, std::move(bytes)};
  }

  void finish() override { MPI_Finalize(); }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace fabricast::apps

extern "C" fabricast::apps::Ranks* fabricast_join_ranks() {
  static fabricast::apps::MpiRanks ranks;
  return &ranks;
}
