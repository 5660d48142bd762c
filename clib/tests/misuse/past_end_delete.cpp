// One element past the end of an array of new[].
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: (free|delete|operator delete(\[\])?)\({ptr}\): block was written past its end \(class 48, asked for 40 bytes
// signal: SIGABRT
int main()
{
    int *volatile numbers = new int[10];
    const_cast<volatile int *>(numbers)[10] = 5;
    delete[] numbers;
    return 0;
}
