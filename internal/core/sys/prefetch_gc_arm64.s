//go:build gc

#include "textflag.h"

// func Prefetch(addr Addr)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVD addr+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET

// func PrefetchBytes(addr Addr)
TEXT ·PrefetchBytes(SB), NOSPLIT, $0-8
	MOVD addr+0(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	PRFM 192(R0), PLDL1KEEP
	RET

// func PrefetchWrite(addr Addr)
TEXT ·PrefetchWrite(SB), NOSPLIT, $0-8
	MOVD addr+0(FP), R0
	PRFM (R0), PSTL1KEEP
	RET

// func PrefetchEach(list Addr, count uintptr, base Addr)
TEXT ·PrefetchEach(SB), NOSPLIT, $0-24
	MOVD list+0(FP), R0
	MOVD count+8(FP), R1
	MOVD base+16(FP), R2
each:
	MOVD.P 8(R0), R3
	ADD R2, R3, R3
	PRFM (R3), PLDL1KEEP
	SUBS $1, R1, R1
	BNE each
	RET

// func PrefetchRecords(list Addr, count uintptr, table Addr, shift, bytes uintptr)
TEXT ·PrefetchRecords(SB), NOSPLIT, $0-40
	MOVD list+0(FP), R0
	MOVD count+8(FP), R1
	MOVD table+16(FP), R2
	MOVD shift+24(FP), R4
	MOVD bytes+32(FP), R5
	NEG R5, R5
each:
	MOVD.P 8(R0), R3
	LSR R4, R3, R3
	AND R5, R3, R3
	ADD R2, R3, R3
	PRFM (R3), PLDL1KEEP
	PRFM 64(R3), PSTL1KEEP
	SUBS $1, R1, R1
	BNE each
	RET

// func PrefetchGranules(ring Addr, from, to uintptr, base Addr)
TEXT ·PrefetchGranules(SB), NOSPLIT, $0-32
	MOVD ring+0(FP), R0
	MOVD from+8(FP), R1
	MOVD to+16(FP), R2
	MOVD base+24(FP), R3
each:
	AND $255, R1, R4
	MOVBU (R0)(R4), R4
	ADD R4<<4, R3, R4
	PRFM (R4), PLDL1KEEP
	ADD $1, R1, R1
	CMP R1, R2
	BNE each
	RET
