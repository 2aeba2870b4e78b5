/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of memory snapshots of PyTorch: what its dicts say, and what in them cannot be. */
#include "snapshot_reading.h"

TEST(snapshot_segments_and_blocks)
{
	CHECK_TOLD(SEGMENTS(SEGMENT("Vdevice\nI3\nVstream\nI7\nVsegment_type\nVsmall\nVis_expandable\nI01\n"
	                            "Vsegment_pool_id\nI4\nI0\n\x86",
	                            BLOCK("Vaddress\nI8192\nVrequested_size\nI500\nVframes\n" STACK)
	                                BLOCK("Vaddress\nI8704\n"))),
	           "segment 3 8192+1024 stream 7 pool 4,0 small expandable\n"
	           "block 8192+512 asked 500 state 1 a.py:3:f\n"
	           "block 8704+512 asked 0 state 1\n");
	/* 2.0: no addresses, and what was asked for in a history. */
	CHECK_TOLD(SEGMENTS(SEGMENT("", BLOCK("Vhistory\n](}(Vaddr\nI1\nVreal_size\nI300\nVframes\n" STACK
	                                      "ue") "}(Vsize\nI512\nVstate\nVinactive\nu")),
	           "segment 0 8192+1024 stream 0 pool 0,0\n"
	           "block 8192+512 asked 300 state 1 a.py:3:f\n"
	           "block 8704+512 asked 0 state 0\n");
	/* A list of segments alone. */
	CHECK_TOLD("](" SEGMENT("", "") "e.", "segment 0 8192+1024 stream 0 pool 0,0\n");
	/* Of a key that is there twice, the last. */
	CHECK_TOLD(SEGMENTS(SEGMENT("Vdevice\nI3\nVdevice\nI1\nVblocks\n](" BLOCK("") "e", BLOCK("") BLOCK(""))),
	           "segment 1 8192+1024 stream 0 pool 0,0\n"
	           "block 8192+512 asked 0 state 1\n"
	           "block 8704+512 asked 0 state 1\n");
	CHECK_FAILS(SEGMENTS(SEGMENT("Vdevice\nI-1\n", "")), CORRUPT, "'device' of the segment that ends here");
	CHECK_FAILS(SEGMENTS(SEGMENT("Vdevice\nI4294967296\n", "")), CORRUPT, "'device' of the segment that ends here");
	CHECK_FAILS(SEGMENTS("}(Vaddress\nI1\nVblocks\n]u"), CORRUPT, "no 'total_size'");
	CHECK_FAILS(SEGMENTS("}(Vtotal_size\nI1\nVblocks\n]u"), CORRUPT, "no 'address'");
}

TEST(snapshot_traces_of_devices)
{
	CHECK_TOLD("}(Vdevice_traces\n](](" EVENT("") "e](" EVENT(
				   "Vpool_id\nI0\nI2\n\x86Vtime_us\nI9\n") "eeVhost_traces\n](](" EVENT("") "eeu.",
	           "event 0 action 0 4096+512 stream 0 time 0\n"
	           "event 1 action 0 4096+512 stream 0 time 9 pool 0,2\n"
	           "event 0 host action 0 4096+512 stream 0 time 0\n");
	CHECK_TOLD("}Vdevice_traces\n]"
	           "]" EVENT("") "aas.",
	           "event 0 action 0 4096+512 stream 0 time 0\n");
	CHECK_TOLD(TRACE("}(Vaction\nVoom\nVdevice_free\nI77\nVsize\nI512\nu"),
	           "event 0 action 9 77+512 stream 0 time 0\n");
	CHECK_TOLD(
		"}(Vsegments\n]Vexternal_annotations\n](}(Vname\nVa\nVstage\nVSTART\nVtime_us\nI5\nu}(Vname\nVa\nVstage\nVEND\nueu.",
		"begin a at 5\nend a at 0\n");
	/* The place of a list says the device, whatever those before it have; also where they are one list, fetched again. */
#define AT(DEVICE) "event " DEVICE " action 0 4096+512 stream 0 time 0\n"
	CHECK_TOLD("}(Vsegments\n]Vdevice_traces\n](]](" EVENT("") EVENT("") "e]](" EVENT("") "eeu.",
	           AT("1") AT("1") AT("3"));
	CHECK_TOLD("}(Vsegments\n]Vdevice_traces\n](](" EVENT("") "e(" EVENT("") "e](" EVENT("") "eeu.",
	           AT("0") AT("0") AT("1"));
	CHECK_TOLD("}(Vsegments\n]Vdevice_traces\n](]\x94h\x00](" EVENT("") "eeu.", AT("2"));
	CHECK_TOLD("}(Vsegments\n]Vdevice_traces\n]](" EVENT("") "ea](" EVENT("") "eau.", AT("0") AT("1"));
	CHECK_TOLD("](}Vdevice_traces\n]]" EVENT("") "aase.", AT("0")); /* a list of snapshots */
	CHECK_FAILS(TRACE("}(Vaction\nValloc\nVdevice_free\nI1\nVsize\nI1\nu"), CORRUPT, "no 'addr'");
	CHECK_FAILS(TRACE("}(Vaction\nValloc\nVaddr\nI1\nu"), CORRUPT, "no 'size'");
	CHECK_FAILS("}(Vdevice_traces\n](" EVENT("") "eu.", CORRUPT, "in no list of a device");
	CHECK_FAILS("}(Vdevice_traces\n" EVENT("") "u.", CORRUPT, "in no list of a device");
}

static void check_odd(const char *bytes, size_t size, uint64_t odd, const char *key)
{
	struct reading r;

	read_bytes(&r, bytes, size);
	CHECK_STR(r.err.text, "");
	CHECK_INT(tare_snapshot_facts(r.s)->odd, odd);
	CHECK_STR(odd ? tare_snapshot_facts(r.s)->odd_key : "", key);
	reading_free(&r);
}

#define CHECK_ODD(TEXT, ODD, KEY) check_odd(TEXT, sizeof(TEXT) - 1, ODD, KEY)

/* Values that need not be there and are not what they should be: they are counted, and the first is named. */
TEST(snapshot_odd_values_are_counted)
{
	CHECK_ODD(TRACE(EVENT("Vstream\nNVtime_us\nNVframes\nNVpool_id\nN")), 0, "");
	CHECK_ODD(TRACE(EVENT("Vstream\n\x88Vtime_us\nF1.5\n")), 2, "stream");
	CHECK_ODD(TRACE(EVENT("Vtime_us\nI-1\n") EVENT("Vframes\nI1\n")), 2, "time_us");
	CHECK_ODD(TRACE(EVENT("Vpool_id\nI1\nI-1\n\x86") EVENT("Vpool_id\nI1\n")), 2, "pool_id");
	CHECK_ODD(TRACE(EVENT("Vpool_id\n]I1\naI1\na")), 1, "pool_id");
	CHECK_ODD(TRACE(EVENT("Vuser_metadata\n}")), 0, "");
	CHECK_ODD(SEGMENTS(SEGMENT("Vsegment_type\nVhuge\nVis_expandable\nVyes\nVdevice\nV0\n", "")), 3, "segment_type");
	CHECK_ODD(SEGMENTS("}(Vaddress\nI1\nVtotal_size\nI1\nVblocks\nI1\nu"), 1, "blocks");
	CHECK_ODD(SEGMENTS(SEGMENT("", "}Vnot\nVa block\ns")), 1, "blocks");
	CHECK_ODD(SEGMENTS(SEGMENT("", "}(Vsize\nI1\nVstate\nVbusy\nu")), 1, "state");
	CHECK_ODD(SEGMENTS(SEGMENT("", BLOCK("Vrequested_size\nI-1\n") BLOCK("Vrequested_size\nI513\n"))), 2,
	          "requested_size");
	/* Of a free block it is left over from another use. */
	CHECK_ODD(SEGMENTS(SEGMENT("", "}(Vsize\nI1\nVstate\nVinactive\nVrequested_size\nI999\nu")), 0, "");
	CHECK_ODD("}(Vsegments\n]Vexternal_annotations\n](}(Vname\nVa\nVstage\nVmiddle\nueu.", 1, "stage");
	CHECK_ODD("}(Vsegments\n]Vallocator_settings\n}(Vmax_split_size\nVbig\nVroundup_power2_divisions\n}V3\nI1\nsuu.", 2,
	          "max_split_size");
}

TEST(snapshot_settings)
{
	struct reading r;
	const struct tare_snapshot_settings *got;

	READ(&r, "}(Vsegments\n]Vallocator_settings\n}(VPYTORCH_CUDA_ALLOC_CONF\nVa:b\nVmax_split_size\nI-1\n"
	         "Vexpandable_segments\nI01\nVgarbage_collection_threshold\nF0.5\n"
	         "Vroundup_power2_divisions\n}(V1\nI4\nV32768\nI8\nuVnew_in_2.99\nI1\nuu.");
	got = &tare_snapshot_facts(r.s)->settings;
	CHECK_STR(r.err.text, "");
	CHECK_STR(tare_snapshot_text(r.s, got->conf), "a:b");
	CHECK_INT(got->max_split, -1);
	CHECK_INT(got->expandable, 1);
	CHECK(got->gc_threshold == 0.5);
	CHECK(got->has_divisions);
	CHECK_INT(got->divisions[0], 4);
	CHECK_INT(got->divisions[15], 8);
	CHECK_INT(tare_snapshot_facts(r.s)->odd, 0);
	reading_free(&r);
}

TEST(snapshot_actions_of_a_later_version_are_counted)
{
	struct reading r;

	READ(&r, TRACE("}(Vaction\nVdefragment\nVaddr\nI1\nVsize\nI1\nu}Vaction\nVdefragment\ns"));
	CHECK_STR(r.err.text, "");
	CHECK_INT(tare_snapshot_facts(r.s)->unknown_actions, 2);
	CHECK_STR(tare_snapshot_text(r.s, tare_snapshot_facts(r.s)->unknown_action), "defragment");
	reading_free(&r);
}
