/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare doctor` looks at of the machine: preloading, environment, folders, limits, container. */
#include "cmd/doctor.h"

#include "base/units.h"
#include "session/folder.h"
#include "session/preload.h"
#include "session/target.h"
#include "witness/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the first pid namespace of every kernel has as its inode. */
#define FIRST_PID_NAMESPACE UINT64_C(0xEFFFFFFC)

static const char recorder_check[] = "recorder";

static void exec_with_preload(const char *library, int errors)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	unsetenv("TARE_RECORDING");
	setenv("LD_PRELOAD", library, 1);
	dup2(null, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execl("/proc/self/exe", "tare", "--version", (char *)NULL);
	_exit(127);
}

/* Starts ourselves with the recorder in LD_PRELOAD: what ld.so or it says comes back in `said`. */
static int try_preload(const char *library, char *said, size_t size)
{
	int fds[2], status = -1;
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0)
		exec_with_preload(library, fds[1]);
	close(fds[1]);
	while (pid > 0 && have < size - 1 && (n = read(fds[0], said + have, size - 1 - have)) > 0)
		have += (size_t)n;
	said[have] = '\0';
	close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

void tare_doctor_recorder(struct tare_doctor *d)
{
	struct tare_preload preload;
	struct tare_err err;
	char said[512];
	int status;

	if (tare_preload_find(&preload, NULL, "/", 0, &err)) {
		tare_doctor_add(d, TARE_DOCTOR_FAIL, recorder_check, "%s", err.text);
		return;
	}
	status = try_preload(preload.library, said, sizeof(said));
	if (status == 0 && !said[0])
		tare_doctor_add(d, TARE_DOCTOR_OK, recorder_check, "%s, and it loads", preload.library);
	else
		tare_doctor_add(d, TARE_DOCTOR_FAIL, recorder_check,
		                "%s does not load: %s; it is for the machine and C library that tare "
		                "itself is for, so install tare again",
		                preload.library, said[0] ? said : "the program with it in LD_PRELOAD ended at once");
	tare_preload_free(&preload);
}

void tare_doctor_environment(struct tare_doctor *d)
{
	const char *devices = getenv("CUDA_VISIBLE_DEVICES"), *preload = getenv("LD_PRELOAD");
	const char *injection = getenv("CUDA_INJECTION64_PATH");

	if (devices && (!devices[0] || !strcmp(devices, "-1")))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "visible GPUs",
		                "CUDA_VISIBLE_DEVICES=\"%s\" hides every GPU from programs; unset it", devices);
	else if (devices)
		tare_doctor_add(d, TARE_DOCTOR_OK, "visible GPUs",
		                "CUDA_VISIBLE_DEVICES=%s; the ledger numbers GPUs as nvidia-smi does", devices);
	if (preload && preload[0])
		tare_doctor_add(d, TARE_DOCTOR_OK, "LD_PRELOAD", "is set to %s already; it is kept, behind the recorder",
		                preload);
	if (getenv("ASAN_OPTIONS") || (preload && strstr(preload, "libasan.so")))
		tare_doctor_add(d, tare_target_may_be_second() ? TARE_DOCTOR_OK : TARE_DOCTOR_WARN, "AddressSanitizer", "%s",
		                tare_target_may_be_second() ? "lets other libraries be loaded first" : TARE_TARGET_ASAN);
	if (injection && injection[0])
		tare_doctor_add(d, TARE_DOCTOR_WARN, "CUDA injection",
		                "CUDA_INJECTION64_PATH=%s: another tool hooks the driver and its own "
		                "memory will show as the program's; unset it",
		                injection);
}

static void check_folder(struct tare_doctor *d, const char *what, const char *path, enum tare_doctor_status if_not)
{
	const char *remote = tare_folder_remote_kind(path);
	char free_text[TARE_UNITS_TEXT_MAX];
	struct statvfs fs;
	uint64_t free_bytes;

	if (access(path, W_OK | X_OK) || statvfs(path, &fs)) {
		tare_doctor_add(d, if_not, what, "%s cannot be written to (%s); %s", path, strerror(errno),
		                if_not == TARE_DOCTOR_FAIL ? "set TMPDIR to a folder that can" : "give a place with -o");
		return;
	}
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	tare_units_human(free_text, free_bytes);
	if (remote)
		tare_doctor_add(d, TARE_DOCTOR_OK, what,
		                "%s is on %s: recordings are made in a local folder and moved there at "
		                "the end",
		                path, remote);
	else if (free_bytes < UINT64_C(256) << 20)
		tare_doctor_add(d, TARE_DOCTOR_WARN, what,
		                "%s has %s free; a recording that fills the disk loses events (and says "
		                "so): make room, or limit it with --cap",
		                path, free_text);
	else
		tare_doctor_add(d, TARE_DOCTOR_OK, what, "%s, %s free", path, free_text);
}

void tare_doctor_folders(struct tare_doctor *d)
{
	const char *tmp = getenv("TMPDIR");
	char cwd[PATH_MAX];

	if (getcwd(cwd, sizeof(cwd)))
		check_folder(d, "recordings", cwd, TARE_DOCTOR_WARN);
	if (tmp && tmp[0] && access(tmp, W_OK | X_OK))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "spool", "TMPDIR=%s cannot be written to; unset it or make that folder",
		                tmp);
	else
		check_folder(d, "spool", tmp && tmp[0] ? tmp : "/tmp", TARE_DOCTOR_FAIL);
}

static int read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	char *got = f ? fgets(line, (int)size, f) : NULL;

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got ? 0 : -1;
}

static void check_namespaces(struct tare_doctor *d)
{
	uint64_t inode;

	if (tare_procfs_pid_namespace(0, &inode))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "pid namespace",
		                "cannot be read: is /proc mounted? NVML's process numbers cannot be "
		                "matched without it");
	else if (inode != FIRST_PID_NAMESPACE)
		tare_doctor_add(d, TARE_DOCTOR_OK, "pid namespace",
		                "a nested one: NVML names processes by the host's numbers, so others are "
		                "shown by number only; docker run --pid=host shows their names");
}

static void check_ptrace(struct tare_doctor *d)
{
	char scope[16];

	if (read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)))
		return;
	tare_doctor_add(d, TARE_DOCTOR_OK, "ptrace", "kernel.yama.ptrace_scope is %s; recording needs no ptrace%s", scope,
	                scope[0] > '1' ? ", and memory maps of running programs cannot be read" : "");
}

static const char *container(void)
{
	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER"))
		return "Apptainer";
	return getenv("KUBERNETES_SERVICE_HOST") ? "Kubernetes" : NULL;
}

void tare_doctor_machine(struct tare_doctor *d)
{
	char model[128] = "";
	struct utsname name;

	if (container())
		tare_doctor_add(d, TARE_DOCTOR_OK, "container", "%s: programs inside are recorded from inside", container());
	check_namespaces(d);
	check_ptrace(d);
	if (uname(&name))
		return;
	if (!read_line("/proc/device-tree/model", model, sizeof(model)) && strstr(model, "Jetson"))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "machine",
		                "%s: the GPU shares the host's memory; nvmap is read by root only", model);
	else if (strcasestr(name.release, "microsoft"))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "machine", "WSL: NVML does not tell the memory of single processes");
	else
		tare_doctor_add(d, TARE_DOCTOR_OK, "machine", "Linux %s, %s", name.release, name.machine);
}
