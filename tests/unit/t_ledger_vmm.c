/* SPDX-License-Identifier: Apache-2.0 */
/* Rules "vmm" and "shared memory": references, and who has what of whom. */
#include "ledger_world.h"
#include "test.h"

#define MAKER "process:431"
#define PEER  "process:77"
#define OWNER "/usr/lib/libexpand.so"
#define BASE  UINT64_C(0x7f0000000000)
#define FD    1 /* identity of a descriptor: its kind, and nothing else */

/* The device's counter, as the events move it. */
static int64_t now;

static struct world *started(void)
{
	struct world *w = world_new();

	now = 100 * MIB;
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .weigh = true, .before = now, .after = now + 500 * MIB);
	now += 500 * MIB;
	return w;
}

/* A call at `t` milliseconds in which the device changes by `change` MiB. */
#define STEP(W, t, change, ...)                                                                                        \
	do {                                                                                                               \
		CALL(W, .begin = (t)*MS, .end = (t)*MS + 10, .weigh = true, .before = now, .after = now + (change)*MIB,        \
		     __VA_ARGS__);                                                                                             \
		now += (change)*MIB;                                                                                           \
	} while (0)

#define CREATE(W, t, h, mib)                                                                                           \
	STEP(W, t, mib, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .handle = (h), .asked = (mib)*MIB,             \
	     .granted = (mib)*MIB, .owner = OWNER)
#define MAP(W, p, t, at, h, mib)                                                                                       \
	STEP(W, t, 0, .process = (p), .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_NEW, .handle = (at),              \
	     .parent = (h), .asked = (mib)*MIB)
#define UNMAP(W, p, t, at, mib, change)                                                                                \
	STEP(W, t, change, .process = (p), .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_DEL, .handle = (at),         \
	     .asked = (mib)*MIB)
#define RELEASE(W, p, t, h, change)                                                                                    \
	STEP(W, t, change, .process = (p), .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_DEL, .handle = (h))
#define RETAIN(W, t, h, at)                                                                                            \
	STEP(W, t, 0, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_CHANGE, .handle = (h), .parent = (at))
#define EXPORT(W, t, h, identity)                                                                                      \
	STEP(W, t, 0, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_CHANGE, .handle = (h), .limit = (identity))
#define IMPORT(W, p, t, h, identity)                                                                                   \
	STEP(W, t, 0, .process = (p), .class = TARE_CLASS_VMM_IMPORT, .effect = TARE_EFFECT_NEW, .handle = (h),            \
	     .limit = (identity))

static void check_row(struct world *w, const char *path, int64_t mib, int64_t count, enum tare_evidence evidence)
{
	struct tare_ledger l = world_ledger(w, "end");
	const struct tare_row *r = world_row(&l, 0, path);

	printf("# %s\n", path);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(r ? r->bytes : 0, mib * MIB);
	CHECK_INT(r ? (int64_t)r->count : 0, count);
	if (mib)
		CHECK_INT(r->evidence, evidence);
	tare_ledger_free(&l);
}

#define OWN MAKER "/vmm/libexpand"

static int64_t asleep_at(struct world *w, const char *at)
{
	struct tare_ledger l = world_ledger(w, at);
	int64_t bytes = l.devices[0].asleep;

	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	return bytes;
}

/* An engine unmaps its weights, wakes up with them at the same addresses, and gives the addresses back in the end. */
TEST(vmm_sleeps_where_its_addresses_are_kept)
{
	struct world *w = started();

	CREATE(w, 3, 0x71, 64);
	MAP(w, 0, 4, BASE, 0x71, 64);
	MAP(w, 0, 5, BASE + 512 * MIB, 0x71, 64); /* an alias */
	UNMAP(w, 0, 6, BASE + 512 * MIB, 64, 0);
	UNMAP(w, 0, 10, BASE, 64, 0);
	RELEASE(w, 0, 11, 0x71, -64);
	CREATE(w, 20, 0x72, 64);
	MAP(w, 0, 21, BASE, 0x72, 64);
	UNMAP(w, 0, 30, BASE, 64, 0);
	RELEASE(w, 0, 31, 0x72, -64);
	STEP(w, 40, 0, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_CHANGE, .handle = BASE,
	     .asked = 128 * MIB); /* cuMemAddressFree */
	CHECK_INT(asleep_at(w, "8ms"), 0);
	CHECK_INT(asleep_at(w, "15ms"), 64 * MIB);
	CHECK_INT(asleep_at(w, "25ms"), 0);
	CHECK_INT(asleep_at(w, "35ms"), 64 * MIB);
	CHECK_INT(asleep_at(w, "45ms"), 0);
	world_free(w);
}

TEST(vmm_goes_with_its_last_reference)
{
	struct world *w = started();

	CREATE(w, 3, 0x10, 64);
	MAP(w, 0, 4, BASE, 0x10, 64);
	MAP(w, 0, 5, BASE + 64 * MIB, 0x10, 64); /* an alias */
	check_row(w, OWN, 64, 1, TARE_EVIDENCE_EXACT);
	RELEASE(w, 0, 6, 0x10, 0);
	UNMAP(w, 0, 7, BASE, 64, 0);
	check_row(w, OWN, 64, 1, TARE_EVIDENCE_EXACT);
	UNMAP(w, 0, 8, BASE + 64 * MIB, 64, -64);
	check_row(w, OWN, 0, 0, 0);
	world_free(w);
}

TEST(vmm_handle_is_given_again_while_its_memory_is_mapped)
{
	struct world *w = started();

	CREATE(w, 3, 0x10, 64);
	MAP(w, 0, 4, BASE, 0x10, 64);
	RELEASE(w, 0, 5, 0x10, 0);
	CREATE(w, 6, 0x10, 32);
	check_row(w, OWN, 96, 2, TARE_EVIDENCE_EXACT);
	UNMAP(w, 0, 7, BASE, 64, -64);
	check_row(w, OWN, 32, 1, TARE_EVIDENCE_EXACT);
	RELEASE(w, 0, 8, 0x10, -32);
	check_row(w, OWN, 0, 0, 0);
	world_free(w);
}

TEST(vmm_retained_by_address)
{
	struct world *w = started();

	CREATE(w, 3, 0x10, 64);
	MAP(w, 0, 4, BASE, 0x10, 64);
	RELEASE(w, 0, 5, 0x10, 0);
	RETAIN(w, 6, 0x10, BASE + 5 * MIB);
	RETAIN(w, 7, 0x10, BASE + 63 * MIB);
	UNMAP(w, 0, 8, BASE, 64, 0);
	RELEASE(w, 0, 9, 0x10, 0);
	check_row(w, OWN, 64, 1, TARE_EVIDENCE_EXACT);
	RELEASE(w, 0, 10, 0x10, -64);
	check_row(w, OWN, 0, 0, 0);
	world_free(w);
}

TEST(vmm_several_mappings_go_in_one_call)
{
	struct world *w = started();

	for (int i = 0; i < 3; i++) {
		CREATE(w, 3 + 3 * i, 0x10 + (uint64_t)i, 2);
		MAP(w, 0, 4 + 3 * i, BASE + (uint64_t)i * 2 * MIB, 0x10 + (uint64_t)i, 2);
		RELEASE(w, 0, 5 + 3 * i, 0x10 + (uint64_t)i, 0);
	}
	check_row(w, OWN, 6, 3, TARE_EVIDENCE_EXACT);
	UNMAP(w, 0, 20, BASE, 6, -6);
	check_row(w, OWN, 0, 0, 0);
	world_free(w);
}

/* What somebody never told the end of, and a release of what nobody knows. */
TEST(vmm_with_events_missing)
{
	struct world *w = started();
	struct tare_ledger l;

	CREATE(w, 3, 0x10, 64);
	now -= 64 * MIB; /* released, unseen */
	CREATE(w, 4, 0x10, 32);
	RELEASE(w, 0, 5, 0x99, 0);
	UNMAP(w, 0, 6, BASE, 2, 0);
	MAP(w, 0, 7, BASE, 0x98, 2);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, OWN), 32 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Two processes: a handle of 0x10 that the other has as 0x20. */
static struct world *shared(uint64_t identity)
{
	struct world *w = started();

	world_process(w, 77, 0, "peer");
	CREATE(w, 3, 0x10, 64);
	EXPORT(w, 4, 0x10, identity);
	IMPORT(w, 1, 5, 0x20, identity);
	MAP(w, 1, 6, BASE, 0x20, 64);
	return w;
}

TEST(shared_importer_lets_go_first)
{
	struct world *w = shared(FD);

	RELEASE(w, 1, 7, 0x20, 0);
	UNMAP(w, 1, 8, BASE, 64, 0);
	check_row(w, OWN, 64, 1, TARE_EVIDENCE_EXACT);
	RELEASE(w, 0, 9, 0x10, -64);
	check_row(w, OWN, 0, 0, 0);
	check_row(w, PEER "/imported", 0, 0, 0);
	world_free(w);
}

TEST(shared_exporter_lets_go_first)
{
	struct world *w = shared(FD);

	check_row(w, PEER "/imported", 0, 0, 0);
	RELEASE(w, 0, 7, 0x10, 0);
	check_row(w, OWN, 0, 0, 0);
	check_row(w, PEER "/imported/from:431", 64, 1, TARE_EVIDENCE_INFERRED);
	UNMAP(w, 1, 8, BASE, 64, 0);
	RELEASE(w, 1, 9, 0x20, -64);
	check_row(w, PEER "/imported/from:431", 0, 0, 0);
	world_free(w);
}

/* Handles whose bytes say what they are of need no guess, not even a mapping. */
TEST(shared_by_bytes_is_exact)
{
	uint64_t identity = UINT64_C(1) << 63 | 12345;
	struct world *w = started();

	world_process(w, 77, 0, "peer");
	CREATE(w, 3, 0x10, 64);
	CREATE(w, 4, 0x11, 64);
	EXPORT(w, 5, 0x11, identity + 1);
	EXPORT(w, 6, 0x10, identity);
	IMPORT(w, 1, 7, 0x20, identity);
	RELEASE(w, 0, 8, 0x11, -64);
	RELEASE(w, 0, 9, 0x10, 0);
	check_row(w, PEER "/imported/from:431", 64, 1, TARE_EVIDENCE_EXACT);
	world_free(w);
}

/* The second importer has it when the first lets go. */
TEST(shared_by_three)
{
	struct world *w = shared(FD);

	world_process(w, 78, 0, "third");
	IMPORT(w, 2, 7, 0x30, FD);
	MAP(w, 2, 8, BASE, 0x30, 64);
	RELEASE(w, 0, 9, 0x10, 0);
	RELEASE(w, 1, 10, 0x20, 0);
	UNMAP(w, 1, 11, BASE, 64, 0);
	check_row(w, PEER "/imported/from:431", 0, 0, 0);
	check_row(w, "process:78/imported/from:431", 64, 1, TARE_EVIDENCE_INFERRED);
	RELEASE(w, 2, 12, 0x30, 0);
	UNMAP(w, 2, 13, BASE, 64, -64);
	check_row(w, "process:78/imported/from:431", 0, 0, 0);
	world_free(w);
}

/*
 * Two exports of one size, and a peer that has one of them: nobody can say which. The counter says
 * what went and what did not.
 */
TEST(shared_ambiguously_is_weighed)
{
	struct world *w = started();

	world_process(w, 77, 0, "peer");
	CREATE(w, 3, 0x10, 64);
	CREATE(w, 4, 0x11, 64);
	EXPORT(w, 5, 0x10, FD);
	EXPORT(w, 6, 0x11, FD);
	IMPORT(w, 1, 7, 0x20, FD);
	MAP(w, 1, 8, BASE, 0x20, 64);
	RELEASE(w, 0, 9, 0x10, -64);
	check_row(w, OWN, 64, 1, TARE_EVIDENCE_EXACT);
	RELEASE(w, 0, 10, 0x11, 0); /* this one is the peer's */
	check_row(w, OWN, 0, 0, 0);
	check_row(w, MAKER "/vmm/shared", 64, 1, TARE_EVIDENCE_INFERRED);
	RELEASE(w, 1, 11, 0x20, 0);
	UNMAP(w, 1, 12, BASE, 64, -64);
	check_row(w, MAKER "/vmm/shared", 0, 0, 0);
	world_free(w);
}

/* An import that was taken before the second export can only be of the first. */
TEST(shared_is_matched_by_order)
{
	struct world *w = started();

	world_process(w, 77, 0, "peer");
	CREATE(w, 3, 0x10, 64);
	CREATE(w, 4, 0x11, 64);
	EXPORT(w, 5, 0x10, FD);
	IMPORT(w, 1, 6, 0x20, FD);
	EXPORT(w, 7, 0x11, FD);
	MAP(w, 1, 8, BASE, 0x20, 64);
	IMPORT(w, 1, 9, 0x21, FD);
	MAP(w, 1, 10, BASE + 64 * MIB, 0x21, 64);
	RELEASE(w, 0, 11, 0x10, 0);
	RELEASE(w, 0, 12, 0x11, 0);
	check_row(w, PEER "/imported/from:431", 128, 2, TARE_EVIDENCE_INFERRED);
	world_free(w);
}

/* A process that nobody records has it: it stays with its maker until the counter falls. */
TEST(shared_with_a_stranger)
{
	struct world *w = started();

	CREATE(w, 3, 0x10, 64);
	EXPORT(w, 4, 0x10, FD);
	RELEASE(w, 0, 5, 0x10, 0);
	check_row(w, MAKER "/vmm/shared", 64, 1, TARE_EVIDENCE_WEIGHED);
	now -= 64 * MIB;
	world_reading(w, 0, 6 * MS, now);
	check_row(w, MAKER "/vmm/shared", 0, 0, 0);
	world_free(w);
}

/* When it ends, several go at once; a fall that their sizes do not make up is of something else. */
TEST(shared_with_a_stranger_who_ends)
{
	static const int sizes[] = { 2, 64, 2, 8, 2 };
	struct world *w = started();

	for (int i = 0; i < 5; i++) {
		CREATE(w, 3 + 3 * i, 0x10 + (uint64_t)i, sizes[i]);
		EXPORT(w, 4 + 3 * i, 0x10 + (uint64_t)i, FD);
		RELEASE(w, 0, 5 + 3 * i, 0x10 + (uint64_t)i, 0);
	}
	check_row(w, MAKER "/vmm/shared", 78, 5, TARE_EVIDENCE_WEIGHED);
	now -= 68 * MIB;
	world_reading(w, 0, 30 * MS, now);
	check_row(w, MAKER "/vmm/shared", 10, 2, TARE_EVIDENCE_INFERRED);
	world_free(w);
}

/* What an ended process exported goes on with who imported it. */
TEST(shared_exporter_ends)
{
	struct world *w = shared(FD);

	world_end(w, 0, 7 * MS);
	now -= 500 * MIB;
	STEP(w, 8, 100, .process = 1, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .handle = 0xc1,
	     .context = 0xc1);
	check_row(w, PEER "/imported/from:431", 64, 1, TARE_EVIDENCE_INFERRED);
	check_row(w, MAKER "/context", 0, 0, 0);
	UNMAP(w, 1, 9, BASE, 64, 0);
	RELEASE(w, 1, 10, 0x20, -64);
	check_row(w, PEER "/imported/from:431", 0, 0, 0);
	world_free(w);
}

/* ---- legacy IPC: an allocation of 64 MiB whose handle says what it is of ---- */
#define BYTES (UINT64_C(1) << 63 | 777)

static struct world *opened(void)
{
	struct world *w = started();

	world_process(w, 77, 0, "peer");
	STEP(w, 3, 64, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .handle = BASE, .context = 0xc0,
	     .asked = 64 * MIB, .granted = 64 * MIB, .owner = OWNER);
	STEP(w, 4, 0, .class = TARE_CLASS_IPC, .effect = TARE_EFFECT_CHANGE, .parent = BASE, .limit = BYTES);
	for (int i = 0; i < 2; i++) /* twice: the driver counts */
		STEP(w, 5 + i, 0, .process = 1, .class = TARE_CLASS_IPC, .effect = TARE_EFFECT_NEW, .handle = 2 * BASE,
		     .limit = BYTES);
	return w;
}

#define FREE(W, t, change)                                                                                             \
	STEP(W, t, change, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .handle = BASE, .context = 0xc0)
#define CLOSE(W, t, change)                                                                                            \
	STEP(W, t, change, .process = 1, .class = TARE_CLASS_IPC, .effect = TARE_EFFECT_DEL, .handle = 2 * BASE)

TEST(shared_allocation_that_goes_at_once)
{
	struct world *w = opened();

	FREE(w, 7, -64);
	check_row(w, MAKER "/allocations", 0, 0, 0);
	check_row(w, PEER "/imported", 0, 0, 0);
	CLOSE(w, 8, 0);
	CLOSE(w, 9, 0);
	check_row(w, PEER "/imported", 0, 0, 0);
	world_free(w);
}

TEST(shared_allocation_that_its_peer_keeps)
{
	struct world *w = opened();

	FREE(w, 7, 0);
	check_row(w, MAKER "/allocations", 0, 0, 0);
	check_row(w, PEER "/imported/from:431", 64, 1, TARE_EVIDENCE_EXACT);
	CLOSE(w, 8, 0);
	check_row(w, PEER "/imported/from:431", 64, 1, TARE_EVIDENCE_EXACT);
	CLOSE(w, 9, -64);
	check_row(w, PEER "/imported/from:431", 0, 0, 0);
	world_free(w);
}

/* Its peer is not recorded; and the address is soon another allocation's. */
TEST(shared_allocation_that_a_stranger_keeps)
{
	struct world *w = started();

	STEP(w, 3, 64, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .handle = BASE, .context = 0xc0,
	     .asked = 64 * MIB, .granted = 64 * MIB, .owner = OWNER);
	STEP(w, 4, 0, .class = TARE_CLASS_IPC, .effect = TARE_EFFECT_CHANGE, .parent = BASE, .limit = BYTES);
	FREE(w, 5, 0);
	check_row(w, MAKER "/allocations/shared", 64, 1, TARE_EVIDENCE_WEIGHED);
	STEP(w, 6, 2, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .handle = BASE, .context = 0xc0,
	     .asked = 2 * MIB, .granted = 2 * MIB, .owner = OWNER);
	FREE(w, 7, -2);
	check_row(w, MAKER "/allocations/shared", 64, 1, TARE_EVIDENCE_WEIGHED);
	now -= 64 * MIB;
	world_reading(w, 0, 8 * MS, now);
	check_row(w, MAKER "/allocations/shared", 0, 0, 0);
	world_free(w);
}

/* A match by size and order can be wrong: then the device falls though somebody was thought to hold it. */
TEST(shared_match_that_was_wrong)
{
	struct world *w = shared(FD);

	RELEASE(w, 0, 7, 0x10, -64);
	check_row(w, OWN, 0, 0, 0);
	check_row(w, PEER "/imported", 0, 0, 0);
	RELEASE(w, 1, 8, 0x20, 0);
	UNMAP(w, 1, 9, BASE, 64, 0);
	check_row(w, PEER "/imported", 0, 0, 0);
	world_free(w);
}
