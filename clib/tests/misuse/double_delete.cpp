// A C++ object deleted twice.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: (free|operator delete|delete)\({ptr}\): block was already freed \(class 64
// signal: SIGABRT
struct Thing { long values[7]; };

int main()
{
    Thing *volatile thing = new Thing(); // volatile: or the compiler leaves all of it out
    delete thing;
    delete thing;
    return 0;
}
