/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.profiler says of the memory of one GPU, as segments and blocks. It has the bytes that the allocator holds in
 * all ("Total Reserved"), not its segments: so where a block lies there is taken to be memory, in the 2 MiB around it, and
 * what is held beyond that is one piece whose place is not known.
 */
#ifndef TARE_IMPORT_KINETO_GPU_H
#define TARE_IMPORT_KINETO_GPU_H

#include "base/map.h"
#include "base/owned.h"
#include "import/import_reader.h"

/* Addresses from here on are made up. */
#define TARE_KINETO_ADDRESS_MAX (UINT64_C(1) << 57)
#define TARE_KINETO_BYTES_MAX   (UINT64_C(1) << 44)

struct tare_kineto_piece {
	uint64_t at, size;
	int64_t live;
};

struct tare_kineto_gpu {
	struct tare_import_out *out;
	int device; /* ordinal in the recording */
	bool knows_reserved;
	uint32_t no_line;                            /* what is held for no tensor: its line_stack record */
	TARE_OWNED struct tare_kineto_piece *pieces; /* by address; they do not overlap */
	size_t count, cap;
	uint64_t before;                   /* bytes of blocks that were there before */
	uint64_t covered;                  /* bytes of the pieces */
	uint64_t rest;                     /* bytes of the piece whose place is not known */
	TARE_OWNED struct tare_map blocks; /* address → bytes */
	uint64_t allocated;
	uint64_t lost;   /* blocks that found no place in what is told of the allocator */
	uint64_t beyond; /* the most that pieces have and the allocator did not hold */
};

/* Of a block, from whom it is. */
struct tare_kineto_from {
	int64_t t_ns;
	uint32_t tid, python;
	uint16_t flags; /* enum tare_tensor_flag */
};

/* `reserved`: bytes held at the begin, TARE_NOT_KNOWN: the trace does not tell; no_line: of what is held for no tensor. */
void tare_kineto_gpu_begin(struct tare_kineto_gpu *g, struct tare_import_out *out, int device, uint64_t reserved,
                           uint32_t no_line);
TARE_FREES(tare_kineto_gpu_end, tare_kineto_gpu);
/* `bytes` of blocks that were there before, and of which nothing is told. */
void tare_kineto_gpu_before(struct tare_kineto_gpu *g, uint64_t bytes, uint32_t python);
void tare_kineto_gpu_reserved(struct tare_kineto_gpu *g, int64_t t_ns, uint64_t reserved);
void tare_kineto_gpu_block(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address,
                           uint64_t bytes);
/* False: there is none. */
bool tare_kineto_gpu_block_gone(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address);

#endif
