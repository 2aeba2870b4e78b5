/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of PyTorch (torch.nn.Module): which one a block is made for. A thread that is handed out a block inside a
 * call of a module says so once (MODULE), and again when it is inside of another one.
 */
#ifndef TARE_RECORDER_TORCH_MODULE_H
#define TARE_RECORDER_TORCH_MODULE_H

#include <stdint.h>

struct tare_module_seen {
	uint64_t at;    /* its object, 0: none */
	uint32_t type;  /* of it, a part of that object's address */
	uint32_t class; /* id of the name of that, 0: not known */
};

/* An object that a frame of the calling thread has. */
struct tare_module_seen tare_module_see(uint64_t module);

/*
 * The calling thread is handed out a block for a module, or none. What enum tare_tensor_flag says of that; a MODULE
 * record is written where it is another one than the last time.
 */
uint32_t tare_module_flag(const struct tare_module_seen *module);

/* A scan found it; pre: the GIL is held. */
void tare_module_say(uint64_t module);
/* A scan begins: it will tell which there are. */
void tare_modules_forget(void);

#endif
