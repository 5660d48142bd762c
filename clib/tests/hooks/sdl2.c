// The real SDL2 takes the granary_ functions through SDL_SetMemoryFunctions, before and after its
// start.
// library: none
// only: granary
// cflags: -isystem /usr/include/SDL2
// link: {granary} -lSDL2
// env: SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
#include "test.h"
#define SDL_MAIN_HANDLED
#include "granary.h"
#include <SDL.h>

int main(void)
{
    SDL_SetMainReady();
    CHECKED(SDL_SetMemoryFunctions(granary_malloc, granary_calloc, granary_realloc,
            granary_free) == 0);
    CHECK(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_EVENTS | SDL_INIT_TIMER) == 0, "SDL_Init: %s",
          SDL_GetError());
    void *block = SDL_malloc(1000);
    CHECK(granary_owns(block), "SDL_malloc does not use the functions given");
    block = SDL_realloc(block, 20000);
    CHECKED(granary_owns(block) && SDL_GetNumAllocations() > 1);
    SDL_free(block);
    SDL_Surface *surface = SDL_CreateRGBSurfaceWithFormat(0, 64, 64, 32, SDL_PIXELFORMAT_RGBA32);
    CHECKED(surface != NULL && SDL_FillRect(surface, NULL, 0x12345678) == 0);
    // SDL aligns its pixels inside of a block, so it is the pixels' end that must be Granary's.
    CHECKED(granary_owns((char *)surface->pixels + 100));
    SDL_Surface *half = SDL_CreateRGBSurfaceWithFormat(0, 32, 32, 32, SDL_PIXELFORMAT_RGBA32);
    CHECKED(SDL_SetSurfaceBlendMode(surface, SDL_BLENDMODE_NONE) == 0);
    CHECKED(SDL_BlitScaled(surface, NULL, half, NULL) == 0);
    CHECKED(((Uint32 *)half->pixels)[40] == 0x12345678);
    SDL_FreeSurface(half);
    SDL_FreeSurface(surface);
    char *path = SDL_iconv_string("UTF-16LE", "UTF-8", "granary", 8);
    CHECKED(path != NULL);
    SDL_free(path);
    SDL_Window *window = SDL_CreateWindow("test", 0, 0, 100, 100, SDL_WINDOW_HIDDEN);
    CHECK(window != NULL, "SDL_CreateWindow: %s", SDL_GetError());
    SDL_Event event;
    for (int i = 0; i < 100; i++)
        while (SDL_PollEvent(&event))
            ;
    SDL_DestroyWindow(window);
    SDL_Quit();
    return 0;
}
