/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory made by one process and mapped by another, on the second GPU where there is one: 192 MiB that
 * the importer holds longest, so that the fall comes inside the importer's call, and 96 MiB that the
 * exporter does.
 */
#define _GNU_SOURCE
#include "cu.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(int to, char word)
{
	if (write(to, &word, 1) != 1)
		exit(2);
}

static void hear(int from)
{
	char word;

	if (read(from, &word, 1) != 1)
		exit(2);
}

static void send_descriptor(int to, int descriptor)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, word = 'd';
	struct iovec data = { &word, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
	if (sendmsg(to, &message, 0) != 1)
		exit(2);
}

static int receive_descriptor(int from)
{
	char room[CMSG_SPACE(sizeof(int))], word;
	struct iovec data = { &word, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	int descriptor;

	if (recvmsg(from, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		exit(2);
	memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return descriptor;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes, int device)
{
	CUmemAccessDesc access = { .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device },
		                       .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUdeviceptr at;

	OK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	OK(cuMemMap(at, bytes, 0, handle, 0));
	OK(cuMemSetAccess(at, bytes, &access, 1));
	return at;
}

static void release(CUdeviceptr at, CUmemGenericAllocationHandle handle, size_t bytes)
{
	OK(cuMemUnmap(at, bytes));
	OK(cuMemRelease(handle));
	OK(cuMemAddressFree(at, bytes));
}

static void give(int peer, size_t bytes, int is_first_to_release)
{
	CUmemAllocationProp properties = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		                               .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		                               .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } };
	CUmemGenericAllocationHandle handle;
	int descriptor;
	CUdeviceptr at;

	OK(cuMemCreate(&handle, bytes, &properties, 0));
	at = map(handle, bytes, 0);
	OK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	send_descriptor(peer, descriptor);
	close(descriptor);
	hear(peer); /* it has mapped it */
	if (is_first_to_release) {
		release(at, handle, bytes);
		say(peer, 'r');
		hear(peer);
	} else {
		say(peer, 'r');
		hear(peer); /* it has released it */
		release(at, handle, bytes);
	}
}

static void take(int peer, size_t bytes, int device)
{
	CUmemGenericAllocationHandle handle;
	int descriptor = receive_descriptor(peer);
	CUdeviceptr at;

	OK(cuMemImportFromShareableHandle(&handle, (void *)(size_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(descriptor);
	at = map(handle, bytes, device);
	OK(cuMemsetD8(at, 1, bytes));
	OK(cuCtxSynchronize());
	say(peer, 'm');
	hear(peer);
	release(at, handle, bytes);
	say(peer, 'x');
}

int main(void)
{
	int ends[2], count, status;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 2;
	child = fork();
	if (!child) {
		close(ends[0]);
		OK(cuInit(0));
		OK(cuDeviceGetCount(&count));
		open_gpu(count > 1);
		take(ends[1], 192 * MiB, count > 1);
		take(ends[1], 96 * MiB, count > 1);
		return 0;
	}
	close(ends[1]);
	open_gpu(0);
	give(ends[0], 192 * MiB, 1);
	give(ends[0], 96 * MiB, 0);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	puts("192 MiB given back by the importer, 96 MiB by the exporter");
	return 0;
}
