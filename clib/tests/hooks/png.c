// The real libpng writes and reads an image through granary_png_malloc and granary_png_free.
// library: none
// only: granary
// link: {granary} -lpng -lz
#include "test.h"
#include "granary.h"
#include <png.h>

enum { WIDTH = 257, HEIGHT = 131 };

static size_t allocs, frees;
static void *count_malloc(png_structp png, size_t bytes)
{
    allocs++;
    return granary_png_malloc(png, bytes);
}
static void count_free(png_structp png, void *block)
{
    frees += block != NULL;
    granary_png_free(png, block);
}

static png_byte pixel(size_t x, size_t y)
{
    return (png_byte)(x * 3 + y * 7 + x * y / 5);
}

static void write_image(FILE *file)
{
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL, NULL,
                                                (png_malloc_ptr)count_malloc, count_free);
    CHECKED(png != NULL);
    png_infop info = png_create_info_struct(png);
    CHECKED(info != NULL && setjmp(png_jmpbuf(png)) == 0);
    png_init_io(png, file);
    png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < HEIGHT; y++) {
        png_byte row[WIDTH];
        for (size_t x = 0; x < WIDTH; x++)
            row[x] = pixel(x, y);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static void read_image(FILE *file)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    CHECKED(png != NULL);
    png_set_mem_fn(png, NULL, (png_malloc_ptr)count_malloc, count_free);
    png_destroy_read_struct(&png, NULL, NULL);
    allocs = frees = 0;
    png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL, NULL,
                                   (png_malloc_ptr)count_malloc, count_free);
    CHECKED(png != NULL);
    png_infop info = png_create_info_struct(png);
    CHECKED(info != NULL && setjmp(png_jmpbuf(png)) == 0);
    png_init_io(png, file);
    png_read_png(png, info, 0, NULL);
    CHECKED(png_get_image_width(png, info) == WIDTH && png_get_image_height(png, info) == HEIGHT);
    png_bytepp rows = png_get_rows(png, info);
    CHECK(granary_owns(rows[0]), "libpng's rows are not Granary's");
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++)
            CHECKED(rows[y][x] == pixel(x, y));
    png_destroy_read_struct(&png, &info, NULL);
    CHECK(allocs > 5 && allocs == frees, "%zu allocations, %zu frees", allocs, frees);
}

int main(void)
{
    FILE *file = tmpfile();
    CHECKED(file != NULL);
    write_image(file);
    CHECK(allocs > 5 && allocs == frees, "writing: %zu allocations, %zu frees", allocs, frees);
    rewind(file);
    read_image(file);
    return fclose(file);
}
