#pragma once
// The other processes of a job that `mpirun` has started. MPI itself stays in a module of its own
// (apps/mpi), which is loaded where there are several ranks: the program runs without MPI.

#include <string>
#include <utility>

namespace fabricast::apps {

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(int to, const std::string& bytes) = 0;
  /// Waits for the next message from anybody: its sender and its bytes.
  virtual std::pair<int, std::string> receive() = 0;
  /// To be called by every rank when all is done; a rank that ends without ends the job.
  virtual void finish() = 0;
};

/// What the module exports under the name kJoinRanks. The ranks live until the program ends.
using JoinRanks = Ranks*();
inline constexpr const char* kJoinRanks = "fabricast_join_ranks";

/// The ranks of this job; null unless Open MPI's `mpirun` has started several. Throws base::Error
/// (failure) when the module is missing or does not load: it says where it was looked for.
Ranks* join_ranks();

}  // namespace fabricast::apps
