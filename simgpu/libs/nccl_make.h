/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a communicator: for nccl_make.c, by an id, and nccl_birth.c, out of another. */
#ifndef TARE_SIM_NCCL_MAKE_H
#define TARE_SIM_NCCL_MAKE_H

#include "simgpu/libs/nccl.h"

/* NULL: `result` says why. It has no context and no room yet. */
struct nccl_comm *nccl_comm_new(int ranks_nr, int rank, const struct nccl_config *config, const char *call,
                                int *result);
void nccl_comm_free(struct nccl_comm *comm);
/* Gives it the primary context of a device. */
int nccl_context_of(struct nccl_comm *comm, int device);

#endif
