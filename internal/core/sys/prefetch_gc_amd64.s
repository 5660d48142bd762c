//go:build gc

#include "textflag.h"

// func Prefetch(addr Addr)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ addr+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func PrefetchBytes(addr Addr)
TEXT ·PrefetchBytes(SB), NOSPLIT, $0-8
	MOVQ addr+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	RET

// func PrefetchWrite(addr Addr)
TEXT ·PrefetchWrite(SB), NOSPLIT, $0-8
	MOVQ addr+0(FP), AX
	BYTE $0x0f; BYTE $0x0d; BYTE $0x08 // PREFETCHW (AX), which the assembler has no name for
	RET
