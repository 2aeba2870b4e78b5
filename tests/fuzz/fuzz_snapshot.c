/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as a memory snapshot of PyTorch, which is read, replayed and compared with itself, and replayed
 * under other settings. The layout that a replay leaves can be, whatever the file said.
 */
#include "seeds.h"

#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_replay_ask ask = { .capacity = UINT64_MAX, .limit = UINT64_MAX };
	struct tare_replay_check check;
	struct tare_replay_figures figures;
	struct tare_trace t;

	tare_alloc_rules_of("2.11", &ask.rules, NULL);
	if (tare_trace_load_bytes(&t, data, size, NULL))
		return 0;
	if (!tare_replay_recorded(&t, &ask.rules, &ask.settings, NULL)) {
		for (size_t i = 0; i < t.device_count && i < 4; i++) {
			tare_replay_check(&t, &t.devices[i], &ask, &check);
			ask.settings.is_expandable = !ask.settings.is_expandable;
			ask.capacity = 1 << 30;
			tare_replay_run(&t, &t.devices[i], &ask, &figures, NULL);
		}
	}
	tare_trace_free(&t);
	return 0;
}

struct out {
	uint8_t *at;
};

static void put(struct out *o, const char *bytes, size_t size)
{
	memcpy(o->at, bytes, size);
	o->at += size;
}

static void put_text(struct out *o, const char *text)
{
	size_t len = strlen(text);

	*o->at++ = 0x8c;
	*o->at++ = (uint8_t)len;
	put(o, text, len);
	*o->at++ = 0x94;
}

static void put_number(struct out *o, const char *key, uint64_t value)
{
	put_text(o, key);
	put(o, "\x8a\x08", 2);
	memcpy(o->at, &value, 8);
	o->at += 8;
}

static void put_event(struct out *o, const char *action, uint64_t address, uint64_t size)
{
	put(o, "}\x94(", 3);
	put_text(o, "action");
	put_text(o, action);
	put_number(o, strcmp(action, "oom") ? "addr" : "device_free", address);
	put_number(o, "size", size);
	put_number(o, "stream", 0);
	put(o, "u", 1);
}

static void put_block(struct out *o, uint64_t address, uint64_t size, const char *state)
{
	put(o, "}(", 2);
	put_number(o, "address", address);
	put_number(o, "size", size);
	put_number(o, "requested_size", size);
	put_text(o, "state");
	put_text(o, state);
	put(o, "u", 1);
}

#define BASE     "I139637976727552\n"
#define FRAME    "}(Vfilename\nVa.py\nVline\nI3\nVname\nVf\\u00e9\nu"
#define EVENT(A) "}(Vaction\nV" A "\nVaddr\n" BASE "Vsize\nI512\n"
#define SEGMENT  "}(Vaddress\n" BASE "Vtotal_size\nI2097152\nVsegment_type\nVsmall\n"
#define BLOCKS   "}(Vsize\nI512\nVstate\nVactive_allocated\n"
#define REST     "}(Vsize\nI2096640\nVstate\nVinactive\nu"

/* Texts as lines, as in protocol 0: these can be read. */

/* 2.0: no addresses of blocks, and a history with two lists of frames */
static const char oldest[] =
	"}(Vsegments\n](" SEGMENT "Vblocks\n](" BLOCKS "Vhistory\n](}(Vaddr\nI1\nVreal_size\nI500\nVframes\n](" FRAME FRAME
	"eVcpp_frames\n](" FRAME "eueu" REST
	"eueVdevice_traces\n](](" EVENT("segment_alloc") "u" EVENT("alloc") "Vframes\n](" FRAME "euee"
																		"u.";

/* the newest: pools of events, contexts, annotations, settings, host memory, a second GPU, an action that is not known */
static const char newest[] =
	"}(Vsegments\n](" SEGMENT
	"Vdevice\nI1\nVstream\nI7\nVis_expandable\nI00\nVsegment_pool_id\nI3\nI0\n\x86Vframes\n](" FRAME
	"ep0\nVblocks\n](" BLOCKS "Vrequested_size\nI500\nVframes\ng0\nu" REST
	"eueVdevice_traces\n](](" EVENT("oom") "Vdevice_free\nI9\nue](" EVENT("segment_alloc") "Vpool_id\nI3\nI0\n\x86Vtime_us\nI1700000000000000\nu" EVENT(
		"alloc") "Vpool_id\nI3\nI0\n\x86Vcompile_context\nVN/A\n"
				 "Vuser_metadata\nVx\nVframes\ng0\nu" EVENT("annotate") "u" EVENT(
					 "defragment") "ueeVhost_segments\n](" SEGMENT
								   "ueVhost_traces\n](](" EVENT(
									   "alloc") "ueeVexternal_annotations\n](}(Vname\nVstep\nVstage\nVSTART\nVdevice\nI0\nVtime_us\nI5\nueVallocator_settings\n}("
												"VPYTORCH_CUDA_ALLOC_CONF\nVmax_split_size_mb:32\nVmax_split_size\nI33554432\nVgarbage_collection_threshold\nF0.5\n"
												"Vroundup_power2_divisions\n}(V1\nI4\nV2\nI8\nuuu.";

/* protocol 0: containers from marks, items one by one */
static const char one_by_one[] =
	"(dp0\nS'segments'\np1\n(lp2\n(dp3\nVaddress\nL139637976727552L\nsVtotal_size\nI2097152\nsVblocks\n(lp4\n(dp5\nVsize\nI512\nsVstate\n"
	"Vactive_pending_free\nsasasVdevice_traces\n(lp6\n(lp7\n(dp8\nVaction\nVfree_completed\nsVaddr\nL139637976727552L\nsVsize\nI512\nsaasg1\ng1\ns.";

static const char *const texts[] = { oldest, newest, one_by_one };

/* 0: plain segments; 1: an expandable one. Both have blocks that were there before, and some freed twice. Then the texts. */
size_t fuzz_seed(int n, uint8_t *out)
{
	struct out o = { out };
	uint64_t base = 0x7f0000000000;

	if (n >= 2) {
		put(&o, texts[n - 2], strlen(texts[n - 2]));
		return (size_t)(o.at - out);
	}
	put(&o, "\x80\x04}\x94(", 5);
	put_text(&o, "segments");
	put(&o, "]\x94(}\x94(", 6);
	put_number(&o, "address", base);
	put_number(&o, "total_size", 20971520);
	put_number(&o, "device", 0);
	put_number(&o, "stream", 0);
	put_text(&o, "segment_type");
	put_text(&o, "large");
	put_text(&o, "is_expandable");
	put(&o, n ? "\x88" : "\x89", 1);
	put_text(&o, "segment_pool_id");
	put(&o, "K\x01K\x00\x86\x94", 6);
	put_text(&o, "blocks");
	put(&o, "](", 2);
	put_block(&o, base, 4194304, "active_allocated");
	put_block(&o, base + 4194304, 16777216, "inactive");
	put(&o, "eue", 3);
	put_text(&o, "device_traces");
	put(&o, "]](", 3);
	put_event(&o, "free_requested", base + 8388608, 3000000);
	put_event(&o, "free_completed", base + 8388608, 3000000);
	put_event(&o, n ? "segment_map" : "segment_alloc", base + 20971520, 20971520);
	put_event(&o, "alloc", base + 20971520, 12000000);
	put_event(&o, "free_requested", base + 20971520, 12000000);
	put_event(&o, "alloc", base + 4194304, 5000000);
	put_event(&o, "free_completed", base + 20971520, 12000000);
	put_event(&o, n ? "segment_unmap" : "segment_free", base + 20971520, 20971520);
	put_event(&o, "oom", 1000, 40000000);
	put_event(&o, "free_completed", base + 4194304, 5000000);
	put(&o, "ea", 2);
	put(&o, "u.", 2);
	return (size_t)(o.at - out);
}

int fuzz_seed_nr(void)
{
	return 2 + sizeof(texts) / sizeof(texts[0]);
}
