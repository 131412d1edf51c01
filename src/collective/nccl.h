#pragma once
// Inside the collective room: NCCL's constants.

#include <array>
#include <cstdint>

namespace fabricast::collective::nccl {

// src/graph/tuning.cc of NCCL 2.27, microseconds by {LL, LL128, Simple}: what a call costs before
// its first step, and one hop over NVLink, PCIe and the network.
using Latencies = std::array<double, 3>;
inline constexpr Latencies kRingBase = {6.6, 14.0, 8.4};
inline constexpr Latencies kTreeBase = {6.8, 14.0, 8.4};
inline constexpr Latencies kRingNvlink = {0.6, 1.9, 3.4};
inline constexpr Latencies kRingPcie = {1.0, 2.5, 5.7};
inline constexpr Latencies kRingNet = {2.7, 4.0, 14.0};
inline constexpr Latencies kTreeNvlink = {0.6, 1.25, 4.0};
inline constexpr Latencies kTreePcie = {1.0, 1.9, 4.0};
inline constexpr Latencies kTreeNet = {5.0, 8.5, 14.0};
inline constexpr double kNvlsNvlink = 25;
inline constexpr double kNvlsNet = 18;
inline constexpr double kNvlsTreeNet = 20.9;
inline constexpr double kCollNetChainNvlink = 2.8;
inline constexpr double kCollNetChainNet = 30;

// The same file, GB/s of bus bandwidth by architecture {Ampere, Hopper, Blackwell} and {1, 2, more}
// nodes: of all channels together with LL in one node, and of one channel.
using ByNodes = std::array<double, 3>;
inline constexpr std::array<double, 3> kLlInNode = {87.7, 141, 282};
inline constexpr ByNodes kLlIntel = {0, 39.0, 20.4};
inline constexpr ByNodes kLlAmd = {0, 22.5, 19.0};
inline constexpr std::array<ByNodes, 3> kRingLl128 = {
    {{20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
inline constexpr std::array<ByNodes, 3> kTreeLl128 = {
    {{20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
inline constexpr std::array<ByNodes, 3> kTreeSimple = {
    {{24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
inline constexpr std::array<ByNodes, 3> kNvlsTreeSimple = {
    {{24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96.0, 43.8}}};
// nvlsEfficiency; 0: no NVLS.
inline constexpr std::array<double, 3> kNvlsEfficiency = {0, 0.85, 0.74};

// treeCorrectionFactor: by protocol, powers of two from 64 B.
inline constexpr std::array<std::array<double, 24>, 3> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

// src/graph/topo.h, kvDictPciGen: 24 of the 32 GB/s of a x16 slot of the fourth generation.
inline constexpr double kPcieShare = 0.75;

// getNetOverhead: a post to the network, us.
inline constexpr double kNetPostIntel = 1;
inline constexpr double kNetPostAmd = 2;

// src/include/device.h and src/init.cc: NCCL_STEPS slots of a connection; a slot's data is 8 lines
// of 8 bytes (and as much of flags) for each of 512 threads with LL, 15/16 of 120 x 8 bytes for
// each of 640 threads with LL128, NCCL_BUFFSIZE / NCCL_STEPS with Simple.
inline constexpr int kSteps = 8;
inline constexpr std::array<std::int64_t, 3> kSlot = {32 << 10, 576'000, 512 << 10};
inline constexpr std::array<double, 3> kWire = {2, 16.0 / 15, 1};
// A ring with Simple takes two slots for a slice and two slices for a chunk (NCCL_STEPS / 4,
// NCCL_STEPS / 2).
inline constexpr int kRingSliceSteps = 2;
inline constexpr int kRingSlices = 2;
// nvlsChunkSize.
inline constexpr std::int64_t kNvlsChunk = 128 << 10;
// NCCL_P2P_NET_CHUNKSIZE, NCCL_P2P_NVL_CHUNKSIZE, NCCL_P2P_LL_THRESHOLD.
inline constexpr std::int64_t kNetPairChunk = 128 << 10;
inline constexpr std::int64_t kNvlPairChunk = 512 << 10;
inline constexpr std::int64_t kPairLlThreshold = 16 << 10;

// src/enqueue.cc: bytes below which a channel is not worth having: threads x threshold, with
// Ring/LL times the ranks; never less than 16 KiB of traffic (MinTrafficPerChannel).
inline constexpr std::array<double, 3> kWorthAChannel = {512 * 8, 640 * 8, 512 * 64};
inline constexpr double kLeastTraffic = 16 << 10;

// Channels as NCCL's logs state them: "24 coll channels, 16 nvls channels" in a node with NVLink
// (H100, NCCL 2.19 and later), 2 over PCIe, two for each adapter between nodes.
inline constexpr int kNodeChannels = 24;
inline constexpr int kPcieChannels = 2;
inline constexpr int kChannelsPerNic = 2;
inline constexpr int kNvlsChannels = 16;

}  // namespace fabricast::collective::nccl
