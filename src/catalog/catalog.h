#pragma once
// What is known about the world: GPUs, adapters, switches, cables, language models, prices and
// fabric profiles, read from catalog/*.yaml. Every value there carries `kind` and `source`; a value
// without them is refused when the catalogue is loaded. The typed records below are what the other
// rooms compute with; the `Entry` beside each keeps the provenance for people who ask.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "catalog/fabric_profile.h"

namespace fabricast::catalog {

/// How a value came to be known.
enum class ValueKind { kMeasured, kDatasheet, kPublished, kCalibrated, kAssumed };
std::string_view name_of(ValueKind kind);

/// One value of an entry as written in the catalogue.
struct Value {
  std::string key;   ///< dotted, ends in the unit: "memory_gb", "ecn.kmin_kb"
  std::string text;  ///< the value itself
  ValueKind kind = ValueKind::kAssumed;
  std::string source;
};

/// One thing of the catalogue with the provenance of each of its values.
struct Entry {
  std::string category;  ///< "gpus", "adapters", "slots", "hosts", "engines", "switches", "cables",
                         ///< "models", "prices", "reliability", "fabrics"
  std::string id;
  std::string name;
  std::vector<Value> values;
};

enum class Precision { kFp32, kBf16, kInt8, kFp8, kFp4 };
std::string_view name_of(Precision precision);

/// How long a matrix product takes on a GPU, fitted to measured ones (docs/models/gpu.md, section
/// 4).
struct GemmCurve {
  double fixed_us = 0;    ///< of a kernel whatever its shape: launch, prologue, drain
  double efficiency = 0;  ///< share of the peak by tiles of unlimited edge and depth; 0: unknown
  double edge = 0;        ///< loading a tile's operands costs as much as so many more columns
  double depth = 0;       ///< filling and draining a tile's loop, as steps along k
  double waves = 0;       ///< 0: a last wave of tiles is shared by all SMs, 1: it takes a whole one
  double memory_share = 0;  ///< of the data sheet's memory bandwidth
  double split_us = 0;      ///< for cutting k in parts that are added up
  double step_ns = 0;       ///< least time of a step along k
};

/// Fused causal attention over a whole context, rotation of queries and keys included.
struct AttentionCurve {
  double fixed_us = 0;
  double efficiency = 0;  ///< share of the BF16 peak by tiles far from the diagonal
  double depth = 0;       ///< as in GemmCurve, along the keys
  double passes = 0;  ///< times queries, keys, values and result cross the memory at its full rate
};

/// Attention of one new token per sequence over cached keys and values.
struct DecodeCurve {
  double fixed_us = 0;
  double unit_us = 0;  ///< of one SM for one key-value head of one sequence
  double memory_share = 0;
  double stream_gb_per_s = 0;  ///< that one SM reads alone
};

/// Peaks are dense (no structured sparsity), in TFLOP/s; 0 where the GPU has no such units.
struct Gpu {
  std::string id;
  std::string name;
  double compute_capability = 0;  ///< CUDA's, major.minor
  std::string architecture;       ///< "hopper", "blackwell", ...: GPUs that share coefficients
  double fp32_tflops = 0;
  double bf16_tflops = 0;
  double int8_tops = 0;
  double fp8_tflops = 0;
  double fp4_tflops = 0;
  double memory_gb = 0;               ///< decimal GB
  double memory_gb_per_s = 0;         ///< HBM or GDDR bandwidth, GB/s
  double nvlink_gb_per_s = 0;         ///< per GPU and direction, GB/s; 0: no NVLink, PCIe is used
  double nvlink_usable_gb_per_s = 0;  ///< of that, for the data of kernels that copy
  double nvlink_latency_us = 0;       ///< one message between two GPUs of a node, us
  double nvls_share =
      0;  ///< of usable NVLink where NVSwitches reduce and multicast; 0: they cannot
  double pcie_gb_per_s = 0;  ///< per direction, GB/s
  int sms = 0;               ///< streaming multiprocessors, or compute units
  GemmCurve gemm_bf16;       ///< of FP32, too
  GemmCurve gemm_fp8;        ///< of INT8 and FP4, too
  AttentionCurve attention;
  DecodeCurve decode;
  double sustained_share = 0;  ///< of the rate of single kernels that a load of minutes keeps, 0..1
  double kernel_launch_us = 0;      ///< gap before a kernel when the stream is not empty, us
  double kernel_variation_pct = 0;  ///< sigma/mu of a GPU's compute time, step to step
  double power_w = 0;               ///< board power limit, W
  /// Peak at a precision, TFLOP/s; 0 when the GPU lacks it.
  double peak_tflops(Precision precision) const;
  const GemmCurve& gemm_curve(Precision precision) const;
};

enum class LinkLayer { kInfiniBand, kEthernet };
/// "infiniband", "ethernet".
std::string_view name_of(LinkLayer layer);

struct Adapter {
  std::string id;
  std::string name;
  std::vector<LinkLayer> link_layers;
  double port_gbps = 0;
  double receive_buffer_kb = 0;  ///< per class of Ethernet, decimal kB; 0 where there is none
  double power_w = 0;
};

/// A PCI Express link.
struct Slot {
  std::string id;
  std::string name;
  double rate_gt_per_s = 0;  ///< per lane and direction
  int lanes = 0;
  double coding_share = 0;  ///< left by line code and flits
  double data_link_share =
      0;                     ///< of that, left for packets beside flow control and acknowledgements
  int write_overhead_b = 0;  ///< beside the payload of a write
  int completion_overhead_b = 0;  ///< beside the payload that answers a read
  int request_b = 0;              ///< a read's request
  /// What `width` lanes like these have for packets, Gb/s per direction.
  double packets_gbps(int width) const;
};

/// A server as the way between its GPUs and adapters sees it (docs/models/host.md).
struct Host {
  std::string id;
  std::string name;
  int sockets = 0;
  bool amd = false;            ///< AMD's CPUs, which NCCL credits with less
  int gpus_per_switch = 0;     ///< under one PCIe switch
  int uplink_lanes = 0;        ///< of a PCIe switch, of the slots' generation
  int max_payload_b = 0;       ///< of a PCIe packet
  int max_read_request_b = 0;  ///< by adapters
  int peer_payload_b = 0;  ///< of packets between devices that pass the root complex; 0: as above
  double switch_latency_ns = 0;
  double root_latency_ns = 0;    ///< one way from root port to root port
  double bridge_latency_ns = 0;  ///< more between host bridges of a socket
  double socket_latency_ns = 0;  ///< more between sockets
  double socket_gb_per_s = 0;    ///< between sockets, per direction
  double memory_gb_per_s = 0;    ///< of a socket, reads and writes together
  double memory_share = 0;       ///< of that, usable
  double copy_chunk_kb = 0;      ///< staging through host memory is cut into these
  double copy_latency_us = 0;    ///< of one copy, beside its bytes
};

struct Switch {
  std::string id;
  std::string name;
  LinkLayer link_layer = LinkLayer::kEthernet;
  int ports = 0;
  double port_gbps = 0;
  double latency_ns = 0;  ///< port to port, cut-through, idle
  double buffer_mb = 0;   ///< shared packet buffer, decimal MB; 0 where credits make it irrelevant
  double power_w = 0;     ///< typical, without optics
  bool adaptive_routing = false;  ///< it can choose among equal paths packet by packet
};

enum class CableMedium { kDirectAttachCopper, kActiveOptical, kTransceiverFibre };

struct Cable {
  std::string id;
  std::string name;
  CableMedium medium = CableMedium::kDirectAttachCopper;
  LinkLayer link_layer = LinkLayer::kEthernet;
  double gbps = 0;
  double max_m = 0;
  double delay_ns_per_m = 0;
  double power_w_per_end = 0;
};

/// A decoder-only transformer. Counts are per layer where they repeat.
struct LanguageModel {
  std::string id;
  std::string name;
  int layers = 0;
  int hidden = 0;
  int feed_forward = 0;  ///< intermediate size of a dense MLP
  int heads = 0;
  int kv_heads = 0;  ///< grouped-query attention; = heads for multi-head
  int head_dim = 0;
  int vocabulary = 0;
  bool tied_embeddings = false;
  bool gated_mlp = true;        ///< SwiGLU: three matrices instead of two
  bool attention_bias = false;  ///< biases on Q, K, V (Qwen2)
  bool output_bias = false;     ///< a bias on attention's last matrix
  bool linear_bias = false;     ///< biases on every matrix of the layers (GPT-2, GPT-NeoX, gpt-oss)
  int norms_per_layer = 2;      ///< of the hidden size; 4 with norms after attention and MLP, too
  bool norm_bias = false;       ///< LayerNorm's, beside its weight
  bool qk_norm = false;         ///< norms of each head's query and key, weights shared by heads
  bool attention_sinks = false;  ///< one weight per head (gpt-oss)
  int learned_positions = 0;     ///< rows of a table of position embeddings; 0: rotary or none
  int sliding_window = 0;        ///< keys that a query of a windowed layer sees; 0: no such layers
  int full_attention_every = 0;  ///< each so many-th layer has no window; 0: all have it
  int experts = 0;               ///< routed experts per MoE layer; 0: dense
  int experts_per_token = 0;
  int shared_experts = 0;
  int expert_feed_forward = 0;  ///< intermediate size of one expert
  int shared_feed_forward = 0;  ///< of all shared experts; 0: `shared_experts` times an expert's
  bool shared_gate = false;     ///< a gate of the shared expert's own (Qwen2-MoE)
  bool routing_bias = false;    ///< an offset per routed expert (DeepSeek-V3)
  int dense_layers = 0;         ///< leading layers with a dense MLP in a MoE model
  int q_lora_rank = 0;          ///< multi-head latent attention (DeepSeek); 0: none
  int kv_lora_rank = 0;
  int qk_rope_head_dim = 0;
  int qk_nope_head_dim = 0;
  int v_head_dim = 0;
  int context = 0;                    ///< longest sequence it was trained for
  double published_parameters_b = 0;  ///< as its authors state, 1e9
};

/// A serving engine with its defaults (docs/models/serving.md, section 2). Names are vLLM's.
struct ServingEngine {
  std::string id;
  std::string name;
  int max_num_seqs = 0;            ///< sequences in a batch
  int max_num_batched_tokens = 0;  ///< tokens of a batch
  int block_size = 0;              ///< tokens of a block of cached keys and values
  bool chunked_prefill = true;     ///< prompts are cut to share batches with generation
  bool mixed_batches = true;  ///< prompts and generation share batches; else prompts come first
  bool prefix_caching = true;
  double gpu_memory_utilization = 0;  ///< share of a GPU's memory that the engine takes
  double step_us = 0;                 ///< of the host per batch, during which the GPU waits
  double sequence_us = 0;             ///< the same per sequence of the batch
  double request_us = 0;  ///< of the front end per request, one after the other, before it queues
  double custom_all_reduce_kb =
      0;  ///< inside nodes, up to this size, it sums by kernels of its own
};

/// ISO 4217's code for "no currency".
inline constexpr std::string_view kNoCurrency = "XXX";

/// A price with its band. Amounts in `currency` at `date`.
struct Price {
  std::string id;  ///< the catalogue id of what is priced, or "electricity-kwh", "usd-cny", ...
  double low = 0;
  double likely = 0;
  double high = 0;
  std::string currency;  ///< ISO 4217; kNoCurrency of a ratio or a duration
  std::string date;      ///< ISO 8601
  std::string unit;      ///< "each", "per kWh", "per GPU-hour", "CNY per USD"
};

/// How often parts of a cluster stop a job: hours of one part between two interruptions.
struct Reliability {
  std::string id;
  std::string name;
  double gpu_mtbf_h = 0;   ///< 0 here and below: it never does
  double host_mtbf_h = 0;  ///< without GPUs and adapters
  double adapter_mtbf_h = 0;
  double link_mtbf_h = 0;  ///< a cable with both ends
  double switch_mtbf_h = 0;
  double software_mtbf_gpu_h = 0;  ///< GPU-hours of a job between two failures of its software
  double detect_min = 0;           ///< until somebody knows
  double restart_min = 0;          ///< from then on until steps are made again
  double storage_gb_per_s_per_gpu =
      0;  ///< what checkpoints are written at, where nothing else says
};

class Catalog {
 public:
  /// Reads every file of `directory`. Throws base::Error (input) that names file, line and key on a
  /// value without kind or source, a duplicate id, an unknown key.
  static Catalog load(const std::string& directory);
  /// The directory to use: $FABRICAST_CATALOG, else ../share/fabricast/catalog, else ../catalog,
  /// beside the running program. Throws base::Error: input when the variable names no catalogue,
  /// failure when the program has none.
  static std::string default_directory();

  // Look-ups accept an unambiguous prefix ("h100-sxm" -> "h100-sxm-80gb"). They throw base::Error
  // (input) at `where` with the near miss and the allowed ids.
  const Gpu& gpu(std::string_view id, const base::Location& where = {}) const;
  const Adapter& adapter(std::string_view id, const base::Location& where = {}) const;
  const Slot& slot(std::string_view id, const base::Location& where = {}) const;
  const Host& host(std::string_view id, const base::Location& where = {}) const;
  const ServingEngine& engine(std::string_view id, const base::Location& where = {}) const;
  const Switch& network_switch(std::string_view id, const base::Location& where = {}) const;
  const Cable& cable(std::string_view id, const base::Location& where = {}) const;
  const LanguageModel& model(std::string_view id, const base::Location& where = {}) const;
  const Price& price(std::string_view id, const base::Location& where = {}) const;
  const Reliability& reliability(std::string_view id, const base::Location& where = {}) const;
  const FabricProfile& fabric(std::string_view id, const base::Location& where = {}) const;

  const std::vector<Gpu>& gpus() const { return gpus_; }
  const std::vector<Adapter>& adapters() const { return adapters_; }
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Host>& hosts() const { return hosts_; }
  const std::vector<ServingEngine>& engines() const { return engines_; }
  const std::vector<Switch>& switches() const { return switches_; }
  const std::vector<Cable>& cables() const { return cables_; }
  const std::vector<LanguageModel>& models() const { return models_; }
  const std::vector<Price>& prices() const { return prices_; }
  const std::vector<Reliability>& reliabilities() const { return reliabilities_; }
  const std::vector<FabricProfile>& fabrics() const { return fabrics_; }
  /// Everything, with provenance, in file order.
  const std::vector<Entry>& entries() const { return entries_; }

  /// The same with the texts of `entries()` as people read them: "80 GB", "0 (unlimited)", a price
  /// in its currency, "-" for no currency.
  Catalog spelt_out() const;

  /// The same with a user's prices in the place of, or beside, its own. The file names them by
  /// catalogue id: `prices: {qm9700: 250000}`, or `{low, likely, high, currency, date, unit, kind,
  /// source}` of which only `likely` is required; what a row leaves out is said once for all at the
  /// top of the file, by the row that it replaces, or by `likely`. Throws base::Error (input) on an
  /// unknown id, a price without currency or date, and what the catalogue's own rows may not be.
  Catalog with_prices(const std::string& file) const;
  /// Moves a price for a what-if; its band and provenance stay. PRECONDITION: there is such a row.
  void set_likely(std::string_view price_id, double likely);

  /// A digest of all values, for content-addressed results.
  std::uint64_t digest() const { return digest_; }

 private:
  void set_price(const Price& price, const Entry& entry);

  std::vector<Gpu> gpus_;
  std::vector<Adapter> adapters_;
  std::vector<Slot> slots_;
  std::vector<Host> hosts_;
  std::vector<ServingEngine> engines_;
  std::vector<Switch> switches_;
  std::vector<Cable> cables_;
  std::vector<LanguageModel> models_;
  std::vector<Price> prices_;
  std::vector<Reliability> reliabilities_;
  std::vector<FabricProfile> fabrics_;
  std::vector<Entry> entries_;
  std::uint64_t digest_ = 0;
};

/// `with_overrides` of fabric_profile.h that also accepts `switch: <id>` and `adapter: <id>`: the
/// pipeline latency and the buffer of the new switch replace those of the old one, unless the same
/// overrides set them. Throws base::Error (input) also when the device does not speak the link
/// layer of the profile.
FabricProfile with_overrides(const Catalog& catalog, const FabricProfile& profile,
                             base::yaml::Fields& fields);

/// Reads a Hugging Face `config.json` (architectures Llama, Mistral, Mixtral, Qwen2, Qwen2-MoE,
/// Qwen3, Qwen3-MoE, Gemma 2 and 3, Phi-3, gpt-oss, GPT-NeoX, GPT-2, MPT, DeepSeek-V2 and V3).
/// Throws base::Error (input) on a missing key or an unknown architecture.
LanguageModel read_hugging_face_config(const std::string& path);

}  // namespace fabricast::catalog
