#include "calc.h"

/* Errors of several kinds, for the compiler's messages. */
struct token make(int line)
{
	struct token token = {TOKEN_NUMBER, line, 0, unknown_name};
	token.missing = 1;
	return token
}

int tokens_free(struct tokens *tokens) { return tokenz->count; }
