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

// func PrefetchEach(list Addr, count uintptr, base Addr)
TEXT ·PrefetchEach(SB), NOSPLIT, $0-24
	MOVQ list+0(FP), SI
	MOVQ count+8(FP), BX
	MOVQ base+16(FP), DI
each:
	MOVQ (SI), AX
	PREFETCHT0 (DI)(AX*1)
	ADDQ $8, SI
	DECQ BX
	JNZ each
	RET

// func PrefetchRecords(list Addr, count uintptr, table Addr, shift, bytes uintptr)
TEXT ·PrefetchRecords(SB), NOSPLIT, $0-40
	MOVQ list+0(FP), SI
	MOVQ count+8(FP), BX
	MOVQ table+16(FP), DI
	MOVQ shift+24(FP), CX
	MOVQ bytes+32(FP), DX
	NEGQ DX
each:
	MOVQ (SI), AX
	SHRQ CX, AX
	ANDQ DX, AX
	PREFETCHT0 (DI)(AX*1)
	LEAQ 64(DI)(AX*1), AX
	BYTE $0x0f; BYTE $0x0d; BYTE $0x08 // PREFETCHW (AX)
	ADDQ $8, SI
	DECQ BX
	JNZ each
	RET

// func PrefetchGranules(ring Addr, from, to uintptr, base Addr)
TEXT ·PrefetchGranules(SB), NOSPLIT, $0-32
	MOVQ ring+0(FP), SI
	MOVQ from+8(FP), BX
	MOVQ to+16(FP), CX
	MOVQ base+24(FP), DI
each:
	MOVBLZX BX, AX
	MOVBLZX (SI)(AX*1), AX
	SHLQ $4, AX
	PREFETCHT0 (DI)(AX*1)
	INCQ BX
	CMPQ BX, CX
	JNE each
	RET
