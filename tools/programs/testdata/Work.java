import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Threads, collections, and what Java keeps outside its own heap: direct buffers, zip streams, jars. */
public final class Work {
    private Work() {}

    static String word(int n) {
        var out = new StringBuilder();
        for (int i = 0; i <= Integer.remainderUnsigned(n, 9); i++) {
            out.append((char) ('a' + Integer.remainderUnsigned(n >>> (3 * i), 26)));
        }
        return out.toString();
    }

    static String digest(byte[] data) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data)).substring(0, 24);
    }

    static byte[] packed(byte[] data) throws Exception {
        var out = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(out)) {
            gzip.write(data);
        }
        return out.toByteArray();
    }

    /** One task: a map, text, compression there and back, direct buffers of many sizes. */
    static String task(int seed, int size) throws Exception {
        var map = new HashMap<String, List<Integer>>();
        for (int i = 0; i < size; i++) {
            map.computeIfAbsent(word(i * seed + seed), k -> new ArrayList<>()).add(i);
        }
        byte[] text = new TreeMap<>(map).toString().getBytes(StandardCharsets.UTF_8);
        byte[] zipped = packed(text);
        byte[] back = new GZIPInputStream(new ByteArrayInputStream(zipped)).readAllBytes();
        var sum = new CRC32();
        for (int i = 0; i < 300; i++) {
            var buffer = ByteBuffer.allocateDirect(1 + i * 7919 % 40000);
            while (buffer.remaining() >= 4) {
                buffer.putInt(i * seed);
            }
            sum.update(buffer.flip());
        }
        return seed + " " + java.util.Arrays.equals(text, back) + " " + digest(zipped) + " "
            + Long.toHexString(sum.getValue());
    }

    static int depth(int n) {
        return n + depth(n + 1) % 7;
    }

    static String refusals() {
        var out = new ArrayList<String>();
        try {
            out.add("" + depth(0));
        } catch (StackOverflowError e) {
            out.add("stack overflow");
        }
        try {
            out.add("" + new long[Integer.MAX_VALUE].length);
        } catch (OutOfMemoryError e) {
            out.add("out of memory");
        }
        return String.join(", ", out);
    }

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[0]);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        var tasks = IntStream.rangeClosed(1, 24)
            .mapToObj(seed -> (Callable<String>) () -> task(seed, size)).collect(Collectors.toList());
        for (Future<String> answer : pool.invokeAll(tasks)) {
            System.out.println(answer.get());
        }
        pool.shutdown();

        int total = 0;
        for (int round = 0; round < 20; round++) {
            var threads = new ArrayList<Thread>();
            var sums = new int[10];
            for (int k = 0; k < 10; k++) {
                int mine = k;
                threads.add(new Thread(() -> sums[mine] = word(mine).length()));
            }
            threads.forEach(Thread::start);
            for (var thread : threads) {
                thread.join();
            }
            total += IntStream.of(sums).sum();
        }
        System.out.println("short threads " + total);
        System.out.println("parallel " + IntStream.range(0, size * 10).parallel()
            .mapToObj(Work::word).mapToLong(String::hashCode).sum());
        System.out.println("refused: " + refusals());

        Path file = Path.of("work.bin");
        Files.write(file, packed(word(77).repeat(100000).getBytes(StandardCharsets.UTF_8)));
        System.out.println("file " + digest(Files.readAllBytes(file)));
        System.gc();
        System.out.println("done");
    }
}
