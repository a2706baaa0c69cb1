// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of the guest. The root file system is the host's, read-only. Only the
 * run directory is writable, and its files are all that remains of a run:
 *
 *   env       in:  variables of this run, one line of NAME=VALUE each
 *   command   in:  the command, a shell script
 *   insmod    in:  modules to load, one path a line, in order; a tab and parameters may follow
 *   status    out: exit status of the command, or "setup STEP"
 *   dmesg     out: the kernel's log
 *   leaks     out: the report of kmemleak (debug kernel)
 *
 * This is one static program, since starting a program takes long in User-Mode Linux,
 * and a shell script would start forty of them before the run's own command.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define RUN "/run/hoplab/run"
#define LEAKS "/sys/kernel/debug/kmemleak"
#define SYSLOG_ACTION_READ_ALL 3
#define TUN_MAJOR 10
#define TUN_MINOR 200
#define LINE_MAX_BYTES 4096

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

/* Save the kernel's log, without the "<6>" in front of each line. */
static void save_log(void)
{
	static char log[1 << 22];
	int len = klogctl(SYSLOG_ACTION_READ_ALL, log, sizeof(log) - 1);
	FILE *out = fopen(RUN "/dmesg", "w");
	char *line, *rest = log;

	if (!out)
		return;
	log[len < 0 ? 0 : len] = 0;
	while ((line = strsep(&rest, "\n"))) {
		if (*line == '<' && strchr(line, '>'))
			line = strchr(line, '>') + 1;
		if (*line)
			fprintf(out, "%s\n", line);
	}
	fclose(out);
}

/* Power off at once: there is no disk to sync. */
static void off(void)
{
	save_log();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void fail(const char *step, const char *what)
{
	char text[LINE_MAX_BYTES + 64];

	fprintf(stderr, "init: %s %s: %s\n", step, what, strerror(errno));
	snprintf(text, sizeof(text), "setup %s %s\n", step, what);
	write_file(RUN "/status", text);
	off();
}

static int is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void make_dirs(const char *path)
{
	char part[LINE_MAX_BYTES];
	char *end = part;

	snprintf(part, sizeof(part), "%s", path);
	while ((end = strchr(end + 1, '/'))) {
		*end = 0;
		mkdir(part, 0755);
		*end = '/';
	}
	mkdir(part, 0755);
}

static void mount_new(const char *type, const char *where)
{
	if (mount("none", where, type, 0, ""))
		fail("mount", where);
}

/*
 * Cover the folders that programs write to, since no write may reach the host. This is not done by
 * tmpfs, which draws a random number for each folder: later random numbers would then depend on
 * the path of the checkout.
 */
static void cover(void)
{
	static const char *const dirs[] = {
		"/tmp", "/var/tmp", "/var/log", "/var/lib", "/mnt", NULL
	};
	const char *const *dir;

	for (dir = dirs; *dir; dir++)
		if (is_dir(*dir))
			mount_new("ramfs", *dir);
}

/*
 * Make a folder of the host visible that is below a covered one. The mount data of hostfs is the
 * path on the host.
 */
static void show(const char *variable)
{
	const char *dir = getenv(variable);

	if (!dir || !*dir || is_dir(dir))
		return;
	make_dirs(dir);
	if (mount("none", dir, "hostfs", MS_RDONLY, dir))
		fail("show", dir);
}

static void mount_devices(void)
{
	struct stat st;

	if (stat("/dev/null", &st) || !S_ISCHR(st.st_mode))
		mount_new("devtmpfs", "/dev");
	make_dirs("/dev/pts");
	make_dirs("/dev/shm");
	mount_new("devpts", "/dev/pts");
	mount_new("tmpfs", "/dev/shm");
}

/*
 * Make the device node, as kmod does at boot on a host; opening it loads the module. A scenario
 * does not need it, and must not have it: each new node draws a random number, which changes all
 * later ones.
 */
static void make_tun(void)
{
	if (!getenv("HOPLAB_TUN"))
		return;
	make_dirs("/dev/net");
	if (mknod("/dev/net/tun", S_IFCHR | 0666, makedev(TUN_MAJOR, TUN_MINOR)))
		fail("mknod", "/dev/net/tun");
}

/* The run directory is the current directory of the host's process. */
static void mount_run(void)
{
	mount("none", "/proc", "proc", 0, "");
	mount("none", "/run", "tmpfs", 0, "");
	make_dirs(RUN);
	make_dirs("/run/netns");
	make_dirs("/run/lock");
	write_file("/run/hoplab/guest", "");
	if (mount("none", RUN, "hostfs", 0, "/proc/self/cwd"))
		_exit(1);
	setenv("HOPLAB_RUN", RUN, 1);
}

static FILE *open_input(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		fail("read", path);
	return file;
}

/* Read the next line and remove the newline. */
static char *next_line(FILE *file, char *line)
{
	if (!fgets(line, LINE_MAX_BYTES, file))
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void read_env(void)
{
	FILE *file = open_input(RUN "/env");
	char line[LINE_MAX_BYTES], *value;

	while (next_line(file, line)) {
		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = 0;
		setenv(line, value, 1);
	}
	fclose(file);
}

static void mount_all(void)
{
	mount_new("sysfs", "/sys");
	cover();
	show("HOPLAB_TOP");
	show("HOPLAB_CWD");
	show("HOPLAB_KO");
	show("HOPLAB_MODULES");
	mount_devices();
	make_tun();
	mount("none", "/sys/kernel/debug", "debugfs", 0, "");
	mount("none", "/sys/kernel/tracing", "tracefs", 0, "");
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		fail("up", "lo");
	close(fd);
}

static void load_modules(void)
{
	FILE *file = open_input(RUN "/insmod");
	char path[LINE_MAX_BYTES], *words;
	int fd;

	snprintf(path, sizeof(path), "%s\n", getenv("HOPLAB_MODULES"));
	write_file("/run/hoplab/modules", path);
	snprintf(path, sizeof(path), "%s/modprobe", getenv("HOPLAB_GUEST"));
	write_file("/proc/sys/kernel/modprobe", path);
	while (next_line(file, path)) {
		words = strchr(path, '\t');
		if (words)
			*words++ = 0;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, words ? words : "", 0))
			fail("insmod", path);
		close(fd);
	}
	fclose(file);
}

/*
 * Wait for a full second. Setup may take longer if the path of the checkout is longer, but the
 * command must start at the same time in every checkout.
 */
static void await_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec++;
	now.tv_nsec = 0;
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &now, NULL) == EINTR)
		;
}

/* End the run after a limit in virtual time, which a guest reaches at once if all tasks sleep. */
static void watch(const char *limit_s)
{
	double limit = limit_s ? atof(limit_s) : 0;
	struct timespec left = { (time_t)limit, (long)((limit - (time_t)limit) * 1e9) };
	char text[64];

	if (limit <= 0 || fork())
		return;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	snprintf(text, sizeof(text), "limit %s\n", limit_s);
	write_file(RUN "/status", text);
	off();
}

/* Pass output through unchanged, or set up a terminal for interactive use. */
static void set_terminal(int people)
{
	struct termios term;

	if (tcgetattr(0, &term))
		return;
	if (people) {
		term.c_iflag |= ICRNL | BRKINT;
		term.c_oflag |= OPOST | ONLCR;
		term.c_lflag |= ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN;
	} else {
		term.c_oflag &= ~OPOST;
		term.c_lflag &= ~ECHO;
	}
	tcsetattr(0, TCSANOW, &term);
}

static void exec_command(int people)
{
	if (people) {
		setsid();
		ioctl(0, TIOCSCTTY, 1);
	} else {
		dup2(open("/dev/null", O_RDONLY), 0);
	}
	execlp("sh", "sh", RUN "/command", NULL);
	_exit(127);
}

/* Run the command. Return: its exit status, as a shell reports it. */
static int run_command(void)
{
	const char *tty = getenv("HOPLAB_TTY");
	int people = tty && *tty, status = 0;
	pid_t child, ended;

	set_terminal(people);
	child = fork();
	if (!child)
		exec_command(people);
	do
		ended = wait(&status);
	while (ended != child && (ended > 0 || errno == EINTR));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* kmemleak reports an object that is 5 s old and to which two scans have found no pointer. */
static void save_leaks(void)
{
	char block[LINE_MAX_BYTES];
	ssize_t n;
	int in, out;

	if (access(LEAKS, F_OK))
		return;
	write_file(LEAKS, "scan");
	sleep(6);
	write_file(LEAKS, "scan");
	in = open(LEAKS, O_RDONLY);
	out = open(RUN "/leaks", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	while ((n = read(in, block, sizeof(block))) > 0)
		if (write(out, block, n) != n)
			break;
	close(in);
	close(out);
}

/* tty0 is stdout of the host's process; the kernel logs to tty1, its stderr. */
static void open_console(void)
{
	int fd = open("/dev/tty0", O_RDWR), i;

	for (i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

int main(void)
{
	char text[16];

	/* This program must do nothing if it is started on a host. */
	if (getpid() != 1)
		return 1;
	open_console();
	mount_run();
	read_env();
	mount_all();
	loopback_up();
	load_modules();
	await_second();
	watch(getenv("HOPLAB_LIMIT"));
	if (chdir(getenv("HOPLAB_CWD")))
		fail("cd", getenv("HOPLAB_CWD"));
	snprintf(text, sizeof(text), "%d\n", run_command());
	save_leaks();
	write_file(RUN "/status", text);
	off();
}
