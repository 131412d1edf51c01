#include "advice/claims.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "advice/words.h"
#include "base/error.h"
#include "base/yaml.h"
#include "cost/prices.h"

namespace fabricast::advice {
namespace {

using base::number;

constexpr const char* kCurrency = "CNY";
constexpr const char* kGpu = "h100-sxm-80gb";

/// The article's test clusters: 200 Gb/s, 36-port switches, nodes of four GPUs, two to a leaf.
cost::Bill article_bill(const catalog::Catalog& catalog, int gpus, const char* profile_id) {
  const catalog::FabricProfile& profile = catalog.fabric(profile_id);
  cost::BuildInputs inputs;
  inputs.gpu = catalog.gpu(kGpu);
  inputs.adapter = catalog.adapter(profile.adapter_model);
  inputs.network_switch = catalog.network_switch(profile.switch_model);
  inputs.currency = kCurrency;
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kLeafSpine;
  spec.gpus_per_node = spec.nics_per_node = 4;
  spec.nodes = gpus / spec.gpus_per_node;
  spec.nodes_per_leaf = 2;
  spec.nic_rate = base::Rate::gigabits_per_second(200);
  spec.switch_ports = inputs.network_switch.ports;
  spec.switch_rate = base::Rate::gigabits_per_second(inputs.network_switch.port_gbps);
  const fabric::Fabric fabric = fabric::build(spec);
  inputs.fabric = &fabric;
  return cost::bill_of_materials(catalog, inputs);
}

struct Pair {
  cost::Bill infiniband;
  cost::Bill roce;
};

Pair article_bills(const catalog::Catalog& catalog, int gpus) {
  return {article_bill(catalog, gpus, "article-infiniband"),
          article_bill(catalog, gpus, "article-roce-v2")};
}

double percent_less(double less, double more) {
  return 100 * (1 - less / more);
}

/// Gb/s that a device of the catalogue carries on all of its ports.
double rate_of(const catalog::Catalog& catalog, const std::string& device) {
  for (const catalog::Switch& s : catalog.switches()) {
    if (s.id == device) return s.ports * s.port_gbps;
  }
  return catalog.adapter(device).port_gbps;
}

/// Two prices of the article, of devices of one rate, against those of the catalogue's nearest, by
/// what a Gb/s costs.
Claim price_claim(const catalog::Catalog& catalog, const char* id, const Text& what,
                  double infiniband, double ethernet, const char* infiniband_device,
                  const char* ethernet_device) {
  const auto price = [&](const char* device) { return cost::price_in(catalog, device, kCurrency); };
  const double ratio = price(infiniband_device) / rate_of(catalog, infiniband_device) /
                       (price(ethernet_device) / rate_of(catalog, ethernet_device));
  const double claimed = infiniband / ethernet;
  Claim claim;
  claim.id = id;
  claim.place = "2.3";
  claim.text = {fmt::format("{} cost {} CNY for InfiniBand and {} CNY for RoCE", what.en,
                            number(infiniband), number(ethernet)),
                fmt::format("{}：InfiniBand {} 元，RoCE {} 元", what.zh, number(infiniband),
                            number(ethernet))};
  // Half of the claimed distance or more is the claim's own direction and order.
  claim.verdict = ratio >= 1 + (claimed - 1) / 2 ? "holds" : ratio > 1 ? "partly" : "contradicted";
  claim.evidence = {
      fmt::format(
          "prices of the catalogue: {} {} CNY, {} {} CNY, per Gb/s a ratio of {:.1f} where the "
          "article has {:.1f}",
          infiniband_device, number(price(infiniband_device)), ethernet_device,
          number(price(ethernet_device)), ratio, claimed),
      fmt::format("目录价格：{} {} 元，{} {} 元，按每 Gb/s 计比值 {:.1f}；文中为 {:.1f}",
                  infiniband_device, number(price(infiniband_device)), ethernet_device,
                  number(price(ethernet_device)), ratio, claimed)};
  return claim;
}

Claim saving_claim(const catalog::Catalog& catalog) {
  std::string en;
  std::string zh;
  double least = 100;
  double most = 0;
  for (const int gpus : {8, 16, 32}) {
    const Pair bills = article_bills(catalog, gpus);
    const double saving = percent_less(bills.roce.network_capex, bills.infiniband.network_capex);
    least = std::min(least, saving);
    most = std::max(most, saving);
    en += fmt::format("{}{} GPUs {:.0f} %", en.empty() ? "" : ", ", gpus, saving);
    zh += fmt::format("{}{} 卡 {:.0f}%", zh.empty() ? "" : "，", gpus, saving);
  }
  Claim claim;
  claim.id = "roce-saves-30-to-50";
  claim.place = "3.3(4)";
  claim.text = {"RoCE saves 30 to 50 % of the network hardware",
                "RoCE 可降低 30%-50% 网络硬件投入"};
  claim.verdict = least >= 30 && most <= 55   ? "holds"
                  : most >= 30 && least <= 50 ? "partly"
                                              : "contradicted";
  claim.evidence = {"bills of the article's clusters at these prices save " + en,
                    "按本价格核算文中集群，节省：" + zh};
  return claim;
}

Claim more_cost_claim(const catalog::Catalog& catalog) {
  const Pair bills = article_bills(catalog, 8);
  const double network = 100 * (bills.infiniband.network_capex / bills.roce.network_capex - 1);
  const double whole = 100 * (bills.infiniband.capex / bills.roce.capex - 1);
  const double hour = 100 * (cost::cost_of(catalog, bills.infiniband, 0, 0).per_hour /
                                 cost::cost_of(catalog, bills.roce, 0, 0).per_hour -
                             1);
  Claim claim;
  claim.id = "8-gpus-infiniband-costs-42-more";
  claim.place = "4.3(1)";
  claim.text = {"on 8 GPUs InfiniBand costs 42 % more for 8.6 % more performance",
                "8 卡集群采用 InfiniBand 成本增加 42%，性能仅提升 8.6%"};
  claim.verdict = whole >= 30 ? "holds" : network >= 30 ? "partly" : "contradicted";
  claim.evidence = {
      fmt::format("of the network alone {:+.0f} %; of the whole cluster, GPUs included, {:+.1f} %; "
                  "of an hour of it {:+.1f} %: 42 % can be the network's, not the work's",
                  network, whole, hour),
      fmt::format(
          "仅网络 {:+.0f}%；含 GPU 的整个集群 {:+.1f}%；每小时成本 {:+.1f}%：42% 只能指网络，"
          "而非算力成本",
          network, whole, hour)};
  return claim;
}

/// What an hour of one GPU costs its owner, with no network at all.
double gpu_hour(const catalog::Catalog& catalog, const catalog::Gpu& gpu) {
  cost::Bill bill;
  bill.currency = kCurrency;
  cost::BomLine line;
  line.item = gpu.id;
  line.count = 1;
  line.part = cost::Part::kGpu;
  line.unit_power_w =
      gpu.power_w * (1 + cost::parameter_or(catalog, "server-overhead-pct", 0) / 100);
  bill.lines.push_back(line);
  return cost::cost_of(catalog, cost::repriced(catalog, bill), 0, 0).per_hour;
}

Claim hour_claim(const catalog::Catalog& catalog) {
  constexpr double kClaimed = 0.8;
  const double h100 = gpu_hour(catalog, catalog.gpu(kGpu));
  const double a10 = gpu_hour(catalog, catalog.gpu("a10"));
  const double rtx = gpu_hour(catalog, catalog.gpu("rtx-4090"));
  const double least = std::min({h100, a10, rtx});
  Claim claim;
  claim.id = "7b-inference-at-0.8-per-hour";
  claim.place = "4.1(4)";
  claim.text = {"7B inference from 0.8 CNY an hour", "7B 模型推理每小时成本低至 0.8 元"};
  claim.verdict = h100 <= kClaimed ? "holds" : least <= kClaimed ? "partly" : "contradicted";
  claim.evidence = {
      fmt::format("owning one costs, per hour and without a network: H100 {:.2f}, A10 {:.2f}, RTX "
                  "4090 {:.2f} CNY; 0.8 CNY buys a share of a card, not an H100",
                  h100, a10, rtx),
      fmt::format("自有成本（不含网络，每小时）：H100 {:.2f} 元，A10 {:.2f} 元，RTX 4090 {:.2f} "
                  "元；0.8 元只够一张卡的一部分，而非 H100",
                  h100, a10, rtx)};
  return claim;
}

Text both(base::yaml::Fields& fields, const char* key) {
  const std::string zh = std::string(key) + "_zh";
  return {fields.text(key), fields.text(zh)};
}

}  // namespace

std::vector<Claim> read_claims(const std::string& file) {
  const base::yaml::Node document = base::yaml::parse_file(file);
  base::yaml::Fields fields(document);
  const base::yaml::Node& list = fields.required("claims");
  fields.finish();
  if (list.kind != base::yaml::Node::Kind::kSequence) {
    throw base::input_error(list.where, list.description(), "a list of claims");
  }
  static const std::vector<std::string> kVerdicts = {"holds", "partly", "contradicted",
                                                     "unverifiable"};
  std::vector<Claim> claims;
  std::set<std::string> ids;
  for (const base::yaml::Node& item : list.items) {
    base::yaml::Fields row(item);
    Claim claim;
    claim.id = row.text("id");
    claim.place = row.text("place");
    claim.text = both(row, "text");
    claim.verdict = kVerdicts[row.choice("verdict", kVerdicts)];
    claim.evidence = both(row, "evidence");
    const std::string source = row.text("source");
    row.finish();
    claim.evidence.en += fmt::format(" [{}]", source);
    claim.evidence.zh += fmt::format(" [{}]", source);
    if (!ids.insert(claim.id).second) {
      throw base::input_error(item.where, claim.id, "an id that no other claim has");
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<Claim> cost_claims(const catalog::Catalog& catalog) {
  // A catalogue of somebody's own need not have the article's devices, or their nearest.
  const auto judged = [](const char* id, const char* place, const Text& text, const auto& judge) {
    try {
      return judge();
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::kInput) throw;
      return Claim{.id = id,
                   .place = place,
                   .text = text,
                   .verdict = "unverifiable",
                   .evidence = {fmt::format("not with this catalogue: {}", error.message()),
                                fmt::format("本目录无法核实：{}", error.message())}};
    }
  };
  return {judged("switches-80000-against-30000", "2.3", {"prices of switches", "交换机价格"},
                 [&] {
                   return price_claim(catalog, "switches-80000-against-30000",
                                      {"switches of 36 x 200 Gb/s", "200 Gb/s 36 口交换机"}, 80'000,
                                      30'000, "qm8700", "sn4700");
                 }),
          judged("adapters-12000-against-5000", "2.3", {"prices of adapters", "网卡价格"},
                 [&] {
                   return price_claim(catalog, "adapters-12000-against-5000", {"adapters", "网卡"},
                                      12'000, 5'000, "connectx-6-vpi-200g", "intel-e810-100g");
                 }),
          judged("roce-saves-30-to-50", "3.3(4)", {"RoCE saves 30 to 50 %", "RoCE 节省 30%-50%"},
                 [&] { return saving_claim(catalog); }),
          judged("8-gpus-infiniband-costs-42-more", "4.3(1)",
                 {"InfiniBand costs 42 % more", "InfiniBand 成本增加 42%"},
                 [&] { return more_cost_claim(catalog); }),
          judged("7b-inference-at-0.8-per-hour", "4.1(4)",
                 {"7B inference from 0.8 CNY an hour", "7B 推理每小时低至 0.8 元"},
                 [&] { return hour_claim(catalog); })};
}

}  // namespace fabricast::advice
