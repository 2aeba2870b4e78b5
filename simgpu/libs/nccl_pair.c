/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from one rank to another. A send is done when its bytes lie in the room: it waits for the receiver only
 * when there is no space. What is larger than the limit is not carried, and waits for nobody.
 */
#include "simgpu/libs/nccl.h"

static int copy_part(const struct nccl_op *op, void *to, const void *from, size_t bytes)
{
	struct nccl_inside inside;
	int failed;

	if (!bytes)
		return NCCL_SUCCESS;
	inside = nccl_enter(op->comm);
	failed =
		op->kind == NCCL_SEND ? SIM_DRIVER("tareSimPeek", to, from, bytes) : SIM_DRIVER("cuMemcpy", to, from, bytes);
	nccl_leave(inside);
	return failed ? nccl_fail(NCCL_CUDA_ERROR,
	                          "%s on rank %d: the driver does not copy %zu bytes of its buffer "
	                          "(error %d); is it memory of device %d?",
	                          op->call, op->comm->rank, bytes, failed, op->comm->device)
	              : NCCL_SUCCESS;
}

static int send(const struct nccl_op *op, size_t bytes)
{
	struct nccl_comm *comm = op->comm;
	struct nccl_message message = { bytes, comm->peers[op->root].sent };
	struct nccl_parts parts;
	int result;

	if (!nccl_room_write(comm->room, comm->rank, op->root, bytes, &parts))
		return NCCL_IN_PROGRESS;
	result = copy_part(op, parts.bytes[0], op->send, parts.sizes[0]);
	if (result == NCCL_SUCCESS)
		result = copy_part(op, parts.bytes[1], (const unsigned char *)op->send + parts.sizes[0], parts.sizes[1]);
	if (result == NCCL_SUCCESS)
		nccl_room_written(comm->room, comm->rank, op->root, message);
	return result;
}

/* The message may have come, and its sender gone, while we looked. */
static int nothing_comes(const struct nccl_op *op)
{
	enum nccl_presence presence = nccl_room_presence(op->comm->room, op->root);
	struct nccl_message message;
	struct nccl_parts parts;

	if (presence == NCCL_PRESENT || nccl_room_read(op->comm->room, op->root, op->comm->rank, &message, &parts))
		return NCCL_IN_PROGRESS;
	return nccl_fail(NCCL_REMOTE_ERROR, "%s on rank %d of %d: rank %d has %s its communicator without it", op->call,
	                 op->comm->rank, op->comm->ranks_nr, op->root, presence == NCCL_ABORTED ? "aborted" : "destroyed");
}

static int receive(const struct nccl_op *op, size_t bytes)
{
	struct nccl_comm *comm = op->comm;
	struct nccl_message message;
	struct nccl_parts parts;
	int result;

	if (!nccl_room_read(comm->room, op->root, comm->rank, &message, &parts))
		return nothing_comes(op);
	if (message.bytes != bytes || message.large != comm->peers[op->root].received)
		return nccl_fail(NCCL_INVALID_USAGE,
		                 "%s on rank %d expects %zu bytes of rank %d, after %llu larger "
		                 "messages; that one sends %llu after %llu",
		                 op->call, comm->rank, bytes, op->root, (unsigned long long)comm->peers[op->root].received,
		                 (unsigned long long)message.bytes, (unsigned long long)message.large);
	result = copy_part(op, op->receive, parts.bytes[0], parts.sizes[0]);
	if (result == NCCL_SUCCESS)
		result = copy_part(op, (unsigned char *)op->receive + parts.sizes[0], parts.bytes[1], parts.sizes[1]);
	nccl_room_consumed(comm->room, op->root, comm->rank, bytes);
	return result;
}

int nccl_pair_step(struct nccl_op *op)
{
	size_t bytes = op->count * nccl_type_size(op->type);
	struct nccl_peer *peer = &op->comm->peers[op->root];
	int result, status = 0;

	if (op->phase == 0) {
		result = nccl_memory_peer(op->comm, op->root, op->kind == NCCL_SEND);
		if (result != NCCL_SUCCESS)
			return result;
		if (!bytes)
			return NCCL_SUCCESS;
		if (!SIM_DRIVER("cuStreamIsCapturing", op->stream, &status) && status == 1) {
			sim_lib_node(op->stream);
			return NCCL_SUCCESS;
		}
		if (nccl_room_presence(op->comm->room, op->root) == NCCL_STANDIN)
			return NCCL_SUCCESS;
		if (bytes > nccl_room_limit()) {
			if (op->kind == NCCL_SEND)
				peer->sent++;
			else
				peer->received++;
			return NCCL_SUCCESS;
		}
		op->phase = 1;
	}
	return op->kind == NCCL_SEND ? send(op, bytes) : receive(op, bytes);
}
