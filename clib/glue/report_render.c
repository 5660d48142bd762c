/* report_render.c: puts a usage report on a page, as text or as one line of JSON.
 *
 * Both formats are described in docs/usage-report.md: change them together. Every sum is capped
 * and no count can break a column, so that a report of wrong figures is still one that can be
 * read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report_page.h"

enum { LINE_COLUMNS = 100 };

/* ---- sums over classes ---- */

/* The sums of some classes. */
struct sums {
    uint64_t blocks, blocks_bytes, mallocs, asked_bytes, rounded_bytes;
    uint64_t cached_bytes, held_bytes, batches_in, batches_out, spans;
};

static int class_used(const granary_class_stats *class) {
    return class->mallocs != 0 || class->spans_taken != 0 || class->spans != 0
        || class->blocks != 0;
}

static int class_small(const granary_class_stats *class) {
    return class->block_bytes > 2048;
}

static uint32_t class_count(const granary_stats *stats) {
    return stats->class_count < GRANARY_CLASS_COUNT ? stats->class_count : GRANARY_CLASS_COUNT;
}

static void add_class(struct sums *sums, const granary_class_stats *class) {
    uint64_t block = class->block_bytes;
    sums->blocks = add_capped(sums->blocks, class->blocks);
    sums->blocks_bytes = add_capped(sums->blocks_bytes, multiply_capped(class->blocks, block));
    sums->mallocs = add_capped(sums->mallocs, class->mallocs);
    sums->asked_bytes = add_capped(sums->asked_bytes, class->asked_bytes);
    sums->rounded_bytes = add_capped(sums->rounded_bytes, multiply_capped(class->mallocs, block));
    sums->cached_bytes = add_capped(sums->cached_bytes,
                                    multiply_capped(class->blocks_cached, block));
    sums->held_bytes = add_capped(sums->held_bytes,
                                  multiply_capped(class->spans, class->span_bytes));
    sums->batches_in = add_capped(sums->batches_in, class->batches_in);
    sums->batches_out = add_capped(sums->batches_out, class->batches_out);
    sums->spans = add_capped(sums->spans, class->spans);
}

/* ---- text ---- */

/* What a row of the table has to show: the others are a dash. */
enum { SHOW_PEAK = 1, SHOW_CLASSES = 2 };

static void put_row(struct page *page, const char *tier, const char *class,
                    const struct sums *row, uint64_t peak, int show) {
    put(page, tier);
    put_right(page, class, 13 - strlen(tier));
    put_count(page, row->blocks, 12);
    if (show & SHOW_PEAK) put_count(page, peak, 12);
    else put_right(page, "-", 12);
    put_count(page, row->mallocs, 14);
    put_human(page, row->asked_bytes, 11);
    if (show & SHOW_CLASSES) {
        put_waste(page, row->rounded_bytes, row->asked_bytes, 8);
        put_human(page, row->cached_bytes, 11);
    } else {
        put_right(page, "-", 8);
        put_right(page, "-", 11);
    }
    put_human(page, row->held_bytes, 11);
    if (show & SHOW_CLASSES) put_count(page, row->spans, 8);
    else put_right(page, "-", 8);
    put(page, "\n");
}

/* Puts the rows of one tier and their sum, and adds them to all. */
static void put_tier(struct page *page, const granary_stats *stats, int small, struct sums *all) {
    const char *tier = small ? "small" : "tiny";
    struct sums sums = {0};
    int rows = 0;
    for (uint32_t i = 0; i < class_count(stats); i++) {
        const granary_class_stats *class = &stats->classes[i];
        struct sums row = {0};
        char cell[CELL_BYTES];
        if (class_small(class) != small || !class_used(class)) continue;
        add_class(&row, class);
        put_row(page, tier, decimal(cell, class->block_bytes, 0), &row, class->blocks_peak,
                SHOW_PEAK | SHOW_CLASSES);
        add_class(&sums, class);
        add_class(all, class);
        rows++;
    }
    if (rows > 0) put_row(page, tier, "all", &sums, 0, SHOW_CLASSES);
}

/* Puts the row of the normal tier, which has no classes, and adds it to all. */
static void put_normal(struct page *page, const granary_stats *stats, struct sums *all) {
    struct sums row = {.mallocs = stats->normal_mallocs, .asked_bytes = stats->normal_bytes,
                       .held_bytes = stats->normal_live_bytes};
    if (stats->normal_mallocs > stats->normal_frees) {
        row.blocks = stats->normal_mallocs - stats->normal_frees;
    }
    if (row.mallocs > 0) put_row(page, "normal", "-", &row, 0, 0);
    all->blocks = add_capped(all->blocks, row.blocks);
    all->mallocs = add_capped(all->mallocs, row.mallocs);
    all->asked_bytes = add_capped(all->asked_bytes, row.asked_bytes);
    all->rounded_bytes = add_capped(all->rounded_bytes, row.asked_bytes);
    all->held_bytes = add_capped(all->held_bytes, row.held_bytes);
}

static void put_labelled(struct page *page, const char *label, uint64_t value) {
    char cell[CELL_BYTES];
    put(page, label);
    put(page, compact(cell, value, 16));
}

static void put_labelled_bytes(struct page *page, const char *label, uint64_t bytes) {
    put(page, label);
    put_human(page, bytes, 0);
}

static void put_labelled_seconds(struct page *page, const char *label, uint64_t microseconds) {
    put(page, label);
    put_seconds(page, microseconds, 3);
    put(page, " s");
}

/* Puts the arguments with a space between them, cut where the line would become too long. */
static void put_command(struct page *page, const struct process *process) {
    size_t room = LINE_COLUMNS - 14; /* less "command   " and " ..." */
    put(page, "command  ");
    for (size_t at = 0; at < process->command_bytes;) {
        const char *argument = process->command + at;
        size_t length = strnlen(argument, process->command_bytes - at);
        if (length + 1 > room) {
            put(page, " ");
            if (room > 1) put_visible(page, argument, length, room - 1);
            put(page, "...");
            break;
        }
        put(page, " ");
        put_visible(page, argument, length, length);
        room -= length + 1;
        at += length + 1;
    }
    put(page, "\n");
}

static void put_process(struct page *page, const struct process *process) {
    put(page, "granary: usage report of ");
    put_visible(page, process->name, strlen(process->name), 40);
    put(page, ", pid ");
    put_number(page, (uint64_t)getpid());
    put(page, ", version ");
    put(page, granary_version());
    put(page, "\n");
    if (process->command_bytes > 0) put_command(page, process);
    put_labelled_bytes(page, "process   peak RSS ", process->peak_rss_bytes);
    put_labelled_seconds(page, ", ran ", process->elapsed_us);
    put_labelled_seconds(page, ", user ", process->user_us);
    put_labelled_seconds(page, ", system ", process->system_us);
}

/* Puts what is known of the heap as a whole, a line a subject. */
static void put_heap(struct page *page, const granary_stats *stats, const struct sums *all) {
    put_labelled_bytes(page, "\nspans     held ", stats->span_bytes);
    put_labelled_bytes(page, ", reserved at most ", stats->used_peak_bytes);
    put_labelled_bytes(page, " of a range of ", stats->range_bytes);
    put_labelled_bytes(page, "\nmemory    resident ", stats->resident_bytes);
    put_labelled_bytes(page, " (peak ", stats->resident_peak_bytes);
    put_labelled_bytes(page, "), own tables ", stats->metadata_bytes);
    put_labelled(page, "\nreleased  spans ", stats->spans_released);
    put_labelled_bytes(page, " (", stats->released_bytes);
    put_labelled(page, "), sweeps ", stats->sweeps);
    put_labelled(page, "\nthreads   caches ", stats->thread_caches);
    put_labelled(page, " (peak ", stats->thread_caches_peak);
    put_labelled(page, "), batches given ", all->batches_in);
    put_labelled(page, ", taken ", all->batches_out);
    put_labelled(page, "\nsystem    normal frees ", stats->normal_frees);
    put_labelled(page, ", overflow mallocs ", stats->overflow_mallocs);
    if (stats->limit_bytes == 0) {
        put(page, ", no limit\n");
        return;
    }
    put_labelled_bytes(page, ", limit ", stats->limit_bytes);
    put_labelled(page, ", refused ", stats->limit_failures);
    put(page, "\n");
}

static void put_text_report(struct page *page, const granary_stats *stats,
                            const struct process *process) {
    struct sums all = {0};
    put_process(page, process);
    for (uint32_t i = 0; i < class_count(stats); i++) add_class(&all, &stats->classes[i]);
    put_heap(page, stats, &all);
    put(page, "tier    class      blocks        peak       mallocs      asked   waste"
              "     cached       held   spans\n");
    memset(&all, 0, sizeof all);
    put_tier(page, stats, 0, &all);
    put_tier(page, stats, 1, &all);
    put_normal(page, stats, &all);
    put_row(page, "sum", "", &all, 0, SHOW_CLASSES);
}

/* ---- JSON ---- */

/* A number of a struct and its key, which is the name of the field. */
struct field {
    const char *key;
    size_t offset;
};

#define CLASS_FIELD(name) {#name, offsetof(granary_class_stats, name)}
#define STATS_FIELD(name) {#name, offsetof(granary_stats, name)}
#define SUMS_FIELD(name) {#name, offsetof(struct sums, name)}

static const struct field class_fields[] = {
    CLASS_FIELD(mallocs), CLASS_FIELD(asked_bytes), CLASS_FIELD(blocks), CLASS_FIELD(blocks_peak),
    CLASS_FIELD(blocks_cached), CLASS_FIELD(batches_in), CLASS_FIELD(batches_out),
    CLASS_FIELD(spans), CLASS_FIELD(spans_peak), CLASS_FIELD(spans_taken), {NULL, 0},
};

static const struct field sums_fields[] = {
    SUMS_FIELD(blocks), SUMS_FIELD(blocks_bytes), SUMS_FIELD(mallocs), SUMS_FIELD(asked_bytes),
    SUMS_FIELD(rounded_bytes), SUMS_FIELD(cached_bytes), SUMS_FIELD(held_bytes),
    SUMS_FIELD(batches_in), SUMS_FIELD(batches_out), SUMS_FIELD(spans), {NULL, 0},
};

static const struct field stats_fields[] = {
    STATS_FIELD(range_bytes), STATS_FIELD(used_peak_bytes), STATS_FIELD(span_bytes),
    STATS_FIELD(resident_bytes), STATS_FIELD(resident_peak_bytes), STATS_FIELD(metadata_bytes),
    STATS_FIELD(spans_released), STATS_FIELD(released_bytes), STATS_FIELD(sweeps),
    STATS_FIELD(thread_caches), STATS_FIELD(thread_caches_peak), STATS_FIELD(normal_mallocs),
    STATS_FIELD(normal_frees), STATS_FIELD(normal_bytes), STATS_FIELD(normal_live_bytes),
    STATS_FIELD(overflow_mallocs), STATS_FIELD(limit_failures), STATS_FIELD(limit_bytes), {NULL, 0},
};

/* Puts a comma (or a brace) and a key. */
static void put_key(struct page *page, const char *before, const char *key) {
    put(page, before);
    put(page, "\"");
    put(page, key);
    put(page, "\":");
}

static void put_key_number(struct page *page, const char *before, const char *key, uint64_t value) {
    put_key(page, before, key);
    put_number(page, value);
}

static void put_fields(struct page *page, const char *before, const struct field *fields,
                       const void *from) {
    for (; fields->key != NULL; fields++) {
        uint64_t value;
        memcpy(&value, (const char *)from + fields->offset, sizeof value);
        put_key_number(page, before, fields->key, value);
        before = ",";
    }
}

static void put_json_process(struct page *page, const struct process *process) {
    put_key_number(page, "{", "granary_report", 1);
    put_key(page, ",", "version");
    put_json_string(page, granary_version(), strlen(granary_version()));
    put_key(page, ",", "name");
    put_json_string(page, process->name, strlen(process->name));
    put_key_number(page, ",", "pid", (uint64_t)getpid());
    put_key_number(page, ",", "parent_pid", (uint64_t)getppid());
    put_key(page, ",", "command");
    put(page, "[");
    for (size_t at = 0; at < process->command_bytes;) {
        size_t length = strnlen(process->command + at, process->command_bytes - at);
        if (at > 0) put(page, ",");
        put_json_string(page, process->command + at, length);
        at += length + 1;
    }
    put(page, "]");
    put_key(page, ",", "elapsed_seconds");
    put_seconds(page, process->elapsed_us, 6);
    put_key(page, ",", "user_seconds");
    put_seconds(page, process->user_us, 6);
    put_key(page, ",", "system_seconds");
    put_seconds(page, process->system_us, 6);
    put_key_number(page, ",", "peak_rss_bytes", process->peak_rss_bytes);
}

static void put_json_class(struct page *page, const granary_class_stats *class) {
    struct sums sums = {0};
    add_class(&sums, class);
    put_key(page, "{", "tier");
    put(page, class_small(class) ? "\"small\"" : "\"tiny\"");
    put_key_number(page, ",", "block_bytes", class->block_bytes);
    put_fields(page, ",", class_fields, class);
    put_key_number(page, ",", "held_bytes", sums.held_bytes);
    put(page, "}");
}

static void put_json_report(struct page *page, const granary_stats *stats,
                            const struct process *process) {
    struct sums all = {0};
    const char *before = "";
    put_json_process(page, process);
    put_key(page, ",", "classes");
    put(page, "[");
    for (uint32_t i = 0; i < class_count(stats); i++) {
        if (!class_used(&stats->classes[i])) continue;
        put(page, before);
        put_json_class(page, &stats->classes[i]);
        add_class(&all, &stats->classes[i]);
        before = ",";
    }
    put(page, "]");
    put_key(page, ",", "sum");
    put_fields(page, "{", sums_fields, &all);
    put(page, "}");
    put_fields(page, ",", stats_fields, stats);
    put(page, "}\n");
}

/* ---- the report ---- */

void granary_report_render(struct page *page, int json, const granary_stats *stats,
                           const struct process *process) {
    if (json) put_json_report(page, stats, process);
    else put_text_report(page, stats, process);
}
