#include <algorithm>
#include <cmath>
#include <memory>

#include "serving/service_run.h"

namespace fabricast::serving {

void Service::pay(Replica& replica) {
  const Time now = net_.now();
  replica_area_ += (now - replica.there_since).s();
  there_s_ += share_in_window(replica.there_since, now) * (now - replica.there_since).s();
  replica.there_since = now;
}

void Service::grow(int missing) {
  for (std::size_t i = 0; i < replicas_.size() && missing > 0; ++i) {
    Replica& replica = replicas_[i];
    if (replica.state == Replica::State::kDraining) {
      replica.state = Replica::State::kReady;  // it is still there
      --missing;
    } else if (replica.state == Replica::State::kOff) {
      start_replica(static_cast<std::uint32_t>(i));
      --missing;
    }
  }
}

/// The last that is ready takes no more requests; those that are still to come cannot replace it.
void Service::shrink() {
  const auto ready = std::ranges::count(replicas_, Replica::State::kReady, &Replica::state);
  if (ready <= serving_.scaling->min_replicas) return;
  const auto last = std::find_if(replicas_.rbegin(), replicas_.rend(), [](const Replica& replica) {
    return replica.state == Replica::State::kReady;
  });
  last->state = Replica::State::kDraining;
  stop_if_empty(*last);
}

void Service::look() {
  const scenario::ScalingSpec& scaling = *serving_.scaling;
  if (over_ && outstanding_ == 0) return;
  const auto there = static_cast<int>(std::ranges::count_if(replicas_, [](const Replica& replica) {
    return replica.state == Replica::State::kReady || replica.state == Replica::State::kStarting;
  }));
  const double wanted = std::ceil(static_cast<double>(outstanding_) / scaling.target_outstanding);
  const int want =
      static_cast<int>(std::clamp(wanted, 1.0 * scaling.min_replicas, 1.0 * scaling.max_replicas));
  if (want >= there) {
    idle_since_ = Time::max();
    grow(want - there);
  } else if (idle_since_ == Time::max()) {
    idle_since_ = net_.now();
  }
  if (idle_since_ != Time::max() && (net_.now() - idle_since_).s() >= scaling.idle_s) {
    shrink();
    idle_since_ = net_.now();
  }
  net_.at(net_.now() + Time::seconds(scaling.interval_s), [this](Time) { look(); });
}

void Service::start_replica(std::uint32_t index) {
  Replica& replica = replicas_[index];
  replica.state = Replica::State::kStarting;
  replica.wanted = net_.now();
  ++result_.scaled_out;
  net_.at(net_.now() + Time::seconds(serving_.scaling->provision_s), [this, index](Time) {
    replicas_[index].there_since = net_.now();
    load(index);
  });
}

/// The weights come from a replica that has them, GPU by GPU, or from storage or disks at their
/// rate or that of the adapters.
void Service::load(std::uint32_t index) {
  using From = scenario::ScalingSpec::LoadFrom;
  const scenario::ScalingSpec& scaling = *serving_.scaling;
  const Deployment& deployment = replicas_[index].pool->deployment;
  if (scaling.from != From::kPeer) {
    double seconds = service_.weights_gb / scaling.gb_per_s;
    if (scaling.from == From::kStorage && service_.adapter_gb_per_s > 0) {
      seconds = std::max(seconds, service_.weights_gb_per_gpu / service_.adapter_gb_per_s);
    }
    net_.at(net_.now() + Time::seconds(seconds), [this, index](Time) { become_ready(index); });
    return;
  }
  std::size_t from = 0;
  while (replicas_[from].state != Replica::State::kReady) ++from;
  const int gpus = deployment.shape.gpus();
  auto left = std::make_shared<int>(gpus);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto rank = [&](std::size_t replica) {
      return base::Rank(static_cast<std::uint32_t>(deployment.first_gpu +
                                                   replicas_[replica].number * gpus + gpu));
    };
    net_.send(rank(from), rank(index), base::Bytes::from(service_.weights_gb_per_gpu * 1e9), {},
              [this, index, left](Time) {
                if (--*left == 0) become_ready(index);
              });
  }
}

void Service::become_ready(std::uint32_t index) {
  net_.at(net_.now() + Time::seconds(serving_.scaling->warm_up_s), [this, index](Time) {
    Replica& replica = replicas_[index];
    replica.state = Replica::State::kReady;
    cold_s_ += (net_.now() - replica.wanted).s();
    ++cold_starts_;
  });
}

void Service::stop_if_empty(Replica& replica) {
  if (replica.serving > 0) return;
  pay(replica);
  replica.state = Replica::State::kOff;
  ++result_.scaled_in;
}

}  // namespace fabricast::serving
