#pragma once
// One TCP connection on a wire that takes time and loses what a test says: sender and receiver as
// the engine joins them, without engine, hosts or queues.

#include <deque>
#include <functional>

#include "packet/tcp_receiver.h"
#include "packet/tcp_sender.h"

namespace fabricast::packet::testing {

class TcpWire {
 public:
  /// True: the `transmission`-th segment put on the wire (from 1), which is `sequence`, is lost.
  using Loss = std::function<bool(std::uint64_t transmission, std::uint32_t sequence)>;

  /// `spacing`: time between two segments on the wire.
  TcpWire(TcpSender::Parameters p, base::Time round_trip, base::Time spacing)
      : round_trip_(round_trip), spacing_(spacing) {
    sender.initialise(p);
    receiver.initialise({p.receive_window, p.sack});
  }

  Loss lost = [](std::uint64_t, std::uint32_t) { return false; };

  /// Runs until `until`, or until everything is acknowledged. Every segment is acknowledged.
  void run(base::Time until) {
    send();
    while (!wire_.empty() || sender.outstanding()) {
      const base::Time ack = wire_.empty() ? base::Time::max() : wire_.front().at;
      const base::Time next = std::min(ack, deadline_);
      if (next > until) {
        now = until;
        break;
      }
      now = next;
      if (ack <= deadline_) {
        acknowledge();
      } else {
        ++timeouts;
        sender.on_timeout();
        deadline_ = now + sender.rto();
      }
      send();
    }
  }

  TcpSender sender;
  TcpReceiver receiver;
  base::Time now;
  std::uint64_t transmissions = 0;
  std::uint64_t repeats = 0;  ///< segments sent again
  int timeouts = 0;

 private:
  struct Reply {
    base::Time at;
    std::uint32_t sequence = 0;
    std::uint32_t expected = 0;
    std::uint16_t reported = 0;
  };

  void send() {
    std::uint32_t sequence = 0;
    while (sender.next(&sequence)) {
      if (!sender.outstanding()) deadline_ = now + sender.rto();
      if (sequence < highest_) ++repeats;
      highest_ = std::max(highest_, sequence + 1);
      sender.sent(sequence, now);
      free_at_ = std::max(free_at_, now) + spacing_;
      if (lost(++transmissions, sequence)) continue;
      receiver.receive(sequence);
      // What the receiver does, it does in order: its reply can be made up now.
      wire_.push_back({free_at_ + round_trip_, sequence, receiver.expected(), receiver.reported()});
    }
  }

  void acknowledge() {
    const Reply reply = wire_.front();
    wire_.pop_front();
    while (read_ != reply.reported) sender.on_sack(receiver.out_of_order(read_++));
    const bool progress = reply.expected > sender.unacked();
    sender.on_ack(reply.expected, now);
    if (progress) deadline_ = now + sender.rto();
  }

  base::Time round_trip_;
  base::Time spacing_;
  base::Time free_at_;
  base::Time deadline_ = base::Time::max();
  std::uint32_t highest_ = 0;
  std::uint16_t read_ = 0;
  std::deque<Reply> wire_;
};

}  // namespace fabricast::packet::testing
