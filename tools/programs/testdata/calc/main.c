#include "calc.h"

#include <stdio.h>
#include <stdlib.h>

void fail(int line, const char *what)
{
	if (line)
		fprintf(stderr, "line %d: %s\n", line, what);
	else
		fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Makes room for one more item behind the count that are there. */
void *grow(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 8;
	items = realloc(items, *room * size);
	if (!items)
		fail(0, "out of memory");
	return items;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		fail(0, "the program cannot be opened");
	char *text = NULL;
	size_t count = 0, room = 0;
	for (int c; (c = getc(file)) != EOF;) {
		text = grow(text, count, &room, 1);
		text[count++] = (char)c;
	}
	text = grow(text, count, &room, 1);
	text[count] = 0;
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail(0, "usage: calc PROGRAM");
	char *source = read_file(argv[1]);
	struct tokens tokens = lex(source);
	struct code code = compile(&tokens);
	tokens_free(&tokens);
	free(source);
	run(&code);
	code_free(&code);
	return 0;
}
