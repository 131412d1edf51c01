#pragma once
// What callers wait for: messages under way, and timers. A network with nothing outstanding has
// nothing to run for.

#include <cstdint>
#include <utility>

#include "base/slab.h"
#include "network/network.h"

namespace fabricast::network {

struct Message {
  std::int64_t bytes = 0;
  std::uint32_t transfers_left = 0;
  Callback on_complete;
};

class Outstanding {
 public:
  bool none() const { return count_ == 0; }

  std::uint32_t open_message(base::Bytes size, Callback on_complete) {
    const std::uint32_t index = messages_.allocate();
    messages_[index] = {size.count(), 1, std::move(on_complete)};
    ++count_;
    sent_ += size.count();
    return index;
  }
  std::uint32_t open_timer(Callback callback) {
    const std::uint32_t index = timers_.allocate();
    timers_[index] = std::move(callback);
    ++count_;
    return index;
  }
  /// A message that somebody else has opened and will close: its parts are counted here.
  void follow(std::uint32_t index, base::Bytes size) {
    messages_.place(index) = {size.count(), 0, {}};
  }

  Message& message(std::uint32_t index) { return messages_[index]; }
  const Message& message(std::uint32_t index) const { return messages_[index]; }

  /// A message has been delivered, or a timer is due: returns what its caller is to be told by.
  Callback close_message(std::uint32_t index) {
    delivered_ += messages_[index].bytes;
    return close(messages_, index, std::move(messages_[index].on_complete));
  }
  Callback close_timer(std::uint32_t index) {
    return close(timers_, index, std::move(timers_[index]));
  }

  /// Payload so far.
  std::int64_t bytes_sent() const { return sent_; }
  std::int64_t bytes_delivered() const { return delivered_; }

 private:
  template <class T>
  Callback close(base::Slab<T>& slab, std::uint32_t index, Callback callback) {
    slab.release(index);
    --count_;
    return callback;
  }

  base::Slab<Message> messages_;
  base::Slab<Callback> timers_;
  std::uint64_t count_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t delivered_ = 0;
};

}  // namespace fabricast::network
