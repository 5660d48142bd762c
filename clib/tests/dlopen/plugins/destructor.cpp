// A plug-in with a thread-local object whose destructor frees and allocates.
#include <string>

namespace {
struct Holder {
    std::string text = std::string(1000, 'x');
    ~Holder()
    {
        std::string other(text + text);
        text.clear();
    }
};
thread_local Holder holder;
} // namespace

extern "C" void touch()
{
    holder.text += "touched";
}
