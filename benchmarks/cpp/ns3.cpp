// A permutation over a leaf-spine in ns-3: UDP at line rate, every packet on a random path,
// queues without limit. benchmarks/ns3.py compiles it against the libraries of the ns3 wheel
// and runs the same in weft.
//
// Routes are looked up in an array here: ns-3's own global routing searches a list of all of the
// network's addresses at every hop, which at 128 hosts takes most of the time.
//
// ns3 LEAVES HOSTS_PER_LEAF SPINES PACKETS PARTNER...  prints: received bytes, end in ps, seconds

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t PAYLOAD_BYTES = 4096, HEADER_BYTES = 30;  // UDP, IPv4, PPP
constexpr uint16_t PORT = 9;
uint64_t received_bytes = 0;
Time last_end;

// Address 10.x.y.z of a host holds its number; a node knows the ways to the hosts below it, and
// sends everything else up, at random.
class LeafSpineRouting : public Ipv4RoutingProtocol {
 public:
  std::vector<uint32_t> down;  // by host: interface, 0: not below
  std::vector<uint32_t> up;
  int64_t self = -1;  // number of this host

  Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header &header, Ptr<NetDevice>,
                             Socket::SocketErrno &error) override {
    error = Socket::ERROR_NOTERROR;
    return route(header.GetDestination());
  }
  bool RouteInput(Ptr<const Packet> packet, const Ipv4Header &header, Ptr<const NetDevice> from,
                  const UnicastForwardCallback &forward, const MulticastForwardCallback &,
                  const LocalDeliverCallback &deliver, const ErrorCallback &) override {
    if (number(header.GetDestination()) == self)
      deliver(packet, header, ipv4->GetInterfaceForDevice(from));
    else
      forward(route(header.GetDestination()), packet, header);
    return true;
  }
  void NotifyInterfaceUp(uint32_t) override {}
  void NotifyInterfaceDown(uint32_t) override {}
  void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
  void SetIpv4(Ptr<Ipv4> given) override { ipv4 = given; }
  void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  static Ipv4Address address(uint32_t host) { return Ipv4Address(0x0A000001 + 4 * host); }

 private:
  Ptr<Ipv4> ipv4;
  Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();

  static int64_t number(Ipv4Address given) { return (given.Get() - 0x0A000001) / 4; }
  Ptr<Ipv4Route> route(Ipv4Address to) {
    uint32_t out = down.empty() ? 0 : down[number(to)];
    if (out == 0) out = up.size() == 1 ? up[0] : up[random->GetInteger(0, up.size() - 1)];
    Ptr<Ipv4Route> found = Create<Ipv4Route>();
    found->SetDestination(to);
    found->SetGateway(Ipv4Address::GetZero());
    found->SetSource(ipv4->GetAddress(out, 0).GetLocal());
    found->SetOutputDevice(ipv4->GetNetDevice(out));
    return found;
  }
};

class LeafSpineRoutingHelper : public Ipv4RoutingHelper {
 public:
  LeafSpineRoutingHelper *Copy() const override { return new LeafSpineRoutingHelper; }
  Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override {
    return CreateObject<LeafSpineRouting>();
  }
};

Ptr<LeafSpineRouting> routing_of(Ptr<Node> node) {
  return DynamicCast<LeafSpineRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
}

void receive(Ptr<Socket> socket) {
  while (Ptr<Packet> packet = socket->Recv()) received_bytes += packet->GetSize();
  last_end = Simulator::Now();
}

void send(Ptr<Socket> socket, uint64_t packets, Time gap) {
  socket->Send(Create<Packet>(PAYLOAD_BYTES));
  if (packets > 1) Simulator::Schedule(gap, &send, socket, packets - 1, gap);
}

}  // namespace

int main(int count, char **words) {
  const uint32_t leaves = std::atoi(words[1]), per_leaf = std::atoi(words[2]);
  const uint32_t spines = std::atoi(words[3]), hosts = leaves * per_leaf;
  const uint64_t packets = std::atoll(words[4]);
  if (count != static_cast<int>(5 + hosts)) return 2;
  Time::SetResolution(Time::PS);
  Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("100000000p"));

  NodeContainer ends, leaf, spine;
  ends.Create(hosts);
  leaf.Create(leaves);
  spine.Create(spines);
  InternetStackHelper stack;
  stack.SetRoutingHelper(LeafSpineRoutingHelper());
  for (const NodeContainer &nodes : {ends, leaf, spine}) stack.Install(nodes);

  PointToPointHelper cable;
  cable.SetDeviceAttribute("DataRate", StringValue("400Gbps"));
  cable.SetDeviceAttribute("Mtu", UintegerValue(PAYLOAD_BYTES + HEADER_BYTES));
  cable.SetChannelAttribute("Delay", TimeValue(NanoSeconds(500)));
  Ipv4AddressHelper subnets("10.0.0.0", "255.255.255.252");  // a host's is its number
  TrafficControlHelper control;
  const auto join = [&](Ptr<Node> one, Ptr<Node> other) {
    const NetDeviceContainer devices = cable.Install(one, other);
    const Ipv4InterfaceContainer interfaces = subnets.Assign(devices);
    control.Uninstall(devices);  // the device's own queue is the only one
    subnets.NewNetwork();
    return std::make_pair(interfaces.Get(0).second, interfaces.Get(1).second);
  };
  for (uint32_t host = 0; host < hosts; ++host) {
    const uint32_t low = host / per_leaf;
    const auto [near, far] = join(ends.Get(host), leaf.Get(low));
    routing_of(ends.Get(host))->self = host;
    routing_of(ends.Get(host))->up = {near};
    routing_of(leaf.Get(low))->down.resize(hosts);
    routing_of(leaf.Get(low))->down[host] = far;
  }
  for (uint32_t low = 0; low < leaves; ++low)
    for (uint32_t high = 0; high < spines; ++high) {
      const auto [near, far] = join(leaf.Get(low), spine.Get(high));
      routing_of(leaf.Get(low))->up.push_back(near);
      routing_of(spine.Get(high))->down.resize(hosts);
      for (uint32_t host = low * per_leaf; host < (low + 1) * per_leaf; ++host)
        routing_of(spine.Get(high))->down[host] = far;
    }

  const TypeId udp = UdpSocketFactory::GetTypeId();
  const Time gap = PicoSeconds((PAYLOAD_BYTES + HEADER_BYTES) * 20);
  for (uint32_t host = 0; host < hosts; ++host) {
    Ptr<Socket> sink = Socket::CreateSocket(ends.Get(host), udp);
    sink->SetAttribute("RcvBufSize", UintegerValue(1u << 30));
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink->SetRecvCallback(MakeCallback(&receive));
    Ptr<Socket> source = Socket::CreateSocket(ends.Get(host), udp);
    source->Bind();
    const Ipv4Address to = LeafSpineRouting::address(std::atoi(words[5 + host]));
    source->Connect(InetSocketAddress(to, PORT));
    Simulator::ScheduleWithContext(host, Seconds(0), &send, source, packets, gap);
  }
  const std::clock_t begin = std::clock();
  Simulator::Run();
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%lu %ld %.6f\n", received_bytes, last_end.GetPicoSeconds(), cpu_s);
}
