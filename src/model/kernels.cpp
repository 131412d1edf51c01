#include "model/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace fabricast::model {

namespace {

using catalog::Gpu;
using catalog::Precision;

struct Tile {
  double rows;
  double columns;
};

/// Tiles that CUTLASS and cuBLAS choose from; either operand may lie along the long edge.
constexpr std::array<Tile, 12> kTiles = {{{128, 256},
                                          {256, 128},
                                          {128, 128},
                                          {64, 256},
                                          {256, 64},
                                          {64, 128},
                                          {128, 64},
                                          {64, 64},
                                          {64, 32},
                                          {32, 64},
                                          {64, 16},
                                          {16, 64}}};
constexpr std::array<double, 7> kSplits = {1, 2, 3, 4, 6, 8, 16};
/// Partial sums of a split product are written and read in fp32, through the L2 cache: twice the
/// memory's rate (assumed).
constexpr double kPartialSumBytes = 8;
constexpr double kCacheOverMemory = 2;
/// Query rows of one tile of fused attention (FlashAttention-2 and -3, head dimension 128).
constexpr double kQueryTile = 128;
/// Cached keys that a decoding kernel gives to one SM at least (TensorRT-LLM's multi-block mode).
constexpr double kKeysPerPiece = 256;

double memory_rate(const Gpu& gpu) {
  return gpu.memory_gb_per_s * 1e9;
}

/// FLOP/s of one SM with tiles of unlimited edge and depth.
double sm_rate(const Gpu& gpu, double peak_tflops, double efficiency) {
  return peak_tflops * 1e12 * efficiency / gpu.sms;
}

/// The larger of two roofs, rounded off where they meet.
double roofs(double a, double b) {
  const double a2 = a * a;
  const double b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

/// Keys that all tiles of queries of one head meet together, whole tiles of them.
double keys_met(const AttentionShape& shape, double blocks) {
  const double before = shape.keys - shape.queries;
  const auto all = [&](double n) { return n * before + kQueryTile * n * (n + 1) / 2; };
  if (shape.window <= 0) return all(blocks);
  // The rows of a tile together see one window and the tile's own length.
  const double most = shape.window + kQueryTile;
  const double growing = std::clamp(std::floor((most - before) / kQueryTile), 0.0, blocks);
  return all(growing) + (blocks - growing) * most;
}

}  // namespace

double element_bytes(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 4;
    case Precision::kInt8:
    case Precision::kFp8:
      return 1;
    case Precision::kFp4:
      return 0.5;
    case Precision::kBf16:
      break;
  }
  return 2;
}

double gemm_s(const Gpu& gpu, Precision precision, const GemmShape& shape) {
  const catalog::GemmCurve& curve = gpu.gemm_curve(precision);
  const double rate = sm_rate(gpu, gpu.peak_tflops(precision), curve.efficiency);
  const double sms = gpu.sms;
  double computing = 1e30;
  for (const Tile tile : kTiles) {
    const double whole =
        shape.groups * std::ceil(shape.m / tile.rows) * std::ceil(shape.n / tile.columns);
    const double step =
        2 * (tile.rows * tile.columns + curve.edge * (tile.rows + tile.columns)) / rate;
    for (const double split : kSplits) {
      const double tiles = whole * split;
      const double waves =
          (1 - curve.waves) * std::max(1.0, tiles / sms) + curve.waves * std::ceil(tiles / sms);
      const double steps = std::ceil(shape.k / split) + curve.depth;
      double t = std::max(waves * step * steps, steps * curve.step_ns * 1e-9);
      if (split > 1) {
        t += curve.split_us * 1e-6 + kPartialSumBytes * shape.groups * shape.m * shape.n * split /
                                         (kCacheOverMemory * memory_rate(gpu));
      }
      computing = std::min(computing, t);
      if (tiles >= sms) break;  // further cuts only add work
    }
  }
  const double element = element_bytes(precision);
  const double weight = shape.weight_bytes > 0 ? shape.weight_bytes : element;
  const double bytes = shape.groups * ((element * shape.m + weight * shape.n) * shape.k +
                                       shape.result_bytes * shape.m * shape.n);
  return curve.fixed_us * 1e-6 + roofs(computing, bytes / (memory_rate(gpu) * curve.memory_share));
}

namespace {

/// What a shape asks of the GPU.
struct AttentionWork {
  double sm_s = 0;       ///< of SMs, all tiles together
  double tiles = 0;      ///< of queries, over heads and sequences
  double longest_s = 0;  ///< of one tile
  double bytes = 0;
};

AttentionWork attention_work(const Gpu& gpu, Precision precision, const AttentionShape& shape) {
  const catalog::AttentionCurve& curve = gpu.attention;
  const double rate = sm_rate(gpu, gpu.peak_tflops(precision), curve.efficiency);
  const double blocks = std::ceil(shape.queries / kQueryTile);
  // Scores and values: two products, a multiply-add counts 2.
  const double key_s = 2 * kQueryTile * (shape.head_dim + shape.value_dim) / rate;
  const double heads = shape.batch * shape.heads / shape.shards;
  AttentionWork work;
  work.tiles = heads * blocks;
  work.sm_s = heads * (keys_met(shape, blocks) + blocks * curve.depth) * key_s;
  const double most = shape.keys - shape.queries + blocks * kQueryTile;
  const double longest = shape.window > 0 ? std::min(most, shape.window + kQueryTile) : most;
  work.longest_s = (longest + curve.depth) * key_s;
  const double wide = shape.head_dim + shape.value_dim;
  work.bytes = element_bytes(precision) * shape.batch / shape.shards * wide *
               (shape.queries * shape.heads + shape.keys * shape.kv_heads);
  return work;
}

double attention_s(const Gpu& gpu, const AttentionWork& work) {
  const catalog::AttentionCurve& curve = gpu.attention;
  return curve.fixed_us * 1e-6 + std::max(work.sm_s / gpu.sms, work.longest_s) +
         curve.passes * work.bytes / memory_rate(gpu);
}

}  // namespace

double attention_s(const Gpu& gpu, Precision precision, const AttentionShape& shape) {
  return attention_s(gpu, attention_work(gpu, precision, shape));
}

// Where a prompt goes on from what is cached, its few tiles meet many keys: they are cut in pieces
// like those of generation while SMs are free (FlashAttention's num_splits).
double attention_s(const Gpu& gpu, Precision precision, const std::vector<AttentionShape>& shapes) {
  AttentionWork all;
  for (const AttentionShape& shape : shapes) {
    const AttentionWork work = attention_work(gpu, precision, shape);
    all.sm_s += work.sm_s;
    all.tiles += work.tiles;
    all.bytes += work.bytes;
  }
  for (const AttentionShape& shape : shapes) {
    const AttentionWork work = attention_work(gpu, precision, shape);
    const bool short_of_tiles = shape.queries <= kQueryTile;
    const double pieces = short_of_tiles
                              ? std::clamp(gpu.sms / all.tiles, 1.0,
                                           std::max(1.0, std::ceil(shape.keys / kKeysPerPiece)))
                              : 1;
    all.longest_s = std::max(all.longest_s, work.longest_s / pieces);
  }
  return attention_s(gpu, all);
}

double decode_attention_s(const Gpu& gpu, const DecodeShape& shape) {
  const catalog::DecodeCurve& curve = gpu.decode;
  const double units = shape.batch * shape.kv_heads;
  const double unit_bytes = shape.context * shape.bytes_per_token;
  const double pieces = std::min(std::ceil(shape.context / kKeysPerPiece),
                                 std::max(1.0, gpu.sms / std::max(1.0, units)));
  const double alone = unit_bytes / std::max(1.0, pieces) / (curve.stream_gb_per_s * 1e9);
  const double together = units * unit_bytes / (memory_rate(gpu) * curve.memory_share);
  return curve.fixed_us * 1e-6 + units * curve.unit_us * 1e-6 / gpu.sms + std::max(alone, together);
}

Gpu sustained(const Gpu& gpu) {
  Gpu slower = gpu;
  for (double* peak : {&slower.fp32_tflops, &slower.bf16_tflops, &slower.int8_tops,
                       &slower.fp8_tflops, &slower.fp4_tflops}) {
    *peak *= gpu.sustained_share;
  }
  return slower;
}

}  // namespace fabricast::model
