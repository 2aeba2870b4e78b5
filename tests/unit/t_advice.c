/* SPDX-License-Identifier: Apache-2.0 */
/* What is found that can be done about memory, and the rules for what is elastic. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS "process:431"
#define BASE    UINT64_C(0x7f0000000000)
#define SECOND  INT64_C(1000000000)

/* A world in which every call follows the last, and the device's use is what they made it. */
struct story {
	struct world *w;
	int64_t t, used;
	int process;
};

static struct story begin(void)
{
	struct story s = { .w = world_new(), .t = 1 * MS, .used = 100 * MIB };

	world_reading(s.w, 0, s.t, s.used);
	return s;
}

static void tell(struct story *s, int64_t change, struct world_call call)
{
	call.process = s->process;
	call.context = call.context ? call.context : 0xc0;
	call.begin = s->t += MS;
	call.end = s->t += MS;
	call.weigh = true;
	call.before = s->used;
	call.after = s->used += change;
	world_call(s->w, call);
}
#define TELL(S, CHANGE, ...) tell(S, CHANGE, (struct world_call){ __VA_ARGS__ })

static void context(struct story *s, uint64_t handle, int64_t bytes)
{
	TELL(s, bytes, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .handle = handle, .context = handle);
}

static void launch(struct story *s, const char *kernel, uint64_t local, int64_t change)
{
	TELL(s, change, .class = TARE_CLASS_LAUNCH, .effect = TARE_EFFECT_CHANGE, .local = local, .handle = 0xf00 + local,
	     .name = kernel);
}

static void alloc(struct story *s, uint64_t at, int64_t bytes, const char *owner)
{
	TELL(s, bytes, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .handle = at, .asked = (uint64_t)bytes,
	     .granted = (uint64_t)bytes, .owner = owner);
}

static void release(struct story *s, uint64_t at, int64_t bytes)
{
	TELL(s, -bytes, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .handle = at);
}

static const struct tare_finding *find(const struct tare_ledger *l, enum tare_advice advice)
{
	const struct tare_device_ledger *d = &l->devices[0];

	for (int i = 0; i < d->finding_nr; i++)
		if (d->findings[i].advice == advice)
			return &d->findings[i];
	return NULL;
}

static void end(struct story *s, struct tare_ledger *l)
{
	tare_ledger_free(l);
	world_free(s->w);
}

/* 132 x 2048 threads: 1 KiB is 264 MiB, which every context has. */
TEST(the_kernel_with_the_largest_stack_is_named)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	launch(&s, "_ZN4math5solveEPf", 4096, 3 * 264 * MIB);
	launch(&s, "_ZN4math3eatEPf", 32768, 28 * 264 * MIB);
	launch(&s, "_ZN4math5small", 512, 0);
	l = world_ledger(s.w, "peak");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/local"), 31 * 264 * MIB);
	f = find(&l, TARE_ADVICE_STACK);
	CHECK(f);
	CHECK_STR(f->name, "math::eat");
	CHECK_INT(f->bytes, 28 * 264 * MIB); /* down to what solve needs */
	CHECK_INT(f->each, 32768);
	CHECK_INT(f->next, 4096);
	CHECK_INT(f->pid, 431);
	CHECK(!find(&l, TARE_ADVICE_ACCOUNT));
	end(&s, &l);
}

TEST(a_state_keeps_the_names_of_kernels)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	launch(&s, "eat", 32768, 31 * 264 * MIB);
	world_check_states(s.w, 7);
	l = world_ledger(s.w, "end");
	CHECK_INT(find(&l, TARE_ADVICE_STACK)->bytes, 8184 * MIB);
	CHECK_INT(find(&l, TARE_ADVICE_STACK)->next, 1024);
	end(&s, &l);
}

/* At an instant before it was launched, nothing is to be said of it. */
TEST(advice_is_of_its_instant)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	launch(&s, "eat", 32768, 31 * 264 * MIB);
	l = world_ledger(s.w, "4ms");
	CHECK(!find(&l, TARE_ADVICE_STACK));
	end(&s, &l);
}

TEST(limits_that_the_program_set)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	TELL(&s, 3 * 264 * MIB, .class = TARE_CLASS_LIMIT, .effect = TARE_EFFECT_CHANGE, .limit = 0, .asked = 4096);
	TELL(&s, 0, .class = TARE_CLASS_LIMIT, .effect = TARE_EFFECT_CHANGE, .limit = 2, .asked = 512 * MIB);
	launch(&s, "k", 4096, 512 * MIB);
	l = world_ledger(s.w, "end");
	CHECK_INT(find(&l, TARE_ADVICE_STACK_LIMIT)->bytes, 3 * 264 * MIB);
	CHECK_INT(find(&l, TARE_ADVICE_STACK_LIMIT)->each, 4096);
	CHECK_INT(find(&l, TARE_ADVICE_HEAP_LIMIT)->bytes, 512 * MIB);
	CHECK_INT(find(&l, TARE_ADVICE_HEAP_LIMIT)->account, TARE_ACCOUNT_KERNEL_HEAP);
	CHECK(!find(&l, TARE_ADVICE_STACK)); /* the limit alone would do it */
	end(&s, &l);
}

static void streams(struct story *s, const char *owner, int count)
{
	for (int i = 0; i < count; i++)
		TELL(s, 2 * MIB, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .handle = 0x5000u + (uint64_t)s->t,
		     .owner = owner);
}

TEST(streams_are_their_creators)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	streams(&s, "/x/libc10_cuda.so", 35);
	streams(&s, "/x/libown.so", 30);
	streams(&s, "/x/libfew.so", 3);
	l = world_ledger(s.w, "end");
	f = find(&l, TARE_ADVICE_TORCH_STREAMS);
	CHECK(f);
	CHECK_STR(f->name, "PyTorch");
	CHECK_INT(f->count, 35);
	CHECK_INT(f->bytes, 70 * MIB);
	f = find(&l, TARE_ADVICE_STREAMS);
	CHECK_STR(f->name, "libown");
	CHECK_INT(f->bytes, 60 * MIB);
	CHECK_INT(l.devices[0].finding_nr, 2); /* three are not worth a word */
	end(&s, &l);
}

static void load(struct story *s, uint64_t library, int64_t bytes)
{
	TELL(s, bytes, .class = TARE_CLASS_LIBRARY, .effect = TARE_EFFECT_NEW, .handle = library);
}

TEST(modules_that_nothing_was_launched_from)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	load(&s, 0x100, 60 * MIB);
	load(&s, 0x200, 80 * MIB);
	load(&s, 0x300, 70 * MIB);
	/* kernel 0x210 of library 0x200, as function 0x220 */
	TELL(&s, 0, .class = TARE_CLASS_FUNCTION, .effect = TARE_EFFECT_NEW, .handle = 0x210, .parent = 0x200,
	     .name = "used");
	TELL(&s, 0, .class = TARE_CLASS_CODE, .effect = TARE_EFFECT_CHANGE, .handle = 0x220, .parent = 0x210);
	TELL(&s, 0, .class = TARE_CLASS_LAUNCH, .effect = TARE_EFFECT_CHANGE, .handle = 0x220);
	l = world_ledger(s.w, "end");
	f = find(&l, TARE_ADVICE_MODULES);
	CHECK(f);
	CHECK_INT(f->bytes, 130 * MIB);
	CHECK_INT(f->count, 2);
	end(&s, &l);
}

TEST(contexts_and_processes)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	context(&s, 0xc1, 520 * MIB);
	s.process = world_process(s.w, 432, 0, "worker");
	context(&s, 0xd0, 523 * MIB);
	s.process = world_process(s.w, 433, 0, "worker");
	context(&s, 0xe0, 523 * MIB);
	l = world_ledger(s.w, "end");
	f = find(&l, TARE_ADVICE_CONTEXTS);
	CHECK(f);
	CHECK_INT(f->bytes, 520 * MIB);
	CHECK_INT(f->count, 2);
	CHECK_INT(f->pid, 431);
	f = find(&l, TARE_ADVICE_PROCESSES);
	CHECK(f);
	CHECK_INT(f->count, 3);
	CHECK_INT(f->bytes, 2 * 523 * MIB);
	CHECK_INT(f->pid, -1);
	end(&s, &l);
}

TEST(the_same_of_two_processes_is_said_once)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;
	int said = 0;

	context(&s, 0xc0, 523 * MIB);
	alloc(&s, BASE, 64 * MIB, "/x/libcublas.so.13");
	s.process = world_process(s.w, 432, 0, "worker");
	context(&s, 0xd0, 523 * MIB);
	alloc(&s, BASE, 64 * MIB, "/x/libcublasLt.so.13");
	l = world_ledger(s.w, "end");
	for (int i = 0; i < l.devices[0].finding_nr; i++)
		said += l.devices[0].findings[i].advice == TARE_ADVICE_CUBLAS;
	CHECK_INT(said, 1);
	f = find(&l, TARE_ADVICE_CUBLAS);
	CHECK_INT(f->bytes, 128 * MIB);
	CHECK_INT(f->count, 2);
	CHECK_INT(f->pid, -1);
	CHECK_STR(f->name, "cuBLAS");
	end(&s, &l);
}

/* Pieces of NCCL's for one part of a communicator, so many of so many MiB. */
static void pieces(struct story *s, int count, int mib, const char *part)
{
	for (int i = 0; i < count; i++)
		alloc(s, BASE + (uint64_t)s->t * MIB, mib * MIB, part);
}

struct nccl {
	int made, channels, buffers; /* pieces of 2 MiB; of collectives: how many, MiB of each */
	int to, from, more;          /* pieces of messages to peers, from peers, and what is by no law */
};

/* MiB that fewer channels and smaller buffers of such a communicator save; -1: not said. */
static void saved_of(struct nccl c, int64_t *channels, int64_t *buffers)
{
	struct story s = begin();
	const struct tare_finding *f;
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	pieces(&s, c.made, 2, "/x/libnccl: communicator 1: made");
	pieces(&s, c.channels, c.buffers, "/x/libnccl: communicator 1: collectives");
	pieces(&s, c.channels, 2, "/x/libnccl: communicator 1: collectives");
	pieces(&s, c.to, 2, "/x/libnccl: communicator 1: messages");
	pieces(&s, c.from, c.buffers, "/x/libnccl: communicator 1: messages");
	pieces(&s, c.more, 6, "/x/libnccl: communicator 1: messages");
	l = world_ledger(s.w, "end");
	f = find(&l, TARE_ADVICE_NCCL_CHANNELS);
	*channels = f ? f->bytes / MIB : -1;
	f = find(&l, TARE_ADVICE_NCCL_BUFFERS);
	*buffers = f ? f->bytes / MIB : -1;
	end(&s, &l);
}

/* The table of docs/RESIDUE.md ("NCCL") and what lies beside it. */
TEST(channels_and_buffers_of_nccl_by_its_law)
{
	static const struct {
		struct nccl comm;
		int64_t channels, buffers;
	} rows[] = {
		{ { 98, 24, 10, 32, 32, 0 }, 624, 112 }, /* as measured: 868 MiB; 244 with 8 channels, 756 with 1 MiB */
		{ { 98, 24, 8, 32, 32, 0 }, 144 + 160 + 240, -1 },
		{ { 98, 24, 14, 32, 32, 0 }, 144 + 256 + 384, 336 }, /* NCCL_BUFFSIZE=8388608 takes 1,092: 1,092 - 756 */
		{ { 50, 16, 10, 16, 16, 0 }, 384 - 144, 64 },
		{ { 98, 24, 10, 0, 32, 0 }, 144 + 192 + 240, 112 }, /* messages come from one peer, and go to none */
		{ { 98, 24, 10, 64, 32, 0 }, 144 + 192 + 336, 112 },
		{ { 98, 0, 10, 32, 32, 0 }, 144 + 288, 64 },
		{ { 98, 24, 10, 32, 32, 1 }, 144 + 192, -1 }, /* 48 of the collectives alone: too little to be said */
		{ { 97, 24, 10, 32, 32, 0 }, -1, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t channels, buffers;

		saved_of(rows[i].comm, &channels, &buffers);
		CHECK_INT(channels, rows[i].channels);
		CHECK_INT(buffers, rows[i].buffers);
	}
}

TEST(others_and_pages_and_large_accounts)
{
	struct story s = { .w = world_new(), .t = 1 * MS, .used = 2100 * MIB };
	struct tare_ledger l;

	world_reading(s.w, 0, 0, s.used);
	world_peer(s.w, 0, 0, 1, 99, 2000 * MIB, "Xorg");
	context(&s, 0xc0, 523 * MIB);
	for (unsigned i = 0; i < 100; i++)
		TELL(&s, 2 * MIB, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW,
		     .handle = BASE + i * UINT64_C(0x200000), .asked = 1024 * 1024, .granted = 1024 * 1024, .owner = "/x/app");
	TELL(&s, 3000 * MIB, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_NEW, .handle = 0x1234000, .asked = 1 << 30,
	     .granted = 1 << 30);
	l = world_ledger(s.w, "end");
	CHECK_INT(find(&l, TARE_ADVICE_OTHERS)->bytes, 2100 * MIB);
	CHECK_STR(find(&l, TARE_ADVICE_OTHERS)->name, "Xorg (pid 99)");
	CHECK_INT(find(&l, TARE_ADVICE_GRANULARITY)->bytes, 100 * MIB);
	CHECK_INT(find(&l, TARE_ADVICE_GRANULARITY)->count, 100);
	CHECK_INT(find(&l, TARE_ADVICE_ACCOUNT)->account, TARE_ACCOUNT_HOSTMAP);
	CHECK_STR(tare_finding_less(find(&l, TARE_ADVICE_ACCOUNT)), "Pin less.");
	for (int i = 1; i < l.devices[0].finding_nr; i++)
		CHECK(l.devices[0].findings[i - 1].bytes >= l.devices[0].findings[i].bytes);
	end(&s, &l);
}

/* ---- elastic ---- */

/* Held for `ns`, and then freed. */
static void trial(struct story *s, uint64_t at, int64_t bytes, int64_t ns, const char *owner)
{
	alloc(s, at, bytes, owner);
	s->t += ns;
	release(s, at, bytes);
}

TEST(a_trial_of_cudnn_is_elastic)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	alloc(&s, BASE, 1000 * MIB, "/x/libc10_cuda.so");
	trial(&s, BASE + (1u << 30), 4726 * MIB, 44 * MS, "/x/libcudnn.so.9");
	l = world_ledger(s.w, "peak");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/trial"), 4726 * MIB);
	CHECK(world_row(&l, 0, PROCESS "/trial")->elastic);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 1000 * MIB);
	CHECK_INT(l.devices[0].elastic, 4726 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(find(&l, TARE_ADVICE_TRIAL)->bytes, 4726 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(s.w, "end");
	CHECK_INT(l.devices[0].elastic, 0);
	CHECK(!find(&l, TARE_ADVICE_TRIAL));
	end(&s, &l);
}

/*
 * PyTorch allocates for cuDNN itself: only the names of its functions tell. No checkpoint comes in
 * between: what is folded while it runs has no names yet.
 */
TEST(a_trial_is_known_by_the_names_of_functions)
{
	struct story s = begin();
	const char *peak = "peak";
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	world_symbol(s.w, "/x/libtorch_cuda.so", "_ZN2at6native33raw_cudnn_convolution_forward_outERKNS_6TensorES3_S3_");
	trial(&s, BASE, 4726 * MIB, 44 * MS, "/x/libtorch_cuda.so");
	world_build(s.w, NULL, &peak, 1, &l);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/trial"), 4726 * MIB);
	end(&s, &l);
}

static int64_t elastic_of(struct story *s)
{
	struct tare_ledger l = world_ledger(s->w, "peak");
	int64_t elastic = l.devices[0].elastic;

	end(s, &l);
	return elastic;
}

TEST(what_is_not_a_trial)
{
	struct story held = begin(), again = begin(), other = begin(), small = begin();

	context(&held, 0xc0, 523 * MIB);
	trial(&held, BASE, 4000 * MIB, 2 * SECOND, "/x/libcudnn.so.9");
	CHECK_INT(elastic_of(&held), 0);

	context(&again, 0xc0, 523 * MIB); /* the size that was chosen in the end */
	trial(&again, BASE, 4000 * MIB, 44 * MS, "/x/libcudnn.so.9");
	alloc(&again, BASE, 4000 * MIB, "/x/libcudnn.so.9");
	CHECK_INT(elastic_of(&again), 0);

	context(&other, 0xc0, 523 * MIB);
	trial(&other, BASE, 4000 * MIB, 44 * MS, "/x/libown.so");
	CHECK_INT(elastic_of(&other), 0);

	context(&small, 0xc0, 523 * MIB);
	trial(&small, BASE, 8 * MIB, 44 * MS, "/x/libcudnn.so.9");
	CHECK_INT(elastic_of(&small), 0);
}

TEST(a_preallocation_of_xla_is_elastic)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	alloc(&s, BASE, 2 * MIB, "/x/xla_cuda_plugin.so");
	alloc(&s, BASE + (1u << 30), 100000 * MIB, "/x/xla_cuda_plugin.so");
	l = world_ledger(s.w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/preallocated"), 100000 * MIB);
	CHECK_INT(l.devices[0].elastic, 100000 * MIB);
	CHECK_INT(find(&l, TARE_ADVICE_PREALLOCATION)->bytes, 100000 * MIB);
	CHECK(!find(&l, TARE_ADVICE_ACCOUNT));
	end(&s, &l);
}

/* JAX on an H200 makes its memory with cuMemCreate; it stays elastic until the last reference goes. */
TEST(a_preallocation_may_be_virtual_memory)
{
	struct story s = begin();
	struct tare_ledger l;

	context(&s, 0xc0, 523 * MIB);
	TELL(&s, 100000 * MIB, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .handle = 0x77,
	     .asked = (uint64_t)(100000 * MIB), .granted = (uint64_t)(100000 * MIB), .owner = "/x/xla_cuda_plugin.so");
	l = world_ledger(s.w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/preallocated"), 100000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	TELL(&s, -100000 * MIB, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_DEL, .handle = 0x77);
	l = world_ledger(s.w, "end");
	CHECK_INT(l.devices[0].elastic, 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	end(&s, &l);
}

/* One that grew step by step gets what it needs. */
TEST(growth_of_xla_is_not_elastic)
{
	struct story s = begin();

	context(&s, 0xc0, 523 * MIB);
	alloc(&s, BASE, 3000 * MIB, "/x/xla_cuda_plugin.so");
	alloc(&s, BASE + (8ull << 30), 40000 * MIB, "/x/xla_cuda_plugin.so");
	CHECK_INT(elastic_of(&s), 0);
}
