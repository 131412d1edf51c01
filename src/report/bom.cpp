#include "report/bom.h"

#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "report/heading.h"
#include "report/json_parts.h"
#include "report/text.h"

namespace fabricast::report {
namespace {

using cost::Part;

advice::Text spoken(Part part) {
  switch (part) {
    case Part::kSwitch:
      return {"switches", "交换机"};
    case Part::kAdapter:
      return {"adapters", "网卡"};
    case Part::kCable:
      return {"cables", "线缆"};
    case Part::kSpare:
      return {"spares", "备件"};
    case Part::kSubnetManager:
      return {"subnet manager", "子网管理器"};
    case Part::kManagement:
      return {"management", "管理网络"};
    case Part::kRack:
      return {"racks", "机柜"};
    case Part::kGpu:
      return {"GPUs, servers", "GPU 与服务器"};
  }
  return {};
}

std::string in(const advice::Text& text, bool chinese) {
  return chinese ? text.zh : text.en;
}

std::string item_of(const cost::BomLine& line, bool chinese) {
  std::string text = line.item;
  if (line.longest_m > 0)
    text += fmt::format(fmt::runtime(chinese ? "，≤ {:.3g} m" : ", ≤ {:.3g} m"), line.longest_m);
  if (line.owned) text += chinese ? "，已有" : ", there already";
  return text;
}

/// With separators.
std::string whole(std::int64_t count) {
  return count < 1000 ? std::to_string(count) : number(static_cast<double>(count));
}

std::string banded(double likely, const cost::Band& band) {
  return fmt::format("{} ({} – {})", number(likely), number(band.low), number(band.high));
}

std::string entry_table(const BomEntry& entry, bool chinese) {
  using Align = base::Table::Align;
  const std::string& currency = entry.bill.currency;
  base::Table table(
      {shortened(entry.name, 16), chinese ? "型号" : "item", chinese ? "数量" : "count",
       fmt::format("{} {}", chinese ? "单价" : "each", currency),
       fmt::format("{} {}", chinese ? "合计" : "total", currency)},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  std::string last;
  for (const cost::BomLine& line : entry.bill.lines) {
    std::string part = in(spoken(line.part), chinese);
    const bool again = part == last;
    last = part;
    table.row({again ? "" : part, shortened(item_of(line, chinese), 30), whole(line.count),
               number(line.unit_price), number(static_cast<double>(line.count) * line.unit_price)});
  }
  std::string text = table.text();
  const auto sum = [&](const advice::Text& what, const std::string& value) {
    text += fmt::format("{}: {}\n", in(what, chinese), value);
  };
  sum({"network", "网络设备"},
      banded(entry.bill.network_capex, entry.bounds.network_capex) + " " + currency);
  sum({"whole cluster", "整个集群"}, banded(entry.bill.capex, entry.bounds.capex) + " " + currency);
  std::string power = number(entry.bill.power_kw) + " kW";
  if (entry.bill.racks > 0) {
    power += fmt::format(fmt::runtime(chinese ? "，{} 个机柜" : ", {} racks"), entry.bill.racks);
  }
  sum({"power", "功率"}, power);
  return text;
}

/// To the hundredth, without trailing zeros.
std::string cents(double value) {
  return fmt::format("{}", std::round(value * 100) / 100);
}

/// A field of CSV; those that need it are quoted (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

}  // namespace

std::string bom_table(const BomReport& report, bool chinese) {
  std::string text = heading(*report.scenario, chinese);
  for (const BomEntry& entry : report.entries) {
    text += "\n";
    text += entry_table(entry, chinese);
  }
  text += "\n";
  text += paragraph(chinese ? "括号内为所有价格同时处于区间低端与高端时的值；线缆价格含两端。"
                            : "In brackets: with every price at the low and at the high end of its "
                              "band. A cable's price counts both ends.",
                    0);
  return text;
}

std::string bom_json(const BomReport& report) {
  Json json = Json::object();
  json["fabricast"] = FABRICAST_VERSION;
  json["scenario"] = report.scenario->name;
  Json& fabrics = json["fabrics"] = Json::object();
  for (const BomEntry& entry : report.entries) {
    Json& one = fabrics[entry.name] = Json::object();
    one["kind"] = catalog::name_of(entry.kind);
    one["sizing"] = sizing_json(entry.sizing);
    one["currency"] = entry.bill.currency;
    put_banded(one, "network_capex", entry.bill.network_capex, entry.bounds.network_capex);
    put_banded(one, "capex", entry.bill.capex, entry.bounds.capex);
    put(one, "power_kw", entry.bill.power_kw);
    if (entry.bill.racks > 0) one["racks"] = entry.bill.racks;
    one["bom"] = bom_lines_json(entry.bill);
  }
  return json.dump(2) + "\n";
}

std::string bom_csv(const BomReport& report) {
  std::string text =
      "fabric,part,item,what,count,unit_price,total_price,currency,unit_power_w,owned\n";
  for (const BomEntry& entry : report.entries) {
    for (const cost::BomLine& line : entry.bill.lines) {
      const double total = static_cast<double>(line.count) * line.unit_price;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", field(entry.name),
                          cost::name_of(line.part), field(line.item), field(line.what), line.count,
                          cents(line.unit_price), cents(total), entry.bill.currency,
                          cents(line.unit_power_w), line.owned ? "yes" : "no");
    }
  }
  return text;
}

std::string cables_csv(const BomReport& report) {
  std::string text = "fabric,device,port,peer,peer_port,length_m,cable\n";
  for (const BomEntry& entry : report.entries) {
    for (const cost::CableRun& run : entry.cables) {
      text += fmt::format("{},{},{},{},{},{},{}\n", field(entry.name), run.device, run.port,
                          run.peer, run.peer_port, run.length_m, run.cable);
    }
  }
  return text;
}

}  // namespace fabricast::report
