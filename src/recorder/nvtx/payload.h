/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's extension of payloads: data beside a range, in forms that a library registers. Ranges may end by it alone, as NCCL's that
 * make or end a communicator do; and NCCL says in it which communicator a call is for.
 */
#ifndef TARE_RECORDER_NVTX_PAYLOAD_H
#define TARE_RECORDER_NVTX_PAYLOAD_H

#include "recorder/nvtx/names.h"

/* NCCL's number of a communicator, in data or in the event that a text is of; 0: none. */
uint64_t tare_nvtx_comm(struct tare_nvtx_text text, const struct nvtx_data *data, size_t count);

#endif
