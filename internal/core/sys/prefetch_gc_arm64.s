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
