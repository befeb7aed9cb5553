// Flows over given routes in SimGrid, all sent at once; benchmarks/flow.py compiles it against
// Debian's libsimgrid-dev and runs the same flows over the same routes in weft.
//
// simgrid FLOWS RESULT
// FLOWS: "hosts links", then a line a flow: "source target bytes link link ...".
// RESULT: a line a flow: its rate at first (bytes/s) and its end (s).
// Prints: processor seconds to the first rates, and to the end, after the platform is built.
//
// No latency, no windows, no factors: what is left is the max-min solver.

#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "simgrid/s4u.hpp"

namespace sg = simgrid::s4u;

namespace {

constexpr double BYTES_PER_S = 50e9, LOOK_S = 1e-6;

struct Flow {
  unsigned source, target;
  uint64_t bytes;
  double rate = 0, end_s = 0;
};

double seconds() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec + 1e-9 * used.tv_nsec;
}

}  // namespace

int main(int argc, char **argv) {
  sg::Engine engine(&argc, argv);
  for (const char *setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/TCP-gamma:0", "network/crosstraffic:0", "surf/precision:1e-15",
        "maxmin/precision:1e-9", "network/optim:Lazy"})
    sg::Engine::set_config(std::string(setting));
  std::ifstream wanted(argv[1]);
  unsigned host_count, link_count;
  wanted >> host_count >> link_count >> std::ws;

  sg::NetZone *zone = sg::create_full_zone("network");
  std::vector<sg::Host *> hosts;
  std::vector<sg::Link *> links;
  for (unsigned i = 0; i < host_count; i++)
    hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
  for (unsigned i = 0; i < link_count; i++)
    links.push_back(zone->create_link("l" + std::to_string(i), BYTES_PER_S)->set_latency(0)->seal());
  std::vector<Flow> flows;
  for (std::string line; std::getline(wanted, line);) {
    std::istringstream words(line);
    Flow flow;
    words >> flow.source >> flow.target >> flow.bytes;
    std::vector<sg::LinkInRoute> route;
    for (unsigned link; words >> link;) route.emplace_back(links[link]);
    zone->add_route(hosts[flow.source]->get_netpoint(), hosts[flow.target]->get_netpoint(), nullptr,
                    nullptr, route, false);
    flows.push_back(flow);
  }
  zone->seal();

  double began = 0, first = 0;
  sg::Actor::create("all", hosts[0], [&] {
    std::vector<sg::CommPtr> comms;
    began = seconds();
    for (const Flow &flow : flows)
      comms.push_back(sg::Comm::sendto_async(hosts[flow.source], hosts[flow.target], flow.bytes));
    sg::this_actor::sleep_for(LOOK_S);
    first = seconds();
    for (size_t i = 0; i < flows.size(); i++)
      flows[i].rate = (flows[i].bytes - comms[i]->get_remaining()) / LOOK_S;
    for (size_t i = 0; i < flows.size(); i++) {
      comms[i]->wait();
      flows[i].end_s = comms[i]->get_finish_time();
    }
  });
  engine.run();
  const double ended = seconds();
  FILE *result = fopen(argv[2], "w");
  for (const Flow &flow : flows) fprintf(result, "%.17g %.17g\n", flow.rate, flow.end_s);
  fclose(result);
  printf("%.6f %.6f\n", first - began, ended - began);
}
