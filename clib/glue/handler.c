/* operator new(nothrow) calls what is the program's: its new-handler, or its operator new. Both may throw: then the
 * result is a null pointer and the exception must end here. C has no catch, so the frame below brings a personality
 * routine of its own, which tells the unwinder that this frame handles whatever passes, and lands behind the call. */
#include "core.h"

#include <unwind.h>

/* What call returns, or NULL if it threw. */
void *granary_call_nothrow(void *(*call)(uintptr_t, uintptr_t), uintptr_t first, uintptr_t second);

#if defined(__x86_64__)
/* The unwinder and the C++ library are the program's; without them nothing can throw. */
extern void _Unwind_SetIP(struct _Unwind_Context *, _Unwind_Ptr) __attribute__((weak));
extern void _Unwind_SetGR(struct _Unwind_Context *, int, _Unwind_Word) __attribute__((weak));
extern void *cxa_begin_catch(void *) __asm__("__cxa_begin_catch") __attribute__((weak));
extern void cxa_end_catch(void) __asm__("__cxa_end_catch") __attribute__((weak));

extern const char granary_handler_landing[] __attribute__((visibility("hidden")));

/* Called by the frame after it caught. */
__attribute__((visibility("hidden"), used)) void granary_handler_caught(void *exception)
{
    cxa_begin_catch(exception);
    cxa_end_catch();
}

__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code
granary_handler_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                            struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    (void)version;
    (void)class;
    if (cxa_begin_catch == NULL || (actions & _UA_FORCE_UNWIND) != 0)
        return _URC_CONTINUE_UNWIND; /* a thread's cancellation is not to be stopped */
    if ((actions & _UA_SEARCH_PHASE) != 0)
        return _URC_HANDLER_FOUND;
    _Unwind_SetGR(context, 0, (_Unwind_Word)exception);
    _Unwind_SetIP(context, (_Unwind_Ptr)granary_handler_landing);
    return _URC_INSTALL_CONTEXT;
}

__asm__(".pushsection .text\n"
        ".globl granary_call_nothrow\n"
        ".hidden granary_call_nothrow\n"
        ".type granary_call_nothrow, @function\n"
        "granary_call_nothrow:\n"
        "  .cfi_startproc\n"
        "  .cfi_personality 0x9b, DW.ref.granary_handler_personality\n"
        "  sub $8, %rsp\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  call *%rax\n"
        "  jmp 1f\n"
        ".globl granary_handler_landing\n"
        ".hidden granary_handler_landing\n"
        "granary_handler_landing:\n"
        "  mov %rax, %rdi\n"
        "  call granary_handler_caught\n"
        "  xor %eax, %eax\n"
        "1:\n"
        "  add $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size granary_call_nothrow, .-granary_call_nothrow\n"
        ".popsection\n"
        ".pushsection .data.rel.local.DW.ref.granary_handler_personality, \"awG\", @progbits, "
        "DW.ref.granary_handler_personality, comdat\n"
        ".weak DW.ref.granary_handler_personality\n"
        ".hidden DW.ref.granary_handler_personality\n"
        ".align 8\n"
        ".type DW.ref.granary_handler_personality, @object\n"
        ".size DW.ref.granary_handler_personality, 8\n"
        "DW.ref.granary_handler_personality:\n"
        "  .quad granary_handler_personality\n"
        ".popsection\n");
#else
/* On other machines an exception goes on to the caller. */
void *granary_call_nothrow(void *(*call)(uintptr_t, uintptr_t), uintptr_t first, uintptr_t second)
{
    return call(first, second);
}
#endif
