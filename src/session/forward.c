/* SPDX-License-Identifier: Apache-2.0 */
/* Passes signals on to the command. */
#include "session/child.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tare_forward_start(struct tare_child *child)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	child->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool read_signal(struct tare_child *child, struct signalfd_siginfo *out)
{
	return read(child->signals, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

/* What our own doing causes, or the sibling's, is nobody else's affair. */
static bool is_own(const struct tare_child *child, const struct signalfd_siginfo *info)
{
	pid_t sender = (pid_t)info->ssi_pid;

	if (info->ssi_signo == SIGCHLD || (info->ssi_signo == SIGXCPU && info->ssi_code == SI_KERNEL))
		return true;
	return sender == getpid() || (sender && sender == child->sibling.pid);
}

/* With its value and its sender, where the kernel lets us. */
static void send_signal(pid_t pid, const struct signalfd_siginfo *info)
{
	siginfo_t its = { .si_signo = (int)info->ssi_signo, .si_code = info->ssi_code };

	its.si_pid = (pid_t)info->ssi_pid;
	its.si_uid = info->ssi_uid;
	its.si_value.sival_ptr = (void *)(uintptr_t)info->ssi_ptr;
	if (info->ssi_code != SI_QUEUE || syscall(SYS_rt_sigqueueinfo, pid, its.si_signo, &its) != 0)
		kill(pid, its.si_signo);
}

/* A program that signals its parent means the one that it would have without us. */
static void pass_on(const struct tare_child *child, const struct signalfd_siginfo *info)
{
	pid_t to = child->pid;

	if ((pid_t)info->ssi_pid == child->pid)
		to = getppid();
	if (to > 1)
		send_signal(to, info);
}

/*
 * The leader of a group cannot leave it for another session, and as a leader the program would still be
 * in this group: started by us, it may have made one of its own.
 */
static bool has_left(const struct tare_child *child)
{
	return getpgrp() == getpid() && getpgid(child->pid) != getpgrp();
}

/* The first `n` of them. */
static void judge(struct tare_child *child, int n)
{
	uint8_t numbers[TARE_SIBLING_ASKS];
	uint64_t seen;

	for (int i = 0; i < n; i++)
		numbers[i] = (uint8_t)child->held[i].info.ssi_signo;
	seen = tare_sibling_has_seen(&child->sibling, numbers, n);
	if (has_left(child))
		seen = 0;
	for (int i = 0; i < n; i++)
		if (!(seen & 1ull << i))
			pass_on(child, &child->held[i].info);
	child->held_nr -= n;
	memmove(child->held, child->held + n, (size_t)child->held_nr * sizeof(child->held[0]));
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool stops(uint32_t number)
{
	return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Withdraws held signals as the kernel withdraws pending ones: SIGCONT those that stop, and a signal that stops SIGCONT. */
static void take_back(struct tare_child *child, uint32_t number)
{
	int kept = 0;

	for (int i = 0; i < child->held_nr; i++) {
		uint32_t held = child->held[i].info.ssi_signo;

		if (!(number == SIGCONT && stops(held)) && !(stops(number) && held == SIGCONT))
			child->held[kept++] = child->held[i];
	}
	child->held_nr = kept;
}

void tare_forward_turn(struct tare_child *child)
{
	int64_t now = now_ms();
	struct signalfd_siginfo info;
	int due = 0;

	while (child->held_nr < TARE_SIBLING_ASKS && read_signal(child, &info)) {
		/* A terminal that goes away tells it to whoever leads the session. */
		bool is_urgent = info.ssi_signo == SIGHUP && info.ssi_code == SI_KERNEL;

		if (is_own(child, &info))
			continue;
		take_back(child, info.ssi_signo);
		child->held[child->held_nr].info = info;
		child->held[child->held_nr++].due_ms = now + (is_urgent ? 0 : TARE_FORWARD_GRACE_MS);
	}
	while (due < child->held_nr && child->held[due].due_ms <= now)
		due++;
	if (due)
		judge(child, due);
}

void tare_forward_all(struct tare_child *child)
{
	struct signalfd_siginfo info;

	while (read_signal(child, &info))
		if (info.ssi_signo != SIGCHLD)
			send_signal(child->pid, &info);
}

void tare_forward_end(struct tare_child *child)
{
	struct signalfd_siginfo info;

	if (child->signals < 0)
		return;
	while (read_signal(child, &info))
		continue;
	close(child->signals);
	child->signals = -1;
	tare_inherit_unblock(&child->inherited);
}
