/* A preloaded object that does nothing. */
int test_other_loaded = 1;
