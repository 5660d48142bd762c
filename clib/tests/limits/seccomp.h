/* seccomp.h: a filter built from a list of calls, without a library. */
#ifndef GRANARY_TESTS_SECCOMP_H
#define GRANARY_TESTS_SECCOMP_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Installs a filter: the calls listed get the first action, all others the second. */
static void install_filter(const int *calls, size_t count, unsigned listed, unsigned others)
{
    struct sock_filter code[160];
    size_t length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                  offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                      (unsigned)calls[i], 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
    struct sock_fprog program = {(unsigned short)length, code};
    CHECKED(length < sizeof code / sizeof *code);
    CHECKED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp: errno %d", errno);
}

#endif
