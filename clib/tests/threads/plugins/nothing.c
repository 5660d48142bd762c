int test_nothing = 1;
