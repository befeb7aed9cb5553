"""OpenSM does not know an option, or its value.

What it checks: names of options against OpenSM 3.3 and NVIDIA's own subnet manager; switches
that are neither TRUE nor FALSE; numbers that are none.
Why it matters: OpenSM says "Unrecognized token" once, on a console that nobody reads, and comes
up without the setting.
What to do: correct the name; keep NVIDIA's options out of OpenSM.
References: man opensm; osm_subnet.c.
"""

from difflib import get_close_matches
from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_KNOWN: Final = frozenset(
    {
        "guid",
        "avoid_throttled_links",
        "long_transaction_timeout",
        "m_key_lookup",
        "max_msg_fifo_timeout",
        "max_op_vls",
        "node_name_map_name",
        "port_shifting",
        "sa_db_dump",
        "sa_db_file",
        "single_thread",
        "m_key",
        "m_key_lease_period",
        "m_key_protection_level",
        "sm_key",
        "sa_key",
        "subnet_prefix",
        "lmc",
        "lmc_esp0",
        "sm_sl",
        "sm_priority",
        "ignore_other_sm",
        "sminfo_polling_timeout",
        "polling_retry_number",
        "honor_guid2lid_file",
        "max_wire_smps",
        "max_wire_smps2",
        "max_smps_timeout",
        "transaction_timeout",
        "transaction_retries",
        "sweep_interval",
        "reassign_lids",
        "force_heavy_sweep",
        "sweep_on_trap",
        "force_link_speed",
        "force_link_speed_ext",
        "force_link_width",
        "fdr10",
        "subnet_timeout",
        "packet_life_time",
        "vl_stall_count",
        "leaf_vl_stall_count",
        "head_of_queue_lifetime",
        "leaf_head_of_queue_lifetime",
        "local_phy_errors_threshold",
        "overrun_errors_threshold",
        "use_mfttop",
        "partition_config_file",
        "no_partition_enforcement",
        "part_enforce",
        "allow_both_pkeys",
        "keep_pkey_indexes",
        "sm_assigned_guid",
        "port_profile_switch_nodes",
        "port_prof_ignore_file",
        "hop_weights_file",
        "port_search_ordering_file",
        "routing_engine",
        "connect_roots",
        "use_ucast_cache",
        "lid_matrix_dump_file",
        "lfts_file",
        "root_guid_file",
        "cn_guid_file",
        "io_guid_file",
        "max_reverse_hops",
        "ids_guid_file",
        "guid_routing_order_file",
        "guid_routing_order_no_scatter",
        "torus_config",
        "do_mesh_analysis",
        "lash_start_vl",
        "scatter_ports",
        "routing_threads",
        "nue_max_num_vls",
        "nue_include_switches",
        "updn_lid_tracking_mode",
        "disable_multicast",
        "exit_on_fatal",
        "daemon",
        "sm_inactive",
        "babbling_port_policy",
        "drop_event_subscriptions",
        "ipoib_mcgroup_creation_validation",
        "mcgroup_join_validation",
        "use_original_extended_sa_rates_only",
        "use_optimized_slvl",
        "fsync_high_avail_files",
        "log_flags",
        "force_log_flush",
        "log_file",
        "log_max_size",
        "log_prefix",
        "accum_log_file",
        "per_module_logging_file",
        "dump_files_dir",
        "enable_quirks",
        "no_clients_rereg",
        "event_plugin_name",
        "event_plugin_options",
        "node_name_map_file",
        "prefix_routes_file",
        "consolidate_ipv6_snm_req",
        "consolidate_ipv4_mask",
        "qos",
        "qos_policy_file",
        "suppress_sl2vl_mad_status_errors",
        "qos_max_vls",
        "qos_high_limit",
        "qos_vlarb_high",
        "qos_vlarb_low",
        "qos_sl2vl",
        "congestion_control",
        "cc_key",
        "cc_max_outstanding_mads",
        "console",
        "console_port",
        "quasi_ftree_indexing",
        "const_multicast",
        "default_mcg_mtu",
        "default_mcg_rate",
        "multipath",
        "perfmgr",
        "perfmgr_redir",
        "perfmgr_sweep_time_s",
        "perfmgr_max_outstanding_queries",
        "perfmgr_ignore_cas",
        "perfmgr_rm_nodes",
        "perfmgr_log_errors",
        "perfmgr_query_cpi",
        "perfmgr_xmit_wait_log",
        "perfmgr_xmit_wait_threshold",
        "event_db_dump_file",
        "pm_ignore_zero_counters",
        "virt_enabled",
        "virt_max_ports_in_process",
        "max_alternative_paths",
        "dfsssp_best_effort",
        "qos_ca_max_vls",
        "qos_sw0_max_vls",
        "qos_swe_max_vls",
        "qos_rtr_max_vls",
    }
)
_FAMILIES: Final = (
    "qos_ca_",
    "qos_sw0_",
    "qos_swe_",
    "qos_rtr_",
    "cc_sw_",
    "cc_ca_",
    "perfmgr_",
    "virt_",
    "torus_",
    "ccti_",
    "cc_",
)
_NVIDIA: Final = frozenset(
    {
        "ar_mode",
        "shield_mode",
        "pfrn_sl",
        "pfrn_mask_clear_timeout",
        "ar_sl_mask",
        "enable_ar_by_device_cap",
        "ar_transport_mask",
        "ar_tree_asymmetric_flow",
        "smp_threads",
        "gmp_threads",
        "adaptive_timeout_sl_mask",
        "find_roots_color_algorithm",
        "max_cas_on_spine",
        "vs_key_enable",
        "sharp_enabled",
        "aging_time",
    }
)
_SWITCHES: Final = frozenset(
    {
        "qos",
        "use_ucast_cache",
        "daemon",
        "exit_on_fatal",
        "force_log_flush",
        "lmc_esp0",
        "ignore_other_sm",
        "reassign_lids",
        "sm_inactive",
        "connect_roots",
        "no_clients_rereg",
        "congestion_control",
        "sweep_on_trap",
        "disable_multicast",
        "honor_guid2lid_file",
    }
)


def _check(case: Case) -> Found:
    overlay = any(one.name in _NVIDIA for one in case.options("opensm"))
    for one in case.options("opensm"):
        if one.name in _NVIDIA:
            yield problem(
                one,
                f"{one.name} is NVIDIA's own; OpenSM does not know it",
                "keep it where NVIDIA's subnet manager runs",
                severity=Severity.INFO,
            )
        elif one.name not in _KNOWN and not one.name.startswith(_FAMILIES):
            near = get_close_matches(one.name, _KNOWN, n=1, cutoff=0.75)
            yield problem(
                one,
                f"OpenSM does not know {one.name}",
                f"write {near[0]}" if near else "remove it",
                severity=Severity.INFO if overlay else None,
            )
        elif one.name in _SWITCHES and one.value.upper() not in {"TRUE", "FALSE"}:
            yield problem(
                one, f"{one.name} {one.value}", "write TRUE or FALSE", severity=Severity.ERROR
            )


ib_option = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.WARNING,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)
